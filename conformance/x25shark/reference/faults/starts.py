# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that show behind a new start: of a serial line, of an end of a permanent circuit."""

from typing import Any

from ..channel import Channel
from ..codec import Call, Clear, Data
from ..codes import ClearCause, Diag
from ..data_flow import DataFlow
from ..pvc import PvcEnd
from ..pvc_setup import Responder, Setup, Status
from ..serial import SerialInterface
from .registry import Patch, fault


@fault("BUG-RSTRT-23")
def interrupt_of_the_call_before(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "end_calls")
    def end_calls(original: Any, interface: SerialInterface, clear: Clear) -> None:
        is_open = {n: channel.interrupt_in for n, channel in interface.channels.items()}
        original(interface, clear)
        for number, left in is_open.items():
            interface.channels[number].interrupt_in = left


@fault("BUG-RSTRT-24")
def size_of_the_call_before(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "end_calls")
    def end_calls(original: Any, interface: SerialInterface, clear: Clear) -> None:
        for channel in interface.channels.values():
            if not channel.is_free():
                vars(channel)["size_before"] = channel.size_in
        original(interface, clear)

    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: Data) -> None:
        size = flow.channel.size_in
        flow.channel.size_in = max(size, vars(flow.channel).get("size_before", 0))
        try:
            original(flow, data)
        finally:
            flow.channel.size_in = size


@fault("BUG-RSTRT-25")
def fast_select_behind_a_restart(patch: Patch) -> None:
    started: set[SerialInterface] = set()

    @patch.wrap(SerialInterface, "end_calls")
    def end_calls(original: Any, interface: SerialInterface, clear: Clear) -> None:
        if interface.channels:
            started.add(interface)
        original(interface, clear)

    @patch.wrap(SerialInterface, "refusal")
    def refusal(original: Any, interface: SerialInterface, call: Call) -> Any:
        if interface in started and call.facilities.fast_select:
            return ClearCause.FAST_SELECT_REFUSED, Diag.NONE
        return original(interface, call)


@fault("BUG-XOT-81")
def taken_by_a_refusal(patch: Patch) -> None:
    @patch.wrap(Responder, "check")
    def check(original: Any, responder: Responder, setup: Setup) -> int:
        if vars(responder).get("taken"):
            return Status.CONFIGURATION_MISMATCH
        status: int = original(responder, setup)
        vars(responder)["taken"] = status == Status.FLOW_CONTROL_UNSUPPORTED
        return status


@fault("BUG-XOT-82")
def interrupt_of_an_end_that_went(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "cleared")
    def cleared(original: Any, end: PvcEnd, channel: Channel, clear: Clear) -> None:
        vars(end)["interrupted"] = channel is end.channel and channel.interrupt_in
        original(end, channel, clear)

    @patch.wrap(PvcEnd, "reset_confirmed")
    def reset_confirmed(original: Any, end: PvcEnd, channel: Channel) -> None:
        channel.interrupt_in = channel.interrupt_in or vars(end).pop("interrupted", False)
        original(end, channel)

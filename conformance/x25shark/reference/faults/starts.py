# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that show behind a new start: of a serial line, of an end of a permanent circuit."""

from typing import Any, cast

from ..channel import Channel
from ..codec import Call, Clear, Data
from ..codes import ClearCause, Diag
from ..connection import Connection
from ..data_flow import DataFlow
from ..lapb import Lapb
from ..lapb_phases import Phases
from ..lapb_station import Phase
from ..link import SerialLink
from ..pvc import PvcEnd
from ..pvc_setup import Responder, Setup, Status
from ..restarts import Restarts
from ..serial import SerialInterface
from ..tables import R
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


@fault("BUG-RSTRT-26")
def calls_behind_frmr(patch: Patch) -> None:
    rejected: set[Lapb] = set()

    @patch.wrap(Phases, "on_frmr")
    def on_frmr(original: Any, phases: Phases, field: bytes) -> None:
        rejected.add(phases.lapb)
        original(phases, field)

    @patch.wrap(SerialInterface, "end_calls")
    def end_calls(original: Any, interface: SerialInterface, clear: Clear) -> None:
        if interface.link.lapb not in rejected:
            original(interface, clear)
        elif interface.link.lapb.phase is Phase.TRANSFER:
            rejected.discard(interface.link.lapb)


@fault("BUG-RSTRT-27")
def interrupt_behind_sabm(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        interface = cast(SerialLink, station.station).interface
        is_open = {n: channel.interrupt_in for n, channel in interface.channels.items()}
        was_up = station.phase is Phase.TRANSFER
        original(phases, p_f)
        if was_up:
            for number, left in is_open.items():
                interface.channels[number].interrupt_in = left


@fault("BUG-RSTRT-28")
def one_confirmation_for_all(patch: Patch) -> None:
    every = _restarts(patch)

    @patch.wrap(Restarts, "complete")
    def complete(original: Any, restarts: Restarts) -> None:
        original(restarts)
        for other in every:
            if other.interface.r is R.RESTART_SENT:
                original(other)


@fault("BUG-RSTRT-29")
def one_restart_at_a_time(patch: Patch) -> None:
    every = _restarts(patch)

    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        others = every - {restarts}
        if not any(other.interface.r is R.RESTART_SENT for other in others):
            original(restarts, octets)


def _restarts(patch: Patch) -> set[Restarts]:
    """Those of all lines that have sent a Restart."""
    every: set[Restarts] = set()

    @patch.wrap(Restarts, "restart")
    def restart(original: Any, restarts: Restarts, *rest: int) -> None:
        every.add(restarts)
        original(restarts, *rest)

    return every


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
        channel.interrupt_in = channel.interrupt_in or vars(end).get("interrupted", False)
        original(end, channel)


@fault("BUG-XOT-83")
def taken_by_what_was_lost(patch: Patch) -> None:
    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Any, connection: Connection, reset: bool) -> None:
        user = connection.channel.user
        if reset and isinstance(user, PvcEnd):
            vars(user)["lost"] = True
        original(connection, reset)

    @patch.wrap(Responder, "is_taken")
    def is_taken(original: Any, responder: Responder) -> bool:
        return "lost" in vars(responder.end) or bool(original(responder))

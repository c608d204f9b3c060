# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of one kind of circuit, of unequal values, or of a later use."""

from collections.abc import Callable
from typing import Any

from ..call_setup import CallSetup
from ..channel import Channel
from ..circuit import Circuit
from ..codec import Data, parse_data
from ..codes import Diag, PacketError
from ..data_flow import DataFlow
from ..pvc import PvcEnd
from ..resets import Resets
from ..tables import D
from .registry import Patch, fault


def count_calls(patch: Patch) -> None:
    """`uses` of a circuit: how often it began anew. 1: none of its calls is over."""

    @patch.wrap(Circuit, "forget_call")
    def forget_call(original: Any, circuit: Circuit) -> None:
        vars(circuit)["uses"] = vars(circuit).get("uses", 0) + 1
        original(circuit)


def is_later_call(channel: Circuit) -> bool:
    """Whether a call of this circuit is over already."""
    return bool(vars(channel).get("uses", 1) > 1)


@fault("BUG-LEFT-20")
def size_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        resets.channel.size_in = min(resets.channel.size_in, 128)
        original(resets, octets)


@fault("BUG-FLOW-25")
def one_more_behind_two_resets(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        vars(resets.channel)["resets_in"] = vars(resets.channel).get("resets_in", 0) + 1
        original(resets, octets)

    @patch.wrap(Circuit, "p_r_is_valid")
    def p_r_is_valid(original: Any, circuit: Circuit, p_r: int) -> bool:
        one_more = p_r == (circuit.v_s + 1) % circuit.modulo
        return original(circuit, p_r) or (one_more and vars(circuit).get("resets_in", 0) >= 2)

    @patch.wrap(Circuit, "forget_call")
    def forget_call(original: Any, circuit: Circuit) -> None:
        vars(circuit).pop("resets_in", None)
        original(circuit)


@fault("BUG-LEFT-21")
def p_s_of_the_next_call(patch: Patch) -> None:
    count_calls(patch)

    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: Data) -> None:
        try:
            original(flow, data)
        except PacketError as error:
            if error.diagnostic != Diag.INVALID_P_S or not is_later_call(flow.channel):
                raise


@fault("BUG-LEFT-30")
def octet_behind_rr_of_the_next_call(patch: Patch) -> None:
    count_calls(patch)

    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        right = 3 if flow.channel.modulo == 8 else 4
        original(flow, packet_type, octets[:right] if is_later_call(flow.channel) else octets)


@fault("BUG-MOD-11")
def q_of_the_last_packet(patch: Patch) -> None:
    @patch.wrap(DataFlow, "send_data")
    def send_data(
        original: Any, flow: DataFlow, q: bool, d: bool, m: bool, user_data: bytes
    ) -> None:
        original(flow, q and (m or flow.channel.modulo == 8), d, m, user_data)


@fault("BUG-MIB-19")
def first_call_alone_is_counted(patch: Patch) -> None:
    count_calls(patch)

    @patch.wrap(CallSetup, "on_call")
    def on_call(original: Any, setup: CallSetup, octets: bytes) -> None:
        if is_later_call(setup.channel):
            setup.channel.interface.count("x25StatInCalls", -1)
        original(setup, octets)


@fault("BUG-XOT-78")
def p_r_in_data_of_a_circuit(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "acknowledged")
    def acknowledged(original: Any, end: PvcEnd, channel: Channel, count: int) -> None:
        direction = end.towards()
        if direction is not None:
            direction.confirmed += count


@fault("BUG-SEG-16")
def full_by_the_other_direction(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        original(flow, octets)
        channel, data = flow.channel, parse_data(octets, flow.channel.modulo)
        full = len(data.user_data) == channel.size_out
        channel.sequence_q = data.q if full and data.m and not data.d else None


def _passed_on(patch: Patch, then: Callable[[Channel], None]) -> None:
    """What becomes of T12 where a Reset of the other end, or of its error, was passed on."""

    @patch.wrap(Resets, "reset")
    def reset(original: Any, resets: Resets, cause: int, diagnostic: int) -> None:
        channel = resets.channel
        at_rest = channel.ready
        original(resets, cause, diagnostic)
        if at_rest and channel.d is D.RESET_SENT:
            then(channel)


@fault("BUG-RST-52")
def no_t12_of_a_reset_passed_on(patch: Patch) -> None:
    _passed_on(patch, lambda channel: channel.stop_timer("T12"))


@fault("BUG-RST-53")
def no_end_of_a_reset_passed_on(patch: Patch) -> None:
    def repeat(channel: Channel) -> None:
        channel.repeats = 0
        channel.resets.t12_expired()
        channel.start_timer("T12", channel.settings.t12, lambda: repeat(channel))

    def go_on(channel: Channel) -> None:
        channel.start_timer("T12", channel.settings.t12, lambda: repeat(channel))

    _passed_on(patch, go_on)


@fault("BUG-RST-54")
def no_t12_of_a_reset_passed_on_in_modulo_128(patch: Patch) -> None:
    def leave(channel: Channel) -> None:
        if channel.modulo == 128:
            channel.stop_timer("T12")

    _passed_on(patch, leave)


def _without_timer_in_modulo_128(patch: Patch, timer: str) -> None:
    @patch.wrap(Channel, "start_timer")
    def start_timer(original: Any, channel: Channel, name: str, *rest: Any) -> None:
        if name != timer or channel.modulo == 8:
            original(channel, name, *rest)


@fault("BUG-MOD-51")
def no_t13_in_modulo_128(patch: Patch) -> None:
    _without_timer_in_modulo_128(patch, "T13")


@fault("BUG-MOD-52")
def no_t11_in_modulo_128(patch: Patch) -> None:
    _without_timer_in_modulo_128(patch, "T11")

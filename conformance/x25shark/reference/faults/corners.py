# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults in one corner: of bits, lengths and causes, and at the second of two things."""

from functools import partial
from typing import Any

from .. import codec, facilities
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Call, Clear, Data
from ..codes import Diag, PacketError, Type
from ..data_flow import DataFlow
from ..facilities import WINDOW_SIZE, Pair
from ..interrupts import Interrupts
from ..negotiation import Negotiation
from ..relay_local import Direction, Segment, Segmenter
from ..resets import Resets
from ..router import Router
from ..tables import P
from .registry import Patch, fault


@fault("BUG-DBIT-05")
def m_beside_d(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, packet: Data) -> None:
        delivery = direction.delivery
        direction.delivery = delivery and not packet.m
        original(direction, packet)
        direction.delivery = delivery


@fault("BUG-LEFT-19")
def confirmations_of_before(patch: Patch) -> None:
    @patch.wrap(Direction, "clear")
    def clear(original: Any, direction: Direction) -> None:
        confirmed = direction.confirmed
        original(direction)
        direction.confirmed = confirmed


@fault("BUG-INT-08")
def interrupt_confirmations_of_before(patch: Patch) -> None:
    @patch.wrap(Channel, "restart_numbers")
    def restart_numbers(original: Any, channel: Channel) -> None:
        state = vars(channel)
        state["open_before"] = state.get("interrupt_out") or state.get("open_before")
        original(channel)

    @patch.wrap(Interrupts, "on_confirmation")
    def on_confirmation(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        channel = interrupts.channel
        if channel.interrupt_out or not vars(channel).pop("open_before", False):
            original(interrupts, octets)


@fault("BUG-INT-09")
def behind_what_came_with_it(patch: Patch) -> None:
    @patch.wrap(Interrupts, "send")
    def send(original: Any, interrupts: Interrupts, user_data: bytes) -> None:
        late: list[Any] = vars(interrupts.channel.router).setdefault("late_interrupts", [])
        late.append(partial(original, interrupts, user_data))

    @patch.wrap(Router, "flush")
    def flush(original: Any, router: Router) -> None:
        original(router)
        for send_now in vars(router).pop("late_interrupts", []):
            send_now()


@fault("BUG-FLOW-10")
def one_of_two_p_r(patch: Patch) -> None:
    @patch.wrap(Router, "flush")
    def flush(original: Any, router: Router) -> None:
        del router.unsettled[1:]
        original(router)


@fault("BUG-FLOW-11")
def an_rr_for_each_rnr(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        state: dict[str, int] = vars(flow)
        said = state.get("said", 0) + (1 if packet_type == Type.RNR else -1)
        state["said"] = max(0, said)
        original(flow, Type.RNR if state["said"] else Type.RR, octets)


@fault("BUG-RST-13")
def cause_as_diagnostic_of_a_reset(patch: Patch) -> None:
    @patch.wrap(codec, "parse_reset")
    def parse_reset(original: Any, octets: bytes) -> tuple[int, int]:
        cause, diagnostic = original(octets)
        return cause, diagnostic if len(octets) > 4 else cause


@fault("BUG-CLR-17")
def cause_as_diagnostic_of_a_clear(patch: Patch) -> None:
    @patch.wrap(codec, "parse_clear")
    def parse_clear(original: Any, octets: bytes) -> Clear:
        clear: Clear = original(octets)
        if len(octets) == 4:
            clear.diagnostic = clear.cause
        return clear


@fault("BUG-FAC-19")
def six_bits_of_a_length(patch: Patch) -> None:
    @patch.wrap(facilities, "parameter_length")
    def parameter_length(original: Any, code: int, field: bytes, at: int) -> tuple[int, int]:
        extra, length = original(code, field, at)
        return extra, length & 0x3F


@fault("BUG-FAC-18")
def one_octet_for_both_windows(patch: Patch) -> None:
    @patch.wrap(Negotiation, "answered_pair")
    def answered_pair(
        original: Any, negotiation: Negotiation, accept: Call, code: int, offered: Pair
    ) -> Pair:
        pair: Pair = original(negotiation, accept, code, offered)
        return Pair(pair.called, pair.called) if code == WINDOW_SIZE else pair


@fault("BUG-VAL-16")
def thirty_one_octets(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        if interrupts.channel.modulo == 128 and len(octets) - 3 == codec.INTERRUPT_LONGEST:
            raise PacketError(Diag.TOO_LONG)
        original(interrupts, octets)


@fault("BUG-MOD-08")
def five_bits_of_a_type(patch: Patch) -> None:
    @patch.wrap(codec, "type_of")
    def type_of(original: Any, octets: bytes, modulo: int) -> int:
        flow = octets[2] & 0x1F
        kind: int = original(octets, modulo)
        return flow if kind == -1 and flow in (Type.RR, Type.RNR) else kind


@fault("BUG-RST-12")
def counts_of_the_last_reset(patch: Patch) -> None:
    @patch.wrap(Resets, "send")
    def send(original: Any, resets: Resets, cause: int, diagnostic: int) -> None:
        repeats = resets.channel.repeats
        original(resets, cause, diagnostic)
        resets.channel.repeats = repeats


@fault("BUG-CLR-18")
def t13_behind_a_collision(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        collision = channel.p is P.CLEAR_SENT
        original(clearing, octets)
        if collision:
            channel.start_timer("T13", channel.settings.t13, clearing.t13_expired)


@fault("BUG-CLR-19")
def first_clear_alone_is_confirmed(patch: Patch) -> None:
    @patch.wrap(Channel, "take")
    def take(original: Any, channel: Channel, packet_type: int, octets: bytes) -> None:
        if packet_type != Type.CLEAR_CONFIRMATION or not channel.repeats:
            original(channel, packet_type, octets)


@fault("BUG-DBIT-20")
def d_of_the_first(patch: Patch) -> None:
    @patch.wrap(Segmenter, "feed")
    def feed(original: Any, segmenter: Segmenter, data: Data) -> list[Segment]:
        state = vars(segmenter)
        if not segmenter.waiting:
            state["d"] = data.d
        segments: list[Segment] = original(segmenter, data)
        return [segment._replace(d=segment.d and state["d"]) for segment in segments]


@fault("BUG-DBIT-21")
def nothing_joined_waits(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, packet: Data) -> None:
        delivery = direction.delivery
        direction.delivery = delivery and not direction.segmenter.waiting
        original(direction, packet)
        direction.delivery = delivery


@fault("BUG-FLOW-20")
def half_a_window_at_least(patch: Patch) -> None:
    @patch.wrap(DataFlow, "flush")
    def flush(original: Any, flow: DataFlow) -> None:
        channel = flow.channel
        if (channel.p_r - channel.p_r_sent) % channel.modulo >= channel.window_in // 2:
            original(flow)


@fault("BUG-DBIT-06")
def d_0_behind_d_1(patch: Patch) -> None:
    @patch.wrap(Direction, "is_settled")
    def is_settled(original: Any, direction: Direction, last_segment: int, d: bool) -> bool:
        behind = direction.owed[-1]
        passed_by = d and not behind[1] and behind[0] <= direction.sent
        return bool(original(direction, last_segment, d and not passed_by))


@fault("BUG-DBIT-07")
def nothing_to_deliver(patch: Patch) -> None:
    @patch.wrap(Segmenter, "feed")
    def feed(original: Any, segmenter: Segmenter, data: Data) -> list[Segment]:
        if data.d and not data.user_data and not segmenter.waiting:
            return []
        segments: list[Segment] = original(segmenter, data)
        return segments


@fault("BUG-DBIT-08")
def answer_without_a_question(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        connected: Call = original(negotiation, accept)
        connected.d = connected.d and negotiation.relay.call.d
        return connected


@fault("BUG-MOD-09")
def eight_at_a_time(patch: Patch) -> None:
    @patch.wrap(Direction, "acknowledged")
    def acknowledged(original: Any, direction: Direction, count: int) -> None:
        original(direction, count % 8)


@fault("BUG-MOD-10")
def fourth_octet_of_zero(patch: Patch) -> None:
    @patch.wrap(codec, "parse_data")
    def parse_data(original: Any, octets: bytes, modulo: int) -> Data:
        data: Data = original(octets.ljust(4, b"\0") if modulo == 128 else octets, modulo)
        return data


@fault("BUG-XOT-77")
def confirms_for_the_other_end(patch: Patch) -> None:
    @patch.wrap(Direction, "__init__")
    def direction(
        original: Any, self: Direction, source: Channel, sink: Channel, delivery: bool = True
    ) -> None:
        original(self, source, sink, delivery and not source.permanent)


@fault("BUG-FLOW-12")
def p_r_of_rnr_at_a_shut_window(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        last, shut = channel.p_r_received, not channel.window_open()
        original(flow, packet_type, octets)
        if packet_type == Type.RNR and shut:
            channel.p_r_received = last

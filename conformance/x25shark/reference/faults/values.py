# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults at one value of many: a packet size, a length, a window, a bit beside another one."""

from collections.abc import Callable
from typing import Any

from .. import codec, facilities
from ..channel import Channel
from ..circuit import Circuit
from ..codec import Call, Data
from ..codes import Diag, PacketError, Type
from ..data_flow import DataFlow
from ..facilities import (
    DEFAULT_SIZE,
    DEFAULT_WINDOW,
    FAST_SELECT,
    PACKET_SIZE,
    WINDOW_SIZE,
    Facilities,
    Facility,
    Pair,
    answer_is_legal,
)
from ..interrupts import Interrupts
from ..negotiation import Negotiation
from ..relay import Relay
from ..relay_local import Direction, LocalRelay
from ..tables import P
from .data import change_data
from .registry import Patch, fault


def _refuses_data(patch: Patch, refused: Callable[[Channel, Data], bool], diagnostic: int) -> None:
    """A check too many."""

    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: Data) -> None:
        original(flow, data)
        if refused(flow.channel, data):
            raise PacketError(diagnostic)


@fault("BUG-VAL-01")
def sign_of_a_length(patch: Patch) -> None:
    _refuses_data(patch, lambda _, data: 200 <= len(data.user_data) <= 255, Diag.TOO_LONG)


@fault("BUG-VAL-02")
def header_in_the_buffer(patch: Patch) -> None:
    def change(channel: Channel, data: Data) -> Data:
        return data._replace(user_data=data.user_data[:4093]) if channel.accepted else data

    change_data(patch, change)


@fault("BUG-VAL-03")
def no_2048(patch: Patch) -> None:
    @patch.wrap(facilities, "parameter_is_legal")
    def parameter_is_legal(original: Any, item: Facility, modulo: int) -> bool:
        return original(item, modulo) and not (item.code == PACKET_SIZE and 11 in item.value)


def _ahead(circuit: Circuit, p_s: int) -> int:
    """How far a P(S) is above the last P(R) that was sent."""
    return (p_s - circuit.p_r_sent) % circuit.modulo


@fault("BUG-VAL-04")
def six_bits_of_a_window(patch: Patch) -> None:
    @patch.wrap(Circuit, "p_s_is_valid")
    def p_s_is_valid(original: Any, circuit: Circuit, p_s: int) -> bool:
        ahead = _ahead(circuit, p_s)
        return original(circuit, p_s) and (circuit.window_in <= 63 or ahead < 63)


@fault("BUG-VAL-17")
def seventh_of_six(patch: Patch) -> None:
    @patch.wrap(Circuit, "p_s_is_valid")
    def p_s_is_valid(original: Any, circuit: Circuit, p_s: int) -> bool:
        seventh = circuit.window_in == 6 and p_s == circuit.v_r and _ahead(circuit, p_s) == 6
        return original(circuit, p_s) or seventh


@fault("BUG-MOD-07")
def one_more_of_modulo_128(patch: Patch) -> None:
    @patch.wrap(Circuit, "p_s_is_valid")
    def p_s_is_valid(original: Any, circuit: Circuit, p_s: int) -> bool:
        ahead = _ahead(circuit, p_s)
        one_more = circuit.modulo == 128 and p_s == circuit.v_r and ahead == circuit.window_in
        return original(circuit, p_s) or one_more


@fault("BUG-VAL-15")
def eighth_of_seven(patch: Patch) -> None:
    @patch.wrap(Circuit, "p_s_is_valid")
    def p_s_is_valid(original: Any, circuit: Circuit, p_s: int) -> bool:
        return original(circuit, p_s) or (circuit.window_in == 7 and p_s == circuit.v_r)


@fault("BUG-VAL-05")
def window_of_1(patch: Patch) -> None:
    @patch.wrap(Direction, "is_settled")
    def is_settled(original: Any, direction: Direction, last_segment: int, d: bool) -> bool:
        return original(direction, last_segment, d) and not (d and direction.source.window_in == 1)


@fault("BUG-VAL-06")
def p_r_of_rnr(patch: Patch) -> None:
    @patch.wrap(DataFlow, "take_p_r")
    def take_p_r(original: Any, flow: DataFlow, p_r: int) -> None:
        channel = flow.channel
        if channel.accepted or not channel.peer_busy:
            original(flow, p_r)


@fault("BUG-VAL-07")
def rnr_drops(patch: Patch) -> None:
    @patch.wrap(LocalRelay, "flow_received")
    def flow_received(
        original: Any, relay: LocalRelay, channel: Channel, packet_type: int, p_r: int
    ) -> None:
        direction = relay.towards(channel)
        if packet_type == Type.RNR and direction is not None:
            direction.queue.clear()
        original(relay, channel, packet_type, p_r)


def _by_octet(patch: Patch, name: str, *octets: int) -> None:
    """A bit of facility 0x01 is seen only where the whole octet is one of these."""

    def seen(field: Facilities) -> bool:
        value = field.get(FAST_SELECT)
        return value is not None and value[0] in octets

    patch.replace(Facilities, name, property(seen))


@fault("BUG-VAL-08")
def whole_octet(patch: Patch) -> None:
    _by_octet(patch, "fast_select", 0x80, 0xC0)


@fault("BUG-VAL-09")
def whole_restricted_octet(patch: Patch) -> None:
    _by_octet(patch, "restricted", 0xC0)


@fault("BUG-VAL-10")
def one_direction_of_an_answer(patch: Patch) -> None:
    def pair_answer_is_legal(code: int, requested: Pair, answered: Pair) -> bool:
        default = DEFAULT_SIZE if code == PACKET_SIZE else DEFAULT_WINDOW
        return answer_is_legal(requested.called, answered.called, default)

    patch.replace(facilities, "pair_answer_is_legal", pair_answer_is_legal)


@fault("BUG-FAC-40")
def one_octet_of_packet_size(patch: Patch) -> None:
    @patch.wrap(facilities, "parameter_is_legal")
    def parameter_is_legal(original: Any, item: Facility, modulo: int) -> bool:
        if item.code == PACKET_SIZE:
            item = item._replace(value=item.value[1:])
        return bool(original(item, modulo))


@fault("BUG-FAC-41")
def one_octet_of_window_size(patch: Patch) -> None:
    @patch.wrap(facilities, "parameter_is_legal")
    def parameter_is_legal(original: Any, item: Facility, modulo: int) -> bool:
        if item.code == WINDOW_SIZE and item.value[0]:
            item = item._replace(value=item.value[1:])
        return bool(original(item, modulo))

    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        asked = call.facilities.pair(WINDOW_SIZE)
        if asked is not None and asked.called >= call.modulo:
            offered.facilities.put_pair(WINDOW_SIZE, asked)
        return offered


@fault("BUG-FAC-42")
def offers_above_the_default_alone(patch: Patch) -> None:
    @patch.wrap(facilities, "answer_is_legal")
    def answer_is_legal(original: Any, requested: int, answered: int, default: int) -> bool:
        return requested < default or bool(original(requested, answered, default))


@fault("BUG-VAL-11")
def one_half_of_a_class(patch: Patch) -> None:
    def throughput_answer_is_legal(requested: bytes | None, answered: bytes) -> bool:
        return requested is None or answered[0] & 0x0F <= requested[0] & 0x0F

    patch.replace(facilities, "throughput_answer_is_legal", throughput_answer_is_legal)


@fault("BUG-VAL-12")
def text_in_interrupts(patch: Patch) -> None:
    @patch.wrap(Interrupts, "send")
    def send_interrupt(original: Any, interrupts: Interrupts, user_data: bytes) -> None:
        original(interrupts, user_data.rstrip(b"\0") or b"\0")


@fault("BUG-VAL-13")
def no_window(patch: Patch) -> None:
    @patch.wrap(Circuit, "p_s_is_valid")
    def p_s_is_valid(original: Any, circuit: Circuit, p_s: int) -> bool:
        return bool(original(circuit, p_s) if circuit.accepted else p_s == circuit.v_r)


@fault("BUG-VAL-14")
def sixty_four_places(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, packet: Data) -> None:
        if len(direction.queue) < 64:
            original(direction, packet)
        else:
            direction.source.flow.acknowledge(1)


def _once_agreed(patch: Patch, change: Callable[[Relay, Channel], None]) -> None:
    """Values in force are changed when a call has been accepted."""

    @patch.wrap(Relay, "accept_received")
    def accept_received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        original(relay, channel, octets)
        change(relay, channel)


@fault("BUG-FAC-21")
def called_by_the_size_of_the_calling(patch: Patch) -> None:
    def change(relay: Relay, far: Channel) -> None:
        far.size_in = relay.near.size_out

    _once_agreed(patch, change)


@fault("BUG-FAC-22")
def calling_by_the_size_of_the_called(patch: Patch) -> None:
    def change(relay: Relay, far: Channel) -> None:
        relay.near.size_in = far.size_out

    _once_agreed(patch, change)


@fault("BUG-FAC-23")
def called_by_one_window(patch: Patch) -> None:
    def change(relay: Relay, far: Channel) -> None:
        far.window_in = max(far.window_in, far.window_out)

    _once_agreed(patch, change)


@fault("BUG-FAC-24")
def calling_by_one_size(patch: Patch) -> None:
    def change(relay: Relay, far: Channel) -> None:
        relay.near.size_in = max(relay.near.size_in, relay.near.size_out)

    _once_agreed(patch, change)


@fault("BUG-INT-12")
def loses_long_interrupts(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        if len(octets) <= 3 + 64:
            original(interrupts, octets)


def _takes_flow_control(patch: Patch, too_long: Callable[[int, int], bool]) -> None:
    """RR and RNR are cut to their length, where the length and the modulo are so."""

    @patch.wrap(codec, "parse_flow")
    def parse_flow(original: Any, octets: bytes, modulo: int) -> int:
        if too_long(len(octets), modulo):
            octets = octets[: 3 if modulo == 8 else 4]
        return int(original(octets, modulo))


@fault("BUG-FLOW-18")
def takes_much_behind_rr(patch: Patch) -> None:
    _takes_flow_control(patch, lambda length, _: length >= 3 + 64)


@fault("BUG-MOD-31")
def takes_an_octet_behind_rr(patch: Patch) -> None:
    _takes_flow_control(patch, lambda length, modulo: modulo == 128 and length == 5)


@fault("BUG-MOD-32")
def takes_an_octet_of_data_more(patch: Patch) -> None:
    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: Data) -> None:
        more = len(data.user_data) - flow.channel.size_in
        if flow.channel.modulo == 128 and more == 1:
            data = data._replace(user_data=data.user_data[:-1])
        original(flow, data)


@fault("BUG-MOD-33")
def six_bits_of_a_p_r(patch: Patch) -> None:
    @patch.wrap(codec, "parse_data")
    def parse_data(original: Any, octets: bytes, modulo: int) -> Data:
        data: Data = original(octets, modulo)
        return data if modulo == 8 else data._replace(p_r=data.p_r & 0x3F)


@fault("BUG-MOD-45")
def six_bits_of_the_p_r_of_rnr(patch: Patch) -> None:
    @patch.wrap(codec, "parse_flow")
    def parse_flow(original: Any, octets: bytes, modulo: int) -> int:
        p_r = int(original(octets, modulo))
        return p_r & 0x3F if modulo == 128 and octets[2] == Type.RNR else p_r


@fault("BUG-MOD-43")
def q_beside_the_last_p_s(patch: Patch) -> None:
    @patch.wrap(codec, "parse_data")
    def parse_data(original: Any, octets: bytes, modulo: int) -> Data:
        data: Data = original(octets, modulo)
        return data._replace(q=data.q and (modulo == 8 or data.p_s != 127))


@fault("BUG-MOD-44")
def q_of_the_first_round_only(patch: Patch) -> None:
    rounds: dict[int, bool] = {}

    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        channel = flow.channel
        has_been_round = rounds.get(id(channel), False)
        if channel.modulo == 128 and not channel.accepted:
            rounds[id(channel)] = has_been_round or octets[2] >> 1 == 127
            octets = bytes((octets[0] & 0x7F,)) + octets[1:] if has_been_round else octets
        original(flow, octets)


@fault("BUG-FLOW-19")
def window_of_the_other_direction(patch: Patch) -> None:
    @patch.wrap(Circuit, "p_s_is_valid")
    def p_s_is_valid(original: Any, circuit: Circuit, p_s: int) -> bool:
        ahead = _ahead(circuit, p_s)
        return original(circuit, p_s) and ahead < circuit.window_out


@fault("BUG-FLOW-24")
def one_back_at_the_wrap(patch: Patch) -> None:
    @patch.wrap(DataFlow, "take_p_r")
    def take_p_r(original: Any, flow: DataFlow, p_r: int) -> None:
        channel = flow.channel
        if p_r == 0 != channel.p_r_received:
            vars(channel)["been_round"] = True
        original(flow, p_r)

    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        back = codec.parse_flow(octets, channel.modulo) == channel.modulo - 1
        none_open = channel.v_s == channel.p_r_received == 0
        if not (back and none_open and vars(channel).get("been_round")):
            original(flow, packet_type, octets)

    @patch.wrap(Circuit, "restart_numbers")
    def restart_numbers(original: Any, circuit: Circuit) -> None:
        vars(circuit).pop("been_round", None)
        original(circuit)


@fault("BUG-DATA-50")
def no_p_r_in_qualified_data(patch: Patch) -> None:
    qualified = [False]

    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        qualified[0] = octets[0] & 0x80 != 0
        original(flow, octets)
        qualified[0] = False

    @patch.wrap(DataFlow, "take_p_r")
    def take_p_r(original: Any, flow: DataFlow, p_r: int) -> None:
        if not qualified[0]:
            original(flow, p_r)


@fault("BUG-MOD-34")
def window_0(patch: Patch) -> None:
    @patch.wrap(facilities, "parameter_is_legal")
    def parameter_is_legal(original: Any, item: Facility, modulo: int) -> bool:
        return (modulo == 128 and item.code == WINDOW_SIZE) or bool(original(item, modulo))


@fault("BUG-DATA-52")
def two_ones_at_the_front(patch: Patch) -> None:
    """As what takes 0xFF for an escape does."""

    @patch.wrap(codec, "parse_data")
    def parse_data(original: Any, octets: bytes, modulo: int) -> Data:
        data: Data = original(octets, modulo)
        if data.user_data.startswith(b"\xff\xff"):
            return data._replace(user_data=data.user_data[1:])
        return data


@fault("BUG-INT-14")
def one_interrupt_for_all_calls(patch: Patch) -> None:
    is_open: list[Channel] = []

    @patch.wrap(Relay, "interrupt_received")
    def interrupt_received(original: Any, relay: Relay, channel: Channel, user_data: bytes) -> None:
        if is_open and is_open[0].p is P.DATA_TRANSFER and is_open[0].interrupt_in:
            return
        is_open[:] = [channel]
        original(relay, channel, user_data)

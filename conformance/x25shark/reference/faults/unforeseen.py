# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that people thought of who had not seen the suite, and that it did not find."""

from dataclasses import replace
from functools import partial
from typing import Any

from .. import codec
from ..addresses import Addresses
from ..call_setup import CallSetup
from ..channel import Channel
from ..circuit import Circuit
from ..clearing import Clearing
from ..codec import Call, Clear, Data
from ..codes import ClearCause, Diag, PacketError, Type
from ..data_flow import DataFlow
from ..facilities import PACKET_SIZE, WINDOW_SIZE, Pair
from ..framing import HEADER, Framer
from ..interrupts import Interrupts
from ..negotiation import Negotiation
from ..pvc import PvcTable
from ..pvc_setup import Responder, Setup
from ..relay import Relay
from ..relay_endtoend import EndToEndRelay
from ..relay_local import Direction, LocalRelay, Segment, Segmenter
from ..resets import Resets
from ..router import Router
from ..routes import Route
from ..serial_channel import SerialChannel
from ..tables import D, P
from ..terminal import Echo, Terminal
from .common import came_with_accept, mark_reads, packet_type, without_timer
from .registry import Patch, fault

State = dict[str, Any]
# Types in which Q (or A) and D have a place.
_WITH_BITS = (Type.DATA, Type.CALL, Type.ACCEPT)


@fault("BUG-RST-14")
def confirms_a_collision(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        if channel.d is D.RESET_SENT:
            channel.send(codec.header(channel.modulo, channel.lcn, Type.RESET_CONFIRMATION))
        original(resets, octets)


@fault("BUG-CLR-21")
def clear_of_the_called_side(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        vars(clearing)["ignored"] = len(octets) > 7 and not clearing.channel.accepted
        original(clearing, octets)

    @patch.wrap(Clearing, "confirm")
    def confirm(original: Any, clearing: Clearing) -> None:
        if not vars(clearing).get("ignored"):
            original(clearing)

    @patch.wrap(Relay, "far_released")
    def far_released(original: Any, relay: Relay, far: Channel) -> None:
        if not vars(far.clearing).get("ignored"):
            original(relay, far)


@fault("BUG-LEFT-26")
def t12_of_a_cleared_call(patch: Patch) -> None:
    @patch.wrap(Circuit, "stop_timers")
    def stop_timers(original: Any, circuit: Circuit) -> None:
        running = circuit._timers.pop("T12", None)
        original(circuit)
        if running is not None:
            circuit._timers["T12"] = running

    @patch.wrap(Resets, "t12_expired")
    def t12_expired(original: Any, resets: Resets) -> None:
        if resets.channel.p is P.DATA_TRANSFER:
            original(resets)


@fault("BUG-LEFT-27")
def restriction_of_the_last_call(patch: Patch) -> None:
    @patch.wrap(Relay, "call_received")
    def call_received(original: Any, relay: Relay, channel: Channel, call: Call) -> None:
        restricted = vars(channel).get("was_restricted", False)
        original(relay, channel, call)
        vars(channel)["was_restricted"] = call.facilities.restricted
        if restricted and relay.far is None:
            vars(relay)["restricted"] = True

    @patch.wrap(Negotiation, "check_accept")
    def check_accept(original: Any, negotiation: Negotiation, accept: Call, far: Channel) -> None:
        far.restricted = far.restricted or vars(negotiation.relay).get("restricted", False)
        original(negotiation, accept, far)


@fault("BUG-CALL-37")
def busy_where_calls_cross(patch: Patch) -> None:
    @patch.wrap(Router, "refusal")
    def refusal(original: Any, router: Router, route: Route, call: Call) -> Any:
        for one in router.circuits:
            if (
                isinstance(one, Relay)
                and one.near.p is P.CALL_RECEIVED
                and one.call.addresses.called == call.addresses.calling
            ):
                return ClearCause.NUMBER_BUSY, Diag.CALL_COLLISION
        return original(router, route, call)


@fault("BUG-MIB-21")
def addresses_of_a_refused_call(patch: Patch) -> None:
    @patch.wrap(Router, "refuse")
    def refuse(
        original: Any, router: Router, channel: Channel, call: Call, cause: int, diagnostic: int
    ) -> None:
        parties = call.addresses
        router.counters.circuit_cleared(
            parties.calling_digits, parties.called_digits, cause, diagnostic
        )
        channel.clearing.clear(Clear(cause, diagnostic, by_peer=False))


@fault("BUG-MOD-13")
def m_beside_the_last_number(patch: Patch) -> None:
    @patch.wrap(DataFlow, "forward_data")
    def forward(original: Any, flow: DataFlow, data: Data) -> None:
        last = flow.channel.modulo == 128 and data.p_s == 127
        original(flow, data._replace(m=False) if last else data)


@fault("BUG-FLOW-13")
def rr_that_moves_nothing(patch: Patch) -> None:
    patch.replace(LocalRelay, "flow_received", Relay.flow_received)


@fault("BUG-FLOW-21")
def rr_at_a_full_window(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        was_busy = channel.peer_busy
        original(flow, packet_type, octets)
        channel.peer_busy = channel.peer_busy or (was_busy and not channel.window_open())


@fault("BUG-FAC-20")
def charging_beside_fast_select(patch: Patch) -> None:
    @patch.wrap(Router, "refusal")
    def refusal(original: Any, router: Router, route: Route, call: Call) -> Any:
        told = original(router, route, call)
        charged = told is not None and told[0] == ClearCause.REVERSE_CHARGING_REFUSED
        return None if charged and call.facilities.fast_select else told


@fault("BUG-INT-10")
def confirmation_behind_data(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_confirmed")
    def confirmed(original: Any, relay: Relay, channel: Channel) -> None:
        other = relay.other(channel)
        if isinstance(relay, LocalRelay) and other is not None:
            waiting = relay.towards(other)
            if waiting is not None and waiting.queue:
                vars(waiting)["behind"] = partial(original, relay, channel)
                return
        original(relay, channel)

    @patch.wrap(Direction, "pump")
    def pump(original: Any, direction: Direction) -> None:
        original(direction)
        if not direction.queue and "behind" in vars(direction):
            vars(direction).pop("behind")()


@fault("BUG-DATA-14")
def empty_with_q(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, data: Data) -> None:
        if data.q and not data.user_data and not direction.segmenter.waiting:
            direction.owed.append((direction.made, False))
            direction.pump()
        else:
            original(direction, data)


@fault("BUG-XOT-84")
def low_octet_of_the_initiator(patch: Patch) -> None:
    @patch.wrap(Responder, "check")
    def check(original: Any, responder: Responder, setup: Setup) -> Any:
        return original(responder, setup._replace(initiator_lcn=setup.initiator_lcn & 0xFF))


@fault("BUG-SEG-17")
def q_of_the_first_part_to_the_caller(patch: Patch) -> None:
    @patch.wrap(Segmenter, "feed")
    def feed(original: Any, segmenter: Segmenter, data: Data) -> list[Segment]:
        parts: list[Segment] = original(segmenter, data)
        if vars(segmenter).get("to_the_caller"):
            parts[1:] = [part._replace(q=False) for part in parts[1:]]
        return parts

    @patch.wrap(LocalRelay, "direction")
    def direction(original: Any, relay: LocalRelay, source: Channel, sink: Channel) -> Direction:
        made: Direction = original(relay, source, sink)
        vars(made.segmenter)["to_the_caller"] = sink is relay.near
        return made


@fault("BUG-FLOW-14")
def p_r_across_the_wrap(patch: Patch) -> None:
    def p_r_is_valid(circuit: Circuit, p_r: int) -> bool:
        last, top = circuit.p_r_received, circuit.v_s
        return last <= p_r <= top if last <= top else True

    patch.replace(Circuit, "p_r_is_valid", p_r_is_valid)


@fault("BUG-FLOW-17")
def rnr_that_runs_back(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        back = (channel.p_r_received - codec.parse_flow(octets, channel.modulo)) % channel.modulo
        if packet_type != Type.RNR or back != 1:
            original(flow, packet_type, octets)


@fault("BUG-DATA-15")
def zero_is_always_next(patch: Patch) -> None:
    @patch.wrap(Circuit, "p_s_is_valid")
    def p_s_is_valid(original: Any, circuit: Circuit, p_s: int) -> bool:
        return bool(original(circuit, p_s)) or (p_s == 0 and circuit.v_r == circuit.modulo - 1)


@fault("BUG-FLOW-15")
def ready_with_the_same_number(patch: Patch) -> None:
    @patch.wrap(EndToEndRelay, "flow_received")
    def flow_received(
        original: Any, relay: EndToEndRelay, channel: Channel, packet_type: int, p_r: int
    ) -> None:
        other = relay.other(channel)
        if packet_type != Type.RR or other is None or other.p_r_sent != p_r:
            original(relay, channel, packet_type, p_r)


@fault("BUG-FAC-25")
def window_0_of_an_answer(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_accept")
    def check_accept(original: Any, negotiation: Negotiation, accept: Call, far: Channel) -> None:
        window = accept.facilities.pair(WINDOW_SIZE)
        if window is not None:
            least = Pair(max(1, window.called), max(1, window.calling))
            accept.facilities.put_pair(WINDOW_SIZE, least)
        original(negotiation, accept, far)


@fault("BUG-FAC-26")
def longer_than_a_facility_field(patch: Patch) -> None:
    def put_pairs(negotiation: Negotiation, call: Call, size: Pair, window: Pair) -> None:
        call.facilities.put_pair(PACKET_SIZE, size)
        call.facilities.put_pair(WINDOW_SIZE, window)

    patch.replace(Negotiation, "put_pairs", put_pairs)


@fault("BUG-XOT-85")
def version_in_two_segments(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Any:
        vars(framer)["in_pieces"] = 0 < len(framer._input) < HEADER
        return original(framer, octets)

    @patch.wrap(Framer, "version_is_legal")
    def version_is_legal(original: Any, framer: Framer, version: int) -> bool:
        return vars(framer).get("in_pieces", False) or bool(original(framer, version))


def _one_for_all(patch: Patch, timer: str) -> None:
    """A channel that starts it takes it from the channel that has it."""
    holder: list[Circuit] = []

    @patch.wrap(Circuit, "start_timer")
    def start_timer(original: Any, circuit: Circuit, name: str, *rest: Any) -> None:
        if name == timer:
            for other in holder:
                if other is not circuit:
                    other.stop_timer(timer)
            holder[:] = [circuit]
        original(circuit, name, *rest)


@fault("BUG-CLR-22")
def one_t13(patch: Patch) -> None:
    _one_for_all(patch, "T13")


@fault("BUG-CALL-38")
def one_t11(patch: Patch) -> None:
    _one_for_all(patch, "T11")
    without_timer(patch, "T21")


@fault("BUG-RST-17")
def one_t12(patch: Patch) -> None:
    _one_for_all(patch, "T12")


def _takes_bits(patch: Patch, kind: type[Channel]) -> None:
    """Q and D pass with what has no place for them, between channels of this kind."""
    taken = [0]

    def gfi_is_valid(octets: bytes, _packet_type: int, modulo: int) -> bool:
        return codec.modulo_of(octets) == modulo

    patch.replace(codec, "gfi_is_valid", gfi_is_valid)

    @patch.wrap(kind, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        taken[0] = 0 if packet_type(channel, octets) in _WITH_BITS else octets[0] & 0xC0
        original(channel, octets)
        taken[0] = 0

    @patch.wrap(kind, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        original(channel, bytes((octets[0] | taken[0],)) + octets[1:])


@fault("BUG-MALF-11")
def q_and_d_of_the_other_side(patch: Patch) -> None:
    _takes_bits(patch, Channel)


@fault("BUG-LINE-51")
def q_and_d_of_the_other_line(patch: Patch) -> None:
    _takes_bits(patch, SerialChannel)


@fault("BUG-XOT-86")
def numbers_of_a_refusal(patch: Patch) -> None:
    @patch.wrap(PvcTable, "refuse")
    def refuse(original: Any, table: PvcTable, channel: Channel, setup: Setup, status: int) -> None:
        one, other = setup.responder_lcn, setup.initiator_lcn
        changed = setup._replace(initiator_lcn=one, responder_lcn=other)
        original(table, channel, changed, status)


@fault("BUG-XOT-87")
def names_of_an_acceptance(patch: Patch) -> None:
    @patch.wrap(Responder, "reply")
    def reply(original: Any, responder: Responder, setup: Setup, status: int) -> Setup:
        told: Setup = original(responder, setup, status)
        one, other = told.responder_name, told.initiator_name
        return told._replace(initiator_name=one, responder_name=other)


@fault("BUG-CALL-39")
def another_address_in_its_own_answer(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, call: Call) -> None:
        if isinstance(setup.channel.user, Terminal):
            call.addresses = Addresses("2468", "")
        original(setup, call)


@fault("BUG-DATA-16")
def echo_in_single_packets(patch: Patch) -> None:
    @patch.wrap(Echo, "data_received")
    def data_received(original: Any, echo: Echo, channel: Channel, data: Data) -> None:
        original(echo, channel, data._replace(m=False))


def _starts_anew(patch: Patch, timer: str) -> None:
    """Each packet that comes while this timer runs."""

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if timer in channel._timers:
            seconds, expired = vars(channel)[timer]
            channel.start_timer(timer, seconds, expired)
        original(channel, octets)

    @patch.wrap(Circuit, "start_timer")
    def start_timer(original: Any, circuit: Circuit, name: str, *rest: Any) -> None:
        if name == timer:
            vars(circuit)[timer] = rest
        original(circuit, name, *rest)


@fault("BUG-CLR-23")
def t13_starts_anew(patch: Patch) -> None:
    _starts_anew(patch, "T13")


@fault("BUG-RST-18")
def t12_starts_anew(patch: Patch) -> None:
    _starts_anew(patch, "T12")


@fault("BUG-INT-11")
def interrupt_ends_a_sequence(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_received")
    def received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        open_ones = relay.directions if isinstance(relay, LocalRelay) else None
        direction = open_ones[channel] if open_ones else None
        if direction is not None and direction.segmenter.waiting:
            waiting = bytes(direction.segmenter._waiting)
            direction.segmenter.clear()
            direction.queue.append(Segment(True, False, False, waiting))
            direction.made += 1
            direction.pump()
        original(relay, channel, octets)


@fault("BUG-CALL-40")
def accept_of_four_octets(patch: Patch) -> None:
    parse = codec.parse_accept

    def parse_accept(octets: bytes) -> Call:
        if len(octets) == 4:
            raise PacketError(Diag.TOO_SHORT)
        return parse(octets)

    patch.replace(codec, "parse_accept", parse_accept)


@fault("BUG-CALL-41")
def text_in_a_call(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        identifier, text = offered.user_data[:4], offered.user_data[4:]
        offered.user_data = identifier + text.partition(b"\0")[0]
        return offered


@fault("BUG-FS-12")
def text_in_answers(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        connected: Call = original(negotiation, accept)
        connected.user_data = connected.user_data.partition(b"\0")[0]
        return connected

    @patch.wrap(Clearing, "emit")
    def emit(original: Any, clearing: Clearing, clear: Clear) -> None:
        original(clearing, replace(clear, user_data=clear.user_data.partition(b"\0")[0]))


@fault("BUG-CALL-42")
def interrupt_with_an_accept(patch: Patch) -> None:
    mark_reads(patch)

    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        if not came_with_accept(interrupts.channel):
            original(interrupts, octets)


@fault("BUG-LINE-25")
def busy_once_and_ready_twice(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        busy = flow.channel.peer_busy
        original(flow, packet_type, octets)
        if busy and packet_type == Type.RNR:
            flow.channel.peer_busy = False
            flow.channel.user.writable(flow.channel)


@fault("BUG-FLOW-16")
def ready_with_data_open(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        busy, last = channel.peer_busy, channel.p_r_received
        p_r = codec.parse_flow(octets, channel.modulo)
        if busy and packet_type == Type.RR and p_r == last != channel.v_s:
            return
        original(flow, packet_type, octets)


@fault("BUG-DATA-17")
def window_across_the_wrap(patch: Patch) -> None:
    @patch.wrap(Circuit, "p_s_is_valid")
    def p_s_is_valid(original: Any, circuit: Circuit, p_s: int) -> bool:
        wraps = p_s < circuit.p_r_sent
        return p_s == circuit.v_r if wraps else bool(original(circuit, p_s))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of circuits that remember what was before a reset, or before the call."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import relay as relaying
from ..call_setup import CallSetup
from ..channel import Channel
from ..circuit import Circuit
from ..clearing import Clearing
from ..codec import Call, Clear, Data, header, parse_data
from ..codes import Diag, Type
from ..data_flow import DataFlow
from ..facilities import CLOSED_USER_GROUP, DEFAULT_WINDOW, PACKET_SIZE, WINDOW_SIZE
from ..interrupts import Interrupts
from ..negotiation import Negotiation
from ..relay import Relay
from ..relay_endtoend import EndToEndRelay, Held
from ..relay_local import Direction, LocalRelay
from ..resets import Resets
from ..tables import D, P
from .common import keep, other_end, packet_type
from .registry import Patch, fault

State = dict[str, Any]


def _by_reset(circuit: Circuit) -> bool:
    return circuit.p is P.DATA_TRANSFER


def _by_end(circuit: Circuit) -> bool:
    return circuit.p is P.READY


def _checks_by_the_largest(patch: Patch, remembered: Callable[[Channel], State]) -> None:
    """The length of Data is checked by the largest size so far of what is remembered together."""

    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: Data) -> None:
        channel = flow.channel
        state, agreed = remembered(channel), channel.size_in
        channel.size_in = state["longest"] = max(agreed, state.get("longest", 0))
        try:
            original(flow, data)
        finally:
            channel.size_in = agreed


@fault("BUG-DBIT-22")
def default_window_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        original(resets, octets)
        resets.channel.window_in = min(resets.channel.window_in, DEFAULT_WINDOW)


@fault("BUG-LEFT-01")
def busy_behind_a_reset(patch: Patch) -> None:
    keep(patch, "peer_busy", _by_reset)


@fault("BUG-LEFT-02")
def busy_in_the_next_call(patch: Patch) -> None:
    keep(patch, "peer_busy", _by_end)


@fault("BUG-LEFT-03")
def interrupt_of_the_last_call(patch: Patch) -> None:
    keep(patch, "interrupt_in", _by_end)


@fault("BUG-LEFT-04")
def interrupt_to_the_last_call(patch: Patch) -> None:
    keep(patch, "interrupt_out", _by_end)


@fault("BUG-LEFT-05")
def q_behind_a_reset(patch: Patch) -> None:
    keep(patch, "sequence_q", _by_reset)


@fault("BUG-LEFT-06")
def q_in_the_next_call(patch: Patch) -> None:
    keep(patch, "sequence_q", _by_end)


@fault("BUG-LEFT-07")
def values_of_the_last_call(patch: Patch) -> None:
    @patch.wrap(Relay, "call_received")
    def call_received(original: Any, relay: Relay, channel: Channel, call: Call) -> None:
        state: State = vars(channel)
        field = call.facilities
        if "last" in state and field.pair(PACKET_SIZE) is None and field.pair(WINDOW_SIZE) is None:
            for code, pair in zip((PACKET_SIZE, WINDOW_SIZE), state["last"], strict=True):
                field.put_pair(code, pair)
        original(relay, channel, call)
        if relay.model != "splice":
            state["last"] = relay.near_size, relay.near_window


@fault("BUG-LEFT-24")
def group_of_the_last_call(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        state: State = vars(negotiation.relay.router)
        group = call.facilities.get(CLOSED_USER_GROUP)
        if group is not None:
            state["last_group"] = group
        elif "last_group" in state:
            call.facilities.put(CLOSED_USER_GROUP, state["last_group"])
        offered: Call = original(negotiation, call)
        return offered


@fault("BUG-LEFT-25")
def marked_of_the_last_answer(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        state: State = vars(negotiation.relay.router)
        connected: Call = original(negotiation, accept)
        connected.facilities.marked = connected.facilities.marked or state.get("marked", b"")
        state["marked"] = connected.facilities.marked
        return connected


@fault("BUG-LEFT-08")
def half_a_sequence(patch: Patch) -> None:
    @patch.wrap(Direction, "clear")
    def clear(original: Callable[[Direction], None], direction: Direction) -> None:
        waiting = bytes(direction.segmenter._waiting)
        original(direction)
        if not direction.source.accepted:
            direction.segmenter._waiting += waiting


@fault("BUG-LEFT-09")
def refused_for_good(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send_clear(original: Any, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        state: State = vars(channel)
        state["dead"] = channel.p is P.CALL_RECEIVED and clear.by_peer
        original(clearing, clear)

    @patch.wrap(CallSetup, "on_call")
    def on_call(original: Any, setup: CallSetup, octets: bytes) -> None:
        if not vars(setup.channel).get("dead"):
            original(setup, octets)


@fault("BUG-LEFT-31")
def interrupt_behind_an_own_reset(patch: Patch) -> None:
    @patch.wrap(Relay, "reset_by_error")
    def reset_by_error(original: Any, relay: Relay, channel: Channel, *why: int) -> None:
        original(relay, channel, *why)
        vars(relay)["own_reset"] = True

    @patch.wrap(Relay, "reset_confirmed")
    def reset_confirmed(original: Any, relay: Relay, channel: Channel) -> None:
        vars(relay)["own_reset"] = channel is relay.near and vars(relay).get("own_reset", False)
        original(relay, channel)

    @patch.wrap(Relay, "interrupt_received")
    def interrupt_received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        if channel is not relay.near or not vars(relay).get("own_reset"):
            original(relay, channel, octets)


@fault("BUG-LEFT-10")
def interrupt_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_received")
    def interrupt_received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        other = relay.other(channel)
        if other is None or other.ready:
            original(relay, channel, octets)


@fault("BUG-LEFT-11")
def crossing_interrupts(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_confirmation")
    def on_interrupt_confirmation(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        original(interrupts, octets)
        interrupts.channel.interrupts.confirm()


@fault("BUG-INT-07")
def at_once_behind_its_own(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_received")
    def interrupt_received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        if channel.interrupt_out:
            channel.interrupts.confirm()
        original(relay, channel, octets)


@fault("BUG-LEFT-12")
def counts_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Direction, "clear")
    def clear(original: Callable[[Direction], None], direction: Direction) -> None:
        counts = direction.made, direction.sent, direction.confirmed
        original(direction)
        direction.made, direction.sent, direction.confirmed = counts


@fault("BUG-LEFT-13")
@fault("BUG-LEFT-28")
def fast_select_of_the_last_call(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Any, negotiation: Negotiation, call: Call) -> None:
        state: State = vars(negotiation.relay.near)
        before, state["fast_before"] = state.get("fast_before"), call.facilities.fast_select
        shorter = replace(call, user_data=b"") if before else call
        original(negotiation, shorter)


@fault("BUG-LEFT-14")
def interrupt_over_two_resets(patch: Patch) -> None:
    @patch.wrap(Relay, "drop")
    def drop(original: Any, relay: Relay) -> None:
        held = dict(relay.held_interrupts)
        original(relay)
        relay.held_interrupts.update(held)


@fault("BUG-LEFT-15")
def size_of_the_last_call(patch: Patch) -> None:
    _checks_by_the_largest(patch, vars)


@fault("BUG-LEFT-16")
def interrupt_over_its_own_reset(patch: Patch) -> None:
    @patch.wrap(Resets, "error")
    def error(original: Any, resets: Resets, diagnostic: int) -> None:
        vars(resets)["kept"] = resets.channel.interrupt_in
        original(resets, diagnostic)

    @patch.wrap(Resets, "complete")
    def complete(original: Any, resets: Resets) -> None:
        original(resets)
        resets.channel.interrupt_in = vars(resets).pop("kept", False)


@fault("BUG-LEFT-17")
def t12_behind_a_collision(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        collision = channel.d is D.RESET_SENT
        if collision:
            vars(channel)["stop_timer"] = lambda name: None
        try:
            original(resets, octets)
        finally:
            if collision:
                del vars(channel)["stop_timer"]


@fault("BUG-RST-11")
def displaced_by_rr(patch: Patch) -> None:
    @patch.wrap(EndToEndRelay, "forward")
    def forward(original: Any, relay: EndToEndRelay, channel: Channel, packet: Held) -> None:
        other = relay.other(channel)
        waiting = relay.held.get(other) if other is not None else None
        if waiting and not isinstance(packet, Data):
            waiting.pop()
        original(relay, channel, packet)


@fault("BUG-LEFT-18")
def outlasts_a_reset(patch: Patch) -> None:
    @patch.wrap(EndToEndRelay, "drop")
    def drop(original: Any, relay: EndToEndRelay) -> None:
        held = dict(relay.held)
        original(relay)
        relay.held.update(held)


@fault("BUG-LEFT-29")
def interrupt_that_crosses_a_reset(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.d is D.RESET_SENT and packet_type(channel, octets) == Type.INTERRUPT:
            vars(channel.resets)["crossing"] = True
        original(channel, octets)

    @patch.wrap(Resets, "complete")
    def complete(original: Any, resets: Resets) -> None:
        original(resets)
        resets.channel.interrupt_in = vars(resets).pop("crossing", False)


def _loses_one_that_waited(patch: Patch, index: int, of_side: Callable[[Channel], bool]) -> None:
    """Of several Data that wait until such a side confirms a Reset one is lost."""

    @patch.wrap(Relay, "reset_confirmed")
    def reset_confirmed(original: Any, relay: Relay, channel: Channel) -> None:
        direction = relay.towards(channel) if isinstance(relay, LocalRelay) else None
        if direction is not None and len(direction.queue) > 1 and of_side(channel):
            del direction.queue[index]
            direction.made -= 1
            direction.owed.popleft()
            direction.source.flow.acknowledge(1)
            direction.owed = deque((last - 1, d) for last, d in direction.owed)
        original(relay, channel)


@fault("BUG-RST-40")
def first_that_waited_for_b(patch: Patch) -> None:
    _loses_one_that_waited(patch, 0, lambda channel: not channel.accepted)


@fault("BUG-RST-41")
def first_that_waited_for_a(patch: Patch) -> None:
    _loses_one_that_waited(patch, 0, lambda channel: channel.accepted)


@fault("BUG-RST-42")
def last_that_waited(patch: Patch) -> None:
    """After a reset that the other end asked for alone."""

    @patch.wrap(Relay, "reset_by_error")
    def reset_by_error(original: Any, relay: Relay, *why: Any) -> None:
        original(relay, *why)
        vars(relay)["by_error"] = True

    @patch.wrap(Relay, "reset_received")
    def reset_received(original: Any, relay: Relay, *why: Any) -> None:
        vars(relay)["by_error"] = False
        original(relay, *why)

    _loses_one_that_waited(patch, -1, lambda channel: not vars(channel.user).get("by_error", False))


def _keeps_of_a_number(patch: Patch, keeps: Callable[[Circuit, int, int, int], None]) -> None:
    """keeps: after a reset in modulo 128, given V(R), P(R) and V(S) from before it."""

    @patch.wrap(Circuit, "restart_numbers")
    def restart_numbers(original: Callable[[Circuit], None], circuit: Circuit) -> None:
        before = tuple(vars(circuit).get(name, 0) for name in ("v_r", "p_r", "v_s"))
        original(circuit)
        if circuit.p is P.DATA_TRANSFER and circuit.modulo == 128:
            keeps(circuit, *before)


@fault("BUG-MOD-40")
def upper_bits_of_p_r(patch: Patch) -> None:
    def keeps(circuit: Circuit, v_r: int, p_r: int, v_s: int) -> None:
        circuit.p_r = circuit.p_r_sent = p_r & ~7

    _keeps_of_a_number(patch, keeps)


@fault("BUG-MOD-41")
def p_s_above_7(patch: Patch) -> None:
    def keeps(circuit: Circuit, v_r: int, p_r: int, v_s: int) -> None:
        if v_s >= 8 and not circuit.accepted:
            circuit.v_s = circuit.p_r_received = v_s

    _keeps_of_a_number(patch, keeps)


@fault("BUG-MOD-42")
def p_s_of_a_above_63(patch: Patch) -> None:
    def keeps(circuit: Circuit, v_r: int, p_r: int, v_s: int) -> None:
        if v_r >= 64 and circuit.accepted:
            circuit.v_r, circuit.p_r, circuit.p_r_sent = v_r, p_r, p_r

    _keeps_of_a_number(patch, keeps)


def _keeps_a_value(patch: Patch, name: str) -> None:
    """The value of the last call of a connection of A, where that was the smaller one."""

    @patch.wrap(Circuit, "forget_call")
    def forget_call(original: Callable[[Circuit], None], circuit: Circuit) -> None:
        vars(circuit)["last"] = vars(circuit).get(name)
        original(circuit)

    @patch.wrap(relaying, "set_values")
    def set_values(original: Any, channel: Channel, *values: Any, peer_calls: bool) -> None:
        original(channel, *values, peer_calls=peer_calls)
        last = vars(channel)["last"]
        if peer_calls and last is not None:
            setattr(channel, name, min(getattr(channel, name), last))


@fault("BUG-LEFT-41")
def smaller_window_of_the_last_call(patch: Patch) -> None:
    _keeps_a_value(patch, "window_in")


@fault("BUG-LEFT-42")
def smaller_size_of_the_last_call(patch: Patch) -> None:
    _keeps_a_value(patch, "size_in")


@fault("BUG-LEFT-43")
def size_of_the_last_called_side(patch: Patch) -> None:
    of_all: State = {}
    _checks_by_the_largest(patch, lambda channel: {} if channel.accepted else of_all)


def _holds_for_rnr(circuit: Circuit) -> Direction | None:
    """What goes to a side that has said RNR, if Data waits there for that."""
    relay = vars(circuit).get("user")
    if not isinstance(relay, LocalRelay) or not isinstance(circuit, Channel):
        return None
    direction = relay.towards(circuit)
    return direction if circuit.peer_busy and direction is not None and direction.queue else None


@fault("BUG-LEFT-44")
def held_by_rnr_over_a_reset(patch: Patch) -> None:
    held: list[Any] = []

    @patch.wrap(Circuit, "restart_numbers")
    def restart_numbers(original: Any, circuit: Circuit) -> None:
        direction = _holds_for_rnr(circuit)
        held[:] = [direction, *direction.queue] if direction is not None else held
        original(circuit)

    @patch.wrap(Direction, "clear")
    def clear(original: Any, direction: Direction) -> None:
        original(direction)
        if held and held[0] is direction:
            direction.queue.extend(held[1:])
            direction.made = len(direction.queue)
            held.clear()


@fault("BUG-LEFT-45")
def busy_over_a_reset_where_data_is_held(patch: Patch) -> None:
    @patch.wrap(Circuit, "restart_numbers")
    def restart_numbers(original: Any, circuit: Circuit) -> None:
        stays_busy = _holds_for_rnr(circuit) is not None
        original(circuit)
        circuit.peer_busy = stays_busy


@fault("BUG-FLOW-23")
def data_amid_a_reset_that_the_other_end_has_confirmed(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        relay = channel.user
        other = relay.other(channel) if isinstance(relay, Relay) else None
        if channel.d is not D.RESET_SENT or packet_type(channel, octets) != Type.DATA:
            original(channel, octets)
        elif other is not None and other.ready:
            relay.data_received(channel, parse_data(octets, channel.modulo))


@fault("BUG-RST-44")
def confirms_a_collision_with_a_private_cause(patch: Patch) -> None:
    """At the called side."""

    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        crossed = channel.d is D.RESET_SENT and not channel.accepted
        original(resets, octets)
        if crossed and octets[3] >= 0x80:
            channel.send(header(channel.modulo, channel.lcn, Type.RESET_CONFIRMATION))


@fault("BUG-RST-45")
def interrupt_open_when_resets_crossed(patch: Patch) -> None:
    @patch.wrap(Resets, "send")
    def send(original: Any, resets: Resets, *why: Any) -> None:
        vars(resets)["open"] = resets.channel.interrupt_out
        original(resets, *why)

    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        crossed = resets.channel.d is D.RESET_SENT
        original(resets, octets)
        if crossed:
            resets.channel.interrupt_out = vars(resets).pop("open", False)


@fault("BUG-INT-15")
def confirmation_from_before_a_reset(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        other = other_end(channel)
        late = (
            packet_type(channel, octets) == Type.INTERRUPT_CONFIRMATION
            and channel.p is P.DATA_TRANSFER
            and channel.d is D.RESET_SENT
        )
        if late and other is not None and other.ready and other.interrupt_in:
            other.interrupts.confirm()
        else:
            original(channel, octets)


def _forgives_a_second(patch: Patch, kind: int) -> None:
    """A confirmation of this kind directly behind one that was due."""

    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, number: int, octets: bytes) -> None:
        resetting = channel.p is P.DATA_TRANSFER and channel.d is D.RESET_SENT
        due = resetting if kind == Type.RESET_CONFIRMATION else channel.interrupt_out
        behind = vars(channel).pop("behind", None)
        if number == kind and channel.ready and not due and behind == kind:
            return
        original(channel, number, octets)
        if number == kind and due:
            vars(channel)["behind"] = kind


@fault("BUG-RST-46")
def second_reset_confirmation(patch: Patch) -> None:
    _forgives_a_second(patch, Type.RESET_CONFIRMATION)


@fault("BUG-INT-16")
def second_interrupt_confirmation(patch: Patch) -> None:
    _forgives_a_second(patch, Type.INTERRUPT_CONFIRMATION)


@fault("BUG-INT-17")
def empty_interrupt_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Resets, "confirm")
    def confirm(original: Any, resets: Resets) -> None:
        original(resets)
        vars(resets.channel)["just reset"] = resets.channel.ready

    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, number: int, octets: bytes) -> None:
        first = vars(channel).pop("just reset", False) and channel.ready
        if first and number == Type.INTERRUPT and not octets[3:]:
            channel.resets.error(Diag.TOO_LONG)
        else:
            original(channel, number, octets)


@fault("BUG-FS-22")
def fast_select_ends_with_a_reset(patch: Patch) -> None:
    @patch.wrap(Circuit, "restart_numbers")
    def restart_numbers(original: Any, circuit: Circuit) -> None:
        original(circuit)
        if isinstance(circuit, Channel) and circuit.p is P.DATA_TRANSFER:
            circuit.fast_select = False

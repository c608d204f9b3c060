# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that show behind one kind of end of a call, amid a sequence, or late in a read."""

from collections.abc import Callable, Iterator
from typing import Any

from ..addresses import NO_ADDRESSES
from ..call_setup import CallSetup
from ..channel import Channel
from ..circuit import Circuit
from ..clearing import Clearing
from ..codec import Call, Data
from ..codes import Type
from ..connection import Connection
from ..facilities import IN_CALL, PACKET_SIZE, WINDOW_SIZE
from ..framing import HEADER, Framer
from ..negotiation import Negotiation
from ..relay import Relay
from ..relay_local import Direction, LocalRelay, Segmenter
from ..resets import Resets
from ..restarts import Restarts
from ..tables import D, P
from .common import packet_type
from .reads import loses_behind
from .registry import Patch, fault

#: The end of a call, as one of its channels sees it.
BY_THE_PEER, CONFIRMED, BY_BOTH = "by the peer", "confirmed", "by both"


def _at_an_end(patch: Patch, after: Callable[[Channel, str, dict[str, Any]], None]) -> None:
    """Told when a channel is free again: how its call ended, and what the circuit was."""

    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        vars(clearing.channel)["crossed"] = clearing.channel.p is P.CLEAR_SENT
        original(clearing, octets)

    @patch.wrap(Channel, "released")
    def released(original: Any, channel: Channel) -> None:
        end = BY_THE_PEER if channel.p is P.CLEAR_RECEIVED else CONFIRMED
        if vars(channel).pop("crossed", False) and end is CONFIRMED:
            end = BY_BOTH
        before = dict(vars(channel))
        original(channel)
        after(channel, end, before)


def _keeps_behind(patch: Patch, end: str, *names: str) -> None:
    """Values of the circuit that this end of a call leaves as they were."""

    def after(channel: Channel, how: str, before: dict[str, Any]) -> None:
        if how == end:
            vars(channel).update((name, before[name]) for name in names)

    _at_an_end(patch, after)


@fault("BUG-LEFT-46")
def busy_behind_clears_that_cross(patch: Patch) -> None:
    _keeps_behind(patch, BY_BOTH, "peer_busy")


@fault("BUG-LEFT-47")
def numbers_behind_clears_that_cross(patch: Patch) -> None:
    _keeps_behind(patch, BY_BOTH, "v_r", "p_r", "p_r_sent", "v_s", "p_r_received")


@fault("BUG-LEFT-48")
def reset_behind_a_clear_of_the_other_end(patch: Patch) -> None:
    _keeps_behind(patch, CONFIRMED, "d")


@fault("BUG-LEFT-49")
def values_behind_clears_that_cross(patch: Patch) -> None:
    def after(channel: Channel, how: str, before: dict[str, Any]) -> None:
        relay = before["user"]
        known = isinstance(relay, Relay) and relay.near is channel and hasattr(relay, "near_size")
        vars(channel)["values"] = None
        if known and how == BY_BOTH:
            vars(channel)["values"] = (relay.near_size, relay.near_window)

    _at_an_end(patch, after)

    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        kept = vars(negotiation.relay.near).get("values")
        named = call.facilities.pair(PACKET_SIZE) or call.facilities.pair(WINDOW_SIZE)
        if kept is not None and named is None:
            call.facilities.put_pair(PACKET_SIZE, kept[0])
            call.facilities.put_pair(WINDOW_SIZE, kept[1])
        made: Call = original(negotiation, call)
        return made


@fault("BUG-FS-23")
def much_user_data_behind_a_refusal(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, call: Call) -> None:
        vars(setup.channel)["was_up"] = True
        original(setup, call)

    def after(channel: Channel, how: str, before: dict[str, Any]) -> None:
        was_up = vars(channel).pop("was_up", False)
        vars(channel)["fast"] = before["fast_select"] and how == CONFIRMED and not was_up

    _at_an_end(patch, after)

    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Any, negotiation: Negotiation, call: Call) -> None:
        if vars(negotiation.relay.near).get("fast") and len(call.user_data) <= 128:
            call.facilities.check(IN_CALL, call.modulo)
        else:
            original(negotiation, call)


@fault("BUG-LEFT-50")
def calling_address_of_the_call_before(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        state, parties = vars(negotiation.relay.near), call.addresses
        if not parties.calling:
            call.addresses = parties._replace(calling=state.get("calling", ""))
        state["calling"] = parties.calling
        made: Call = original(negotiation, call)
        return made


@fault("BUG-LEFT-51")
def addresses_of_the_answer_before(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        state = vars(negotiation.relay.near)
        if accept.addresses == NO_ADDRESSES:
            accept.addresses = state.get("answered", NO_ADDRESSES)
        state["answered"] = accept.addresses
        made: Call = original(negotiation, accept)
        return made


# resets


def _keeps_behind_resets_that_cross(patch: Patch, *names: str) -> None:
    crossing: list[Channel] = []

    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        crossing[:] = [resets.channel] if resets.channel.d is D.RESET_SENT else []
        original(resets, octets)
        crossing.clear()

    @patch.wrap(Resets, "send")
    def send(original: Any, resets: Resets, cause: int, diagnostic: int) -> None:
        before = {name: getattr(resets.channel, name) for name in names}
        original(resets, cause, diagnostic)
        vars(resets)["before"] = before

    @patch.wrap(Circuit, "restart_numbers")
    def restart_numbers(original: Any, circuit: Circuit) -> None:
        original(circuit)
        if circuit in crossing:
            vars(circuit).update(vars(crossing[0].resets)["before"])


@fault("BUG-RST-47")
def busy_behind_resets_that_cross(patch: Patch) -> None:
    _keeps_behind_resets_that_cross(patch, "peer_busy")


@fault("BUG-RST-48")
def q_behind_resets_that_cross(patch: Patch) -> None:
    _keeps_behind_resets_that_cross(patch, "sequence_q")


@fault("BUG-RST-49")
def q_of_what_waits_for_a_confirmation(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, data: Data) -> None:
        waits = direction.sink.d is D.RESET_SENT
        original(direction, data._replace(q=False) if waits else data)


# sequences


def _forgets_what_waits(patch: Patch, kind: int, of_sender: bool) -> None:
    """RR or RNR, of the side that sends a sequence or of the other one, loses its waiting part."""

    @patch.wrap(LocalRelay, "flow_received")
    def flow_received(
        original: Any, relay: LocalRelay, channel: Channel, packet: int, p_r: int
    ) -> None:
        original(relay, channel, packet, p_r)
        direction = relay.towards(channel)
        if of_sender and relay.directions is not None:
            direction = relay.directions.get(channel)
        if packet == kind and direction is not None:
            direction.segmenter.clear()


@fault("BUG-SEG-23")
def rr_of_the_sender_amid_a_sequence(patch: Patch) -> None:
    _forgets_what_waits(patch, Type.RR, of_sender=True)


@fault("BUG-SEG-24")
def rnr_of_the_receiver_amid_a_sequence(patch: Patch) -> None:
    _forgets_what_waits(patch, Type.RNR, of_sender=False)


@fault("BUG-SEG-25")
def d_of_the_last_part_behind_an_interrupt(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_received")
    def received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        original(relay, channel, octets)
        open_ones = relay.directions if isinstance(relay, LocalRelay) else None
        if open_ones:
            queue = open_ones[channel].queue
            queue.extend([queue.popleft()._replace(d=False) for _ in range(len(queue))])


@fault("BUG-SEG-26")
def half_behind_an_interrupt_over_a_reset(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_received")
    def received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        original(relay, channel, octets)
        open_ones = relay.directions if isinstance(relay, LocalRelay) else None
        if open_ones:
            segmenter = open_ones[channel].segmenter
            vars(segmenter)["kept"] = bool(segmenter.waiting)

    @patch.wrap(Segmenter, "clear")
    def clear(original: Any, segmenter: Segmenter) -> None:
        if not vars(segmenter).pop("kept", False):
            original(segmenter)


@fault("BUG-SEG-27")
def half_over_an_error_of_the_other_side(patch: Patch) -> None:
    @patch.wrap(Relay, "reset_by_error")
    def reset_by_error(
        original: Any, relay: Relay, channel: Channel, cause: int, diagnostic: int
    ) -> None:
        other = relay.other(channel)
        directions = relay.directions if isinstance(relay, LocalRelay) else None
        if not directions or other is None:
            original(relay, channel, cause, diagnostic)
            return
        segmenter = directions[other].segmenter
        waiting = bytes(segmenter._waiting)
        original(relay, channel, cause, diagnostic)
        segmenter._waiting += waiting


@fault("BUG-DBIT-25")
def d_beside_q(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, data: Data) -> None:
        delivery = direction.delivery
        direction.delivery = delivery and not data.q
        original(direction, data)
        direction.delivery = delivery


# reads


def _unchecked_behind(patch: Patch, most: int, name: str) -> None:
    """One check of a header that is made for the first so many units of a read only."""
    checked = [0]

    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        checked[0] = 0
        yield from original(framer, octets)

    @patch.wrap(Framer, name)
    def is_legal(original: Any, framer: Framer, value: int) -> bool:
        checked[0] += 1
        return checked[0] > most or original(framer, value)


@fault("BUG-XOT-160")
def version_behind_nine_units(patch: Patch) -> None:
    _unchecked_behind(patch, 9, "version_is_legal")


@fault("BUG-XOT-161")
def length_behind_nine_units(patch: Patch) -> None:
    _unchecked_behind(patch, 9, "length_is_legal")

    @patch.wrap(Connection, "channel_for")
    def channel_for(original: Any, connection: Connection, packet: bytes) -> Any:
        # Too short for a channel: the call goes on as if it were not there.
        return original(connection, packet) if len(packet) > 2 else _Nobody()


class _Nobody:
    def receive(self, octets: bytes) -> None:
        """Nothing."""


@fault("BUG-XOT-162")
def version_of_a_header_begun_behind_units(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        begun = vars(framer).pop("begun", False)
        if begun and len(framer._input) + len(octets) >= HEADER:
            framer._input += octets
            framer._input[:2] = b"\0\0"
            octets = b""
        before = framer.units
        yield from original(framer, octets)
        vars(framer)["begun"] = framer.units > before and 0 < len(framer._input) < HEADER


@fault("BUG-XOT-163")
def header_behind_eight_units(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        before = framer.units
        yield from original(framer, octets)
        if framer.units >= before + 8 and len(framer._input) < HEADER:
            framer.clear()


def _of_any(channel: Channel) -> bool:
    return True


@fault("BUG-XOT-164")
def clear_behind_an_interrupt(patch: Patch) -> None:
    loses_behind(patch, Type.INTERRUPT, Type.CLEAR, _of_any)


@fault("BUG-XOT-165")
def reset_behind_rnr(patch: Patch) -> None:
    loses_behind(patch, Type.RNR, Type.RESET, _of_any)


@fault("BUG-XOT-166")
def clear_behind_its_call(patch: Patch) -> None:
    loses_behind(patch, Type.CALL, Type.CLEAR, _of_any)


@fault("BUG-XOT-167")
def clear_behind_ten_others(patch: Patch) -> None:
    number = [0]

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        number[0] = 0
        original(connection, octets)

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        number[0] += 1
        if number[0] <= 10 or packet_type(channel, octets) != Type.CLEAR:
            original(channel, octets)


# a line


@fault("BUG-RSTRT-36")
def no_t10_for_an_error(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_confirmation")
    def on_confirmation(original: Any, restarts: Restarts, octets: bytes) -> None:
        due = restarts.timer is not None
        original(restarts, octets)
        if not due:
            restarts.stop_timer()

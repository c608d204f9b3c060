# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of framing, of TCP, of clearing and of a splice that show while a call is up."""

from collections.abc import Iterator
from typing import Any

from .. import codec
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Clear
from ..codes import Type
from ..connection import Connection
from ..framing import HEADER, SHORTEST, Framer
from ..relay_splice import SpliceRelay
from ..tables import D, P
from .registry import Patch, fault

# A call on the connection has been set up when so many units have come.
_UP = 1
_TYPE_OF_FLOW_CONTROL = 0x1F


def _called_side(patch: Patch) -> None:
    """Framers know whether the router opened their connection."""

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        vars(connection.framer)["called"] = not connection.channel.accepted
        original(connection, octets)


def _passes_over(patch: Patch, framer_errs: Any) -> None:
    """Units too short for a packet are left out, where the function says so."""

    @patch.wrap(Framer, "length_is_legal")
    def length_is_legal(original: Any, framer: Framer, length: int) -> bool:
        return bool(original(framer, length) or (length < SHORTEST and framer_errs(framer)))

    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        yield from (packet for packet in original(framer, octets) if len(packet) >= SHORTEST)


@fault("BUG-XOT-54")
def short_lengths(patch: Patch) -> None:
    _passes_over(patch, lambda framer: framer.units > _UP)


@fault("BUG-XOT-55")
def short_lengths_of_b(patch: Patch) -> None:
    _called_side(patch)
    _passes_over(patch, lambda framer: vars(framer).get("called"))


@fault("BUG-XOT-56")
def any_length(patch: Patch) -> None:
    @patch.wrap(Framer, "length_is_legal")
    def length_is_legal(original: Any, framer: Framer, length: int) -> bool:
        return original(framer, length) or (length >= SHORTEST and framer.units >= _UP)


@fault("BUG-XOT-57")
def upper_octet(patch: Patch) -> None:
    @patch.wrap(Framer, "version_is_legal")
    def version_is_legal(original: Any, framer: Framer, version: int) -> bool:
        return bool(original(framer, version & 0xFF if framer.units else version))


@fault("BUG-XOT-58")
def version_of_b(patch: Patch) -> None:
    _called_side(patch)

    @patch.wrap(Framer, "version_is_legal")
    def version_is_legal(original: Any, framer: Framer, version: int) -> bool:
        return bool(vars(framer).get("called") or original(framer, version))


@fault("BUG-XOT-59")
def lone_header(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        alone = framer.units >= _UP and not framer._input and len(octets) == HEADER
        if not alone:
            yield from original(framer, octets)


def _loss_of_b(patch: Patch, by_reset: bool) -> None:
    """A connection that the router opened ends while a call is up, and A is told nothing."""

    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Any, connection: Connection, reset: bool) -> None:
        channel = connection.channel
        if reset is not by_reset or channel.accepted or channel.p is not P.DATA_TRANSFER:
            original(connection, reset)

    @patch.wrap(Connection, "ended")
    def ended(original: Any, connection: Connection) -> None:
        channel = connection.channel
        if not by_reset or channel.accepted or channel.p is not P.DATA_TRANSFER:
            original(connection)


@fault("BUG-XOT-60")
def reset_of_b(patch: Patch) -> None:
    _loss_of_b(patch, by_reset=True)


@fault("BUG-XOT-61")
def half_close_of_b(patch: Patch) -> None:
    _loss_of_b(patch, by_reset=False)


@fault("BUG-XOT-62")
def rr_for_rnr(patch: Patch) -> None:
    @patch.wrap(SpliceRelay, "packet")
    def packet(original: Any, relay: SpliceRelay, channel: Channel, octets: bytes) -> None:
        if not channel.accepted and octets[2] & _TYPE_OF_FLOW_CONTROL == Type.RNR:
            octets = octets[:2] + bytes((octets[2] ^ Type.RNR ^ Type.RR,)) + octets[3:]
        original(relay, channel, octets)


@fault("BUG-XOT-128")
def rr_twice(patch: Patch) -> None:
    @patch.wrap(SpliceRelay, "packet")
    def packet(original: Any, relay: SpliceRelay, channel: Channel, octets: bytes) -> None:
        original(relay, channel, octets)
        if codec.type_of(octets, channel.modulo) == Type.RR:
            original(relay, channel, octets)


@fault("BUG-XOT-129")
def no_rr_like_the_last(patch: Patch) -> None:
    @patch.wrap(SpliceRelay, "packet")
    def packet(original: Any, relay: SpliceRelay, channel: Channel, octets: bytes) -> None:
        state = vars(channel)
        if codec.type_of(octets, channel.modulo) in (Type.RR, Type.RNR):
            if state.get("last_window_status") == octets:
                return
            state["last_window_status"] = octets
        original(relay, channel, octets)


@fault("BUG-XOT-79")
def loss_amid_a_reset_clears_nobody(patch: Patch) -> None:
    @patch.wrap(Channel, "end")
    def end(original: Any, channel: Channel, clear: Clear) -> None:
        if channel.p is P.DATA_TRANSFER and channel.d is D.RESET_SENT and not channel.permanent:
            channel.released()
        else:
            original(channel, clear)


@fault("BUG-CLR-20")
def clear_amid_a_reset_is_not_passed(patch: Patch) -> None:
    @patch.wrap(Clearing, "clear")
    def clear(original: Any, clearing: Clearing, request: Clear) -> None:
        if clearing.channel.d is not D.RESET_SENT:
            original(clearing, request)


def _has_half_a_unit(connection: Connection) -> bool:
    return bool(connection.framer._input) and not connection.over


@fault("BUG-XOT-190")
def sends_nothing_amid_a_unit(patch: Patch) -> None:
    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        connections = channel.router.connections if not channel.on_line else ()
        mine = next((one for one in connections if one.channel is channel), None)
        if mine is not None and _has_half_a_unit(mine) and mine.framer.units >= _UP:
            vars(channel).setdefault("held", []).append(octets)
        else:
            original(channel, octets)

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        original(connection, octets)
        if not _has_half_a_unit(connection):
            for held in vars(connection.channel).pop("held", []):
                connection.channel.send(held)


@fault("BUG-XOT-191")
def reads_no_other_amid_a_unit(patch: Patch) -> None:
    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        router = connection.router
        held = vars(router).setdefault("held", [])
        if any(_blocks(one) for one in router.connections if one is not connection):
            held.append((connection, octets))
            return
        original(connection, octets)
        while held and not any(map(_blocks, router.connections)):
            original(*held.pop(0))

    def _blocks(connection: Connection) -> bool:
        called = not connection.channel.accepted
        return called and connection.framer.units >= _UP and _has_half_a_unit(connection)


@fault("BUG-XOT-192")
def one_buffer_for_both_directions(patch: Patch) -> None:
    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        for connection in channel.router.connections if not channel.on_line else ():
            read = connection.framer.units >= _UP and "reads" not in vars(connection)
            if connection.channel is channel and read:
                connection.framer.clear()
        original(channel, octets)

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        vars(connection)["reads"] = True
        original(connection, octets)
        vars(connection).pop("reads")


@fault("BUG-XOT-193")
def one_buffer_for_all_connections(patch: Patch) -> None:
    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        original(connection, octets)
        if _has_half_a_unit(connection):
            for other in connection.router.connections:
                if other is not connection and other.framer.units >= _UP:
                    other.framer.clear()

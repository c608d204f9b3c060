# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of connections that end, or fail, when nobody thought of it; and of their first octets."""

import socket
from typing import Any

from .. import wire
from ..channel import Channel
from ..codec import Clear
from ..codes import ClearCause
from ..connection import Connection
from ..framing import Framer
from ..placing import Placing
from ..relay import Relay
from ..tables import P
from .common import leak
from .registry import Patch, fault


@fault("BUG-XOT-92")
def waits_for_the_rest(patch: Patch) -> None:
    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Any, connection: Connection, reset: bool) -> None:
        if not connection.framer.take_rest():
            original(connection, reset)


@fault("BUG-XOT-93")
def caller_that_is_lost(patch: Patch) -> None:
    @patch.wrap(Relay, "give_up_far")
    def give_up_far(original: Any, relay: Relay, clear: Clear) -> None:
        lost = clear.cause == ClearCause.OUT_OF_ORDER and not clear.by_peer
        if relay.pending is None or not lost:
            original(relay, clear)


@fault("BUG-XOT-94")
def end_confirms_nothing(patch: Patch) -> None:
    @patch.wrap(Channel, "connection_lost")
    def connection_lost(original: Any, channel: Channel) -> None:
        if channel.p is not P.CLEAR_SENT:
            original(channel)


@fault("BUG-XOT-95")
def answer_in_one_read(patch: Patch) -> None:
    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        framer = connection.framer
        first = not connection.channel.accepted and framer.units == 0
        original(connection, octets)
        if first:
            framer.clear()


@fault("BUG-XOT-96")
def keepalive_of_callers_only(patch: Patch) -> None:
    @patch.wrap(wire, "set_options")
    def set_options(original: Any, sock: Any, settings: Any) -> None:
        original(sock, settings)
        if sock.getsockname()[1] != settings.listen.port:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 0)


@fault("BUG-XOT-97")
def one_octet_longer(patch: Patch) -> None:
    @patch.wrap(Framer, "length_is_legal")
    def length_is_legal(original: Any, framer: Framer, length: int) -> bool:
        return length == framer.longest + 1 or bool(original(framer, length))


class _Never:
    """A connection that is still being opened."""

    def cancel(self) -> None:
        """It goes on."""


@fault("BUG-SYS-16")
def failures_count_as_calls(patch: Patch) -> None:
    @patch.wrap(Placing, "connect_failed")
    def connect_failed(original: Any, placing: Placing, reason: str) -> None:
        original(placing, reason)
        # What is pending for ever keeps its place among the calls.
        placing.relay.pending = _Never()


def _keeps_its_place(patch: Patch, called: bool, unacknowledged: bool = False) -> None:
    """A call that ends with the connection of this side while it is up stays in the table."""

    @patch.wrap(Channel, "connection_lost")
    def connection_lost(original: Any, channel: Channel) -> None:
        up = channel.p is P.DATA_TRANSFER and not channel.permanent
        if up and channel.accepted != called and not (unacknowledged and channel.window_open()):
            leak(channel)
        original(channel)


@fault("BUG-SYS-20")
def place_of_a_lost_called_side(patch: Patch) -> None:
    _keeps_its_place(patch, called=True)


@fault("BUG-SYS-21")
def place_of_a_lost_caller(patch: Patch) -> None:
    _keeps_its_place(patch, called=False, unacknowledged=True)

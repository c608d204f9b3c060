# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP connections: from where they are opened, for what, and how and when they end (RFC 1613 5)."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress

from ..channel import Channel
from ..codec import Clear
from ..codes import ClearCause, Diag
from ..connection import Connection
from ..framing import HEADER, Framer, FramingError
from ..placing import Placing
from ..ports import Wire
from ..relay import Relay
from ..routes import Destination
from ..server import PendingConnection
from ..tables import P
from ..wire import TcpWire
from .connections import hang_up
from .registry import Original, Patch, variant

LATE_SECONDS = 0.2
LOOK_SECONDS = 0.005
#: An address of the loopback network that nobody listens on.
OTHER_ADDRESS = "127.0.25.91"
ABORT = struct.pack("ii", 1, 0)


@variant("MAY-XOT-31")
def clear_behind_a_fin(patch: Patch) -> None:
    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Original, connection: Connection, reset: bool) -> None:
        channel = connection.channel
        in_call = channel.p in (P.CALL_RECEIVED, P.CALL_SENT, P.DATA_TRANSFER)
        reads = not connection.over and not reset and channel.joined is None
        if in_call and reads and not channel.permanent:
            channel.clearing.emit(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))
        original(connection, reset)


@variant("MAY-XOT-32", number=LATE_SECONDS)
def close_late(patch: Patch) -> None:
    """What was sent before goes at once, the FIN behind it later."""

    @patch.wrap(TcpWire, "finish")
    def finish(original: Original, wire: TcpWire) -> None:
        if "late" not in vars(wire):
            vars(wire)["late"] = True
            wire.server.timers.start(patch.number, lambda: None if wire.dead else over(wire))
        if vars(wire)["late"]:
            wire.look()
        else:
            original(wire)

    def over(wire: TcpWire) -> None:
        vars(wire)["late"] = False
        wire.flush()


@variant("MAY-XOT-33")
def close_when_the_far_end_is_done(patch: Patch) -> None:
    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Original, connection: Connection, reset: bool) -> None:
        other = other_end(connection)
        if reset or other is None or connection.over:
            original(connection, reset)
            return
        close_when_over(connection, other)


def close_when_over(connection: Connection, other: Channel) -> None:
    """The call ends at the other side, and then this connection is closed."""
    connection.end()
    connection.router.flush()

    def look() -> None:
        if other.p is P.CLEAR_SENT:
            connection.router.timers.start(LOOK_SECONDS, look)
        else:
            connection.wire.close()

    look()


def other_end(connection: Connection) -> Channel | None:
    """The other half of the call on a connection, if there is one."""
    relay = connection.channel.user
    return relay.other(connection.channel) if isinstance(relay, Relay) else None


@variant("MAY-XOT-40")
def close_for_framing_when_the_far_end_is_done(patch: Patch) -> None:
    @patch.wrap(Connection, "framing_failed")
    def framing_failed(original: Original, connection: Connection) -> None:
        other = other_end(connection)
        if other is None:
            original(connection)
        else:
            close_when_over(connection, other)


@variant("MAY-XOT-41")
def near_end_first_for_framing(patch: Patch) -> None:
    """Whatever comes behind the Clear is taken for its confirmation; T13 is the bound."""

    @patch.wrap(Connection, "framing_failed")
    def framing_failed(original: Original, connection: Connection) -> None:
        channel = connection.channel
        if other_end(connection) is None or channel.permanent:
            original(connection)
            return
        channel.clearing.emit(Clear(ClearCause.LOCAL_PROCEDURE_ERROR, Diag.NONE, by_peer=False))
        vars(connection.wire)["answers"] = lambda: original(connection)
        connection.router.timers.start(channel.settings.t13, lambda: over(connection))

    def over(connection: Connection) -> None:
        if not connection.over:
            original_end = vars(connection.wire).pop("answers")
            original_end()
            connection.router.flush()

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Original, connection: Connection, octets: bytes) -> None:
        if "answers" in vars(connection.wire):
            over(connection)
        else:
            original(connection, octets)

    @patch.wrap(TcpWire, "send")
    def send(original: Original, wire: TcpWire, packet: bytes) -> None:
        if "answers" not in vars(wire):
            original(wire, packet)


@variant("MAY-XOT-42", number=1.0)
def long_lengths_are_noticed_when_octets_fail_to_come(patch: Patch) -> None:
    @patch.wrap(Framer, "length_is_legal")
    def length_is_legal(original: Original, framer: Framer, length: int) -> bool:
        return length > framer.longest or bool(original(framer, length))

    @patch.wrap(Framer, "feed")
    def feed(original: Original, framer: Framer, octets: bytes) -> Iterator[bytes]:
        for packet in original(framer, octets):
            if len(packet) > framer.longest:
                raise FramingError("no packet is as long")
            yield packet
        rest = framer.take_rest()
        vars(framer)["waits"] = len(rest) >= HEADER and framer.length_of(rest, 0) > framer.longest
        yield from original(framer, rest)

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Original, connection: Connection, octets: bytes) -> None:
        original(connection, octets)
        known = vars(connection)
        if not connection.over and vars(connection.framer).get("waits") and "stalls" not in known:
            known["stalls"] = connection.router.timers.start(patch.number, lambda: over(connection))

    def over(connection: Connection) -> None:
        if not connection.over:
            connection.framing_failed()
            connection.router.flush()


@variant("MAY-XOT-34")
def end_by_reset_each_time(patch: Patch) -> None:
    """Behind all that was to be sent: where it has not gone yet, it is for TCP to lose."""

    @patch.wrap(TcpWire, "finish")
    def finish(original: Original, wire: TcpWire) -> None:
        if isinstance(wire.socket, socket.socket):
            with suppress(OSError):
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            wire.abort()
        else:
            original(wire)


@variant("MAY-XOT-35")
def another_source_address(patch: Patch) -> None:
    @patch.wrap(PendingConnection, "_opened")
    def opened(
        original: Original, pending: PendingConnection, source: str, address: tuple[str, int]
    ) -> socket.socket:
        found: socket.socket = original(pending, OTHER_ADDRESS if source else source, address)
        return found


@variant("MAY-XOT-36")
def open_one_more(patch: Patch) -> None:
    """With the connection for a call comes another one, which is closed without a Call."""

    @patch.wrap(Placing, "connect")
    def connect(original: Original, placing: Placing) -> None:
        router, to = placing.relay.router, placing.relay.destinations[0]
        original(placing)
        if not to.serial:
            router.network.connect(to.host, to.port, opened_by(placing), lambda _: None)

    def opened_by(placing: Placing) -> Original:
        def opened(wire: Wire) -> Connection:
            connection = placing.relay.router.new_connection(wire, accepted=False)
            hang_up(connection.channel)
            return connection

        return opened


@variant("MAY-XOT-39", number=0.3)
def down_for_a_while(patch: Patch) -> None:
    """A destination that took no connection is not tried again before the time is over."""
    until: dict[Destination, float] = {}

    @patch.wrap(Placing, "connect_failed")
    def connect_failed(original: Original, placing: Placing, reason: str) -> None:
        until[placing.relay.destination] = time.monotonic() + patch.number
        original(placing, reason)

    @patch.wrap(Placing, "connect")
    def connect(original: Original, placing: Placing) -> None:
        relay = placing.relay
        if until.get(relay.destinations[0], 0.0) <= time.monotonic():
            original(placing)
            return
        relay.destination = relay.destinations.pop(0)
        if relay.destinations:
            placing.connect()
        else:
            placing.unreachable()

# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP connections: from where they are opened, for what, and how and when they end (RFC 1613 5)."""

import socket
import struct
import time
from contextlib import suppress

from ..codec import Clear
from ..codes import ClearCause, Diag
from ..connection import Connection
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
        relay = connection.channel.user
        other = relay.other(connection.channel) if isinstance(relay, Relay) else None
        if reset or other is None or connection.over:
            original(connection, reset)
            return
        connection.end()
        connection.router.flush()

        def look() -> None:
            if other.p is P.CLEAR_SENT:
                connection.router.timers.start(LOOK_SECONDS, look)
            else:
                connection.wire.close()

        look()


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

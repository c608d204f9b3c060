# SPDX-License-Identifier: GPL-2.0-or-later
"""When connections are opened, kept and closed, and which LCNs there are (RFC 1613 4.1, 5, 6)."""

import itertools
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from ..call_setup import CallSetup
from ..caller import Caller
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Clear
from ..codes import ClearCause, Diag, Type
from ..connection import Connection
from ..placing import Placing
from ..ports import Wire
from ..relay import Relay
from ..relayed import RelayedCall
from ..router import Router
from ..tables import P
from ..wire import TcpWire
from .registry import Original, Patch, variant

LATE_SECONDS = 0.06
HIGHEST_LCN = 4095


@variant("MAY-XOT-04")
def end_by_reset(patch: Patch) -> None:
    @patch.wrap(Connection, "framing_failed")
    def framing_failed(original: Original, connection: Connection) -> None:
        connection.end()
        wire = connection.wire
        if isinstance(wire, TcpWire) and isinstance(wire.socket, socket.socket):
            with suppress(OSError):
                linger = struct.pack("ii", 1, 0)
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        wire.abort()


@variant("MAY-XOT-05")
def clear_before_the_close(patch: Patch) -> None:
    @patch.wrap(Connection, "framing_failed")
    def framing_failed(original: Original, connection: Connection) -> None:
        channel = connection.channel
        if not channel.permanent:
            channel.clearing.emit(Clear(ClearCause.LOCAL_PROCEDURE_ERROR, Diag.NONE, by_peer=False))
        original(connection)


@variant("MAY-XOT-06")
def keep_for_the_next_call(patch: Patch) -> None:
    @patch.wrap(Relay, "far_released")
    def far_released(original: Original, relay: Relay, far: Channel) -> None:
        if relay.connection is None:
            original(relay, far)
        else:
            relay.router.keep(relay.destination, relay.connection)


@variant("MAY-XOT-07")
def close_behind_a_clear(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        original(clearing, clear)
        if not channel.on_line:
            channel.wire.close()

    @patch.wrap(Clearing, "forward")
    def forward_clear(original: Original, clearing: Clearing, octets: bytes) -> None:
        """Whoever closes does not read the confirmation that the other side waits for."""
        channel = clearing.channel
        original(clearing, octets)
        channel.wire.close()
        channel.router.timers.start(0, lambda: is_over(channel))

    def is_over(channel: Channel) -> None:
        if channel.p is P.CLEAR_SENT:
            channel.released()
            channel.router.flush()


@variant("MAY-XOT-08")
def close_behind_a_call(patch: Patch) -> None:
    @patch.wrap(Channel, "wait_for_call")
    def wait_for_call(original: Original, channel: Channel) -> None:
        original(channel)
        if vars(channel).get("has_called") and channel.accepted and not channel.permanent:
            channel.wire.close()

    @patch.wrap(CallSetup, "on_call")
    def on_call(original: Original, setup: CallSetup, octets: bytes) -> None:
        channel = setup.channel
        vars(channel)["has_called"] = not channel.on_line
        original(setup, octets)


@variant("MAY-XOT-09")
def close_in_place_of_a_confirmation(patch: Patch) -> None:
    @patch.wrap(Clearing, "confirm")
    def confirm_clear(original: Original, clearing: Clearing) -> None:
        channel = clearing.channel
        if channel.on_line:
            original(clearing)
        else:
            channel.wire.close()


@variant("MAY-XOT-10")
def high_lcns(patch: Patch) -> None:
    @patch.wrap(Placing, "choose_lcn")
    def choose_lcn(original: Original, placing: Placing) -> int:
        return HIGHEST_LCN - int(original(placing))


@variant("MAY-XOT-11")
def one_lcn(patch: Patch) -> None:
    @patch.wrap(Placing, "choose_lcn")
    def choose_lcn(original: Original, placing: Placing) -> int:
        return 1


@variant("MAY-XOT-37")
def lcn_0(patch: Patch) -> None:
    patch.replace(Placing, "choose_lcn", lambda placing: 0)
    patch.replace(Caller, "choose_lcn", lambda caller: 0)


@variant("MAY-XOT-12")
def another_lcn_in_each_packet(patch: Patch) -> None:
    numbers = itertools.cycle(range(1000, HIGHEST_LCN))

    @patch.wrap(Channel, "send")
    def send(original: Original, channel: Channel, octets: bytes) -> None:
        if not channel.on_line:
            lcn = next(numbers)
            octets = bytes((octets[0] & 0xF0 | lcn >> 8, lcn & 0xFF)) + octets[2:]
        original(channel, octets)


@variant("MAY-XOT-13", number=LATE_SECONDS)
def calls_overtake(patch: Patch) -> None:
    numbers = itertools.count()

    @patch.wrap(Placing, "connect")
    def connect(original: Original, placing: Placing) -> None:
        relay = placing.relay
        if next(numbers) % 2:
            original(placing)
            return
        relay.pending = relay.router.timers.start(patch.number, lambda: _go_on(original, placing))


@variant("MAY-XOT-14", number=LATE_SECONDS)
def calls_wait(patch: Patch) -> None:
    @patch.wrap(Placing, "connect")
    def connect(original: Original, placing: Placing) -> None:
        relay = placing.relay
        relay.pending = relay.router.timers.start(patch.number, lambda: _go_on(original, placing))


def _go_on(original: Original, placing: Placing) -> None:
    placing.relay.pending = None
    original(placing)


@variant("MAY-XOT-15")
def try_a_lost_call_again(patch: Patch) -> None:
    @patch.wrap(Channel, "connection_lost")
    def connection_lost(original: Original, channel: Channel) -> None:
        relay = channel.user
        lost = channel.p is P.CALL_SENT and isinstance(relay, Relay) and channel is relay.far
        # A splice that has joined the two with the Call does not know what became of it.
        if not lost or channel.joined is not None or "tried_again" in vars(relay):
            original(channel)
            return
        assert isinstance(relay, Relay)
        vars(relay)["tried_again"] = True
        channel.stop_timers()
        channel.p = P.READY
        channel.set_gauge("")
        channel.user = channel.router.idle_user
        relay.far = None
        relay.router.give_lcn(relay.far_lcn)
        relay.destinations.insert(0, relay.destination)
        relay.placing.connect()


@variant("MAY-XOT-16")
def try_a_refused_connection_again(patch: Patch) -> None:
    @patch.wrap(Placing, "connect_failed")
    def connect_failed(original: Original, placing: Placing, reason: str) -> None:
        relay = placing.relay
        if "connected_again" in vars(relay):
            original(placing, reason)
            return
        vars(relay)["connected_again"] = True
        relay.pending = None
        relay.destinations.insert(0, relay.destination)
        placing.connect()


def before_a_call(patch: Patch, react: Original, *kinds: int) -> None:
    """React to packets of these types on a connection without a call."""

    @patch.wrap(Channel, "process")
    def process(original: Original, channel: Channel, packet_type: int, octets: bytes) -> None:
        waits = channel.p is P.READY and not channel.permanent and not channel.awaits_setup
        if waits and packet_type in kinds and not channel.on_line:
            react(channel)
        else:
            original(channel, packet_type, octets)


def hang_up(channel: Channel) -> None:
    """Close the connection, and take nothing more from it."""
    connection = getattr(channel.wire, "user", None)
    if isinstance(connection, Connection):
        connection.end()
    channel.wire.close()


MISPLACED = (Type.DATA, Type.RR, Type.RNR, Type.INTERRUPT, Type.RESET, Type.ACCEPT)


@variant("MAY-XOT-17")
def discard_misplaced_packets(patch: Patch) -> None:
    before_a_call(patch, lambda channel: channel.discard(), *MISPLACED)


@variant("MAY-XOT-18")
def close_at_misplaced_packets(patch: Patch) -> None:
    before_a_call(patch, hang_up, *MISPLACED)


@variant("MAY-XOT-19")
def discard_a_clear_before_a_call(patch: Patch) -> None:
    before_a_call(patch, lambda channel: channel.discard(), Type.CLEAR)


@variant("MAY-XOT-20")
def close_at_a_spare_confirmation(patch: Patch) -> None:
    before_a_call(patch, hang_up, Type.CLEAR_CONFIRMATION)


@variant("MAY-XOT-21")
def discard_a_confirmation_in_a_call(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Original, channel: Channel, packet_type: int, octets: bytes) -> None:
        not_due = channel.p in (P.CALL_RECEIVED, P.CALL_SENT, P.DATA_TRANSFER)
        spare = packet_type == Type.CLEAR_CONFIRMATION and not channel.permanent
        if not_due and spare and not channel.on_line:
            channel.discard()
        else:
            original(channel, packet_type, octets)


@variant("MAY-XOT-22")
def urgent_octets_are_taken_out(patch: Patch) -> None:
    @patch.wrap(TcpWire, "start")
    def start(original: Original, wire: TcpWire, user: object) -> None:
        if isinstance(wire.socket, socket.socket):
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 0)
        original(wire, user)


@variant("MAY-XOT-23")
def hang_up_when_the_other_end_is_lost(patch: Patch) -> None:
    @patch.wrap(Clearing, "clear")
    def clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        lost = clear.cause == ClearCause.OUT_OF_ORDER and not clear.by_peer
        pending = channel.p in (P.CALL_RECEIVED, P.CALL_SENT, P.DATA_TRANSFER)
        if not lost or channel.on_line or not pending:
            original(clearing, clear)
            return
        channel.stop_timers()
        channel.p = P.CLEAR_SENT
        channel.joined = None
        channel.wire.close()


def lost_with(patch: Patch, cause: int) -> None:
    @patch.wrap(Channel, "connection_lost")
    def connection_lost(original: Original, channel: Channel) -> None:
        channel.end(Clear(cause, Diag.NONE, by_peer=False))


@variant("MAY-XOT-24")
def congestion_when_the_other_end_is_lost(patch: Patch) -> None:
    lost_with(patch, ClearCause.NETWORK_CONGESTION)


@variant("MAY-XOT-25")
def remote_error_when_the_other_end_is_lost(patch: Patch) -> None:
    lost_with(patch, ClearCause.REMOTE_PROCEDURE_ERROR)


@variant("MAY-XOT-26")
def hang_up_at_the_end(patch: Patch) -> None:
    @patch.wrap(Router, "stop")
    def stop(original: Original, router: Router) -> None:
        router.stopping = True
        for connection in list(router.connections):
            connection.over = True
            connection.wire.close()
        for interface in router.serials.values():
            interface.stop()


@variant("MAY-XOT-27", number=0.3)
def close_without_a_call(patch: Patch) -> None:
    @patch.wrap(Channel, "wait_for_call")
    def wait_for_call(original: Original, channel: Channel) -> None:
        original(channel)
        if channel.accepted and not channel.permanent:
            channel.start_timer("empty", patch.number, channel.wire.close)


@variant("MAY-XOT-28")
def give_up_a_call_that_crosses_the_close(patch: Patch) -> None:
    """The close comes with the next Call, as where both are on their way at once."""

    @patch.wrap(Placing, "connected")
    def connected(original: Original, placing: Placing, wire: Wire) -> object:
        vars(placing.relay.near)["called_before"] = placing.relay
        return original(placing, wire)

    @patch.wrap(CallSetup, "on_call")
    def on_call(original: Original, setup: CallSetup, octets: bytes) -> None:
        before: RelayedCall | None = vars(setup.channel).get("called_before")
        if before is None or setup.channel.on_line:
            original(setup, octets)
            return
        hang_up(setup.channel)
        router, to = before.router, before.destination

        def opened(wire: Wire) -> Connection:
            connection = router.new_connection(wire, accepted=False)
            hang_up(connection.channel)
            return connection

        router.network.connect(to.host, to.port, opened, lambda _: None)


def let_the_connection_come(patch: Patch, opened: Callable[[Channel], None]) -> None:
    """What is being opened for a call that ends goes on, and opened() has it without a call."""

    @patch.wrap(Relay, "give_up_far")
    def give_up_far(original: Original, relay: Relay, clear: Clear) -> None:
        if relay.pending is not None:
            vars(relay)["given_up"] = True
            relay.pending = None
        original(relay, clear)

    @patch.wrap(Placing, "connected")
    def connected(original: Original, placing: Placing, wire: Wire) -> object:
        if "given_up" not in vars(placing.relay):
            return original(placing, wire)
        connection = placing.relay.router.new_connection(wire, accepted=False)
        opened(connection.channel)
        return connection

    @patch.wrap(Placing, "connect_failed")
    def connect_failed(original: Original, placing: Placing, reason: str) -> None:
        if "given_up" not in vars(placing.relay):
            original(placing, reason)


@variant("MAY-XOT-29")
def open_for_a_call_that_is_given_up(patch: Patch) -> None:
    let_the_connection_come(patch, hang_up)


@variant("MAY-XOT-38")
def kept_from_a_call_that_is_given_up(patch: Patch) -> None:
    let_the_connection_come(patch, lambda _: None)

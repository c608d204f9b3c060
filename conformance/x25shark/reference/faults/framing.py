# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of XOT framing, of the use of TCP, of circuits and of forbidden packets."""

import os
import select
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from .. import codec, wire
from ..call_setup import CallSetup
from ..channel import Channel
from ..codec import Call, Clear
from ..codes import ClearCause, Diag, Type
from ..connection import Connection
from ..framing import HEADER, Framer, FramingError
from ..placing import Placing
from ..ports import Wire
from ..relay import Relay
from ..relay_local import Direction
from ..router import Router
from ..server import PendingConnection, Server
from ..tables import UNDEFINED, P
from ..wire import TcpWire
from .common import REGISTRATION, Crash, packet_type, pass_on
from .registry import Patch, fault


@fault("BUG-XOT-01")
def version_1(patch: Patch) -> None:
    patch.replace(Framer, "version_is_legal", lambda self, version: version in (0, 1))


@fault("BUG-XOT-02")
def version_low_octet(patch: Patch) -> None:
    patch.replace(Framer, "version_is_legal", lambda self, version: version & 0xFF == 0)


@fault("BUG-XOT-03")
def version_first_unit(patch: Patch) -> None:
    patch.replace(Framer, "version_is_legal", lambda self, version: version == 0 or self.units > 0)


@fault("BUG-XOT-04")
def little_endian(patch: Patch) -> None:
    patch.replace(
        Framer, "length_of", lambda self, header, at: header[at + 3] << 8 | header[at + 2]
    )


@fault("BUG-XOT-05")
def header_in_length(patch: Patch) -> None:
    def frame(packet: bytes) -> bytes:
        return b"\0\0" + (len(packet) + HEADER).to_bytes(2, "big") + packet

    patch.replace(wire, "frame", frame)


@fault("BUG-XOT-06")
def length_0(patch: Patch) -> None:
    @patch.wrap(Framer, "length_is_legal")
    def length_is_legal(original: Any, framer: Framer, length: int) -> bool:
        return length == 0 or bool(original(framer, length))

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if octets:
            original(channel, octets)


@fault("BUG-XOT-07")
def short_packets(patch: Patch) -> None:
    @patch.wrap(Framer, "length_is_legal")
    def length_is_legal(original: Any, framer: Framer, length: int) -> bool:
        return length in (1, 2) or bool(original(framer, length))

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        original(channel, octets + bytes(3 - len(octets)) if len(octets) < 3 else octets)


@fault("BUG-XOT-08")
def allocates(patch: Patch) -> None:
    def length_is_legal(framer: Framer, length: int) -> bool:
        vars(framer)["buffer"] = bytearray(length)
        return length >= 3

    patch.replace(Framer, "length_is_legal", length_is_legal)


@fault("BUG-XOT-09")
def small_buffer(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        original(channel, octets[:1024])


@fault("BUG-XOT-10")
def resynchronises(patch: Patch) -> None:
    patch.replace(Framer, "is_one_packet", lambda self, octets: False)

    @patch.wrap(Connection, "framing_failed")
    def framing_failed(original: Any, connection: Connection) -> None:
        waiting = connection.framer._input
        while waiting and not connection.over:
            del waiting[0]
            try:
                for packet in connection.framer.feed(b""):
                    connection.channel.receive(packet)
                return
            except FramingError:
                continue


@fault("BUG-XOT-11")
def read_is_packet(patch: Patch) -> None:
    def feed(framer: Framer, octets: bytes) -> Iterator[bytes]:
        if len(octets) >= HEADER:
            framer.check(octets, 0)
            if len(octets) >= HEADER + 3:
                yield octets[HEADER:]

    patch.replace(Framer, "feed", feed)


@fault("BUG-XOT-12")
def first_of_read(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        for packet in original(framer, octets):
            yield packet
            break
        else:
            return
        framer.clear()


def wait_for(wire: TcpWire, writing: bool) -> bool:
    """Hold the whole process until the socket is ready; False when the router has to stop."""
    while wire.server.running:
        sockets = [wire.socket]
        ready = select.select([] if writing else sockets, sockets if writing else [], [], 0.05)
        if ready[0] or ready[1]:
            return True
    return False


@fault("BUG-XOT-13")
def blocking_read(patch: Patch) -> None:
    @patch.wrap(TcpWire, "read")
    def read(original: Any, wire: TcpWire) -> None:
        original(wire)
        user = wire.user
        while (
            isinstance(user, Connection)
            and user.framer._input
            and not (wire.dead or wire._eof or wire.closing)
            and wait_for(wire, writing=False)
        ):
            original(wire)


@fault("BUG-XOT-14")
def reset_ignored(patch: Patch) -> None:
    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Any, connection: Connection, reset: bool) -> None:
        if reset:
            connection.over = True
            connection.wire.abort()
        else:
            original(connection, reset)


@fault("BUG-XOT-15")
def half_close_ignored(patch: Patch) -> None:
    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Any, connection: Connection, reset: bool) -> None:
        if reset:
            original(connection, reset)


@fault("BUG-XOT-16")
def pending_call_stays(patch: Patch) -> None:
    @patch.wrap(Channel, "connection_lost")
    def connection_lost(original: Any, channel: Channel) -> None:
        if channel.p is P.CALL_RECEIVED:
            channel.released()
        else:
            original(channel)


@fault("BUG-XOT-17")
def silent_when_refused(patch: Patch) -> None:
    patch.replace(Placing, "unreachable", lambda self: None)


@fault("BUG-XOT-18")
def synchronous_connect(patch: Patch) -> None:
    @patch.wrap(PendingConnection, "open")
    def open_(original: Any, pending: PendingConnection, sock: Any, address: Any) -> None:
        original(pending, sock, address)
        end = time.monotonic() + pending.server.settings.connect_timeout
        while pending.server.running and time.monotonic() < end:
            if select.select([], [sock], [], 0.05)[1]:
                return


@fault("BUG-XOT-19")
def close_wait(patch: Patch) -> None:
    @patch.wrap(TcpWire, "close")
    def close(original: Any, wire: TcpWire) -> None:
        if not wire._eof:
            original(wire)


@fault("BUG-XOT-20", number=2.0)
def clears_idle_calls(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        original(channel, octets)
        if channel.p is P.DATA_TRANSFER:
            channel.start_timer("idle", patch.number, lambda: channel.clearing.error(0, 0x05))


@fault("BUG-XOT-21")
def no_keepalive(patch: Patch) -> None:
    @patch.wrap(wire, "set_options")
    def set_options(original: Any, sock: Any, settings: Any) -> None:
        original(sock, replace(settings, keepalive=0.0))


@fault("BUG-XOT-22")
def no_back_pressure(patch: Patch) -> None:
    patch.replace(Direction, "is_settled", lambda self, last_segment, d: True)
    patch.replace(TcpWire, "pause", lambda self: None)


@fault("BUG-XOT-23")
def second_call_lost(patch: Patch) -> None:
    @patch.wrap(CallSetup, "on_call")
    def on_call(original: Any, setup: CallSetup, octets: bytes) -> None:
        channel = setup.channel
        if vars(channel).setdefault("calls", 0) == 0:
            vars(channel)["calls"] = 1
            original(setup, octets)


def by_lcn(connection: Connection, lcn: int) -> Channel | None:
    """A further channel that a fault has put on a connection."""
    found: Channel | None = vars(connection).get("further", {}).get(lcn)
    return found


def add_channel(connection: Connection, lcn: int, accepted: bool) -> Channel:
    """Put a further channel on a connection."""
    channel = Channel(connection.router, connection.wire, accepted)
    vars(connection).setdefault("further", {})[lcn] = channel
    return channel


@fault("BUG-XOT-24")
def shared_connection(patch: Patch) -> None:
    patch.replace(
        Connection,
        "channel_for",
        lambda self, packet: by_lcn(self, codec.lcn_of(packet)) or self.channel,
    )

    @patch.wrap(Placing, "connected")
    def connected(original: Any, placing: Placing, wire: Wire) -> Connection:
        relay = placing.relay
        connection: Connection = original(placing, wire)
        vars(relay.router).setdefault("shared", {})[relay.destination.name] = connection
        return connection

    @patch.wrap(Placing, "connect")
    def connect(original: Any, placing: Placing) -> None:
        relay = placing.relay
        shared = vars(relay.router).get("shared", {}).get(relay.destinations[0].name)
        if shared is None or shared.over or shared.channel.p is not P.DATA_TRANSFER:
            original(placing)
            return
        relay.destination = relay.destinations.pop(0)
        relay.offered.lcn = placing.choose_lcn()
        relay.far = add_channel(shared, relay.offered.lcn, accepted=False)
        relay.far.user = relay
        placing.send_call(relay.far)


@fault("BUG-XOT-25")
def lookup_by_lcn(patch: Patch) -> None:
    def channel_for(connection: Connection, packet: bytes) -> Channel:
        own = connection.channel
        for one in connection.router.connections:
            channel: Channel = one.channel
            same = channel.lcn == codec.lcn_of(packet) and channel.accepted == own.accepted
            if same and channel.p is P.DATA_TRANSFER and own.p is P.DATA_TRANSFER:
                return channel
        return own

    patch.replace(Connection, "channel_for", channel_for)


@fault("BUG-XOT-26")
def lcn_of_8_bits(patch: Patch) -> None:
    patch.replace(codec, "lcn_of", lambda octets: octets[1])

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.p is P.READY and octets[1] == 0:
            channel.discard()
        else:
            original(channel, octets)


@fault("BUG-XOT-27")
def foreign_lcn(patch: Patch) -> None:
    def channel_for(connection: Connection, packet: bytes) -> Channel:
        own, lcn = connection.channel, codec.lcn_of(packet)
        if own.p is P.DATA_TRANSFER and lcn != own.lcn:
            for one in connection.router.connections:
                channel: Channel = one.channel
                if channel.lcn == lcn and channel.accepted == own.accepted:
                    return channel
        return own

    patch.replace(Connection, "channel_for", channel_for)


@fault("BUG-XOT-28")
def several_circuits(patch: Patch) -> None:
    def channel_for(connection: Connection, packet: bytes) -> Channel:
        own, lcn = connection.channel, codec.lcn_of(packet)
        if lcn == own.lcn or own.p is P.READY:
            return own
        found = by_lcn(connection, lcn)
        if found is None and packet[2] == Type.CALL:
            found = add_channel(connection, lcn, accepted=True)
        return found or own

    patch.replace(Connection, "channel_for", channel_for)


def on_restart(patch: Patch, react: Any) -> None:
    """Do something about a Restart."""

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if packet_type(channel, octets) == Type.RESTART:
            react(channel)
        else:
            original(channel, octets)


@fault("BUG-XOT-30")
def answers_restart(patch: Patch) -> None:
    on_restart(patch, lambda channel: channel.send(bytes((0x10, 0, Type.RESTART_CONFIRMATION))))


@fault("BUG-XOT-31")
def restart_clears(patch: Patch) -> None:
    def react(channel: Channel) -> None:
        for connection in list(channel.router.connections):
            connection.channel.clearing.clear(Clear(0x09, 0, by_peer=False))

    on_restart(patch, react)


@fault("BUG-XOT-32")
def sends_restart(patch: Patch) -> None:
    @patch.wrap(Router, "new_connection")
    def new_connection(original: Any, router: Router, wire: Wire, accepted: bool) -> Connection:
        connection: Connection = original(router, wire, accepted)
        wire.send(bytes((0x10, 0, Type.RESTART, 0x07, 0)))
        return connection


@fault("BUG-XOT-33")
def forwards_diagnostic(patch: Patch) -> None:
    pass_on(patch, *REGISTRATION)


@fault("BUG-XOT-34")
def forwards_reject(patch: Patch) -> None:
    pass_on(patch, Type.REJ)


@fault("BUG-XOT-35")
def closes_on_unknown(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if packet_type(channel, octets) == UNDEFINED and channel.p is P.READY:
            channel.wire.close()
        else:
            original(channel, octets)


@fault("BUG-XOT-91")
def clears_for_undefined_types(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        undefined = packet_type(channel, octets) == UNDEFINED and channel.p is P.READY
        if undefined and octets[2] > 0xF8:
            octets_of_a_clear = codec.header(channel.modulo, channel.lcn, Type.CLEAR)
            channel.send(octets_of_a_clear + bytes((ClearCause.LOCAL_PROCEDURE_ERROR, 33)))
        else:
            original(channel, octets)


@fault("BUG-XOT-36")
def crash_on_data(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if packet_type(channel, octets) == Type.DATA and channel.p is P.READY:
            raise Crash
        original(channel, octets)


@fault("BUG-XOT-43")
def discards_other_lcn(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.p is not P.READY and codec.lcn_of(octets) != channel.lcn:
            channel.discard()
        else:
            original(channel, octets)


@fault("BUG-XOT-44")
def forgets_clear(patch: Patch) -> None:
    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Any, connection: Connection, reset: bool) -> None:
        vars(connection.channel)["was_reset"] = reset
        original(connection, reset)

    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        def later() -> None:
            if not vars(channel).get("was_reset"):
                original(relay, channel, clear)

        if clear.by_peer:
            relay.router.timers.start(0.3, later)
        else:
            original(relay, channel, clear)


@fault("BUG-XOT-45")
def late_connection(patch: Patch) -> None:
    @patch.wrap(Relay, "give_up_far")
    def give_up_far(original: Any, relay: Relay, clear: Clear) -> None:
        if relay.pending is None:
            original(relay, clear)


@fault("BUG-XOT-168")
def late_connection_and_short_t11(patch: Patch) -> None:
    @patch.wrap(Relay, "give_up_far")
    def give_up_far(original: Any, relay: Relay, clear: Clear) -> None:
        if relay.pending is None:
            original(relay, clear)
        else:
            vars(relay)["given_up"] = True

    @patch.wrap(CallSetup, "call")
    def call(original: Any, setup: CallSetup, *packet: Any) -> None:
        original(setup, *packet)
        if vars(setup.channel.user).get("given_up"):
            setup.channel.start_timer("T11", 0.3, setup.t11_expired)


@fault("BUG-XOT-46")
def hanging_calls(patch: Patch) -> None:
    @patch.wrap(Server, "close_listeners")
    def close_listeners(original: Any, running: Server) -> None:
        original(running)
        if os.fork() == 0:
            for descriptor in (0, 1, 2):
                os.close(descriptor)
            time.sleep(30)
            os._exit(0)
        os._exit(0)


@fault("BUG-XOT-47")
def idle_timer_runs_on(patch: Patch) -> None:
    def wait_for_call(channel: Channel) -> None:
        def expired() -> None:
            channel.connection_lost()
            channel.wire.close()

        if channel.accepted and channel.settings.empty > 0:
            channel.router.timers.start(channel.settings.empty, expired)

    patch.replace(Channel, "wait_for_call", wait_for_call)


@fault("BUG-XOT-48")
def blocking_write(patch: Patch) -> None:
    @patch.wrap(TcpWire, "flush")
    def flush(original: Any, wire: TcpWire) -> None:
        original(wire)
        while wire._output and not wire.dead and wait_for(wire, writing=True):
            original(wire)


@fault("BUG-XOT-50")
def clear_for_length_2(patch: Patch) -> None:
    @patch.wrap(Framer, "length_is_legal")
    def length_is_legal(original: Any, framer: Framer, length: int) -> bool:
        return length == 2 or bool(original(framer, length))

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if len(octets) > 2:
            original(channel, octets)
        elif channel.p is not P.CLEAR_SENT:
            channel.modulo, channel.lcn = 8, codec.lcn_of(octets)
            channel.clearing.error(Diag.TOO_SHORT)


@fault("BUG-XOT-51")
def octet_with_syn(patch: Patch) -> None:
    no_cookie = 34  # TCP_FASTOPEN_NO_COOKIE of Linux, which Python does not name
    begun: set[int] = set()

    @patch.wrap(PendingConnection, "open")
    def open_(
        original: Any, pending: PendingConnection, sock: socket.socket, address: tuple[str, int]
    ) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, no_cookie, 1)
        try:
            sock.sendto(b"\0", socket.MSG_FASTOPEN, address)
        except BlockingIOError:
            return
        begun.add(sock.fileno())

    @patch.wrap(TcpWire, "queue")
    def queue(original: Any, wire: TcpWire, octets: bytes) -> None:
        # Every unit begins with the octet that is already on its way.
        first = wire.socket.fileno() in begun
        begun.discard(wire.socket.fileno())
        original(wire, octets[1:] if first else octets)


@fault("BUG-XOT-72")
def looks_like_a_unit(patch: Patch) -> None:
    @patch.wrap(Framer, "is_one_packet")
    def is_one_packet(original: Any, framer: Framer, octets: bytes) -> bool:
        return len(octets) >= HEADER and len(octets) - HEADER == framer.length_of(octets, 0)


@fault("BUG-XOT-73")
def read_ends_at_a_confirmation(patch: Patch) -> None:
    confirmations = (
        Type.CLEAR_CONFIRMATION,
        Type.RESET_CONFIRMATION,
        Type.INTERRUPT_CONFIRMATION,
    )

    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        with closing(original(framer, octets)) as packets:
            for packet in packets:
                yield packet
                if packet[2] in confirmations:
                    return


@fault("BUG-XOT-98")
def sixteen_packets_of_a_read(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        held = vars(framer).pop("held", [])
        packets = [*held, *original(framer, octets)]
        vars(framer)["held"] = packets[16:]
        yield from packets[:16]


@fault("BUG-XOT-99")
def impatient_behind_a_header(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        since = vars(framer).pop("header_since", None)
        if since is not None and time.monotonic() - since > 0.5:
            raise FramingError("the packet is late")
        yield from original(framer, octets)
        if len(framer._input) >= HEADER:
            vars(framer)["header_since"] = time.monotonic()


@fault("BUG-XOT-100")
def probes_silent_callers(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, call: Call) -> None:
        original(setup, call)
        channel = setup.channel
        probe = codec.header(channel.modulo, channel.lcn, Type.INTERRUPT) + b"\x01"
        channel.start_timer("idle", 2.0, lambda: channel.send(probe))

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        channel.stop_timer("idle")
        original(channel, octets)


@fault("BUG-XOT-101")
def deaf_behind_a_refusal(patch: Patch) -> None:
    @patch.wrap(Router, "refuse")
    def refuse(original: Any, router: Router, channel: Channel, *refusal: Any) -> None:
        vars(channel)["refused"] = True
        original(router, channel, *refusal)

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.p is not P.READY or "refused" not in vars(channel):
            original(channel, octets)


@fault("BUG-XOT-155")
def one_octet_short_of_511(patch: Patch) -> None:
    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        original(channel, octets[:510] if len(octets) == 511 else octets)


@fault("BUG-XOT-156")
def header_behind_three_packets(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        before = framer.units
        yield from original(framer, octets)
        if framer.units - before >= 3 and len(framer._input) == HEADER:
            framer.clear()


@fault("BUG-XOT-157")
def high_octet_of_a_length_in_pieces(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        if len(framer._input) == HEADER - 1 and framer._input[2] == 1:
            framer._input[2] = 0
        yield from original(framer, octets)


@fault("BUG-XOT-158")
def version_of_the_third_header(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        vars(framer)["ahead"] = framer.units
        yield from original(framer, octets)

    @patch.wrap(Framer, "version_is_legal")
    def version_is_legal(original: Any, framer: Framer, version: int) -> bool:
        third = framer.units - vars(framer).get("ahead", 0) >= 2
        return third or bool(original(framer, version))

# SPDX-License-Identifier: GPL-2.0-or-later
"""A relay that reads no more than the Call (RFC 1613 6.2, last paragraph)."""

import socket
from functools import partial

from ..channel import Channel
from ..codec import Clear
from ..connection import Connection
from ..relay_splice import SplicePlacing, SpliceRelay
from ..relayed import RelayedCall
from ..wire import WRITE, TcpWire
from .registry import Original, Patch, variant


@variant("MAY-SPLICE-01")
def joins_with_the_call(patch: Patch) -> None:
    joins(patch)


@variant("MAY-SPLICE-02")
def passes_octets_on(patch: Patch) -> None:
    joined = joins(patch)

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Original, connection: Connection, octets: bytes) -> None:
        relay = connection.channel.user
        parted = connection.channel.joined is None
        if parted or not isinstance(relay, SpliceRelay) or relay not in joined:
            original(connection, octets)
            return
        # What of a unit was there already when the two were joined goes with the rest of it.
        octets = connection.framer.take_rest() + octets
        other = relay.other(connection.channel)
        if other is not None:
            assert isinstance(other.wire, TcpWire)
            other.wire.queue(octets)
            if other.wire.congested:
                connection.wire.pause()
        connection.router.flush()


@variant("MAY-SPLICE-03")
def passes_fin_on(patch: Patch) -> None:
    ended: set[Channel] = set()
    finishing: set[TcpWire] = set()

    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Original, connection: Connection, reset: bool) -> None:
        channel = connection.channel
        relay = channel.user
        other = relay.other(channel) if isinstance(relay, SpliceRelay) else None
        if reset or other is None or channel.joined is None or other.joined is None:
            original(connection, reset)
        elif other not in ended:
            ended.add(channel)
            assert isinstance(other.wire, TcpWire)
            finishing.add(other.wire)
            connection.router.flush()
            other.wire.flush()
        else:
            ended.discard(other)
            for one in (other, channel):
                one.released()
                one.wire.close()

    @patch.wrap(TcpWire, "flush")
    def flush(original: Original, wire: TcpWire) -> None:
        original(wire)
        if wire in finishing and not wire.wanted() & WRITE:
            finishing.discard(wire)
            if not wire.dead:
                assert isinstance(wire.socket, socket.socket)
                wire.socket.shutdown(socket.SHUT_WR)


def joins(patch: Patch) -> set[RelayedCall]:
    """Joins the two connections with the Call; the relays that have."""
    joined: set[RelayedCall] = set()

    def pass_on(relay: RelayedCall, channel: Channel, octets: bytes) -> None:
        other = relay.other(channel)
        if other is None:
            channel.discard()
            return
        other.send(octets)
        if other.wire.congested:
            channel.wire.pause()

    @patch.wrap(SplicePlacing, "send_call")
    def send_call(original: Original, placing: SplicePlacing, far: Channel) -> None:
        relay = placing.relay
        original(placing, far)
        joined.add(relay)
        for channel in (relay.near, far):
            channel.stop_timers()
            channel.joined = partial(pass_on, relay, channel)

    @patch.wrap(Channel, "end")
    def end(original: Original, channel: Channel, clear: Clear) -> None:
        relay = channel.user
        if not isinstance(relay, SpliceRelay) or relay not in joined:
            original(channel, clear)
            return
        joined.discard(relay)
        for one in (relay.near, relay.far):
            if one is not None:
                one.released()
                one.wire.close()

    return joined

# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of call clearing."""

import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import codec
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Clear
from ..codes import ClearCause, Type
from ..relay import Relay
from ..relay_splice import SpliceRelay
from ..resets import Resets
from ..tables import D, P
from ..wire import TcpWire
from .common import keeps_timer, leak, other_end, packet_type, without_timer
from .registry import Patch, fault


@fault("BUG-CLR-01")
def no_confirmation(patch: Patch) -> None:
    patch.replace(Clearing, "confirm", lambda self: None)


@fault("BUG-CLR-02")
def collision_leak(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        if channel.p is P.CLEAR_SENT:
            leak(channel)
            # The gauge counts the lost channel as well.
            channel._gauge = ""
        original(clearing, octets)


@fault("BUG-CLR-04")
def data_after_clear(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        vars(channel)["once"] = other_end(channel)
        original(clearing, octets)

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        other: Channel | None = vars(channel).get("once")
        data = packet_type(channel, octets) == Type.DATA
        if other is not None and data and channel.p is P.READY:
            other.send(bytes((octets[0] & 0xF0 | other.lcn >> 8, other.lcn & 0xFF)) + octets[2:])
        else:
            original(channel, octets)


@fault("BUG-CLR-05")
def no_t13(patch: Patch) -> None:
    without_timer(patch, "T13")


@fault("BUG-CLR-06")
def old_memory(patch: Patch) -> None:
    memory = [0xEE]

    @patch.wrap(codec, "parse_clear")
    def parse_clear(original: Any, octets: bytes) -> Clear:
        clear: Clear = original(octets)
        if len(octets) == 4:
            clear.diagnostic = memory[0]
        memory[0] = clear.diagnostic or memory[0]
        return clear


@fault("BUG-CLR-08")
def same_cause(patch: Patch) -> None:
    patch.replace(
        Clearing,
        "remote_clear",
        lambda self, cause, diagnostic: Clear(cause, diagnostic, by_peer=False),
    )
    patch.replace(Resets, "remote_cause", lambda self, cause: cause)


@fault("BUG-CLR-09")
def clear_in_reset(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        other = other_end(channel)
        states = [channel.d] + ([other.d] if other is not None else [])
        if all(state is D.FLOW_CONTROL_READY for state in states):
            original(clearing, octets)


@fault("BUG-CLR-10")
def unread_input(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send_clear(original: Any, clearing: Clearing, clear: Clear) -> None:
        original(clearing, clear)
        clearing.channel.wire.close()

    @patch.wrap(TcpWire, "close")
    def close(original: Any, wire: TcpWire) -> None:
        try:
            unread = (
                not wire.dead
                and isinstance(wire.socket, socket.socket)
                and bool(wire.socket.recv(1, socket.MSG_PEEK))
            )
        except OSError:
            unread = False
        if unread:
            wire.abort()
        else:
            original(wire)


@fault("BUG-CLR-11")
def lost_half(patch: Patch) -> None:
    # The confirmation towards the side that cleared waits for that of the other side.
    @patch.wrap(Clearing, "confirm")
    def confirm_clear(original: Any, clearing: Clearing) -> None:
        other = other_end(clearing.channel)
        if other is not None and other.p in (P.CALL_SENT, P.DATA_TRANSFER):
            vars(other)["owes"] = lambda: original(clearing)
        else:
            original(clearing)

    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        if channel.p is P.CLEAR_SENT:
            # A collision, but the router goes on waiting for a confirmation.
            vars(channel)["collided"] = True
            channel.stop_timers()
            channel.clearing.confirm()
        else:
            original(clearing, octets)

    @patch.wrap(Channel, "released")
    def released(original: Any, channel: Channel) -> None:
        owes: Callable[[], None] | None = vars(channel).pop("owes", None)
        original(channel)
        if owes is not None:
            owes()

    @patch.wrap(Channel, "connection_lost")
    def connection_lost(original: Any, channel: Channel) -> None:
        if vars(channel).pop("collided", False):
            vars(channel).pop("owes", None)
        original(channel)


def data_outstanding(relay: Relay, channel: Channel) -> bool:
    """Data for this side waits, or is not acknowledged."""
    directions = vars(relay).get("directions") or {}
    other = relay.other(channel)
    queued = other is not None and other in directions and bool(directions[other].queue)
    return channel.p is P.DATA_TRANSFER and (queued or channel.v_s != channel.p_r_received)


def when_free(relay: Relay, channel: Channel, then: Callable[[], None]) -> None:
    """Do something as soon as no data is outstanding towards a side."""
    if data_outstanding(relay, channel):
        relay.router.timers.start(0.05, lambda: when_free(relay, channel, then))
    else:
        then()


@fault("BUG-CLR-12")
def clear_queued(patch: Patch) -> None:
    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        other = relay.other(channel)
        if other is None or not clear.by_peer:
            original(relay, channel, clear)
        else:
            when_free(relay, other, lambda: original(relay, channel, clear))


@fault("BUG-CLR-13")
def own_cause(patch: Patch) -> None:
    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        if channel is relay.far and clear.by_peer and relay.near.p is P.DATA_TRANSFER:
            clear = replace(clear, cause=0x05, diagnostic=0)
        original(relay, channel, clear)

    @patch.wrap(SpliceRelay, "part")
    def part(
        original: Any, relay: SpliceRelay, channel: Channel, other: Channel, octets: bytes
    ) -> None:
        if channel is relay.far:
            octets = octets[:3] + b"\x05\0"
        original(relay, channel, other, octets)


@fault("BUG-CLR-14")
def remote_error_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Clearing, "emit")
    def emit_clear(original: Any, clearing: Clearing, clear: Clear) -> None:
        if clearing.channel.modulo == 128 and clear.cause == ClearCause.LOCAL_PROCEDURE_ERROR:
            clear = replace(clear, cause=ClearCause.REMOTE_PROCEDURE_ERROR)
        original(clearing, clear)


@fault("BUG-CLR-15")
def t13_runs_on(patch: Patch) -> None:
    keeps_timer(patch, Channel, "released", "T13")


@fault("BUG-CLR-16")
def channel_of_a_close(patch: Patch) -> None:
    @patch.wrap(Relay, "released")
    def released(original: Any, relay: Relay, channel: Channel) -> None:
        kept = relay in relay.router.circuits
        closed = vars(channel).get("closed_in_p7", False)
        original(relay, channel)
        if kept and closed:
            relay.router.circuits.add(relay)

    @patch.wrap(Channel, "connection_lost")
    def connection_lost(original: Any, channel: Channel) -> None:
        vars(channel)["closed_in_p7"] = channel.p is P.CLEAR_SENT
        original(channel)


@fault("BUG-XOT-175")
def blames_the_other_end(patch: Patch) -> None:
    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        if clear.cause == ClearCause.OUT_OF_ORDER:
            clear = replace(clear, cause=ClearCause.LOCAL_PROCEDURE_ERROR)
        original(relay, channel, clear)

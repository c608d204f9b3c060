# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the habits of manners.py on the router: each replaces a method, as a fault does."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .channel import Channel
from .codec import Clear
from .codes import Type
from .faults.registry import Patch
from .framing import frame
from .manners import Manners
from .server import TcpWire
from .tables import P
from .terminal import Echo

GATHER_SECONDS = 0.02
HALVES_SECONDS = 0.002
LATEST_SECONDS = 1.0

Original = Callable[..., Any]


def put_on(manners: Manners) -> Patch:
    """Replace what the manners say; the result puts it back."""
    patch = Patch()
    if manners.write != "packet" or manners.delay:
        write(patch, manners)
    if manners.acknowledge != "soon":
        acknowledge(patch, manners.acknowledge)
    if manners.pause:
        pause(patch, manners.pause)
    if manners.hang_up:
        hang_up(patch)
    if not manners.diagnostics:
        no_diagnostics(patch)
    if manners.late_echo:
        late_echo(patch)
    return patch


def write(patch: Patch, manners: Manners) -> None:
    """Packets leave later, in two parts or several at once, and always in order."""
    held: dict[TcpWire, list[bytes]] = {}

    def release(wire: TcpWire, count: int | None) -> None:
        parts = held.get(wire, [])
        for part in parts[:count]:
            wire.queue(part)
        del parts[:count]
        if not parts:
            held.pop(wire, None)

    @patch.wrap(TcpWire, "send")
    def send(_original: Original, wire: TcpWire, packet: bytes) -> None:
        octets = frame(packet)
        waiting = held.setdefault(wire, [])
        start = wire.server.timers.start
        if manners.write == "gather":
            if not waiting:
                start(max(manners.delay, GATHER_SECONDS), lambda: release(wire, None))
            waiting.append(octets)
            return
        middle = (len(octets) + 1) // 2 if manners.write == "halves" else len(octets)
        for number, part in enumerate((octets[:middle], octets[middle:])):
            if part:
                waiting.append(part)
                start(manners.delay + number * HALVES_SECONDS, lambda: release(wire, 1))

    @patch.wrap(TcpWire, "close")
    def close(original: Original, wire: TcpWire) -> None:
        release(wire, None)
        original(wire)


def acknowledge(patch: Patch, how: str) -> None:
    """An RR for every Data, or as late as may be."""
    if how == "each":

        @patch.wrap(Channel, "acknowledge")
        def each(_original: Original, channel: Channel, count: int) -> None:
            for _ in range(count if channel.ready else 0):
                channel.forward_flow(Type.RR, (channel.p_r + 1) % channel.modulo)

        return

    @patch.wrap(Channel, "flush")
    def late(original: Original, channel: Channel) -> None:
        used = (channel.p_r - channel.p_r_sent) % channel.modulo
        if used * 2 >= channel.window_in:
            channel.stop_timer("acknowledge")
            original(channel)
        elif used:
            channel.start_timer("acknowledge", LATEST_SECONDS, lambda: original(channel))


def pause(patch: Patch, every: int) -> None:
    """RNR, and an RR with the same P(R) at once: the peer may see both, or act on the last."""
    counts: dict[Channel, int] = {}

    @patch.wrap(Channel, "on_data")
    def on_data(original: Original, channel: Channel, octets: bytes) -> None:
        original(channel, octets)
        counts[channel] = counts.get(channel, 0) + 1
        if channel.ready and counts[channel] % every == 0:
            channel.forward_flow(Type.RNR, channel.p_r)
            channel.forward_flow(Type.RR, channel.p_r)


def hang_up(patch: Patch) -> None:
    """A close in the place of the Clear, as long as the caller has no answer."""

    @patch.wrap(Channel, "send_clear")
    def send_clear(original: Original, channel: Channel, clear: Clear) -> None:
        if channel.p is not P.CALL_RECEIVED or clear.by_peer or channel.on_line:
            original(channel, clear)
            return
        channel.interface.count("x25StatInCallRefusals")
        channel.stop_timers()
        channel.p = P.CLEAR_SENT
        channel.joined = None
        channel.wire.close()


def no_diagnostics(patch: Patch) -> None:
    """Diagnostic 0 in what the router finds itself; those of the ends pass."""

    @patch.wrap(Channel, "clear_error")
    def clear_error(
        original: Original, channel: Channel, _diagnostic: int, cause: int | None = None
    ) -> None:
        original(channel, 0, cause)

    @patch.wrap(Channel, "reset_error")
    def reset_error(original: Original, channel: Channel, _diagnostic: int) -> None:
        original(channel, 0)

    @patch.wrap(Channel, "emit_clear")
    def emit_clear(original: Original, channel: Channel, clear: Clear) -> None:
        original(channel, clear if clear.by_peer else replace(clear, diagnostic=0))


def late_echo(patch: Patch) -> None:
    """Complete sequences that were read and not sent back yet outlive a reset."""

    @patch.wrap(Echo, "drop")
    def drop(original: Original, echo: Echo) -> None:
        read = list(echo.direction.queue)
        while read and read[-1].m:
            del read[-1]
        original(echo)
        echo.direction.queue.extend(read)
        echo.direction.made = len(read)

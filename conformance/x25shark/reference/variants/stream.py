# SPDX-License-Identifier: GPL-2.0-or-later
"""How packets are put into the TCP stream: it has no packet boundaries (RFC 1613 4)."""

from collections.abc import Callable

from ..framing import frame
from ..server import TcpWire
from .registry import Original, Patch, variant

HALVES_SECONDS = 0.002

Release = Callable[[TcpWire, int | None], None]


def in_order(patch: Patch) -> tuple[dict[TcpWire, list[bytes]], Release]:
    """What waits to be written on each connection, and how it is released, before a close too."""
    held: dict[TcpWire, list[bytes]] = {}

    def release(wire: TcpWire, count: int | None) -> None:
        parts = held.get(wire, [])
        for part in parts[:count]:
            wire.queue(part)
        del parts[:count]
        if not parts:
            held.pop(wire, None)

    @patch.wrap(TcpWire, "close")
    def close(original: Original, wire: TcpWire) -> None:
        release(wire, None)
        original(wire)

    return held, release


@variant("MAY-XOT-01")
def halves(patch: Patch) -> None:
    held, release = in_order(patch)

    @patch.wrap(TcpWire, "send")
    def send(_original: Original, wire: TcpWire, packet: bytes) -> None:
        octets = frame(packet)
        middle = (len(octets) + 1) // 2
        for number, part in enumerate((octets[:middle], octets[middle:])):
            held.setdefault(wire, []).append(part)
            wire.server.timers.start(number * HALVES_SECONDS, lambda: release(wire, 1))


@variant("MAY-XOT-02", number=0.05)
def gather(patch: Patch) -> None:
    """What comes up within this time goes into one segment."""
    held, release = in_order(patch)

    @patch.wrap(TcpWire, "send")
    def send(_original: Original, wire: TcpWire, packet: bytes) -> None:
        waiting = held.setdefault(wire, [])
        if not waiting:
            wire.server.timers.start(patch.number, lambda: release(wire, None))
        waiting.append(frame(packet))


@variant("MAY-XOT-03", number=0.05)
def late(patch: Patch) -> None:
    held, release = in_order(patch)

    @patch.wrap(TcpWire, "send")
    def send(_original: Original, wire: TcpWire, packet: bytes) -> None:
        held.setdefault(wire, []).append(frame(packet))
        wire.server.timers.start(patch.number, lambda: release(wire, 1))

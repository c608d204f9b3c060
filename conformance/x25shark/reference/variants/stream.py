# SPDX-License-Identifier: GPL-2.0-or-later
"""How packets are put into the TCP stream: it has no packet boundaries (RFC 1613 4)."""

import random
from collections.abc import Callable

from ..framing import frame
from ..wire import READ, WRITE, TcpWire
from .registry import Original, Patch, variant

HALVES_SECONDS = 0.002
SLOW_SHARE = 0.3

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


@variant("MAY-XOT-30", number=0.05)
def each_connection_in_its_own_time(patch: Patch) -> None:
    """As threads that read and write one connection each; some of them are slow."""
    slow: dict[tuple[TcpWire, int], bool] = {}
    asleep: set[tuple[TcpWire, int]] = set()
    awake: set[tuple[TcpWire, int]] = set()

    def sleeps(wire: TcpWire, event: int) -> bool:
        """Whether what serves this direction has to sleep first; from now on it does."""
        direction = wire, event
        if direction in awake or not slow.setdefault(direction, random.random() < SLOW_SHARE):
            return False
        if direction not in asleep:
            asleep.add(direction)
            seconds = random.uniform(0.5, 1) * patch.number
            wire.server.timers.start(seconds, lambda: wakes(wire, event))
            wire.look()
        return True

    def wakes(wire: TcpWire, event: int) -> None:
        direction = wire, event
        asleep.discard(direction)
        if not wire.dead and (event == WRITE or wire.wanted() & event):
            awake.add(direction)
            wire.ready(event)
            awake.discard(direction)
        if not wire.dead:
            wire.look()

    @patch.wrap(TcpWire, "wanted")
    def wanted(original: Original, wire: TcpWire) -> int:
        wants = int(original(wire))
        for event in (READ, WRITE):
            if (wire, event) in asleep:
                wants &= ~event
        return wants

    @patch.wrap(TcpWire, "read")
    def read(original: Original, wire: TcpWire) -> None:
        if not sleeps(wire, READ):
            original(wire)

    @patch.wrap(TcpWire, "flush")
    def flush(original: Original, wire: TcpWire) -> None:
        if not wire.dead and not sleeps(wire, WRITE):
            original(wire)

# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture whose TCP segments stand in the order of their octets.

On a network that loses or overtakes, segments are captured out of order, and are sent again cut
otherwise. Wireshark puts them in order, but for a segment that was lost and is sent again together
with octets that came before it: then the rest of the connection is missing in its tree. So judge
two reads the same frames in the order in which the receiver could read them, each octet once. A
number says which frame of the evidence each of them is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from . import pcapng
from .frames import FIN, RST, SYN, Segment, trimmed
from .slicer import Frame, Slice

_SEQUENCES = 1 << 32
Key = tuple[tuple[str, int], tuple[str, int]]


@dataclass
class _Way:
    """One direction of a connection.

    first: the sequence number of its first octet. reached: octets that came without a gap. early:
    segments behind a gap, by the place of their first octet and the number of their frame.
    """

    first: int
    reached: int = 0
    early: list[tuple[int, int]] = field(default_factory=list)

    def place(self, segment: Segment) -> int:
        """Octets of the direction before a segment."""
        ahead = (segment.sequence - self.first - self.reached) % _SEQUENCES
        return self.reached + ahead - (_SEQUENCES if ahead >= _SEQUENCES // 2 else 0)


def in_order(found: Slice) -> tuple[bytes, Sequence[int]]:
    """The capture to read, and for each of its frames the number in the evidence, from 1."""
    order = _Order(found)
    for number, frame in enumerate(found.frames):
        order.take(number, frame.segment)
    order.finish()
    if not order.changed:
        return found.capture(), range(1, len(found.frames) + 1)
    head = b"".join(block.octets for block in found.head)
    return head + b"".join(order.blocks), [number + 1 for number in order.numbers]


class _Order:
    """Takes the frames as they were captured; blocks and numbers have them in order."""

    def __init__(self, found: Slice) -> None:
        self._frames = found.frames
        described = [b for b in found.head if b.kind == pcapng.INTERFACE_DESCRIPTION]
        self._links = [pcapng.interface(block).link_type for block in described]
        self._ways: dict[Key, _Way] = {}
        self.numbers: list[int] = []
        self.blocks: list[bytes] = []
        self.changed = False

    def take(self, number: int, segment: Segment) -> None:
        """The next frame: it is added at once, or waits until the gap before it is closed."""
        key = segment.source, segment.destination
        way = self._ways.get(key)
        if segment.flags & SYN or way is None:
            self._add_early(way)
            syn = int(bool(segment.flags & SYN))
            self._ways[key] = _Way((segment.sequence + syn) % _SEQUENCES, _span(segment))
            self._add(number)
        elif not _span(segment) or segment.flags & RST:
            self._add(number)
        elif (place := way.place(segment)) > way.reached:
            heappush(way.early, (place, number))
            self.changed = True
        else:
            self._go_on(way, place, number)
            while way.early and way.early[0][0] <= way.reached:
                self._go_on(way, *heappop(way.early))

    def _go_on(self, way: _Way, place: int, number: int) -> None:
        """Add a segment that begins where the direction has got to, or before that."""
        known = way.reached - place
        span = _span(self._frames[number].segment)
        # One that brings nothing new is sent again, and Wireshark sees that.
        self._add(number, known if 0 < known < span else 0)
        way.reached = max(way.reached, place + span)

    def _add(self, number: int, known: int = 0) -> None:
        """Add a frame without the octets that are known."""
        frame = self._frames[number]
        self.numbers.append(number)
        self.blocks.append(self._without(frame, known) if known else frame.block.octets)
        self.changed = self.changed or bool(known)

    def _without(self, frame: Frame, known: int) -> bytes:
        interface, _, octets = pcapng.packet(frame.block)
        # Where only a FIN is new, it has no octets.
        count = min(known, frame.segment.length)
        return pcapng.with_packet(
            frame.block, trimmed(self._links[interface], octets, count)
        ).octets

    def _add_early(self, way: _Way | None) -> None:
        for _, number in sorted(way.early) if way is not None else ():
            self._add(number)

    def finish(self) -> None:
        """What waits for a gap that nobody closed is added behind."""
        for way in self._ways.values():
            self._add_early(way)


def _span(segment: Segment) -> int:
    """Sequence numbers that a segment takes up, SYN left out."""
    return segment.length + bool(segment.flags & FIN)

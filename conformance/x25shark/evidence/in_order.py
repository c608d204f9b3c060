# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture whose TCP segments are in the order of their octets.

On a network that loses or overtakes, segments are captured out of order, and are sent again cut
otherwise. Wireshark puts them in order, but for a segment that was lost and is sent again together
with octets that came before it; and Wireshark 4.6 takes the first octet of a unit, alone in a
segment and sent again, for a keep-alive: the rest of the connection is missing in its tree then. So
judge two reads the same frames in the order in which the receiver could read them, each octet once.
A number says which frame of the evidence each of them is. Where nothing was lost or sent again,
acknowledgements without octets, a fifth of the frames, are left out: nothing is read from them but
that a handshake was completed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from ..links.carrier import End
from . import pcapng
from .frames import ACK, FIN, RST, SYN, Segment, trimmed
from .slicer import Slice

_SEQUENCES = 1 << 32
Key = tuple[End, End]


@dataclass
class _Way:
    """One direction of a connection.

    first: the sequence number of its first octet. reached: octets that came without a gap. early:
    segments behind a gap, by the place of their first octet and the number of their frame. going:
    its handshake is over, as far as it goes.
    """

    first: int
    reached: int = 0
    early: list[tuple[int, int]] = field(default_factory=list)
    going: bool = False

    def place(self, segment: Segment) -> int:
        """Octets of the direction before a segment."""
        ahead = (segment.sequence - self.first - self.reached) % _SEQUENCES
        return self.reached + ahead - (_SEQUENCES if ahead >= _SEQUENCES // 2 else 0)


class InOrder:
    """The frames of a slice in the order of their octets.

    numbers: for each of them the number in the evidence, from 1.
    """

    def __init__(self, found: Slice) -> None:
        self._found = found
        self._frames = found.frames
        self._ways: dict[Key, _Way] = {}
        # Place in the evidence, and how many of its first octets an earlier one has brought.
        self._order: list[tuple[int, int]] = []
        self._changed = False
        # Acknowledgements without octets, and whether anything was sent again.
        self._bare: set[int] = set()
        self._repeated = False
        for number, frame in enumerate(found.frames):
            self._take(number, frame.segment)
        for way in self._ways.values():
            # What waits for a gap that nobody closed is added behind.
            self._add_early(way)
        if self._bare and not self._changed and not self._repeated:
            self._order = [item for item in self._order if item[0] not in self._bare]
            self._changed = True

    @property
    def numbers(self) -> Sequence[int]:
        if not self._changed:
            return range(1, len(self._frames) + 1)
        return [number + 1 for number, _ in self._order]

    def capture(self) -> bytes:
        """The slice as a pcapng with its frames in this order, each octet once."""
        if not self._changed:
            return self._found.capture()
        head = b"".join(block.octets for block in self._found.head)
        described = [b for b in self._found.head if b.kind == pcapng.INTERFACE_DESCRIPTION]
        links = [pcapng.interface(block).link_type for block in described]
        return head + b"".join(self._block(*item, links) for item in self._order)

    def _block(self, number: int, known: int, links: Sequence[int]) -> bytes:
        """A frame without the octets that are known, unless it brings no other."""
        block, segment = self._frames[number].block, self._frames[number].segment
        if not 0 < known < _span(segment):
            return block.octets
        interface, _, octets = pcapng.packet(block)
        # Where only a FIN is new, it has no octets.
        count = min(known, segment.length)
        return pcapng.with_packet(block, trimmed(links[interface], octets, count)).octets

    def lengths(self) -> Iterator[tuple[Key, int]]:
        """How many octets each segment brings, with source and destination."""
        for number, known in self._order:
            segment = self._frames[number].segment
            if segment.length > known:
                yield (segment.source, segment.destination), segment.length - known

    def payloads(self) -> Iterator[tuple[Key, bytes]]:
        """The octets that each segment brings, with source and destination."""
        for number, known in self._order:
            frame, segment = self._frames[number], self._frames[number].segment
            if segment.length > known:
                octets = pcapng.packet(frame.block)[2]
                end = segment.payload_at + segment.length
                yield (
                    (segment.source, segment.destination),
                    octets[segment.payload_at + known : end],
                )

    def _take(self, number: int, segment: Segment) -> None:
        """The next frame: it is added at once, or waits until the gap before it is closed."""
        key = segment.source, segment.destination
        way = self._ways.get(key)
        if segment.flags & SYN or way is None:
            self._add_early(way)
            syn = int(bool(segment.flags & SYN))
            first = (segment.sequence + syn) % _SEQUENCES
            going = segment.flags & (SYN | ACK) != SYN
            self._ways[key] = _Way(first, _span(segment), going=going)
            self._add(number)
        elif not _span(segment) or segment.flags & RST:
            if segment.flags & (ACK | RST) == ACK and way.going:
                self._bare.add(number)
            way.going = True
            self._add(number)
        elif (place := way.place(segment)) > way.reached:
            heappush(way.early, (place, number))
            self._changed = True
        else:
            self._go_on(way, place, number)
            while way.early and way.early[0][0] <= way.reached:
                self._go_on(way, *heappop(way.early))

    def _go_on(self, way: _Way, place: int, number: int) -> None:
        """Add a segment that begins where the direction has got to, or before that."""
        known = way.reached - place
        way.going = True
        self._repeated = self._repeated or known > 0
        span = _span(self._frames[number].segment)
        if known < span:
            self._add(number, known)
        self._changed = self._changed or known > 0
        way.reached = max(way.reached, place + span)

    def _add(self, number: int, known: int = 0) -> None:
        self._order.append((number, known))

    def _add_early(self, way: _Way | None) -> None:
        for _, number in sorted(way.early) if way is not None else ():
            self._add(number)


def _span(segment: Segment) -> int:
    """Sequence numbers that a segment takes up, SYN left out."""
    return segment.length + bool(segment.flags & FIN)

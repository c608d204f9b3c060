# SPDX-License-Identifier: GPL-2.0-or-later
"""Which frame belongs to which case.

Markers (UDP datagrams that the tester sends to itself, captured in order with everything else)
open and close the window of a case. A TCP connection belongs to the case in whose window its SYN
falls, with all its later packets; the frames of connections that belong to none are strays.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from . import pcapng
from .frames import ACK, FIN, RST, SYN, Segment, segment

MARKER_PORT = 51998
_MARKER = struct.Struct("!8s16sBI")
_MAGIC = b"x25shark"
BEGIN, END, PROBE = 1, 2, 3
MOST_STRAYS = 1000
# What one case may leave as evidence, and what may wait for connections that nobody closes.
MOST_OCTETS = 64 << 20
MOST_FRAMES = 200_000
MOST_WAITING = 24 << 20
# Up to here a frame has its payload twice, in the block and by itself.
MOST_COPIED = 1 << 20


def marker(run: bytes, kind: int, number: int) -> bytes:
    """The payload of a marker: magic (8), run (16), kind (1), number of the case (4)."""
    return _MARKER.pack(_MAGIC, run, kind, number)


@dataclass
class Frame:
    """One captured frame."""

    block: pcapng.Block
    time: float
    segment: Segment


@dataclass
class Slice:
    """The frames of one case and what is known of their completeness.

    octets: of all frames; cut: there were more frames than are kept.
    """

    number: int
    head: list[pcapng.Block] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    begun: bool = False
    ended: bool = False
    octets: int = 0
    cut: bool = False
    connections: dict[frozenset[tuple[str, int]], set[tuple[str, int]]] = field(
        default_factory=dict
    )

    def all_closed(self) -> bool:
        """Whether every connection has ended in both directions."""
        return all(len(ends) == 2 for ends in self.connections.values())

    def capture(self) -> bytes:
        """The slice as a pcapng, without comments."""
        return b"".join(b.octets for b in self.head) + b"".join(f.block.octets for f in self.frames)


class Slicer:
    """Takes the blocks of the capture stream, one by one, and fills the slices.

    on_complete is called with each slice that is certain not to grow any more.
    """

    def __init__(self, run: bytes, on_complete: Callable[[Slice], None]) -> None:
        self._run = run
        self._on_complete = on_complete
        self._head: list[pcapng.Block] = []
        self._interfaces: list[pcapng.Interface] = []
        self._slices: dict[int, Slice] = {}
        self._owner: dict[frozenset[tuple[str, int]], Slice] = {}
        self._current: Slice | None = None
        self.probes: set[int] = set()
        self.strays: list[str] = []
        self.stray_count = 0
        self.lost = 0

    def take(self, block: pcapng.Block) -> None:
        if block.kind == pcapng.SECTION_HEADER:
            self._head, self._interfaces = [block], []
        elif block.kind == pcapng.INTERFACE_DESCRIPTION:
            self._head.append(block)
            self._interfaces.append(pcapng.interface(block))
        elif block.kind == pcapng.INTERFACE_STATISTICS:
            self.lost += pcapng.dropped(block)
        elif block.kind == pcapng.ENHANCED_PACKET:
            self._frame(block)

    def _frame(self, block: pcapng.Block) -> None:
        number, stamp, octets = pcapng.packet(block)
        if number >= len(self._interfaces):
            raise pcapng.CaptureFormatError(f"a packet of unknown interface {number}")
        where = self._interfaces[number]
        found = segment(where.link_type, octets)
        if found is None:
            return
        if found.flags < 0:
            self._marker(found)
        else:
            self._tcp(Frame(block, stamp / where.per_second, found))

    def _marker(self, found: Segment) -> None:
        if found.destination[1] != MARKER_PORT or len(found.payload) != _MARKER.size:
            return
        magic, run, kind, number = _MARKER.unpack(found.payload)
        if magic != _MAGIC or run != self._run:
            return
        if kind == PROBE:
            self.probes.add(number)
        elif kind == BEGIN:
            self._current = self._slices[number] = Slice(number, list(self._head), begun=True)
        elif kind == END and number in self._slices:
            self._slices[number].ended = True
            self._current = None
            self._relieve(number)
            # The frames that end a connection may follow the marker; a case is complete when a
            # later one has ended and all its own connections have.
            for earlier in [s for s in self._slices.values() if s.number != number]:
                if earlier.ended and earlier.all_closed():
                    self._complete(earlier)

    def _tcp(self, frame: Frame) -> None:
        found = frame.segment
        key = frozenset((found.source, found.destination))
        if found.flags & SYN and not found.flags & ACK:
            if self._current is None:
                self._owner.pop(key, None)
            elif self._owner.get(key) is not self._current:
                self._owner[key] = self._current
                self._current.connections[key] = set()
        owner = self._owner.get(key)
        if owner is None:
            self._stray(found)
            return
        if owner.octets > MOST_OCTETS or len(owner.frames) >= MOST_FRAMES:
            owner.cut = True
        else:
            owner.octets += len(frame.block.octets)
            if owner.octets > MOST_COPIED:
                frame.segment = found._replace(payload=b"")
            owner.frames.append(frame)
        if found.flags & RST:
            owner.connections[key] |= {found.source, found.destination}
        elif found.flags & FIN:
            owner.connections[key].add(found.source)

    def _stray(self, found: Segment) -> None:
        self.stray_count += 1
        if len(self.strays) < MOST_STRAYS:
            source, destination = found.source, found.destination
            self.strays.append(
                f"{source[0]}:{source[1]} to {destination[0]}:{destination[1]}, "
                f"flags 0x{found.flags:02x}, {len(found.payload)} octets"
            )

    def _relieve(self, latest: int) -> None:
        """Complete the oldest cases, open connections or not, if too much waits for them."""
        waiting = [s for s in self._slices.values() if s.ended and s.number != latest]
        octets = sum(s.octets for s in waiting)
        for slice_ in waiting:
            if octets <= MOST_WAITING:
                return
            octets -= slice_.octets
            self._complete(slice_)

    def _complete(self, done: Slice) -> None:
        del self._slices[done.number]
        # Frames that come even now (the last acknowledgement of a FIN) belong to no case.
        for key in done.connections:
            if self._owner.get(key) is done:
                del self._owner[key]
        self._on_complete(done)

    def finish(self) -> None:
        """The stream has ended: whatever there is is all there will be."""
        for done in list(self._slices.values()):
            self._complete(done)

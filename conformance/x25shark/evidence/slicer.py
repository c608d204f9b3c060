# SPDX-License-Identifier: GPL-2.0-or-later
"""Which frame belongs to which case.

Markers (UDP datagrams that the tester sends to itself, captured in order with everything else)
open and close the window of a case. A TCP connection belongs to the case in whose window its SYN
falls, with all its later packets; the frames of connections that belong to none are strays.

Each serial line has a stream of its own, with markers of its own (evidence/tap.py); a frame of a
line belongs to the case in whose window it falls, and between the cases only an I frame or a
damaged frame is a stray: a router may set up its link at any time.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from ..links.carrier import End, LineEnd
from . import pcapng
from .frames import ACK, FIN, RST, SYN, Segment, segment

_MARKER = struct.Struct("!8sBI16s")
_MAGIC = b"x25shark"
_DIGEST = 16
BEGIN, END, PROBE = 1, 2, 3
# LINKTYPE_USER0: frames of a line; the other interface of a tap carries the markers.
LINK_FRAMES = 147
INBOUND = 1
# epb_flags of a frame that is not whole.
ERRORS = 0xFFFF0000
# Address, control and FCS (X.25 2.2.9).
SHORTEST_FRAME = 4
NETWORK = "network"
MOST_STRAYS = 1000
# What one case may leave as evidence, and what may wait for connections that nobody closes.
MOST_OCTETS = 64 << 20
MOST_FRAMES = 200_000
MOST_WAITING = 8 << 20
# What a frame takes, its own octets left out if they are many.
OF_A_FRAME = 512


def marker(key: bytes, kind: int, number: int) -> bytes:
    """The payload of a marker: magic (8), kind (1), number of the case (4), digest (16).

    The digest is of all before it under the key of the run, which nobody else has.
    """
    body = _MARKER.pack(_MAGIC, kind, number, b"")[:-_DIGEST]
    return body + hashlib.blake2s(body, key=key, digest_size=_DIGEST).digest()


def read_marker(payload: bytes, key: bytes) -> tuple[int, int]:
    """Kind and number of a marker of this run; kind 0: it is none."""
    if len(payload) != _MARKER.size or not payload.startswith(_MAGIC):
        return 0, 0
    _, kind, number, _ = _MARKER.unpack(payload)
    genuine = hmac.compare_digest(payload, marker(key, kind, number))
    return (kind, number) if genuine else (0, 0)


@dataclass(slots=True)
class Frame:
    """One captured frame. stream: which of the captures it stood in."""

    block: pcapng.Block
    time: float
    segment: Segment
    stream: str = NETWORK


@dataclass
class Slice:
    """The frames of one case and what is known of their completeness.

    octets: of all frames; cut: there were more frames than are kept. lines: names of the serial
    lines by their interface in the capture. not_begun, not_ended: streams without that marker yet.
    """

    number: int
    head: list[pcapng.Block] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    begun: bool = False
    ended: bool = False
    octets: int = 0
    cut: bool = False
    lines: dict[int, str] = field(default_factory=dict)
    not_begun: set[str] = field(default_factory=set)
    not_ended: set[str] = field(default_factory=set)
    connections: dict[frozenset[End], set[End]] = field(default_factory=dict)

    def all_closed(self) -> bool:
        """Whether every connection has ended in both directions."""
        return all(len(ends) == 2 for ends in self.connections.values())

    def put_in_order(self) -> None:
        """The frames as they stood in the streams; those of different streams by their times.

        Within a stream the place counts and not the time: somebody may set the clock.
        """
        if len({frame.stream for frame in self.frames}) < 2:
            return
        latest: dict[str, float] = {}
        keyed = []
        for frame in self.frames:
            latest[frame.stream] = max(frame.time, latest.get(frame.stream, frame.time))
            keyed.append((latest[frame.stream], frame))
        keyed.sort(key=lambda pair: pair[0])
        self.frames = [frame for _, frame in keyed]

    def capture(self) -> bytes:
        """The slice as a pcapng, without comments."""
        return b"".join(b.octets for b in self.head) + b"".join(f.block.octets for f in self.frames)


class Slicer:
    """Takes the blocks of the capture streams, one by one, and fills the slices.

    key: of the markers. on_complete is called with each slice that is certain not to grow any more.
    network: whether there is a stream of dumpcap (a router may have serial lines only).
    """

    def __init__(
        self, key: bytes, on_complete: Callable[[Slice], None], *, network: bool = True
    ) -> None:
        self.key = key
        # Between which ends markers go; nobody else has these ports.
        self.marker_ends: tuple[End, End] | None = None
        # Connections that are not the router's.
        self._strange: set[frozenset[End]] = set()
        self._on_complete = on_complete
        self._head: list[pcapng.Block] = []
        self._interfaces: list[pcapng.Interface] = []
        self._streams = {NETWORK} if network else set()
        self._lines: list[LineStream] = []
        self._slices: dict[int, Slice] = {}
        self._owner: dict[frozenset[End], Slice] = {}
        self._current: Slice | None = None
        # Each stream is read by a thread of its own.
        self._lock = threading.RLock()
        # One number, and no collection: whoever waits for it reads it from another thread.
        self.last_probe = 0
        self.strays: list[str] = []
        self.stray_count = 0
        self.lost = 0

    def line(self, name: str) -> LineStream:
        """A further stream: the frames of a serial line. Before the first case."""
        stream = LineStream(self, name, self._lock)
        self._lines.append(stream)
        self._streams.add(name)
        return stream

    def take(self, block: pcapng.Block) -> None:
        """A block of dumpcap."""
        with self._lock:
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
        if found.flags >= 0:
            self._tcp(Frame(block, stamp / where.per_second, found, NETWORK))
        elif self.marker_ends in (None, (found.source, found.destination)):
            self._marker(found.payload)

    def _marker(self, payload: bytes) -> None:
        kind, number = read_marker(payload, self.key)
        if kind == PROBE:
            self.last_probe = max(self.last_probe, number)
        elif kind == BEGIN:
            self._current = self.begin(number, NETWORK)
        elif kind == END and number in self._slices:
            self._current = None
            self.end(number, NETWORK)

    def begin(self, number: int, stream: str) -> Slice:
        """The marker at the begin of a case was in that stream."""
        found = self._slices.get(number)
        if found is None:
            found = Slice(number, not_begun=set(self._streams), not_ended=set(self._streams))
            found.head = self._head[:1] or [line.header for line in self._lines[:1]]
            found.head += self._head[1:]
            for line in self._lines:
                found.lines[len(found.head) - 1] = line.name
                found.head.append(line.interface)
            self._slices[number] = found
        found.not_begun.discard(stream)
        found.begun = not found.not_begun
        return found

    def end(self, number: int, stream: str) -> None:
        """The marker at its end was in that stream."""
        found = self._slices.get(number)
        if found is None:
            return
        found.not_ended.discard(stream)
        found.ended = not found.not_ended
        if not found.ended:
            return
        self._relieve(number)
        # The frames that end a connection may follow the marker; a case is complete when a
        # later one has ended and all its own connections have.
        for earlier in [s for s in self._slices.values() if s.number != number]:
            if earlier.ended and earlier.all_closed():
                self._complete(earlier)

    def _tcp(self, frame: Frame) -> None:
        found = frame.segment
        key = frozenset((found.source, found.destination))
        if key in self._strange:
            return
        if found.flags & SYN and not found.flags & ACK:
            if self._current is None:
                self._owner.pop(key, None)
            elif self._owner.get(key) is not self._current:
                self._owner[key] = self._current
                self._current.connections[key] = set()
        owner = self._owner.get(key)
        if owner is None:
            self.stray(found, f"flags 0x{found.flags:02x}, {found.length} octets")
            return
        self.keep(owner, frame)
        if found.flags & RST:
            owner.connections[key] |= {found.source, found.destination}
        elif found.flags & FIN:
            owner.connections[key].add(found.source)

    def keep(self, owner: Slice, frame: Frame) -> None:
        """Add a frame to its case, if that has room."""
        if owner.octets > MOST_OCTETS or len(owner.frames) >= MOST_FRAMES:
            owner.cut = True
            return
        owner.octets += len(frame.block.octets)
        owner.frames.append(frame)

    def disown(self, one: End, other: End) -> None:
        """The connection between these ends is not the router's: no frame of it is evidence."""
        with self._lock:
            key = frozenset((one, other))
            self._strange.add(key)
            owner = self._owner.pop(key, None)
            if owner is not None:
                owner.connections.pop(key, None)
                owner.frames = [
                    f
                    for f in owner.frames
                    if frozenset((f.segment.source, f.segment.destination)) != key
                ]

    def stray(self, found: Segment, what: str) -> None:
        """Note a frame that belongs to no case."""
        self.stray_count += 1
        if len(self.strays) < MOST_STRAYS:
            source, destination = found.source, found.destination
            self.strays.append(
                f"{source[0]}:{source[1]} to {destination[0]}:{destination[1]}, {what}"
            )

    def forget_strays(self) -> None:
        """What came up to now is none: the run begins here."""
        with self._lock:
            self.strays.clear()
            self.stray_count = 0

    def _relieve(self, latest: int) -> None:
        """Complete the oldest cases, open connections or not, if too much waits for them."""
        waiting = [s for s in self._slices.values() if s.ended and s.number != latest]
        octets = sum(s.octets + OF_A_FRAME * len(s.frames) for s in waiting)
        for slice_ in waiting:
            if octets <= MOST_WAITING:
                return
            octets -= slice_.octets + OF_A_FRAME * len(slice_.frames)
            self._complete(slice_)

    def _complete(self, done: Slice) -> None:
        del self._slices[done.number]
        # Frames that come even now (the last acknowledgement of a FIN) belong to no case.
        for key in done.connections:
            if self._owner.get(key) is done:
                del self._owner[key]
        self._on_complete(done)

    def open_yet(self) -> bool:
        """Whether connections of cases that have ended are open."""
        with self._lock:
            return any(s.ended and not s.all_closed() for s in self._slices.values())

    def complete_ended(self) -> None:
        """Complete the cases that have ended, whatever connections of theirs are open yet."""
        with self._lock:
            for done in [s for s in self._slices.values() if s.ended]:
                self._complete(done)

    def finish(self) -> None:
        """The streams have ended: whatever there is is all there will be."""
        with self._lock:
            for done in list(self._slices.values()):
                self._complete(done)


def _keeps_the_link(octets: bytes, flags: int) -> bool:
    """Whether a frame carries no packet (X.25 2.3.2): a router may try its link at any time."""
    return not flags & ERRORS and len(octets) >= SHORTEST_FRAME and bool(octets[1] & 1)


class LineStream:
    """Takes the blocks of the tap of one serial line."""

    def __init__(self, slicer: Slicer, name: str, lock: threading.RLock) -> None:
        self._slicer = slicer
        self.name = name
        self._lock = lock
        self._types: list[pcapng.Interface] = []
        self._current: Slice | None = None
        self.header = self.interface = pcapng.Block(0, b"", "=")
        self.ready = threading.Event()

    def take(self, block: pcapng.Block) -> None:
        """The next block. Raises CaptureFormatError."""
        with self._lock:
            if block.kind == pcapng.SECTION_HEADER:
                self.header, self._types = block, []
            elif block.kind == pcapng.INTERFACE_DESCRIPTION:
                self._types.append(pcapng.interface(block))
                if self._types[-1].link_type == LINK_FRAMES:
                    self.interface = block
                else:
                    self.ready.set()
            elif block.kind == pcapng.ENHANCED_PACKET:
                self._packet(block)

    def _packet(self, block: pcapng.Block) -> None:
        number, stamp, octets = pcapng.packet(block)
        if number >= len(self._types):
            raise pcapng.CaptureFormatError(f"a packet of unknown interface {number}")
        if self._types[number].link_type == LINK_FRAMES:
            self._frame(block, stamp / self._types[number].per_second, octets)
            return
        kind, case = read_marker(octets, self._slicer.key)
        if kind == BEGIN:
            self._current = self._slicer.begin(case, self.name)
        elif kind == END:
            self._current = None
            self._slicer.end(case, self.name)

    def _frame(self, block: pcapng.Block, time: float, octets: bytes) -> None:
        ends = [LineEnd(self.name, 0, of_router=False), LineEnd(self.name, 0, of_router=True)]
        if pcapng.flags(block) & 3 == INBOUND:
            ends.reverse()
        place = Segment(ends[0], ends[1], 0, 0, 0, b"", 0)
        if self._current is None:
            if not _keeps_the_link(octets, pcapng.flags(block)):
                self._slicer.stray(place, f"a frame of {len(octets)} octets")
            return
        number = next(i for i, name in self._current.lines.items() if name == self.name)
        moved = pcapng.on_interface(block, number)
        self._slicer.keep(self._current, Frame(moved, time, place, self.name))

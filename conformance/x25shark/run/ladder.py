# SPDX-License-Identifier: GPL-2.0-or-later
"""The packets of a case in the order of the evidence, and the octets that are none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from scapy_x25 import summary_line

from ..evidence import pcapng
from ..evidence.slicer import Slice
from ..judges.evidence import EvidenceJudge, Read
from ..judges.expectation import Direction
from ..judges.frames import frame_line
from ..results import UNKNOWN_SIDE, PacketLine

_MOST_PACKETS = 400
# Of a longer case: so many from its start, and on both sides of each packet that decides.
_FIRST, _AROUND, _MOST_DECIDING = 40, 10, 5
_MOST_OCTETS = 256
# So much is shown of octets that are not a packet.
_HEADER_OCTETS = 12
# Side, whether the tester sends in this direction, and the number of the connection.
_End = tuple[str, bool, int]


def ladder(
    sides: Sequence[tuple[str, Direction]],
    judge_two: EvidenceJudge,
    found: Slice,
    deciding: Collection[tuple[int | None, int | None]] = (),
) -> list[PacketLine]:
    """The packets of the case, bounded; sides: of each connection, the direction from the router.

    deciding: frame and number in it of packets that are kept, however long the case. Between them
    stand the TCP segments in which no packet ends: a header that is wrong, or a part.
    """
    ends: dict[Direction, _End] = {}
    for number, (name, direction) in enumerate(sides, 1):
        ends[direction] = (name, False, number)
        ends[Direction(direction.destination, direction.source)] = (name, True, number)
    # A packet on a line is shown with the frame that brought it.
    reads = [r for r in judge_two.reads if r.direction.line is None or r.view.framed]
    lines = [_packet(read, ends, judge_two) for read in kept(reads, deciding)]
    if len(reads) <= _MOST_PACKETS:
        lines += _parts(found, ends, {read.view.frame for read in reads})
        lines.sort(key=lambda line: line.frame)
    return lines


def kept(reads: list[Read], deciding: Collection[tuple[int | None, int | None]]) -> list[Read]:
    """The first, the last, and what is near those that decide."""
    if len(reads) <= _MOST_PACKETS:
        return reads
    places = [i for i, r in enumerate(reads) if (r.view.frame, r.view.k) in deciding]
    wanted = {*range(_FIRST)}
    for place in places[:_MOST_DECIDING]:
        wanted |= {*range(max(place - _AROUND, 0), min(place + _AROUND + 1, len(reads)))}
    last = len(reads) - (_MOST_PACKETS - len(wanted))
    return [read for i, read in enumerate(reads) if i in wanted or i >= last]


def _packet(read: Read, ends: dict[Direction, _End], judge_two: EvidenceJudge) -> PacketLine:
    line = read.direction.line
    unknown = (UNKNOWN_SIDE, False, 0)
    if line is not None:
        unknown = (line.rpartition(".")[2].upper(), read.direction.to_router, 0)
    name, sent, number = ends.get(read.direction, unknown)
    shown = read.octets[:_MOST_OCTETS].hex()
    if len(read.octets) > _MOST_OCTETS:
        shown += f"... ({len(read.octets)} octets)"
    text = summary_line(read.octets, to_dte=not sent)
    if judge_two.has_bad_version(read.view):
        text = f"(XOT version not 0) {text}"
    return PacketLine(
        time=0.0,
        frame=read.view.frame or 0,
        k=read.view.k or 0,
        side=name,
        sent=sent,
        connection=number,
        offset=read.view.offset,
        text=frame_line(read.octets) if read.view.framed else text,
        octets=shown,
    )


def _parts(
    found: Slice, ends: dict[Direction, _End], with_packets: set[int | None]
) -> Iterator[PacketLine]:
    """What the tester sent on its connections in segments in which no packet ends, bounded."""
    shown = 0
    for frame, captured in enumerate(found.frames, 1):
        segment = captured.segment
        end = ends.get(Direction(segment.source, segment.destination))
        if frame in with_packets or end is None or not end[1] or segment.length <= 0:
            continue
        octets = pcapng.packet(captured.block)[2][segment.payload_at :][: segment.length]
        more = "..." if len(octets) > _HEADER_OCTETS else ""
        yield PacketLine(
            time=0.0,
            frame=frame,
            k=0,
            side=end[0],
            sent=True,
            connection=end[2],
            offset=0,
            text=f"{_octets(len(octets))} in which no packet ends: "
            f"{octets[:_HEADER_OCTETS].hex(' ')}{more}",
        )
        shown += 1
        if shown >= _MOST_PACKETS:
            return


def _octets(number: int) -> str:
    return "1 octet" if number == 1 else f"{number} octets"

# SPDX-License-Identifier: GPL-2.0-or-later
"""However a network cuts, loses, repeats and overtakes, judge two reads what was sent."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace

from capture_builder import ACK, FIN, PSH, A, B, Connection, pcapng, unit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from x25shark.evidence import pcapng as blocks
from x25shark.evidence.frames import segment
from x25shark.evidence.in_order import InOrder
from x25shark.evidence.slicer import Frame, Slice
from x25shark.judges.wireshark import WiresharkJudge

UNITS = [unit(bytes((0x10, 1, n % 8 << 1)) + bytes([n]) * (7 * n % 60 + 1)) for n in range(12)]
STREAM = b"".join(UNITS)
# Where segments begin and end, and how many of them were lost at first.
ENDS = st.lists(st.integers(1, len(STREAM) - 1), unique=True, max_size=20).map(sorted)
Range = tuple[int, int]


@st.composite
def arrivals(draw: st.DrawFn) -> list[Range]:
    """Segments in the order in which they are captured, all octets at least once."""
    borders = [0, *draw(ENDS), len(STREAM)]
    whole = list(itertools.pairwise(borders))
    order = draw(st.permutations(whole)) if draw(st.booleans()) else whole
    again = [draw(st.integers(0, len(STREAM) - 1)) for _ in range(draw(st.integers(0, 5)))]
    for start in again:
        end = draw(st.integers(start + 1, len(STREAM)))
        order.insert(draw(st.integers(0, len(order))), (start, end))
    return order


def captured(order: list[Range], fin_at: int) -> Slice:
    made = Connection().open()
    base = made.sequence[A]
    for number, (start, end) in enumerate([*order, (0, 0)]):
        if number == min(fin_at, len(order)):
            made.sequence[A] = base + len(STREAM)
            made.segment(A, FIN | ACK)
        if end:
            made.sequence[A] = base + start
            made.segment(A, PSH | ACK, STREAM[start:end])
    return sliced(made)


def sliced(made: Connection) -> Slice:
    found = Slice(1, begun=True, ended=True)
    for block in blocks.read_blocks(io.BytesIO(pcapng(made.frames))):
        if block.kind == blocks.ENHANCED_PACKET:
            part = segment(1, blocks.packet(block)[2])
            assert part is not None
            found.frames.append(Frame(block, 0.0, part))
        else:
            found.head.append(block)
    return found


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=arrivals(), fin_at=st.integers(0, 30))
def test_all_that_was_sent_is_read(
    order: list[Range], fin_at: int, wireshark: WiresharkJudge
) -> None:
    found = captured(order, fin_at)
    ordered = InOrder(found)
    numbers = ordered.numbers
    brought = list(ordered.payloads())
    assert b"".join(octets for _, octets in brought) == STREAM
    assert list(ordered.lengths()) == [(way, len(octets)) for way, octets in brought]
    # The handshake and its end are read, and of the others those that bring octets.
    assert len(numbers) == len(set(numbers)) == 4 + len(brought)
    reading = wireshark.read(ordered.capture(), fields=["x25s.octets"]).renumbered(numbers)
    read = b"".join(unit(p.fields["x25s.octets"][0]) for p in reading.packets)  # type: ignore[arg-type]
    assert read == STREAM
    assert [e.offset + e.length for e in reading.tcp_ends if e.fin] == [len(STREAM)]
    first = found.frames[0].segment.sequence + 1
    for packet in reading.packets:
        # The frame that is named holds the packet's last octet.
        segment_of_it = found.frames[packet.frame - 1].segment
        assert packet.offset is not None
        end = packet.offset + 4 + len(packet.fields["x25s.octets"][0])  # type: ignore[arg-type]
        assert (
            segment_of_it.sequence - first
            < end
            <= (segment_of_it.sequence - first + segment_of_it.length)
        )


def test_a_capture_in_order_is_read_as_it_is() -> None:
    found = captured([(0, 100), (100, len(STREAM))], 30)
    ordered = InOrder(found)
    assert ordered.capture() == found.capture()
    assert ordered.numbers == range(1, len(found.frames) + 1)


def with_acknowledgements(again: bool) -> Slice:
    """Two segments that B acknowledges without octets of its own; again: the second comes twice."""
    made = Connection().open()
    base = made.sequence[A]
    for start, end in ((0, 100), (100, len(STREAM)), *[(100, len(STREAM))] * again):
        made.sequence[A] = base + start
        made.segment(A, PSH | ACK, STREAM[start:end])
        made.segment(B, ACK)
    made.segment(A, FIN | ACK)
    made.segment(B, FIN | ACK)
    made.segment(A, ACK)
    return sliced(made)


def test_acknowledgements_without_octets_are_left_out(wireshark: WiresharkJudge) -> None:
    found = with_acknowledgements(False)
    ordered = InOrder(found)
    # Not the one that completes the handshake.
    assert list(ordered.numbers) == [1, 2, 3, 4, 6, 8, 9]
    read = [
        wireshark.read(capture, ["x25s.p_s#{k} >= 1"], ["x25s.octets"]).renumbered(numbers)
        for capture, numbers in (
            (ordered.capture(), ordered.numbers),
            (found.capture(), range(1, len(found.frames) + 1)),
        )
    ]
    assert len(read[0].packets) == len(UNITS)
    assert replace(read[0], frames=0) == replace(read[1], frames=0)


def test_all_acknowledgements_are_there_where_something_was_sent_again() -> None:
    numbers = list(range(1, 13))
    numbers.remove(8)  # what was sent again
    assert list(InOrder(with_acknowledgements(True)).numbers) == numbers


def test_the_first_octet_of_a_unit_alone_and_sent_again(wireshark: WiresharkJudge) -> None:
    """Wireshark 4.6 would read no further unit of the connection."""
    first = len(UNITS[0])
    found = captured([(0, first + 1), (first, first + 1), (first + 1, len(STREAM))], 30)
    ordered = InOrder(found)
    assert list(ordered.numbers) == [1, 2, 3, 4, 6, 7]
    reading = wireshark.read(ordered.capture(), fields=["x25s.octets"])
    assert len(reading.packets) == len(UNITS)


def test_a_gap_that_nobody_closes() -> None:
    found = captured([(0, 10), (50, 60), (20, 30)], 30)
    assert list(InOrder(found).numbers) == [1, 2, 3, 4, 6, 5, 7]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Which captures are a flood that nobody judges: one packet more than may be, and no fewer."""

from __future__ import annotations

import io
import tracemalloc

import pytest
from capture_builder import B, Connection, pcapng, unit
from x25shark.catalogue import catalogue
from x25shark.evidence import pcapng as blocks
from x25shark.evidence.frames import segment
from x25shark.evidence.in_order import InOrder
from x25shark.evidence.slicer import NETWORK, OF_A_FRAME, Frame, Slice, Slicer
from x25shark.judges import tester
from x25shark.links.xot import MOST_UNITS
from x25shark.run.judging import MOST_IN_A_SEGMENT, MOST_UNREAD, CaseRecord, unread_flood

# Nothing is shorter than a header with length 0.
EMPTY, RR = unit(b""), unit(b"\x10\x01\x01")
MOST = MOST_UNITS + MOST_UNREAD


def said(*connections: list[bytes]) -> str:
    """What is said of connections on which the router sends these segments, and nobody reads."""
    frames = []
    for number, segments in enumerate(connections):
        made = Connection(ports=(40000 + number, 1998)).open()
        for octets in segments:
            made.send(B, octets)
        frames += made.frames
    found = Slice(1, begun=True, ended=True)
    for block in blocks.read_blocks(io.BytesIO(pcapng(frames))):
        if block.kind == blocks.ENHANCED_PACKET:
            part = segment(1, blocks.packet(block)[2])
            assert part is not None
            found.frames.append(Frame(block, 0.0, part))
    record = CaseRecord(1, catalogue().purposes["PLP-RST-01"], judge_one=tester.TesterJudge({}, {}))
    return unread_flood(record, InOrder(found))


@pytest.mark.parametrize("packet", [EMPTY, RR], ids=["empty", "RR"])
def test_packets_in_one_segment(packet: bytes) -> None:
    assert said([packet * MOST_IN_A_SEGMENT]) == ""
    assert "1001 packets in one TCP segment" in said([packet * (MOST_IN_A_SEGMENT + 1)])


@pytest.mark.parametrize("packet", [EMPTY, RR], ids=["empty", "RR"])
def test_packets_on_one_connection(packet: bytes) -> None:
    segments = [packet * 500] * (MOST_UNREAD // 500)
    assert said(segments) == ""
    assert "more than 2000 packets on one connection" in said([*segments, packet])


@pytest.mark.parametrize("packet", [EMPTY, RR], ids=["empty", "RR"])
def test_packets_of_one_case(packet: bytes) -> None:
    many = [[packet * 500]] * (MOST // 500)
    assert said(*many) == ""
    assert "more packets on the connections of one case" in said(*many, [packet])


def test_what_a_frame_costs_in_memory() -> None:
    """A router that sends an octet a segment leaves hundreds of thousands of frames in a case."""
    count = 4000
    made = Connection().open()
    for _ in range(count):
        made.send(B, b"\0")
    stream = io.BytesIO(pcapng(made.frames))
    complete: list[Slice] = []
    slicer = Slicer(bytes(16), complete.append)
    kept = slicer.begin(1, NETWORK)
    slicer._current = kept
    tracemalloc.start()
    try:
        for block in blocks.read_blocks(stream):
            slicer.take(block)
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(kept.frames) >= count
    # The octets themselves are 100; MOST_FRAMES of them have to leave room for the judges.
    assert used / len(kept.frames) < OF_A_FRAME

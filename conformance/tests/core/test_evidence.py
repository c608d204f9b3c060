# SPDX-License-Identifier: GPL-2.0-or-later
"""Which frame is whose, comments in a capture, and no verdict without evidence."""

from __future__ import annotations

import io
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from capture_builder import ACK, RST, SYN, Connection, pcapng
from scapy_x25 import CallAccepted, ClearRequest
from x25shark.catalogue import Purpose
from x25shark.evidence import pcapng as blocks
from x25shark.evidence.frames import segment
from x25shark.evidence.pcapng import CaptureFormatError
from x25shark.evidence.slicer import BEGIN, END, PROBE, Frame, Slice, Slicer, marker
from x25shark.judges.evidence import FIELDS, EvidenceJudge
from x25shark.judges.expectation import Direction, Never, Next
from x25shark.judges.gaps import KnownGaps
from x25shark.judges.reading import JudgeError
from x25shark.judges.wireshark import WiresharkJudge
from x25shark.results import CaseResult, PacketLine
from x25shark.run.builtin_dissector import BuiltinDissector
from x25shark.run.judging import CaseRecord, Judgement, frame_of_part
from x25shark.verdicts import Verdict

from .conftest import FROM_ROUTER, Exchange

KEY = bytes(range(32))
PURPOSE = Purpose("PLP-CALL-01", "a call", "X.25 5.2", ("T1",), ())
ACCEPTED = bytes.fromhex("10010f")
CLEARED = bytes.fromhex("1001130105")


def marking(kind: int, number: int, key: bytes = KEY) -> bytes:
    """An Ethernet frame with a marker."""
    payload = marker(key, kind, number)
    udp = struct.pack(">HHHH", 5555, 51998, 8 + len(payload), 0) + payload
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, *[b"\x7f\0\0\1"] * 2)
    return bytes(12) + b"\x08\0" + ip + udp


def conversation(port: int, *payloads: bytes, close: bool = True) -> list[bytes]:
    made = Connection(ports=(port, 1998)).open()
    for payload in payloads:
        made.send(0, payload)
    return made.close().frames if close else made.frames


def sliced(frames: list[bytes]) -> tuple[dict[int, Slice], Slicer]:
    done: dict[int, Slice] = {}
    slicer = Slicer(KEY, lambda s: done.update({s.number: s}))
    for block in blocks.read_blocks(io.BytesIO(pcapng(frames))):
        slicer.take(block)
    slicer.finish()
    return done, slicer


def test_the_place_counts_and_not_the_clock() -> None:
    """Somebody sets the clock by 2 s while two streams are recorded."""
    found = Slice(1)
    octets = conversation(4001, b"x")[0]
    part = segment(1, octets)
    assert part is not None
    block = blocks.Block(blocks.ENHANCED_PACKET, b"", "<")
    times = {"network": (10.0, 10.2, 8.3, 8.5, 11.0), "line.b": (10.1, 8.25, 8.4, 10.9)}
    for stream, all_times in times.items():
        found.frames += [Frame(block, time, part, stream) for time in all_times]
    found.put_in_order()
    for stream, all_times in times.items():
        assert tuple(f.time for f in found.frames if f.stream == stream) == all_times
    assert [f.stream for f in found.frames][:2] == ["network", "line.b"]
    assert [f.time for f in found.frames][-2:] == [10.9, 11.0]


def payloads(found: Slice) -> list[bytes]:
    frames = [(f.segment, blocks.packet(f.block)[2]) for f in found.frames if f.segment.length]
    return [octets[s.payload_at : s.payload_at + s.length] for s, octets in frames]


def test_a_connection_belongs_to_the_case_in_which_it_was_opened() -> None:
    first, second = conversation(4001, b"one", b"late"), conversation(4002, b"two")
    frames = [marking(BEGIN, 1), *first[:4], marking(END, 1), marking(BEGIN, 2), *second[:3]]
    # The first connection goes on while the second case runs.
    frames += [*first[4:], *second[3:], marking(END, 2)]
    done, slicer = sliced(frames)
    assert payloads(done[1]) == [b"one", b"late"]
    assert payloads(done[2]) == [b"two"]
    assert all(s.begun and s.ended for s in done.values())
    assert slicer.stray_count == 0


def test_frames_of_nobody_are_strays() -> None:
    frames = [*conversation(4001, b"before"), marking(BEGIN, 1), *conversation(4002, b"mine")]
    frames += [marking(END, 1), *conversation(4003, b"after")]
    done, slicer = sliced(frames)
    assert payloads(done[1]) == [b"mine"]
    assert slicer.stray_count == 2 * 7
    assert "6 octets" in slicer.strays[3]


def test_what_came_before_the_run_begins_is_forgotten() -> None:
    _, slicer = sliced([*conversation(4001, b"before")])
    assert slicer.stray_count == len(slicer.strays) == 7
    slicer.forget_strays()
    assert slicer.stray_count == len(slicer.strays) == 0


def test_ports_used_again_belong_to_the_later_case() -> None:
    frames = [marking(BEGIN, 1), *conversation(4001, b"one"), marking(END, 1)]
    frames += [marking(BEGIN, 2), *conversation(4001, b"two"), marking(END, 2)]
    done, _ = sliced(frames)
    assert payloads(done[1]) == [b"one"]
    assert payloads(done[2]) == [b"two"]


def test_markers_of_another_run_and_probes_open_nothing() -> None:
    frames = [marking(BEGIN, 1, key=bytes(32)), marking(PROBE, 9), *conversation(4001, b"x")]
    done, slicer = sliced(frames)
    assert done == {}
    assert slicer.last_probe == 9
    assert slicer.stray_count == 7


def test_an_end_without_a_begin_ends_nothing() -> None:
    """Markers out of order: the case has no begin, and so no evidence."""
    done, _ = sliced([marking(END, 1), *conversation(4001, b"x"), marking(BEGIN, 1)])
    assert done[1].begun
    assert not done[1].ended
    assert payloads(done[1]) == []


@pytest.mark.parametrize(
    "octets",
    [
        b"\x0a\x0d\x0d\x0a\x1c\0\0\0not a magic number",
        b"\1\0\0\0\5\0\0\0",
        b"\1\0\0\0\xff\xff\xff\xff",
    ],
)
def test_a_stream_that_is_no_pcapng(octets: bytes) -> None:
    with pytest.raises(CaptureFormatError):
        list(blocks.read_blocks(io.BytesIO(octets)))


def test_a_stream_cut_anywhere_ends_quietly() -> None:
    whole = pcapng(conversation(4001, b"x"))
    complete = list(blocks.read_blocks(io.BytesIO(whole)))
    for length in range(0, len(whole), 7):
        found = list(blocks.read_blocks(io.BytesIO(whole[:length])))
        assert found == complete[: len(found)]


def test_comments_are_what_wireshark_shows(tmp_path: Path) -> None:
    made = list(blocks.read_blocks(io.BytesIO(pcapng(conversation(4001, b"x")))))
    made[0] = blocks.with_comment(made[0], "the file\nin two lines")
    made[2] = blocks.with_comment(blocks.with_comment(made[2], "second"), "först")
    path = tmp_path / "commented.pcapng"
    path.write_bytes(b"".join(b.octets for b in made))
    shown = subprocess.run(
        ["tshark", "-r", str(path), "-T", "fields", "-e", "frame.comment", "-E", "aggregator=|"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert shown == ["först|second"] + [""] * 6
    about = subprocess.run(
        ["capinfos", "-k", str(path)], capture_output=True, text=True, check=True
    ).stdout
    assert "the file" in about
    assert "in two lines" in about


class Dying:
    """A judge whose process ends in the middle."""

    def read(self, *_: Any, **__: Any) -> Any:
        raise JudgeError("crash", "the judge was ended by signal 9")


class Deaf(BuiltinDissector):
    def __init__(self) -> None:
        self._judge = Dying()  # type: ignore[assignment]
        self._known = KnownGaps("4.0.17")


def record(exchange: Exchange) -> CaseRecord:
    expected = Next("A", "X.25 5.2", FROM_ROUTER, alternatives=(CallAccepted(),))
    return CaseRecord(
        1, PURPOSE, [expected], exchange.judge_one(), sides=[("A", FROM_ROUTER)], rerun="again"
    )


def slice_of(exchange: Exchange) -> Slice:
    found = Slice(1, begun=True, ended=True)
    for block in blocks.read_blocks(io.BytesIO(exchange.capture())):
        if block.kind == blocks.ENHANCED_PACKET:
            _, stamp, octets = blocks.packet(block)
            part = segment(1, octets)
            assert part is not None
            found.frames.append(Frame(block, stamp / 1e6, part))
        else:
            found.head.append(block)
    return found


def judged(opinion: BuiltinDissector, found: Slice | None, directory: Path) -> CaseResult:
    exchange = Exchange([[ACCEPTED]])
    return Judgement(lambda: opinion, directory).judge(record(exchange), found)


@pytest.mark.parametrize(("third", "opened"), [(ACK, 1), (ACK | RST, 0), (RST, 0)])
def test_a_connection_is_there_when_the_answer_to_its_syn_is_acknowledged(
    third: int, opened: int, wireshark: WiresharkJudge
) -> None:
    """A router may give up before: then the tester has never seen a connection."""
    made = Connection(addresses=("127.0.25.1", "127.0.25.3"))
    for end, flags in ((0, SYN), (1, SYN | ACK), (0, third)):
        made.segment(end, flags)
    judge = EvidenceJudge(wireshark.read(pcapng(made.frames)), [])
    assert len(judge.connections_to(("127.0.25.3", 1998))) == opened


def test_an_empty_unit_that_came_when_nobody_read_any_more_is_left_out(
    wireshark: WiresharkJudge,
) -> None:
    exchange = Exchange([[ACCEPTED], [b""]])
    judge = EvidenceJudge(wireshark.read(exchange.capture(), fields=FIELDS), [])
    assert judge.headers(FROM_ROUTER) == [(0, 7, 0), (7, 11, 0)]
    judge.leave_out_behind({FROM_ROUTER: 7})
    assert judge.headers(FROM_ROUTER) == [(0, 7, 0)]


@pytest.fixture
def opinion(wireshark: WiresharkJudge) -> BuiltinDissector:
    return BuiltinDissector(wireshark, "4.0.17")


def test_with_evidence_there_is_a_verdict(opinion: BuiltinDissector, tmp_path: Path) -> None:
    result = judged(opinion, slice_of(Exchange([[ACCEPTED]])), tmp_path)
    assert (result.verdict, result.reason) == (Verdict.PASS, "")
    assert result.evidence is not None
    assert (tmp_path / result.evidence).stat().st_size > 0


@pytest.mark.parametrize("what", ["slice", "begin", "end", "frames"])
def test_without_evidence_there_is_none(
    what: str, opinion: BuiltinDissector, tmp_path: Path
) -> None:
    found = slice_of(Exchange([[ACCEPTED]]))
    if what == "begin":
        found.begun = False
    elif what == "end":
        found.ended = False
    elif what == "frames":
        found.frames = []
    result = judged(opinion, None if what == "slice" else found, tmp_path)
    assert result.verdict is Verdict.ERROR
    assert "no evidence" in result.reason


def test_evidence_of_something_else_is_a_disagreement(
    opinion: BuiltinDissector, tmp_path: Path
) -> None:
    """The tester received a Call Accepted; the capture holds a Clear."""
    other = slice_of(Exchange([[bytes.fromhex("1001130502")]]))
    result = judged(opinion, other, tmp_path)
    assert result.verdict is Verdict.ERROR
    assert "judges disagree" in result.reason


def test_what_the_tester_did_not_read_is_judged_by_nobody(
    opinion: BuiltinDissector, tmp_path: Path
) -> None:
    """A tester that has stopped reading leaves in its socket what the capture has."""
    made = record(Exchange([[ACCEPTED]]))
    made.expectations.append(Never("A", "X.25 5.2", FROM_ROUTER, forbidden=(ClearRequest(),)))
    result = Judgement(lambda: opinion, tmp_path).judge(
        made, slice_of(Exchange([[ACCEPTED, CLEARED]]))
    )
    assert (result.verdict, result.reason) == (Verdict.PASS, "")
    assert [line.text.split()[0] for line in result.packets] == ["Call", "Clear"]


def test_a_judge_that_dies_costs_the_case_and_no_more(tmp_path: Path) -> None:
    result = judged(Deaf(), slice_of(Exchange([[ACCEPTED]])), tmp_path)
    assert result.verdict is Verdict.ERROR
    assert "crash" in result.reason
    assert "signal 9" in result.reason


@pytest.mark.parametrize(
    ("came", "verdict", "reason"),
    [
        (
            CLEARED,
            Verdict.INCONCLUSIVE,
            "this machine had no processor; side A expected Call Connected",
        ),
        (ACCEPTED, Verdict.PASS, ""),
    ],
)
def test_a_tester_that_was_held_up_fails_nobody(
    came: bytes, verdict: Verdict, reason: str, opinion: BuiltinDissector, tmp_path: Path
) -> None:
    exchange = Exchange([[came]])
    made = record(exchange)
    made.held_up = "this machine had no processor"
    result = Judgement(lambda: opinion, tmp_path).judge(made, slice_of(exchange))
    assert result.verdict is verdict
    assert result.reason.startswith(reason)
    assert result.expectations[0].met is (came == ACCEPTED)


def test_octets_in_which_no_packet_ends_have_a_frame() -> None:
    def line(frame: int, k: int, offset: int, connection: int = 1, sent: bool = True) -> PacketLine:
        return PacketLine(0.0, frame, k, "A", sent, connection, offset, "")

    stimulus = (Direction(FROM_ROUTER.destination, FROM_ROUTER.source), 20)
    sides = [("A", FROM_ROUTER)]
    behind_a_call = [line(4, 1, 0), line(5, 1, 0, sent=False), line(6, 0, 0), line(7, 0, 0, 2)]
    assert frame_of_part(stimulus, behind_a_call, sides) == 6
    assert frame_of_part(stimulus, [*behind_a_call, line(8, 1, 24), line(9, 0, 0)], sides) == 6
    assert frame_of_part(stimulus, behind_a_call[:2], sides) is None
    assert frame_of_part(stimulus, [], sides) is None

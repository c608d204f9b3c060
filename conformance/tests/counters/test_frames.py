# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters of a serial line, counted by both judges in the same frames."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from scapy_x25 import hdlc
from scapy_x25.lapb import LapbREJ
from x25shark.counters.paths import parse
from x25shark.judges import tester
from x25shark.judges.counter_events import DEFINITIONS, AllButFirst, Cut, definition
from x25shark.judges.counter_moved import CounterMoved
from x25shark.judges.evidence import FIELDS, EvidenceJudge, filters_of
from x25shark.judges.expectation import Direction, Expectation, Seen, evaluate_all
from x25shark.judges.frame_reject_kept import FrameRejectKept, field
from x25shark.judges.wireshark import WiresharkJudge
from x25shark.links.carrier import FRAMES, LineEnd

sys.path.insert(0, str(Path(__file__).parents[3] / "dissectors" / "gaps"))

from capture_builder import pcapng

USER0 = 147
INBOUND, OUTBOUND = 1, 2
UNALIGNED, SYMBOL_ERROR = 1 << 28, 1 << 31
DAMAGE = {0: "", SYMBOL_ERROR: "aborted", UNALIGNED: "unaligned"}
LINE = Direction(LineEnd("line.a", FRAMES, True), LineEnd("line.a", FRAMES, False))


@dataclass(frozen=True)
class Frame:
    """What stood between two flags, FCS included. sent: by the tester."""

    sent: bool
    octets: bytes
    flags: int = 0


def out(text: str) -> Frame:
    """A frame of the tester, given without FCS. Commands of it have address 01."""
    return Frame(True, hdlc.with_fcs(bytes.fromhex(text)))


def back(text: str) -> Frame:
    return Frame(False, hdlc.with_fcs(bytes.fromhex(text)))


def flipped(frame: Frame) -> Frame:
    """The same with a wrong FCS."""
    return Frame(frame.sent, frame.octets[:-1] + bytes([frame.octets[-1] ^ 1]))


# Set-up, restart, a REJ each way, two polls of the router that wait, an answer to a poll of the
# tester, FRMR, disconnection; and frames of the tester with every kind of error.
SCRIPT = (
    out("013f"),
    back("0173"),
    back("03001000fb0700"),
    out("01201000ff"),
    flipped(out("01221000ff")),
    flipped(out("0122100041")),
    Frame(True, bytes.fromhex("0153aa")),
    out("0122" + "100100" + "00" * 300),
    out("0122" + "100100" + "00" * 300),
    out("0122" + "100100" + "00" * 300),
    out("0553"),
    Frame(True, bytes.fromhex("012210"), SYMBOL_ERROR),
    Frame(True, bytes.fromhex("01221001ff"), UNALIGNED),
    out("01241000ff"),
    back("0129"),
    out("0329"),
    back("0331"),
    back("0331"),
    out("0331"),
    out("0131"),
    back("0131"),
    back("01871d2201"),
    out("0153"),
    back("0173"),
)
EXPECTED = {
    "frames_out": 8,
    "octets_out": sum(len(f.octets) for f in SCRIPT if not f.sent),
    "rejects_in": 1,
    "rejects_out": 1,
    "frame_rejects_in": 0,
    "frame_rejects_out": 1,
    "link_changes": 2,
    "t1_timeouts": 2,
    "frames_in": 7,
    "errors_in": 9,
    "octets_in": sum(len(f.octets) for f in SCRIPT if f.sent and not f.flags),
    "bad_fcs": 2,
    "runts": 1,
    "giants": 3,
    "aborts": 1,
    "unaligned": 1,
    "unknown_addresses": 1,
}


class Unit(tester.StoredUnit):
    """A frame as the link keeps it."""

    damage = ""


class Both:
    """The line as judge one and as judge two have it."""

    def __init__(self, wireshark: WiresharkJudge) -> None:
        self._wireshark = wireshark
        units: dict[bool, list[Unit]] = {True: [], False: []}
        reached = {True: 0, False: 0}
        for number, frame in enumerate(SCRIPT):
            begin = reached[frame.sent]
            reached[frame.sent] += len(frame.octets)
            unit = Unit(begin, frame.octets, reached[frame.sent], float(number))
            damage = "aborted" if frame.flags & SYMBOL_ERROR else "unaligned"
            object.__setattr__(unit, "damage", damage if frame.flags else "")
            units[frame.sent].append(unit)
        self.whole = Cut(LINE, (0, reached[False]), (0, reached[True]))
        stored = tester.Stored(units[False], units[True], None)
        self.one = tester.TesterJudge({LINE: tester.Received(stored, framed=True)}, {})
        flags = [f.flags | (OUTBOUND if f.sent else INBOUND) for f in SCRIPT]
        self._capture = pcapng([f.octets for f in SCRIPT], USER0, flags)

    def evaluate(self, *expectations: Expectation) -> list[Seen]:
        """What both say; they must not differ."""
        filters = filters_of(expectations)
        reading = self._wireshark.read(self._capture, filters, FIELDS)
        assert not reading.lua_errors
        two = evaluate_all(expectations, EvidenceJudge(reading, filters, {0: "line.a"}))
        one = evaluate_all(expectations, self.one)
        assert [(s.met, s.count) for s in one] == [(s.met, s.count) for s in two]
        return two


@pytest.fixture(scope="module")
def line() -> Iterator[Both]:
    with WiresharkJudge() as judge:
        yield Both(judge)


def moved(name: str, cut: Cut, step: int) -> CounterMoved:
    counted = definition(name)
    assert counted.framed
    return CounterMoved(
        "A", "RFC 1381", name=name, definition=counted, cuts=(cut,), before=0, after=step
    )


def test_every_definition_of_frames_is_tried_here() -> None:
    assert set(EXPECTED) == {name for name, one in DEFINITIONS.items() if one.framed}


def test_both_judges_count_the_same_frames(line: Both) -> None:
    seen = line.evaluate(*(moved(n, line.whole, e) for n, e in EXPECTED.items()))
    assert dict(zip(EXPECTED, (s.count for s in seen), strict=True)) == EXPECTED
    assert all(s.met for s in seen)


def test_a_reset_may_count_as_two_changes(line: Both) -> None:
    seen = line.evaluate(*(moved("link_changes", line.whole, step) for step in (1, 2, 3, 4, 5)))
    assert [s.met for s in seen] == [False, True, True, True, False]


def test_what_a_giant_is_depends_on_n1(line: Both) -> None:
    giants, good = moved("giants", line.whole, 0), moved("frames_in", line.whole, 10)
    giants.definition = definition("giants", n1=8272)
    good.definition = definition("frames_in", n1=8272)
    assert [seen.met for seen in line.evaluate(giants, good)] == [True, True]


FIELD = bytes.fromhex("1d2201")


@pytest.mark.parametrize(
    ("received", "kept", "met"),
    [
        (False, FIELD, True),
        (False, FIELD[::-1], False),
        (False, b"", False),
        (False, None, False),
        (True, FIELD, False),
    ],
)
def test_the_last_frmr_is_kept(line: Both, received: bool, kept: bytes | None, met: bool) -> None:
    (seen,) = line.evaluate(
        FrameRejectKept("A", "RFC 1381", received=received, kept=kept, cuts=(line.whole,))
    )
    assert seen.met is met


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("220008", b"\x22\x00\x08"),
        ("0x22 00:08", b"\x22\x00\x08"),
        ([0x22, 0, 8], b"\x22\x00\x08"),
        ("", b""),
        ("22000", None),
        ("no", None),
        ([0x22, 256], None),
        ([True], None),
        (5, None),
        ("00" * 10_000, bytes(50)),
    ],
)
def test_how_a_router_may_show_a_field(value: object, found: bytes | None) -> None:
    assert field({"x": value}, parse("x")) == found
    assert field({}, parse("x")) is None


def test_all_but_the_first(line: Both) -> None:
    first = moved("frames_in", line.whole, 0)
    first.definition = AllButFirst(True, (LapbREJ(),))
    (seen,) = line.evaluate(first)
    assert (seen.met, seen.count) == (True, 0)

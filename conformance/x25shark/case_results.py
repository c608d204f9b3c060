# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of one case as data: its expectations, what both judges read, and its packets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .verdicts import Verdict


@dataclass(slots=True)
class JudgeReading:
    """What one judge says of one expectation."""

    met: bool
    frame: int | None = None
    k: int | None = None
    offset: int | None = None
    saw: str = ""


@dataclass
class CounterReading:
    """A counter of the router around a stimulus, beside what the capture shows.

    name, interface    the neutral name; "router", "a" or "b"
    path               where it is in the router's page
    before, after      the readings; None: no such counter
    shown              what it must have moved by: judge two's count in the capture
    result             a word of counters/moved.py: right, not counted, ...
    moved_instead      other counters that moved without a reason
    """

    name: str
    interface: str
    path: str
    before: int | None
    after: int | None
    shown: int
    result: str
    moved_instead: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ExpectationResult:
    """One expectation of a case and both readings of it.

    text       what was expected, in words
    side       "A" or "B": at which side of the tester
    filter     the judging display filter, with the packet's layer number (#k)
    locator    the same without layer numbers, to find the frame by hand
    frame, k   the deciding packet in the evidence: frame number, k-th packet of that frame
    stimulus_frame  frame of the last packet that the tester had sent before
    counter    the counter of the router that it is about, if it is about one
    """

    text: str
    side: str
    clause: str
    met: bool
    filter: str = ""
    locator: str = ""
    frame: int | None = None
    k: int | None = None
    preamble: bool = False
    judge_one: JudgeReading | None = None
    judge_two: JudgeReading | None = None
    stimulus_frame: int | None = None
    counter: CounterReading | None = None


UNKNOWN_SIDE = "?"
"""Of a PacketLine: an end of the tester that no side has taken on."""


@dataclass(slots=True)
class PacketLine:
    """One packet of the ladder of a case. octets: while the run lasts; the evidence has them."""

    time: float
    frame: int
    k: int
    side: str
    sent: bool
    connection: int
    offset: int
    text: str
    octets: str = field(default="", compare=False)


@dataclass
class CaseResult:
    """One case.

    expectations and packets are lists, or rows that are kept packed (stored.py). shown_in: of a
    purpose about the whole run, the case in which the router did not keep it.
    """

    id: str
    group: str
    purpose: str
    clause: str
    verdict: Verdict
    reason: str = ""
    remarks: list[str] = field(default_factory=list)
    expectations: Sequence[ExpectationResult] = field(default_factory=list)
    packets: Sequence[PacketLine] = field(default_factory=list)
    duration_s: float = 0.0
    evidence: str | None = None
    rerun: str = ""
    shown_in: str | None = None

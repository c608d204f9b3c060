# SPDX-License-Identifier: GPL-2.0-or-later
"""What changed between two runs, in words.

A case that fails in both runs is compared further: by the expectation that the router violated,
and by what was seen, so that one failure cannot hide behind another. Figures that differ from
run to run (frames, offsets, times, ports) do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..results import CaseResult, Results
from ..verdicts import Verdict
from .terminal import ATTENTION, one_sentence
from .text import one_line, unmet

FAILS_DIFFERENTLY = "fails differently"
MISSING = "missing"
"""The word for a case that the new run does not have."""

_MISSING_SHOWN = 5

_VOLATILE = (
    (re.compile(r"\b(frame|offset|port|connection|packet|pid)s? \d+"), r"\1 N"),
    (re.compile(r"\b(\d{1,3}(?:\.\d{1,3}){3}):\d+"), r"\1:N"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(s|ms|us|seconds)\b"), r"N \1"),
)


def settled(text: str) -> str:
    """The text in one line, with the figures that differ from run to run taken out."""
    line = one_line(text)
    for pattern, replacement in _VOLATILE:
        line = pattern.sub(replacement, line)
    return line


@dataclass(frozen=True)
class Signature:
    """How a case fails.

    expectation  "B: Reset Indication with cause 0": the first expectation that was not met
    why          what was seen or why it could not be judged, without volatile figures
    """

    expectation: str
    why: str


def signature(case: CaseResult) -> Signature:
    """How this case fails, in a form that the next run can be held against."""
    first = next(iter(unmet(case)), None)
    expectation = settled(f"{first.side}: {first.text}") if first else ""
    why = settled(one_sentence(case))
    if first:
        saw = next((r.saw for r in (first.judge_one, first.judge_two) if r and r.saw), "")
        if saw and settled(saw) not in why:
            why = settled(f"{why}; saw: {saw}" if why else f"saw: {saw}")
    return Signature(expectation, why)


def how_different(old: Signature, new: Signature) -> str:
    """In words how two failures of a case differ; empty if they are the same."""
    if old.expectation != new.expectation:
        return (
            "other expectation: "
            f"was {old.expectation or 'none'!r}, now {new.expectation or 'none'!r}"
        )
    if old.why != new.why:
        return f"other text: was {old.why!r}, now {new.why!r}"
    return ""


@dataclass(frozen=True)
class Difference:
    """One difference between two runs, or between a run and a baseline.

    word    `PASS->FAIL`, `NEW FAIL`, `fails differently`, `missing` ...
    detail  what there is to know, on one line
    """

    id: str
    word: str
    detail: str = ""

    def __str__(self) -> str:
        text = f"{self.word}: {one_line(self.id, 80)}"
        return f"{text}  {self.detail}" if self.detail else text


def described(differences: list[Difference]) -> list[str]:
    """One line for each difference, the many missing cases of a partial run folded into one."""
    missing = [d for d in differences if d.word == MISSING]
    if len(missing) <= _MISSING_SHOWN:
        return [str(d) for d in differences]
    names = ", ".join(one_line(d.id, 80) for d in missing[:_MISSING_SHOWN])
    lines = [str(d) for d in differences if d.word != MISSING]
    return [*lines, f"{MISSING}: {len(missing)} cases: {names} and others"]


def by_id(results: Results) -> dict[str, CaseResult]:
    """The cases by id. Where an id stands twice, the graver verdict counts (ISO/IEC 9646)."""
    gravity = {v: i for i, v in enumerate((*ATTENTION, Verdict.PASS))}
    cases: dict[str, CaseResult] = {}
    for case in results.cases:
        other = cases.get(case.id)
        if other is None or gravity.get(case.verdict, 9) < gravity.get(other.verdict, 9):
            cases[case.id] = case
    return cases


def _differences(old: dict[str, CaseResult], new: dict[str, CaseResult]) -> Iterator[Difference]:
    for identity, after in new.items():
        before = old.get(identity)
        if before is None:
            yield Difference(identity, f"NEW {after.verdict.value}", one_sentence(after))
        elif before.verdict is not after.verdict:
            word = f"{before.verdict.value}->{after.verdict.value}"
            yield Difference(identity, word, one_sentence(after) or one_sentence(before))
        elif after.verdict in ATTENTION:
            detail = how_different(signature(before), signature(after))
            if detail:
                yield Difference(identity, FAILS_DIFFERENTLY, detail)
    for identity, before in old.items():
        if identity not in new:
            yield Difference(identity, MISSING, f"was {before.verdict.value}")


def compare(old: Results, new: Results) -> list[Difference]:
    """The differences from one run to the next, in the order of the new run."""
    return list(_differences(by_id(old), by_id(new)))

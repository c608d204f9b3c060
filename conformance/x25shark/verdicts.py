# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts (ISO/IEC 9646) and the one table of what follows from each of them.

The tables of docs/verdicts.md are made from OUTCOMES and EXIT_STATUSES; a test compares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The verdict of one case."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT APPLICABLE"
    ERROR = "ERROR"
    NOT_RUN = "NOT RUN"


@dataclass(frozen=True)
class Outcome:
    """What a verdict means and how other tools see it."""

    meaning: str
    pytest: str
    junit: str


OUTCOMES: dict[Verdict, Outcome] = {
    Verdict.PASS: Outcome("every expectation was met, by both judges", "passed", "(none)"),
    Verdict.FAIL: Outcome("the router contradicted an expectation", "failed", "failure"),
    Verdict.INCONCLUSIVE: Outcome(
        "the purpose could not be judged, for instance because the call set-up failed",
        "skipped",
        "skipped",
    ),
    Verdict.NOT_APPLICABLE: Outcome("the profile does not declare it", "skipped", "skipped"),
    Verdict.ERROR: Outcome("the tester failed, or the judges disagree", "error", "error"),
    Verdict.NOT_RUN: Outcome(
        "selected but not executed; the reason is given", "skipped", "skipped"
    ),
}

EXIT_STATUSES: dict[int, str] = {
    0: "passed: at least one PASS; no FAIL, no ERROR, no INCONCLUSIVE",
    1: "at least one FAIL",
    2: "bad profile or bad usage",
    3: "nothing was run, nothing could be judged, or there is no evidence",
    4: "the tester failed, or the judges disagree (ERROR)",
    5: "no FAIL, no ERROR, but INCONCLUSIVE cases; 0 with `--inconclusive-ok`",
    6: "no FAIL, no ERROR, but the time of the run was over before its last case (`--deadline`)",
    129: "ended by SIGHUP (its terminal was closed); as 130",
    130: "interrupted (SIGINT); what was judged until then is in the report",
    143: "ended by SIGTERM; as 130",
}


def exit_status(
    verdicts: Iterable[Verdict], *, inconclusive_ok: bool = False, cut_short: bool = False
) -> int:
    """The exit status of a whole run with these verdicts (see EXIT_STATUSES).

    cut_short: its time was over before the last case.
    """
    count = Counter(verdicts)
    if count[Verdict.ERROR]:
        return 4
    if count[Verdict.FAIL]:
        return 1
    if cut_short:
        return 6
    if not count[Verdict.PASS]:
        return 3
    return 5 if count[Verdict.INCONCLUSIVE] and not inconclusive_ok else 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases that are run several times: the worst verdict counts, and the reason says how often.

The order from bad to good is ERROR, FAIL, INCONCLUSIVE, PASS. A run that did not come about (NOT
RUN) says nothing of the others.
"""

from __future__ import annotations

from ..results import CaseResult
from ..verdicts import Verdict

_WORST_FIRST = (
    Verdict.ERROR,
    Verdict.FAIL,
    Verdict.INCONCLUSIVE,
    Verdict.PASS,
    Verdict.NOT_RUN,
    Verdict.NOT_APPLICABLE,
)


def merged(runs: list[CaseResult]) -> CaseResult:
    """One result of several runs of a case: the first of the worst."""
    worst = min(runs, key=lambda result: _WORST_FIRST.index(result.verdict))
    same = sum(result.verdict is worst.verdict for result in runs)
    if len(runs) == 1:
        return worst
    worst.duration_s = round(sum(result.duration_s for result in runs), 4)
    remarks = [remark for result in runs for remark in result.remarks]
    worst.remarks = list(dict.fromkeys([*worst.remarks, *remarks]))
    if worst.verdict in (Verdict.NOT_RUN, Verdict.NOT_APPLICABLE):
        return worst
    which = next(number for number, result in enumerate(runs, 1) if result is worst)
    often = f"{worst.verdict} in {same} of {len(runs)} runs"
    if worst.verdict is Verdict.PASS:
        if same < len(runs):
            worst.remarks.append(often)
    else:
        worst.reason = f"{often}, first in run {which}: {worst.reason}"
    return worst


class Repeats:
    """Holds the results of a case back until all its runs are judged."""

    def __init__(self, times: int) -> None:
        self._times = times
        self._runs: dict[str, list[CaseResult]] = {}

    def take(self, result: CaseResult) -> list[CaseResult]:
        """The results that are final with this one."""
        if self._times <= 1:
            return [result]
        runs = self._runs.setdefault(result.id, [])
        runs.append(result)
        if len(runs) < self._times:
            return []
        return [merged(self._runs.pop(result.id))]

    def rest(self) -> list[CaseResult]:
        """The results of cases that were not run as often as meant."""
        found = [merged(runs) for runs in self._runs.values()]
        self._runs.clear()
        return found

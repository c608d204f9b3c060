# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases that are run several times: the worst verdict counts, and the reason says how often.

The order from bad to good is ERROR, FAIL, INCONCLUSIVE, PASS. A run that did not come about (NOT
RUN) says nothing of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

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


@dataclass
class _Runs:
    """The runs of a case so far: the first of the worst, and what is to be told of all.

    verdicts: of the runs, in their order. which: the run that the result is of.
    """

    worst: CaseResult
    which: int = 1
    verdicts: list[Verdict] = field(default_factory=list)
    seconds: float = 0.0
    remarks: dict[str, None] = field(default_factory=dict)

    def take(self, result: CaseResult) -> bool:
        """Count one more run; whether it is the one to be kept from here on."""
        self.verdicts.append(result.verdict)
        self.seconds += result.duration_s
        self.remarks |= dict.fromkeys(result.remarks)
        order = _WORST_FIRST.index
        worse = order(result.verdict) < order(self.worst.verdict) or result is self.worst
        if worse:
            self.worst, self.which = result, len(self.verdicts)
        return worse

    def merged(self) -> CaseResult:
        """One result of all."""
        worst, runs = self.worst, len(self.verdicts)
        if runs == 1:
            return worst
        same = self.verdicts.count(worst.verdict)
        worst.duration_s = round(self.seconds, 4)
        worst.remarks = list(dict.fromkeys([*worst.remarks, *self.remarks]))
        if worst.verdict in (Verdict.NOT_RUN, Verdict.NOT_APPLICABLE):
            return worst
        often = f"{worst.verdict} in {same} of {runs} runs"
        if worst.verdict is Verdict.PASS:
            if same < runs:
                worst.remarks.append(often)
        else:
            worst.reason = f"{often}, first in run {self.which}: {worst.reason}"
        return worst


class Repeats:
    """Holds the results of a case back until all its runs are judged.

    pack: makes the one small that is kept of each case; the others are forgotten.
    """

    def __init__(self, times: int, pack: Callable[[CaseResult], None] = lambda _: None) -> None:
        self._times = times
        self._pack = pack
        self._runs: dict[str, _Runs] = {}

    def take(self, result: CaseResult) -> list[CaseResult]:
        """The results that are final with this one."""
        runs = self._runs.setdefault(result.id, _Runs(result))
        if runs.take(result):
            self._pack(result)
        if len(runs.verdicts) < self._times:
            return []
        return [self._runs.pop(result.id).merged()]

    def rest(self) -> list[CaseResult]:
        """The results of cases that were not run as often as meant."""
        found = [runs.merged() for runs in self._runs.values()]
        self._runs.clear()
        return found

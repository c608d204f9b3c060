# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a run, as the verdicts become final."""

from __future__ import annotations

import queue
from collections.abc import Callable
from functools import partial

from ..catalogue import catalogue
from ..profile import Profile
from ..results import CaseResult
from ..stored import Texts, keep
from ..verdicts import Verdict
from .declared import why_it_runs
from .options import Watcher
from .repeats import Repeats

_FAILED = (Verdict.FAIL, Verdict.ERROR)


class Tally:
    """Results are put in by any thread, and reported by the main thread (drain).

    on_failed: told of each case with a FAIL or ERROR that counts, by its id.
    """

    def __init__(
        self, profile: Profile, repeat: int, watcher: Watcher, on_failed: Callable[[str], None]
    ) -> None:
        self.results: list[CaseResult] = []
        #: Why no case can FAIL, "" if it can; None: nobody has asked yet.
        self.model_unsaid: str | None = None
        self._profile = profile
        self._watcher = watcher
        self._on_failed = on_failed
        self._done: queue.Queue[CaseResult] = queue.Queue()
        self.put = self._done.put
        self._repeats = Repeats(repeat, partial(keep, Texts()))

    def fails(self, verdict: Verdict) -> bool:
        """Whether this verdict counts as one that the router, or the tester, has failed."""
        return self._as_it_counts(verdict) in _FAILED

    def _as_it_counts(self, verdict: Verdict) -> Verdict:
        """Nothing fails where what it was held against is another relay model's."""
        return Verdict.INCONCLUSIVE if self.model_unsaid and verdict is Verdict.FAIL else verdict

    def drain(self) -> None:
        """Report the verdicts that are final by now."""
        while True:
            try:
                result = self._done.get_nowait()
            except queue.Empty:
                return
            if (counts := self._as_it_counts(result.verdict)) is not result.verdict:
                result.remarks.append(f"with the relay model local it would FAIL: {result.reason}")
                result.verdict, result.reason = counts, self.model_unsaid or ""
            if result.verdict in _FAILED:
                self._on_failed(result.id)
            for final in self._repeats.take(result):
                self._final(final)

    def close(self) -> None:
        """Report the rest: also cases that were not run as often as meant."""
        self.drain()
        for final in self._repeats.rest():
            self._final(final)

    def _final(self, result: CaseResult) -> None:
        if result.verdict is Verdict.FAIL and (purpose := catalogue().purposes.get(result.id)):
            why = why_it_runs(purpose, self._profile)
            result.remarks += [why] if why else []
        self.results.append(result)
        self._watcher.on_result(result)

    def distrust(self, why: str) -> None:
        """A lossy capture proves nothing: every PASS becomes ERROR."""
        for result in self.results:
            if result.verdict is Verdict.PASS:
                result.verdict, result.reason = Verdict.ERROR, f"no sure evidence: {why}"

    def in_order(self) -> list[CaseResult]:
        """All results, in the order of the catalogue."""
        order = {purpose: n for n, purpose in enumerate(catalogue().purposes)}
        self.results.sort(key=lambda result: order.get(result.id, len(order)))
        return self.results

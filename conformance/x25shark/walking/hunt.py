# SPDX-License-Identifier: GPL-2.0-or-later
"""Walks in one campaign: each is a case of its own, judged by both judges, with its evidence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ..catalogue import catalogue
from ..interrupts import interrupts
from ..judges.reading import JudgeError
from ..results import CaseResult
from ..run.campaign import Campaign
from ..run.options import Options
from ..sides.bench import Bench
from ..suite.walks.alphabet import Step
from ..suite.walks.walk import Walk, drawn
from ..verdicts import Verdict

# What a walk that fails is tried to be shortened by: so many further walks at most.
MOST_TRIES = 200


@dataclass(frozen=True)
class Walked:
    """One walk: the steps that were made, and what the judges say."""

    steps: tuple[Step, ...]
    result: CaseResult

    @property
    def failed(self) -> bool:
        return self.result.verdict in (Verdict.FAIL, Verdict.ERROR)


class Hunt:
    """Walks against the router of one campaign. Used as a context manager."""

    def __init__(self, options: Options, *, circuits: int, errors: bool) -> None:
        self.campaign = Campaign(options)
        self.circuits = circuits
        self.errors = errors
        self.coverage: Counter[tuple[str, str, int]] = Counter()
        self.pairs: set[tuple[str, str]] = set()
        self.walks = 0
        self._before: tuple[Step, ...] = ()
        self._purpose = catalogue().purposes["SYS-WALK-02" if errors else "SYS-WALK-01"]

    def __enter__(self) -> Hunt:
        self.campaign.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.campaign.finish(interrupted=kind is not None)

    def walk(self, steps: Sequence[Step]) -> Walked:
        """Make these steps, and wait for the verdict."""
        made: list[Step] = []

        def body(bench: Bench) -> None:
            walk = Walk(bench, self.circuits)
            try:
                walk.go(steps)
            finally:
                made.extend(walk.made)
                self.coverage += walk.coverage
                actions = [step.action for step in walk.made]
                self.pairs |= set(pairwise(actions))

        before = len(self.campaign.results)
        self.campaign.run_case(self._purpose, body)
        self.campaign.settle_all()
        if len(self.campaign.results) == before:
            interrupts.check()  # which ends the wait for it
            raise JudgeError("timeout", "a walk ended without a verdict")
        self.walks += 1
        return Walked(tuple(made), self.campaign.results[-1])

    def walks_of(self, steps: int, seed: int) -> Iterator[tuple[int, Walked]]:
        """Walks without end, each with its seed."""
        while self.campaign.gone is None:
            chosen = drawn(steps, self.circuits, f"{seed}/walk", errors=self.errors)
            # Without calls most of the first steps could not be made.
            calls = drawn(self.circuits, self.circuits, f"{seed}/calls", errors=False)
            first = [one._replace(action="place", circuit=n) for n, one in enumerate(calls)]
            walked = self.walk([*first, *chosen][:steps])
            yield seed, walked
            self._before = walked.steps
            seed += 1

    def shortest(
        self, found: Walked, told: Callable[[Walked], None], deadline: float | None = None
    ) -> Walked:
        """Leave out steps as long as what is left still fails; told of each that is shorter.

        What a walk is about may have begun in a walk before it: where x25shark can start the router
        again, what is left is tried with a fresh router. If it does not fail there, all is done
        again with a fresh router for each walk, the walk before it put in front if need be.
        deadline: of time.monotonic(), after which it is left as it is.
        """
        short = self._shortened(found, told, deadline, fresh=False)
        if not self._can_restart or self._fails(short, short.steps, fresh=True):
            return short
        for steps in (found.steps, self._before + found.steps):
            again = self._fails(found, steps, fresh=True)
            if again is not None:
                return self._shortened(again, told, deadline, fresh=True)
        return short

    def _shortened(
        self,
        found: Walked,
        told: Callable[[Walked], None],
        deadline: float | None,
        *,
        fresh: bool,
    ) -> Walked:
        left = MOST_TRIES
        portion = max(1, len(found.steps) // 2)
        while left and (deadline is None or time.monotonic() < deadline):
            for start in range(0, len(found.steps), portion):
                without = found.steps[:start] + found.steps[start + portion :]
                left -= 1
                tried = self._fails(found, without, fresh=fresh) if without and left else None
                if tried is not None:
                    found = tried
                    told(found)
                    break
            else:
                if portion == 1:
                    return found
                portion = max(1, portion // 2)
        return found

    @property
    def _can_restart(self) -> bool:
        return self.campaign.router is not None and self.campaign.router.can_restart

    def _fails(self, found: Walked, steps: Sequence[Step], *, fresh: bool) -> Walked | None:
        """A walk of these steps, if its verdict is the same. fresh: the router is started again."""
        if fresh and self.campaign.restart_router() is not None:
            return None
        tried = self.walk(steps)
        return tried if tried.result.verdict is found.result.verdict else None

    def evidence(self, walked: Walked) -> Path | None:
        """The capture of a walk."""
        name = walked.result.evidence
        return self.campaign.options.directory / name if name else None

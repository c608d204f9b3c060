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
from ..judges.reading import JudgeError
from ..results import CaseResult
from ..run.campaign import Campaign, Options
from ..sides.bench import Bench
from ..suite.walk import Step, Walk, drawn
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
            raise JudgeError("timeout", "a walk got no verdict")
        self.walks += 1
        return Walked(tuple(made), self.campaign.results[-1])

    def walks_of(self, steps: int, seed: int) -> Iterator[tuple[int, Walked]]:
        """Walks without end, each with its seed."""
        while self.campaign.gone is None:
            chosen = drawn(steps, self.circuits, f"{seed}/walk", errors=self.errors)
            yield seed, self.walk(chosen)
            seed += 1

    def shortest(
        self, found: Walked, told: Callable[[Walked], None], deadline: float | None = None
    ) -> Walked:
        """Leave out steps as long as what is left still fails; told of each that is shorter.

        deadline: of time.monotonic(), after which it is left as it is.
        """
        left = MOST_TRIES
        portion = max(1, len(found.steps) // 2)
        while left and (deadline is None or time.monotonic() < deadline):
            for start in range(0, len(found.steps), portion):
                without = found.steps[:start] + found.steps[start + portion :]
                left -= 1
                tried = self.walk(without) if without and left else None
                if tried is not None and tried.result.verdict is found.result.verdict:
                    found = tried
                    told(found)
                    break
            else:
                if portion == 1:
                    return found
                portion = max(1, portion // 2)
        return found

    def evidence(self, walked: Walked) -> Path | None:
        """The capture of a walk."""
        name = walked.result.evidence
        return self.campaign.options.directory / name if name else None

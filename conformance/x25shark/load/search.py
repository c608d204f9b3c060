# SPDX-License-Identifier: GPL-2.0-or-later
"""The search for the highest rate without loss, by MLRsearch (draft-ietf-bmwg-mlrsearch).

The only module that imports MLRsearch, which is Apache-2.0: a process that has Scapy in it must not
import it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .options import OptionError
from .trial import Trial

GOALS = (0.0, 0.005)
"""Loss ratios that are searched for: throughput (RFC 1242 3.17), and the rate at half a percent."""
_TIME_IS_OVER = "Optimized search takes too long."
"""What the library says of it, by a RuntimeError like any other."""
LEAST_MESSAGES = 10
"""Messages of a trial below which it says nothing."""


@dataclass(frozen=True)
class Bounds:
    """The highest rate that met a goal and the lowest that did not, messages/s; None: there is
    none within the range."""

    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Found:
    """Bounds by goal; all trials in order; whether the search came to its end in time, and what the
    library stumbled over if it was not the time."""

    goals: dict[float, Bounds]
    trials: list[Trial]
    complete: bool
    problem: str = ""


def library() -> Any:
    """MLRsearch. Raises OptionError where it is not installed."""
    try:
        return importlib.import_module("MLRsearch")
    except ImportError:
        raise OptionError(
            "the search needs MLRsearch: ci/setup engine of the source tree, or pip install "
            "MLRsearch==1.2.1"
        ) from None


class _Measurer:
    """Gives trials to the library; the length of a trial is what the library asks for."""

    def __init__(self, result: Any, measure: Callable[[float, float], Trial]) -> None:
        self._result = result
        self._measure = measure
        self.trials: list[Trial] = []
        self.failed = False

    def measure(self, intended_duration: float, intended_load: float) -> Any:
        try:
            trial = self._measure(intended_load, intended_duration)
        except RuntimeError:
            self.failed = True
            raise
        self.trials.append(trial)
        offered = max(trial.offered, 1)
        ratio = trial.loss_ratio
        # Less than one message lost is a loss all the same where the path falls behind.
        lost = 0 if trial.clean else min(max(round(ratio * offered), 1), offered)
        return self._result(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=offered,
            loss_count=lost,
        )


def lowest_rate(trial_seconds: float) -> float:
    """Messages/s below which nothing is searched for: half a trial has its least messages."""
    return 2 * LEAST_MESSAGES / trial_seconds


def search(
    measure: Callable[[float, float], Trial],
    highest: float,
    *,
    width: float,
    trial_seconds: float,
    bound_seconds: float,
    goals: Sequence[float] = GOALS,
) -> Found:
    """Search up to the rate `highest`; measure(rate, seconds) makes one trial.

    width: of the interval found, relative. A rate counts as met only if each of its full trials
    met the goal. After bound_seconds the bounds so far are given. Raises what measure raises, and
    OptionError where MLRsearch is not installed.
    """
    mlr = library()
    config = mlr.Config()
    config.goals = [
        mlr.SearchGoal(
            loss_ratio=ratio,
            exceed_ratio=0.0,
            relative_width=width,
            initial_trial_duration=trial_seconds / 2,
            final_trial_duration=trial_seconds,
            duration_sum=2 * trial_seconds,
            preceding_targets=2,
            expansion_coefficient=4,
            fail_fast=False,
        )
        for ratio in goals
    ]
    lowest = lowest_rate(trial_seconds)
    config.min_load = lowest
    config.max_load = max(highest, 2 * lowest)
    config.search_duration_max = bound_seconds
    config.warmup_duration = 0.0
    measurer = _Measurer(mlr.MeasurementResult, measure)
    run = mlr.MultipleLossRatioSearch(config=config)
    complete, problem = True, ""
    try:
        run.search(measurer=measurer, debug=lambda _text: None)
    except RuntimeError as error:
        # A defect of the engine is not the end of the time; nor is a library that does not begin.
        if measurer.failed or not measurer.trials:
            raise
        complete = False
        problem = "" if str(error) == _TIME_IS_OVER else str(error)
    found = {}
    for goal in config.goals:
        bounds = run.database.get_relevant_bounds(target=run.scaling.goal_to_final_target[goal])
        found[goal.loss_ratio] = Bounds(_rate(bounds.clo), _rate(bounds.chi))
    return Found(found, measurer.trials, complete, problem)


def _rate(load: Any) -> float | None:
    return None if load is None else float(load)

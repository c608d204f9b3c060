# SPDX-License-Identifier: GPL-2.0-or-later
"""A polite caller beside an overload: what the router still does for it, and when it is over.

It places calls at a low rate by schedule, before, during and after the overload. What it met is
known call by call, so that the time of recovery can be told.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from .engine import Engine, Side
from .measure import new_run
from .options import LoadOptions
from .target import Target

WITHIN = 1.2
"""Recovered is a p99 within a fifth of what it was before ..."""
FLOOR_MS = 5.0
"""... or within this, where it was so small that the tester's own pauses would decide."""
WINDOW = 1.0
"""Seconds of calls that must all be as before."""
_SHARE = 0.8
_POLL = 0.05


@dataclass(frozen=True)
class Met:
    """One call of the polite caller: when it was due (monotonic ns), and how long its set-up took
    in milliseconds; None: it failed."""

    due_ns: int
    took_ms: float | None


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None


def figures(met: Sequence[Met]) -> dict[str, Any]:
    """Calls, failures, and p50, p99 and maximum of the set-up in ms."""
    took = [m.took_ms for m in met if m.took_ms is not None]
    return {
        "calls": len(met),
        "failed": len(met) - len(took),
        "p50_ms": percentile(took, 0.5),
        "p99_ms": percentile(took, 0.99),
        "max_ms": max(took, default=None),
    }


def limit_ms(before: Sequence[Met]) -> float | None:
    """Up to when a call counts as before; None where no call was set up."""
    usual = percentile([m.took_ms for m in before if m.took_ms is not None], 0.99)
    return None if usual is None else max(WITHIN * usual, usual + FLOOR_MS)


def recovered(
    met: Sequence[Met], end_ns: int, limit: float, rate: float, now_ns: int
) -> float | None:
    """Seconds from the end of the overload until calls are as before; None: they are not yet.

    The calls of a whole window, and as many as were due in it, must be within the limit but for one
    in a hundred, or one alone: in so few calls a single slow one may be a pause of the tester's own
    machine. The first is within the limit, and none has failed.
    """
    after = sorted((m for m in met if m.due_ns >= end_ns), key=lambda m: m.due_ns)
    window = round(WINDOW * 1e9)
    bad = [m.due_ns for m in after if m.took_ms is None or m.took_ms > limit]
    starts = [end_ns, *(due + 1 for due in bad)]
    for start in starts:
        if start + window > now_ns:
            return None
        inside = [m for m in after if start <= m.due_ns < start + window]
        took = [m.took_ms for m in inside if m.took_ms is not None]
        wrong = sum(1 for one in took if one > limit)
        whole = len(inside) >= _SHARE * rate * WINDOW and len(took) == len(inside)
        if whole and took[0] <= limit and wrong <= max(1, len(inside) / 100):
            return 0.0 if start == end_ns else (inside[0].due_ns - end_ns) / 1e9
    return None


class Polite:
    """The polite caller at work."""

    def __init__(self, side: Side, rate: float) -> None:
        self._side = side
        self.rate = rate
        self.met: list[Met] = []

    def collect(self) -> None:
        """Take what has come in since the last time."""
        for sample in json.loads(self._side.samples()):
            took = sample["took_ns"]
            self.met.append(Met(sample["due_ns"], None if took is None else took / 1e6))

    def watch(self, seconds: float) -> list[Met]:
        """Wait so long; the calls that were due in this time, as far as they are known."""
        begin = time.monotonic_ns()
        end = begin + round(seconds * 1e9)
        while time.monotonic_ns() < end:
            time.sleep(min(_POLL, seconds))
            self.collect()
        return [m for m in self.met if begin <= m.due_ns < end]

    def await_recovery(self, end_ns: int, limit: float, bound: float) -> float | None:
        """Seconds from end_ns until calls are as before; None: not within the bound."""
        while True:
            self.collect()
            now = time.monotonic_ns()
            found = recovered(self.met, end_ns, limit, self.rate, now)
            if found is not None or now > end_ns + round((bound + WINDOW) * 1e9):
                return found
            time.sleep(_POLL)


@contextmanager
def polite_caller(
    engine: Engine, options: LoadOptions, target: Target, rate: float, seconds: float
) -> Iterator[Polite]:
    """A polite caller for at most so many seconds."""
    load = replace(
        options,
        rate=rate,
        duration=seconds,
        circuits=max(round(rate * options.timeout) + 16, 16),
        messages=0,
        threads=1,
    )
    side = engine.caller(
        load.caller(target.connect, target.called, new_run(), target.sources) | {"sample": True}
    )
    try:
        yield Polite(side, rate)
    finally:
        side.stop()
        side.result()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The router's counters in a report: every reading, and the table of errors.

The table of errors asks of each kind of error what Scott Bradner's router tests asked: when the
router was sent so many of them, which counter moved, was it the right one, or is there none?
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..counters.names import NAMES, NO_COUNTER, NOT_COUNTED, RIGHT
from ..results import CaseResult, CounterReading, Results
from ..stored import about_counters
from .text import one_line


@dataclass(frozen=True)
class ErrorRow:
    """One kind of error on one interface: how many the capture shows, and what counted them."""

    case: str
    error: str
    interface: str
    shown: int
    counter: str
    moved: str
    good: bool


def readings(results: Results) -> Iterator[tuple[CaseResult, CounterReading]]:
    """Every reading of a run with its case."""
    for case in results.cases:
        for expectation in about_counters(case):
            if expectation.counter is not None:
                yield case, expectation.counter


def error_table(results: Results) -> list[ErrorRow]:
    """A row for each kind of error that the router was sent, or that it counted."""
    return [
        ErrorRow(
            one_line(case.id, 80),
            NAMES[reading.name].error,
            one_line(reading.interface, 20),
            reading.shown,
            _counter(reading),
            _moved(reading),
            reading.result == RIGHT,
        )
        for case, reading in readings(results)
        if reading.name in NAMES
        and NAMES[reading.name].error
        and (reading.shown or reading.result != RIGHT)
    ]


def _counter(reading: CounterReading) -> str:
    """What counted the error, in words."""
    if reading.moved_instead:
        return "wrong counter: " + one_line(", ".join(reading.moved_instead[:5]), 200)
    if reading.result in (NO_COUNTER, NOT_COUNTED):
        return "no counter" if reading.result == NO_COUNTER else "none moved"
    return one_line(reading.path, 200)


def _moved(reading: CounterReading) -> str:
    if reading.before is None and reading.after is None:
        return "-"
    return str((reading.after or 0) - (reading.before or 0))


def reading_line(reading: CounterReading) -> str:
    """One reading in one line."""
    before = "none" if reading.before is None else str(reading.before)
    after = "none" if reading.after is None else str(reading.after)
    instead = ", ".join(reading.moved_instead[:5])
    return one_line(
        f"{reading.name} ({reading.interface}): {before} before, {after} after, "
        f"{reading.shown} in the capture: {reading.result}"
        + (f"; moved instead: {instead}" if instead else "")
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of errors and the readings of counters, in the terminal and in the page."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from x25shark.counters.names import (
    NO_COUNTER,
    NOT_COUNTED,
    RIGHT,
    WRONG_COUNTER,
    WRONG_NUMBER,
)
from x25shark.report import html
from x25shark.report.counters import error_table
from x25shark.report.terminal import failure_text, print_summary
from x25shark.results import CaseResult, CounterReading, Results
from x25shark.verdicts import Verdict

Cases = Callable[..., CaseResult]
Runs = Callable[[list[CaseResult]], Results]

# What a case with frames of every kind leaves, with a router that counts some of them wrongly.
READINGS = [
    CounterReading("bad_fcs", "a", "s0.fcs", 5, 5, 171, WRONG_COUNTER, ["aborts by 171 too many"]),
    CounterReading("aborts", "a", "s0.aborts", 0, 340, 169, WRONG_NUMBER),
    CounterReading("runts", "a", "s0.runts", 0, 160, 160, RIGHT),
    CounterReading("giants", "a", "s0.giants", 2, 2, 158, NOT_COUNTED),
    CounterReading("unknown_addresses", "a", "s0.addresses", None, None, 166, NO_COUNTER),
    CounterReading("unaligned", "a", "s0.unaligned", 4, 4, 0, RIGHT),
    CounterReading("bad_fcs", "b", "s1.fcs", 0, 0, 0, RIGHT),
    CounterReading("frames_in", "a", "s0.frames", 9, 185, 176, RIGHT),
]


def mixed(case: Cases, readings: list[CounterReading]) -> CaseResult:
    """A case with these readings."""
    made = case(1, Verdict.FAIL, "HDLC")
    template = made.expectations[0]
    about = [dataclasses.replace(template, counter=reading) for reading in readings]
    made.expectations = [*made.expectations, *about]
    return made


def summary(results: Results) -> str:
    out = io.StringIO()
    print_summary(results, Path("r"), Console(file=out, width=100))
    return out.getvalue()


def test_the_table_of_errors(case: Cases, run_of: Runs) -> None:
    rows = error_table(run_of([mixed(case, READINGS)]))
    assert [(r.error, r.shown, r.moved, r.counter, r.good) for r in rows] == [
        ("bad FCS", 171, "0", "wrong counter: aborts by 171 too many", False),
        ("abort", 169, "340", "s0.aborts", False),
        ("runt", 160, "160", "s0.runts", True),
        ("giant", 158, "0", "none moved", False),
        ("unknown address", 166, "-", "no counter", False),
    ]
    assert {row.case for row in rows} == {"HDLC-01"}


def test_the_table_in_the_terminal(case: Cases, run_of: Runs) -> None:
    lines = [line.split() for line in summary(run_of([mixed(case, READINGS)])).splitlines()]
    assert ["case", "error", "on", "sent", "moved", "counter"] in lines
    assert ["HDLC-01", "runt", "a", "160", "160", "s0.runts"] in lines
    assert ["HDLC-01", "giant", "a", "158", "0", "none", "moved"] in lines
    assert ["HDLC-01", "unknown", "address", "a", "166", "-", "no", "counter"] in lines


def test_the_table_in_the_page(case: Cases, run_of: Runs) -> None:
    text = html.render_text(run_of([mixed(case, READINGS)]))
    assert "Errors that the router was sent" in text
    assert text.count('<tr class="bad">') == 4
    assert "wrong counter: aborts by 171 too many" in text
    assert "frames_in (a): 9 before, 185 after, 176 in the capture: right" in text


def test_every_reading_of_a_case(case: Cases) -> None:
    text = failure_text(mixed(case, READINGS))
    assert "bad_fcs (a): 5 before, 5 after, 171 in the capture: wrong counter moved" in text
    assert "unknown_addresses (a): none before, none after, 166 in the capture" in text


def test_a_run_without_counters_says_nothing_of_them(results: Results) -> None:
    assert error_table(results) == []
    assert "counter" not in summary(results)
    assert 'id="counters"' not in html.render_text(results)


def test_what_a_router_calls_its_counters_is_made_harmless(
    case: Cases, run_of: Runs, hostile: str, bad_characters: set[str]
) -> None:
    reading = CounterReading("runts", hostile, hostile, 0, 1, 1, hostile, [hostile] * 9)
    run = run_of([mixed(case, [reading, CounterReading(hostile, "a", hostile, 0, 0, 0, "", [])])])
    for text in (summary(run), html.render_text(run), failure_text(run.cases[0])):
        assert not bad_characters & set(text)
    assert "<img src=x" not in html.render_text(run)


def test_many_readings_are_bounded(case: Cases, run_of: Runs) -> None:
    run = run_of([mixed(case, READINGS[:1] * 5000)])
    assert len(summary(run).splitlines()) < 100
    assert html.render_text(run).count("<tr") < 600

# SPDX-License-Identifier: GPL-2.0-or-later
"""The published measurements beside a result: what was found stands in the row that is about it."""

from __future__ import annotations

from typing import Any

import pytest
from x25shark.load import published


def beside(table: tuple[list[str], list[list[str]]]) -> dict[str, str]:
    """Ours by what it is about; every row has a published figure too."""
    head, rows = table
    assert head == published.HEAD
    assert all(theirs for _, theirs, _ in rows)
    return {about: ours for about, _, ours in rows}


def bench_row(size: int, flood: float, limited: bool = False) -> dict[str, Any]:
    return {
        "size": size,
        "maximum": {"carried": 1000.0},
        "plus_25": {"carried": 990.0},
        "flood": {"carried": 1000.0 * flood},
        "share_of_maximum": {"plus_25": 0.99, "flood": flood},
        "tester_was_limit": limited,
    }


def bench_result(**other: Any) -> dict[str, Any]:
    usual = {
        "options": {"width": 0.01},
        "rows": [bench_row(128, 0.98), bench_row(256, 0.03, limited=True)],
        "phases": {"flood": {"asked": 4, "answered": 0, "slowest_ms": None, "state": "dead"}},
        "errors": [{"result": "right"}, {"result": "wrong counter moved"}, {"result": ""}],
    }
    return usual | other


def test_what_a_bench_found_stands_beside_the_original() -> None:
    ours = beside(published.bench(bench_result()))
    assert ours["sizes, octets"] == "128, 256"
    assert ours["maximum"].startswith("searched by MLRsearch to 1.0%")
    assert ours["less when overloaded"] == "256 octets, flood: 1 000 -> 30.0 messages/s (3%)"
    assert ours["the tester"] == "the tester was the limit at 256 octets"
    assert ours["management flooded"] == "dead: 0 of 4 answered"
    assert ours["counters of errors"] == "1 right, 1 wrong, 0 not counted"


def test_a_router_that_carries_no_less_when_offered_more() -> None:
    shares = {"share_of_maximum": {"plus_25": 1.02, "flood": 1.1}}
    rows = [bench_row(128, 1.1) | shares, bench_row(256, 1.1) | shares]
    ours = beside(published.bench(bench_result(rows=rows)))
    assert ours["less when overloaded"] == "none: 102% of the maximum or more at each size"


def test_what_a_bench_did_not_look_at_is_said() -> None:
    short = bench_result(errors=[], phases={}, rows=[{"size": 64, "throughput": {}}])
    ours = beside(published.bench(short))
    for about in ("less when overloaded", "management flooded", "counters of errors"):
        assert ours[about] == published.NOT_LOOKED_AT
    assert beside(published.bench(bench_result(rows=[]))) == {}


def step(rate: float, failed: int = 0) -> dict[str, Any]:
    failures = {"cleared: cause 5 diagnostic 0": failed} if failed else {}
    return {"rate": rate, "failed": failed, "failures": failures}


def recovery(seconds: float | None) -> dict[str, Any]:
    return {"recovery": {"seconds": seconds, "limit_ms": 6.0}}


def overload_result(**other: Any) -> dict[str, Any]:
    usual = {
        "options": {"step_seconds": 6.0},
        "testers": None,
        "ramp": [step(100), step(200), step(300, 12)],
        "knee": {"rate": 200.0, "upper": 210.0},
        "floods": [recovery(0.4), recovery(3.0)],
    }
    return usual | other


@pytest.mark.parametrize(
    ("other", "about", "expected"),
    [
        ({}, "ramp", "100 to 300 calls/s in 3 steps, 6 s each"),
        ({}, "from", "one tester"),
        ({"testers": {"asked": 4}}, "from", "4 testers"),
        ({}, "knee", "from 200 to 210 calls/s"),
        ({"knee": {"rate": 300.0, "upper": None}}, "knee", "no knee up to 300 calls/s"),
        ({"knee": None}, "knee", published.NOT_LOOKED_AT),
        ({}, "beyond it", "12 calls failed from 300/s on: cleared: cause 5 diagnostic 0"),
        (
            {"ramp": [step(100, 1)]},
            "beyond it",
            "1 call failed from 100/s on: cleared: cause 5 diagnostic 0",
        ),
        ({"ramp": [step(100)]}, "beyond it", "no call of the ramp failed"),
        ({}, "recovers", "within 3.0 s from 2 overloads"),
        ({"floods": [recovery(None)]}, "recovers", "not from 1 of 1 overload"),
        ({"floods": []}, "recovers", published.NOT_LOOKED_AT),
    ],
)
def test_what_an_overload_found_stands_beside_the_original(
    other: dict[str, Any], about: str, expected: str
) -> None:
    assert beside(published.overload(overload_result(**other)))[about] == expected


def cell(mss: int, *no_effect: str) -> dict[str, Any]:
    return {
        "mss": mss,
        "tcp_window": 65_536,
        "parallel": 1,
        "user_data_share": 0.94 if mss == 1460 else 0.99,
        "no_effect": list(no_effect),
        "pairs": [{"pair": "A-B", "retransmitted": {"tshark": None, "kernel": 3}}],
    }


@pytest.mark.parametrize(
    ("large", "expected"),
    [
        ([], published.NOT_LOOKED_AT),
        ([cell(8960)], "took effect in 1 test, by the wire"),
        (
            [cell(8960), cell(8960, "A-B: MSS 8960 had no effect: ...")],
            "no effect in 1 of 2 tests, and said so",
        ),
        ([cell(8960, "A-B: window 127 had no effect: 7 agreed")], "took effect in 1 test, by"),
    ],
)
def test_what_a_matrix_found_stands_beside_the_original(
    large: list[dict[str, Any]], expected: str
) -> None:
    cells = [cell(1460), *large]
    ours = beside(published.matrix({"options": {"cell_seconds": 15.0}, "cells": cells}))
    assert ours["MSS beyond Ethernet's"].startswith(expected)
    assert ours["tests"].endswith("of 15 s")
    assert ours["user data on the line"] == ("94.0% to 99.0%" if large else "94.0%")
    assert ours["segments sent again"] == f"- by tshark, {3 * len(cells)} by the kernel"

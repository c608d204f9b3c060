# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands for developers that measure: what they make of results; no measurement here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from x25shark.selftest import known_truth, measure_all, testers_netns
from x25shark.selftest.known_truth import Row, judged

TRUTHS = {truth.name: truth for truth in known_truth.TRUTHS}
WIDTH = 80


def shown(made: Any) -> str:
    console = Console(width=WIDTH)
    with console.capture() as taken:
        console.print(made)
    return taken.get()


def bench(rate: float, said: bool = True, **row: Any) -> dict[str, Any]:
    found = {"throughput": {"rate": rate, "said": said}} | row
    return {"rows": [found], "verdict": {"reasons": ["no throughput can be said"]}}


def overload(rate: float, upper: float | None, seconds: float | None = 3.0) -> dict[str, Any]:
    recovery = {"seconds": seconds, "bound": 15.0}
    floods = [{"kind": "beyond", "recovery": recovery}]
    return {"knee": {"rate": rate, "upper": upper}, "floods": floods, "verdict": {"reasons": []}}


def delays(router: float, control: float) -> list[dict[str, Any]]:
    return [{"load": "light", "router": {"p50": router}, "control": {"p50": control}}]


@pytest.mark.parametrize(
    ("name", "result", "right"),
    [
        ("rate-500", bench(509.0), True),
        ("rate-500", bench(511.0), False),
        ("rate-500", bench(500.0, said=False), False),
        ("loss", bench(500.0, said=False), True),
        ("loss", bench(500.0), False),
        ("delay", bench(1.0, delays=delays(5.3, 0.1)), True),
        ("delay", bench(1.0, delays=delays(5.5, 0.1)), False),
        ("burst", bench(1.0, burst={"messages": 55}), True),
        ("burst", bench(1.0, burst={"messages": 56}), False),
        ("knee", overload(286.0, 295.0), True),
        ("knee", overload(284.0, 295.0), False),
        ("recovery", overload(200.0, 210.0, 3.2), True),
        ("recovery", overload(200.0, 210.0, 3.4), False),
    ],
)
def test_a_figure_is_held_against_the_truth(name: str, result: Any, right: bool) -> None:
    row = judged(TRUTHS[name], result, 10.0)
    assert row.right == right
    text = shown(known_truth.table([row]))
    assert ("PASS" in text) == right
    assert TRUTHS[name].words.split()[0] in text


@pytest.mark.parametrize(
    ("name", "result", "words"),
    [
        ("delay", bench(1.0), "no delay at light load"),
        ("burst", bench(1.0), "no burst"),
        ("knee", overload(300.0, None), "no knee"),
        ("recovery", overload(1.0, 2.0, None), "not within 15 s"),
    ],
)
def test_a_figure_that_is_missing_is_said(name: str, result: Any, words: str) -> None:
    with pytest.raises(known_truth.NotFound, match=words):
        judged(TRUTHS[name], result, 10.0)


def test_a_size_that_takes_too_long_is_no_success() -> None:
    row = judged(TRUTHS["rate-50"], bench(50.0), 31.0)
    assert not row.right and "31 s" in row.problem


def test_the_tables_have_80_columns() -> None:
    rows = [Row(truth, (truth.expected or 1) * 1.234567, 100.4) for truth in TRUTHS.values()]
    made = shown(known_truth.table(rows))
    figures = dict.fromkeys(("completed", "octets sent", "p50, ms", "p99.9, ms"), 1234567.0)
    compared = testers_netns.compared(figures, figures, figures)
    made += shown(testers_netns.table(compared, 100))
    runs = [
        measure_all.Run(command, router, quick, 0, 299.0)
        for command in measure_all.COMMANDS
        for router in ("reference", "linux")
        for quick in (False, True)
    ]
    made += shown(measure_all.summary(runs))
    assert max(map(len, made.splitlines())) <= WIDTH
    assert "…" not in made


def test_several_testers_are_held_against_one() -> None:
    one = {"completed": 1000.0, "p99, ms": 100.0, "p99.9, ms": 100.0}
    again = one | {"p99, ms": 100.5}
    rows = testers_netns.compared(one, again, one | {"p99, ms": 101.5, "p99.9, ms": 300.0})
    assert [row.right for row in rows] == [True, False, True]  # nobody can promise the last one
    assert rows[1].own == pytest.approx(0.005)
    report = {"asked": 4, "lost": [], "skew_ms": 1.0, "shared": []}
    assert testers_netns.problems({"testers": report}, 4) == []
    wrong = {"asked": 3, "lost": ["partial"], "skew_ms": 6.0, "shared": ["source addresses"]}
    assert len(testers_netns.problems({"testers": wrong}, 4)) == 4


def test_a_run_has_to_leave_a_report_in_time(tmp_path: Path) -> None:
    run = measure_all.Run("bench", "reference", True, 0, 20.0)
    measure_all.judge(run, tmp_path, "")
    assert run.problems[0].startswith("no report")
    (tmp_path / "load.json").write_text('{"verdict": {"reasons": ["something"]}}')
    for changed, problems in (
        (run, ["found: something"]),
        (replace(run, router="linux"), []),
        (replace(run, router="linux", seconds=90.0), ["it took 90 s, 65 are allowed"]),
        (replace(run, router="linux", status=3), ["exit status 3: no router"]),
    ):
        changed.problems, changed.result = [], None
        measure_all.judge(changed, tmp_path, "no router")
        assert changed.problems == problems

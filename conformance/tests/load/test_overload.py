# SPDX-License-Identifier: GPL-2.0-or-later
"""The overload command: knee, recovery and findings, computed and on a path of known capacity."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from x25shark.load.engine import Engine
from x25shark.load.options import OptionError
from x25shark.load.overload import collapse, disturbed, find_knee, own_shortage
from x25shark.load.overload_cli import steps
from x25shark.load.polite import FLOOR_MS, Met, figures, limit_ms, percentile, recovered

from .schema import Overload
from .test_bench_runs import path, read_until, start, until_its_router_dies

Run = Callable[..., subprocess.CompletedProcess[str]]
Result = Callable[[], dict[str, Any]]
SECOND = 1_000_000_000
SHORT = ("overload", "-T", "0.5", "--flood", "0.5", "--bound", "3", "--timeout", "2")
NO_FLOODS = ("--skip", "connections", "--skip", "calls", "--skip", "clears", "--skip",
             "half-closed")  # fmt: skip


def calls(*spans: tuple[float, float, float | None], rate: float = 20) -> list[Met]:
    """Calls by schedule: (from second, to second, ms of their set-up or None: failed)."""
    return [
        Met(round((begin + i / rate) * SECOND), took)
        for begin, end, took in spans
        for i in range(round((end - begin) * rate))
    ]


def test_the_ramp_is_a_span_or_a_list() -> None:
    assert steps("100-2000/100") == [100.0 * i for i in range(1, 21)]
    assert steps("50-150/50") == [50, 100, 150]
    assert steps("300,100") == [100, 300]
    for wrong in ("", "x", "0-10/1", "10-1/1", "1-9/0", "1-1000/0.1", "5,-1", "nan", "1-2-3"):
        with pytest.raises(OptionError, match="--rates"):
            steps(wrong)


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentile([], 0.5) is None
    assert [percentile([3, 1, 2], share) for share in (0.01, 0.5, 0.99)] == [1, 2, 3]
    assert figures(calls((0, 1, 2.0), (1, 2, None)))["failed"] == 20


def test_the_limit_is_a_fifth_more_or_what_the_tester_itself_needs() -> None:
    assert limit_ms(calls((0, 1, 1.0))) == 1.0 + FLOOR_MS
    assert limit_ms(calls((0, 1, 100.0))) == 120.0
    assert limit_ms(calls((0, 1, None))) is None


@pytest.mark.parametrize(
    ("met", "now", "expected"),
    [
        (calls((10, 14, 1.0)), 14, 0.0),
        (calls((10, 13, 900.0), (13, 16, 1.0)), 16, 3.0),
        (calls((10, 13, None), (13, 16, 1.0)), 16, 3.0),
        (calls((10, 13, None), (13, 16, 1.0)), 13.5, None),  # the window is not over yet
        (calls((10, 16, None)), 16, None),
        ([], 16, None),  # silence is no recovery
        (calls((10, 11, 1.0), (11, 13, None), (13, 16, 1.0)), 16, 0.0),
    ],
)
def test_recovered_is_when_calls_are_as_before(
    met: list[Met], now: float, expected: float | None
) -> None:
    found = recovered(met, 10 * SECOND, 10.0, 20, round(now * SECOND))
    assert found is None if expected is None else found == pytest.approx(expected, abs=0.06)


def step(rate: float, completed: float, carried: bool, unplaced: int = 0) -> dict[str, Any]:
    found = {"rate": rate, "completed_per_second": completed, "carried": carried}
    return found | {"unplaced": unplaced}


def test_the_knee_is_between_the_highest_rate_that_was_carried_and_the_next() -> None:
    ramp = [step(100, 100, True), step(300, 250, False), step(200, 200, True)]
    assert find_knee(ramp) == {"rate": 200, "upper": 300}
    assert find_knee(ramp[:1]) == {"rate": 100, "upper": None}
    assert find_knee([step(100, 20, False)]) == {"rate": 0, "upper": 100}
    assert disturbed(ramp) == []
    once = step(150, 120, False)
    assert find_knee([*ramp, once]) == {"rate": 200, "upper": 300}
    assert disturbed([*ramp, once]) == [once]


def test_completing_less_when_more_is_offered_is_named() -> None:
    flat = [step(100, 100, True), step(200, 150, False), step(300, 98, False)]
    assert collapse(flat) == ""
    assert "20 calls/s of 400 offered" in collapse([*flat, step(400, 20, False)])
    assert collapse([]) == ""


def test_a_step_that_the_tester_had_no_sockets_for_says_nothing_of_the_router() -> None:
    ramp = [step(900, 899, True), step(1000, 210, False, unplaced=5), step(1100, 105, False, 6)]
    assert own_shortage({"connect: no free local port": 5, "call set-up: connection reset": 9}) == 5
    assert collapse(ramp) == ""
    assert find_knee(ramp) == {"rate": 900, "upper": None}
    assert disturbed([*ramp, step(800, 100, False, unplaced=1)]) == []


@pytest.mark.measures
def test_the_knee_of_a_known_call_rate_and_its_recovery_are_found(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    # 100 calls/s, and 100 wait: with 20 polite calls/s beside them the queue is gone after 1.25 s.
    with path(engine, capacity={"calls": 100, "call_queue": 100}) as way:
        done = x25shark(*SHORT, "--rates", "40-200/40", *NO_FLOODS, *way, "-o",
                        str(tmp_path / "out"))  # fmt: skip
    result = load_json()
    Overload.model_validate(result)
    assert result["knee"]["rate"] <= 110, done.stdout
    assert result["knee"]["upper"] >= 90, done.stdout
    (flood,) = result["floods"]
    assert flood["kind"] == "beyond"
    assert 0.5 < flood["recovery"]["seconds"] < 3.5, done.stdout
    assert "Knee:" in done.stdout and "Recovered from calls beyond the knee in" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    page = (tmp_path / "out" / "load.html").read_text("utf-8")
    assert "Calls completed against calls offered" in page


@pytest.mark.measures
def test_a_call_table_that_never_empties_does_not_recover_until_restarted(
    engine: Engine, x25shark: Run, profile: Path, tmp_path: Path, load_json: Result
) -> None:
    done = x25shark(*SHORT, "--router", str(profile), "--fault", "BUG-LOAD-04=100", "--rates",
                    "40,80", "--flood", "3", *NO_FLOODS, "-o", str(tmp_path / "out"))  # fmt: skip
    # The ramp stays below; the flood beyond it fills the table.
    assert done.returncode == 1, done.stdout + done.stderr
    result = load_json()
    Overload.model_validate(result)
    words = "does not recover until restarted"
    assert any(words in reason for reason in result["verdict"]["reasons"]), done.stdout


@pytest.mark.measures
def test_each_flood_is_made_and_survived(
    engine: Engine, x25shark: Run, profile: Path, tmp_path: Path, load_json: Result
) -> None:
    done = x25shark(*SHORT, "--router", str(profile), "--rates", "40,80", "--flood-rate", "100",
                    "--flood-most", "40", "--bound", "15", "-o", str(tmp_path / "out"))  # fmt: skip
    result = load_json()
    Overload.model_validate(result)
    floods = {flood["kind"]: flood for flood in result["floods"]}
    assert list(floods) == ["beyond", "connections", "calls", "clears", "half-closed"]
    assert floods["connections"]["flood"]["opened"] > 10
    assert floods["calls"]["flood"]["connected"] == 0
    assert floods["clears"]["flood"]["connected"] > 10
    assert not [r for r in result["verdict"]["reasons"] if "recover" in r], done.stdout


def test_two_results_go_on_one_plot(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    out = tmp_path / "out"
    with path(engine, capacity={"calls": 60, "call_queue": 10}) as way:
        x25shark(*SHORT, "--rates", "30,90", *NO_FLOODS, *way, "-o", str(out))
    both = tmp_path / "both"
    done = x25shark("overload", "--plot", str(out), str(out / "load.json"), "-o", str(both))
    assert done.returncode == 0, done.stderr
    page = (both / "load.html").read_text("utf-8")
    assert "completed (old:" in page and "completed (new:" in page
    (out / "load.json").write_text(json.dumps(load_json() | {"ramp": [{"rate": 1}]}))
    done = x25shark("overload", "--plot", str(out), str(out), "-o", str(both))
    assert done.returncode == 2 and f"{out}: a damaged load result" in done.stderr
    (out / "load.json").write_text(json.dumps(load_json() | {"command": "stress"}))
    for arguments, words in (
        (["--plot", str(out), str(out), "-o", str(both)], "not of overload"),
        (["--plot", str(out), str(out)], "--plot needs -o"),
        (["--plot", str(tmp_path), str(tmp_path), "-o", str(both)], "load.json"),
        (["--rates", "fast"], "--rates 'fast'"),
    ):
        refused = x25shark("overload", *arguments)
        assert refused.returncode == 2
        assert words in refused.stderr and "Traceback" not in refused.stderr


def test_interrupting_keeps_the_ramp(engine: Engine, tmp_path: Path, load_json: Result) -> None:
    with path(engine) as way:
        process = start("overload", "--rates", "20,30,40,50", "-T", "1", *way, "-o",
                        str(tmp_path / "out"))  # fmt: skip
        read_until(process, "ramp 2/4")
        os.kill(process.pid, signal.SIGINT)
        said, errors = process.communicate(timeout=600)
    assert process.returncode == 130, said + errors
    result = load_json()
    Overload.model_validate(result)
    assert result["ramp"][0]["rate"] == 20
    assert "Traceback" not in errors


def test_a_router_that_dies_leaves_a_report(
    engine: Engine, tmp_path: Path, load_json: Result
) -> None:
    output = str(tmp_path / "out")
    status, errors = until_its_router_dies(
        "ramp 2/3", *SHORT, "--rates", "20,30,40", *NO_FLOODS, "-o", output
    )
    assert status == 1, errors
    assert errors == ""
    result = load_json()
    Overload.model_validate(result)
    assert result["ramp"][0]["carried"] and result["ramp"][-1]["failed"]
    (remark,) = [r for r in result["verdict"]["remarks"] if "takes no calls any more" in r]
    assert "polite caller" in remark and not result["floods"]


def test_a_router_that_is_not_there_is_status_3(engine: Engine, x25shark: Run) -> None:
    done = x25shark(*SHORT, "--connect", "127.0.0.1:1", "--rates", "10")
    assert done.returncode == 3
    assert "connection refused" in done.stdout
    assert "Traceback" not in done.stderr

# SPDX-License-Identifier: GPL-2.0-or-later
"""The overload command: knee, recovery and findings, computed and on a path of known capacity."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from x25shark.load import overload as overload_module
from x25shark.load import overload_cli, overload_plots, overload_run, page
from x25shark.load.engine import Engine
from x25shark.load.options import LoadOptions, OptionError
from x25shark.load.overload import (
    Overload as Measuring,
)
from x25shark.load.overload import (
    OverloadPlan,
    collapse,
    disturbed,
    find_knee,
    own_shortage,
)
from x25shark.load.overload_cli import steps
from x25shark.load.polite import FLOOR_MS, Met, figures, limit_ms, percentile, recovered
from x25shark.load.running import Outcome
from x25shark.load.target import Target
from x25shark.run.router import RouterError

from .between import MOST_MEMORY, Between, stopped_later, weighed
from .conftest import COLUMNS, free_port
from .samples import measurement
from .schema import Overload
from .test_bench_runs import hooked, path, read_until, start, until_its_router_dies

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
        # One that is slow alone is a pause of the tester's; one that fails is not, nor are two.
        (calls((10, 13, 900.0), (13, 13.5, 1.0), (13.5, 13.55, 900.0), (13.55, 16, 1.0)), 16, 3.0),
        (calls((10, 13, 900.0), (13, 13.5, 1.0), (13.5, 13.55, None), (13.55, 16, 1.0)), 16, 3.55),
        (calls((10, 13, 900.0), (13, 13.5, 1.0), (13.5, 13.6, 900.0), (13.6, 16, 1.0)), 16, 3.6),
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


def plan(**other: Any) -> OverloadPlan:
    usual: dict[str, Any] = {
        "rates": [100.0, 200.0], "step": 1.0, "base_rate": 20.0, "base": 1.0, "flood_rate": 100.0,
        "flood": 1.0, "flood_most": 10, "bound": 4.0, "kinds": ["connections"], "timeout": 2.0,
    }  # fmt: skip
    return OverloadPlan(**(usual | other))


def measuring(engine: Any = None, target: Target | None = None, **other: Any) -> Measuring:
    somewhere = Target("r", "127.0.0.1:1", "127.0.0.1:2", ("2100001", "2100001"))
    return Measuring(engine, LoadOptions(), target or somewhere, plan(**other), lambda _: None)


def control(rate: float, completed: float, carried: bool) -> dict[str, Any]:
    done = measurement()
    found = overload_module.step_of(done, rate)
    return found | {"completed_per_second": completed, "carried": carried}


@pytest.mark.parametrize(
    ("knee", "alone", "near", "expected"),
    [
        # The tester carried all that it was asked for: how much more it can nobody knows.
        ((1900, 1950), control(2000, 1995, True), None, None),
        ((2000, None), control(2000, 1995, True), None, None),
        ((900, 950), control(2000, 1000, False), None, 0.9),
        ((700, 750), control(2000, 1000, False), None, None),
        # It collapses at 2000, and carries a quarter more than the router where that matters.
        ((900, 950), control(2000, 400, False), control(1125, 1120, True), None),
        ((900, 950), control(2000, 400, False), control(1125, 1000, False), 0.9),
        ((2000, None), control(2000, 1900, False), None, None),
        ((0, 100), control(2000, 1900, False), control(125, 20, False), None),
        ((900, 950), None, None, None),
    ],
)
def test_the_tester_was_the_limit_where_it_is_near_its_own(
    knee: tuple[float, float | None], alone: dict[str, Any] | None, near: dict[str, Any] | None,
    expected: float | None,
) -> None:  # fmt: skip
    one = measuring()
    one.knee = {"rate": knee[0], "upper": knee[1]}
    one.ramp.append(control(100, 100, knee[0] > 0))
    one.control, one.control_at_knee = alone, near
    result = overload_run.body(one, Outcome())
    verdict = result["verdict"]
    assert verdict["tester_was_limit"] == (expected is not None)
    assert verdict["share_of_control"] == expected
    # Terminal and page say the same.
    words = "The tester was the limit: the knee is at 90%"
    assert any(words in line for line in overload_run.summary(result)) == bool(expected)
    head = {
        "router": {"name": "r", "address": ""}, "machine": {"processors": 2}, "engine": "0",
        "started": "2026-01-01T00:00:00+00:00", "exit_status": 0, "options": {},
    }  # fmt: skip
    shown = page.document("Overload", head | result, [], [])
    assert (words in shown) == bool(expected)
    assert ("The tester was the limit" in shown) == bool(expected)


def test_where_the_tester_does_not_carry_the_top_it_is_tried_near_the_knee(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = measuring(rates=[100.0, 200.0, 400.0], refine=0)
    tried = []

    def alone(rate: float) -> dict[str, Any]:
        tried.append(rate)
        return control(rate, 90, carried=rate < 400)

    found = [step(100, 100, True), step(200, 110, False), step(400, 100, False)]
    monkeypatch.setattr(one, "_alone", alone)
    monkeypatch.setattr(one, "_step", lambda rate, _more=0: found[[100, 200, 400].index(rate)]
                        | {"connected": 1})  # fmt: skip
    monkeypatch.setattr(one, "_flood", lambda _kind: None)
    one.run()
    assert tried == [400, 125]
    assert one.control_at_knee is not None and one.control_at_knee["carried"]


@contextmanager
def taking_its_time(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The slowest router that there is: each step only lags, no flood is recovered from. And a
    clock that goes on when somebody waits."""

    class Caller:
        met: tuple[Met, ...] = ()

        def watch(self, seconds: float) -> list[Met]:
            clock[0] += seconds
            return calls((0, 1, 1.0))

        def await_recovery(self, _end: int, _limit: float, bound: float) -> None:
            clock[0] += bound + 1

        def collect(self) -> None:
            pass

    @contextmanager
    def polite(*_: Any) -> Iterator[Caller]:
        yield Caller()

    def measured(_engine: Any, load: LoadOptions, *_: Any) -> Any:
        clock[0] += (load.duration or 0) + load.timeout
        return SimpleNamespace(interrupted=False)

    lagging = step(100, 90, False) | {"share": 0.9, "failed": 0, "connected": 1, "failures": {}}
    with monkeypatch.context() as patched:
        now = SimpleNamespace(monotonic=lambda: clock[0], monotonic_ns=lambda: int(clock[0] * 1e9))
        patched.setattr(overload_module, "time", now)
        patched.setattr(overload_module, "measure", measured)
        patched.setattr(overload_module, "measure_control", measured)
        patched.setattr(overload_module, "step_of", lambda _, rate: lagging | {"rate": rate})
        patched.setattr(overload_module, "polite_caller", polite)
        patched.setattr(Measuring, "_answering", lambda _: None)
        patched.setattr(Measuring, "_start", lambda *_: None)
        patched.setattr(Measuring, "_stop", lambda *_: {})
        yield


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        ((), 300),
        (("--quick",), 60),
        (("--quick", "--timeout", "5"), 60),
        (("--rates", "100-1000/100", "-T", "60"), None),
        (("--original",), None),
    ],
)
def test_the_time_that_is_said_is_kept_whatever_the_router_does(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], most: float | None
) -> None:
    plans: list[tuple[OverloadPlan, LoadOptions]] = []
    monkeypatch.setattr(
        overload_cli, "run_against", lambda _t, _f, work, **_: work(None, None, None)
    )
    monkeypatch.setattr(
        overload_cli,
        "run_overload",
        lambda _e, options, plan, *_, **__: plans.append((plan, options)),
    )
    done = CliRunner().invoke(overload_cli.overload, arguments)
    assert done.exit_code == 0, done.output
    ((chosen, options),) = plans
    assert chosen.expected() <= chosen.seconds() <= (most or 1e6)
    clock = [1000.0]
    restarting = Target("r", "127.0.0.1:1", "127.0.0.1:2", ("2", "2"), restart=lambda: None)
    one = Measuring(None, options, restarting, chosen, lambda _: None)  # type: ignore[arg-type]
    with taking_its_time(clock, monkeypatch):
        one.run()
    assert clock[0] - 1000 <= chosen.seconds()
    # The ramp does not take the time of the floods.
    assert one.floods and bool(one.left_out) == (most is not None)
    assert all(words.endswith("left out: no time was left") for words in one.left_out)


def test_a_recovery_is_not_held_against_what_the_ramp_has_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met = [calls((0, 1, ms)) for ms in (None, 3000.0, 900.0, 20.0, 1.0)]
    seen: list[list[Met]] = []

    class Draining:
        def watch(self, _seconds: float) -> list[Met]:
            seen.append(met[len(seen)])
            return seen[-1]

        def await_recovery(self, _end: int, limit: float, _bound: float) -> float:
            return limit

        def collect(self) -> None:
            pass

        met: tuple[Met, ...] = ()

    with taking_its_time([0.0], monkeypatch):
        for carried, expected in ((True, 25.0), (False, 3600.0)):
            seen.clear()
            one = measuring()
            one._ends = 100.0
            one.ramp.append(step(100, 100, carried) | {"setup_ms": {"p99": 2.0}})
            monkeypatch.setattr(overload_module, "polite_caller",
                                lambda *_: contextlib.nullcontext(Draining()))  # fmt: skip
            one._flood("beyond")
            assert one.floods[0]["recovery"]["seconds"] == expected


def test_what_was_left_out_is_said() -> None:
    one = measuring()
    one.left_out.append("steps of the ramp (300, 400 calls/s): left out: no time was left")
    result = overload_run.body(one, Outcome())
    assert result["left_out"] == one.left_out
    assert result["verdict"]["remarks"] == one.left_out and not result["verdict"]["reasons"]


def test_a_flood_that_was_interrupted_amid_its_result_can_be_drawn() -> None:
    flood = {"kind": "calls", "words": "calls", "timeline": [[0.0, 1.0]]}
    result = {"ramp": [], "refined": [], "floods": [flood]}
    assert len(overload_plots.plots([result])) == 2
    assert len(overload_plots.plots([result | {"floods": [flood | {"flood_seconds": 1.0}]}])) == 3


class Never:
    """A polite caller whose calls are never as before."""

    @staticmethod
    def await_recovery(_end: int, _limit: float, _bound: float) -> float | None:
        return None


def refusing() -> None:
    raise RouterError("control.restart ended with status 1: no such machine")


@pytest.mark.parametrize(
    ("restart", "words"),
    [
        (None, "calls: does not recover within 4 s"),
        (lambda: None, "calls: does not recover within 4 s"),
        (refusing, "calls: does not recover within 4 s, and could not be restarted: "
                   "control.restart ended with status 1: no such machine"),
    ],
)  # fmt: skip
def test_a_restart_that_fails_is_named(restart: Callable[[], None] | None, words: str) -> None:
    target = Target("r", "127.0.0.1:1", None, ("2", "2"), restart=restart)
    one = measuring(target=target)
    one._ends = time.monotonic() + 60
    recovery = one._recovery(Never(), 0, 10.0)  # type: ignore[arg-type]
    one.floods.append({"words": "calls", "recovery": recovery})
    assert overload_run.body(one, Outcome())["verdict"]["reasons"] == [words]


@pytest.mark.measures
def test_the_knee_of_a_known_call_rate_and_its_recovery_are_found(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    # 100 calls/s, and 240 wait: with 20 polite calls/s beside them the queue is gone after 3 s.
    # (Held back in place of dropped, those beyond the queue would be served too.)
    with path(engine, capacity={"calls": 100, "call_queue": 240, "overflow": "drop"}) as way:
        done = x25shark("overload", "-T", "2", "--flood", "4", "--bound", "8", "--rates",
                        "60-140/20", *NO_FLOODS, *way, "-o", str(tmp_path / "out"))  # fmt: skip
    result = load_json()
    Overload.model_validate(result)
    assert result["knee"]["rate"] == pytest.approx(100, rel=0.05), done.stdout
    assert result["knee"]["upper"] == pytest.approx(100, rel=0.05), done.stdout
    # The tester alone does all of the ramp with ease.
    assert not result["verdict"]["tester_was_limit"] and "tester was" not in done.stdout
    (flood,) = result["floods"]
    assert flood["kind"] == "beyond"
    assert flood["recovery"]["seconds"] == pytest.approx(3.0, abs=0.3), done.stdout
    assert "Knee:" in done.stdout and "Recovered from calls beyond the knee in" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= COLUMNS
    page = (tmp_path / "out" / "load.html").read_text("utf-8")
    assert "Calls completed against calls offered" in page
    assert "The tester was the limit" not in page


def test_a_restart_hook_that_fails_leaves_a_report(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    # Of 60 calls/s 20 are served, and the rest waits for far longer than the bound.
    with path(engine, capacity={"calls": 20, "call_queue": 1000}) as (_, router, _, b):
        profile = hooked(tmp_path, router, b)
        profile.write_text(profile.read_text("utf-8") + 'restart = "echo no such machine; false"\n')
        done = x25shark("overload", "-T", "0.5", "--flood", "3", "--bound", "1", "--timeout", "2",
                        "--base", "4", "--rates", "15", *NO_FLOODS, "--router", str(profile),
                        "-o", str(tmp_path / "out"))  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    result = load_json()
    Overload.model_validate(result)
    reasons = result["verdict"]["reasons"]
    words = "could not be restarted: control.restart ended with status 1: no such machine"
    assert any(reason.endswith(words) for reason in reasons), reasons
    assert result["ramp"][0]["connected"] and result["floods"][0]["recovery"]["seconds"] is None


def test_who_else_answers_would_answer_calls_that_nobody_accepts(
    engine: Engine, x25shark: Run, profile: Path, tmp_path: Path, load_json: Result
) -> None:
    done = x25shark(*SHORT, "--router", str(profile), "--router-echo", "--rates", "20", "--skip",
                    "connections", "--skip", "half-closed", "-o",
                    str(tmp_path / "out"))  # fmt: skip
    result = load_json()
    Overload.model_validate(result)
    assert [flood["kind"] for flood in result["floods"]] == ["beyond"], done.stdout
    assert [words.partition(": the tester")[0] for words in result["left_out"]] == [
        "calls that nobody accepts: left out",
        "clears that nobody confirms: left out",
    ]
    assert "Remark: calls that nobody accepts: left out" in done.stdout


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


@pytest.mark.parametrize("turn", ["hangs", "floods", "lies"])
def test_a_router_that_turns_bad_leaves_a_report_and_takes_no_memory(
    engine: Engine, tmp_path: Path, load_json: Result, turn: str
) -> None:
    b = free_port("127.0.0.1")
    with Between(("127.0.0.1", b)) as router:
        relay = start("relay", "127.0.0.1:0", f"127.0.0.1:{router.port}")
        assert relay.stdout is not None
        with stopped_later(relay):
            port = relay.stdout.readline().split()[3]  # Relaying from port ...
            process = start(*SHORT, "--timeout", "1", "--rates", "20,40", *NO_FLOODS[2:],
                            "--connect", f"127.0.0.1:{port}", "--listen", f"127.0.0.1:{b}",
                            "-o", str(tmp_path / "out"))  # fmt: skip
            read_until(process, "ramp 2/2")
            if turn == "hangs":
                relay.send_signal(signal.SIGSTOP)
            router.turned = turn
            status, said, errors, memory = weighed(process)
    assert status == 1 and errors == "", said + errors
    assert memory < MOST_MEMORY
    result = load_json()
    Overload.model_validate(result)
    assert result["ramp"][0]["carried"]


def test_a_router_that_is_not_there_is_status_3(engine: Engine, x25shark: Run) -> None:
    done = x25shark(*SHORT, "--connect", "127.0.0.1:1", "--rates", "10")
    assert done.returncode == 3
    assert "connection refused" in done.stdout
    assert "Traceback" not in done.stderr

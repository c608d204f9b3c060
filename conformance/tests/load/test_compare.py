# SPDX-License-Identifier: GPL-2.0-or-later
"""compare and gate on load results: what changed by more than its spread, and limits on figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from x25shark.finished import compare_command, gate_command
from x25shark.load import results
from x25shark.load.compare import differences, hold, read_limits
from x25shark.load.figures import figures_of
from x25shark.load.results import ResultError

from .samples import GOOD, measurement

PATHS = (Path("old.json"), Path("new.json"))


def times(p50: float, p75: float) -> dict[str, float]:
    return {"p50": p50, "p75": p75, "p95": p75, "p99": p75, "p99.9": p75, "max": p75}


def bench(lower: float = 900.0, upper: float = 909.0, delay: float = 1.0, said: bool = True,
          reasons: tuple[str, ...] = (), **other: Any) -> dict[str, Any]:  # fmt: skip
    """As much of a bench result as the figures need."""
    row = {
        "size": 128,
        "throughput": {
            "said": said, "lower": lower, "upper": upper,
            "half_percent_lower": lower, "half_percent_upper": upper,
        },
        "plus_25": {"carried": lower},
        "flood": {"carried": lower},
        "burst": {"messages": 50, "lost_at": 52},
        "delays": [{"load": "light", "router": times(delay, delay * 1.1)}],
        "filters": {"1": lower / 2, "10": None, "problem": "control.filters ended with status 1"},
    }  # fmt: skip
    return {
        "format": "x25shark-load", "version": 1, "command": "bench", "rows": [row],
        "verdict": {"reasons": list(reasons), "remarks": []}, "exit_status": int(bool(reasons)),
        **other,
    }  # fmt: skip


def overload(
    rate: float, upper: float | None, seconds: float | None, **other: Any
) -> dict[str, Any]:
    recovery = {"limit_ms": 10.0, "seconds": seconds}
    step = {"rate": 100.0, "completed_per_second": 99.0, "setup_ms": times(2.0, 2.2)}
    return {
        "format": "x25shark-load", "version": 1, "command": "overload",
        "knee": {"rate": rate, "upper": upper}, "ramp": [step],
        "floods": [{"kind": "calls", "recovery": recovery}],
        "verdict": {"reasons": [], "remarks": []}, "exit_status": 0, **other,
    }  # fmt: skip


def stress() -> dict[str, Any]:
    done = measurement(**GOOD)
    done.caller["timeline"] = [
        {"calls_completed": n, "messages_verified": n, "octets_received": 100 * n}
        for n in (9, 11, 10, 10, 10)
    ]
    return {
        "format": "x25shark-load", "version": 1, "command": "stress",
        "measurements": [done.as_dict() | {"figures": results.figures(done)}],
        "verdict": {"reasons": [], "remarks": []}, "exit_status": 0,
    }  # fmt: skip


def test_each_kind_of_result_has_figures_by_name() -> None:
    assert set(figures_of(bench())) == {
        "throughput.128", "half_percent.128", "plus_25.128", "flood.128", "burst.128", "f1.128",
        "delay.light.128", "delay_p99.light.128",
    }  # fmt: skip
    assert set(figures_of(overload(700, 750, 3))) == {
        "knee", "completed.100", "setup_p50.100", "setup_p99.100", "recovery.calls"
    }  # fmt: skip
    found = figures_of(stress())["calls_per_second"]
    assert found.low < found.value == 50 < found.high
    cell = {"circuits": 1, "packet_size": 128, "window": 2, "figures": {"calls_per_second": 9.0}}
    assert set(figures_of({"command": "sweep", "cells": [cell]})) == {"calls_per_second.1.128.2"}
    pair = {"pair": "A-B", "speed": 90.0, "parts": [89.0, 91.0, 90.0, 90.0]}
    setting = {"tcp_window": 65536, "mss": 1460, "parallel": 5, "packet_size": 4096, "window": 7}
    matrix = figures_of({"command": "matrix", "cells": [setting | {"pairs": [pair]}]})
    (speed,) = matrix.values()
    assert list(matrix) == ["speed.65536.1460.5.4096.7.A-B"]
    again = pair | {"retransmitted": {"tshark": None, "kernel": 100}}
    again_figures = figures_of({"command": "matrix", "cells": [setting | {"pairs": [again]}]})
    kernel = again_figures["retransmitted.65536.1460.5.4096.7.A-B"]
    assert (kernel.low, kernel.value, kernel.high) == (80, 100, 120)
    assert speed.low < speed.value == 90 < speed.high and speed.text == "90.0 Mbit/s"


@pytest.mark.parametrize("command", ["bench", "stress", "sweep", "overload", "matrix", "nonesuch"])
def test_a_damaged_result_is_said_to_be_one(command: str) -> None:
    damaged = {"command": command, "rows": [{}], "measurements": [], "cells": [1]}
    with pytest.raises(ResultError, match=rf"{PATHS[0]}: a damaged load result"):
        differences(damaged, damaged, PATHS)


@pytest.mark.parametrize(
    "part",
    [
        {"verdict": None},
        {"verdict": {}},
        {"verdict": {"reasons": 1}},
        {"rows": 1},
        {"options": [1]},
        {"testers": {"lost": []}},
    ],
)
def test_so_is_one_that_is_damaged_in_part(part: dict[str, Any]) -> None:
    with pytest.raises(ResultError, match=rf"{PATHS[1]}: a damaged load result"):
        differences(bench(), bench() | part, PATHS)


def test_what_lies_within_the_spread_did_not_change() -> None:
    assert differences(bench(), bench(905, 914, 1.05), PATHS) == []
    same = overload(700, 750, 3.0)
    assert differences(same, overload(740, 760, 3.3), PATHS) == []


def test_what_changed_is_named_with_its_direction() -> None:
    found = differences(bench(), bench(450, 455, 2.0, reasons=("carries less",)), PATHS)
    assert "throughput.128: 900 messages/s -> 450 messages/s (-50%, worse)" in found
    assert "delay.light.128: 1.000 ms -> 2.000 ms (+100%, worse)" in found
    assert "NEW: carries less" in found
    (back,) = [t for t in differences(bench(450, 455), bench(), PATHS) if "throughput" in t]
    assert back.endswith("(+100%, better)")
    lost = differences(bench(), bench(said=False), PATHS)
    assert lost == ["throughput.128: 900 messages/s -> not measured"]


def test_from_and_to_never_no_share_is_said() -> None:
    some, none = overload(700, 750, 3.0), overload(700, 750, None)
    assert differences(some, none, PATHS) == ["recovery.calls: 3.0 s -> never (worse)"]
    assert differences(none, some, PATHS) == ["recovery.calls: never -> 3.0 s (better)"]
    assert differences(none, none, PATHS) == []
    # A router that carries not even the first rate, and one that does.
    dead = overload(0, 100, 3.0)
    assert differences(some, dead, PATHS) == ["knee: 700 calls/s -> 0 calls/s (-100%, worse)"]
    assert differences(dead, some, PATHS) == ["knee: 0 calls/s -> 700 calls/s (better)"]


def test_options_in_which_the_runs_differ_are_named() -> None:
    old = overload(700, 750, 3.0, options={"rates": [100.0, 200.0], "timeout": 5.0, "bound": None},
                   testers=None)  # fmt: skip
    more = {"rates": [50.0], "timeout": 5.0, "bound": 9, "floods": []}
    new = overload(700, 750, 3.0, options=more, testers={"asked": 4, "lost": []})
    assert differences(old, new, PATHS) == [
        "other options: rates 100,200 -> 50",
        "other options: bound none -> 9",
        "other options: testers 1 -> 4",
    ]


def limits(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_limits_are_held_and_missed(tmp_path: Path) -> None:
    text = "# a release\nthroughput.128 >= 900\n\ndelay.light.128 <= 0.5 # ms\nf10.128 >= 1\n"
    held = hold(read_limits(limits(tmp_path / "l", text)), bench(), PATHS)
    assert [one.ok for one in held] == [True, False, False]
    assert held[1].text == "FAIL  delay.light.128 <= 0.5: 1.000 ms"
    assert held[2].text.endswith("not measured")


@pytest.mark.parametrize(
    ("result", "limit", "shown"),
    [
        (bench(said=False), "throughput.128 >= 900", "not measured"),
        (bench(rows=[], options={"sizes": [128]}), "throughput.128 >= 900", "not measured"),
        (overload(0, 100, 3.0), "knee >= 700", "0 calls/s"),
        (overload(1, 2, 3.0, knee=None), "knee >= 700", "not measured"),
        (overload(1, 2, 3.0, ramp=[], options={"rates": [50.0]}), "completed.50 >= 1",
         "not measured"),
        (overload(1, 2, 3.0, floods=[]), "recovery.beyond <= 5", "not measured"),
        (overload(1, 2, 3.0, floods=[{"kind": "calls"}]), "recovery.calls <= 5", "not measured"),
        (overload(1, 2, None), "recovery.calls <= 5", "never"),
    ],
)  # fmt: skip
def test_the_worst_regressions_are_limits_that_are_missed(
    tmp_path: Path, result: dict[str, Any], limit: str, shown: str
) -> None:
    (held,) = hold(read_limits(limits(tmp_path / "limits", limit)), result, PATHS)
    assert not held.ok and held.text == f"FAIL  {limit}: {shown}"


@pytest.mark.parametrize(
    ("result", "limit"),
    [
        (bench(), "throughput.64 >= 1"),
        (bench(), "knee >= 1"),
        (overload(1, 2, 3), "completed.150 >= 1"),
        (overload(1, 2, 3, options={"floods": ["beyond"]}), "recovery.clears <= 1"),
    ],
)
def test_a_limit_on_what_the_run_left_out_is_an_error(
    tmp_path: Path, result: dict[str, Any], limit: str
) -> None:
    with pytest.raises(ResultError, match=":1: no figure"):
        hold(read_limits(limits(tmp_path / "l", limit)), result, PATHS)


def test_options_that_claim_far_too_much_cost_little(tmp_path: Path) -> None:
    many = list(range(1000))
    axes = dict.fromkeys(("tcp_window", "mss", "parallel", "packet_size", "window"), many)
    claim = {"command": "matrix", "cells": [], "options": axes}
    with pytest.raises(ResultError, match="no figure 'x'"):
        hold(read_limits(limits(tmp_path / "l", "x >= 1")), claim, PATHS)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"exit_status": 130}, "a whole run: the run was interrupted"),
        ({"exit_status": 3}, "a whole run: no call was connected"),
        ({"testers": {"asked": 4, "lost": ["partial, 3 of 4"]}}, "a whole run: partial, 3 of 4"),
        (
            {
                "verdict": {"reasons": [], "remarks": ["The router takes no calls any more: x."]},
                "exit_status": 1,
            },
            "a whole run: The router takes no calls any more: x.",
        ),
        ({"exit_status": 1}, ""),
    ],
)
def test_a_run_that_did_not_come_to_its_end_passes_no_gate(
    tmp_path: Path, other: dict[str, Any], words: str
) -> None:
    file, result = limits(tmp_path / "l", "throughput.128 >= 900"), tmp_path / "load.json"
    result.write_text(json.dumps(bench(**other)))
    done = CliRunner().invoke(gate_command, ["--limits", str(file), str(result)])
    assert done.exit_code == (1 if words else 0), done.output
    assert words in done.output and "ok    throughput.128" in done.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("throughput.128 > 900\n", ":1: 'throughput.128 > 900' is not a limit"),
        ("\nfast\n", ":2: 'fast' is not a limit"),
        ("# nothing\n", "it contains no limits"),
        ("througput.128 >= 1\n", ":1: no figure 'througput.128'"),
        (b"\xff\xfe", "not UTF-8 text"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str | bytes, words: str) -> None:
    file = tmp_path / "limits"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = tmp_path / "load.json"
    result.write_text(json.dumps(bench()))
    done = CliRunner().invoke(gate_command, ["--limits", str(file), str(result)])
    assert done.exit_code == 2
    assert words in done.output and "Traceback" not in done.output


def test_the_commands_take_load_results(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, result in ((old, bench()), (new, bench(450, 455))):
        folder.mkdir()
        (folder / "load.json").write_text(json.dumps(result))
    run = CliRunner().invoke
    done = run(compare_command, [str(old), str(new / "load.json")])
    assert done.exit_code == 1 and "throughput.128" in done.output, done.output
    assert run(compare_command, [str(old), str(old)]).exit_code == 0
    file = limits(tmp_path / "limits", "throughput.128 >= 900\n")
    assert run(gate_command, ["--limits", str(file), str(old)]).exit_code == 0
    missed = run(gate_command, ["--limits", str(file), str(new)])
    assert missed.exit_code == 1 and "1 of 1 limits missed" in missed.output
    (new / "load.json").write_text(json.dumps(overload(1, 2, 3)))
    for command, arguments, words in (
        (compare_command, [str(old), str(new)], "a result of overload"),
        (compare_command, [str(old), str(tmp_path)], "results.json"),
        (gate_command, [str(old)], "--baseline is missing"),
        (gate_command, ["--limits", str(file), "--write", str(old)], "no other option"),
        (gate_command, ["--limits", str(file), str(tmp_path)], "not a load result"),
        (gate_command, ["--limits", str(tmp_path / "none"), str(old)], "No such file"),
    ):
        done = run(command, arguments)
        assert done.exit_code == 2 and words in done.output, done.output

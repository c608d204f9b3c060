# SPDX-License-Identifier: GPL-2.0-or-later
"""The command bench against a path of known capacity and against planted faults.

Figures are held with room: what the machine does beside the tests must not decide.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from x25shark.load.engine import Engine

from .conftest import command, environment, free_port
from .schema import Bench

Run = Callable[..., subprocess.CompletedProcess[str]]
Result = Callable[[], dict[str, Any]]
SHORT = ("bench", "-P", "128", "--trial", "0.3", "--bound", "3", "--skip", "errors")


@contextmanager
def path(engine: Engine, **configuration: Any) -> Iterator[tuple[str, ...]]:
    """A relay, as the options that lead through it."""
    port = free_port("127.0.0.1")
    relay = engine.relay({"listen": "127.0.0.1:0", "connect": f"127.0.0.1:{port}", **configuration})
    try:
        yield ("--connect", f"127.0.0.1:{relay.port}", "--listen", f"127.0.0.1:{port}")
    finally:
        relay.result()


@pytest.mark.measures
def test_a_known_rate_and_burst_are_found(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    capacity = {"rate": [300, 0], "queue": 50, "overflow": "drop"}
    with path(engine, capacity=capacity, faults={"delay_ms": 20}) as way:
        done = x25shark(*SHORT, *way, "--line-rate", "64k", "-o", str(tmp_path / "out"))
    result = load_json()
    Bench.model_validate(result)
    (row,) = result["rows"]
    assert row["throughput"]["lower"] == pytest.approx(300, rel=0.1), done.stdout
    assert row["burst"]["messages"] == pytest.approx(51, abs=5)
    assert row["theoretical"] == pytest.approx(64_000 / 8 / 225)
    light = row["delays"][0]
    assert light["router"]["p50"] >= 20
    assert light["control"]["p50"] < light["router"]["p50"]
    assert row["share_of_control"] < 0.8
    for words in ("theoretical", "hammer", "+25 %", "control p50"):
        assert words in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    page = (tmp_path / "out" / "load.html").read_text("utf-8")
    for words in ("Router tests", "Every trial of the searches", "How sure they are"):
        assert words in page


@pytest.mark.measures
def test_sequences_of_packets_are_one_message(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    with path(engine, capacity={"rate": [200, 0]}) as way:
        done = x25shark("bench", "--original", "-P", "512", "--trial", "0.4", "--bound", "3",
                        "--skip", "idle", "--skip", "burst", "--skip", "delay", *way,
                        "-o", str(tmp_path / "out"))  # fmt: skip
    (row,) = load_json()["rows"]
    assert (row["packet_size"], row["packets"]) == (128, 4)
    assert row["throughput"]["lower"] == pytest.approx(200, rel=0.1), done.stdout


@pytest.mark.measures
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("BUG-LOAD-01", "at its maximum"),
        ("BUG-LOAD-02", ".x25StatInDataPackets moved by"),
        ("BUG-LOAD-03", "the counters page does not answer in:"),
        ("BUG-LOAD-05", "stands still at times"),
        ("BUG-LOAD-06", "wrong circuit of"),
    ],
)
def test_each_planted_fault_is_found_and_named(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result, fault: str, words: str
) -> None:
    done = x25shark(*SHORT, "--fault", fault, "--skip", "idle", "--skip", "burst",
                    "-o", str(tmp_path / "out"))  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    result = load_json()
    Bench.model_validate(result)
    found = result["verdict"]["reasons"]
    assert any(words in reason for reason in found), found


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("", ""),
        ("BUG-LOAD-07", "counted by the wrong counter, global.xotInDiscards"),
        ("BUG-XOT-01", "wrong version: not discarded as required"),
    ],
)
def test_what_becomes_of_bad_units_and_what_counts_them(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result, fault: str, words: str
) -> None:
    skipped = (w for name in ("idle", "delay", "burst", "counters") for w in ("--skip", name))
    switched = ("--fault", fault) if fault else ()
    done = x25shark("bench", "-P", "128", "--trial", "0.1", "--bound", "1",
                    "--errors-bound", "600", *skipped, *switched,
                    "-o", str(tmp_path / "out"))  # fmt: skip
    result = load_json()
    Bench.model_validate(result)
    rows = result["errors"]
    assert [r["error"] for r in rows] == ["unit too short", "unit too long", "wrong version"]
    assert not [r["problem"] for r in rows if r["problem"]], done.stdout
    found = [r for r in result["verdict"]["reasons"] if "unit" in r or "version" in r]
    if not fault:
        assert found == []
        assert all(r["moved"] for r in rows)
        assert all(v == "PASS" for r in rows for v in r["verdicts"].values())
    assert any(words in reason for reason in found) == bool(fault), found


@pytest.mark.parametrize("faults", [(), ("BUG-LOAD-08", "BUG-LOAD-09")])
def test_what_becomes_of_bad_frames_and_what_counts_them(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result, faults: tuple[str, ...]
) -> None:
    skipped = (w for name in ("idle", "delay", "burst", "counters") for w in ("--skip", name))
    switched = (w for fault in faults for w in ("--fault", fault))
    done = x25shark("bench", "--router", "reference-xot-serial", "--router-echo", "-P", "128",
                    "-N", "1", "--trial", "0.1", "--bound", "1",
                    "--errors-bound", "600", *skipped, *switched,
                    "-o", str(tmp_path / "out"))  # fmt: skip
    result = load_json()
    Bench.model_validate(result)
    rows = {r["error"]: r for r in result["errors"]}
    lines = ["line b: bad FCS", "line b: runt", "line b: giant", "line b: abort"]
    assert [error for error in rows if error.startswith("line")] == lines, done.stdout
    assert not [r["problem"] for r in rows.values() if r["problem"]], done.stdout
    found = [r for r in result["verdict"]["reasons"] if r.startswith("line b: ")]
    expected = [
        "line b: bad FCS: counted by the wrong counter, interfaces.s1.hdlcInRunts",
        "line b: abort: not discarded as required (HDLC-06 fail); no counter moved",
    ]
    assert found == (expected if faults else [])


@pytest.mark.measures
def test_none_of_them_is_found_without_a_fault(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    done = x25shark(*SHORT, "-o", str(tmp_path / "out"))
    result = load_json()
    Bench.model_validate(result)
    assert result["verdict"]["reasons"] == [], done.stdout
    assert done.returncode == 0, done.stdout + done.stderr
    assert result["counters"] and all(r["right"] for r in result["counters"])
    assert {a["state"] for a in result["phases"].values()} <= {"ok", ""}
    assert "per_minute" in result["idle"]["with"]


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*arguments), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def read_until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        if words in line:
            return
        said.append(line)
    complaints = process.stderr.read() if process.stderr else ""
    pytest.fail(f"it never said {words!r}, but: {''.join(said)}{complaints}")


def until_its_router_dies(words: str, *arguments: str) -> tuple[int, str]:
    """A command over a relay that dies when the command says these words; its status, and what it
    wrote to standard error."""
    port, b = free_port("127.0.0.1"), free_port("127.0.0.1")
    relay = start("relay", f"127.0.0.1:{port}", f"127.0.0.1:{b}")
    read_until(relay, "Relaying")
    process = start(*arguments, "--connect", f"127.0.0.1:{port}", "--listen", f"127.0.0.1:{b}")
    read_until(process, words)
    relay.kill()
    relay.communicate()
    _, errors = process.communicate(timeout=600)
    return process.returncode, errors


@pytest.mark.parametrize("hooks", [False, True])
def test_interrupting_keeps_what_was_measured(
    engine: Engine, tmp_path: Path, load_json: Result, hooks: bool
) -> None:
    with path(engine) as plain:
        short = ("--trial", "0.2", "--bound", "2", "--skip", "idle", "--skip", "burst")
        profile = ("--router", str(hooked(tmp_path, plain[1], plain[3])), "--skip", "errors")
        way = profile if hooks else plain
        bench = start("bench", "-P", "128,256,512,1024,2048", *short, *way,
                      "-o", str(tmp_path / "out"))  # fmt: skip
        read_until(bench, "256 octets (2/5)")
        os.kill(bench.pid, signal.SIGINT)
        said, errors = bench.communicate(timeout=600)
    assert bench.returncode == 130, said + errors
    result = load_json()
    Bench.model_validate(result)
    assert result["rows"][0]["size"] == 128
    assert "Interrupted: the figures are those until then." in result["verdict"]["remarks"]
    assert errors == ""


def test_the_filters_hook_of_a_profile_is_run(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    profile, counts = tmp_path / "filtered.toml", tmp_path / "counts"
    profile.write_text(
        f'extends = "reference"\n[control]\nfilters = "echo {{count}} >> {counts}"\n', "utf-8"
    )
    done = x25shark("bench", "--router", str(profile), "-P", "128", "--trial", "0.2", "--bound",
                    "2", "--skip", "idle", "--skip", "errors", "--skip", "delay", "--skip",
                    "burst", "-o", str(tmp_path / "out"))  # fmt: skip
    result = load_json()
    Bench.model_validate(result)
    found = result["rows"][0]["filters"]
    assert set(found["why"].values()) <= {"", "no time"}, done.stdout
    set_ = [int(count) for count in counts.read_text("utf-8").split()]
    # A busy machine may have no time for the second.
    assert set_ in ([1, 10, 0], [1, 0], [0]), done.stdout
    assert result["options"]["bound_seconds"] == 1.5, "the conditions have a quarter of it"


def hooked(folder: Path, router: str, b: str) -> Path:
    """A profile of the router at `router` that says how to start and stop it."""
    profile = folder / "hooked.toml"
    profile.write_text(
        f'[xot]\nrouter = "{router}"\na = "127.0.0.1"\nb = "{b}"\n'
        '[addresses]\na = "31"\nb = "2100001"\n'
        '[control]\nstart = "true"\nstop = "true"\n',
        "utf-8",
    )
    return profile


@pytest.mark.parametrize("moment", ["128 octets (1/2) search", "256 octets (2/2)"])
def test_a_router_that_dies_leaves_a_report(
    engine: Engine, tmp_path: Path, load_json: Result, moment: str
) -> None:
    status, errors = until_its_router_dies(
        moment, "bench", "-P", "128,256", "--trial", "0.2", "--bound", "2", "--skip",
        "idle", "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert status == 1, errors
    result = load_json()
    Bench.model_validate(result)
    (remark,) = [r for r in result["verdict"]["remarks"] if "The router takes no calls" in r]
    # What it was doing when it died decides which.
    assert "connection refused" in remark or "connection reset" in remark


def test_a_router_that_is_not_there_is_status_3(engine: Engine, x25shark: Run) -> None:
    done = x25shark(*SHORT, "--connect", "127.0.0.1:1", "--skip", "idle")
    assert done.returncode == 3
    assert "connection refused" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-P", "15"], "size of messages 15"),
        (["-P", "5000"], "do not fit in one packet"),
        (["--line-rate", "fast"], "--line-rate 'fast'"),
        (["-W", "9"], "window is 9"),
        (["--router", "nonesuch"], "no such profile"),
    ],
)
def test_bad_usage_is_one_clear_line(
    engine: Engine, x25shark: Run, arguments: list[str], words: str
) -> None:
    done = x25shark("bench", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr

# SPDX-License-Identifier: GPL-2.0-or-later
"""Several testers: disjoint shares of one load, on a cluster of this machine, and one that dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from x25shark.load.cluster import dealt, shares, told
from x25shark.load.engine import Engine
from x25shark.load.options import LoadOptions
from x25shark.load.tester import outgoing, shifted, usable

from .conftest import environment, free_port
from .schema import Bench, Overload, Strict, Testers
from .test_bench_runs import path, read_until, start

Run = Callable[..., subprocess.CompletedProcess[str]]
Result = Callable[[], dict[str, Any]]
LONGEST = 300
"""Seconds within which a command ends whose testers have died, on however busy a machine."""
_LEFT_OUT = ("idle", "delay", "burst", "counters", "errors")
SHORT_BENCH = ("-P", "64,128", "--trial", "0.2", "--bound", "2",
               *(word for part in _LEFT_OUT for word in ("--skip", part)))  # fmt: skip
_FLOODS = ("connections", "calls", "clears", "half-closed")
SHORT_OVERLOAD = ("--rates", "20,30,40,50", "-T", "1", "--flood", "0.5", "--bound", "3",
                  "--timeout", "2",
                  *(word for kind in _FLOODS for word in ("--skip", kind)))  # fmt: skip
MODELS: dict[str, type[Strict]] = {"bench": Bench, "overload": Overload}


@given(
    circuits=st.integers(1, 300),
    calls=st.none() | st.integers(1, 1000),
    testers=st.integers(1, 40),
    room=st.integers(0, 99),
)
def test_shares_never_meet_and_leave_nothing_out(
    circuits: int, calls: int | None, testers: int, room: int
) -> None:
    options = LoadOptions(circuits=circuits, calls=calls, rate=1000.0, duration=1.0)
    whole = options.caller("127.0.0.1:1", ("2100001", f"21{room + 1:05}"), 7)
    parts: list[Any] = shares(whole, testers)
    assert sum(part["circuits"] for part in parts) == circuits
    assert sum(part["rate"] for part in parts) == pytest.approx(1000)
    assert calls is None or sum(part["calls"] for part in parts) == calls
    assert all(part["circuits"] >= 1 and part["calls"] != 0 for part in parts)
    numbers = [
        part["first_call"] + part["call_step"] * turn
        for part in parts
        for turn in range(part["circuits"])
    ]
    assert sorted(numbers) == list(range(1, circuits + 1))
    ranges = sorted((part["called_start"], part["called_end"]) for part in parts)
    if room + 1 >= len(parts):
        assert all(end < begin for (_, end), (begin, _) in pairwise(ranges))
        assert (ranges[0][0], ranges[-1][1]) == ("2100001", f"21{room + 1:05}")


def test_moments_go_to_another_clock_and_back() -> None:
    moments = dict.fromkeys(("start_ns", "began_ns", "end_ns", "finished_ns"), 5)
    result = moments | {"trial": {"start_ns": 0, "last_ns": 9}, "total": {}}
    there = shifted(result, 100)
    assert (there["end_ns"], there["trial"]) == (105, {"start_ns": 0, "last_ns": 109})
    assert shifted(there, -100) == result


def test_a_tester_calls_from_the_addresses_that_it_has() -> None:
    assert usable(["127.0.0.1", "192.0.2.1", "127.9.9.9"]) == ["127.0.0.1", "127.9.9.9"]


def test_the_testers_are_told_in_a_sentence() -> None:
    report: dict[str, Any] = {
        "asked": 4, "answering": 0, "skew_ms": 1.25, "clock_uncertainty_ms": 0.0, "lost": [],
        "shared": [],
    }  # fmt: skip
    assert told(report) == "4 testers; they began within 1.2 ms of each other."
    assert told(report | {"answering": 1}).startswith("4 testers, 1 of them answering;")
    lost = report | {"lost": ["partial, 3 of 4: tester 2 is gone (killed)"]}
    assert told(lost).startswith("partial, 3 of 4")
    assert "(clocks: +-0.5 ms)" in told(report | {"clock_uncertainty_ms": 0.5})
    shared = told(report | {"shared": ["source addresses, 1 for 4 testers (127.0.0.1)"]})
    assert shared.endswith(" Not disjoint: source addresses, 1 for 4 testers (127.0.0.1).")


@given(
    testers=st.integers(1, 12),
    calls=st.lists(st.integers(0, 11), max_size=60),
    seed=st.integers(0, 1 << 32),
)
def test_no_two_calls_of_testers_have_one_number(testers: int, calls: list[int], seed: int) -> None:
    """However many calls each of them makes; with the number go its seed and calling address."""
    options = LoadOptions(circuits=testers, rate=10.0, duration=1.0, seed=seed)
    parts: list[Any] = shares(options.caller("127.0.0.1:1", ("2100001", "2100001"), 7), testers)
    turns = [0] * testers
    numbers = []
    for tester in (one % testers for one in calls):
        part = parts[tester]
        numbers.append(part["first_call"] + part["call_step"] * turns[tester])
        turns[tester] += 1
    assert len(set(numbers)) == len(numbers)
    assert {part["seed"] for part in parts} == {seed}  # mixed with the number by the engine


ADDRESSES = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True)


@given(st.dictionaries(st.integers(0, 20), ADDRESSES, max_size=10))
def test_source_addresses_are_dealt_out_and_sharing_is_named(have: dict[int, list[str]]) -> None:
    found, sharing = dealt(have)
    assert found.keys() == have.keys()
    own = [address for n, addresses in found.items() if n not in sharing for address in addresses]
    assert len(set(own)) == len(own)
    for number, addresses in found.items():
        assert set(addresses) <= set(have[number])
        if number in sharing:
            assert addresses == have[number]
        else:
            assert addresses
    # Nobody shares as long as there is something to deal.
    assert {a for one in have.values() for a in one} == set(own)


def test_addresses_that_only_one_machine_has_are_left_to_it() -> None:
    assert dealt({0: ["a", "b"], 1: ["a"], 2: ["c"]}) == ({0: ["b"], 1: ["a"], 2: ["c"]}, [])
    assert dealt({0: ["a"], 1: ["a"]}) == ({0: ["a"], 1: ["a"]}, [1])
    assert dealt({0: [], 1: ["a"]}) == ({0: [], 1: ["a"]}, [0])


def test_the_kernel_says_from_where_it_would_connect() -> None:
    assert outgoing("127.0.0.1:1998") == "127.0.0.1"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--workers", "0"), "1 to 1000"),
        (("--workers", "many"), "1 to 1000"),
        (("--workers", "tcp://127.0.0.1:1"), "tcp:"),
        (("--answering", "1"), "--workers"),
        (("--workers", "1", "--answering", "1"), "leaves no tester of 1 to place calls"),
        (("--workers", "2", "--answering", "1"), "somebody else answers"),
        (
            ("--workers", "2", "--answering", "1", "--listen", "192.0.2.1"),
            "0 testers with the address 192.0.2.1",
        ),
    ],
)
def test_workers_that_cannot_be_had_are_one_clear_line(
    engine: Engine, x25shark: Run, options: tuple[str, ...], words: str
) -> None:
    refused = x25shark("stress", "--connect", "127.0.0.1:1", *options)
    assert refused.returncode == 2, refused.stdout
    assert words in refused.stderr and "Traceback" not in refused.stderr


class Whole(Strict):
    testers: Testers


def test_two_testers_make_the_calls_of_one(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    with path(engine) as way:
        done = x25shark("stress", *way, "--workers", "2", "-n", "61", "-T", "20", "-N", "7",
                        "--rate", "60", "-l", "300", "--control", "0", "-d", "2100001,2100099",
                        "-o", str(tmp_path / "out"))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = load_json()
    Whole(testers=result["testers"])
    assert result["testers"]["asked"] == 2 and not result["testers"]["lost"]
    measured = result["measurements"][0]
    caller, called = measured["caller"], measured["responder"]
    assert caller["total"]["calls_completed"] == called["total"]["calls_accepted"] == 61
    assert caller["total"]["messages_verified"] == caller["message"]["count"] == 61
    assert sum(n for _, n in caller["call_setup"]["buckets"]) == 61
    assert caller["last_completed"] == 61
    assert "2 testers; they began within" in done.stdout
    # 99 called addresses, so each has its part; but both call from one.
    shared = "source addresses, 1 for 2 testers (127.0.0.1)"
    assert result["testers"]["shared"] == [shared] and f"Not disjoint: {shared}." in done.stdout


def test_two_testers_answer_what_two_others_call(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    with path(engine) as way:
        done = x25shark("stress", *way, "--workers", "4", "--answering", "2", "-n", "61", "-T",
                        "20", "-N", "7", "--rate", "60", "-l", "300", "--control", "0.5",
                        "-o", str(tmp_path / "out"))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = load_json()
    Whole(testers=result["testers"])
    assert (result["testers"]["asked"], result["testers"]["answering"]) == (4, 2)
    router, control = result["measurements"]
    caller, called = router["caller"], router["responder"]
    assert caller["total"]["calls_completed"] == called["total"]["calls_accepted"] == 61
    assert caller["total"]["messages_verified"] == 61
    assert called["total"]["octets_received"] == caller["total"]["octets_sent"] > 0
    assert control["responder"]["total"]["calls_accepted"] > 0
    assert "4 testers, 2 of them answering" in done.stdout


@pytest.mark.measures
@pytest.mark.parametrize("workers", [("2",), ("3", "--answering", "1")])
def test_a_bench_with_two_testers_knows_its_schedule(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result, workers: tuple[str, ...]
) -> None:
    skipped = [word for part in ("idle", "delay", "burst", "counters") for word in ("--skip", part)]
    with path(engine, capacity={"rate": [100, 0]}) as way:
        done = x25shark("bench", "--quick", *way, "--workers", *workers, "-P", "64", "-N", "5",
                        "--trial", "0.4", "--bound", "3", *skipped,
                        "-o", str(tmp_path / "out"))  # fmt: skip
    result = load_json()
    Bench.model_validate(result)
    (row,) = result["rows"]
    offered = [trial for trial in row["trials"] if trial["rate"] and trial["connected"] == 5]
    assert offered, done.stdout + done.stderr
    for trial in offered:  # counted once, not by each tester
        assert trial["offered"] <= trial["rate"] * trial["seconds"] + 1
        assert trial["lost"]["wrong_circuit"] == trial["lost"]["duplicated"] == 0
    assert any(0 < trial["delivered"] == trial["offered"] for trial in offered)


def worker_processes(pid: int) -> list[int]:
    """Processes below this one that Python's multiprocessing has spawned."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            line = (folder / "cmdline").read_text()
        except OSError:
            continue
        if parent == pid and "spawn_main" in line:
            found.append(int(folder.name))
    return sorted(found)


@contextmanager
def apart(engine: Engine) -> Iterator[tuple[str, ...]]:
    """A relay in front of an address that no connection has for its own end: the called side
    listens there again and again."""
    far = f"127.0.26.7:{free_port('127.0.26.7')}"
    relay = engine.relay({"listen": "127.0.26.6:0", "connect": far})
    try:
        yield ("--connect", f"127.0.26.6:{relay.port}", "--listen", far)
    finally:
        relay.result()


@contextmanager
def killed_tester(command: str, words: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command with two testers, one of which is killed once the command says these words."""
    process = start(command, *arguments)
    try:
        while len(workers := worker_processes(process.pid)) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.1)
        read_until(process, words)
        os.kill(workers[0], signal.SIGKILL)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_tester_that_dies_costs_its_own_share(
    engine: Engine, tmp_path: Path, load_json: Result
) -> None:
    # So many calls that none of the testers is done when one is killed.
    with (
        apart(engine) as way,
        killed_tester("stress", "calls/s", *way, "--workers", "2", "-T", "30", "-n", "100000",
                      "-N", "4", "--rate", "50", "--control", "0",
                      "-o", str(tmp_path / "out")) as process,
    ):  # fmt: skip
        said, errors = process.communicate(timeout=LONGEST)
    assert process.returncode == 1, said + errors
    assert "partial, 1 of 2" in said and "Traceback" not in errors
    result = load_json()
    (lost,) = result["testers"]["lost"]
    assert lost.startswith("partial, 1 of 2: tester ") and lost in result["verdict"]["reasons"]
    caller = result["measurements"][0]["caller"]
    assert caller["total"]["calls_completed"] > 10  # of the one that is left


@pytest.mark.parametrize(
    ("command", "words", "options", "kept"),
    [
        ("bench", "64 octets (1/2)", SHORT_BENCH, "rows"),
        ("overload", "ramp 2/4", SHORT_OVERLOAD, "ramp"),
    ],
)
def test_a_measurement_goes_on_with_the_tester_that_is_left(
    engine: Engine,
    tmp_path: Path,
    load_json: Result,
    command: str,
    words: str,
    options: tuple[str, ...],
    kept: str,
) -> None:
    with (
        apart(engine) as way,
        killed_tester(command, words, *way, "--workers", "2", *options,
                      "-o", str(tmp_path / "out")) as process,
    ):  # fmt: skip
        said, errors = process.communicate(timeout=LONGEST)
    assert process.returncode == 1, said + errors
    assert "Traceback" not in errors
    result = load_json()
    MODELS[command].model_validate(result)
    assert result["testers"]["lost"][0] in result["verdict"]["reasons"]
    last = result[kept][-1]  # begun when the tester was gone
    if command == "bench":
        assert last["size"] == 128 and last["flood"]["delivered"] > 0
    else:
        assert last["rate"] == 50 and last["offered"] > 0 and last["connected"] == last["offered"]


@contextmanager
def cluster(testers: int) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A scheduler and testers as processes of their own, as on several machines."""
    address = f"127.0.0.1:{free_port('127.0.0.1')}"
    common: dict[str, Any] = {"env": environment(), "text": True, "stdout": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    host, _, port = address.partition(":")
    with ExitStack() as stack:

        def run(*words: str) -> subprocess.Popen[str]:
            process = subprocess.Popen([*dask, *words], stderr=subprocess.PIPE, **common)
            stack.callback(process.communicate)
            stack.callback(process.kill)
            return process

        scheduler = run("scheduler", "--host", host, "--port", port, "--no-dashboard")
        for _ in range(testers):
            run("worker", f"tcp://{address}", "--no-nanny", "--nthreads", "1", "--no-dashboard")
        assert scheduler.stderr is not None
        registered = 0
        for line in scheduler.stderr:
            registered += "Register worker" in line
            if registered == testers:
                break
        assert registered == testers
        yield f"tcp://{address}", scheduler


@pytest.mark.parametrize(
    ("command", "words", "options", "kept"),
    [
        ("stress", "calls/s", ("-T", "60", "-N", "4", "--rate", "50", "--control", "0"), ""),
        ("bench", "128 octets (2/2)", SHORT_BENCH, "rows"),
        ("overload", "ramp 3/4", SHORT_OVERLOAD, "ramp"),
    ],
)
def test_a_scheduler_that_dies_is_a_clear_end(
    engine: Engine,
    tmp_path: Path,
    load_json: Result,
    command: str,
    words: str,
    options: tuple[str, ...],
    kept: str,
) -> None:
    with cluster(2) as (address, scheduler), apart(engine) as way:
        process = start(command, *way, "--workers", address, *options, "-o", str(tmp_path / "out"))
        try:
            read_until(process, words)
            scheduler.kill()
            said, errors = process.communicate(timeout=LONGEST)
        finally:
            process.kill()
            process.communicate()
    assert process.returncode == 1, said + errors
    assert "Traceback" not in errors
    assert "The measurement ended: all testers have gone." in said
    assert "partial, 0 of 2" in said
    if not kept:
        return
    result = load_json()
    MODELS[command].model_validate(result)
    assert len(result["testers"]["lost"]) == 2
    assert result[kept]  # what was measured before


@pytest.mark.measures
def test_testers_begin_at_one_instant(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    with apart(engine) as way:
        done = x25shark("stress", *way, "--workers", "4", "-n", "80", "-T", "20", "-N", "8",
                        "--rate", "80", "-l", "300", "--control", "0",
                        "-o", str(tmp_path / "out"))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    testers = load_json()["testers"]
    # Some 0.3 ms where nothing else runs; `make testers-netns` has the bound of 5 ms.
    assert 0 <= testers["skew_ms"] < 50
    assert testers["clock_uncertainty_ms"] == 0  # one machine has one clock

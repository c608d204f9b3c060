# SPDX-License-Identifier: GPL-2.0-or-later
"""Testers on hosts of their own against one tester at the same rate (make testers-netns).

    python -m x25shark.selftest.testers_netns [--testers 4] [--rate 100] [--calls 3000]

Each Dask worker has a network namespace with an address of its own, joined by a pair of virtual
Ethernet devices to that of the router, the called side and the scheduler. One tester makes the
calls twice, then all of them together: the same calls by the same schedule, over a path that delays
by --delay milliseconds each way. Calls and octets have to be the same, percentiles of the set-up
within 1 %, the starts within 5 ms. What one tester differs from itself stands beside: the outermost
percentile is a handful of calls, and is shown without a bound.

Needs root, or user namespaces, and iproute2. Nothing of the machine's own network is touched.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..ip.hosts import HostError, program
from ..load.terminal import narrow_table
from ..run.namespaces import NamespaceError, enter_own
from ..tied import tied
from ..verdicts import Verdict

MIDDLE = "10.26.0.1"
"""Where the router, the called side and the scheduler are."""
SCHEDULER, ROUTER, CALLED = 8786, 1998, 1999
WITHIN = 0.01
SKEW_MS = 5.0
# The share of the calls beyond which a percentile is a few of them, and each run has others.
_FEW = "p99.9"
PERCENTILES = ("p50", "p90", "p99", _FEW)
_READY_SECONDS = 60.0
_MORE_SECONDS = 300.0
_WIDTH = 80

Figures = Mapping[str, float]


class NetnsError(Exception):
    """It cannot be measured; the message says why."""


@dataclass(frozen=True)
class Row:
    """A figure of one tester, of the same once more, and of all. bound: relative; None: none."""

    name: str
    one: float
    again: float
    several: float
    bound: float | None = WITHIN

    @staticmethod
    def _off(found: float, expected: float) -> float:
        if not expected:
            return 0.0 if not found else float("inf")
        return found / expected - 1

    @property
    def off(self) -> float:
        return self._off(self.several, self.one)

    @property
    def own(self) -> float:
        """What one tester differs from itself."""
        return self._off(self.again, self.one)

    @property
    def right(self) -> bool:
        return self.bound is None or abs(self.off) <= self.bound


def figures(result: Mapping[str, Any]) -> Figures:
    """What is compared of a stress run."""
    found = result["measurements"][0]
    caller, called = found["caller"]["total"], found["responder"]["total"]
    setup = found["figures"]["latency_ms"]["call_setup"] or {}
    counted = {
        "completed": caller["calls_completed"],
        "accepted": called["calls_accepted"],
        "verified": caller["messages_verified"],
        "octets sent": caller["octets_sent"],
        "octets got": called["octets_received"],
        "calls/s": found["figures"]["calls_per_second"],
    }
    return counted | {f"{name}, ms": setup.get(name, 0.0) for name in PERCENTILES}


def compared(one: Figures, again: Figures, several: Figures) -> list[Row]:
    """All figures beside each other."""
    return [
        Row(name, one[name], again[name], several[name], None if _FEW in name else WITHIN)
        for name in one
    ]


def problems(result: Mapping[str, Any], testers: int) -> list[str]:
    """What else has to be so where several testers call."""
    report = result["testers"]
    found = list(report["lost"])
    if report["asked"] != testers:
        found.append(f"{report['asked']} testers took part, not {testers}")
    if report["skew_ms"] >= SKEW_MS:
        found.append(f"they began {report['skew_ms']:.2f} ms apart, {SKEW_MS:g} are allowed")
    found += [f"not disjoint: {words}" for words in report["shared"]]
    return found


def _ip(*words: str) -> None:
    """A command of iproute2. Raises HostError."""
    done = subprocess.run(
        [program("ip", "iproute2"), *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise HostError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def inside(number: int) -> None:
    """A tester's own host: an address, a way to the middle, and a worker in it. Never returns."""
    enter_own()
    print("ready", flush=True)
    sys.stdin.readline()  # the device is here
    device = f"t{number}"
    _ip("address", "add", f"10.26.{number}.2/24", "dev", device)
    _ip("link", "set", device, "up")
    _ip("route", "add", "default", "via", f"10.26.{number}.1")
    os.execv(
        sys.executable,
        [
            *(sys.executable, "-m", "dask", "worker", f"tcp://{MIDDLE}:{SCHEDULER}"),
            *("--no-nanny", "--nthreads", "1", "--no-dashboard"),
        ],
    )


class Middle:
    """The namespace of this process, with all that runs in it and in those of the testers."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self.testers = 0
        _ip("address", "add", f"{MIDDLE}/32", "dev", "lo")

    def start(self, name: str, *words: str, talks: bool = False) -> subprocess.Popen[str]:
        """A program that ends with this one. talks: to this one; else it writes its log."""
        log = self._stack.enter_context((self._folder / f"{name}.log").open("w"))
        process = subprocess.Popen(
            [*tied("KILL"), sys.executable, "-m", *words],
            text=True,
            stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
            stdout=subprocess.PIPE if talks else log,
            stderr=log,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def await_words(self, name: str, words: str, times: int = 1) -> None:
        """Until a program has said something so often. Raises NetnsError."""
        log = self._folder / f"{name}.log"
        end = time.monotonic() + _READY_SECONDS
        while len(re.findall(words, text := log.read_text(errors="replace"))) < times:
            if time.monotonic() > end:
                raise NetnsError(f"{name} is not ready: {text.strip()[-300:]}")
            time.sleep(0.1)

    def add_tester(self) -> None:
        """One more. Raises HostError."""
        self.testers = number = self.testers + 1
        module = "x25shark.selftest.testers_netns"
        process = self.start(f"tester-{number}", module, "--inside", str(number), talks=True)
        assert process.stdin is not None and process.stdout is not None
        if process.stdout.readline() != "ready\n":
            said = (self._folder / f"tester-{number}.log").read_text(errors="replace")
            raise HostError(said.strip()[-300:] or "a tester has no namespace")
        here = f"m{number}"
        _ip("link", "add", here, "type", "veth", "peer", "name", f"t{number}",
            "netns", str(process.pid))  # fmt: skip
        _ip("address", "add", f"10.26.{number}.1/24", "dev", here)
        _ip("link", "set", here, "up")
        process.stdin.write("\n")
        process.stdin.flush()
        self.await_words("scheduler", "Register worker", number)

    def stress(self, name: str, options: Sequence[str]) -> dict[str, Any]:
        """A run by the testers that there are. Raises NetnsError."""
        print(f"{name} ...", file=sys.stderr, flush=True)
        output = self._folder / name.replace(" ", "-")
        done = subprocess.run(
            [
                *(*tied("TERM"), sys.executable, "-m", "x25shark", "stress", *options),
                *("--connect", f"{MIDDLE}:{ROUTER}", "--listen", f"{MIDDLE}:{CALLED}"),
                *("--workers", f"tcp://{MIDDLE}:{SCHEDULER}", "--control", "0"),
                *("--output", str(output)),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise NetnsError(f"{name}: status {done.returncode}: {done.stderr.strip()[-300:]}")
        result: dict[str, Any] = json.loads((output / "load.json").read_text("utf-8"))
        return result


@contextlib.contextmanager
def _middle(folder: Path, delay: float) -> Iterator[Middle]:
    """Router and scheduler at work. Raises HostError, NamespaceError, NetnsError."""
    enter_own()
    with contextlib.ExitStack() as stack:
        middle = Middle(folder, stack)
        router = f"{MIDDLE}:{ROUTER}", f"{MIDDLE}:{CALLED}"
        middle.start("relay", "x25shark", "relay", *router, "--delay", str(delay))
        middle.start(
            *("scheduler", "dask", "scheduler", "--host", MIDDLE, "--port", str(SCHEDULER)),
            "--no-dashboard",
        )
        middle.await_words("relay", "Relaying")
        middle.await_words("scheduler", "Scheduler at")
        yield middle


def table(rows: Sequence[Row], testers: int) -> Table:
    """All figures."""
    made = narrow_table(f"One tester, the same again, and {testers}")
    for name in ("", "one", "again", str(testers), "own", "off by", "bound", ""):
        made.add_column(name, justify="right" if name else "left", no_wrap=True)
    for row in rows:
        verdict = (Verdict.PASS if row.right else Verdict.FAIL) if row.bound is not None else ""
        values = [f"{value:,.10g}" for value in (row.one, row.again, row.several)]
        if row.one != int(row.one):
            values = [f"{value:,.2f}" for value in (row.one, row.again, row.several)]
        made.add_row(
            *(row.name, *values, f"{row.own:+.2%}", f"{row.off:+.2%}"),
            *("-" if row.bound is None else f"{row.bound:.0%}", str(verdict)),
        )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0: all is within its bound; 1: something is not; 2: it cannot be measured."""
    parser = argparse.ArgumentParser(
        prog="python -m x25shark.selftest.testers_netns", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--testers", type=int, default=4)
    parser.add_argument("--rate", type=float, default=100.0, help="calls/s of all together")
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--delay", type=float, default=50.0, help="ms each way")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.inside is not None:
        inside(given.inside)
    if not 2 <= given.testers <= 100 or given.calls < given.testers:
        parser.error("--testers: 2 to 100, and no more than --calls")
    if not 0 < given.rate <= 10_000 or not 0 <= given.delay <= 1000:
        parser.error("--rate: up to 10000; --delay: 0 to 1000")
    seconds = given.calls / given.rate + _MORE_SECONDS
    circuits = max(round(given.rate * (6 * given.delay / 1000 + 1)), given.testers)
    load = [
        *("--rate", str(given.rate), "-n", str(given.calls), "-N", str(circuits)),
        *("-T", str(seconds), "-l", "300", "-d", "2100001,2199999"),
    ]
    try:
        with (
            tempfile.TemporaryDirectory(prefix="x25shark-netns-") as temporary,
            _middle(Path(temporary), given.delay) as middle,
        ):
            middle.add_tester()
            one = middle.stress("one tester", load)
            again = middle.stress("the same again", load)
            while middle.testers < given.testers:
                middle.add_tester()
            several = middle.stress(f"{given.testers} testers", load)
    except (NamespaceError, HostError, NetnsError, OSError, ValueError) as error:
        print(f"testers_netns: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("testers_netns: interrupted", file=sys.stderr)
        return 130
    rows = compared(*map(figures, (one, again, several)))
    console = Console(width=_WIDTH, highlight=False)
    console.print(table(rows, given.testers))
    report = several["testers"]
    sure = report["clock_uncertainty_ms"]
    print(f"Start skew: {report['skew_ms']:.2f} ms (clocks: +-{sure:.2f} ms), below {SKEW_MS:g}.")
    print("own: by how much one tester differs from itself.")
    print(f"{_FEW}: the slowest call of each 1000, which nobody can hold to 1 %; no bound.")
    wrong = problems(several, given.testers)
    for words in wrong:
        console.print(escape(words))
    failed = sum(not row.right for row in rows) + len(wrong)
    print(f"{sum(row.right for row in rows)} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

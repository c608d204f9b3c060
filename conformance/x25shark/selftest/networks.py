# SPDX-License-Identifier: GPL-2.0-or-later
"""The suite over networks that delay, lose and reorder: python -m x25shark.selftest.networks

The reference router is right, and so no network may make it FAIL, or leave the judges at odds
(ERROR). Each pair of a network (network.py) and a relay model is one run, in namespaces of its own,
against the reference router as a machine elsewhere: by its profile's hooks, over the network.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from shlex import join

import tomli_w
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..profile import load_profile
from ..reference import config
from ..results import ResultsError, read_results
from ..run.namespaces import NamespaceError, enter_own
from ..verdicts import Verdict
from .network import NETWORKS, PREFIX
from .rows import rows_so_far, save_rows

PROFILES = ("reference", "reference-e2e", "reference-splice")
_LOOPBACK = "127.0.25."
# By how much longer a router waits for an idle peer's answer where a hundred connections share a
# slow line: its probes may be lost behind their data.
_PATIENT = 5
_BAD = (Verdict.FAIL, Verdict.ERROR)


@dataclass
class Row:
    """How one run ended. bad: each FAIL and ERROR with its reason; problem: there was no run."""

    network: str
    profile: str
    seconds: float = 0.0
    verdicts: dict[str, int] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)
    problem: str = ""

    @property
    def right(self) -> bool:
        return not self.bad and not self.problem and bool(self.verdicts.get(Verdict.PASS))


@dataclass(frozen=True)
class Task:
    """One run to make; report: where its report stays, or None."""

    network: str
    profile: str
    select: str
    seed: int
    report: Path | None


def _moved(text: str) -> str:
    """The same addresses, but across the network."""
    return text.replace(_LOOPBACK, PREFIX)


def _patient(text: str) -> str:
    """The same with a longer keepalive."""

    def longer(found: re.Match[str]) -> str:
        return f"keepalive = {int(found[1]) * _PATIENT}"

    return re.sub(r"^keepalive = (\d+)$", longer, text, flags=re.MULTILINE)


def write_profile(profile: str, directory: Path, *, slow: bool = False) -> Path:
    """A profile that starts the built-in profile's router at the far end; raises OSError.

    Without its counters, which the reference router shows to its own machine only. slow: the
    network has a bound on its rate.
    """
    folder = resources.files("x25shark") / "profiles"
    text = _moved(load_profile(profile).text)
    text = text[: text.index("[counters.")]
    embedded = re.search(r'^embedded = "(.*)"\n', text, re.MULTILINE)
    assert embedded is not None  # a test looks at each of them
    router = directory / embedded[1]
    with resources.as_file(folder / embedded[1]) as file:
        configuration = _moved(tomli_w.dumps(config.read(file)))
    configuration = re.sub(r"^http = .*\n", "", configuration, flags=re.MULTILINE)
    router.write_text(_patient(configuration) if slow else configuration)
    command = [sys.executable, "-m", "x25shark.selftest.network"]
    begin = join([*command, "start", str(directory), "--config", str(router)])
    end = join([*command, "stop", str(directory)])
    control = f"[control]\nstart = {json.dumps(begin)}\nstop = {json.dumps(end)}\n"
    path = directory / f"{profile}.toml"
    text = text.replace(embedded[0], "") + control
    path.write_text(_patient(text) if slow else text)
    return path


def run(task: Task) -> Row:
    """One run, in a process of its own that moves into a namespace."""
    row = Row(task.network, task.profile)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="x25shark-network-") as temporary:
        directory = Path(temporary)
        try:
            enter_own()
            _run_in(directory, task, row)
        except (NamespaceError, OSError, ResultsError) as error:
            row.problem = str(error)
    row.seconds = round(time.monotonic() - began, 1)
    return row


def _run_in(directory: Path, task: Task, row: Row) -> None:
    report = task.report or directory / "report"
    command = [sys.executable, "-m", "x25shark.selftest.network", "between"]
    with (
        (directory / "errors").open("w+b") as errors,
        subprocess.Popen(
            [*command, task.network, str(task.seed), str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as network,
    ):
        assert network.stdin is not None and network.stdout is not None
        if network.stdout.readline() != b"ready\n":
            errors.seek(0)
            row.problem = errors.read().decode(errors="replace").strip() or "no network"
            return
        slow = NETWORKS[task.network].rate > 0
        options = ["--router", str(write_profile(task.profile, directory, slow=slow))]
        # However slow the network is, it is the cases that say how long they wait.
        options += ["--output", str(report), "--seed", str(task.seed), "--deadline", "0"]
        options += ["--select", task.select] if task.select else []
        done = subprocess.run(
            [sys.executable, "-c", "from x25shark.cli import main; main()", "run", *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        network.stdin.close()
    if done.returncode in (2, 3):
        row.problem = (done.stderr or done.stdout).strip()[-500:]
        return
    cases = read_results(report / "results.json").cases
    row.verdicts = dict(Counter(str(case.verdict) for case in cases))
    row.bad = [f"{c.verdict} {c.id}: {c.reason}" for c in cases if c.verdict in _BAD]


def _run_all(tasks: Sequence[Task], jobs: int) -> Iterator[Row]:
    """Each run as soon as it ends; each enters a namespace, so each needs a fresh process."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(run, tasks)


def _print(rows: Sequence[Row]) -> None:
    console = Console(width=max(Console().width, 100))
    words = [str(v) for v in Verdict if any(row.verdicts.get(v) for row in rows)]
    table = Table("network", "router", *words, "time")
    for row in sorted(rows, key=lambda r: (list(NETWORKS).index(r.network), r.profile)):
        counts = [str(row.verdicts.get(word, 0)) for word in words]
        table.add_row(row.network, row.profile, *counts, f"{row.seconds:.0f} s")
    console.print(table)
    for row in rows:
        for line in [*row.bad, *([row.problem] if row.problem else [])]:
            console.print(f"{row.network}, {row.profile}: {escape(line)}", soft_wrap=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0: no FAIL, no ERROR; 1 otherwise; 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.networks")
    parser.add_argument("networks", nargs="*", help=f"only these: {', '.join(NETWORKS)}")
    parser.add_argument("--routers", default=",".join(PROFILES), help="built-in profiles")
    parser.add_argument("--select", default="", help="cases, as for x25shark run")
    parser.add_argument("--seed", type=int, default=0, help="which packets are lost")
    parser.add_argument("--jobs", type=int, default=3, help="runs at a time; they mostly wait")
    parser.add_argument("--output", type=Path, help="keep the reports in this directory")
    parser.add_argument("--json", type=Path, help="write the table as JSON after every run")
    parser.add_argument(
        "--go-on", action="store_true", help="leave out the runs that the JSON file has as right"
    )
    given = parser.parse_args(argv)
    routers = given.routers.split(",")
    unknown = [*(set(given.networks) - set(NETWORKS)), *(set(routers) - set(PROFILES))]
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if given.go_on and not given.json:
        parser.error("--go-on needs --json FILE: what there is so far")
    try:
        rows = [r for r in rows_so_far(given.json, Row) if r.right] if given.go_on else []
    except ValueError as error:
        parser.error(str(error))
    done = {(row.network, row.profile) for row in rows}
    tasks = [
        Task(
            network,
            router,
            given.select,
            given.seed,
            given.output and given.output / network / router,
        )
        for network in given.networks or NETWORKS
        for router in routers
        if (network, router) not in done
    ]
    try:
        for row in _run_all(tasks, given.jobs):
            rows.append(row)
            save_rows(given.json, rows, "networks")
            print(f"{row.network}, {row.profile}: {row.verdicts or row.problem}", file=sys.stderr)
    except KeyboardInterrupt:
        kept = f"; go on with --go-on --json {given.json}" if given.json else ""
        print(f"networks: interrupted{kept}", file=sys.stderr)
        return 130
    _print(rows)
    wrong = sum(not row.right for row in rows)
    print(f"{len(rows) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

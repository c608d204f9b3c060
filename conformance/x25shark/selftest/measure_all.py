# SPDX-License-Identifier: GPL-2.0-or-later
"""bench, overload and matrix as a user runs them, beside what was published (make measure-all).

    python -m x25shark.selftest.measure_all [--linux] [--quick] [--only COMMAND] [--output FOLDER]

Each runs with its defaults and with --quick against the reference router and, with --linux,
against the Linux kernel in a virtual machine (ci/linux-router, in a checkout). FOLDER gets a folder
for each run: its report, what it said, and pictures of its page, light and dark, where Chromium is
there. Then the tables: what each found in the shape of the published one, the published findings
beside ours, and how long each run took. Some fifteen minutes for each router; an idle machine is
assumed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..load import bench_tables, matrix_tables, overload_page, published
from ..load.page import TableMaker
from ..load.terminal import print_tables
from ..verdicts import Verdict
from . import pictures

ROOT = Path(__file__).parents[3]
"""The checkout: the profile linux starts and stops its machine by a path from here."""
REFERENCE, LINUX = "reference", "linux"
# Of an embedded router a finding is a fault of the command.
RIGHT = (REFERENCE,)
# The machine has no side B: its echo address answers.
_OF_ROUTER: Mapping[str, Sequence[str]] = {REFERENCE: (), LINUX: ("--router-echo",)}
SECONDS = {False: 300.0, True: 60.0}
"""What a run may take, with its defaults and with --quick, besides the start of Python and of the
router."""
START_SECONDS = 5.0
_WIDTH = 80
_SHOWN = (1200, 7000)
_PICTURES = {"light": (pictures.LIGHT,), "dark": (pictures.DARK,)}

Maker = Callable[[Mapping[str, Any]], tuple[list[str], list[list[str]]]]


@dataclass(frozen=True)
class Command:
    """A command's tables: those in the shape of the published one, and the published findings."""

    tables: Sequence[TableMaker]
    beside: Maker


COMMANDS: Mapping[str, Command] = {
    "bench": Command(bench_tables.TABLES[:2], published.bench),
    "overload": Command(overload_page.TABLES[:1], published.overload),
    "matrix": Command(matrix_tables.TABLES[:1], published.matrix),
}


@dataclass
class Run:
    """One run. status: None: it did not end by itself. problem: what is wrong with it."""

    command: str
    router: str
    quick: bool
    status: int | None = None
    seconds: float = 0.0
    result: dict[str, Any] | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def mode(self) -> str:
        return "--quick" if self.quick else "defaults"

    @property
    def name(self) -> str:
        return f"{self.router}-{self.command}{'-quick' if self.quick else ''}"

    @property
    def most(self) -> float:
        return SECONDS[self.quick] + START_SECONDS


def measure(run: Run, folder: Path) -> None:
    """Make the run; its report goes into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [run.command, "--router", run.router, *_OF_ROUTER[run.router]]
    words += ["--quick"] if run.quick else []
    (folder / "load.json").unlink(missing_ok=True)
    began = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "x25shark", *words, "--output", str(folder.absolute())],
            cwd=ROOT if run.router == LINUX else None,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=5 * run.most,
            check=False,
        )
    except subprocess.TimeoutExpired:
        run.problems.append("it does not end")
        return
    finally:
        run.seconds = time.monotonic() - began
    (folder / "said.txt").write_text(done.stdout + done.stderr, "utf-8")
    run.status = done.returncode
    judge(run, folder, done.stderr or done.stdout)


def judge(run: Run, folder: Path, said: str) -> None:
    """What is wrong with a run that has ended."""
    if run.seconds > run.most:
        run.problems.append(f"it took {run.seconds:.0f} s, {run.most:.0f} are allowed")
    if run.status not in (0, 1):
        run.problems.append(f"exit status {run.status}: {said.strip()[-300:]}")
    try:
        run.result = json.loads((folder / "load.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        run.problems.append(f"no report: {error}")
        return
    if run.router in RIGHT:
        assert run.result is not None
        run.problems += [f"found: {reason}" for reason in run.result["verdict"]["reasons"]]


def take_pictures(run: Run, folder: Path) -> None:
    """The page of a run, light and dark."""
    for name, options in _PICTURES.items():
        try:
            pictures.page_picture(
                folder / "load.html", folder / f"{name}.png", *options, size=_SHOWN
            )
        except (pictures.PictureError, OSError, subprocess.CalledProcessError) as error:
            run.problems.append(f"no picture: {error}")
            return


def build_machine() -> None:
    """The virtual machine, before anything is measured: the first start takes minutes. Raises
    OSError and CalledProcessError."""
    for which in ("start", "stop"):
        subprocess.run([ROOT / "ci" / "linux-router" / which], check=True)


def beside(command: str, router: str, runs: Sequence[Run]) -> Table | None:
    """The published findings and those of a router's runs; None: none of them has any."""
    found = [(run, COMMANDS[command].beside(run.result)[1]) for run in runs if run.result]
    found = [(run, rows) for run, rows in found if rows]
    if not found:
        return None
    made = Table("", "published", *(run.mode for run, _ in found))
    made.title, made.title_justify = f"{command}: the published findings and {router}", "left"
    for rows in zip(*(rows for _, rows in found), strict=True):
        about, theirs, _ = rows[0]
        made.add_row(*map(escape, (about, theirs, *(ours for _, _, ours in rows))))
    return made


def summary(runs: Sequence[Run]) -> Table:
    """How each run ended."""
    made = Table("command", "router", "options", "seconds", "status", "")
    for run in runs:
        verdict = Verdict.FAIL if run.problems else Verdict.PASS
        status = "-" if run.status is None else str(run.status)
        seconds = f"{run.seconds:.0f} of {run.most:.0f}"
        made.add_row(run.command, run.router, run.mode, seconds, status, str(verdict))
    return made


def show(runs: Sequence[Run], console: Console) -> None:
    """All tables, then what is wrong."""
    for run in runs:
        if run.result is None:
            continue
        console.print(f"\n== {run.command}, {run.router}, {run.mode}", markup=False)
        print_tables(console, COMMANDS[run.command].tables, run.result)
    for command in COMMANDS:
        for router in _OF_ROUTER:
            of_both = [run for run in runs if (run.command, run.router) == (command, router)]
            made = beside(command, router, of_both)
            if made is not None:
                console.print(made)
    console.print(summary(runs))
    for run in runs:
        for problem in run.problems:
            console.print(escape(f"{run.command}, {run.router}, {run.mode}: {problem}"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0: all ended in time and found nothing of the reference router; 1: not; 2: wrong
    usage, or no virtual machine; 130: interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m x25shark.selftest.measure_all", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--linux", action="store_true", help="against the virtual machine as well")
    parser.add_argument("--quick", action="store_true", help="with --quick only")
    parser.add_argument(
        "--only", action="append", choices=list(COMMANDS), help="this command; repeatable"
    )
    parser.add_argument("--output", type=Path, default=Path("x25shark-report-measured"))
    given = parser.parse_args(arguments)
    commands = [name for name in COMMANDS if not given.only or name in given.only]
    draws = pictures.browser() is not None
    if not draws:
        print("no pictures: chromium is not there", file=sys.stderr)
    runs: list[Run] = []
    status = 0
    try:
        if given.linux:
            build_machine()
        for router in (REFERENCE, LINUX) if given.linux else (REFERENCE,):
            for command in commands:
                for quick in (True,) if given.quick else (False, True):
                    run = Run(command, router, quick)
                    runs.append(run)
                    print(f"{command}, {router}, {run.mode}", file=sys.stderr, flush=True)
                    measure(run, given.output / run.name)
                    if draws and run.result is not None:
                        take_pictures(run, given.output / run.name)
    except KeyboardInterrupt:
        print("measure_all: interrupted", file=sys.stderr)
        status = 130
        del runs[-1:]
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"measure_all: {error}", file=sys.stderr)
        status = 2
    if not runs:
        return status
    show(runs, Console(width=_WIDTH, highlight=False))
    wrong = sum(bool(run.problems) for run in runs)
    print(f"Reports: {given.output}")
    print(f"{len(runs) - wrong} passed, {wrong} failed", flush=True)
    return status or (1 if wrong else 0)


if __name__ == "__main__":
    sys.exit(main())

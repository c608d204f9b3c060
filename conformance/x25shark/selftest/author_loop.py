# SPDX-License-Identifier: GPL-2.0-or-later
"""What a router author waits for, measured: the commands of every day, one case, the suite.

    python -m x25shark.selftest.author_loop [--turns 5] [--keep FILE]

Each command is run so many times, the suite with --repeat 3 once; the table shows the medians of
the time by the clock, until its first line and of the processor time (all processes), the peak
memory of the largest process, the sizes of what the suite leaves, and what each may be at most: the
suite so much for 439 cases, and for more of them as much more. One case is a usual one, and then
one of the longest.
FILE keeps the figures; where it holds earlier ones they are shown beside. Figures by the clock mean
something on an idle machine only.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..results import write_whole

_CODE = "from x25shark.cli import main; main(prog_name='x25shark')"
_CASE = "PLP-RST-01"
_LONG_CASE = "PLP-RST-04"
# What grows with the number of cases, and what must not.
_THRICE = "the suite, --repeat 3"
_GROWING = ("seconds", "processor")
_COLUMNS = {
    "seconds": "clock s",
    "first_line": "first line s",
    "processor": "processor s",
    "memory": "memory MB",
    "size": "size MB",
}
# For how many cases the suite may take what it may.
_CASES = 439
# What a router's author is willing to wait for, on two idle cores.
TARGETS: dict[str, dict[str, float]] = {
    "the suite": {"seconds": 20, "first_line": 0.5, "processor": 30, "memory": 250},
    _THRICE: {"seconds": 60, "processor": 90, "memory": 250},
    "one case": {"seconds": 1, "first_line": 0.5, "memory": 250},
    "--help": {"seconds": 0.15},
    "list": {"seconds": 0.4},
    "show": {"seconds": 0.4},
    "compare": {"seconds": 1},
    "results.json": {"size": 5},
    "report.html": {"size": 5},
}


@dataclass(frozen=True)
class Cost:
    """Medians. seconds, first_line: by the clock; processor: of all processes.

    memory: MB of the largest process.
    """

    seconds: float
    first_line: float
    processor: float
    memory: float


class CommandFailed(Exception):
    """A command ended otherwise than it should; the message says which."""


def _once(words: Sequence[str]) -> Cost:
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", _CODE, *words], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as said:
        said.readline()
        first_line = time.monotonic() - began
        while said.read(1 << 16):
            pass
    _, status, used = os.wait4(process.pid, 0)
    passed = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise CommandFailed(f"x25shark {' '.join(words)}: exit status {process.returncode}")
    return Cost(passed, first_line, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measured(words: Sequence[str], turns: int) -> Cost:
    """The cost of a command. Raises CommandFailed."""
    costs = [_once(words) for _ in range(turns)]
    return Cost(
        statistics.median(c.seconds for c in costs),
        statistics.median(c.first_line for c in costs),
        statistics.median(c.processor for c in costs),
        max(c.memory for c in costs),
    )


def commands(report: Path, select: str) -> dict[str, list[str]]:
    """What is measured, in this order: the suite leaves what the others read."""
    run = ["run", "--own-namespace", "--output"]
    chosen = ["--select", select] if select else []
    one = report.with_name("one")
    return {
        "the suite": [*run, str(report), *chosen],
        _THRICE: [*run, str(report.with_name("thrice")), *chosen, "--repeat", "3"],
        "one case": [*run, str(one), "--select", _CASE],
        "one long case": [*run, str(one.with_name("long")), "--select", _LONG_CASE],
        "--help": ["--help"],
        "list": ["list"],
        "show": ["show", _CASE, "--output", str(one)],
        "compare": ["compare", str(report), str(report)],
    }


def sizes(report: Path) -> dict[str, float]:
    """MB of the files of a report."""
    return {name: (report / name).stat().st_size / 1e6 for name in ("results.json", "report.html")}


def cases_run(report: Path) -> int:
    """How many cases of a report were run."""
    cases = json.loads((report / "results.json").read_text("utf-8"))["cases"]
    return sum(case["verdict"] not in ("NOT APPLICABLE", "NOT RUN") for case in cases)


def most(name: str, key: str, cases: int) -> float | None:
    """What a figure may be at most where the suite has run so many cases; None: not said."""
    found = TARGETS.get(name, {}).get(key)
    if found is None or name not in ("the suite", _THRICE) or key not in _GROWING:
        return found
    return found * max(1.0, cases / _CASES)


def _earlier(path: Path | None) -> dict[str, dict[str, float]]:
    try:
        return dict(json.loads(path.read_text("utf-8"))) if path is not None else {}
    except (OSError, ValueError):
        return {}


def _table(
    found: dict[str, dict[str, float]], before: dict[str, dict[str, float]], cases: int
) -> Table:
    table = Table(f"{cases} cases", *_COLUMNS.values())
    for name, figures in found.items():
        cells = [
            _cell(key, figures, before.get(name, {}), most(name, key, cases)) for key in _COLUMNS
        ]
        table.add_row(name, *cells)
    return table


def _cell(
    key: str, figures: dict[str, float], before: dict[str, float], at_most: float | None
) -> str:
    if key not in figures:
        return ""
    return "".join(
        (
            f"{figures[key]:.2f}",
            f" of {at_most:.3g}" if at_most is not None else "",
            f" (was {before[key]:.2f})" if key in before else "",
        )
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, show, keep. Status 2 if a command fails."""
    parser = argparse.ArgumentParser(prog="author_loop", description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--select", default="", help="these cases in place of the whole suite")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args(arguments)
    if options.turns < 1:
        parser.error("--turns must be 1 or more")
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="x25shark-bench-") as folder:
        report = Path(folder) / "report"
        try:
            for name, words in commands(report, options.select).items():
                found[name] = asdict(measured(words, 1 if name == _THRICE else options.turns))
        except CommandFailed as failed:
            print(f"author_loop: {failed}", file=sys.stderr)
            return 2
        found |= {name: {"size": size} for name, size in sizes(report).items()}
        cases = cases_run(report)
    Console().print(_table(found, _earlier(options.keep), cases))
    if options.keep is not None:
        write_whole(options.keep, json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

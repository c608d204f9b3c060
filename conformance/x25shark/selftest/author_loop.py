# SPDX-License-Identifier: GPL-2.0-or-later
"""What a router author waits for, measured: the commands of every day, one case, the suite.

    python -m x25shark.selftest.author_loop [--turns 5] [--keep FILE]

Each command is run so many times; the table shows the medians of the time by the clock and of the
processor time (all processes), the peak memory of the largest process, and the sizes of what the
suite leaves. FILE keeps the figures; where it holds earlier ones they are shown beside. Figures by
the clock mean something on an idle machine only.
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
_CASE = "PLP-RST-04"


@dataclass(frozen=True)
class Cost:
    """Medians. seconds: by the clock; processor: of all processes; memory: MB of the largest."""

    seconds: float
    processor: float
    memory: float


class CommandFailed(Exception):
    """A command ended otherwise than it should; the message says which."""


def _once(words: Sequence[str]) -> Cost:
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", _CODE, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    passed = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise CommandFailed(f"x25shark {' '.join(words)}: exit status {process.returncode}")
    return Cost(passed, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measured(words: Sequence[str], turns: int) -> Cost:
    """The cost of a command. Raises CommandFailed."""
    costs = [_once(words) for _ in range(turns)]
    return Cost(
        statistics.median(c.seconds for c in costs),
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
        "one case": [*run, str(one), "--select", _CASE],
        "--help": ["--help"],
        "list": ["list"],
        "show": ["show", _CASE, "--output", str(one)],
        "compare": ["compare", str(report), str(report)],
    }


def sizes(report: Path) -> dict[str, float]:
    """MB of the files of a report."""
    return {name: (report / name).stat().st_size / 1e6 for name in ("results.json", "report.html")}


def _earlier(path: Path | None) -> dict[str, dict[str, float]]:
    try:
        return dict(json.loads(path.read_text("utf-8"))) if path is not None else {}
    except (OSError, ValueError):
        return {}


def _table(found: dict[str, dict[str, float]], before: dict[str, dict[str, float]]) -> Table:
    table = Table("", "clock s", "processor s", "memory MB", "size MB")
    for name, figures in found.items():
        cells = []
        for key in ("seconds", "processor", "memory", "size"):
            cell = f"{figures[key]:.2f}" if key in figures else ""
            was = before.get(name, {}).get(key)
            cells.append(f"{cell} (was {was:.2f})" if cell and was is not None else cell)
        table.add_row(name, *cells)
    return table


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
                found[name] = asdict(measured(words, options.turns))
        except CommandFailed as failed:
            print(f"author_loop: {failed}", file=sys.stderr)
            return 2
        found |= {name: {"size": size} for name, size in sizes(report).items()}
    Console().print(_table(found, _earlier(options.keep)))
    if options.keep is not None:
        write_whole(options.keep, json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

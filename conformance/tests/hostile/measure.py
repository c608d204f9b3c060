# SPDX-License-Identifier: GPL-2.0-or-later
"""What each hostile router costs the tester: python conformance/tests/hostile/measure.py [KIND ...]

The whole suite is run against each kind of router.py, in a network namespace of its own. The
table says how the run ended, how long it took, the most memory that the tester had with all its
processes (the router left out; twice a second, and in brackets whose; see memory_mb), and whether
every case has a verdict and every capture is whole: a case may only be NOT RUN because the router
was seen not to answer any more. Such runs mostly wait: a few are under way at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

if __package__:
    from . import router
else:
    sys.path.insert(0, str(Path(__file__).parent))
    import router  # type: ignore[import-not-found,no-redef]

LONGEST_SECONDS = 1500.0
# A right router, and so slow that its whole run takes hours.
DEADLINES = {"tardy": 1200.0}
MEMORY_LIMIT_MB = 300
# Why a case is NOT RUN against a router that is gone (x25shark.run.liveness), and slow ones.
GONE, SLOW = "the router does not answer any more", "slow; runs with --slow"


@dataclass
class Outcome:
    """How one run ended."""

    status: int
    seconds: float
    peak_mb: int
    shares_mb: Counter[str]
    verdicts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    output: str = ""


def _processes() -> dict[int, tuple[int, str, str]]:
    """Parent, command line and name of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                named, _, behind = (entry / "stat").read_text().rpartition(")")
                command = (entry / "cmdline").read_text()
                name = named.partition("(")[2]
                found[int(entry.name)] = int(behind.split()[1]), command, name
    return found


def _files_kb(process: int) -> dict[str, int]:
    """What a process has in memory of each file that it has mapped."""
    found: dict[str, int] = {}
    mapped, resident = "", 0
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
            name, _, value = line.partition(" ")
            if not name.endswith(":"):
                mapped = " ".join(line.split()[2:])
            elif name == "Rss:":
                resident = int(value.split()[0])
            elif name == "Anonymous:" and resident > int(value.split()[0]):
                found[mapped] = found.get(mapped, 0) + resident - int(value.split()[0])
    return found


def memory_mb(root: int) -> Counter[str]:
    """The memory of a process and its descendants by name, routers left out, in MB.

    Proportional set sizes, but what is mapped from files is counted as if no other program of the
    machine had it: once, with the first process that has it.
    """
    known = _processes()
    mine = {root}
    while more := {p for p, (parent, *_) in known.items() if parent in mine} - mine:
        mine |= more
    found: Counter[str] = Counter()
    files: dict[str, int] = {}
    for process in sorted(mine):
        if process in known and "router.py" in known[process][1].replace("\0", " "):
            continue
        name = "tester" if process == root else known.get(process, (0, "", "gone"))[2]
        kb = 0
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss_Anon:"):
                    kb += int(line.split()[1])
        for mapped, resident in _files_kb(process).items():
            kb += max(0, resident - files.get(mapped, 0))
            files[mapped] = max(resident, files.get(mapped, 0))
        found[name] += kb // 1024
    return found


def run_suite(
    kind: str, directory: Path, options: Sequence[str] = (), profile: str = ""
) -> Outcome:
    """The suite against one kind; the report is in directory/report."""
    state, report = directory / "state", directory / "report"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "hostile.toml").write_text(profile or router.profile(kind, state))
    command = [sys.executable, "-c", "from x25shark.cli import main; main()"]
    command += ["run", "--own-namespace"]
    command += ["--router", str(directory / "hostile.toml"), "--output", str(report), *options]
    began = time.monotonic()
    peak: Counter[str] = Counter()
    with (directory / "output").open("wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        try:
            while process.poll() is None:
                peak = max(peak, memory_mb(process.pid), key=Counter.total)
                if time.monotonic() - began > LONGEST_SECONDS:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.5)
        finally:
            if process.poll() is None:
                process.kill()
            router.stop(state)
    outcome = Outcome(process.returncode, time.monotonic() - began, peak.total(), peak)
    outcome.output = (directory / "output").read_text("utf-8", "replace")
    _look(outcome, report)
    return outcome


def _look(outcome: Outcome, report: Path) -> None:
    """Whether the report is whole: verdicts, reasons, captures."""
    try:
        document = json.loads((report / "results.json").read_text())
    except (OSError, ValueError) as error:
        outcome.problems.append(f"no results.json: {error}")
        return
    for case in document["cases"]:
        outcome.verdicts[case["verdict"]] += 1
        if case["verdict"] == "NOT RUN" and not case["reason"].startswith((GONE, SLOW)):
            outcome.left.append(f"{case['id']}: NOT RUN: {case['reason']}")
        if case["verdict"] == "ERROR":
            outcome.problems.append(f"{case['id']}: ERROR: {case['reason']}")
        if case["verdict"] != "PASS":
            outcome.reasons[case["reason"]] += 1
            if not case["reason"]:
                outcome.problems.append(f"{case['id']}: no reason")
        if case["evidence"]:
            outcome.problems += _capture_problem(report / case["evidence"])
    if document["exit_status"] != outcome.status:
        outcome.problems.append(f"results.json says exit status {document['exit_status']}")
    for name in ("junit.xml", "report.html"):
        if not (report / name).is_file():
            outcome.problems.append(f"no {name}")


def _capture_problem(path: Path) -> list[str]:
    done = subprocess.run(
        ["capinfos", "-c", str(path)], capture_output=True, text=True, check=False, timeout=120
    )
    return [] if done.returncode == 0 else [f"{path.name}: {done.stderr.strip()[:200]}"]


def _told_deadlines() -> str:
    return ", ".join(f"{kind}: {seconds:.0f}" for kind, seconds in DEADLINES.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(router.KINDS))
    parser.add_argument("--keep", type=Path, help="leave the reports in this directory")
    parser.add_argument(
        "--deadline",
        type=float,
        metavar="SECONDS",
        help=f"of each run (what x25shark takes; {_told_deadlines()})",
    )
    parser.add_argument("--jobs", type=int, default=3, metavar="N", help="runs at a time (3)")
    given = parser.parse_args()
    unknown = set(given.kinds) - set(router.KINDS)
    if unknown:
        parser.error(f"no kind {', '.join(sorted(unknown))}")
    bad = 0
    with (
        tempfile.TemporaryDirectory(prefix="x25shark-hostile-") as temporary,
        ThreadPoolExecutor(given.jobs) as pool,
    ):
        folder = given.keep or Path(temporary)
        kinds = given.kinds or router.KINDS
        deadlines = {
            kind: DEADLINES.get(kind) if given.deadline is None else given.deadline
            for kind in kinds
        }
        runs = {
            kind: pool.submit(
                run_suite,
                kind,
                folder / kind,
                () if seconds is None else ("--deadline", str(seconds)),
            )
            for kind, seconds in deadlines.items()
        }
        print(f"{'kind':10} {'exit':>4} {'time':>8} {'memory':>8}  verdicts", flush=True)
        for kind, run in runs.items():
            outcome = run.result()
            if deadlines[kind] is None:
                outcome.problems += outcome.left
            verdicts = ", ".join(f"{n} {v}" for v, n in outcome.verdicts.items())
            if outcome.peak_mb > MEMORY_LIMIT_MB:
                outcome.problems.append(f"more than {MEMORY_LIMIT_MB} MB")
            bad += bool(outcome.problems)
            size = f"{outcome.peak_mb} MB"
            shares = ", ".join(f"{name} {mb}" for name, mb in outcome.shares_mb.most_common())
            print(
                f"{kind:10} {outcome.status:4} {outcome.seconds:6.0f} s {size:>8}  {verdicts}"
                f"  ({shares})"
            )
            for problem in outcome.problems[:10]:
                print(f"           problem: {problem}")
            sys.stdout.flush()
    print(f"{len(runs)} routers, {bad} with a problem")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

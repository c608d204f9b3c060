# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole suite against every built-in router: python -m x25shark.selftest.routers

They are right, and declare all that their cases need, so each case passes or does not apply. The
router of two serial lines runs in each pair of roles: what a DTE may do a DCE need not, and a case
that takes either end for granted fails a legal router.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ..results import ResultsError, read_results
from ..verdicts import Verdict

# reference itself is what `make suite` runs.
BUILT_IN = (
    *("reference-serial", "reference-xot-serial"),
    *("reference-e2e", "reference-splice", "reference-basic", "reference-terminal"),
    "reference-caller",
)
LINES = "reference-serial"
# The roles of that router's lines a and b.
ROLES = ("dce", "dte")
OTHERS = tuple(f"{LINES} {a} {b}" for a, b in product(ROLES, ROLES) if (a, b) != ROLES)
_CHANGED = "two-lines"
_FINE = (Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_RUN)


def write_profile(named: str, directory: Path) -> Path:
    """The profile of two serial lines in these roles ("reference-serial dte dce"). OSError."""
    _, *roles = named.split()
    folder = resources.files("x25shark") / "profiles"
    for ending, table in ((".toml", "[line."), (".router", "[[serial]]")):
        head, *lines = (folder / f"{LINES}{ending}").read_text().split(table)
        changed = [
            line.replace(f'role = "{was}"', f'role = "{role}"')
            for line, was, role in zip(lines, ROLES, roles, strict=True)
        ]
        # Not by its own name: the profile would name the router that is built in.
        text = table.join([head, *changed]).replace(f'"{LINES}', f'"{_CHANGED}')
        (directory / f"{_CHANGED}{ending}").write_text(text)
    return directory / f"{_CHANGED}.toml"


def run(named: str, options: Sequence[str]) -> tuple[float, list[str]]:
    """Seconds of a run against this router, and what is wrong with it."""
    began = time.monotonic()
    problems = list(_problems(named, options))
    return time.monotonic() - began, problems


def _problems(named: str, options: Sequence[str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="x25shark-router-") as temporary:
        directory = Path(temporary)
        router = str(write_profile(named, directory)) if " " in named else named
        command = [sys.executable, "-m", "x25shark", "run", "--router", router, *options]
        done = subprocess.run(
            [*command, "--output", str(directory / "report")],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            cases = read_results(directory / "report" / "results.json").cases
        except (OSError, ResultsError) as error:
            yield f"{error}: {(done.stderr or done.stdout).strip()[-500:]}"
            return
    bad = [case for case in cases if case.verdict not in _FINE]
    yield from (f"{case.verdict} {case.id}: {case.reason}" for case in bad)
    if done.returncode and not bad:
        yield f"exit status {done.returncode}"


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0: all passed; 1 otherwise; 2 wrong usage."""
    # What takes longest comes first: lines.
    every = (*OTHERS, *BUILT_IN)
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.routers")
    parser.add_argument("routers", nargs="*", help=f"only these: {', '.join(every)}")
    parser.add_argument("--own-namespace", action="store_true", help="each in one of its own")
    given = parser.parse_args(argv)
    if unknown := sorted(set(given.routers) - set(every)):
        parser.error(f"unknown: {', '.join(unknown)}")
    console, wrong = Console(soft_wrap=True), 0
    routers = given.routers or every
    # In namespaces of their own three for each processor run beside each other: they mostly wait.
    options = ["--own-namespace"] if given.own_namespace else []
    jobs = 3 * (os.cpu_count() or 1) if given.own_namespace else 1
    with ThreadPoolExecutor(jobs) as pool:
        for router, (took, problems) in zip(
            routers, pool.map(lambda router: run(router, options), routers), strict=True
        ):
            wrong += bool(problems)
            verdict = Verdict.FAIL if problems else Verdict.PASS
            console.print(f"{verdict}  {router:<26} {took:4.0f} s", highlight=False)
            for problem in problems:
                console.print(f"      {escape(problem)}", highlight=False)
    print(f"{len(routers) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

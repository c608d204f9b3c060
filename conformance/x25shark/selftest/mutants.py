# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the suite against broken routers: python -m x25shark.selftest.mutants [--full] [FAULT ...]

For every fault of the reference router, the cases that the catalogue names as its witnesses are
run with it; the main witness (the first that has a case and applies) has to FAIL, at an
expectation of its own and not merely at the fence. With --full all cases are run with every
fault, and the table says how many fail. The null routers show that no case passes vacuously:
every case fails for some fault or some null router.

The same runs with a profile of ten lines, which declares nothing: one of the witnesses that apply
there has to FAIL. What such a profile leaves unsaid must not hide a fault;
--drawn N has only so many of them run with it.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..catalogue import faults
from ..catalogue.data import told
from ..profile import load_profile
from ..results import CaseResult
from ..run.namespaces import enter_own
from ..suite.loader import cases
from ..verdicts import Verdict
from .rows import rows_so_far, save_rows
from .variant_runs import FULL, TEN_LINES, profile_in
from .worker import Worker, applicable, each_apart

NULL_ROUTERS = ("relay", "mute", "clear", "close", "silent")
# Every case that applies to one of these has to fail for some fault or null router.
PROVEN = ("reference", "reference-basic", "reference-serial")
# With --full, so many faults go through one campaign: what an interruption loses of each job.
PORTION = 4
# So many are worth a process of their own, which takes a second or two to start.
FEW = 8
FORMS = (FULL, TEN_LINES)
# What a case comes to for which the profile does not say enough.
_UNSAID = Verdict.NOT_APPLICABLE


@dataclass
class Caught:
    """What one fault did to the suite."""

    fault: str
    witness: str = ""
    verdict: str = ""
    reason: str = ""
    at_fence: bool = False
    failed: list[str] = field(default_factory=list)
    ran: int = 0
    errors: list[str] = field(default_factory=list)
    problem: str = ""
    form: str = FULL


def implemented() -> list[str]:
    """The faults that the reference router has, in catalogue order."""
    from ..reference.faults import FAULTS

    return [name for name in faults() if name in FAULTS]


def _at_fence(result: CaseResult) -> bool:
    """Whether the first unmet expectation is a fence or the answer to the liveness call.

    What reaches B in the place of that call was sent there before.
    """
    answer = "[liveness" in result.reason and "expected Incoming Call" not in result.reason
    return "[fence]" in result.reason or answer


def hunt(
    profile_name: str,
    names: Sequence[str],
    full: bool,
    only: Sequence[str] = (),
    form: str = FULL,
) -> list[Caught]:
    """Run faults (or "null KIND", with the cases in only) under one profile in one form.

    For a process of its own: it enters a network namespace.
    """
    enter_own()
    with tempfile.TemporaryDirectory(prefix="x25shark-mutants-") as directory:
        worker = Worker(profile_name, Path(directory), profile_in(profile_name, form, ()))
        everything = applicable(worker.profile, cases())
        runs: list[tuple[str, list[str], str, list[str]]] = []
        for name in names:
            if name.startswith("null "):
                chosen, witnesses = applicable(worker.profile, only), []
                options: tuple[str, ...] = ("--null", name[5:])
            else:
                fault = faults()[name]
                witnesses = [c.purpose.id for c in applicable(worker.profile, fault.witnesses)]
                named = [*witnesses, *(i for i in fault.also_fails if i not in witnesses)]
                chosen = everything if full else applicable(worker.profile, named)
                options = ("--fault", name)
            keys, problem = worker.run(options, chosen)
            runs.append((name, keys, problem, witnesses))
            print(f"  {name}: {len(chosen)} cases", file=sys.stderr, flush=True)
        worker.finish()
        return [_caught(worker.results, form, *run) for run in runs]


def prove(profile_name: str, left: Sequence[str], names: Sequence[str]) -> list[Caught]:
    """Find for each of these cases some fault that makes it fail; for a process of its own.

    The faults are gone through in turn, with the cases that have not failed yet.
    """
    enter_own()
    with tempfile.TemporaryDirectory(prefix="x25shark-mutants-") as directory:
        worker = Worker(profile_name, Path(directory))
        runs: list[tuple[str, list[str], str, list[str]]] = []
        open_cases = list(left)
        for name in names:
            chosen = [c for c in applicable(worker.profile, open_cases) if not c.purpose.whole_run]
            if not chosen:
                break
            keys, problem = worker.run(("--fault", name), chosen)
            runs.append((name, keys, problem, []))
            failed = {r.id for r in worker.results.values() if r.verdict is Verdict.FAIL}
            open_cases = [i for i in open_cases if i not in failed]
        worker.finish()
        return [_caught(worker.results, FULL, *run) for run in runs]


def _caught(
    results: dict[str, CaseResult],
    form: str,
    name: str,
    keys: Sequence[str],
    problem: str,
    witnesses: Sequence[str],
) -> Caught:
    found = Caught(name, problem=problem, ran=len(keys), form=form)
    mine = {results[k].id: results[k] for k in keys if k in results}
    found.failed = [i for i, r in mine.items() if r.verdict is Verdict.FAIL]
    found.errors = [f"{i}: {r.reason}" for i, r in mine.items() if r.verdict is Verdict.ERROR]
    counts = list(witnesses[:1])
    if form == TEN_LINES:
        judged = [w for w in witnesses if w in mine and mine[w].verdict is not _UNSAID]
        counts = [w for w in judged if w in found.failed] or judged or counts
    for witness in counts[:1]:
        result = mine.get(witness)
        if result is not None:
            found.witness, found.verdict = witness, str(result.verdict)
            found.reason, found.at_fence = result.reason, _at_fence(result)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0: every fault caught, no case that never fails, no ERROR; 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.mutants")
    parser.add_argument("faults", nargs="*", help="only these faults")
    parser.add_argument("--full", action="store_true", help="all cases with every fault")
    parser.add_argument(
        "--search",
        action="store_true",
        help="look for a fault for every case that none is known for (for faults.toml, also_fails)",
    )
    parser.add_argument(
        "--form",
        choices=FORMS,
        action="append",
        help="only with this form of the profile (both; with --full the full one)",
    )
    parser.add_argument(
        "--drawn",
        type=int,
        metavar="N",
        help="with the profile of ten lines only N faults, drawn by --seed",
    )
    parser.add_argument("--seed", type=int, default=1, help="for --drawn (1)")
    parser.add_argument(
        "--jobs",
        type=int,
        default=min(24, 6 * (os.cpu_count() or 1)),
        help="campaigns at a time (six for each processor: they mostly wait)",
    )
    parser.add_argument(
        "--json", type=Path, help="write the table as JSON, with --full after every few faults"
    )
    parser.add_argument(
        "--go-on",
        action="store_true",
        help="leave out the faults that the JSON file has already, without an ERROR",
    )
    arguments = parser.parse_args(argv)
    known = implemented()
    unknown = [name for name in arguments.faults if name not in known]
    if unknown:
        print(f"mutants: the reference router has no fault {', '.join(unknown)}", file=sys.stderr)
        return 2
    if arguments.go_on and not arguments.json:
        parser.error("--go-on needs --json FILE: what there is so far")
    started = time.monotonic()
    chosen = arguments.faults or known
    try:
        earlier = rows_so_far(arguments.json, Caught) if arguments.go_on else []
        rows = [row for row in earlier if row.fault in chosen and not row.errors]
    except ValueError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    try:
        _run(arguments, chosen, rows)
    except KeyboardInterrupt:
        kept = f"; go on with --go-on --json {arguments.json}" if arguments.json else ""
        print(f"mutants: interrupted after {len(rows)} of {len(chosen)} faults{kept}")
        return 130
    _print(rows, arguments.full)
    broken = [r for r in rows if not r.fault.startswith("null ")]
    forms = len({r.form for r in broken})
    uncaught = [r for r in broken if not _is_caught(r)]
    missed = [r for r in uncaught if not _excused(r)]
    for row in uncaught:
        word = "not judged" if _excused(row) else "MISSED"
        print(f"{word} {row.fault}, {row.form}: {_excused(row) or row.verdict}")
    errors = [f"ERROR with {row.fault}: {why}" for row in rows for why in row.errors]
    for line in errors:
        print(line)
    never = _never_failing(rows) if not arguments.faults else []
    if never:
        print(f"cases that no fault makes fail: {', '.join(never)}")
    caught = len(broken) - len(uncaught)
    print(
        f"{time.monotonic() - started:.0f} s; {len({r.fault for r in broken})} faults with "
        f"{forms} {'forms' if forms > 1 else 'form'} of the profile, {caught} caught, "
        f"{len(uncaught) - len(missed)} not judged; cases that never fail: {len(never)}"
    )
    # An ERROR is the tester's own doing, whatever the router did.
    failed = len(missed) + len(never) + len(errors)
    print(f"{caught} passed, {failed} failed")
    return 1 if failed else 0


def _run(arguments: argparse.Namespace, chosen: Sequence[str], rows: list[Caught]) -> None:
    """Add to the rows what they lack, and save them."""
    jobs, everything = arguments.jobs, not arguments.faults
    done = {(row.fault, row.form) for row in rows}
    forms = arguments.form or ([FULL] if arguments.full else FORMS)
    of_form = {form: list(chosen) for form in forms}
    if arguments.drawn is not None and TEN_LINES in of_form:
        some = set(random.Random(arguments.seed).sample(chosen, min(arguments.drawn, len(chosen))))
        of_form[TEN_LINES] = [name for name in chosen if name in some]
    left = [(name, form) for form in forms for name in of_form[form] if (name, form) not in done]
    for found in _hunt_all(left, jobs, arguments.full):
        rows += found
        save_rows(arguments.json, rows, "mutants")
    if arguments.search:
        _search(rows, jobs)
    everything = everything and FULL in forms
    if everything:
        _nulls(rows, jobs)
    again = [
        (name, form)
        for form in forms
        for name in _worth_another_try([r for r in rows if r.form == form], nulls=everything)
    ]
    if again:
        # Some faults show only now and then: what they did not do once they may do twice.
        print(f"once more: {', '.join(dict.fromkeys(n for n, _ in again))}", file=sys.stderr)
        tried = _hunt_all(again, jobs, False)
        _take_better(rows, [row for found in tried for row in found])
    order = {name: number for number, name in enumerate(faults())}
    rows.sort(key=lambda row: (order.get(row.fault, len(order)), row.form))
    save_rows(arguments.json, rows, "mutants")


def _worth_another_try(rows: Sequence[Caught], *, nulls: bool) -> list[str]:
    """Faults that were missed, and those that should have made a case fail which never did."""
    broken = [r for r in rows if r.fault in faults()]
    chosen = [r.fault for r in broken if not _is_caught(r) and not _excused(r)]
    never = set(_never_failing(rows)) if nulls and all(r.form == FULL for r in rows) else set()
    ran = {row.fault for row in rows}
    for name, fault in faults().items():
        if name in ran and never & {*fault.witnesses, *fault.also_fails} and name not in chosen:
            chosen.append(name)
    return chosen


def _take_better(rows: list[Caught], second: Sequence[Caught]) -> None:
    """In place of a row, that of a second try where it caught what the first did not."""
    tries = {(row.fault, row.form): row for row in second}
    for place, row in enumerate(rows):
        other = tries.get((row.fault, row.form))
        if other is None:
            continue
        kept = row if _is_caught(row) or not _is_caught(other) else other
        kept.failed = sorted({*row.failed, *other.failed})
        kept.ran = max(row.ran, other.ran)
        rows[place] = kept


def _hunt_all(chosen: Sequence[tuple[str, str]], jobs: int, full: bool) -> Iterator[list[Caught]]:
    """Spread the faults, each with the form of its profile, over processes, by both."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name, form in chosen:
        alike.setdefault((faults()[name].profile, form), []).append(name)
    tasks: list[tuple[str, list[str], bool, tuple[str, ...], str]] = []
    for (profile, form), mine in alike.items():
        parts = -(-len(mine) // PORTION) if full else min(jobs, -(-len(mine) // FEW))
        tasks += [(profile, mine[i::parts], full, (), form) for i in range(parts)]
    return each_apart(jobs, hunt, tasks)


def _left(found: Sequence[Caught], jobs: int) -> list[list[str]]:
    """The cases that nothing has made fail yet, in as many portions as there are jobs."""
    left = _never_failing(found)
    return [left[i::jobs] for i in range(jobs) if left[i::jobs]]


def _search(found: list[Caught], jobs: int) -> None:
    """Try every fault on the cases that none has made fail."""
    tasks = [("reference", part, implemented()) for part in _left(found, jobs)]
    for rows in each_apart(jobs, prove, tasks):
        _merge(found, rows)


def _nulls(found: list[Caught], jobs: int) -> None:
    """What no fault made fail has to fail for a router that does nothing right."""
    for kind in NULL_ROUTERS:
        tasks = [("reference", [f"null {kind}"], False, part) for part in _left(found, jobs)]
        for rows in each_apart(jobs, hunt, tasks):
            found += rows


def _merge(found: list[Caught], rows: Sequence[Caught]) -> None:
    """Add what the search for failing cases saw to the rows of its faults."""
    by_fault = {row.fault: row for row in found if row.form == FULL}
    for row in rows:
        mine = by_fault.get(row.fault)
        if mine is not None:
            mine.failed += [i for i in row.failed if i not in mine.failed]
            mine.ran += row.ran


def _excused(row: Caught) -> str:
    """Why a fault need not be caught here: data, or no witness that a default run can run."""
    fault = faults()[row.fault]
    known = cases()
    main = next((known[w].purpose for w in fault.witnesses if w in known), None)
    if fault.undetected:
        return fault.undetected
    if main is not None and main.slow:
        return f"its main witness {main.id} is slow"
    if row.form == TEN_LINES and (fault.unsaid or row.verdict == _UNSAID):
        return fault.unsaid or row.reason
    return "" if row.witness else "no witness that a default run can run"


def _is_caught(row: Caught) -> bool:
    excused = faults()[row.fault].at_fence
    return row.verdict == "FAIL" and (not row.at_fence or bool(excused))


def _never_failing(rows: Sequence[Caught]) -> list[str]:
    failing = {identifier for row in rows for identifier in row.failed if row.form == FULL}
    known = [c.purpose.id for name in PROVEN for c in applicable(load_profile(name), cases())]
    return [identifier for identifier in dict.fromkeys(known) if identifier not in failing]


def _print(rows: Sequence[Caught], full: bool) -> None:
    console = Console(width=max(Console().width, 100))
    table = Table(
        "fault", "profile", "witness", "verdict", "cases that fail", "why the witness fails"
    )
    for row in rows:
        fails = f"{len(row.failed)} of {row.ran}"
        if full and len(row.failed) * 10 > row.ran and not row.fault.startswith("null "):
            fails += " (!)"
        why = row.problem or row.reason or "no witness among the cases"
        shown = row.verdict + (" (at the fence)" if row.at_fence else "")
        table.add_row(row.fault, row.form, row.witness, shown, fails, escape(why[:600]))
    console.print(table)


if __name__ == "__main__":
    with told():
        sys.exit(main())

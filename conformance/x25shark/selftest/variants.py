# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the suite against routers that are right in other ways: python -m x25shark.selftest.variants

For every permission of the catalogue its witnesses run against the reference router that makes use
of it: the permitted behaviour has to be seen on the wire, and no case may come to FAIL or ERROR.
With --full all cases run with each, in every relay model and on lines, under the full profile and
under one of ten lines; with --pairs so do combinations in which every pair of permissions that go
together occurs. --drawn N runs them once with N permissions together, drawn by --seed; --together
with those that are named. Such a run is split among the jobs. --alternatives runs with each
permission the cases that the catalogue says it touches (touched_by), wherever it can show;
--alternatives N does so with N permissions, drawn by --seed. --slow takes the slow cases as well,
which mostly wait for timers: give it many --jobs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..catalogue.data import told
from ..catalogue.permission import PLAINER, PROFILES, Permission, permissions
from ..judges.wireshark import open_judge
from ..results import CaseResult, write_whole
from ..run.namespaces import enter_own
from ..suite.loader import cases
from ..suite.selection import SelectionError, select
from ..verdicts import Verdict
from . import sightings
from .rows import rows_so_far
from .variant_runs import (
    FULL,
    TEN_LINES,
    Run,
    Task,
    alternative_tasks,
    drawn,
    full_tasks,
    named_tasks,
    pair_tasks,
    profile_in,
    some_of,
    together_tasks,
    witness_tasks,
)
from .worker import Worker, applicable, each_apart

# How often what was not seen is looked for again.
LOOKS = 4
# The built-in profiles, of which --profile any draws one.
ROUTERS = sorted({name for names in PROFILES.values() for name in names} | {*PLAINER})
ANY = "any"
NOT_SEEN = "it was not seen on the wire"


@dataclass
class Row:
    """What came of a run. more: how much more of the behaviour was seen than without it.

    part: of Run.part the number, if there are several. named: the cases, where somebody chose them.
    slow: of Run.slow.
    """

    variants: list[str]
    profile: str
    form: str
    whole: bool
    ran: int = 0
    more: float | None = None
    failed: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    inconclusive: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    part: int = 0
    named: list[str] = field(default_factory=list)
    slow: bool = False

    @property
    def key(self) -> tuple[Any, ...]:
        chosen = (self.whole, self.part, tuple(self.named), self.slow)
        return (tuple(self.variants), self.profile, self.form, *chosen)

    @property
    def again(self) -> str:
        """The command that repeats it."""
        words = ["python -m x25shark.selftest.variants"]
        if self.whole:
            words += ["--together", *self.variants, f"--profile {self.profile}"]
        elif self.named:
            words += [*self.variants, f"--cases {','.join(self.named)} --profile {self.profile}"]
        else:
            words += self.variants
        if self.whole or self.named:
            words += ["--ten-lines"] if self.form == TEN_LINES else []
            words += ["--slow"] if self.slow else []
        return " ".join(words)

    @property
    def wrong(self) -> str:
        """Why the row fails the command; empty if it does not."""
        if self.problem:
            return self.problem
        if self.named and not self.ran:
            return "none of these cases runs under the profile; slow ones run with --slow"
        found = [f"{i}: {why}" for i, why in (*self.failed.items(), *self.errors.items())]
        shows = not self.whole and not self.named and len(self.variants) == 1
        if not found and shows and self.form == FULL:
            if not self.ran:
                return "none of its witnesses applies"
            if not self.more or self.more <= 0:
                return NOT_SEEN
        return "; ".join(found)


def examine(profile_name: str, form: str, runs: Sequence[Run]) -> list[Row]:
    """Make these runs, of routers with one profile; in a process of its own: it enters a namespace.

    The first run's variants decide what the profile says.
    """
    enter_own()
    known = permissions()
    profile = profile_in(profile_name, form, runs[0].variants)
    with tempfile.TemporaryDirectory(prefix="x25shark-variants-") as directory:
        worker = Worker(profile_name, Path(directory), profile, hasty=False)
        witnessing = [r for r in runs if r.cases and not r.named and len(r.variants) == 1]
        looked_for = [r.variants[0] for r in witnessing]
        witnesses = dict.fromkeys(w for name in looked_for for w in known[name].witnesses)
        keys, _ = worker.run((), applicable(profile, witnesses))
        plain = list(keys)
        rows = []
        for run in runs:
            options = tuple(word for name in run.switches for word in ("--variant", name))
            number, parts = run.part
            chosen = applicable(profile, run.cases or cases(), slow=run.slow)[number::parts]
            row = Row(list(run.variants), profile_name, form, not run.cases, len(chosen))
            row.slow = run.slow
            row.part, row.named = number, list(run.cases if run.named else ())
            keys, row.problem = worker.run(options, chosen)
            rows.append((row, keys))
            print(f"  {' '.join(run.variants)}: {len(chosen)} cases", file=sys.stderr, flush=True)
        worker.finish()
        for row, keys in rows:
            _take(row, [worker.results[k] for k in keys if k in worker.results])
        _look(worker, plain, [(r, keys) for r, keys in rows if not r.whole and not r.named])
        return [row for row, _ in rows]


def _take(row: Row, results: Iterable[CaseResult]) -> None:
    kinds = {
        Verdict.FAIL: row.failed,
        Verdict.ERROR: row.errors,
        Verdict.INCONCLUSIVE: row.inconclusive,
    }
    for result in results:
        if result.verdict in kinds:
            kinds[result.verdict][result.id] = result.reason


def _look(worker: Worker, plain: Sequence[str], rows: Sequence[tuple[Row, Sequence[str]]]) -> None:
    """Compare what the witnesses show with what they show of the plain router."""

    def of(keys: Sequence[str], names: Sequence[str]) -> list[CaseResult]:
        found = [worker.results[k] for k in keys if k in worker.results]
        return [r for r in found if r.id in names]

    def captures(found: Sequence[CaseResult]) -> list[bytes]:
        return [(worker.directory / r.evidence).read_bytes() for r in found if r.evidence]

    with open_judge(worker.profile.xot_ports) as judge:
        for row, keys in rows:
            permission = permissions()[row.variants[0]]
            with_it = of(keys, permission.witnesses)
            without = of(plain, permission.witnesses)
            if permission.remark:
                row.more = remarked(permission, with_it) - remarked(permission, without)
                continue
            row.more = round(
                sightings.amount(judge, permission, captures(with_it))
                - sightings.amount(judge, permission, captures(without)),
                6,
            )


def remarked(permission: Permission, results: Sequence[CaseResult]) -> int:
    """How many of the results have its remark."""
    return sum(any(permission.remark in text for text in r.remarks) for r in results)


# the command


def arguments_of(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments of the command line. Raises SystemExit if they are wrong."""
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.variants")
    parser.add_argument("permissions", nargs="*", help="only these")
    parser.add_argument("--full", action="store_true", help="all cases with each permission")
    parser.add_argument("--pairs", action="store_true", help="all cases with covering combinations")
    parser.add_argument("--drawn", type=int, metavar="N", help="all cases with N drawn together")
    parser.add_argument(
        "--alternatives",
        type=int,
        nargs="?",
        const=0,
        metavar="N",
        help="the cases that each permission touches; with N, of N drawn ones",
    )
    parser.add_argument(
        "--seed", type=int, help="for --drawn and --alternatives N; printed if not given"
    )
    parser.add_argument("--together", action="store_true", help="all cases with the named at once")
    parser.add_argument(
        "--profile",
        action="append",
        choices=[*ROUTERS, ANY],
        help=f"for --drawn, --together and --cases, any number of them; {ANY}: --drawn draws it "
        "too; reference if not given",
    )
    parser.add_argument("--cases", metavar="SELECTION", help="these cases in place of witnesses")
    parser.add_argument(
        "--slow", action="store_true", help="with --drawn, --together and --cases, slow cases too"
    )
    parser.add_argument("--ten-lines", action="store_true", help="these with ten lines as well")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--json", type=Path, help="write the table as JSON after every task")
    parser.add_argument(
        "--go-on", action="store_true", help="leave out what the JSON file has already"
    )
    arguments = parser.parse_args(argv)
    unknown = [name for name in arguments.permissions if name not in permissions()]
    if unknown:
        parser.error(f"the catalogue has no permission {', '.join(unknown)}")
    if arguments.go_on and not arguments.json:
        parser.error("--go-on needs --json FILE: what there is so far")
    if arguments.together and (not arguments.permissions or ANY in (arguments.profile or ())):
        parser.error("--together needs the permissions, and profiles by name")
    if arguments.slow and not (arguments.drawn or arguments.together or arguments.cases):
        parser.error("--slow goes with --drawn, --together and --cases")
    if arguments.cases and ANY in (arguments.profile or ()):
        parser.error("--cases needs profiles by name")
    if arguments.cases and (arguments.drawn or arguments.together):
        parser.error("--drawn and --together run all cases: leave --cases out")
    try:
        arguments.cases = select(arguments.cases, list(cases())) if arguments.cases else []
    except SelectionError as error:
        parser.error(str(error))
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0: every behaviour seen, no FAIL and no ERROR; 1 otherwise, 2 bad usage."""
    arguments = arguments_of(argv)
    known = permissions()
    chosen = [known[name] for name in arguments.permissions] or list(known.values())
    started = time.monotonic()
    try:
        earlier = rows_so_far(arguments.json, Row) if arguments.go_on else []
        rows = [row for row in earlier if not row.wrong]
    except ValueError as error:
        print(f"variants: {error}", file=sys.stderr)
        return 2
    try:
        for found in _made(_tasks(arguments, chosen), rows, arguments.jobs):
            rows += _looked_at_again(found)
            if arguments.json:
                write_whole(arguments.json, json.dumps([asdict(r) for r in rows], indent=1) + "\n")
    except KeyboardInterrupt:
        kept = f"; go on with --go-on --json {arguments.json}" if arguments.json else ""
        print(f"variants: interrupted after {len(rows)} rows{kept}")
        return 130
    show(rows)
    wrong = [row for row in rows if row.wrong]
    print(f"{time.monotonic() - started:.0f} s; {len(chosen)} permissions, {len(rows)} runs")
    print(f"{len(rows) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not rows else 0


def _tasks(arguments: argparse.Namespace, chosen: Sequence[Permission]) -> list[Task]:
    tasks: list[Task] = []
    if arguments.full:
        tasks += full_tasks(chosen)
    if arguments.pairs:
        tasks += pair_tasks(chosen)
    forms = (FULL, TEN_LINES) if arguments.ten_lines else (FULL,)
    profiles = arguments.profile or ["reference"]
    for profile in profiles if arguments.cases else ():
        tasks += named_tasks(
            chosen, arguments.cases, profile, forms, arguments.jobs, slow=arguments.slow
        )
    if arguments.together:
        for profile in profiles:
            tasks += together_tasks(
                tuple(arguments.permissions), profile, forms, arguments.jobs, slow=arguments.slow
            )
    seed = secrets.randbelow(1_000_000) if arguments.seed is None else arguments.seed
    if arguments.alternatives is not None:
        touching = chosen
        if arguments.alternatives:
            touching = some_of(chosen, arguments.alternatives, seed)
            print(f"seed {seed}, the cases that each touches: {' '.join(p.id for p in touching)}")
        tasks += alternative_tasks(touching, forms, arguments.jobs)
    if arguments.drawn:
        for named in profiles:
            profile = random.Random(seed).choice(ROUTERS) if named == ANY else named
            variants = drawn(chosen, profile, arguments.drawn, seed).variants
            print(f"seed {seed}, {profile}: {' '.join(variants)}", flush=True)
            tasks += together_tasks(variants, profile, forms, arguments.jobs, slow=arguments.slow)
    if not tasks and arguments.alternatives is None:
        tasks = witness_tasks(chosen, arguments.jobs)
    return tasks


def _made(tasks: Sequence[Task], there: Sequence[Row], jobs: int) -> Iterator[list[Row]]:
    """The rows of each task as soon as it ends, without those that are there."""
    done = {row.key for row in there}
    left = []
    for profile, form, runs in tasks:
        mine = [r for r in runs if r.key(profile, form) not in done]
        if mine:
            left.append((profile, form, mine))
    return each_apart(jobs, examine, left)


def _looked_at_again(found: Sequence[Row]) -> list[Row]:
    """Rows in which a behaviour was not seen are run again: some show only now and then."""
    rows = list(found)
    for _ in range(LOOKS):
        again = [row for row in rows if row.wrong == NOT_SEEN]
        if not again:
            break
        runs = [Run((r.variants[0],), permissions()[r.variants[0]].witnesses) for r in again]
        tasks = [(r.profile, r.form, [run]) for r, run in zip(again, runs, strict=True)]
        anew = [row for rows in each_apart(1, examine, tasks) for row in rows]
        rows = [*(row for row in rows if row not in again), *anew]
    return rows


def show(rows: Sequence[Row]) -> None:
    """Print the table, and of each row that failed why, and how to repeat it."""
    console = Console(width=max(Console().width, 100))
    table = Table(
        "permissions", "profile", "cases", "seen", "FAIL", "INCONCLUSIVE", "what is wrong"
    )
    for row in sorted(rows, key=lambda row: (row.profile, row.form, row.variants)):
        names = " ".join(row.variants)
        form = "" if row.form == FULL else f", {row.form}"
        table.add_row(
            names if len(names) < 60 else f"{len(row.variants)} together",
            row.profile + form,
            str(row.ran),
            "" if row.more is None else f"{row.more:g}",
            str(len(row.failed)),
            str(len(row.inconclusive)),
            escape(row.wrong[:600]),
        )
    console.print(table)
    # Once more where a reader of a log's end finds them.
    for row in rows:
        if row.wrong:
            console.print(
                f"{' '.join(row.variants)} ({row.profile}, {row.form} profile): {row.wrong[:2000]}",
                markup=False,
                soft_wrap=True,
            )
            console.print(f"again: {row.again}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    with told():
        sys.exit(main())

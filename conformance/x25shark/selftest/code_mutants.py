# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants of the reference router's own code: python -m x25shark.selftest.code_mutants

Faults that nobody chose: one small change (mutation.py) in one of the router's modules. A sample,
drawn evenly over the modules, goes through the suite: each mutant through the cases that reach its
line, those that reach little else first, with each profile, until a case fails twice, both judges
agreeing. What is left is sorted: never reached; the same traffic as that of the router itself; or
open, and then somebody has to say in code_mutants.toml whether the standards permit it (by which
permission) or whether the suite has a gap.

With --check the sample of code_mutants.toml is run, and the score may not fall: a survivor that is
not listed there fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

from ..results import write_whole
from .mutant_hunt import Hunted, Reach, hunt_all, reach_of
from .mutation import Mutant, evenly, mutants_of, sources
from .worker import each_apart

# A mutant goes through these until one catches it.
PROFILES = ("reference", "reference-serial", "reference-splice", "reference-e2e", "reference-basic")
# So many mutants go through one campaign: what an interruption loses of each job.
PORTION = 6
SORTS = ("same", "permitted", "gap", "unreached")


@dataclass(frozen=True)
class Survivor:
    """A mutant that the suite need not, or does not yet, catch."""

    mutant: str
    sort: str
    reason: str


@dataclass(frozen=True)
class Sample:
    """The fixed sample: how it is drawn, and who may survive."""

    count: int
    seed: int
    survivors: dict[str, Survivor]


def draw(count: int, seed: int) -> list[Mutant]:
    """So many mutants, the modules in turn; in an order that a change of other mutants leaves."""

    def order(mutants: list[Mutant]) -> None:
        mutants.sort(key=lambda m: hashlib.sha256(f"{seed} {m.name}".encode()).digest())

    found = {name: mutants_of(name, text) for name, text in sources().items()}
    drawn: list[Mutant] = []
    for mutant in evenly({n: m for n, m in found.items() if m}, order):
        if len(drawn) == count:
            break
        drawn.append(mutant)
    return drawn


def fixed_sample() -> Sample:
    """What code_mutants.toml says. Raises ValueError."""
    text = (resources.files(__package__ or "") / "code_mutants.toml").read_text("utf-8")
    data = tomllib.loads(text)
    listed = [Survivor(**row) for row in data.get("survivor", ())]
    wrong = [s.mutant for s in listed if s.sort not in SORTS or not s.reason]
    if wrong:
        raise ValueError(f"code_mutants.toml: no sort, or no reason, for {', '.join(wrong)}")
    survivors = {s.mutant: s for s in listed}
    return Sample(data["sample"]["count"], data["sample"]["seed"], survivors)


def _digest() -> str:
    """What the reach of the cases depends on."""
    suite = resources.files("x25shark.suite")
    texts = [f.read_bytes() for f in sorted(suite.iterdir(), key=str) if f.name.endswith(".py")]
    parts = [*texts, *(text.encode() for text in sources().values())]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


class Table:
    """What is known so far, in a file: what cases reach, and what became of each mutant."""

    def __init__(self, path: Path | None, *, go_on: bool) -> None:
        self.path = path
        self.reaches: dict[str, Reach] = {}
        self.rows: dict[str, list[Hunted]] = {}
        if path is not None and go_on and path.exists():
            self._load(path)

    def _load(self, path: Path) -> None:
        """Raises ValueError if it is not such a table."""
        try:
            data = json.loads(path.read_bytes())
            if data["digest"] == _digest():
                self.reaches = {r["profile"]: Reach(**r) for r in data["reaches"]}
            for row in data["mutants"]:
                self.rows.setdefault(row["mutant"], []).append(Hunted(**row))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{path} is not a table of an earlier run: {error!r}") from None

    def save(self) -> None:
        if self.path is None:
            return
        data = {
            "digest": _digest(),
            "reaches": [asdict(r) for r in self.reaches.values()],
            "mutants": [asdict(row) for rows in self.rows.values() for row in rows],
        }
        try:
            write_whole(self.path, json.dumps(data) + "\n")
        except OSError as error:
            sys.exit(f"code_mutants: {self.path} cannot be written: {error.strerror or error}")

    def caught(self, mutant: Mutant) -> bool:
        return any(row.caught for row in self.rows.get(mutant.name, ()))

    def sort(self, mutant: Mutant) -> str:
        """caught, unreached, same, or open."""
        rows = self.rows.get(mutant.name, [])
        if any(row.caught for row in rows):
            return "caught"
        if not rows:
            return "unreached"
        return "open" if any(r.differs or r.unsure or r.problem for r in rows) else "same"


def _portions(mutants: Sequence[Mutant], jobs: int) -> Iterator[list[Mutant]]:
    """Neighbours in the draw are of different modules, so portions cost about the same."""
    parts = max(min(jobs, len(mutants)), -(-len(mutants) // PORTION))
    for part in range(parts):
        portion = list(mutants[part::parts])
        if portion:
            yield portion


def hunt(
    table: Table,
    drawn: Sequence[Mutant],
    jobs: int,
    profiles: Sequence[str],
    most: int | None = None,
) -> None:
    """Add to the table what it lacks of these mutants; most: cases for each and profile."""
    missing = [(name,) for name in profiles if name not in table.reaches]
    for found in each_apart(jobs, reach_of, missing):
        table.reaches.update({reach.profile: reach for reach in found})
        table.save()
    for profile in profiles:
        reach = table.reaches[profile]
        left = [
            m
            for m in drawn
            if not table.caught(m)
            and reach.reaches(m)
            and all(row.profile != profile for row in table.rows.get(m.name, ()))
        ]
        print(f"{profile}: {len(left)} mutants", file=sys.stderr, flush=True)
        tasks = [(profile, portion, reach, most) for portion in _portions(left, jobs)]
        for rows in each_apart(jobs, hunt_all, tasks):
            for row in rows:
                table.rows.setdefault(row.mutant, []).append(row)
                what = f"caught by {row.by}" if row.caught else "not caught"
                print(f"  {row.mutant}: {what}", file=sys.stderr, flush=True)
            table.save()


def _report(table: Table, drawn: Sequence[Mutant], known: dict[str, Survivor]) -> int:
    """Print the survivors and the score; how many survivors are not accounted for."""
    sorts: Counter[str] = Counter()
    unlisted = 0
    for mutant in drawn:
        sort = table.sort(mutant)
        listed = known.get(mutant.name)
        if sort != "caught" and listed is not None:
            sort = listed.sort
        sorts[sort] += 1
        if sort == "caught":
            continue
        rows = table.rows.get(mutant.name, [])
        differs = sorted({case for row in rows for case in row.differs})
        shown = listed.reason if listed is not None else ", ".join(differs[:6])
        print(f"{sort:10} {mutant.name} (line {mutant.line}): {mutant.text}; {shown}")
        unlisted += sort in ("open", "gap") and listed is None
    judged = sorts["caught"] + sorts["gap"] + sorts["open"]
    score = 100 * sorts["caught"] / judged if judged else 0.0
    print(", ".join(f"{count} {sort}" for sort, count in sorts.most_common()))
    print(f"{sorts['caught']} of {judged} that count: {score:.1f} %")
    return unlisted


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0; 1: with --check a survivor that is not listed; 2: bad usage."""
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.code_mutants")
    parser.add_argument("mutants", nargs="*", help="only these")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None, help="printed if not given")
    parser.add_argument("--check", action="store_true", help="the sample of code_mutants.toml")
    parser.add_argument("--profile", action="append", choices=PROFILES, help="only with these")
    parser.add_argument("--most", type=int, help="most cases for each mutant and profile")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--json", type=Path, help="keep the table here, after every few mutants")
    parser.add_argument("--go-on", action="store_true", help="leave out what the file has already")
    arguments = parser.parse_args(argv)
    try:
        sample = fixed_sample()
        table = Table(arguments.json, go_on=arguments.go_on)
    except ValueError as error:
        print(f"code_mutants: {error}", file=sys.stderr)
        return 2
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().getrandbits(31)
    if arguments.check:
        seed = sample.seed
    if arguments.mutants:
        every = {m.name: m for n, text in sources().items() for m in mutants_of(n, text)}
        unknown = [name for name in arguments.mutants if name not in every]
        if unknown:
            print(f"code_mutants: no mutant {', '.join(unknown)}", file=sys.stderr)
            return 2
        drawn = [every[name] for name in arguments.mutants]
    else:
        drawn = draw(sample.count if arguments.check else arguments.count, seed)
        print(f"seed {seed}, {len(drawn)} mutants")
    try:
        hunt(table, drawn, arguments.jobs, arguments.profile or PROFILES, arguments.most)
    except KeyboardInterrupt:
        print("code_mutants: interrupted; go on with --go-on", file=sys.stderr)
        return 130
    unlisted = _report(table, drawn, sample.survivors)
    return 1 if arguments.check and unlisted else 0


if __name__ == "__main__":
    sys.exit(main())

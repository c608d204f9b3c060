# SPDX-License-Identifier: GPL-2.0-or-later
"""What each case makes the router run, and the hunt for a mutant with the cases that reach it."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..profile import load_profile
from ..results import CaseResult
from ..run.judging import Judgement
from ..run.namespaces import enter_own
from ..run.router import RouterError
from ..suite.loader import Case, body_of, cases
from ..verdicts import Verdict
from .mutant_router import asking
from .mutation import Mutant, sources
from .worker import Worker, applicable

MODULE = "x25shark.selftest.mutant_router"
# What is tried when nothing but INCONCLUSIVE came: whether the router does anything at all.
PLAINEST = ("XOT-HDR-01", "PLP-CALL-01", "HDLC-01", "LAPB-SET-01")
_SILENT = 5
# So often the router itself is looked at, where a mutant seems to send something else.
_LOOKS = 2
_SECONDS = 900.0
_REACTION_SECONDS = 1.0
_RECORD_SECONDS = 10.0
# So many cases are put in order one by one; who has survived those is likely to survive all.
_GREEDY = 25
Place = tuple[str, int]
# What differs from run to run: user data, how long the number of a case in it is, and when an
# acknowledgement goes out.
_DATA = re.compile(r"user data=\S+( \(\d+ octets\))?| [PN]\(R\)=\d+|\b\d{1,2} octets")
_ACKNOWLEDGEMENT = re.compile(r"(LAPB )?(RR|RNR)\b")


@dataclass
class Reach:
    """What the cases of one profile reach of the router without a change.

    lines: by case, the lines of each module that ran. start: those that ran before the first case.
    traffic: by case, what the router sent in it, as digests of several runs.
    """

    profile: str
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    start: dict[str, list[int]] = field(default_factory=dict)
    traffic: dict[str, list[str]] = field(default_factory=dict)

    def reaches(self, mutant: Mutant) -> bool:
        """Whether its line runs at all."""
        here = [self.start, *self.lines.values()]
        return any(mutant.line in ran.get(mutant.module, ()) for ran in here)

    def order(self, mutant: Mutant) -> list[str]:
        """The cases that reach a mutant: those that run what others do not, near it, first.

        What is run when the router is loaded (a number with a name) is reached where it is used;
        where no name is found, any case may matter.
        """
        at = {(mutant.module, mutant.line)}
        if mutant.line in self.start.get(mutant.module, ()):
            at = uses_of(mutant.module, mutant.line)
        reached = self._reaching(at)
        if not reached:
            return self._broadest
        near = self._most_telling(reached, at)
        # A place that many cases reach says little of what they do there: those near it, and those
        # that reach most of the whole router, by turns.
        among = set(reached)
        broad = [case for case in self._broadest if case in among]
        return list(dict.fromkeys(chain.from_iterable(zip(near, broad, strict=True))))

    @cached_property
    def _broadest(self) -> list[str]:
        """The order where any case may show it: what adds most lines to those run before it."""
        new = {
            case: {(module, line) for module, lines in ran.items() for line in lines}
            for case, ran in self.lines.items()
        }
        order: list[str] = []
        while new:
            best = max(new, key=lambda case: (len(new[case]), case))
            added = new.pop(best)
            order.append(best)
            if not added:
                break
            for places in new.values():
                places.difference_update(added)
        return order + sorted(new, key=self._size)

    def _reaching(self, at: set[Place]) -> list[str]:
        return [
            case
            for case, ran in self.lines.items()
            if any(line in ran.get(module, ()) for module, line in at)
        ]

    def _size(self, case: str) -> int:
        return sum(map(len, self.lines[case].values()))

    def _most_telling(self, cases: Sequence[str], at: set[Place]) -> list[str]:
        """Greedily: the case that adds most lines near these places which few cases run."""
        near: dict[str, dict[Place, float]] = {}
        modules = {module for module, _ in at}
        counts = Counter(
            (module, line)
            for ran in self.lines.values()
            for module in modules
            for line in ran.get(module, ())
        )
        far = {place: 0 if place in at else _distance(place, at) for place in counts}
        for case in cases:
            ran = self.lines[case]
            near[case] = {
                (module, line): _weight(counts[module, line], far[module, line])
                for module in modules
                for line in ran.get(module, ())
            }
        seen: Counter[Place] = Counter()
        sizes = {case: self._size(case) for case in cases}
        order: list[str] = []
        left = set(cases)
        while left:
            best = max(
                left,
                key=lambda case: (
                    sum(w / (1 + 4 * seen[place]) for place, w in near[case].items())
                    / sizes[case] ** 0.5,
                    case,
                ),
            )
            order.append(best)
            left.remove(best)
            seen.update(near[best])
            if len(order) >= _GREEDY:
                break
        return order + sorted(left, key=lambda case: sizes[case])


def _distance(place: Place, at: set[Place]) -> int:
    """Lines to the nearest of these places of the same module."""
    return min((abs(place[1] - line) for module, line in at if module == place[0]), default=1000)


def _weight(count: int, distance: int) -> float:
    return 1 / count / (1 + distance / 10)


@cache
def _named() -> dict[str, list[Place]]:
    """Where the router's modules say a name, as a variable or behind a dot."""
    found: dict[str, list[Place]] = {}
    for module, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Name, ast.Attribute)):
                name = node.id if isinstance(node, ast.Name) else node.attr
                found.setdefault(name, []).append((module, node.lineno))
    return found


def uses_of(module: str, line: int) -> set[Place]:
    """Where that is said to which a statement outside of functions gives a value.

    What is said in another such statement (a table made of named values) is used where that is.
    """
    found: set[Place] = set()
    left = [(module, line)]
    seen = set()
    while left:
        statement = _values().get(left.pop())
        if statement is None or statement.place in seen:
            continue
        seen.add(statement.place)
        for name in statement.names:
            places = set(_named().get(name, ())) - found
            found |= places
            left += places
    inside = {place for place in found if place not in _values()}
    return inside - {(module, line)}


class Value(NamedTuple):
    """A statement outside of functions that gives names a value."""

    place: Place
    names: list[str]


@cache
def _values() -> dict[Place, Value]:
    """By each of their lines."""
    found: dict[Place, Value] = {}
    for module, text in sources().items():
        blocks = [ast.parse(text).body]
        while blocks:
            for node in blocks.pop():
                if isinstance(node, ast.ClassDef):
                    blocks.append(node.body)
                if not isinstance(node, (ast.Assign, ast.AnnAssign)):
                    continue
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                value = Value((module, node.lineno), names)
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    found[module, line] = value
    return found


@dataclass
class Hunted:
    """What became of one mutant. differs: cases in which the router sent something else."""

    mutant: str
    text: str = ""
    profile: str = ""
    by: str = ""
    reason: str = ""
    ran: int = 0
    unsure: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    seconds: float = 0.0
    problem: str = ""

    @property
    def caught(self) -> bool:
        return bool(self.by)


def digest(result: CaseResult) -> str:
    """What the router sent in a case, without what may differ from run to run."""
    sent: dict[tuple[str, int], list[str]] = {}
    for packet in result.packets:
        text = _DATA.sub("", packet.text)
        if not packet.sent and not _ACKNOWLEDGEMENT.match(text):
            sent.setdefault((packet.side, packet.connection), []).append(text)
    told = json.dumps([str(result.verdict), sorted(map(str, sent.items()))])
    return hashlib.sha256(told.encode()).hexdigest()[:16]


class Hunter(Worker):
    """A campaign through which the mutants of one profile go."""

    def __init__(self, profile_name: str, directory: Path) -> None:
        profile = load_profile(profile_name)
        times = profile.times.model_copy(update={"reaction": _REACTION_SECONDS})
        waiting = profile.model_copy(update={"times": times})
        super().__init__(profile_name, directory, waiting, hasty=False)
        assert self.campaign.router is not None
        self.campaign.router.module = MODULE

    # what the cases reach

    def reach(self) -> Reach:
        """Run all cases with the router as it is, and record what they reach."""
        found = Reach(self.profile.name)
        record = self.directory / "record"
        self.campaign.change_router(("--record", str(record)))
        found.start = self._recorded(record)
        for case in applicable(self.profile, cases()):
            if not case.purpose.whole_run:
                self._run(case)
                found.lines[case.purpose.id] = self._recorded(record)
        self._take_traffic(found)
        return found

    def _take_traffic(self, found: Reach) -> None:
        """What the router as it is sent in the cases that have been run."""
        self.campaign.wait_for_verdicts()
        for result in self.results.values():
            found.traffic.setdefault(result.id, []).append(digest(result))
            if result.verdict is not Verdict.PASS:
                found.lines.pop(result.id, None)  # it says nothing of a mutant
        self.results.clear()

    def _recorded(self, path: Path) -> dict[str, list[int]]:
        """The lines that ran since the last asking; nothing if no router listens any more."""
        before = len(_lines_of(path))
        try:
            pipe = os.open(asking(path), os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return {}
        os.write(pipe, b"\n")
        os.close(pipe)
        deadline = time.monotonic() + _RECORD_SECONDS
        lines = _lines_of(path)
        while len(lines) == before and time.monotonic() < deadline:
            time.sleep(0.005)
            lines = _lines_of(path)
        found: dict[str, list[int]] = json.loads(lines[-1]) if len(lines) > before else {}
        return found

    # a mutant

    def hunt(self, mutant: Mutant, reach: Reach, most: int | None = None) -> Hunted:
        """Run the cases that reach it (at most so many) until one fails twice."""
        row = Hunted(mutant.name, mutant.text, self.profile.name)
        started = time.monotonic()
        if not self._start(row):
            return row
        known = cases()
        asked = False
        order = reach.order(mutant)
        if most is not None and len(order) > most:
            row.problem = f"the first {most} of {len(order)} cases"
        for name in order[:most]:
            if time.monotonic() - started > _SECONDS:
                row.problem = f"not all cases within {_SECONDS:g} s"
                break
            self._run(known[name])
            row.ran += 1
            silent = [r for r in self.results.values() if r.verdict is Verdict.INCONCLUSIVE]
            if len(silent) >= _SILENT and not asked:
                asked = True
                for case in applicable(self.profile, PLAINEST):
                    self._run(case)
            if self._failed(row):
                break
        else:
            self.campaign.wait_for_verdicts()
            self._failed(row)
        self._compare(row, reach)
        self.campaign.watched = []
        self.campaign.wait_for_verdicts()
        self.results.clear()
        row.seconds = round(time.monotonic() - started, 1)
        return row

    def _start(self, row: Hunted) -> bool:
        try:
            self.campaign.change_router(("--mutant", row.mutant))
        except (RouterError, ValueError) as error:
            # ValueError: it says that it is ready, and not where.
            row.by, row.reason = "start", str(error)
            return False
        self.campaign.watched = []
        for case in applicable(self.profile, cases()):
            if case.purpose.whole_run:
                self.campaign.watch(case.purpose, case.function)
        return True

    def _run(self, case: Case) -> None:
        self.campaign.run_case(case.purpose, body_of(case.function, case.options))

    def _failed(self, row: Hunted) -> bool:
        """Whether a demand on the whole run is broken, or a case failed twice."""
        for watched in self.campaign.watched:
            if watched.broken is not None:
                result = Judgement.whole_run(watched, "")
                row.by, row.reason = result.id, result.reason
                return True
        for key, result in list(self.results.items()):
            if result.verdict is not Verdict.FAIL or result.id in row.unsure:
                continue
            if self._fails_again(key, cases()[result.id]):
                row.by, row.reason = result.id, result.reason
                return True
            row.unsure.append(result.id)
        return False

    def _fails_again(self, key: str, case: Case) -> bool:
        """Whether a case that the router as it is has passed fails with this mutant once more."""
        del self.results[key]
        # It may have died, or be in a state of which this case is not the cause.
        self.campaign.change_router(self.campaign.options.router_options)
        self._run(case)
        self.campaign.wait_for_verdicts()
        again = self.results.pop(key, None)
        return again is not None and again.verdict is Verdict.FAIL

    def _compare(self, row: Hunted, reach: Reach) -> None:
        """The cases in which a mutant that was not caught sent something else.

        What the router itself does not send twice alike says nothing.
        """
        if row.caught:
            return
        sent = {result.id: digest(result) for result in self.results.values()}
        differs = [c for c, d in sent.items() if d not in reach.traffic.get(c, (d,))]
        self.results.clear()
        self.campaign.watched = []
        if differs:
            self.campaign.change_router(())
        for _ in range(_LOOKS if differs else 0):
            for name in differs:
                self._run(cases()[name])
            self._take_traffic(reach)
        row.differs = [
            c
            for c in differs
            if len(set(reach.traffic[c])) == 1 and sent[c] not in reach.traffic[c]
        ]


def _lines_of(path: Path) -> list[bytes]:
    """The whole lines; the last one may still be on its way."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def reach_of(profile_name: str) -> list[Reach]:
    """What the cases of a profile reach; for a process of its own: it enters a namespace."""
    enter_own()
    with tempfile.TemporaryDirectory(prefix="x25shark-reach-") as directory:
        hunter = Hunter(profile_name, Path(directory))
        found = hunter.reach()
        found.profile = profile_name
        hunter.campaign.finish()
        return [found]


def hunt_all(
    profile_name: str, mutants: Sequence[Mutant], reach: Reach, most: int | None
) -> list[Hunted]:
    """Hunt mutants with one profile; for a process of its own: it enters a namespace."""
    enter_own()
    with tempfile.TemporaryDirectory(prefix="x25shark-mutants-") as directory:
        hunter = Hunter(profile_name, Path(directory))
        rows = []
        for mutant in mutants:
            row = hunter.hunt(mutant, reach, most)
            row.profile = profile_name
            rows.append(row)
        hunter.campaign.finish()
        return rows

# SPDX-License-Identifier: GPL-2.0-or-later
"""What variants.py runs: cases against routers that make use of permissions, and their profiles."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from ..catalogue.permission import Permission, alternatives, permissions
from ..profile import Addresses, Control, Profile, load_profile
from .worker import applicable

FULL, TEN_LINES = "full", "ten lines"
# With --full and --alternatives, so many runs go through one campaign: what an interruption loses
# of each job.
PORTION = 4


@dataclass(frozen=True)
class Run:
    """Cases against the router with these variants; without names of cases: all that apply.

    part: of all cases those of this part, as (number from 0, how many parts). named: the cases are
    somebody's choice, not the witnesses, so the behaviour need not show in them. slow: slow cases
    run as well.
    """

    variants: tuple[str, ...]
    cases: tuple[str, ...] = ()
    part: tuple[int, int] = (0, 1)
    named: bool = False
    slow: bool = False

    def key(self, profile: str, form: str) -> tuple[Any, ...]:
        """What tells its row from others: Row.key."""
        chosen = (not self.cases, self.part[0], self.cases if self.named else (), self.slow)
        return (self.variants, profile, form, *chosen)

    @property
    def switches(self) -> tuple[str, ...]:
        """The variants as the router takes them."""
        numbers = {name: permissions()[name].number for name in self.variants}
        if self.cases and not self.named:
            return self.variants
        return tuple(n if numbers[n] is None else f"{n}={numbers[n]}" for n in self.variants)


Task = tuple[str, str, list[Run]]


def profile_in(name: str, form: str, variants: Sequence[str]) -> Profile:
    """A built-in profile that says what these variants need said; or no more than ten lines, in
    which nothing of a line is wrong."""
    profile = load_profile(name)
    data = tomllib.loads(profile.text)
    if form == TEN_LINES:
        known = profile.addresses
        kept = Addresses(a=known.a, b=known.b, echo=None if known.b else known.echo)
        lines = data.get("line", {})
        for variant in variants:
            said = permissions()[variant].says.get("line", {})
            unsaid = {key: value for key, value in said.items() if value is False}
            lines = {side: changed(line, unsaid) for side, line in lines.items()}
        less: dict[str, Any] = {"line": lines} if lines else {}
        return Profile(
            name=f"{name}, ten lines",
            relay_model=profile.relay_model,
            embedded=profile.embedded,
            path=profile.path,
            text=profile.text,
            xot=profile.xot,
            addresses=kept,
            control=Control(call=profile.control.call),
            **less,
        )
    for variant in variants:
        for key, value in permissions()[variant].says.items():
            if value is False:
                data.pop(key, None)
            elif key == "line":
                data[key] = {s: changed(line, value) for s, line in data.get(key, {}).items()}
            elif isinstance(value, dict):
                # Nothing is said of a table that only some routers have, where this one has none.
                if key in data or Profile.model_fields[key].default is not None:
                    data[key] = {**data.get(key, {}), **value}
            elif isinstance(value, list):
                taken_back = {item.removeprefix("not ") for item in value if "not " in item}
                added = {item for item in value if "not " not in item}
                data[key] = sorted({*data.get(key, ()), *added} - taken_back)
            else:
                data[key] = value
    return Profile(**{**data, "path": profile.path, "text": profile.text})


def changed(line: dict[str, Any], says: dict[str, Any]) -> dict[str, Any]:
    """The table of a line with what a permission says of every line; False: it says no more."""
    return {k: v for k, v in {**line, **says}.items() if v is not False}


def witness_tasks(chosen: Sequence[Permission], jobs: int) -> list[Task]:
    """The witnesses of each, in as many portions as there are jobs.

    Where a profile can say something of such a router, it is run said and unsaid.
    """
    by_profile: dict[str, list[Run]] = {}
    tasks: list[Task] = []
    for permission in chosen:
        run = Run((permission.id,), permission.witnesses)
        profile = permission.witness_profile
        if permission.says:
            tasks += [(profile, FULL, [run]), (profile, TEN_LINES, [run])]
        else:
            by_profile.setdefault(profile, []).append(run)
    for profile, runs in by_profile.items():
        parts = min(jobs, len(runs))
        tasks += [(profile, FULL, runs[i::parts]) for i in range(parts)]
    return tasks


def full_tasks(chosen: Sequence[Permission]) -> list[Task]:
    """All cases with each permission, wherever it can show, under both forms of the profile."""
    tasks: list[Task] = []
    for profile in _profiles(chosen):
        runs = [Run((p.id,)) for p in chosen if profile in p.profiles]
        silent = [r for r in runs if not permissions()[r.variants[0]].says]
        tasks += [(profile, FULL, [r]) for r in runs if r not in silent]
        for form, group in ((FULL, silent), (TEN_LINES, runs)):
            portions = [group[i : i + PORTION] for i in range(0, len(group), PORTION)]
            tasks += [(profile, form, portion) for portion in portions]
    return tasks


def pair_tasks(chosen: Sequence[Permission]) -> list[Task]:
    """All cases with combinations that cover every pair that goes together."""
    return [
        (profile, form, [Run(names)])
        for profile in _profiles(chosen)
        for names in covering([p for p in chosen if profile in p.profiles and not p.undrawn])
        for form in (FULL, TEN_LINES)
    ]


def covering(chosen: Sequence[Permission]) -> list[tuple[str, ...]]:
    """Combinations in which each two permissions that go together are both on, off, and mixed."""
    from allpairspy import AllPairs

    if len(chosen) < 2:
        return [(p.id,) for p in chosen]
    places = {p.id: place for place, p in enumerate(chosen)}
    apart = [
        (places[a.id], places[b.id])
        for a in chosen
        for b in chosen
        if a.id < b.id and not a.goes_with(b)
    ]

    def together(row: Sequence[bool]) -> bool:
        return not any(b < len(row) and a < len(row) and row[a] and row[b] for a, b in apart)

    rows = AllPairs([[True, False]] * len(chosen), filter_func=together)
    found = [{p.id for p, on in zip(chosen, row, strict=True) if on} for row in rows]
    found += left_out(chosen, found)
    return [tuple(p.id for p in chosen if p.id in names) for names in found if names]


def left_out(chosen: Sequence[Permission], rows: Sequence[set[str]]) -> list[set[str]]:
    """Rows for the pairs that a library may leave out where some exclude each other."""
    more: list[tuple[set[str], set[str]]] = []
    for a, b in permutations(chosen, 2):
        both, mixed = ({a.id, b.id}, set[str]()), ({a.id}, {b.id})
        wanted = [mixed, both] if a.goes_with(b) and a.id < b.id else [mixed]
        for on, off in wanted:
            if not any(on <= row and not off & row for row in rows):
                _into(more, on, off)
    return [on for on, _ in more]


def _into(rows: list[tuple[set[str], set[str]]], on: set[str], off: set[str]) -> None:
    """Have these permissions on and those off in one of the rows, or in a new one."""
    known = permissions()
    for on_there, off_there in rows:
        clash = on & off_there or off & on_there
        if not clash and all(known[a].goes_with(known[b]) for a in on for b in on_there):
            on_there.update(on)
            off_there.update(off)
            return
    rows.append((set(on), set(off)))


def drawn(chosen: Sequence[Permission], profile: str, count: int, seed: int) -> Run:
    """All cases of the profile with so many permissions at once, drawn by the seed."""
    pool = [p for p in chosen if p.applies(profile) and not p.undrawn]
    random.Random(seed).shuffle(pool)
    taken: list[Permission] = []
    for permission in pool:
        if len(taken) < count and all(permission.goes_with(other) for other in taken):
            taken.append(permission)
    return Run(tuple(p.id for p in taken))


def together_tasks(
    variants: tuple[str, ...],
    profile: str,
    forms: Sequence[str],
    jobs: int,
    *,
    slow: bool = False,
) -> list[Task]:
    """All cases with these permissions at once, in as many parts as there are jobs."""
    return [
        (profile, form, [Run(variants, part=(number, jobs), slow=slow)])
        for form in forms
        for number in range(jobs)
    ]


def named_tasks(
    chosen: Sequence[Permission],
    names: Sequence[str],
    profile: str,
    forms: Sequence[str],
    jobs: int,
    *,
    slow: bool = False,
) -> list[Task]:
    """These cases with each of the permissions that apply to the profile."""
    cases_of_it = tuple(names)
    runs = [Run((p.id,), cases_of_it, named=True, slow=slow) for p in chosen if p.applies(profile)]
    return [task for form in forms for task in _shared(runs, profile, form, jobs)]


def alternative_tasks(chosen: Sequence[Permission], forms: Sequence[str], jobs: int) -> list[Task]:
    """With each permission the cases that it touches, in every profile under which it can show."""
    touched: dict[str, list[str]] = {}
    for purpose, names in alternatives().items():
        for name in names:
            touched.setdefault(name, []).append(purpose)
    tasks: list[Task] = []
    for profile in _profiles(chosen):
        for form in forms:
            runs = []
            for permission in (p for p in chosen if profile in p.profiles):
                said = profile_in(profile, form, [permission.id])
                those = applicable(said, touched.get(permission.id, ()))
                if those:
                    names = tuple(case.purpose.id for case in those)
                    runs.append(Run((permission.id,), names, named=True))
            tasks += _shared(runs, profile, form, max(jobs, len(runs) // PORTION))
    return tasks


def _shared(runs: Sequence[Run], profile: str, form: str, parts: int) -> list[Task]:
    """Runs with one permission each, those of which the profile says nothing in so many parts."""
    # With ten lines it says nothing of any of them.
    alike = [r for r in runs if form == TEN_LINES or not permissions()[r.variants[0]].says]
    tasks: list[Task] = [(profile, form, [r]) for r in runs if r not in alike]
    return tasks + [(profile, form, part) for i in range(parts) if (part := alike[i::parts])]


def some_of(chosen: Sequence[Permission], count: int, seed: int) -> list[Permission]:
    """So many of them, drawn by the seed, in their order."""
    taken = random.Random(seed).sample(range(len(chosen)), min(count, len(chosen)))
    return [chosen[i] for i in sorted(taken)]


def _profiles(chosen: Sequence[Permission]) -> list[str]:
    return list(dict.fromkeys(name for p in chosen for name in p.profiles))

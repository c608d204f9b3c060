# SPDX-License-Identifier: GPL-2.0-or-later
"""Two load results: which figures changed by more than their own spread; and limits for a gate."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..foreign import text_of
from ..report.text import one_line
from .figures import Figure, figures_of
from .results import ResultError, taken_from

LONGEST = 1 << 20
_LIMIT = re.compile(r"([A-Za-z0-9_.+-]+)\s*(>=|<=)\s*([0-9]+(?:\.[0-9]+)?)")


@dataclass(frozen=True)
class Limit:
    """A line of a file of limits."""

    line: int
    name: str
    least: bool
    value: float

    @property
    def text(self) -> str:
        return f"{self.name} {'>=' if self.least else '<='} {self.value:g}"


@dataclass(frozen=True)
class Held:
    """A limit against a result; figure: None where it was not measured."""

    limit: Limit
    figure: Figure | None

    @property
    def ok(self) -> bool:
        if self.figure is None:
            return False
        if self.limit.least:
            return self.figure.value >= self.limit.value
        return self.figure.value <= self.limit.value

    @property
    def text(self) -> str:
        shown = "not measured" if self.figure is None else self.figure.text
        return f"{'ok  ' if self.ok else 'FAIL'}  {self.limit.text}: {shown}"


def _figures(result: Mapping[str, Any], path: Path) -> dict[str, Figure]:
    with taken_from(path):
        return figures_of(result)


def _reasons(result: Mapping[str, Any], path: Path) -> list[str]:
    with taken_from(path):
        return [one_line(reason, 200) for reason in result["verdict"]["reasons"]]


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], paths: tuple[Path, Path]
) -> list[str]:
    """In words what changed. Raises ResultError where they cannot be compared."""
    commands = [str(result.get("command")) for result in (old, new)]
    if commands[0] != commands[1]:
        raise ResultError(
            f"{paths[1]}: a result of {commands[1]}, and {paths[0]} is of {commands[0]}"
        )
    before, after = _figures(old, paths[0]), _figures(new, paths[1])
    found = [line for name in before if name in after
             for line in [_changed(name, before[name], after[name])] if line]  # fmt: skip
    found += [
        f"{name}: {before[name].text} -> not measured" for name in before if name not in after
    ]
    found += [f"{name}: not measured -> {after[name].text}" for name in after if name not in before]
    reasons = _reasons(old, paths[0]), _reasons(new, paths[1])
    found += [f"no longer found: {reason}" for reason in reasons[0] if reason not in reasons[1]]
    found += [f"NEW: {reason}" for reason in reasons[1] if reason not in reasons[0]]
    return found


def _changed(name: str, old: Figure, new: Figure) -> str:
    """A figure whose spreads do not overlap."""
    if old.low <= new.high and new.low <= old.high:
        return ""
    better = (new.value > old.value) == new.more_is_better
    change = f"{(new.value - old.value) / old.value:+.0%}, " if old.value else ""
    return f"{name}: {old.text} -> {new.text} ({change}{'better' if better else 'worse'})"


def read_limits(path: Path) -> list[Limit]:
    """Lines such as "throughput.128 >= 900"; # begins a comment. Raises ResultError."""
    try:
        text = text_of(path, LONGEST)
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ResultError(f"{path}: not UTF-8 text") from None
    limits = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        found = _LIMIT.fullmatch(words)
        if found is None:
            raise ResultError(
                f"{path}:{number}: {one_line(words, 60)!r} is not a limit; write it like this: "
                "throughput.128 >= 900"
            )
        limits.append(Limit(number, found[1], found[2] == ">=", float(found[3])))
    if not limits:
        raise ResultError(f"{path}: it contains no limits")
    return limits


def hold(limits: list[Limit], result: Mapping[str, Any], paths: tuple[Path, Path]) -> list[Held]:
    """Each limit against the result. Raises ResultError for a name that no such result has."""
    figures = _figures(result, paths[1])
    kinds = {name.partition(".")[0] for name in figures}
    for limit in limits:
        if limit.name not in figures and limit.name.partition(".")[0] not in kinds:
            near = difflib.get_close_matches(limit.name, figures, 1)
            hint = f"; perhaps {near[0]}" if near else f"; it has {', '.join(sorted(kinds))}"
            raise ResultError(
                f"{paths[0]}:{limit.line}: no figure {limit.name!r} in a result of "
                f"{result['command']}{hint}"
            )
    return [Held(limit, figures.get(limit.name)) for limit in limits]

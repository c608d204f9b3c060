# SPDX-License-Identifier: GPL-2.0-or-later
"""Two load results: which figures changed by more than their own spread; and limits for a gate."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..foreign import text_of
from ..interrupts import INTERRUPTED
from ..report.text import one_line
from .bench import Gone
from .figures import Figure, figures_of, names_of
from .results import ResultError, lost_testers, taken_from

LONGEST = 1 << 20
NOTHING = 3
"""The exit status of a run without a call."""
_SHOWN = 60
_ENDS = (Gone.words, Gone.later)
"""How the remark begins that the router ended the run."""
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
    found = _other_options(_asked(old, paths[0]), _asked(new, paths[1]))
    before, after = _figures(old, paths[0]), _figures(new, paths[1])
    found += [line for name in before if name in after
              for line in [_changed(name, before[name], after[name])] if line]  # fmt: skip
    found += [
        f"{name}: {before[name].text} -> not measured" for name in before if name not in after
    ]
    found += [f"{name}: not measured -> {after[name].text}" for name in after if name not in before]
    reasons = _reasons(old, paths[0]), _reasons(new, paths[1])
    found += [f"no longer found: {reason}" for reason in reasons[0] if reason not in reasons[1]]
    found += [f"NEW: {reason}" for reason in reasons[1] if reason not in reasons[0]]
    return found


def _asked(result: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The options of a run, and how many testers it had."""
    with taken_from(path):
        options = {**(result.get("options") or {})}
        if "testers" in result:
            options["testers"] = result["testers"]["asked"] if result["testers"] else 1
    return options


def _other_options(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The options in which the runs differ: what changed may be due to these. What one of the
    results does not have is of another version, and says nothing."""
    return [
        f"other options: {name.replace('_', ' ')} {_shown(old[name])} -> {_shown(new[name])}"
        for name in old
        if name in new and old[name] != new[name]
    ]


def _shown(value: Any) -> str:
    """The value of an option."""
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return one_line(",".join(_shown(one) for one in value), _SHOWN) or "none"
    return one_line(f"{value:g}" if isinstance(value, float) else str(value), _SHOWN)


def _changed(name: str, old: Figure, new: Figure) -> str:
    """A figure whose spreads do not overlap."""
    if old.low <= new.high and new.low <= old.high:
        return ""
    better = (new.value > old.value) == new.more_is_better
    # From nothing, and from or to "never", no share can be said.
    shares = old.value and math.isfinite(old.value) and math.isfinite(new.value)
    change = f"{(new.value - old.value) / old.value:+.0%}, " if shares else ""
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
    """Each limit against the result. Raises ResultError for what the run did not set out to
    measure; what it did not come to, or could not say, is not measured, and so missed."""
    figures = _figures(result, paths[1])
    with taken_from(paths[1]):
        names = names_of(result)
    for limit in limits:
        if limit.name not in names:
            near = difflib.get_close_matches(limit.name, sorted(names), 1)
            kinds = sorted({name.partition(".")[0] for name in names})
            hint = f"; perhaps {near[0]}" if near else f"; it has {', '.join(kinds)}"
            raise ResultError(
                f"{paths[0]}:{limit.line}: no figure {limit.name!r} in a result of "
                f"{result['command']}{hint}"
            )
    return [Held(limit, figures.get(limit.name)) for limit in limits]


def unfinished(result: Mapping[str, Any], path: Path) -> list[str]:
    """In words why the run is not a whole one: what it has may be good for limits, and what is
    missing need not. Raises ResultError."""
    with taken_from(path):
        status, verdict = result["exit_status"], result["verdict"]
        found = [one_line(words, 200) for words in lost_testers(result)]
        found += [one_line(words, 200) for words in verdict["remarks"] if words.startswith(_ENDS)]
        if status == INTERRUPTED:
            return ["the run was interrupted"]
        if status == NOTHING and not found:
            found.append("no call was connected")
    return found

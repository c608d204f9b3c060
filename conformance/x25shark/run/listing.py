# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark list: the cases, which of them apply to a router, and why the others do not."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..catalogue import CONFIGURATIONS, catalogue
from ..profile import LINE_ITEMS, MANDATORY, PICS_ITEMS, Profile
from ..suite import index
from ..suite.costs import seconds

_ITEMS = {**PICS_ITEMS, **LINE_ITEMS, **MANDATORY}
_NAME = re.compile(r"\b(?:[A-Z]-[A-Z0-9]+|T[1-4]|TX)\b")


def in_words(reason: str) -> str:
    """A reason with what its abbreviations of PICS items and configurations stand for."""

    def explained(match: re.Match[str]) -> str:
        meaning = _ITEMS.get(match[0]) or CONFIGURATIONS.get(match[0])
        return f"{match[0]} ({meaning})" if meaning else match[0]

    return _NAME.sub(explained, reason)


def rows(
    profile: Profile, identifiers: Iterable[str], *, cost: bool = False
) -> list[dict[str, Any]]:
    """A row for each case: state is runs, slow, not applicable (with the reason) or no case."""
    implemented = index.modules()
    found = []
    for identifier in identifiers:
        purpose = catalogue().purposes[identifier]
        unmet = purpose.unmet(profile.configurations, profile.declared, profile.has)
        row: dict[str, Any] = {
            "id": identifier,
            "state": "slow" if purpose.slow else "runs",
            "purpose": purpose.purpose,
            "clause": purpose.clause,
            "configurations": list(purpose.configurations),
        }
        if identifier not in implemented:
            row["state"] = "no case"
        elif unmet:
            row |= {"state": "not applicable", "reason": in_words(unmet)}
        if cost:
            row["seconds"] = round(seconds(identifier), 1)
        found.append(row)
    return found


def as_json(profile: Profile, found: list[dict[str, Any]]) -> str:
    """The rows for a program, one case in a line."""
    head = {"router": profile.name, "configurations": list(profile.configurations)}
    start = json.dumps(head)[:-1]
    lines = ",\n".join(json.dumps(row) for row in found)
    return f'{start}, "cases": [\n{lines}\n]}}'


def why_not(found: list[dict[str, Any]], width: int) -> list[str]:
    """How many cases do not apply, and why: what the lines of a terminal have no room for."""
    reasons = Counter(row["reason"] for row in found if "reason" in row)
    if not reasons:
        return []
    lines = [f"{reasons.total()} of {len(found)} do not apply (-):"]
    for reason, count in reasons.most_common():
        first, rest = f"{count:6}  ", " " * 8
        lines += textwrap.wrap(
            reason, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
        )
    return lines


def as_lines(found: list[dict[str, Any]], width: int | None) -> list[str]:
    """A line for each case, cut at `width` columns where that is given."""
    longest = max((len(row["id"]) for row in found), default=0)
    lines = []
    for row in found:
        state = "-" if row["state"] == "not applicable" else row["state"]
        spent = f"{row['seconds']:5.1f}s " if "seconds" in row else ""
        why = f" [{row['reason']}]" if "reason" in row and width is None else ""
        line = f"{row['id']:{longest}} {state:8} {spent}{row['purpose']}{why}"
        cut = width is not None and len(line) > width
        lines.append(line[: width - 3] + "..." if cut and width is not None else line)
    return lines

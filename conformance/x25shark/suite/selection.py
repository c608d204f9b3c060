# SPDX-License-Identifier: GPL-2.0-or-later
"""The expressions that select cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from ..catalogue import catalogue

# A standard, and a clause of it: "RFC 1613 6.1", "X.25 Annex C", "ISO/IEC 3309".
_CLAUSE = re.compile(r"(X\.25|RFC ?\d+|ISO/IEC ?\d+)(?:\s+(.+))?", re.IGNORECASE)


class SelectionError(Exception):
    """A selection that names nothing; the message says what."""


def words(expression: str) -> list[str]:
    """The items of an expression: ids, groups and patterns, and clauses between commas."""
    found = []
    for part in expression.split(","):
        item = " ".join(part.split())
        is_clause = _CLAUSE.fullmatch(item.removeprefix("!").strip())
        found += [item] if is_clause else item.split()
    return found


def _standard(name: str) -> str:
    """The name of a standard, however its blanks and letters are written."""
    return name.upper().replace(" ", "")


def _is_under(clause: str, standard: str, wanted: str) -> bool:
    """Whether one of the references of a purpose is that clause or one below it."""
    for reference in clause.split(";"):
        found = _CLAUSE.fullmatch(reference.strip())
        if found is None or _standard(found[1]) != _standard(standard):
            continue
        places = [place.strip().upper() for place in (found[2] or "").split(",")]
        name = wanted.upper()
        if not name or any(p == name or p.startswith((f"{name}.", f"{name} ")) for p in places):
            return True
    return False


def _of_clause(item: str, known: Sequence[str]) -> list[str] | None:
    """The ids whose purposes rest on a clause; None if the item is not a clause."""
    found = _CLAUSE.fullmatch(item.removeprefix("!").strip())
    if found is None:
        return None
    purposes = catalogue().purposes
    standard, wanted = found[1], (found[2] or "").strip()
    matched = [
        k for k in known if k in purposes and _is_under(purposes[k].clause, standard, wanted)
    ]
    if not matched:
        raise SelectionError(f"{item!r}: no case tests this clause (x25shark list --json)")
    return matched


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The known names that are near to one that is not, as a question; "" if none is."""
    near = get_close_matches(name.upper(), known, n=3, cutoff=0.75)
    if not near:
        return ""
    *others, last = near
    return f"did you mean {' or '.join(filter(None, (', '.join(others), last)))}?"


def named(item: str, known: Sequence[str]) -> list[str]:
    """The ids that one item names, whether it adds or takes away. Raises SelectionError."""
    if (of_clause := _of_clause(item, known)) is not None:
        return of_clause
    name = item.removeprefix("!").upper()
    matched = [k for k in known if fnmatchcase(k.upper(), name) or k.upper().startswith(f"{name}-")]
    if not matched:
        groups = sorted({k.rsplit("-", 1)[0] for k in known})
        meant = did_you_mean(name, [*groups, *known]) or f"groups are {', '.join(groups)}"
        raise SelectionError(f"{item!r} names no case; {meant} (x25shark list shows all cases)")
    return matched


def select(expression: str, known: Sequence[str]) -> list[str]:
    """The ids that an expression names, in their order.

    The expression is a list of ids, groups ("PLP-RST", or "PLP" for all of them) or patterns with
    commas or blanks between them: "XOT-HDR PLP-RST-0*", or, between commas, clauses: "RFC 1613 6.1,
    X.25 4.3". An item with "!" in front takes away what it names. Raises SelectionError for an item
    that names nothing.
    """
    items = words(expression)
    chosen: set[str] = set() if any(not i.startswith("!") for i in items) else set(known)
    for item in items:
        matched = set(named(item, known))
        chosen = chosen - matched if item.startswith("!") else chosen | matched
    return [k for k in known if k in chosen]


def needed(expression: str, known: Sequence[str]) -> list[str]:
    """The ids that have to be known for select() to choose the same: one that each item names."""
    return [*select(expression, known), *(named(item, known)[0] for item in words(expression))]

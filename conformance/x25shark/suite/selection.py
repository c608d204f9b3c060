# SPDX-License-Identifier: GPL-2.0-or-later
"""The expressions that select cases."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase


class SelectionError(Exception):
    """A selection that names nothing; the message says what."""


def words(expression: str) -> list[str]:
    """The items of an expression."""
    return expression.replace(",", " ").split()


def named(item: str, known: Sequence[str]) -> list[str]:
    """The ids that one item names, whether it adds or takes away. Raises SelectionError."""
    name = item.removeprefix("!").upper()
    matched = [
        k for k in known if fnmatchcase(k.upper(), name) or k.upper().rsplit("-", 1)[0] == name
    ]
    if not matched:
        groups = sorted({k.rsplit("-", 1)[0] for k in known})
        near = get_close_matches(name, [*groups, *known], n=3, cutoff=0.75)
        meant = f"did you mean {' or '.join(near)}?" if near else f"groups are {', '.join(groups)}"
        raise SelectionError(f"{item!r} names no case; {meant} (x25shark list shows all cases)")
    return matched


def select(expression: str, known: Sequence[str]) -> list[str]:
    """The ids that an expression names, in their order.

    The expression is a list of ids, groups or patterns with commas or blanks between them:
    "XOT-HDR PLP-RST-0*". An item with "!" in front takes away what it names. Raises
    SelectionError for an item that names nothing.
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""The values of counters in a page, and what else in it has moved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from .paths import Missing, Path

# Numbers of a page that are looked at to find a counter that moved in place of another.
MOST_NUMBERS = 20_000
DEEPEST = 12
COUNTER32 = 1 << 32
# Counters of which a sum is taken as such.
MOST_SUMMED = 256
# More than 64 bits hold: what is as large is not a counter.
_TOO_LARGE = 10**20

Steps = tuple[str | int, ...]


def number(value: Any) -> int | None:
    """A value as a counter: a whole number, perhaps written as text or with a fraction of 0."""
    match value:
        case bool():
            return None
        case int():
            found = value
        case float() if value.is_integer():
            found = int(value)
        case str() if re.fullmatch("[0-9]{1,20}", value):
            found = int(value)
        case _:
            return None
    return found if abs(found) < _TOO_LARGE else None


def value(document: Any, paths: Sequence[Path]) -> int | None:
    """The sum of the counters at these paths; None if there is none, or something else.

    A page may leave out what has counted nothing, such as one of several that are summed up.
    """
    found = []
    for path in paths:
        with suppress(Missing):
            found.append([number(v) for v in path.values(document)])
    counts = [item for items in found for item in items]
    whole = [item for item in counts if item is not None]
    return sum(whole) if found and len(whole) == len(counts) else None


def moved(before: int, after: int, shown: int) -> int:
    """By how much a counter moved; those of 32 bits may have passed their top on the way.

    A sum of several falls by 2^32 for each that has.
    """
    step = after - before
    passed = round((shown - step) / COUNTER32)
    return step + COUNTER32 * min(max(passed, 0), MOST_SUMMED)


def numbers(document: Any, above: Steps = ()) -> Iterator[tuple[Steps, int]]:
    """Every number of a document with the way to it, as far as the bounds go."""
    left = MOST_NUMBERS
    waiting = [(above, document)]
    while waiting and left > 0:
        steps, item = waiting.pop()
        left -= 1
        if isinstance(item, (dict, list)) and len(steps) < DEEPEST:
            members = item.items() if isinstance(item, dict) else enumerate(item)
            inside = [((*steps, key), inner) for key, inner in islice(members, left)]
            waiting += reversed(inside)
        else:
            found = number(item)
            if found is not None:
                yield steps, found


def others_moved(
    before: Any, after: Any, root: Path, step: int, mapped: Sequence[Path] = ()
) -> list[str]:
    """What moved by exactly that much below a root, but for what the mapped paths lead to."""
    try:
        old, new = root.value(before), root.value(after)
    except Missing:
        return []
    above = tuple(s for s in root.steps if isinstance(s, (str, int)))
    earlier = dict(numbers(old, above))
    found = [steps for steps, n in numbers(new, above) if n - earlier.get(steps, 0) == step]
    return [in_words(steps) for steps in found if not any(p.leads_to(steps) for p in mapped)]


def in_words(steps: Steps) -> str:
    """The way to a value as a path is written; names may be a router's, so they are cut."""
    words = ""
    for step in steps:
        if isinstance(step, int):
            words += f"[{step}]"
        else:
            plain = step.isascii() and step.replace("_", "").isalnum()
            words += ("." if words else "") + (step if plain else f'"{step}"')[:100]
    return words[:300]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The values of counters in a page, and what else in it has moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .paths import Missing, Path

# Numbers of a page that are looked at to find a counter that moved in place of another.
MOST_NUMBERS = 20_000
DEEPEST = 12
COUNTER32 = 1 << 32
_MOST_DIGITS = 20


def number(value: Any) -> int | None:
    """A value as a counter: a whole number, perhaps written as text or with a fraction of 0."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value) if len(value) <= _MOST_DIGITS else None
    return None


def value(document: Any, paths: Sequence[Path]) -> int | None:
    """The sum of what stands at these paths; None if there is no counter at one of them."""
    total = 0
    for path in paths:
        try:
            found = [number(v) for v in path.values(document)]
        except Missing:
            return None
        for item in found:
            if item is None:
                return None
            total += item
    return total


def moved(before: int, after: int, shown: int) -> int:
    """By how much a counter moved; one of 32 bits may have passed its top on the way."""
    step = after - before
    return step + COUNTER32 if step < 0 and step + COUNTER32 == shown else step


def numbers(document: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str, int]]:
    """Every number of a document with its path as text, as far as the bounds go."""
    left = MOST_NUMBERS
    waiting = [(above, document)]
    while waiting and left > 0:
        steps, item = waiting.pop()
        left -= 1
        if isinstance(item, (dict, list)) and len(steps) < DEEPEST:
            members = item.items() if isinstance(item, dict) else enumerate(item)
            inside = [((*steps, key), inner) for key, inner in members]
            waiting += reversed(inside[:left])
        else:
            found = number(item)
            if found is not None:
                yield _text(steps), found


def others_moved(before: Any, after: Any, root: Path, step: int) -> list[str]:
    """Paths below a root whose numbers moved by exactly that much."""
    try:
        (old,), (new,) = root.values(before), root.values(after)
    except (Missing, ValueError):
        return []
    above = tuple(s for s in root.steps if isinstance(s, (str, int)))
    earlier = dict(numbers(old, above))
    return [p for p, n in numbers(new, above) if n - earlier.get(p, 0) == step]


def _text(steps: Sequence[str | int]) -> str:
    words = ""
    for step in steps:
        plain = isinstance(step, str) and step.isascii() and step.replace("_", "").isalnum()
        if isinstance(step, int):
            words += f"[{step}]"
        else:
            words += ("." if words else "") + (step if plain else f'"{step[:100]}"')
    return words[:300]

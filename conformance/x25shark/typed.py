# SPDX-License-Identifier: GPL-2.0-or-later
"""Data out of a file that somebody may have edited, held against the types of a dataclass.

The first value that is not of its type ends it: a file may hold millions of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints


@cache
def _fields(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Names and types of what a dataclass holds; nothing for another type."""
    return tuple(get_type_hints(kind).items()) if is_dataclass(kind) else ()


@cache
def _parts(kind: Any) -> tuple[Any, Any]:
    """Of list[str]: list, str. Of int | None: UnionType, int. Of dict[str, float]: dict, float."""
    given = [of for of in get_args(kind) if of is not NoneType]
    return get_origin(kind), given[-1] if given else None


def demand(value: object, kind: Any, *where: object) -> None:
    """Raises TypeError, which names the place, if a value or something in it is of another type.

    where: its place. A number is a finite one; an integer may stand for it.
    """
    found: Any = type(value)
    if found is kind and found is not float:
        for name, type_ in _fields(kind):
            demand(getattr(value, name), type_, *where, name)
        return
    what, of = _parts(kind)
    if what is UnionType and value is None:
        return
    if what is UnionType:
        demand(value, of, *where)
    elif what in (list, Sequence) and isinstance(value, list):
        for place, item in enumerate(value):
            demand(item, of, *where, place)
    elif what is dict and isinstance(value, dict):
        for name, item in value.items():
            demand(item, of, *where, name)
    elif kind is not float or not _is_number(value):
        name = (what or kind).__name__
        raise TypeError(f"{'.'.join(map(str, where))[:200]}: not of type {name}")


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False

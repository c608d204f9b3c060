# SPDX-License-Identifier: GPL-2.0-or-later
"""TOML files that say in what they differ from another one, and no more.

    extends = "reference"                  # a built-in one, or a file beside this one
    omits = ["ip", "addresses.ip"]         # what the other has and this one lacks

Tables are joined key by key; whatever else both have is what the file itself says. An entry of an
array of tables is omitted by what it is known by: "route.29" is the [[route]] with prefix "29".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXTENDS = "extends"
OMITS = "omits"
# The key by which an entry of an array of tables is known.
_KNOWN_BY = ("prefix", "name")


class ExtendingError(ValueError):
    """A file cannot extend another one; the text begins with the key that is wrong."""


def extended(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says that extends another one. Raises ExtendingError."""
    omits = own.get(OMITS, [])
    if not isinstance(omits, list) or not all(isinstance(path, str) for path in omits):
        raise ExtendingError(f'{OMITS}: must be a list of keys, such as ["ip", "addresses.ip"]')
    found: dict[str, Any] = dict(base)
    for path in omits:
        try:
            found = _without(found, path.split("."))
        except KeyError:
            raise ExtendingError(f"{OMITS}: {path!r} is not in what the file extends") from None
    return _joined(found, {k: v for k, v in own.items() if k not in (EXTENDS, OMITS)})


def _without(table: Mapping[str, Any], path: list[str]) -> dict[str, Any]:
    key, *rest = path
    if key not in table:
        raise KeyError(key)
    kept = dict(table)
    if not rest:
        del kept[key]
    elif isinstance(table[key], dict):
        kept[key] = _without(table[key], rest)
    elif isinstance(table[key], list):
        kept[key] = [entry for entry in table[key] if not _is_known_as(entry, ".".join(rest))]
        if len(kept[key]) == len(table[key]):
            raise KeyError(key)
    else:
        raise KeyError(key)
    return kept


def _is_known_as(entry: Any, name: str) -> bool:
    return isinstance(entry, dict) and name in (entry.get(key) for key in _KNOWN_BY)


def _joined(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(base)
    for key, value in own.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        found[key] = _joined(base[key], value) if both else value
    return found

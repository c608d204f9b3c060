# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the catalogue's files; where one is wrong, it says which file and which row."""

from __future__ import annotations

import contextlib
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from importlib import resources
from typing import Any, TypeVar

FOLDER = resources.files(__package__)
_Row = TypeVar("_Row")


class CatalogueError(Exception):
    """A file of the catalogue is wrong; the message names the file and the place in it."""


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Ends the process with status 2 and the message where the catalogue is wrong."""
    try:
        yield
    except CatalogueError as error:
        print(f"x25shark: {error}", file=sys.stderr)
        sys.exit(2)


def read(name: str) -> dict[str, Any]:
    """A file of the catalogue, by its path in this folder. Raises CatalogueError."""
    file = FOLDER.joinpath(*name.split("/"))
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogueError(f"{name}: {error}") from error


def rows(name: str, key: str) -> list[dict[str, Any]]:
    """The tables [[key]] of a file. Raises CatalogueError."""
    found = read(name).get(key)
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise CatalogueError(f"{name}: no tables [[{key}]]")
    return found


def made(kind: type[_Row], name: str, row: dict[str, Any], lists: Iterable[str] = ()) -> _Row:
    """A row as an object; lists: keys that hold lists. Raises CatalogueError."""
    where = f"{name}: {row.get('id') or row.get('event') or row}"
    for key in lists:
        if not isinstance(row.get(key, []), (list, tuple)):
            raise CatalogueError(f"{where}: {key} is not a list")
        if key in row:
            row[key] = tuple(row[key])
    known = {f.name: f.default is MISSING and f.default_factory is MISSING for f in fields(kind)}  # type: ignore[arg-type]
    missing = [key for key, needed in known.items() if needed and key not in row]
    strange = [key for key in row if key not in known]
    if missing or strange:
        said = [f"no {key}" for key in missing] + [f"no key is called {key}" for key in strange]
        raise CatalogueError(f"{where}: {'; '.join(said)}")
    return kind(**row)

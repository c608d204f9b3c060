# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a long table, kept in a JSON file so that an interrupted run can go on."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..results import write_whole

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row")


def rows_so_far(path: Path, kind: Callable[..., Row]) -> list[Row]:
    """The rows that an earlier run left there; none without a file. Raises ValueError."""
    if not path.exists():
        return []
    try:
        table: Any = json.loads(path.read_bytes())
        if not isinstance(table, list):
            raise ValueError("it is not a list")
        return [kind(**row) for row in table]
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is not the table of an earlier run: {error}") from None


def save_rows(path: Path | None, rows: Sequence[DataclassInstance], command: str) -> None:
    """Write them, where a path is given; ends the command where that is not possible."""
    if path is None:
        return
    try:
        write_whole(path, json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    except OSError as error:
        sys.exit(f"{command}: {path} cannot be written: {error.strerror or error}")

# SPDX-License-Identifier: GPL-2.0-or-later
"""ip.html: the tables and figures of the paper on one page that needs no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ..load.page import Table, document
from ..results import write_whole
from .tables import TABLES, closing_note


def write_page(path: Path, result: Mapping[str, Any]) -> None:
    """The page of one result."""
    tables = []
    for title, make, texts in TABLES:
        head, rows = make(result)
        if rows:
            tables.append(Table(title, head, rows, text=texts))
    note = [[sentence] for sentence in closing_note(result)]
    tables.append(Table("Beside the paper", [""], note))

    def draw(_plots: ModuleType) -> Sequence[Any]:
        from .plots import plots

        return plots(result)

    write_whole(path, document("IP over X.25", result, tables, draw))

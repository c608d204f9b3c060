# SPDX-License-Identifier: GPL-2.0-or-later
"""load.html of a bench result: the original's table, the others, and the plots."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..results import write_whole
from .bench_plots import plots
from .bench_tables import TABLES
from .page import document, tables_of


def write_bench_page(path: Path, result: Mapping[str, Any]) -> None:
    """The page of a bench result (as in load.json)."""
    tables = tables_of(TABLES, result)
    write_whole(path, document("Router tests", result, tables, plots(result["rows"])))

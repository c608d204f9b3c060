# SPDX-License-Identifier: GPL-2.0-or-later
"""ip.html: the tables and figures of the paper on one page that needs no network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..load.page import Table, document, tables_of
from ..results import write_whole
from .plots import plots
from .tables import TABLES, closing_note


def write_page(path: Path, result: Mapping[str, Any]) -> None:
    """The page of one result."""
    tables = tables_of(TABLES, result)
    note = [[sentence] for sentence in closing_note(result)]
    tables.append(Table("Beside the paper", [""], note))

    shown = {**result, "options": _settings(result["options"])}
    write_whole(path, document("IP over X.25", shown, tables, plots(result)))


def _settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options in one level: those of the line as its own, and the faults that are made."""
    flat = {f"line {name}": value for name, value in options["line"].items() if value}
    if "line delay" in flat:
        flat["line delay"] = f"{options['line']['delay'] * 1000:g} ms"
    flat |= {name: value for name, value in options.items() if name not in ("line", "faults")}
    return flat | {name: value for name, value in options["faults"].items() if value}

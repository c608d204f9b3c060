# SPDX-License-Identifier: GPL-2.0-or-later
"""How a long measurement ends: its status, what the terminal shows, what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..interrupts import interrupts
from . import results, terminal
from .page import TableMaker
from .running import Outcome, conclude_status, sentences


@interrupts.counted()
def conclude(
    console: Console,
    result: dict[str, Any],
    outcome: Outcome,
    tables: Sequence[TableMaker],
    summary: Callable[[dict[str, Any]], Iterable[str]],
    folder: Path | None,
    write_page: Callable[[Path, dict[str, Any]], None],
) -> int:
    """Print tables, summary and sentences, write load.json and load.html into the folder if there
    is one, and return the exit status."""
    conclude_status(result, outcome)
    terminal.print_tables(console, tables, result)
    for line in summary(result):
        console.print(Text(line))
    sentences(console, result["verdict"])
    if folder is not None:
        results.write(folder / "load.json", result)
        write_page(folder / "load.html", result)
        terminal.written(console, folder)
    return int(result["exit_status"])

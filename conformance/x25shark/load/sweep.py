# SPDX-License-Identifier: GPL-2.0-or-later
"""The sweep: packet sizes x windows x circuits, each cell with its control run.

The published plots show calls completed in 20 s. Cells of another length are scaled to 20 s; the
table says which length was run. A cell whose agreed values differ from those asked says so: a
setting that had no effect is not a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..interrupts import interrupts
from ..report.text import one_line
from . import results, terminal
from .bench import Gone
from .engine import Engine
from .figures import of_calls
from .measure import Measurement, measure, measure_control
from .options import PUBLISHED_SECONDS, LoadOptions
from .page import write_sweep_page
from .target import Target
from .wording import count, plural

LINES_SHOWN = 30


@dataclass(frozen=True)
class SweepPlan:
    """The axes of a sweep, and the seconds of a cell and of its control run."""

    packet_sizes: Sequence[int]
    windows: Sequence[int]
    circuits: Sequence[int]
    seconds: float = PUBLISHED_SECONDS
    control_seconds: float = 2.0

    def cells(self) -> list[tuple[int, int, int]]:
        """(circuits, packet size, window) in the order they are run."""
        return [
            (circuits, size, window)
            for circuits in self.circuits
            for size in self.packet_sizes
            for window in self.windows
        ]


def not_as_asked(measurement: Measurement, options: LoadOptions) -> list[str]:
    """Settings that had no effect, by what the router agreed to."""
    negotiated = measurement.caller["negotiated"]
    found = []
    for name, words, asked in (
        ("packet_size", "packet size", options.packet_size),
        ("window", "window", options.window),
    ):
        for way in ("out", "in"):
            agreed = negotiated[f"{name}_{way}"]
            if agreed["max"] and (agreed["min"], agreed["max"]) != (asked, asked):
                found.append(
                    f"{words} {way}: {asked} asked, {agreed['min']} to {agreed['max']} agreed"
                )
    return found


def run_sweep(
    engine: Engine,
    options: LoadOptions,
    plan: SweepPlan,
    target: Target,
    console: Console,
    *,
    folder: Path | None = None,
) -> int:
    """Run all cells; print, write, return the exit status."""
    head = results.head("sweep", engine, target, options)
    head["options"] |= {
        "circuits": list(plan.circuits),
        "packet_size": list(plan.packet_sizes),
        "window": list(plan.windows),
        "duration": plan.seconds,
        "control_seconds": plan.control_seconds,
    }
    cells: list[dict[str, Any]] = []
    statuses: list[int] = []
    wanted = plan.cells()
    try:
        for number, (circuits, size, window) in enumerate(wanted, 1):
            load = replace(
                options.for_seconds(plan.seconds),
                circuits=circuits,
                packet_size=size,
                window=window,
            )
            title = (
                f"{number}/{len(wanted)}  {plural(circuits, 'circuit')}, {size} octets, W {window}"
            )
            with terminal.live(console, title) as progress:
                loaded = measure(engine, load, target, progress)
            control = None
            if plan.control_seconds > 0 and not loaded.interrupted:
                control = measure_control(engine, load.for_seconds(plan.control_seconds))
            cell = make_cell(load, loaded, control)
            cells.append(cell)
            measurements = [loaded] if control is None else [loaded, control]
            statuses.append(results.exit_status(measurements, cell["reasons"]))
            if 130 in statuses:
                break
    except KeyboardInterrupt:  # between two measurements
        statuses.append(130)
    except Gone:
        statuses.append(3)
    return conclude(head, plan, cells, statuses, console=console, folder=folder)


def make_cell(
    load: LoadOptions, loaded: Measurement, control: Measurement | None
) -> dict[str, Any]:
    """One cell as in load.json."""
    figure = results.figures(loaded)
    beside = results.figures(control) if control is not None else None
    spread = of_calls(loaded.caller, figure["calls_per_second"])
    return {
        "circuits": load.circuits,
        "packet_size": load.packet_size,
        "window": load.window,
        "calls_in_20_s": figure["calls_per_second"] * PUBLISHED_SECONDS,
        "calls_in_20_s_error": (spread.high - spread.value) * PUBLISHED_SECONDS,
        "figures": figure,
        "control": beside,
        "share_of_control": results.share_of_control(load, figure, beside),
        "reasons": results.reasons(loaded, figure, load),
        "remarks": not_as_asked(loaded, load) + results.remarks(figure, load),
    }


@interrupts.counted()
def conclude(
    head: Mapping[str, Any],
    plan: SweepPlan,
    cells: list[dict[str, Any]],
    statuses: list[int],
    *,
    console: Console,
    folder: Path | None,
) -> int:
    """Judge all cells together, print, write."""
    status = next((s for s in (130, 3, 1) if s in statuses), 0)
    scaled = "" if plan.seconds == PUBLISHED_SECONDS else f"scaled from {plan.seconds:g} s, "
    for circuits in plan.circuits:
        mine = [c for c in cells if c["circuits"] == circuits]
        if mine:
            # Not the table's own title: that would be folded to the table's width.
            told = f"{plural(circuits, 'circuit')} ({scaled}{_error(mine)})"
            console.print(f"Calls completed in 20 s, {told}", soft_wrap=True)
            console.print(_matrix(plan, mine))
    found = {name: _texts(cells, name) for name in ("reasons", "remarks")}
    found["reasons"] += results.lost_testers(head)
    if status == 0 and found["reasons"]:
        status = 1
    found["remarks"] += results.crowded([cell["figures"] for cell in cells])
    for line in _summary(plan, cells, status):
        console.print(Text(line))
    for word, texts in (("Found", found["reasons"]), ("Remark", found["remarks"])):
        for text in texts[:LINES_SHOWN]:
            console.print(Text(one_line(f"{word}: {text}", 300)))
        if len(texts) > LINES_SHOWN:
            console.print(f"... and {len(texts) - LINES_SHOWN} more in load.json")
    limited = any(_limited(cell) for cell in cells)
    verdict = {
        "ok": status == 0,
        **found,
        "tester_was_limit": limited,
        "share_of_control": None,
    }
    result = dict(head) | {"exit_status": status, "verdict": verdict, "cells": cells}
    if folder is not None:
        results.write(folder / "load.json", result)
        write_sweep_page(folder / "load.html", result)
        terminal.written(console, folder)
    return status


def _error(cells: Sequence[Mapping[str, Any]]) -> str:
    """How far off the cells may be: twice the standard error of the parts of each run."""
    shares = [
        cell["calls_in_20_s_error"] / cell["calls_in_20_s"]
        for cell in cells
        if cell["calls_in_20_s"]
    ]
    if not shares:
        return "no call"
    low, high = (f"{share:.0%}" for share in (min(shares), max(shares)))
    return f"\u00b1 {high}" if low == high else f"\u00b1 {low} to {high}"


def _limited(cell: Mapping[str, Any]) -> bool:
    """Whether the tester was the limit."""
    return (cell["share_of_control"] or 0) >= results.NEAR


def _texts(cells: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    return [
        f"{plural(cell['circuits'], 'circuit')}, {cell['packet_size']} octets, "
        f"window {cell['window']}: {text}"
        for cell in cells
        for text in cell[name]
    ]


def _summary(plan: SweepPlan, cells: Sequence[Mapping[str, Any]], status: int) -> list[str]:
    calls = sum(cell["figures"]["calls_completed"] for cell in cells)
    done = f"{plural(len(cells), 'cell')}, {plural(calls, 'call')}"
    lines = []
    if status == 0:
        lines.append(f"Clean: {done}, every octet verified.")
    elif status == 130:
        lines.append(f"Interrupted in or after cell {len(cells)} of {len(plan.cells())}: {done}.")
    elif not calls:
        lines.append("No call was completed: nothing was measured.")
    limited = sum(1 for cell in cells if _limited(cell))
    if limited:
        lines.append(
            f"The tester was the limit in {limited} of {plural(len(cells), 'cell')} (*): the "
            "router can do at least this much there."
        )
    if any(cell["reasons"] for cell in cells):
        lines.append("Cells marked with ! are not clean.")
    return lines


def _matrix(plan: SweepPlan, cells: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("packet size", justify="right")
    for window in plan.windows:
        table.add_column(f"W {window}", justify="right")
    found = {(c["packet_size"], c["window"]): c for c in cells}
    for size in plan.packet_sizes:
        row = [str(size)]
        for window in plan.windows:
            cell = found.get((size, window))
            if cell is None:
                row.append("-")
                continue
            mark = "*" * _limited(cell) + "!" * bool(cell["reasons"])
            row.append(count(cell["calls_in_20_s"]) + mark)
        table.add_row(*row)
    return table

# SPDX-License-Identifier: GPL-2.0-or-later
"""The sweep: packet sizes x windows x circuits, each cell with its control run.

The published plots show calls completed in 20 s. Cells of another length are scaled to 20 s; the
table says which length was run. A cell whose agreed values differ from those asked says so: a
setting that had no effect is no cell.
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

from ..report.text import one_line
from . import results, terminal
from .engine import Engine
from .measure import Measurement, measure, measure_control
from .options import LoadOptions
from .page import write_sweep_page
from .target import Target

PUBLISHED_SECONDS = 20.0


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
    head = results.head("sweep", engine.version, target, options)
    head["options"] |= {"duration": plan.seconds, "control_seconds": plan.control_seconds}
    cells: list[dict[str, Any]] = []
    statuses: list[int] = []
    wanted = plan.cells()
    for number, (circuits, size, window) in enumerate(wanted, 1):
        cell = replace(
            options.for_seconds(plan.seconds), circuits=circuits, packet_size=size, window=window
        )
        title = f"{number}/{len(wanted)}  {circuits} circuits, {size} octets, window {window}"
        with terminal.live(console, title) as progress:
            loaded = measure(engine, cell, target, progress)
        control = None
        if plan.control_seconds > 0 and not loaded.interrupted:
            control = measure_control(engine, cell.for_seconds(plan.control_seconds))
        figure = results.figures(loaded)
        beside = results.figures(control) if control is not None else None
        found = results.reasons(loaded, figure)
        measurements = [loaded] if control is None else [loaded, control]
        statuses.append(results.exit_status(measurements, found))
        cells.append(
            {
                "circuits": circuits,
                "packet_size": size,
                "window": window,
                "calls_in_20_s": figure["calls_per_second"] * PUBLISHED_SECONDS,
                "figures": figure,
                "control": beside,
                "share_of_control": results.share_of_control(cell, figure, beside),
                "reasons": found + not_as_asked(loaded, cell),
            }
        )
        if 130 in statuses:
            break
    return conclude(head, plan, cells, statuses, console=console, folder=folder)


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
    for circuits in plan.circuits:
        console.print(_matrix(plan, [c for c in cells if c["circuits"] == circuits], circuits))
    reasons = []
    for cell in cells:
        where = f"{cell['circuits']} circuits, {cell['packet_size']} octets, window"
        reasons += [f"{where} {cell['window']}: {reason}" for reason in cell["reasons"]]
    for reason in reasons[:30]:
        console.print(Text(one_line(f"Found: {reason}", 200)))
    if len(reasons) > 30:
        console.print(f"... and {len(reasons) - 30} more in load.json")
    limited = [c for c in cells if (c["share_of_control"] or 0) >= results.NEAR]
    if limited:
        console.print(
            f"The tester was the limit in {len(limited)} of {len(cells)} cells (marked with *): "
            "the router can do at least this much there."
        )
    verdict = {
        "ok": status == 0,
        "reasons": reasons,
        "tester_was_limit": bool(limited),
        "share_of_control": None,
    }
    result = dict(head) | {"exit_status": status, "verdict": verdict, "cells": cells}
    if folder is not None:
        results.write(folder / "load.json", result)
        write_sweep_page(folder / "load.html", result)
        console.print(Text(f"Written: {folder / 'load.json'}, {folder / 'load.html'}"))
    return status


def _matrix(plan: SweepPlan, cells: Sequence[Mapping[str, Any]], circuits: int) -> Table:
    scaled = "" if plan.seconds == PUBLISHED_SECONDS else f" (scaled from {plan.seconds:g} s)"
    table = Table(
        title=f"Calls completed in 20 s{scaled}, {circuits} circuits",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
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
            mark = "*" if (cell["share_of_control"] or 0) >= results.NEAR else ""
            row.append(terminal.count(cell["calls_in_20_s"]) + mark)
        table.add_row(*row)
    return table

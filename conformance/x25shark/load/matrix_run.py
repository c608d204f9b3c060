# SPDX-License-Identifier: GPL-2.0-or-later
"""The command matrix from start to end: what is printed and written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from ..results import write_whole
from ..temporary import temporary_folder
from . import results
from .bench import Gone, Interrupted
from .closing import conclude
from .engine import Engine
from .matrix import Matrix, MatrixPlan, Setting, connected, pairs_of
from .matrix_plots import plots
from .matrix_tables import TABLES
from .options import LoadOptions
from .page import document, tables_of
from .running import Outcome, gone_outcome, progress
from .target import Target
from .wording import count, percent, plural, rate

_UNUSED = ("circuits", "duration", "calls", "longest", "shortest", "messages", "depth", "hold")
CAPTURES = "captures"


def run_matrix(
    engine: Engine,
    options: LoadOptions,
    plan: MatrixPlan,
    target: Target,
    console: Console,
    *,
    folder: Path | None = None,
) -> int:
    """Measure, print, write, return the exit status."""
    head = results.head("matrix", engine, target, options)
    head["options"] = results.without(head["options"], *_UNUSED, "packet_size", "window") | {
        "cell_seconds": plan.seconds,
        "control_seconds": plan.control,
        "line_rate": plan.line_rate,
        "capture_packets": plan.packets,
        **{
            axis: sorted({getattr(setting, axis) for setting in plan.settings})
            for axis in (field.name for field in fields(Setting))
        },
    }
    console.print(
        f"{plural(len(plan.settings), 'test')} of {plan.seconds:g} s: this takes about "
        f"{plan.expected() / 60:.1f} minutes; Ctrl-C stops it and keeps what was measured."
    )
    if folder is not None:
        plan = replace(plan, captures=folder / CAPTURES)
        (folder / CAPTURES).mkdir(exist_ok=True)
    outcome = Outcome()
    with temporary_folder("matrix") as scratch, progress(console, plan.expected()) as say:
        matrix = Matrix(engine, options, target, plan, scratch, say)
        try:
            matrix.run()
        except (KeyboardInterrupt, Interrupted):
            outcome = Outcome(130, "Interrupted: the figures are those until then.")
        except Gone as gone:
            outcome = gone_outcome(gone, any(connected(cell) for cell in matrix.cells))
    result = head | body(matrix, outcome)
    return conclude(console, result, outcome, TABLES, summary, folder, write_matrix_page)


def body(matrix: Matrix, outcome: Outcome) -> dict[str, Any]:
    """What was measured, and what is to be said of it."""
    remarks = list(_remarks(matrix))
    if outcome.reason:
        remarks.append(outcome.reason)
    cells = matrix.cells
    shares = [c["share_of_control"] for c in cells if c.get("share_of_control") is not None]
    return {
        "cells": cells,
        "verdict": {
            "ok": False,
            "reasons": [f"test {c['test']}: {words}" for c in cells for words in c["reasons"]],
            "remarks": remarks,
            "tester_was_limit": any(c.get("tester_was_limit") for c in cells),
            "share_of_control": max(shares, default=None),
        },
    }


def _remarks(matrix: Matrix) -> Iterator[str]:
    for cell in matrix.cells:
        for words in cell["no_effect"]:
            yield f"test {cell['test']}: {words}"
    problems = {cell["capture"]["problem"] for cell in matrix.cells} - {""}
    for problem in sorted(problems):
        yield f"the wire was not looked at ({problem}): what took effect is the tester's account"
    dropped = sum(cell["capture"]["dropped"] for cell in matrix.cells)
    if dropped:
        yield f"the captures lack {count(dropped)} packets: tshark's counts are lower bounds"
    short = [
        cell
        for cell in matrix.cells
        if not cell["capture"]["problem"] and cell["capture"]["seconds"] < 0.8 * cell["seconds"]
    ]
    if short:
        least = min(cell["capture"]["seconds"] for cell in short)
        yield (
            f"tshark counts in the first {count(matrix.plan.packets)} packets of a test "
            f"(from {least:.1f} s on), the kernel in all of it"
        )
    if len(pairs_of(matrix.target)) == 1:
        yield "one pair: the profile has no xot.b2 and addresses.b2 for a second"


def summary(result: Mapping[str, Any]) -> Iterator[str]:
    """The fastest test, and what the line could carry."""
    cells: Sequence[Mapping[str, Any]] = result["cells"]
    if not cells:
        return
    best = max(cells, key=lambda cell: float(cell["speed"]))
    yield f"Fastest: test {best['test']}, {rate(best['speed'])} Mbit/s of user data."
    share = best["user_data_share"]
    words = f"Of the octets on the line {share:.1%} can be user data there"
    if best["ceiling"]:
        words += f": {rate(best['ceiling'])} Mbit/s; {percent(best['share_of_ceiling'])} were"
    yield words + "."
    if result["verdict"]["tester_was_limit"]:
        yield "The tester was the limit in the tests with *: the router can do at least this much."


def write_matrix_page(path: Path, result: Mapping[str, Any]) -> None:
    """load.html of a matrix result."""
    tables = tables_of(TABLES, result)

    write_whole(path, document("Throughput matrix", result, tables, plots(result)))

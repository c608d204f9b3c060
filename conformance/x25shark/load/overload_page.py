# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and page of overload results: one, or several with their ramps on one plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..report.text import one_line
from ..results import write_whole
from . import published
from .overload_plots import plots
from .page import Table, TableMaker, document, router_usage, tables_of
from .wording import count, milliseconds, percent, rate

Rows = tuple[list[str], list[list[str]]]


def _causes(failures: Mapping[str, int]) -> str:
    ordered = sorted(failures.items(), key=lambda item: -item[1])
    return one_line(", ".join(f"{count(n)} x {reason}" for reason, n in ordered[:3]), 80)


def ramp(result: Mapping[str, Any]) -> Rows:
    """Offered against completed, the set-up from the scheduled time, failures."""
    head = ["offered/s", "completed/s", "share", "p50", "p99", "p99.9", "failed"]
    steps = sorted([*result["ramp"], *result["refined"]], key=lambda s: float(s["rate"]))
    rows = []
    for step in steps:
        setup = step["setup_ms"] or {}
        rows.append(
            [
                rate(step["rate"]) + ("" if step["carried"] else "!"),
                rate(step["completed_per_second"]),
                percent(step["share"]),
                *(milliseconds(setup.get(name)) for name in ("p50", "p99", "p99.9")),
                count(step["failed"]) if step["failed"] else "-",
            ]
        )
    # Earlier versions had one step of control.
    for control in filter(None, (result["control"], result.get("control_at_knee"))):
        setup = control["setup_ms"] or {}
        rows.append(
            [
                f"control {rate(control['rate'])}",
                rate(control["completed_per_second"]),
                percent(control["share"]),
                *(milliseconds(setup.get(name)) for name in ("p50", "p99", "p99.9")),
                count(control["failed"]) if control["failed"] else "-",
            ]
        )
    return head, rows


def causes(result: Mapping[str, Any]) -> Rows:
    """Failures by cause, of the steps that had some."""
    rows = [
        [rate(step["rate"]), _causes(step["failures"])]
        for step in result["ramp"]
        if step["failures"]
    ]
    return ["offered/s", "failures by cause"], rows


def processors(result: Mapping[str, Any]) -> Rows:
    """CPU and memory by step: a router whose table of calls fills up shows here."""
    return router_usage(["offered/s"], [([rate(s["rate"])], s) for s in result["ramp"]])


def floods(result: Mapping[str, Any]) -> Rows:
    """What the polite caller met before and during each flood, and the recovery."""
    head = ["overload", "opened", "p99 before", "p99 during", "failed", "recovery, s"]
    rows = []
    for flood in result["floods"]:
        during, recovery = flood.get("during"), flood.get("recovery")
        ended = "-"
        if recovery is not None:
            seconds = recovery["seconds"]
            ended = f"> {recovery['bound']:g}" if seconds is None else f"{seconds:.1f}"
        rows.append(
            [
                flood["words"],
                count(flood["flood"]["opened"]) if "flood" in flood else "-",
                milliseconds(flood["before"]["p99_ms"]),
                milliseconds(during["p99_ms"]) if during else "-",
                f"{during['failed']} of {during['calls']}" if during else "-",
                ended,
            ]
        )
    return head, rows


TABLES: Sequence[TableMaker] = (
    TableMaker("Calls per second, set-up in ms from the scheduled time", ramp),
    TableMaker("Failures", causes, (1,)),
    TableMaker("Processors, of one, and memory", processors),
    TableMaker("A polite caller beside each overload", floods, (0,)),
    TableMaker("Beside the notes on the IA64 Linux TCP stack", published.overload, long=(0, 1, 2)),
)


def write_overload_page(path: Path, found: Sequence[Mapping[str, Any]]) -> None:
    """The page of one result, or of several together: the tables name whose they are."""
    tables: list[Table] = []
    for result in found:
        name = one_line(result["router"]["name"], 40)
        whose = f" ({name}, {result['started']})" if len(found) > 1 else ""
        tables += tables_of(TABLES, result, whose)
    write_whole(path, document("Overload", found[-1], tables, plots(found)))

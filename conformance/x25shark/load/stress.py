# SPDX-License-Identifier: GPL-2.0-or-later
"""The stress test (after goxot's): many calls, every octet verified, the control run beside."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..interrupts import interrupts
from ..report.text import one_line
from . import results, terminal
from .bench import Gone
from .engine import Engine
from .measure import Measurement, measure, measure_control
from .options import LoadOptions
from .page import write_stress_page
from .target import Target
from .wording import plural


def run_stress(
    engine: Engine,
    options: LoadOptions,
    target: Target,
    console: Console,
    *,
    control_seconds: float = 5.0,
    control_relay: bool = False,
    folder: Path | None = None,
) -> int:
    """Load the target, then the tester alone; print, write, return the exit status."""
    head = results.head("stress", engine, target, options)
    try:
        with terminal.live(console, target.name) as progress:
            loaded = measure(engine, options, target, progress)
    except Gone as gone:  # and with the testers what they had counted
        for words in (*results.lost_testers(head), f"{gone.later}: {gone}."):
            console.print(Text(one_line(words, 300)))
        return 1
    measurements = [loaded]
    if control_seconds > 0 and not loaded.interrupted:
        seconds = min(control_seconds, options.duration or control_seconds)
        # A number of calls is a number for the router; the ceiling needs time, not calls.
        alone = replace(options.for_seconds(seconds), hold_to_end=False, hold=0.0)
        try:
            with terminal.live(console, "control") as progress, contextlib.suppress(Gone):
                measurements.append(measure_control(engine, alone, progress, control_relay))
        except KeyboardInterrupt:  # before it began, or behind its end
            measurements = [replace(loaded, interrupted=True)]
    return conclude(head, options, measurements, console, folder)


@interrupts.counted()
def conclude(
    head: dict[str, Any],
    options: LoadOptions,
    measurements: list[Measurement],
    console: Console,
    folder: Path | None,
) -> int:
    """Judge, print the report, write load.json and the page."""
    loaded = measurements[0]
    figure = results.figures(loaded)
    control = results.figures(measurements[1]) if len(measurements) > 1 else None
    found = results.reasons(loaded, figure, options)
    remarks = results.remarks(figure, options)
    if control is not None:
        alone = results.reasons(measurements[1], control, options)
        found += [f"control run: {reason}" for reason in alone]
        remarks += [f"control run: {remark}" for remark in results.remarks(control, options)]
    remarks += results.crowded([figure] if control is None else [figure, control])
    found += results.lost_testers(head)
    share = results.share_of_control(options, figure, control)
    status = results.exit_status(measurements, found)
    terminal.report(console, loaded, figure)
    terminal.compare(console, figure, control)
    terminal.latencies(console, figure, control)
    terminal.findings(console, loaded)
    limit = share is not None and share >= results.NEAR
    verdict = {
        "ok": status == 0,
        "reasons": found,
        "remarks": remarks,
        "tester_was_limit": limit,
        "share_of_control": share,
        "limit": results.limit(options, figure, control),
    }
    for line in summary(options, status, verdict, figure, control):
        console.print(Text(line))
    result = head | {
        "exit_status": status,
        "verdict": verdict,
        "measurements": [
            m.as_dict() | {"figures": f}
            for m, f in zip(measurements, [figure, control], strict=False)
        ],
    }
    if folder is not None:
        results.write(folder / "load.json", result)
        write_stress_page(folder / "load.html", result)
        terminal.written(console, folder)
    return status


def summary(
    options: LoadOptions,
    status: int,
    verdict: dict[str, Any],
    figure: dict[str, Any],
    control: dict[str, Any] | None,
) -> list[str]:
    """The conclusion in sentences: what was found, and whether the tester was the limit."""
    lines: list[str] = []
    if status == 0:
        lines.append(
            f"Clean: {plural(figure['calls_completed'], 'call')} and "
            f"{plural(figure['messages_verified'], 'message')}, every octet verified."
        )
    elif status == 3:
        lines.append("No call was connected: nothing was measured.")
    elif status == 130:
        lines.append("Interrupted: the figures are those of the time until then.")
    lines += [f"Found: {one_line(reason, 300)}" for reason in verdict["reasons"]]
    lines += [f"Remark: {one_line(remark, 300)}" for remark in verdict["remarks"]]
    if verdict["limit"]:
        lines.append(verdict["limit"])
    elif options.rate is not None:
        offered = figure["calls_offered"] / figure["seconds"]
        lines.append(
            f"Offered {offered:.1f} calls/s, completed {figure['calls_per_second']:.1f} calls/s; "
            "latencies count from the scheduled time."
        )
    elif control is None and status != 3:
        lines.append("No control run: these figures may be the tester's own limit.")
    return lines

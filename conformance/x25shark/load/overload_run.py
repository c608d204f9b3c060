# SPDX-License-Identifier: GPL-2.0-or-later
"""The command overload from start to end: what is printed and written, and two results together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..report.text import one_line
from . import results
from .bench import Gone, Interrupted
from .closing import conclude
from .engine import Engine
from .options import LoadOptions, OptionError
from .overload import Overload, OverloadPlan, collapse, disturbed, reasons_of
from .overload_page import TABLES, write_overload_page
from .running import Outcome, gone_outcome, progress
from .target import Target


def run_overload(
    engine: Engine,
    options: LoadOptions,
    plan: OverloadPlan,
    target: Target,
    console: Console,
    *,
    folder: Path | None = None,
) -> int:
    """Measure, print, write, return the exit status."""
    head = results.head("overload", engine, target, options)
    unused = ("duration", "longest", "shortest", "calls", "messages", "circuits", "depth", "hold")
    head["options"] = results.without(head["options"], *unused) | {
        "rates": list(plan.rates),
        "step_seconds": plan.step,
        "base_rate": plan.base_rate,
        "flood_rate": plan.flood_rate,
        "flood_seconds": plan.flood,
        "flood_most": plan.flood_most,
        "bound_seconds": plan.bound,
        "floods": ["beyond", *plan.kinds],
    }
    console.print(
        f"This takes about {plan.expected() / 60:.1f} minutes, {plan.seconds() / 60:.1f} at most; "
        "Ctrl-C stops it and keeps what was measured."
    )
    outcome = Outcome()
    with progress(console, plan.expected()) as say:
        overload = Overload(engine, options, target, plan, say)
        try:
            overload.run()
        except (KeyboardInterrupt, Interrupted):
            outcome = Outcome(130, "Interrupted: the figures are those until then.")
        except Gone as gone:
            outcome = gone_outcome(gone, any(step["connected"] for step in overload.ramp))
    result = head | body(overload, outcome)
    return conclude(
        console, result, outcome, TABLES, summary, folder,
        lambda page, one: write_overload_page(page, [one]),
    )  # fmt: skip


def body(overload: Overload, outcome: Outcome) -> dict[str, Any]:
    """What was measured, and what is to be said of it."""
    reasons = list(_reasons(overload))
    remarks = list(_remarks(overload))
    if outcome.reason:
        remarks.append(outcome.reason)
    share = share_of_tester(overload)
    limit = ""
    if share is not None:
        limit = (
            f"The tester was the limit: the knee is at {share:.0%} of what it does without the "
            "router. The router can do at least this much."
        )
    return {
        "control": overload.control,
        "control_at_knee": overload.control_at_knee,
        "ramp": overload.ramp,
        "refined": overload.refined,
        "knee": overload.knee,
        "floods": overload.floods,
        "left_out": overload.left_out,
        "verdict": {
            "ok": False,
            "reasons": reasons,
            "remarks": remarks,
            "tester_was_limit": share is not None,
            "share_of_control": share,
            "limit": limit,
        },
    }


def share_of_tester(overload: Overload) -> float | None:
    """The knee as a share of what the tester does alone. None where there is no knee, where that is
    more by a fifth, and where nobody knows how much: it carried whatever it was asked for."""
    knee, control = overload.knee, overload.control_at_knee or overload.control
    if knee is None or knee["upper"] is None or not knee["rate"]:
        return None
    if control is None or control["carried"]:
        return None
    share = float(knee["rate"]) / max(float(control["completed_per_second"]), 1e-9)
    return min(share, 1.0) if share >= results.NEAR else None


def _reasons(overload: Overload) -> Iterator[str]:
    less = collapse(overload.ramp)
    if less:
        yield less
    for flood in overload.floods:
        recovery = flood.get("recovery")
        if recovery is None:
            continue
        if recovery["seconds"] is None:
            words = f"{flood['words']}: does not recover within {recovery['bound']:g} s"
            if recovery.get("after_restart") is not None:
                words = f"{flood['words']}: does not recover until restarted"
            elif recovery.get("restart_failed"):
                words += (
                    f", and could not be restarted: {one_line(recovery['restart_failed'], 160)}"
                )
            yield words
    if overload.knee and not overload.knee["rate"]:
        first = overload.ramp[0]
        yield f"does not carry even {first['rate']:g} calls/s: {first['share']:.0%} completed"


def _remarks(overload: Overload) -> Iterator[str]:
    knee, control = overload.knee, overload.control
    if control is not None and not control["carried"]:
        yield (
            f"the tester alone completes {control['completed_per_second']:.0f} of "
            f"{control['rate']:g} calls/s: beyond that the figures are its own"
        )
    unplaced = [step for step in (*overload.ramp, *overload.refined) if step["unplaced"]]
    if unplaced:
        first = min(unplaced, key=lambda step: float(step["rate"]))
        yield (
            f"from {first['rate']:g} calls/s on the tester itself had no sockets left for some "
            f"calls ({one_line(reasons_of(first['failures']), 120)}): steps like that say nothing "
            "of the router. Closed connections keep their ports for a minute: wait, or ask for "
            "fewer steps (--rates)"
        )
    elif knee and knee["upper"] is None and knee["rate"]:
        yield f"no knee up to {knee['rate']:g} calls/s: the ramp ends before the router does"
    yield from overload.left_out
    yield from results.crowded(overload.ramp)
    for step in disturbed(overload.ramp):
        yield (
            f"{step['rate']:g} calls/s were not carried ({step['share']:.0%} completed in time, "
            f"{step['failed']} failed), but more was: something disturbed that step"
        )
    for flood in overload.floods:
        during = flood.get("during")
        if during and during["failed"]:
            yield (
                f"{flood['words']}: {during['failed']} of {during['calls']} calls of the polite "
                "caller beside them failed"
            )


def summary(result: Mapping[str, Any]) -> Iterator[str]:
    """The knee and the recoveries in sentences."""
    knee = result["knee"]
    if knee and knee["upper"] is not None and knee["rate"]:
        yield f"Knee: {knee['rate']:.0f} to {knee['upper']:.0f} calls/s."
    for flood in result["floods"]:
        recovery = flood.get("recovery")
        if recovery and recovery["seconds"] is not None:
            yield f"Recovered from {flood['words']} in {recovery['seconds']:.1f} s."
    if result["verdict"].get("limit"):
        yield result["verdict"]["limit"]


def plot_together(paths: Sequence[Path], folder: Path, console: Console) -> int:
    """Several overload results on one page. Raises ResultError and OptionError."""
    found = []
    for path in paths:
        file = path / "load.json" if path.is_dir() else path
        result = results.read(file)
        if result.get("command") != "overload":
            raise OptionError(f"{file}: a result of {result.get('command')!r}, not of overload")
        found.append(result)
    with results.taken_from(*paths):
        write_overload_page(folder / "load.html", found)
    console.print(Text(f"Written: {folder / 'load.html'}"))
    return 0

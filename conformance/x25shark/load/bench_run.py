# SPDX-License-Identifier: GPL-2.0-or-later
"""The command bench from start to end: phases, judgement, what is printed and written."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from ..interrupts import interrupts
from ..report.text import one_line
from . import idle, results, search, terminal
from .bench import NO_RATE, Bench, BenchPlan, Gone, Interrupted, narrow
from .bench_findings import RARE, spoilt, standstill, unseen
from .bench_page import write_bench_page
from .bench_tables import TABLES
from .engine import Engine
from .errors import ErrorRow, errors, kinds_of
from .filters import Filters
from .management import Management
from .options import LoadOptions, Mode
from .running import Outcome, conclude_status, gone_outcome, progress, sentences
from .target import Target
from .terminal import print_tables
from .trial import Track
from .wording import count, plural

_LEAST_ERRORS = 5.0


def run_bench(
    engine: Engine,
    options: LoadOptions,
    plan: BenchPlan,
    target: Target,
    console: Console,
    *,
    grace: float = 1.0,
    folder: Path | None = None,
) -> int:
    """Measure, print, write, return the exit status."""
    search.library()  # before anything is measured
    mode: Mode = "sink" if target.listen else "echo"
    track = Track(engine, replace(options, mode=mode), target, grace)
    profile = target.profile
    hook = profile.control.filters if profile else None
    counters = profile.counters if profile else None
    management = Management(counters, target.counters_url)
    plan = replace(
        plan.with_filters() if hook else plan,
        counters=management.url is not None,
        age=counters.age if counters else None,
        errors=plan.errors if profile and kinds_of(profile) else 0.0,
    )
    head = results.head("bench", engine, target, track.options)
    unused = ("duration", "longest", "shortest", "calls", "messages", "depth", "hold")
    head["options"] = results.without(head["options"], *unused) | {
        "packet_size": plan.packet_size,
        "sizes": list(plan.sizes),
        "trial_seconds": plan.trial,
        "bound_seconds": plan.bound,
        "width": plan.width,
        "grace_seconds": grace,
        "line_rate": plan.line_rate,
    }
    console.print(
        f"This takes up to {plan.seconds() / 60:.1f} minutes; Ctrl-C stops it and keeps what "
        f"was measured."
    )
    outcome = Outcome()
    ends = time.monotonic() + plan.seconds()
    with progress(console, plan.seconds()) as say:
        bench = Bench(track, plan, management, Filters(hook) if hook else None, say)
        quiet: dict[str, Any] = {}
        wrong: list[ErrorRow] = []
        try:
            bench.look_at_set_up()
            if "idle" not in plan.skip:
                _idle(bench, target, plan.idle, quiet)
            bench.run()
            if "errors" not in plan.skip and plan.errors and profile is not None:
                say("errors: units and frames that are wrong")
                # What the sizes did not need is there too.
                left = max(ends - time.monotonic(), _LEAST_ERRORS)
                for row in errors(profile, management, target.serial, left):
                    wrong.append(row)
        except (KeyboardInterrupt, Interrupted):
            outcome = Outcome(130, "Interrupted: the figures are those until then.")
        except Gone as gone:
            outcome = gone_outcome(gone, bench.measured)
    return _conclude(
        head | body(bench, quiet, outcome), management, wrong, outcome, console, folder
    )


@interrupts.counted()
def _conclude(
    result: dict[str, Any],
    management: Management,
    wrong: Sequence[ErrorRow],
    outcome: Outcome,
    console: Console,
    folder: Path | None,
) -> int:
    """Judge, print, write load.json and the page, return the exit status."""
    result["phases"] = {name: a.as_dict() for name, a in management.phases.items()}
    result["errors"] = [row.as_dict() for row in wrong]
    result["verdict"]["reasons"] += management_reasons(result["phases"])
    result["verdict"]["reasons"] += [row.reason for row in wrong if row.reason]
    conclude_status(result, outcome)
    report(console, result)
    if folder is not None:
        results.write(folder / "load.json", result)
        write_bench_page(folder / "load.html", result)
        terminal.written(console, folder)
    return int(result["exit_status"])


def _idle(bench: Bench, target: Target, seconds: float, found: dict[str, Any]) -> None:
    """The router left alone, without circuits and with some that carry nothing."""
    address, _, port = target.connect.rpartition(":")
    interface = target.profile.capture.interface if target.profile else "auto"
    device = "any" if interface == "auto" else interface
    bench.say("idle, without circuits")
    found["without"] = idle.watch(address, int(port), seconds, device).as_dict()
    bench.say("idle, with circuits up")
    track = bench.track
    # An open-loop trial whose only messages are due after the end: circuits that carry nothing.
    with track.quiet_circuits(seconds + 25) as opened:
        if opened:
            found["with"] = idle.watch(address, int(port), seconds, device).as_dict()
        else:
            found["with"] = {"seconds": 0, "per_minute": {}, "problem": "no circuit came up"}


def body(bench: Bench, quiet: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    """What was measured, and what is to be said of it."""
    rows = [row for row in bench.rows if "throughput" in row]
    reasons: list[str] = []
    remarks: list[str] = []
    for row in rows:
        size = f"{row['size']} octets: "
        if row["throughput"]["loss"]:
            reasons.append(
                f"{size}no throughput can be said: {row['throughput']['loss']} were lost at rates "
                "that the path keeps up with"
            )
        elif words := spoilt(row):
            reasons.append(f"{size}{words}, which no rate explains")
        elif not row["throughput"]["said"] and row["throughput"]["complete"]:
            reasons.append(f"{size}no rate without loss was found")
        reasons += [f"{size}{less}" for less in row.get("less", [])]
        still = standstill(row)
        reasons += [f"{size}{still}"] if still else []
    if bench.few_at_once:
        remarks.append(
            f"new connections had to be asked for again, or calls were not answered, when "
            f"{bench.track.options.circuits} were opened at the same time: they were opened two at "
            "a time"
        )
    remarks += _of_all(rows)
    for reading in bench.counters:
        if not reading["right"]:
            reasons.append(
                f"counter {reading['counter']} moved by {reading['moved']} where "
                f"{reading['shown']} Data packets passed ({reading['size']} octets, "
                f"{reading['load']})"
            )
    remarks += _of_counters(bench)
    if bench.filters is not None and bench.filters.problem:
        remarks.append(f"no filter conditions from then on: {bench.filters.problem}")
    if bench.filters is not None and bench.filters.left_set:
        remarks.append(
            "filter conditions may still be in the router's configuration, and were in what was "
            f"measured since: {bench.filters.left_set}"
        )
    if outcome.reason:
        remarks.append(outcome.reason)
    return {
        "rows": rows,
        "idle": dict(quiet),
        "counters": bench.counters,
        "verdict": {
            "ok": False,
            "reasons": reasons,
            "remarks": remarks,
            "tester_was_limit": any(row.get("tester_was_limit") for row in rows),
            "share_of_control": max((row.get("share_of_control") or 0 for row in rows), default=0),
        },
    }


def _of_counters(bench: Bench) -> Iterator[str]:
    """Where not every trial that could be was held against the counters."""
    if "counters" in bench.plan.skip:
        return
    if bench.management.age:
        yield (
            f"the counters page may be {bench.management.age:.2g} s old: it was waited for in two "
            "trials of the first size alone"
        )
    elif bench.management.is_too_old():
        yield (
            f"the counters page did not show within {bench.plan.patience:g} s what had passed: "
            "nothing is said of its counters (counters.age of the profile says how old it may be)"
        )


def _of_all(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The remarks of all sizes; what is so at several is said once."""
    sizes: dict[str, list[str]] = {}
    for row in rows:
        for text in _remarks(row):
            sizes.setdefault(text, []).append(str(row["size"]))
    yield from (f"{', '.join(where)} octets: {text}" for text, where in sizes.items())
    if rare := [_no_loss(row) for row in rows if _is_unsure(row)]:
        yield (
            f"too few messages in the time to see a loss of one in {count(1 / RARE)}: no loss in "
            f"{', '.join(rare)}"
        )
    other = max((t["other_work"] for row in rows for t in row["trials"]), default=0.0)
    if other >= results.OTHER_WORK:
        yield f"other work took up to {other:.0%} of this machine: rates may be too low"


def _is_unsure(row: Mapping[str, Any]) -> bool:
    found = row["throughput"]
    return bool(found["said"]) and unseen(found["clean_messages"]) > RARE


def _no_loss(row: Mapping[str, Any]) -> str:
    """How small a loss could have been seen."""
    clean = row["throughput"]["clean_messages"]
    return f"{count(clean)} of {row['size']} octets (< {unseen(clean) * 100:.2g} %)"


def _remarks(row: Mapping[str, Any]) -> Iterator[str]:
    found = row["throughput"]
    if row.get("interrupted"):
        yield f"interrupted ({row['interrupted']}): its figures are those until then"
    elif found["problem"]:
        yield f"the search ended early, MLRsearch stumbled: {one_line(found['problem'], 200)}"
    elif not found["complete"] and not found["said"] and not found["loss"]:
        yield "no rate without loss was found in the time of the search (--bound)"
    elif not found["complete"]:
        words = "the search ran out of time: the bounds are wider than asked"
        yield words + (", and from short trials" if found["short"] else "")
    if row.get("tester_was_limit"):
        yield (
            f"the tester was the limit ({row['share_of_control']:.0%} of what it does without the "
            "router): the router can do at least this much"
        )
    flood, upper = row.get("flood"), found["upper"]
    more = max((row[n]["carried"] for n in ("plus_25", "flood") if row.get(n)), default=0.0)
    if found["said"] and upper and more > 1.02 * upper:
        yield (
            "carries more when offered more than its maximum, which is too low, therefore: "
            "something disturbed the search, or the router stalls at times"
        )
    burst = row.get("burst")
    if (
        burst
        and (over := burst["lost_at"])
        and over - burst["messages"] > narrow(burst["messages"])
    ):
        yield (
            f"the longest burst has {burst['messages']} to {over - 1} messages: no time was left "
            "to find out which"
        )
    if burst and burst["control"] is False:
        yield (
            f"the tester alone lost of a burst of {burst['lost_at']} too: the router may take more"
        )
    filters = row.get("filters") or {"why": {}, "short": []}
    for number, why in filters["why"].items():
        if why == NO_RATE:
            yield f"with {plural(int(number), 'filter condition')} no rate without loss was found"
    if filters["short"]:
        names = " and ".join(f"f{number}" for number in filters["short"])
        yield f"the search for {names} ran out of time: the router may do more"
    if row.get("left_out"):
        yield f"no time was left for: {', '.join(row['left_out'])}"
    if flood and flood["held_back"] + flood["lost"]["late"] > 0 and not flood["lost"]["missing"]:
        yield "the path has flow control: what is too much is held back and late, not dropped"


def management_reasons(phases: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Where the management plane did not answer."""
    found = []
    for state, words in (("dead", "does not answer"), ("slow", "is slow or fails at times")):
        names = [name for name, answers in phases.items() if answers["state"] == state]
        if names:
            found.append(f"the counters page {words} in: {', '.join(names)}")
    return found


def report(console: Console, result: Mapping[str, Any]) -> None:
    """Tables, then what was found in sentences."""
    print_tables(console, TABLES, result)
    verdict = result["verdict"]
    rows = result["rows"]
    if result["exit_status"] == 0:
        console.print(f"Measured: {plural(len(rows), 'size')}, every octet verified.")
    elif result["exit_status"] == 3:
        console.print("No call was connected: nothing was measured.")
    sentences(console, verdict)

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the terminal shows: progress while a suite runs, one failure in full, the summary.

Nothing here interprets markup or escapes that came from a router: text is cleaned by `text` and
printed as `rich.text.Text`, never as rich markup.
"""

from __future__ import annotations

import os
import re
import shlex
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from ..catalogue import CONFIGURATIONS
from ..results import UNKNOWN_SIDE, CaseResult, ExpectationResult, JudgeReading, Results
from ..stored import unpacked
from ..verdicts import EXIT_STATUSES, Verdict
from .counters import error_table, reading_line
from .folder import in_folder
from .text import (
    deciding_packets,
    direction,
    disagree,
    first_line,
    one_line,
    printable,
    relative_path,
    shorten,
    unmet,
)

STYLES: dict[Verdict, str] = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.ERROR: "bold magenta",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.NOT_APPLICABLE: "dim",
    Verdict.NOT_RUN: "dim",
}
ATTENTION = (Verdict.ERROR, Verdict.FAIL, Verdict.INCONCLUSIVE)
"""Verdicts that someone has to look at, the gravest first."""

_FAILURES_SHOWN = 20
_COUNTERS_SHOWN = 30
_REASONS_SHOWN = 8
_LONGEST_REASON = 1_000
_MARGIN = 12
_CONFIGURATION = re.compile(rf"\b(?:{'|'.join(CONFIGURATIONS)})\b")


def one_sentence(case: CaseResult, limit: int = 400, *, words: bool = False) -> str:
    """Why the case has its verdict, in one line: its reason, or its first unmet expectation.

    words: as of one_line.
    """
    reason = first_line(case.reason, limit, words=words)
    if reason:
        return reason
    for expectation in unmet(case):
        text = f"expected at {expectation.side}: {expectation.text}"
        return one_line(text, limit, words=words)
    return ""


def _field(name: str, value: str, width: int | None = None) -> list[str]:
    """Lines of a named value, wrapped at `width`; further lines are set in under the first."""
    return _beside(f"{name:<{_MARGIN}}", value, width)


def _beside(before: str, value: str, width: int | None) -> list[str]:
    lines = value.splitlines() or [""]
    margin = len(before)
    if width is not None:
        room = max(width - margin, 20)
        lines = [
            part
            for line in lines
            for part in textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False)
            or [""]
        ]
    return [f"{before}{lines[0]}".rstrip(), *(" " * margin + line for line in lines[1:])]


def _reading(reading: JudgeReading | None) -> str:
    if reading is None:
        return "no reading"
    where = f" (frame {reading.frame}, packet {reading.k or 1})" if reading.frame else ""
    saw = printable(reading.saw, 2_000) or ("as expected" if reading.met else "nothing that fits")
    if not reading.met and saw == "nothing":
        return saw
    return f"{'met' if reading.met else 'not met'}{where}: {saw}"


def _expectation(
    expectation: ExpectationResult, evidence: str | None, width: int | None
) -> list[str]:
    clause = one_line(expectation.clause)
    lines = [""]
    text = printable(expectation.text, 2_000)
    lines += _field("expected", f"at {one_line(expectation.side, 8)}: {text} ({clause})", width)
    one, two = expectation.judge_one, expectation.judge_two
    if one is not None and two is not None and one.met == two.met and one.saw == two.saw:
        lines += _field("received", _reading(one), width)
    else:
        lines += _field("tester", _reading(one), width)
        lines += _field("Wireshark", _reading(two), width)
        if disagree(expectation):
            lines += _field("", "the two judges disagree")
    if expectation.frame is not None:
        place = f"frame {expectation.frame}, packet {expectation.k or 1} of the frame"
        lines += _field("packet", place + (f", in {evidence}" if evidence else ""))
    if expectation.filter:
        lines += _field("filter", printable(expectation.filter, 4_000))
    if expectation.locator and expectation.locator != expectation.filter:
        lines += _field("locator", printable(expectation.locator, 4_000))
    return lines


def _packets(case: CaseResult, most: int, width: int | None) -> list[str]:
    """The last packets, or those about what decided where that is not among them."""
    there = case.packets
    if not there or most <= 0:
        return [] if there else ["", "no packet was sent or received"]
    marked = deciding_packets(unmet(case))
    stimuli = {e.stimulus_frame for e in unmet(case)}
    first, of = max(len(there) - most, 0), f"the last {most} of {len(there)}"
    deciding = [
        place
        for place, packet in enumerate(there)
        if (packet.frame, packet.k) in marked or (packet.sent and packet.frame in stimuli)
    ]
    if deciding and deciding[0] < first:
        first = max(deciding[0] - most // 4, 0)
        of = f"{most} of {len(there)}"
    shown = there[first : first + most]
    start = there[0].time
    title = f"{of if len(shown) < len(there) else 'the'} packets, both sides"
    marks = "marked: > the offending one, * sent before it was expected"
    lines = ["", f"{title} (time in s, frame.packet)", marks]
    if any(packet.side == UNKNOWN_SIDE for packet in shown):
        lines.append(f"{UNKNOWN_SIDE} is an end of the tester that no side has taken on")
    for packet in shown:
        mark = "*" if packet.sent and packet.frame in stimuli else " "
        if (packet.frame, packet.k) in marked:
            mark = ">"
        place = f"{packet.frame}.{packet.k}"
        way = direction(packet)
        text = one_line(packet.text, 200)
        before = f"{mark} {packet.time - start:9.3f} {place:>7}  {way:<10}  "
        lines += _beside(before, text, width)
    return lines


def failure_text(case: CaseResult, last: int = 10, width: int | None = None) -> str:
    """One case in full, as plain text that is safe to print; width: columns of a terminal.

    What was expected (with clause) and what came instead (decoded, with the frame in the
    evidence), the filter, the last packets of both sides, and the command to run it again.
    """
    case = unpacked(case)
    evidence = relative_path(case.evidence)
    lines = _beside(
        f"{case.verdict.value}  {one_line(case.id, 80)}  ", one_line(case.purpose), width
    )
    lines += _field("clause", one_line(case.clause))
    if case.reason:
        lines += _field("reason", printable(case.reason, 4_000), width)
    for expectation in unmet(case)[:10]:
        lines += _expectation(expectation, evidence, width)
    for remark in case.remarks[:10]:
        lines += _field("remark", printable(remark, 1_000), width)
    counters = [e.counter for e in case.expectations if e.counter is not None]
    if counters:
        lines += ["", "the router's counters"]
        lines += [f"  {reading_line(counter)}" for counter in counters[:_COUNTERS_SHOWN]]
    lines += _packets(case, last, width)
    lines.append("")
    if evidence:
        lines += _field("evidence", evidence)
    if case.rerun:
        lines += _field("run again", one_line(case.rerun, 1_000))
    return "\n".join(lines) + "\n"


def _say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print one line of (text, style) parts, in what the console's encoding can show."""
    line = Text()
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        shown = text.encode(console.encoding, "backslashreplace").decode(console.encoding)
        line.append(shown, style=style)
    console.print(line, soft_wrap=True, highlight=False)


def _wrapped(console: Console, text: str, indent: int, style: str = "") -> None:
    width = max(console.width - indent, 20)
    for line in textwrap.wrap(text, width, break_on_hyphens=False) or [""]:
        _say(console, " " * indent, (line, style))


def _counts(counts: Counter[Verdict]) -> list[str | tuple[str, str]]:
    parts: list[str | tuple[str, str]] = []
    for verdict in Verdict:
        if counts[verdict]:
            if parts:
                parts.append("   ")
            parts.append((f"{counts[verdict]} {verdict.value}", STYLES[verdict]))
    return parts or ["no case was run"]


def _folded(console: Console, cases: Iterable[CaseResult], verdict: Verdict) -> None:
    reasons = Counter(one_sentence(c, 200) or "no reason given" for c in cases)
    if not reasons:
        return
    _say(console, "")
    _say(console, (f"{verdict.value}: {reasons.total()}", STYLES[verdict]))
    for reason, count in reasons.most_common(_REASONS_SHOWN):
        _say(console, f"{count:6}  ", shorten(reason, max(console.width - 8, 20)))
    hidden = reasons.most_common()[_REASONS_SHOWN:]
    if hidden:
        number = sum(count for _, count in hidden)
        _say(console, f"{number:6}  for {len(hidden)} further reasons: see the report")
    shown = " ".join(reason for reason, _ in reasons.most_common(_REASONS_SHOWN))
    named = set(_CONFIGURATION.findall(shown))
    words = [f"{name} {CONFIGURATIONS[name]}" for name in sorted(named)]
    if words:
        _wrapped(console, "; ".join(words), 8, "dim")


def inconclusive(cases: Iterable[CaseResult]) -> str:
    """How many cases could not be judged, and why, the commonest reason first; "" if none."""
    found = [case for case in cases if case.verdict is Verdict.INCONCLUSIVE]
    if not found:
        return ""
    reasons = Counter(one_sentence(case, 200) or "no reason given" for case in found)
    shown = [f"{n} x {reason}" for reason, n in reasons.most_common(_REASONS_SHOWN)]
    more = ["..."] if len(reasons) > _REASONS_SHOWN else []
    return f"{len(found)} INCONCLUSIVE: " + "; ".join([*shown, *more])


def _errors(console: Console, results: Results) -> None:
    """The table of errors: what was sent, and which counter moved."""
    rows = [
        (row.case, row.error, row.interface, str(row.shown), row.moved, row.counter, row.good)
        for row in error_table(results)[:_COUNTERS_SHOWN]
    ]
    if not rows:
        return
    titles = ("case", "error", "on", "sent", "moved", "counter")
    widths = [max(len(title), *(len(str(r[i])) for r in rows)) for i, title in enumerate(titles)]
    _say(console, "")
    head = "  ".join(f"{title:<{width}}" for title, width in zip(titles, widths, strict=True))
    _say(console, (shorten(head.rstrip(), console.width), "bold"))
    for row in rows:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False))
        style = "green" if row[-1] else "bold red"
        _say(console, (shorten(line.rstrip(), console.width), style))


def print_summary(results: Results, directory: Path | None, console: Console) -> None:
    """The end of a run: counts, what failed and why, what was left out and why, the report.

    `directory` is where report.html and results.json were written; None: they were not.
    """
    run = results.run
    counts = Counter(c.verdict for c in results.cases)
    names = [run.router, run.relay_model, run.configuration, f"{run.duration_s:.1f} s"]
    head = "  ".join(one_line(n, 60) for n in names if n)
    _say(console, "")
    _say(console, (shorten(f"x25shark  {head}", console.width), "bold"))
    _say(console, *_counts(counts))
    trouble = [c for v in ATTENTION for c in results.cases if c.verdict is v]
    for case in trouble[:_FAILURES_SHOWN]:
        _say(console, "")
        clause = shorten(one_line(case.clause), max(console.width - 40, 20))
        _say(
            console,
            (case.verdict.value, STYLES[case.verdict]),
            "  ",
            (one_line(case.id, 80), "bold"),
            f"  {clause}",
        )
        _wrapped(console, one_line(case.purpose, 200), 2, "dim")
        _wrapped(console, one_sentence(case, _LONGEST_REASON), 2)
    if len(trouble) > _FAILURES_SHOWN:
        _say(console, "")
        _say(console, f"and {len(trouble) - _FAILURES_SHOWN} more: see the report")
    for verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE, Verdict.NOT_RUN):
        _folded(console, (c for c in results.cases if c.verdict is verdict), verdict)
    _errors(console, results)
    for note in run.notes[:5]:
        _wrapped(console, f"note: {one_line(note)}", 0)
    if run.strays:
        _say(console, f"strays: {len(run.strays)} packets belong to no case: see the report")
    _say(console, "")
    meaning = EXIT_STATUSES.get(results.exit_status, "unknown")
    good = "green" if results.exit_status == 0 else "bold red"
    _say(console, (f"exit status {results.exit_status}: {meaning}", good))
    if directory is None:
        return
    _say(console, "report: ", one_line(directory / "report.html", 1_000))
    if trouble:
        example = shlex.quote(one_line(trouble[0].id, 80))
        what = f"{example} {one_line(in_folder(directory), 1_000)}".rstrip()
        between = ", " if what == example else f"\n{'':13}"
        closer = between.join(f"x25shark {verb} {what}" for verb in ("show", "open"))
        _say(console, f"look closer: {closer}")


# Seconds of measured cost from which on it tells the pace of a run.
_ENOUGH_SPENT = 0.5


class Progress:
    """Progress of a running suite.

    On a terminal one line that changes: the case, what has been judged so far, the time. Where
    the output goes elsewhere, plain lines: each case that needs attention, and a count now and
    then. With the environment variable CI set, only the cases that need attention.

        with Progress(len(cases), console) as progress:
            progress.begin("PLP-RST-04")
            progress.end("PLP-RST-04", Verdict.FAIL, "a Reset with cause 5 came")
    """

    def __init__(
        self,
        total: int,
        console: Console,
        *,
        ci: bool | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> None:
        self.counts: Counter[Verdict] = Counter()
        self.total = total
        # Of the cases that count: what those without a verdict cost, and the others together.
        self._waiting = None if costs is None else dict(costs)
        self._spent = 0.0
        self._console = console
        self._quiet = bool(os.environ.get("CI")) if ci is None else ci
        self._started = time.monotonic()
        self._every = max(total // 10, 10)
        self._bar: RichProgress | None = None
        if console.is_terminal and not self._quiet:
            self._bar = RichProgress(
                BarColumn(bar_width=16),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}", markup=False),
                TextColumn("{task.fields[counts]}", markup=False),
                TextColumn("{task.description}", markup=False),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task("starting", total=total, counts="", left="")

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, case_id: str) -> None:
        """A case starts."""
        self.phase(case_id)

    def phase(self, text: str) -> None:
        """Say what is going on; on a terminal only."""
        if self._bar is not None:
            self._bar.update(self._task, description=one_line(text, 40))

    def end(self, case_id: str, verdict: Verdict, reason: str = "") -> None:
        """A case has its verdict. One that was not to run does not count."""
        counts = self._waiting is None or case_id in self._waiting
        if self._waiting is not None:
            self._spent += self._waiting.pop(case_id, 0.0)
        self.counts[verdict] += counts
        done = self.counts.total()
        if self._bar is not None:
            short = {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.ERROR: "error"}
            words = [f"{self.counts[v]} {name}" for v, name in short.items() if self.counts[v]]
            left = self._left()
            self._bar.update(self._task, completed=done, counts=", ".join(words), left=left)
        if verdict in ATTENTION:
            text = f"  {one_line(case_id, 80)}  {first_line(reason, 600)}".rstrip()
            if self._bar is not None:  # one line of the screen each; the summary says the rest
                text = shorten(text, max(self._console.width - len(verdict.value), 20))
            _say(self._console, (verdict.value, STYLES[verdict]), text)
        elif counts and self._bar is None and not self._quiet and done % self._every == 0:
            elapsed = time.monotonic() - self._started
            left = f", {self._left()}" if self._left() else ""
            begin = f"{done} of {self.total} cases, {elapsed:.0f} s{left}: "
            _say(self._console, begin, *self._line())

    def _left(self) -> str:
        """The time left, in words, by what the cases cost that are done; empty: not known yet."""
        if not self._waiting or self._spent < _ENOUGH_SPENT:
            return ""
        pace = (time.monotonic() - self._started) / self._spent
        return f"{max(pace * sum(self._waiting.values()), 1):.0f} s left"

    def _line(self) -> list[str | tuple[str, str]]:
        return _counts(self.counts)

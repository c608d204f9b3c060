# SPDX-License-Identifier: GPL-2.0-or-later
"""report.html: a whole run in one file that opens without a network.

Every string is cleaned and bounded by `text` and then escaped by Jinja2. What a closed case
hides (expectations, ladder, octets) lies beside it as compressed JSON in a script element that no
browser executes; report.js builds it when the case is opened, so a thousand cases open at once. The
page allows only its own style and script (Content-Security-Policy with their digests): even an
escaping error would not run what a router sent.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from ..catalogue import CONFIGURATIONS, catalogue
from ..counters.names import RIGHT
from ..results import CaseResult, ExpectationResult, JudgeReading, PacketLine, Results, write_whole
from ..stored import unpacked
from ..verdicts import EXIT_STATUSES, OUTCOMES, Verdict
from .counters import error_table, reading_line, readings
from .inline import BASE_STYLE, TEMPLATES, environment, inline, script_packed
from .terminal import ATTENTION, one_sentence
from .text import deciding_packets, disagree, moment, one_line, printable, relative_path, unmet

EXPECTATIONS_SHOWN = 200
PACKETS_SHOWN = 500
OCTETS_SHOWN = 1_024
"""Octets of one packet in the report, at most; the capture has them all."""
OCTETS_TOTAL = 12_000_000
"""Octets of all packets of a report together; beyond it only decoded text is shown."""
LIST_SHOWN = 500
COUNTERS_SHOWN = 2_000

ORDER = (
    Verdict.ERROR,
    Verdict.FAIL,
    Verdict.INCONCLUSIVE,
    Verdict.PASS,
    Verdict.NOT_APPLICABLE,
    Verdict.NOT_RUN,
)
"""Verdicts in the order of the page: what needs attention first."""


def verdict_class(verdict: Verdict) -> str:
    """The CSS class of a verdict: `v-not-run` for NOT RUN."""
    return "v-" + verdict.value.lower().replace(" ", "-")


def _number(value: float) -> float:
    return round(value, 6) if math.isfinite(value) else 0.0


def _reading(reading: JudgeReading | None) -> dict[str, Any] | None:
    if reading is None:
        return None
    return {
        "met": reading.met,
        "frame": reading.frame,
        "k": reading.k,
        "offset": reading.offset,
        "saw": printable(reading.saw, 2_000),
    }


def _expectation(expectation: ExpectationResult) -> dict[str, Any]:
    return {
        "text": printable(expectation.text, 2_000),
        "side": one_line(expectation.side, 8),
        "clause": one_line(expectation.clause, 200),
        "met": expectation.met,
        "disagree": disagree(expectation),
        "preamble": expectation.preamble,
        "filter": printable(expectation.filter, 8_000),
        "locator": printable(expectation.locator, 8_000),
        "frame": expectation.frame,
        "k": expectation.k,
        "one": _reading(expectation.judge_one),
        "two": _reading(expectation.judge_two),
    }


def _kept_packets(case: CaseResult) -> list[int]:
    """Which packets the ladder shows: all, or the first, the last and those that decided."""
    count = len(case.packets)
    if count <= PACKETS_SHOWN:
        return list(range(count))
    head, tail = PACKETS_SHOWN // 4, PACKETS_SHOWN // 2
    kept = {*range(head), *range(count - tail, count)}
    marked = deciding_packets(unmet(case)) or deciding_packets(case.expectations)
    decided = [i for i, p in enumerate(case.packets) if (p.frame, p.k) in marked]
    for index in decided[: PACKETS_SHOWN // 20]:
        kept.update(range(max(index - 2, 0), min(index + 3, count)))
    return sorted(kept)


class _Details:
    """Makes the JSON behind each case, with one allowance of octets for the whole report."""

    def __init__(self) -> None:
        self.octets_left = OCTETS_TOTAL

    def packet(self, packet: PacketLine, start: float) -> list[Any]:
        """[seconds, frame, k, side, sent, connection, offset, text, octets, octets left out]."""
        digits = "".join(re.findall("[0-9a-fA-F]+", packet.octets[: 2 * OCTETS_SHOWN]))
        octets = digits[: min(len(digits) & ~1, 2 * self.octets_left)]
        self.octets_left -= len(octets) // 2
        return [
            _number(packet.time - start),
            packet.frame,
            packet.k,
            one_line(packet.side, 8),
            int(packet.sent),
            packet.connection,
            packet.offset,
            one_line(packet.text, 600),
            octets,
            max(len(packet.octets) - len(octets), 0) // 2,
        ]

    def case(self, case: CaseResult) -> Markup:
        """The JSON of one case."""
        start = case.packets[0].time if case.packets else 0.0
        packets: list[Any] = []
        previous = -1
        for index in _kept_packets(case):
            if index > previous + 1:
                packets.append(index - previous - 1)  # a bare number: so many are not shown
            packets.append(self.packet(case.packets[index], start))
            previous = index
        return script_packed(
            {
                "expectations": [_expectation(e) for e in case.expectations[:EXPECTATIONS_SHOWN]],
                "more": max(len(case.expectations) - EXPECTATIONS_SHOWN, 0),
                "packets": packets,
                "total": len(case.packets),
                "capture": relative_path(case.evidence),
            }
        )


def _link(evidence: str | None) -> str | None:
    path = relative_path(evidence)
    # "./" keeps a first part that holds a colon from being read as a URL scheme.
    return "./" + quote(path) if path else None


def _case(case: CaseResult, anchor: str, details: _Details) -> dict[str, Any]:
    case = unpacked(case)
    return {
        "anchor": anchor,
        "id": one_line(case.id, 80),
        "group": one_line(case.group, 80),
        "purpose": one_line(case.purpose, 600),
        "clause": one_line(case.clause, 200),
        "verdict": case.verdict.value,
        "css": verdict_class(case.verdict),
        "attention": case.verdict in ATTENTION,
        "sentence": one_sentence(case, 300, words=True),
        "reason": printable(case.reason),
        "remarks": [printable(r, 2_000) for r in case.remarks[:50]],
        "duration": f"{_number(case.duration_s):.2f} s",
        "evidence": relative_path(case.evidence),
        "link": _link(case.evidence),
        "rerun": one_line(case.rerun, 1_000),
        "packets": len(case.packets),
        "expectations": len(case.expectations),
        "data": details.case(case),
    }


def bar_segments(counts: Counter[str]) -> list[dict[str, Any]]:
    """The coloured parts of a bar of 1,000 units, in page order; each verdict that occurs shows."""
    total = counts.total()
    parts: list[dict[str, Any]] = []
    if not total:
        return parts
    widths = {v: max(1000 * counts[v.value] / total, 6.0) for v in ORDER if counts[v.value]}
    scale = 1000 / sum(widths.values())
    left = 0.0
    for verdict, width in widths.items():
        parts.append(
            {
                "css": verdict_class(verdict),
                "x": f"{left:.1f}",
                "width": f"{width * scale:.1f}",
                "verdict": verdict.value,
                "count": counts[verdict.value],
            }
        )
        left += width * scale
    return parts


def _anchors(results: Results) -> list[str]:
    """One fragment identifier for each case: its id, made unique."""
    anchors: list[str] = []
    seen: Counter[str] = Counter()
    for case in results.cases:
        anchor = "case-" + re.sub("[^A-Za-z0-9_.-]+", "-", case.id[:80])
        seen[anchor] += 1
        anchors.append(anchor if seen[anchor] == 1 else f"{anchor}~{seen[anchor]}")
    return anchors


def _headline(results: Results) -> str:
    count = Counter(c.verdict for c in results.cases)
    if not results.cases:
        return "No case was run"
    judged = sum(count[v] for v in (*ATTENTION, Verdict.PASS))
    if count[Verdict.PASS] == judged and judged:
        return f"All {judged} judged cases pass" if judged > 1 else "The one judged case passes"
    if count[Verdict.FAIL] or count[Verdict.ERROR]:
        words = [f"{count[Verdict.FAIL]} of {judged} cases fail"] if count[Verdict.FAIL] else []
        if count[Verdict.ERROR]:
            words.append(f"{count[Verdict.ERROR]} end in an error of the tester")
        return ", ".join(words)
    if not judged:
        return "No case was judged"
    return f"{count[Verdict.INCONCLUSIVE]} inconclusive, {count[Verdict.PASS]} pass"


def _configuration(names: str) -> str:
    """Configurations with what they are: both sides over XOT (T1)."""
    words = [(name, CONFIGURATIONS.get(name)) for name in names.split(", ") if name]
    return "; ".join(f"{meaning} ({name})" if meaning else name for name, meaning in words)


def _run(results: Results) -> dict[str, Any]:
    run = results.run
    rows = {
        "Router": run.router,
        "Profile": run.profile,
        "Relay model": run.relay_model,
        "Configuration": _configuration(run.configuration),
        "Started": moment(run.started),
        "Duration": f"{_number(run.duration_s):.1f} s",
        "Processor time": ", ".join(
            f"{who} {_number(s):.1f} s" for who, s in run.processor.items()
        ),
        "Run": run.id,
        "Judge two": run.judge,
        "Seed": str(run.seed),
        "Selection": run.selection or "everything",
    }
    return {
        "router": one_line(run.router, 120),
        "two_sided": run.configuration not in ("T2", "T6"),
        "facts": {name: one_line(value) for name, value in rows.items() if value},
        "command": one_line(run.command, 1_000),
        "versions": {
            one_line(name, 80): one_line(version, 200)
            for name, version in list(run.versions.items())[:100]
        },
        "profile_text": printable(run.profile_text, 200_000),
        "strays": [one_line(s) for s in run.strays[:LIST_SHOWN]],
        "strays_total": len(run.strays),
        "notes": [printable(n, 2_000) for n in run.notes[:LIST_SHOWN]],
        "notes_total": len(run.notes),
    }


def _counters(results: Results) -> dict[str, list[dict[str, Any]]]:
    """The readings of counters by case."""
    found: dict[str, list[dict[str, Any]]] = {}
    for case, reading in islice(readings(results), COUNTERS_SHOWN):
        row = {"text": reading_line(reading), "good": reading.result == RIGHT}
        found.setdefault(one_line(case.id, 80), []).append(row)
    return found


def view(results: Results) -> dict[str, Any]:
    """Everything the template shows, cleaned and bounded."""
    details = _Details()
    # The allowance of octets goes to the cases that someone has to look at first.
    anchors = _anchors(results)
    order = sorted(range(len(results.cases)), key=lambda i: ORDER.index(results.cases[i].verdict))
    made = {i: _case(results.cases[i], anchors[i], details) for i in order}
    cases = [made[i] for i in range(len(results.cases))]
    titles = catalogue().groups
    groups: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        groups.setdefault(case["group"], []).append(case)
    counts = Counter(c.verdict.value for c in results.cases)
    reasons: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for case in cases:
        if case["verdict"] in (Verdict.NOT_APPLICABLE.value, Verdict.NOT_RUN.value):
            by_reason = reasons.setdefault(case["verdict"], {})
            by_reason.setdefault(case["sentence"] or "no reason given", []).append(case)
    return {
        "headline": _headline(results),
        "exit_status": results.exit_status,
        "exit_meaning": EXIT_STATUSES.get(results.exit_status, "not a status of x25shark"),
        "good": results.exit_status == 0,
        "verdicts": [
            {
                "name": v.value,
                "css": verdict_class(v),
                "count": counts[v.value],
                "meaning": OUTCOMES[v].meaning,
            }
            for v in ORDER
            if counts[v.value]
        ],
        "total": len(cases),
        "segments": bar_segments(counts),
        "attention": [made[i] for i in order if made[i]["attention"]],
        "groups": [
            {
                "id": name,
                "title": titles.get(name, ""),
                "cases": members,
                "segments": bar_segments(Counter(c["verdict"] for c in members)),
                "trouble": sum(c["attention"] for c in members),
            }
            for name, members in groups.items()
        ],
        "open_groups": len(cases) <= 60,
        "reasons": reasons,
        "remarked": [c for c in cases if c["remarks"]],
        "errors": error_table(results)[:LIST_SHOWN],
        "counters": _counters(results),
        "run": _run(results),
    }


def render_text(results: Results) -> str:
    """The page as text."""
    style, style_source = inline(BASE_STYLE, TEMPLATES / "report.css")
    script, script_source = inline(TEMPLATES / "report.js")
    page: str = (
        environment(TEMPLATES)
        .get_template("report.html.j2")
        .render(
            view(results),
            style=style,
            script=script,
            policy=f"default-src 'none'; style-src {style_source}; script-src {script_source}; "
            "base-uri 'none'; form-action 'none'",
        )
    )
    return page


def render(results: Results, directory: Path) -> None:
    """Write DIR/report.html. Links to captures are relative to DIR."""
    write_whole(directory / "report.html", render_text(results))

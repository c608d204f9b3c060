# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark site: several runs as one page, routers and releases beside each other.

A column is a label: a release of a router, unless told otherwise its name in the profile. The last
run of a label is shown in the matrix, all of them in the trends. index.html needs no network and no
script; index.md says the same in short. Captures are copied beside the page, those of what did not
pass first, so the folder can be published as it is. Whatever a run holds is hostile (`text`).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..catalogue import catalogue
from ..results import CaseResult, Results, write_whole
from ..verdicts import Verdict
from .compare import by_id, compare, described
from .html import ORDER, bar_segments, verdict_class
from .inline import BASE_STYLE, TEMPLATES, environment, inline
from .terminal import ATTENTION, failure_text, one_sentence
from .text import markdown_cell, moment, one_line, printable, relative_path

RUNS_MOST = 200
LABELS_MOST = 40
CHANGES_SHOWN = 30
DETAIL_LIMIT = 6_000
CAPTURE_MOST = 8_000_000
"""Octets of one capture that is copied, at most."""
CAPTURES_MOST = 200_000_000
"""Octets of all captures that are copied, at most."""
PASSED_MOST = 50_000_000
"""Octets of those among them that belong to cases that passed, at most."""

SIGNS = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.ERROR: "!",
    Verdict.INCONCLUSIVE: "?",
    Verdict.NOT_APPLICABLE: "-",
    Verdict.NOT_RUN: "·",
}
"""What a cell shows, so that no colour is needed to tell verdicts apart."""


class SiteError(Exception):
    """Runs of which no page can be made, or a folder that cannot be written."""


@dataclass(frozen=True)
class Given:
    """A run as it was given: its label, the folder of its report, and its results."""

    label: str
    folder: Path
    results: Results


@dataclass
class Column:
    """The runs of one label, oldest first; the last one is shown in the matrix."""

    label: str
    runs: list[Given] = field(default_factory=list)

    @property
    def last(self) -> Given:
        return self.runs[-1]


def columns(given: Sequence[Given]) -> list[Column]:
    """Runs by label, in the order in which labels come. Raises SiteError."""
    if len(given) > RUNS_MOST:
        raise SiteError(f"{len(given)} runs; a page takes {RUNS_MOST}")
    found: dict[str, Column] = {}
    for run in given:
        found.setdefault(run.label, Column(run.label)).runs.append(run)
    if len(found) > LABELS_MOST:
        raise SiteError(f"{len(found)} routers; a page takes {LABELS_MOST}")
    for column in found.values():
        column.runs.sort(key=lambda run: run.results.run.started)
    return list(found.values())


class _Captures:
    """Copies captures below the page, as far as the allowances go; failures come first."""

    def __init__(self, folder: Path, found: Sequence[Column]) -> None:
        self._folder = folder
        self._left = CAPTURES_MOST
        self._of: dict[tuple[int, str], str | None] = {}
        every = [
            (number, column.last, case)
            for number, column in enumerate(found, 1)
            for case in by_id(column.last.results).values()
        ]
        for attention in (True, False):
            for number, run, case in every:
                if (case.verdict in ATTENTION) is attention:
                    self._of[number, case.id] = self._copy(run, number, case)
            self._left = min(self._left, PASSED_MOST)

    def of(self, number: int, case: CaseResult) -> str | None:
        """Where the capture of a case lies, from the page."""
        return self._of.get((number, case.id))

    def _copy(self, run: Given, number: int, case: CaseResult) -> str | None:
        """The copy's path from the page, or None: no capture, one outside the report, too long."""
        named = relative_path(case.evidence)
        if named is None or not named.endswith(".pcapng"):
            return None
        source = run.folder / named
        try:
            if not source.resolve().is_relative_to(run.folder.resolve()) or not source.is_file():
                return None
            size = source.stat().st_size
            if size > min(CAPTURE_MOST, self._left):
                return None
            target = self._folder / "captures" / str(number) / source.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        except OSError as error:
            raise SiteError(f"{error.filename}: {error.strerror or error}") from None
        self._left -= size
        return target.relative_to(self._folder).as_posix()


def _cell(
    column: Column, number: int, case: CaseResult | None, captures: _Captures
) -> dict[str, Any]:
    label = one_line(column.label, 80)
    if case is None:
        absent = {"label": label, "css": "v-absent", "sign": "", "verdict": "not in the run"}
        return {**absent, "attention": False, "sentence": "", "remarks": [], "capture": None}
    attention = case.verdict in ATTENTION
    capture = captures.of(number, case)
    return {
        "label": label,
        "css": verdict_class(case.verdict),
        "sign": SIGNS[case.verdict],
        "verdict": case.verdict.value,
        "attention": attention,
        "sentence": one_sentence(case, 300, words=True),
        "text": printable(failure_text(case), DETAIL_LIMIT) if attention else "",
        "remarks": [one_line(remark) for remark in case.remarks[:5]],
        "capture": quote(capture) if capture else None,
    }


def _rows(found: Sequence[Column], captures: _Captures) -> list[dict[str, Any]]:
    """Groups in the order of the catalogue, each with its cases; a cell for each column."""
    by_column = [by_id(column.last.results) for column in found]
    known: dict[str, CaseResult] = {}
    for cases in by_column:
        for identifier, case in cases.items():
            known.setdefault(identifier, case)
    order = {identifier: i for i, identifier in enumerate(catalogue().purposes)}
    groups: dict[str, list[dict[str, Any]]] = {}
    members: dict[str, list[str]] = {}
    for identifier in sorted(known, key=lambda i: (order.get(i, len(order)), i)):
        first = known[identifier]
        cells = [
            _cell(column, number, cases.get(identifier), captures)
            for number, (column, cases) in enumerate(zip(found, by_column, strict=True), 1)
        ]
        groups.setdefault(first.group, []).append(
            {
                "id": one_line(identifier, 80),
                "purpose": one_line(first.purpose, 600),
                "clause": one_line(first.clause, 200),
                "cells": cells,
                "attention": any(cell["attention"] for cell in cells),
                "differs": len({cell["verdict"] for cell in cells}) > 1,
            }
        )
        members.setdefault(first.group, []).append(identifier)
    titles = catalogue().groups
    return [
        {
            "id": one_line(name, 80),
            "title": titles.get(name, ""),
            "cases": cases,
            "sums": [_sum([m[i] for i in members[name] if i in m]) for m in by_column],
            "attention": any(case["attention"] for case in cases),
        }
        for name, cases in groups.items()
    ]


def _sum(cases: Sequence[CaseResult]) -> dict[str, Any]:
    """Of a group in one column: how many passed of those judged, and the worst verdict."""
    count = Counter(case.verdict for case in cases)
    judged = sum(count[v] for v in (*ATTENTION, Verdict.PASS))
    worst = next((v for v in ORDER if count[v]), None)
    return {
        "text": f"{count[Verdict.PASS]}/{judged}" if judged else "-" if cases else "",
        "css": verdict_class(worst) if worst else "v-absent",
        "words": ", ".join(f"{count[v]} {v.value}" for v in ORDER if count[v]) or "not in the run",
    }


def _trend(column: Column) -> list[dict[str, Any]]:
    """The runs of a label, newest first, each with what changed since the one before."""
    rows: list[dict[str, Any]] = []
    before: Results | None = None
    for run in column.runs:
        results = run.results
        changes = [] if before is None else described(compare(before, results))
        counts = Counter(case.verdict.value for case in results.cases)
        rows.append(
            {
                "started": moment(results.run.started),
                "versions": one_line(results.run.versions.get("x25shark", ""), 40),
                "segments": bar_segments(counts),
                "counts": [
                    {"css": verdict_class(v), "text": f"{counts[v.value]} {v.value}"}
                    for v in ORDER
                    if counts[v.value]
                ],
                "changes": [one_line(line) for line in changes[:CHANGES_SHOWN]],
                "more": max(len(changes) - CHANGES_SHOWN, 0),
                "first": before is None,
            }
        )
        before = results
    return rows[::-1]


def view(given: Sequence[Given], title: str, folder: Path) -> dict[str, Any]:
    """What the page shows, cleaned and bounded; captures are copied below `folder`."""
    found = columns(given)
    captures = _Captures(folder, found)
    return {
        "title": one_line(title, 120),
        "columns": [
            {
                "number": number,
                "label": one_line(column.label, 80),
                "model": one_line(column.last.results.run.relay_model, 40),
                "configuration": one_line(column.last.results.run.configuration, 40),
                "started": moment(column.last.results.run.started),
                "trend": _trend(column),
            }
            for number, column in enumerate(found, 1)
        ],
        "groups": _rows(found, captures),
        "signs": [{"sign": SIGNS[v], "name": v.value, "css": verdict_class(v)} for v in ORDER],
    }


def page(shown: dict[str, Any]) -> str:
    """The page as text."""
    style, style_source = inline(BASE_STYLE, TEMPLATES / "site.css")
    policy = f"default-src 'none'; style-src {style_source}; base-uri 'none'; form-action 'none'"
    template = environment(TEMPLATES).get_template("site.html.j2")
    text: str = template.render(shown, style=style, policy=policy)
    return text


def markdown(shown: dict[str, Any]) -> str:
    """The matrix by groups, and what did not pass, as Markdown."""
    labels = [markdown_cell(column["label"], 80) for column in shown["columns"]]
    lines = [f"# {markdown_cell(shown['title'], 120)}", ""]
    lines += [f"| group | {' | '.join(labels)} |", f"|---|{'---:|' * len(labels)}"]
    for group in shown["groups"]:
        sums = " | ".join(markdown_cell(one["text"]) for one in group["sums"])
        lines.append(f"| {markdown_cell(group['id'], 80)} | {sums} |")
    lines += ["", "Passed of those judged; a dash where nothing was.", ""]
    for number, label in enumerate(labels):
        cells = [
            (case, case["cells"][number])
            for group in shown["groups"]
            for case in group["cases"]
            if case["cells"][number]["attention"]
        ]
        lines += [f"## {label}", ""]
        lines += [
            f"- {markdown_cell(cell['verdict'])} **{markdown_cell(case['id'], 80)}** "
            f"({markdown_cell(case['clause'], 200)}): {markdown_cell(cell['sentence'])}"
            for case, cell in cells
        ] or ["Nothing failed."]
        lines += [""]
        changed = [row for row in shown["columns"][number]["trend"] if row["changes"]]
        for row in changed:
            lines += [f"Changed in the run of {markdown_cell(row['started'], 40)}:", ""]
            lines += [f"- {markdown_cell(line)}" for line in row["changes"]]
            lines += [f"- and {row['more']} more"] if row["more"] else []
            lines += [""]
    return "\n".join(lines).rstrip() + "\n"


def write(given: Sequence[Given], title: str, folder: Path) -> Path:
    """Write index.html, index.md and captures/ into a folder; returns the page. SiteError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shown = view(given, title, folder)
        write_whole(folder / "index.md", markdown(shown))
        write_whole(folder / "index.html", page(shown))
    except OSError as error:
        raise SiteError(f"{error.filename or folder}: {error.strerror or error}") from None
    return folder / "index.html"

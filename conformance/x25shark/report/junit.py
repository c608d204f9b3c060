# SPDX-License-Identifier: GPL-2.0-or-later
"""JUnit XML for CI servers: one suite per group, one test case per case.

The element of a verdict stands in `verdicts.OUTCOMES`. Text is bounded and holds no character
that XML 1.0 forbids (clause 2.2).
"""

from __future__ import annotations

import math
from collections import Counter
from xml.etree import ElementTree

from ..results import CaseResult, Results, RunInfo
from ..verdicts import OUTCOMES
from .terminal import failure_text, one_sentence
from .text import one_line, printable, relative_path

_TEXT_LIMIT = 16_000
_NO_ELEMENT = "(none)"


def _seconds(value: float) -> str:
    return f"{value if math.isfinite(value) and value >= 0 else 0:.3f}"


def _attributes(cases: list[CaseResult]) -> dict[str, str]:
    """The counts that suites and the document carry."""
    elements = Counter(OUTCOMES[c.verdict].junit for c in cases)
    return {
        "tests": str(len(cases)),
        "failures": str(elements["failure"]),
        "errors": str(elements["error"]),
        "skipped": str(elements["skipped"]),
        "time": _seconds(sum(c.duration_s for c in cases)),
    }


def _properties(parent: ElementTree.Element, values: dict[str, str]) -> None:
    block = ElementTree.SubElement(parent, "properties")
    for name, value in values.items():
        if value:
            ElementTree.SubElement(block, "property", name=one_line(name), value=one_line(value))


def _run_properties(run: RunInfo) -> dict[str, str]:
    values = {
        "run": run.id,
        "router": run.router,
        "profile": run.profile,
        "relay_model": run.relay_model,
        "configuration": run.configuration,
        "judge": run.judge,
        "seed": str(run.seed),
        "selection": run.selection,
        "command": run.command,
    }
    return values | {f"version.{name}": value for name, value in list(run.versions.items())[:50]}


def _case(parent: ElementTree.Element, case: CaseResult) -> None:
    element = ElementTree.SubElement(
        parent,
        "testcase",
        classname=one_line(case.group, 80),
        name=one_line(f"{one_line(case.id, 80)}: {one_line(case.purpose)}", 500),
        time=_seconds(case.duration_s),
    )
    evidence = relative_path(case.evidence)
    values = {"verdict": case.verdict.value, "clause": case.clause, "rerun": case.rerun}
    for number, remark in enumerate(case.remarks[:10], 1):
        values[f"remark.{number}"] = remark
    _properties(element, values | {"evidence": evidence or ""})
    name = OUTCOMES[case.verdict].junit
    if name != _NO_ELEMENT:
        message = f"{case.verdict.value}: {one_sentence(case)}"
        attributes = {"message": one_line(message)}
        if name != "skipped":
            attributes["type"] = case.verdict.value
        outcome = ElementTree.SubElement(element, name, attributes)
        outcome.text = printable(failure_text(case), _TEXT_LIMIT)
    if evidence:
        # The line by which GitLab and Jenkins find files that belong to a test case.
        ElementTree.SubElement(element, "system-out").text = f"[[ATTACHMENT|{evidence}]]"


def render(results: Results) -> str:
    """The run as JUnit XML, with its XML declaration."""
    root = ElementTree.Element("testsuites", {"name": "x25shark", **_attributes(results.cases)})
    groups: dict[str, list[CaseResult]] = {}
    for case in results.cases:
        groups.setdefault(case.group, []).append(case)
    for group, cases in groups.items():
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            {
                "name": one_line(group, 80),
                "timestamp": one_line(results.run.started, 40),
                **_attributes(cases),
            },
        )
        _properties(suite, _run_properties(results.run))
        for case in cases:
            _case(suite, case)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'

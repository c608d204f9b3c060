# SPDX-License-Identifier: GPL-2.0-or-later
"""JUnit XML for CI servers: one suite per group, one test case per case.

`verdicts.OUTCOMES` has the element of a verdict. Text is bounded and holds no character
that XML 1.0 forbids (clause 2.2). Only what the schema of Jenkins' xUnit plugin has is written: a
test case has no properties there, so its verdict, clause and remarks are lines of system-out.
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
    name = OUTCOMES[case.verdict].junit
    if name != _NO_ELEMENT:
        message = f"{case.verdict.value}: {one_sentence(case)}"
        attributes = {"message": one_line(message)}
        if name != "skipped":
            attributes["type"] = case.verdict.value
        outcome = ElementTree.SubElement(element, name, attributes)
        outcome.text = printable(failure_text(case), _TEXT_LIMIT)
    ElementTree.SubElement(element, "system-out").text = "\n".join(_said(case))


def _said(case: CaseResult) -> list[str]:
    """What else there is to know of a case, a line each."""
    values = [("verdict", case.verdict.value), ("clause", case.clause), ("run again", case.rerun)]
    values += [("remark", remark) for remark in case.remarks[:10]]
    lines = [f"{name}: {one_line(value)}" for name, value in values if value]
    evidence = relative_path(case.evidence)
    # The line by which GitLab and Jenkins find files that belong to a test case.
    return [*lines, f"[[ATTACHMENT|{evidence}]]"] if evidence else lines


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
                "skipped": str(sum(OUTCOMES[c.verdict].junit == "skipped" for c in cases)),
            },
        )
        _properties(suite, _run_properties(results.run))
        for case in cases:
            _case(suite, case)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'

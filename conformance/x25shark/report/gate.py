# SPDX-License-Identifier: GPL-2.0-or-later
"""The release gate: a run is held against a reviewed baseline.

Exit status 0: as the baseline says. 1: anything differs, also a known failure that is gone or
fails in another way. 2: a file cannot be used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from ..results import CaseResult, Results
from ..verdicts import Verdict
from .baseline import Baseline
from .compare import FAILS_DIFFERENTLY, MISSING, Difference, by_id, described, signature
from .terminal import ATTENTION, failure_text, one_sentence
from .text import markdown_cell, one_line, printable

_RUN = "(run)"
_DETAILS_SHOWN = 200


@dataclass(frozen=True)
class GateResult:
    """The outcome of a gate: differences, and the known deviations that were found as known."""

    differences: list[Difference]
    confirmed: list[str]
    results: Results
    baseline: Baseline

    @property
    def exit_status(self) -> int:
        """0: as the baseline says; 1: something differs."""
        return 1 if self.differences else 0

    def text(self) -> str:
        """The outcome in plain words, safe to print."""
        lines = [*described(self.differences), self._sentence()]
        lines += [
            f"known INCONCLUSIVE  {one_line(i, 80)}: {one_line(self.baseline.known[i].reason)}"
            for i in self.confirmed
            if self.baseline.known[i].verdict is Verdict.INCONCLUSIVE
        ]
        return "\n".join(lines) + "\n"

    def _sentence(self) -> str:
        counts = ", ".join(f"{n} {v}" for v, n in self.results.summary().items() if n)
        state = f"{len(self.differences)} differ" if self.differences else "as the baseline says"
        return f"gate: {state}; {counts or 'no case'}; {len(self.confirmed)} known"


def _run_differences(results: Results) -> Iterator[Difference]:
    """What makes a run worthless as a whole, whatever its cases say."""
    counts = Counter(c.verdict for c in results.cases)
    if results.exit_status == 130:
        yield Difference(_RUN, "interrupted", "the run is not complete: run it again")
    if not counts[Verdict.PASS]:
        yield Difference(_RUN, "nothing passed", "a gate needs a run with at least one PASS")


def _case_difference(baseline: Baseline, case: CaseResult) -> Difference | None:
    verdict = case.verdict.value
    known = baseline.known.get(case.id)
    if known is not None:
        if case.verdict is not known.verdict:
            word = f"known {known.verdict.value}->{verdict}"
            detail = one_sentence(case)
            if case.verdict is Verdict.PASS:
                detail = "take the entry out of the baseline"
            return Difference(case.id, word, detail)
        detail = known.differs(signature(case))
        return Difference(case.id, FAILS_DIFFERENTLY, detail) if detail else None
    passing = baseline.passing
    if passing is not None and case.id in passing:
        if case.verdict is not Verdict.PASS:
            return Difference(case.id, f"PASS->{verdict}", one_sentence(case))
    elif case.verdict in ATTENTION:
        return Difference(case.id, f"NEW {verdict}", one_sentence(case))
    return None


def gate(baseline: Baseline, results: Results) -> GateResult:
    """Hold a run against a baseline."""
    differences = list(_run_differences(results))
    cases = by_id(results)
    confirmed = []
    for case in cases.values():
        difference = _case_difference(baseline, case)
        if difference is not None:
            differences.append(difference)
        elif case.id in baseline.known:
            confirmed.append(case.id)
    for identity in baseline.known:
        if identity not in cases:
            differences.append(Difference(identity, MISSING, "known, but not in this run"))
    for identity in sorted(baseline.passing or ()):
        if identity not in cases:
            differences.append(Difference(identity, MISSING, "passed before, not in this run"))
    return GateResult(differences, confirmed, results, baseline)


def markdown(outcome: GateResult) -> str:
    """The outcome as Markdown, for the summary page of a CI server."""
    results = outcome.results
    bad = len(outcome.differences)
    plural = "s" if bad != 1 else ""
    title = f"{bad} difference{plural} from the baseline" if bad else "As the baseline says"
    counts = {v: n for v, n in results.summary().items() if n}
    lines = [
        f"## x25shark gate: {title}",
        "",
        f"Router {markdown_cell(results.run.router, 100)}, "
        f"profile {markdown_cell(results.run.profile, 100)}.",
        "",
    ]
    if counts:
        lines += [
            "| " + " | ".join(counts) + " |",
            "|" + " ---: |" * len(counts),
            "| " + " | ".join(str(n) for n in counts.values()) + " |",
            "",
        ]
    if outcome.differences:
        lines += ["| difference | case | detail |", "| --- | --- | --- |"]
        lines += [
            f"| {markdown_cell(d.word, 80)} | {markdown_cell(d.id, 80)} "
            f"| {markdown_cell(d.detail)} |"
            for d in outcome.differences[:_DETAILS_SHOWN]
        ]
        if bad > _DETAILS_SHOWN:
            lines.append(f"| and {bad - _DETAILS_SHOWN} more | | |")
        lines.append("")
    if outcome.confirmed:
        lines += ["### Known", "", "| case | reason |", "| --- | --- |"]
        lines += [
            f"| {markdown_cell(i, 80)} | {markdown_cell(outcome.baseline.known[i].reason)} |"
            for i in outcome.confirmed[:_DETAILS_SHOWN]
        ]
        if len(outcome.confirmed) > _DETAILS_SHOWN:
            lines.append(f"| and {len(outcome.confirmed) - _DETAILS_SHOWN} more | |")
        lines.append("")
    return "\n".join(lines)


def junit(outcome: GateResult) -> str:
    """The outcome as JUnit XML: each difference a failure, each known deviation skipped."""
    root = ElementTree.Element("testsuites", name="x25shark gate")
    suite = ElementTree.SubElement(root, "testsuite", name="gate")
    cases = by_id(outcome.results)
    different = {d.id for d in outcome.differences}
    skipped = 0
    for difference in outcome.differences:
        name = one_line(difference.id, 80)
        element = ElementTree.SubElement(suite, "testcase", classname="gate", name=name)
        message = one_line(f"{difference.word}: {difference.detail}")
        failure = ElementTree.SubElement(element, "failure", message=message, type=difference.word)
        case = cases.get(difference.id)
        failure.text = printable(failure_text(case), 16_000) if case else message
    for case in cases.values():
        if case.id in different:
            continue
        name = one_line(case.id, 80)
        element = ElementTree.SubElement(suite, "testcase", classname="gate", name=name)
        if case.verdict is not Verdict.PASS:
            known = outcome.baseline.known.get(case.id)
            reason = f"known: {known.reason}" if known else one_sentence(case)
            message = one_line(f"{case.verdict.value}: {reason}")
            ElementTree.SubElement(element, "skipped", message=message)
            skipped += 1
    for parent in (root, suite):
        parent.set("tests", str(len(suite)))
        parent.set("failures", str(len(outcome.differences)))
        parent.set("errors", "0")
    suite.set("skipped", str(skipped))  # the schema of Jenkins' xUnit plugin has it here alone
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'

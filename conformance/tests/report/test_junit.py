# SPDX-License-Identifier: GPL-2.0-or-later
"""JUnit XML: the table of verdicts, and text that no parser stumbles over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from x25shark.report import junit
from x25shark.report.baseline import Baseline
from x25shark.report.gate import gate
from x25shark.report.gate import junit as gate_junit
from x25shark.results import CaseResult, Results
from x25shark.verdicts import OUTCOMES, Verdict

Cases = Callable[..., CaseResult]
Runs = Callable[[list[CaseResult]], Results]
Poison = Callable[[str], Results]


def parse(results: Results) -> ElementTree.Element:
    return ElementTree.fromstring(junit.render(results).encode("utf-8"))


def test_suites_are_groups_and_counts_add_up(results: Results) -> None:
    root = parse(results)
    assert [s.get("name") for s in root] == ["PLP-RST", "PLP-CALL"]
    for name, number in {"tests": 11, "failures": 1, "errors": 1, "skipped": 3}.items():
        # The document as a whole has no count of those that were skipped.
        assert root.get(name) == (None if name == "skipped" else str(number))
        assert sum(int(s.get(name, "")) for s in root) == number


@pytest.mark.parametrize("verdict", list(Verdict))
def test_each_verdict_has_the_element_of_the_table(
    verdict: Verdict, case: Cases, run_of: Runs
) -> None:
    element = parse(run_of([case(1, verdict)])).findall(".//testcase")[0]
    found = [e.tag for e in element if e.tag in ("failure", "error", "skipped")]
    expected = OUTCOMES[verdict].junit
    assert found == ([] if expected == "(none)" else [expected])
    assert (element.findtext("system-out") or "").startswith(f"verdict: {verdict.value}\n")
    assert element.get("classname") == "PLP-RST"
    assert element.get("name", "").startswith("PLP-RST-01: A Reset Request")


def test_a_failure_carries_its_text_and_its_evidence(case: Cases, run_of: Runs) -> None:
    element = parse(run_of([case(4, Verdict.FAIL)])).findall(".//testcase")[0]
    failure = element.findall("failure")[0]
    assert failure.get("type") == "FAIL"
    assert "cause 5 came" in failure.get("message", "")
    assert "run again" in (failure.text or "")
    said = (element.findtext("system-out") or "").splitlines()
    assert said[-1] == "[[ATTACHMENT|evidence/PLP-RST-04.pcapng]]"
    assert "run again: x25shark run --router reference --select PLP-RST-04" in said


def refused(text: str) -> list[str]:
    """What the schema of Jenkins' xUnit plugin refuses."""
    schema = xmlschema.XMLSchema(Path(__file__).with_name("jenkins.xsd"))
    return [str(error.reason) for error in schema.iter_errors(ElementTree.fromstring(text))]


def test_jenkins_takes_it(results: Results, poisoned: Poison, hostile: str) -> None:
    assert refused(junit.render(results)) == []
    assert refused(junit.render(poisoned(hostile))) == []


@pytest.mark.parametrize(
    "change",
    [
        ("<system-out>", "<properties/><system-out>"),
        ('<testsuites name="x25shark"', '<testsuites name="x25shark" skipped="3"'),
        (' tests="', ' test="'),
        ("<testcase classname", "<testcase file='x' classname"),
    ],
)
def test_jenkins_refuses_what_others_take(change: tuple[str, str], results: Results) -> None:
    text = junit.render(results)
    assert change[0] in text
    assert refused(text.replace(*change))


def test_jenkins_takes_the_outcome_of_a_gate(results: Results) -> None:
    held = gate(Baseline({}, None), results)
    assert "NEW FAIL" in gate_junit(held)
    assert refused(gate_junit(held)) == []


def test_hostile_text_is_inert(poisoned: Poison, hostile: str, bad_characters: set[str]) -> None:
    text = junit.render(poisoned(hostile))
    assert not bad_characters & set(text)
    root = ElementTree.fromstring(text.encode("utf-8"))
    assert "<script>alert(1)</script>" in root.findall(".//failure")[0].get("message", "")
    assert {e.tag for e in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "properties", "property",
        "failure", "error", "skipped", "system-out",
    }  # fmt: skip


def test_ten_megabytes_are_bounded(poisoned: Poison) -> None:
    assert len(junit.render(poisoned("z" * 10_000_000))) < 1_000_000


def test_a_time_that_is_no_number_is_zero(case: Cases, run_of: Runs) -> None:
    item = case(1, Verdict.PASS)
    item.duration_s = float("nan")
    assert parse(run_of([item])).findall(".//testcase")[0].get("time") == "0.000"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences between runs, in words."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
from x25shark.report.compare import compare, described, settled, signature
from x25shark.results import CaseResult, Results
from x25shark.verdicts import Verdict

Cases = Callable[..., CaseResult]
Runs = Callable[[list[CaseResult]], Results]
Poison = Callable[[str], Results]


def words(old: Results, new: Results) -> list[tuple[str, str]]:
    return [(d.id, d.word) for d in compare(old, new)]


def test_equal_runs_do_not_differ(results: Results) -> None:
    assert compare(results, copy.deepcopy(results)) == []


def test_changed_verdicts(case: Cases, run_of: Runs) -> None:
    old = run_of([case(1, Verdict.PASS), case(2, Verdict.FAIL), case(3, Verdict.NOT_APPLICABLE)])
    new = run_of([case(1, Verdict.FAIL), case(2, Verdict.PASS), case(3, Verdict.PASS)])
    assert words(old, new) == [
        ("PLP-RST-01", "PASS->FAIL"),
        ("PLP-RST-02", "FAIL->PASS"),
        ("PLP-RST-03", "NOT APPLICABLE->PASS"),
    ]
    assert "cause 5 came" in str(compare(old, new)[0])


def test_new_and_missing_cases(case: Cases, run_of: Runs) -> None:
    old = run_of([case(1, Verdict.PASS), case(2, Verdict.PASS)])
    new = run_of([case(2, Verdict.PASS), case(3, Verdict.FAIL)])
    assert words(old, new) == [("PLP-RST-03", "NEW FAIL"), ("PLP-RST-01", "missing")]


def test_other_expectation(case: Cases, run_of: Runs) -> None:
    old, new = case(1, Verdict.FAIL), case(1, Verdict.FAIL)
    new.expectations[0].met = False
    (difference,) = compare(run_of([old]), run_of([new]))
    assert difference.word == "fails differently"
    assert "other expectation: was 'B: Reset Indication" in difference.detail
    assert "now 'A: Call Connected'" in difference.detail


def test_other_text(case: Cases, run_of: Runs) -> None:
    old, new = case(1, Verdict.FAIL), case(1, Verdict.FAIL)
    new.reason = new.reason.replace("cause 5", "cause 9")
    (difference,) = compare(run_of([old]), run_of([new]))
    assert difference.word == "fails differently"
    assert "other text" in difference.detail


def test_other_packet_seen(case: Cases, run_of: Runs) -> None:
    old, new = case(1, Verdict.FAIL), case(1, Verdict.FAIL)
    assert new.expectations[1].judge_one
    new.expectations[1].judge_one.saw = "Clear Indication: cause 5, diagnostic 7"
    (difference,) = compare(run_of([old]), run_of([new]))
    assert difference.word == "fails differently"


def test_figures_of_the_run_do_not_count(case: Cases, run_of: Runs) -> None:
    old, new = case(1, Verdict.FAIL), case(1, Verdict.FAIL)
    old.reason = "frame 12, offset 200, 127.0.25.1:40122: nothing within 2.013 s; cause 5"
    new.reason = "frame 99, offset 417, 127.0.25.1:51987: nothing within 2.2 s; cause 5"
    new.expectations[1].frame = 99
    new.packets, new.duration_s = [], 77.0
    assert compare(run_of([old]), run_of([new])) == []


@pytest.mark.parametrize("text", ["cause 5", "128 octets", "LCI=1 P(S)=3", "x25s.cause == 0x05"])
def test_figures_of_the_protocol_do_count(text: str) -> None:
    assert settled(text) == text


def test_the_graver_of_two_equal_ids_counts(case: Cases, run_of: Runs) -> None:
    both = run_of([case(1, Verdict.PASS), case(1, Verdict.FAIL)])
    assert words(run_of([case(1, Verdict.PASS)]), both) == [("PLP-RST-01", "PASS->FAIL")]


def test_signature_of_a_failure_without_expectation(case: Cases) -> None:
    item = case(1, Verdict.INCONCLUSIVE)
    assert signature(item).expectation == ""
    assert signature(item).why.startswith("the call set-up failed")


def test_hostile_text_is_inert(
    poisoned: Poison, hostile: str, bad_characters: set[str], run_of: Runs
) -> None:
    made = poisoned(hostile)
    for old, new in ((run_of([]), made), (made, run_of([])), (made, poisoned("x" * 10_000_000))):
        for difference in compare(old, new):
            assert not bad_characters & set(str(difference))
            assert len(str(difference)) < 2_000


def test_many_missing_cases_are_folded(case: Cases, run_of: Runs) -> None:
    old = run_of([case(n, Verdict.PASS) for n in range(40)])
    lines = described(compare(old, run_of([case(0, Verdict.FAIL)])))
    assert len(lines) == 2
    assert lines[0].startswith("PASS->FAIL: PLP-RST-00")
    assert lines[1].startswith("missing: 39 cases: PLP-RST-01, PLP-RST-02")
    few = run_of([case(n, Verdict.PASS) for n in range(37)])
    assert len(described(compare(old, few))) == 3

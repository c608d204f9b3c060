# SPDX-License-Identifier: GPL-2.0-or-later
"""report.js in a real browser: a case that is opened shows its expectations and its ladder.

Needs Chromium (Debian package chromium); the rest of the page is tested without a browser.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from x25shark.report import html
from x25shark.results import CaseResult, Results
from x25shark.verdicts import Verdict

Cases = Callable[..., CaseResult]
Runs = Callable[[list[CaseResult]], Results]
Poison = Callable[[str], Results]
Opened = Callable[[Results, str], str]


@pytest.fixture
def opened(tmp_path: Path, browse: Callable[..., str]) -> Opened:
    """opened(results, fragment): the document after the script has run on report.html#fragment."""

    def document(results: Results, fragment: str) -> str:
        html.render(results, tmp_path)
        text = browse((tmp_path / "report.html").as_uri() + fragment)
        # Without the JSON behind the cases, which is no part of what is shown.
        return re.sub(r'<script type="text/plain">.*?</script>', "", text, flags=re.S)

    return document


def test_an_opened_case_shows_expectations_and_ladder(
    case: Cases, run_of: Runs, opened: Opened
) -> None:
    item = case(2, Verdict.FAIL)
    missing = case(3, Verdict.FAIL).expectations[1]
    missing.frame, missing.text = None, "Reset Confirmation at B2"
    item.expectations = [*item.expectations, missing]
    item.packets[-1].connection = 2
    text = opened(run_of([case(1, Verdict.PASS), item]), "#case-PLP-RST-02")
    assert re.search(r'<details class="case v-fail" id="case-PLP-RST-02"[^>]* open', text)
    assert text.count('class="yes">met') == 2
    assert text.count('class="no">not met') == 4
    assert text.count('<details class="pkt') == 6
    assert text.count("pkt got offends") == 1
    assert "✗ expectation 2" in text
    assert "✗ expectation 3 not met, no packet to show: Reset Confirmation at B2" in text
    assert "1.2 s later" in text
    # Side B has two connections, side A has one.
    assert re.findall(r">TCP (\d)</span>", text) == ["1", "1", "2"]
    # Who sent what: arrows and the words for those who do not see them.
    ways = re.findall(r'unseen">(\w+ to \w+): .*?arrow (\w+)', text, flags=re.S)
    assert ways == [
        ("A to router", "right"),
        ("router to B", "right"),
        ("B to router", "left"),
        ("router to A", "left"),
        ("A to router", "right"),
        ("router to B", "right"),
    ]


def test_what_a_router_sent_is_not_executed(poisoned: Poison, hostile: str, opened: Opened) -> None:
    results = poisoned("document.title = 'taken'; " + hostile)
    fragment = "#" + html._anchors(results)[4]
    text = opened(results, fragment)
    assert '<details class="pkt' in text
    assert "<title>taken" not in text
    assert "<img" not in text
    assert text.count("<script") == 1


def test_failures_are_ready_for_paper(case: Cases, run_of: Runs, opened: Opened) -> None:
    """Nothing is opened, and still what failed has its packets: printing does not wait for them."""
    text = opened(run_of([case(1, Verdict.PASS), case(2, Verdict.FAIL)]), "")
    assert not re.search(r'<details class="case[^>]* open', text)
    failed = text[text.index('id="case-PLP-RST-02"') :]
    assert "<h4>Not met</h4>" in failed
    assert '<details class="pkt' in failed[: failed.index("All cases by group")]
    assert "<h4>Not met</h4>" not in text[: text.index('id="case-PLP-RST-02"')]


def test_both_sides_stand_in_the_ladder(case: Cases, run_of: Runs, opened: Opened) -> None:
    """Also where B sent and got nothing; a router tested from A alone has no B."""
    item = case(2, Verdict.FAIL)
    item.packets = [packet for packet in item.packets if packet.side == "A"]
    item.expectations = [e for e in item.expectations if e.side == "A"]
    run = run_of([item])
    assert 'class="ladder"' in opened(run, "#case-PLP-RST-02")
    run.run.configuration = "T2"
    assert 'class="ladder one"' in opened(run, "#case-PLP-RST-02")

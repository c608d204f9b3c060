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
    item.expectations.append(missing)
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile and dying routers: the run ends by itself, and its report is whole.

measure.py runs the whole suite against every kind; here a part of it meets those kinds that take
different ways through the tester.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from . import measure, router

REACTION = 0.5
SELECT = ("--select", "XOT-HDR,PLP-CALL,PLP-CLR,PLP-DATA-17")


def _run(kind: str, directory: Path, *options: str) -> tuple[measure.Outcome, str]:
    text = router.profile(kind, directory / "state", REACTION)
    outcome = measure.run_suite(kind, directory, (*SELECT, *options), text)
    assert outcome.problems == []
    assert "Traceback" not in outcome.output
    return outcome, "\n".join(outcome.reasons)


@pytest.mark.parametrize("kind", ["nonsense", "closes", "resets", "zeros", "calls", "storm"])
def test_gives_up(tmp_path: Path, kind: str) -> None:
    """Five cases and a sanity call tell that there is no router to test."""
    outcome, reasons = _run(kind, tmp_path)
    assert outcome.status == 1
    assert outcome.peak_mb < measure.MEMORY_LIMIT_MB
    assert outcome.verdicts["NOT RUN"] > 30
    assert "the router does not answer any more: " in reasons
    results = json.loads((tmp_path / "report" / "results.json").read_text())
    sanity = [case for case in results["cases"] if case["id"] == "SANITY-CALL-01"]
    assert [case["verdict"] for case in sanity] == ["FAIL"]
    assert (tmp_path / "report" / sanity[0]["evidence"]).is_file()


def test_keep_going(tmp_path: Path) -> None:
    """Every case is run, whatever the router does."""
    outcome, reasons = _run("closes", tmp_path, "--keep-going")
    assert outcome.status == 1
    assert "does not answer any more" not in reasons
    assert set(outcome.verdicts) <= {"PASS", "FAIL", "INCONCLUSIVE", "NOT APPLICABLE", "NOT RUN"}
    assert all("slow" in r for r in outcome.reasons if r.startswith("slow") or "NOT RUN" in r)
    assert outcome.verdicts["FAIL"] + outcome.verdicts["INCONCLUSIVE"] > 30


def test_dies_twice(tmp_path: Path) -> None:
    """Started again once; the second death ends the run."""
    outcome, reasons = _run("dies", tmp_path)
    assert outcome.status == 1
    assert outcome.verdicts["PASS"] > 5
    assert outcome.verdicts["NOT RUN"] > 5
    notes = json.loads((tmp_path / "report" / "results.json").read_text())["run"]["notes"]
    assert sum("the router was started again after" in note for note in notes) == 1
    assert "the router does not answer any more: " in reasons


def test_cannot_be_started_again(tmp_path: Path) -> None:
    outcome, reasons = _run("mortal", tmp_path)
    assert outcome.status == 1
    assert outcome.verdicts["PASS"] > 3
    assert re.search(r"could not be started again: control\.start ended with status 1", reasons)


def test_returns_by_itself(tmp_path: Path) -> None:
    """A router that comes back costs the cases in between, not the run."""
    outcome, reasons = _run("returns", tmp_path)
    assert "does not answer any more" not in reasons
    assert outcome.verdicts["PASS"] > 10


def test_strings_are_inert(tmp_path: Path) -> None:
    """Markup and escapes in what a router sends act neither in the terminal nor in a page."""
    outcome, _ = _run("strings", tmp_path, "--keep-going")
    assert outcome.status == 1
    report = tmp_path / "report"
    acting = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]")
    assert not acting.search(outcome.output)
    for name in ("report.html", "junit.xml"):
        text = (report / name).read_text("utf-8")
        assert not acting.search(text)
        assert "<script>alert" not in text and "<img src=x" not in text
    assert (report / "results.json").stat().st_size < 20 << 20

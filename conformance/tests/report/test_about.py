# SPDX-License-Identifier: GPL-2.0-or-later
"""What x25shark show says of a case that no run had."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from x25shark.catalogue import catalogue
from x25shark.catalogue.states import reachable
from x25shark.cli import main
from x25shark.report.about import about
from x25shark.results import CaseResult, Results, RunInfo, write_results
from x25shark.suite import state_words
from x25shark.suite.events import STIMULI
from x25shark.suite.index import modules, steps
from x25shark.suite.scenes import _SCENES
from x25shark.verdicts import Verdict


def test_purpose_clause_faults_and_freedoms_are_told() -> None:
    text = about("plp-int-01")
    assert text is not None
    for words in (
        "PLP-INT-01",
        "X.25 4.3.7",
        "both sides over XOT (T1)",
        "BUG-INT-01: ",
        "MAY-INT",
    ):
        assert words in text


@pytest.mark.parametrize("identifier", catalogue().purposes)
def test_every_case_fits_a_terminal(identifier: str) -> None:
    text = about(identifier)
    assert text is not None
    assert max(map(len, text.splitlines())) <= 79


def test_show_needs_no_run(tmp_path: Path) -> None:
    arguments = ["show", "state-c3-p1-undefined_type", "--output", str(tmp_path / "none")]
    shown = CliRunner().invoke(main, arguments)
    assert shown.exit_code == 0
    assert "p1 (ready)" in shown.output
    assert shown.output.endswith("x25shark run --select STATE-C3-p1-undefined_type\n")


# One case of each module.
ONE_OF_EACH = {module: case for case, module in modules().items()}


@pytest.mark.parametrize("identifier", ONE_OF_EACH.values())
def test_stimulus_and_expectations_need_no_run(identifier: str) -> None:
    assert steps(identifier)


def test_the_steps_of_a_case_are_shown(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["show", "PLP-RST-01", "--output", str(tmp_path / "none")])
    assert "    call.b.expect(ResetIndication(cause=0, diagnostic=7))\n" in shown.output
    assert max(map(len, shown.output.splitlines()[:-1])) <= 79


STATES = [identifier for identifier in modules() if identifier.startswith("STATE-")]


def test_the_steps_of_every_cell_are_told_in_words() -> None:
    """How its state is reached, what is sent, what is expected; each word is of some cell."""
    assert len(STATES) > 200
    told = {identifier: steps(identifier).splitlines() for identifier in STATES}
    for identifier, lines in told.items():
        purpose = catalogue().purposes[identifier].purpose
        assert lines[0].startswith(f"state {purpose.split()[0]}: ")
        assert lines[1].startswith("A sends: ")
        assert lines[2].startswith("expected")
        assert all(line.endswith(".") for line in lines)
        for diagnostic in re.findall(r"error (\d+)", purpose):
            assert re.search(rf"diagnostic [\d or]*\b{diagnostic}\b", " ".join(lines[2:]))
    assert set(state_words.REACHED) == set(_SCENES)
    assert set(state_words.SENT) == set(STIMULI)
    normal = {
        f"{one.state} {one.row.event}"
        for cell, _ in reachable()
        for one in (cell, cell.on_line)
        if one is not None and not one.why and one.can("normal")
    }
    assert set(state_words.NORMAL) == normal


def test_what_a_case_is_for_is_shown_behind_a_run(tmp_path: Path) -> None:
    info = RunInfo("1", "", 1.0, "r", "p", "local", "T1", {}, "tshark", 0, "", "")
    case = CaseResult("PLP-INT-01", "PLP-INT", "as it was", "X.25", Verdict.FAIL, "no Interrupt")
    write_results(Results(info, [case], 1), tmp_path / "results.json")
    shown = CliRunner().invoke(main, ["show", "plp-int-01", "--output", str(tmp_path)])
    assert shown.output.startswith("FAIL  PLP-INT-01")
    before = CliRunner().invoke(main, ["show", "plp-int-01", "--output", str(tmp_path / "none")])
    what = before.output.partition("\n")[2].rpartition("no run in")[0]
    assert "BUG-INT-01: " in what
    assert what.strip() in shown.output


def test_a_case_that_is_not_known_is_one_line(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["show", "NO-CASE-01", "--output", str(tmp_path)])
    assert shown.exit_code == 2
    assert shown.output.splitlines() == [
        "x25shark: no case is called NO-CASE-01; x25shark list names them"
    ]
    shown = CliRunner().invoke(main, ["show", "PLP-RTS-01", "--output", str(tmp_path)])
    assert "did you mean PLP-RST-01" in shown.output

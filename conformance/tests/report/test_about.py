# SPDX-License-Identifier: GPL-2.0-or-later
"""What x25shark show says of a case that no run had."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from x25shark.catalogue import catalogue
from x25shark.cli import main
from x25shark.report.about import about
from x25shark.suite.index import modules, steps


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


# One case of each module; the cells of the state tables have no steps but their purpose.
ONE_OF_EACH = {module: case for case, module in modules().items() if module != "test_state_tables"}


@pytest.mark.parametrize("identifier", ONE_OF_EACH.values())
def test_stimulus_and_expectations_need_no_run(identifier: str) -> None:
    assert steps(identifier)


def test_the_steps_of_a_case_are_shown(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["show", "PLP-RST-01", "--output", str(tmp_path / "none")])
    assert "    call.b.expect(ResetIndication(cause=0, diagnostic=7))\n" in shown.output
    assert max(map(len, shown.output.splitlines()[:-1])) <= 79


def test_a_case_that_is_not_known_is_one_line(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["show", "NO-CASE-01", "--output", str(tmp_path)])
    assert shown.exit_code == 2
    assert shown.output.splitlines() == [
        "x25shark: no case is called NO-CASE-01; x25shark list names them"
    ]
    shown = CliRunner().invoke(main, ["show", "PLP-RTS-01", "--output", str(tmp_path)])
    assert "did you mean PLP-RST-01" in shown.output

# SPDX-License-Identifier: GPL-2.0-or-later
"""What x25shark show says of a case that no run had."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from x25shark.catalogue import catalogue
from x25shark.cli import main
from x25shark.report.about import about


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
    assert shown.output.endswith("x25shark run --select STATE-C3-p1-undefined_type\n")


def test_a_case_that_is_not_known_is_one_line(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["show", "PLP-NO-01", "--output", str(tmp_path)])
    assert shown.exit_code == 2
    assert shown.output.splitlines() == [
        "x25shark: no case is called PLP-NO-01; x25shark list names them"
    ]

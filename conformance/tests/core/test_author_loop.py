# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark of the author's loop measures what it says, and keeps it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from x25shark.selftest import author_loop

pytestmark = pytest.mark.usefixtures("namespaces")


def test_every_command_is_measured_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    kept = tmp_path / "kept.json"
    arguments = ["--turns", "1", "--select", "PLP-RST-01", "--keep", str(kept)]
    assert author_loop.main(arguments) == 0
    figures = json.loads(kept.read_text())
    named = author_loop.commands(tmp_path, "")
    assert list(figures) == [*named, "results.json", "report.html"]
    assert all(figures[name]["processor"] > 0 for name in named)
    assert all(0 < figures[name]["first_line"] <= figures[name]["seconds"] for name in named)
    assert all(figures[name].keys() >= most.keys() for name, most in author_loop.TARGETS.items())
    said = capsys.readouterr().out
    assert "was" not in said and " of 0.15" in said
    kept.write_text(json.dumps({"--help": {"seconds": 12.5}}))
    assert author_loop.main(arguments) == 0
    assert "was 12.50" in " ".join(capsys.readouterr().out.split())


def test_what_the_suite_may_take_grows_with_its_cases() -> None:
    assert author_loop.most("the suite", "seconds", 1) == author_loop.most(
        "the suite", "seconds", 439
    )
    assert author_loop.most("the suite", "processor", 878) == 60
    assert author_loop.most("the suite", "memory", 878) == 250
    assert author_loop.most("one case", "seconds", 878) == 1
    assert author_loop.most("one case", "size", 878) is None


def test_a_command_that_fails_is_no_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert author_loop.main(["--turns", "1", "--select", "PLP-NONE-01"]) == 2
    assert "exit status 2" in capsys.readouterr().err

# SPDX-License-Identifier: GPL-2.0-or-later
"""RESULTS.md says what results.json holds."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
import x25shark
from x25shark.results import (
    CaseResult,
    CounterReading,
    ExpectationResult,
    PacketLine,
    Results,
    RunInfo,
    read_results,
    write_results,
)

DOCUMENT = (Path(x25shark.__file__).parent / "RESULTS.md").read_text(encoding="utf-8")


def documented(title: str) -> set[str]:
    """The fields named in the first column of the table under a heading."""
    section = DOCUMENT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    return {name for cell in cells for name in re.findall("`([a-z_0-9]+)`", cell)}


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("run", RunInfo),
        ("cases", CaseResult),
        ("expectations", ExpectationResult),
        ("counter", CounterReading),
        ("packets", PacketLine),
    ],
)
def test_each_field_is_documented(title: str, kind: type) -> None:
    assert documented(title) == {f.name for f in dataclasses.fields(kind)}


def test_the_document_is_documented(results: Results) -> None:
    assert documented("The document") == set(results.to_json())


def test_a_file_that_was_written_reads_the_same(results: Results, tmp_path: Path) -> None:
    results.cases[0].expectations[0].counter = CounterReading(
        "calls_in", "a", "xot.calls", 3, None, 2, "no such counter", ["xot.other"]
    )
    results.cases[0].reason = "lone \ud800 surrogate, \x1b escape, é"
    path = tmp_path / "results.json"
    write_results(results, path)
    assert path.read_bytes().isascii()
    assert json.loads(path.read_text())["summary"] == results.summary()
    assert read_results(path) == results

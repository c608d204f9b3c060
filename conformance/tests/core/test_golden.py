# SPDX-License-Identifier: GPL-2.0-or-later
"""The golden captures: listed, read by Wireshark, and each filter matches what the index says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from x25shark.catalogue import faults
from x25shark.judges.wireshark import WiresharkJudge
from x25shark.selftest.golden import Wanted, wanted
from x25shark.suite.loader import cases

PCAPS = Path(__file__).parents[3] / "pcaps"
INDEX: list[dict[str, Any]] = json.loads((PCAPS / "index.json").read_text())


def test_every_capture_is_wanted_and_there() -> None:
    files = {path.name for path in PCAPS.glob("*.pcapng")}
    assert files == {row.file for row in wanted(PCAPS)} == {row["file"] for row in INDEX}


@pytest.mark.parametrize("row", wanted(PCAPS), ids=lambda row: row.file)
def test_rows_name_what_exists(row: Wanted) -> None:
    assert row.case in cases()
    assert not row.fault or row.fault in faults()


@pytest.mark.parametrize("row", INDEX, ids=lambda row: row["file"])
def test_filters_match_the_packets_of_the_index(
    row: dict[str, Any], wireshark: WiresharkJudge
) -> None:
    marks = row["marks"]
    # What did not come has no frame.
    assert marks or row["fault"]
    assert (row["verdict"] == "FAIL") == bool(row["fault"])
    templates = [
        re.sub(rf"#{mark['k']}\b", "#{k}", mark["filter"])
        if "#" in mark["filter"]
        else mark["filter"]
        for mark in marks
    ]
    reading = wireshark.read((PCAPS / row["file"]).read_bytes(), templates, [])
    assert not reading.lua_errors
    assert not reading.file_error
    for mark, hits in zip(marks, reading.hits, strict=True):
        assert [tuple(hit) for hit in hits] == [(mark["frame"], mark["k"])], mark["expected"]


def test_captures_tell_nothing_of_the_machine_that_made_them() -> None:
    for path in PCAPS.glob("*.pcapng"):
        octets = path.read_bytes()
        assert b"Linux" not in octets and b"Dumpcap" not in octets, path.name

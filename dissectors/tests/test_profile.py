# SPDX-License-Identifier: GPL-2.0-or-later
"""The Wireshark profile: everything in it is valid for the strict dissector."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from strict_tshark import strict_tshark
from x25shark.judges.sandbox import Sandbox
from x25shark.judges.wireshark import WiresharkJudge
from xot_captures import CAPTURES

PROFILE = Path(__file__).parents[1] / "profile" / "x25shark"


def _lines(name: str) -> list[str]:
    lines = (PROFILE / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _filters() -> list[str]:
    filters = [line.split("@")[2] for line in _lines("colorfilters")]
    for line in _lines("dfilter_buttons"):
        columns = re.findall(r'"([^"]*)"', line)
        assert len(columns) == 4
        filters.append(columns[2].replace(r"\x22", '"'))
    filters += [line.split('" ', 1)[1] for line in _lines("dfilters") if line.startswith('"')]
    return filters


def test_every_filter_is_valid(judge: WiresharkJudge) -> None:
    filters = _filters()
    assert len(filters) > 20
    reading = judge.read(CAPTURES["bad headers"], filters)
    assert len(reading.hits) == len(filters)


def test_colours_come_with_their_values() -> None:
    for line in _lines("colorfilters"):
        assert re.fullmatch(r"@[^@]+@[^@]+@(\[\d+,\d+,\d+\]){2}", line), line


@pytest.mark.parametrize("column", ["x25s.lcn", "x25s.offset", "hdlcs.fcs_status"])
def test_columns_are_fields(column: str, judge: WiresharkJudge) -> None:
    assert f"%Cus:{column}:0:R" in (PROFILE / "preferences").read_text()
    judge.read(CAPTURES["call"], [column])


def test_tshark_takes_the_profile_without_complaint() -> None:
    """Columns, colours and buttons as Wireshark itself reads them."""
    sandbox = Sandbox()
    try:
        profiles = sandbox.folder / "config" / "profiles"
        shutil.copytree(PROFILE, profiles / "x25shark")
        lines, colours = (
            strict_tshark(sandbox, CAPTURES["call"], "-C", "x25shark", *further)
            for further in ([], ["--color", "-T", "fields", "-e", "frame.coloring_rule.name"])
        )
    finally:
        sandbox.close()
    complaints = [line for line in lines.stderr.splitlines() if "Running as user" not in line]
    assert complaints == []
    assert "127.0.25.1   Call Request LCN 1 to 12345 from 98765" in lines.stdout
    assert colours.stdout.splitlines()[3:6] == [
        "X.25 call set-up",
        "X.25 call set-up",
        "X.25 clearing",
    ]

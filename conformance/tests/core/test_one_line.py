# SPDX-License-Identifier: GPL-2.0-or-later
"""A router with one serial line, which answers the calls itself: what needs a side B is not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import cases_against_reference

PROFILE = """
extends = "reference-serial"
omits = [
  "line.b", "addresses.b", "addresses.b_arrives", "addresses.b_calls_as", "counters.roots.b",
]
"""


@pytest.mark.usefixtures("namespaces")
def test_what_applies_to_one_line_passes(tmp_path: Path) -> None:
    found = cases_against_reference(tmp_path, PROFILE, "--select", "PLP,SYS,LAPB-I-1*,LAPB-REC-2*")
    verdicts = [case["verdict"] for case in found.values()]
    assert set(verdicts) == {"PASS", "NOT APPLICABLE", "NOT RUN"}
    assert verdicts.count("PASS") > 90

# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: one C judge and one tshark judge for all tests of the Wireshark side."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from x25shark.judges.tshark import TsharkJudge
from x25shark.judges.wireshark import WiresharkJudge

# The tests share modules with each other and with the captures of the gaps.
_HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "gaps")]


@pytest.fixture(scope="session")
def judge() -> Iterator[WiresharkJudge]:
    with WiresharkJudge() as judge:
        yield judge


@pytest.fixture(scope="session")
def tshark() -> Iterator[TsharkJudge]:
    with TsharkJudge() as judge:
        yield judge

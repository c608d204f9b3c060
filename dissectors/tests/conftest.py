# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: one C judge and one tshark judge for all tests of the Wireshark side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from x25shark.judges.tshark import TsharkJudge
from x25shark.judges.wireshark import WiresharkJudge


@pytest.fixture(scope="session")
def judge() -> Iterator[WiresharkJudge]:
    with WiresharkJudge() as judge:
        yield judge


@pytest.fixture(scope="session")
def tshark() -> Iterator[TsharkJudge]:
    with TsharkJudge() as judge:
        yield judge

# SPDX-License-Identifier: GPL-2.0-or-later
"""Which packets of a long case its result keeps."""

from __future__ import annotations

import pytest
from x25shark.judges.evidence import Read
from x25shark.judges.expectation import Direction, PacketView
from x25shark.run.ladder import kept

WAY = Direction(("127.0.0.1", 1998), ("127.0.0.2", 1998))


def reads(count: int) -> list[Read]:
    rr = b"\x10\x01\x01"
    views = (PacketView(7 * n, 7 * n + 7, 1, b"", 0, 0, rr, n, 1) for n in range(1, count))
    return [Read(WAY, view, rr) for view in views]


@pytest.mark.parametrize("count", [1, 400, 401])
def test_a_short_case_keeps_all(count: int) -> None:
    assert [r.view.frame for r in kept(reads(count), ())] == list(range(1, count))


def test_a_long_case_keeps_its_ends_and_what_decided() -> None:
    frames = [r.view.frame for r in kept(reads(3_001), {(1_500, 1), (None, None)})]
    assert len(frames) == 400
    assert frames[:40] == list(range(1, 41))
    assert frames[40:61] == list(range(1_490, 1_511))
    assert frames[61:] == list(range(3_000 - 338, 3_001))

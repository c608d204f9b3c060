# SPDX-License-Identifier: GPL-2.0-or-later
"""Both judges on one capture."""

from __future__ import annotations

from collections.abc import Sequence

from x25shark.judges.reading import Reading
from x25shark.judges.tshark import TsharkJudge
from x25shark.judges.wireshark import WiresharkJudge


def read_alike(
    judge: WiresharkJudge,
    tshark: TsharkJudge,
    capture: bytes,
    filters: Sequence[str],
    fields: Sequence[str],
) -> Reading:
    """What both judges read of a capture, which has to be the same."""
    fast = judge.read(capture, filters, fields)
    assert fast == tshark.read(capture, filters, fields, timeout=60)
    assert fast.lua_errors == ()
    assert fast.file_error is None
    return fast

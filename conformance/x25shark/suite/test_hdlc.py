# SPDX-License-Identifier: GPL-2.0-or-later
"""HDLC: frame level on a serial line (X.25 2.2; ISO/IEC 13239)."""

from __future__ import annotations

from .language import Bench, LapbSABM, LapbUA, purpose


@purpose("HDLC-01")
def test_good_frame(bench: Bench) -> None:
    line = bench.line()
    line.bring_down()
    line.send(LapbSABM(p_f=1))
    line.expect(LapbUA(p_f=1))

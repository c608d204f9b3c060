# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: recovery by T1, and by REJ once more (X.25 2.4.5.6, 2.4.5.9, 2.4.8.1, 2.4.8.4)."""

from __future__ import annotations

import time

from .language import (
    Bench,
    Inconclusive,
    LapbDM,
    LapbI,
    LapbREJ,
    LapbRR,
    LapbSABM,
    LapbUA,
    LineSide,
    Packet,
    RestartConfirmation,
    purpose,
)
from .links import (
    EARLY_FROM,
    all_again,
    beyond_the_window,
    expect_poll,
    last_look,
    link_was_reset,
    not_before,
    out_of_sequence,
    polled_in_vain,
    polls,
    ready,
    respond,
    unacknowledged,
    with_one_t1,
)

OPEN = 3


@purpose("LAPB-REC-15", each_line=True)
def test_in_timer_recovery(bench: Bench) -> None:
    """A poll of the tester, I frames, one with P=1, and two gaps; then F=1 with the old N(R)."""
    line, restart = ready(bench)
    first = unacknowledged(line, restart, OPEN)
    line.skip()
    expect_poll(line)
    line.send(LapbRR(address=line.command_address, n_r=first, p_f=1))
    line.expect(*line.frames.answers(), passing=polls(line), note="polls cross")
    line.send(line.packet(restart, n_r=first))
    line.acknowledged(passing=polls(line), note="an I frame during timer recovery")
    line.send(line.packet(restart, n_r=first, p_f=1))
    line.expect(*line.frames.answers(), passing=polls(line), note="an I frame with P=1 there")
    _a_gap(line, restart, first)
    line.send(line.packet(restart, n_r=first))
    line.acknowledged(passing=polls(line), note="the missing frame during timer recovery")
    _a_gap(line, restart, first)
    respond(line, LapbRR, first)
    all_again(line, first, OPEN + 3)
    line.layer.expect_count(RestartConfirmation(), OPEN + 3, OPEN + 3)


def _a_gap(line: LineSide, restart: Packet, n_r: int) -> None:
    """Each has its REJ, as without timer recovery."""
    line.wait_until_ready()
    out_of_sequence(line, restart, 1, n_r=n_r)
    line.expect(LapbREJ(n_r=line.station.v_s), passing=polls(line), note="a gap")


@purpose("LAPB-REC-16")
def test_attempts_begin_anew(bench: Bench) -> None:
    """All polls but the last, then SABM; then as many again for the first I frame of that link."""
    for lines in with_one_t1(bench, "n2"):
        for line, restart in lines:
            line.layer.allow(RestartConfirmation())
            unacknowledged(line, restart, 1)
            line.skip()
        polled_in_vain(lines)
        for line, restart in lines:
            line.send(LapbSABM(p_f=1))
            line.expect(LapbUA(p_f=1), passing=(*polls(line), LapbI()))
            link_was_reset(line)
            line.send(line.packet(restart, n_r=0))
        polled_in_vain(lines)
        for line, _ in lines:
            line.allow(*polls(line), LapbSABM(), LapbDM())


def last_sent(line: LineSide, n_s: int) -> float:
    """When the router's I frame with this N(S) came last (monotonic, seconds)."""
    frames = [u for u in line.line.log.received if u.valid and not u.octets[1] & 1]
    return max(u.time for u in frames if u.octets[1] >> 1 & 7 == n_s)


@purpose("LAPB-REC-17", each_line=True)
def test_rej_once_more(bench: Bench) -> None:
    """Twice about the same frame, with more that waits than the window takes. A router may be
    careful, and send one frame at a time again."""
    line, restart = ready(bench)
    first = unacknowledged(line, restart, line.profile.k + 2)
    line.skip()
    for which in ("first", "second"):
        again, sent = line.cursor, last_sent(line, first)
        respond(line, LapbREJ, first)
        if time.monotonic() - sent >= EARLY_FROM * line.profile.t1:
            raise Inconclusive("the machine is slow: the router's T1 may have been over first")
        line.expect(LapbI(n_s=first), note=f"sent again because of the {which} REJ")
        line.send(LapbRR(address=line.command_address, n_r=first, p_f=1))
        line.expect(*line.frames.answers())
        line.expect_count(beyond_the_window(line, first), 0, 0, start=again, note="more than k")
    line.by_hand = False
    line.send(LapbRR(n_r=line.station.v_r))
    line.layer.expect_count(RestartConfirmation(), line.profile.k + 2, line.profile.k + 2)


@purpose("LAPB-REC-18", each_line=True)
def test_one_poll_each_t1(bench: Bench) -> None:
    line, restart = ready(bench)
    first = unacknowledged(line, restart, 1)
    line.skip()
    asked = last_look(line, *polls(line))
    expect_poll(line)
    not_before(line, asked + EARLY_FROM * line.profile.t1, *polls(line), note="before T1")
    respond(line, LapbRR, first + 1)
    line.layer.allow(RestartConfirmation())

# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: recovery by T1, and by REJ once more (X.25 2.4.5.6, 2.4.5.9, 2.4.8.1, 2.4.8.4)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .language import (
    Bench,
    Inconclusive,
    LapbDM,
    LapbFRMR,
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
    ANEW,
    EARLY_FROM,
    ENDING,
    ENDS,
    all_again,
    beyond_the_window,
    by_t1,
    came,
    expect_poll,
    is_polled,
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
# Polls that show that the attempts have begun anew, behind all but one of N2.
ENOUGH = 2
# An N(R) so far beyond V(S) has never been sent.
WRONG = 3


@purpose("LAPB-REC-15", each_line=True)
def test_in_timer_recovery(bench: Bench) -> None:
    """A poll of the tester, I frames, one with P=1, and two gaps; then F=1 with the old N(R), and
    nothing that is open comes again before that."""
    line, restart = ready(bench)
    first = unacknowledged(line, restart, OPEN)
    line.skip()
    expect_poll(line)
    begin = line.cursor
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
    line.expect_count(LapbI(n_s=first, p_f=0), 0, 0, start=begin, note="before F=1")
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
    """All polls but the last, then SABM; as many for the first I frame of that link, then F=1. The
    next timer recovery begins anew, and those on links behind all but one of N2 SABMs and FRMRs
    of the router: two polls are more than what is left of N2."""
    for lines in with_one_t1(bench, "n2"):
        for line, restart in lines:
            line.layer.allow(RestartConfirmation())
            unacknowledged(line, restart, 1)
            line.skip()
        polled_in_vain(lines)
        for line, restart in lines:
            _reset(line, restart)
        polled_in_vain(lines)
        for line, _ in lines:
            _answered(line)
        for line, restart in lines:
            # The first may meet a Restart of the router, and is not confirmed then.
            unacknowledged(line, restart, 2)
            line.skip()
        _polled_again(lines, "behind timer recovery that F=1 has ended")
        left = _asked_in_vain(lines)
        _polled_again(left, "on a link that the router has asked for N2 - 1 times")
        left = _rejected_in_vain(left)
        _polled_again(left, "behind N2 FRMRs")
        for line, _ in lines:
            line.allow(*polls(line), LapbSABM(), LapbDM())


def _reset(line: LineSide, restart: Packet, passing: Sequence[Packet] = ()) -> None:
    """A new link, on which the router has an answer that is not acknowledged."""
    line.send(LapbSABM(p_f=1))
    line.expect(LapbUA(p_f=1), passing=(*polls(line), LapbI(), *passing))
    link_was_reset(line)
    line.send(line.packet(restart, n_r=0))


def _answered(line: LineSide) -> None:
    """F=1 that acknowledges all; the link is still there.

    Raises Inconclusive where it came too late: the router has made N2 attempts.
    """
    respond(line, LapbRR, line.station.v_r)
    line.send(LapbRR(address=line.command_address, p_f=1))
    if isinstance(line.expect(*line.frames.answers(), *ANEW, passing=polls(line)), ENDS):
        line.allow(*ENDING)
        raise Inconclusive("N2 attempts were made before F=1 came")


def _polled_again(lines: Sequence[tuple[LineSide, Packet]], note: str) -> None:
    """As many polls as show that N2 begins anew, if N2 allows them."""
    for number in range(1, ENOUGH + 1):
        for line, _ in lines:
            if number < line.profile.n2:
                expect_poll(line, f"poll {number} {note}")


def _asked_in_vain(lines: Sequence[tuple[LineSide, Packet]]) -> list[tuple[LineSide, Packet]]:
    """The lines on which the router sets the link up behind FRMR: UA answers the last SABM but one
    of N2, and it has a packet to answer. A SABM more may cross with UA."""
    left = []
    for line, restart in lines:
        v_s, v_r = line.station.v_s, line.station.v_r
        line.send(LapbFRMR(rejected_control=v_s << 5 | 1, v_s=v_s, v_r=v_r, z=1))
        link_was_reset(line)
        if isinstance(line.expect(*ANEW, passing=polls(line)), LapbSABM):
            left.append((line, restart))
        else:
            line.allow(*ENDING)
    for number in range(2, max((line.profile.n2 for line, _ in left), default=0)):
        for line, _ in left:
            if number < line.profile.n2:
                line.expect(LapbSABM(p_f=1), within=by_t1(line), note=f"SABM {number} of N2")
    for line, restart in left:
        late = time.monotonic() - line.line.unanswered_since > EARLY_FROM * line.profile.t1
        line.let_pass(LapbSABM())
        line.send(LapbUA(p_f=1), line.packet(restart, n_s=0, n_r=0))
        if late:
            line.allow(*ENDING)
            raise Inconclusive("the machine is slow: the router may have given the set-up up")
    return left


def _rejected_in_vain(lines: Sequence[tuple[LineSide, Packet]]) -> list[tuple[LineSide, Packet]]:
    """The lines on which the router rejects a frame by FRMR, and says so N2 times; then SABM."""
    left = []
    for line, restart in lines:
        if not line.context.declared("L-FRMR"):
            continue
        wrong = (line.station.v_r + WRONG) % 8
        line.send(LapbRR(address=line.command_address, n_r=wrong))
        seen = line.expect(LapbFRMR(z=1), *ANEW, passing=polls(line))
        if isinstance(seen, LapbFRMR):
            left.append((line, restart))
        else:
            line.allow(*ENDING)
    for number in range(1, max((line.profile.n2 for line, _ in left), default=0)):
        for one in left[:]:
            line, _ = one
            if number < line.profile.n2 and not _rejects_again(line):
                line.allow(LapbFRMR(), *ENDING)
                left.remove(one)
    for line, restart in left:
        _reset(line, restart, (LapbFRMR(), *ENDING))
    return left


def _rejects_again(line: LineSide) -> bool:
    """Whether FRMR comes again at T1; a router may also wait, or reset the link (X.25 2.4.7.3)."""
    begin = line.cursor
    last_look(line, LapbFRMR(), *ANEW)
    if not came(line, begin, (LapbFRMR(p_f=0),)):
        return False
    return isinstance(line.expect(LapbFRMR(p_f=0), *ANEW), LapbFRMR)


def last_sent(line: LineSide, n_s: int) -> float:
    """When the router's I frame with this N(S) came last (monotonic, seconds)."""
    frames = [u for u in line.line.log.received if u.valid and not u.octets[1] & 1]
    return max(u.time for u in frames if u.octets[1] >> 1 & 7 == n_s)


@purpose("LAPB-REC-17", each_line=True)
def test_rej_once_more(bench: Bench) -> None:
    """Twice about the same frame, with more that waits than the window takes; and as a command,
    with P=0 and P=1. A router may be careful, and send one frame at a time again."""
    line, restart = ready(bench)
    first = unacknowledged(line, restart, line.profile.k + 2)
    line.skip()
    command = line.command_address
    kinds: tuple[tuple[str, dict[str, int]], ...] = (
        ("first", {}),
        ("second", {}),
        ("third", {"address": command}),
        ("fourth", {"address": command, "p_f": 1}),
    )
    for which, usual in kinds:
        again, sent = line.cursor, last_sent(line, first)
        # A router that has polled waits for F=1, and for nothing else.
        asked = is_polled(line)
        fields = {"p_f": 1} if asked else usual
        line.send(LapbREJ(n_r=first, **fields))
        if time.monotonic() - sent >= EARLY_FROM * line.profile.t1:
            raise Inconclusive("the machine is slow: the router's T1 may have been over first")
        if fields.get("p_f") and not asked:
            line.expect(*line.frames.answers(), note="REJ P=1")
        line.expect(LapbI(n_s=first), note=f"sent again because of the {which} REJ")
        line.send(LapbRR(address=command, n_r=first, p_f=1))
        line.expect(*line.frames.answers())
        line.expect_count(beyond_the_window(line, first), 0, 0, start=again, note="more than k")
    line.by_hand = False
    respond(line, LapbRR, line.station.v_r)
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

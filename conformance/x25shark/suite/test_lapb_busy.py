# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: busy condition (X.25 2.4.5.7)."""

from __future__ import annotations

from .language import (
    Bench,
    LapbDISC,
    LapbDM,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LineSide,
    Packet,
    RestartConfirmation,
    purpose,
)
from .links import final, polls, ready, unacknowledged

WAITING = 3


def busy(line: LineSide, restart: Packet) -> int:
    """RNR, and then packets for which the router has answers; the N(R) of the RNR."""
    line.by_hand = True
    n_r = line.station.v_r
    line.send(LapbRNR(n_r=n_r))
    for _ in range(WAITING):
        line.send(line.packet(restart, n_r=n_r))
        taken = line.station.v_s
        line.expect(LapbRR(n_r=taken), LapbI(n_r=taken), passing=(LapbI(), LapbRR()))
    line.allow(LapbRR())
    return n_r


@purpose("LAPB-BUSY-01")
def test_rnr_stops_i_frames(bench: Bench) -> None:
    """But for one, which has the N(S) of the RNR's N(R)."""
    line, restart = ready(bench)
    begin = line.cursor
    n_r = busy(line, restart)
    line.send(LapbRNR(address=line.command_address, n_r=n_r, p_f=1))
    line.expect(*final(line), passing=(LapbI(), LapbRR()))
    line.expect_count(LapbI(), 0, 1, start=begin, note="while the tester is busy")
    line.send(LapbRR(n_r=n_r))
    line.layer.expect_count(RestartConfirmation(), WAITING, WAITING)
    line.send(LapbRR())


@purpose("LAPB-BUSY-02")
def test_rnr_acknowledges(bench: Bench) -> None:
    line, restart = ready(bench)
    unacknowledged(line, restart, 2)
    line.skip()
    line.send(LapbRNR())
    line.send(LapbRR())
    line.poll()
    line.expect_count(LapbI(), 0, 0, note="what RNR acknowledged is not sent again")
    line.layer.expect_count(RestartConfirmation(), 2, 2)


@purpose("LAPB-BUSY-03")
def test_a_busy_peer_is_polled(bench: Bench) -> None:
    line, restart = ready(bench)
    n_r = busy(line, restart)
    line.expect(*polls(line), within=line.profile.t1 + bench.patience, passing=(LapbRR(p_f=0),))
    line.send(LapbRR(n_r=n_r, p_f=1))
    line.layer.expect_count(RestartConfirmation(), WAITING, WAITING)
    line.send(LapbRR())


@purpose("LAPB-BUSY-04")
def test_rr_ends_busy(bench: Bench) -> None:
    line, restart = ready(bench)
    n_r = busy(line, restart)
    line.send(LapbRR(n_r=n_r))
    for number in range(WAITING):
        line.expect(LapbI(n_s=(n_r + number) % 8), passing=(LapbRR(),))
    line.layer.expect_count(RestartConfirmation(), WAITING, WAITING)
    line.send(LapbRR())


@purpose("LAPB-BUSY-05")
def test_rej_ends_busy(bench: Bench) -> None:
    line, restart = ready(bench)
    first = unacknowledged(line, restart, WAITING)
    line.skip()
    line.send(LapbRNR(n_r=first))
    line.send(LapbREJ(n_r=first))
    for number in range(WAITING):
        line.expect(LapbI(n_s=(first + number) % 8), passing=(LapbRR(),))
    line.send(LapbRR())
    line.layer.expect_count(RestartConfirmation(), WAITING, WAITING)


@purpose("LAPB-BUSY-06")
def test_rnr_with_p(bench: Bench) -> None:
    line, _ = ready(bench)
    line.send(LapbRNR(address=line.command_address, p_f=1))
    line.expect(*final(line), passing=(LapbI(), LapbRR(p_f=0)))
    line.send(LapbRR())


@purpose("LAPB-BUSY-08")
def test_answered_polls_keep_the_link(bench: Bench) -> None:
    """Three times N2 of them."""
    line, restart = ready(bench)
    n_r = busy(line, restart)
    line.never(LapbSABM(), LapbDISC(), LapbDM())
    demand = bench.expectations[-1]
    for _ in range(3 * line.profile.n2):
        line.expect(*polls(line), within=line.profile.t1 + bench.patience, passing=(LapbRR(p_f=0),))
        line.send(LapbRNR(n_r=n_r, p_f=1))
    line.send(LapbRR(n_r=n_r))
    for number in range(WAITING):
        line.expect(LapbI(n_s=(n_r + number) % 8), passing=(LapbRR(),))
    demand.stop = line.cursor
    line.layer.expect_count(RestartConfirmation(), WAITING, WAITING)
    line.send(LapbRR())

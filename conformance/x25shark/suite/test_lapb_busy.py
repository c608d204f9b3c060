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
    not_in,
    one_of,
    purpose,
)
from .links import (
    all_again,
    beyond_the_window,
    by_t1,
    count_to,
    expect_poll,
    is_polled,
    let_go,
    opened,
    polled,
    polled_to_the_end,
    polls,
    ready,
    respond,
    unacknowledged,
    with_one_t1,
)

WAITING = 3
# Polls beyond N2.
MORE = 2


def busy(line: LineSide, restart: Packet) -> int:
    """RNR, and then packets for which the router has answers; the N(R) of the RNR."""
    line.by_hand = True
    n_r = line.station.v_r
    line.send(LapbRNR(n_r=n_r))
    for _ in range(WAITING):
        line.send(line.packet(restart, n_r=n_r))
        line.acknowledged()
    return n_r


def busy_for_more_than_k(line: LineSide, restart: Packet) -> tuple[int, int]:
    """As busy(), for k + 1 packets, or for as many as a router takes that becomes busy itself; the
    N(R) and how many. It may have few attempts: while so many are acknowledged its polls are
    answered."""
    line.by_hand = True
    n_r, most = line.station.v_r, line.profile.k + 1
    line.send(LapbRNR(n_r=n_r))
    for number in range(most):
        if is_polled(line):
            respond(line, LapbRNR, n_r)
        line.send(line.packet(restart, n_r=n_r))
        if isinstance(line.acknowledged(), LapbRNR) and number + 1 < most:
            line.context.remark("the router becomes busy itself: k was not looked at")
            return n_r, number + 1
    return n_r, most


@purpose("LAPB-BUSY-01", each_line=True)
def test_rnr_stops_i_frames(bench: Bench) -> None:
    """But for one, which has the N(S) of the RNR's N(R). RNR acknowledges nothing, and a frame.
    Behind the last RNR more waits than the window takes: no more than k come when it ends."""
    line, restart = ready(bench)
    for acknowledges in (False, True):
        if acknowledges:
            at_rest(line)
            unacknowledged(line, restart, 1)
            line.layer.expect(RestartConfirmation())
            line.skip()
        begin = line.cursor
        n_r = busy(line, restart)
        line.send(LapbRNR(address=line.command_address, n_r=n_r, p_f=1))
        line.expect(*line.frames.answers())
        line.expect_count(
            LapbI(n_s=not_in(n_r)), 0, 0, start=begin, note="while the tester is busy, but for one"
        )
        all_after(line, n_r, is_open=opened(line, n_r, begin) > 0)
    at_rest(line)
    k_after(line, *busy_for_more_than_k(line, restart))


def at_rest(line: LineSide) -> None:
    """Polls that came by hand are answered, also one by what the answer to another has brought."""
    let_go(line)
    line.link_fence()


def k_after(line: LineSide, n_r: int, count: int) -> None:
    """RR ends busy, and acknowledges nothing: k of so many packets are open then, or fewer.

    Where one of them was sent to the busy station, the router may ask first; as nothing says when
    that one comes again, it is not waited for longer than T1.
    """
    command = line.command_address
    line.send(LapbRNR(address=command, n_r=n_r, p_f=1))
    line.expect(*line.frames.answers(), passing=(LapbI(n_s=n_r), *polls(line)))
    begin = line.cursor
    respond(line, LapbRR, n_r)
    line.wait_until(lambda: opened(line, n_r, begin) > 0 or is_polled(line), by_t1(line))
    if is_polled(line):
        respond(line, LapbRR, n_r)
    line.wait_until(lambda: opened(line, n_r, begin) >= line.profile.k, line.profile.t1 / 2)
    line.send(LapbRR(address=command, n_r=n_r, p_f=1))
    line.expect(*line.frames.answers(), passing=(LapbI(), *polls(line)))
    line.expect_count(
        beyond_the_window(line, n_r), 0, 0, start=begin, note="more than k behind a busy tester"
    )
    let_go(line)
    respond(line, LapbRR, line.station.v_r)
    line.layer.expect_count(RestartConfirmation(), count, count)


def all_after(line: LineSide, n_r: int, *, is_open: bool) -> None:
    """RR ends busy: every packet that waited comes; at once where no frame of them is open."""
    respond(line, LapbRR, n_r)
    all_again(line, n_r, WAITING, may_ask=is_open)
    line.layer.expect_count(RestartConfirmation(), WAITING, WAITING)


@purpose("LAPB-BUSY-02", each_line=True)
def test_rnr_acknowledges(bench: Bench) -> None:
    line, restart = ready(bench)
    first = unacknowledged(line, restart, 2)
    line.skip()
    begin, n_r = line.cursor, line.station.v_r
    line.send(LapbRNR(n_r=n_r))
    line.by_hand = False
    respond(line, LapbRR, n_r)
    line.link_fence()
    taken = one_of(*(number % 8 for number in range(first, first + (n_r - first) % 8)))
    line.expect_count(
        LapbI(n_s=taken), 0, 0, start=begin, note="what RNR acknowledged is not sent again"
    )
    line.layer.expect_count(RestartConfirmation(), 2, 2)


def busy_with_open(line: LineSide, restart: Packet, arrived: int = 0) -> int:
    """I frames of the router, and then RNR, which acknowledges so many of them, and not all; its
    N(R).

    T1 runs on then, and a poll follows. Behind an RNR that acknowledges all the router may send a
    frame, ask or only wait (X.25 2.4.5.7).
    """
    begin = line.cursor
    first = unacknowledged(line, restart, WAITING)
    if opened(line, first, begin) > arrived:
        first = (first + arrived) % 8
    line.skip()
    line.send(LapbRNR(address=line.command_address, n_r=first, p_f=1))
    line.expect(*line.frames.answers(), passing=polls(line))
    return first


def only_the_first(line: LineSide, first: int, begin: int) -> None:
    """What a busy station gets from there on: nothing but the frame that it names, by which the
    router may poll. As it is open, nothing else sends it again (X.25 2.4.5.7)."""
    line.expect_count(
        LapbI(n_s=not_in(first)), 0, 0, start=begin, note="while the tester is busy, but for one"
    )
    line.expect_count(
        LapbI(n_s=first, p_f=0), 0, 0, start=begin, note="it is open, and sent again to poll only"
    )


@purpose("LAPB-BUSY-03")
def test_a_busy_peer_is_polled(bench: Bench) -> None:
    """On all lines; RR is the answer. RNR acknowledges none of what is open, and the first."""
    for lines in with_one_t1(bench):
        for arrived in (0, 1):
            with_frames = []
            for line, restart in lines:
                before = line.station.v_r
                first = busy_with_open(line, restart, arrived)
                with_frames.append((line, before, first, line.cursor))
            for line, before, first, begin in with_frames:
                expect_poll(line)
                only_the_first(line, first, begin)
                line.send(LapbRR(n_r=first, p_f=1))
                all_again(line, first, WAITING - (first - before) % 8)
                line.layer.expect_count(RestartConfirmation(), WAITING, WAITING)


@purpose("LAPB-BUSY-10")
def test_a_busy_peer_falls_silent(bench: Bench) -> None:
    """On all lines: N2 polls, and then the link begins anew or is given up.

    Of the attempts the frame itself may be one, and a poll that came at once behind RNR another.
    """
    for lines in with_one_t1(bench, "n2"):
        polling = []
        for line, restart in lines:
            busy_with_open(line, restart)
            polling.append((line, line.cursor))
        for _ in polled_to_the_end(polling, 2):
            # Nothing answers.
            continue


@purpose("LAPB-BUSY-04", each_line=True)
def test_rr_ends_busy(bench: Bench) -> None:
    """By its N(R) after the set-up, and by N(R)=0 and 7."""
    line, restart = ready(bench)
    for number in (line.station.v_r, 0, 7):
        let_go(line)
        count_to(line, restart, number)
        begin = line.cursor
        n_r = busy(line, restart)
        all_after(line, n_r, is_open=opened(line, n_r, begin) > 0)


@purpose("LAPB-BUSY-05", each_line=True)
def test_rej_ends_busy(bench: Bench) -> None:
    line, restart = ready(bench)
    first = unacknowledged(line, restart, WAITING)
    line.skip()
    # A router may poll as soon as it has seen RNR: the second time its poll is there.
    for _ in range(2):
        line.send(LapbRNR(address=line.command_address, n_r=first, p_f=1))
        line.expect(*line.frames.answers(), passing=polls(line))
    respond(line, LapbREJ, first)
    all_again(line, first, WAITING)
    line.layer.expect_count(RestartConfirmation(), WAITING, WAITING)


@purpose("LAPB-BUSY-06", each_line=True)
def test_rnr_with_p(bench: Bench) -> None:
    line, _ = ready(bench)
    line.send(LapbRNR(address=line.command_address, p_f=1))
    line.expect(*line.frames.answers())
    line.send(LapbRR())


@purpose("LAPB-BUSY-08")
def test_answered_polls_keep_the_link(bench: Bench) -> None:
    """More than N2 of them on each line, as long as the router asks."""
    for lines in with_one_t1(bench):
        open_there = [(line, busy_with_open(line, restart), line.cursor) for line, restart in lines]
        demands = []
        for number in range(max(line.profile.n2 for line, _ in lines) + MORE):
            for line, first, _ in open_there:
                if not number or asks_again(line):
                    expect_poll(line, f"poll {number + 1}")
                    line.send(LapbRNR(n_r=first, p_f=1))
                if not number:
                    line.never(LapbSABM(), LapbDISC(), LapbDM())
                    demands.append(bench.expectations[-1])
        for (line, first, begin), demand in zip(open_there, demands, strict=True):
            only_the_first(line, first, begin)
            all_after(line, first, is_open=True)
            demand.stop = line.cursor


def asks_again(line: LineSide) -> bool:
    """Whether a router whose poll was answered asks once more, which it need not."""
    begin = line.cursor
    line.wait_until(lambda: polled(line, begin), by_t1(line))
    if not polled(line, begin):
        line.context.remark(f"line {line.name.lower()}: no more polls behind one that RNR answered")
    return polled(line, begin)


@purpose("LAPB-BUSY-09", each_line=True)
def test_as_commands(bench: Bench) -> None:
    """P=0: nobody is asked for an answer; and P=1. The last I frame of the busy tester has P=1
    then, and is answered by F=1."""
    line, restart = ready(bench)
    for p_f in (0, 1):
        line.by_hand = True
        begin, n_r, command = line.cursor, line.station.v_r, line.command_address
        line.send(LapbRNR(address=command, n_r=n_r, p_f=p_f))
        if p_f:
            line.expect(*line.frames.answers())
        for number in range(WAITING):
            asks = p_f * (number == WAITING - 1)
            line.send(line.packet(restart, n_r=n_r, p_f=asks))
            if asks:
                note = "an I frame with P=1 of a busy station"
                seen = line.expect(*line.frames.answers(), note=note)
                asks = seen is not None and seen.n_r == line.station.v_s
            if not asks:
                line.acknowledged()
        line.send(LapbRNR(address=command, n_r=n_r, p_f=1))
        line.expect(*line.frames.answers())
        line.expect_count(
            LapbI(n_s=not_in(n_r)), 0, 0, start=begin, note="while the tester is busy, but for one"
        )
        # To a poll of its own the router has no answer yet, and sends nothing until it has.
        respond(line, LapbRNR, n_r)
        is_open = opened(line, n_r, begin) > 0
        line.send(LapbRR(address=command, n_r=n_r, p_f=p_f))
        if p_f:
            line.expect(*line.frames.answers())
        all_again(line, n_r, WAITING, may_ask=is_open)
        line.layer.expect_count(RestartConfirmation(), WAITING, WAITING)

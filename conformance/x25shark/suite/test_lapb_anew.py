# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: a new link, and what the one before must not leave to it (X.25 2.4.3, 2.4.4, 2.4.7)."""

from __future__ import annotations

from collections.abc import Callable

from .language import (
    ASKING_FOR_A_LINK,
    Bench,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbUA,
    LineSide,
    Packet,
    RestartConfirmation,
    purpose,
)
from .links import (
    expect_poll,
    is_polled,
    link_was_reset,
    needs_given,
    opened,
    out_of_sequence,
    ready,
    respond,
    taken,
    unacknowledged,
)


def a_rej_condition(line: LineSide, restart: Packet) -> None:
    out_of_sequence(line, restart, 1)
    line.by_hand = True
    with line.context.preamble():
        line.expect(LapbREJ(n_r=line.station.v_s))


def a_busy_tester(line: LineSide, _restart: Packet) -> None:
    line.send(LapbRNR())


def timer_recovery(line: LineSide, restart: Packet) -> None:
    unacknowledged(line, restart, 1)
    with line.context.preamble():
        expect_poll(line)


def a_gap_and_a_rejection(line: LineSide, restart: Packet) -> None:
    """A router that sends no FRMR is left where it is."""
    a_rej_condition(line, restart)
    if line.context.declared("L-FRMR"):
        line.send(LapbRR(address=line.command_address, n_r=(line.station.v_r + 3) % 8))
        with line.context.preamble():
            line.expect(LapbFRMR(z=1), passing=(LapbRR(), LapbREJ(), LapbI()))
        line.allow(LapbFRMR())


CONDITIONS: tuple[Callable[[LineSide, Packet], None], ...] = (
    a_rej_condition,
    a_busy_tester,
    timer_recovery,
    a_gap_and_a_rejection,
)

LATE = 3


@purpose("LAPB-SET-20")
def test_conditions_end_with_their_link(bench: Bench) -> None:
    """By SABM alone, and by DISC and SABM: a first frame that is missing brings REJ, and the
    router sends I frames."""
    line, restart = ready(bench)
    line.layer.allow(RestartConfirmation())
    for disconnected in (False, True):
        for bring_about in CONDITIONS:
            bring_about(line, restart)
            note = "a new link behind " + bring_about.__name__.replace("_", " ")
            anew(line, disconnected)
            begin = line.cursor
            out_of_sequence(line, restart, 1)
            line.expect(LapbREJ(n_r=0), note=f"{note}: its first frame is missing")
            if is_polled(line):
                # As soon as there is a link, a router may ask whether the tester is there, and
                # send no more I frames before the answer (X.25 2.4.3).
                respond(line, LapbRR, line.station.v_r)
            line.send(line.packet(restart, n_s=0))
            line.expect_count(LapbI(), 1, start=begin, note=f"{note}: I frames of the router")
            # The first may have been on its way before the condition was thought of; none but I
            # frames tells the router that the tester is ready.
            _second_frame(line, restart, begin)
            line.expect_count(LapbI(), 2, start=begin, note=f"{note}: more I frames of the router")
            line.by_hand = False
            line.link.bring_down()
            line.link.bring_up()


def _second_frame(line: LineSide, restart: Packet, begin: int) -> None:
    """The I frame with N(S)=1. A busy router drops it, and asks for it later (X.25 2.4.5.8)."""
    line.send(line.packet(restart, n_s=1))
    line.wait_until(lambda: opened(line, 0, begin) > 1 or line.station.peer_busy)
    if line.station.peer_busy:
        line.wait_until_ready()
        line.send(line.packet(restart, n_s=1))


def anew(line: LineSide, disconnected: bool) -> None:
    """A new link, by hand."""
    line.by_hand = True
    link_was_reset(line)
    if disconnected:
        line.send(LapbDISC(p_f=1))
        line.expect(LapbUA(p_f=1), passing=line.frames.rejections())
    taken(line, passing=(*ASKING_FOR_A_LINK, *line.frames.rejections()))


@purpose("LAPB-SET-21", each_line=True)
def test_the_queue_ends_with_its_link(bench: Bench) -> None:
    """More answers than the window takes; then DISC, a new link, and its restart.

    Those beyond the window may not have been due yet (X.25 3.3.1).
    """
    line, restart = ready(bench)
    unacknowledged(line, restart, line.profile.k + LATE)
    line.layer.allow(RestartConfirmation())
    anew(line, disconnected=True)
    line.by_hand = False
    begin = line.cursor
    line.layer.wait_until(lambda: line.station.v_r > 0)
    line.link_fence()
    line.layer.expect_count(
        RestartConfirmation(), 0, LATE, start=begin, note="packets of the link before"
    )


@purpose("LAPB-SET-23", each_line=True)
def test_t1_ends_with_its_link(bench: Bench) -> None:
    """DISC with an I frame open; what follows within T1 belongs to a set-up, if there is one."""
    needs_given(bench.line(), "t1")
    line, restart = ready(bench)
    unacknowledged(line, restart, 1)
    link_was_reset(line)
    line.allow(*ASKING_FOR_A_LINK)
    line.send(LapbDISC(p_f=1))
    line.expect(LapbUA(p_f=1), passing=(LapbI(), LapbRR(), LapbRR(address=line.response_address)))
    begin = line.cursor
    line.pause(line.profile.t1_at_most)
    for kind in (LapbI, LapbRR, LapbRNR, LapbREJ):
        for address in (line.response_address, line.command_address):
            line.expect_count(
                kind(address=address), 0, 0, start=begin, note="T1 ends with its link"
            )


@purpose("LAPB-SET-22", each_line=True)
def test_commands_without_p(bench: Bench) -> None:
    """DISC with a link and without one, SABM without a link and with one: F=0, and their work is
    done."""
    line, restart = ready(bench)
    line.by_hand = True
    link_was_reset(line)
    line.send(LapbDISC(p_f=0))
    line.expect(LapbUA(p_f=0))
    # DM F=0 may follow, which asks for a new link (X.25 2.4.4.4.2): no answer to what comes now.
    line.link_fence()
    line.send(LapbDISC(p_f=0))
    line.expect(LapbDM(p_f=0), LapbUA(p_f=0), passing=(LapbSABM(),), note="without a link")
    for _ in range(2):
        taken(line, p_f=0, passing=ASKING_FOR_A_LINK)
        line.send(line.packet(restart, n_s=0, n_r=0))
        line.poll(n_r=1)

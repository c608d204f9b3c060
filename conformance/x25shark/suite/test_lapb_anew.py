# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: a new link, and what the one before must not leave to it (X.25 2.4.3, 2.4.4, 2.4.7)."""

from __future__ import annotations

import time
from collections.abc import Callable

from .language import (
    ASKING_FOR_A_LINK,
    Bench,
    Inconclusive,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbUA,
    LapbUndefined,
    LineSide,
    Packet,
    RestartConfirmation,
    RestartRequest,
    purpose,
)
from .links import (
    EARLY_FROM,
    TEST,
    UI,
    XID,
    begins_anew,
    begins_at_0,
    expect_poll,
    let_go,
    link_was_reset,
    needs_given,
    out_of_sequence,
    polls,
    ready,
    taken,
    unacknowledged,
)
from .test_lapb_set import open_set_up


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
    _rejects(line)


def _rejects(line: LineSide) -> None:
    """The router rejects an N(R), if it has FRMR."""
    if line.context.declared("L-FRMR"):
        line.send(LapbRR(address=line.command_address, n_r=(line.station.v_r + 3) % 8))
        with line.context.preamble():
            line.expect(LapbFRMR(z=1), passing=(LapbRR(), LapbREJ(), LapbI()))
        line.allow(LapbFRMR())


def a_busy_tester_and_a_rejection(line: LineSide, restart: Packet) -> None:
    a_busy_tester(line, restart)
    line.by_hand = True
    _rejects(line)


def timer_recovery_and_a_rejection(line: LineSide, restart: Packet) -> None:
    timer_recovery(line, restart)
    _rejects(line)


Condition = Callable[[LineSide, Packet], None]
OF_A_LINK: tuple[Condition, ...] = (a_rej_condition, a_busy_tester, timer_recovery)
REJECTED: tuple[Condition, ...] = (
    a_gap_and_a_rejection,
    a_busy_tester_and_a_rejection,
    timer_recovery_and_a_rejection,
)

LATE = 3


@purpose("LAPB-SET-20")
def test_conditions_end_with_their_link(bench: Bench) -> None:
    """By SABM alone, by DISC and SABM, and by FRMR or DM, behind which the router sends SABM: a
    first frame that is missing brings REJ, and the router sends I frames. F is the P of SABM and
    DISC in each condition."""
    line, restart = ready(bench)
    line.layer.allow(RestartConfirmation())
    for begin_anew, conditions in WAYS:
        for bring_about in conditions:
            bring_about(line, restart)
            note = "a new link behind " + bring_about.__name__.replace("_", " ")
            begin_anew(line)
            begins_at_0(line, restart, note)
            line.by_hand = False
            line.link.bring_down()
            line.link.bring_up()


def reset(line: LineSide, p_f: int = 1) -> None:
    """A new link by SABM alone, by hand."""
    line.by_hand = True
    link_was_reset(line)
    taken(line, p_f, passing=(*ASKING_FOR_A_LINK, *line.frames.rejections()))


def reset_without_p(line: LineSide) -> None:
    reset(line, 0)


def anew(line: LineSide, p_f: int = 1) -> None:
    """A new link by DISC and SABM, by hand."""
    line.by_hand = True
    link_was_reset(line)
    line.send(LapbDISC(p_f=p_f))
    line.expect(LapbUA(p_f=p_f), passing=line.frames.rejections())
    reset(line)


def anew_without_p(line: LineSide) -> None:
    anew(line, 0)


def made_to_reset(line: LineSide) -> None:
    """FRMR: the router resets the link by SABM, or has none (X.25 2.4.6.2)."""
    v_s, v_r = line.station.v_s, line.station.v_r
    _has_it_reset(line, LapbFRMR(rejected_control=v_s << 5 | 1, v_s=v_s, v_r=v_r, z=1))


def made_to_reset_by_dm(line: LineSide) -> None:
    """DM: the same (X.25 2.4.6.4)."""
    _has_it_reset(line, LapbDM(p_f=1))


def _has_it_reset(line: LineSide, response: Packet) -> None:
    """It has no answer to a command with P=1 any more, and sends SABM for no other reason."""
    line.by_hand = True
    link_was_reset(line)
    line.send(response, LapbRR(address=line.command_address, p_f=1))
    passing = (*line.frames.rejections(), *polls(line), LapbFRMR(p_f=0))
    if isinstance(begins_anew(line, passing=passing, note=response.name), LapbSABM):
        line.send(LapbUA(p_f=1))
    else:
        reset(line)


#: How a link begins anew, and in which conditions.
WAYS: tuple[tuple[Callable[[LineSide], None], tuple[Condition, ...]], ...] = (
    (reset, (*OF_A_LINK, *REJECTED)),
    (anew, (*OF_A_LINK, a_gap_and_a_rejection)),
    (made_to_reset, (*OF_A_LINK, a_gap_and_a_rejection)),
    (reset_without_p, OF_A_LINK),
    (anew_without_p, OF_A_LINK),
    (made_to_reset_by_dm, OF_A_LINK),
)


@purpose("LAPB-SET-21", each_line=True)
def test_the_queue_ends_with_its_link(bench: Bench) -> None:
    """More answers than the window takes; then DISC, a new link, and its restart.

    Those beyond the window may not have been due yet (X.25 3.3.1).
    """
    line, restart = ready(bench)
    unacknowledged(line, restart, line.profile.k + LATE)
    line.layer.allow(RestartConfirmation())
    anew(line)
    let_go(line)
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


def of_no_link(line: LineSide, restart: Packet, p: int) -> list[Packet]:
    """Frames that would do something on a link: I frames that are next, one that is not, RNR, REJ,
    an N(R) that nobody sent, and commands that LAPB does not have, the last ones with this P."""
    command = line.command_address
    return [
        line.packet(restart, n_s=0, n_r=0),
        line.packet(restart, n_s=1, n_r=0, p_f=p),
        line.packet(restart, n_s=4, n_r=0),
        LapbREJ(n_r=0),
        LapbRR(n_r=5),
        LapbRNR(address=command, n_r=0),
        *(LapbUndefined(address=command, type=kind, p_f=p) for kind in (UI, XID, TEST)),
        LapbRNR(address=command, n_r=0, p_f=p),
    ]


@purpose("LAPB-SET-24")
def test_what_comes_ahead_of_ua(bench: Bench) -> None:
    """While the router's SABM is open: not answered then or later, and not counted."""
    line = open_set_up(bench)
    restart = RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)
    line.layer.allow(RestartConfirmation())
    link_was_reset(line)
    frames = of_no_link(line, restart, 1)
    line.wire.send_whole([line.frames.with_fcs(frame) for frame in frames])
    if time.monotonic() - line.line.unanswered_since > EARLY_FROM * line.profile.t1:
        raise Inconclusive("the machine is slow: the router's SABM may come again")
    line.send(LapbUA(p_f=1))
    begins_at_0(line, restart, "what came ahead of UA")


@purpose("LAPB-SET-25", each_line=True)
def test_what_comes_without_a_link(bench: Bench) -> None:
    """Ahead of a SABM; between that and the UA to it the router sends nothing of a link."""
    line = bench.line()
    restart = RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)
    line.link.bring_down()
    line.by_hand = True
    line.layer.allow(RestartConfirmation())
    link_was_reset(line)
    frames = of_no_link(line, restart, 0)
    line.wire.send_whole([line.frames.with_fcs(frame) for frame in frames])
    taken(line, passing=ASKING_FOR_A_LINK, at_once=True)
    begins_at_0(line, restart, "what came without a link")

# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: link set-up and disconnection (X.25 2.4.4)."""

from __future__ import annotations

import time
from functools import partial
from itertools import dropwhile, takewhile

from ..judges.template import matches
from .clearing import end
from .language import (
    ASKING_FOR_A_LINK,
    CLOSED,
    NO_LINK,
    Bench,
    ClearIndication,
    Inconclusive,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbSABME,
    LapbUA,
    LapbUndefined,
    LineSide,
    RestartRequest,
    Side,
    between,
    not_in,
    purpose,
)
from .links import (
    CROSSINGS,
    EARLY_FROM,
    ENDING,
    ENDS,
    LOOK,
    TEST,
    UI,
    XID,
    answered_without_a_link,
    begin_again,
    begins_anew,
    begins_at_0,
    by_t1,
    comes_at_t1,
    last_look,
    link_was_reset,
    names_given,
    not_before,
    poll_is_answered,
    taken,
    unasked_without_a_link,
)

# A router that was refused, or gave up, tries again after a pause of its own.
RETRY_SECONDS = 20.0
# What would answer a frame that is to be ignored.
NO_ANSWER = (LapbSABM(), LapbDM(), LapbUA(), LapbFRMR())
REFUSALS = 3


def open_set_up(bench: Bench) -> LineSide:
    """A line on which the router's SABM P=1 has just come; the tester answers nothing by itself."""
    line = bench.line(initiates=True)
    line.link.bring_down()
    line.by_hand = True
    with bench.preamble():
        # What the router has tried so far is over with this.
        line.link_fence()
        asked_for_a_link(line)
    return line


def asked_for_a_link(line: LineSide) -> None:
    """DM F=0 asks for set-up (X.25 2.4.4.4.2); the router's SABM.

    Without a link a station may start one, and need not: one that did so when the line came up, and
    leaves it to the other that has sent DISC, has no such SABM to be judged.
    """
    tries = (LapbDM(p_f=0),)
    line.send(*tries)
    asked = line.line.asked
    if not line.wait_until(lambda: not line.arrivals.at_end, RETRY_SECONDS) and asked:
        raise Inconclusive(
            "the router asked for a link when the line came up, and not again after DISC"
        )
    wanted = LapbSABM(p_f=1), LapbDISC(p_f=1)
    if isinstance(line.expect_at_once(*wanted, passing=tries, within=RETRY_SECONDS), LapbDISC):
        # It has the link ended first (X.25 2.4.4.1).
        line.send(LapbDM(p_f=1))
        line.expect_at_once(LapbSABM(p_f=1), passing=tries, within=RETRY_SECONDS)


@purpose("LAPB-SET-01", each_line=True)
def test_sabm(bench: Bench) -> None:
    line = bench.line()
    line.allow(*ASKING_FOR_A_LINK)
    taken(line)


@purpose("LAPB-SET-02", each_line=True)
def test_f_copies_p(bench: Bench) -> None:
    line = bench.line()
    line.link.bring_down()
    taken(line, p_f=0)


@purpose("LAPB-SET-03")
def test_starts_the_link(bench: Bench) -> None:
    line = bench.line(initiates=True)
    line.link.bring_down()
    line.by_hand = True
    asked_for_a_link(line)


@purpose("LAPB-SET-04")
def test_sabm_is_repeated(bench: Bench) -> None:
    """N2 in all, one each T1. However late the tester looks: T1 lies between any two of them.

    T1 is no longer than it and the time of a reaction (TR), once at least of several times. After
    N2 of them it is for a higher layer to try again, at once or later (X.25 2.4.4.1). What the
    profile does not give is not judged; N2 may be 1. A link that the tester sets up then is there.
    """
    began = time.monotonic()
    line = open_set_up(bench)
    begin = line.cursor
    within, given = by_t1(line), line.profile.model_fields_set
    last = line.profile.n2 if "n2" in given else 1
    in_time = "t1" not in given or last == 2
    for number in range(2, last + 1):
        in_time = in_time or comes_at_t1(line, LapbSABM())
        late = number == last and not in_time
        line.expect_at_once(
            LapbSABM(p_f=1), within=0 if late else within, note=f"SABM {number} of N2"
        )
    if "n2" not in given:
        with bench.preamble():
            line.expect_at_once(LapbSABM(p_f=1), within=within, note="n2 is not given: it may be 1")
    if "t1" in given:
        most = int((time.monotonic() - began) / (0.8 * line.profile.t1))
        line.expect_count(LapbSABM(), 0, most, start=begin, note="one each T1 at most")
    line.allow(*ASKING_FOR_A_LINK)
    if "n2" in given:
        # Behind the last T1.
        line.pause(within)
        link_was_reset(line)
        taken(line, passing=ASKING_FOR_A_LINK)
        restart = RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)
        begins_at_0(line, restart, "a link behind a set-up that was given up")


@purpose("LAPB-SET-05")
def test_ua_without_f(bench: Bench) -> None:
    """The next SABM comes; where the profile does not say that there is one (N2), DM to a poll.

    A station for which UA had ended the set-up would send no SABM, and answer the poll by RR.
    """
    line = open_set_up(bench)
    within = by_t1(line)
    line.send(LapbUA(p_f=0))
    if "n2" in line.profile.model_fields_set and line.profile.n2 > 1:
        line.expect_at_once(LapbSABM(p_f=1), within=within)
        return
    last_look(line, LapbSABM(p_f=1))
    line.send(LapbRR(address=line.command_address, p_f=1))
    line.expect_at_once(LapbSABM(p_f=1), LapbDM(p_f=1), passing=(LapbDM(p_f=0),), within=within)
    line.allow(LapbDM(p_f=1), *ASKING_FOR_A_LINK)


@purpose("LAPB-SET-06")
def test_dm_refuses(bench: Bench) -> None:
    """It may ask anew at once, but it does not go on asking each T1 as if nothing had come.

    Where it leaves the first poll unanswered, which LAPB-SET-11 judges, it has been silent.
    """
    line = open_set_up(bench)
    reaction_limit = by_t1(line)
    for refused in range(REFUSALS):
        began = time.monotonic()
        line.send(LapbDM(p_f=1), LapbRR(address=line.command_address, p_f=1))
        if not refused and not line.wait_until(lambda: not line.arrivals.at_end, reaction_limit):
            bench.remark("a poll without a link was not answered (X.25 2.4.4.4.2)")
            return
        seen = line.expect_at_once(
            *(LapbDM(p_f=1), LapbSABM(p_f=1), LapbDISC(p_f=1)),
            passing=(LapbDM(p_f=0),),
            within=reaction_limit,
        )
        if isinstance(seen, LapbDM) or time.monotonic() - began < 0.8 * line.profile.t1:
            return
    line.expect_count(LapbDM(p_f=1), 1, note="the answer to a poll after a refusal")


@purpose("LAPB-SET-07")
def test_collision_of_sabm(bench: Bench) -> None:
    for p_f in (1, 0):
        line = open_set_up(bench)
        line.answers_crossing = False
        line.send(LapbSABM(p_f=p_f))
        # T1 may have run out by then.
        line.expect_at_once(LapbUA(p_f=p_f), passing=(LapbSABM(p_f=1),))
        line.send(LapbUA(p_f=1))
        line.poll(n_r=0)
        link_was_reset(line)
        line.send(line.packet(RestartRequest(cause=line.restart_cause), n_s=0))
        line.poll(n_r=1)
        line.by_hand = False
        line.answers_crossing = True


@purpose("LAPB-SET-08")
def test_sabm_and_disc_cross(bench: Bench) -> None:
    for p_f in (1, 0):
        line = open_set_up(bench)
        line.send(LapbDISC(p_f=p_f))
        line.expect_at_once(LapbDM(p_f=p_f), passing=(LapbSABM(p_f=1),))
        line.by_hand = False


@purpose("LAPB-SET-09")
def test_disc_ends_the_link(bench: Bench) -> None:
    """The call ends at its other side as well, and no packet comes on the line any more."""
    call = bench.call()
    line, far = _line_of(bench, call.a, call.b)
    line.send(LapbDISC(p_f=1))
    line.expect(LapbUA(p_f=1))
    line.never(LapbI())
    if isinstance(far, Side):
        far.expect(ClearIndication(cause=bench.network_clear), CLOSED)


def _line_of(bench: Bench, a: Side, b: object) -> tuple[LineSide, object]:
    """A line that carries the call, to look at its frames, and the side beyond the router."""
    at = "a" if "a" in bench.lines else "b"
    line = bench.line(at)
    line.skip()
    return (line, b) if at == "a" else (line, a)


@purpose("LAPB-SET-10", each_line=True)
def test_disc_without_a_link(bench: Bench) -> None:
    """UA is what some stations answer; it is accepted.

    There was a link before, whose end is answered by UA: the preamble does not hang on what is
    judged here.
    """
    line = bench.line()
    line.link.bring_up()
    line.link.bring_down()
    line.send(LapbDISC(p_f=1))
    seen = line.expect_at_once(*NO_LINK, passing=ASKING_FOR_A_LINK)
    if isinstance(seen, LapbUA):
        bench.remark("DISC in the disconnected phase is answered by UA, not DM")


@purpose("LAPB-SET-11", each_line=True)
def test_commands_without_a_link(bench: Bench) -> None:
    line = bench.line()
    line.link.bring_down()
    command = line.command_address
    supervisory, crossed = (LapbRR, LapbRNR, LapbREJ), 0
    for frame in (*(kind(address=command, p_f=1) for kind in supervisory), LapbI(p_f=1)):
        crossed += answered_without_a_link(line, frame, LapbDM(p_f=1))
    for control in (UI, XID, TEST):
        frame = LapbUndefined(address=command, type=control, p_f=1)
        crossed += answered_without_a_link(line, frame, LapbDM(p_f=1), LapbFRMR(w=1))
    begin = line.cursor
    for kind in supervisory:
        line.wire.send_whole([line.frames.with_fcs(kind(p_f=1))])
    line.link_fence()
    most = 1 + crossed
    line.expect_count(LapbDM(p_f=1), 0, most, start=begin, note="the fence's, none to a response")
    begin = line.cursor
    for frame in (LapbRR(address=command, p_f=0), LapbI(p_f=0)) * 6:
        line.wire.send_whole([line.frames.with_fcs(frame)])
    line.no_reaction(LapbUA(), LapbFRMR())
    # One may be sent unasked, to have the link set up (X.25 2.4.4.4.2).
    line.expect_count(LapbDM(p_f=0), 0, 3, start=begin, note="no answer to a command with P=0")
    for final in (0, 1):
        unasked_without_a_link(line, LapbUA(p_f=final))


@purpose("LAPB-SET-12", each_line=True)
def test_sabm_resets_the_link(bench: Bench) -> None:
    """Both count from 0 again, with I frames open in front of it."""
    line = bench.line()
    line.link.bring_up()
    line.poll()
    line.by_hand = True
    line.send(LapbSABM(p_f=1))
    line.expect(LapbUA(p_f=1))
    line.send(line.packet(RestartRequest(cause=line.restart_cause), n_s=0, n_r=0))
    line.never(LapbFRMR(), LapbREJ())
    line.poll(n_r=1)
    line.expect_count(LapbI(n_s=not_in(0, 1)), 0, 0)
    link_was_reset(line)


@purpose("LAPB-SET-13", each_line=True)
def test_dm_during_transfer(bench: Bench) -> None:
    """With either F bit (X.25 2.4.6.4)."""
    line = bench.line()
    for final in (0, 1):
        line.link.bring_up()
        line.by_hand = True
        line.send(LapbDM(p_f=final), LapbRR(address=line.command_address, p_f=1))
        begins_anew(line)
        line.allow(*ENDING)
        begin_again(line)


@purpose("LAPB-SET-14")
def test_unsolicited_ua(bench: Bench) -> None:
    """A reset by SABM, DM, which asks for one, or nothing; the data are right if it is nothing."""
    line = bench.line()
    line.link.bring_up()
    line.send(LapbUA(p_f=1), LapbRR(address=line.command_address, p_f=1))
    seen = begins_anew(line, *line.frames.answers())
    if isinstance(seen, ENDS):
        line.layer.allow(RestartRequest())
        line.allow(*ENDING)
    elif bench.two_sided:
        call = bench.place_call()
        call.fence("data after an unsolicited UA")
        end(call)


@purpose("LAPB-SET-15", each_line=True)
def test_sabme_is_refused(bench: Bench) -> None:
    """With a link and without one; with one it goes on, or it ends: it is not that of a SABM."""
    line = bench.line()
    line.link.bring_up()
    line.by_hand = True
    line.send(LapbSABME(p_f=1), LapbRR(address=line.command_address, p_f=1))
    begins_anew(line, *line.frames.answers(n_r=line.station.v_s), LapbFRMR(w=1))
    line.allow(LapbFRMR(w=1), *ENDING)
    link_was_reset(line)
    line.by_hand = False
    line.link.bring_down()
    answered_without_a_link(line, LapbSABME(p_f=1), LapbDM(p_f=1), LapbFRMR(w=1))


@purpose("LAPB-SET-16", each_line=True)
def test_sabm_as_a_response(bench: Bench) -> None:
    line = bench.line()
    line.link.bring_down()
    line.send(LapbSABM(address=line.response_address, p_f=1))
    line.no_reaction(LapbUA(address=between(0, 255)))


@purpose("LAPB-SET-26", each_line=True)
def test_commands_as_responses(bench: Bench) -> None:
    """SABM and DISC with the address of a response during information transfer: FRMR with W, a
    reset of the link, or nothing; they have no UA, and the link is not ended."""
    line = bench.line()
    for kind in (LapbSABM, LapbDISC):
        for p_f in (0, 1):
            line.link.bring_up()
            line.link_fence()
            before = line.station.v_s
            line.by_hand = True
            response = kind(address=line.response_address, p_f=p_f)
            line.wire.send_whole([line.frames.with_fcs(response)])
            line.send(LapbRR(address=line.command_address, p_f=1))
            seen = line.expect(
                *line.frames.answers(n_r=before),
                *(LapbFRMR(w=1), LapbSABM(p_f=1), LapbDISC(p_f=1), LapbDM(p_f=0)),
                note=f"{response.name} as a response",
            )
            poll_is_answered(line, seen)
            line.allow(LapbFRMR(w=1), *ENDING)
            begin_again(line)


@purpose("LAPB-SET-17")
def test_other_frames_during_set_up(bench: Bench) -> None:
    """They are ignored: the next SABM comes at T1, and neither because of them nor later."""
    line = open_set_up(bench)
    within, tried = by_t1(line), None
    # One that tries no more than twice has one SABM left.
    if names_given(line, ("n2",)) and line.profile.n2 > 2:
        # It asks for a link, and refuses none: SABM has P=1 to tell the two apart (2.4.4.6). A
        # station for which it ends the set-up answers the poll by DM.
        line.send(LapbDM(p_f=0), LapbRR(address=line.command_address, p_f=1))
        tried = last_look(line, LapbSABM(p_f=1))
        next_attempt(line, within)
    line.send(
        LapbI(),
        LapbI(p_f=1),
        LapbRR(address=line.command_address),
        LapbRR(address=line.command_address, p_f=1),
        LapbRNR(),
        LapbFRMR(rejected_control=0x3F),
        LapbUA(address=line.command_address, p_f=1),
        LapbDM(address=line.command_address, p_f=1),
    )
    if tried is not None:
        answers = (*NO_ANSWER, *line.frames.answers())
        not_before(line, tried + EARLY_FROM * line.profile.t1, *answers, note="before T1")
    # T1 runs from SABM on, and not from the last frame that came.
    until = time.monotonic() + within
    while line.arrivals.at_end and time.monotonic() < until:
        line.send(LapbRR(address=line.command_address))
        line.pause(line.profile.t1 / 4)
    next_attempt(line, LOOK)


def next_attempt(line: LineSide, within: float) -> None:
    """The router's SABM at T1. Raises Inconclusive where N2 of them are over and it begins anew,
    which it may do by DISC (X.25 2.4.4.1)."""
    disc, sabm = LapbDISC(p_f=1), LapbSABM(p_f=1)
    latest_first = [unit.octets for unit in reversed(line.line.log.received) if unit.valid]
    made = list(dropwhile(partial(matches, disc), latest_first))
    over = sum(1 for _ in takewhile(partial(matches, sabm), made)) >= line.profile.n2
    others = (disc,) if over or not names_given(line, ("n2",)) else ()
    if isinstance(line.expect_at_once(sabm, *others, within=within), LapbDISC):
        raise Inconclusive("the router had made its N2 attempts, and began anew")


@purpose("LAPB-SET-19")
def test_a_thousand_set_ups(bench: Bench) -> None:
    """Fewer of a router that is not ready for the next link at once."""
    line, refused = bench.line(), 0
    line.link.bring_down()
    for _ in range(1000):
        refused += not taken(line)
        if refused > CROSSINGS:
            return
        line.send(LapbDISC(p_f=1))
        line.expect(LapbUA(p_f=1))

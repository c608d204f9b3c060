# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: frame reject (X.25 2.3.4.9, 2.4.6, 2.4.7.3)."""

from __future__ import annotations

from itertools import product
from typing import Any

from .language import (
    ASKING_FOR_A_LINK,
    CLOSED,
    RR,
    Bench,
    ClearIndication,
    Diagnostic,
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
    RestartRequest,
    Side,
    one_of,
    purpose,
)
from .links import (
    ANEW,
    EARLY_FROM,
    ENDING,
    ENDS,
    TEST,
    UI,
    XID,
    at_the_line,
    begin_again,
    begins_anew,
    begins_at_0,
    by_t1,
    calls_lines,
    came,
    count_to,
    expect_poll,
    is_polled,
    last_look,
    let_go,
    link_was_reset,
    may_be_reset,
    names_given,
    not_before,
    one_open,
    out_of_sequence,
    poll_is_answered,
    polled,
    polls,
    ready,
    respond,
    send_control,
    unacknowledged,
)
from .test_hdlc import giant
from .test_lapb_anew import a_busy_tester, a_rej_condition, timer_recovery

# Longer than T1, in T1.
BEHIND_T1 = 1.5
# Octets of the information field of an FRMR that has not three of them.
OF_OTHER_LENGTHS = (0, 2, 4, 40)
_FRMR = 0x87
# T1 may have run out by the time that the next command reaches the router.
FRMR_AGAIN = (LapbFRMR(p_f=0),)


def rejected(bench: Bench) -> tuple[LineSide, Packet, int]:
    """A line in frame reject state, for an RR with an N(R) that nobody sent; its control octet."""
    line, restart = ready(bench)
    line.by_hand = True
    wrong = (line.station.v_r + 1) % 8
    line.send(LapbRR(address=line.command_address, n_r=wrong))
    with bench.preamble():
        line.expect(LapbFRMR(z=1))
    link_was_reset(line)
    return line, restart, wrong << 5 | 1


def frmr(line: LineSide, rejection: Packet, *others: Packet, **options: Any) -> bool:
    """FRMR, or one of the others. A router that is the DTE may reset the link at once in its place
    (ISO/IEC 7776): whether it has not."""
    resets = (LapbSABM(p_f=1), LapbDISC(p_f=1)) if line.profile.role == "dte" else ()
    seen = line.expect(rejection, *others, *resets, **options)
    if isinstance(seen, (LapbSABM, LapbDISC)):
        line.context.remark("the router, a DTE, resets the link in place of FRMR")
        line.allow(*ENDING)
        return False
    return True


def numbers_that_differ(bench: Bench) -> LineSide:
    """A line whose V(S) and V(R) differ and are not 0, so that FRMR tells which is which.

    A Diagnostic is something that the router has nothing to answer to; where it answers one with
    one of its own, an RR of a call that acknowledges nothing new is.
    """

    def differ() -> bool:
        line.link_fence()
        v_s, v_r = line.station.v_s, line.station.v_r
        return v_s != v_r and 0 not in {v_s, v_r}

    line, _ = ready(bench)
    line.layer.allow(Diagnostic(), RestartRequest())
    for _ in range(8):
        line.send(line.packet(Diagnostic(lcn=0, diagnostic=0)))
        if differ():
            return line
    call = bench.call()
    near, far = (call.a, call.b) if line is bench.lines.get("a") else (call.b, call.a)
    assert isinstance(near, Side)
    if isinstance(far, Side):
        far.allow(ClearIndication())
    for _ in range(8):
        line.send(LapbI() / near.octets_of(RR(p_r=near.numbering.p_r)))
        if differ():
            break
    return line


@purpose("LAPB-FRMR-01", each_line=True)
def test_undefined_control(bench: Bench) -> None:
    """With P=0 and P=1; and commands of HDLC that LAPB does not have, with an information field:
    no packet is taken out of them."""
    line, restart = ready(bench)
    packet = bytes(restart)
    for kind, information in ((0x0D, b""), (0xEF, b""), *((c, packet) for c in (UI, XID, TEST))):
        for p_f in (0, 1):
            line.by_hand = True
            line.skip()
            begin, control = line.cursor, kind | p_f << 4
            send_control(line, control, information)
            rejection = LapbFRMR(w=1, rejected_control=control, c_r=0, p_f=p_f)
            line.expect(rejection, LapbSABM(p_f=1), LapbDISC(p_f=1), LapbDM(p_f=0))
            line.expect_count(LapbI(), 0, 0, start=begin, note="no packet is taken")
            begin_again(line)


@purpose("LAPB-FRMR-02", each_line=True)
def test_information_in_supervisory_frames(bench: Bench) -> None:
    """In commands and in responses."""
    line, _ = ready(bench)
    for kind, response in product((LapbRR, LapbRNR, LapbREJ), (False, True)):
        line.by_hand = True
        control = line.octets_of(kind(address=line.command_address))[1]
        send_control(line, control, b"\0", response=response)
        frmr(line, LapbFRMR(rejected_control=control, c_r=int(response), w=1, x=1, y=0, z=0))
        begin_again(line)


@purpose("LAPB-FRMR-03", each_line=True)
def test_above_n1(bench: Bench) -> None:
    """One octet: FRMR Y, discarded, or the link is reset (X.25 2.4.7.2)."""
    line, restart = ready(bench)
    line.by_hand = True
    before, control = line.station.v_s, line.octets_of(LapbI())[1]
    line.wire.send_whole([giant(line, bytes(restart), line.profile.n1 // 8 + 1)])
    line.send(LapbRR(address=line.command_address, p_f=1))
    seen = line.expect(
        *line.frames.answers(n_r=before),
        LapbFRMR(rejected_control=control, v_s=line.station.v_r, v_r=before, c_r=0, x=0, y=1, z=0),
        *(LapbSABM(), LapbDISC(p_f=1), LapbDM(p_f=0)),
    )
    poll_is_answered(line, seen)
    line.allow(LapbFRMR(rejected_control=control, y=1), *ENDING)


@purpose("LAPB-FRMR-04", each_line=True)
def test_invalid_n_r(bench: Bench) -> None:
    """Beyond what was sent, and behind what was acknowledged, in RR, REJ and I; in an I frame that
    is out of sequence, and in one that was taken already, as well: REJ may come first. Each of the
    other numbers in RR; and while the tester is busy, or a frame is missing.

    The packet in that I frame is not taken: nothing answers it before FRMR, whose V(R) does not
    count it.
    """
    line, restart = ready(bench)
    nearest = ((1, None), (-1, None), (1, 0), (-1, 0), (1, 1), (1, -1))
    for step, ahead in (*nearest, *((other, None) for other in range(2, 7))):
        kinds = (LapbRR, LapbREJ) if abs(step) == 1 else (LapbRR,)
        for kind in kinds if ahead is None else (LapbI,):
            line.by_hand = True
            line.skip()
            begin = line.cursor
            wrong = (line.station.v_r + step) % 8
            if ahead is None:
                line.send(kind(address=line.command_address, n_r=wrong))
            else:
                out_of_sequence(line, restart, ahead, n_r=wrong)
            rejections = line.frames.rejections(n_r=line.station.v_s) if ahead else ()
            frmr(line, LapbFRMR(z=1, v_r=line.station.v_s), passing=rejections)
            line.expect_count(LapbI(), 0, 0, start=begin, note="the packet is not taken")
            begin_again(line)
    for bring_about in (a_busy_tester, a_rej_condition):
        line.by_hand = True
        bring_about(line, restart)
        wrong = (line.station.v_r + 1) % 8
        line.send(LapbRR(address=line.command_address, n_r=wrong))
        passing = line.frames.rejections(n_r=line.station.v_s)
        frmr(line, LapbFRMR(z=1), passing=passing, note=bring_about.__name__.replace("_", " "))
        begin_again(line)


@purpose("LAPB-FRMR-05", each_line=True)
def test_information_field(bench: Bench) -> None:
    """With a V(S) and a V(R) that differ, above 3 where their difference lets them be, with an I
    frame that is open, and with 7 in each.

    V(S) is the N(S) of the next I frame, whatever is acknowledged (X.25 2.4.1.2, 2.3.4.9); a router
    whose T1 has run out may have set it back to that of the frame that it sends again.
    """
    line = numbers_that_differ(bench)
    restart = RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)
    for _ in range(8):
        if min(line.station.v_s, line.station.v_r) >= 4:
            break
        count_to(line, restart, (line.station.v_r + 1) % 8)
    line.by_hand = True
    line.skip()
    rejects(line, (line.station.v_r + 2) % 8, line.station.v_r)
    begin_again(line)
    begin = line.cursor
    first = one_open(line, restart)
    line.layer.allow(RestartConfirmation())
    back = (first,) if polled(line, begin) else ()
    rejects(line, (first + 3) % 8, *back, line.station.v_r)
    for of_the_router in (True, False):
        begin_again(line)
        while (line.station.v_r if of_the_router else line.station.v_s) != 7:
            count_to(line, restart, (line.station.v_r + 1) % 8)
        line.by_hand = True
        line.skip()
        rejects(line, (line.station.v_r + 2) % 8, line.station.v_r)


def rejects(line: LineSide, wrong: int, *v_s: int) -> None:
    """An RR with this N(R): its control field, V(S) and V(R) are in FRMR."""
    line.send(LapbRR(address=line.command_address, n_r=wrong))
    frmr(
        line,
        LapbFRMR(
            rejected_control=wrong << 5 | 1,
            v_s=one_of(*v_s),
            v_r=line.station.v_s,
            c_r=0,
            w=0,
            x=0,
            y=0,
            z=1,
        ),
        passing=polls(line),
    )


@purpose("LAPB-FRMR-06")
def test_no_packets_in_frame_reject(bench: Bench) -> None:
    """Data of a call in an I frame: not passed on; a restart at the latest ends the call."""
    bench.need(bench.two_sided, "a second side, where the data would arrive")
    for at in calls_lines(bench):
        line, near, far = at_the_line(bench, bench.call(), at)
        line.skip()
        line.by_hand = True
        v_s, v_r = line.station.v_s, line.station.v_r
        line.send(LapbRR(address=line.command_address, n_r=(v_r + 1) % 8))
        with bench.preamble():
            line.expect(LapbFRMR(z=1))
        data = near.octets_of(near.data(b"frame rejected"))
        in_sequence = LapbI(n_s=v_s, n_r=v_r, p_f=1)
        line.wire.send_whole([line.frames.with_fcs(in_sequence / data)])
        line.expect(LapbFRMR(p_f=1), passing=(LapbFRMR(p_f=0), LapbRR(p_f=0), LapbI()))
        may_be_reset(near, far)
        line.send(LapbSABM(p_f=1))
        line.expect(LapbUA(p_f=1), passing=(LapbFRMR(),))
        let_go(line)
        line.link.restart()
        far.expect(ClearIndication(), CLOSED, note="no data before the call is cleared")
        line.allow(LapbFRMR())
        link_was_reset(line)


@purpose("LAPB-FRMR-07", each_line=True)
def test_sabm_ends_frame_reject(bench: Bench) -> None:
    """With P=1 and P=0."""
    for p_f in (1, 0):
        line, restart, _ = rejected(bench)
        line.send(LapbSABM(p_f=p_f))
        line.expect(LapbUA(p_f=p_f), passing=FRMR_AGAIN)
        line.send(line.packet(restart, n_s=0, n_r=0))
        line.poll(n_r=1)
        if p_f:
            begin_again(line)


@purpose("LAPB-FRMR-08", each_line=True)
def test_disc_ends_frame_reject(bench: Bench) -> None:
    """With P=0 and P=1. A station that asks for a link at once shows it by that, and owes a poll no
    answer."""
    for p_f in (0, 1):
        line, _, _ = rejected(bench)
        line.send(LapbDISC(p_f=p_f))
        line.expect(LapbUA(p_f=p_f), passing=FRMR_AGAIN)
        line.send(LapbRR(address=line.command_address, p_f=1))
        line.expect(LapbDM(p_f=1), LapbSABM(), passing=(LapbDM(p_f=0), LapbDISC()))
        line.allow(LapbDM(p_f=1), *ASKING_FOR_A_LINK)
        if not p_f:
            begin_again(line)


@purpose("LAPB-FRMR-09", each_line=True)
def test_received_frmr(bench: Bench) -> None:
    """With F=0; and with F=1, which answers a poll of timer recovery: SABM follows at once, and N2
    of them in all where nothing answers. With an information field that is too short or too long:
    the same, or FRMR, as that is an unnumbered frame with incorrect length (X.25 2.3.4.9)."""
    line, restart = ready(bench)
    _reports(line, 0)
    line.allow(*ENDING)
    begin_again(line)
    for octets in OF_OTHER_LENGTHS:
        _reports_at_length(line, octets)
        line.allow(*ENDING)
        begin_again(line)
    line.layer.allow(RestartConfirmation())
    timer_recovery(line, restart)
    if isinstance(_reports(line, 1), LapbSABM) and names_given(line, ("n2",)):
        for number in range(2, line.profile.n2 + 1):
            line.expect(
                LapbSABM(p_f=1),
                within=by_t1(line),
                note=f"nothing has answered; SABM {number} of {line.profile.n2}",
            )
    line.allow(*ENDING)


def _reports_at_length(line: LineSide, octets: int) -> None:
    """FRMR with F=0 and so many octets of information."""
    line.by_hand = True
    v_s, v_r = line.station.v_s, line.station.v_r
    field = bytes([v_s << 5 | 0x01, v_r << 5 | v_s << 1, 0x08]).ljust(octets, b"\0")[:octets]
    send_control(line, _FRMR, field, response=True)
    line.send(LapbRR(address=line.command_address, p_f=1))
    rejection = LapbFRMR(rejected_control=_FRMR, c_r=1, w=1, x=1, y=0, z=0)
    begins_anew(line, rejection, passing=polls(line), note=f"FRMR with {octets} octets, not 3")
    line.allow(LapbFRMR(rejected_control=_FRMR))


def _reports(line: LineSide, final: int) -> Packet | None:
    """FRMR, and what the router does: a command with P=1 has no answer any more."""
    line.by_hand = True
    v_s, v_r = line.station.v_s, line.station.v_r
    line.send(
        LapbFRMR(rejected_control=v_s << 5 | 0x01, v_s=v_s, v_r=v_r, z=1, p_f=final),
        LapbRR(address=line.command_address, p_f=1),
    )
    return begins_anew(line, passing=polls(line), note=f"FRMR F={final}")


@purpose("LAPB-FRMR-10", each_line=True)
def test_frmr_is_repeated(bench: Bench) -> None:
    """At T1, N2 times at most, and then the link begins anew or is given up. F=0: nobody polled.

    A router may also wait for SABM or DISC, without FRMR of its own or behind N2 of them (2.4.7.3:
    may retransmit, may reset); then a command with P=1 shows that it rejects still. The second time
    it repeats FRMR as often as the first, or N2 times with the one that rejects.
    """
    line, _, _ = rejected(bench)
    times = repeated(line)
    if times is None:
        return
    begin_again(line)
    rejected(bench)
    repeated(line, min(times, line.profile.n2 - 1))


def repeated(line: LineSide, at_least: int = 0) -> int | None:
    """How often FRMR comes again until the link begins anew or is given up; None where the router
    waits, or the profile does not say enough."""
    begin = line.cursor
    again = last_look(line, LapbFRMR(), *ANEW)
    ends = ANEW if line.profile.n2 == 1 or not names_given(line, ("n2",)) else ()
    if not came(line, begin, (LapbFRMR(), *ANEW)):
        it_waits(line)
        return None
    if not isinstance(line.expect(LapbFRMR(p_f=0), *ends), LapbFRMR):
        line.allow(*ENDING)
        return None
    not_before(line, again + EARLY_FROM * line.profile.t1, LapbFRMR(), note="before T1")
    if "n2" not in line.profile.model_fields_set:
        line.context.remark(f"line.{line.name.lower()}: n2 is not given: its end was not judged")
        line.allow(LapbFRMR(), *ENDING)
        return None
    # N2 repetitions, of which one has come; the first FRMR may count as an attempt (2.4.8.4).
    for times in range(1, line.profile.n2 + 1):
        begin = line.cursor
        last_look(line, LapbFRMR(), *ANEW)
        if not came(line, begin, (LapbFRMR(), *ANEW)):
            it_waits(line)
            return None
        frmrs = (LapbFRMR(p_f=0),) if times < line.profile.n2 else ()
        ends = ANEW if times >= at_least else ()
        note = f"FRMR has come again {times} times, and {at_least} times or more before"
        if not isinstance(line.expect(*frmrs, *ends, note=note if at_least else ""), LapbFRMR):
            break
    line.allow(*ENDING)
    return times


def it_waits(line: LineSide) -> None:
    """A router that repeats FRMR no more is still in the frame reject condition."""
    line.send(LapbRR(address=line.command_address, p_f=1))
    line.expect(LapbFRMR(p_f=1, z=1), passing=(LapbFRMR(p_f=0),))
    line.context.remark("FRMR is not repeated: the router waits for SABM or DISC")
    line.allow(LapbFRMR(), *ENDING)


@purpose("LAPB-FRMR-11", each_line=True)
def test_information_in_sabm_and_disc(bench: Bench) -> None:
    """They do nothing to the link: FRMR, or they are discarded."""
    line, _ = ready(bench)
    for control in (0x3F, 0x53):
        line.by_hand = True
        send_control(line, control, b"\0")
        line.never(LapbUA())
        demand = bench.expectations[-1]
        line.send(LapbRR(address=line.command_address, p_f=1))
        frmr(
            line,
            LapbFRMR(rejected_control=control, w=1, x=1),
            *line.frames.answers(n_r=line.station.v_s),
        )
        line.allow(LapbFRMR(rejected_control=control))
        demand.stop = line.cursor
        begin_again(line)


@purpose("LAPB-FRMR-12", each_line=True)
def test_what_is_rejected(bench: Bench) -> None:
    """RNR and responses with an invalid N(R), and commands with P=1."""
    line, _ = ready(bench)
    command = {"address": line.command_address}
    for kind, fields in (
        (LapbRNR, command),
        (LapbRR, command | {"p_f": 1}),
        (LapbREJ, command | {"p_f": 1}),
        (LapbRR, {}),
        (LapbREJ, {}),
        (LapbRNR, {}),
    ):
        line.by_hand = True
        frame = kind(n_r=(line.station.v_r + 1) % 8, **fields)
        control = line.octets_of(frame)[1]
        line.send(frame)
        frmr(
            line,
            LapbFRMR(rejected_control=control, c_r=int(not fields), w=0, x=0, y=0, z=1),
            note="a command" if fields else "a response",
        )
        begin_again(line)


@purpose("LAPB-FRMR-13", each_line=True)
def test_supervisory_frames_in_frame_reject(bench: Bench) -> None:
    """They change nothing, nor does a UA: the next command with P=1 is answered by FRMR F=1, and no
    packet is taken out of it."""
    line, restart, control = rejected(bench)
    for kind in (LapbRR, LapbREJ, LapbRNR):
        line.send(kind(), kind(address=line.command_address))
    for kind in (LapbRR, LapbREJ, LapbRNR):
        line.send(kind(address=line.command_address, p_f=1))
        line.expect(LapbFRMR(p_f=1, rejected_control=control, z=1), passing=(LapbFRMR(p_f=0),))
    begin = line.cursor
    still_rejected = LapbFRMR(p_f=1, rejected_control=control, z=1)
    for unasked in (LapbUA(address=line.command_address), LapbUA()):
        line.send(unasked, line.packet(restart, p_f=1))
        seen = begins_anew(line, still_rejected, passing=(LapbFRMR(p_f=0),))
        if isinstance(seen, ENDS):
            # For a UA that nobody waits for (X.25 2.4.6.3).
            bench.remark("a UA in the frame reject condition ends the link")
            line.allow(*ENDING)
            break
    line.expect_count(LapbI(), 0, 0, start=begin, note="no packet is taken")


@purpose("LAPB-FRMR-16", each_line=True)
def test_second_frame_that_is_rejected(bench: Bench) -> None:
    """What else cannot be accepted changes nothing: FRMR tells of the first one (X.25 2.4.7.3)."""
    line, _, control = rejected(bench)
    line.allow(LapbFRMR(rejected_control=control, z=1))
    begin = line.cursor
    undefined = (0x0D, 0x1D, 0xFF)
    for second in undefined:
        send_control(line, second)
    line.send(LapbRR(address=line.command_address, p_f=1))
    line.expect(LapbFRMR(rejected_control=control, p_f=1, z=1), passing=(LapbFRMR(z=1),))
    for second in undefined:
        line.expect_count(LapbFRMR(rejected_control=second), 0, 0, start=begin, note="the first")


@purpose("LAPB-FRMR-14")
def test_invalid_n_r_in_timer_recovery(bench: Bench) -> None:
    """In the answer to the router's poll, and beside it."""
    line, restart = ready(bench)
    for final in (0, 1):
        first = unacknowledged(line, restart, 1)
        line.skip()
        expect_poll(line)
        line.send(LapbRR(n_r=(first + 3) % 8, p_f=final))
        frmr(line, LapbFRMR(z=1, p_f=0), note="F=0, as no P=1 was sent")
        begin_again(line)


@purpose("LAPB-FRMR-15", each_line=True)
def test_n_r_runs_back(bench: Bench) -> None:
    """RR, RNR and REJ, as responses and as commands, and an I frame each acknowledge, and the I
    frame of a busy tester as well; the N(R) before it is invalid from then on."""
    supervisory = tuple((kind, way) for kind in (LapbRR, LapbRNR, LapbREJ) for way in (0, 1))
    for kind, way in (*supervisory, (LapbI, 0), (LapbI, 1)):
        line, restart = ready(bench)
        first = unacknowledged(line, restart, 1)
        if is_polled(line) and (way or kind is LapbI):
            # Without F=1 an N(R) need not count until the answer (X.25 2.4.5.9).
            bench.remark(f"the router asks behind each I frame: no {kind.__name__} without F=1")
            begin_again(line)
            continue
        if kind is not LapbI and not way:
            respond(line, kind, line.station.v_r)
        elif kind is not LapbI:
            line.send(kind(address=line.command_address))
        else:
            if way:
                line.send(LapbRNR(n_r=first))
            line.send(line.packet(restart))
        line.send(LapbRR(address=line.command_address, n_r=first))
        frmr(line, LapbFRMR(z=1, rejected_control=first << 5 | 1))
        begin_again(line)


@purpose("LAPB-FRMR-17", each_line=True)
def test_nothing_is_sent_in_frame_reject(bench: Bench) -> None:
    """I frames are open, and more wait: neither what asks for them nor T1 brings any, and nobody is
    polled. The link behind it begins at 0."""
    line, restart = ready(bench)
    line.layer.allow(RestartConfirmation())
    first = unacknowledged(line, restart, line.profile.k + 2)
    line.skip()
    control = first << 5 | 0x01
    send_control(line, control, b"\0")
    link_was_reset(line)
    if not frmr(line, LapbFRMR(rejected_control=control, w=1, x=1), passing=polls(line)):
        return
    begin, command = line.cursor, line.command_address
    again = LapbFRMR(rejected_control=control)
    line.send(
        *(kind(n_r=first, p_f=1) for kind in (LapbRR, LapbREJ)),
        *(LapbREJ(address=command, n_r=first), LapbRNR(n_r=first), LapbRR(n_r=first + 1 & 7)),
    )
    out_of_sequence(line, restart, 0, n_r=first)
    send_control(line, UI, bytes(restart))
    if names_given(line, ("t1",)):
        line.pause(BEHIND_T1 * line.profile.t1)
    line.send(LapbRR(address=command, p_f=1))
    seen = line.expect(LapbFRMR(rejected_control=control, p_f=1), *ANEW, passing=(LapbFRMR(p_f=0),))
    for kind in (LapbI, LapbRR, LapbRNR, LapbREJ):
        for address in (line.response_address, command):
            line.expect_count(kind(address=address), 0, 0, start=begin, note="frame reject")
    line.allow(again)
    if isinstance(seen, ENDS):
        # N2 may have been reached (X.25 2.4.7.3).
        line.allow(*ENDING)
        return
    line.send(LapbSABM(p_f=1))
    line.expect(LapbUA(p_f=1), passing=(again,))
    begins_at_0(line, restart, "behind frame reject")


@purpose("LAPB-FRMR-18", each_line=True)
def test_frmr_and_dm_end_frame_reject(bench: Bench) -> None:
    """Of the tester: the link is set up anew, or there is none; FRMR does not answer any longer."""
    ends = LapbFRMR(rejected_control=0x01, z=1), LapbDM(p_f=0), LapbDM(p_f=1)
    for end in ends:
        line, _, _ = rejected(bench)
        line.send(end, LapbRR(address=line.command_address, p_f=1))
        begins_anew(line, passing=(LapbFRMR(p_f=0),), note=f"{end.name} ends frame reject")
        line.allow(*ENDING)
        begin_again(line)


@purpose("LAPB-FRMR-19", each_line=True)
def test_invalid_n_r_at_the_wrap(bench: Bench) -> None:
    """I frames from N(S)=7 on are open, which reach over the end: N(R) beyond them, and behind."""
    line, restart = ready(bench)
    for beyond in (True, False):
        count_to(line, restart, 7)
        count = min(2, line.profile.k)
        first = unacknowledged(line, restart, count)
        line.layer.allow(RestartConfirmation())
        wrong = (first + count + 1 if beyond else first - 1) % 8
        line.skip()
        line.send(LapbRR(address=line.command_address, n_r=wrong))
        frmr(line, LapbFRMR(z=1, rejected_control=wrong << 5 | 1), passing=polls(line))
        begin_again(line)

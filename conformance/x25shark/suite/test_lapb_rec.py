# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: error recovery (X.25 2.4.5.4, 2.4.5.6, 2.4.5.9)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..judges.template import matches
from .language import (
    CLOSED,
    Bench,
    ClearConfirmation,
    ClearIndication,
    Data,
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
    NotApplicable,
    Packet,
    ResetIndication,
    RestartConfirmation,
    RestartRequest,
    Side,
    not_in,
    one_of,
    purpose,
)
from .links import (
    ANEW,
    EARLY,
    EARLY_FROM,
    ENDING,
    ENDS,
    LOOK,
    all_again,
    at_the_line,
    begin_again,
    begins_at_0,
    by_t1,
    calls_lines,
    came,
    count_to,
    ends_after,
    expect_poll,
    given_up,
    is_polled,
    let_go,
    link_was_reset,
    may_be_reset,
    names_given,
    needs_given,
    one_open,
    opened,
    out_of_sequence,
    polled,
    polled_in_vain,
    polled_to_the_end,
    polls,
    ready,
    respond,
    taken,
    unacknowledged,
    with_one_t1,
)
from .test_lapb_i import polls_by_itself

# Control octet of a REJ without its N(R) and P/F.
REJ = 0x09
# Longer than T1, in T1.
PAUSE = 1.5
# A moment before T1 has run out (in T1), with time for the answer to a poll.
AMID = 0.5
# A REJ may be repeated at T1 (in T1, with room for a machine that is held up).
REJ_AGAIN = 0.5
IDLE_TRIES = 3
# How often a poll may be late before it is that of T3, which has to be so many T1 at least.
TRIES, APART = 3, 2
# N(S) of a frame that is lost, in one case and in another.
ANY_NUMBER, ANOTHER = 5, 3


@purpose("LAPB-REC-01", each_line=True)
def test_a_gap_gives_one_rej(bench: Bench) -> None:
    line, restart = ready(bench)
    line.send(line.packet(restart))
    line.layer.expect(RestartConfirmation())
    expected = line.station.v_s
    # REJ with an older number is the end of a busy condition before the gap (X.25 2.4.5.8).
    before = one_of(*(number % 8 for number in range(expected + 1, expected + 8)))
    begin, began = line.connection.received_octets, time.monotonic()
    out_of_sequence(line, restart, 1)
    out_of_sequence(line, restart, 2)
    line.expect(LapbREJ(n_r=expected), passing=line.frames.rejections(n_r=before))
    line.send(LapbRR(address=line.command_address, p_f=1))
    line.expect(*line.frames.answers(n_r=expected), passing=line.frames.rejections())
    if rej_may_come_again(line, began):
        return
    # REJ F=1 is one way to answer the poll (X.25 2.4.3).
    for rejection in line.frames.rejections():
        line.expect_count(rejection, 0, 1, start=begin)


def rej_may_come_again(line: LineSide, since: float) -> bool:
    """Whether T1 may have run out since the first frame of a gap was sent (monotonic, seconds): a
    REJ may come again then, and the count of them says nothing."""
    late = time.monotonic() - since > REJ_AGAIN * line.profile.t1
    if late:
        line.context.remark("it took so long that REJ may come again: they were not counted")
        line.allow(*line.frames.rejections())
    return late


@purpose("LAPB-REC-02", each_line=True)
def test_the_missing_frame_ends_it(bench: Bench) -> None:
    line, restart = ready(bench)
    out_of_sequence(line, restart, 1)
    out_of_sequence(line, restart, 2)
    line.expect(LapbREJ(n_r=line.station.v_s))
    count = min(3, line.profile.k)
    for _ in range(count):
        line.send(line.packet(restart))
    line.layer.expect_count(RestartConfirmation(), count, count)
    line.poll(n_r=line.station.v_s)


@purpose("LAPB-REC-03", each_line=True)
def test_a_later_gap_gives_a_new_rej(bench: Bench) -> None:
    """At each number. The frame that ends a gap is the missing one, with P=0 and with P=1."""
    line, restart = ready(bench)
    for p_f in (0, 1) * 4 + (0,):
        out_of_sequence(line, restart, 1)
        line.expect(LapbREJ(n_r=line.station.v_s))
        line.send(line.packet(restart, p_f=p_f))
        if p_f:
            line.expect(*line.frames.answers())
        line.layer.expect(RestartConfirmation())


@purpose("LAPB-REC-04", each_line=True)
def test_rej_brings_the_frames_again(bench: Bench) -> None:
    """One that acknowledges all of them brings none, and the link stays."""
    line, restart = ready(bench)
    count = min(4, line.profile.k)
    begin = line.cursor
    first = unacknowledged(line, restart, count)
    # All but the first again, or that one where the router has no more than one open.
    arrived = 1 if opened(line, first, begin) > 1 else 0
    line.skip()
    respond(line, LapbREJ, first + arrived)
    all_again(line, first + arrived, count - arrived)
    line.link_fence()
    line.layer.expect_count(RestartConfirmation(), count, count)
    respond(line, LapbREJ, first + count)
    line.link_fence()


@purpose("LAPB-REC-05", each_line=True)
def test_rej_with_p(bench: Bench) -> None:
    """The answer comes ahead of the I frame, which comes once more, and not twice.

    A router that has polled waits for F=1 first, which may bring that frame again as well: what
    comes ahead of the answer then says nothing.
    """
    line, restart = ready(bench)
    first = unacknowledged(line, restart, 2)
    line.skip()
    begin, again = line.cursor, LapbI(n_s=first, p_f=0)
    asked = is_polled(line)
    if asked:
        respond(line, LapbRR, first)
        line.wait_until(lambda: came(line, begin, (again,)), line.profile.t1 / 4)
        line.skip()
        begin = line.cursor
    usual = tuple(frame for frame in line.passing if not isinstance(frame, LapbI))
    others = LapbI() if asked else LapbI(n_s=not_in(first))
    line.send(LapbREJ(address=line.command_address, n_r=first, p_f=1))
    line.expect_at_once(
        *line.frames.answers(),
        passing=(*usual, *polls(line), others),
        note="ahead of the I frame",
    )
    line.wait_until(lambda: came(line, begin, (again,)) or is_polled(line), by_t1(line))
    if is_polled(line) and not came(line, begin, (again,)):
        respond(line, LapbRR, first)
    most = 2 if asked or polled(line, begin) else 1
    line.expect_count(LapbI(n_s=first), 1, most, start=begin)
    line.send(LapbRR())
    line.layer.allow(RestartConfirmation())


@purpose("LAPB-REC-06")
def test_lost_acknowledgement(bench: Bench) -> None:
    """On all lines; of the last N(S) before the numbers begin anew."""
    for lines in with_one_t1(bench):
        one_open_each(lines, 7)
        for line, _ in lines:
            expect_poll(line)


def one_open_each(lines: Sequence[tuple[LineSide, Packet]], number: int) -> None:
    """An I frame with this N(S) is not acknowledged on each of these lines."""
    for line, restart in lines:
        count_to(line, restart, number)
        unacknowledged(line, restart, 1)
        line.skip()
        line.layer.allow(RestartConfirmation())


@purpose("LAPB-REC-07")
def test_answer_to_the_poll(bench: Bench) -> None:
    """With the old N(R), in RR and in REJ, the frame is sent again, with the new one it is not."""
    for lines in with_one_t1(bench):
        one_open_each(lines, ANY_NUMBER)
        for kind in (LapbRR, LapbREJ):
            for line, _ in lines:
                expect_poll(line)
                line.send(kind(n_r=ANY_NUMBER, p_f=1))
                line.expect(LapbI(n_s=ANY_NUMBER))
        for line, _ in lines:
            expect_poll(line)
            line.send(LapbRR(p_f=1))
            line.link_fence()
            line.expect_count(LapbI(), 0, 0)


@purpose("LAPB-REC-08")
def test_n2_attempts(bench: Bench) -> None:
    """So many polls on each line, and then the link begins anew or is given up. Of a new one all
    counts are 0, and nothing is left of the recovery (X.25 2.4.7)."""
    for lines in with_one_t1(bench, "n2"):
        begun = []
        for line, restart in lines:
            unacknowledged(line, restart, 1)
            line.skip()
            begun.append(line.cursor)
        polled_in_vain(lines)
        anew = []
        for (line, restart), begin in zip(lines, begun, strict=True):
            if isinstance(given_up(line, begin), LapbSABM):
                link_was_reset(line)
                line.send(LapbUA(p_f=1))
                anew.append((line, restart))
        for line, restart in anew:
            begins_at_0(line, restart, "a new link behind N2 polls")


@purpose("LAPB-REC-09", each_line=True)
def test_gap_with_p(bench: Bench) -> None:
    line, restart = ready(bench)
    begin, began = line.cursor, time.monotonic()
    out_of_sequence(line, restart, 1, p_f=1)
    expected = line.station.v_s
    line.allow(LapbREJ(n_r=expected))
    line.expect(*line.frames.answers(n_r=expected), passing=line.frames.rejections())
    out_of_sequence(line, restart, 2, p_f=1)
    line.expect(
        *line.frames.answers(n_r=expected),
        passing=line.frames.rejections(),
        note="while a REJ is outstanding",
    )
    frames = [unit.octets for unit in line.line.log.received if unit.offset >= begin and unit.valid]
    most = 0 if any(octets[1] & 0x0F == REJ for octets in frames) else 1
    begin = line.cursor
    out_of_sequence(line, restart, 3)
    line.send(LapbRR(address=line.command_address, p_f=1))
    line.expect(
        *line.frames.answers(n_r=expected),
        passing=line.frames.rejections(),
        note="while a REJ is outstanding",
    )
    if not rej_may_come_again(line, began):
        line.expect_count(LapbREJ(p_f=0), 0, most, start=begin, note="one REJ for each gap")


@purpose("LAPB-REC-11")
def test_n_r_of_a_frame_out_of_sequence(bench: Bench) -> None:
    """It acknowledges all the same: nothing is sent again, and nobody asks."""
    line, restart = ready(bench)
    began, begin = time.monotonic(), line.cursor
    unacknowledged(line, restart, 1)
    # A router may poll at any time, and then waits for the answer as well.
    asked = polled(line, begin)
    line.skip()
    out_of_sequence(line, restart, 1)
    in_time = time.monotonic() - began < 0.8 * line.profile.t1
    expected = line.station.v_s
    line.expect(LapbREJ(n_r=expected), passing=polls(line))
    begin = line.cursor
    line.pause(PAUSE * line.profile.t1)
    line.expect_count(LapbI(), 0, 0, note="acknowledged frames are not sent again")
    # REJ may come again after T1.
    line.allow(LapbREJ(n_r=expected), *polls(line))
    let_go(line)
    line.send(line.packet(RestartRequest(cause=line.restart_cause)))
    line.layer.expect_count(RestartConfirmation(), 2, 2)
    if not in_time:
        bench.remark("the tester was held up: T1 recovery was not judged")
    elif polled(line, begin) and (asked or polls_when_idle(line)):
        bench.remark("the router polls by itself: T1 recovery was not judged")
    else:
        for poll in polls(line):
            line.expect_count(poll, 0, 0, start=begin, note="T1 recovery")


def polls_when_idle(line: LineSide) -> bool:
    """Whether it polls after such a pause where nothing is open (X.25 2.4.8.7).

    What the tester's station says meanwhile, of a router that was busy, makes it begin anew.
    """
    line.link_fence()
    begin = line.cursor
    for _ in range(IDLE_TRIES):
        sent = len(line.line.log.sent)
        line.pause(PAUSE * line.profile.t1)
        if polled(line, begin) or len(line.line.log.sent) == sent:
            break
    return polled(line, begin)


@purpose("LAPB-REC-12")
def test_a_reset_leaves_no_silent_gap(bench: Bench) -> None:
    """Data that the tester has not acknowledged when the link is set up anew, by SABM, by the
    router for an FRMR, and for one of the router: the call ends, or is reset, or they come
    again."""
    for at in calls_lines(bench):
        for begins_anew_by in (_by_sabm, _by_frmr, _for_an_frmr):
            line, near, far = at_the_line(bench, bench.call(), at)
            before = line.layer.arrivals.units
            restarts, came = len(before), near.connection
            line.by_hand = True
            far.send_data(b"on its way")
            near.expect_message(b"on its way")
            line.skip()
            packets = len(came.received)
            begins_anew_by(line)
            link_was_reset(line)
            let_go(line)
            _no_silent_gap(line, near, far, restarts, packets)


def _by_sabm(line: LineSide) -> None:
    # DM F=0 is a wish for a link that has crossed with it (X.25 2.4.4.4.2).
    taken(line, passing=(*polls(line), LapbI(), LapbFRMR(), LapbDM(p_f=0)))


def _by_frmr(line: LineSide) -> None:
    v_s, v_r = line.station.v_s, line.station.v_r
    line.send(LapbFRMR(rejected_control=v_s << 5 | 1, v_s=v_s, v_r=v_r, z=1))
    seen = line.expect(*ANEW, passing=(*polls(line), LapbI()), note="FRMR of the tester")
    _set_up_behind(line, seen)


def _set_up_behind(line: LineSide, seen: Packet | None) -> None:
    """The router sets the link up again, or leaves that to the tester (X.25 2.4.7.3)."""
    if isinstance(seen, LapbDISC):
        line.send(LapbUA(p_f=1))
        seen = line.expect(LapbSABM(p_f=1), LapbDM(p_f=0), passing=(LapbDISC(p_f=1),))
    if isinstance(seen, LapbSABM):
        line.send(LapbUA(p_f=1))
    else:
        _by_sabm(line)


def _for_an_frmr(line: LineSide) -> None:
    """An N(R) of what was not sent; the router rejects it, and the tester sets the link up. One
    that is the DTE may reset the link at once (ISO/IEC 7776)."""
    line.send(LapbRR(address=line.command_address, n_r=(line.station.v_r + 1) % 8))
    resets = (LapbSABM(p_f=1), LapbDISC(p_f=1)) if line.profile.role == "dte" else ()
    seen = line.expect(LapbFRMR(z=1), *resets, passing=(*polls(line), LapbI()))
    _set_up_behind(line, seen)


def _no_silent_gap(line: LineSide, near: Side, far: Side, restarts: int, packets: int) -> None:
    """restarts, packets: what had come of the packet layer, and of the call, before."""
    layer, came = line.layer, near.connection
    note = "no silent gap"
    near.wait_until(lambda: len(layer.arrivals.units) > restarts or len(came.received) > packets)
    if len(came.received) > packets:
        near.expect(near.data(b"on its way"), ResetIndication(), ClearIndication(), note=note)
        line.link.restart()
    else:
        layer.expect(RestartRequest(), note=note)
        layer.send(RestartConfirmation())
    near.allow(Data(), ResetIndication(), ClearIndication())
    told = far.expect(
        ClearIndication(),
        CLOSED,
        passing=(ResetIndication(),),
        note="a restart ends the calls of its line",
    )
    if told is not None:
        far.send(ClearConfirmation())


@purpose("LAPB-REC-13")
def test_f_0_is_no_answer_to_a_poll(bench: Bench) -> None:
    """Timer recovery goes on: nothing is sent but the next poll, until F=1 comes. It begins at T1
    behind a frame that a REJ brought again."""
    for lines in with_one_t1(bench):
        one_open_each(lines, ANOTHER)
        for line, _ in lines:
            respond(line, LapbREJ, ANOTHER)
            line.expect(LapbI(n_s=ANOTHER), note="REJ brings it again")
        for line, _ in lines:
            expect_poll(line)
            line.send(LapbRR(n_r=ANOTHER, p_f=0))
        for line, _ in lines:
            within = by_t1(line)
            note = "RR F=0 does not answer the poll"
            seen = line.expect(*polls(line), *ends_after(line, 2), within=within, note=note)
            if isinstance(seen, ENDS):
                begin_again(line)
                continue
            line.send(LapbRR(n_r=ANOTHER, p_f=1))
            line.expect(LapbI(n_s=ANOTHER), note="after F=1")
            let_go(line)
            line.send(LapbRR())
            line.link_fence()
        for line, restart in lines:
            acknowledged_without_f(line, restart)


def acknowledged_without_f(line: LineSide, restart: Packet) -> None:
    """RR F=0 acknowledges all that is open while the router waits for F=1, which is lost: it asks
    again, or has ended the recovery (X.25 2.4.5.5, 2.4.5.9), and what it has to send comes."""
    unacknowledged(line, restart, 1)
    line.skip()
    expect_poll(line)
    line.send(LapbRR(), line.packet(restart))
    note = "all is acknowledged with F=0, and the router has a packet to send"
    within = by_t1(line)
    seen = line.expect(LapbI(), *polls(line), *ends_after(line, 2), within=within, note=note)
    if isinstance(seen, ENDS):
        begin_again(line)
        return
    if not isinstance(seen, LapbI):
        line.send(LapbRR(p_f=1))
        line.expect(LapbI(), note="after F=1")
    line.by_hand = False
    respond(line, LapbRR, line.station.v_r)
    line.link_fence()


@purpose("LAPB-REC-19")
def test_rej_with_f_0_is_no_progress(bench: Bench) -> None:
    """REJ and RR with F=0 that acknowledge nothing behind each poll: N2 counts on, and ends it.
    Behind the first comes an I frame as well, which later polls acknowledge (X.25 2.4.5.1)."""
    for lines in with_one_t1(bench, "n2"):
        polling, first, packets = [], {}, {}
        for line, restart in lines:
            first[line.name] = unacknowledged(line, restart, 1)
            line.skip()
            polling.append((line, line.cursor))
            packets[line.name] = restart
        taken: dict[str, tuple[int, int]] = {}
        # The frame itself may count as an attempt or not.
        for line in polled_to_the_end(polling, 1, passing=(LapbI(p_f=0),)):
            name, n_r = line.name, first[line.name]
            if name in taken:
                _acknowledges(line, *taken[name])
            else:
                taken[name] = _taken_from(line, line.packet(packets[name], n_r=n_r))
            line.send(LapbREJ(n_r=n_r), LapbRR(n_r=n_r))


def _taken_from(line: LineSide, packet: Packet) -> tuple[int, int]:
    """Send an I frame: the N(R) that acknowledges it, and where the first frame with that ends, 0
    if none comes in time."""
    begin = line.connection.received_octets
    line.send(packet)
    n_r = line.station.v_s
    taken = tuple(kind(n_r=n_r) for kind in (LapbRR, LapbRNR, LapbREJ, LapbI))
    line.wait_until(lambda: came(line, begin, (*taken, *ENDING)))
    units = [unit for unit in line.line.log.received if unit.offset >= begin and unit.valid]
    ends = (u.end for u in units if any(matches(one, u.octets) for one in taken))
    return n_r, 0 if came(line, begin, ENDING) else next(ends, 0)


def _acknowledges(line: LineSide, n_r: int, since: int) -> None:
    """All polls from there on have this N(R); since: 0 if nobody knows."""
    if not since:
        line.context.remark("the router was slow: the N(R) of its polls was not judged")
        return
    cursor = line.cursor
    for poll in polls(line):
        other = type(poll)(**poll.fields, n_r=not_in(n_r))
        line.expect_count(other, 0, 0, start=since, note="N(R) of a poll that is repeated")
    # What has come behind that poll is still to be looked at.
    line.cursor = cursor


@purpose("LAPB-REC-20", each_line=True)
def test_rr_that_acknowledges_nothing(bench: Bench) -> None:
    """One RR each quarter of T1, with the N(R) that the router knows: T1 runs out none the less."""
    needs_given(bench.line(), "t1")
    line, restart = ready(bench)
    first = one_open(line, restart)
    # That frame may have been a poll itself.
    line.skip()
    begin = line.cursor
    until = time.monotonic() + by_t1(line)
    while not polled(line, begin) and time.monotonic() < until:
        line.send(LapbRR(n_r=first))
        line.pause(line.profile.t1 / 4)
    expect_poll(line, within=LOOK)
    line.layer.allow(RestartConfirmation())


@purpose("LAPB-REC-22", each_line=True)
def test_part_acknowledgement(bench: Bench) -> None:
    """Of two I frames the first is acknowledged, by RR and by an I frame: T1 runs for the second,
    and it comes again, once for one REJ that answers the poll."""
    line, restart = ready(bench)
    for by_an_i_frame in (False, True):
        for left in reversed(range(TRIES)):
            begin = line.cursor
            first = unacknowledged(line, restart, 2)
            needs_two_open(line, first, begin)
            second = (first + 1) % 8
            line.skip()
            if by_an_i_frame:
                line.send(line.packet(restart, n_r=second))
                line.acknowledged()
            else:
                line.send(LapbRR(n_r=second))
            in_time = _ahead_of_t3(line)
            expect_poll(line, "T1, not T3", LOOK if not in_time and not left else None)
            _second_once(line, second)
            line.layer.allow(RestartConfirmation())
            let_go(line)
            line.link_fence()
            if in_time:
                break


def needs_two_open(line: LineSide, first: int, begin: int) -> None:
    """Not with k = 1, on this line."""
    if opened(line, first, begin) < 2:
        line.layer.allow(RestartConfirmation())
        raise NotApplicable("a second I frame while the first is open")


def _ahead_of_t3(line: LineSide) -> bool:
    """Whether the poll comes before that of an idle link does (X.25 2.4.8.3), where the two can be
    told apart. Once in time is enough: a machine that is held up is late more than once."""
    begin, t1, t3 = line.cursor, line.profile.t1, EARLY_FROM * line.profile.t3
    if not names_given(line, ("t1", "t3")) or t3 < APART * t1:
        return True
    return line.wait_until(lambda: polled(line, begin), t3)


def _second_once(line: LineSide, second: int) -> None:
    """REJ F=1 asks for it, and a poll finds that it has come once, if T1 has not passed again."""
    begin, began = line.connection.received_octets, time.monotonic()
    line.send(LapbREJ(n_r=second, p_f=1))
    line.expect(LapbI(n_s=second))
    line.send(LapbRR(address=line.command_address, n_r=second, p_f=1))
    line.expect(*line.frames.answers(), passing=polls(line))
    given = names_given(line, ("t1",))
    if given and time.monotonic() - began < EARLY_FROM * line.profile.t1:
        line.expect_count(LapbI(n_s=second), 1, 1, start=begin, note="one REJ, one frame again")
    else:
        line.context.remark("how often an I frame came again was not judged, for want of time")
    respond(line, LapbRR, second + 1)


@purpose("LAPB-REC-24", each_line=True)
def test_part_acknowledgement_starts_t1(bench: Bench) -> None:
    """Amid T1 the first of two I frames is acknowledged, by a poll, whose answer shows that the
    router has taken that before T1 was over: none of its own comes before T1 has passed again."""
    line, restart = ready(bench)
    needs_given(line, "t1")
    t1, began, begin = line.profile.t1, time.monotonic(), line.cursor
    first = unacknowledged(line, restart, 2)
    needs_two_open(line, first, begin)
    line.skip()
    line.pause(AMID * t1 - (time.monotonic() - began))
    asked, sent = is_polled(line), time.monotonic()
    line.send(LapbRR(address=line.command_address, n_r=(first + 1) % 8, p_f=1))
    line.expect(*line.frames.answers(), passing=polls(line))
    in_time = time.monotonic() - began < EARLY_FROM * t1
    line.pause(sent + EARLY_FROM * t1 - time.monotonic())
    in_time = in_time and time.monotonic() - sent < (EARLY_FROM + EARLY) * t1
    came_early = polled(line, begin)
    line.layer.allow(RestartConfirmation())
    if not in_time:
        bench.remark("the tester or the router was held up: T1 was not judged")
    elif came_early and (asked or asks_by_itself(line, restart)):
        bench.remark("the router polls by itself: T1 was not judged")
    else:
        for poll in polls(line):
            line.expect_count(poll, 0, 0, start=begin, note="T1 begins anew")


def asks_by_itself(line: LineSide, restart: Packet) -> bool:
    """Whether it polls where nothing is left open."""
    respond(line, LapbRR, line.station.v_r)
    line.by_hand = False
    line.link_fence()
    return polls_by_itself(line, restart)


@purpose("LAPB-REC-14", each_line=True)
def test_two_frames_are_missing(bench: Bench) -> None:
    """REJ names the first of them, and a poll finds the router there; then the second."""
    line, restart = ready(bench)
    for missing in (2, 1):
        expected = line.station.v_s
        out_of_sequence(line, restart, missing)
        line.expect(LapbREJ(n_r=expected))
        line.send(LapbRR(address=line.command_address, p_f=1))
        line.expect(
            *line.frames.answers(n_r=expected), passing=line.frames.rejections(n_r=expected)
        )
        line.send(line.packet(restart))
        line.layer.expect(RestartConfirmation())
    line.send(line.packet(restart))
    line.layer.expect(RestartConfirmation())
    line.link_fence()


@purpose("LAPB-REC-23")
def test_calls_of_a_link_given_up(bench: Bench) -> None:
    """Not a word on the line any more, on each in turn: N2 polls and N2 SABMs in vain.

    The other end of the call hears of it while the line is still silent. How the link is given up,
    and whether its calls would outlive a reset that is answered, is not judged here.
    """
    bench.need(bench.two_sided, "a second side, where the call is cleared")
    given = [at for at in calls_lines(bench) if names_given(bench.lines[at], ("n2",))]
    bench.need(bool(given), "no line of the profile gives n2")
    for at in given:
        line, near, far = at_the_line(bench, bench.call(), at)
        line.skip()
        line.by_hand = True
        line.allow(*polls(line), LapbI(), *ENDING)
        may_be_reset(near, far)
        near.allow(Data())
        far.send_data(b"nobody takes it")
        # A router may end with N2 DISCs in vain as well (X.25 2.4.4.3, 2.4.8.4).
        attempts = (3 * line.profile.n2 + 2) * line.profile.t1_at_most
        far.expect(
            ClearIndication(cause=bench.network_clear),
            CLOSED,
            within=attempts + bench.reaction_limit,
            note=f"line.{at} is silent, and given up after N2 attempts",
        )
        far.send(ClearConfirmation())
        begin_again(line)


LOSS = 0.05
MESSAGES = 150
# Frames behind a lost one that come through: the repetition and its poll are among them, and N2 of
# a router may be no more than that.
SAFE = 8


@purpose("LAPB-REC-10")
def test_random_loss(bench: Bench) -> None:
    """Of both directions, by the run's seed: what the tester loses has been on the line, what it
    does not send has not."""
    call = bench.call(window=7)
    line = bench.lines["b" if "b" in bench.lines else "a"]
    needs_attempts(line)
    near, far = (call.b, call.a) if "b" in bench.lines else (call.a, call.b)
    lost = lose_frames(bench, line)
    for number in range(MESSAGES):
        there, back = f"there {number}".encode(), f"back {number}".encode()
        near.send_message(there)
        far.send_message(back)
        within = line.profile.n2 * line.profile.t1_at_most + bench.reaction_limit
        far.expect_message(there, within=within)
        near.expect_message(back, within=within)
    bench.remark(f"{lost[0]} frames of the router and {lost[1]} of the tester were lost")
    line.losses.end()


def needs_attempts(line: LineSide) -> None:
    """A poll that is lost ends no link: N2 of 3, as some count the first transmission too."""
    enough = line.profile.n2 >= 3
    line.context.need(enough, f"line.{line.name.lower()}: n2 of 3 or more (X.25 2.4.8.4)")


def lose_frames(bench: Bench, line: LineSide) -> list[int]:
    """From here on; how many of each direction, as they are counted."""
    lost, safe = [0, 0], [0]

    def is_lost(way: int) -> bool:
        hit = not safe[0] and bench.random.random() < LOSS
        safe[0] = SAFE if hit else max(0, safe[0] - 1)
        lost[way] += hit
        return hit

    line.losses.begin(lambda: is_lost(0), lambda: is_lost(1))
    return lost

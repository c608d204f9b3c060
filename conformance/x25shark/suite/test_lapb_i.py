# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: information transfer (X.25 2.4.5)."""

from __future__ import annotations

import time

from scapy_x25 import hdlc

from .language import (
    RR,
    Bench,
    Diagnostic,
    LapbDISC,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbUA,
    LineSide,
    Packet,
    Raw,
    RestartConfirmation,
    RestartRequest,
    one_of,
    purpose,
)
from .links import (
    ENDING,
    ENDS,
    at_the_line,
    begin_again,
    begins_anew,
    beyond_the_window,
    let_go,
    link_was_reset,
    opened,
    out_of_sequence,
    polled,
    ready,
    respond,
    unacknowledged,
)


@purpose("LAPB-I-01", each_line=True)
def test_acknowledged(bench: Bench) -> None:
    line, restart = ready(bench)
    line.send(line.packet(restart))
    line.acknowledged()
    line.layer.expect(RestartConfirmation())


@purpose("LAPB-I-02", each_line=True)
def test_n_s_counts(bench: Bench) -> None:
    line, restart = ready(bench)
    expected = line.station.v_r
    for number in range(50):
        line.send(line.packet(restart))
        line.expect(LapbI(n_s=(expected + number) % 8))
        line.layer.expect(RestartConfirmation())


@purpose("LAPB-I-03", each_line=True)
def test_at_most_k(bench: Bench) -> None:
    """Fewer are right too: k is the most that the router may have open."""
    line, restart = ready(bench)
    begin = line.cursor
    k = line.profile.k
    first = unacknowledged(line, restart, k + 3)
    line.expect_count(beyond_the_window(line, first), 0, 0, start=begin, note="more than k open")
    line.expect_count(LapbI(n_s=first), 1, start=begin)
    line.by_hand = False
    respond(line, LapbRR, line.station.v_r)
    line.layer.expect_count(RestartConfirmation(), k + 3, k + 3)
    line.by_hand = True
    link_was_reset(line)
    line.send(LapbSABM(p_f=1))
    # The station answers what the router may ask as soon as there is a link.
    line.by_hand = False
    line.expect(LapbUA(p_f=1))
    line.link.restart()
    begin = line.cursor
    first = unacknowledged(line, restart, k + 3)
    line.expect_count(beyond_the_window(line, first), 0, 0, start=begin, note="behind a link reset")


@purpose("LAPB-I-04", each_line=True)
def test_p_is_answered_at_once(bench: Bench) -> None:
    """Before the UA to the DISC that follows. RR says that the frame was taken; a router that is
    busy may drop it (X.25 2.4.5.8)."""
    line, restart = ready(bench)
    line.send(line.packet(restart, p_f=1), LapbDISC(p_f=1))
    address = line.command_address
    line.expect(
        LapbRR(address=address, p_f=1, n_r=line.station.v_s),
        LapbRNR(address=address, p_f=1),
        LapbREJ(address=address, p_f=1),
    )
    line.expect(LapbUA(p_f=1))
    line.layer.allow(RestartConfirmation())


@purpose("LAPB-I-05")
def test_n_r_in_i_frames_acknowledges(bench: Bench) -> None:
    """Longer than T1, with an I frame of the tester each tenth of it, and no RR."""
    line, restart = ready(bench)
    begin = line.cursor
    line.station.withholding = True
    line.never(LapbRR(address=line.response_address, p_f=1))
    demand = bench.expectations[-1]
    # The router cannot have waited longer for its acknowledgement: from the request that made it
    # send an I frame to its answer to what acknowledged that one.
    longest, asked, latest = 0.0, time.monotonic(), time.monotonic()
    for _ in range(15):
        asked, latest = latest, time.monotonic()
        line.send(line.packet(restart))
        line.layer.expect(RestartConfirmation())
        longest = max(longest, time.monotonic() - asked)
        line.pause(line.profile.t1 / 10)
    line.station.withholding = False
    line.send(LapbRR())
    line.link_fence()
    longest = max(longest, time.monotonic() - latest)
    demand.stop = line.cursor
    # A restart may be confirmed late, and what was acknowledged late came again.
    line.layer.allow(RestartConfirmation())
    if longest > 0.8 * line.profile.t1:
        bench.expectations.remove(demand)
        bench.remark("the tester was held up: T1 recovery was not judged")
    elif polled(line, begin) and polls_by_itself(line, restart):
        bench.expectations.remove(demand)
        bench.remark("the router polls by itself: T1 recovery was not judged")


def polls_by_itself(line: LineSide, restart: Packet) -> bool:
    """Whether it polls where every I frame is acknowledged at once: no clause forbids that."""
    begin = line.cursor
    for _ in range(15):
        line.send(line.packet(restart))
        line.layer.expect(RestartConfirmation())
        line.pause(line.profile.t1 / 10)
    return polled(line, begin)


@purpose("LAPB-I-06", each_line=True)
def test_longest_frame(bench: Bench) -> None:
    """Exactly N1: taken, and passed up, where it is a Restart Request that is too long."""
    line, restart = ready(bench)
    octets = line.octets_of(line.packet(restart)).ljust(line.profile.n1 // 8 - 2, b"\0")
    line.station.count_sent(octets)
    line.wire.send_whole([hdlc.with_fcs(octets)])
    line.acknowledged()
    line.layer.allow(Diagnostic(), RestartRequest(), RestartConfirmation())
    line.poll(n_r=line.station.v_s)


@purpose("LAPB-I-07", each_line=True)
def test_passed_up_once(bench: Bench) -> None:
    """Each N(S) once, so that V(R) wraps as well; with P=0, and with P=1, as a station sends it
    again at T1 (X.25 2.4.5.9)."""
    line, restart = ready(bench)
    for _ in range(8):
        number = line.station.v_s
        line.send(line.packet(restart))
        line.layer.expect(RestartConfirmation())
        taken = line.station.v_s
        line.poll(n_r=taken)
        line.wire.send_whole([line.frames.with_fcs(line.packet(restart, n_s=number))])
        line.allow(*line.frames.rejections(n_r=taken))
        rejections = line.frames.rejections(n_r=taken)
        line.send(LapbRR(address=line.command_address, p_f=1))
        line.expect(*line.frames.answers(n_r=taken), passing=rejections)
        line.wire.send_whole([line.frames.with_fcs(line.packet(restart, n_s=number, p_f=1))])
        line.expect(*line.frames.answers(n_r=taken), passing=rejections, note="again with P=1")


@purpose("LAPB-I-08", each_line=True)
def test_empty_i_frame(bench: Bench) -> None:
    line, _ = ready(bench)
    line.send(LapbI())
    line.acknowledged()
    line.layer.allow(Diagnostic(diagnostic=bench.diagnostic(38)))
    line.poll(n_r=line.station.v_s)


@purpose("LAPB-I-09", each_line=True)
def test_part_acknowledgements(bench: Bench) -> None:
    line, restart = ready(bench)
    k = line.profile.k
    begin = line.cursor
    first = unacknowledged(line, restart, k + 3)
    window = opened(line, first, begin)
    some = max(1, min(3, window // 2))
    part = (first + some) % 8
    line.skip()
    begin = line.cursor
    respond(line, LapbRR, part)
    for number in range(some):
        following = LapbI(n_s=(first + window + number) % 8)
        line.expect(following, passing=(LapbI(),), note="as many as were acknowledged")
    line.send(LapbRR(address=line.command_address, p_f=1, n_r=part))
    line.expect(*line.frames.answers())
    line.expect_count(beyond_the_window(line, part), 0, 0, start=begin, note="more than k open")
    line.by_hand = False
    respond(line, LapbRR, line.station.v_r)
    line.layer.expect_count(RestartConfirmation(), k + 3, k + 3)


@purpose("LAPB-I-10")
def test_full_windows_both_ways(bench: Bench) -> None:
    """10 000 frames each way: Data, its acknowledgements, and those of the link."""
    call = bench.call(window=7)
    for number in range(10_000 // 3 // 7 + 1):
        there = [f"there {number} {part}".encode() for part in range(7)]
        back = [f"back {number} {part}".encode() for part in range(7)]
        for one, other in zip(there, back, strict=True):
            call.a.send_data(one)
            call.b.send_data(other)
        for one, other in zip(there, back, strict=True):
            call.b.expect_message(one)
            call.a.expect_message(other)


@purpose("LAPB-I-11", each_line=True)
def test_k_at_the_wrap(bench: Bench) -> None:
    """With the oldest open frame at each N(S) once, from which the window reaches over the end."""
    line, restart = ready(bench)
    k = line.profile.k
    for number in range(8):
        while line.station.v_r != number:
            line.send(line.packet(restart))
            line.layer.expect(RestartConfirmation())
        line.link_fence()
        begin = line.connection.received_octets
        first = unacknowledged(line, restart, k + 1)
        line.expect_count(
            beyond_the_window(line, first), 0, 0, start=begin, note=f"k from N(S)={first}"
        )
        line.by_hand = False
        respond(line, LapbRR, line.station.v_r)
        line.layer.expect_count(RestartConfirmation(), k + 1, k + 1)
        line.link_fence()


@purpose("LAPB-I-12", each_line=True)
def test_f_1_that_answers_nothing(bench: Bench) -> None:
    """It is ignored, or the link is set up again; but it is not a poll (X.25 2.4.6.3)."""
    line, _ = ready(bench)
    line.link_fence()
    for kind in (LapbRR, LapbRNR, LapbREJ):
        begin = line.cursor
        line.send(kind(p_f=1), LapbRR())
        line.send(LapbRR(address=line.command_address, p_f=1))
        seen = begins_anew(line, *line.frames.answers())
        if isinstance(seen, ENDS):
            line.allow(*ENDING)
            begin_again(line)
            continue
        line.link_fence()
        for answer in line.frames.answers():
            line.expect_count(answer, 0, 2, start=begin, note="the answers to two polls")


@purpose("LAPB-I-13")
def test_last_of_several_is_acknowledged(bench: Bench) -> None:
    """RRs of a call, which nothing answers, up to k in one write: the N(R) of all of them comes
    without a poll."""
    call = bench.call()
    line, near, _ = at_the_line(bench, call)
    line.link_fence()
    line.by_hand = True
    for count in range(1, line.profile.k + 1):
        packet = near.octets_of(RR(p_r=near.numbering.p_r))
        line.send(*[LapbI() / Raw(packet)] * count)
        taken = line.station.v_s
        older = one_of(*((taken - behind) % 8 for behind in range(1, count + 1)))
        seen = line.expect(
            *(kind(n_r=taken, p_f=0) for kind in (LapbRR, LapbI)),
            *(LapbRNR(p_f=0), LapbREJ()),
            passing=tuple(kind(n_r=older, p_f=0) for kind in (LapbRR, LapbI)),
            note=f"{count} in one write",
        )
        if isinstance(seen, LapbRNR | LapbREJ):
            # What it drops while it is busy it asks for (X.25 2.4.5.8), if in its own time.
            bench.remark(f"the router is busy: {count} in one write were not judged")
            break
    let_go(line)
    call.fence()


@purpose("LAPB-I-14", each_line=True)
def test_i_frame_as_a_response(bench: Bench) -> None:
    """FRMR with W, a reset of the link, or nothing; the packet in it is not taken."""
    line, restart = ready(bench)
    line.link_fence()
    before = line.station.v_s
    line.by_hand = True
    out_of_sequence(line, restart, 0, address=line.response_address)
    line.send(LapbRR(address=line.command_address, p_f=1))
    begins_anew(line, *line.frames.answers(n_r=before), LapbFRMR(w=1))
    line.allow(LapbFRMR(w=1), *ENDING, *line.frames.answers(n_r=before))
    line.layer.allow(RestartRequest())

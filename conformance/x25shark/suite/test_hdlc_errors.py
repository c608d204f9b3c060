# SPDX-License-Identifier: GPL-2.0-or-later
"""HDLC: frame level, where errors and octets lie as they seldom do (X.25 2.2; ISO/IEC 13239)."""

from __future__ import annotations

import itertools

from scapy_x25 import hdlc

from .language import (
    Bench,
    LapbI,
    LapbREJ,
    LapbRR,
    LapbSABM,
    LapbUA,
    LineSide,
    Packet,
    RestartConfirmation,
    RestartRequest,
    Side,
    purpose,
)
from .links import at_the_line, calls_lines, one_open, polls, ready
from .test_hdlc import nothing_is_taken, wrong_fcs

# More than an abort (7) and an idle line (15), beyond what a count of three bits holds.
ONES = range(7, 24)
# What an FCS has to escape, or to break up by a 0.
UNUSUAL = (0x7E, 0x7D, 0x5E, 0xFF, 0xF8, 0x1F)
BETWEEN_OCTETS = 0.001
# With a first octet of the FCS that is wrong by this bit there are second ones for which the upper
# half of the register behind the frame is right, and others for which the lower half is.
ANOTHER = 4


@purpose("HDLC-20", each_line=True)
def test_wrong_fcs_of_every_kind(bench: Bench) -> None:
    """None at all, not inverted, its octets exchanged; and a wrong first octet with every second
    one."""
    line, restart = ready(bench)
    frame = line.frames.with_fcs(line.packet(restart))
    content, right = frame[:-2], frame[-2:]
    inverted = bytes(octet ^ 0xFF for octet in right)
    wrong = [b"\0\0", b"\xff\xff", inverted, inverted[::-1], right[::-1]]
    wrong += [bytes((right[0] ^ ANOTHER, second)) for second in range(256)]
    before = line.station.v_s
    line.wire.send_whole([content + fcs for fcs in wrong if fcs != right])
    nothing_is_taken(line, before)
    line.send(line.packet(restart))
    line.layer.expect(RestartConfirmation())


@purpose("HDLC-21")
def test_transparency_of_the_fcs(bench: Bench) -> None:
    """On each line: flag, escape and rows of 1s as either octet of the FCS."""
    for name in sorted(bench.lines):
        line = bench.line(name)
        line.link.bring_up()
        for place in (-2, -1):
            for octet in UNUSUAL:
                line.send(with_octet_in_fcs(line, place, octet))
                line.layer.expect(RestartConfirmation())


def with_octet_in_fcs(line: LineSide, place: int, octet: int) -> Packet:
    """A Restart Request whose FCS has this octet at a place, by its cause and diagnostic."""
    causes = (0x07, 0x01, 0x03) if line.station.parameters.dce else (0, *range(0x80, 0x84))
    frames = (
        line.packet(RestartRequest(cause=cause, diagnostic=code))
        for cause in causes
        for code in range(256)
    )
    likely = line.packet(RestartRequest(cause=causes[0]))
    return next((frame for frame in frames if line.frames.with_fcs(frame)[place] == octet), likely)


@purpose("HDLC-22")
def test_octet_by_octet(bench: Bench) -> None:
    """However the octets of a line come: each in a write of its own."""
    for name in sorted(bench.lines):
        line = bench.line(name)
        line.link.bring_up()
        for octet in UNUSUAL[:3]:
            frame = line.octets_of(with_octet_in_fcs(line, -1, octet))
            line.station.count_sent(frame)
            for piece in line.line.framed(hdlc.with_fcs(frame)):
                line.wire.send(bytes((piece,)))
                line.pause(BETWEEN_OCTETS)
            line.layer.expect(RestartConfirmation())


@purpose("HDLC-23")
def test_ones_are_no_flag(bench: Bench) -> None:
    """A row of 1s, however long, and a 0 open no frame."""
    line = bench.line(framing="bit")
    line.link.bring_down()
    for ones in ONES:
        line.wire.send_behind_ones(ones, line.frames.with_fcs(LapbSABM(p_f=1)))
    line.no_reaction(LapbUA())


@purpose("HDLC-24", each_line=True)
def test_bad_frames_leave_the_link_alone(bench: Bench) -> None:
    """Runts with a right FCS too, many of one kind in a row; then the next I frame is taken."""
    line, restart = ready(bench)
    whole = line.frames.with_fcs(line.packet(restart))
    other = hdlc.with_fcs(b"\x05" + whole[1:-2])
    runts = (whole[:1], whole[:2], whole[:3], hdlc.with_fcs(b""), hdlc.with_fcs(whole[:1]))
    before = line.station.v_s
    for bad in (*runts, other, wrong_fcs(whole)):
        line.wire.send_whole([bad] * 5)
        line.poll(n_r=before, note="the link is as it was")
    nothing_is_taken(line, before)
    line.send(line.packet(restart))
    line.layer.expect(RestartConfirmation())


@purpose("HDLC-25", each_line=True)
def test_n_r_of_bad_frames(bench: Bench) -> None:
    """RR, REJ and I frames with a wrong FCS, or an address that is neither A nor B, whose N(R)
    would acknowledge an I frame that is open: the poll behind them names it as still open.

    A router that had used it would find the N(R) of the poll invalid.
    """
    line, restart = ready(bench)
    first = one_open(line, restart)
    line.layer.allow(RestartConfirmation())
    later = (first + 1) % 8
    for frame in (LapbRR(n_r=later), LapbREJ(n_r=later), line.packet(restart, n_r=later)):
        whole = line.frames.with_fcs(frame)
        line.wire.send_whole([wrong_fcs(whole), hdlc.with_fcs(b"\x05" + whole[1:-2])])
        line.send(LapbRR(address=line.command_address, p_f=1, n_r=first))
        line.expect(*line.frames.answers(), passing=(*polls(line), LapbI(n_s=first)))


@purpose("HDLC-26")
def test_transparency_of_the_routers_fcs(bench: Bench) -> None:
    """Data of a call whose frames have each of these as either octet of their FCS.

    A router that has not acknowledged all yet, here or in the frame, sends them with another FCS.
    """
    for at in calls_lines(bench):
        line, near, far = at_the_line(bench, bench.place_call(), at)
        for place, octet in itertools.product((-2, -1), UNUSUAL):
            far.wait_for_window()
            line.link_fence()
            message = data_with_octet_in_fcs(line, near, place, octet)
            far.send_message(message)
            near.expect_message(message)
    bench.fence()


def data_with_octet_in_fcs(line: LineSide, near: Side, place: int, octet: int) -> bytes:
    """User data for which the next I frame of the router has this octet at a place of its FCS."""
    numbers, station = near.numbering, line.station
    packet = near.octets_of(near.data(b"", p_s=numbers.p_r, p_r=numbers.next_p_s))
    control = station.v_s << 5 | station.v_r << 1
    start = bytes((line.response_address, control)) + packet
    tails = (bytes((first, second)) for first in range(4) for second in range(256))
    return next(
        (tail for tail in tails if hdlc.with_fcs(start + tail)[place] == octet), b"as usual"
    )

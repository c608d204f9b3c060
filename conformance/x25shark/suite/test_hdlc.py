# SPDX-License-Identifier: GPL-2.0-or-later
"""HDLC: frame level on a serial line (X.25 2.2; ISO/IEC 13239)."""

from __future__ import annotations

from scapy_x25 import hdlc

from .language import (
    Bench,
    InvalidFrame,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRR,
    LapbSABM,
    LapbUA,
    LineSide,
    RestartConfirmation,
    RestartRequest,
    Watch,
    between,
    purpose,
)

ANY_ADDRESS = between(0, 255)


def wrong_fcs(frame: bytes) -> bytes:
    """The frame with the lowest bit of its FCS inverted."""
    return frame[:-2] + bytes([frame[-2] ^ 1]) + frame[-1:]


@purpose("HDLC-01")
def test_good_frame(bench: Bench) -> None:
    line = bench.line()
    line.send(LapbSABM(p_f=1))
    line.expect(LapbUA(p_f=1))


@purpose("HDLC-02")
def test_fcs_of_the_router(watch: Watch) -> None:
    watch.never(InvalidFrame())


@purpose("HDLC-03")
def test_wrong_fcs(bench: Bench) -> None:
    line = bench.line()
    line.bring_down()
    line.send_whole([wrong_fcs(line.frame_of(LapbSABM(p_f=1)))])
    line.no_reaction(LapbUA())


@purpose("HDLC-04")
def test_every_single_bit_error(bench: Bench) -> None:
    """A Restart Request in an I frame of eight octets: passed up it would be confirmed."""
    line = bench.line()
    line.bring_up()
    restart = line.packet(RestartRequest(cause=line.restart_cause))
    frame = line.frame_of(restart)
    before = line.station.v_s
    for bit in range(8 * len(frame)):
        changed = bytearray(frame)
        changed[bit // 8] ^= 1 << bit % 8
        line.send_whole([bytes(changed)])
    taken = (before + 1) % 8
    line.no_reaction(LapbRR(n_r=taken), LapbI(n_r=taken), LapbREJ(), LapbFRMR(), n_r=before)
    line.send(restart)
    line.layer.expect(RestartConfirmation())
    line.poll(n_r=taken)


@purpose("HDLC-05")
def test_runts(bench: Bench) -> None:
    line = bench.line()
    line.bring_down()
    whole = line.frame_of(LapbSABM(p_f=1))
    for octets in (1, 2, 3):
        line.send_whole([whole[:octets]])
    # Three octets that have a right FCS all the same.
    line.send_whole([hdlc.with_fcs(whole[:1])])
    line.no_reaction(LapbUA())


@purpose("HDLC-06")
def test_aborted_frame(bench: Bench) -> None:
    line = bench.line()
    line.bring_down()
    line.send_aborted(line.frame_of(LapbSABM(p_f=1))[:2])
    line.send(LapbDISC(p_f=1))
    line.expect_at_once(LapbDM(p_f=1))
    # Whole but for its closing flag.
    line.send_aborted(line.frame_of(LapbSABM(p_f=1)))
    line.send(LapbDISC(p_f=1))
    line.expect_at_once(LapbDM(p_f=1))


@purpose("HDLC-07")
def test_shared_flag(bench: Bench) -> None:
    line = bench.line()
    line.bring_down()
    frames = [line.frame_of(LapbSABM(p_f=1)), line.frame_of(LapbDISC(p_f=1))]
    line.send_whole(frames, shared_flags=True)
    line.expect_at_once(LapbUA(p_f=1))
    line.expect(LapbUA(p_f=1))


@purpose("HDLC-08")
def test_any_number_of_flags(bench: Bench) -> None:
    line = bench.line()
    line.bring_down()
    for flags in (1, 2, 50):
        line.send_flags(flags)
        line.send(LapbDISC(p_f=1))
        line.expect_at_once(LapbDM(p_f=1))


@purpose("HDLC-09")
def test_transparency(bench: Bench) -> None:
    """Runs of flags, escapes and ones, and every octet, both ways through the router."""
    for line in bench.lines.values():
        line.bring_up(judged=True)
    call = bench.place_call()
    patterns = (
        b"\x7e" * 40,
        b"\x7d" * 40,
        b"\xff" * 64,
        b"\x7d\x5e\x7e\x7d\x5d" * 8,
        b"\x1f\xf8\xf0\x0f" * 16,
        bytes(range(128)),
        bytes(range(128, 256)),
    )
    for pattern in patterns:
        call.a.send_message(pattern)
        call.b.expect_message(pattern)
        call.b.send_message(pattern)
        call.a.expect_message(pattern)


@purpose("HDLC-10")
def test_no_whole_octets(bench: Bench) -> None:
    line = bench.line(framing="bit")
    line.bring_down()
    line.send_part(line.frame_of(LapbSABM(p_f=1)) + b"\x05", 3)
    line.no_reaction(LapbUA())


@purpose("HDLC-11")
def test_unknown_address(bench: Bench) -> None:
    line = bench.line()
    line.bring_down()
    for address in (0x00, 0x05, 0x07, 0x0F, 0xFF):
        line.send(LapbSABM(address=address, p_f=1))
    line.no_reaction(LapbUA(address=ANY_ADDRESS))


@purpose("HDLC-12")
def test_giants(bench: Bench) -> None:
    """An I frame with a Restart Request that is too long in every respect."""
    line = bench.line()
    for octets in (line.profile.n1 // 8 + 1, line.profile.n1 // 4):
        line.bring_up()
        restart = bytes(RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits))
        before = line.station.v_s
        line.send_whole([giant(line, restart, octets)])
        taken = (before + 1) % 8
        line.never(LapbRR(n_r=taken), LapbI(n_r=taken))
        demand = bench.expectations[-1]
        line.send(LapbRR(address=line.command_address, p_f=1))
        seen = line.expect(
            LapbRR(p_f=1, n_r=before), LapbFRMR(y=1), passing=(LapbI(), LapbRR(p_f=0))
        )
        demand.stop = line.cursor
        if isinstance(seen, LapbFRMR):
            line.allow(LapbFRMR())
            line.station.by_hand = False
            line.bring_down()


def giant(line: LineSide, packet: bytes, octets: int) -> bytes:
    """An I frame of so many octets with FCS, in sequence but for its length."""
    frame = line.octets_of(LapbI()) + packet
    return hdlc.with_fcs(frame.ljust(octets - 2, b"\0"))


@purpose("HDLC-13")
def test_back_to_back(bench: Bench) -> None:
    """As many as a window takes with shared flags in one write, then the rest of eight."""
    line = bench.line()
    line.bring_up()
    restart = RestartRequest(cause=line.restart_cause)
    k = line.profile.k
    for count in (k, 8 - k):
        frames = []
        for _ in range(count):
            octets = line.octets_of(line.packet(restart))
            line.station.count_sent(octets)
            frames.append(hdlc.with_fcs(octets))
        line.send_whole(frames, shared_flags=True)
        line.layer.expect_count(RestartConfirmation(), count, count)
        line.poll(n_r=line.station.v_s)


@purpose("HDLC-14")
def test_idle_line(bench: Bench) -> None:
    """Continuous ones for T3: the link may be kept or given up, and comes back by SABM."""
    line = bench.line(framing="bit")
    line.bring_up()
    line.allow(LapbRR(), LapbSABM(), LapbDISC(), LapbDM(), LapbUA())
    bench.remark(f"idle for {1.2 * line.profile.t3:g} s")
    for _ in range(12):
        line.send_idle(20)
        line.wait_until(lambda: False, line.profile.t3 / 10)
    line.station.set_up()
    line.expect(LapbUA(p_f=1), passing=(LapbRR(), LapbSABM(), LapbDISC(), LapbDM(), LapbI()))
    # What the new link brings: the restart of the router.
    line.layer.allow(RestartRequest())
    line.link_fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""HDLC: frame level on a serial line (X.25 2.2; ISO/IEC 13239)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

from scapy_x25 import hdlc
from scapy_x25.lapb import ADDRESS_A, ADDRESS_B

from ..sides.line import NOT_READY_SECONDS
from ..sides.side import AbsentSide
from .counting import counting, measure_age, measure_age_beforehand
from .language import (
    ASKING_FOR_A_LINK,
    NO_LINK,
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
    RestartConfirmation,
    RestartRequest,
    Side,
    Watch,
    between,
    frame_of,
    purpose,
)
from .links import ENDING, ENDS, begin_again, came, poll_is_answered, taken
from .occasion import amid

# Bits of the longest frame that anybody keeps.
ANY_LENGTH = 8 * hdlc.LONGEST
ANY_ADDRESS = between(0, 255)
# Those that differ from A or B in one bit, and some that mean something elsewhere.
OTHERS = {one ^ 1 << bit for one in (ADDRESS_A, ADDRESS_B) for bit in range(8)} | {0x0F, 0xFF}
# Octets above N1; a slow line takes seconds for them (bit/s).
FAR_TOO_LONG, SLOW = 5000, 9600


def each_line(bench: Bench) -> Iterator[LineSide]:
    """All serial lines, one after the other: they may differ in framing and in role."""
    for name in sorted(bench.lines):
        yield bench.line(name)


def wrong_fcs(frame: bytes) -> bytes:
    """The frame with the lowest bit of its FCS inverted."""
    return frame[:-2] + bytes([frame[-2] ^ 1]) + frame[-1:]


@purpose("HDLC-01")
def test_good_frame(bench: Bench) -> None:
    for line in each_line(bench):
        line.allow(*ASKING_FOR_A_LINK)
        taken(line)


@purpose("HDLC-02")
def test_fcs_of_the_router(watch: Watch) -> None:
    watch.never(*(frame_of(kind, ANY_LENGTH) for kind in ("bad_fcs", "runt", "unaligned")))


@purpose("HDLC-03")
def test_wrong_fcs(bench: Bench) -> None:
    for line in each_line(bench):
        line.link.bring_down()
        line.wire.send_whole([wrong_fcs(line.frames.with_fcs(LapbSABM(p_f=1)))])
        line.no_reaction(LapbUA())


@purpose("HDLC-04", each_line=True)
def test_every_single_bit_error(bench: Bench) -> None:
    """A Restart Request in an I frame of eight octets: passed up it would be confirmed."""
    line = bench.line()
    line.link.bring_up()
    restart = line.packet(RestartRequest(cause=line.restart_cause))
    frame = line.frames.with_fcs(restart)
    before = line.station.v_s
    for bit in range(8 * len(frame)):
        changed = bytearray(frame)
        changed[bit // 8] ^= 1 << bit % 8
        line.wire.send_whole([bytes(changed)])
    nothing_is_taken(line, before)
    line.send(restart)
    line.layer.expect(RestartConfirmation())
    line.poll(n_r=(before + 1) % 8)


def nothing_is_taken(line: LineSide, before: int) -> None:
    """The bad frames with this N(S) are neither acknowledged nor rejected, nor asked for again."""
    taken = (before + 1) % 8
    acknowledgements = (kind(n_r=taken) for kind in (LapbRR, LapbRNR, LapbI))
    line.no_reaction(*acknowledgements, LapbREJ(), LapbFRMR(), n_r=before)


@purpose("HDLC-05")
def test_runts(bench: Bench) -> None:
    for line in each_line(bench):
        line.link.bring_down()
        whole = line.frames.with_fcs(LapbSABM(p_f=1))
        for octets in (1, 2, 3):
            line.wire.send_whole([whole[:octets]])
        # Three octets that have a right FCS all the same.
        line.wire.send_whole([hdlc.with_fcs(whole[:1])])
        line.no_reaction(LapbUA())


@purpose("HDLC-06")
def test_aborted_frame(bench: Bench) -> None:
    """On each line, where it begins and when it is whole but for its closing flag: then some whose
    FCS ends with a 1, and some with a 0, so that the abort alone says that they do not count.

    A station that sets the link up answers SABM and DISC only.
    """
    for line in each_line(bench):
        line.link.bring_down()
        with errors_counted(bench, line, "aborts"):
            line.wire.send_aborted(line.frames.with_fcs(LapbSABM(p_f=1))[:2])
            ended_at_once(line)
            asks = (LapbRR(address=line.command_address, n_r=n_r, p_f=1) for n_r in range(8))
            modes = (kind(p_f=p_f) for kind in (LapbSABM, LapbDISC) for p_f in (1, 0))
            for frame in (*modes, *asks):
                line.wire.send_aborted(line.frames.with_fcs(frame))
            # One answer to one good DISC: each further one is that of a frame that was aborted.
            ended_at_once(line)


@purpose("HDLC-07")
def test_shared_flag(bench: Bench) -> None:
    for line in each_line(bench):
        bench.need(not line.profile.whole_frames, "a line that carries flags")
        line.link.bring_down()
        frames = [line.frames.with_fcs(LapbSABM(p_f=1)), line.frames.with_fcs(LapbDISC(p_f=1))]
        until = time.monotonic() + NOT_READY_SECONDS
        while True:
            # It may not be ready yet for a new link, and refuse it (X.25 2.4.4.1).
            refused = (LapbDM(p_f=1),) if time.monotonic() < until else ()
            line.wire.send_whole(frames, shared_flags=True)
            seen = line.expect_at_once(LapbUA(p_f=1), *refused, passing=ASKING_FOR_A_LINK)
            if isinstance(seen, LapbUA):
                break
            line.expect(*NO_LINK, note="DISC, which was refused with it")
            line.pause(NOT_READY_SECONDS / 10)
        line.expect(LapbUA(p_f=1))


@purpose("HDLC-08")
def test_any_number_of_flags(bench: Bench) -> None:
    for line in each_line(bench):
        line.link.bring_down()
        for flags in (1, 2, 50, 1000):
            line.wire.send_flags(flags)
            with amid(bench, f"behind {flags} more flags between two frames"):
                ended_at_once(line)


def ended_at_once(line: LineSide) -> None:
    """DISC without a link is answered; nothing else was answered before it."""
    line.send(LapbDISC(p_f=1))
    line.expect_at_once(*NO_LINK, passing=ASKING_FOR_A_LINK)


@purpose("HDLC-09")
def test_transparency(bench: Bench) -> None:
    """Runs of flags, escapes and ones, as long as a packet may be, and every octet, both ways
    through the router."""
    for line in bench.lines.values():
        line.link.bring_up(judged=True)
    call = bench.place_call(options={"size": bench.profile.limits.packet_size})
    longest = min(call.a.packet_size, call.b.packet_size)
    patterns = (
        *(run * length for run in (b"\x7e", b"\x7d", b"\xff") for length in {128, longest}),
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
    """From one bit behind a whole frame to seven; then the same, and behind each a good frame that
    begins with the flag that ends it (X.25 2.2.2)."""
    measure_age_beforehand(bench)
    line = bench.line(framing="bit")
    line.link.bring_down()
    part = line.frames.with_fcs(LapbSABM(p_f=1)) + b"\x55"
    with errors_counted(bench, line, "unaligned", "errors_in"):
        for bits in range(1, 8):
            line.wire.send_part(part, bits)
        line.no_reaction(LapbUA())
    for bits in range(1, 8):
        line.skip()
        line.wire.send_part(part, bits, line.frames.with_fcs(LapbDISC(p_f=1)))
        line.expect_at_once(*NO_LINK, passing=ASKING_FOR_A_LINK, note="it shares a flag")


@purpose("HDLC-11")
def test_unknown_address(bench: Bench) -> None:
    for line in each_line(bench):
        line.link.bring_down()
        content = line.octets_of(LapbSABM(p_f=1))[1:]
        others = sorted(OTHERS - {ADDRESS_A, ADDRESS_B})
        frames = [hdlc.with_fcs(bytes((address,)) + content) for address in others]
        line.wire.send_whole(frames)
        line.no_reaction(LapbUA(address=ANY_ADDRESS))


@purpose("HDLC-12", each_line=True)
def test_giants(bench: Bench) -> None:
    """An I frame with a Restart Request that is too long in every respect; the last of them is
    longer than any that a router has room for, and the good frame behind it is taken."""
    line = bench.line()
    longest = line.profile.n1 // 8
    for octets in (longest + 1, 2 * longest, longest + FAR_TOO_LONG):
        line.link.bring_up()
        restart = bytes(RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits))
        before = line.station.v_s
        line.wire.send_whole([giant(line, restart, octets)])
        taken = (before + 1) % 8
        line.never(LapbRR(n_r=taken), LapbRNR(n_r=taken), LapbI(n_r=taken))
        demand = bench.expectations[-1]
        line.send(LapbRR(address=line.command_address, p_f=1))
        # A station may also reset the link at once, which X.25 2.4.7.2 leaves it at any time.
        seen = line.expect(
            *line.frames.answers(n_r=before),
            *(LapbFRMR(y=1), LapbSABM(), LapbDISC(p_f=1), LapbDM(p_f=0)),
            within=bench.reaction_limit + 8 * octets / SLOW,
        )
        demand.stop = line.cursor
        poll_is_answered(line, seen)
        if isinstance(seen, (LapbFRMR, *ENDS)):
            line.allow(LapbFRMR(), *ENDING)
            line.layer.allow(RestartRequest())
            line.by_hand = False
            line.link.bring_down()


def giant(line: LineSide, packet: bytes, octets: int) -> bytes:
    """An I frame of so many octets with FCS, in sequence but for its length."""
    frame = line.octets_of(LapbI()) + packet
    return hdlc.with_fcs(frame.ljust(octets - 2, b"\0"))


@purpose("HDLC-13")
def test_back_to_back(bench: Bench) -> None:
    """As many as a window takes with shared flags in one write, then the rest of eight likewise."""
    for line in each_line(bench):
        line.link.bring_up()
        restart = RestartRequest(cause=line.restart_cause)
        k = line.profile.k
        for count in (min(k, 8 - sent) for sent in range(0, 8, k)):
            frames = []
            for _ in range(count):
                octets = line.octets_of(line.packet(restart))
                line.station.count_sent(octets)
                frames.append(hdlc.with_fcs(octets))
            line.wire.send_whole(frames, shared_flags=True)
            line.layer.expect_count(RestartConfirmation(), count, count)
            line.link_fence()


@purpose("HDLC-14")
def test_idle_line(bench: Bench) -> None:
    """Continuous ones for T3: the link may be kept or given up, and comes back by SABM."""
    line = bench.line(framing="bit")
    line.link.bring_up()
    line.allow(LapbRR(), LapbSABM(), LapbDISC(), LapbDM(), LapbUA())
    bench.remark(f"idle for {1.2 * line.profile.t3:g} s")
    for _ in range(12):
        line.wire.send_idle(20)
        line.pause(line.profile.t3 / 10)
    taken(line, passing=(LapbRR(), *ASKING_FOR_A_LINK))
    # What the new link brings: the restart of the router.
    line.layer.allow(RestartRequest())
    line.link_fence()


# Kinds of frames, and how often each is among them.
MIXTURE = {
    "good": 10,
    "bad_fcs": 2,
    "runt": 2,
    "giant": 1,
    "aborted": 2,
    "unknown_address": 2,
}
ERRORS = ("bad_fcs", "runts", "giants", "aborts", "unknown_addresses", "errors_in", "frames_in")
FRAMES = 1000


@purpose("HDLC-17")
def test_mixed_frames(bench: Bench) -> None:
    """1 000 frames by the run's seed. A bad one is a Data packet in sequence but for its error."""
    bench.need(bench.two_sided, "a second side, where the good frames arrive")
    # How old the page may be has to be known first: it may lack the errors of the case before.
    measure_age(bench)
    at = "a" if "a" in bench.lines else "b"
    mixture = {kind: part for kind, part in MIXTURE.items() if kind != "giant"}
    with bench.preamble():
        if rejects_giants(bench.lines[at]):
            bench.remark("the router rejects giants, which resets the link: without them")
        else:
            mixture = MIXTURE
        call = bench.place_call(options={"window": 7})
    line = bench.lines[at]
    near, far = (call.a, call.b) if at == "a" else (call.b, call.a)
    assert isinstance(near, Side)
    kinds = bench.random.choices(list(mixture), list(mixture.values()), k=FRAMES)
    with errors_counted(bench, line, *ERRORS):
        under_way: list[bytes] = []
        for number, kind in enumerate(kinds):
            octets = f"frame {number}, {kind}: ".encode() + bench.random.randbytes(40)
            if kind == "good":
                near.send_data(octets)
                under_way.append(octets)
            else:
                send_bad(line, kind, near.octets_of(near.data(octets)))
            if len(under_way) == near.window:
                take(far, under_way)
        take(far, under_way)
    call.fence()
    bench.remark(", ".join(f"{kinds.count(kind)} {kind}" for kind in mixture))


def rejects_giants(line: LineSide) -> bool:
    """Whether a frame above N1 brings FRMR or SABM, and not only silence (X.25 2.4.6.1, 2.4.7)."""
    line.link.bring_up()
    begin = line.connection.received_octets
    restart = RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)
    line.wire.send_whole([giant(line, bytes(restart), line.profile.n1 // 8 + 1)])
    line.send(LapbRR(address=line.command_address, p_f=1))
    rejection = (LapbFRMR(), *ENDING)
    answers = (*line.frames.answers(), *rejection)
    line.wait_until(lambda: came(line, begin, answers))
    rejects = came(line, begin, rejection)
    if rejects:
        line.allow(*ENDING)
        begin_again(line)
    return rejects


def take(far: Side | AbsentSide, under_way: list[bytes]) -> None:
    """What was sent in good frames arrives, and nothing else."""
    for octets in under_way:
        far.expect_message(octets)
    under_way.clear()


def send_bad(line: LineSide, kind: str, packet: bytes) -> None:
    """An I frame with the next N(S) that has an error of this kind."""
    content = line.octets_of(LapbI()) + packet
    whole = hdlc.with_fcs(content)
    if kind == "aborted":
        line.wire.send_aborted(whole[: len(whole) // 2])
    elif kind == "runt":
        line.wire.send_whole([whole[: line.context.random.randint(1, 3)]])
    elif kind == "giant":
        longest = line.profile.n1 // 8
        line.wire.send_whole([giant(line, packet, longest + line.context.random.randint(1, 200))])
    elif kind == "unknown_address":
        line.wire.send_whole([hdlc.with_fcs(b"\x05" + content[1:])])
    else:
        line.wire.send_whole([wrong_fcs(whole)])


def errors_counted(bench: Bench, line: LineSide, *names: str) -> AbstractContextManager[None]:
    """Each of these counters moves by what the capture shows, where the router can be asked."""
    if bench.profile.counters is None:
        return nullcontext()
    return counting(bench, *names, on=line.name.lower())


@purpose("HDLC-18")
def test_frame_right_behind_an_abort(bench: Bench) -> None:
    """One flag is between the two: of an octet-stuffed line it ends the abort, too; of another one
    its first bit ends the 1s, seven, eight or so many that the line was idle."""
    for line in each_line(bench):
        line.link.bring_down()
        begun = line.frames.with_fcs(LapbSABM(p_f=1))[:2]
        whole = line.frames.with_fcs(LapbDISC(p_f=1))
        for ones in (7, 8, 15):
            line.wire.send_aborted(begun, whole, ones)
            line.expect_at_once(*NO_LINK, passing=ASKING_FOR_A_LINK)


@purpose("HDLC-19")
def test_any_octet_may_be_escaped(bench: Bench) -> None:
    """But for the two that would then be an escape or a flag."""
    line = bench.line(framing="octet")
    line.link.bring_up()
    restart = line.packet(RestartRequest(cause=line.restart_cause, diagnostic=0))
    for _ in range(8):
        octets = line.octets_of(restart)
        line.station.count_sent(octets)
        escaped = b"".join(map(escape, hdlc.with_fcs(octets)))
        line.wire.send(b"\x7e" + escaped + b"\x7e")
        line.layer.expect(RestartConfirmation())


def escape(octet: int) -> bytes:
    """Behind a control escape, unless that would make it one, or a flag."""
    changed = octet ^ 0x20
    return bytes((octet,)) if changed in (0x7D, 0x7E) else bytes((0x7D, changed))

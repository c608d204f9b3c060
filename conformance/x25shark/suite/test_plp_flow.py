# SPDX-License-Identifier: GPL-2.0-or-later
"""Flow control (X.25 4.4.1; RFC 1613 6.2)."""

from itertools import pairwise, product

from scapy_x25 import RNR128
from scapy_x25.x25 import RECEIVE_NOT_READY, RECEIVE_READY

from ..judges.template import matches
from ..sides.numbering import DATA, kind_of
from ..sides.side import AbsentSide, receive_not_ready, receive_ready
from .calls import modes, moduli, seen_alike
from .clearing import AnySide, end
from .language import (
    REJ,
    REJ128,
    RNR,
    RR,
    RR128,
    Bench,
    Call,
    Data,
    Interrupt,
    InterruptConfirmation,
    Packet,
    Raw,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    one_of,
    purpose,
)
from .occasion import amid
from .procedure_errors import expect_refusal, far_end_is_reset_first
from .reactions import UNDEFINED, both, header, lengths_above
from .transfer import (
    fence_past_window,
    nothing_more_at_b,
    past_six_bits,
    send_as_allowed,
)
from .windows import Unacknowledged, fill_window, may_send

# X.25 leaves it to the network how much it stores; more than this is not flow control.
MOST_STORED = 1 << 20
MOST_SENT = 1024


def hold_at_b(call: Call, window: int) -> Unacknowledged:
    """B acknowledges nothing: it gets as many packets as its window holds, and no more.

    A sends what it may. Returns what A has sent.
    """
    a, b = call.a, call.b
    assert isinstance(b, Side)
    b.withholding = True
    waiting = [f"packet {number}".encode() for number in range(3 * window)]
    held = fill_window(a, b, waiting[:window])
    del waiting[: len(held.sent)]
    # A router with windows of its own may open A's window again.
    fence_past_window(call, held.passing)
    further = waiting[:]
    held.sent += further[: send_as_allowed(a, waiting)]
    nothing_more_at_b(call, f"window {window}, and nothing acknowledged", held.due)
    return held


def release(call: Call, held: Unacknowledged) -> None:
    """B acknowledges, and gets what is still missing."""
    call.b.withholding = False
    call.b.acknowledge()
    held.take_rest()
    call.fence()


@purpose("PLP-FLOW-01")
def test_window_of_b_is_never_exceeded(bench: Bench) -> None:
    for window in range(1, 8):
        call = bench.call(window=window)
        assert isinstance(call.b, Side)
        release(call, hold_at_b(call, call.b.window_in))


@purpose("PLP-FLOW-02", both_sides=True)
def test_part_acknowledgement_rotates_the_window(call: Call) -> None:
    """One of two is acknowledged, so that exactly one more may come."""
    a, b = call.a, call.b
    assert isinstance(b, Side)
    held = hold_at_b(call, b.window_in)
    below = held.due
    b.acknowledge(1)
    if held.came == len(held.sent):
        if call.model == "local" and not may_send(a, call.bench.reaction_limit):
            call.bench.remark("A gets P(R) for a whole window at a time")
            release(call, held)
            return
        a.wait_for_window()
        held.send_one_more(a, b"one more")
    b.expect(Data(user_data=held.sent[held.came]))
    nothing_more_at_b(call, "one was acknowledged, one has come", below)
    release(call, held)


@purpose("PLP-FLOW-04", both_sides=True)
def test_rnr_is_advice(call: Call) -> None:
    """One RNR, and then three of them; one RR ends it."""
    a, b = both(call)
    for times in (1, 3):
        b.send(*(RNR(p_r=b.numbering.p_r) for _ in range(times)))
        # When this has come the router knows of them.
        b.send_data(b"not ready")
        a.expect(Data(user_data=b"not ready"))
        a.send(a.data(b"held or not"), Interrupt(user_data=b"now"))
        came = b.expect(Interrupt(user_data=b"now"), Data(user_data=b"held or not"))
        held = isinstance(came, Interrupt)
        if not held:
            b.expect(Interrupt(user_data=b"now"))
        b.send(InterruptConfirmation())
        a.expect(InterruptConfirmation())
        b.acknowledge()
        if held:
            b.expect(Data(user_data=b"held or not"))
        call.fence()


@purpose("PLP-FLOW-05", both_sides=True)
def test_rnr_does_not_stop_the_other_direction(call: Call) -> None:
    call.b.send(RNR(p_r=0))
    for number in range(4):
        call.b.send_data(bytes([number]))
        call.a.expect(Data(user_data=bytes([number])))
    call.b.acknowledge()
    call.fence()


@purpose("PLP-FLOW-06", both_sides=True)
def test_invalid_p_r_in_rr(call: Call) -> None:
    call.a.send(RR(p_r=5))
    expect_refusal(call, RR(p_r=5), 2)


@purpose("PLP-FLOW-07", both_sides=True)
def test_invalid_p_r_in_rnr(call: Call) -> None:
    call.a.send(RNR(p_r=5))
    expect_refusal(call, RNR(p_r=5), 2)


@purpose("PLP-FLOW-08", both_sides=True)
def test_unchanged_p_r_is_legal(call: Call) -> None:
    call.fence()
    call.a.send(*(RR(p_r=call.a.numbering.p_r) for _ in range(10)))
    call.a.send_data(b"after them")
    call.b.expect(Data(user_data=b"after them"))
    call.b.send_data(b"after them")
    call.a.expect(Data(user_data=b"after them"))
    call.fence()


@purpose("PLP-FLOW-09", both_sides=True, window=7)
def test_p_r_that_runs_back(call: Call) -> None:
    silent = call.bench.far_end.without_echo
    call.bench.need(not silent, "no Data comes that A could acknowledge (addresses.echo)")
    a = call.a
    a.withholding = True
    source = call.b if isinstance(call.b, Side) else a
    parts = [bytes([number]) for number in range(min(4, source.window, a.window_in))]
    filled = fill_window(source, a, parts)
    a.withholding = False
    # A router that keeps below the window sends more as soon as it may.
    right, back = RR(p_r=filled.came), RR(p_r=filled.came // 2)
    a.send(right, back)
    expect_refusal(call, back, 2, before=[right], under_way=filled.passing)


@purpose("PLP-FLOW-10", both_sides=True, window=7, size=1024)
def test_busy_b_holds_a(call: Call) -> None:
    """B is busy for as long as it takes A to find its window shut, not for a time. A router may
    store some of what A sends meanwhile (X.25 4.4.1.4), but not without bound."""
    a, b = call.a, call.b
    assert isinstance(b, Side)
    b.withholding = True
    b.send(RNR(p_r=0))
    size = min(a.packet_size, b.size_in)
    messages = [f"packet {n}".encode().ljust(size) for n in range(MOST_SENT)]
    waiting = messages[:]
    came = 0
    while send_as_allowed(a, waiting):
        a.send(Interrupt(user_data=b"!"))
        # What B's window holds may come all the same (RFC 1613 6.2).
        under_way = [Data(user_data=m) for m in messages[came : len(messages) - len(waiting)]]
        while isinstance(b.expect(Interrupt(user_data=b"!"), *under_way[:1]), Data):
            del under_way[0]
            came += 1
        b.send(InterruptConfirmation())
        a.expect(InterruptConfirmation())
    taken = f"B is busy, and {MOST_SENT} Data of {size} octets were taken"
    if not waiting and MOST_SENT * size >= MOST_STORED:
        a.expect_count(RR(), 0, 0, start=a.start, note=f"A's window closes; {taken}")
    elif not waiting:
        call.bench.remark(f"{taken}: where A is held was not looked for any further")
    b.withholding = False
    b.acknowledge()
    for octets in messages[came : len(messages) - len(waiting)]:
        b.expect(Data(user_data=octets))
    call.fence()


@purpose("PLP-FLOW-11", both_sides=True)
def test_rr_and_rnr_with_extra_octets(call: Call) -> None:
    """An RR of A's that the router passes on may come before."""
    for kind, length in product((RR, RNR), lengths_above(call.bench, 0)):
        too_long = kind(p_r=call.a.numbering.p_r) / Raw(bytes(length))
        call.a.send(too_long)
        what = f"A has sent {type(too_long).__name__} with octets behind it: {length}"
        expect_refusal(call, too_long, 39, before=[RR(p_r=too_long.p_r)], note=what)


def told_by_rr(side: AnySide) -> list[int]:
    """The P(R) of each RR that has come (modulo 8)."""
    if isinstance(side, AbsentSide):
        return []
    packets = [unit.packet for unit in side.arrivals.units]
    return [packet[2] >> 5 for packet in packets if kind_of(packet, 8) == RECEIVE_READY]


def busy_conditions(side: AnySide) -> int:
    """RNRs that have come (modulo 8)."""
    if isinstance(side, AbsentSide):
        return 0
    return sum(kind_of(unit.packet, 8) == RECEIVE_NOT_READY for unit in side.arrivals.units)


@purpose("PLP-FLOW-12")
def test_acknowledgements_are_not_multiplied(call: Call) -> None:
    """200 Data each way. Each RNR may have one more RR, which ends the busy condition.

    Window status may be repeated (ISO/IEC 8208, T24), and some routers send it before or behind
    each Data: a remark, until there are eight RRs for each new P(R).
    """
    a, b = call.a, call.b
    chain = call.bench.random.randbytes(200 * 128)
    a.send_message(chain)
    b.expect_message(chain)
    b.send_message(chain)
    a.expect_message(chain)
    for side in (a, b):
        told = told_by_rr(side)
        new = sum(last != p_r for last, p_r in pairwise([0, *told]))
        ended = busy_conditions(side)
        if len(told) > 200 + ended:
            call.bench.remark(f"side {side.name}: {len(told) - new} RRs repeat a P(R)")
        side.expect_count(RR(), 0, max(8 * new, 200) + ended, start=0)
    call.fence()


@purpose("PLP-FLOW-13", window=1)
def test_window_1(call: Call) -> None:
    """200 Data each way; before that B shows that it never has two packets open.

    On a side of its own the router may have window 2, the other answer to 1 (X.25 6.12).
    """
    a, b = call.a, call.b
    if isinstance(b, Side):
        release(call, hold_at_b(call, b.window_in))
    for _ in range(4):
        chain = call.bench.random.randbytes(50 * 128)
        a.send_message(chain)
        b.expect_message(chain)
        b.send_message(chain)
        a.expect_message(chain)
    call.fence()


@purpose("PLP-FLOW-14", both_sides=True)
def test_flow_control_during_a_reset_is_discarded(call: Call) -> None:
    """With the numbers of before the reset, and with new ones: a reset of B, and one of the router
    for an error of A. In modulo 128 too."""
    for way in modes(call):
        amid_a_reset(way)


def amid_a_reset(call: Call) -> None:
    """RR, RNR and Data ahead of the confirmation of a Reset of B, or of the router."""
    a, b, bench = call.a, call.b, call.bench
    if isinstance(b, Side):
        bench.need(bench.model != "splice", "a router that follows the resets of a call")
        b.send(ResetRequest(cause=0, diagnostic=7))
        a.expect(ResetIndication(cause=0, diagnostic=7))
        a.send(*ready_and_not(a, 3), a.data(b"discarded", p_s=3), ResetConfirmation())
        b.expect(ResetConfirmation())
        a.send_data(b"behind the reset")
        b.expect(b.data(b"behind the reset", p_s=0), note="one Reset, and no more")
        call.fence()
        during_one_for_an_error(call, b)
        return
    a.send(a.data(b"P(S) 5 for 0", p_s=5))
    a.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(1)))
    a.send(*ready_and_not(a, 3), a.data(b"discarded", p_s=3), ResetConfirmation())
    call.fence()


def ready_and_not(side: Side, p_r: int) -> tuple[Packet, Packet]:
    """RR and RNR of a side."""
    return receive_ready(side, p_r), receive_not_ready(side, p_r)


def during_one_for_an_error(call: Call, b: Side) -> None:
    """B has confirmed the Reset that it got for it, A has not."""
    a, bench = call.a, call.bench
    a.put(header(a, UNDEFINED))
    a.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(33)))
    first = far_end_is_reset_first(b)
    if not first:
        a.send(ResetConfirmation())
    b.expect(ResetIndication(cause=bench.remote_reset))
    b.send(ResetConfirmation())
    bench.fence("the router has the confirmation of B")
    if not first:
        call.fence()
        return
    old = [a.data(b"discarded", p_s=number) for number in (0, 3)]
    a.send(*ready_and_not(a, 3), *old, ResetConfirmation())
    a.send_data(b"behind the reset")
    b.expect(b.data(b"behind the reset", p_s=0), note="nothing of what came amid the reset")
    call.fence()


@purpose("PLP-FLOW-17", both_sides=True)
def test_last_packet_is_acknowledged(call: Call) -> None:
    """One Data where the window is 2; one and then three where it is 7, of which neither half nor
    all is used (ISO/IEC 8208, T25). In modulo 128 too, and where P(R) is above 63."""
    the_last_is_acknowledged(call, 1)
    for modulus in moduli(call.bench):
        here = seen_alike(call, call.bench.call(window=7, modulus=modulus))
        with amid(call.bench, f"modulo {here.a.modulus}"):
            for count in (1, 3):
                the_last_is_acknowledged(here, min(count, here.a.window))
            if modulus == 128 and here.b.present:
                past_six_bits(here)
                the_last_is_acknowledged(here, 1)
        end(here)


def the_last_is_acknowledged(call: Call, count: int) -> None:
    """So many Data, and no more: P(R) comes, by RR or RNR, or in what is sent back (T2)."""
    a, within = call.a, call.bench.profile.times.acknowledge
    last = (a.numbering.next_p_s + count) % a.modulus
    # Those of Data before may come as well.
    unacknowledged = min(a.numbering.outstanding + count, a.modulus - 1)
    earlier = [(last - 1 - back) % a.modulus for back in range(unacknowledged)]
    kinds = (RR128, RNR128) if a.modulus == 128 else (RR, RNR)
    before = [kind(p_r=one_of(*earlier)) for kind in kinds]
    acknowledges = [kind(p_r=last) for kind in kinds]
    parts = [f"{number + 1} and no more".encode() for number in range(count)]
    a.send(*map(a.data, parts))
    if isinstance(call.b, Side):
        for octets in parts:
            call.b.expect(call.b.data(octets))
    elif not call.bench.far_end.without_echo:
        for octets in parts:
            a.expect(a.data(octets), passing=(*before, *acknowledges), within=within)
    if not acknowledged_by_own_data(call, last, within) and (
        call.b.present or a.numbering.acknowledged != last
    ):
        a.expect(*acknowledges, passing=before, within=within)
    call.fence()


def acknowledged_by_own_data(call: Call, last: int, within: float) -> bool:
    """Whether this P(R) came in Data that a DTE without an echo sends of its own accord."""
    a = call.a
    if not call.bench.far_end.without_echo:
        return False
    told = a.data(b"", p_r=last)
    del told.fields["user_data"]
    a.wait_until(lambda: a.numbering.acknowledged == last, within)
    latest = [unit.packet for unit in a.arrivals.unread if kind_of(unit.packet, a.modulus) == DATA]
    if not latest or not matches(told, latest[-1]):
        return False
    a.expect_count(told, 1, note="the P(R) may come in Data")
    return True


def is_told_busy(side: Side) -> bool:
    """Whether RNR is the last that a side has been told of the other window."""
    kinds = [kind_of(unit.packet, side.modulus) for unit in side.arrivals.units]
    told = [kind for kind in kinds if kind in (RECEIVE_READY, RECEIVE_NOT_READY)]
    return told[-1:] == [RECEIVE_NOT_READY]


@purpose("PLP-FLOW-24", both_sides=True, window=3)
def test_rnr_of_the_router_does_not_stay(call: Call) -> None:
    """B is busy, with its last P(R) and with a new one, and then no more. A, if it was told so, is
    told that too, although the P(R) is the same. In modulo 128 too, there with a P(R) of three bits
    and one of seven."""
    for way in modes(call):
        for new in range(2):
            busy_no_more(way, new)
        if way.a.modulus == way.b.modulus == 128:
            past_six_bits(way)
            with amid(call.bench, "P(R) is above 63"):
                for new in range(2):
                    busy_no_more(way, new)


def busy_no_more(call: Call, new: int) -> None:
    """B says RNR behind so many new Data, and RR with the same P(R)."""
    a, b = both(call)
    b.withholding = True
    fill_window(a, b, [b"acked by RNR"] * new)
    b.send(receive_not_ready(b))
    fence_past_window(call.turned())
    b.withholding = False
    b.acknowledge()
    if is_told_busy(a):
        ready, busy = (RR128, RNR128) if a.modulus == 128 else (RR, RNR)
        a.expect(ready(), passing=(busy(),), note="B is not busy any more")
    call.fence()


@purpose("PLP-FLOW-22", both_sides=True)
def test_reject_acknowledges_nothing(call: Call) -> None:
    """B has all that its window holds; the REJ, which is discarded, names the packet behind it. In
    modulo 128 too, with numbers of three bits and of seven."""
    for way in modes(call):
        rejected(way)
        if way.a.modulus == way.b.modulus == 128:
            past_six_bits(way)
            rejected(way)


def rejected(call: Call) -> None:
    """B rejects what its window does not hold yet."""
    b = call.b
    assert isinstance(b, Side)
    begin = b.numbering.p_r
    held = hold_at_b(call, b.window_in)
    kind = REJ128 if b.modulus == 128 else REJ
    b.send(kind(p_r=(begin + held.came) % b.modulus))
    nothing_more_at_b(call, "a REJ acknowledges nothing", held.due)
    release(call, held)


@purpose("PLP-FLOW-25", window=7)
def test_what_waits_in_an_end_of_the_router(call: Call) -> None:
    """A sends as long as it may, and gives no P(R) for what comes back until then."""
    a = call.a
    call.bench.need(call.bench.far_end.echoes, "an end that sends Data back (addresses.echo)")
    a.withholding = True
    sent: list[bytes] = []
    while len(sent) < 4 * a.window and may_send(a):
        sent.append(b"number %d" % len(sent))
        a.send_data(sent[-1], p_r=0)
    a.withholding = False
    a.acknowledge()
    for octets in sent:
        a.expect_message(octets)
    call.fence()

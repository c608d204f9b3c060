# SPDX-License-Identifier: GPL-2.0-or-later
"""Every value that a call may have, both ways: sizes, lengths, windows (X.25 4.3.2, 4.4.1, 6.12).

A router that keeps lengths or windows in too few bits, or compares them with "less than", fails at
one value and at no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ..links.xot import HEADER_OCTETS
from ..sides.agreement import DEFAULTS, SIZES, offer_of, towards
from ..sides.side import receive_not_ready
from .calls import (
    accepted,
    agreed_by,
    at_a,
    carries,
    checks_numbers,
    modes,
    moduli,
    pending,
    seen_alike,
    window_holds,
)
from .clearing import end
from .connections import arrives_there
from .language import (
    RNR,
    RNR128,
    RR,
    Bench,
    Call,
    CallAccepted,
    Data,
    Packet,
    PacketSize,
    Side,
    WindowSize,
    purpose,
)
from .occasion import amid
from .procedure_errors import expect_refusal, part_filled_is_reset, takes_empty_data
from .reactions import both, most_octets
from .transfer import (
    acknowledgement,
    acknowledgement_comes,
    deliver,
    each_way,
    fence_from_b,
    fence_past_window,
    not_acknowledged,
    window_of,
)
from .windows import all_acknowledged, fill_window, may_come, may_send

# Octets around those lengths at which one more octet, or the sign of an octet, comes into play.
_BORDERS = (127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 4095)
# A header of a packet (X.25 6.1, modulo 8 and 128) and one of XOT besides (RFC 1613 4.1): what a
# router counts with its user data.
_HEADERS = (0, 3, 4, 3 + HEADER_OCTETS, 4 + HEADER_OCTETS)
# Between 128 and 256 every length of an octet with its sign bit set is near one of these.
_STEP = 5


def both_ways(call: Call) -> tuple[Call, ...]:
    """The call as it is, and with its ends exchanged where the tester has both."""
    return (call, call.turned()) if call.b.present else (call,)


def lengths(size: int) -> list[int]:
    """Lengths of user data up to this packet size: those at a border, alone or with headers. All
    others up to 128 are in PLP-DATA-02."""
    inner = range(130, size, _STEP) if size == 256 else ()
    borders = {border - headers for border in _BORDERS for headers in _HEADERS}
    return sorted({1, *(n for n in borders if n < size), *inner, size - 1, size})


@purpose("PLP-DATA-22")
def test_every_size_and_length_passes(bench: Bench) -> None:
    """A packet of each length, a sequence that fills its packets, one with an octet more, and one
    that ends with an empty packet, of a router that takes such Data.

    Of packets that are not large, more than one also stand ahead of an empty one, and more than the
    window takes.
    """
    empty = takes_empty_data(bench.place_call())
    for size in (size for size in SIZES if size <= bench.profile.limits.packet_size):
        call = bench.place_call(options={"size": size, "window": 7})
        for way in both_ways(call):
            for length in (*lengths(size), 2 * size, size + 1):
                octets = bench.random.randbytes(length)
                way.a.send_message(octets)
                arrives_there(way, octets, note=f"packet size {size}")
            if empty:
                octets = bench.random.randbytes(way.a.packet_size)
                way.a.send_data(octets, m=1)
                way.a.send_data(b"")
                arrives_there(way, octets, note=f"packet size {size}, an empty packet at the end")
                if size <= _NOT_LARGE:
                    ends_empty(way)
        call.fence()


# Octets up to which a packet goes many times through a line in no time.
_NOT_LARGE = 128


def ends_empty(call: Call) -> None:
    """Full packets, and an empty one at their end; with Q=1 too where a tester reads it there."""
    a = call.a
    for full in sorted({2, 3, a.window + 1}):
        for q in (0, 1) if call.b.present else (0,):
            octets = call.bench.random.randbytes(full * a.packet_size)
            for at in range(0, len(octets), a.packet_size):
                a.send_data(octets[at : at + a.packet_size], m=1, q=q)
            a.send_data(b"", q=q)
            there = call.b if isinstance(call.b, Side) else a
            there.expect_message(octets, q=q, note=f"{full} full packets, an empty one behind them")


# Packet sizes of the one end and of the other that need not be the same.
_PAIRS = ((256, 1024), (1024, 256))


@purpose("PLP-SEG-21")
def test_one_octet_less_than_full(bench: Bench) -> None:
    """At every packet size, both ways, and where the other end has another one."""
    most = bench.profile.limits.packet_size
    for size in (size for size in SIZES if size <= most):
        for way in both_ways(bench.place_call(options={"size": size})):
            ends_a_sequence(way)
    if bench.profile.addresses.own_sizes is not None and most >= max(map(max, _PAIRS)):
        for pair in _PAIRS:
            for way in each_way(bench, *pair):
                ends_a_sequence(way)


def ends_a_sequence(call: Call) -> None:
    """A sends M=1 in a packet that lacks one octet. The next packet has another Q."""
    a, b = both(call)
    octets = call.bench.random.randbytes(a.packet_size - 1)
    a.send_data(octets, m=1)
    if part_filled_is_reset(call.bench, a, b):
        call.fence("both resets are complete")
        return
    a.send_data(b"next after", q=1)
    note = f"{len(octets)} octets of {a.packet_size} with M=1"
    b.expect_message(octets, note=note)
    b.expect_message(b"next after", q=1, note=f"behind {note}")
    call.fence()


@purpose("PLP-DATA-23")
def test_one_octet_above_every_size(bench: Bench) -> None:
    """Sizes that the router brings down are left out: the octet more would be many more.

    So is the largest: what is longer than any packet may end the connection (RFC 1613 4.1), and a
    frame above N1 is discarded (X.25 2.4.8.5).
    """
    for size in (size for size in SIZES if size < most_octets(bench)):
        call = bench.call(size=size)
        for way in both_ways(call):
            if way.a.packet_size == size:
                one_octet_more(way)


def one_octet_more(call: Call) -> None:
    """A sends a longer packet than it has agreed to."""
    too_long = call.a.data(call.bench.random.randbytes(call.a.packet_size + 1))
    call.a.send(too_long)
    expect_refusal(call, too_long, 39)


@purpose("PLP-FLOW-19")
def test_every_window_may_be_used_up(bench: Bench) -> None:
    """As many Data in one segment as the window says, three times: the numbers wrap within one."""
    for window in range(1, 8):
        call = bench.place_call(options={"window": window})
        for way in both_ways(call):
            use_up(way, 3)
        call.fence()


@purpose("PLP-MOD-13")
def test_windows_of_modulo_128_may_be_used_up(bench: Bench) -> None:
    """The same for windows in which another bit is set each time; the last one wraps.

    Of two of them no more is used than there is.
    """
    for window in (1, 8, 31, 32, 63, 64, 65, 127):
        call = bench.place_call(modulus=128, options={"window": window})
        for way in both_ways(call):
            use_up(way, 2)
            if window in (8, 64):
                window_holds(way.a, way.b)
        call.fence()


@purpose("PLP-FAC-37")
def test_each_direction_of_an_answer_counts(bench: Bench) -> None:
    """512 octets and window 7 asked for, B answers more for one direction than for the other.

    Each side uses its window up, and is sent no more than its own.
    """
    for window, size in (((3, 6), (7, 9)), ((6, 3), (9, 7))):
        request = bench.call_request(size=512, window=7)
        a, b = pending(bench, request)
        answer = CallAccepted(facilities=[_near(b, PacketSize, size), _near(b, WindowSize, window)])
        call = accepted(bench, a, b, request, answer, at_a(bench, request, answer.facilities))
        carries(call)
        for way in both_ways(call):
            use_up(way, 2)
            window_holds(way.a, way.b)
        end(call)
    bench.fence()


# What A asks for and B answers, each for the direction from the called DTE and from the calling
# one: packet sizes (as codes in the answer) and windows.
Asked = tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]
_BY_DIRECTION: tuple[Asked, ...] = (
    ((512, 512), (7, 7), (8, 9), (2, 7)),
    ((512, 512), (7, 7), (9, 8), (7, 2)),
    ((64, 256), (1, 5), (6, 7), (1, 2)),
    ((256, 64), (5, 1), (7, 6), (2, 1)),
    ((256, 256), (4, 4), (7, 7), (2, 2)),
)


_AS_OFFERED = (512, 64), (3, 6)


@purpose("PLP-FAC-38")
def test_each_side_is_held_to_its_own_values(bench: Bench) -> None:
    """Also on a route whose side B has sizes of its own, and some of them in modulo 128.

    Each side fills its packets and its window, is sent no more than it can take, and is reset for
    an octet or a packet more.
    """
    own_sizes = bench.profile.addresses.own_sizes
    for called in filter(None, (bench.far_end.address, own_sizes)):
        _held_by_direction(bench, called, _BY_DIRECTION, 8)
    if 128 in moduli(bench):
        _held_by_direction(bench, bench.far_end.address, _BY_DIRECTION[1:3], 128)
    bench.fence()


def _held_by_direction(bench: Bench, called: str, asked: Sequence[Asked], modulus: int) -> None:
    """Calls with each of these values, and one in which B takes what it is offered."""
    for size, window, answered_size, answered_window in asked:
        request = bench.call_request(called=called, size=size, window=window)
        a, b = pending(bench, request, modulus=modulus)
        values = (_near(b, PacketSize, answered_size), _near(b, WindowSize, answered_window))
        answer = CallAccepted(facilities=list(values))
        call = accepted(bench, a, b, request, answer, at_a(bench, request, values))
        occasion = f"{called}: sizes {size} and windows {window} asked for, modulo {modulus}"
        with amid(bench, occasion):
            for way in both_ways(call):
                is_held_to_its_values(way)
        end(call)
    request = bench.call_request(called=called, size=_AS_OFFERED[0], window=_AS_OFFERED[1])
    a, b = pending(bench, request, modulus=modulus)
    answer = CallAccepted()
    call = accepted(bench, a, b, request, answer, at_a(bench, request, agreed_by(b, answer)))
    occasion = f"modulo {modulus}, B takes the values that it is offered, and names none"
    with amid(bench, f"{called}: {occasion}"):
        for way in both_ways(call):
            is_held_to_its_values(way)
    end(call)


def is_held_to_its_values(call: Call) -> None:
    """Side A of a call."""
    use_up(call, 2)
    window_holds(call.a, call.b)
    octets = call.bench.random.randbytes(2 * call.a.packet_size + 1)
    call.a.send_message(octets)
    arrives_there(call, octets)
    if call.a.packet_size < most_octets(call.bench):
        one_octet_more(call)
    if call.bench.declared("P-DBIT") and checks_numbers(call.bench):
        beyond_a_window_that_was_used(call)


def _near(b: Side, kind: type[Packet], wanted: tuple[int, int]) -> Packet:
    """B's answer with these values for the directions from the called and from the calling DTE,
    or the nearest that its offer lets it give."""
    assert b.call is not None
    offered = offer_of(b.call)[kind is WindowSize]
    default = dict(DEFAULTS)[kind]
    return kind(
        called=towards(wanted[0], offered.called, default),
        calling=towards(wanted[1], offered.calling, default),
    )


def use_up(call: Call, times: int) -> None:
    """A sends Data in one segment until its window is shut; what B gets is what A sent."""
    a = call.a
    for number in range(times):
        # A router may acknowledge later, and then the window is not all free.
        all_acknowledged(a)
        a.wait_for_window()
        free = a.window - a.numbering.outstanding
        parts = [bytes((number, at)) for at in range(free)]
        a.send(*(a.data(octets) for octets in parts))
        for octets in parts:
            arrives_there(call, octets, note=f"window {a.window}, all of it sent at once")


@purpose("PLP-MOD-14")
def test_window_of_127_from_b(bench: Bench) -> None:
    """What PLP-MOD-04 asks of the way from A to B, on the way back."""
    call = bench.call(modulus=128, window=127).turned()
    lowest = min(call.a.window, call.b.window_in)
    bench.need(lowest == 127, f"a router that does not lower the window to {lowest}")
    window_holds(call.a, call.b)
    call.fence()


@purpose("PLP-DBIT-08", both_sides=True, window=1)
def test_confirmed_at_window_1(call: Call) -> None:
    """Nothing but the confirmation opens the window again; nine times, so that the number wraps.

    Then nine times Data of B has it: that is acknowledged too, or B can send no more. Then the same
    in modulo 128.
    """
    for way in modes(call):
        _confirmed_at_window_1(way)


def _confirmed_at_window_1(call: Call) -> None:
    a, b = both(call)
    b.withholding = True
    for number in range(9):
        octets = bytes((number,))
        a.send(a.data(octets, d=1))
        b.expect(b.data(octets, d=1))
        b.acknowledge((number + 1) % b.modulus)
        confirmed = acknowledgement((number + 1) % a.modulus, a.modulus)
        a.expect(*confirmed, passing=acknowledgement(number % a.modulus, a.modulus))
    for number in range(9, 18):
        octets = bytes((number,))
        a.send(a.data(octets, d=1))
        b.expect(b.data(octets, d=1))
        b.send_data(octets, p_r=(number + 1) % b.modulus)
        a.expect(a.data(octets))
    for side in (a, b):
        side.wait_for_window()
    b.withholding = False
    call.fence()


@purpose("PLP-DBIT-09", both_sides=True, window=3)
def test_rnr_confirms(call: Call) -> None:
    """P(R) counts in RNR as it does in RR (X.25 4.4.1.4), in the first of two as in the second; in
    modulo 128 too."""
    for way, first in product(modes(call), (1, 2)):
        _confirmed_by_rnr(way, first)


def _confirmed_by_rnr(call: Call, which: int) -> None:
    """B's first RNR, or its second behind one with the P(R) of before."""
    a, b = both(call)
    all_acknowledged(a)
    begin, taken = a.arrivals.end(), b.numbering.p_r
    confirmed = (a.numbering.next_p_s + 1) % a.modulus
    b.withholding = True
    a.send_data(b"to be confirmed", d=1)
    b.expect(b.data(b"to be confirmed", d=1))
    if which == 2:
        b.send(receive_not_ready(b, taken))
    fence_from_b(call, p_r=taken)
    not_acknowledged(a, confirmed, begin, note="B has not acknowledged")
    b.send(receive_not_ready(b, (taken + 1) % b.modulus))
    acknowledgement_comes(a, confirmed)
    b.withholding = False
    b.acknowledge()
    call.fence()


@purpose("PLP-DBIT-10", both_sides=True)
def test_data_beyond_a_window_of_d_bits(call: Call) -> None:
    """With D=1 none of A's window is free before B has acknowledged: one Data more is an error."""
    checked = checks_numbers(call.bench)
    call.bench.need(checked, "a router that checks the numbers of a call (N-CHECK)")
    beyond_the_window(call)


def beyond_the_window(call: Call) -> None:
    """With D=1 of A's Data, which B does not acknowledge; the Data beyond is next in order."""
    a, b = both(call)
    b.withholding = True
    filled = fill_window(a, b, [bytes((number,)) for number in range(a.window)], d=1)
    fence_past_window(call, filled.passing)
    beyond = a.data(b"beyond window", p_s=a.numbering.next_p_s)
    b.withholding = False
    a.send(beyond)
    expect_refusal(call, beyond, 1, before=[filled.any_data])


def beyond_a_window_that_was_used(call: Call) -> None:
    """The same where Data has gone before, once no P(R) is on its way that would open the window
    further."""
    bench, a = call.bench, call.a
    if all_acknowledged(a):
        beyond_the_window(call)
    else:
        bench.remark("Data is not acknowledged before more comes: where the window ends is open")


@purpose("PLP-FLOW-20", both_sides=True, window=7)
def test_p_r_behind_rnr_may_not_run_back(call: Call) -> None:
    """A has acknowledged two Data by RNR (one, of a router that sends no more without a P(R)).

    An RR or RNR behind it, in one segment, that takes one of them back is an error. The RR for what
    came before may still be on its way.
    """
    a, b = both(call)
    for kind in (RR, RNR):
        earlier = a.numbering.p_r
        a.withholding = True
        taken = earlier + fill_window(b, a, (b"first", b"second")).came
        a.withholding = False
        right, back = RNR(p_r=taken), kind(p_r=taken - 1)
        a.send(right, back)
        what = f"A has sent {kind.__name__} with a P(R) below that of RNR"
        expect_refusal(call, back, 2, before=[right, RR(p_r=earlier)], note=what)


@purpose("PLP-FLOW-21", both_sides=True, window=7)
def test_rnr_in_the_middle_of_a_window(call: Call) -> None:
    """B takes three of seven, says RNR for two of them, once more, and RR with the same P(R).

    All that A sent arrives once and in order. A router that waits for each P(R) may wait for that
    of the third; one that had three open before does not. The last RNR and RR acknowledge all of
    it: no window is left that could hold what A sends between them.

    In modulo 128 RNR and RR follow Data where another bit of P(R) is set, and where it wraps.
    """
    a, b = both(call)
    b.withholding = True
    parts = [f"packet {number}".encode() for number in range(window_of(call))]
    sent = fill_window(a, b, parts[:3])
    acknowledged = min(2, sent.came)
    b.send(RNR(p_r=acknowledged))
    fence_from_b(call, p_r=acknowledged, note="the router has the RNR")
    for octets in parts[len(sent.sent) :]:
        if a.numbering.outstanding == a.window:
            break
        sent.send_one_more(a, octets)
    b.send(RNR(p_r=acknowledged))
    fence_from_b(call, p_r=acknowledged, note="the router has the RNR, and holds Data for B")
    b.withholding = False
    b.acknowledge(acknowledged)
    if sent.came < min(2, len(sent.sent)) and not may_come(b):
        call.bench.remark("one Data that is not acknowledged holds the others")
        b.acknowledge()
    with amid(call.bench, "behind RR with the P(R) of the RNR, which leaves one not acknowledged"):
        sent.take_rest()
    call.fence()
    taken = b.numbering.p_r
    b.withholding = True
    b.send(RNR(p_r=taken))
    fence_from_b(call, p_r=taken, note="the router has the RNR behind all Data")
    a.send_data(b"behind window")
    call.bench.fence("the router has what A sent")
    b.send(RR(p_r=taken))
    b.expect(Data(user_data=b"behind window"), note="RR with the same P(R) ends RNR")
    b.withholding = False
    b.acknowledge()
    call.fence()
    opened_by_data(call)
    if call.bench.declared("P-MOD128"):
        taken_by_rnr_128(seen_alike(call, call.bench.place_call(modulus=128)))


def taken_by_rnr_128(call: Call) -> None:
    """B says RNR behind one Data, and RR with the same P(R)."""
    a, b = both(call)
    for p_r in (63, 64, 65, 127, 0) if b.modulus == 128 else ():
        deliver(a, b, [b"goes on"] * ((p_r - 1 - b.numbering.p_r) % b.modulus))
        b.withholding = True
        deliver(a, b, [b"taken by RNR"])
        b.send(RNR128(p_r=p_r))
        fence_from_b(call, p_r=p_r, note=f"the router has RNR with P(R)={p_r}, of modulo 128")
        b.withholding = False
        b.acknowledge(p_r)
    call.fence()


def opened_by_data(call: Call) -> None:
    """B ends RNR by an RR that leaves its window full; the P(R) of its Data opens it then."""
    a, b = both(call)
    taken = b.numbering.p_r
    b.withholding = True
    sent = fill_window(a, b, [f"full {number}".encode() for number in range(window_of(call))])
    b.send(RNR(p_r=taken), RR(p_r=taken))
    fence_from_b(call, p_r=taken, note="the router has RNR and RR, the window of B being full")
    if may_send(a):
        sent.send_one_more(a, b"held back")
    b.withholding = False
    fence_from_b(call, p_r=b.numbering.p_r, note="Data of B opens its window")
    with amid(call.bench, "Data of B opened the window, behind an RR that left it full"):
        sent.take_rest()
    call.fence()

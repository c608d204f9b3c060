# SPDX-License-Identifier: GPL-2.0-or-later
"""Modulo 128 and mixed modulo (X.25 5.1.1, 5.3.1, 6.2, 6.12; RFC 1613 6.2)."""

from __future__ import annotations

from scapy_x25 import RNR128
from scapy_x25.x25 import INTERRUPT, RECEIVE_NOT_READY, RECEIVE_READY

from ..sides.numbering import DATA
from ..sides.side import receive_not_ready, receive_ready
from .calls import window_holds
from .clearing import confirmed, end, refused
from .language import (
    CLOSED,
    RR128,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Data128,
    Diagnostic,
    Inconclusive,
    Interrupt,
    InterruptConfirmation,
    Raw,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    WindowSize,
    between,
    lacks,
    not_in,
    purpose,
)
from .occasion import amid
from .procedure_errors import expect_refusal, expect_reset, takes_empty_data
from .reactions import (
    both,
    call_arrived,
    fence_call,
    header,
    not_delivered,
    refuses,
    with_gfi,
)
from .shut_windows import outside_the_window
from .transfer import acknowledged_inside_data, confirmed_by_b_alone, fence_from_b, past_six_bits
from .windows import fill_window

PACKETS = 300


@purpose("PLP-MOD-01")
def test_call_of_modulo_128(bench: Bench) -> None:
    a = bench.connect(modulus=128)
    a.send(bench.call_request())
    b = bench.incoming()
    b.send(b.acceptance)
    a.expect(CallAccepted(modulo=2))
    Call(bench, a, b).fence()


@purpose("PLP-MOD-02", both_sides=True, modulus=128, window=7)
def test_data_with_numbers_of_7_bits(call: Call) -> None:
    """300 Data each way, in turns: P(S) and P(R) run from 0 to 127 and start again. Q=1 in each
    third, so also beside P(S)=127.

    Where each side has numbers of its own, B's may be of modulo 8 (RFC 1613 6.2).
    """
    a, b = both(call)
    for number in range(PACKETS):
        for there, back in ((a, b), (b, a)):
            octets, q = f"{there.name} {number}".encode(), int(number % 3 == 0)
            there.send_data(octets, q=q)
            back.expect(back.data(octets, p_s=number % back.modulus, m=0, q=q))
    call.fence()


@purpose("PLP-MOD-03", both_sides=True, modulus=128)
def test_m_is_bit_1_of_octet_4(call: Call) -> None:
    """Each way ten sequences of three packets, and one in which M=1 stands beside every P(S).

    Then Data without user data, which a router takes that takes it in modulo 8.
    """
    a, b = both(call)
    for number in range(11):
        for sender, receiver in ((a, b), (b, a)):
            full = 2 if number < 10 else sender.modulus
            octets = bytes((number,)) * (full * sender.packet_size + 100)
            sender.send_message(octets)
            receiver.expect_message(octets, longest=receiver.size_in)
    if not takes_empty_data(call) and takes_empty_data(call.bench.call()):
        b.expect(b.data(b""), note="as in modulo 8")
    call.fence()


@purpose("PLP-MOD-04")
def test_windows_up_to_127(bench: Bench) -> None:
    """127 Data in one go; B withholds P(R): no more than 127 come before it acknowledges."""
    call = bench.call(modulus=128, window=127)
    lowest = min(call.a.window, call.b.window_in)
    bench.need(lowest == 127, f"a router that does not lower the window to {lowest}")
    window_holds(call.a, call.b)
    call.fence()


def own_numbers_of_modulo_8(call: Call) -> bool:
    """Whether the router has numbers of modulo 8 at this side (RFC 1613 6.2): a remark then."""
    if call.a.modulus == 128:
        return False
    call.bench.remark(f"side {call.a.name} has modulo 8")
    call.fence()
    return True


@purpose("PLP-MOD-05", both_sides=True, modulus=128)
def test_three_octets_are_too_short(call: Call) -> None:
    """RR, RNR, and Data with P(S)=0, as is due behind each reset."""
    if own_numbers_of_modulo_8(call):
        return
    for octet_3 in (RECEIVE_READY, RECEIVE_NOT_READY, DATA):
        if octet_3 == DATA:
            call.a.send(ResetRequest(cause=0, diagnostic=0))
            call.b.expect(ResetIndication(cause=0, diagnostic=0))
            call.b.send(ResetConfirmation())
            call.a.expect(ResetConfirmation())
            # Until B's confirmation is read, an error of A is one with this reset (Table C-4, d3).
            # A acknowledges nothing: to a router that takes no octet 4 for P(R)=0, that is right.
            call.a.withholding = True
            fence_from_b(call, p_r=0)
        call.a.put(header(call.a, octet_3))
        call.a.withholding = False
        expect_reset(call, 38)


@purpose("PLP-MOD-22", both_sides=True, modulus=128)
def test_octets_too_many(call: Call) -> None:
    """Data of one octet above the packet size; RR and RNR with octets behind their end.

    An RR of A's that the router passes on may come before.
    """
    if own_numbers_of_modulo_8(call):
        return
    a = call.a
    packets = [a.data(call.bench.random.randbytes(a.packet_size + 1))]
    packets += [kind() / Raw(bytes(n)) for kind in (RR128, RNR128) for n in (1, 2, 64)]
    for too_long in packets:
        too_long.p_r = a.numbering.p_r
        a.send(too_long)
        what = f"A has sent {len(a.octets_of(too_long))} octets"
        expect_refusal(call, too_long, 39, before=[RR128(p_r=too_long.p_r)], note=what)


@purpose("PLP-MOD-06", both_sides=True, modulus=128)
def test_data_of_modulo_8_in_a_call_of_modulo_128(call: Call) -> None:
    if own_numbers_of_modulo_8(call):
        return
    call.a.put(with_gfi(call.a, 0x10, 0x00) + b"modulo 8")
    not_delivered(call, 40)
    call.bench.fence()


@purpose("PLP-MOD-07")
def test_call_of_modulo_128_where_it_is_not_supported(bench: Bench) -> None:
    """Refused or discarded; B sees no such Call. A splice passes it as it is.

    A router that makes a call of modulo 128 of it supports what its profile does not declare.
    """
    a = bench.connect(modulus=128)
    request = bench.call_request()
    a.allow(ClearIndication(), Diagnostic(diagnostic=bench.diagnostic(40)))
    a.put(a.octets_of(request))
    if call_arrived(bench, a):
        if bench.two_sided:
            whole = CallRequest(modulo=2, user_data=request.user_data)
            b = bench.incoming(whole, note="of modulo 128, as it was sent, or none")
            b.send(ClearRequest(cause=0, diagnostic=0))
            # A confirms first: the confirmation may be A's (X.25 5.2.5).
            refused(bench, a, ClearIndication())
            confirmed(b)
        else:
            a.expect(CallAccepted(modulo=2))
        if bench.model != "splice":
            raise Inconclusive("the router takes modulo 128: its profile should declare P-MOD128")
    fence_call(bench)


@purpose("PLP-MOD-08")
def test_mixed_modulo_lowers_the_window(bench: Bench) -> None:
    """What the side of modulo 8 is offered, and how many packets it has open."""
    a = bench.connect(modulus=128)
    a.send(bench.call_request(called=modulo_8_address(bench), window=20))
    if not call_arrived(bench, a):
        refuses(bench, a, bench.network_clear, *range(256))
        bench.fence()
        return
    small = between(1, 7)
    b = bench.incoming(CallRequest(modulo=1, facilities=[WindowSize(called=small, calling=small)]))
    b.send(b.acceptance)
    told = between(1, 20 if bench.model == "local" else 7)
    connected = [CallAccepted(modulo=2, facilities=[WindowSize(called=told, calling=told)])]
    if bench.model == "local":
        # Of its own side it need not say what A asked for (RFC 1613 6.1).
        connected.append(CallAccepted(modulo=2, facilities=[lacks(WindowSize)]))
    a.expect(*connected)
    end(Call(bench, a, b))
    call = bench.call(modulus=128, called=modulo_8_address(bench), window=20)
    for way in (call, call.turned()):
        window_holds(way.a, way.b)
    call.fence()


def modulo_8_address(bench: Bench) -> str:
    """The address of a destination that speaks modulo 8 only."""
    address = bench.profile.addresses.modulo8_only
    bench.need(address, "the profile names no destination of modulo 8 (addresses.modulo8_only)")
    assert address is not None
    return address


@purpose("PLP-MOD-09")
def test_mixed_modulo_translates_the_numbers(bench: Bench) -> None:
    """150 Data each way (enough to wrap both moduli), each side in its own modulus."""
    call = bench.call(modulus=128, called=modulo_8_address(bench))
    for first in range(0, 150, 10):
        for number in range(first, first + 10):
            octets = number.to_bytes(2, "big")
            call.a.send_data(octets)
            call.b.expect(Data(p_s=number % 8, user_data=octets))
        for number in range(first, first + 10):
            octets = number.to_bytes(2, "big")
            call.b.send_data(octets)
            call.a.expect(Data128(p_s=number % 128, user_data=octets))
    call.fence()


@purpose("PLP-MOD-10")
def test_mixed_modulo_keeps_q_d_and_m(bench: Bench) -> None:
    """A full packet with M = 1 and a short one with M = 0 for each Q and D (D with P-DBIT). Then
    Interrupts and Resets."""
    call = bench.call(modulus=128, called=modulo_8_address(bench))
    for q in (0, 1):
        for d in (0, 1) if bench.declared("P-DBIT") else (0,):
            sequence = ((1, bytes((q, d)) * 64), (0, b"last"))
            for here, there, kind in ((call.a, call.b, Data), (call.b, call.a, Data128)):
                for m, octets in sequence:
                    here.send_data(octets, q=q, d=d, m=m)
                for m, octets in sequence:
                    there.expect(kind(q=q, d=d, m=m, user_data=octets))
    for here, there in (both(call), both(call)[::-1]):
        # The format identifier of what has no numbers is that of its side as well (X.25 5.1.1).
        at_here, at_there = ({"modulo": 2 if s.modulus == 128 else 1} for s in (here, there))
        here.send(Interrupt(user_data=b"!"))
        there.expect(Interrupt(user_data=b"!", **at_there))
        there.send(InterruptConfirmation())
        here.expect(InterruptConfirmation(**at_here))
        here.send(ResetRequest(cause=0, diagnostic=0))
        there.expect(ResetIndication(cause=0, diagnostic=0, **at_there))
        there.send(ResetConfirmation())
        here.expect(ResetConfirmation(**at_here))
    call.fence()


@purpose("PLP-MOD-11", both_sides=True, modulus=128, window=7)
def test_modulo_128_passes_untouched(call: Call) -> None:
    """All fields of the header but the LCN, with every combination of Q, D and M."""
    a, b = both(call)
    for number in range(140):
        q, d, m = number >> 2 & 1, number >> 1 & 1, int(number % 4 == 0)
        for there, back in ((a, b), (b, a)):
            octets = octets_of(number)
            same = {"q": q, "d": d, "m": m, "p_s": number % 128, "p_r": there.numbering.p_r}
            there.send_data(octets, **same)
            back.expect(Data128(**same, user_data=octets))
    call.fence()


def octets_of(number: int) -> bytes:
    """128 octets that differ from packet to packet."""
    return bytes((number + i) % 256 for i in range(128))


@purpose("PLP-MOD-12")
def test_modulo_32768_is_refused(bench: Bench) -> None:
    """A Call behind the octet of the super-extended format: discarded, cleared, or TCP closed."""
    a = bench.connect()
    wrong_gfi = bench.diagnostic(40)
    a.allow(ClearIndication(diagnostic=wrong_gfi), Diagnostic(diagnostic=wrong_gfi))
    a.put(b"\x30" + a.octets_of(bench.call_request()))
    fence_call(bench)


@purpose("PLP-MOD-15", both_sides=True, modulus=128)
def test_every_packet_of_a_call_of_modulo_128(call: Call) -> None:
    """Interrupts, resets and the clearing have the modulo of the call too (X.25 5.1.1).

    A reset comes behind numbers of more than six bits, and Data behind it begin at 0.
    """
    a, b = both(call)
    for here, there in ((a, b), (b, a)):
        past_six_bits(call)
        here.send(Interrupt(user_data=b"modulo 128"))
        there.expect(Interrupt(modulo=gfi(there), user_data=b"modulo 128"))
        there.send(InterruptConfirmation())
        here.expect(InterruptConfirmation(modulo=gfi(here)))
        here.send(ResetRequest(cause=0, diagnostic=0))
        there.expect(ResetIndication(modulo=gfi(there), cause=0))
        there.send(ResetConfirmation())
        here.expect(ResetConfirmation(modulo=gfi(here)))
        for sender, receiver in ((a, b), (b, a)):
            sender.send_data(b"behind a reset")
            receiver.expect(receiver.data(b"behind a reset", p_s=0))
        call.fence()
    a.send(ClearRequest(cause=0, diagnostic=0))
    b.expect(ClearIndication(modulo=gfi(b), cause=0))
    b.send(ClearConfirmation())
    a.expect(ClearConfirmation(modulo=gfi(a)), CLOSED)


@purpose("PLP-MOD-19", both_sides=True, modulus=128)
def test_interrupts_of_each_length(call: Call) -> None:
    """1 to 32 octets pass, and 33 are an error."""
    a, b = both(call)
    for length in range(1, 33):
        octets = call.bench.random.randbytes(length)
        a.send(Interrupt(user_data=octets))
        b.expect(Interrupt(user_data=octets))
        b.send(InterruptConfirmation())
        a.expect(InterruptConfirmation())
    if call.model == "splice":
        call.fence()
        return
    a.send(Interrupt(user_data=bytes(33)))
    expect_reset(call, 39)


# Octet 3 of RR and RNR in modulo 128; in modulo 8 its upper three bits are P(R).
FLOW_TYPES = (0x01, 0x05)


@purpose("PLP-MOD-20", both_sides=True, modulus=128)
def test_types_with_the_p_r_of_modulo_8(call: Call) -> None:
    """With a P(R) behind each that would be right: none is RR or RNR, none is defined at all."""
    if own_numbers_of_modulo_8(call):
        return
    for octet_3 in FLOW_TYPES:
        for upper in range(1, 8):
            call.a.put(header(call.a, upper << 5 | octet_3) + p_r_octet(call.a))
            with amid(call.bench, f"octet 3 is {upper << 5 | octet_3:#04x}"):
                expect_reset(call, 33)


@purpose("PLP-MOD-21", both_sides=True, modulus=128, window=20)
def test_one_p_r_for_a_window(call: Call) -> None:
    """Each with D=1: B acknowledges all that came at once, and A's P(R) is that of the last."""
    a, b = both(call)
    if own_numbers_of_modulo_8(call):
        return
    b.withholding = True
    filled = fill_window(a, b, [bytes((number,)) for number in range(a.window)], d=1)
    b.withholding = False
    b.acknowledge()
    filled.take_rest()
    last = a.numbering.next_p_s
    passing = (RR128(p_r=not_in(last)), RNR128(p_r=not_in(last)))
    a.expect(RR128(p_r=last), RNR128(p_r=last), passing=passing)
    call.fence()


def gfi(side: Side) -> int:
    """What bits 6 and 5 of octet 1 say of the modulo of a side: 01 for 8, 10 for 128."""
    return 2 if side.modulus == 128 else 1


# Packets that B gets for a window of A.
MOST_PIECES = 1000


@purpose("PLP-MOD-23", both_sides=True, modulus=128, window=7)
def test_d_at_every_number(call: Call) -> None:
    """Around each P(S) in which another bit is set, and around the wrap: alone, with Q=1, and with
    M=1 in a packet that is full and in one that is not."""
    if own_numbers_of_modulo_8(call):
        return
    a, b = both(call)
    full = bytes(min(a.packet_size, b.size_in))
    kinds = ((b"alone", 0, 0), (b"with Q", 0, 1), (full, 1, 0), (b"part", 1, 0), (b"end", 0, 0))
    for number in range(a.modulus + 3):
        bit = number & number - 1 and number + 1 & number
        if a.modulus - 2 > number and bit:
            a.send_data(b"%d" % number)
            b.expect(b.data(b"%d" % number))
            continue
        octets, m, q = kinds[number % len(kinds)]
        with amid(call.bench, f"P(S)={a.numbering.next_p_s}"):
            confirmed_by_b_alone(call, octets, m=m, q=q)
    for octets, m, q in kinds:
        confirmed_by_b_alone(call, octets, m=m, q=q)
    call.fence()


@purpose("PLP-MOD-16", both_sides=True, modulus=128, window=127, size=4096)
def test_a_window_of_large_packets_at_once(call: Call) -> None:
    """All that a window takes, in one write: B reads late, and then once more, B is busy. Where B
    reads late an Interrupt is behind them, which may come between any two of them (X.25 4.3.7), and
    at last a Clear.

    Fewer where B's packets are small (RFC 1613 6.2): each of A's becomes many.
    """
    a, b = both(call)
    count = min(a.window, max(1, MOST_PIECES * b.size_in // a.packet_size))
    for busy in (False, True):
        mark = b.cursor
        parts = [call.bench.record(a.packet_size) for _ in range(count)]
        if busy:
            b.send(receive_not_ready(b))
        else:
            b.wire.tcp.stop_reading()
        a.send(*(a.data(octets) for octets in parts))
        if not busy:
            a.send(Interrupt(user_data=b"!"))
        call.bench.fence("B reads late" if not busy else "B is busy")
        if busy:
            b.send(receive_ready(b))
        else:
            b.wire.tcp.go_on_reading()
        passing = () if busy else (Interrupt(user_data=b"!"),)
        for octets in parts:
            b.expect_message(octets, longest=b.size_in, passing=passing)
        if not busy:
            if INTERRUPT not in b.arrivals.types(mark):
                b.expect(Interrupt(user_data=b"!"))
            b.expect_count(Interrupt(), 1, 1, start=mark, note="an Interrupt comes once")
            b.send(InterruptConfirmation())
            a.expect(InterruptConfirmation())
        call.fence()
    cleared_while_unread(call, count)
    call.bench.fence()


def cleared_while_unread(call: Call, count: int) -> None:
    """A clears behind so many Data of which B has read nothing yet. Some of them may come (X.25
    4.1.7), each whole."""
    a, b = both(call)
    b.wire.tcp.stop_reading()
    a.send(*(a.data(call.bench.record(a.packet_size)) for _ in range(count)))
    a.send(ClearRequest(cause=0, diagnostic=241))
    call.bench.fence("B reads late")
    b.wire.tcp.go_on_reading()
    b.expect(ClearIndication(cause=0, diagnostic=241), passing=(Data(), Data128()))
    b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED)


def p_r_octet(side: Side) -> bytes:
    """Octet 4 of RR or RNR of modulo 128."""
    return bytes((side.numbering.p_r << 1,))


@purpose("PLP-MOD-17", both_sides=True, modulus=128, window=3)
def test_p_s_outside_the_window(call: Call) -> None:
    if own_numbers_of_modulo_8(call):
        return
    outside_the_window(call)


@purpose("PLP-MOD-18", both_sides=True, modulus=128)
def test_acknowledgement_inside_data(call: Call) -> None:
    acknowledged_inside_data(call)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupt (X.25 4.3.7, 5.3.2, 5.3.3)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from ..sides.side import receive_not_ready
from .calls import modes
from .language import (
    CLOSED,
    Call,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Data128,
    Interrupt,
    InterruptConfirmation,
    Packet,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    purpose,
)
from .occasion import amid
from .procedure_errors import expect_reset, expect_reset_or_ignored
from .reactions import b_is_busy, both, lengths_above
from .transfer import each_way, fence_from_b, interrupt_answered, send_as_allowed
from .windows import all_acknowledged, fill_window, may_send


@purpose("PLP-INT-01", both_sides=True)
def test_confirmation_is_end_to_end(call: Call) -> None:
    call.a.send(Interrupt(user_data=b"\x01"))
    call.b.expect(Interrupt(user_data=b"\x01"))
    call.b.send_data(b"not confirmed B")
    call.a.expect(Data(user_data=b"not confirmed B"), note="no confirmation before it")
    call.b.send(InterruptConfirmation())
    call.a.expect(InterruptConfirmation())
    call.fence()


@purpose("PLP-INT-02", both_sides=True)
def test_interrupt_overtakes_blocked_data(call: Call) -> None:
    """Data that waits for B does not hold the Interrupt, and what waits for A not its
    confirmation."""
    a, b = both(call)
    for sender, receiver in ((a, b), (b, a)):
        receiver.withholding = True
        blocked = fill_window(sender, receiver, (b"first", b"second"))
        if may_send(sender):
            blocked.send_one_more(sender, b"beyond window")
        call.bench.fence("the router has all of it")
        a.send(Interrupt(user_data=b"now"))
        b.expect(Interrupt(user_data=b"now"), passing=blocked.passing if receiver is b else ())
        b.send(InterruptConfirmation())
        a.expect(InterruptConfirmation(), passing=blocked.passing if receiver is a else ())
        receiver.withholding = False
        receiver.acknowledge()
        blocked.take_rest()
    call.fence()


@purpose("PLP-INT-03")
def test_1_to_32_octets(call: Call) -> None:
    for sender, receiver in ((call.a, call.b), (call.b, call.a)):
        plain = [bytes((octet,)) * 32 for octet in (0x00, 0x0D, 0xFF)]
        for octets in (*map(call.bench.random.randbytes, range(1, 33)), *plain):
            sender.send(Interrupt(user_data=octets))
            receiver.expect(Interrupt(user_data=octets))
            receiver.send(InterruptConfirmation())
            sender.expect(InterruptConfirmation())
    call.fence()


@purpose("PLP-INT-04", both_sides=True)
def test_more_than_32_octets(call: Call) -> None:
    for length in lengths_above(call.bench, 32):
        call.a.send(Interrupt(user_data=bytes(length)))
        expect_reset(call, 39, note=f"A has sent {length} octets")


@purpose("PLP-INT-05", both_sides=True)
def test_no_user_data(call: Call) -> None:
    call.a.send(Interrupt(user_data=b""))
    expect_reset(call, 38)


@purpose("PLP-INT-06", both_sides=True)
def test_second_interrupt(call: Call) -> None:
    """At once; then with Data of either side, or RNR of either side, between the two. In modulo 128
    too."""
    for way in modes(call):
        for between, what in BETWEEN_TWO.items():
            with amid(call.bench, f"{what} between the two, modulo {way.a.modulus}"):
                way.a.send(Interrupt(user_data=b"1"))
                way.b.expect(Interrupt(user_data=b"1"))
                between(way)
                way.a.send(Interrupt(user_data=b"2"))
                expect_reset(way, 44)


def _nothing(call: Call) -> None:
    pass


def _data_of_each(call: Call) -> None:
    call.fence()


def _busy_sender(call: Call) -> None:
    a = call.a
    a.send(receive_not_ready(a))


BETWEEN_TWO: dict[Callable[[Call], None], str] = {
    _nothing: "nothing",
    _data_of_each: "Data",
    _busy_sender: "RNR of the sender",
    b_is_busy: "RNR of the receiver",
}


@purpose("PLP-INT-07", both_sides=True)
def test_confirmation_that_is_not_due(call: Call) -> None:
    """Of no Interrupt, and where there is a side B the second in one segment with that of one."""
    call.a.send(InterruptConfirmation())
    expect_reset_or_ignored(call, 43)
    if isinstance(call.b, Side):
        call.b.send(Interrupt(user_data=b"confirmed twice"))
        call.a.expect(Interrupt(user_data=b"confirmed twice"))
        call.a.send(InterruptConfirmation(), InterruptConfirmation())
        note = "A has confirmed an Interrupt twice"
        expect_reset(call, 43, before=[InterruptConfirmation()], note=note)


@purpose("PLP-INT-08", both_sides=True)
def test_one_interrupt_open_in_each_direction(call: Call) -> None:
    """Short ones first; then, of a router that takes so many, with 32 octets each. In modulo 128
    too."""
    longest = (b"of 32 octets".ljust(32, b"."),) if call.bench.declared("P-INT32") else ()
    for way, more in product(modes(call), (b"", *longest)):
        a, b = both(way)
        of_a, of_b = (Interrupt(user_data=more or text) for text in (b"from A", b"from B"))
        a.send(of_a)
        b.send(of_b)
        b.expect(of_a)
        a.expect(of_b)
        a.send_data(b"not confirmed A")
        b.expect(b.data(b"not confirmed A"), note="no confirmation before it")
        a.send(InterruptConfirmation())
        b.expect(InterruptConfirmation())
        b.send_data(b"not confirmed B")
        a.expect(a.data(b"not confirmed B"), note="no confirmation before it")
        b.send(InterruptConfirmation())
        a.expect(InterruptConfirmation())
        way.fence()


@purpose("PLP-INT-09")
def test_interrupts_have_no_numbers(call: Call) -> None:
    for number in range(10):
        for sender, receiver in ((call.a, call.b), (call.b, call.a)):
            sender.send(Interrupt(user_data=bytes([number])))
            receiver.expect(Interrupt(user_data=bytes([number])))
            receiver.send(InterruptConfirmation())
            sender.expect(InterruptConfirmation())
            sender.send_data(bytes([number]))
            receiver.expect(Data(p_s=number % 8, user_data=bytes([number])))
    call.fence()


@purpose("PLP-INT-10", both_sides=True)
def test_reset_ends_an_open_interrupt(call: Call) -> None:
    a, b = call.a, call.b
    a.send(Interrupt(user_data=b"before"))
    b.expect(Interrupt(user_data=b"before"))
    b.send(ResetRequest(cause=0, diagnostic=0))
    a.expect(ResetIndication(cause=0, diagnostic=0))
    a.send(ResetConfirmation())
    b.expect(ResetConfirmation())
    a.send(Interrupt(user_data=b"after"))
    b.expect(Interrupt(user_data=b"after"))
    b.send_data(b"not confirmed B")
    a.expect(Data(user_data=b"not confirmed B"), note="no confirmation before it")
    b.send(InterruptConfirmation())
    a.expect(InterruptConfirmation())
    call.fence()


@purpose("PLP-INT-11", both_sides=True)
def test_confirmation_with_an_extra_octet(call: Call) -> None:
    a, b, bench = call.a, call.b, call.bench
    a.send(Interrupt(user_data=b"1"))
    b.expect(Interrupt(user_data=b"1"))
    b.send(InterruptConfirmation() / b"\0")
    b.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(39)))
    b.send(ResetConfirmation())
    a.expect(ResetIndication(cause=bench.remote_reset))
    a.send(ResetConfirmation())
    call.fence()


@purpose("PLP-INT-12", both_sides=True)
def test_interrupt_passes_a_busy_b(call: Call) -> None:
    """Of one octet, and of 32 of a router that takes so many; then one of B's own. In modulo 128
    too."""
    longest = (bytes(range(32)),) if call.bench.declared("P-INT32") else ()
    for way in modes(call):
        for octets in (b"!", *longest):
            with amid(call.bench, f"{len(octets)} octets, modulo {way.a.modulus}"):
                _passes_a_busy_b(way, Interrupt(user_data=octets))


def _passes_a_busy_b(call: Call, interrupt: Packet) -> None:
    """A router with windows of its own has Data waiting for B; else there is none to overtake."""
    a, b = both(call)
    all_acknowledged(a)
    taken = b.numbering.p_r
    b.withholding = True
    blocked = fill_window(a, b, (b"first", b"second"))
    b.send(receive_not_ready(b, taken))
    fence_from_b(call, p_r=taken)
    waiting = [b"waiting"]
    if send_as_allowed(a, waiting):
        blocked.sent.append(b"waiting")
    a.send(interrupt)
    b.expect(interrupt, passing=blocked.passing)
    b.send(InterruptConfirmation())
    a.expect(InterruptConfirmation())
    b.send(interrupt)
    a.expect(interrupt)
    a.send(InterruptConfirmation())
    b.expect(InterruptConfirmation(), passing=blocked.passing)
    b.withholding = False
    b.acknowledge()
    blocked.take_rest()
    call.fence()


@purpose("PLP-INT-13", both_sides=True)
def test_confirmation_of_an_interrupt_from_before_a_reset(call: Call) -> None:
    """A owes B a confirmation when A resets, and once more when B does. Behind the reset it is one
    that is not due."""
    a, b = both(call)
    for here, there in ((a, b), (b, a)):
        b.send(Interrupt(user_data=b"before"))
        a.expect(Interrupt(user_data=b"before"))
        here.send(ResetRequest(cause=0, diagnostic=0))
        there.expect(ResetIndication(cause=0, diagnostic=0))
        there.send(ResetConfirmation())
        here.expect(ResetConfirmation())
        call.fence("the reset is complete at both sides")
        a.send(InterruptConfirmation())
        with amid(call.bench, f"a confirmation from before the reset of {here.name}"):
            expect_reset_or_ignored(call, 43)


@purpose("PLP-INT-14", both_sides=True)
def test_nothing_overtakes_an_interrupt(call: Call) -> None:
    """A sends Data, a Reset, a Clear in one segment with an Interrupt, which goes before them.

    A Reset and a Clear may take it along: it comes ahead of them, or not at all.
    """
    a, b = both(call)
    ahead, behind = Interrupt(user_data=b"ahead"), b"behind it"
    a.send(ahead, a.data(behind))
    b.expect(ahead)
    b.expect(b.data(behind))
    b.send(InterruptConfirmation())
    a.expect(InterruptConfirmation())
    a.send(ahead, ResetRequest(cause=0, diagnostic=0))
    if isinstance(b.expect(ahead, ResetIndication(cause=0)), Interrupt):
        b.expect(ResetIndication(cause=0))
    b.send(ResetConfirmation())
    a.expect(ResetConfirmation())
    call.fence("behind the reset")
    a.send(ahead, ClearRequest(cause=0, diagnostic=0))
    if isinstance(b.expect(ahead, ClearIndication(cause=0)), Interrupt):
        b.expect(ClearIndication(cause=0))
    b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED)
    call.bench.fence()


@purpose("PLP-INT-15", both_sides=True)
def test_interrupts_amid_a_sequence(call: Call) -> None:
    """Of either side, with their confirmations: the sequence arrives whole, as one, with its Q.

    Where the router has other packet sizes at the other side, part of it waits there to be joined.
    """
    amid_a_sequence(call)
    if call.a.name == "A" and call.bench.profile.addresses.own_sizes is not None:
        for other in each_way(call.bench, 128, 256):
            amid_a_sequence(other)


def amid_a_sequence(call: Call) -> None:
    """Two full packets of A, an Interrupt each way behind each of them, and the end of it.

    When a packet of the sequence goes on is not said: it may wait until the sequence is complete.
    """
    a, b = both(call)
    whole = call.bench.random.randbytes(2 * a.packet_size) + b"the end of it"
    begin, end = b.cursor, 2 * a.packet_size
    for sent in range(0, end, a.packet_size):
        a.send_data(whole[sent : sent + a.packet_size], m=1, q=1)
        for sender, receiver in ((a, b), (b, a)):
            sender.send(Interrupt(user_data=b"amid a sequence"))
            receiver.expect(Interrupt(user_data=b"amid a sequence"), passing=(Data(), Data128()))
            receiver.send(InterruptConfirmation())
            sender.expect(InterruptConfirmation(), passing=(Data(), Data128()))
    a.send_data(whole[end:], q=1)
    between = (Interrupt(), InterruptConfirmation())
    b.expect_message(whole, q=1, start=begin, passing=between)
    call.fence()


@purpose("PLP-INT-16")
def test_an_end_of_the_router_takes_every_length(call: Call) -> None:
    for length in range(1, 33):
        interrupt = Interrupt(user_data=call.bench.random.randbytes(length))
        call.a.send(interrupt)
        interrupt_answered(call, interrupt)
    call.fence()

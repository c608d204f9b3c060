# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that have no place on an XOT connection (RFC 1613 6.1, 6.4).

What has local significance is discarded without a word. The next packet the router sends is the
sign: the Call Connected of the Call that follows, or the answer to the Data that follows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from scapy_x25.x25 import packet_class

from ..judges.template import matches
from ..sides.side import receive_not_ready
from .calls import call_of_b, moduli
from .clearing import end, refused
from .connections import arrives
from .language import (
    CLOSED,
    REJ,
    RR,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Diagnostic,
    Interrupt,
    InterruptConfirmation,
    Packet,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    Side,
    Undefined,
    purpose,
)
from .occasion import amid
from .reactions import b_is_busy, both, header
from .windows import fill_window

# Packet types that X.25 does not define (Table 5-2).
UNDEFINED_TYPES = (0x2B, 0x33, 0xD3)


def discarded_before_a_call(bench: Bench, *packets: Packet) -> Call:
    """No reaction on a connection without a call, and the Call that follows works."""
    a = bench.connect()
    a.send(*packets)
    call = bench.place_call(on=a)
    call.fence()
    return call


def discarded_in_data_transfer(call: Call, *packets: Packet) -> None:
    """No reaction, and nothing at B; a splice may pass the packets on unchanged (RFC 1613 6.2)."""
    a, b = call.a, call.b
    before = b.cursor if isinstance(b, Side) else 0
    a.send(*packets)
    there, back = call.bench.record(40), call.bench.record(40)
    a.send_message(there)
    if not isinstance(b, Side):
        a.expect_message(there)
        return
    splice = call.model == "splice"
    may_pass = [p for p in packets if splice and not isinstance(p, RR)]
    b.allow(*may_pass)
    b.expect_message(there, passing=may_pass)
    for unit in b.arrivals.since(before):
        for packet in may_pass:
            if matches(packet, unit.packet):
                call.bench.remark(f"the splice passes {type(packet).__name__} on")
    b.send_message(back)
    a.expect_message(back)
    call.fence()


@purpose("XOT-FORB-01")
def test_restart_before_a_call(bench: Bench) -> None:
    discarded_before_a_call(bench, RestartRequest(cause=0, diagnostic=0))


@purpose("XOT-FORB-02")
def test_restart_in_data_transfer(call: Call) -> None:
    discarded_in_data_transfer(call, RestartRequest(cause=0, diagnostic=0))


@purpose("XOT-FORB-03")
def test_restart_confirmation(bench: Bench) -> None:
    call = discarded_before_a_call(bench, RestartConfirmation())
    discarded_in_data_transfer(call, RestartConfirmation())


@purpose("XOT-FORB-04")
def test_diagnostic(call: Call) -> None:
    """Diagnostic 36, for a Clear Request on LCN 1."""
    discarded_in_data_transfer(call, Diagnostic(diagnostic=36, explanation=b"\x10\x01\x13"))


@purpose("XOT-FORB-05")
def test_registration(call: Call) -> None:
    discarded_in_data_transfer(
        call,
        RegistrationRequest(registration=b""),
        RegistrationConfirmation(cause=0x7F, diagnostic=0, registration=b""),
    )


@purpose("XOT-FORB-06")
def test_reject(call: Call) -> None:
    """A router that obeys the REJ sends Data 0 and 1 once more."""
    a, bench = call.a, call.bench
    a.withholding = True
    source = call.b if isinstance(call.b, Side) else a
    held = fill_window(source, a, [bench.record(40), bench.record(40)])
    a.withholding = False
    a.allow(*(a.data(octets) for octets in held.sent[held.came :]))
    discarded_in_data_transfer(call, REJ(p_r=0), RR(p_r=held.came))


@purpose("XOT-FORB-09")
def test_undefined_types_before_a_call(bench: Bench) -> None:
    """Every value of octet 3 that no packet type has in either modulo; even ones would be Data."""
    types = [code for code in range(1, 256, 2) if _is_undefined(code)]
    discarded_before_a_call(bench, *(Undefined(type=code) for code in types))


def _is_undefined(code: int) -> bool:
    return all(packet_class(bytes((gfi, 1, code))) is Undefined for gfi in (0x10, 0x20))


@purpose("XOT-FORB-10")
def test_misplaced_packets_before_a_call(bench: Bench) -> None:
    """Discarded, cleared with diagnostic 20, or closed; nothing at B."""
    error = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(20))
    for packet in (
        Data(p_s=0, p_r=0, user_data=b"too early"),
        RR(p_r=0),
        Interrupt(user_data=b"\x01"),
        ResetRequest(cause=0, diagnostic=0),
        CallAccepted(),
    ):
        a = bench.connect()
        a.allow(error)
        a.send(packet)
        bench.fence(note=f"after {type(packet).__name__} before a Call")


@purpose("XOT-FORB-11")
def test_clear_request_before_a_call(bench: Bench) -> None:
    """Confirmed, discarded, or closed; nothing at B."""
    a = bench.connect()
    a.allow(ClearConfirmation())
    a.send(ClearRequest(cause=0, diagnostic=0))
    bench.fence()


@purpose("XOT-FORB-12")
def test_spare_clear_confirmation(bench: Bench) -> None:
    """Discarded, so that the Call works; or an error (20), or the connection is closed.

    Then a new one works.
    """
    a = bench.connect()
    error = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(20))
    a.send(ClearConfirmation(), bench.call_request())
    if bench.two_sided and not bench.went_on(a):
        refused(bench, a, error)
    else:
        b = arrives(bench)
        b.send(b.acceptance)
        came = a.expect(CallAccepted(), *([] if bench.two_sided else [error, CLOSED]))
        if isinstance(came, CallAccepted):
            Call(bench, a, b).fence()
        elif came is not None:
            a.send(ClearConfirmation())
    bench.fence()


@purpose("XOT-FORB-13")
def test_at_b(bench: Bench) -> None:
    """On a connection that B opens, before its Call and behind it, and on one to B."""
    without_a_place = (
        RestartRequest(cause=0, diagnostic=0),
        RestartConfirmation(),
        Diagnostic(diagnostic=36, explanation=b"\x10\x01\x13"),
        RegistrationRequest(registration=b""),
    )
    b = bench.connect(at="b")
    b.send(*without_a_place, *(Undefined(type=code) for code in UNDEFINED_TYPES))
    call = call_of_b(bench, b)
    discarded_in_data_transfer(call, *without_a_place)
    end(call)
    call = bench.place_call()
    discarded_in_data_transfer(call.turned(), *without_a_place)


@purpose("XOT-FORB-14")
def test_wherever_a_call_stands(bench: Bench) -> None:
    """A DTE Reject and each of the others, of A and of B, in modulo 128 too: amid a packet
    sequence, while Interrupts are open, while either side is busy, and before B has answered."""
    for modulus in moduli(bench):
        call = bench.call(modulus=modulus)
        for way, (stands, what) in product((call, call.turned()), STANDS.items()):
            with amid(bench, f"modulo {modulus}, from {way.a.name}, {what}"):
                stands(way)
                way.fence()
        end(call)
        for of_b in (False, True):
            a = bench.connect(modulus=modulus)
            a.send(bench.call_request())
            b = bench.incoming()
            with amid(bench, f"modulo {modulus}, from {'B' if of_b else 'A'}, before the answer"):
                _has_no_place(b if of_b else a)
                bench.fence("the router has read it")
                b.send(b.acceptance)
                a.expect(CallAccepted())
                call = Call(bench, a, b)
                call.fence()
            end(call)
    bench.fence()


def _has_no_place(side: Side) -> None:
    """Each of them once, and a Restart without a diagnostic too."""
    p_r = side.numbering.p_r
    if side.modulus == 128:
        side.put(header(side, REJECT) + bytes((p_r << 1,)))
    else:
        side.put(header(side, p_r << 5 | REJECT))
    side.send(
        RestartRequest(cause=0, diagnostic=0),
        RestartRequest(cause=0x80, diagnostic=None),
        RestartConfirmation(),
        Diagnostic(diagnostic=36, explanation=b"\x10\x01\x13"),
        RegistrationRequest(registration=b""),
    )


REJECT = 0x09


def _amid_a_sequence(call: Call) -> None:
    a, b = both(call)
    full, begin = call.bench.random.randbytes(a.packet_size), b.cursor
    a.send_data(full, m=1, q=1)
    _has_no_place(a)
    a.send_data(b"the end of it", q=1)
    b.expect_message(full + b"the end of it", q=1, start=begin)


def _amid_interrupts(call: Call) -> None:
    for here, there in (both(call), both(call)[::-1]):
        here.send(Interrupt(user_data=b"open"))
        there.expect(Interrupt(user_data=b"open"))
    _has_no_place(call.a)
    for here, there in (both(call), both(call)[::-1]):
        here.send(InterruptConfirmation())
        there.expect(InterruptConfirmation())


def _while_it_is_busy(call: Call) -> None:
    """The Interrupt of B shows that A's connection still is."""
    a, b = both(call)
    a.send(receive_not_ready(a))
    _has_no_place(a)
    for here, there in ((a, b), (b, a)):
        here.send(Interrupt(user_data=b"!"))
        there.expect(Interrupt(user_data=b"!"))
        there.send(InterruptConfirmation())
        here.expect(InterruptConfirmation())
    a.acknowledge()


def _while_the_other_is_busy(call: Call) -> None:
    a, b = both(call)
    b_is_busy(call)
    _has_no_place(a)
    b.acknowledge()


STANDS: dict[Callable[[Call], None], str] = {
    _amid_a_sequence: "amid a packet sequence",
    _amid_interrupts: "while Interrupts are open",
    _while_it_is_busy: "while it is busy",
    _while_the_other_is_busy: "while the other side is busy",
}

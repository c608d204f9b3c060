# SPDX-License-Identifier: GPL-2.0-or-later
"""Destinations that the router ends itself, beside a side B too (X.25 clause 4, 5.2.3, 6.26)."""

from __future__ import annotations

from scapy.packet import Packet

from ..sides.side import AbsentSide
from .anew import called_with
from .calls import next_packet
from .clearing import end
from .connections import arrives_there
from .language import (
    Bench,
    Call,
    CallAccepted,
    CalledLineAddressModified,
    Interrupt,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    between,
    one_of,
    purpose,
)
from .occasion import amid
from .reactions import UNDEFINED, header
from .transfer import interrupt_answered


def connected(bench: Bench, a: Side, request: Packet, *answers: Packet, note: str = "") -> Call:
    """A has called a destination of the router's own, which answers as one of these says."""
    came, own = a.expect(*answers, note=note), AbsentSide()
    assert came is not None
    bench.settle(a, own, request, came)
    return Call(bench, a, own)


@purpose("PLP-CALL-49")
def test_called_address_of_an_own_answer(bench: Bench) -> None:
    """In the first call of a connection and in the next one, which has no calling address.

    One of the two addresses may be the end of the other: digits in front are the network's matter.
    """
    addresses = bench.profile.addresses
    called = addresses.echo or addresses.accepts
    bench.need(called, "the profile names no end of the router's own (addresses.echo, accepts)")
    assert called is not None
    a: Side | None = None
    for calling in (None, ""):
        request = bench.call_request(called=called, calling=calling)
        a = called_with(bench, a, request)
        told = next_packet(a).fields.get("called_address") or called
        alike = told.endswith(called) or called.endswith(told)
        right = [
            CallAccepted(called_address=told if alike else called),
            CallAccepted(called_address_length=one_of(0, None)),
            CallAccepted(facilities=[CalledLineAddressModified(reason=between(0, 255))]),
        ]
        note = f"the called address {called}, or none, or that it was modified"
        end(connected(bench, a, request, *right, note=note))
    bench.fence()


# Modulus, packet size and window of the calls.
_VALUES = ((8, 128, 2), (8, 256, 7), (8, 64, 1), (128, 128, 2), (128, 512, 20))


@purpose("SYS-INTEG-20")
def test_an_own_end_beside_others(bench: Bench) -> None:
    """Sequences of each length, numbers that wrap, Interrupts, resets of both kinds, and again in
    the next call; beside them a call to B goes on."""
    echo = bench.profile.addresses.echo
    bench.need(echo, "the profile names no echo of the router's own (addresses.echo)")
    moduli = (8, 128) if bench.declared("P-MOD128") else (8,)
    beside = bench.place_call()
    for modulus, size, window in _VALUES:
        if modulus not in moduli or size > bench.profile.limits.packet_size:
            continue
        a = bench.connect(modulus=modulus)
        for nth in ("a first", "a second"):
            where = f"{nth} call to {echo}, modulo {modulus}, size {size} and window {window}"
            with amid(bench, where):
                request = bench.call_request(called=echo, size=size, window=window)
                a = called_with(bench, a, request)
                call = connected(bench, a, request, CallAccepted())
                carries_all(call)
                end(call)
        beside.fence()
    bench.fence()


def carries_all(call: Call) -> None:
    """See the case."""
    bench, a = call.bench, call.a
    for _ in range(2):
        size = a.packet_size
        for length in (1, size - 1, size, size + 1, 3 * size):
            octets = bench.random.randbytes(length)
            a.send_message(octets)
            arrives_there(call, octets)
        for number in range(a.modulus + 2):
            octets = b"number %d" % number
            a.send_data(octets)
            arrives_there(call, octets)
        for length in (1, 32):
            interrupt = Interrupt(user_data=bench.random.randbytes(length))
            a.send(interrupt)
            interrupt_answered(call, interrupt)
        a.send(ResetRequest(cause=0, diagnostic=7))
        a.expect(ResetConfirmation())
    a.put(header(a, UNDEFINED))
    a.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(33)))
    a.send(ResetConfirmation())
    call.fence("behind an error")

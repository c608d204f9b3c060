# SPDX-License-Identifier: GPL-2.0-or-later
"""Clearing (X.25 4.1.7 to 4.1.9, 5.2.4, Table C-3; RFC 1613 6.1)."""

from __future__ import annotations

from .clearing import AnySide, confirmed
from .language import (
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Packet,
    one_of,
    purpose,
)

NETWORK_CAUSES = (0x01, 0x03, 0x05, 0x09, 0x0B, 0x0D, 0x11, 0x13, 0x15, 0x19, 0x21, 0x29, 0x39)
REMARK_0X13 = "local procedure error (0x13) arrives as remote procedure error (0x11)"


def passes(bench: Bench, sender: AnySide, receiver: AnySide, cause: int, diagnostic: int) -> None:
    """One side clears; cause and diagnostic arrive at the other one, and both confirm."""
    same = ClearIndication(cause=cause, diagnostic=diagnostic)
    wanted: list[Packet] = [same]
    if cause == 0x13:
        # The error was local at the other peer of the router, so it is remote from here.
        wanted.append(ClearIndication(cause=0x11, diagnostic=diagnostic))
    sender.send(ClearRequest(cause=cause, diagnostic=diagnostic))
    came = receiver.expect(*wanted)
    if came is not None and came.cause != cause:
        bench.remark(REMARK_0X13)
    receiver.send(ClearConfirmation())
    confirmed(sender)


@purpose("PLP-CLR-01")
def test_clear_of_a_reaches_b_and_is_confirmed(call: Call) -> None:
    call.a.send(ClearRequest(cause=0, diagnostic=0))
    call.b.expect(ClearIndication(cause=0, diagnostic=0))
    call.b.send(ClearConfirmation())
    confirmed(call.a)
    call.bench.fence()


@purpose("PLP-CLR-02")
def test_every_diagnostic_passes(bench: Bench) -> None:
    """All 256 values, one call each."""
    for diagnostic in range(256):
        call = bench.call()
        passes(bench, call.a, call.b, cause=0, diagnostic=diagnostic)
    bench.fence()


@purpose("PLP-CLR-03")
def test_causes_with_bit_8_pass(bench: Bench) -> None:
    """All 128 values, one call each."""
    for cause in range(0x80, 0x100):
        call = bench.call()
        passes(bench, call.a, call.b, cause=cause, diagnostic=cause ^ 0x5A)
    bench.fence()


@purpose("PLP-CLR-04")
def test_network_causes_pass(bench: Bench) -> None:
    for cause in NETWORK_CAUSES:
        call = bench.call()
        passes(bench, call.a, call.b, cause=cause, diagnostic=112 + cause % 11)
    bench.fence()


@purpose("PLP-CLR-06")
def test_clear_without_diagnostic(call: Call) -> None:
    call.a.send(ClearRequest(cause=0, diagnostic=None))
    call.b.expect(ClearIndication(cause=0, diagnostic=one_of(0, None)))
    call.b.send(ClearConfirmation())
    confirmed(call.a)
    call.bench.fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""What follows a procedure error in data transfer (X.25 Tables C-4 and E-1), and data around it."""

from __future__ import annotations

from collections.abc import Sequence

from scapy.packet import Packet
from scapy_x25.x25 import RESET_REQUEST

from ..judges.template import matches
from ..sides.numbering import DATA, kind_of
from ..sides.side import AbsentSide, Side
from .language import (
    RNR,
    RR,
    Bench,
    Call,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
)

# The diagnostic of ISO/IEC 8208 for part-filled Data that may not be so.
PARTIALLY_FULL = 165
# More packets than any router has under way for one call; a flood ends here.
MOST_UNDER_WAY = 4096


def expect_after(
    side: Side | AbsentSide, wanted: Packet, *before: Packet, note: str = ""
) -> Packet | None:
    """Wait for a packet; those in before may come first, any number of them."""
    for _ in range(MOST_UNDER_WAY):
        packet = side.expect(wanted, *before, note=note)
        if packet is None or isinstance(packet, type(wanted)):
            return packet
    return side.expect(wanted, note=note)


def expect_reset(
    call: Call,
    *diagnostics: int,
    before: Sequence[Packet] = (),
    under_way: Sequence[Packet] = (),
    note: str = "",
) -> None:
    """The router resets A for its error and B as a remote error; both confirm, data flows.

    before: packets that B may still get ahead of the reset, under_way: those that A may; RR and RNR
    may anyway. note: what A has sent, in words.
    """
    bench = call.bench
    diagnostic = bench.diagnostic(*diagnostics)
    reset = ResetIndication(cause=bench.local_reset, diagnostic=diagnostic)
    expect_after(call.a, reset, *under_way, note=note)
    call.a.send(ResetConfirmation())
    remote = ResetIndication(cause=bench.remote_reset, diagnostic=diagnostic)
    if call.b.present:
        expect_after(call.b, remote, *(p for p in before if not isinstance(p, (RR, RNR))))
    call.b.send(ResetConfirmation())
    call.fence()


def part_filled_is_reset(bench: Bench, x: Side, y: Side) -> bool:
    """Whether the Data that x has just sent, part-filled with M=1 and D=0, brought a reset.

    To a network it ends a packet sequence (X.25 Table 4-1); a DTE, which never gets such a packet
    from one, may take it for an error (165, invalid partially full Data). Both sides have confirmed
    then.
    """
    if not x.router_is_dte:
        return False
    begin = y.cursor

    def come() -> set[int | None]:
        new = (unit.packet for unit in y.arrivals.units if unit.offset >= begin)
        return {kind_of(packet, y.modulus) for packet in new} & {DATA, RESET_REQUEST}

    y.wait_until(lambda: bool(come()) or y.connection.end is not None)
    if RESET_REQUEST not in come():
        return False
    expect_after(
        x, ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(PARTIALLY_FULL))
    )
    x.send(ResetConfirmation())
    y.expect(ResetIndication(cause=bench.remote_reset))
    y.send(ResetConfirmation())
    bench.remark("part-filled Data with M=1 and D=0 is reset (165), by a router that is a DTE")
    return True


def takes_empty_data(call: Call, *, q: int = 0) -> bool:
    """Whether Data of A without user data passes. False: it brought a Reset (a remark), which is
    complete: to X.25 it is a packet as others are, to ISO/IEC 8208 one that is too short.

    A host that sends back what it reads need not send back an empty message.
    """
    bench, a, b = call.bench, call.a, call.b
    reset = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(38, 39))
    a.send(a.data(b"", q=q))
    if isinstance(b, Side):
        came = b.expect(b.data(b"", q=q), ResetIndication(cause=bench.remote_reset))
        if isinstance(came, ResetIndication):
            b.send(ResetConfirmation())
            a.expect(reset)
    else:
        a.allow(a.data(b"", q=q))
        a.send_data(b"behind it")
        came = a.expect(a.data(b"behind it"), reset)
    refused = isinstance(came, ResetIndication)
    if refused:
        bench.remark("Data without user data is refused by a Reset")
        a.send(ResetConfirmation())
    call.fence()
    return not refused


def expect_reset_or_ignored(call: Call, *diagnostics: int) -> None:
    """As expect_reset(); a host that ends the call itself may ignore the packet (a remark)."""
    bench = call.bench
    if call.b.present or not bench.declared("R-DTE"):
        expect_reset(call, *diagnostics)
        return
    octets = f"fence {bench.number} after the error".encode()
    call.a.send_data(octets)
    reset = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(*diagnostics))
    came = call.a.expect(reset, call.a.data(octets))
    if isinstance(came, ResetIndication):
        call.a.send(ResetConfirmation())
        call.fence()
    else:
        bench.remark("the host ignores the packet; X.25 asks for a reset")


def expect_refusal(
    call: Call,
    offending: Packet,
    *diagnostics: int,
    before: Sequence[Packet] = (),
    under_way: Sequence[Packet] = (),
    note: str = "",
) -> None:
    """The router resets both sides for a bad packet; one with N-TRUST may pass it to B.

    Where it passes, B resets, as a DTE has to (ISO/IEC 8208). before, under_way, note: as in
    expect_reset().
    """
    bench = call.bench
    if not bench.declared("N-TRUST") or bench.model != "end-to-end":
        with bench.checking_numbers():
            expect_reset(call, *diagnostics, before=before, under_way=under_way, note=note)
        return
    diagnostic = bench.diagnostic(*diagnostics)
    remote = ResetIndication(cause=bench.remote_reset, diagnostic=diagnostic)
    came = call.b.expect(offending, remote, *before, note=note)
    while any(came is not None and matches(packet, bytes(came)) for packet in before):
        came = call.b.expect(offending, remote, *before)
    if isinstance(came, ResetIndication):
        call.b.send(ResetConfirmation())
        call.a.expect(ResetIndication(cause=bench.local_reset, diagnostic=diagnostic))
        call.a.send(ResetConfirmation())
    else:
        bench.remark("the check is left to the far end (N-TRUST)")
        call.b.send(ResetRequest(cause=0, diagnostic=diagnostics[0]))
        call.a.expect(ResetIndication(cause=0, diagnostic=diagnostics[0]))
        call.a.send(ResetConfirmation())
        call.b.expect(ResetConfirmation())
    call.fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""What follows a procedure error in data transfer (X.25 Tables C-4 and E-1), and data around it."""

from __future__ import annotations

from collections.abc import Sequence

from scapy.packet import Packet
from scapy_x25.x25 import CLEAR_REQUEST, RECEIVE_NOT_READY, RECEIVE_READY, RESET_REQUEST

from ..judges.template import matches
from ..sides.numbering import DATA, kind_of
from ..sides.side import AbsentSide, Side
from .clearing import at_the_other_end
from .language import (
    RNR,
    RR,
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    Data,
    Data128,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
)

# The diagnostic of ISO/IEC 8208 for part-filled Data that may not be so.
PARTIALLY_FULL = 165
_WAITS = "the far end of an error is reset when the near one has confirmed"
# More packets than any router has under way for one call; a flood ends here.
MOST_UNDER_WAY = 4096


def expect_after(
    side: Side | AbsentSide, wanted: Packet, *before: Packet, note: str = ""
) -> Packet | None:
    """Wait for a packet; those in before may come first, any number of them."""
    if isinstance(side, Side) and side.context.far_end.without_echo:
        # No Data comes back, and each time it is expected there an Interrupt is sent in its place.
        before = tuple(p for p in before if not isinstance(p, (Data, Data128)))
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
    reset = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(*diagnostics))
    came = expect_after(call.a, reset, *under_way, note=note)
    call.a.send(ResetConfirmation())
    there = at_the_other_end(bench, came, *diagnostics)
    remote = ResetIndication(cause=bench.remote_reset, diagnostic=there)
    if call.b.present:
        expect_after(call.b, remote, *(p for p in before if not isinstance(p, (RR, RNR))))
    call.b.send(ResetConfirmation())
    call.fence()


def far_end_is_reset_first(far: Side | AbsentSide) -> bool:
    """Whether the far end of an error has its Reset while the near one, which has its own, has not
    confirmed. A router may wait for that: X.25 4.4.3 says for neither when the other is told."""
    assert isinstance(far, Side)
    begin = far.cursor

    def is_told() -> bool:
        return RESET_REQUEST in far.arrivals.types(begin) or far.connection.end is not None

    # It is waited for once in a case: a router that has waited then does so again.
    first = is_told() if _WAITS in far.context.remarks else far.wait_until(is_told)
    if not first:
        far.context.remark(_WAITS)
    return first


def confirmed_ahead(near: Side, far: Side | AbsentSide, here: Packet, *through: Packet) -> bool:
    """What near has sent is an error, or passes: whether it has its Reset or Clear, and far none
    yet. Then near has confirmed, as the far end may be told only by that (X.25 4.1.7, 4.4.3).

    here: the Reset or Clear of near. through: what far gets where it passes; without any, whatever
    comes there but RR and RNR, which may come at any time (X.25 4.4.1.3).
    """
    is_clear = isinstance(here, ClearIndication)
    kind = CLEAR_REQUEST if is_clear else RESET_REQUEST
    if not isinstance(far, Side):
        return False
    begin, nothing = near.cursor, far.arrivals.end()

    def passes() -> bool:
        came = [unit.packet for unit in far.arrivals.since(nothing)]
        if far.connection.end is not None:
            return True
        if not through:
            kinds = {kind_of(octets, far.modulus) for octets in came}
            return bool(kinds - {RECEIVE_READY, RECEIVE_NOT_READY})
        return any(matches(template, octets) for template in through for octets in came)

    def is_told(side: Side, since: int) -> bool:
        return kind in side.arrivals.types(since)

    near.wait_until(lambda: passes() or is_told(near, begin) or is_told(far, nothing))
    if not is_told(near, begin) or is_told(far, nothing):
        return False
    near.expect(here)
    near.send(ClearConfirmation() if is_clear else ResetConfirmation())
    return True


def part_filled_is_reset(bench: Bench, x: Side, y: Side) -> bool:
    """Whether the Data that x has just sent, part-filled with M=1 and D=0, brought a reset.

    To a network it ends a packet sequence (X.25 Table 4-1); a DTE, which never gets such a packet
    from one, may take it for an error (165, invalid partially full Data). Both sides have confirmed
    then.
    """
    if not x.router_is_dte:
        return False
    begin = y.cursor
    code = bench.diagnostic(PARTIALLY_FULL)
    here = ResetIndication(cause=bench.local_reset, diagnostic=code)
    ahead = confirmed_ahead(x, y, here)

    def come() -> set[int | None]:
        new = (unit.packet for unit in y.arrivals.units if unit.offset >= begin)
        return {kind_of(packet, y.modulus) for packet in new} & {DATA, RESET_REQUEST}

    y.wait_until(lambda: bool(come()) or y.connection.end is not None)
    if RESET_REQUEST not in come():
        return False
    if not ahead:
        expect_after(x, here)
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
    ahead = False
    if isinstance(b, Side):
        ahead = confirmed_ahead(a, b, reset)
        came = b.expect(b.data(b"", q=q), ResetIndication(cause=bench.remote_reset))
        if isinstance(came, ResetIndication):
            b.send(ResetConfirmation())
            if not ahead:
                a.expect(reset)
    else:
        a.allow(a.data(b"", q=q))
        a.send_data(b"behind it")
        came = a.expect(a.data(b"behind it"), reset)
    refused = isinstance(came, ResetIndication)
    if refused:
        bench.remark("Data without user data is refused by a Reset")
        if not ahead:
            a.send(ResetConfirmation())
    call.fence()
    return not refused


def expect_reset_or_ignored(call: Call, *diagnostics: int) -> bool:
    """As expect_reset(); a host that ends the call itself may ignore the packet (a remark).

    Returns whether there was a reset.
    """
    bench = call.bench
    if not bench.is_a_dte:
        expect_reset(call, *diagnostics)
        return True
    octets = f"fence {bench.number} after the error".encode()
    call.a.send_data(octets)
    reset = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(*diagnostics))
    came = call.a.expect(reset, call.a.data(octets))
    was_reset = isinstance(came, ResetIndication)
    if was_reset:
        call.a.send(ResetConfirmation())
        call.fence()
    else:
        bench.remark("the host ignores the packet; X.25 asks for a reset")
    return was_reset


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
    there = at_the_other_end(bench, None, *diagnostics)
    remote = ResetIndication(cause=bench.remote_reset, diagnostic=there)
    here = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(*diagnostics))
    ahead = confirmed_ahead(call.a, call.b, here, offending)
    came = call.b.expect(offending, remote, *before, note=note)
    while any(came is not None and matches(packet, bytes(came)) for packet in before):
        came = call.b.expect(offending, remote, *before)
    if isinstance(came, ResetIndication):
        call.b.send(ResetConfirmation())
        if not ahead:
            call.a.expect(here)
            call.a.send(ResetConfirmation())
    else:
        bench.remark("the check is left to the far end (N-TRUST)")
        call.b.send(ResetRequest(cause=0, diagnostic=diagnostics[0]))
        call.a.expect(ResetIndication(cause=0, diagnostic=diagnostics[0]))
        call.a.send(ResetConfirmation())
        call.b.expect(ResetConfirmation())
    call.fence()

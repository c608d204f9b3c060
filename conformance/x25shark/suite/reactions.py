# SPDX-License-Identifier: GPL-2.0-or-later
"""What a router does about an error, as the cases of malformed packets and states share it.

X.25 Annex C: a packet in error is discarded, the side that sent it is reset or cleared with a
diagnostic, and the other side is told by a reset or clear with cause "remote procedure error".
"""

from __future__ import annotations

from scapy.packet import Packet
from scapy_x25 import (
    X25,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    Diagnostic,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
)
from scapy_x25.x25 import RESET_REQUEST

from ..judges.expectation import CLOSED, TcpEnd
from ..judges.values import Matcher
from ..sides.agreement import SIZES
from ..sides.bench import Bench, Call
from ..sides.outcomes import Inconclusive
from ..sides.side import AbsentSide, Side, receive_not_ready
from .clearing import end
from .procedure_errors import confirmed_ahead

AnySide = Side | AbsentSide

# Octets around user data on a line: LAPB and packet headers of modulo 128, the FCS.
_HEADERS = 9

# Octet 3 of a packet that X.25 does not define.
UNDEFINED = 0x2B
CLOSE_IN_PLACE_OF_CLEAR = "the call attempt was ended by a close of TCP, without a Clear"


def both(call: Call) -> tuple[Side, Side]:
    """Side A and side B of a call that has both (configuration T1)."""
    assert isinstance(call.b, Side)
    return call.a, call.b


def b_is_busy(call: Call) -> None:
    """RNR of side B, and Data behind it, which show that the router has read it."""
    a, b = both(call)
    b.send(receive_not_ready(b))
    b.send_data(b"of a busy side")
    a.expect(a.data(b"of a busy side"))


def reach(bench: Bench) -> Side:
    """A connection amid stimuli: a router that takes none any more has failed, not the set-up."""
    try:
        return bench.connect()
    except Inconclusive:
        bench.fence()
        raise


def header(side: Side, octet_3: int, *, bits: int = 0) -> bytes:
    """GFI, LCN and octet 3 of a packet of this side; bits: Q (0x80) and D (0x40)."""
    modulo = 0x20 if side.modulus == 128 else 0x10
    return with_gfi(side, modulo | bits, octet_3)


def with_gfi(side: Side, gfi: int, octet_3: int) -> bytes:
    """Any GFI (the upper half of an octet), the LCN of this side, and octet 3."""
    return bytes((gfi | side.lcn >> 8, side.lcn & 0xFF, octet_3))


# How often a side goes on sending while a timer runs.
_TIMES = 8


def most_octets(bench: Bench) -> int:
    """The user data, in octets, above which a packet is too long in another way than for its type:
    longer than any packet may be, or than a frame (N1)."""
    lines = bench.profile.line.by_side().values()
    most = min((line.n1 // 8 - _HEADERS for line in lines), default=max(SIZES))
    return min(bench.profile.limits.packet_size, most)


def lengths_above(bench: Bench, right: int) -> list[int]:
    """Lengths that are too many octets: one more than is right, and what buffers are cut for.

    None makes a packet that is longer than a Call may be: a router has room for those.
    """
    more = (*(right + n for n in (1, 2, 6)), 64, 127, 128, 255, 256)
    return [length for length in more if right < length <= most_octets(bench)]


def expect_while_sending(
    side: Side, *alternatives: Packet | TcpEnd, within: float
) -> Packet | None:
    """As expect(); the side goes on sending Data that is discarded, which does not start the timer
    of the router anew (X.25 Annex D)."""
    came = side.arrivals.end()
    for _ in range(_TIMES):
        side.put(header(side, 0x00) + b"to be discarded")
        if side.wait_until(
            lambda: bool(side.arrivals.since(came)) or side.connection.end is not None,
            within / _TIMES,
        ):
            break
    return side.expect(*alternatives, within=within / _TIMES)


def call_octets(side: Side, request: Packet, *, tail: bytes) -> bytes:
    """A Call Request up to its addresses, with other octets behind them."""
    whole = side.octets_of(request)
    digits = (whole[3] >> 4) + (whole[3] & 15)
    return whole[: 4 + (digits + 1) // 2] + tail


def cleared_or_closed(bench: Bench, side: AnySide, *templates: Packet) -> None:
    """The router clears the call of a side that is not connected, or closes TCP (RFC 1613 6.1)."""
    if side.expect(*templates, CLOSED) is not None:
        side.send(ClearConfirmation())
    elif side.present:
        bench.remark(CLOSE_IN_PLACE_OF_CLEAR)


def withdrawn(bench: Bench, side: AnySide) -> None:
    """The Call at B goes because of an error of A, before B has answered."""
    side.expect(ClearIndication(cause=bench.remote_clear), CLOSED)
    if not isinstance(side, AbsentSide) and side.phase == "being cleared":
        side.send(ClearConfirmation())


def not_delivered(call: Call, *codes: int, p_r: int | None = None) -> bool:
    """After an error of A in data transfer that may be discarded or answered by any means.

    A sends Data behind it. What arrives at the other end decides: that Data (the error was
    discarded), or a Reset, Clear or close, and then A has the same with one of the diagnostics.
    p_r: of that Data; A withholds its own until then. Returns whether the call goes on.
    """
    bench, a, b = call.bench, call.a, call.b
    diagnostic = bench.diagnostic(*codes)
    a.allow(Diagnostic(diagnostic=diagnostic))
    reset = ResetIndication(cause=bench.local_reset, diagnostic=diagnostic)
    clear = ClearIndication(cause=bench.local_clear, diagnostic=diagnostic)
    text, note = f"behind the error {bench.number}".encode(), "the Data behind the error"
    if p_r is None:
        a.send(a.data(text))
    else:
        a.send(a.data(text, p_r=p_r))
        a.withholding = False
        a.acknowledge()
    ahead = confirmed_ahead(a, b, reset)
    if isinstance(b, AbsentSide):
        came = a.expect(a.data(text), reset, clear, CLOSED, note=note)
    else:
        came = b.expect(
            b.data(text),
            ResetIndication(cause=bench.remote_reset),
            ClearIndication(cause=bench.network_clear),
            CLOSED,
            note=note,
        )
    kind = type(came)
    if kind is ResetIndication:
        b.send(ResetConfirmation())
        if b.present and not ahead:
            a.expect(reset)
        if not ahead:
            a.send(ResetConfirmation())
    elif kind is ClearIndication:
        b.send(ClearConfirmation())
        if b.present:
            a.expect(clear, CLOSED)
        if a.phase == "being cleared":
            a.send(ClearConfirmation())
        return False
    elif came is None:
        if b.present:
            a.expect(clear, CLOSED)
        return False
    call.fence()
    return True


def call_arrived(bench: Bench, a: Side) -> bool:
    """Wait until the call of A is at the other end (True), or A has an answer or a close."""
    a.wait_until(lambda: bench.listeners.is_called() or a.arrivals.reacted)
    return bench.listeners.is_called() or a.phase == "connected"


def taken_by_a_dte(bench: Bench, a: Side, what: str) -> bool:
    """Whether a DTE has taken a Call of A with this error: a remark, and the call is ended.

    The limits of a Call are for the network to keep; a DTE never gets such a Call from one, and no
    clause of X.25 says what it does with it.
    """
    if not bench.is_a_dte or not call_arrived(bench, a):
        return False
    a.expect(CallAccepted())
    bench.remark(f"{what} taken by the DTE")
    end(Call(bench, a, AbsentSide()))
    return True


def connects(bench: Bench, a: Side, *incoming: X25, note: str = "") -> None:
    """The call of A arrives at B as a template says, both ends can send, and A ends it."""
    b: AnySide = bench.incoming(*incoming, note=note) if bench.two_sided else AbsentSide()
    b.send(b.acceptance)
    a.expect(CallAccepted())
    call = Call(bench, a, b)
    call.fence()
    end(call)


def refuses(bench: Bench, a: Side, cause: Matcher | int, *codes: int) -> None:
    """The router refuses the Call of A for an error in it: one Clear, or a close of TCP."""
    cleared_or_closed(bench, a, ClearIndication(cause=cause, diagnostic=bench.diagnostic(*codes)))


def reset(call: Call) -> None:
    """A resets the call, and B confirms."""
    call.a.send(ResetRequest(cause=0, diagnostic=0))
    call.b.expect(ResetIndication(cause=0, diagnostic=0))
    call.b.send(ResetConfirmation())
    call.a.expect(ResetConfirmation())


def was_reset(side: Side) -> bool:
    """Whether a Reset has come on this connection."""
    return resets(side) > 0


def resets(side: Side) -> int:
    """How many Resets have come on this connection."""
    return side.arrivals.types().count(RESET_REQUEST)


def fence_call(bench: Bench) -> None:
    """A fresh call, of which B must see the Call before any other (so none came from errors)."""
    a = bench.connect()
    request = bench.call_request()
    a.send(request)
    note = "the Call behind the wrong ones, of which none goes on"
    connects(bench, a, CallRequest(user_data=request.user_data), note=note)

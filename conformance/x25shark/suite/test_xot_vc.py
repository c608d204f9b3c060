# SPDX-License-Identifier: GPL-2.0-or-later
"""One virtual circuit per connection, and what the LCN means on it: nothing (RFC 1613 5, 6)."""

from __future__ import annotations

from ..judges.expectation import TcpEnd
from .connections import AnySide, arrives, arrives_there, crosses, same_call
from .language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    IncomingCall,
    Packet,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    purpose,
)
from .procedure_errors import confirmed_ahead


@purpose("XOT-VC-01")
def test_equal_lcn_on_two_connections(bench: Bench) -> None:
    first = bench.place_call(lcn=1)
    second = bench.place_call(lcn=1)
    for _ in range(3):
        there = bench.record(100), bench.record(100)
        first.a.send_message(there[0])
        second.a.send_message(there[1])
        arrives_there(first, there[0])
        arrives_there(second, there[1])
        if first.b.present:
            back = bench.record(100), bench.record(100)
            first.b.send_message(back[0])
            second.b.send_message(back[1])
            first.a.expect_message(back[0])
            second.a.expect_message(back[1])


@purpose("XOT-VC-02")
def test_any_lcn(bench: Bench) -> None:
    for lcn in (1, 255, 256, 2048, 4095):
        bench.place_call(lcn=lcn, note=f"a call with LCN {lcn}").fence()


@purpose("XOT-VC-03")
def test_lcn_0(bench: Bench) -> None:
    """X.25 reserves LCN 0, RFC 1613 calls every value arbitrary: the Call may have any fate."""
    a = bench.connect()
    strange = bench.call_request()
    strange.lcn = 0
    a.send(strange)
    a.allow(CallAccepted(), ClearIndication())

    def is_taken(b: Side) -> None:
        bench.remark("a Call with LCN 0 is taken")
        b.allow(ClearIndication())
        b.send(b.acceptance)

    bench.further.allow(IncomingCall(user_data=strange.user_data), is_taken)
    a2 = bench.connect()
    request = bench.call_request()
    a2.send(request)
    b = arrives(bench, IncomingCall(user_data=request.user_data))
    b.send(b.acceptance)
    a2.expect(CallAccepted())
    bench.fence()


def lcns(side: AnySide) -> list[int]:
    """The LCN of each packet that came on a connection."""
    if not isinstance(side, Side):
        return []
    packets = [unit.packet for unit in side.arrivals.since(0)]
    return [(p[0] & 15) << 8 | p[1] for p in packets if len(p) >= 2]


@purpose("XOT-VC-04")
def test_lcn_values_of_the_router(call: Call) -> None:
    """Every value is right; the remark says which ones there were."""
    crosses(call, b"there", b"back")
    call.a.send(ResetRequest(cause=0, diagnostic=0))
    call.b.expect(ResetIndication())
    call.b.send(ResetConfirmation())
    call.a.expect(ResetConfirmation())
    call.a.send(ClearRequest(cause=0, diagnostic=0))
    call.b.expect(ClearIndication())
    call.b.send(ClearConfirmation())
    call.a.expect(ClearConfirmation(), CLOSED)
    for name, side in (("A", call.a), ("B", call.b)):
        seen = sorted(set(lcns(side)))
        if 0 in seen or len(seen) > 1:
            call.bench.remark(f"towards {name} the LCN changes within a call, or is 0: {seen}")
    call.bench.fence()


@purpose("XOT-VC-05")
def test_foreign_lcn_belongs_to_its_connection(bench: Bench) -> None:
    first, second = bench.call(lcn=5), bench.call(lcn=6)
    octets = bench.record(100)
    first.a.send(first.a.data(octets, lcn=6))
    arrives_there(first, octets)
    first.fence()
    second.fence()


def second_call(call: Call, lcn: int, *, may_close: bool) -> None:
    """A Call on a connection that has one: an error, which a splice may pass on unread."""
    bench = call.bench
    request = bench.call_request()
    request.lcn = lcn
    call.a.send(request)
    error = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(23))
    passes_on = call.model == "splice"
    ahead = confirmed_ahead(call.a, call.b, error, *([same_call(request)] if passes_on else []))
    at_b: list[Packet | TcpEnd] = [ClearIndication(cause=bench.remote_clear)]
    at_b += [same_call(request)] if passes_on else []
    at_b += [ClearIndication(cause=bench.network_clear), CLOSED] if may_close else []
    came = call.b.expect(*at_b)
    if isinstance(came, IncomingCall):
        bench.remark("the splice passes the second Call on")
        call.fence()
        return
    if came is not None:
        call.b.send(ClearConfirmation())
    if not ahead and call.a.expect(error, *([CLOSED] if may_close else [])) is not None:
        call.a.send(ClearConfirmation())
    bench.fence()


@purpose("XOT-VC-06")
def test_second_call_with_another_lcn(call: Call) -> None:
    second_call(call, 2, may_close=True)


@purpose("XOT-VC-07")
def test_second_call_with_the_same_lcn(call: Call) -> None:
    second_call(call, call.a.lcn, may_close=False)


@purpose("XOT-VC-10")
def test_lcn_of_the_answer(bench: Bench) -> None:
    a = bench.connect()
    a.send(bench.call_request())
    b = bench.incoming()
    b.lcn = 77
    b.send(b.acceptance)
    a.expect(CallAccepted())
    call = Call(bench, a, b)
    for _ in range(10):
        crosses(call, bench.record(50), bench.record(50))
    b.send(ClearRequest(cause=0, diagnostic=241))
    a.expect(ClearIndication(cause=0, diagnostic=241))
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), CLOSED)
    bench.fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""XOT over TCP: connections that end amid a unit, while another one opens, in place of a Clear
Confirmation (RFC 1613 4.1, 6.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product

from ..links.xot import HEADER_OCTETS
from .calls import seen_alike
from .connections import closes, far_side_ends, pause
from .language import (
    ABSENT,
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    IncomingCall,
    Inconclusive,
    Side,
    either,
    not_in,
    purpose,
)
from .many import at_a_time
from .occasion import amid
from .reactions import both


def by_fin(side: Side) -> None:
    side.wire.half_close()


def by_rst(side: Side) -> None:
    side.wire.reset()


T11_EXPIRED = 49  # X.25 Annex E: time expired for incoming call

ENDS: dict[Callable[[Side], None], str] = {by_fin: "FIN", by_rst: "RST"}


@purpose("XOT-TCP-36", both_sides=True)
def test_end_amid_a_unit(call: Call) -> None:
    """Half of the header of Data, the whole header, and half of the Data; nothing of it comes."""
    for (end, how), cut in product(ENDS.items(), (2, HEADER_OCTETS, 32)):
        a, b = both(call)
        unit = a.unit_of(a.data(call.bench.record(60)))
        a.wire.send(unit[:cut])
        pause(call.bench)
        with amid(call.bench, f"{how} behind {cut} of {len(unit)} octets of a unit"):
            end(a)
            far_side_ends(call.bench, b)
            if end is by_fin:
                closes(a, ClearIndication())
        call = seen_alike(call, call.bench.place_call())
    call.fence()


def refused_for_want_of_room(bench: Bench) -> None:
    """End the case if the router has no room for the call that was sent last."""
    refused_call = bench.capacity.refused()
    if refused_call is not None:
        bench.capacity.refuse(refused_call)


def is_withdrawn(b: Side) -> None:
    """A call arrives at B although it has ended at A: its Clear or close follows. A short T11 would
    clear it too, and says that the call had been pending all the while.
    """
    note = "this call arrived at B although A had ended it before the connection to B opened"
    withdrawn = ClearIndication(diagnostic=either(ABSENT, not_in(T11_EXPIRED)))
    if b.expect(withdrawn, CLOSED, note=note) is not None:
        b.send(ClearConfirmation())


@contextmanager
def opening(bench: Bench, *, spare: int) -> Iterator[Side]:
    """A call of A whose connection to B is still being opened. What happens in here happens before
    B answers: a second call, begun behind it, is the fence, for its SYN is repeated later than one
    that the router may have left of the first call. That one comes about.
    """
    at_a_time(bench, 1, spare=spare)
    other = bench.call()
    requests = bench.call_request(), bench.call_request()
    listener = bench.listeners.refuse()
    listener.ignore()
    try:
        a = bench.connect()
        a.send(requests[0])
        pause(bench, 0.1)
        refused_for_want_of_room(bench)
        yield a
        a2 = bench.connect()
        a2.send(requests[1])
        other.fence()
    finally:
        listener.heed()
    bench.further.allow(IncomingCall(user_data=requests[0].user_data), is_withdrawn)
    a2.wait_until(lambda: bench.listeners.has_call() or a2.arrivals.reacted)
    if a2.arrivals.reacted and not bench.listeners.has_call():
        raise Inconclusive("the router gave up a call before B's TCP answered")
    b = bench.incoming(IncomingCall(user_data=requests[1].user_data))
    b.send(b.acceptance)
    a2.expect(CallAccepted())
    Call(bench, a2, b).fence()


@purpose("XOT-TCP-28")
def test_clear_while_the_connection_to_b_opens(bench: Bench) -> None:
    """A Clear of the router, for which the connection took too long, may have crossed that of A
    (X.25 4.1.9)."""
    with opening(bench, spare=2) as a:
        a.send(ClearRequest(cause=0, diagnostic=241))
    a.expect(ClearConfirmation(), CLOSED, ClearIndication(cause=bench.network_clear))


@purpose("XOT-TCP-37")
def test_end_while_the_connection_to_b_opens(bench: Bench) -> None:
    """By FIN, and then by RST."""
    for end, how in ENDS.items():
        with amid(bench, f"{how} of A"), opening(bench, spare=2) as a:
            end(a)
        if end is by_fin:
            closes(a, ClearIndication(cause=bench.network_clear))


@purpose("XOT-TCP-38", both_sides=True)
def test_end_in_place_of_a_clear_confirmation(call: Call) -> None:
    """A is confirmed, or its connection is closed. A Clear of the network may have crossed that of
    A: a collision, which needs no confirmation (X.25 4.1.9)."""
    for end, how in ENDS.items():
        a, b = both(call)
        a.send(ClearRequest(cause=0, diagnostic=241))
        b.expect(ClearIndication(cause=0, diagnostic=241))
        end(b)
        with amid(call.bench, f"{how} of {b.name} in place of the Clear Confirmation"):
            a.expect(ClearConfirmation(), CLOSED, ClearIndication(cause=call.bench.network_clear))
        call = seen_alike(call, call.bench.place_call())
    call.fence()

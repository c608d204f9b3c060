# SPDX-License-Identifier: GPL-2.0-or-later
"""A circuit is used again: whether all of it is as new, and attempts of a call that fail before.

X.25 4.1.7, 4.4.3, 4.5; RFC 1613 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scapy.packet import Packet
from scapy_x25 import (
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Interrupt,
    InterruptConfirmation,
)

from ..judges.expectation import CLOSED
from ..sides.bench import Bench, Call
from ..sides.side import Side
from .clearing import refused
from .reactions import both


def as_new(call: Call, note: str = "") -> None:
    """Numbers from 0, Q=0, more Data than a window takes and an Interrupt: each way, and back."""
    ways = (both(call), both(call)[::-1])
    for here, there in ways:
        there.withholding = False
        for number in range(here.window + 1):
            octets = f"new {number} from {here.name}".encode()
            here.send_data(octets, q=0)
            numbered = there.data(octets, p_s=number % there.modulus, q=0, m=0)
            there.expect(numbered, note=note)
    for here, there in ways:
        here.send(Interrupt(user_data=b"new"))
        there.expect(Interrupt(user_data=b"new"), note=note)
        there.send(InterruptConfirmation())
        here.expect(InterruptConfirmation(), note=note)
    call.fence()


def is_gone(side: Side) -> bool:
    """Whether either end has closed this side's connection."""
    return side.connection.end is not None or side.connection.closed


def called_on(bench: Bench, a: Side, called: str | None = None) -> Side:
    """As called_with(), with a plain Call."""
    return called_with(bench, a, bench.call_request(called=called))


def called_with(bench: Bench, a: Side | None, request: Packet) -> Side:
    """A calls; a router that closes the connection instead (RFC 1613 5) is called on another."""
    modulus = 8 if a is None else a.modulus
    bench.capacity.give_room()
    if a is None or is_gone(a):
        a = bench.connect(modulus=modulus)
    a = bench.to_call_again(a)
    a.send(request)
    bench.went_on(a)
    if not a.arrivals.closed_unanswered:
        return a
    a.expect_closed()
    again = bench.connect(modulus=modulus)
    again.send(request)
    return again


def again(bench: Bench, a: Side, options: Mapping[str, Any] | None = None) -> Call:
    """A further call of A, on its connection if that is still there."""
    if is_gone(a):
        return bench.place_call(options=options)
    return bench.call_again(a, options=options)


def refused_by_b(bench: Bench, a: Side) -> Side:
    a = called_on(bench, a)
    b = bench.incoming()
    b.send(ClearRequest(cause=0, diagnostic=7))
    a.expect(ClearIndication(cause=0, diagnostic=7))
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), CLOSED)
    return a


def given_up(bench: Bench, a: Side) -> Side:
    a = called_on(bench, a)
    b = bench.incoming()
    a.send(ClearRequest(cause=0, diagnostic=7))
    if b.expect(ClearIndication(), CLOSED) is not None:
        b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED)
    return a


def without_a_route(bench: Bench, a: Side) -> Side:
    """A splice that does not look for the Clear passes this Call to B, as it does all others."""
    no_route = bench.profile.addresses.no_route
    if no_route is None or bench.model == "splice":
        return a
    a = called_on(bench, a, no_route)
    refused(bench, a, ClearIndication(cause=bench.network_clear))
    return a

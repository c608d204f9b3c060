# SPDX-License-Identifier: GPL-2.0-or-later
"""Resources: the limit of calls, and that nothing is lost on the way to it (X.25 4.1, Annex E).

A leak shows in that the router takes fewer calls afterwards than it says it can (limits.calls).
Repetitions are therefore a few more than that limit, not the thousands of a long soak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from .calls import callers, other_end, request_from
from .connections import attempt_ends, refused
from .language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Inconclusive,
    Race,
    Side,
    purpose,
)
from .links import unconfirmed_clear
from .many import ANYTHING, MORE, fill, hang_up, has_room, limit, reachable_again, tidy
from .occasion import amid
from .reactions import both, header, was_reset
from .test_xot_ends import ENDS


def pending(bench: Bench, at: str = "a") -> tuple[Side, Side]:
    """A Call of this side that has to arrive at the other one."""
    near = bench.connect(at=at)
    near.send(bench.call_request() if at == "a" else request_from(bench, at))
    return near, bench.incoming(at=other_end(at))


def over_the_limit(bench: Bench) -> None:
    """One more Call: cleared for want of a channel, or its connection is refused or closed.

    A router that takes it is not at its limit, and nothing can be said of what it does there.
    """
    try:
        a = bench.connect()
    except Inconclusive:
        bench.remark("above the limit the router refuses TCP connections")
        return
    a.send(bench.call_request())
    if bench.went_on(a):
        bench.listeners.accept().allow(ANYTHING)
        raise Inconclusive(
            f"the router takes more than {limit(bench)} calls: limits.calls in the profile says "
            "fewer than it takes"
        )
    full = bench.diagnostic(71)
    came = a.expect(ClearIndication(cause=bench.cause(0x05, 0x01), diagnostic=full), CLOSED)
    if came is not None:
        a.send(ClearConfirmation())


@purpose("SYS-RES-01")
def test_call_above_the_limit(bench: Bench) -> None:
    """MAXCALLS calls, three more; the first calls go on, and nothing comes on any of them."""
    calls = fill(bench, limit(bench))
    for _ in range(3):
        over_the_limit(bench)
    for call in (*calls[:5], *bench.random.sample(calls, min(5, len(calls))), calls[-1]):
        call.fence("a call within the limit")
    hang_up(calls)
    bench.fence()


@purpose("SYS-RES-02")
def test_freed_channel_is_used_again(bench: Bench) -> None:
    """At the limit: one call is cleared, another one comes about; ten times."""
    calls = fill(bench, limit(bench))
    over_the_limit(bench)
    for _ in range(10):
        hang_up([calls.pop(bench.random.randrange(len(calls)))])
        calls.append(bench.place_call(note="the channel that became free"))
        calls[-1].fence()
    hang_up(calls)
    bench.fence()


@purpose("SYS-RES-03")
def test_no_leak_after_many_calls(bench: Bench) -> None:
    """300 calls one after another, each with Data."""
    for number in range(300):
        call = bench.place_call(note=f"call {number + 1}")
        call.a.send_data(b"data")
        if call.b.present:
            call.b.expect(Data(user_data=b"data"))
        else:
            call.a.expect(Data(user_data=b"data"))
        hang_up([call])
    has_room(bench)


@purpose("SYS-RES-04")
def test_no_leak_after_aborted_set_ups(bench: Bench) -> None:
    """MAXCALLS and ten times: Call, then TCP RST before B has answered."""
    for _ in range(limit(bench) + MORE):
        a, b = bench.capacity.in_the_end(lambda: pending(bench))
        a.wire.reset()
        if b.expect(ClearIndication(cause=bench.network_clear), CLOSED) is not None:
            b.send(ClearConfirmation())
        tidy(bench)
    has_room(bench)


@purpose("SYS-RES-05")
def test_no_leak_after_clear_collisions(bench: Bench) -> None:
    """MAXCALLS and ten times: both ends clear at the same time, and each is told so."""
    calls = limit(bench) + MORE
    race = bench.race("clears collided", calls, at_once=calls)
    for _ in race:
        a, b = both(bench.place_call())
        clears_collide(race, a, b)
        a.close()
        tidy(bench)
    has_room(bench)


def clears_collide(race: Race, a: Side, b: Side) -> None:
    """Both ends clear at once, and each is told so."""
    a.send(ClearRequest(cause=0, diagnostic=1))
    b.send(ClearRequest(cause=0, diagnostic=2))
    race.reached()
    for side in (a, b):
        # X.25 4.1.9 asks for no confirmation of either; one is tolerated.
        side.allow(ClearConfirmation())
        side.expect(ClearConfirmation(), ClearIndication(), CLOSED)


@purpose("SYS-RES-12")
def test_no_leak_after_clears_that_a_close_confirms(bench: Bench) -> None:
    """MAXCALLS and ten times: B clears, and A ends TCP in place of a Clear Confirmation."""
    for number in range(limit(bench) + MORE):
        a, b = both(bench.place_call())
        b.send(ClearRequest(cause=0, diagnostic=1))
        a.expect(ClearIndication(cause=0, diagnostic=1))
        if number % 2:
            a.wire.reset()
        else:
            a.close()
        b.expect(ClearConfirmation(), CLOSED)
        tidy(bench)
    has_room(bench)


@purpose("SYS-RES-06")
def test_no_leak_after_refused_calls(bench: Bench) -> None:
    """MAXCALLS and ten times: a Call without route, and one that B refuses."""
    no_route = bench.profile.addresses.no_route
    bench.need(no_route, "the profile names no address without route (addresses.no_route)")
    for _ in range(limit(bench) + MORE):
        a = bench.connect()
        a.send(bench.call_request(called=no_route))
        if a.expect(ClearIndication(cause=bench.network_clear), CLOSED) is not None:
            a.send(ClearConfirmation())
        a.close()
        a, b = bench.capacity.in_the_end(lambda: pending(bench))
        b.send(ClearRequest(cause=0, diagnostic=0))
        a.expect(ClearIndication(cause=0, diagnostic=0))
        a.send(ClearConfirmation())
        b.expect(ClearConfirmation(), CLOSED)
        a.close()
        tidy(bench)
    has_room(bench)


@purpose("SYS-RES-13")
def test_no_leak_after_connections_that_fail(bench: Bench) -> None:
    """MAXCALLS and ten times: B takes no connection; then it closes one in place of an answer."""
    calls = limit(bench) + MORE
    network = ClearIndication(cause=bench.network_clear)
    listener = bench.listeners.refuse()
    listener.stop()
    try:
        for _ in range(calls):
            a = bench.connect()
            a.send(bench.call_request())
            refused(bench, a, network)
            a.close()
            tidy(bench)
    finally:
        listener.resume()
    reachable_again(bench)
    for _ in range(calls):
        a, b = bench.capacity.in_the_end(lambda: pending(bench))
        b.wire.half_close()
        b.allow(ClearIndication())
        refused(bench, a, network)
        a.close()
        tidy(bench)
    has_room(bench)


def up_with_data(bench: Bench, at: str) -> tuple[Side, Side]:
    """A call of this side, both windows of which are full of what nobody acknowledges."""
    near, far = pending(bench, at)
    far.send(far.acceptance)
    near.expect(CallAccepted())
    for side in (near, far):
        side.withholding = True
        side.allow(Data())
    for side in (near, far):
        while side.numbering.outstanding < side.window:
            side.send(side.data(b"in the window", p_r=0))
    return near, far


LOST_AMID: dict[Callable[[Bench, str], tuple[Side, Side]], str] = {
    pending: "before the answer",
    up_with_data: "amid Data",
}


@purpose("SYS-RES-14")
def test_no_leak_after_lost_connections(bench: Bench) -> None:
    """MAXCALLS and ten times, a call of A and one of B: the connection of either end is lost by FIN
    or RST, before the answer or amid Data. Then a call of each comes about, and MAXCALLS."""
    whose = callers(bench)
    ways = list(product(LOST_AMID.items(), (0, 1), ENDS.items()))
    for number in range(limit(bench) + MORE):
        (begins, when), lost, (ends, how) = ways[number % len(ways)]
        at = whose[number // len(ways) % len(whose)]
        with amid(bench, f"{how} {when}, call {number + 1} of {at.upper()}"):
            sides = bench.capacity.in_the_end(lambda: begins(bench, at))  # noqa: B023
            is_lost(bench, sides[lost], sides[1 - lost], ends, begins is pending and lost == 1)
    for at in whose:
        hang_up([bench.capacity.in_the_end(lambda: answered(bench, at))])  # noqa: B023
    has_room(bench)


def answered(bench: Bench, at: str) -> Call:
    """A call of this side that has to come about, with Data each way."""
    near, far = pending(bench, at)
    far.send(far.acceptance)
    near.expect(CallAccepted(), note=f"a call of {near.name} behind all of them")
    call = Call(bench, near, far)
    call.fence()
    return call


def is_lost(
    bench: Bench, side: Side, other: Side, ends: Callable[[Side], None], attempt: bool
) -> None:
    """The connection of a side ends; its call ends at the other one.

    attempt: a router may call this side, which has not answered, once more.
    """
    side.allow(ClearIndication())
    ends(side)
    if attempt:
        told = attempt_ends(bench, other, ClearIndication())
    else:
        told = other.expect(ClearIndication(), CLOSED)
    if told is not None:
        other.send(ClearConfirmation())
    other.close()
    tidy(bench)


@purpose("SYS-RES-07")
def test_no_leak_after_protocol_errors(bench: Bench) -> None:
    """MAXCALLS calls end by an error of A, which confirms nothing; after 2 x T13 all is free.

    A splice does not see errors in data transfer: there B clears, and A does not confirm.
    """
    calls = fill(bench, limit(bench))
    for call in calls:
        call.a.allow(ClearIndication())
        if bench.model == "splice":
            call.b.send(ClearRequest(cause=0, diagnostic=0))
        else:
            call.a.put(header(call.a, 0x0F))
    for call in calls:
        if bench.model == "splice":
            call.b.allow(ClearConfirmation())
        else:
            # It may be told only when A has confirmed, or T13 has run out twice.
            patience = 2.4 * unconfirmed_clear(bench, call.a) + bench.reaction_limit
            call.b.expect(ClearIndication(cause=bench.remote_clear), within=patience)
            call.b.send(ClearConfirmation())
    # A router may close the connection when T13 has run out twice; others are waited for.
    wait = 3 * unconfirmed_clear(bench, calls[0].a) + 4
    bench.loop.wait(lambda: all(call.a.connection.end for call in calls), wait)
    tidy(bench)
    for call in calls:
        bench.capacity.forget(call.a)
    has_room(bench)


@purpose("SYS-RES-10")
def test_window_abuse_is_held(bench: Bench) -> None:
    """5,000 Data that wait for nothing; B does not read. A is reset, closed, or held by TCP."""
    call = bench.call(size=1024)
    call.a.allow(ANYTHING)
    call.b.allow(ANYTHING)
    if isinstance(call.b, Side):
        call.b.wire.tcp.stop_reading()
    for number in range(5000):
        call.a.put(header(call.a, number % 8 << 1) + bytes(1024))
    call.a.wait_until(lambda: was_reset(call.a) or call.a.connection.end is not None, 1.0)
    if isinstance(call.b, Side):
        call.b.wire.tcp.go_on_reading()
    bench.fence()


@purpose("SYS-RES-11")
def test_random_churn_near_the_limit(bench: Bench) -> None:
    """300 calls, at most MAXCALLS - 1 at a time (no more than 60), ended by A, B or both.

    Each carries its own tag; a call counts until both ends have completed its clearing.
    """
    bench.need(limit(bench) > 1, "the router takes one call at a time (limits.calls)")
    most = min(limit(bench) - 1, 60)
    calls: list[tuple[bytes, Call]] = []
    race = bench.race("clears collided beside other calls", 300, at_once=300)
    ends = iter(race)
    for number in range(300):
        if len(calls) >= most or (calls and bench.random.random() < 0.4):
            tag, call = calls.pop(bench.random.randrange(len(calls)))
            call.a.send_data(tag)
            call.b.expect(Data(user_data=tag))
            end(bench, call, race, ends)
        calls.append((f"tag {number}".encode(), bench.place_call(note=f"call {number + 1}")))
    for _, call in calls:
        end(bench, call, race, ends)
    has_room(bench)


def end(bench: Bench, call: Call, race: Race, ends: Iterator[int]) -> None:
    """A, B or both clear; both are done with the call."""
    a, b = both(call)
    match bench.random.choice(("a", "b", "both")):
        case "a":
            hang_up([call])
        case "b":
            b.send(ClearRequest(cause=0, diagnostic=0))
            a.expect(ClearIndication(cause=0, diagnostic=0))
            a.send(ClearConfirmation())
            b.expect(ClearConfirmation(), CLOSED)
        case _:
            next(ends)
            clears_collide(race, a, b)
    a.close()
    tidy(bench)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Many calls at a time, as the cases of integrity, resources and robustness share them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence

from scapy_x25 import X25

from ..judges.template import decode
from ..links.xot import MOST_CONNECTIONS
from ..sides.side import AbsentSide
from .language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Inconclusive,
    NoChannel,
    Packet,
    Side,
)
from .reactions import AnySide

ANYTHING = X25()
# What a case may take that only repeats.
LONGEST_SECONDS = 30.0
# Between two fences of calls that only last (seconds).
FENCED = 10.0
# Between two attempts to reach B again (seconds).
AGAIN = 0.05
# How long a router may refuse calls to a destination that is there again.
HOLD_DOWN_SECONDS = 60.0
# Calls at a time that a case places to fill the router. Some do so twice, with a few calls more,
# and all of these are connections of the router to B.
MOST_CALLS = MOST_CONNECTIONS // 2 - 10
# How many more than MAXCALLS are placed one behind the other, of which none may keep a channel.
MORE = 10


def limit(bench: Bench) -> int:
    """MAXCALLS of the profile, or fewer if a line has fewer logical channels."""
    calls = bench.profile.limits.calls
    bench.need(calls, "the profile does not say how many calls the router takes (limits.calls)")
    assert calls is not None
    for line in bench.profile.line.by_side().values():
        calls = min(calls, line.lcn[1] - line.lcn[0] + 1)
    bench.need(
        calls <= MOST_CALLS,
        f"the router takes {calls} calls at a time (limits.calls); the tester places {MOST_CALLS}",
    )
    return calls


def in_time(bench: Bench, times: int) -> Iterator[int]:
    """Numbers for repetitions; where the router is slow no more than there is time for."""
    began = time.monotonic()
    for number in range(times):
        if time.monotonic() - began > LONGEST_SECONDS:
            bench.remark(f"only {number} of {times} repetitions: the router is slow")
            return
        yield number


def at_a_time(bench: Bench, wanted: int, *, least: int = 1, spare: int = 0, each: int = 1) -> int:
    """How many of these may be up at a time: as many as wanted, or as the router takes.

    each: calls of one; spare: further calls that the case needs beside them. Raises NotApplicable.
    """
    limit = bench.profile.limits.calls
    if limit is None or wanted * each + spare <= limit:
        return wanted
    room = (limit - spare) // each
    needed = least * each + spare
    bench.need(room >= least, f"{needed} calls at a time; the router takes {limit} (limits.calls)")
    bench.remark(f"{room} at a time instead of {wanted}: the router takes {limit} calls")
    return room


def as_many(
    bench: Bench,
    wanted: int,
    place: Callable[[int], Call],
    *,
    least: int = 1,
    spare: int = 0,
) -> list[Call]:
    """So many calls at a time, or as many as the router takes; place: the number of the call.

    Where the profile gives no limit, the first call that is refused for want of a channel shows it.
    """
    calls: list[Call] = []
    for number in range(at_a_time(bench, wanted, least=least, spare=spare)):
        try:
            calls.append(place(number))
        except NoChannel as full:
            if len(calls) < least + spare:
                raise
            hang_up([calls.pop() for _ in range(spare)])
            bench.remark(f"{len(calls)} at a time instead of {wanted}: {full}")
            break
    return calls


def fill(bench: Bench, calls: int) -> list[Call]:
    """So many calls at the same time; that each comes about is expected."""
    return [bench.place_call(note=f"call {n + 1} of {calls}") for n in range(calls)]


def tidy(bench: Bench) -> None:
    """The tester closes what the router has closed.

    Not more: the port of a connection that the tester closes first is free at once, and then two
    connections of the router in one case could have the same key.
    """
    for side in bench.sides:
        if side.connection.end is not None and not side.connection.closed:
            side.close()


def done(bench: Bench, sides: list[Side]) -> None:
    """The tester closes these connections; the router ends what it had to B because of them.

    Nothing is judged of how, and the other connections of B that the case takes anything on go on.
    """
    if not sides:
        return
    take_calls(bench)
    for side in sides:
        side.phase = "idle"
        side.close()
    sides.clear()
    bench.loop.wait(
        lambda: all(side.phase == "cleared" for side in confirmed_at_b(bench)),
        bench.profile.times.reaction,
    )
    tidy(bench)


def confirmed_at_b(bench: Bench) -> list[Side]:
    """What is open at B of the calls that are not judged; those being cleared are confirmed."""
    called = [s for s in bench.sides if s.name == "B" and any(one is ANYTHING for one in s.allowed)]
    going_on = [s for s in called if not s.connection.closed and s.connection.end is None]
    for side in going_on:
        if side.phase == "being cleared":
            side.send(ClearConfirmation())
    return going_on


def hang_up(calls: list[Call]) -> None:
    """Side A clears all calls, and both sides of each are done with it; A closes."""
    for call in calls:
        call.a.send(ClearRequest(cause=0, diagnostic=0))
    for call in calls:
        call.b.expect(ClearIndication(cause=0, diagnostic=0))
        call.b.send(ClearConfirmation())
    for call in calls:
        call.a.expect(ClearConfirmation(), CLOSED)
    for call in calls:
        call.a.close()
    if calls:
        tidy(calls[0].bench)


def has_room(bench: Bench) -> None:
    """Nothing is lost: MAXCALLS calls can be up at a time."""
    calls = fill(bench, limit(bench))
    calls[-1].fence()
    hang_up(calls)
    bench.fence()


def first_packet(side: Side) -> Packet | None:
    """The first packet of a call, as soon as it is there. Nothing is expected by this."""
    side.wait_until(lambda: bool(side.arrivals.units) or side.connection.end is not None)
    return decode(side.arrivals.units[0].packet) if side.arrivals.units else None


def take_calls(bench: Bench) -> None:
    """Whatever the router sends on the connections that it has opened by now is not judged.

    B confirms what is being cleared there, so that the router is done with it.
    """
    while bench.two_sided and bench.listeners.is_called():
        side = bench.listeners.take_called()
        if side is not None:
            side.allow(ANYTHING)
    confirmed_at_b(bench)


def they_last(bench: Bench, calls: Sequence[Call], seconds: float) -> None:
    """Nobody clears these calls: a fence of each every 10 s, for so many seconds."""
    for _ in range(math.ceil(seconds / FENCED)):
        bench.loop.wait(lambda: any(call.a.phase != "connected" for call in calls), FENCED)
        for call in calls:
            call.fence("the call is still there")


def call_among_others(bench: Bench, note: str = "") -> Call:
    """A fresh call, after stimuli of which Calls may have passed to B; those are not judged.

    Such a Call may arrive behind this one, also at the end of the case.
    """
    bench.further.allow_late(lambda side: side.allow(ANYTHING))
    return bench.capacity.in_the_end(lambda: _call_among_others(bench, note))


def _call_among_others(bench: Bench, note: str) -> Call:
    take_calls(bench)
    try:
        a = bench.connect()
    except Inconclusive:
        return bench.place_call(note=note)
    request = bench.call_request()
    a.send(request)
    b: AnySide = AbsentSide()
    while bench.two_sided:
        called = bench.listeners.accept()
        first = first_packet(called)
        if isinstance(first, CallRequest) and first.user_data == request.user_data:
            called.expect(CallRequest(user_data=request.user_data))
            b = called
            break
        called.allow(ANYTHING)
    b.send(b.acceptance)
    a.expect(CallAccepted(), note=note)
    return Call(bench, a, b)


def reachable_again(bench: Bench) -> None:
    """B took no connection for a while, and does now. The router may go on taking it for down: no
    clause says when it has to look again (X.25 4.1.10). A minute has to do; what comes of calls
    behind that is judged.
    """
    last, wait = time.monotonic() + HOLD_DOWN_SECONDS, AGAIN
    while True:
        take_calls(bench)
        a = bench.connect()
        a.allow(ANYTHING)
        a.send(bench.call_request())
        reached = bench.went_on(a)
        done(bench, [a])
        if reached or time.monotonic() > last:
            break
        bench.remark("the router refuses calls to B a while longer than B does")
        bench.loop.pause(wait)
        wait = min(2 * wait, 1.0)


def is_alive(bench: Bench, note: str = "liveness: a fresh call") -> None:
    """Such a call, with data both ways, and its end."""
    call = call_among_others(bench, note)
    call.fence(note)
    hang_up([call])

# SPDX-License-Identifier: GPL-2.0-or-later
"""What comes in one TCP segment: at each place, and behind what it may stand (RFC 1613 4)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations, product

from ..links.xot import HEADER_OCTETS
from ..sides.outcomes import ExpectationFailed
from .calls import modes
from .clearing import confirmed, end, taken_back
from .connections import crosses, pause
from .language import (
    CLOSED,
    RNR,
    RR,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Data128,
    IncomingCall,
    Inconclusive,
    Interrupt,
    InterruptConfirmation,
    Packet,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    purpose,
)
from .many import as_many
from .occasion import amid
from .procedure_errors import expect_after
from .reactions import both, resets
from .test_xot_ends import is_withdrawn
from .windows import fill_window


def follows(call: Call, here: Side, there: Side, kind: type[Packet], confirms: Packet) -> None:
    """A packet of this kind in one segment with a confirmation: both arrive, in any order behind an
    Interrupt. A Reset may do away with its confirmation."""
    if kind is ResetRequest:
        a_reset_follows(here, there, confirms)
        return
    octets = call.bench.record(60)
    behind = here.data(octets) if kind is Data else kind()
    here.send(confirms, behind)
    due = [confirms, there.data(octets) if kind is Data else behind]
    if isinstance(confirms, ResetConfirmation):
        there.expect(due.pop(0))
    while due:
        came = there.expect(*due)
        due = [packet for packet in due if not isinstance(came, type(packet))]
    if kind is Interrupt:
        there.send(InterruptConfirmation())
        here.expect(InterruptConfirmation())


def a_reset_follows(here: Side, there: Side, confirms: Packet) -> None:
    """Where a Reset of the other side is not confirmed yet, both may be one: one that crosses a
    Reset Request is not confirmed (X.25 4.4.3.3), or none comes. Data behind it tells which."""
    resetting, told = there.numbering.resetting, resets(there)
    here.send(confirms, ResetRequest(cause=0, diagnostic=0))
    tells: list[Packet] = []
    if resetting:
        here.wait_until(lambda: not here.numbering.resetting or resets(there) > told)
    if resetting and not here.numbering.resetting:
        here.expect(ResetConfirmation())
        here.send_data(b"behind the Reset")
        tells = [there.data(b"behind the Reset")]
    came = there.expect(ResetIndication(), confirms)
    crossed = isinstance(came, ResetIndication) and isinstance(confirms, ResetConfirmation)
    if not isinstance(came, ResetIndication):
        came = there.expect(ResetIndication(), *tells)
    if isinstance(came, (Data, Data128)):
        return
    if not crossed:
        there.send(ResetConfirmation())
    if tells:
        there.expect(*tells)
    else:
        here.expect(ResetConfirmation())


def of_each_kind_follow(call: Call) -> None:
    """Of each side, behind the confirmation of a Reset and of an Interrupt."""
    for (here, there), kind in product((both(call), both(call)[::-1]), BEHIND):
        occasion = f"{kind().name} with a confirmation of {here.name}, modulo {here.modulus}"
        with amid(call.bench, occasion):
            there.send(ResetRequest(cause=0, diagnostic=0))
            here.expect(ResetIndication(cause=0, diagnostic=0))
            follows(call, here, there, kind, ResetConfirmation())
            there.send(Interrupt(user_data=b"1"))
            here.expect(Interrupt(user_data=b"1"))
            follows(call, here, there, kind, InterruptConfirmation())
            call.fence()


#: What may come in one segment behind a Reset Confirmation and an Interrupt Confirmation.
BEHIND: tuple[type[Packet], ...] = (Data, Interrupt, ResetRequest)


@purpose("XOT-TCP-33")
def test_behind_a_confirmation_in_one_segment(call: Call) -> None:
    """Data, an Interrupt or a Reset behind a Reset Confirmation and behind an Interrupt
    Confirmation, of A and of B, in modulo 128 too; then A's Call behind a Clear Confirmation. The
    router may close A's connection instead."""
    bench, a, b = call.bench, *both(call)
    for way in modes(call):
        of_each_kind_follow(way)
    b.send(ClearRequest(cause=0, diagnostic=7))
    a.expect(ClearIndication(cause=0, diagnostic=7))
    a.numbering.reset()
    a.send(ClearConfirmation(), bench.call_request())
    b.expect(ClearConfirmation(), CLOSED)
    bench.went_on(a)
    if a.arrivals.closed_unanswered:
        a.expect_closed()
        bench.remark("the connection is closed behind the Clear Confirmation")
    else:
        b = bench.incoming()
        b.send(b.acceptance)
        a.expect(CallAccepted())
        Call(bench, a, b).fence()
    bench.fence()


#: What a segment holds, in each order: Data is nowhere behind the RR, whose P(R) it would repeat.
KINDS: tuple[type[Packet], ...] = (Data, Interrupt, InterruptConfirmation, RR)


def orders() -> Iterator[tuple[type[Packet], ...]]:
    """Each kind at each place that it can have; RR at the first without Data."""
    yield from (o for o in permutations(KINDS) if o.index(Data) < o.index(RR))
    yield from ((RR, *others) for others in permutations((Interrupt, InterruptConfirmation)))


@purpose("XOT-TCP-42", window=2)
def test_each_kind_at_each_place(call: Call) -> None:
    """Of A and of B. Behind an RR the window of the other side is open again, so it sends more."""
    a, b = both(call)
    for (here, there), order in product(((a, b), (b, a)), orders()):
        with amid(call.bench, ", ".join(kind().name for kind in order) + f" of {here.name}"):
            in_one_segment(call, here, there, order)
    call.fence()


def in_one_segment(call: Call, here: Side, there: Side, order: tuple[type[Packet], ...]) -> None:
    """These packets of one side in one segment, which all do what they have to."""
    octets, p_r = call.bench.record(60), here.numbering.p_r
    here.withholding = True
    filled = fill_window(there, here, (b"first", b"second"))
    there.send(Interrupt(user_data=b"to confirm"))
    here.expect(Interrupt(user_data=b"to confirm"), passing=filled.passing)
    packets: dict[type[Packet], Packet] = {
        Interrupt: Interrupt(user_data=b"in between"),
        InterruptConfirmation: InterruptConfirmation(),
        RR: RR(p_r=(p_r + filled.came) % 8),
    }
    came_before = filled.came
    if Data in order:
        packets[Data] = here.data(octets, p_r=p_r)
    here.send(*(packets[kind] for kind in order))
    packets[Data] = Data(user_data=octets)
    due = [packets[kind] for kind in order if kind is not RR]
    while due:
        came = there.expect(*due)
        due = [packet for packet in due if not isinstance(came, type(packet))]
    there.send(InterruptConfirmation())
    here.expect(InterruptConfirmation(), passing=filled.passing)
    here.withholding = False
    filled.take_rest()
    if came_before < len(filled.sent):
        here.acknowledge()
    there.send_data(b"behind the RR")
    here.expect(Data(user_data=b"behind the RR"))
    here.acknowledge()
    call.fence()


@purpose("XOT-TCP-43")
def test_what_ends_a_segment(bench: Bench) -> None:
    """A Reset and a Clear behind each other packet, of A and of B, and behind ten of them; what
    goes on behind an RNR; and a Clear behind its own Call, which may arrive at B or not."""
    call = bench.call(window=7)
    for turned, ahead, last in product((False, True), AHEAD, (ResetRequest, ClearRequest)):
        way = call.turned() if turned else call
        with amid(bench, f"{last().name} behind {ahead} of {way.a.name}"):
            ends_a_segment(way, ahead, last)
        if last is ClearRequest:
            call = bench.place_call(options={"window": 7})
        else:
            call.fence("the reset is complete")
    for way in (call, call.turned()):
        with amid(bench, f"behind an RNR of {way.a.name}"):
            goes_on_behind_busy(way)
        call.fence()
    end(call)
    request, a = bench.call_request(), bench.connect()
    withdrawn = IncomingCall(user_data=request.user_data)
    a.send(request, ClearRequest(cause=0, diagnostic=241))
    if bench.went_on(a):
        taken_back(bench, bench.incoming(withdrawn), 241)
    else:
        bench.further.allow(withdrawn, is_withdrawn)
    confirmed(a, "the Clear comes in the segment of its Call")
    bench.fence()


#: What stands in front of the last packet of a segment.
AHEAD = (
    "Data",
    "Interrupt",
    "Interrupt Confirmation",
    "RR",
    "RNR",
    "RNR and RR",
    "ten RRs",
    "Data and Interrupt",
    "Reset Confirmation",
)


def ends_a_segment(call: Call, ahead: str, last: type[ResetRequest] | type[ClearRequest]) -> None:
    """A Reset or Clear of A behind these packets, which it may do away with (X.25 4.1.7, 4.4.3)."""
    here, there = both(call)
    confirms: Packet | None = None
    if ahead == "Interrupt Confirmation":
        confirms = InterruptConfirmation()
        there.send(Interrupt(user_data=b"to confirm"))
        here.expect(Interrupt(user_data=b"to confirm"))
    elif ahead == "Reset Confirmation":
        if last is ResetRequest:
            # Both may be one there: XOT-TCP-33.
            return
        confirms = ResetConfirmation()
        there.send(ResetRequest(cause=0, diagnostic=0))
        here.expect(ResetIndication(cause=0, diagnostic=0))
    ready, busy = RR(p_r=here.numbering.p_r), RNR(p_r=here.numbering.p_r)
    data, interrupt = here.data(b"ahead"), Interrupt(user_data=b"ahead")
    packets: dict[str, tuple[Packet, ...]] = {
        "Data": (data,),
        "Interrupt": (interrupt,),
        "RR": (ready,),
        "RNR": (busy,),
        "RNR and RR": (busy, ready),
        "ten RRs": (ready,) * 10,
        "Data and Interrupt": (data, interrupt),
    }
    before = (confirms,) if confirms is not None else packets[ahead]
    here.send(*before, last(cause=0, diagnostic=241))
    passing = [packet for packet in before if not isinstance(packet, (RR, RNR))]
    indication = ResetIndication if last is ResetRequest else ClearIndication
    expect_after(there, indication(cause=0, diagnostic=241), *passing)
    confirmation = ResetConfirmation() if last is ResetRequest else ClearConfirmation()
    there.send(confirmation)
    here.expect(*((confirmation,) if last is ResetRequest else (confirmation, CLOSED)))


def goes_on_behind_busy(call: Call) -> None:
    """In one segment with an RNR of A: Data, an Interrupt, and the RR that ends it."""
    here, there = both(call)
    busy, ready = RNR(p_r=here.numbering.p_r), RR(p_r=here.numbering.p_r)
    here.send(busy, here.data(b"behind the RNR"))
    there.expect(Data(user_data=b"behind the RNR"))
    here.send(busy, Interrupt(user_data=b"behind the RNR"))
    there.expect(Interrupt(user_data=b"behind the RNR"))
    there.send(InterruptConfirmation())
    here.expect(InterruptConfirmation())
    here.send(busy, ready)
    there.send_data(b"behind the RR")
    here.expect(Data(user_data=b"behind the RR"))


# Octets of a unit that come first: a part of its header, all of it, a part of the packet.
HALVES = (2, HEADER_OCTETS, 32)
# Octets of Data, modulo 8, ahead of its user data.
HEADERS = HEADER_OCTETS + 3


@purpose("XOT-TCP-44")
def test_half_a_unit_amid_a_call(bench: Bench) -> None:
    """Of A, then of B: Data still reaches the side that has sent the half, a call beside it goes
    on, and the unit counts when its rest has come. Then of both at once."""
    call, *others = as_many(bench, 2, lambda _: bench.call())
    beside = others[0] if others else None
    for way, first in product((call, call.turned()), HALVES):
        with amid(bench, f"{first} octets of a unit of {way.a.name} have come"):
            half_a_unit_waits(way, beside, first)
    for first in HALVES:
        with amid(bench, f"{first} octets of a unit of each side have come"):
            halves_of_both_wait(call, first)
    call.fence()
    if beside is not None:
        beside.fence()


@contextmanager
def amid_units(bench: Bench, *sides: Side) -> Iterator[list[bytes]]:
    """Data of each side for the wire; no RR of the tester gets in between its parts. Raises
    Inconclusive where that took the tester longer than a router need wait for the rest (TSTALL)."""
    began, acknowledged = time.monotonic(), [side.numbering.p_r for side in sides]
    units = [side.unit_of(side.data(bench.record(60))) for side in sides]
    for side in sides:
        side.withholding = True
    try:
        yield units
    except ExpectationFailed:
        ended = any(
            side.phase == "being cleared" or side.connection.end is not None for side in bench.sides
        )
        if ended and time.monotonic() - began >= bench.profile.times.stall:
            raise Inconclusive("the tester was held up for longer than times.stall") from None
        raise
    for side, before in zip(sides, acknowledged, strict=True):
        side.withholding = False
        if side.numbering.p_r != before:
            side.acknowledge()


def half_a_unit_waits(call: Call, beside: Call | None, first: int) -> None:
    """Of A; Data of B and of another call passes meanwhile."""
    bench, (a, b) = call.bench, both(call)
    a.wait_for_window()
    b.wait_for_window()
    with amid_units(bench, a) as (unit,):
        a.wire.send(unit[:first])
        pause(bench)
        back = bench.record(60)
        b.send_data(back)
        a.expect_message(back)
        if beside is not None:
            crosses(beside, bench.record(60), bench.record(60))
        a.wire.send(unit[first:])
        b.expect_message(unit[HEADERS:])


def halves_of_both_wait(call: Call, first: int) -> None:
    """The rest of A's unit comes, and then that of B's."""
    a, b = both(call)
    a.wait_for_window()
    b.wait_for_window()
    with amid_units(call.bench, a, b) as (of_a, of_b):
        for here, octets in ((a, of_a[:first]), (b, of_b[:first]), (a, of_a[first:])):
            here.wire.send(octets)
            pause(call.bench)
        b.wire.send(of_b[first:])
        b.expect_message(of_a[HEADERS:])
        a.expect_message(of_b[HEADERS:])

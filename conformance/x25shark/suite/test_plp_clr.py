# SPDX-License-Identifier: GPL-2.0-or-later
"""Clearing (X.25 4.1.7 to 4.1.9, 4.5, 5.2.4, Table C-3; RFC 1613 6.1).

PLP-CLR-05 and -13 are in test_plp_lines.py, -09 is not there yet; PLP-CLR-17 looks at the whole
run.
"""

from __future__ import annotations

import time
from functools import partial

from scapy_x25.x25 import RESET_REQUEST

from ..sides.answers import NETWORK_CAUSES
from .anew import again, called_with, given_up, is_gone, refused_by_b
from .calls import accepted, arrives, checks_calls, moduli, pending, seen_alike
from .clearing import at_the_other_end, cleared, confirmed, end, passes, taken_back
from .collisions import clear_together, end_of_collision
from .connections import second_call
from .language import (
    CLOSED,
    RR,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Diagnostic,
    Interrupt,
    Race,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    one_of,
    purpose,
)
from .links import unconfirmed_clear
from .many import as_many, they_last
from .occasion import amid
from .procedure_errors import confirmed_ahead, far_end_is_reset_first
from .reactions import UNDEFINED, both, connects, expect_while_sending, header
from .windows import may_send


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
        passes(bench, call.a, call.b, 0, diagnostic)
    bench.fence()


@purpose("PLP-CLR-03")
def test_causes_with_bit_8_pass(bench: Bench) -> None:
    """All 128 values, one call each."""
    for cause in range(0x80, 0x100):
        call = bench.call()
        passes(bench, call.a, call.b, cause, cause ^ 0x5A)
    bench.fence()


@purpose("PLP-CLR-04")
def test_network_causes_pass(bench: Bench) -> None:
    for number, cause in enumerate(NETWORK_CAUSES):
        call = bench.call()
        passes(bench, call.a, call.b, cause, 112 + number % 11)
    bench.fence()


@purpose("PLP-CLR-06")
def test_clear_without_diagnostic(bench: Bench) -> None:
    """Behind a Clear with a diagnostic on the same connection, which must not be taken for its own;
    with every kind of cause, and from B as well. Then before the answer, from either side, and of
    modulo 128."""
    a: Side | None = None
    for cause, diagnostic in ((0, 238), (0, None), (0x80, None), (0xC1, None), (0xFF, None)):
        for turned in (False, True) if bench.two_sided else (False,):
            call = bench.call() if a is None else again(bench, a)
            a = call.a
            way = call.turned() if turned else call
            wanted = one_of(0, None) if diagnostic is None else diagnostic
            way.a.send(ClearRequest(cause=cause, diagnostic=diagnostic))
            way.b.expect(ClearIndication(cause=cause, diagnostic=wanted))
            way.b.send(ClearConfirmation())
            confirmed(way.a)
    for modulus in moduli(bench) if bench.two_sided else ():
        with amid(bench, f"modulo {modulus}"):
            no_diagnostic_before_the_answer(bench, modulus)
            for turned in (False, True) if modulus == 128 else ():
                call = bench.call(modulus=modulus)
                without_diagnostic(*both(call.turned() if turned else call))
    bench.fence()


def without_diagnostic(clearing: Side, other: Side) -> None:
    """One side clears with cause 0 and no diagnostic; the other one is told none, or 0."""
    clearing.send(ClearRequest(cause=0, diagnostic=None))
    other.expect(ClearIndication(cause=0, diagnostic=one_of(0, None)))
    other.send(ClearConfirmation())
    confirmed(clearing)


def no_diagnostic_before_the_answer(bench: Bench, modulus: int) -> None:
    """B refuses a call so, and A takes one back."""
    a, b = pending(bench, modulus=modulus)
    without_diagnostic(b, a)
    a, b = pending(bench, modulus=modulus)
    a.send(ClearRequest(cause=0, diagnostic=None))
    taken_back(bench, b, one_of(0, None))
    confirmed(a)


@purpose("PLP-CLR-07")
def test_clear_is_confirmed_in_bounded_time(call: Call) -> None:
    """B never confirms. The router may wait for B, up to twice T13 (T23 where it is the DTE of B's
    line); one that ends the call itself has nobody to wait for.

    X.25 5.2.5: universally a confirmation has local significance, in some networks end to end. What
    T13 repeats may be as it was, see PLP-CLR-26.
    """
    bench = call.bench
    call.a.send(ClearRequest(cause=0, diagnostic=241))
    as_it_was = ClearIndication(cause=0, diagnostic=241)
    call.b.expect(as_it_was)
    ran_out = bench.diagnostic(50)
    call.b.allow(ClearIndication(cause=bench.local_clear, diagnostic=ran_out))
    if isinstance(call.b, Side) and not call.b.router_is_dce:
        call.b.allow(as_it_was)
    call.b.allow(Diagnostic(diagnostic=ran_out))
    within = 2.4 * unconfirmed_clear(bench, call.b) if bench.two_sided else None
    call.a.expect(ClearConfirmation(), CLOSED, within=within)
    bench.fence()


@purpose("PLP-CLR-08")
def test_clear_collision(bench: Bench) -> None:
    """As often as the router has channels, if the profile tells, so that a lost one is missed.

    And 20 times with a pause between the two, by the seed.
    """
    channels = min(bench.profile.limits.calls or 16, 300)
    race = bench.race("clears collided", channels + 20, at_once=channels)

    def connected() -> Call:
        a = bench.connect()
        request = bench.call_request()
        a.send(request)
        return accepted(bench, a, arrives(bench), request)

    for _ in race:
        call = bench.capacity.in_the_end(connected)
        if clear_together(race, call):
            race.reached()
            end_of_collision(call.a)
            end_of_collision(call.b)
    bench.fence("the channels are free")


@purpose("PLP-CLR-10", both_sides=True)
def test_packets_behind_the_clear_of_the_router(call: Call) -> None:
    """The error is a Call Request in data transfer; no packet may come before the fence."""
    call.a.send(call.bench.call_request())
    call.a.expect(
        ClearIndication(cause=call.bench.local_clear, diagnostic=call.bench.diagnostic(23))
    )
    call.a.send(Data(user_data=b"late"), RR(), Interrupt(), ResetRequest(), ClearConfirmation())
    call.b.expect(ClearIndication(cause=call.bench.remote_clear))
    call.b.send(ClearConfirmation())
    call.bench.fence()


@purpose("PLP-CLR-28")
def test_call_that_crosses_the_refusal_of_another(bench: Bench) -> None:
    """A has called an address without route, and does not confirm the Clear before its next Call;
    behind the confirmation it calls once more, unless the router closes the connection."""
    no_route = bench.profile.addresses.no_route
    bench.need(no_route, "the profile names no address without route (addresses.no_route)")
    a = bench.connect()
    a.send(bench.call_request(called=no_route))
    if a.expect(ClearIndication(cause=bench.network_clear), CLOSED) is None or is_gone(a):
        bench.remark("the router closes TCP at its refusal and does not wait for a confirmation")
        bench.fence()
        return
    a.send(bench.call_request())
    is_the_next(bench, None, "a Call on another connection")
    if not is_gone(a):
        a.send(ClearConfirmation())
    is_the_next(bench, a, "the Call behind the confirmation")
    bench.fence()


def is_the_next(bench: Bench, a: Side | None, note: str) -> None:
    """A call of A, there or on a connection of its own: its Call is the next one at B."""
    request = bench.call_request()
    a = called_with(bench, a, request)
    connects(bench, a, CallRequest(user_data=request.user_data), note=note)


@purpose("PLP-CLR-11")
def test_clear_repeated(call: Call) -> None:
    """One or two Confirmations: the second Clear meets p6, or p1 after the first of them."""
    call.a.send(ClearRequest(cause=0, diagnostic=241), ClearRequest(cause=0, diagnostic=241))
    call.b.expect(ClearIndication(cause=0, diagnostic=241))
    if call.model == "splice":
        call.b.allow(ClearIndication(cause=0, diagnostic=241))
    call.b.send(ClearConfirmation())
    confirmed(call.a)
    call.bench.fence()
    call.a.expect_count(ClearConfirmation(), 0, 1, note="the second Clear")


@purpose("PLP-CLR-12")
def test_confirmation_in_data_transfer(call: Call) -> None:
    """An error; on XOT it may be discarded, and then the Data behind it passes."""
    confirmation_in_data_transfer(call)
    if call.b.present:
        confirmation_in_data_transfer(call.bench.call().turned())


def confirmation_in_data_transfer(call: Call) -> None:
    """The same at one side of a call."""
    bench = call.bench
    behind = b"behind it"
    passes_on = () if call.a.name.lower() in bench.lines else (Data(user_data=behind),)
    here = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(23))
    call.a.send(ClearConfirmation(), Data(user_data=behind))
    if call.b.present:
        ahead = confirmed_ahead(call.a, call.b, here)
        remote = ClearIndication(cause=bench.remote_clear)
        came = call.b.expect(remote, *passes_on, CLOSED)
        if isinstance(came, ClearIndication):
            call.b.send(ClearConfirmation())
        if ahead:
            bench.fence()
            return
        if not isinstance(came, Data):
            here_came = call.a.expect(here, CLOSED)
    else:
        came = here_came = call.a.expect(here, *passes_on, CLOSED)
    if came is not None and not isinstance(came, ClearIndication):
        bench.remark("a Clear Confirmation in data transfer was discarded")
        call.fence()
        return
    if here_came is None:
        bench.remark("the call was ended by a close of TCP, without a Clear")
    call.a.send(ClearConfirmation())
    bench.fence()


@purpose("PLP-CLR-14", window=7, both_sides=True)
def test_data_in_front_of_a_clear(call: Call) -> None:
    """A window of Data and the Clear in one segment: all or the first ones come, then the Clear."""
    bench = call.bench
    parts = [b"part %d" % number for number in range(call.a.window)]
    clear = ClearIndication(cause=0, diagnostic=241)
    call.a.send(*(Data(user_data=p, p_s=n) for n, p in enumerate(parts)), _cleared_by_a())
    for number, part in enumerate(parts):
        may_end = [clear] if bench.model != "splice" else []
        if isinstance(call.b.expect(Data(user_data=part), *may_end), ClearIndication):
            lost = len(parts) - number
            bench.remark(f"{lost} of {len(parts)} Data in front of a Clear were discarded")
            break
    else:
        call.b.expect(clear)
    call.b.send(ClearConfirmation())
    confirmed(call.a)
    bench.fence()


def _cleared_by_a() -> ClearRequest:
    return ClearRequest(cause=0, diagnostic=241)


@purpose("PLP-CLR-15", both_sides=True)
def test_nothing_is_delivered_behind_a_clear(call: Call) -> None:
    """What A gets for its Data, an error in p1 or p6 or nothing, is not the matter here.

    On a line the channel may be given to the next call at once: another call of A, where there is
    room for one, shows first that the router has read the Data.
    """
    bench = call.bench
    beside = another_on_the_line(call)
    if bench.model == "splice":
        # One that reads nothing passes the confirmation for an error on as well.
        call.b.allow(Data(), ClearConfirmation())
    error = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(20, 25))
    call.a.allow(error)
    call.a.send(_cleared_by_a(), Data(user_data=b"too late"))
    passing = (Data(),) if bench.model == "splice" else ()
    call.b.expect(ClearIndication(cause=0, diagnostic=241), passing=passing)
    call.b.send(ClearConfirmation())
    call.a.expect(ClearConfirmation(), error, CLOSED)
    if beside is not None:
        beside.fence("the router has read what is behind the Clear")
    bench.fence()
    call.a.send(ClearConfirmation())


def another_on_the_line(call: Call) -> Call | None:
    """A second call of the same ends; None if A is not on a line, or that has one channel."""
    line = call.bench.lines.get(call.a.name.lower())
    if line is None or line.profile.lcn[0] == line.profile.lcn[1]:
        return None
    return seen_alike(call, call.bench.place_call())


@purpose("PLP-CLR-16", both_sides=True)
def test_clear_during_a_reset(call: Call) -> None:
    """B does not confirm the Reset. No Reset Confirmation may come behind that of the Clear."""
    call.a.send(ResetRequest(cause=0, diagnostic=7), _cleared_by_a())
    clear = ClearIndication(cause=0, diagnostic=241)
    came = call.b.expect(ResetIndication(cause=0, diagnostic=7), clear)
    if isinstance(came, ResetIndication):
        call.b.expect(clear)
    call.b.send(ClearConfirmation())
    came = call.a.expect(ResetConfirmation(), ClearConfirmation(), CLOSED)
    if isinstance(came, ResetConfirmation):
        confirmed(call.a)
    call.bench.fence()


@purpose("PLP-CLR-24", both_sides=True)
def test_clear_in_answer_to_a_reset(call: Call) -> None:
    """A resets, B clears in place of the confirmation."""
    call.a.send(ResetRequest(cause=0, diagnostic=7))
    call.b.expect(ResetIndication(cause=0, diagnostic=7))
    call.b.send(_cleared_by_a())
    clear = ClearIndication(cause=0, diagnostic=241)
    if isinstance(call.a.expect(clear, ResetConfirmation()), ResetConfirmation):
        call.a.expect(clear)
    call.a.send(ClearConfirmation())
    confirmed(call.b)
    call.bench.fence()


def call_behind_a_clear(bench: Bench) -> Call:
    """A call on the connection on which the router has sent a Clear, if that is still there."""
    call = bench.call()
    passes(bench, call.b, call.a, 0, 241)
    second = second_call(call) if call.a.connection.end is None else None
    return second or bench.call()


def call_behind_a_collision(bench: Bench) -> Call:
    """The same, where A's own Clear crosses that of the router, and ends the clearing with it."""
    call = bench.call()
    call.b.send(ClearRequest(cause=0, diagnostic=241))
    call.a.expect(ClearIndication(cause=0, diagnostic=241))
    call.a.allow(ClearConfirmation())
    call.a.send(ClearRequest(cause=0, diagnostic=242))
    end_of_collision(call.b)
    second = second_call(call) if call.a.connection.end is None else None
    return second or bench.call()


def call_behind_a_reset(bench: Bench) -> Call:
    """The same, where A clears and owes the router the confirmation of a Reset."""
    call = bench.call()
    a, b = both(call)
    a.put(header(a, UNDEFINED))
    a.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(33)))
    if far_end_is_reset_first(b):
        b.expect(ResetIndication(cause=bench.remote_reset))
        b.send(ResetConfirmation())
    passes(bench, a, b, 0, 241)
    second = second_call(call) if a.connection.end is None else None
    return second or bench.call()


def answered_with_data(bench: Bench) -> Call:
    """A fast select call whose answer has user data."""
    request = bench.call_request(fast_select=2)
    with bench.preamble():
        a = bench.connect()
        a.send(request)
        answer = CallAccepted(user_data=b"\xc0the answer")
        return accepted(bench, a, arrives(bench), request, answer)


@purpose("PLP-CLR-18")
def test_no_spontaneous_clear(bench: Bench) -> None:
    """100 calls at the same time (half of what the router takes), a fence each 10 s.

    They last 60 s, and longer than any timer that their set-up started (T11, T21), or the clearing
    of the call before that one of them followed on its connection (T13), a collision for another,
    for a third a reset that was not confirmed (T12), and for two an attempt that failed (T11, T21).
    """
    times = bench.profile.times
    number = min(100, ((bench.profile.limits.calls or 100) + 1) // 2)
    calls = [call_behind_a_clear(bench)]
    if number > 3 and bench.two_sided:
        calls.append(call_behind_a_collision(bench))
        if checks_calls(bench):
            calls.append(call_behind_a_reset(bench))
    if number > 5 and bench.two_sided:
        attempts = (refused_by_b, given_up)
        calls += [again(bench, failed(bench, bench.connect())) for failed in attempts]
    if number > len(calls) and bench.two_sided and bench.declared("F-FS"):
        calls.append(answered_with_data(bench))
    calls += as_many(bench, number - len(calls), lambda _: bench.call())
    they_last(bench, calls, max(60.0, 1.1 * max(times.t11, times.t12, times.t13, times.t21)))
    for call in calls:
        end(call)
    bench.fence()


@purpose("PLP-CLR-19")
def test_procedure_error_at_either_end(bench: Bench) -> None:
    """A Call Request in data transfer, from A and from B; the same diagnostic or 0 arrives."""
    for name in ("a", "b"):
        call = bench.call()
        assert isinstance(call.b, Side)
        offender, other = (call.a, call.b) if name == "a" else (call.b, call.a)
        offender.send(bench.call_request())
        here = offender.expect(
            ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(23))
        )
        assert here is not None
        offender.send(ClearConfirmation())
        cleared(other, cause=bench.remote_clear, diagnostic=at_the_other_end(bench, here, 23))
    bench.fence()


def clear_under_traffic(bench: Bench, race: Race) -> None:
    """A sends whenever its window is open; B clears and reads on; A gets that Clear."""
    call = bench.call(window=7)
    call.b.allow(Data())
    number, clears_at, behind = 0, bench.random.randint(4, 20), 0
    while call.a.phase == "connected" and call.a.connection.end is None:
        if number == clears_at:
            # A DTE that has asked for the Clear sends nothing more, P(R) neither.
            call.b.withholding = True
            call.b.send(ClearRequest(cause=0, diagnostic=241))
            race.pause()
            if call.a.phase != "connected":
                break
        call.a.send(Data(user_data=b"%d" % number))
        behind += number >= clears_at
        number += 1
        if call.a.numbering.outstanding >= call.a.window:
            opened = bench.loop.wait(
                lambda: call.a.numbering.outstanding < call.a.window or call.a.phase != "connected",
                bench.reaction_limit,
            )
            if not opened:
                break
    race.reached(behind > 0)
    call.a.expect(ClearIndication(cause=0, diagnostic=241))
    call.a.send(ClearConfirmation())
    call.b.expect(ClearConfirmation(), CLOSED, passing=(Data(),))


@purpose("PLP-CLR-20")
def test_clear_under_counter_traffic(bench: Bench) -> None:
    """40 times, the Clear behind 4 to 20 Data."""
    race = bench.race("Data of A crossed the Clear of B", 40)
    for _ in race:
        clear_under_traffic(bench, race)
    bench.fence()


@purpose("PLP-CLR-21")
def test_collision_whose_other_half_is_lost(bench: Bench) -> None:
    """B's TCP is reset behind its Clear, which meets that of A at B, at A, and on its way.

    The last one 20 times, with a pause between the two, by the seed.
    """
    race = bench.race("clears collided and one was lost", 20)
    for _ in race:
        call = bench.call()
        call.b.allow(ClearIndication(), ClearConfirmation())
        if clear_together(race, call):
            race.reached()
            call.b.wire.reset()
            end_of_collision(call.a)
    for meeting in ("at B", "at A"):
        call = bench.call()
        # What the router sends as B's reset arrives may be on the wire and yet never be read.
        call.b.allow(ClearIndication(), ClearConfirmation())
        if meeting != "at A":
            call.a.send(_cleared_by_a())
        if meeting == "at B":
            call.b.expect(ClearIndication(cause=0, diagnostic=241))
        call.b.send(ClearRequest(cause=0, diagnostic=242))
        call.b.wire.reset()
        if meeting == "at A":
            call.a.send(_cleared_by_a())
        end_of_collision(call.a)
    bench.fence()


@purpose("PLP-CLR-22")
def test_clear_does_not_wait_behind_data(call: Call) -> None:
    """B gives no P(R); A sends until nothing more is taken, then clears."""
    call.b.withholding = True
    for number in range(8):
        if not may_send(call.a, within=0.05):
            break
        call.a.send(Data(user_data=b"%d" % number))
    call.a.send(_cleared_by_a())
    clear = ClearIndication(cause=0, diagnostic=241)
    for number in range(call.b.window_in):
        if isinstance(call.b.expect(Data(user_data=b"%d" % number), clear), ClearIndication):
            break
    else:
        call.b.expect(clear)
    call.b.send(ClearConfirmation())
    confirmed(call.a)
    call.bench.fence()


@purpose("PLP-CLR-23")
def test_clear_of_the_called_side(bench: Bench) -> None:
    """Diagnostics 0 to 255 in steps of 5; causes of DTEs and of networks."""
    pairs = [(0, diagnostic) for diagnostic in range(0, 256, 5)]
    pairs += [(cause, 241) for cause in (0x80, 0xC1, 0xFF)]
    pairs += [(cause, 112 + number % 11) for number, cause in enumerate(NETWORK_CAUSES)]
    for cause, diagnostic in pairs:
        call = bench.call()
        call.fence("data each way")
        passes(bench, call.b, call.a, cause, diagnostic)
    bench.fence()


@purpose("PLP-CLR-26")
def test_clear_is_repeated_once(bench: Bench) -> None:
    """B clears, A does not confirm: behind T13 the Clear comes once more (50), or as it was.

    So it does in a second call at the same time, in which A goes on sending Data, in a third, in
    which A clears and B does not confirm, and in two more like the first and the third, of modulo
    128. The confirmation ends the clearing: A calls again on its connection, and nothing of T13
    comes to that call. A router may also close the connection (RFC 1613 6.1).
    """
    t13 = bench.profile.times.t13
    wide = [modulus for modulus in moduli(bench) if modulus == 128]
    ways = [8, 8, 8, *wide, *wide]
    calls = as_many(bench, len(ways), lambda number: bench.call(modulus=ways[number]))
    calls[2:4] = [call.turned() for call in calls[2:4]]
    for call in calls:
        call.b.send(_cleared_by_a())
        call.a.expect(ClearIndication(cause=0, diagnostic=241))
    again = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(50))
    as_it_was = ClearIndication(cause=0, diagnostic=241)
    further = []
    within = 1.2 * t13 + bench.reaction_limit
    for call in (*calls[1:2], *calls[:1], *calls[2:]):
        sends = call in calls[1:2]
        waits = partial(expect_while_sending, call.a) if sends else call.a.expect
        came = waits(again, as_it_was, CLOSED, within=within)
        if came is not None:
            call.a.send(ClearConfirmation())
        # Where confirmations are end to end (X.25 5.2.5) B's comes behind A's only, or the close.
        call.b.expect(ClearConfirmation(), CLOSED)
        if came is None:
            bench.remark("T13 closes the connection")
        elif call not in calls[2:]:
            further.append(second_call(call))
    lasting = [call for call in further if call is not None]
    they_last(bench, lasting, 1.2 * t13)
    for call in lasting:
        end(call)
    bench.fence()


@purpose("PLP-CLR-29")
def test_t12_ends_with_the_call(bench: Bench) -> None:
    """B owes the confirmation of a Reset as A clears, and confirms nothing until T12 is over: but
    for a Clear that T13 repeats nothing comes to it."""
    times = bench.profile.times
    bench.need(1.2 * times.t12 < 1.8 * times.t13, "T12 over before the second T13 is ([times])")
    call = bench.call()
    a, b = both(call)
    a.send(ResetRequest(cause=0, diagnostic=0))
    b.expect(ResetIndication(cause=0, diagnostic=0))
    began = time.monotonic()
    a.send(_cleared_by_a())
    b.expect(ClearIndication(cause=0, diagnostic=241))
    again = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(50))
    b.allow(again, ClearIndication(cause=0, diagnostic=241))
    begin = b.cursor
    b.wait_until(
        lambda: RESET_REQUEST in b.arrivals.types(begin) or b.connection.end is not None,
        began + 1.2 * times.t12 - time.monotonic(),
    )
    b.expect_count(ResetIndication(), 0, 0, start=begin, note="T12 has ended with the call")
    if b.connection.end is None:
        b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED, passing=(ResetConfirmation(),))
    bench.fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""What one use of a circuit must not leave to the next (X.25 4.1.7, 4.4.3, 4.5; RFC 1613 5).

A call, or what comes before a reset, ends in the middle of something: a side that is busy, an
Interrupt that nobody has confirmed, half a packet sequence, a window that is used up in part. Then
the circuit is used again, and every part of it has to be as new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

from scapy_x25 import ClosedUserGroup, PacketSize, WindowSize
from scapy_x25.x25 import RECEIVE_NOT_READY

from ..judges.expectation import TcpEnd
from ..sides.side import receive_not_ready
from .anew import again, as_new, called_with, given_up, refused_by_b, without_a_route
from .callers import takes_any_caller
from .calls import accepted, agreed_by, at_a, received_call, window_holds
from .clearing import AnySide, clear_with, end, refused
from .collisions import end_of_collision
from .facilities import DTE_FACILITIES, for_dtes
from .language import (
    ABSENT,
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
    Data128,
    Interrupt,
    InterruptConfirmation,
    Packet,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    purpose,
)
from .occasion import amid
from .procedure_errors import expect_refusal
from .reactions import UNDEFINED, both, header, resets
from .windows import all_acknowledged


def full(side: Side) -> bytes:
    """A full packet of the side, as a sequence begins with it that is never ended."""
    return b"a sequence that is never ended"[: side.packet_size].ljust(side.packet_size)


def _busy(call: Call) -> None:
    """Both sides have said RNR."""
    for side in both(call):
        side.send(receive_not_ready(side))
    for here, there in (both(call), both(call)[::-1]):
        here.send(Interrupt(user_data=b"behind the RNR"))
        there.expect(Interrupt(user_data=b"behind the RNR"))
        there.send(InterruptConfirmation())
        here.expect(InterruptConfirmation())


def _interrupted(call: Call) -> None:
    """An Interrupt of each side is not confirmed."""
    for here, there in (both(call), both(call)[::-1]):
        here.send(Interrupt(user_data=b"never confirmed"))
        there.expect(Interrupt(user_data=b"never confirmed"))


def _amid_a_sequence(call: Call) -> None:
    """Each side has sent the first packet of a sequence, with Q=1. It may have come or not."""
    for side in both(call):
        side.send_data(full(side), m=1, q=1)
    end(call.bench.fence("the router has both"))


def _queued(call: Call) -> None:
    """Each side acknowledges nothing, and the other has sent all that it may, twice: a router with
    windows of its own holds the rest of it. What has not come may come late, or never."""
    acknowledged = {side.name: side.numbering.p_r for side in both(call)}
    for side in both(call):
        side.withholding = True
    for _ in range(2):
        for side in both(call):
            while side.numbering.outstanding < side.window:
                side.send(side.data(full(side), q=1, p_r=acknowledged[side.name]))
        end(call.bench.fence("the router has what both sides have sent"))


def _held(call: Call) -> None:
    """Both sides have said RNR, and Data has come for them since. One that the router has told so
    sends none."""
    _busy(call)
    for side in both(call):
        if RECEIVE_NOT_READY not in side.arrivals.types(side.start):
            side.send_data(full(side), q=1)
    end(call.bench.fence("the router has what both sides have sent"))


def _unacknowledged(call: Call) -> None:
    """Each side has one Data that it has not acknowledged; three it has, so no number is 0."""
    for here, there in (both(call), both(call)[::-1]):
        for number in range(3):
            here.send_data(bytes((number,)))
            there.expect(there.data(bytes((number,))))
        there.withholding = True
        here.send_data(b"not acknowledged")
        there.expect(there.data(b"not acknowledged"))


def _to_be_confirmed(call: Call) -> None:
    """Each side has sent Data with D=1, which has come and is not acknowledged."""
    if not call.bench.declared("P-DBIT"):
        return
    acknowledged = {side.name: side.numbering.p_r for side in both(call)}
    for here, there in (both(call), both(call)[::-1]):
        there.withholding = True
        here.send_data(b"to be confirmed", d=1, q=1, p_r=acknowledged[here.name])
        there.expect(there.data(b"to be confirmed", d=1, q=1))


# What each of them leaves, for messages.
MIDDLES: dict[Callable[[Call], None], str] = {
    _busy: "both sides were busy before it",
    _queued: "Data waited for both sides before it",
    _held: "both sides were busy before it, and Data waited for them",
    _interrupted: "both Interrupts were open before it",
    _amid_a_sequence: "both sequences with Q=1 were open before it",
    _unacknowledged: "Data was not acknowledged before it",
    _to_be_confirmed: "Data with D=1 was not confirmed before it",
}
# What of the old use may still be under way when the circuit is reset or cleared.
OLD, OLD_128 = Data(q=1), Data128(q=1)


def left_open(here: Side, there: Side) -> None:
    """Data with Q=1 and M=1 that is not acknowledged, and an Interrupt that is not confirmed."""
    there.withholding = True
    here.send_data(full(here), m=1, q=1)
    here.send(Interrupt(user_data=b"never confirmed"))
    there.expect(Interrupt(user_data=b"never confirmed"), passing=(OLD,))


def behind_old(side: AnySide, *wanted: Packet | TcpEnd) -> None:
    """One of these comes, or what is left of the old use and then one of these. To a side that has
    reset its confirmation may come late."""
    old: tuple[Packet, ...] = (OLD_128 if isinstance(side, Side) and side.modulus == 128 else OLD,)
    if isinstance(side, Side) and side.numbering.resetting:
        old += (ResetConfirmation(),) if ResetConfirmation not in map(type, wanted) else ()
    while isinstance(side.expect(*wanted, *old), tuple(map(type, old))):
        pass


@purpose("PLP-RST-21")
def test_reset_leaves_nothing(call: Call) -> None:
    """In the middle of each thing a reset of A, and then one of B, all on one call; of modulo 128
    as well."""
    leaves_nothing(call)
    bench = call.bench
    if bench.declared("P-MOD128") and not bench.lines:
        end(call)
        with amid(bench, "a call of modulo 128"):
            leaves_nothing(bench.place_call(modulus=128))


def leaves_nothing(call: Call) -> None:
    """See PLP-RST-21."""
    for middle, left in MIDDLES.items():
        for way in (call, call.turned()):
            middle(call)
            way.a.send(ResetRequest(cause=0, diagnostic=0))
            behind_old(way.b, ResetIndication(cause=0, diagnostic=0))
            way.b.send(ResetConfirmation())
            behind_old(way.a, ResetConfirmation())
            as_new(call, f"behind a reset of {way.a.name}, {left}")


@purpose("PLP-RST-25")
def test_own_reset_leaves_nothing(call: Call) -> None:
    """In the middle of each thing an error of A, and then one of B: the router resets both."""
    bench = call.bench
    for middle, left in MIDDLES.items():
        for way in (call, call.turned()):
            a, b = both(way)
            middle(call)
            a.put(header(a, UNDEFINED))
            behind_old(a, ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(33)))
            a.send(ResetConfirmation())
            behind_old(b, ResetIndication(cause=bench.remote_reset))
            b.send(ResetConfirmation())
            as_new(way.turned(), f"behind an error of {a.name}, {left}")


@purpose("SYS-INTEG-13")
def test_next_call_finds_nothing_left(bench: Bench) -> None:
    """In the middle of each thing A clears; then B does, then both, and then the router for an
    error of A, if it looks for them. The next call is on that connection.

    A router may close it (RFC 1613 5); then it is on another one.
    """
    call = bench.place_call()
    for (middle, left), over in product((MIDDLES | MIDDLES_OF_RESETS).items(), ENDS):
        looked_for = call.model != "splice" and middle in MIDDLES
        if over is _cleared_for_an_error and not looked_for:
            continue
        middle(call)
        with amid(bench, f"{ENDS[over]}; {left}"):
            over(call)
        call = bench.capacity.in_the_end(partial(again, bench, call.a))
        # A confirmation of clears that crossed would have come ahead of the answer.
        call.a.allowed.clear()
        as_new(call, f"in the next call, behind one that {ENDS[over]}; {left}")
    bench.fence()


def _reset_of_a(call: Call) -> None:
    """A has reset, and B has not confirmed."""
    a, b = both(call)
    a.send(ResetRequest(cause=0, diagnostic=0))
    b.expect(ResetIndication(cause=0, diagnostic=0))
    end(call.bench.fence("a router that confirms by itself has confirmed"))
    if not a.numbering.resetting:
        a.expect(ResetConfirmation())


def _reset_of_b(call: Call) -> None:
    _reset_of_a(call.turned())


MIDDLES_OF_RESETS: dict[Callable[[Call], None], str] = {
    _reset_of_a: "the reset of A was not confirmed before it",
    _reset_of_b: "the reset of B was not confirmed before it",
}


def _cleared_by_a(call: Call) -> None:
    call.a.send(ClearRequest(cause=0, diagnostic=7))
    behind_old(call.b, ClearIndication(cause=0, diagnostic=7))
    call.b.send(ClearConfirmation())
    behind_old(call.a, ClearConfirmation(), CLOSED)


def _cleared_by_b(call: Call) -> None:
    _cleared_by_a(call.turned())


def _cleared_by_both(call: Call) -> None:
    """A clears before it reads the Clear of B."""
    a, b = both(call)
    b.send(ClearRequest(cause=0, diagnostic=241))
    behind_old(a, ClearIndication(cause=0, diagnostic=241))
    a.allow(ClearConfirmation())
    a.send(ClearRequest(cause=0, diagnostic=242))
    end_of_collision(b, OLD, ResetConfirmation())


def _cleared_for_an_error(call: Call) -> None:
    """A Call Accepted of A in data transfer (Table C-3)."""
    bench = call.bench
    call.a.send(CallAccepted())
    local = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(23))
    for side, clear in ((call.a, local), (call.b, ClearIndication(cause=bench.remote_clear))):
        behind_old(side, clear)
        side.send(ClearConfirmation())


# How a call ends that something is open in.
ENDS: dict[Callable[[Call], None], str] = {
    _cleared_by_a: "A cleared",
    _cleared_by_b: "B cleared",
    _cleared_by_both: "both cleared",
    _cleared_for_an_error: "the router cleared for an error of A",
}


@purpose("SYS-INTEG-14")
def test_values_are_those_of_the_call(bench: Bench) -> None:
    """A call with small values, one with larger ones, then one that names neither, or one of them
    alone: 128 octets and 2. What the larger values let in is taken, full packets and a window of
    them. Behind it neither side may send longer packets than it has agreed to. The larger ones end
    by a Clear of A, of B, and of both."""
    size = min(512, bench.profile.limits.packet_size)
    bench.need(size > 128, "a packet size above 128")
    named = ((), (WindowSize(),), (PacketSize(),))
    for over, facilities in product((_cleared_by_a, _cleared_by_b, _cleared_by_both), named):
        small = bench.place_call(options={"size": 128, "window": 1})
        small.fence()
        end(small)
        large = again(bench, small.a, {"size": size, "window": 7})
        for here, there in (both(large), both(large)[::-1]):
            all_acknowledged(here)
            free = here.window - here.numbering.outstanding
            messages = [bench.record(here.packet_size) for _ in range(free)]
            here.send(*map(here.data, messages))
            for octets in messages:
                there.expect_message(octets, longest=there.size_in, note="as large as agreed")
        large.fence()
        over(large)
        with amid(bench, f"behind one with larger values that {ENDS[over]}"):
            call = naming_no_values(bench, large.a, facilities)
            if call is not None:
                has_its_values(call, size)
                end(call)
    bench.fence()


def naming_no_values(bench: Bench, a: Side, facilities: Sequence[Packet]) -> Call | None:
    """A call of A that names neither value, or one and that as the default. None: such a Call is
    refused (RFC 1613 6.1)."""
    kept = a.connection.end is None and a.phase == "cleared"
    a = a if kept else bench.connect()
    a.numbering.reset()
    request = bench.call_request(facilities=facilities)
    a.send(request)
    if kept and not bench.went_on(a) and a.connection.end is not None:
        a.expect(CLOSED)
        bench.remark("the connection is closed at the second call")
        a = bench.connect()
        a.send(request)
    if not bench.went_on(a):
        refused(bench, a, ClearIndication(cause=bench.network_clear))
        bench.remark("a Call that does not name its values is refused")
        return None
    b = bench.incoming(CallRequest(user_data=request.user_data))
    answer = CallAccepted()
    return accepted(bench, a, b, request, answer, at_a(bench, request, agreed_by(b, answer)))


def has_its_values(call: Call, size: int) -> None:
    """Windows and packet sizes as agreed: where this size is longer it is refused."""
    window_holds(call.a, call.b)
    window_holds(call.b, call.a)
    call.fence()
    for way in (call, call.turned()) if call.model != "splice" else ():
        if way.a.packet_size < size:
            too_long = way.a.data(bytes(way.a.packet_size + 1))
            way.a.send(too_long)
            expect_refusal(way, too_long, 39)


@purpose("PLP-RST-22", both_sides=True)
def test_interrupt_behind_a_reset(call: Call) -> None:
    """A window of Data and an Interrupt. A router that confirms by itself holds them until B has
    confirmed; none is lost. Elsewhere A has to wait for B."""
    bench, a, b = call.bench, *both(call)
    a.send(ResetRequest(cause=0, diagnostic=0))
    b.expect(ResetIndication(cause=0, diagnostic=0))
    bench.fence("a router that confirms by itself has confirmed")
    by_itself = not a.numbering.resetting
    if not by_itself:
        b.send(ResetConfirmation())
    a.expect(ResetConfirmation())
    waiting = [f"waits {number}".encode() for number in range(a.window)]
    data = (a.data(octets, q=number % 2) for number, octets in enumerate(waiting))
    a.send(*data, Interrupt(user_data=b"waits as well"))
    if by_itself:
        bench.fence("the router has what A sent")
        b.send(ResetConfirmation())
    arrives_with_an_interrupt(b, waiting)
    b.send(InterruptConfirmation())
    a.expect(InterruptConfirmation())
    as_new_but_for_numbers(call)


@purpose("PLP-RST-23", both_sides=True)
def test_interrupt_between_two_resets(call: Call) -> None:
    """B has confirmed neither reset when A sends the Interrupt. It may come ahead of the second,
    and not behind it. Where the router waits for B before it confirms, A cannot send it at all."""
    bench, a, b = call.bench, *both(call)
    between = Interrupt(user_data=b"between two resets")
    for number in range(2):
        a.send(ResetRequest(cause=0, diagnostic=0))
        if number == 0:
            b.expect(ResetIndication(cause=0, diagnostic=0))
        bench.fence("a router that confirms by itself has confirmed")
        if a.numbering.resetting:
            break
        a.expect(ResetConfirmation())
        if number == 0:
            a.send(between)
    b.send(ResetConfirmation())
    if a.numbering.resetting:
        a.expect(ResetConfirmation(), passing=(InterruptConfirmation(),))
    a.send_data(b"behind both")
    behind = Data(p_s=0, user_data=b"behind both")
    came = b.expect(behind, ResetIndication(cause=0), between)
    if isinstance(came, Interrupt):
        came = b.expect(ResetIndication(cause=0), note="the Interrupt comes ahead of a reset only")
    if isinstance(came, ResetIndication):
        b.send(ResetConfirmation())
        b.expect(behind)
    as_new_but_for_numbers(call)


def as_new_but_for_numbers(call: Call) -> None:
    """Data and an Interrupt each way."""
    for here, there in (both(call), both(call)[::-1]):
        here.send_data(b"new from " + here.name.encode())
        there.expect(Data(user_data=b"new from " + here.name.encode()))
        here.send(Interrupt(user_data=b"new"))
        there.expect(Interrupt(user_data=b"new"))
        there.send(InterruptConfirmation())
        here.expect(InterruptConfirmation())
    call.fence()


@purpose("PLP-RST-26", both_sides=True)
def test_what_waits_for_the_other_confirmation(call: Call) -> None:
    """The router resets both sides for an error of A, and A goes on before B has confirmed.

    What A sends meanwhile arrives whole and in order, and an Interrupt behind it or before. The
    second time A resets before B has confirmed: what waited may come ahead of a Reset, and not
    behind it.
    """
    a, b = both(call)
    waiting = waits_for_a_confirmation(call)
    a.send(Interrupt(user_data=b"waits as well"))
    call.bench.fence("the router has the Interrupt")
    b.send(ResetConfirmation())
    arrives_with_an_interrupt(b, waiting)
    b.send(InterruptConfirmation())
    a.expect(InterruptConfirmation())
    as_new_but_for_numbers(call)
    old = [Data(user_data=octets) for octets in waits_for_a_confirmation(call)]
    a.send(ResetRequest(cause=0, diagnostic=0))
    call.bench.fence("the router has the second reset")
    told = resets(b)
    b.send(ResetConfirmation())
    a.wait_until(lambda: not a.numbering.resetting or resets(b) > told)
    if a.numbering.resetting:
        b.expect(ResetIndication(cause=0), passing=old)
        b.send(ResetConfirmation())
    a.expect(ResetConfirmation())
    behind = Data(p_s=0, user_data=b"behind both")
    a.send_data(b"behind both")
    came = b.expect(behind, ResetIndication(cause=0), *old)
    while isinstance(came, Data) and came.user_data != b"behind both":
        came = b.expect(ResetIndication(cause=0), *old, note="it comes ahead of a reset only")
    if isinstance(came, ResetIndication):
        b.send(ResetConfirmation())
        b.expect(behind)
    as_new_but_for_numbers(call)


def arrives_with_an_interrupt(b: Side, waiting: Sequence[bytes]) -> None:
    """The Data that waited for B's confirmation, in order, and the Interrupt at any place."""
    due: list[Packet] = [Data(p_s=n, q=n % 2, user_data=octets) for n, octets in enumerate(waiting)]
    interrupt: list[Packet] = [Interrupt(user_data=b"waits as well")]
    while due or interrupt:
        came = b.expect(*due[:1], *interrupt, note="it is due once B has confirmed")
        (interrupt if isinstance(came, Interrupt) else due).pop(0)


def waits_for_a_confirmation(call: Call) -> list[bytes]:
    """A's error resets both sides, A alone confirms, and sends a window of Data, each with an RR
    behind it, every second with Q=1. Returns what the Data carry."""
    bench, a, b = call.bench, *both(call)
    a.put(header(a, UNDEFINED))
    a.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(33)))
    a.send(ResetConfirmation())
    b.expect(ResetIndication(cause=bench.remote_reset))
    waiting = [f"waits {number}".encode() for number in range(a.window)]
    for number, octets in enumerate(waiting):
        a.send(a.data(octets, q=number % 2), RR(p_r=0))
    bench.fence("the router has what A sent")
    return waiting


@purpose("SYS-INTEG-15")
def test_call_behind_an_attempt(bench: Bench) -> None:
    """B refuses, A gives up, there is no route: each three times, then a call that comes about."""
    a = bench.connect()
    for _ in range(3):
        for attempt in (refused_by_b, given_up, without_a_route):
            a = attempt(bench, a if a.connection.end is None else bench.connect())
        call = again(bench, a)
        as_new(call)
        a = call.a
        a.send(ClearRequest(cause=0, diagnostic=0))
        call.b.expect(ClearIndication(cause=0, diagnostic=0))
        call.b.send(ClearConfirmation())
        a.expect(ClearConfirmation(), CLOSED)
    bench.fence()


# What a Call, its answer and its Clear say beyond their type.
SAID = ("called_address_length", "calling_address_length", "facility_length", "user_data")
# A calling address that is longer than any that a network puts in.
LONG_ADDRESS = "908172635445362"


@purpose("SYS-INTEG-19")
def test_nothing_of_a_call_in_the_next(bench: Bench) -> None:
    """A plain call, one with all that a call can carry, and a plain one that is as the first was.

    Where the router has fast select, of each kind: there B's answer and the Clear may have user
    data, and here they have none. With A's address and without: a network may put one in, the same
    before and behind (X.25 5.2.1).
    """
    kinds = [
        {"fast_select": fast, "calling": calling}
        for fast in ((None, 2) if bench.declared("F-FS") else (None,))
        for calling in (None, "")
    ]
    caller = LONG_ADDRESS if takes_any_caller(bench) else None
    a, before = None, []
    for kind in kinds:
        a, said = plain(bench, a, kind, [{}, {}, {}])
        before.append(said)
    for kind, said in zip(kinds, before, strict=True):
        a = laden(bench, a, caller, group=bench.declared("F-CUG"))
        a, _ = plain(bench, a, kind, said)
    bench.fence()


def plain(
    bench: Bench, a: Side | None, kind: dict[str, Any], said: Sequence[dict[str, Any]]
) -> tuple[Side, list[dict[str, Any]]]:
    """A call with as little as it can have, cleared by B. said: what its Call at B, its answer and
    its Clear at A have to say. Returns A, and what they said."""
    request = bench.call_request(**kind)
    a = called_with(bench, a, request)
    note = "as the plain call before it" if said[0] else ""
    b = bench.incoming(CallRequest(**said[0] | {"user_data": request.user_data}), note=note)
    came: list[Packet | None] = [received_call(b)]
    b.send(b.acceptance)
    came.append(a.expect(CallAccepted(**said[1]), note=note))
    b.send(ClearRequest(cause=0, diagnostic=7))
    came.append(a.expect(ClearIndication(cause=0, diagnostic=7, **said[2]), note=note))
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), CLOSED)
    # A splice may pass what follows its first Call on unread, and not rewrite addresses there.
    names = SAID[2:] if bench.model == "splice" else SAID
    return a, [{name: value_of(packet, name) for name in names} for packet in came]


def value_of(packet: Packet | None, name: str) -> Any:
    """A field of a packet that came; where it has none, a later one shall have none."""
    value = getattr(packet, name)
    return ABSENT if value is None else value


def laden(bench: Bench, a: Side | None, caller: str | None, *, group: bool) -> Side:
    """A call with what the router can carry, in the Call, the answer and the Clear.

    caller: its calling address. group: with a closed user group, of which A need not be a member:
    it calls without one then.
    """
    fast = bench.declared("F-FS")
    more = [ClosedUserGroup(index=12)] if group else []
    octets = bytes(range(100)) if fast else b""
    request = bench.call_request(
        fast_select=2 if fast else None,
        more=(*more, *for_dtes(bench, *DTE_FACILITIES[1:])),
        user_data=b"\xc0" + octets,
        calling=caller,
    )
    a = called_with(bench, a, request)
    if group and not bench.went_on(a):
        refused(bench, a, ClearIndication(cause=bench.cause(0x0B, 0x03)))
        return laden(bench, None, caller, group=False)
    b = bench.incoming(CallRequest(user_data=request.user_data))
    came = received_call(b)
    answer = CallAccepted(
        called_address=came.called_address or "",
        calling_address=came.calling_address or "",
        facilities=(PacketSize(), WindowSize(), *for_dtes(bench, *DTE_FACILITIES[1:])),
        user_data=octets,
    )
    b.send(answer)
    a.expect(CallAccepted(user_data=octets))
    b.send(clear_with(octets) if fast else ClearRequest(cause=0, diagnostic=241))
    a.expect(ClearIndication(cause=0, diagnostic=241))
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), CLOSED)
    return a

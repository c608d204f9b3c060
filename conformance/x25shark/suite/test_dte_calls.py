# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that the router under test places as a DTE (X.25 4.1, 6.12; RFC 1613 6.1; T6).

The tester is what is called. Ahead of its answer the router waits (state p2), and nothing but Call
Connected makes it send anything of a call. What has no place there ends the call attempt, by a
Clear or a close of TCP; a DTE may ignore it as well, for no network sends it that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any

from scapy_x25.x25 import CALL_REQUEST

from ..judges.form import fast_select_of
from ..links.carrier import Unit
from ..sides.agreement import DEFAULTS, answering, offer_of, values_of
from ..sides.numbering import DATA, kind_of
from ..sides.side import AbsentSide
from .calls import moduli
from .clearing import clear_or_close, confirmed, end
from .connections import closes, pause, send_in_pieces
from .language import (
    CLOSED,
    RNR,
    RNR128,
    RR,
    RR128,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Data128,
    Diagnostic,
    Inconclusive,
    Interrupt,
    InterruptConfirmation,
    NotApplicable,
    Packet,
    PacketSize,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    Side,
    WindowSize,
    between,
    not_in,
    one_of,
    purpose,
    unit,
)
from .occasion import amid
from .procedure_errors import PARTIALLY_FULL
from .reactions import UNDEFINED, header

# It shows that what was sent before it has been read: a DTE confirms each (X.25 4.3.7).
_FENCE = Interrupt(user_data=b"!")
_READ = InterruptConfirmation()
# Diagnostics of a digit that is none, and of user data where there is none.
_OF_A_DIGIT, _OF_USER_DATA = (67,), (39,)
# Of a timer that need not be exact, and of an answer behind it.
_LATE = 1.25
# A RST is noticed within this (seconds).
NOTICED = 0.05


def waiting(bench: Bench, modulus: int = 8) -> Side:
    """A call of the router that waits for its answer (p2). Raises Inconclusive."""
    with bench.preamble():
        return bench.dialled(modulus=modulus)


def connected(bench: Bench, a: Side, answer: Packet | None = None) -> Call:
    """The tester accepts, and the call carries data."""
    a.send(a.acceptance if answer is None else answer)
    far = AbsentSide()
    far.agree(a.values)
    call = Call(bench, a, far)
    call.fence()
    return call


def in_error(bench: Bench, *codes: int) -> ClearIndication:
    """The Clear of a router that found an error: a local one, or one of facilities (X.25 5.2.4)."""
    return ClearIndication(cause=bench.cause(0x13, 0x03), diagnostic=bench.diagnostic(*codes))


def offered(a: Side) -> tuple[PacketSize, WindowSize]:
    """What the Call offers."""
    assert a.call is not None
    return offer_of(a.call)


def numbered(side: Side) -> tuple[type[Packet], ...]:
    """RR, RNR and Data of a side's modulus."""
    return (RR128, RNR128, Data128) if side.modulus == 128 else (RR, RNR, Data)


def none_but(side: Side, *p_r: int, note: str) -> None:
    """From the Call to here no RR, RNR or Data had another P(R)."""
    for kind in numbered(side):
        side.expect_count(kind(p_r=not_in(*p_r)), 0, 0, start=side.start, note=note)


def open_at_most(side: Side, mark: int) -> None:
    """No more Data has come since the mark than the window of the router lets out."""
    window, kind = side.window_in, numbered(side)[-1]
    side.expect_count(kind(), 0, window, start=mark, note=f"window {window}")


def none_longer(side: Side, note: str) -> None:
    """No Data of the call up to here has more user data than the side is to get."""
    for came in side.arrivals.units:
        packet = side.decoded(came.packet)
        octets = packet.fields.get("user_data") or b""
        if isinstance(packet, (Data, Data128)) and len(octets) > side.size_in:
            longer = side.data(octets)
            side.expect_count(longer, 0, 0, start=side.start, note=note)


# The Call


@purpose("PLP-OUT-01")
def test_call_is_placed(bench: Bench) -> None:
    """Nothing but the Call comes ahead of the answer; then data flows, and the call is cleared.
    In modulo 128 too."""
    for modulus in moduli(bench):
        a = bench.dialled(
            CallRequest(
                lcn=between(0, 4095),
                modulo=one_of(1, 2),
                called_address=bench.profile.addresses.a,
            ),
            modulus=modulus,
        )
        a.wait_until(partial(reacts, a), bench.profile.times.quiet / 4)
        for kind in (*numbered(a), Interrupt, ResetRequest):
            a.expect_count(kind(), 0, 0, start=a.origin, note="the call is not connected yet")
        if a.phase == "being cleared" or a.connection.end is not None:
            a.allow(ClearIndication())
            raise Inconclusive("the router gave its call up before it was answered")
        end(connected(bench, a))
    bench.fence()


@purpose("PLP-OUT-02")
def test_facilities_of_the_call(bench: Bench) -> None:
    """Packet size and window size are there, once each, and legal."""
    most = 127 if bench.declared("P-MOD128") else 7
    size = {octet: between(4, 12) for octet in ("called", "calling")}
    window = {octet: between(1, most) for octet in ("called", "calling")}
    a = bench.dialled(CallRequest(facilities=[PacketSize(**size), WindowSize(**window)]))
    assert a.call is not None
    named = list(a.call.fields.get("facilities") or ())
    for kind in (PacketSize, WindowSize):
        there = [facility for facility in named if type(facility) is kind]
        if len(there) > 1:
            once = [facility for facility in named if facility not in there[1:]]
            octets = b"".join(map(bytes, once))
            right, a.cursor = CallRequest(facilities=octets), a.start
            a.expect(right, note=f"{there[0].name} once (X.25 7.1)")
    end(connected(bench, a))
    bench.fence()


# The answer


def keeps_to(bench: Bench, call: Call) -> None:
    """The router has no more packets open than its window, and none too long; it takes packets as
    long as agreed on."""
    a = call.a
    a.withholding = True
    # A window of it is open to what greets: nothing acknowledges that until the fence is through.
    mark = a.start
    a.send(_FENCE)
    a.expect(_READ)
    open_at_most(a, mark)
    none_longer(a, "longer than agreed on")
    a.withholding = False
    a.acknowledge()
    for _ in range(2 * a.window):
        a.send_data(bench.record(a.packet_size))
    call.fence()


@purpose("PLP-OUT-03")
def test_values_of_the_answer(bench: Bench) -> None:
    """As offered, and nearer to the defaults in both octets, and in each of them alone. In modulo
    128 too."""
    ways = (), ("called", "calling"), ("called",), ("calling",)
    for modulus, octets in product(moduli(bench), ways):
        a = waiting(bench, modulus)
        answers: list[Packet] = []
        for facility, (kind, default) in zip(offered(a), DEFAULTS, strict=True):
            values = {o: facility.getfieldval(o) for o in ("called", "calling")}
            answers.append(kind(**{o: default if o in octets else v for o, v in values.items()}))
        answer = CallAccepted(facilities=answers)
        a.agree(values_of(answer, called=True))
        with amid(bench, f"the answer has the defaults for: {', '.join(octets) or 'none'}"):
            a.withholding = True
            a.send(answer)
            far = AbsentSide()
            far.agree(a.values)
            call = Call(bench, a, far)
            keeps_to(bench, call)
            end(call)
    bench.fence()


@purpose("PLP-OUT-04")
def test_forms_of_call_connected(bench: Bench) -> None:
    """Three octets; no addresses; both, or one; an empty facility field: what the Call offers is in
    force. What the Call should have named and did not the answer names."""
    none = {"called_address_length": 0, "calling_address_length": 0}
    for form in ("three octets", "no addresses", "addresses", "called address", "no facilities"):
        a = waiting(bench)
        call = a.call
        assert call is not None
        size, window = offered(a)
        rest = answering(call, size.called, window.called).fields.get("facilities")
        named = {} if rest is None else {"facilities": rest}
        both = {name: getattr(call, name) or "" for name in ("called_address", "calling_address")}
        forms: dict[str, dict[str, Any]] = {
            "three octets": {},
            "no addresses": none,
            "addresses": both,
            "called address": {"called_address": both["called_address"]},
            "no facilities": {**none, "facility_length": 0},
        }
        fields = forms[form]
        if named:
            fields = {**fields, **named}
            fields.pop("facility_length", None)
        a.agree(values_of(call, called=True))
        with amid(bench, f"Call Connected with {form}"):
            there = connected(bench, a, CallAccepted(**fields))
            for _ in range(a.window):
                a.send_data(bench.record(a.packet_size))
            there.fence()
            end(there)
    bench.fence()


def wrong_answers(a: Side) -> Iterable[tuple[str, bytes, tuple[int, ...]]]:
    """Octets of Call Connected behind octet 3, what is wrong with them, and its diagnostics."""
    yield "a facility length beyond the packet", b"\0\x09\x42\x07\x07", (38, 69)
    yield "a facility that is cut", b"\0\x02\x42\x07", (38, 66, 69)
    yield "an address length beyond the packet", b"\xff\x31", (38, 67, 68)
    yield "a digit above 9", b"\x01\xa0\0", _OF_A_DIGIT
    yield "packet size code 3", b"\0\x03\x42\x03\x03", (66,)
    yield "packet size code 13", b"\0\x03\x42\x0d\x0d", (66,)
    yield "window 0", b"\0\x03\x43\x00\x00", (66,)
    assert a.call is not None
    if fast_select_of(a.call) < 2:
        yield "user data without fast select", b"\0\0user data", _OF_USER_DATA


@purpose("PLP-OUT-05")
def test_wrong_call_connected(bench: Bench) -> None:
    """Each ends the call attempt; the diagnostic of a length, too, where one is wrong.

    What no network sends it in digits and user data a DTE need not look at (a remark).
    """
    a = waiting(bench)
    for number, (what, octets, codes) in enumerate(wrong_answers(a)):
        a = a if not number else waiting(bench)
        with amid(bench, f"Call Connected with {what}"):
            a.put(header(a, 0x0F) + octets)
            # One that is connected by it confirms this.
            a.send(_FENCE)
            unread = (_READ,) if codes in (_OF_A_DIGIT, _OF_USER_DATA) else ()
            # Where it takes that for no packet, the Interrupt comes before a call is connected, or
            # T21 ends the attempt.
            error = in_error(bench, *codes, 65, 73, 21, 22, 49)
            if isinstance(ends(bench, a, error, *unread), type(_READ)):
                bench.remark(f"Call Connected is taken with {what}")
                end(Call(bench, a, AbsentSide()))
    bench.fence()


def ends(bench: Bench, a: Side, *templates: Packet) -> Packet | None:
    """The router ends a call attempt: at once, or after T21 if it takes a packet for none.

    Returns what came in place of a close.
    """
    within = max(bench.reaction_limit, _LATE * bench.profile.times.t21)
    came = a.expect(*templates, CLOSED, within=within)
    if not isinstance(came, type(_READ)):
        clear_or_close(bench, a)
    return came


@purpose("PLP-OUT-06")
def test_answer_above_the_offer(bench: Bench) -> None:
    """Twice the packet size, and one more than the window: an error (66), or the offer is in force
    (a remark): no packet is longer, and no more of them are open. In modulo 128 too."""
    for modulus, kind in product(moduli(bench), (PacketSize, WindowSize)):
        a = waiting(bench, modulus)
        facility = offered(a)[kind is WindowSize]
        default = dict(DEFAULTS)[kind]
        above = max(facility.called, facility.calling, default) + 1
        if above > (12 if kind is PacketSize else a.modulus - 1):
            bench.remark(f"no {kind.__name__} is above what the Call offers")
            end(connected(bench, a))
            continue
        a.withholding = True
        a.send(CallAccepted(facilities=[kind(called=above, calling=above)]), _FENCE)
        assert a.call is not None
        a.agree(values_of(a.call, called=True))
        came = a.expect(in_error(bench, 66), CLOSED, _READ)
        if isinstance(came, InterruptConfirmation):
            bench.remark("an answer above the offer is taken, as if it were the offer")
            mark = a.start
            a.expect_count(
                numbered(a)[-1](), 0, a.window_in, start=mark, note=f"window {a.window_in}"
            )
            none_longer(a, "longer than offered")
            a.withholding = False
            a.allow(numbered(a)[-1]())
            by_clear(a)
        else:
            clear_or_close(bench, a)
    bench.fence()


@purpose("PLP-OUT-07")
def test_clear_in_place_of_the_answer(bench: Bench) -> None:
    """With causes of a network and of a DTE, with a diagnostic and without. What comes behind the
    Clear does not connect any more."""
    causes = ((0x01, 0), (0x09, 0), (0x0D, 67), (0x05, 71), (0x00, 241), (0x80, None), (0x00, None))
    for cause, diagnostic in causes:
        a = waiting(bench)
        a.send(ClearRequest(cause=cause, diagnostic=diagnostic))
        with amid(bench, f"refused with cause {cause:#04x}"):
            confirmed(a)
    a = waiting(bench)
    # The second packet meets p6, or p1 where a discard and an error are alike.
    a.allow(in_error(bench, 20))
    a.send(ClearRequest(cause=0, diagnostic=0), CallAccepted())
    confirmed(a, "the Clear, and not the Call Connected behind it")
    bench.fence()


def by_clear(a: Side, *packets: Packet) -> None:
    """These packets, and a Clear behind them, which is confirmed."""
    a.send(*packets, ClearRequest(cause=0, diagnostic=0))
    confirmed(a)


def by_fin(a: Side, *packets: Packet) -> None:
    """These packets, and the end of the tester's stream, by which the call ends (RFC 1613 6.1)."""
    a.withholding = True
    a.send(*packets)
    a.wire.half_close()
    closes(a, ClearIndication())


def by_rst(a: Side, *packets: Packet) -> None:
    """These packets, and a RST as soon as they are out; the router may have read them, or not."""
    a.withholding = True
    a.send(*packets)
    a.wire.reset()
    # It has to have noticed before it is told to call again.
    pause(a.context, NOTICED)


@purpose("PLP-OUT-08")
def test_next_call_is_a_new_one(bench: Bench) -> None:
    """Calls end by a Clear amid each of these, by a FIN and by a RST; the next has numbers from 0,
    and nothing is open. In modulo 128 too."""
    middles: Sequence[Callable[[Side], Sequence[Packet]]] = (
        lambda a: (a.data(b"not acknowledged"),),
        lambda a: (a.data(b"M", m=1), a.data(b"no more", m=1)),
        lambda _: (_FENCE,),
        lambda a: (RNR128() if a.modulus == 128 else RNR(),),
        lambda _: (ResetRequest(cause=0, diagnostic=0),),
    )
    for modulus in moduli(bench):
        call = bench.call(modulus=modulus)
        ways = [*product((by_clear,), enumerate(middles))]
        # To place calls may take long: in modulo 128 the connection is lost amid the first alone.
        ways += product((by_fin, by_rst), [*enumerate(middles)][: 1 if modulus == 128 else None])
        for ends_it, (number, middle) in ways:
            a = call.a
            packets = middle(a)
            for text in range(number):
                a.send_data(b"number %d" % text)
            # Part-filled Data with M=1 is an error to a DTE (ISO/IEC 8208).
            part_filled = ResetIndication(diagnostic=bench.diagnostic(PARTIALLY_FULL))
            a.allow(InterruptConfirmation(), ResetConfirmation(), part_filled)
            how = ends_it.__name__.replace("_", " ")
            with amid(bench, f"ended {how} behind {type(packets[0]).__name__}"):
                ends_it(a, *packets)
            call = bench.place_call(modulus=modulus, note="the next call")
            call.fence("the next call")
            begins_at_0(call.a)
        end(call)
    bench.fence("the last call")


def begins_at_0(side: Side) -> None:
    """Of a call in which the tester has sent one Data: P(R) is 0 or 1, and the first P(S) is 0."""
    none_but(side, 0, 1, note="one Data was sent in this call")
    numbers = (side.decoded(unit.packet).p_s for unit in of_data(side))
    first = next(numbers, 0)
    if first:
        kind = numbered(side)[-1]
        side.expect_count(kind(p_s=first), 0, 0, start=side.start, note="the first P(S) is 0")


def of_data(side: Side) -> Iterable[Unit]:
    """The units with Data that have come."""
    return (unit for unit in side.arrivals.units if kind_of(unit.packet, side.modulus) == DATA)


@purpose("PLP-OUT-09")
def test_calls_beside_each_other(bench: Bench) -> None:
    """Each has a connection and numbers of its own; the end of one leaves the others."""
    bench.need(bench.profile.limits.calls != 1, "several calls at a time (limits.calls)")
    calls = [bench.call()]
    for _ in range(2):
        calls.append(beside(bench, calls))
    for count, call in enumerate(calls):
        for number in range(3 * count):
            call.a.send_data(b"%d of call %d" % (number, count))
    for call in calls:
        call.fence("calls beside each other")
    first, second, third = calls
    second.a.send(ResetRequest(cause=0, diagnostic=7))
    second.a.expect(ResetConfirmation())
    for call in (first, second, third):
        call.fence("behind a reset of one call")
    end(first)
    second.fence("behind a Clear of another call")
    third.a.wire.reset()
    second.fence("behind a RST of another call")
    end(second)
    bench.fence()


def beside(bench: Bench, calls: Sequence[Call]) -> Call:
    """One more call. Raises NotApplicable if the router places none while others are up."""
    marks = [call.a.arrivals.end() for call in calls]
    try:
        return bench.place_call()
    except Inconclusive as why:
        for call, mark in zip(calls, marks, strict=True):
            if CALL_REQUEST in call.a.arrivals.types(mark) and not bench.declared("X-MULTI"):
                note = "a call has a connection of its own"
                call.a.expect_count(CallRequest(), 0, 0, start=mark, note=note)
        raise NotApplicable(
            f"the router places no call while {len(calls)} are up (limits.calls says how many): "
            f"{why}"
        ) from None


# Ahead of the answer


def behind(bench: Bench, a: Side, wrong: bytes, *codes: int, what: str) -> Call | None:
    """A packet ahead of Call Connected that has no place there, and the rest in the same segment.

    The router ends the attempt; or the packet had no effect, and the call is up (a remark).
    """
    note = f"{what} ahead of Call Connected"
    a.wire.send(unit(wrong) + a.unit_of(a.acceptance) + a.unit_of(_FENCE))
    came = a.expect(in_error(bench, *codes), CLOSED, _READ, note=note)
    if not isinstance(came, InterruptConfirmation):
        clear_or_close(bench, a)
        return None
    bench.remark("a packet ahead of Call Connected is ignored, as a DTE may")
    call = Call(bench, a, AbsentSide())
    call.fence(note)
    return call


@purpose("PLP-OUT-10")
def test_data_ahead_of_the_answer(bench: Bench) -> None:
    """It is not taken: P(R) says so, and the first Data behind the answer has P(S) 0."""
    for octet_3, text in ((0x00, b"too early"), (0x10, b"too early, and M=1"), (0x00, b"")):
        a = waiting(bench)
        wrong = header(a, octet_3) + text
        call = behind(bench, a, wrong, 21, 22, 38, 39, what="Data")
        none_but(a, *((0, 1) if call else (0,)), note="Data ahead of Call Connected is not taken")
        if call is not None:
            end(call)
    bench.fence()


@purpose("PLP-OUT-11")
def test_other_packets_ahead_of_the_answer(bench: Bench) -> None:
    """No Interrupt, Reset or Clear Confirmation is answered as in a call that is up."""
    for what, octets, codes in (
        ("RR", b"\x01", ()),
        ("RNR", b"\x05", ()),
        ("Interrupt", b"\x23!", ()),
        ("Interrupt Confirmation", b"\x27", ()),
        ("Reset", b"\x1b\0\0", ()),
        ("Reset Confirmation", b"\x1f", ()),
        ("Clear Confirmation", b"\x17", ()),
        ("an undefined packet", bytes((UNDEFINED,)), (33,)),
    ):
        a = waiting(bench)
        with amid(bench, f"{what} ahead of the answer"):
            wrong = header(a, octets[0]) + octets[1:]
            call = behind(bench, a, wrong, 21, 22, *codes, what=what)
            if call is not None:
                end(call)
    bench.fence()


@purpose("PLP-OUT-12")
def test_packets_without_a_place_on_xot(bench: Bench) -> None:
    """Restart, Registration and Diagnostic are discarded, and the call comes about."""
    for packet in (
        RestartRequest(cause=0, diagnostic=0),
        RestartConfirmation(),
        RegistrationRequest(registration=b""),
        RegistrationConfirmation(cause=127, diagnostic=0, registration=b""),
        Diagnostic(diagnostic=36, explanation=b"\x10\x01\x13"),
    ):
        a = waiting(bench)
        with amid(bench, f"{type(packet).__name__} ahead of the answer"):
            a.send(packet, a.acceptance, _FENCE)
            a.expect(_READ)
            end(Call(bench, a, AbsentSide()))
    bench.fence()


@purpose("PLP-OUT-13")
def test_incoming_call_ahead_of_the_answer(bench: Bench) -> None:
    """The calls collide: the DTE's own goes on, or the attempt ends; the other is not accepted."""
    for size in (7, 8):
        a = waiting(bench)
        assert a.call is not None
        other = CallRequest(
            called_address=a.call.calling_address or "",
            calling_address=bench.profile.addresses.a,
            facilities=[PacketSize(called=size, calling=size), WindowSize()],
            user_data=b"\xc0other",
        )
        call = behind(bench, a, a.octets_of(other), 21, 22, 23, 24, 72, what="Incoming Call")
        note = "the Incoming Call that collides is not accepted"
        a.expect_count(CallAccepted(), 0, 0, start=a.start, note=note)
        if call is not None:
            end(call)
    bench.fence()


# Afterwards


@purpose("PLP-OUT-14")
def test_second_call_connected(bench: Bench) -> None:
    """An error in p4: a Clear, which the tester confirms, and then one that it meets with a Clear
    of its own; calls come about afterwards."""
    call = bench.call()
    call.a.send(CallAccepted())
    call.a.expect(in_error(bench, 23))
    call.a.send(ClearConfirmation())
    call = bench.place_call(note="behind the Clear")
    call.a.send(CallAccepted())
    call.a.expect(in_error(bench, 23))
    call.a.send(ClearRequest(cause=0, diagnostic=0))
    call.a.allow(ClearConfirmation())
    bench.fence()


@purpose("PLP-OUT-15")
def test_connection_ends_ahead_of_the_answer(bench: Bench) -> None:
    """By a FIN, a RST, and a header that is none: the attempt is over at the router too."""
    a = waiting(bench)
    a.wire.half_close()
    closes(a, ClearIndication())
    a = waiting(bench)
    a.wire.reset()
    bench.fence("behind a RST")
    a = waiting(bench)
    a.wire.send(b"\x01\0\0\x03\x10\x01\x0f")
    closes(a, ClearIndication())
    bench.fence()


@purpose("PLP-OUT-16")
def test_segments_of_the_answer(bench: Bench) -> None:
    """Call Connected in pieces, cut at each octet; then with Data and an Interrupt behind it, and
    with the beginning of that Data. All are taken."""
    whole = len(waiting_octets(a := waiting(bench)))
    for cut in range(1, whole):
        a = a if cut == 1 else waiting(bench)
        octets = waiting_octets(a)
        with amid(bench, f"Call Connected cut behind octet {cut}"):
            send_in_pieces(a, octets, [cut])
            call = up(bench, a)
            call.fence()
            end(call)
    a = waiting(bench)
    a.send(a.acceptance, a.data(b"in the same segment"), a.data(b"and more"), _FENCE)
    a.expect(_READ, note="behind Call Connected in one segment")
    call = up(bench, a)
    call.fence()
    none_but(a, 0, 1, 2, 3, note="three Data were sent")
    end(call)
    a = waiting(bench)
    answer = a.unit_of(a.acceptance)
    octets = answer + a.unit_of(a.data(b"cut"))
    send_in_pieces(a, octets, [len(answer) + 2, len(answer) + 6])
    call = up(bench, a)
    call.fence()
    end(call)
    bench.fence()


def waiting_octets(a: Side) -> bytes:
    """The unit of the answer, without any effect on the side."""
    packet = a.octets_of(a.acceptance)
    return b"\0\0" + len(packet).to_bytes(2, "big") + packet


def up(bench: Bench, a: Side) -> Call:
    """The call of a side whose answer was sent as octets."""
    a.phase = "connected"
    a.agree(values_of(a.acceptance, called=True, otherwise=a.values))
    return Call(bench, a, AbsentSide())


def reacts(a: Side) -> bool:
    """Whether something has come behind the Call, or the connection has ended."""
    return not a.arrivals.at_end or a.connection.end is not None


@purpose("PLP-OUT-17")
def test_call_without_an_answer(bench: Bench) -> None:
    """T21 runs out: a Clear, or a close, and no answer counts any more. A DTE without T21 waits."""
    times = bench.profile.times
    ran_out = ClearIndication(cause=bench.network_clear, diagnostic=bench.diagnostic(49))
    for late in (False, True):
        a = waiting(bench)
        within = _LATE * times.t21 + bench.reaction_limit
        a.wait_until(partial(reacts, a), within)
        if a.arrivals.at_end and a.connection.end is None:
            bench.remark("the DTE has no T21, or a longer one: it waits for an answer")
            connected(bench, a)
            continue
        if a.expect(ran_out, CLOSED) is None:
            bench.remark("a call was given up by a close of TCP, without a Clear")
            continue
        a.send(*([a.acceptance, _FENCE] if late else []), ClearConfirmation())
        bench.fence("behind a call without an answer")
    bench.fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Facilities and their negotiation (X.25 clause 7, 6.12, 6.13; RFC 1613 6.1).

PLP-FAC-34 looks at the whole run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from scapy_x25 import (
    CalledAddressExtension,
    CallingAddressExtension,
    CallRedirectionNotification,
    ChargingInformationRequest,
    ClosedUserGroup,
    ClosedUserGroupExtended,
    EndToEndTransitDelay,
    ExpeditedDataNegotiation,
    Facility,
    MinimumThroughputClass,
    NetworkUserIdentification,
    Priority,
    Protection,
    RoaSelection,
    RoaSelectionExtended,
    TransitDelay,
)

from ..judges.template import Lacks, matches
from ..sides.agreement import DEFAULTS, Values, offer_of, values_of
from ..sides.side import AbsentSide
from .anew import called_with
from .calls import (
    accepted,
    agreed_by,
    answer_to,
    arrives,
    at_a,
    at_b,
    behind_marker,
    carries,
    holding,
    nearer,
    not_taken,
    numbers,
    offers,
    other_end,
    pending,
    received_call,
    request_from,
    window_holds,
)
from .clearing import clear_or_close, confirmed, end, give_up, refused
from .language import (
    ABSENT,
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    CalledLineAddressModified,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    FacilityA,
    FacilityB,
    FacilityC,
    FacilityD,
    FastSelectReverseCharging,
    Inconclusive,
    Marker,
    Packet,
    PacketSize,
    ResetConfirmation,
    ResetIndication,
    Side,
    ThroughputClass,
    WindowSize,
    between,
    lacks,
    purpose,
)
from .occasion import amid
from .procedure_errors import confirmed_ahead
from .reactions import both, taken_by_a_dte
from .test_all_of_it import values

DTE = Marker(value=0x0F)
BOTH: tuple[type[Facility], ...] = (PacketSize, WindowSize)
# Of packet size and window size: the direction from the called DTE, and that from the calling one.
BOTH_OCTETS = ("called", "calling")


def error(bench: Bench, *diagnostics: int) -> ClearIndication:
    """The Clear for facilities: invalid facility request or local procedure error."""
    return ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=bench.diagnostic(*diagnostics))


def call_with(bench: Bench, *facilities: Packet) -> tuple[Side, CallRequest]:
    """A Call of A with exactly these facilities."""
    a = bench.connect()
    request = bench.call_request(facilities=facilities)
    a.send(request)
    return a, request


def refused_or(
    bench: Bench,
    made: tuple[Side, CallRequest],
    wrong: ClearIndication,
    offered: Sequence[Packet | Lacks],
    remark: str,
    *,
    may_lack: Sequence[type[Facility]] = (),
    may_lack_at_b: Sequence[type[Facility]] = (),
) -> None:
    """The Call is refused, or goes on to B (in T2: is answered) with these values and a remark.

    may_lack: what the answer need not name, as packet size and window size where they are as the
    Call named them (RFC 1613 6.1). may_lack_at_b: what B need not be told.
    """
    a, request = made
    lacking = may_lack_at_b if bench.two_sided else may_lack
    choices: list[list[Packet | Lacks]] = [
        [one, *(lacks(kind) for kind in lacking if isinstance(one, kind))] for one in offered
    ]
    values = [list(choice) for choice in product(*choices)]
    if not bench.two_sided:
        answers = [CallAccepted(facilities=choice) for choice in values]
        came = a.expect(*answers, wrong, CLOSED)
        if isinstance(came, CallAccepted):
            bench.remark(remark)
            end(Call(bench, a, arrives(bench)))
        else:
            a.send(ClearConfirmation())
    elif bench.went_on(a):
        bench.remark(remark)
        whole = [CallRequest(facilities=one, user_data=request.user_data) for one in values]
        give_up(a, bench.incoming(*whole))
    else:
        refused(bench, a, wrong)


@purpose("PLP-FAC-01")
def test_call_sent_has_packet_size_and_window_size(bench: Bench) -> None:
    """A Call that leaves over XOT; on a line the defaults hold without either (X.25 6.12)."""
    at = "b" if "b" in bench.lines else "a"
    near, request = bench.connect(at=at), request_from(bench, at)
    near.send(request)
    size, window = between(4, 12), between(1, 7)
    both = [PacketSize(called=size, calling=size), WindowSize(called=window, calling=window)]
    far = bench.incoming(CallRequest(facilities=both), at=other_end(at))
    accepted(bench, near, far, request).fence()


@purpose("PLP-FAC-02")
def test_confirm_of_a_call_without_facilities(bench: Bench) -> None:
    """Of a Call without both, and without one of them, on the connection of a call with values of
    its own; packets as long as the answer says pass. Refused, or the answer has what is missing;
    behind a splice it is B that gives it."""
    before = bench.place_call(options=values(bench, 256, 3))
    end(before)
    a: Side | None = before.a
    for named in ((), (PacketSize(),), (WindowSize(),)):
        given = "".join(f"{facility.name} alone" for facility in named) or "no facility"
        with amid(bench, f"a Call with {given}, on the connection of the call before"):
            a = call_lacking(bench, a, named)
    bench.fence()


def call_lacking(bench: Bench, a: Side | None, named: Sequence[Packet]) -> Side:
    """A Call with these facilities alone, on A's connection if it is still there."""
    size, window = between(4, 12), between(1, 7)
    both = [PacketSize(called=size, calling=size), WindowSize(called=window, calling=window)]
    request = bench.call_request(facilities=named)
    a = called_with(bench, a, request)
    if bench.two_sided and not bench.went_on(a):
        refused(bench, a, ClearIndication())
        bench.remark("a Call without packet size and window size was refused")
        return a
    splice = bench.model == "splice"
    b = arrives(bench, *([] if splice else map(with_facilities, offers(bench, request))))
    b.send(CallAccepted(facilities=[PacketSize(), WindowSize()] if splice else []))
    # What the Call named the answer need not name again (RFC 1613 6.1).
    choices = ([f, lacks(type(f))] if type(f) in map(type, named) else [f] for f in both)
    answers = [CallAccepted(facilities=list(choice)) for choice in product(*choices)]
    came = a.expect(*answers, ClearIndication(), CLOSED)
    if isinstance(came, CallAccepted):
        bench.settle(a, b, request, came)
        call = Call(bench, a, b)
        carries(call)
        end(call)
    else:
        a.send(ClearConfirmation())
        refused(bench, b, ClearIndication())
    return a


def with_facilities(facilities: Sequence[Packet | Lacks]) -> CallRequest:
    return CallRequest(facilities=list(facilities))


@purpose("PLP-FAC-03")
def test_offer_is_not_above_the_request(bench: Bench) -> None:
    """With values of its own on each side the router may offer more, but promises A no more."""
    a = bench.connect()
    request = bench.call_request(size=1024, window=7)
    a.send(request)
    b = bench.incoming(*map(with_facilities, offers(bench, request)))
    if b.packet_size > 1024 or b.window > 7:
        bench.remark("B is offered more than A asked for")
    accepted(bench, a, b, request, None, at_a(bench, request, agreed_by(b, b.acceptance))).fence()


@purpose("PLP-FAC-04")
def test_smaller_answer_is_passed_and_obeyed(bench: Bench) -> None:
    """A: 1024 octets, window 7; B: 256 octets, window 3, or what is nearest to that."""
    request = bench.call_request(size=1024, window=7)
    a, b = pending(bench, request)
    answer = answer_to(b, size=8, window=3)
    call = accepted(bench, a, b, request, answer, at_a(bench, request, answer.facilities))
    carries(call)
    window_holds(call.a, call.b)
    window_holds(call.b, call.a)
    call.fence()


def from_offer_to_default(b: Side, kind: type[Packet], offered: Packet, default: int) -> Values:
    """B keeps to the least that an answer to this offer may agree to, and takes the most."""
    ends = []
    for choice in (min, max):
        octets = {octet: choice(offered.getfieldval(octet), default) for octet in BOTH_OCTETS}
        answer = CallAccepted(facilities=[kind(**octets)])
        ends.append(values_of(answer, called=True, otherwise=b.values))
    least, most = ends
    return Values(least.size, least.window, most.size_in, most.window_in)


def answer_above(bench: Bench, kind: type[Packet], most: int, **asked: Any) -> None:
    """B answers more than it was offered: an error (66), or less is in force, for A too.

    More in both directions, then in each of them alone.
    """
    for octets in (BOTH_OCTETS, ("called",), ("calling",)):
        request = bench.call_request(**asked)
        a, b = pending(bench, request)
        offered = agreed_by(b, CallAccepted())[kind is WindowSize]
        default = dict(DEFAULTS)[kind]
        above = max(offered.called, offered.calling, default) + 1
        bench.need(above <= most, f"an offer to B below {most}, so that its answer can be above it")
        answer = kind(called=offered.called, calling=offered.calling)
        answer.fields.update(dict.fromkeys(octets, above))
        b.send(CallAccepted(facilities=[answer]))
        b.agree(from_offer_to_default(b, kind, offered, default))
        cleared = ClearIndication(cause=bench.network_clear)
        legal = at_a(bench, request, agreed_by(b, CallAccepted(facilities=[offered])))
        reduced = CallAccepted(facilities=[nearer(offered, default)])
        ahead = confirmed_ahead(b, a, error(bench, 66))
        came = a.expect(*legal, reduced, cleared, CLOSED)
        if not isinstance(came, CallAccepted):
            clear_or_close(bench, a)
            if not ahead:
                refused(bench, b, error(bench, 66))
        else:
            bench.remark("an answer above the offer was reduced")
            call = Call(bench, a, b)
            bench.settle(a, b, request, came)
            if bench.model == "end-to-end":
                b.agree(a.values.crossed)
                carries(call)
            else:
                carries_whichever(call)
            window_holds(b, a)
            end(call)


def carries_whichever(call: Call) -> None:
    """1500 octets to B; back what one packet of the least size that may be agreed to holds."""
    a, b = both(call)
    octets = call.bench.record(1500)
    a.send_message(octets)
    b.expect_message(octets, longest=b.size_in)
    octets = call.bench.record(b.packet_size)
    b.send_message(octets)
    a.expect_message(octets, longest=a.size_in)


@purpose("PLP-FAC-05")
def test_answer_with_a_larger_packet_size(bench: Bench) -> None:
    """256 asked for, twice of what is offered to B answered; 64 asked for, twice of the default."""
    for size in (256, 64):
        answer_above(bench, PacketSize, 12, size=size)
    bench.fence()


@purpose("PLP-FAC-06")
def test_answer_below_the_default(bench: Bench) -> None:
    """256 asked for, 64 answered; window 7 asked for, 1 answered, in both directions and in each
    alone: an error, unless the IUT declares N-BELOW."""
    taken = [answered_below(bench, PacketSize, 6, 6)]
    for called, calling in ((1, 1), (1, None), (None, 1)):
        taken.append(answered_below(bench, WindowSize, called, calling))
    bench.need(taken.count(None) < len(taken), "an offer to B that is not below the defaults")
    if any(taken) and not bench.declared("N-BELOW"):
        raise Inconclusive("the router takes such answers: its profile should declare N-BELOW")


def answered_below(
    bench: Bench,
    kind: type[PacketSize] | type[WindowSize],
    called: int | None,
    calling: int | None,
) -> bool | None:
    """Whether an answer with these values, None: as offered, is taken.

    None: B was offered less than the default, and so nothing is below what it may answer.
    """
    request = bench.call_request(size=256, window=7)
    a, b = pending(bench, request)
    offer = agreed_by(b, CallAccepted())[kind is WindowSize]
    if min(offer.called, offer.calling) < dict(DEFAULTS)[kind]:
        give_up(a, b)
        return None
    octets = {"called": called or offer.called, "calling": calling or offer.calling}
    b.send(CallAccepted(facilities=[kind(**octets)]))
    ahead = confirmed_ahead(b, a, error(bench, 66))
    taken = a.expect(CallAccepted(), ClearIndication(cause=bench.network_clear), CLOSED)
    if isinstance(taken, CallAccepted):
        bench.settle(a, b, request, taken)
        carries(Call(bench, a, b))
    else:
        clear_or_close(bench, a)
        if not ahead:
            refused(bench, b, error(bench, 66))
    bench.fence()
    return isinstance(taken, CallAccepted)


@purpose("PLP-FAC-07")
def test_answer_with_a_larger_window(bench: Bench) -> None:
    """3 asked for, one more than offered to B answered; 1 asked for, one more than the default."""
    for window in (3, 1):
        answer_above(bench, WindowSize, 127, window=window)
    bench.fence()


@purpose("PLP-FAC-08")
def test_window_0_is_refused(bench: Bench) -> None:
    """0/2 and 2/0, of modulo 8 and 128 over XOT."""
    both_moduli = bench.declared("P-MOD128") and not bench.lines
    for modulus, window in product((8, 128) if both_moduli else (8,), ((0, 2), (2, 0))):
        a = bench.connect(modulus=modulus)
        a.send(bench.call_request(window=window))
        refused(bench, a, error(bench, 66))
    bench.fence()


@purpose("PLP-FAC-09")
def test_window_8_is_refused_or_lowered(bench: Bench) -> None:
    """In both directions, and in each of them alone."""
    # Of a router with a window of its own on each side B is offered any (RFC 1613 6.2).
    legal = between(1 if bench.two_sided and bench.model == "local" else 2, 7)
    lowered = [WindowSize(called=legal, calling=legal)]
    # On a serial line the defaults need not be named (X.25 6.12).
    may_lack = (WindowSize,) if "b" in bench.profile.line.by_side() else ()
    for called, calling in ((8, 8), (8, 2), (2, 8)):
        made = call_with(bench, PacketSize(), WindowSize(called=called, calling=calling))
        remark = f"window {called}/{calling} was lowered"
        refused_or(bench, made, error(bench, 66), lowered, remark, may_lack_at_b=may_lack)
    bench.fence()


@purpose("PLP-FAC-10")
def test_packet_size_codes_outside_4_to_12_are_refused(bench: Bench) -> None:
    """In both directions, and in each of them alone."""
    for code in (3, 13, 0):
        for called, calling in ((code, code), (code, 7), (7, code)):
            a, _ = call_with(bench, PacketSize(called=called, calling=calling), WindowSize())
            refused(bench, a, error(bench, 66))
    bench.fence()


@purpose("PLP-FAC-11")
def test_reserved_bits_of_packet_size(bench: Bench) -> None:
    for octet in (0x17, 0x87):
        made = call_with(bench, PacketSize(called=octet, calling=octet), WindowSize())
        meant = bench.call_request(facilities=[PacketSize(called=7, calling=7), WindowSize()])
        remark = "reserved bits were ignored"
        refused_or(bench, made, error(bench, 66), at_b(bench, meant), remark, may_lack=BOTH)
    bench.fence()


def call_from(bench: Bench, at: str, **values: tuple[int, int]) -> tuple[Side, CallRequest, str]:
    """A Call of A or of B to the other one; the side at which it has to arrive."""
    named, there = numbers(bench), other_end(at)
    caller = bench.connect(at=at)
    request = bench.call_request(
        called=named[there],
        calling=named[at],
        window=values.get("window", (7, 7)),
        size=values.get("size", (128, 128)),
    )
    caller.send(request)
    return caller, request, there


def unequal_sizes(bench: Bench, at: str) -> None:
    """1024 octets from the called to the calling side, 128 back; 20 full packets each way."""
    caller, request, there = call_from(bench, at, size=(1024, 128))
    sizes = (CallRequest(facilities=o[:1]) for o in offers(bench, request, there))
    called = bench.incoming(*sizes, at=there)
    answer = CallAccepted()
    connected = at_a(bench, request, agreed_by(called, answer))
    call = accepted(bench, caller, called, request, answer, connected)
    for sender, receiver in ((caller, called), (called, caller)):
        for _ in range(20):
            octets = bench.record(sender.packet_size)
            sender.send_data(octets)
            receiver.expect_message(octets, longest=receiver.size_in)
    if bench.model != "splice":
        too_long(call)
    call.fence()
    end(call)


def too_long(call: Call) -> None:
    """129 octets from the calling side, which may send 128: an error, or left to the ends."""
    bench = call.bench
    octets = bench.record(129)
    here = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(39))
    there = ResetIndication(cause=bench.remote_reset)
    call.a.send_data(octets)
    with bench.checking_numbers():
        ahead = confirmed_ahead(call.a, call.b, here)
    if bench.declared("N-TRUST") and isinstance(call.b.expect(Data(user_data=octets), there), Data):
        bench.remark("a packet above the agreed size was left to the ends")
        return
    if not bench.declared("N-TRUST"):
        with bench.checking_numbers():
            call.b.expect(there)
    call.b.send(ResetConfirmation())
    if not ahead:
        call.a.expect(here)
        call.a.send(ResetConfirmation())


@purpose("PLP-FAC-12")
def test_unequal_sizes_keep_their_direction(bench: Bench) -> None:
    unequal_sizes(bench, "a")
    bench.fence()


def unequal_windows(bench: Bench, at: str) -> None:
    """Window 7 from the called to the calling side, 1 back."""
    caller, request, there = call_from(bench, at, window=(7, 1))
    windows = (CallRequest(facilities=o[1:]) for o in offers(bench, request, there))
    called = bench.incoming(*windows, at=there)
    answer = CallAccepted()
    connected = at_a(bench, request, agreed_by(called, answer))
    call = accepted(bench, caller, called, request, answer, connected)
    window_holds(caller, called)
    window_holds(called, caller)
    call.fence()
    end(call)


@purpose("PLP-FAC-13")
def test_unequal_windows_keep_their_direction(bench: Bench) -> None:
    unequal_windows(bench, "a")
    bench.fence()


@purpose("PLP-FAC-14")
def test_directions_of_calls_from_b(bench: Bench) -> None:
    unequal_sizes(bench, "b")
    unequal_windows(bench, "b")
    bench.fence()


@purpose("PLP-FAC-15")
def test_answer_without_facilities_means_the_offer(bench: Bench) -> None:
    """512 octets and window 4 asked for."""
    request = bench.call_request(size=512, window=4)
    a, b = pending(bench, request)
    connected = at_a(bench, request, agreed_by(b, CallAccepted()))
    call = accepted(bench, a, b, request, CallAccepted(), connected)
    carries(call)
    window_holds(call.a, call.b)
    window_holds(call.b, call.a)
    call.fence()


@purpose("PLP-FAC-16")
def test_size_below_the_default_is_raised_to_it_at_most(bench: Bench) -> None:
    """64 asked for; 128 answered, then nothing."""
    for answers in (True, False):
        a = bench.connect()
        request = bench.call_request(size=64)
        a.send(request)
        b = bench.incoming(*map(with_facilities, offers(bench, request)))
        answer = answer_to(b, size=7, window=2) if answers else CallAccepted()
        call = accepted(bench, a, b, request, answer, at_a(bench, request, agreed_by(b, answer)))
        carries(call)
        end(call)
    bench.fence()


@purpose("PLP-FAC-17")
def test_throughput_class_is_never_raised(bench: Bench) -> None:
    """0xBB asked for; 0xAA answered, or what B was told if that is less; 0xCC, 0xC for each half.

    Then 11 is asked for in one direction and 7 in the other, and answered as it was told. A side
    that is told no throughput class answers with none. What B has lowered is not raised again.
    """
    values = [(11, 11, *answer) for answer in ((10, 10), (12, 12), (12, 10), (10, 12))]
    for *halves, called, calling in (*values, (11, 7, 11, 7), (7, 11, 7, 11)):
        most = ThroughputClass(called=between(3, halves[0]), calling=between(3, halves[1]))
        higher = max(called, calling) > 11
        asked = ThroughputClass(called=halves[0], calling=halves[1])
        a, _ = call_with(bench, asked, PacketSize(), WindowSize())
        told = CallRequest(facilities=[most])
        b = bench.incoming(told, CallRequest(facilities=[lacks(ThroughputClass)]))
        given = throughput_answer(b, called, calling)
        b.send(CallAccepted(facilities=given))
        finally_ = most if higher or not given else at_most(given[0])
        wanted = [
            CallAccepted(facilities=[finally_]),
            CallAccepted(facilities=[lacks(ThroughputClass)]),
        ]
        if higher and given:
            wanted.append(ClearIndication(cause=bench.network_clear))
            if bench.model == "splice":
                wanted.append(CallAccepted(facilities=given))
        closed = [CLOSED] if higher and given else []
        ahead = confirmed_ahead(b, a, error(bench, 66))
        if not isinstance(a.expect(*wanted, *closed), CallAccepted):
            clear_or_close(bench, a)
            if not ahead:
                refused(bench, b, error(bench, 66))
        else:
            end(Call(bench, a, b))
    bench.fence()


def at_most(answered: Packet) -> ThroughputClass:
    """X.25 6.13: Call Connected has the classes that finally apply, which B may have lowered."""
    called, calling = answered.called, answered.calling
    return ThroughputClass(called=between(3, called), calling=between(3, calling))


def throughput_answer(b: Side, called: int, calling: int) -> list[Packet]:
    """B's answer to the throughput class that it was told, if it was told any.

    What is not above 11 is no more than what it was told.
    """
    assert b.call is not None
    for told in b.call.facilities:
        if isinstance(told, ThroughputClass):
            called = called if called > 11 else min(called, told.called)
            calling = calling if calling > 11 else min(calling, told.calling)
            return [ThroughputClass(called=called, calling=calling)]
    return []


def values_with(bench: Bench, *facilities: Packet) -> list[Packet | Lacks]:
    """Sizes and windows that come of a Call with these facilities: at B, in T2 in the answer.

    An answer need not name what it leaves as the Call has it (RFC 1613 6.1).
    """
    with bench.preamble():
        a, request = call_with(bench, *facilities)
        if bench.two_sided:
            b = bench.incoming()
            named = received_call(b)
            give_up(a, b)
        else:
            connected = a.expect(CallAccepted())
            named = request if connected is None else connected
            end(Call(bench, a, arrives(bench)))
    found: list[Packet | Lacks] = []
    for kind in (PacketSize, WindowSize):
        value = next((f for f in named.fields.get("facilities") or () if isinstance(f, kind)), None)
        same = lacks(kind) if value is None else kind(called=value.called, calling=value.calling)
        found.append(same)
    return found


def unknown_facilities(bench: Bench, *unknown: Packet) -> None:
    """Each of them in a Call of its own: refused (65), or the values behind it are as without it;
    passed on it is a remark. Then each in an answer of B."""
    size, window = PacketSize(called=8, calling=8), WindowSize(called=3, calling=3)
    for facility in unknown:
        values = values_with(bench, size, window)
        made = call_with(bench, facility, size, window)
        with amid(bench, f"the facility is {bytes(facility).hex()}"):
            refused_or(
                bench, made, error(bench, 65), values, "a Call with an unknown facility went on"
            )
            if bench.two_sided:
                unknown_in_the_answer(bench, facility)
    bench.fence()


def unknown_in_the_answer(bench: Bench, facility: Packet) -> None:
    """In front of the values that B answers: an error (65), or those values are in force."""
    request = bench.call_request(size=min(512, bench.profile.limits.packet_size), window=4)
    a, b = pending(bench, request)
    values = answer_to(b, size=8, window=3).fields["facilities"]
    answer = CallAccepted(facilities=[facility, *reversed(values)])
    b.send(answer)
    cleared = ClearIndication(cause=bench.network_clear)
    ahead = confirmed_ahead(b, a, error(bench, 65))
    came = a.expect(*at_a(bench, request, agreed_by(b, answer)), cleared, CLOSED)
    if not isinstance(came, CallAccepted):
        clear_or_close(bench, a)
        if not ahead:
            refused(bench, b, error(bench, 65))
        return
    bench.settle(a, b, request, came)
    call = Call(bench, a, b)
    carries(call)
    for way in (call, call.turned()):
        window_holds(way.a, way.b)
    end(call)


@purpose("PLP-FAC-18")
def test_unknown_class_a_facility(bench: Bench) -> None:
    unknown_facilities(
        bench, FacilityA(code=0x3E, value=b"\x01"), FacilityA(code=0x21, value=b"\x42")
    )


@purpose("PLP-FAC-19")
def test_unknown_class_b_facility(bench: Bench) -> None:
    unknown_facilities(
        bench, FacilityB(code=0x7E, value=b"\xaa\xbb"), FacilityB(code=0x5A, value=b"\x43\x01")
    )


@purpose("PLP-FAC-20")
def test_unknown_class_c_facility(bench: Bench) -> None:
    unknown_facilities(
        bench,
        FacilityC(code=0xBE, value=b"\xaa\xbb\xcc"),
        FacilityC(code=0x81, value=b"\x43\x01\x01"),
    )


@purpose("PLP-FAC-21")
def test_unknown_class_d_facility(bench: Bench) -> None:
    unknown_facilities(
        bench,
        FacilityD(code=0xFE, value=b"\xaa\xbb\xcc\xdd\xee"),
        FacilityD(code=0xE0, value=b"\x43"),
    )


@purpose("PLP-FAC-22")
def test_same_facility_twice_is_refused(bench: Bench) -> None:
    """Packet size, window size, throughput class (F-THR): an IUT that takes the last is a remark.

    Packet size 32 first, 512 last; window size 1 first, 4 last; throughput class 11 first, 7 last,
    of which B, and A in the answer, may be told less or nothing. In an answer of B window size as
    offered first, 2 last.
    """
    size, window = PacketSize(called=9, calling=9), WindowSize(called=4, calling=4)
    repeated(bench, PacketSize(called=5, calling=5), WindowSize(), size)
    repeated(bench, WindowSize(called=1, calling=1), PacketSize(), window)
    if bench.declared("F-THR"):
        first, last = (ThroughputClass(called=rate, calling=rate) for rate in (11, 7))
        repeated(bench, first, PacketSize(), WindowSize(), last)
    if bench.two_sided:
        repeated_in_the_answer(bench)
    bench.fence()


def repeated(bench: Bench, first: Packet, *others: Packet) -> None:
    """A Call with these, whose last is of the kind of the first, is refused, or the last counts."""
    made = call_with(bench, first, *others)
    sizes = [one for one in others if isinstance(one, BOTH)]
    offered = at_b(bench, bench.call_request(facilities=sizes))
    if isinstance(first, ThroughputClass):
        offered.append(at_most(others[-1]))
    at_line = BOTH if "b" in bench.profile.line.by_side() else ()
    refused_or(
        bench,
        made,
        error(bench, 73, 64, 0),
        offered,
        "the last value of a repeated facility was taken",
        may_lack=(*BOTH, ThroughputClass),
        may_lack_at_b=(*at_line, ThroughputClass),
    )


def repeated_in_the_answer(bench: Bench) -> None:
    """An answer with two windows is refused at both ends, or the last counts."""
    request = bench.call_request(window=7)
    a, b = pending(bench, request)
    size, offered = agreed_by(b, CallAccepted())
    last = WindowSize(called=2, calling=2)
    if min(offered.called, offered.calling) <= 2:
        give_up(a, b)
        return
    b.send(CallAccepted(facilities=[size, offered, last]))
    wrong = error(bench, 73, 64, 0)
    ahead = confirmed_ahead(b, a, wrong)
    last_counts = at_a(bench, request, agreed_by(b, CallAccepted(facilities=[size, last])))
    came = a.expect(*last_counts, ClearIndication(cause=bench.network_clear), CLOSED)
    if isinstance(came, CallAccepted):
        bench.remark("the last window of an answer with two was taken")
        bench.settle(a, b, request, came)
        window_holds(a, b)
        end(Call(bench, a, b))
        return
    clear_or_close(bench, a)
    if not ahead:
        refused(bench, b, wrong)


@purpose("PLP-FAC-23")
def test_facility_field_of_110_octets_is_refused(bench: Bench) -> None:
    fill = Protection(value=bytes(100))
    a, request = call_with(bench, PacketSize(), WindowSize(), DTE, fill)
    assert len(b"".join(bytes(f) for f in request.facilities)) == 110
    if not taken_by_a_dte(bench, a, "110 octets of facilities were"):
        refused(bench, a, error(bench, 69, 39))
    bench.fence()


DTE_FACILITIES: tuple[Packet, ...] = (
    DTE,
    CalledAddressExtension(use=1, address="1234567890123456789012345678901234567890"),
    CallingAddressExtension(use=0, address="98765"),
    EndToEndTransitDelay(cumulative=10, requested=200, maximum=3000),
    Priority(value=b"\x01\x02\x03\x04\x05\x06"),
    ExpeditedDataNegotiation(value=1),
    MinimumThroughputClass(called=3, calling=4),
)


MOST_FACILITIES = 109


def octets_of(facilities: Iterable[Packet]) -> int:
    """Length of a facility field with these."""
    return sum(len(bytes(facility)) for facility in facilities)


def added(came: Packet | None, sent: Iterable[Packet]) -> int:
    """Octets by which a facility field has grown on its way: a network may put a throughput class
    into every Call (X.25 6.13), or something of its own (7.1)."""
    assert came is not None
    return max(0, int(came.facility_length or 0) - octets_of(sent))


def no_room(bench: Bench, a: Side) -> None:
    """The router has something to add to a facility field that is full."""
    refused(bench, a, ClearIndication(cause=bench.network_clear))
    bench.remark("a Call whose facilities leave no room for those of the router was refused")


@purpose("PLP-FAC-24")
def test_facility_field_of_109_octets_passes(bench: Bench) -> None:
    """As it leaves the router: one that was seen to add a facility may refuse 109 octets, and
    passes a field that is shorter by what it adds."""
    sent = (PacketSize(), WindowSize(), *DTE_FACILITIES)
    a, _ = call_with(bench, *sent)
    b = bench.listeners.accept()
    grows = added(b.expect(CallRequest(facilities=behind_marker(b, DTE_FACILITIES))), sent)
    give_up(a, b)
    for length in {MOST_FACILITIES - grows, MOST_FACILITIES}:
        fill = Protection(value=bench.random.randbytes(length - octets_of(sent) - 2))
        marked = (*DTE_FACILITIES, fill)
        a, _ = call_with(bench, PacketSize(), WindowSize(), *marked)
        if length + grows > MOST_FACILITIES and not bench.went_on(a):
            no_room(bench, a)
            continue
        b = bench.listeners.accept()
        b.expect(CallRequest(facility_length=between(1, 109), facilities=behind_marker(b, marked)))
        give_up(a, b)
    bench.fence()


@purpose("PLP-FAC-25")
def test_dte_facilities_pass_both_ways(bench: Bench) -> None:
    """Octet for octet, behind whatever X.25 facilities the router gives."""
    answered = (
        DTE,
        CalledAddressExtension(use=0, address="13579"),
        EndToEndTransitDelay(cumulative=30),
        Priority(value=b"\x06\x05\x04"),
        ExpeditedDataNegotiation(value=0),
    )
    a, _ = call_with(bench, PacketSize(), WindowSize(), *DTE_FACILITIES)
    b = bench.listeners.accept()
    b.expect(CallRequest(facilities=behind_marker(b, DTE_FACILITIES)))
    b.send(CallAccepted(facilities=[PacketSize(), WindowSize(), *answered]))
    a.expect(CallAccepted(facilities=behind_marker(a, answered)))
    end(Call(bench, a, b))
    bench.fence()


@purpose("PLP-FAC-39")
def test_facilities_that_leave_no_room(bench: Bench) -> None:
    """The Call, and then an answer, has 109 octets, and neither packet size nor window size.

    Where the router adds those, the call is not possible; a field with more octets is never sent.
    """
    before = b"".join(bytes(f) for f in DTE_FACILITIES)
    marked = (*DTE_FACILITIES, Protection(value=bench.random.randbytes(109 - len(before) - 2)))
    a, _ = call_with(bench, *marked)
    if bench.went_on(a):
        b = bench.listeners.accept()
        b.expect(CallRequest(facility_length=between(1, 109), facilities=behind_marker(b, marked)))
        give_up(a, b)
    else:
        refused(bench, a, ClearIndication(cause=bench.network_clear))
    a, b = pending(bench)
    b.send(CallAccepted(facilities=list(marked)))
    whole = CallAccepted(facility_length=between(1, 109), facilities=behind_marker(a, marked))
    clear = ClearIndication(cause=bench.network_clear)
    if isinstance(a.expect(whole, clear, CLOSED), CallAccepted):
        end(Call(bench, a, b))
    else:
        clear_or_close(bench, a)
        refused(bench, b, clear)
    bench.fence()


# Octets of a class D parameter: at, around and between the bits of its length; 109 less the others.
CLASS_D = (1, 15, 16, 31, 32, 33, 63, 64, 65, 95, 96, 99)


@purpose("PLP-FAC-36")
def test_class_d_facilities_of_any_length(bench: Bench) -> None:
    """Behind the marker, in the Call and in its answer. A length cut short would leave octets that
    are not facilities. The longest may find no room, as in PLP-FAC-24."""
    more_at_b = more_at_a = 0
    for length in CLASS_D:
        marked = (DTE, Protection(value=b"\xc0".ljust(length, b"\xff")))
        sent = (PacketSize(), WindowSize(), *marked)
        a, _ = call_with(bench, *sent)
        if octets_of(sent) + more_at_b > MOST_FACILITIES and not bench.went_on(a):
            no_room(bench, a)
            continue
        b = bench.listeners.accept()
        came = b.expect(CallRequest(facilities=behind_marker(b, marked)))
        more_at_b = max(more_at_b, added(came, sent))
        b.send(CallAccepted(facilities=[*sent]))
        whole, clear = (
            CallAccepted(facilities=behind_marker(a, marked)),
            ClearIndication(cause=bench.network_clear),
        )
        full = octets_of(sent) + more_at_a > MOST_FACILITIES
        came = a.expect(whole, *((clear, CLOSED) if full else ()))
        if isinstance(came, CallAccepted):
            more_at_a = max(more_at_a, added(came, sent))
            end(Call(bench, a, b))
        else:
            clear_or_close(bench, a)
            refused(bench, b, clear)
            bench.remark("an answer whose facilities leave no room for those of the router")
    bench.fence()


@purpose("PLP-FAC-26")
def test_facilities_of_the_local_network_are_not_read(bench: Bench) -> None:
    """Packet size 4096 behind the marker 0x00 is not the one of X.25, nor behind 0xFF, whose
    facilities are those of the called network: a router may refuse them.

    Facilities of DTEs behind those of the network, which is where they stand, are none of these:
    they arrive, whether or not the others do (Annex G).
    """
    not_read = FacilityB(code=0x42, value=b"\x0c\x0c")
    local = (Marker(value=0x00), not_read)
    of_the_called = ((Marker(value=0xFF), not_read),) if bench.two_sided else ()
    for marked in (local, *of_the_called):
        a, request = call_with(bench, PacketSize(), WindowSize(), *marked)
        if marked is not local and not bench.went_on(a):
            refused(bench, a, error(bench, 65))
            bench.remark("facilities of the called network are refused")
            continue
        b = arrives(bench, *map(with_facilities, offers(bench, request)))
        answer = CallAccepted()
        agreed = offer_of(request) if isinstance(b, AbsentSide) else agreed_by(b, answer)
        end(accepted(bench, a, b, request, answer, at_a(bench, request, agreed)))
    if bench.declared("F-DTE") and bench.declared("R-SW"):
        a, _ = call_with(bench, PacketSize(), WindowSize(), *local, *DTE_FACILITIES)
        b = bench.listeners.accept()
        b.expect(CallRequest(facilities=behind_marker(b, DTE_FACILITIES)))
        give_up(a, b)
    bench.fence()


@purpose("PLP-FAC-27")
def test_reverse_charging_without_acceptance(bench: Bench) -> None:
    """Beside each kind of fast select too, which the destination may not have subscribed to."""
    called = bench.profile.addresses.no_reverse_charging
    bench.need(called, "the profile names no such destination (addresses.no_reverse_charging)")
    assert called is not None
    not_taken(bench, called, (0,), 1, 0x19)
    if bench.declared("F-FS"):
        not_taken(bench, called, (2, 3), 1, 0x19, 0x29)
    bench.fence()


@purpose("PLP-FAC-28")
def test_closed_user_group_is_passed_or_refused(bench: Bench) -> None:
    """Another index or format at B is a matter of B's subscription, a remark."""
    refusal = ClearIndication(cause=bench.cause(0x0B, 0x03))
    any_basic = ClosedUserGroup(index=between(0, 99))
    any_extended = ClosedUserGroupExtended(index=between(0, 9999))
    at_b = [CallRequest(facilities=[facility]) for facility in (any_basic, any_extended)]
    for sent in (ClosedUserGroup(index=12), ClosedUserGroupExtended(index=1234)):
        a, _ = call_with(bench, sent, PacketSize(), WindowSize())
        if bench.went_on(a):
            b = bench.incoming(CallRequest(facilities=[sent]), *at_b)
            if bytes(sent) not in bytes(received_call(b)):
                bench.remark("the closed user group has another index or format at B")
            give_up(a, b)
        else:
            refused(bench, a, refusal)
    bench.fence()


@purpose("PLP-FAC-29")
def test_roa_selection_nui_and_charging(bench: Bench) -> None:
    """Each is carried on, with or without the facility (which is the network's), or refused.

    By a router that does not have it (65), or by one that has it and knows no such ROA or user.
    """
    for facility, causes, codes in (
        (RoaSelection(dnic=1234), OF_AN_ROA, NO_ROA),
        (RoaSelectionExtended(value=b"\x12\x34"), OF_AN_ROA, NO_ROA),
        (NetworkUserIdentification(value=b"user"), OF_A_USER, NO_USER),
        (ChargingInformationRequest(value=1), (), ()),
    ):
        a, _ = call_with(bench, facility, PacketSize(), WindowSize())
        if bench.went_on(a):
            give_up(a, bench.incoming())
        else:
            cause, diagnostic = bench.cause(0x03, *causes), bench.diagnostic(65, *codes)
            refused(bench, a, ClearIndication(cause=cause, diagnostic=diagnostic))
    bench.fence()


# What a network may say of an ROA that it does not reach: ROA out of order, not obtainable; that it
# is not a parameter, or is a problem of the network beyond (X.25 5.2.4, Annex E).
OF_AN_ROA, NO_ROA = (0x15, 0x0D), (0, 66, *range(112, 123))
# The same of a user that it does not know: access barred; no parameter, NUI problem (6.21).
OF_A_USER, NO_USER = (0x0B,), (0, 66, 84)


@purpose("PLP-FAC-30")
def test_call_redirection_notification(bench: Bench) -> None:
    notice = CallRedirectionNotification(reason=0x01, address="2100009")
    facilities = (PacketSize(), WindowSize(), notice)
    a, _ = call_with(bench, *facilities)
    if bench.went_on(a):
        b = bench.listeners.accept()
        left_out = CallRequest(facilities=[lacks(CallRedirectionNotification)])
        came = b.expect(CallRequest(facilities=holding(b, notice)), left_out)
        if came is not None and matches(left_out, bytes(came)):
            bench.remark("a Call goes on without the notice, which only a network writes")
        give_up(a, b)
    else:
        refused(bench, a, error(bench, 65))
    bench.fence()


@purpose("PLP-FAC-31")
def test_transit_delay_stays_well_formed(bench: Bench) -> None:
    """100 ms is what A would like: B is told what it is, less or more, or nothing."""
    a, request = call_with(bench, PacketSize(), WindowSize(), TransitDelay(milliseconds=100))
    told = CallRequest(facilities=[TransitDelay(milliseconds=between(0, 0xFFFF))])
    b = bench.incoming(told, CallRequest(facilities=[lacks(TransitDelay)]))
    accepted(bench, a, b, request).fence()


@purpose("PLP-FAC-32")
def test_facilities_in_a_clear(bench: Bench) -> None:
    """The extended format from B arrives as it is, or as the plain Clear; or it is an error, for
    the facility is one that a router need not offer (X.25 6.26)."""
    a, b = pending(bench)
    block = {
        "called_address": bench.far_end.address + "5",
        "facilities": [CalledLineAddressModified(reason=0xC0)],
    }
    b.send(ClearRequest(cause=0, diagnostic=241, calling_address_length=0, **block))
    not_offered = ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=bench.diagnostic(65))
    ahead = confirmed_ahead(b, a, not_offered)
    passed = [
        ClearIndication(cause=0, diagnostic=241, **block),
        *(
            ClearIndication(
                cause=0, diagnostic=241, called_address_length=none, facility_length=none
            )
            for none in (ABSENT, 0)
        ),
    ]
    came = a.expect(*([] if ahead else passed), ClearIndication(cause=bench.remote_clear))
    a.send(ClearConfirmation())
    if came is not None and came.cause == 0:
        confirmed(b)
    else:
        bench.remark("the facility in the Clear is an error")
        if not ahead:
            refused(bench, b, not_offered)
    bench.fence()


@purpose("PLP-FAC-33")
def test_order_of_facilities_does_not_matter(bench: Bench) -> None:
    """Window size and packet size, either one in front, reverse charging (not asked for) between
    them."""
    size, window = PacketSize(called=8, calling=8), WindowSize(called=3, calling=3)
    between_them = FastSelectReverseCharging(fast_select=0)
    for first, last in ((window, size), (size, window)):
        values = values_with(bench, between_them, size, window)
        a, request = call_with(bench, first, between_them, last)
        b = arrives(bench, CallRequest(facilities=values))
        connected = at_a(bench, request, values) if not bench.two_sided else []
        end(accepted(bench, a, b, request, CallAccepted(), connected))
    bench.fence()


@purpose("PLP-FAC-35")
def test_answer_that_names_one_facility_only(bench: Bench) -> None:
    """512 octets and window 4 asked for; 256 answered, then window 3, or what is nearest to it."""
    for named in (PacketSize, WindowSize):
        request = bench.call_request(size=512, window=4)
        a, b = pending(bench, request)
        whole = answer_to(b, size=8, window=3).facilities
        answer = CallAccepted(facilities=[f for f in whole if isinstance(f, named)])
        call = accepted(bench, a, b, request, answer, at_a(bench, request, agreed_by(b, answer)))
        carries(call)
        window_holds(call.a, call.b)
        window_holds(call.b, call.a)
        end(call)
    bench.fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Negotiation of packet size, window size and throughput class (X.25 6.12, 6.13; RFC 1613 6.1).

The other facilities, and the facility field: test_plp_fac_fields.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from ..sides.agreement import DEFAULTS, Values, offer_of, values_of
from ..sides.bench import SIZE_CODES
from .anew import called_with
from .calls import (
    accepted,
    agreed_by,
    answer_to,
    arrives,
    at_a,
    at_b,
    callers_and_moduli,
    carries,
    checks_calls,
    moduli,
    nearer,
    of_modulus,
    offers,
    other_end,
    pending,
    received_call,
    request_from,
    window_holds,
)
from .clearing import clear_or_close, end, give_up, refused
from .facilities import BOTH, at_most, call_with, error, refused_or, with_facilities
from .language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    Data,
    Inconclusive,
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
from .reactions import both
from .test_all_of_it import values

# Of packet size and window size: the direction from the called DTE, and that from the calling one.
BOTH_OCTETS = ("called", "calling")


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
    its own, modulo 8 and 128; packets as long as the answer says pass. Refused, or the answer has
    what is missing; behind a splice it is B that gives it."""
    for modulus in moduli(bench):
        legal = any_values(modulus)
        with amid(bench, f"a Call with no facility, on a connection of its own, modulo {modulus}"):
            _, usual = call_lacking(bench, None, (), legal, modulus)
        for named in ((), (PacketSize(),), (WindowSize(),)):
            before = bench.place_call(modulus=modulus, options=values(bench, 256, 3))
            end(before)
            given = "".join(f"{facility.name} alone" for facility in named) or "no facility"
            with amid(bench, f"a Call with {given}, on the connection of the call before"):
                call_lacking(bench, before.a, named, usual, modulus)
    bench.fence()


def any_values(modulus: int) -> list[Packet]:
    """Packet size and window size that are legal in calls of the modulus."""
    size, window = between(4, 12), between(1, modulus - 1)
    return [PacketSize(called=size, calling=size), WindowSize(called=window, calling=window)]


def call_lacking(
    bench: Bench, a: Side | None, named: Sequence[Packet], usual: Sequence[Packet], modulus: int
) -> tuple[Side, Sequence[Packet]]:
    """A Call with these facilities alone, on A's connection if it is still there.

    usual: the router's own values, which B may be offered for what is not named (RFC 1613 6.1). The
    same is returned, as B saw it.
    """
    request = of_modulus(bench.call_request(facilities=named), modulus)
    a = called_with(bench, a or bench.connect(modulus=modulus), request)
    if bench.two_sided and not bench.went_on(a):
        refused(bench, a, ClearIndication())
        bench.remark("a Call without packet size and window size was refused")
        return a, usual
    offered = offers(bench, request)
    if bench.model == "end-to-end":
        others = {type(one): one for one in usual if type(one) not in map(type, named)}
        offered = [[others.get(type(one), one) for one in choice] for choice in offered]
    splice = bench.model == "splice"
    b = arrives(bench, *([] if splice else map(with_facilities, offered)))
    if isinstance(b, Side) and bench.model == "end-to-end":
        usual = offer_of(received_call(b))
    b.send(CallAccepted(facilities=[PacketSize(), WindowSize()] if splice else []))
    # What the Call named the answer need not name again (RFC 1613 6.1).
    choices = (
        [f, lacks(type(f))] if type(f) in map(type, named) else [f] for f in any_values(modulus)
    )
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
    return a, usual


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
    """A: 1024 octets, window 7; B: 256 octets, window 3, or what is nearest to that. Of calls from
    B too, and of modulo 128."""
    for at, modulus in callers_and_moduli(bench):
        near, far, request = offered_at(bench, at, modulus, size=1024, window=7)
        answer = answer_to(far, size=8, window=3)
        obeyed(bench, near, far, request, answer, answer.facilities)
    bench.fence()


def offered_at(
    bench: Bench, at: str, modulus: int, *, size: int, window: int
) -> tuple[Side, Side, CallRequest]:
    """A call of this side that asks for these values both ways, and has come to the other one."""
    both_ways = {"size": (size, size), "window": (window, window)}
    with bench.preamble():
        near, request, there = call_from(bench, at, modulus, **both_ways)
        return near, bench.incoming(at=there), request


def obeyed(
    bench: Bench,
    near: Side,
    far: Side,
    request: Packet,
    answer: Packet,
    agreed: Sequence[Packet],
) -> None:
    """What the called side has agreed to by its answer is told to the calling one, and kept."""
    call = accepted(bench, near, far, request, answer, at_a(bench, request, agreed))
    carries(call)
    window_holds(call.a, call.b)
    window_holds(call.b, call.a)
    call.fence()
    end(call)


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
    alone, of modulo 8 and 128; 64 asked for, 32 answered: an error, unless the IUT declares
    N-BELOW."""
    taken = []
    for modulus, (kind, low) in product(moduli(bench), ((PacketSize, 6), (WindowSize, 1))):
        for called, calling in ((low, low), (low, None), (None, low)):
            taken.append(answered_below(bench, kind, called, calling, modulus))
    for called, calling in ((5, 5), (5, None), (None, 5)):
        taken.append(answered_below(bench, PacketSize, called, calling, 8, asked=64))
    bench.need(taken.count(None) < len(taken), "an offer to B that is not below the defaults")
    if any(taken) and not bench.declared("N-BELOW"):
        raise Inconclusive("the router takes such answers: its profile should declare N-BELOW")


def answered_below(
    bench: Bench,
    kind: type[PacketSize] | type[WindowSize],
    called: int | None,
    calling: int | None,
    modulus: int,
    asked: int = 256,
) -> bool | None:
    """Whether an answer with these values, None: as offered, is taken.

    None: B was offered less than the default, or than was asked for, and so nothing is below what
    it may answer.
    """
    request = bench.call_request(size=asked, window=7)
    a, b = pending(bench, request, modulus=modulus)
    offer = agreed_by(b, CallAccepted())[kind is WindowSize]
    least = min(dict(DEFAULTS)[kind], SIZE_CODES[asked] if kind is PacketSize else 7)
    if min(offer.called, offer.calling) < least:
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


# Octets that no packet size and no window has: below, and above. A window above the offer may be
# taken for the most that may be answered to it, as in PLP-FAC-07.
NO_SIZES, NO_WINDOWS = (0, 3, 13, 0xFF), {8: (0, 8, 0xFF), 128: (0, 128, 0xFF)}


@purpose("PLP-FAC-40")
def test_values_that_do_not_exist_in_an_answer(bench: Bench) -> None:
    """In both directions, and in each of them alone, beside what was offered; of modulo 8 and 128
    over XOT."""
    bench.need(checks_calls(bench), "a router that checks calls")
    for modulus in moduli(bench):
        wrong = [(PacketSize, value) for value in NO_SIZES]
        wrong += [(WindowSize, value) for value in NO_WINDOWS[modulus]]
        for (kind, value), octets in product(wrong, (BOTH_OCTETS, ("called",), ("calling",))):
            with amid(bench, f"{value} answered, modulo {modulus}"):
                answer_that_is_none(bench, kind, dict.fromkeys(octets, value), modulus)
    bench.fence()


def answer_that_is_none(
    bench: Bench, kind: type[Packet], octets: dict[str, int], modulus: int
) -> None:
    """B answers such octets: an error (66), or the window is reduced."""
    request = bench.call_request(size=256, window=3)
    a, b = pending(bench, request, modulus=modulus)
    size, window = agreed_by(b, CallAccepted())
    if modulus == 128 and b.modulus == 8:
        # It has other values that do not exist (RFC 1613 6.2).
        octets = {name: min(value, 8) for name, value in octets.items() if kind is WindowSize}
    offered = size if kind is PacketSize else window
    answer = kind(called=offered.called, calling=offered.calling)
    answer.fields.update(octets)
    b.send(CallAccepted(facilities=[answer]))
    ahead = confirmed_ahead(b, a, error(bench, 66))
    legal: list[CallAccepted] = []
    if kind is WindowSize and 0 not in octets.values():
        legal = [*at_a(bench, request, (size, window))]
        legal.append(CallAccepted(facilities=[nearer(offered, dict(DEFAULTS)[kind])]))
    came = a.expect(*legal, ClearIndication(cause=bench.network_clear), CLOSED)
    if isinstance(came, CallAccepted):
        bench.remark("a window above all that there are was reduced")
        bench.settle(a, b, request, came)
        end(Call(bench, a, b))
        return
    clear_or_close(bench, a)
    if not ahead:
        refused(bench, b, error(bench, 66))


@purpose("PLP-FAC-08")
def test_window_0_is_refused(bench: Bench) -> None:
    """0/2 and 2/0, of modulo 8 and 128 over XOT."""
    for modulus, window in product(moduli(bench), ((0, 2), (2, 0))):
        a = bench.connect(modulus=modulus)
        a.send(bench.call_request(window=window))
        refused(bench, a, error(bench, 66))
    bench.fence()


@purpose("PLP-FAC-09")
def test_window_8_is_refused_or_lowered(bench: Bench) -> None:
    """In both directions, and in each of them alone. So is 128 in modulo 128."""
    # Of a router with a window of its own on each side B is offered any (RFC 1613 6.2).
    legal = between(1 if bench.two_sided and bench.model == "local" else 2, 7)
    lowered = [WindowSize(called=legal, calling=legal)]
    # On a serial line the defaults need not be named (X.25 6.12).
    may_lack = (WindowSize,) if "b" in bench.profile.line.by_side() else ()
    for called, calling in ((8, 8), (8, 2), (2, 8)):
        made = call_with(bench, PacketSize(), WindowSize(called=called, calling=calling))
        remark = f"window {called}/{calling} was lowered"
        refused_or(bench, made, error(bench, 66), lowered, remark, may_lack_at_b=may_lack)
    if 128 in moduli(bench):
        legal = between(1, 127)
        lowered = [WindowSize(called=legal, calling=legal)]
        for called, calling in ((128, 128), (128, 2), (2, 255)):
            window = WindowSize(called=called, calling=calling)
            made = call_with(bench, PacketSize(), window, modulus=128)
            remark = f"window {called}/{calling} was lowered"
            refused_or(bench, made, error(bench, 66), lowered, remark, may_lack_at_b=may_lack)
    bench.fence()


@purpose("PLP-FAC-10")
def test_packet_size_codes_outside_4_to_12_are_refused(bench: Bench) -> None:
    """In both directions, and in each of them alone; of modulo 8 and 128 over XOT."""
    for modulus, code in product(moduli(bench), (3, 13, 0)):
        for called, calling in ((code, code), (code, 7), (7, code)):
            size = PacketSize(called=called, calling=calling)
            a, _ = call_with(bench, size, WindowSize(), modulus=modulus)
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


def call_from(
    bench: Bench, at: str, modulus: int = 8, **values: tuple[int, int]
) -> tuple[Side, CallRequest, str]:
    """A Call of A or of B to the other one; the side at which it has to arrive."""
    there = other_end(at)
    caller = bench.connect(at=at, modulus=modulus)
    request = request_from(
        bench, at, window=values.get("window", (7, 7)), size=values.get("size", (128, 128))
    )
    caller.send(of_modulus(request, modulus))
    return caller, request, there


def unequal_sizes(
    bench: Bench, at: str, size: tuple[int, int] = (1024, 128), modulus: int = 8
) -> None:
    """1024 octets from the called to the calling side, 128 back; 20 full packets each way."""
    caller, request, there = call_from(bench, at, modulus, size=size)
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
    if bench.model != "splice" and size == (1024, 128):
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
    """1024 and 128; then sizes on both sides of the default, and below it, modulo 8 and 128."""
    unequal_sizes(bench, "a")
    for modulus, size in product(moduli(bench), BOTH_SIDES_OF_THE_DEFAULT):
        unequal_sizes(bench, "a", size, modulus)
    bench.fence()


# From the called side, and from the calling one.
BOTH_SIDES_OF_THE_DEFAULT = ((1024, 16), (16, 1024), (256, 64), (32, 32), (64, 16))


def unequal_windows(bench: Bench, at: str, modulus: int = 8) -> None:
    """Window 7 from the called to the calling side, 1 back."""
    caller, request, there = call_from(bench, at, modulus, window=(7, 1))
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
    """Of modulo 8 and 128."""
    for modulus in moduli(bench):
        unequal_windows(bench, "a", modulus)
    bench.fence()


@purpose("PLP-FAC-14")
def test_directions_of_calls_from_b(bench: Bench) -> None:
    """As in PLP-FAC-12 and -13."""
    unequal_sizes(bench, "b")
    for modulus in moduli(bench):
        unequal_windows(bench, "b", modulus)
        for size in BOTH_SIDES_OF_THE_DEFAULT:
            unequal_sizes(bench, "b", size, modulus)
    bench.fence()


@purpose("PLP-FAC-15")
def test_answer_without_facilities_means_the_offer(bench: Bench) -> None:
    """512 octets and window 4 asked for. Of calls from B too, and of modulo 128."""
    for at, modulus in callers_and_moduli(bench):
        near, far, request = offered_at(bench, at, modulus, size=512, window=4)
        answer = CallAccepted()
        obeyed(bench, near, far, request, answer, agreed_by(far, answer))
    bench.fence()


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


@purpose("PLP-FAC-35")
def test_answer_that_names_one_facility_only(bench: Bench) -> None:
    """512 octets and window 4 asked for; 256 answered, then window 3, or what is nearest to it. Of
    calls from B too, and of modulo 128."""
    for named, (at, modulus) in product((PacketSize, WindowSize), callers_and_moduli(bench)):
        near, far, request = offered_at(bench, at, modulus, size=512, window=4)
        whole = answer_to(far, size=8, window=3).facilities
        answer = CallAccepted(facilities=[f for f in whole if isinstance(f, named)])
        obeyed(bench, near, far, request, answer, agreed_by(far, answer))
    bench.fence()

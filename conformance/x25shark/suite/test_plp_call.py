# SPDX-License-Identifier: GPL-2.0-or-later
"""Call set-up (X.25 4.1, 5.2.1 to 5.2.3, Table C-3; RFC 1613 6.1).

PLP-CALL-16 (call collision) is in test_tx.py; PLP-CALL-24 (one-way channels) has no case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

from ..sides.arriving import arriving, with_called
from ..sides.channel import ChannelSide
from ..sides.outcomes import Inconclusive
from ..sides.side import AbsentSide
from .anew import called_with
from .callers import takes_any_caller
from .calls import (
    ADDRESS_FIELDS,
    accepted,
    agreed_by,
    arrives,
    arrives_at,
    callers,
    callers_and_moduli,
    calling_at_b,
    channel_is_free,
    moduli,
    needs_trust,
    needs_whole_addresses,
    numbers,
    of_modulus,
    other_end,
    pending,
    received_call,
    request_from,
    takes_fast_select,
    trusts_the_ends,
    values_at_a,
)
from .clearing import (
    clear_or_close,
    confirmed,
    end,
    give_up,
    not_obtainable,
    passes,
    procedure_error,
    refused,
    setup_error,
    taken_back,
    user_data_error,
)
from .language import (
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
    Diagnostic,
    NoChannel,
    Packet,
    PacketSize,
    Race,
    Side,
    WindowSize,
    lacks,
    one_of,
    purpose,
)
from .links import unanswered_call
from .many import at_a_time
from .occasion import amid
from .reactions import taken_by_a_dte

NETWORK_CAUSES = (0x01, 0x05, 0x09, 0x0B, 0x0D, 0x11, 0x13, 0x15, 0x19, 0x21, 0x29, 0x39)


@purpose("PLP-CALL-01")
def test_call_from_a_to_b(bench: Bench) -> None:
    a = bench.connect()
    request = bench.call_request()
    a.send(request)
    wanted = CallRequest(
        called_address=bench.far_end.address, calling_address=bench.profile.addresses.a
    )
    accepted(bench, a, arrives(bench, wanted), request).fence()


@purpose("PLP-CALL-02")
def test_call_from_b_to_a(bench: Bench) -> None:
    called, calling = bench.profile.addresses.a, bench.far_end.address
    b = bench.connect(at="b")
    request = bench.call_request(called=called, calling=calling)
    b.send(request)
    a = bench.incoming(CallRequest(called_address=called, calling_address=calling), at="a")
    call = accepted(bench, b, a, request)
    call.fence()
    end(call)
    bench.fence()


@purpose("PLP-CALL-03")
def test_every_pair_of_address_lengths(bench: Bench) -> None:
    """ADDR-B with digits added up to 15, as far as its route takes them; calling 0 to 15.

    A called address that the router rewrites depends on nothing but the called address; to lose
    its last digits, where one of no more digits than are left arrives whole, is not rewriting. A
    network that checks calling addresses gets none, and that of A. Then the longest ones from B,
    and in modulo 128.
    """
    called = bench.far_end.address + "123456789012345"
    callers = ["908172635445362"[:length] for length in range(16)]
    if not takes_any_caller(bench):
        callers = ["", bench.profile.addresses.a or ""]
    rewritten: dict[str, str] = {}
    whole: list[str] = []
    for called_length in range(len(bench.far_end.address), 16):
        arrives = arriving(bench.profile.addresses, called[:called_length])
        for calling in callers:
            digits = called[:called_length], calling
            a = bench.connect()
            request = bench.call_request(called=digits[0], calling=digits[1])
            a.send(request)
            longer = called_length > len(bench.far_end.address)
            if longer and not calling and not bench.went_on(a):
                a.expect(not_obtainable(bench), CLOSED)
                a.send(ClearConfirmation())
                bench.remark(f"the route to B does not take {called_length} digits")
                break
            template = CallRequest(user_data=request.user_data, **calling_at_b(digits[1]))
            b = bench.listeners.accept()
            came = b.expect(with_called(template, arrives))
            assert came is not None
            if arrives is None:
                arrives = came.called_address or ""
                if arrives == digits[0]:
                    whole.append(arrives)
                elif arrives in whole and digits[0].startswith(arrives):
                    # Cut off. Demanded whole of the next caller's call.
                    arrives = digits[0]
                else:
                    rewritten[digits[0]] = arrives
            give_up(a, b)
    for at, modulus in callers_and_moduli(bench):
        if (at, modulus) != ("a", 8):
            with amid(bench, f"from {at.upper()}, modulo {modulus}"):
                longest_addresses(bench, at, modulus)
    bench.fence()
    for sent, arrived in rewritten.items():
        bench.remark(f"a call for {sent} arrived with {arrived or 'no called address'}")
    if rewritten and bench.profile.addresses.b_arrives is None:
        raise Inconclusive(
            "the profile does not say what the router rewrites (addresses.b_arrives)"
        )


def longest_addresses(bench: Bench, at: str, modulus: int) -> None:
    """15 digits of each address, and of each alone, as far as the route of that side takes them."""
    there, named = other_end(at), numbers(bench)
    of_fifteen = "908172635445362" if takes_any_caller(bench, at=at) else named[at] or ""
    called = named[there] or ""
    longest = (called + "123456789012345")[:15]
    for digits, calling in ((longest, ""), (longest, of_fifteen), (called, of_fifteen)):
        near = bench.connect(at=at, modulus=modulus)
        request = bench.call_request(called=digits, calling=calling)
        near.send(of_modulus(request, modulus))
        if digits != called and not calling and not bench.went_on(near, at=there):
            near.expect(not_obtainable(bench), CLOSED)
            near.send(ClearConfirmation())
            bench.remark(f"the route to {there.upper()} does not take 15 digits")
            longest = called
            continue
        template = CallRequest(
            called_address=digits, user_data=request.user_data, **calling_at_b(calling)
        )
        give_up(near, bench.incoming(template, at=there))


@purpose("PLP-CALL-04")
def test_empty_calling_address(bench: Bench) -> None:
    """An address that the router puts in, as it may (X.25 5.2.2), is a remark here."""
    a = bench.connect()
    request = bench.call_request(calling="")
    a.send(request)
    b = arrives(bench, CallRequest(called_address=bench.far_end.address))
    if not isinstance(b, AbsentSide) and b.call is not None and b.call.calling_address:
        bench.remark("the router put in a calling address")
    accepted(bench, a, b, request).fence()


def refusal_passes(bench: Bench, cause: int, diagnostic: int) -> None:
    """B refuses a call; A gets cause and diagnostic. A channel of a line is free again then."""
    a, b = pending(bench)
    passes(bench, b, a, cause, diagnostic)
    channel_is_free(bench, b)


@purpose("PLP-CALL-08")
def test_refusal_of_b_reaches_a(bench: Bench) -> None:
    for diagnostic in (0, 1, 67, 160, 241, 255):
        refusal_passes(bench, 0, diagnostic)
    bench.fence()


@purpose("PLP-CALL-09")
def test_private_cause_of_a_refusal_reaches_a(bench: Bench) -> None:
    for cause in (0x80, 0x81, 0xC1, 0xFF):
        refusal_passes(bench, cause, 67)
    bench.fence()


@purpose("PLP-CALL-10")
def test_network_cause_of_a_refusal_reaches_a(bench: Bench) -> None:
    for number, cause in enumerate(NETWORK_CAUSES):
        refusal_passes(bench, cause, 112 + number % 11)
    bench.fence()


def time_out(bench: Bench, a: Side, b: Side) -> None:
    """No answer from B: from 0.9 to 1.2 times T11 after the Call both sides are cleared.

    A tester that was held up may have the Clear before it looks whether one came too early. A
    router that is the DTE of B's line has T21 there (Table D-2).
    """
    t11 = unanswered_call(bench, b)
    began = time.monotonic()
    bench.loop.wait(lambda: bool(a.arrivals.units or b.phase != "idle"), 0.9 * t11)
    if time.monotonic() - began < 0.95 * t11:
        a.expect_count(ClearIndication(), 0, 0, note="before 0.9 times T11")
    else:
        bench.remark("the tester was held up: not judged whether T11 runs out too early")
    is_timed_out(bench, a, b)


def is_timed_out(bench: Bench, a: Side, b: Side) -> None:
    """At 1.2 times T11 at the latest, where 0.9 times T11 are over."""
    t11 = unanswered_call(bench, b)
    refusal = ClearIndication(cause=bench.cause(0x11, 0x09, 0x05))
    if a.expect(refusal, CLOSED, within=0.3 * t11 + bench.reaction_limit) is None:
        bench.remark("a call was refused by a close of TCP, without a Clear")
    a.send(ClearConfirmation())
    # Without the Confirmation: what B does next is the matter of the case.
    b.expect(ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(49)), CLOSED)


def pending_back(bench: Bench) -> tuple[Side, Side] | None:
    """As pending(), from B to A; None where there is no such call."""
    if bench.profile.addresses.a is None or not ("a" in bench.lines or bench.declared("X-OUT")):
        return None
    try:
        with bench.preamble():
            b = bench.connect(at="b")
            b.send(request_from(bench, "b"))
            return b, bench.incoming(at="a")
    except Inconclusive as why:
        bench.remark(f"no call of B to A: {why}")
        return None


@purpose("PLP-CALL-11")
def test_no_answer_from_b(bench: Bench) -> None:
    """Two calls at a time, one of B to A, and one of modulo 128: T11 runs for each."""
    calls = [pending(bench) for _ in range(at_a_time(bench, 2))]
    back = pending_back(bench) if at_a_time(bench, 3) == 3 else None
    if back is not None and unanswered_call(bench, back[1]) == unanswered_call(bench, calls[0][1]):
        calls.append(back)
    if 128 in moduli(bench) and at_a_time(bench, 4) == 4:
        try:
            calls.append(pending(bench, modulus=128))
        except NoChannel as full:
            bench.remark(f"modulo 128 was not looked at: {full}")
    time_out(bench, *calls[0])
    for a, b in calls[1:]:
        is_timed_out(bench, a, b)
    for _, b in calls:
        b.send(ClearConfirmation())
        channel_is_free(bench, b)
    bench.fence()


@purpose("PLP-CALL-12")
def test_no_answer_from_b_without_t11(bench: Bench) -> None:
    """A splice leaves the timers to the two ends: A ends the call, and B is told."""
    a, b = pending(bench)
    longest = bench.profile.times.call_longest
    ended = a.wait_until(lambda: bool(a.connection.end) or a.phase != "calling", longest)
    if bench.model == "splice" and not ended:
        bench.remark("the router has neither T11 nor T21: that is left to the ends")
        passes(bench, a, b, 0, 49)
    else:
        a.expect(ClearIndication(), CLOSED)
        a.send(ClearConfirmation())
        refused(bench, b, ClearIndication())
    bench.fence()


@purpose("PLP-CALL-13")
def test_late_call_accepted(bench: Bench) -> None:
    a, b = pending(bench)
    with bench.preamble():
        time_out(bench, a, b)
    b.send(b.acceptance, ClearConfirmation())
    bench.fence()


@purpose("PLP-CALL-14")
def test_caller_clears_before_the_answer(bench: Bench) -> None:
    """With cause 0, and with causes of its own. On a line the channels of both are free again."""
    for cause, diagnostic in ((0, 241), (0, 0), (0x80, 67), (0xC1, 1), (0xFF, 255)):
        a, b = pending(bench)
        a.send(ClearRequest(cause=cause, diagnostic=diagnostic))
        with amid(bench, f"cause {cause:#04x} and diagnostic {diagnostic}"):
            taken_back(bench, b, diagnostic or one_of(0, None), cause)
        confirmed(a)
    channel_is_free(bench, b)
    channel_is_free(bench, a)
    bench.fence()


@purpose("PLP-CALL-15")
def test_clear_of_a_crosses_accept_of_b(bench: Bench) -> None:
    """20 times up to 1 ms apart, by the seed; then B accepts 50 ms before to 50 ms after it."""
    race = bench.race("the Clear of A and the answer of B crossed", 20)
    for _ in race:
        clear_and_accept(bench, race.coin(), race.pause, race)
    for milliseconds in (-50, -10, 10, 50):
        pause = partial(bench.loop.wait, lambda: False, abs(milliseconds) / 1000)
        clear_and_accept(bench, milliseconds > 0, pause)
    bench.fence()


def clear_and_accept(
    bench: Bench, clear_first: bool, pause: Callable[[], object], race: Race | None = None
) -> None:
    """A clears and B accepts, with a pause between.

    Until A is connected nobody knows whether the router has read the answer of B: it may still end
    the call there by a close of TCP (RFC 1613 6.1).
    """
    a, b = pending(bench)
    first, last = (a, b) if clear_first else (b, a)
    packets = {a: ClearRequest(cause=0, diagnostic=241), b: CallAccepted()}
    first.send(packets[first])
    pause()
    if race is not None:
        race.reached(last.phase not in ("connected", "being cleared"))
    connected = a.phase == "connected"
    last.send(packets[last])
    if connected:
        b.expect(ClearIndication(cause=0, diagnostic=241))
        b.send(ClearConfirmation())
    else:
        taken_back(bench, b, 241)
    came = a.expect(CallAccepted(), ClearConfirmation(), CLOSED)
    if isinstance(came, CallAccepted):
        confirmed(a)
    a.never(CallAccepted())


def repeated(bench: Bench, packet: Packet) -> None:
    """A packet of A that is an error before the answer (p2)."""
    if not bench.two_sided:
        a = bench.connect()
        # The router may have answered before it reads on, and then the error is one of p4.
        a.send(bench.call_request(), packet)
        error = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(21, 23))
        if isinstance(a.expect(CallAccepted(), error, CLOSED), CallAccepted):
            a.expect(error, CLOSED)
        a.send(ClearConfirmation())
        return
    a, b = pending(bench)
    a.send(packet)
    if bench.model != "splice":
        setup_error(bench, a, b, 21)
        return
    passed_on_or_discarded(bench, a, b, packet)


def passed_on_or_discarded(bench: Bench, a: Side, b: Side, packet: Packet) -> None:
    """A splice may also leave the packet to B, or drop it; A can still be connected."""
    error = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(21))
    b.allow(packet.copy())
    b.send(b.acceptance)
    if isinstance(a.expect(CallAccepted(), error, CLOSED), CallAccepted):
        end(Call(bench, a, b))
    else:
        a.send(ClearConfirmation())
        refused(bench, b, ClearIndication(cause=bench.remote_clear))


@purpose("PLP-CALL-17")
def test_call_request_repeated(bench: Bench) -> None:
    repeated(bench, bench.call_request())
    bench.fence()


@purpose("PLP-CALL-18")
def test_call_request_in_data_transfer(call: Call) -> None:
    call.a.send(call.bench.call_request())
    procedure_error(call, call.a, call.b, 23)
    call.bench.fence()


@purpose("PLP-CALL-19")
def test_call_accepted_from_the_calling_side(bench: Bench) -> None:
    """In p1 (on XOT a discard or a close will do), in p2 and in p4."""
    free = bench.connect()
    free.allow(ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(20)))
    free.send(CallAccepted())
    bench.fence("the packet in p1 has been dealt with")
    if free.arrivals.units:
        free.send(ClearConfirmation())
    repeated(bench, CallAccepted())
    call = bench.call()
    call.a.send(CallAccepted())
    procedure_error(call, call.a, call.b, 23)
    bench.fence()


@purpose("PLP-CALL-20")
def test_data_before_the_answer(bench: Bench) -> None:
    a, b = pending(bench)
    a.send(Data(user_data=b"too early"))
    setup_error(bench, a, b, 21)
    bench.fence()


@purpose("PLP-CALL-21")
def test_data_of_b_in_place_of_its_accept(bench: Bench) -> None:
    a, b = pending(bench)
    b.send(Data(user_data=b"too early"))
    setup_error(bench, b, a, 22)
    bench.fence()


@purpose("PLP-CALL-22")
def test_short_forms_of_call_accepted(bench: Bench) -> None:
    """Three octets; with the address block alone, and with an empty facility field behind it; of
    modulo 8 and 128.

    The values of the Call apply: 256 octets go in one packet.
    """
    none = {"called_address_length": 0, "calling_address_length": 0}
    forms = ("three octets", "no addresses", "addresses", "no facilities")
    for modulus, form in product(moduli(bench), forms):
        request = bench.call_request(size=256, window=3)
        a, b = pending(bench, request, modulus=modulus)
        came = b.call
        assert came is not None
        both = {name: getattr(came, name) for name in ("called_address", "calling_address")}
        answer = {
            "three octets": CallAccepted(),
            "no addresses": CallAccepted(**none),
            "addresses": CallAccepted(**both),
            "no facilities": CallAccepted(**none, facility_length=0),
        }[form]
        with amid(bench, f"Call Accepted with {form}, modulo {modulus}"):
            call = accepted(bench, a, b, request, answer)
            octets = bench.record(256)
            call.a.send_message(octets)
            call.b.expect_message(octets, longest=call.b.size_in)
            call.fence()
        end(call)
    bench.fence()


@purpose("PLP-CALL-23")
def test_addresses_and_facilities_of_the_accept(bench: Bench) -> None:
    """With called line address modified (by the called DTE) the called address has to be there.
    Each address alone, both and none, of odd and even lengths, call by call: what comes of them is
    right."""
    size, window = PacketSize(called=7, calling=7), WindowSize(called=2, calling=2)
    modified = CalledLineAddressModified(reason=0xC0)
    for notice in ([modified], []):
        request = bench.call_request()
        a, b = pending(bench, request)
        came = b.call
        assert came is not None
        # What came is what the answer has, unless it says that it was modified (X.25 5.2.3).
        address = (bench.far_end.address + "5") if notice else came.called_address
        values = b.acceptance.facilities or [size, window]
        answer = CallAccepted(called_address=address, facilities=[*notice, *values])
        connected, ignored = [], []
        for facilities in values_at_a(bench, request, agreed_by(b, answer)):
            whole = [*notice, *facilities]
            connected.append(CallAccepted(called_address=address, facilities=whole))
            if not notice:
                connected.append(
                    CallAccepted(called_address_length=one_of(0, None), facilities=whole)
                )
                # A router that rewrites the address of a Call may do the reverse with its answer.
                request_address = request.called_address
                connected.append(CallAccepted(called_address=request_address, facilities=whole))
            elif not isinstance(b, ChannelSide):
                # A facility unknown to the router is ignored, or an error (RFC 1613 6.1).
                unsaid = [lacks(CalledLineAddressModified), *facilities]
                ignored += [
                    CallAccepted(called_address_length=one_of(0, None), facilities=unsaid),
                    CallAccepted(called_address=request.called_address, facilities=unsaid),
                ]
        b.send(answer)
        refusals = [not_allowed(bench), CLOSED] if notice else []
        taken = a.expect(*connected, *ignored, *refusals)
        if not isinstance(taken, CallAccepted):
            bench.remark("the router does not take called line address modified from B (X.25 6.26)")
            clear_or_close(bench, a)
            wrong = bench.cause(0x03, 0x13)
            refused(bench, b, ClearIndication(cause=wrong, diagnostic=bench.diagnostic(65)))
        else:
            bench.settle(a, b, request, taken)
            end(Call(bench, a, b))
    callers = ["90817", "908172"] if takes_any_caller(bench) else [bench.profile.addresses.a]
    last: Side | None = None
    given = ((), ADDRESS_FIELDS[:1], ADDRESS_FIELDS[1:], ADDRESS_FIELDS)
    for calling, names in product(callers, given):
        last = answered_by(bench, last, calling, names)
    bench.fence()


def answered_by(bench: Bench, a: Side | None, calling: str | None, names: Sequence[str]) -> Side:
    """B's answer names these of the two addresses that came to it. At A each is as B named it, as A
    named it, or not there (X.25 5.2.3); another called address has come with a reason (6.26).

    a: whose connection may take a further call. Returns the calling side.
    """
    request = bench.call_request(calling=calling)
    with bench.preamble():
        a = called_with(bench, a, request)
        b = bench.incoming()
    came = b.call
    assert came is not None
    answer = CallAccepted(**{name: getattr(came, name) or "" for name in names})
    right = [
        [
            {f"{name}_length": one_of(0, None)},
            *({name: digits} for digits in dict.fromkeys(known) if digits),
        ]
        for name, known in (
            (ADDRESS_FIELDS[0], (came.called_address, request.called_address)),
            (ADDRESS_FIELDS[1], (came.calling_address, calling, bench.profile.addresses.a)),
        )
    ]
    connected = [CallAccepted(**one, **other) for one, other in product(*right)]
    connected.append(CallAccepted(facilities=[CalledLineAddressModified()]))
    with amid(bench, f"with {' and '.join(names) or 'no address'} in B's answer"):
        end(accepted(bench, a, b, request, answer, connected))
    return a


def not_allowed(bench: Bench) -> Packet:
    """The Clear at A because of a facility of B that the router does not offer, or of the address
    beside it, which is none of B's (X.25 6.26, Annex E)."""
    codes = bench.diagnostic(65, 67)
    return ClearIndication(cause=bench.cause(0x03, 0x11, 0x13), diagnostic=codes)


@purpose("PLP-CALL-25")
def test_user_data_of_0_to_16_octets(bench: Bench) -> None:
    """One call for each length: behind a protocol identifier 0x00 and other octets in turn. From A
    and from B, modulo 8 and 128."""
    for (at, modulus), length in product(callers_and_moduli(bench), range(17)):
        values = (bytes((0, 1 + (31 * length + 7 * n) % 255)) for n in range(8))
        user_data = (b"\xc0" + b"".join(values))[:length]
        near = bench.connect(at=at, modulus=modulus)
        request = of_modulus(request_from(bench, at, user_data=user_data), modulus)
        near.send(request)
        with amid(bench, f"{length} octets from {at.upper()}, modulo {modulus}"):
            far = arrives_at(bench, other_end(at), CallRequest(user_data=user_data))
            end(accepted(bench, near, far, request))
    bench.fence()


@purpose("PLP-CALL-26")
def test_user_data_of_17_octets(bench: Bench) -> None:
    """Without fast select, from A and from B, modulo 8 and 128; over XOT so many more that their
    number has another octet, too. A splice and an IUT that trusts the ends may pass it."""
    passed = False
    lengths = (17,) if bench.lines else (17, 256, 257, 272)
    for (at, modulus), length in product(callers_and_moduli(bench), lengths):
        user_data = b"\xc0" + bench.random.randbytes(length - 1)
        near = bench.connect(at=at, modulus=modulus)
        near.send(of_modulus(request_from(bench, at, user_data=user_data), modulus))
        if trusts_the_ends(bench) and bench.went_on(near, at=other_end(at)):
            passed = True
            give_up(near, bench.incoming(CallRequest(user_data=user_data), at=other_end(at)))
        elif not taken_by_a_dte(bench, near, f"{length} octets of user data were"):
            refused(bench, near, user_data_error(bench))
    if passed:
        needs_trust(bench, "17 octets of user data and more were")
    bench.fence()


@purpose("PLP-CALL-27")
def test_protocol_identifier_changes_nothing(bench: Bench) -> None:
    for identifier in (0x00, 0x01, 0x80, 0xC0, 0xC5, 0xCC, 0xFF):
        user_data = bytes((identifier, 0, 0, 0))
        a = bench.connect()
        a.send(bench.call_request(user_data=user_data))
        give_up(a, bench.incoming(CallRequest(user_data=user_data)))
    bench.fence()


@purpose("PLP-CALL-28")
def test_d_bit_in_call_packets(bench: Bench) -> None:
    """Asked for and granted; asked for and not granted. From A and from B, modulo 8 and 128, with
    fast select, where the called side takes it, and without."""
    fast = [at for at in callers(bench) if bench.declared("F-FS") and takes_fast_select(bench, at)]
    for (at, modulus), kind, granted in product(callers_and_moduli(bench), (None, 2, 3), (1, 0)):
        if kind is not None and at not in fast:
            continue
        near = bench.connect(at=at, modulus=modulus)
        request = of_modulus(request_from(bench, at, fast_select=kind), modulus)
        request.d = 1
        near.send(request)
        with amid(bench, f"from {at.upper()}, modulo {modulus}, fast select {kind}"):
            far = bench.incoming(CallRequest(d=1), at=other_end(at))
            if kind == 3:
                # The restriction lets no answer but a Clear (X.25 6.16).
                give_up(near, far)
                continue
            answer = CallAccepted(d=granted)
            end(accepted(bench, near, far, request, answer, [answer.copy()]))
    bench.fence()


@purpose("PLP-CALL-29")
def test_a_bit_in_a_call(bench: Bench) -> None:
    """An address block in TOA/NPI form. Without F-TOA: refused (40, 46 or 67) or discarded, which a
    DCE may tell on a line (X.25 Table C-1).

    Read as plain digits its facility length is wrong: 69 or 38 give that away, and are an error
    where the profile takes exact diagnostics alone.
    """
    block = {
        "called_type": 1,
        "called_plan": 3,
        "called_address": bench.far_end.address,
        "calling_type": 1,
        "calling_plan": 3,
        "calling_address": bench.profile.addresses.a,
    }
    if bench.declared("F-TOA"):
        needs_whole_addresses(bench)
    a = bench.connect()
    if not bench.declared("F-TOA"):
        a.allow(Diagnostic(diagnostic=bench.diagnostic(40)))
    a.send(CallRequest(q=1, facilities=bench.call_request().facilities, **block))
    quiet = bench.profile.times.quiet
    misread = () if bench.profile.diagnostics == "exact" else (38, 39, 68, 69)
    codes = bench.diagnostic(40, 46, 67, *misread)
    error = ClearIndication(cause=bench.network_clear, diagnostic=codes)
    if bench.two_sided and bench.went_on(a, seconds=quiet):
        plain = {name: block[name] for name in ADDRESS_FIELDS}
        b = bench.incoming(CallRequest(q=1, **block), CallRequest(q=0, **plain))
        if not received_call(b).q:
            bench.remark("B gets the addresses in the other form (X.25 5.2.1)")
        give_up(a, b)
    elif bench.declared("F-TOA"):
        a.expect(*((error, CallAccepted()) if not bench.two_sided else (CallAccepted(),)))
    elif a.wait_until(lambda: a.arrivals.reacted, quiet):
        refused(bench, a, error)
    bench.fence()


@purpose("PLP-CALL-40")
def test_accept_and_clear_of_b_in_one_segment(bench: Bench) -> None:
    a, b = pending(bench)
    b.send(b.acceptance, ClearRequest(cause=0, diagnostic=241))
    clear = ClearIndication(cause=0, diagnostic=241)
    if isinstance(a.expect(CallAccepted(), clear), CallAccepted):
        a.expect(clear)
    a.send(ClearConfirmation())
    confirmed(b)
    bench.fence()

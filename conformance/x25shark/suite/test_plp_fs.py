# SPDX-License-Identifier: GPL-2.0-or-later
"""Fast select (X.25 6.16, 6.17, 5.2.2 to 5.2.4; facility 0x01 of 7.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from .anew import again, called_with, is_gone
from .calls import (
    ADDRESS_FIELDS,
    accepted,
    agreed_by,
    answer_to,
    arrives,
    at_a,
    behind_marker,
    callers,
    carries,
    checks_calls,
    moduli,
    needs_trust,
    not_taken,
    of_modulus,
    pending,
    request_from,
    takes_fast_select,
    trusts_the_ends,
    window_holds,
)
from .clearing import (
    clear_or_close,
    clear_with,
    cleared,
    confirmed,
    end,
    give_up,
    procedure_error,
    refused,
    setup_error,
    taken_back,
    user_data_error,
)
from .connections import far_side_ends
from .facilities import DTE_FACILITIES, MOST_FACILITIES, added, octets_of, protection
from .language import (
    ABSENT,
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    FastSelectReverseCharging,
    Packet,
    PacketSize,
    Side,
    WindowSize,
    purpose,
)
from .many import at_a_time
from .occasion import amid
from .procedure_errors import confirmed_ahead
from .reactions import both, reset, taken_by_a_dte
from .whole_calls import clears_cross

UNRESTRICTED, RESTRICTED = 2, 3
FAST = FastSelectReverseCharging(fast_select=UNRESTRICTED)
VALUES = (PacketSize(), WindowSize())
LONGEST_ADDRESS = 15
# Octets of a Call, and what a frame adds: address, control field and FCS.
LONGEST_PACKET, OF_A_FRAME = 257, 5


# Octets of user data: the most that a call without fast select may have, and more (X.25 6.16).
LENGTHS = (1, 16, 17, 64, 127, 128)


def octets(bench: Bench, length: int) -> bytes:
    """User data behind a protocol identifier of free use, with an octet 0x00 near its front."""
    return (b"\xc0\xff\0" + bench.random.randbytes(length))[:length]


def fast_select_call(bench: Bench) -> Call:
    """A fast select call up to data transfer."""
    return bench.call(fast_select=UNRESTRICTED)


@purpose("PLP-FS-01")
def test_call_user_data(bench: Bench) -> None:
    for length in LENGTHS:
        user_data = octets(bench, length)
        a = bench.connect()
        a.send(bench.call_request(fast_select=UNRESTRICTED, user_data=user_data))
        facility = FastSelectReverseCharging(fast_select=UNRESTRICTED)
        with amid(bench, f"with {length} octets of user data"):
            arrived = bench.incoming(CallRequest(facilities=[facility], user_data=user_data))
        give_up(a, arrived)
    bench.fence()


@purpose("PLP-FS-02")
def test_called_user_data(bench: Bench) -> None:
    for length in LENGTHS:
        user_data = octets(bench, length)
        request = bench.call_request(fast_select=UNRESTRICTED)
        a, b = pending(bench, request)
        answer = CallAccepted(user_data=user_data)
        with amid(bench, f"with {length} octets of user data"):
            call = accepted(bench, a, b, request, answer, [answer.copy()])
        call.fence()
        end(call)


@purpose("PLP-FS-03")
def test_clear_user_data_in_a_refusal(bench: Bench) -> None:
    for length in LENGTHS:
        user_data = octets(bench, length)
        a, b = pending(bench, bench.call_request(fast_select=UNRESTRICTED))
        b.send(clear_with(user_data))
        with amid(bench, f"with {length} octets of user data"):
            a.expect(ClearIndication(cause=0, diagnostic=241, user_data=user_data))
        a.send(ClearConfirmation())
        confirmed(b)
    bench.fence()


@purpose("PLP-FS-21")
def test_clear_user_data_of_the_caller_before_the_answer(bench: Bench) -> None:
    """Of each kind of fast select, modulo 8 and 128. X.25 6.16 says nothing of that moment: all of
    it arrives, none of it does, or it is an error; but never a part of it."""
    kinds = (UNRESTRICTED, RESTRICTED)
    for modulus, kind, length in product(moduli(bench), kinds, (1, 16, 17, 128)):
        user_data = octets(bench, length)
        request = bench.call_request(fast_select=kind)
        a, b = pending(bench, request, modulus=modulus)
        with amid(bench, f"with {length} octets of user data, modulo {modulus}"):
            clears_early(bench, a, b, user_data, (user_data, ABSENT))
    bench.fence()


def clears_early(bench: Bench, here: Side, there: Side, user_data: bytes, arrive: Any) -> None:
    """A side clears a call that is not connected. arrive: what user data the other end may get."""
    here.send(clear_with(user_data))
    wrong = user_data_error(bench)
    ahead = confirmed_ahead(here, there, wrong)
    right = [ClearIndication(cause=0, diagnostic=241, user_data=data) for data in arrive]
    as_an_error = ClearIndication(cause=bench.network_clear, user_data=ABSENT)
    there.expect(*([] if ahead else right), as_an_error, CLOSED)
    if there.phase == "being cleared":
        there.send(ClearConfirmation())
    if not ahead and isinstance(here.expect(ClearConfirmation(), wrong, CLOSED), ClearIndication):
        here.send(ClearConfirmation())


@purpose("PLP-FS-22")
def test_clear_user_data_without_fast_select_before_the_answer(bench: Bench) -> None:
    """In the Clear of A, and of B in place of the answer; modulo 8 and 128."""
    for modulus, length in product(moduli(bench), (1, 16, 128)):
        for turned in (False, True):
            here, there = pending(bench, modulus=modulus)[:: -1 if turned else 1]
            with amid(bench, f"with {length} octets from {here.name}, modulo {modulus}"):
                clears_early(bench, here, there, octets(bench, length), (ABSENT,))
    bench.fence()


@purpose("PLP-FS-20")
def test_the_longest_call_and_answer(bench: Bench) -> None:
    """128 octets of user data behind a full facility field, and that behind the longest addresses
    that the way to B takes: up to 257 octets. So is B's answer.

    A router that was seen to add a facility leaves so much less room (PLP-FAC-24).
    """
    needed = f"lines with frames of {LONGEST_PACKET + OF_A_FRAME} octets (line.n1)"
    lines = bench.profile.line.by_side().values()
    bench.need(all(line.n1 // 8 >= LONGEST_PACKET + OF_A_FRAME for line in lines), needed)
    way = way_of_long_calls(bench)
    user_data = octets(bench, 128)
    filled = filled_up(bench, (FAST, *VALUES), way.added_at_b)
    request = CallRequest(**way.addresses, facilities=[FAST, *VALUES, *filled], user_data=user_data)
    a = bench.connect()
    a.send(request)
    b = bench.listeners.accept()
    b.expect(CallRequest(user_data=user_data, facilities=behind_marker(b, filled)))
    if way.answer is None:
        give_up(a, b)
        bench.fence()
        return
    user_data = octets(bench, 128)
    filled = filled_up(bench, VALUES, way.added_at_a)
    b.send(CallAccepted(**way.answer, facilities=[*VALUES, *filled], user_data=user_data))
    a.expect(CallAccepted(user_data=user_data, facilities=behind_marker(a, filled)))
    end(Call(bench, a, b))
    bench.fence()


@dataclass
class Way:
    """The addresses of a Call that arrives and of an answer that does (None: no such answer), and
    the octets by which their facilities grow on the way."""

    addresses: dict[str, str]
    answer: dict[str, str] | None
    added_at_b: int
    added_at_a: int


def way_of_long_calls(bench: Bench) -> Way:
    """Found out by calls without user data to speak of: digits behind the address of B, and a
    calling address that is none of A's, are the network's to refuse."""
    own, called = bench.profile.addresses.a or "", bench.far_end.address
    longer = (called + "123456789012345")[:LONGEST_ADDRESS]
    of_fifteen = "908172635445362"
    tried = ((longer, of_fifteen), (longer, own), (called, of_fifteen), (called, own))
    sent = (FAST, *VALUES, *DTE_FACILITIES)
    for digits in tried:
        addresses = dict(zip(ADDRESS_FIELDS, digits, strict=True))
        a = bench.connect()
        a.send(CallRequest(**addresses, facilities=[*sent], user_data=b"\xc0"))
        if digits != tried[-1] and not bench.went_on(a):
            refused(bench, a, ClearIndication())
            continue
        b = bench.listeners.accept()
        came = b.expect(CallRequest(facilities=behind_marker(b, DTE_FACILITIES)))
        added_at_b = added(came, sent)
        answer = {name: getattr(came, name) for name in ADDRESS_FIELDS if getattr(came, name)}
        values = (*VALUES, *DTE_FACILITIES)
        b.send(CallAccepted(**answer, facilities=[*values]))
        whole = CallAccepted(facilities=behind_marker(a, DTE_FACILITIES))
        came = a.expect(whole, ClearIndication(cause=bench.network_clear), CLOSED)
        if isinstance(came, CallAccepted):
            end(Call(bench, a, b))
            return Way(addresses, answer, added_at_b, added(came, values))
        clear_or_close(bench, a)
        refused(bench, b, ClearIndication())
        bench.remark("the addresses of the Call have no place in its answer")
        return Way(addresses, None, added_at_b, 0)
    raise AssertionError("the last one was not left out")


def filled_up(bench: Bench, before: Sequence[Packet], reserved: int) -> list[Packet]:
    """Facilities of DTEs behind these, to the last octet of the field but those reserved."""
    room = MOST_FACILITIES - reserved - octets_of((*before, *DTE_FACILITIES)) - 2
    return [*DTE_FACILITIES, protection(room)]


@purpose("PLP-FS-04")
def test_accept_in_spite_of_restriction(bench: Bench) -> None:
    """Of modulo 8 and 128."""
    for modulus in moduli(bench):
        a, b = pending(bench, bench.call_request(fast_select=RESTRICTED), modulus=modulus)
        b.send(CallAccepted())
        with amid(bench, f"modulo {modulus}"):
            setup_error(bench, b, a, 42)
    bench.fence()


@purpose("PLP-FS-05")
def test_129_octets_of_user_data(bench: Bench) -> None:
    """In Call (of A and of B, modulo 8 and 128), Call Accepted and Clear, before the answer too.
    One that trusts the ends may pass them, a DTE take them."""
    if trusts_the_ends(bench):
        pass_129_octets(bench)
        return
    fast = [at for at in callers(bench) if takes_fast_select(bench, at)]
    for at, modulus in product(fast, moduli(bench)):
        request = request_from(bench, at, fast_select=UNRESTRICTED, user_data=octets(bench, 129))
        near = bench.connect(at=at, modulus=modulus)
        near.send(of_modulus(request, modulus))
        if not taken_by_a_dte(bench, near, "129 octets of user data were"):
            refused(bench, near, user_data_error(bench))
    for modulus in moduli(bench) if bench.two_sided else ():
        a, b = pending(bench, bench.call_request(fast_select=UNRESTRICTED), modulus=modulus)
        b.send(CallAccepted(user_data=octets(bench, 129)))
        refused(bench, b, user_data_error(bench))
        refused(bench, a, ClearIndication(cause=bench.remote_clear))
    call = fast_select_call(bench)
    call.a.send(clear_with(octets(bench, 129)))
    too_long = user_data_error(bench)
    taken = (ClearConfirmation(),) if bench.is_a_dte else ()
    if isinstance(call.a.expect(too_long, *taken), ClearConfirmation):
        bench.remark("a Clear with 129 octets of user data was taken by the DTE")
    else:
        call.a.send(ClearConfirmation())
        cleared(call.b, cause=bench.remote_clear, diagnostic=None)
    for modulus, turned in product(moduli(bench) if bench.two_sided else (), (False, True)):
        called = pending(bench, bench.call_request(fast_select=UNRESTRICTED), modulus=modulus)
        here, there = called[:: -1 if turned else 1]
        with amid(bench, f"{here.name} clears before the answer, modulo {modulus}"):
            clears_early(bench, here, there, octets(bench, 129), ())
    bench.fence()


def pass_129_octets(bench: Bench) -> None:
    """Each of the three packets unchanged at the other end, or its error."""
    user_data = octets(bench, 129)
    too_long = user_data_error(bench)
    remote = ClearIndication(cause=bench.remote_clear)
    a = bench.connect()
    a.send(bench.call_request(fast_select=UNRESTRICTED, user_data=user_data))
    passed = bench.went_on(a)
    if passed:
        give_up(a, bench.incoming(CallRequest(user_data=user_data)))
    else:
        refused(bench, a, user_data_error(bench))
    a, b = pending(bench, bench.call_request(fast_select=UNRESTRICTED))
    b.send(CallAccepted(user_data=user_data))
    ahead = confirmed_ahead(b, a, too_long)
    if isinstance(a.expect(CallAccepted(user_data=user_data), remote, CLOSED), CallAccepted):
        passed = True
        end(Call(bench, a, b))
    else:
        clear_or_close(bench, a)
        if not ahead:
            refused(bench, b, too_long)
    call = fast_select_call(bench)
    call.a.send(clear_with(user_data))
    whole = ClearIndication(cause=0, diagnostic=241, user_data=user_data)
    ahead = confirmed_ahead(call.a, call.b, too_long)
    came = call.b.expect(whole, remote)
    assert came is not None
    passed = passed or came.cause == 0
    call.b.send(ClearConfirmation())
    if not ahead and call.a.expect(ClearConfirmation(), too_long, CLOSED) is not None:
        call.a.send(ClearConfirmation())
    if passed:
        needs_trust(bench, "129 octets of user data were")
    bench.fence()


@purpose("PLP-FS-06", both_sides=True)
def test_clear_user_data_without_fast_select(call: Call) -> None:
    clear_user_data_has_no_place(call)
    call.bench.fence()


def clear_user_data_has_no_place(call: Call) -> None:
    """An error, or B is cleared without the user data. A's confirmation may wait for that of B."""
    bench = call.bench
    too_long = user_data_error(bench)
    passed = ClearIndication(cause=0, diagnostic=241, user_data=ABSENT)
    call.a.send(clear_with(b"\xc0"))
    ahead = confirmed_ahead(call.a, call.b, too_long)
    as_an_error = ClearIndication(cause=bench.remote_clear)
    there = call.b.expect(*(() if ahead else (passed,)), as_an_error)
    call.b.send(ClearConfirmation())
    if ahead:
        return
    right: list[Packet] = [ClearConfirmation(), too_long]
    if there is not None:
        right = right[:1] if there.fields.get("diagnostic") == 241 else right[1:]
    came = call.a.expect(*right, CLOSED)
    if isinstance(came, ClearIndication):
        call.a.send(ClearConfirmation())
    else:
        bench.remark("clear user data without fast select was dropped")


@purpose("PLP-FS-07")
def test_called_user_data_without_fast_select(bench: Bench) -> None:
    """A fast select in the answer makes the call none: it stands in a Call alone (X.25 6.16)."""
    for modulus in moduli(bench):
        a, b = pending(bench, modulus=modulus)
        called_user_data_has_no_place(bench, a, b)
        if checks_calls(bench):
            for user_data in (b"\xc0", b""):
                with amid(bench, f"fast select in the answer, modulo {modulus}"):
                    answers_with_fast_select(bench, modulus, user_data)
    bench.fence()


def answers_with_fast_select(bench: Bench, modulus: int, user_data: bytes) -> None:
    """B's answer to a plain Call has the facility: an error, or a plain call all the same."""
    a, b = pending(bench, modulus=modulus)
    b.send(CallAccepted(facilities=[FAST], user_data=user_data))
    wrong = ClearIndication(cause=bench.cause(0x13, 0x03), diagnostic=bench.diagnostic(65, 39))
    ahead = confirmed_ahead(b, a, wrong)
    right = CallAccepted(user_data=ABSENT), ClearIndication(cause=bench.network_clear)
    if isinstance(a.expect(*right, CLOSED), CallAccepted):
        bench.remark("a fast select in an answer was dropped, or passed on")
        clear_user_data_has_no_place(Call(bench, a, b))
    else:
        clear_or_close(bench, a)
        if not ahead:
            refused(bench, b, wrong)


def called_user_data_has_no_place(bench: Bench, a: Side, b: Side) -> None:
    """An error, or A is connected without the user data."""
    b.send(CallAccepted(user_data=b"\xc0"))
    remote = ClearIndication(cause=bench.remote_clear)
    too_long = user_data_error(bench)
    ahead = confirmed_ahead(b, a, too_long)
    came = a.expect(CallAccepted(user_data=ABSENT), remote, CLOSED)
    if not isinstance(came, CallAccepted):
        clear_or_close(bench, a)
        if not ahead:
            refused(bench, b, too_long)
    else:
        bench.remark("called user data without fast select was dropped")
        end(Call(bench, a, b))


@purpose("PLP-FS-08")
def test_destination_without_fast_select_acceptance(bench: Bench) -> None:
    """With the restriction and without it; reverse charging beside it changes nothing."""
    called = bench.profile.addresses.no_fast_select
    bench.need(called, "the profile names no such destination (addresses.no_fast_select)")
    assert called is not None
    not_taken(bench, called, (UNRESTRICTED, RESTRICTED), 0, 0x29)
    if bench.declared("F-RC"):
        not_taken(bench, called, (UNRESTRICTED, RESTRICTED), 1, 0x29, 0x19)
    bench.fence()


@purpose("PLP-FS-09")
def test_clear_user_data_after_data_transfer(bench: Bench) -> None:
    """By either side; with the most of it behind a reset of either side, too."""
    for length in LENGTHS:
        for turned in (False, True):
            call = fast_select_call(bench)
            call.fence("data both ways")
            with amid(bench, f"with {length} octets of user data"):
                clears_with_user_data(call.turned() if turned else call, length)
    for resetting, turned in product(("A", "B"), (False, True)):
        call = fast_select_call(bench)
        with amid(bench, f"behind a reset of {resetting}"):
            reset(call if resetting == "A" else call.turned())
            call.fence("data both ways")
            clears_with_user_data(call.turned() if turned else call, LENGTHS[-1])
    bench.fence()


def clears_with_user_data(call: Call, length: int) -> None:
    """The calling side of a call as it is seen here clears it, with so much user data."""
    user_data = octets(call.bench, length)
    clearing, cleared = both(call)
    clearing.send(clear_with(user_data))
    cleared.expect(ClearIndication(cause=0, diagnostic=241, user_data=user_data))
    cleared.send(ClearConfirmation())
    confirmed(clearing)


@purpose("PLP-FS-10")
def test_bits_01_are_no_fast_select(bench: Bench) -> None:
    a = bench.connect()
    a.send(bench.call_request(fast_select=1, user_data=octets(bench, 17)))
    if trusts_the_ends(bench) and bench.went_on(a):
        give_up(a, bench.incoming(CallRequest()))
        needs_trust(bench, "17 octets of user data were")
    elif not taken_by_a_dte(bench, a, "17 octets of user data were"):
        refused(bench, a, user_data_error(bench))
    bench.fence()


@purpose("PLP-FS-11")
def test_fast_select_and_reverse_charging_in_one_octet(bench: Bench) -> None:
    """With 128 octets of user data, and with the restriction: reverse charging changes neither."""
    for fast_select in (UNRESTRICTED, RESTRICTED):
        both = FastSelectReverseCharging(fast_select=fast_select, redirection=0, reverse_charging=1)
        values = bench.call_request().facilities
        request = bench.call_request(facilities=[both, *values], user_data=octets(bench, 128))
        a = bench.connect()
        a.send(request)
        b = bench.incoming(CallRequest(facilities=[both], user_data=request.user_data))
        if fast_select == RESTRICTED and bench.model != "splice":
            b.send(CallAccepted())
            setup_error(bench, b, a, 42)
        else:
            give_up(a, b)
    bench.fence()


@purpose("PLP-FS-12")
def test_values_agreed_with_fast_select(bench: Bench) -> None:
    """Packet size, window and user data in one answer, and again with the answer's values left out:
    what was agreed holds on both sides, as without fast select."""
    for names_values in (True, False):
        user_data = octets(bench, 128)
        request = bench.call_request(fast_select=UNRESTRICTED, size=512, window=5)
        a, b = pending(bench, request)
        values = answer_to(b, size=8, window=3).facilities if names_values else []
        answer = CallAccepted(facilities=values, user_data=user_data)
        connected = at_a(bench, request, agreed_by(b, answer))
        for template in connected:
            template.fields["user_data"] = user_data
        call = accepted(bench, a, b, request, answer, connected)
        carries(call)
        window_holds(call.a, call.b)
        window_holds(call.b, call.a)
        call.fence()
        end(call)
    bench.fence()


@purpose("PLP-FS-13")
def test_fast_select_ends_with_its_call(bench: Bench) -> None:
    """However a fast select call ended: on the same connection a Call without it has too much user
    data, and so has an answer, and a Clear, of A and of B.

    Where that is closed (RFC 1613 5) nothing is left to be seen. A router that may leave user data
    to the ends, and a DTE that may take it, but does not do so in a first Call, does not in a later
    one.
    """
    trusts = trusts_the_ends(bench)
    left = trusts and takes_17_octets(bench)
    bench.need(not left, "the router leaves the length of user data to the ends")
    at_a_time(bench, 1, spare=3)
    takes = bench.is_a_dte and takes_17_octets(bench)
    limits = [] if takes else [call_has_its_limit, call_with_other_bits_has]
    if not trusts:
        limits.append(clear_of_a_has_none)
    if bench.two_sided and not trusts:
        limits += [clear_of_b_has_none, answer_has_none]
    ends = list(ENDS if bench.two_sided else ENDS[:1])
    if bench.two_sided and not bench.profile.line.by_side():
        ends += CLOSES
    a: Side | None = None
    for (how, checked, over), limit in product(ends, limits):
        if checked and trusts:
            continue
        if limit is call_with_other_bits_has and over not in OF_EACH_KIND:
            continue
        with amid(bench, f"behind a fast select call {how}"):
            a = limit(bench, kept(over(bench, a)))
        if a is not None:
            # A confirmation of clears that crossed would have come ahead of the answer.
            a.allowed.clear()
    bench.fence()


def kept(a: Side) -> Side | None:
    """The side whose connection may take a further call."""
    if is_gone(a):
        a.context.remark("the connection is closed behind its call")
        return None
    return a if a.phase == "cleared" else None


# How a fast select call ends, on the connection of A's last call


def fast_arrives(bench: Bench, a: Side | None, kind: int = UNRESTRICTED) -> tuple[Side, Side]:
    """A fast select call of A with the most of user data, which B has not answered."""
    request = bench.call_request(fast_select=kind, user_data=octets(bench, LENGTHS[-1]))
    return called_with(bench, a, request), bench.incoming()


def fast_connected(bench: Bench, a: Side | None) -> Call:
    """The same, connected."""
    request = bench.call_request(fast_select=UNRESTRICTED, user_data=octets(bench, LENGTHS[-1]))
    a = called_with(bench, a, request)
    return accepted(bench, a, arrives(bench), request)


def over_by_a(bench: Bench, a: Side | None) -> Side:
    call = fast_connected(bench, a)
    end(call)
    return call.a


def over_by_b(bench: Bench, a: Side | None) -> Side:
    call = fast_connected(bench, a)
    end(call.turned())
    return call.a


def over_with_data(bench: Bench, a: Side | None) -> Side:
    call = fast_connected(bench, a)
    clears_with_user_data(call.turned(), LENGTHS[-1])
    return call.a


def over_by_both(bench: Bench, a: Side | None) -> Side:
    call = fast_connected(bench, a)
    clears_cross(call)
    return call.a


def over_by_both_there(bench: Bench, a: Side | None) -> Side:
    call = fast_connected(bench, a)
    clears_cross(call.turned())
    return call.a


def refused_with_data(bench: Bench, a: Side | None, kind: int = UNRESTRICTED) -> Side:
    user_data = octets(bench, LENGTHS[-1])
    a, b = fast_arrives(bench, a, kind)
    b.send(clear_with(user_data))
    a.expect(ClearIndication(cause=0, diagnostic=241, user_data=user_data))
    a.send(ClearConfirmation())
    confirmed(b)
    return a


def refused_without_data(bench: Bench, a: Side | None) -> Side:
    a, b = fast_arrives(bench, a)
    give_up(a, b)
    return a


def restricted_and_refused(bench: Bench, a: Side | None) -> Side:
    return refused_with_data(bench, a, RESTRICTED)


def withdrawn(bench: Bench, a: Side | None) -> Side:
    a, b = fast_arrives(bench, a)
    a.send(ClearRequest(cause=0, diagnostic=241))
    taken_back(bench, b, 241)
    confirmed(a)
    return a


def restricted_and_accepted(bench: Bench, a: Side | None) -> Side:
    a, b = fast_arrives(bench, a, RESTRICTED)
    b.send(CallAccepted())
    setup_error(bench, b, a, 42)
    return a


def in_error(bench: Bench, a: Side | None) -> Side:
    """By the router, in data transfer."""
    call = fast_connected(bench, a)
    call.a.send(CallAccepted())
    procedure_error(call, call.a, call.b, 23)
    return call.a


def closed_by_a(bench: Bench, a: Side | None) -> Side:
    call = fast_connected(bench, a)
    call.a.close()
    far_side_ends(bench, call.b)
    return call.a


def closed_by_b(bench: Bench, a: Side | None) -> Side:
    call = fast_connected(bench, a)
    call.b.close()
    far_side_ends(bench, call.a)
    return call.a


class Ending(NamedTuple):
    """An end of a fast select call; checked: the router makes it, for an error of B or of A."""

    how: str
    checked: bool
    over: Callable[[Bench, Side | None], Side]


ENDS = (
    Ending("that A cleared", False, over_by_a),
    Ending("that B cleared", False, over_by_b),
    Ending("that B cleared with user data", False, over_with_data),
    Ending("that both cleared", False, over_by_both),
    Ending("that both cleared, B last", False, over_by_both_there),
    Ending("that B refused with user data", False, refused_with_data),
    Ending("that B refused", False, refused_without_data),
    Ending("with restriction that B refused", False, restricted_and_refused),
    Ending("that A took back", False, withdrawn),
    Ending("with restriction that B accepted", True, restricted_and_accepted),
    Ending("that the router cleared", True, in_error),
)
# Ends that only a connection of its own has.
CLOSES = (
    Ending("whose connection A closed", False, closed_by_a),
    Ending("whose connection B closed", False, closed_by_b),
)


# One end in each state of the call.
OF_EACH_KIND = (over_by_a, over_with_data, refused_with_data, withdrawn)


# What a call without fast select may not have


def call_has_its_limit(bench: Bench, a: Side | None, fast_select: int | None = None) -> Side | None:
    user_data = octets(bench, 17)
    a = called_with(bench, a, bench.call_request(fast_select=fast_select, user_data=user_data))
    if bench.went_on(a):
        bench.listeners.take_called()
    refused(bench, a, user_data_error(bench))
    return kept(a)


def call_with_other_bits_has(bench: Bench, a: Side | None) -> Side | None:
    """The facility is there, and says that fast select is not asked for."""
    return call_has_its_limit(bench, a, 0)


def clear_of_a_has_none(bench: Bench, a: Side | None) -> Side | None:
    call = bench.place_call() if a is None else again(bench, a)
    clear_user_data_has_no_place(call)
    return kept(call.a)


def clear_of_b_has_none(bench: Bench, a: Side | None) -> Side | None:
    call = bench.place_call() if a is None else again(bench, a)
    clear_user_data_has_no_place(call.turned())
    return kept(call.a)


def answer_has_none(bench: Bench, a: Side | None) -> Side | None:
    a = called_with(bench, a, bench.call_request())
    called_user_data_has_no_place(bench, a, bench.incoming())
    return kept(a)


def takes_17_octets(bench: Bench) -> bool:
    """Whether a Call on a new connection, without fast select, goes on with so much user data, or a
    DTE takes it."""
    a = bench.connect()
    a.send(bench.call_request(user_data=octets(bench, 17)))
    if taken_by_a_dte(bench, a, "17 octets of user data were"):
        return True
    passed = bench.went_on(a)
    if passed:
        give_up(a, bench.incoming())
    else:
        refused(bench, a, user_data_error(bench))
    return passed

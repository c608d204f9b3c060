# SPDX-License-Identifier: GPL-2.0-or-later
"""The facility field, unknown facilities, and those that are not negotiated (X.25 clause 7).

PLP-FAC-34 looks at the whole run.
"""

from __future__ import annotations

from itertools import product

from scapy_x25 import (
    MODULO_128,
    CalledAddressExtension,
    CallRedirectionNotification,
    ChargingInformationRequest,
    ClosedUserGroup,
    ClosedUserGroupExtended,
    EndToEndTransitDelay,
    ExpeditedDataNegotiation,
    NetworkUserIdentification,
    Priority,
    Protection,
    RoaSelection,
    RoaSelectionExtended,
    TransitDelay,
)

from ..judges.template import Lacks, matches
from ..sides.agreement import offer_of
from ..sides.side import AbsentSide
from .calls import (
    accepted,
    agreed_by,
    answer_to,
    arrives,
    at_a,
    at_b,
    behind_marker,
    callers_and_moduli,
    carries,
    checks_calls,
    holding,
    moduli,
    not_taken,
    offers,
    other_end,
    pending,
    received_call,
    window_holds,
)
from .clearing import clear_or_close, confirmed, end, give_up, refused
from .facilities import (
    BOTH,
    DTE,
    DTE_FACILITIES,
    MOST_FACILITIES,
    added,
    at_most,
    call_with,
    error,
    octets_of,
    protection,
    refused_or,
    with_facilities,
)
from .language import (
    ABSENT,
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    CalledLineAddressModified,
    CallRequest,
    ClearIndication,
    ClearRequest,
    FacilityA,
    FacilityB,
    FacilityC,
    FacilityD,
    FastSelectReverseCharging,
    Inconclusive,
    Marker,
    Packet,
    PacketSize,
    Side,
    ThroughputClass,
    WindowSize,
    between,
    lacks,
    not_in,
    purpose,
)
from .occasion import amid
from .procedure_errors import confirmed_ahead
from .reactions import call_arrived, taken_by_a_dte


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
    offered first, 2 last. Network user identification twice, which the router may not have at all.
    """
    size, window = PacketSize(called=9, calling=9), WindowSize(called=4, calling=4)
    repeated(bench, PacketSize(called=5, calling=5), WindowSize(), size)
    repeated(bench, WindowSize(called=1, calling=1), PacketSize(), window)
    if bench.declared("F-THR"):
        first, last = (ThroughputClass(called=rate, calling=rate) for rate in (11, 7))
        repeated(bench, first, PacketSize(), WindowSize(), last)
    if bench.two_sided:
        repeated_in_the_answer(bench)
        repeated_user(bench)
    bench.fence()


def repeated_user(bench: Bench) -> None:
    """A Call with two network user identifications is refused, or goes on."""
    user = NetworkUserIdentification(value=b"user")
    a, _ = call_with(bench, user, PacketSize(), WindowSize(), user)
    if bench.went_on(a):
        bench.remark("a Call with two network user identifications went on")
        give_up(a, bench.incoming())
        return
    cause = bench.cause(0x03, 0x13, *OF_A_USER)
    codes = bench.diagnostic(73, 64, 65, *NO_USER)
    refused(bench, a, ClearIndication(cause=cause, diagnostic=codes))


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
    """In a Call, and in the answer to one; of modulo 8 and 128 over XOT."""
    field = (PacketSize(), WindowSize(), DTE, Protection(value=bytes(100)))
    assert octets_of(field) == MOST_FACILITIES + 1
    for modulus in moduli(bench):
        a, _ = call_with(bench, *field, modulus=modulus)
        # 65 and 77: the router has no facilities of DTEs, or looks at what they are first.
        codes = 69, 39, 65, 77
        if not taken_by_a_dte(bench, a, "110 octets of facilities were"):
            refused(bench, a, error(bench, *codes))
        if bench.two_sided and checks_calls(bench):
            a, b = pending(bench, modulus=modulus)
            b.send(CallAccepted(facilities=[*field]))
            wrong = error(bench, *codes)
            ahead = confirmed_ahead(b, a, wrong)
            a.expect(ClearIndication(cause=bench.network_clear), CLOSED)
            clear_or_close(bench, a)
            if not ahead:
                refused(bench, b, wrong)
    bench.fence()


def no_room(bench: Bench, a: Side) -> None:
    """The router has something to add to a facility field that is full."""
    refused(bench, a, ClearIndication(cause=bench.network_clear))
    bench.remark("a Call whose facilities leave no room for those of the router was refused")


@purpose("PLP-FAC-24")
def test_facility_field_of_109_octets_passes(bench: Bench) -> None:
    """As it leaves the router: one that was seen to add a facility may refuse 109 octets, and
    passes a field that is shorter by what it adds. From A, from B, modulo 8 and 128."""
    for at, modulus in callers_and_moduli(bench):
        with amid(bench, f"from {at.upper()}, modulo {modulus}"):
            full_field(bench, at, modulus)
    bench.fence()


def full_field(bench: Bench, at: str, modulus: int) -> None:
    """A Call of this side, with a field as long as may be where it leaves the router."""
    there = other_end(at)
    sent = (PacketSize(), WindowSize(), *DTE_FACILITIES)
    near, _ = call_with(bench, *sent, modulus=modulus, at=at)
    grows = added(refused_whole(bench, near, there, DTE_FACILITIES), sent)
    for length in {MOST_FACILITIES - grows, MOST_FACILITIES}:
        marked = (*DTE_FACILITIES, protection(length - octets_of(sent) - 2))
        values = (PacketSize(), WindowSize())
        near, _ = call_with(bench, *values, *marked, modulus=modulus, at=at)
        if length + grows > MOST_FACILITIES and not bench.went_on(near, at=there):
            no_room(bench, near)
        else:
            refused_whole(bench, near, there, marked)


def refused_whole(bench: Bench, near: Side, there: str, marked: tuple[Packet, ...]) -> Packet:
    """The Call arrives with these facilities of DTEs, whole, and is refused there."""
    far = bench.listeners.accept(at=there)
    field = behind_marker(far, marked)
    told = CallRequest(facility_length=between(1, MOST_FACILITIES), facilities=field)
    came = arrives_marked(far, told)
    give_up(near, far)
    return came


def arrives_marked(far: Side, template: CallRequest) -> Packet:
    """The Call that arrives; its modulus is that of the far side (RFC 1613 6.2)."""
    came = far.expect(template)
    assert came is not None
    far.modulus = 128 if came.fields.get("modulo") == MODULO_128 else 8
    return came


@purpose("PLP-FAC-25")
def test_dte_facilities_pass_both_ways(bench: Bench) -> None:
    """Octet for octet, behind whatever X.25 facilities the router gives. From A, from B, modulo 8
    and 128."""
    answered = (
        DTE,
        CalledAddressExtension(use=0, address="13579"),
        EndToEndTransitDelay(cumulative=30),
        Priority(value=b"\x06\x05\x04"),
        ExpeditedDataNegotiation(value=0),
    )
    values = (PacketSize(), WindowSize())
    for at, modulus in callers_and_moduli(bench):
        with amid(bench, f"from {at.upper()}, modulo {modulus}"):
            near, _ = call_with(bench, *values, *DTE_FACILITIES, modulus=modulus, at=at)
            far = bench.listeners.accept(at=other_end(at))
            arrives_marked(far, CallRequest(facilities=behind_marker(far, DTE_FACILITIES)))
            far.send(CallAccepted(facilities=[*values, *answered]))
            near.expect(CallAccepted(facilities=behind_marker(near, answered)))
            end(Call(bench, near, far))
            behind_added_ones(bench, at, modulus, answered)
    bench.fence()


def behind_added_ones(bench: Bench, at: str, modulus: int, answered: tuple[Packet, ...]) -> None:
    """The same, where the router adds packet size and window size: those stand in front of the
    marker (X.25 7.1). A Call without them may be refused."""
    near, _ = call_with(bench, *DTE_FACILITIES, modulus=modulus, at=at)
    if not bench.went_on(near, at=other_end(at)):
        refused(bench, near, ClearIndication(cause=bench.network_clear))
        bench.remark("a Call without packet size and window size was refused")
        return
    far = bench.listeners.accept(at=other_end(at))
    arrives_marked(far, CallRequest(facilities=behind_marker(far, DTE_FACILITIES)))
    far.send(CallAccepted(facilities=list(answered)))
    whole = CallAccepted(facilities=behind_marker(near, answered))
    clear = ClearIndication(cause=bench.network_clear)
    if isinstance(near.expect(whole, clear, CLOSED), CallAccepted):
        end(Call(bench, near, far))
    else:
        bench.remark("an answer without packet size and window size ended a call without them")
        clear_or_close(bench, near)
        refused(bench, far, ClearIndication())


@purpose("PLP-FAC-39")
def test_facilities_that_leave_no_room(bench: Bench) -> None:
    """The Call, and then an answer, has 109 octets, and neither packet size nor window size.

    Where the router adds those, the call is not possible; a field with more octets is never sent.
    """
    before = b"".join(bytes(f) for f in DTE_FACILITIES)
    marked = (*DTE_FACILITIES, protection(109 - len(before) - 2))
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
        marked = (DTE, protection(length))
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
    facilities are those of the called network. A router may refuse what it does not offer (RFC 1613
    6.1).

    Facilities of DTEs behind those of the network, which is where they stand, are none of these:
    they arrive, whether or not the others do (Annex G).
    """
    not_read = FacilityB(code=0x42, value=b"\x0c\x0c")
    local = (Marker(value=0x00), not_read)
    of_the_called = ((Marker(value=0xFF), not_read),) if bench.two_sided else ()
    for marked in (local, *of_the_called):
        a, request = call_with(bench, PacketSize(), WindowSize(), *marked)
        if not call_arrived(bench, a):
            refused(bench, a, error(bench, 65))
            bench.remark("facilities of a network are refused")
            continue
        b = arrives(bench, *map(with_facilities, offers(bench, request)))
        answer = CallAccepted()
        agreed = offer_of(request) if isinstance(b, AbsentSide) else agreed_by(b, answer)
        end(accepted(bench, a, b, request, answer, at_a(bench, request, agreed)))
    if bench.declared("F-DTE") and bench.declared("R-SW"):
        a, _ = call_with(bench, PacketSize(), WindowSize(), *local, *DTE_FACILITIES)
        if call_arrived(bench, a):
            b = bench.listeners.accept()
            b.expect(CallRequest(facilities=behind_marker(b, DTE_FACILITIES)))
            give_up(a, b)
        else:
            refused(bench, a, error(bench, 65))
    if bench.declared("R-SW") and checks_calls(bench):
        for (at, modulus), named in product(
            callers_and_moduli(bench), ((), (PacketSize(), WindowSize()))
        ):
            with amid(bench, f"in an answer to {at.upper()}, modulo {modulus}"):
                answered_with_marked(bench, at, modulus, (*named, *local))
    bench.fence()


def answered_with_marked(bench: Bench, at: str, modulus: int, field: tuple[Packet, ...]) -> None:
    """Facilities of a network in the answer: they are not read, or they are refused (65)."""
    near, far = pending(bench, at=at, modulus=modulus)
    request, wrong = bench.last_call, error(bench, 65)
    assert request is not None
    agreed = agreed_by(far, CallAccepted())
    far.send(CallAccepted(facilities=[*field]))
    ahead = confirmed_ahead(far, near, wrong)
    connected = [] if ahead else at_a(bench, request, agreed)
    as_an_error = ClearIndication(cause=bench.network_clear)
    if isinstance(near.expect(*connected, as_an_error, CLOSED), CallAccepted):
        end(Call(bench, near, far))
        return
    bench.remark("facilities of a network are refused in an answer")
    clear_or_close(bench, near)
    if not ahead:
        refused(bench, far, wrong)


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
    """Another index or format at B is a matter of B's subscription, a remark; but two indices of
    one side are two groups, at the other side too. From A, from B where it calls, modulo 8 and 128.

    One group of a side, its preferential one, may come without the facility (X.25 6.14): whether it
    is that group is not to be seen.
    """
    member: set[tuple[str, bytes]] = set()
    preferential: dict[str, int] = {}
    for (at, modulus), (kind, indices) in product(callers_and_moduli(bench), GROUPS.items()):
        taken: set[int] = set()
        for index in indices:
            sent = kind(index=index)
            near, _ = call_with(bench, sent, PacketSize(), WindowSize(), modulus=modulus, at=at)
            # A side is a member of a group, or not, whatever the modulo of the call.
            if (at, bytes(sent)) not in member and not bench.went_on(near, at=other_end(at)):
                refused(bench, near, ClearIndication(cause=bench.cause(0x0B, 0x03, 0x13)))
                continue
            member.add((at, bytes(sent)))
            there = other_end(at)
            # A group that has come with the facility is not the preferential one.
            may_lack = index == preferential.get(there, index if modulus == 8 else None)
            with amid(bench, f"from {at.upper()}, modulo {modulus}"):
                came, named = in_closed_user_group(bench, near, sent, taken, there, may_lack)
            if not named:
                preferential[there] = index
            taken |= {came} if came is not None else set()
    bench.fence()
    if preferential:
        raise Inconclusive(
            "one closed user group comes without its facility: it may be the preferential one"
        )


# Indices of closed user groups: each digit of 0, 8 and 9, and such as differ in one bit of a digit.
GROUPS: dict[type[Packet], tuple[int, ...]] = {
    ClosedUserGroup: (0, 1, 8, 9, 12, 19, 45, 80, 90, 92, 99),
    ClosedUserGroupExtended: (0, 1234, 9234, 1200, 34, 8000, 9999),
}


def in_closed_user_group(
    bench: Bench, near: Side, sent: Packet, taken: set[int], there: str, may_lack: bool
) -> tuple[int | None, bool]:
    """The Call with this group arrives. Returns the index that came, if it is in the same format,
    and whether any came.

    taken: the indices that others of the format have at the other side. may_lack: the group may be
    the preferential one there.
    """
    found = [type(sent)(index=not_in(*taken)) if taken else type(sent)()]
    found += [kind() for kind in GROUPS if not isinstance(sent, kind)]
    whole = [CallRequest(facilities=[one]) for one in found]
    if may_lack:
        whole.append(with_facilities([lacks(kind) for kind in GROUPS]))
    far = bench.incoming(*whole, at=there)
    came = received_call(far)
    named = [facility for facility in came.facilities if isinstance(facility, tuple(GROUPS))]
    if named and bytes(sent) not in bytes(came):
        bench.remark("the closed user group has another index or format at the other side")
    give_up(near, far)
    index = next((f.index for f in came.facilities if type(f) is type(sent)), None)
    return None if index is None else int(index), bool(named)


# What a network may say of an ROA that it does not reach: ROA out of order, not obtainable; that it
# is not a parameter, or is a problem of the network beyond (X.25 5.2.4, Annex E).
OF_AN_ROA, NO_ROA = (0x15, 0x0D), (0, 66, *range(112, 123))
# The same of a user that it does not know: access barred; no parameter, NUI problem (6.21).
OF_A_USER, NO_USER = (0x0B,), (0, 66, 84)


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
            cause, diagnostic = bench.cause(0x03, 0x13, *causes), bench.diagnostic(65, *codes)
            refused(bench, a, ClearIndication(cause=cause, diagnostic=diagnostic))
    bench.fence()


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
    # The address in it may be the error: none stands in a Clear without that facility (5.2.4).
    codes = bench.diagnostic(65, 67, 74)
    not_offered = ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=codes)
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
    as_an_error = ClearIndication(cause=bench.network_clear)
    came = a.expect(*([] if ahead else passed), as_an_error, CLOSED)
    clear_or_close(bench, a)
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Malformed packets (X.25 clause 5, clause 7.1, Annex C).

A call that is refused for an error may also end by a close of TCP, as long as it is not connected
(RFC 1613 6.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TypeVar

from scapy_x25 import RNR128
from scapy_x25.x25 import CLEAR_REQUEST, packet_type

from ..judges.template import matches
from . import types
from .anew import is_gone
from .calls import (
    accepted,
    checks_calls,
    modes,
    moduli,
    needs_trust,
    pending,
    seen_alike,
    trusts_the_ends,
)
from .clearing import confirmed, end, generic, give_up, refused
from .facilities import for_dtes
from .language import (
    ABSENT,
    CLOSED,
    RNR,
    RR,
    RR128,
    X25,
    Bench,
    Call,
    CalledAddressExtension,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Diagnostic,
    Inconclusive,
    Interrupt,
    InterruptConfirmation,
    Packet,
    PacketSize,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    WindowSize,
    purpose,
)
from .links import unconfirmed_clear
from .many import tidy
from .occasion import amid
from .procedure_errors import confirmed_ahead, expect_reset_or_ignored, far_end_is_reset_first
from .reactions import (
    both,
    call_arrived,
    call_octets,
    cleared_or_closed,
    connects,
    fence_call,
    header,
    not_delivered,
    refuses,
    taken_by_a_dte,
    with_gfi,
    withdrawn,
)

Value = TypeVar("Value")
# In a call of modulo 8: bits 6 and 5 are 00, 11, and those of modulo 128.
WRONG_GFI = (0x0, 0x3, 0x4, 0x7, 0x8, 0xB, 0xC, 0xF, 0x2, 0xA)
# Bits 6 and 5 the other way round: what is wrong in modulo 8 is wrong in modulo 128 then.
EXCHANGED = 0x3
# Neither modulo 8 nor 128, as the upper half of an octet.
NO_MODULO = (0x00, 0x30)
# Interrupt, Reset and Clear from octet 3 on.
WITHOUT_NUMBERS = (b"\x23!", b"\x1b\x00\xf1", b"\x13\x00\xf1")
# Q, D and both; in a Clear and its confirmation bit 8 says how addresses are written.
QUALIFIED = ((1, 0), (0, 1), (1, 1))
WITHOUT_Q_AND_D = (
    *(RNR, RR, Interrupt, InterruptConfirmation, ResetConfirmation, ResetRequest),
    *(ClearConfirmation, ClearRequest),
)
OF_MODULO_128: dict[type[Packet], type[Packet]] = {RNR: RNR128, RR: RR128}
HEX_DIGITS = "abcdef"


@purpose("PLP-MALF-02")
def test_wrong_gfi_is_refused(bench: Bench) -> None:
    """Each value on a call of its own, in a Data packet that would be the next in order: from A,
    and then from B. Read by the other modulo it would be that as well."""
    for call, wrong in calls_from_each_end(bench, WRONG_GFI):
        gfi = wrong ^ EXCHANGED if call.a.modulus == 128 else wrong
        packet = call.a.octets_of(call.a.data(b"\0wrong GFI"))
        call.a.put(with_gfi(call.a, gfi << 4, packet[2]) + packet[3:])
        if not_delivered(call, 40):
            end(call)
    bench.fence()


def calls_from_each_end(bench: Bench, values: Iterable[Value]) -> Iterator[tuple[Call, Value]]:
    """For each value a call of which A is the first end, and one of which B is."""
    for value, turned in product(values, (False, True) if bench.two_sided else (False,)):
        yield bench.call().turned() if turned else bench.call(), value


@purpose("PLP-MALF-30")
def test_wrong_gfi_without_numbers(bench: Bench) -> None:
    """An Interrupt, a Reset and a Clear with a GFI that is neither of modulo 8 nor 128, each in a
    call of its own where it would be right; and such Calls, of which B sees none."""
    if checks_calls(bench):
        packets = product(WITHOUT_NUMBERS, NO_MODULO)
        for call, (octets, gfi) in calls_from_each_end(bench, packets):
            call.a.put(with_gfi(call.a, gfi, octets[0]) + octets[1:])
            if not_delivered(call, 40):
                end(call)
    for gfi in NO_MODULO:
        a = bench.connect()
        # 50: T13 has run out before the tester confirms at the end.
        a.allow(ClearIndication(diagnostic=bench.diagnostic(40, 50)))
        a.allow(Diagnostic(diagnostic=bench.diagnostic(40)))
        whole = a.octets_of(bench.call_request())
        a.put(with_gfi(a, gfi, whole[2]) + whole[3:])
    fence_call(bench)


@purpose("PLP-MALF-03", both_sides=True)
def test_undefined_types_in_data_transfer_reset_the_call(call: Call) -> None:
    for octet_3 in types.UNDEFINED:
        call.a.put(header(call.a, octet_3))
        expect_reset_or_ignored(call, 33)


@purpose("PLP-MALF-04")
def test_undefined_type_while_the_call_is_pending_clears_it(bench: Bench) -> None:
    a = bench.connect()
    a.send(bench.call_request())
    b = bench.incoming()
    a.put(header(a, 0x2B))
    refuses(bench, a, bench.local_clear, 33)
    withdrawn(bench, b)
    bench.fence()


@purpose("PLP-MALF-05")
def test_call_cut_after_each_octet(bench: Bench) -> None:
    """A Call of 40 octets and more, with facilities of the DTEs and 15 octets of user data.

    Cut inside a field it is refused or discarded; B sees none of these Calls, its next one is
    that of the fence. Cut inside the user data the call comes about with what is left of it.
    A splice needs the addresses alone, and may pass on what is whole up to there; a DTE may take
    that for a Call without facilities.
    """
    user_data = b"\xc0" + bytes(range(1, 15))
    dte = for_dtes(bench, CalledAddressExtension(use=0, address="1234"))
    whole = bench.connect().octets_of(bench.call_request(user_data=user_data, more=dte))
    fields = len(whole) - len(user_data)
    addresses = 4 + (len(bench.far_end.address + bench.profile.addresses.a) + 1) // 2
    refused_at = fields
    if bench.model == "splice":
        refused_at = addresses
        for octets in range(refused_at, fields):
            refused_or_passed(bench, bench.connect(), whole[:octets])
    for octets in range(3, refused_at):
        a = bench.connect()
        # 50: T13 has run out before the tester confirms at the end.
        a.allow(ClearIndication(diagnostic=bench.diagnostic(38, 67, 68, 69, 50)))
        a.put(whole[:octets])
        if octets == addresses:
            taken_by_a_dte(bench, a, "a Call without facility length is")
    fence_call(bench)
    for octets in range(fields, len(whole)):
        a = bench.connect()
        a.put(whole[:octets])
        connects(bench, a, CallRequest(user_data=user_data[: octets - fields]))


def refused_or_passed(bench: Bench, a: Side, octets: bytes) -> None:
    """A Call with an error in it, on its way through a splice: B gets it, or A has an end."""
    a.put(octets)
    a.allow(ClearIndication(diagnostic=bench.diagnostic(38, 39, *range(64, 78), 50)))
    bench.went_on(a, seconds=bench.profile.times.quiet)
    if bench.listeners.is_called():
        bench.remark("a Call with an error in its fields is passed on")
        b = bench.incoming(CallRequest(called_address=bench.far_end.address))
        b.send(ClearRequest(cause=0, diagnostic=38))
        # A confirms first: the confirmation may be A's.
        refused(bench, a, ClearIndication())
        confirmed(b)


# What stands in a Call in place of facility length, facilities and user data, and is wrong there: a
# length beyond the packet; facilities of two, three and many octets that run past the field; a
# length of 0; what follows no marker; 110 octets; facilities twice; codes of sizes that are none.
MALFORMED_FACILITIES = (
    "14 42 07 07 43 02",
    "ff",
    "02 42 07 07",
    "01 42",
    "01 c9",
    *(f"0a 42 07 07 43 02 02 c9 {length} 08 44 00 00 00 00" for length in ("03", "32", "ff")),
    "02 c9 ff",
    "0a 42 07 07 43 02 02 00 0f c9 00",
    "05 42 03 03 ff 00",
    "6e" + "c6 64" + "00" * 100 + "42 07 07 43 02 02 01 00",
    "0c 42 07 07 43 02 02 42 09 09 43 04 04",
)


@purpose("PLP-MALF-31")
def test_malformed_facilities_towards_a_splice(bench: Bench) -> None:
    """Each in a Call of its own, and 300 octets behind empty facilities: B gets it, or A has an
    end; and the router goes on."""
    for tail in (*MALFORMED_FACILITIES, "00" + "c0" * 300):
        a = bench.connect()
        refused_or_passed(bench, a, call_octets(a, bench.call_request(), tail=bytes.fromhex(tail)))
    fence_call(bench)


@purpose("PLP-MALF-06")
def test_address_lengths_beyond_the_packet(bench: Bench) -> None:
    """Both lengths 15, three octets of digits, the packet ends; of modulo 8 and 128."""
    for modulus in moduli(bench):
        a = bench.connect(modulus=modulus)
        a.put(header(a, 0x0B) + bytes.fromhex("ff 21 00 00"))
        refuses(bench, a, bench.cause(0x13, 0x0D), 38, 67, 68)
    bench.fence()


@purpose("PLP-MALF-07")
def test_hexadecimal_digit_in_the_called_address(bench: Bench) -> None:
    """Each of A to F as the last digit and in the middle of the address of B.

    A splice reads an address for its route alone, and leaves the digits behind that to the ends.
    """
    digits = bench.far_end.address
    no_route = bench.cause(0x13, 0x0D, *sorted(bench.profile.causes_no_route))
    for digit in HEX_DIGITS:
        for at in (len(digits) // 2, len(digits) - 1):
            a = bench.connect()
            called = digits[:at] + digit + digits[at + 1 :]
            a.send(bench.call_request(called=called))
            if bench.model == "splice" and call_arrived(bench, a):
                bench.remark("a called address with a digit above 9 is passed on")
                connects(bench, a, CallRequest(called_address=called))
            else:
                refuses(bench, a, no_route, 67, *range(112, 123))
    bench.fence()


@purpose("PLP-MALF-08")
def test_hexadecimal_digit_in_the_calling_address(bench: Bench) -> None:
    """Each of A to F: refused, or unchanged at B."""
    for digit in HEX_DIGITS:
        calling = bench.profile.addresses.a[:-1] + digit
        a = bench.connect()
        a.send(bench.call_request(calling=calling))
        if call_arrived(bench, a):
            bench.remark("a calling address with a digit above 9 is passed on")
            # A network that checks it may put in the right one.
            right = bench.profile.addresses.a
            arrived = dict.fromkeys(digits for digits in (calling, right) if digits)
            connects(bench, a, *(CallRequest(calling_address=digits) for digits in arrived))
        else:
            refuses(bench, a, bench.cause(0x13, 0x0B, 0x0D), *generic(68))
    bench.fence()


@purpose("PLP-MALF-09")
def test_filler_half_octet_that_is_not_zero(bench: Bench) -> None:
    """An odd number of digits; the half octet behind them is 1111."""
    called, calling = bench.far_end.address, bench.profile.addresses.a
    if (len(called) + len(calling)) % 2 == 0:
        calling = ""
    bench.need(len(called + calling) % 2, "needs an odd number of digits (addresses.a)")
    a = bench.connect()
    request = bench.call_request(calling=calling)
    octets = bytearray(a.octets_of(request))
    octets[3 + (len(called + calling) + 1) // 2] |= 0x0F
    a.put(bytes(octets))
    if call_arrived(bench, a):
        lengths = {"called_address_length": len(called)}
        if calling:
            # Where there is none a network may put one in.
            lengths["calling_address_length"] = len(calling)
        connects(bench, a, CallRequest(called_address=called, **lengths))
    else:
        refuses(bench, a, bench.cause(0x13, 0x0D), 67, 68)
    bench.fence()


@purpose("PLP-MALF-10")
def test_facility_length_beyond_the_packet(bench: Bench) -> None:
    """Facility length 20, five octets follow; of modulo 8 and 128."""
    for modulus in moduli(bench):
        a = bench.connect(modulus=modulus)
        a.put(call_octets(a, bench.call_request(), tail=bytes.fromhex("14 42 07 07 43 02")))
        refuses(bench, a, bench.cause(0x13, 0x03), 69, 38)
    bench.fence()


@purpose("PLP-MALF-11")
def test_facility_cut_by_the_facility_length(bench: Bench) -> None:
    """Facility length 2: 42 07; the third octet (07) is the first of the user data. Of modulo 8 and
    128."""
    for modulus in moduli(bench):
        a = bench.connect(modulus=modulus)
        a.put(call_octets(a, bench.call_request(), tail=bytes.fromhex("02 42 07 07")))
        refuses(bench, a, bench.cause(0x13, 0x03), 69, 66, 38, 39)
    bench.fence()


@purpose("PLP-MALF-12")
def test_class_d_length_beyond_the_facility_field(bench: Bench) -> None:
    """Ten octets of facilities; of the last, C9, two are there. No marker is before it (65).

    It says 3, which ends in the user data, 50, which ends beyond the packet, and 255, with which a
    sum of eight bits starts anew. It may be the parameter that is wrong (66), as in PLP-MALF-11.
    """
    for length in (3, 50, 0xFF):
        a = bench.connect()
        field = bytes.fromhex("0a 42 07 07 43 02 02 c9") + bytes((length,)) + b"\x08\x44"
        a.put(call_octets(a, bench.call_request(), tail=field + bytes(4)))
        refuses(bench, a, bench.cause(0x13, 0x03), 69, 66, 38, 39, 65)
    bench.fence()


@purpose("PLP-MALF-13")
def test_class_d_length_of_0(bench: Bench) -> None:
    """C9 00 eight times behind the marker of DTE facilities: refused or passed, but answered."""
    a = bench.connect()
    field = bytes.fromhex("42 07 07 43 02 02 00 0f") + bytes.fromhex("c9 00") * 8
    a.put(call_octets(a, bench.call_request(), tail=bytes((len(field),)) + field))
    if call_arrived(bench, a):
        connects(bench, a, CallRequest())
    else:
        refuses(bench, a, bench.cause(0x13, 0x03), *range(64, 78), 38)
    bench.fence()


# Octets of Call Accepted from the address lengths on: lengths of 4 and no digits, and of 15 and 15
# and three octets of digits; facilities of 20 octets, of which there are five; two octets, which
# the first facility runs past; one that is all of the field but its parameter. Then facilities of
# each class that the end of the field cuts, which is the end of the packet too (65: no marker is
# before that of class C and D).
CUT_ANSWERS = {
    "04": (38, 67, 68),
    "ff 21 00 00": (38, 67, 68),
    "00 14 42 07 07 43 02": (38, 69),
    "00 02 42 07 07": (38, 39, 66, 69),
    "00 01 42": (38, 66, 69),
    "00 05 42 07 07 43 02": (38, 66, 69),
    "00 07 42 07 07 43 02 02 02": (38, 66, 69),
    "00 08 42 07 07 43 02 02 84 01": (38, 65, 66, 69),
    "00 07 42 07 07 43 02 02 c9": (38, 65, 66, 69),
    "00 09 42 07 07 43 02 02 c9 05 01": (38, 65, 66, 69),
    "00 09 42 07 07 43 02 02 c9 ff 01": (38, 65, 66, 69),
}


@purpose("PLP-MALF-14")
def test_cut_call_accepted(bench: Bench) -> None:
    """Each in a call of its own, of modulo 8 and 128."""
    for modulus, (octets, diagnostics) in product(moduli(bench), CUT_ANSWERS.items()):
        a, b = pending(bench, modulus=modulus)
        b.put(header(b, 0x0F) + bytes.fromhex(octets))
        of_facilities = octets.startswith("00")
        here = bench.cause(0x13, 0x03) if of_facilities else bench.local_clear
        there = bench.network_clear if of_facilities else bench.remote_clear
        with amid(bench, f"B answered {octets}, modulo {modulus}"):
            refuses(bench, b, here, *diagnostics)
            cleared_or_closed(bench, a, ClearIndication(cause=there))
    bench.fence()


@purpose("PLP-MALF-15", both_sides=True)
def test_clear_without_cause(call: Call) -> None:
    """An error 38, or a Clear with cause 0. A splice may pass it as it is."""
    bench = call.bench
    call.a.put(header(call.a, 0x13))
    refused = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(38))
    ahead = confirmed_ahead(call.a, call.b, refused)
    call.b.expect(
        ClearIndication(cause=0),
        ClearIndication(cause=bench.remote_clear),
        *([ClearIndication(cause=ABSENT)] if bench.model == "splice" else []),
    )
    call.b.send(ClearConfirmation())
    confirmed_or_refused(call.a, refused, ahead=ahead)
    bench.fence()


def confirmed_or_refused(side: Side, refused: ClearIndication, *, ahead: bool) -> None:
    """The end of a Clear of this side that may be an error, which it has confirmed if ahead."""
    if ahead:
        return
    if isinstance(side.expect(ClearConfirmation(), refused, CLOSED), ClearIndication):
        side.send(ClearConfirmation())


@purpose("PLP-MALF-16", both_sides=True)
def test_clear_with_extra_octets(call: Call) -> None:
    """Seven octets: behind the diagnostic two empty fields of the extended format.

    Then the extended format cut: the call ends at both sides, for an error or as A wanted.
    """
    bench = call.bench
    call.a.put(header(call.a, 0x13) + bytes.fromhex("00 f1 00 00"))
    refused = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(39))
    ahead = confirmed_ahead(call.a, call.b, refused)
    came = call.b.expect(
        ClearIndication(cause=0, diagnostic=0xF1), ClearIndication(cause=bench.remote_clear)
    )
    if came is not None and came.fields.get("called_address_length") is not None:
        bench.remark("the empty fields of the extended format were passed on")
    call.b.send(ClearConfirmation())
    confirmed_or_refused(call.a, refused, ahead=ahead)
    if checks_calls(bench):
        for octets in CUT_CLEARS:
            cleared_by(seen_alike(call, bench.call()), octets)
    bench.fence()


# Octets of a Clear from the cause on: address lengths of 4 and no digits; no addresses, and one
# octet of five of facilities.
CUT_CLEARS = ("00 f1 44", "00 f1 00 05 c9")


def cleared_by(call: Call, octets: str) -> None:
    """Both sides of the call end for such a Clear of A, whatever it is taken for."""
    bench = call.bench
    call.a.put(header(call.a, 0x13) + bytes.fromhex(octets))
    codes = bench.diagnostic(38, 39, 67, 68, 69)
    refused = ClearIndication(cause=bench.cause(0x13, 0x03), diagnostic=codes)
    ahead = confirmed_ahead(call.a, call.b, refused)
    call.b.expect(ClearIndication(), note=f"A has cleared with {octets}")
    call.b.send(ClearConfirmation())
    confirmed_or_refused(call.a, refused, ahead=ahead)


@purpose("PLP-MALF-17")
def test_clear_confirmation_with_extra_octets(bench: Bench) -> None:
    """First from the called side, then from the calling one, which calls again on its channel."""
    call = bench.call()
    call.a.send(ClearRequest(cause=0, diagnostic=0))
    call.b.expect(ClearIndication(cause=0, diagnostic=0))
    a, b = both(call)
    confirms_too_long(bench, b, a)
    a.expect(ClearConfirmation(), CLOSED)
    call = bench.call()
    call.b.send(ClearRequest(cause=0, diagnostic=0))
    call.a.expect(ClearIndication(cause=0, diagnostic=0))
    a, b = both(call)
    confirms_too_long(bench, a, b)
    b.expect(ClearConfirmation(), CLOSED)
    if a.connection.end is None:
        used_again(bench, a)
    bench.fence()


def used_again(bench: Bench, a: Side) -> None:
    """A calls on its channel. A router that discarded the confirmation clears once more (T13)."""
    request = bench.call_request()
    a.send(request)
    if bench.went_on(a, seconds=1.2 * unconfirmed_clear(bench, a) + bench.reaction_limit):
        a.numbering.reset()
        accepted(bench, a, bench.incoming(), request).fence("the channel can be used again")
    elif a.expect(ClearIndication(), CLOSED) is not None:
        bench.remark("a Clear Confirmation that is too long was discarded until T13 ran out")
        a.send(ClearConfirmation())


def confirms_too_long(bench: Bench, cleared: Side, other: Side) -> None:
    """A Clear Confirmation of five octets, and one of three if the router did not take that.

    It may clear again for the error (39), or discard the confirmation (RFC 1613 6.1) until T13
    runs out (50, or the Clear as it was: see PLP-CLR-26); the other end then waits where
    confirmations are end to end.
    """
    ran_out = [ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(50))]
    if not cleared.router_is_dce:
        ran_out.append(ClearIndication(cause=0, diagnostic=0))
    came = cleared.arrivals.end()
    cleared.put(header(cleared, 0x17) + bytes(2))
    cleared.phase = "cleared"
    other.wait_until(
        lambda: (
            other.phase == "cleared"
            or cleared.phase == "being cleared"
            or other.connection.end is not None
        )
    )
    bench.fence("the confirmation has been dealt with")
    later = cleared.arrivals.since(came)
    if any(packet_type(unit.packet) == CLEAR_REQUEST for unit in later):
        again = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(39))
        cleared.expect(again, *ran_out)
        cleared.send(ClearConfirmation())
    elif other.phase != "cleared" and other.connection.end is None:
        bench.remark("a Clear Confirmation that is too long was discarded")
        cleared.allow(*ran_out)
        cleared.send(ClearConfirmation())
    else:
        # Taken, or discarded where the other end had its confirmation before.
        cleared.allow(*ran_out)


@purpose("PLP-MALF-18", both_sides=True)
def test_reset_confirmation_with_extra_octets(call: Call) -> None:
    """The router has reset both sides for an error of A; B confirms with four octets.

    Refused with 39, or discarded, as other errors are in d3 (Table C-4). Where it was taken, the
    next confirmation of B comes in d1, and is an error of its own (27). In modulo 128 too.
    """
    for way in modes(call):
        _reset_confirmation_is_too_long(way)


def _reset_confirmation_is_too_long(call: Call) -> None:
    bench = call.bench
    with bench.preamble():
        call.a.send(ResetConfirmation())
        call.a.expect(ResetIndication())
        if not far_end_is_reset_first(call.b):
            raise Inconclusive("the router resets B only when A has confirmed its own Reset")
        call.b.expect(ResetIndication())
    _, b = both(call)
    b.put(header(b, 0x1F) + b"\0")
    b.allow(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(39)))
    before = b.arrivals.end()
    b.wait_until(lambda: bool(b.arrivals.since(before)), bench.profile.times.quiet)
    b.send(ResetConfirmation())
    # A is still in its own reset, which the second error of B does not change.
    call.a.send(ResetConfirmation())
    text = b"behind both"
    call.a.send_data(text)
    b.expect(b.data(text))
    call.fence()


@purpose("PLP-MALF-19")
def test_call_of_300_octets(bench: Bench) -> None:
    a = bench.connect()
    whole = a.octets_of(bench.call_request(user_data=b""))
    a.put(whole + b"\xc0" * (300 - len(whole)))
    if trusts_the_ends(bench) and bench.went_on(a):
        give_up(a, bench.incoming())
        needs_trust(bench, "a Call of 300 octets was")
    elif not taken_by_a_dte(bench, a, "a Call of 300 octets was"):
        refuses(bench, a, bench.cause(0x13, 0x03), 39, 69)
    bench.fence()


@purpose("PLP-MALF-20")
def test_all_types_in_each_state(bench: Bench) -> None:
    """Three-octet packets on a free, pending, connected and clearing channel.

    A splice reads what comes before the call is connected only by its headers, and nothing after
    it: there they only have to do no harm.
    """
    types.on_a_free_channel(bench)
    if bench.model != "splice":
        if bench.two_sided:
            types.while_a_call_is_pending(bench)
        types.in_data_transfer(bench.call())
        types.while_a_clear_is_pending(bench)
    bench.fence()


@purpose("PLP-MALF-21")
def test_giant_data_packet(call: Call) -> None:
    """4097 octets of user data. A splice, or a router that trusts the ends, may pass it.

    It may be the length of the unit that is wrong: then the router closes, and a Clear may come
    before (RFC 1613 4.1).
    """
    bench, octets = call.bench, bytes(range(256)) * 16 + b"!"
    # Its length is all that is wrong with it, whatever a host has said before.
    call.a.put(header(call.a, call.a.numbering.p_r << 5) + octets)
    reset = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(39))
    clear = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(39))
    ends = (
        ResetIndication(cause=bench.remote_reset),
        ClearIndication(cause=bench.network_clear),
        CLOSED,
    )
    over_tcp = call.a.direction.line is None
    trusts = bench.model == "splice" or bench.declared("N-TRUST")
    ahead = trusts and confirmed_ahead(call.a, call.b, reset)
    if trusts and isinstance(call.b.expect(Data(user_data=octets), *ends), Data):
        bench.remark("a packet longer than any legal one is passed on")
        bench.fence()
        return
    if ahead:
        call.b.send(ResetConfirmation())
        call.fence()
        return
    with bench.checking_numbers():
        came = call.a.expect(reset, clear, CLOSED, *(ends[1:2] if over_tcp else ()))
    if isinstance(came, ClearIndication) and not matches(clear, bytes(came)):
        call.a.expect_closed()
    if isinstance(came, ResetIndication):
        call.a.send(ResetConfirmation())
    if not trusts:
        call.b.expect(*(ends[:1] if isinstance(came, ResetIndication) else ends[1:]))
    if isinstance(came, ResetIndication):
        call.b.send(ResetConfirmation())
        call.fence()
    bench.fence()


@purpose("PLP-MALF-23")
def test_two_errors_in_one_packet(bench: Bench) -> None:
    """A digit above 9 in the called address, and packet size code 3: one Clear, for either."""
    a = bench.connect()
    no_route = sorted(bench.profile.causes_no_route)
    facilities = [PacketSize(called=3, calling=3), WindowSize(called=2, calling=2)]
    called = bench.far_end.address[:-1] + "b"
    a.send(bench.call_request(called=called, facilities=facilities))
    refuses(bench, a, bench.cause(0x13, 0x0D, 0x03, *no_route), 67, 66, *range(112, 123))
    bench.fence()


@purpose("PLP-MALF-24")
def test_user_data_behind_an_empty_facility_field(bench: Bench) -> None:
    """RFC 1613 6.1 leaves it to the router whether it takes a Call without facilities."""
    a = bench.connect()
    user_data = b"\xc0" + bench.random.randbytes(3)
    a.send(bench.call_request(facilities=[], user_data=user_data))
    if not call_arrived(bench, a):
        a.expect(ClearIndication(cause=bench.network_clear), CLOSED)
        raise Inconclusive("the router takes no Call without packet size and window size")
    connects(bench, a, CallRequest(user_data=user_data))


@purpose("PLP-MALF-25", both_sides=True)
def test_q_and_d_where_they_have_no_place(call: Call) -> None:
    """Each such packet may do what it does without, or be an error; but none with them comes, of
    modulo 8 or 128."""
    bench = call.bench
    bench.need(checks_calls(bench), "a router that checks calls")
    from_a = call.a.name == "A"
    end(call if from_a else call.turned())
    # On a line the modulo is that of the line.
    both_moduli = bench.declared("P-MOD128") and not bench.lines
    for modulus in (8, 128) if both_moduli else (call.a.modulus,):
        for kind, (q, d) in product(WITHOUT_Q_AND_D, QUALIFIED):
            if q and kind in (ClearConfirmation, ClearRequest):
                continue
            other = bench.place_call(modulus=modulus)
            here, there = both(other if from_a else other.turned())
            of_modulo = OF_MODULO_128.get(kind, kind) if modulus == 128 else kind
            packet = of_modulo(q=q, d=d)
            what = f"{packet.name} with Q={q} and D={d}, modulo {modulus}"
            for side in (here, there):
                side.never(X25(q=1), X25(d=1), note=what)
                side.allow(*(one() for one in (*WITHOUT_Q_AND_D, RNR128, RR128)))
            here.allow(Diagnostic(diagnostic=bench.diagnostic(40)))
            here.put(here.octets_of(packet))
            here.send(ClearRequest(cause=0, diagnostic=0))
            for side in (there, here):
                is_cleared(side)
            tidy(bench)
    bench.fence()


def is_cleared(side: Side) -> None:
    """The call of this side ends, by whatever means."""
    side.wait_until(lambda: side.phase in ("being cleared", "cleared") or is_gone(side))
    if side.phase == "being cleared":
        side.send(ClearConfirmation())

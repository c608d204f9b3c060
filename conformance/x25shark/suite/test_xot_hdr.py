# SPDX-License-Identifier: GPL-2.0-or-later
"""XOT framing: the four-octet header (RFC 1613 4.1).

Octets 1 and 2 version, 3 and 4 length of the packet behind them. A version other than 0 and a
length that no X.25 packet can have end the connection.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ..judges.template import matches
from ..links.xot import HEADER_OCTETS
from ..sides.side import AbsentSide
from .calls import needs_trust, trusts_the_ends
from .clearing import end, give_up, user_data_error
from .connections import (
    LONGEST_PACKET,
    closes,
    far_side_ends,
    framing_ends,
    framing_ends_both,
    passes_unread,
    send_in_pieces,
    served_ahead,
    time_left,
    units_of,
    until_stalled,
    with_length,
    with_version,
)
from .language import (
    CLOSED,
    RR,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    IncomingCall,
    Inconclusive,
    Packet,
    ResetConfirmation,
    ResetIndication,
    Side,
    Undefined,
    purpose,
    unit,
)
from .many import at_a_time
from .occasion import amid
from .procedure_errors import confirmed_ahead
from .reactions import header, taken_by_a_dte
from .test_all_of_it import next_call


@purpose("XOT-HDR-01")
def test_well_formed_header(bench: Bench) -> None:
    a = bench.connect()
    request = bench.call_request()
    a.send(request)
    b = bench.incoming(
        IncomingCall(
            called_address=request.called_address,
            calling_address=request.calling_address,
            user_data=request.user_data,
        )
    )
    b.send(b.acceptance)
    a.expect(CallAccepted())
    Call(bench, a, b).fence()


def refuses_version(bench: Bench, version: int, *cuts: int) -> None:
    """A Call in a unit of this version: the connection is closed, and no Call goes out."""
    a = bench.connect()
    send_in_pieces(a, with_version(a.unit_of(bench.call_request()), version), cuts)
    with amid(bench, f"a Call in a unit of version {version:#06x}{_in_pieces(cuts)}"):
        framing_ends(a)
    end(bench.fence())


def _in_pieces(cuts: tuple[int, ...]) -> str:
    """Where a unit is cut, to stand behind what it is."""
    return "".join(f", with a pause behind {cut} of its octets" for cut in cuts)


@purpose("XOT-HDR-03")
def test_version_1(bench: Bench) -> None:
    refuses_version(bench, 1)


@purpose("XOT-HDR-04")
def test_byte_swapped_and_all_ones_version(bench: Bench) -> None:
    """And each bit of it alone, and all of an octet."""
    for version in (*ONE_BIT, 0x00FF, 0xFF00, 0xFFFF):
        refuses_version(bench, version)


# Versions in which one bit is set.
ONE_BIT = tuple(1 << bit for bit in range(16))


@purpose("XOT-HDR-05")
def test_bad_version_in_data_transfer(bench: Bench) -> None:
    """Each bit of the version, from either side; in the last of two to ten units of a segment,
    too: the good ones may be lost with the call; and in the second call of a connection. A splice
    may pass the unit on unread."""
    for version in ONE_BIT:
        for call in either_way(bench):
            octets = bench.record(64)
            bad = with_version(call.a.unit_of(call.a.data(octets)), version)
            ends_or_passes(call, bad, Data(user_data=octets), f"a unit of version {version:#06x}")
    for version in (0x0001, 0x0100):
        for way in either_way(bench):
            call = next_call(way)
            octets = bench.record(64)
            bad = with_version(call.a.unit_of(call.a.data(octets)), version)
            what = f"a unit of version {version:#06x}, in the second call of a connection,"
            ends_or_passes(call, bad, Data(user_data=octets), what)
    for place in PLACES:
        version = 0x0001 if place % 2 else 0x0100
        for call in either_way(bench, window=7):
            units, messages = units_of(call, place)
            units[-1] = with_version(units[-1], version)
            call.b.allow(*(Data(user_data=octets) for octets in messages[:-1]))
            what = f"a unit of version {version:#06x}, the last of {place} in a segment,"
            ends_or_passes(call, b"".join(units), Data(user_data=messages[-1]), what)


# Of a wrong unit in a segment, behind good ones.
PLACES = range(2, 11)
# One more than the longest packet, and what is about the sign of two octets.
NO_PACKETS = (LONGEST_PACKET + 1, 0x7FFF, 0x8000, 0xFFFF)


def either_way(bench: Bench, **options: Any) -> Iterator[Call]:
    """A call, and then another one with its ends exchanged, where the tester has both."""
    yield bench.call(**options)
    if bench.two_sided:
        yield bench.call(**options).turned()


def ends_or_passes(call: Call, octets: bytes, passed: Packet, what: str, *cuts: int) -> None:
    """A's connection is closed for this unit, and the call ends at B; a splice may pass it.

    cuts: where it is cut into segments.

    A Reset for a packet that is too short may come before, as in XOT-HDR-08.
    """
    bench = call.bench
    resets: tuple[Packet, ...] = ()
    if isinstance(passed, Undefined):
        resets = (ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(38)),)
        call.b.allow(ResetIndication(cause=bench.remote_reset))
    send_in_pieces(call.a, octets, cuts)
    if call.model == "splice":
        clear = ClearIndication(cause=bench.network_clear)
        if octets[HEADER_OCTETS:] == b"" and isinstance(call.b, Side) and arrives_empty(call.b):
            bench.remark(f"the splice passes {what} on")
            end(call)
            return
        before = served_ahead(call.a, call.b, clear, *resets)
        came = call.b.expect(clear, passed, CLOSED, note=f"{what} came from {call.a.name}")
        if came is not None and not isinstance(came, ClearRequest):
            bench.remark(f"the splice passes {what} on")
            end(call)
            return
        if came is not None:
            call.b.send(ClearConfirmation())
        else:
            call.b.wire.half_close()
        with amid(bench, f"{what} came from this side"):
            closes(call.a, *before)
    else:
        with amid(bench, f"{what} came from {call.a.name}"):
            framing_ends_both(call.a, call.b, *resets)
    end(bench.fence())


def arrives_empty(b: Side) -> bool:
    """Whether a header without a packet arrives, which no template could name."""
    known = b.arrivals.end()

    def came() -> list[bytes]:
        """Without the acknowledgements that are under way from before."""
        packets = [unit.packet for unit in b.arrivals.since(known)]
        return [p for p in packets if not (p and isinstance(b.decoded(p), RR))]

    b.wait_until(lambda: bool(came()) or b.connection.end is not None)
    return b"" in came()


def ends_or_shifts(a: Side, b: Side, within: float | None = None) -> None:
    """A's connection, whose units have lost their borders, is closed, and the call ends at B.

    A splice that passes octets on without a look at the headers leaves it to B to find out.
    """
    if a.context.model == "splice" and passes_unread(b):
        a.context.remark("the splice passes octets without borders on")
        a.close()
        far_side_ends(a.context, b)
    else:
        framing_ends_both(a, b, within=within)


def refuses_octets(bench: Bench, octets: bytes, *cuts: int) -> None:
    """These octets on a new connection: it is closed."""
    a, length = bench.connect(), int.from_bytes(octets[2:HEADER_OCTETS])
    send_in_pieces(a, octets, cuts)
    with amid(bench, f"a unit of length {length}{_in_pieces(cuts)}"):
        framing_ends(a)
    end(bench.fence())


@purpose("XOT-HDR-06")
def test_length_0(bench: Bench) -> None:
    refuses_octets(bench, bytes.fromhex("0000 0000"))


@purpose("XOT-HDR-07")
def test_length_1(bench: Bench) -> None:
    refuses_octets(bench, bytes.fromhex("0000 0001 10"))


@purpose("XOT-HDR-08")
def test_length_2(bench: Bench) -> None:
    """A Reset or Clear for a packet that is too short, or a Clear, may come before the close."""
    a = bench.connect()
    a.wire.send(bytes.fromhex("0000 0002 1001"))
    too_short = bench.diagnostic(38)
    before = ClearIndication(diagnostic=too_short), ResetIndication(diagnostic=too_short)
    closes(a, *before, ClearIndication(cause=bench.network_clear))
    bench.fence()


@purpose("XOT-HDR-09")
def test_length_that_no_packet_has(bench: Bench) -> None:
    """The router has the time for stalled input to notice (TSTALL)."""
    a = bench.connect()
    a.wire.send(bytes.fromhex("0000 ffff") + bytes.fromhex("10 01 0b") + bytes(97))
    with amid(bench, "a header announces 65535 octets, more than any packet has"):
        framing_ends(a, within=until_stalled(bench))
    bench.fence()


@purpose("XOT-HDR-10", size=4096)
def test_largest_packet(call: Call) -> None:
    if call.a.packet_size < 4096:
        raise Inconclusive(f"the packet size was negotiated down to {call.a.packet_size}")
    octets = call.bench.record(4096)
    call.a.send_data(octets)
    call.b.expect_message(octets, longest=call.b.size_in)
    call.fence()


@purpose("XOT-HDR-11")
def test_length_above_the_agreed_packet_size(call: Call) -> None:
    """Passed unchanged by a splice, and by whoever leaves the check to the ends (N-TRUST)."""
    bench = call.bench
    offending = call.a.data(bench.record(129))
    call.a.send(offending)
    at_b = [Data(user_data=offending.user_data), ResetIndication(cause=bench.remote_reset)]
    if call.model != "end-to-end" or not bench.declared("N-TRUST"):
        at_b = at_b[:1] if call.model == "splice" else at_b[1:]
    here = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(39))
    with bench.checking_numbers():
        ahead = confirmed_ahead(call.a, call.b, here)
        came = call.b.expect(*at_b)
    if not isinstance(came, Data):
        call.b.send(ResetConfirmation())
        if not ahead:
            call.a.expect(here)
            call.a.send(ResetConfirmation())
    call.fence()


@purpose("XOT-HDR-12")
def test_length_above_the_largest_supported(bench: Bench) -> None:
    """Eight octets more than the largest Data packet, as a Call with too much user data.

    It may be the length that is wrong: then the router closes, and a Clear may come before.
    """
    largest = bench.profile.limits.packet_size
    bench.need(largest >= 64, "a packet size above that of a Call (limits.packet_size)")
    length = largest + 3 + 8
    a = bench.connect()
    shortest = len(a.octets_of(bench.call_request(user_data=b"\xc0")))
    a.send(bench.call_request(user_data=b"\xc0" + bytes(length - shortest)))
    too_long, ahead = user_data_error(bench), ClearIndication(cause=bench.network_clear)
    if taken_by_a_dte(bench, a, f"a Call of {length} octets was"):
        pass
    elif length > LONGEST_PACKET:
        closes(a, too_long, ahead)
    elif trusts_the_ends(bench) and bench.went_on(a):
        give_up(a, bench.incoming())
        needs_trust(bench, f"a Call of {length} octets was")
    elif (came := a.expect(too_long, CLOSED, ahead)) is not None:
        if matches(too_long, bytes(came)):
            a.send(ClearConfirmation())
        else:
            a.expect_closed()
    bench.fence()


@purpose("XOT-HDR-13")
def test_borders_after_a_short_length(bench: Bench) -> None:
    """The last octet of the Call, 0, is the first one of the next header, which so has length 0.

    B gets the Call, one octet short, before A sends the Clear, and nothing is wrong before that: so
    what B sees of it is certain.
    """
    a = bench.connect()
    request = a.unit_of(bench.call_request(user_data=b"\xc0\x01\x02\x00"))
    a.wire.send(with_length(request, len(request) - 5))
    if bench.two_sided:
        b = bench.incoming(IncomingCall(user_data=b"\xc0\x01\x02"))
    else:
        a.expect(CallAccepted())
    a.wire.send(a.unit_of(ClearRequest(cause=0, diagnostic=241)))
    if bench.two_sided:
        ends_or_shifts(a, b)
    else:
        framing_ends(a)
    bench.fence()


@purpose("XOT-HDR-14")
def test_borders_after_a_long_length(bench: Bench) -> None:
    """The Call takes the first octet of the unit behind it; the rest announces 0x2010 octets, which
    a router may notice when they do not come (TSTALL)."""
    a, stall = bench.connect(), until_stalled(bench)
    request = a.unit_of(bench.call_request(user_data=b"\xc0\x01\x02\x03"))
    data = a.unit_of(Data(p_s=0, user_data=bytes(29)))
    a.wire.send(with_length(request, len(request) - 3) + data[:1])
    answers = CallAccepted(), ClearIndication(cause=bench.network_clear), CLOSED
    with amid(bench, "behind a Call whose length is one too many, a header announces 8208 octets"):
        if bench.two_sided and bench.went_on(a):
            b = bench.incoming(IncomingCall(user_data=b"\xc0\x01\x02\x03\x00"))
            # A call that is up has no timer that may run out while the router waits for octets.
            b.send(b.acceptance)
            a.expect(CallAccepted())
            a.wire.send(data[1:])
            ends_or_shifts(a, b, stall)
        elif a.expect(*answers) is not None:
            a.wire.send(data[1:])
            framing_ends(a, stall)
    bench.fence()


@purpose("XOT-HDR-15")
def test_urgent_data(call: Call) -> None:
    """The third octet is urgent. A socket interface that takes it out of the stream leaves a
    length of 0x4010, which is illegal: then this call ends, if only behind TSTALL, and no other.
    """
    bench = call.bench
    other = bench.call()
    octets = bench.record(0x40 - 3)
    unit = call.a.unit_of(call.a.data(octets))
    call.a.wire.tcp.urgent(unit[:3])
    call.a.wire.send(unit[3:])
    lost = ClearIndication(cause=bench.network_clear)
    stall = until_stalled(bench)
    with amid(bench, "a unit of A whose third octet is TCP urgent data"):
        until = time.monotonic() + stall
        before = served_ahead(call.a, call.b, lost, within=stall)
        came = call.b.expect(Data(user_data=octets), lost, CLOSED)
        if isinstance(came, ClearRequest):
            call.b.send(ClearConfirmation())
        elif came is None:
            call.b.wire.half_close()
        if not isinstance(came, Data):
            bench.remark("the urgent octet is lost, and the framing of this connection with it")
            closes(call.a, *before, within=time_left(bench, until))
    if isinstance(came, Data):
        call.fence()
    other.fence()
    bench.fence()


@purpose("XOT-HDR-16")
def test_no_packet_in_data_transfer(bench: Bench) -> None:
    """Lengths of less than the three octets of a packet, from either side; as the last of two to
    ten units of a segment, too. A splice that passes such units on does so alone already."""
    for length in range(3):
        for call in either_way(bench):
            call.fence()
            packet = header(call.a, 0x00)[:length]
            ends_or_passes(call, unit(packet), Undefined(), f"a unit of {length} octets")
    if bench.model == "splice":
        return
    for place in PLACES:
        for call in either_way(bench, window=7):
            packet = header(call.a, 0x00)[: place % 3]
            units = units_before(call, place - 1)
            what = f"a unit of {len(packet)} octets, the last of {place} in a segment,"
            ends_or_passes(call, units + unit(packet), Undefined(), what)


def units_before(call: Call, many: int) -> bytes:
    """So many good units of A, to go in front of a wrong one; they may be lost with the call.

    An echo may have sent them back by then.
    """
    units, messages = units_of(call, many)
    for side in (call.b, call.a) if isinstance(call.b, AbsentSide) else (call.b,):
        side.allow(*(Data(user_data=octets) for octets in messages))
    return b"".join(units)


@purpose("XOT-HDR-17")
def test_length_of_no_packet_in_data_transfer(bench: Bench) -> None:
    """A header for more octets than any packet has, and then silence: the call ends, whichever side
    sent it; behind nine good units of the segment, and behind fewer, too. As many at a time as the
    router takes, since it may need TSTALL for each."""
    places = [(length, 1) for length in NO_PACKETS]
    places += zip(NO_PACKETS, (PLACES[-1], *PLACES), strict=False)
    together = at_a_time(bench, len(NO_PACKETS), each=2)
    for begin in range(0, len(places), together):
        calls = [
            (length, place, call)
            for length, place in places[begin : begin + together]
            for call in either_way(bench, window=7)
        ]
        for length, place, call in calls:
            call.fence()
            before = units_before(call, place - 1) if place > 1 else b""
            call.a.wire.send(before + with_length(unit(b""), length))
        for length, place, call in calls:
            with amid(bench, f"a length of {length} at place {place} of a segment"):
                framing_ends_both(call.a, call.b, within=until_stalled(bench))
        end(bench.fence())


@purpose("XOT-HDR-18")
def test_errors_of_a_header_in_pieces(bench: Bench) -> None:
    """A wrong version and a length of 1, cut behind each octet of the header; then both in data
    transfer, from either side, and behind nine good units of the segment."""
    for cut in range(1, HEADER_OCTETS):
        refuses_version(bench, 1, cut)
        refuses_octets(bench, bytes.fromhex("0000 0001 10"), cut)
        for call in either_way(bench):
            octets = bench.record(64)
            bad = with_version(call.a.unit_of(call.a.data(octets)), 1)
            what = f"a unit of version 1 with a pause behind {cut} of its octets"
            ends_or_passes(call, bad, Data(user_data=octets), what, cut)
        if bench.model == "splice":
            continue
        for wrong in ("version", "length"):
            for call in either_way(bench, window=7):
                before = units_before(call, PLACES[-1] - 1)
                whole = call.a.unit_of(RR(p_r=call.a.numbering.p_r))
                bad = with_version(whole, 1) if wrong == "version" else with_length(whole, 1)
                what = f"a wrong {wrong} with a pause behind {cut} of its octets, in a segment,"
                passed = RR() if wrong == "version" else Undefined()
                ends_or_passes(call, before + bad, passed, what, len(before) + cut)

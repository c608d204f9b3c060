# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cases of XOT share: streams in pieces, ends of connections, data on a call.

RFC 1613 4 to 6.4. A pause here is part of a stimulus (the router reads what came before), never a
way to judge.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from scapy.packet import Packet
from scapy_x25 import (
    RR,
    RR128,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
)
from scapy_x25.x25 import CALL_REQUEST, packet_type

from ..judges.expectation import CLOSED
from ..judges.template import decode, matches
from ..judges.values import one_of
from ..links.xot import HEADER_OCTETS
from ..sides.bench import Bench, Call
from ..sides.context import Context
from ..sides.side import AbsentSide, Side, receive_ready
from .calls import other_end

AnySide = Side | AbsentSide
# Long enough for a router to read what has come, short enough to be repeated often.
PAUSE = 0.002
# Modulo 128: four octets of header and 4096 of user data (X.25 7.2.2).
LONGEST_PACKET = 4100
# X.25 6.9: octets of user data.
SMALLEST_SIZE = 16
# How often a router may try one call.
MOST_ATTEMPTS = 8


def pause(context: Context, seconds: float = PAUSE) -> None:
    """Leave the router time to read what was sent so far by itself."""
    context.loop.pause(seconds)


def send_in_pieces(side: Side, octets: bytes, ends: Iterable[int], seconds: float = PAUSE) -> None:
    """Send octets as several segments; ends: the positions at which they are cut, rising; seconds:
    the pauses between them.

    No RR of the tester gets between them: what comes meanwhile is acknowledged behind them.
    """
    withholding, p_r = side.withholding, side.numbering.p_r
    side.withholding = True
    start = 0
    for end in [*ends, len(octets)]:
        if start < end:
            side.wire.send(octets[start:end])
            start = end
            if start < len(octets):
                pause(side.context, seconds)
    side.withholding = withholding
    if not withholding and side.numbering.p_r != p_r:
        side.acknowledge()


def units_of(call: Call, many: int) -> tuple[list[bytes], list[bytes]]:
    """So many units of A for one stream, and the user data in them: Data as far as the window goes,
    one at least, behind RRs that say nothing new. A packet of any size has room for each."""
    a = call.a
    a.wait_for_window()
    free = a.window - a.numbering.outstanding
    messages = [call.bench.record(SMALLEST_SIZE) for _ in range(min(many, free))]
    ready = [a.unit_of(receive_ready(a)) for _ in range(many - len(messages))]
    return [*ready, *(a.unit_of(a.data(octets)) for octets in messages)], messages


def with_version(unit: bytes, version: int) -> bytes:
    """A unit with another version in its XOT header (octets 1 and 2)."""
    return version.to_bytes(2, "big") + unit[2:]


def with_length(unit: bytes, length: int) -> bytes:
    """A unit that announces another length in its XOT header (octets 3 and 4)."""
    return unit[:2] + length.to_bytes(2, "big") + unit[4:]


def until_stalled(context: Context) -> float:
    """By when a router has given an incomplete unit up: TSTALL, and the time for a reaction."""
    return 1.2 * context.profile.times.stall + context.reaction_limit


def closes(side: Side, *before: Packet, within: float | None = None) -> None:
    """The router closes the connection; one of these packets may come before (a remark).

    It may wait for the confirmation of a Clear before it closes, and where the close has time
    (within) its timers may send the Clear again meanwhile (X.25 Table D-1).
    """
    context, until = side.context, time.monotonic() + (within or 0.0)
    came = side.expect(CLOSED, *before, within=within)
    while came is not None:
        context.remark(f"a {type(came).__name__} came before the close")
        if isinstance(came, ClearRequest):
            side.send(ClearConfirmation())
        again = _clears(before) if within is not None and time.monotonic() < until else ()
        came = side.expect(CLOSED, *again, within=within and time_left(context, until))


def time_left(context: Context, until: float) -> float:
    """Seconds up to then (monotonic), the time for a reaction at least."""
    return max(until - time.monotonic(), context.reaction_limit)


def _clears(packets: Iterable[Packet]) -> tuple[Packet, ...]:
    return tuple(packet for packet in packets if isinstance(packet, ClearRequest))


def _is_told(side: Side) -> bool:
    """Whether anything has come that may be expected next, or the connection has ended."""
    passing = (*side.passing, *side.allowed)
    news = (unit.packet for unit in side.arrivals.unread)
    told = any(not any(matches(template, octets) for template in passing) for octets in news)
    return told or side.connection.end is not None


def served_ahead(
    side: Side, far: AnySide, *before: Packet, within: float | None = None
) -> tuple[Packet, ...]:
    """The router ends the connection of side and the call at the far side. Where it tells side
    first it may tell far only when side has confirmed its Clear, or closed as well (no clause says
    when); a confirmation that it takes for the rest of a unit does not keep its timers from sending
    the Clear again (X.25 Table D-1).

    Returns the packets that may come before the close of side from then on.
    """
    if not isinstance(far, Side):
        return before
    until = time.monotonic() + (within or 0.0)
    side.wait_until(lambda: _is_told(side) or _is_told(far), within)
    while _is_told(side) and not _is_told(far):
        came = side.expect(CLOSED, *before)
        if came is None:
            side.wire.half_close()
            break
        side.context.remark(f"a {type(came).__name__} came before the close")
        if isinstance(came, ClearRequest):
            side.send(ClearConfirmation())
            before = () if within is None else _clears(before)
        left = within and time_left(side.context, until)
        side.wait_until(lambda: _is_told(side) or _is_told(far), left)
    return before


def framing_ends_both(side: Side, far: AnySide, *more: Packet, within: float | None = None) -> None:
    """As framing_ends(), of a connection with a call, which ends at its far side as well.

    Which of the two comes first is the router's choice, and either may wait for the answer to the
    other: the far side is served first, unless this one alone has been told.
    """
    context, until = side.context, time.monotonic() + (within or 0.0)
    before = served_ahead(
        side, far, ClearIndication(cause=context.network_clear), *more, within=within
    )
    # To notice the error takes time; to tell the other side of it does not.
    far_side_ends(context, far)
    closes(side, *before, within=within and time_left(context, until))


def framing_ends(side: Side, within: float | None = None) -> None:
    """The router closes for an error in the XOT header (RFC 1613 4.1).

    A Clear may come before: nothing says that the close has to be the only answer.
    """
    closes(side, ClearIndication(cause=side.context.network_clear), within=within)


def passes_unread(far: Side) -> bool:
    """Whether octets arrive at the far side of a splice that are not a packet in a right unit.

    A splice that joins the two connections passes them on without a look at the XOT headers. A
    right unit may come in pieces (RFC 1613 4), and behind acknowledgements that were on their way.
    """
    connection, known = far.wire.tcp, far.cursor

    def new() -> list[bytes]:
        units = [unit.octets for unit in connection.received if unit.offset >= known]
        return [*units, connection.begun] if connection.begun else units

    def unread() -> bool:
        return any(not _begins_right(octets) for octets in new())

    def answered() -> bool:
        units = [unit for unit in connection.received if unit.offset >= known]
        return any(not isinstance(far.decoded(unit.packet), (RR, RR128)) for unit in units)

    far.wait_until(lambda: unread() or answered() or connection.end is not None)
    return unread() or (connection.end is not None and bool(connection.begun))


def _begins_right(octets: bytes) -> bool:
    """Whether a unit that begins so, or is no more than this, may be right (RFC 1613 4.1)."""
    length = octets[2:HEADER_OCTETS]
    whole = len(length) == 2
    fits = not whole or 3 <= int.from_bytes(length, "big") <= LONGEST_PACKET
    return octets[:2] == bytes(len(octets[:2])) and fits


def arrives(bench: Bench, *templates: Packet) -> AnySide:
    """The call at B as one of the templates says; where the router ends it itself, no side."""
    return bench.incoming(*templates) if bench.two_sided else AbsentSide()


def refused(bench: Bench, side: Side, *templates: Packet) -> None:
    """The router itself ends the call attempt of this side: by one of these Clears, or a close."""
    if attempt_ends(bench, side, *templates) is None:
        bench.remark("the call was refused by a close of TCP, without a Clear")
    else:
        side.send(ClearConfirmation())


def attempt_ends(bench: Bench, a: Side, *templates: Packet) -> Packet | None:
    """The call attempt of A ends: one of these Clears (returned), or a close.

    Where the connection to B was lost before an answer, a network may try again: RFC 1613 6.1 and
    X.25 4.1 forbid no further attempt. B loses each of them as it lost the first. A and B: here
    the side that calls and the other one.
    """
    there = other_end(a.name.lower())

    def calls() -> list[bytes]:
        return [u.packet for u in a.connection.sent if packet_type(u.packet) == CALL_REQUEST]

    # A line that is busy lets no Call out yet.
    if not a.wait_until(lambda: bool(calls())):
        return a.expect(*templates, CLOSED)
    request = calls()[0]

    def lost_as_well(b: Side) -> None:
        bench.remark("the router tries the call once more")
        b.allow(ClearIndication())
        b.wire.half_close()

    bench.further.allow(CallRequest(user_data=decode(request).user_data), lost_as_well)
    for _ in range(MOST_ATTEMPTS):
        if not bench.went_on(a, at=there):
            break
        bench.listeners.take_called(there)
    return a.expect(*templates, CLOSED)


def far_side_ends(context: Context, side: AnySide) -> None:
    """The call at the far side ends, which did nothing wrong: a Clear of the network, or a TCP
    close.

    The far side closes then too: a splice that passes a FIN on waits for that before it ends the
    first connection (RFC 1613 6.1, 6.2).
    """
    if side.expect(ClearIndication(cause=context.lost_clear), CLOSED) is not None:
        side.send(ClearConfirmation())
    else:
        side.wire.half_close()


def cleared_and_finished(call: Call) -> None:
    """A clears and sends FIN at once; the router ends the connection of A.

    A splice may pass the FIN on behind the Clear, and wait for that of B (RFC 1613 6.2).
    """
    call.a.send(ClearRequest(cause=0, diagnostic=241))
    call.a.wire.half_close()
    call.b.expect(ClearIndication(cause=0, diagnostic=241))
    call.b.send(ClearConfirmation())
    if call.bench.model == "splice":
        call.b.wire.half_close()
    if call.a.expect(ClearConfirmation(), CLOSED) is not None:
        call.a.expect_closed()


def arrives_there(call: Call, octets: bytes, note: str = "") -> None:
    """What A sent as one sequence arrives at B; where the router ends calls, as its echo at A."""
    if isinstance(call.b, AbsentSide):
        call.a.expect_message(octets, note=note)
    else:
        call.b.expect_message(octets, note=note)


def crosses(call: Call, there: bytes, back: bytes) -> None:
    """One sequence each way."""
    call.a.send_message(there)
    arrives_there(call, there)
    if call.b.present:
        call.b.send_message(back)
        call.a.expect_message(back)


def call_is_cleared(call: Call) -> bool:
    """A clears; the Clear arrives at B as it was sent. Whether A's connection is still there."""
    call.a.send(ClearRequest(cause=0, diagnostic=241))
    call.b.expect(ClearIndication(cause=0, diagnostic=241))
    call.b.send(ClearConfirmation())
    return call.a.expect(ClearConfirmation(), CLOSED) is not None


def second_call(call: Call) -> Call | None:
    """A calls again on its connection. None: the router closes it instead (a remark).

    RFC 1613 5 lets the router keep its connection to B for the second call as well.
    """
    bench, a, b = call.bench, call.a, call.b
    a.numbering.reset()
    a.send(bench.call_request())
    if isinstance(b, Side) and (bench.went_on(a) or a.connection.end is None):
        b = bench.incoming()
        b.send(b.acceptance)
    if a.expect(CallAccepted(), CLOSED) is None:
        bench.remark("the connection is closed at the second call")
        return None
    return Call(bench, a, b)


def call_at(side: AnySide) -> Packet:
    """The first packet of a call."""
    assert isinstance(side, Side)
    return decode(side.arrivals.units[0].packet)


def same_call(call: Packet) -> CallRequest:
    """A template for Calls like this one in all but the LCN, facilities octet for octet.

    What a malformed one ends before is left empty: that it is malformed is told already.
    """
    return CallRequest(
        called_address=call.called_address or "",
        # As it is here, not as it may arrive elsewhere (sides/arriving.py).
        calling_address=one_of(call.calling_address or ""),
        facilities=b"".join(bytes(facility) for facility in call.facilities or ()),
        user_data=call.user_data or b"",
    )

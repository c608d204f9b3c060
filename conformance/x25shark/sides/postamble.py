# SPDX-License-Identifier: GPL-2.0-or-later
"""How a case ends: what every case demands of a router besides its own, and clearing what is up."""

from __future__ import annotations

from dataclasses import dataclass

from scapy.packet import Packet
from scapy_x25 import ClearConfirmation, ClearRequest, ResetRequest
from scapy_x25.x25 import (
    CALL_ACCEPTED,
    CALL_REQUEST,
    CLEAR_CONFIRMATION,
    CLEAR_REQUEST,
    PVC_SETUP,
    RESET_REQUEST,
    packet_type,
)

from ..judges.expectation import NoConnection, Quiet
from ..judges.template import decode
from ..links.xot import Connection
from .answers import Answers
from .listeners import Listeners
from .points import Points
from .side import Side

# Behind these RR may come.
_SET_UP = (CALL_REQUEST, CALL_ACCEPTED, PVC_SETUP)


def stop_at_further_calls(points: Points) -> None:
    """Where a channel carried a further call, what was expected of the one before ends."""
    for side in points.sides:
        if side.stop is not None:
            for expectation in points.context.expectations:
                mine = expectation.direction == side.direction
                if mine and side.origin <= expectation.start < side.stop:
                    ends = [e for e in (expectation.stop, side.stop) if e is not None]
                    expectation.stop = min(ends)


def demand_quiet(points: Points) -> None:
    """Nothing may have come on any connection but what was expected or may pass."""
    context = points.context
    of_connection: dict[int, list[Side]] = {}
    for side in points.sides:
        of_connection.setdefault(id(side.connection), []).append(side)
    for of_it in of_connection.values():
        side = of_it[-1]
        allowed = tuple(packet for s in of_it for packet in s.allowed)
        context.expectations.append(
            Quiet(
                side.name,
                context.purpose.clause,
                side.direction,
                start=side.origin,
                stop=side.stop,
                passing=side.passing + allowed + _repeated(context, side),
                relaxed_from=_relaxed_from(side),
                relaxed=side.relaxed,
                over_from=_over_from(context, side),
            )
        )


def _relaxed_from(side: Side) -> int:
    """From where on the tester ends what is there."""
    return side.connection.received_octets if side.left_at is None else side.left_at


def _over_from(answers: Answers, side: Side) -> int | None:
    """Where the router has confirmed a Clear: then the channel is free (X.25 4.1.7, Table C-2).

    Asked of a router that ends the calls itself: to one that passes them on, RR of the other end
    may be under way.
    """
    if answers.two_sided:
        return None
    over: int | None = None
    for unit in side.connection.received:
        kind = packet_type(unit.packet)
        if kind in _SET_UP:
            over = None
        elif kind == CLEAR_CONFIRMATION and over is None and unit.offset >= side.origin:
            over = unit.offset
    return over


def _repeated(answers: Answers, side: Side) -> tuple[Packet, ...]:
    """What may come again for want of an answer, for the router runs T12 and T13."""
    kinds = side.arrivals.types()
    again: list[Packet] = []
    if kinds.count(CLEAR_REQUEST) > 1:
        again.append(ClearRequest(diagnostic=answers.diagnostic(50)))
    if kinds.count(RESET_REQUEST) > 1:
        again.append(ResetRequest(diagnostic=answers.diagnostic(51)))
    return tuple(side.right_here(packet) for packet in again)


def demand_no_connections(points: Points, listeners: Listeners) -> None:
    """The router may have opened no connection that the case did not ask for.

    One that it closes without an octet may be for a call of an earlier case, which was given up
    while the router was still trying. A case that demands no connection allows no such one either.
    A DTE may call whenever it likes to, as one does that redials.
    """
    context = points.context
    known = frozenset(side.direction for side in points.sides)
    watched = [e for e in context.expectations if isinstance(e, NoConnection)]
    for expectation in watched:
        expectation.known = known
    for name, address in listeners.addresses().items():
        if name == "a" and context.profile.calls:
            continue
        if not any(e.listener == address for e in watched):
            listeners.leave_given_up(name)
            known = frozenset(side.direction for side in points.sides)
            context.expectations.append(
                NoConnection(name.upper(), context.purpose.clause, listener=address, known=known)
            )


def note_causes(points: Points) -> None:
    """A DTE's own causes are 0x00 and 0x80 to 0xFF (ISO/IEC 8208); others are a remark."""
    for side in points.sides:
        for unit in side.connection.received if side.router_is_dte else ():
            packet = decode(unit.packet) if unit.packet else None
            if isinstance(packet, (ClearRequest, ResetRequest)):
                cause = packet.fields.get("cause")
                if isinstance(cause, int) and 0 < cause < 0x80:
                    points.context.remark(
                        f"a DTE sends cause 0x00 or 0x80 to 0xFF; received 0x{cause:02x}"
                    )


def clear_calls(points: Points, patience: Patience) -> None:
    """Clear the calls that are still up; answers are waited for, but not demanded."""
    context = points.context
    for side in points.sides:
        if side.name == "A" and _open(side) and side.phase in ("calling", "connected"):
            side.send(ClearRequest(cause=0, diagnostic=0))

    def settled() -> bool:
        for side in points.sides:
            if side.phase == "being cleared" and _open(side):
                # A splice confirms to A what B confirms, so B must not wait for A's turn.
                side.send(ClearConfirmation())
        return all(s.phase in ("cleared", "idle") or not _open(s) for s in points.sides)

    context.loop.wait(settled, MOMENT if patience.over else context.profile.times.reaction)


@dataclass
class Patience:
    """For what the ends of the cases of a run wait.

    left_open: how often in a row the router left a connection of its own open that the tester had
    closed.
    over: each case has a moment only, its end as well.
    """

    left_open: int = 0
    over: bool = False


# A router that did so this often is not waited for any longer, but for a moment (seconds).
MOST_LEFT_OPEN = 3
MOMENT = 0.02
# A router on a busy machine may be kept from reading an end for longer than its reactions take.
END_IS_READ = 2.0


def end_what_may_be_kept(points: Points, patience: Patience) -> None:
    """Close connections that the router opened and may keep for another call (RFC 1613 5).

    No Call of the next case must go out on one whose end the router has not read. It has read it
    when it closes too, which nothing demands.
    """
    context = points.context
    opened = {direction for directions in context.accepted.values() for direction in directions}
    kept = [
        side
        for side in points.sides
        if isinstance(side.connection, Connection) and side.direction in opened and _open(side)
    ]
    for side in kept:
        side.wire.half_close()
    given_up = patience.over or patience.left_open >= MOST_LEFT_OPEN
    seconds = MOMENT if given_up else max(context.profile.times.reaction, END_IS_READ)
    if not context.loop.wait(
        lambda: all(side.connection.end is not None for side in kept), seconds
    ):
        patience.left_open += 1
    elif kept:
        patience.left_open = 0


def _open(side: Side) -> bool:
    return not side.connection.closed and side.connection.end is None

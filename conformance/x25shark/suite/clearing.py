# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways in which calls end, as the cases of call set-up, facilities and clearing share them.

X.25 4.1.7 to 4.1.10; RFC 1613 6.1: before the call is connected a close of the TCP connection is
one end of a call attempt, and a close stands for the Clear Confirmation.
"""

from __future__ import annotations

from scapy.packet import Packet
from scapy_x25 import ClearConfirmation, ClearIndication, ClearRequest

from ..judges.expectation import CLOSED
from ..judges.values import Matcher
from ..sides.bench import Bench
from ..sides.call import Call
from ..sides.side import AbsentSide, Side

AnySide = Side | AbsentSide


def arrives(bench: Bench, *templates: Packet) -> AnySide:
    """The call at B as one of the templates says; where the router ends it itself, no side."""
    return bench.incoming(*templates) if bench.two_sided else AbsentSide()


def generic(code: int) -> tuple[int, int, int]:
    """A diagnostic, the generic one of its group, and 0, where a row allows the group."""
    return code, code // 16 * 16, 0


def confirmed(side: AnySide) -> None:
    """The Clear of this side is confirmed, or the connection closed in its place."""
    side.expect(ClearConfirmation(), CLOSED)


def cleared(side: AnySide, *, cause: Matcher | int, diagnostic: Matcher | int | None) -> None:
    """The router clears this side, which confirms."""
    template = ClearIndication(cause=cause)
    if diagnostic is not None:
        template.fields["diagnostic"] = diagnostic
    side.expect(template)
    side.send(ClearConfirmation())


def refused(bench: Bench, side: Side, *templates: Packet) -> None:
    """The router itself refuses the call of this side: one of these Clears, or a TCP close."""
    if side.expect(*templates, CLOSED) is None:
        bench.remark("the call was refused by a close of TCP, without a Clear")
    else:
        side.send(ClearConfirmation())


def procedure_error(call: Call, offender: AnySide, other: AnySide, *codes: int) -> None:
    """Both sides are cleared after an error of one: local and remote procedure error."""
    bench = call.bench
    cleared(offender, cause=bench.local_clear, diagnostic=bench.diagnostic(*codes))
    cleared(other, cause=bench.remote_clear, diagnostic=None)


def end(call: Call) -> None:
    """Side A clears a call whose purpose is reached."""
    call.a.send(ClearRequest(cause=0, diagnostic=0))
    call.b.expect(ClearIndication())
    call.b.send(ClearConfirmation())
    confirmed(call.a)


def give_up(a: Side, b: Side) -> None:
    """B refuses a call whose purpose was reached when it arrived there."""
    b.send(ClearRequest(cause=0, diagnostic=0))
    a.expect(ClearIndication(cause=0, diagnostic=0))
    a.send(ClearConfirmation())
    confirmed(b)

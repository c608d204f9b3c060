# SPDX-License-Identifier: GPL-2.0-or-later
"""Both ends reset, clear or call at the same time (X.25 4.1.6, 4.1.9, 4.4.3.3)."""

from __future__ import annotations

from scapy.packet import Packet
from scapy_x25 import (
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
)
from scapy_x25.x25 import RESET_CONFIRMATION, RESET_REQUEST

from ..judges.expectation import CLOSED
from ..sides.bench import Bench, Call
from ..sides.race import Race
from ..sides.side import Side
from .clearing import AnySide, confirmed, end, refused
from .procedure_errors import expect_after


def collide(
    call: Call,
    race: Race,
    diagnostic: int,
    *before: Packet,
    cause: int = 0,
    a_first: bool | None = None,
) -> bool:
    """Both sides reset, one a moment later; each gets a Reset or a confirmation (X.25 4.4.3.3).

    a_first: whether A is the one; else the coin says it.

    A Reset may come behind a confirmation, and has to be confirmed; a confirmation behind a Reset
    is not due. Returns whether each reset before it knew of the other; else the second one only
    confirms.
    """
    a, b = call.a, call.b
    assert isinstance(b, Side)
    first, last = ends = (a, b) if (race.coin() if a_first is None else a_first) else (b, a)
    marks = [side.cursor for side in ends]
    first.send(ResetRequest(cause=cause, diagnostic=diagnostic))
    race.pause()
    if RESET_REQUEST in last.arrivals.types(marks[1]):
        expect_after(last, ResetIndication(cause=cause, diagnostic=diagnostic), *before)
        last.send(ResetConfirmation())
        expect_after(first, ResetConfirmation(), *before)
        return False
    last.send(ResetRequest(cause=cause, diagnostic=diagnostic))
    reset = ResetIndication(cause=cause, diagnostic=diagnostic)
    for side in ends:
        came = None
        while not isinstance(came, (ResetIndication, ResetConfirmation)):
            came = side.expect(reset, ResetConfirmation(), *before)
    come = "all that follows from the collision has come"
    beside = call.bench.fence(come)
    # Or a router with few channels would have none left in the end.
    end(beside)
    for side, mark in zip(ends, marks, strict=True):
        kinds = side.arrivals.types(mark)
        side.expect_count(reset, 0, 1, start=mark)
        first_of_all = (
            RESET_CONFIRMATION in kinds
            and RESET_REQUEST not in kinds[: kinds.index(RESET_CONFIRMATION)]
        )
        due = first_of_all or confirms_collisions(call.bench)
        side.expect_count(ResetConfirmation(), 0, int(due), start=mark, note=NOT_DUE * (not due))
        if kinds.count(RESET_REQUEST) and RESET_CONFIRMATION in kinds[: kinds.index(RESET_REQUEST)]:
            side.send(ResetConfirmation())
    return True


NOT_DUE = "the two Resets are each other's confirmation"


def confirms_collisions(bench: Bench) -> bool:
    """A host may confirm a Reset that has crossed its own: that is between it and its network."""
    return bench.declared("R-DTE")


def end_of_collision(side: AnySide, *before: Packet) -> None:
    """A Clear ends a collision, and so does a Confirmation; one more Confirmation is a remark.

    before: what may come ahead of it.
    """
    ends = (ClearIndication, ClearConfirmation)
    came = side.expect(ClearIndication(), ClearConfirmation(), CLOSED, *before)
    while came is not None and not isinstance(came, ends):
        came = side.expect(ClearIndication(), ClearConfirmation(), CLOSED, *before)
    if isinstance(came, ClearIndication):
        side.allow(ClearConfirmation())


def clear_together(race: Race, call: Call) -> bool:
    """Both clear, one of them a moment later; whether each did before it knew of the other."""
    a, b = call.a, call.b
    assert isinstance(b, Side)
    first, last = (a, b) if race.coin() else (b, a)
    packets = {a: ClearRequest(cause=0, diagnostic=241), b: ClearRequest(cause=0, diagnostic=242)}
    first.send(packets[first])
    race.pause()
    if last.phase == "being cleared":
        last.expect(ClearIndication(cause=0, diagnostic=packets[first].diagnostic))
        last.send(ClearConfirmation())
        confirmed(first)
        return False
    last.send(packets[last])
    return True


def calls_cross(bench: Bench, caller: Side, here: Side, came: Packet, own: Packet) -> list[Call]:
    """Two calls on one channel of a line; those of them that are up in the end.

    here: the side on the channel, which has sent its own Call in place of an answer to the one that
    came from the caller. A DCE goes on with the DTE's call: its own is cancelled, or made on
    another channel. A DTE goes on with its own.
    """
    at, far = here.name.lower(), caller.name.lower()
    if bench.lines[at].profile.role == "dte":
        here.send(here.acceptance)
        caller.expect(CallAccepted(), note="the DTE's own call")
        calls = [Call(bench, caller, here)]
        calls[0].fence()
        return calls
    there = bench.incoming(CallRequest(user_data=own.user_data), at=far, note="the DTE's call")
    there.send(there.acceptance)
    here.expect(CallAccepted(), note="the DTE's call")
    calls = [Call(bench, here, there)]
    calls[0].fence()
    if not bench.went_on(caller, at=at):
        refused(bench, caller, ClearIndication(cause=bench.network_clear))
        return calls
    again = bench.incoming(CallRequest(user_data=came.user_data), at=at)
    again.send(again.acceptance)
    caller.expect(CallAccepted(), note="on another channel")
    calls.append(Call(bench, caller, again))
    calls[1].fence()
    return calls

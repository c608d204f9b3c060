# SPDX-License-Identifier: GPL-2.0-or-later
"""A call ends while something is open on it: the end comes through (X.25 4.1.7; RFC 1613 6.1).

An end is a Clear, or the loss of a connection, of either side; what is open is what test_left_over
leaves behind, and resets that one side or both have still to confirm.
"""

from __future__ import annotations

from collections.abc import Callable

from .clearing import passes
from .language import (
    CLOSED,
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    Data,
    Interrupt,
    InterruptConfirmation,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    purpose,
)
from .procedure_errors import far_end_is_reset_first
from .reactions import UNDEFINED, both, header
from .test_left_over import MIDDLES, waits_for_a_confirmation

# What of the call may still come ahead of its end.
BEFORE = (
    *(Data(), Interrupt(), InterruptConfirmation()),
    *(ResetIndication(), ResetConfirmation()),
)


def _reset_by_a(call: Call) -> None:
    """A's reset, which B does not confirm."""
    a, b = both(call)
    a.send(ResetRequest(cause=0, diagnostic=0))
    b.expect(ResetIndication(cause=0, diagnostic=0))


def _reset_by_the_router(call: Call) -> None:
    """An error of A; neither side confirms the reset."""
    bench, a, b = call.bench, *both(call)
    a.put(header(a, UNDEFINED))
    a.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(33)))
    if far_end_is_reset_first(b):
        b.expect(ResetIndication(cause=bench.remote_reset))


def _reset_confirmed_by_a(call: Call) -> None:
    """An error of A, who confirms and goes on; B does not confirm."""
    waits_for_a_confirmation(call)


RESETS: dict[Callable[[Call], None], str] = {
    _reset_by_a: "a reset of {} is not confirmed",
    _reset_by_the_router: "a reset for an error of {} is not confirmed",
    _reset_confirmed_by_a: "a reset for an error of {} is confirmed there alone",
}


def clears(ending: Side, other: Side, note: str) -> None:
    passes(ending.context, ending, other, 0, 0, note)


def ends_there(other: Side, note: str) -> None:
    """What waited for the other side may come first; so that it can, the side takes it.

    It ends its connection where the router does, which a splice may wait for (RFC 1613 6.2).
    """
    if not other.numbering.resetting:
        other.withholding = False
        other.acknowledge()
    end = ClearIndication(cause=other.context.network_clear)
    if other.expect(end, CLOSED, note=note) is not None:
        other.send(ClearConfirmation())
    else:
        other.wire.half_close()


def closes(ending: Side, other: Side, note: str) -> None:
    ending.wire.half_close()
    ends_there(other, note)
    if ending.expect(CLOSED, ClearIndication(), note=note) is not None:
        ending.expect_closed()


def is_reset(ending: Side, other: Side, note: str) -> None:
    ending.wire.reset()
    ends_there(other, note)


def amid_each(bench: Bench, end: Callable[[Side, Side, str], None], *, resets_only: bool) -> None:
    """A call for each middle and each side that ends it."""
    middles = {} if resets_only else dict(MIDDLES)
    if bench.model != "splice":
        middles |= RESETS
    for middle, left in middles.items():
        for turned in (False, True):
            for by_b in (False, True) if middle in RESETS else (turned,):
                call = bench.place_call()
                way = call.turned() if turned else call
                middle(way)
                a, b = both(call)
                for side in (a, b):
                    side.allow(*BEFORE)
                ending, other = (b, a) if by_b else (a, b)
                end(ending, other, f"{ending.name} ends the call, {left.format(way.a.name)}")
    bench.fence()


@purpose("PLP-CLR-27")
def test_clear_amid_a_reset(bench: Bench) -> None:
    amid_each(bench, clears, resets_only=True)


@purpose("XOT-TCP-34")
def test_half_close_amid_anything(bench: Bench) -> None:
    amid_each(bench, closes, resets_only=False)


@purpose("XOT-TCP-35")
def test_reset_of_tcp_amid_anything(bench: Bench) -> None:
    amid_each(bench, is_reset, resets_only=False)

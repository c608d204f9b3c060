# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that may still arrive at the called side, though no case waits for them.

What is sent on different connections arrives in any order, and a network may try a call once more
whose connection was lost before it was answered: neither RFC 1613 nor X.25 forbids it. A case says
which Calls those are; wherever the next call of the router is taken, they are dealt with first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from scapy.packet import Packet

from ..judges.template import matches
from .outcomes import ExpectationFailed

if TYPE_CHECKING:
    from .bench import Bench
    from .side import Side


class FurtherCalls:
    """The Calls that a case allows besides, each with what the tester does about it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._allowed: list[tuple[Packet, Callable[[Side], None]]] = []
        self._late: Callable[[Side], None] | None = None

    def allow(self, call: Packet, then: Callable[[Side], None]) -> None:
        """Calls like this one may come; then: what the called side does with each."""
        self._allowed.append((call, then))

    def allow_late(self, then: Callable[[Side], None]) -> None:
        """Any Call may still come at the end of the case; then: what is done with each.

        For stimuli of which Calls may have passed: nothing says that they arrive before a later
        call on another connection does.
        """
        self._late = then

    def take(self, side: Side) -> bool:
        """Whether the first packet of this side is such a Call, which is dealt with then."""
        if not self._allowed:
            return False
        side.wait_until(lambda: bool(side.arrivals.units) or side.connection.end is not None)
        first = side.arrivals.units[0].packet if side.arrivals.units else b""
        for call, then in self._allowed:
            if matches(call, first):
                side.expect(call)
                then(side)
                return True
        return False

    def take_late_ones(self) -> None:
        """At the end of a case: what has come by now and was allowed is no connection too many."""
        while (self._allowed or self._late) and self._bench.listeners.is_called():
            # What it contradicts is judged with all other expectations.
            with contextlib.suppress(ExpectationFailed):
                side = self._bench.listeners.take_called()
                if side is not None and self._late is not None:
                    self._late(side)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that may still arrive at the called side, though no case waits for them.

What is sent on different connections arrives in any order, and a network may try a call once more
whose connection was lost before it was answered: neither RFC 1613 nor X.25 forbids it. A case says
which Calls those are; wherever the next call of the router is taken, they are dealt with first.
"""

from __future__ import annotations

from collections.abc import Callable

from scapy.packet import Packet

from ..judges.template import matches
from .side import Side


class FurtherCalls:
    """The Calls that a case allows besides, each with what the tester does about it."""

    def __init__(self) -> None:
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

    @property
    def expected(self) -> bool:
        """Whether any Call may still come."""
        return bool(self._allowed) or self._late is not None

    def take_late(self, side: Side) -> None:
        """A Call at the end of the case that is not one of those with a reaction of their own."""
        if self._late is not None:
            self._late(side)

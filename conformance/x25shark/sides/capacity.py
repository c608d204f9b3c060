# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the router has room for one more call (X.25 4.1.1, 5.2.4; RFC 1613 6.1).

A router may refuse a Call for want of a logical channel or for congestion, by a Clear or a close
of TCP, where as many calls are up as it takes. What the profile says counts (limits.calls). If it
does not say, a refused Call beside others that are up shows it; one that stands alone never does,
and neither does one that had arrived at B: the router had room for it.
Calls that ended a moment ago count too, as the router may not be done with them: then the tester
tries again, the call or the whole case.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from scapy_x25 import ClearConfirmation, ClearRequest
from scapy_x25.x25 import CALL_ACCEPTED, packet_type

from ..judges.expectation import Expectation
from ..judges.template import decode
from .outcomes import NoChannel, NotApplicable
from .points import Points
from .side import Side

# Network congestion, number busy, and (private networks) gateway congestion.
_CAUSES = (0x05, 0x01, 0xC3)
# A DTE's own causes say nothing; its diagnostics do: no channel, or its own want of resources.
_DTE_CAUSES = (0x00, 0x80)
_DIAGNOSTICS = (71, 64, 163)
# Between two attempts to get a call, while the router may still be clearing others.
PAUSE_SECONDS = 0.05
# However long those took: a busy machine may hold up one attempt for as long as all may take.
LEAST_ATTEMPTS = 3
# Connections with nothing more to do that a case leaves open, where the profile gives no limit.
IDLE_CONNECTIONS = 32
# Times at which calls ended, over the cases of a run.
MOST_ENDED = 5000

# When a call was over (monotonic time), and whether the tester had opened its connection.
Ended = deque[tuple[float, bool]]
Got = TypeVar("Got")


class Capacity:
    """Keeps account of the calls that a case has up.

    A connection counts as a call from when it was opened, or accepted, until its call is cleared at
    that end or the connection has ended. ended: the calls of cases before this one, which go on
    counting for a moment.
    """

    def __init__(self, points: Points, ended: Ended | None = None) -> None:
        self._points = points
        self._context = points.context
        self._opened: list[Side] = []
        self._there: list[Side] = []
        self._accepted: list[Side] = []
        self._ended: Ended = deque(maxlen=MOST_ENDED) if ended is None else ended
        self._over: set[Side] = set()

    def opened(self, side: Side) -> None:
        """The tester opened this connection, or channel."""
        self._opened.append(side)
        self._there.append(side)

    def accepted(self, side: Side) -> None:
        """The router did."""
        self._accepted.append(side)

    def forget(self, side: Side) -> None:
        """The router has to be done with the call of this side, whatever the side shows."""
        self._drop(side)

    def _drop(self, side: Side) -> None:
        self._opened.remove(side)
        if side in self._there:
            self._there.remove(side)

    def in_the_end(self, attempt: Callable[[], Got]) -> Got:
        """What the attempt gives, as soon as the router is done with calls that have ended.

        It has as long for that as a reaction may take. After that a refusal is none that it may
        give.
        """
        last = time.monotonic() + self._context.reaction_limit
        attempts = 0
        while True:
            attempts += 1
            try:
                return attempt()
            except NoChannel as full:
                if not full.passing:
                    raise
                if attempts >= LEAST_ATTEMPTS and time.monotonic() > last:
                    break
                if not self.give_room():
                    self._context.loop.wait(lambda: False, PAUSE_SECONDS)
        self.note_ended()
        self._ended.clear()
        return attempt()

    def give_room(self) -> bool:
        """Close connections that the router has closed, and let it see that: it may count one until
        both ends have. Returns whether there were any.
        """
        ended = [
            side
            for side in (*self._opened, *self._accepted)
            if side.connection.end is not None and not side.connection.closed
        ]
        for side in ended:
            side.close()
        if ended:
            self._context.loop.wait(lambda: False, PAUSE_SECONDS)
        return bool(ended)

    def up(self, *, but: Side | None = None) -> int:
        """Calls that may be up at the router, one side of the tester left out."""
        there = sum(_busy(side) for side in self._opened if side is not but)
        return max(there, sum(_busy(side) for side in self._accepted))

    def give_back(self) -> None:
        """Before another connection is opened: close one whose call is over, if there are many.

        A router may count connections as it counts calls.
        """
        most = self._context.profile.limits.calls or IDLE_CONNECTIONS
        if len(self._there) < most:
            return
        # One that has ended never comes back; a case may open thousands.
        there = self._there = [side for side in self._there if not _ended(side)]
        if len(there) >= most:
            for side in [side for side in there if side.phase == "cleared"][
                : len(there) - most + 1
            ]:
                side.close()

    def refused(self) -> Side | None:
        """The side that called last, if the router has refused that Call for want of room.

        Others may have been turned down for what the case did with them.
        """
        calling = [side for side in self._opened if side.unanswered_call is not None]
        # A line without a link lets no Call out.
        if not calling or not calling[-1].connection.sent:
            return None
        if not _turned_down(calling[-1], dte=self._context.declared("R-DTE")):
            return None
        if self._arrived_at_b(calling[-1]):
            return None
        return calling[-1] if self._may_refuse(calling[-1]) else None

    def refuse(self, side: Side) -> None:
        """End the case, or the attempt, because of such a refusal. Raises; see excuse()."""
        self._drop(side)
        side.allow(ClearRequest(), ClearConfirmation())
        if not _ended(side):
            side.send(ClearConfirmation())
            side.close()
        self.excuse()

    def turned_away(self, side: Side, expectation: Expectation) -> None:
        """An expectation of that side is not met: it does not count if its Call was refused so."""
        if self.refused() is side:
            stated = self._context.expectations
            stated[:] = [one for one in stated if one is not expectation]
            self.refuse(side)

    def excuse(self) -> None:
        """Raises NoChannel or NotApplicable if one more call, or connection, may be refused."""
        up, limit = self.up(), self._context.profile.limits.calls
        if limit is not None and up >= limit:
            raise NotApplicable(
                f"{up + 1} calls at a time; the router takes {limit} (limits.calls)"
            )
        if self._may_refuse(None):
            raise NoChannel(
                f"the router refused a call while {up} were up; limits.calls in the profile says "
                "how many it takes",
                passing=limit is not None or not up,
            )

    def _arrived_at_b(self, side: Side) -> bool:
        """Whether the Call that this side sent last has been passed on to the called side."""
        call = side.connection.sent[-1]
        mine = decode(call.packet).fields.get("user_data")
        accepted = [unit for one in self._accepted for unit in one.arrivals.units[:1]]
        for first in (*accepted, *self._points.waiting_calls()):
            other = decode(first.packet).fields.get("user_data")
            if mine == other if mine else first.time >= call.time:
                return True
        return False

    def _may_refuse(self, side: Side | None) -> bool:
        limit = self._context.profile.limits.calls
        return self.up(but=side) + self._just_ended() >= (1 if limit is None else limit)

    def note_ended(self) -> None:
        """Note which calls have ended since it was asked last."""
        for side in (*self._opened, *self._accepted):
            if side not in self._over and not _busy(side) and _was_connected(side):
                self._over.add(side)
                self._ended.append((time.monotonic(), side in self._opened))

    def _just_ended(self) -> int:
        """Calls that ended within the time that a reaction may take, at either end."""
        self.note_ended()
        since = time.monotonic() - self._context.reaction_limit
        while self._ended and self._ended[0][0] < since:
            self._ended.popleft()
        opened = sum(opened for _, opened in self._ended)
        return max(opened, len(self._ended) - opened)


def _ended(side: Side) -> bool:
    return side.connection.closed or side.connection.end is not None


def _busy(side: Side) -> bool:
    return side.phase != "cleared" and not _ended(side)


def _was_connected(side: Side) -> bool:
    """Whether a call came about on this connection; one that was refused took no room."""
    units = itertools.chain(side.connection.received, side.connection.sent)
    return any(packet_type(unit.packet) == CALL_ACCEPTED for unit in units)


def _turned_down(side: Side, *, dte: bool) -> bool:
    """Whether the first that came for the Call of a side is a refusal, which no case looked at."""
    start = side.unanswered_call
    if start is None or side.allowed or side.cursor > start:
        return False
    if side.connection.end is None and side.phase != "being cleared":
        return False
    units = [unit for unit in side.connection.received if unit.offset >= start]
    if not units:
        return side.connection.end is not None
    packet = decode(units[0].packet)
    if not isinstance(packet, ClearRequest):
        return False
    cause, diagnostic = packet.fields.get("cause"), packet.fields.get("diagnostic")
    return cause in _CAUSES or (dte and cause in _DTE_CAUSES and diagnostic in _DIAGNOSTICS)

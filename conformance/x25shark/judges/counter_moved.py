# SPDX-License-Identifier: GPL-2.0-or-later
"""The expectation that a counter moved by what the capture shows.

The reading comes from the router; what it must be comes from the packets, counted by either judge
on its own. A case asks for it by counting() in suite/counting.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scapy.packet import Packet

from ..counters.names import NO_COUNTER, NOT_COUNTED, RIGHT, WRONG_COUNTER, WRONG_NUMBER
from ..counters.pages import moved
from ..results import CounterReading
from .counter_events import Circuits, Cut, Definition
from .expectation import Consumed, Expectation, Judge, Seen


@dataclass
class CounterMoved(Expectation):
    """A counter moved by the number of its events in the capture.

    before, after: the readings, None where the page has no such counter. instead: other counters
    that moved without a reason. perhaps: what the profile does not map and moved by as much as is
    missing.
    """

    name: str = ""
    interface: str = "router"
    path: str = ""
    definition: Definition = field(default_factory=Circuits)
    cuts: tuple[Cut, ...] = ()
    before: int | None = None
    after: int | None = None
    instead: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return f"counter {self.name} to move as the capture shows"

    def templates(self) -> tuple[Packet, ...]:
        return self.definition.templates

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        shown = self.definition.total(self.cuts, judge)
        result = self.result(shown)
        return Seen(result == RIGHT, None, self._words(result, shown), count=shown)

    def result(self, shown: int) -> str:
        """What becomes of the reading (names.py), for the number that the capture shows."""
        if self.after is None and self.before is None and shown:
            return NO_COUNTER
        # What is not there is 0: before the first event, or as long as nothing is up.
        step = moved(self.before or 0, self.after or 0, shown)
        if shown <= step <= shown * self.definition.most or step == shown:
            return RIGHT
        if self.instead:
            return WRONG_COUNTER
        return WRONG_NUMBER if step else NOT_COUNTED

    def _words(self, result: str, shown: int) -> str:
        step = moved(self.before or 0, self.after or 0, shown)
        words = f"{result}: {self.path} moved by {step}, the capture shows {shown}"
        if result == NO_COUNTER:
            words = f"{result} as {self.path}; the capture shows {shown}"
        if result == RIGHT:
            words = f"moved by {step}, as the capture shows"
        words += f"; moved instead: {', '.join(self.instead)}" if self.instead else ""
        return words + (f"; perhaps counted as {', '.join(self.perhaps)}" if self.perhaps else "")

    def counter(self, two: Seen) -> CounterReading:
        shown = two.count or 0
        return CounterReading(
            name=self.name,
            interface=self.interface,
            path=self.path,
            before=self.before,
            after=self.after,
            shown=shown,
            result=self.result(shown),
            moved_instead=list(self.instead),
        )

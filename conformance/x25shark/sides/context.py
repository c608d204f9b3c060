# SPDX-License-Identifier: GPL-2.0-or-later
"""What all parts of a case see of it: the profile, the expectations so far, and judge one."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from scapy.packet import Packet

from ..catalogue import Purpose
from ..judges.expectation import Direction, Expectation, Next, Seen
from ..judges.tester import Received, TesterJudge
from ..links.carrier import Carrier, End
from ..links.loop import Loop, Overdue
from ..profile import Profile
from .answers import Answers
from .arrivals import Arrivals
from .far_end import FarEnd
from .outcomes import ExpectationFailed, Inconclusive


class Sender(Protocol):
    """A side that has sent something."""

    name: str
    arrivals: Arrivals

    @property
    def connection(self) -> Carrier:
        """Where it sends."""

    @property
    def direction(self) -> Direction:
        """From the router to it."""


class Context(Answers):
    """What a side sees of its case, in place of all that a case works with (bench.py)."""

    def __init__(
        self, profile: Profile, purpose: Purpose, loop: Loop, number: int, seed: int
    ) -> None:
        super().__init__(profile, purpose)
        self.loop = loop
        self.number = number
        self.seed = seed
        self.random = random.Random(f"{seed}/{purpose.id}")
        self.far_end = FarEnd(self)
        self.expectations: list[Expectation] = []
        self.remarks: list[str] = []
        self.received: dict[Direction, Received] = {}
        self.accepted: dict[End, list[Direction]] = {}
        self.last_sender: Sender | None = None
        # Where a TCP connection was ended since it has sent, and how ("FIN", "RST").
        self.tcp_ended: tuple[str, str] | None = None
        self.last_call: Packet | None = None
        # Whether addresses and ports of a connection were those of an earlier one of this case.
        self.same_ends = False
        self.in_preamble = False
        # Nobody waits for the rest of a packet that came in part: once it did not follow.
        self.left_amid_a_unit = False
        #: Judge one over everything that came in this case.
        self.judge_one = TesterJudge(self.received, self.accepted)

    @contextmanager
    def preamble(self) -> Iterator[None]:
        """Expectations within are not what the case is about: their failure is INCONCLUSIVE."""
        before = self.in_preamble
        self.in_preamble = True
        try:
            yield
        except ExpectationFailed as failed:
            raise Inconclusive(f"the preamble failed: {failed}") from failed
        finally:
            self.in_preamble = before

    def state(self, expectation: Expectation) -> None:
        """Add an expectation to those that are judged."""
        side = self.last_sender
        if side is not None and (side.connection.sent or side.connection.sent_in_part):
            back = Direction(side.direction.destination, side.direction.source)
            last = side.connection.sent[-1] if side.connection.sent else None
            begun = last.end if last is not None else 0
            whole = last is not None and not side.connection.sent_in_part
            expectation.stimulus = (back, last.offset if last is not None and whole else begun)
        expectation.tcp_ended = self.tcp_ended
        self.expectations.append(expectation)

    def sends(self, side: Sender) -> None:
        """This side sends something now."""
        self.last_sender, self.tcp_ended = side, None

    def judge(self, expectation: Expectation) -> Seen:
        """What judge one says of an expectation at this moment."""
        return expectation.evaluate(self.judge_one, set())

    def no_call_came(
        self, template: Packet, at: str, clause: str | None = None, note: str = ""
    ) -> ExpectationFailed:
        """The failure of an expectation for which there is not even a connection."""
        missing = Next(
            at.upper(),
            self.clause(clause),
            None,
            alternatives=(template,),
            preamble=self.in_preamble,
            note=note,
            on_line=at in self.profile.line.by_side(),
        )
        self.state(missing)
        return ExpectationFailed(missing, self.judge(missing))

    @contextmanager
    def undecided(self, expectation: Expectation) -> Iterator[None]:
        """While this is waited for: where the time of the case ends first, nobody judges it."""
        try:
            yield
        except Overdue:
            self.expectations[:] = [one for one in self.expectations if one is not expectation]
            raise

    def wait_noting_lateness(
        self, condition: Callable[[], bool], seconds: float, expectation: Expectation
    ) -> None:
        """Wait; a reaction between TR and twice TR is a remark."""
        started = time.monotonic()
        lag = self.loop.lag
        self.loop.wait(condition, seconds, patient=True)
        took = time.monotonic() - started - (self.loop.lag - lag)
        if took > self.profile.times.reaction and condition() and seconds == self.reaction_limit:
            self.remark(f"late by {took:.1f} s: {expectation.text}")

    def remark(self, text: str) -> None:
        """Something to know that is not a reason to fail."""
        if text not in self.remarks:
            self.remarks.append(text)

# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a run and each of its cases may take.

No right router comes near these bounds; they are there for one that answers after every time-out,
or an octet at a time, and would keep a run for days. The cases that are left when the time of a run
is over are NOT RUN, and say so; a case that uses up its own time could not be judged.

A router that leaves case after case unanswered uses up the patience of a run long before, and so
does one whose packets come in small pieces. Then each case has a moment: what is decided in it
counts as ever, and what is not is INCONCLUSIVE. A router whose answers are whole takes nothing from
the patience with a case that passes, however slow it is; and what it took to answer in time is not
time of a case that is over.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass

from ..catalogue import Purpose, catalogue
from ..profile import Profile
from ..suite.costs import seconds
from ..verdicts import Verdict
from .plan import in_words

# A router may be so many times slower than the embedded one, as costs were measured with it.
_TIMES_SLOWER = 50
# Missing reactions that a case waits for in a row; and how many on an average of all.
_REACTIONS_OF_A_CASE, _REACTIONS_ON_AVERAGE = 60, 12
_LEAST_OF_A_CASE, _LEAST_OF_A_RUN = 120.0, 3600.0
_LATENESS_OF_A_TIMER = 1.25
# Slow cases wait for timers of the protocol, minutes each, several times.
_SLOW_CASE, _SLOW_ON_AVERAGE = 3600.0, 900.0
# Missing reactions that the cases of a run may wait for, or the share of the time that a user gave.
_REACTIONS_IN_VAIN, _SHARE_IN_VAIN = 120, 0.5
_LEAST_IN_VAIN = 120.0
# Answers that come in time may take so many times the time of a case, on top of it.
_TIMES_FOR_ANSWERS = 10
# A moment: a share of a reaction, and what the case costs as often.
_SHARE_OF_A_REACTION, _TIMES_A_MOMENT = 0.2, 4

BEHIND_ANOTHER = (
    "the time of a case just before was over before it was done, and what came may be for that one"
)


def of_case(purpose: Purpose, profile: Profile) -> float:
    """Seconds that one case may take."""
    times = profile.times
    # A router may wait for the other side until its timer has run out, or has run out once more.
    timers = max(times.t11, times.t21, 2 * times.t12, 2 * times.t13)
    if profile.has_dte_line:
        timers = max(timers, 2 * times.t23)
    waits = max(
        _LEAST_OF_A_CASE, _REACTIONS_OF_A_CASE * times.reaction, _LATENESS_OF_A_TIMER * timers
    )
    slow = _SLOW_CASE if purpose.slow else 0.0
    return waits + _TIMES_SLOWER * seconds(purpose.id) + slow


def of_run(cases: Iterable[str], profile: Profile) -> float:
    """Seconds in which a run of these cases is usually done, if the router is slow."""
    total = _LEAST_OF_A_RUN
    for case in cases:
        slow = _SLOW_ON_AVERAGE if catalogue().purposes[case].slow else 0.0
        total += _TIMES_SLOWER / 5 * seconds(case) + slow
        total += _REACTIONS_ON_AVERAGE * profile.times.reaction
    return total


@dataclass(frozen=True)
class Time:
    """Seconds that a run may take. at_most: no further case begins then. usual: each case has a
    moment then, and so it has when the router has kept cases waiting for that long."""

    at_most: float = math.inf
    usual: float = math.inf
    in_vain: float = math.inf


ANY_TIME = Time()


def time_of_run(cases: Iterable[str], profile: Profile, given: float | None) -> Time:
    """given: what the user gave it; 0: any, None: nothing was said."""
    if given == 0:
        return ANY_TIME
    in_vain = max(_LEAST_IN_VAIN, _REACTIONS_IN_VAIN * profile.times.reaction)
    if given is None:
        return Time(usual=of_run(cases, profile), in_vain=in_vain)
    return Time(at_most=given, in_vain=max(in_vain, _SHARE_IN_VAIN * given))


def _moment(purpose: Purpose, profile: Profile) -> float:
    """Seconds of a case when the patience of the run is used up."""
    return _SHARE_OF_A_REACTION * profile.times.reaction + _TIMES_A_MOMENT * seconds(purpose.id)


class Bounds:
    """The time of a run, from now on, and of its cases.

    A run that may take any time has cases without a bound.
    """

    def __init__(self, profile: Profile, length: Time) -> None:
        self._profile = profile
        self._length = length
        self._began = time.monotonic()
        self._in_vain, self._cases_in_vain = 0.0, 0

    def _left(self) -> float:
        return self._began + self._length.at_most - time.monotonic()

    def over(self) -> str:
        """Why no further case runs; "": one may."""
        if self._left() > 0:
            return ""
        return f"the run had {in_words(self._length.at_most)}, and they are over (--deadline)"

    def took_in_vain(self, purpose: Purpose, length: float) -> None:
        """So long a case took without an outcome, or packets came in part."""
        if not purpose.slow and not self.why_a_moment:
            self._in_vain += length
            self._cases_in_vain += length > 0

    @property
    def why_a_moment(self) -> str:
        """Why each case has a moment only; "": it has its whole time."""
        if self._in_vain >= self._length.in_vain:
            waited = in_words(self._in_vain)
            return (
                f"the router had kept {self._cases_in_vain} cases waiting, {waited} in all, for "
                "packets that it did not send, or sent in part"
            )
        if time.monotonic() >= self._began + self._length.usual:
            return f"the run had already taken {in_words(self._length.usual)}"
        return ""

    def of_case(self, purpose: Purpose) -> float | None:
        """Seconds that a case which begins now may take; None: any."""
        if self._length == ANY_TIME:
            return None
        return min(self._longest(purpose), max(self._left(), 0.0))

    def for_answers(self, purpose: Purpose) -> float:
        """Seconds on top of of_case() that answers may take, each of them in time."""
        if self._length == ANY_TIME or self.why_a_moment:
            return 0.0
        most = _TIMES_FOR_ANSWERS * of_case(purpose, self._profile)
        return max(min(most, self._left() - self._longest(purpose)), 0.0)

    def _longest(self, purpose: Purpose) -> float:
        """As of_case(), if the run had no end; the sanity call always has its whole time."""
        usual = of_case(purpose, self._profile)
        if purpose.slow or purpose.id not in catalogue().purposes:
            return usual
        moment = _moment(purpose, self._profile)
        if self.why_a_moment:
            return min(usual, moment)
        return min(usual, max(moment, self._length.in_vain - self._in_vain))

    def overdue(self, took: float) -> tuple[Verdict, str]:
        """What becomes of a case that took so long, and was not done."""
        if why := self.over():
            return Verdict.NOT_RUN, why
        if why := self.why_a_moment:
            return Verdict.INCONCLUSIVE, (
                f"the case had a moment only and was not done: {why} "
                "(a longer --deadline gives cases more)"
            )
        return Verdict.INCONCLUSIVE, (
            f"the case was not done after {in_words(took)}: the router answers "
            "too late, or too little at a time"
        )

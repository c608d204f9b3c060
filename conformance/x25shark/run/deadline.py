# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a run and each of its cases may take.

No right router comes near these bounds; they are there for one that answers after every time-out,
or an octet at a time, and would keep a run for days. The cases that are left when the time of a run
is over are NOT RUN, and say so; a case that uses up its own time could not be judged.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

from ..catalogue import Purpose, catalogue
from ..profile import Profile
from ..suite.costs import seconds
from ..verdicts import Verdict
from .plan import in_words

# A router may be so many times slower than the embedded one, as costs were measured with it.
_TIMES_SLOWER = 50
# Reactions that a case waits for in vain one after the other; and how many on an average of all.
_REACTIONS_OF_A_CASE, _REACTIONS_ON_AVERAGE = 60, 4
_LEAST_OF_A_CASE, _LEAST_OF_A_RUN = 120.0, 300.0
# Slow cases wait for timers of the protocol, minutes each, several times.
_SLOW_CASE, _SLOW_ON_AVERAGE = 3600.0, 900.0


def of_case(purpose: Purpose, profile: Profile) -> float:
    """Seconds that one case may take."""
    waits = max(_LEAST_OF_A_CASE, _REACTIONS_OF_A_CASE * profile.times.reaction)
    slow = _SLOW_CASE if purpose.slow else 0.0
    return waits + _TIMES_SLOWER * seconds(purpose.id) + slow


def of_run(cases: Iterable[str], profile: Profile) -> float:
    """Seconds that a run of these cases may take, unless the user names others."""
    total = _LEAST_OF_A_RUN
    for case in cases:
        slow = _SLOW_ON_AVERAGE if catalogue().purposes[case].slow else 0.0
        total += _TIMES_SLOWER / 5 * seconds(case) + slow
        total += _REACTIONS_ON_AVERAGE * profile.times.reaction
    return total


class Bounds:
    """The time of a run, from now on, and of its cases; length None: any.

    A run that has no bound has cases without one.
    """

    def __init__(self, profile: Profile, length: float | None) -> None:
        self._profile = profile
        self._length = length
        self._began = time.monotonic()

    def _left(self) -> float:
        return math.inf if self._length is None else self._began + self._length - time.monotonic()

    def over(self) -> str:
        """Why no further case runs; "": one may."""
        if self._length is None or self._left() > 0:
            return ""
        return f"the run had {in_words(self._length)}, and they are over (--deadline)"

    def of_case(self, purpose: Purpose) -> float | None:
        """Seconds that a case which begins now may take; None: any."""
        if self._length is None:
            return None
        return min(of_case(purpose, self._profile), max(self._left(), 0.0))

    def overdue(self, purpose: Purpose) -> tuple[Verdict, str]:
        """What becomes of a case that took longer."""
        if why := self.over():
            return Verdict.NOT_RUN, why
        longest = in_words(of_case(purpose, self._profile))
        return Verdict.INCONCLUSIVE, (
            f"the case was not done after {longest}: the router answers too late, or too little at "
            "a time"
        )

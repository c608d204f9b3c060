# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run is going to do, before it begins: which cases run, which not, and what that takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..catalogue import catalogue
from ..profile import Profile
from ..suite.costs import seconds


@dataclass(frozen=True)
class Plan:
    """left_out: why, by case. repeat: how often each case runs. timer: seconds of the router's
    longest one, for which slow cases wait."""

    cases: tuple[str, ...]
    left_out: dict[str, str]
    repeat: int = 1
    timer: float = 0.0

    @property
    def running(self) -> tuple[str, ...]:
        """The cases that run."""
        return tuple(case for case in self.cases if case not in self.left_out)

    @property
    def seconds(self) -> float:
        """What they take, about."""
        return self.repeat * sum(map(self.seconds_of, self.running))

    def seconds_of(self, case: str) -> float:
        """What one of them takes, about."""
        return seconds(case) + (self.timer if catalogue().purposes[case].slow else 0.0)

    def summary(self) -> str:
        """The plan in one line."""
        runs = len(self.running)
        of = f" of {len(self.cases)}" if self.left_out else ""
        return f"{runs}{of} case{'s' if len(self.cases) != 1 else ''} to run, about {self.time}"

    @property
    def time(self) -> str:
        """The seconds in words."""
        return in_words(self.seconds)

    def described(self) -> list[str]:
        """A line for each case."""
        longest = max(map(len, self.cases), default=0)
        return [
            f"{case:{longest}} {'-':>6}  {why}"
            if (why := self.left_out.get(case))
            else f"{case:{longest}} {self.seconds_of(case):5.1f}s  "
            f"{catalogue().purposes[case].purpose}"
            for case in self.cases
        ]


def in_words(length: float) -> str:
    """Seconds as somebody would say them."""
    return f"{max(length, 1):.0f} s" if length < 100 else f"{length / 60:.0f} min"


def make(profile: Profile, cases: Sequence[str], *, slow: bool, repeat: int = 1) -> Plan:
    """The plan of a run of these cases."""
    left_out = {}
    for case in cases:
        purpose = catalogue().purposes[case]
        why = purpose.unmet(profile.configurations, profile.declared, profile.has)
        if why is None and purpose.slow and not slow:
            why = "slow; runs with --slow"
        if why is not None:
            left_out[case] = why
    times = profile.times
    longest = max(times.t10, times.t11, times.t12, times.t13, times.t21)
    if profile.has_dte_line:
        longest = max(longest, times.t23)
    return Plan(tuple(cases), left_out, repeat, longest)

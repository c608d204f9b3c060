# SPDX-License-Identifier: GPL-2.0-or-later
"""Races: two things that have to happen at the same time, tried again and again with a seed.

Each try leaves another pause between the two, the first tries none. Whether they crossed shows at
the tester alone: the second was sent before anything of the first had come back to that side. A
case is INCONCLUSIVE if no try got there.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

Serve = Callable[[], None]
# Pauses are below this; a router on the same machine answers in a tenth of it.
LONGEST_PAUSE = 0.001
# What is slower (a router that gathers what it sends, a network) is given more: where so many
# tries with pauses got nowhere the bound doubles in each, up to this.
TRIES_BEFORE_MORE = 7
LONGEST_PAUSE_OF_ALL = 0.25


class Race:
    """So many tries of one race. Iterate over it; call reached() in each try that got there."""

    def __init__(
        self, what: str, tries: int, at_once: int, seed: int, chance: random.Random, serve: Serve
    ) -> None:
        self.what = what
        self.seed = seed
        self.tried = 0
        self.times = 0
        self._tries = tries
        self._at_once = at_once
        self._chance = chance
        self._serve = serve

    def __iter__(self) -> Iterator[int]:
        for number in range(self._tries):
            self.tried += 1
            yield number

    def reached(self, happened: bool = True) -> None:
        """In this try the two things crossed, if happened is true."""
        self.times += happened

    def pause(self) -> None:
        """Between the one and the other: serve the connections for a moment, or go on at once."""
        if self.tried <= self._at_once:
            return
        until = time.perf_counter() + self.longest_pause * self._chance.random()
        self._serve()
        while time.perf_counter() < until:
            self._serve()

    @property
    def longest_pause(self) -> float:
        """Seconds that no pause of this try is longer than."""
        in_vain = 0 if self.times else self.tried - self._at_once - 1 - TRIES_BEFORE_MORE
        return min(LONGEST_PAUSE * 2.0 ** min(max(in_vain, 0), 16), LONGEST_PAUSE_OF_ALL)

    def coin(self) -> bool:
        """One of two ways, by the seed."""
        return self._chance.random() < 0.5

    @property
    def text(self) -> str:
        """The outcome in words, with the seed that repeats the pauses."""
        return f"{self.what} in {self.times} of {self.tried} tries (seed {self.seed})"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Races: the seed repeats them, and what was never reached is inconclusive."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import cast

import pytest
from x25shark.sides.bench import Bench
from x25shark.sides.outcomes import Inconclusive
from x25shark.sides.race import LONGEST_PAUSE, LONGEST_PAUSE_OF_ALL, Race


def race(seed: int = 7, at_once: int = 2) -> Race:
    return Race("clears collided", 8, at_once, seed, random.Random(seed), lambda: None)


def bench_of(*races: Race) -> Bench:
    return cast(Bench, SimpleNamespace(races=list(races)))


def test_outcome_in_words() -> None:
    tried = race()
    for number in tried:
        tried.reached(number % 3 == 0)
    assert tried.text == "clears collided in 3 of 8 tries (seed 7)"
    Bench.settle_races(bench_of(tried))


def test_never_reached_is_inconclusive() -> None:
    tried = race()
    for _ in tried:
        tried.reached(False)
    with pytest.raises(Inconclusive, match="in 0 of 8 tries"):
        Bench.settle_races(bench_of(race(), tried))


def test_first_tries_leave_no_pause_and_the_seed_repeats_the_others() -> None:
    def play(seed: int) -> list[tuple[bool, bool]]:
        served: list[bool] = []
        played = Race("", 40, 10, seed, random.Random(seed), lambda: served.append(True))
        seen = []
        for _ in played:
            served.clear()
            coin = played.coin()
            played.pause()
            played.reached()
            seen.append((coin, bool(served)))
        return seen

    assert play(1) == play(1)
    assert [coin for coin, _ in play(1)] != [coin for coin, _ in play(2)]
    assert not any(paused for _, paused in play(1)[:10])
    assert all(paused for _, paused in play(1)[10:])


def test_pauses_grow_until_a_try_gets_there() -> None:
    tried = Race("", 40, 2, 7, random.Random(7), lambda: None)
    longest = []
    for number in tried:
        longest.append(tried.longest_pause)
        tried.reached(number == 14)
    assert longest[2:10] == [LONGEST_PAUSE] * 8
    assert longest[10:15] == [LONGEST_PAUSE * 2**more for more in range(1, 6)]
    assert set(longest[15:]) == {LONGEST_PAUSE}


def test_pauses_are_bounded() -> None:
    tried = Race("", 100, 0, 7, random.Random(7), lambda: None)
    assert max(tried.longest_pause for _ in tried) == LONGEST_PAUSE_OF_ALL

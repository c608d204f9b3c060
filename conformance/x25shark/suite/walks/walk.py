# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps are drawn, and made."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from ..language import Bench
from . import beginning, ending, flowing, wrong
from .alphabet import ACTIONS, ERRORS, WEIGHTS, Step
from .circuit import Circuit

assert beginning and ending and flowing and wrong  # each adds its actions

#: What the weight of an action is multiplied by in one walk.
LIKINGS = (0.2, 1.0, 1.0, 3.0)
#: What is done several times one behind the other: actions, each by a side or by the other one.
HABITS: tuple[list[tuple[str, int]], ...] = (
    [("not-ready", 0), ("message", 1), ("ready", 0)],
    [("withhold", 0), ("message", 1), ("message", 1), ("release", 0)],
    [("withhold", 0), ("message", 0), ("interrupt", 1), ("release", 0)],
    [("interrupt", 0), ("confirm", 1)],
    [("interrupt", 0), ("reset", 1)],
    [("interrupt", 0), ("resets-collide", 1)],
    [("message", 0), ("message", 1)],
    [("begin", 0), ("interrupt", 1), ("message", 0)],
    [("begin", 0), ("reset", 1)],
    [("place", 0), ("clear", 1)],
    [("place", 0), ("clear", 0), ("again", 0)],
    [("place", 0), ("hang-up", 1)],
    [("place-fast", 0), ("message", 1), ("clear", 1)],
    [("reset", 0)],
)
#: Of walks with errors, besides: the router's own reset while something is open.
HABITS_WITH_ERRORS: tuple[list[tuple[str, int]], ...] = tuple(
    [*open_things, (error, side)]
    for error in ("wrong-p(s)", "wrong-p(r)", "undefined", "wrong-length")
    for side, open_things in (
        (0, [("interrupt", 0)]),
        (1, [("interrupt", 0)]),
        (0, [("begin", 0), ("begin", 1)]),
        (1, [("withhold", 0), ("message", 1)]),
        (0, [("not-ready", 0), ("message", 1)]),
    )
)
#: How often such a habit is drawn in place of an action.
OF_HABIT = 0.1


def step_of(text: str) -> Step:
    """A step as it was printed: "reset 0a 17". Raises ValueError."""
    action, place, number = text.split()
    if action not in ACTIONS or place[-1:] not in "ab":
        raise ValueError(f"{text!r} is not a step")
    return Step(action, int(place[:-1]), "ab".index(place[-1:]), int(number))


class Walk:
    """Walks; the steps that were made and the states they were made in are kept."""

    def __init__(self, bench: Bench, circuits: int) -> None:
        self.bench = bench
        self.circuits = [Circuit() for _ in range(circuits)]
        self.made: list[Step] = []
        self.coverage: Counter[tuple[str, str, int]] = Counter()

    def go(self, steps: Sequence[Step]) -> None:
        """Make the steps; at the end bring every call to an orderly end."""
        try:
            for step in steps:
                circuit = self.circuits[step.circuit % len(self.circuits)]
                state = circuit.state(step.side)
                self.made.append(step)
                if ACTIONS[step.action](self.bench, circuit, step):
                    self.coverage[state, step.action, step.side] += 1
                else:
                    self.made.pop()
            if not self.made:
                # None could be made without a call. With one there is something to judge.
                ACTIONS["place"](self.bench, self.circuits[0], Step("place", 0, 0, 0))
            for number, circuit in enumerate(self.circuits):
                self._tidy(number, circuit)
        finally:
            self.bench.remark("steps: " + "; ".join(map(str, self.made)))

    def _tidy(self, number: int, circuit: Circuit) -> None:
        for action in ("ready", "release", "confirm"):
            for side in (0, 1):
                ACTIONS[action](self.bench, circuit, Step(action, number, side, 0))
        if circuit.call is not None:
            for side in (0, 1):
                if circuit.ends(side)[0] in circuit.begun:
                    ACTIONS["message"](self.bench, circuit, Step("message", number, side, 0))
            circuit.call.fence()
            circuit.call.fence_back()
            ACTIONS["clear"](self.bench, circuit, Step("clear", number, 0, 0))


def drawn(count: int, circuits: int, seed: str, *, errors: bool) -> list[Step]:
    """So many steps, drawn by a seed.

    Each walk has its own likings: what all walks did as often as each other would hardly ever be
    done three times in one call. The fewer circuits, the longer each call.
    """
    chance = random.Random(seed)
    known = [a for a in WEIGHTS if errors or a not in ERRORS]
    liking = {a: 1.0 if a == "place" else chance.choice(LIKINGS) for a in known}
    weights = [WEIGHTS[a] * liking[a] for a in known]
    circuits = chance.randint(1, circuits)
    steps: list[Step] = []
    while len(steps) < count:
        circuit, side = chance.randrange(circuits), chance.randrange(2)
        habit = [(chance.choices(known, weights)[0], 0)]
        times = 1
        if chance.random() < OF_HABIT:
            habits = HABITS_WITH_ERRORS if errors and chance.random() < 0.5 else HABITS
            habit, times = chance.choice(habits), chance.choice((2, 3, 4))
        steps += [
            Step(action, circuit, side ^ other, chance.randrange(256))
            for _ in range(times)
            for action, other in habit
        ]
    return steps[:count]

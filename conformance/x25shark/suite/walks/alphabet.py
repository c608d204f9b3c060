# SPDX-License-Identifier: GPL-2.0-or-later
"""What a step of a walk is, and the actions that there are."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from ..language import Bench
from .circuit import Circuit


class Step(NamedTuple):
    """One step: what, on which circuit, from which side (0 calls, 1 is called), and a number that
    decides its values."""

    action: str
    circuit: int
    side: int
    number: int

    def __str__(self) -> str:
        return f"{self.action} {self.circuit}{'ab'[self.side]} {self.number}"

    @property
    def chance(self) -> random.Random:
        """What draws the values of this step: the same ones each time."""
        return random.Random(f"{self.action} {self.number}")


# Whether the step could be made.
Action = Callable[[Bench, Circuit, Step], bool]

ACTIONS: dict[str, Action] = {}
#: How often each action is drawn.
WEIGHTS: dict[str, float] = {}
#: Those in which the tester breaks the rules.
ERRORS: set[str] = set()


def action(name: str, weight: float, *, error: bool = False) -> Callable[[Action], Action]:
    """Mark a function as what a step of that name does."""

    def mark(function: Action) -> Action:
        ACTIONS[name] = function
        WEIGHTS[name] = weight
        if error:
            ERRORS.add(name)
        return function

    return mark

# SPDX-License-Identifier: GPL-2.0-or-later
"""Short random walks, drawn by the seed of the run; `x25shark walk` makes long ones."""

from __future__ import annotations

from .language import Bench, purpose
from .many import at_a_time
from .walks.walk import Walk, drawn

# So many walks of so many steps: each has its own likings.
WALKS = 4
STEPS = 150
CIRCUITS = 3


def walk(bench: Bench, name: str, *, errors: bool) -> None:
    bench.remark(f"seed {bench.seed}")
    circuits = at_a_time(bench, CIRCUITS, spare=1)
    for number in range(WALKS):
        steps = drawn(STEPS, circuits, f"{bench.seed}/{name}/{number}", errors=errors)
        Walk(bench, circuits).go(steps)


@purpose("SYS-WALK-01")
def test_walk_of_legal_steps(bench: Bench) -> None:
    walk(bench, "legal", errors=False)


@purpose("SYS-WALK-02")
def test_walk_with_errors(bench: Bench) -> None:
    walk(bench, "errors", errors=True)

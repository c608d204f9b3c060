# SPDX-License-Identifier: GPL-2.0-or-later
"""Short random walks on links, drawn by the seed of the run."""

from __future__ import annotations

from .language import Bench, purpose
from .link_walks.walk import LinkWalk, drawn

STEPS = 220


def walk(bench: Bench, name: str, *, errors: bool) -> None:
    bench.remark(f"seed {bench.seed}")
    LinkWalk(bench).go(drawn(STEPS, sorted(bench.lines), f"{bench.seed}/{name}", errors=errors))


@purpose("LAPB-WALK-01")
def test_walk_of_legal_frames(bench: Bench) -> None:
    walk(bench, "links", errors=False)


@purpose("LAPB-WALK-02")
def test_walk_with_frame_errors(bench: Bench) -> None:
    walk(bench, "links with errors", errors=True)

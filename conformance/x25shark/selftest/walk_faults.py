# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether walks find faults of memory: python -m x25shark.selftest.walk_faults [ID ...]

Each fault of planted.py goes through walks of 60 steps on three circuits until one fails, and that
one is made short. Printed: how many walks it took, how long, how many steps are left, and what the
judges said. Exit status 1 if a fault is not found within the time, or leaves more than eight steps.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..profile import load_profile
from ..run.namespaces import enter_own
from ..run.options import Options
from ..walking.hunt import Hunt
from .planted import PLANTED

MODULE = "x25shark.selftest.planted"
CIRCUITS = 3
MOST_LEFT = 8


@dataclass(frozen=True)
class Found:
    """What became of one fault. walks: made until one failed; left: the steps of the shortest."""

    fault: str
    walks: int
    seconds: float
    left: tuple[str, ...] = ()
    reason: str = ""

    @property
    def good(self) -> bool:
        return 0 < len(self.left) <= MOST_LEFT


def search(hunt: Hunt, fault: str, steps: int, seed: int, seconds: float) -> Found:
    """Walk against the router with this fault until a walk fails, and make that one short."""
    assert hunt.campaign.router is not None
    hunt.campaign.router.module = MODULE
    hunt.campaign.change_router(("--fault", fault))
    started = time.monotonic()
    for walks, (_, walked) in enumerate(hunt.walks_of(steps, seed), 1):
        taken = time.monotonic() - started
        if walked.failed:
            short = hunt.shortest(walked, lambda _: None)
            left = tuple(map(str, short.steps))
            return Found(fault, walks, taken, left, short.result.reason)
        if taken > seconds:
            break
    return Found(fault, walks, taken)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0; 1: a fault was not found, or not made short; 2: bad usage."""
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.walk_faults")
    parser.add_argument("faults", nargs="*", metavar="ID")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args(argv)
    unknown = [name for name in arguments.faults if name not in PLANTED]
    if unknown:
        print(f"walk_faults: no fault {', '.join(unknown)}", file=sys.stderr)
        return 2
    enter_own()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="x25shark-walks-") as directory:
        options = Options("reference", load_profile("reference"), Path(directory))
        with Hunt(options, circuits=CIRCUITS, errors=True) as hunt:
            for name in arguments.faults or PLANTED:
                found = search(hunt, name, arguments.steps, arguments.seed, arguments.seconds)
                bad += not found.good
                print(
                    f"{name} {PLANTED[name].text}: {found.walks} walks, {found.seconds:.1f} s, "
                    f"{len(found.left)} steps: {'; '.join(found.left) or 'not found'}\n"
                    f"    {found.reason}",
                    flush=True,
                )
    print(f"{bad} not found, or not made short")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

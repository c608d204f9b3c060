# SPDX-License-Identifier: GPL-2.0-or-later
"""Run fifty cases in ten orders, in a namespace of its own; JSON: case and verdict, in order.

    run_in_orders.py DIRECTORY

The router is faulty and has few channels, of which the profile says nothing.
"""

from __future__ import annotations

import json
import random
import sys
from importlib import resources
from pathlib import Path

from x25shark.profile import Profile
from x25shark.run.namespaces import enter_own
from x25shark.selftest.variant_runs import TEN_LINES, profile_in
from x25shark.selftest.worker import Worker, applicable
from x25shark.suite.loader import Case, cases

ORDERS, CASES = 10, 50
# It replaces what B says of its Clear by congestion, and it has six channels.
FAULT, CAUGHT_BY = "BUG-CALL-06", "PLP-CALL-08"
CHANNELS = 6
GROUPS = ("PLP-CALL", "PLP-FS", "PLP-INT", "PLP-RST", "XOT-FORB", "XOT-HDR", "XOT-VC")


def profile(directory: Path) -> Profile:
    """A profile of ten lines, of a router that takes a few calls at a time."""
    router = (resources.files("x25shark") / "profiles" / "reference.router").read_text("utf-8")
    few = router.replace("max_calls = 256", f"max_calls = {CHANNELS}")
    if few == router:
        raise ValueError("reference.router has no max_calls = 256")
    (directory / "few.router").write_text(few, "utf-8")
    found = profile_in("reference", TEN_LINES, ())
    return found.model_copy(update={"embedded": "few.router", "path": str(directory / "few.toml")})


def chosen(found: Profile) -> list[Case]:
    """Fifty quick cases, that which catches the fault among them."""
    known = [c for c in applicable(found, cases()) if not c.purpose.whole_run]
    mine = [c for c in known if c.purpose.group in GROUPS]
    mine.sort(key=lambda case: case.purpose.id != CAUGHT_BY)
    return [mine[0], *random.Random(1).sample(mine[1:], CASES - 1)]


def main(directory: Path) -> list[tuple[str, str]]:
    """Case and verdict, order after order."""
    enter_own()
    worker = Worker("few.toml", directory, profile(directory))
    fifty = chosen(worker.profile)
    seen: list[tuple[str, str]] = []
    worker.campaign.watcher.on_result = lambda r: seen.append((r.id, str(r.verdict)))
    for number in range(ORDERS):
        worker.run(("--fault", FAULT), random.Random(number).sample(fifty, CASES))
    worker.finish()
    return seen


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases that use up their time, and a run that does: python overdue.py DIRECTORY

The first case waits for what never comes, beyond its time; the second is done; the third is under
way when the run's time is over. Results as JSON: exit status, and verdict and reason of each case.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

from x25shark.catalogue import Purpose
from x25shark.profile import Profile, load_profile
from x25shark.run import deadline
from x25shark.run.campaign import Campaign, Options
from x25shark.sides.bench import Bench
from x25shark.suite.loader import cases


def waits(bench: Bench) -> None:
    call = bench.call()
    bench.loop.wait(lambda: False, math.inf)
    call.fence()


def a_second(purpose: Purpose, profile: Profile) -> float:
    """The time of any case."""
    return 1.0


def main() -> int:
    profile = load_profile("reference")
    options = Options("reference", profile, Path(sys.argv[1]), own_namespace=True, deadline=3600.0)
    campaign = Campaign(options)
    campaign.start()
    usual, deadline.of_case = deadline.of_case, a_second
    first, second, third, last = (
        cases()[name].purpose
        for name in ("PLP-CALL-01", "PLP-CALL-02", "PLP-CALL-03", "PLP-CALL-04")
    )
    campaign.run_case(first, waits)
    deadline.of_case = usual
    campaign.run_case(second, lambda bench: bench.call().fence())
    campaign.wait_for_verdicts()
    campaign._bounds = deadline.Bounds(profile, 1.0)
    campaign.run_case(third, waits)
    campaign.run_case(last, waits)
    results = campaign.finish()
    found = [[case.id, str(case.verdict), case.reason] for case in results.cases]
    print(json.dumps([results.exit_status, found]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

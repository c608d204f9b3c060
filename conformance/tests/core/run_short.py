# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases in which the tester has no descriptor for the router's connection: python run_short.py DIR

As many as make a run ask whether the router is there still; then one that has what it needs.
Results as JSON: exit status, verdict and reason of each case.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from itertools import islice
from pathlib import Path

from x25shark.profile import load_profile
from x25shark.run.campaign import Campaign
from x25shark.run.liveness import CASES_IN_A_ROW
from x25shark.run.options import Options
from x25shark.sides.bench import Bench
from x25shark.suite.loader import cases


def short(bench: Bench) -> None:
    """A call, in a process that may open one socket more, the caller's."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, before[1]))
    try:
        bench.call()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def main() -> int:
    profile = load_profile("reference")
    # Judging takes descriptors too, of another process then.
    options = Options("reference", profile, Path(sys.argv[1]), own_namespace=True, judge_apart=True)
    campaign = Campaign(options)
    campaign.start()
    purposes = (case.purpose for name, case in cases().items() if name.startswith("PLP-CALL"))
    for purpose in islice(purposes, CASES_IN_A_ROW):
        campaign.run_case(purpose, short)
    campaign.run_case(next(purposes), lambda bench: bench.call().fence())
    results = campaign.finish()
    found = [[str(case.verdict), case.reason] for case in results.cases]
    print(json.dumps([results.exit_status, found]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""A case during which the tester is stopped: python stopped.py TIMES DIRECTORY

It is stopped (SIGSTOP) in the first TIMES runs of the case, and an expectation fails in each of
these. The embedded router, in a namespace of its own; behind the case it is changed for a broken
one. Prints as JSON the results, and with which options the router of each run was started.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from x25shark.profile import load_profile
from x25shark.run.campaign import Campaign
from x25shark.run.options import Options
from x25shark.sides.bench import Bench
from x25shark.suite.loader import cases

SECONDS = 2.5


def stop() -> None:
    """Be stopped, and continued by another process."""
    with subprocess.Popen(["sh", "-c", f"sleep {SECONDS}; kill -CONT {os.getpid()}"]):
        os.kill(os.getpid(), signal.SIGSTOP)


def main() -> int:
    times, directory = int(sys.argv[1]), Path(sys.argv[2])
    runs = []

    def body(bench: Bench) -> None:
        runs.append(campaign.options.router_options)
        call = bench.call()
        if len(runs) <= times:
            stop()
            call.a.expect_closed(within=0.1)
        call.fence()

    options = Options("reference", load_profile("reference"), directory, own_namespace=True)
    campaign = Campaign(options)
    campaign.start()
    campaign.run_case(cases()["PLP-CALL-01"].purpose, body)
    campaign.change_router(("--fault", "BUG-XOT-01"))
    results = campaign.finish().cases
    found = [[c.id, str(c.verdict), c.reason, c.remarks] for c in results]
    print(json.dumps([found, runs]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases that use up their time, and a run that does: python overdue.py DIRECTORY

The first case waits for what never comes, beyond its time; the second is done; the third expects
what never comes when the run's patience is used up; one right behind it expects what is wrong, and
so does another one later; the last but one is under way when the run's time is over. Results as
JSON: exit status, verdict and reason of each case, and the run's notes.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

from scapy_x25 import ClearIndication, ResetRequest
from x25shark.catalogue import Purpose
from x25shark.profile import Profile, load_profile
from x25shark.run import deadline
from x25shark.run.campaign import Campaign
from x25shark.run.options import Options
from x25shark.sides.bench import Bench
from x25shark.suite.loader import cases


def waits(bench: Bench) -> None:
    call = bench.call()
    bench.loop.wait(lambda: False, math.inf)
    call.fence()


def expects(bench: Bench) -> None:
    bench.call().a.expect(ClearIndication())


def fails(bench: Bench) -> None:
    call = bench.call()
    call.a.send(ResetRequest())
    call.b.expect(ClearIndication())


MOMENT = [1.0]


def a_second(purpose: Purpose, profile: Profile) -> float:
    """The time of any case."""
    return 1.0


def a_moment(purpose: Purpose, profile: Profile) -> float:
    """The moment of any case."""
    return MOMENT[0]


def main() -> int:
    profile = load_profile("reference")
    options = Options("reference", profile, Path(sys.argv[1]), own_namespace=True)
    options.time = deadline.Time(at_most=3600.0)
    campaign = Campaign(options)
    campaign.start()
    usual = deadline.of_case
    purposes = (cases()[f"PLP-CALL-0{number}"].purpose for number in range(1, 8))
    deadline.of_case, deadline._moment = a_second, a_moment
    campaign.run_case(next(purposes), waits)
    deadline.of_case = usual
    campaign.runner.overdue_at = -math.inf
    campaign.run_case(next(purposes), lambda bench: bench.call().fence())
    campaign.runner.bounds = deadline.Bounds(profile, deadline.Time(in_vain=0.0))
    campaign.run_case(next(purposes), expects)
    MOMENT[0] = 600.0
    campaign.run_case(next(purposes), fails)
    campaign.runner.overdue_at = -math.inf
    campaign.run_case(next(purposes), fails)
    campaign.wait_for_verdicts()
    campaign.runner.bounds = deadline.Bounds(profile, deadline.Time(at_most=1.0))
    campaign.run_case(next(purposes), waits)
    campaign.run_case(next(purposes), waits)
    results = campaign.finish()
    found = [[case.id, str(case.verdict), case.reason] for case in results.cases]
    print(json.dumps([results.exit_status, found, results.run.notes]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

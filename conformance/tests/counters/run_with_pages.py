# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the suite against the reference router with a page of counters that is not its own.

A program of its own, for it enters a network namespace. Prints, as JSON, for each kind of page the
verdict and the reason of each case.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from x25shark.profile import Profile, parse_profile
from x25shark.results import Results
from x25shark.run.campaign import Campaign
from x25shark.run.namespaces import enter_own
from x25shark.run.options import Options
from x25shark.suite.loader import body_of, cases

from .page_server import Answer, PageServer, page, raw

MIB = ("SYS-MIB-01", "SYS-MIB-06", "SYS-MIB-07", "SYS-MIB-05", "SYS-MIB-12", "SYS-MIB-17")
CHOSEN = ("PLP-CALL-01", *MIB, "PLP-DATA-01")
FEW = ("SYS-MIB-01", "PLP-DATA-01")
# For pages on which the tester waits in vain for a counter to move.
REACTION_SECONDS = 0.5
SECTION = """
[counters]
url = "{url}"
timeout = 0.4
age = 0
[counters.names]
calls_in = "calls"
data_in = "data"
data_octets_in = "octets"
interrupts_in = "interrupts"
remote_resets_in = "resets"
"""
# The counter of calls comes late: it has moved by the third reading after the stimulus.
LATE = [page({"calls": n}) for n in (7, 7, 7, 7, 12)]
PAGES: dict[str, Sequence[Answer]] = {
    "silent": (),
    "slow": ([b"HTTP/1.0 200 OK\r\n", 0.2] * 100,),
    "broken": (raw(b'{"calls": 7, "data"'),),
    "a list": (page([1, 2, 3]),),
    "no answer": ([b""],),
    "late": LATE,
    "standing": (page({"calls": 7, "other": {"calls": 1}}),),
}


def profile_with(url: str) -> Profile:
    """The built-in profile with other counters."""
    text = (resources.files("x25shark") / "profiles" / "reference.toml").read_text("utf-8")
    own = text[: text.index("[counters")]
    return parse_profile(own + SECTION.format(url=url), "reference with other counters")


def run(profile: Profile, chosen: tuple[str, ...]) -> Results:
    with tempfile.TemporaryDirectory(prefix="x25shark-pages-") as directory:
        campaign = Campaign(Options("reference", profile, Path(directory)))
        campaign.start()
        for identifier in chosen:
            case = cases()[identifier]
            campaign.run_case(case.purpose, body_of(case.function, case.options))
        return campaign.finish()


def main() -> None:
    enter_own()
    found = {}
    for kind, answers in PAGES.items():
        server = PageServer(*answers)
        few = kind in ("a list", "late", "standing")
        try:
            profile = profile_with(server.url)
            if few:
                times = profile.times.model_copy(update={"reaction": REACTION_SECONDS})
                profile = profile.model_copy(update={"times": times})
            results = run(profile, FEW if few else CHOSEN)
        finally:
            server.close()
        found[kind] = {c.id: [c.verdict.value, c.reason] for c in results.cases}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()

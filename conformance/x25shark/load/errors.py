# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors: what the router makes of XOT units that are too short, too long or of a wrong version.

Bradner asked of each: is it discarded, and which counter moved? The cases that send bad units are
the suite's, run by `x25shark run` in a process of its own (it imports Scapy), against the router
that is being measured; results.json says whether the router did as it should, its counters page,
read before and after, what moved.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..counters.names import NO_COUNTER, NOT_COUNTED, RIGHT, WRONG_COUNTER
from ..counters.pages import in_words, numbers
from ..counters.paths import Missing
from ..counters.places import places
from ..counters.settings import Counters
from ..profile import Profile
from ..report.text import one_line
from ..results import ResultsError, read_results
from ..temporary import temporary_folder
from .management import Management

KINDS = (
    ("unit too short", ("XOT-HDR-06", "XOT-HDR-07", "XOT-HDR-08")),
    ("unit too long", ("XOT-HDR-09",)),
    ("wrong version", ("XOT-HDR-03", "XOT-HDR-04")),
)
COUNTER = "framing_errors"
_SECONDS = 90.0
_OF_ERRORS = re.compile("discard|error|reject|invalid|illegal|drop|bad|malform", re.IGNORECASE)


@dataclass(frozen=True)
class ErrorRow:
    """One kind of error: verdicts of its cases, what counted it; problem: why nothing is known."""

    error: str
    verdicts: dict[str, str]
    counter: str = ""
    moved: int | None = None
    result: str = ""
    problem: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As in load.json."""
        return vars(self)

    @property
    def reason(self) -> str:
        """In words what is wrong; empty: nothing."""
        wrong = [case for case, verdict in self.verdicts.items() if verdict == "FAIL"]
        if wrong:
            return f"{self.error}: not discarded, but should be ({', '.join(wrong)} fail)"
        if self.result == WRONG_COUNTER:
            return f"{self.error}: counted by the wrong counter, {self.counter}"
        if self.result == NOT_COUNTED:
            return f"{self.error}: discarded, but no counter moved"
        return ""


def errors(profile: Profile, management: Management) -> list[ErrorRow]:
    """A row for each kind of error."""
    with temporary_folder("errors") as folder:
        router = folder / "router.toml"
        router.write_text(as_it_runs(profile, management.url), "utf-8")
        return [_row(error, cases, router, folder, profile, management) for error, cases in KINDS]


def as_it_runs(profile: Profile, url: str | None) -> str:
    """The profile's text for a router that is running already: without what would start it."""
    text = re.sub(r"(?m)^(embedded|start|stop)\s*=.*$", "", profile.text)
    if profile.embedded is None or url is None or profile.counters is None:
        return text
    place = f'url = "{url}"\n'
    if re.search(r"(?m)^\[counters\]\s*$", text):
        return re.sub(r"(?m)^\[counters\]\s*$", f"[counters]\n{place}", text, count=1)
    return re.sub(r"(?m)^\[counters\.", f"[counters]\n{place}\n[counters.", text, count=1)


def _row(
    error: str,
    cases: tuple[str, ...],
    router: Path,
    folder: Path,
    profile: Profile,
    management: Management,
) -> ErrorRow:
    before = management.page()
    verdicts, problem = _run(cases, router, folder / error.replace(" ", "-"))
    after = management.page()
    if problem or profile.counters is None or before is None or after is None:
        return ErrorRow(error, verdicts, problem=problem)
    counter, moved, result = what_moved(profile.counters, before, after)
    return ErrorRow(error, verdicts, counter, moved, result)


def _run(cases: tuple[str, ...], router: Path, output: Path) -> tuple[dict[str, str], str]:
    """Verdicts by case, and why there are none."""
    command = [sys.executable, "-P", "-c", "from x25shark.cli import main; main()", "run"]
    command += ["--router", str(router), "--select", ",".join(cases), "--output", str(output)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
        found = read_results(output / "results.json")
    except subprocess.TimeoutExpired:
        return {}, f"the cases did not end within {_SECONDS:g} s"
    except ResultsError as error:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        return {}, one_line(said[-1] if said else error, 200)
    return {case.id: str(case.verdict) for case in found.cases if case.id in cases}, ""


def what_moved(counters: Counters, before: Any, after: Any) -> tuple[str, int | None, str]:
    """Where the errors were counted: the counter, by how much it moved, and a word of names.py."""
    mapped = [place for place in places(counters, [COUNTER]) if place.interface == "router"]
    known = [path for place in places(counters, counters.named()) for path in place.paths]
    earlier = dict(numbers(before))
    moved = {
        steps: value - earlier.get(steps, value)
        for steps, value in numbers(after)
        if value > earlier.get(steps, value) and _below_router(counters, steps)
    }
    # A counter that moves as far as a known one counts the same, unless its name says otherwise.
    usual = {step for steps, step in moved.items() if any(p.leads_to(steps) for p in known)}
    instead = [
        in_words(steps)
        for steps, step in moved.items()
        if not any(p.leads_to(steps) for p in known)
        and (step not in usual or _OF_ERRORS.search(str(steps[-1])))
    ]
    if not mapped:
        return (instead[0] if instead else "", None, NO_COUNTER)
    try:
        old = sum(int(v) for path in mapped[0].paths for v in path.values(before))
        new = sum(int(v) for path in mapped[0].paths for v in path.values(after))
    except (Missing, TypeError, ValueError):
        return ("", None, NO_COUNTER)
    if new > old:
        return mapped[0].text, new - old, RIGHT
    if instead:
        return instead[0], 0, WRONG_COUNTER
    return mapped[0].text, 0, NOT_COUNTED


def _below_router(counters: Counters, steps: tuple[str | int, ...]) -> bool:
    """Whether a number stands among the counters of the whole router."""
    root = counters.root("router")
    above = () if root is None else tuple(s for s in root.steps if isinstance(s, (str, int)))
    return steps[: len(above)] == above

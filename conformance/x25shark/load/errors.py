# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors: what the router makes of XOT units that are too short, too long or of a wrong version,
and on serial lines of frames with a bad FCS, runts, giants and aborts.

Bradner asked of each: is it discarded, and which counter moved? The cases that send bad units are
the suite's, run by `x25shark run` in a process of its own (it imports Scapy), against the router
that is being measured; results.json says whether the router did as it should, its counters page,
read before and after, what moved.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..counters.locations import places
from ..counters.names import NAMES, NO_COUNTER, NOT_COUNTED, RIGHT, WRONG_COUNTER
from ..counters.pages import in_words, moved, numbers, value
from ..counters.paths import Path as Place
from ..counters.settings import Counters
from ..profile import Profile
from ..results import ResultsError, read_results
from ..temporary import temporary_folder
from ..verdicts import Verdict, exit_status
from .management import Management
from .programs import last_words, run


@dataclass(frozen=True)
class Kind:
    """One kind of error: the cases that make it, and the counter (counters/names.py) for it."""

    error: str
    cases: tuple[str, ...]
    counter: str = "framing_errors"
    interface: str = "router"

    def on(self, side: str) -> Kind:
        """The same on a serial line of that side."""
        return replace(self, error=f"line {side}: {self.error}", interface=side)


XOT_KINDS = (
    Kind("unit too short", ("XOT-HDR-06", "XOT-HDR-07", "XOT-HDR-08")),
    Kind("unit too long", ("XOT-HDR-09",)),
    Kind("wrong version", ("XOT-HDR-03", "XOT-HDR-04")),
)
LINE_KINDS = (
    Kind("bad FCS", ("HDLC-03", "HDLC-20"), "bad_fcs"),
    Kind("runt", ("HDLC-05",), "runts"),
    Kind("giant", ("HDLC-12",), "giants"),
    Kind("abort", ("HDLC-06",), "aborts"),
)
_LEAST = 1.0
_ENDS = 15.0
"""Seconds in which a run whose time is over has to end."""
_NO_TIME = "no time was left"
_OF_ERRORS = re.compile(
    "discard|error|reject|invalid|illegal|drop|bad|malform|crc|fcs|runt|giant|abort", re.IGNORECASE
)


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
        parts = [f"not discarded as required ({', '.join(wrong)} fail)"] if wrong else []
        if self.result == WRONG_COUNTER:
            parts.append(f"counted by the wrong counter, {self.counter}")
        elif self.result == NOT_COUNTED:
            parts.append("no counter moved" if wrong else "discarded, but no counter moved")
        return f"{self.error}: {'; '.join(parts)}" if parts else ""


def kinds_of(profile: Profile) -> list[Kind]:
    """What errors there are to make."""
    if profile.xot is None:
        return []
    kinds = list(XOT_KINDS)
    return kinds + [kind.on(side) for side in profile.line.by_side() for kind in LINE_KINDS]


def errors(
    profile: Profile, management: Management, serial: Mapping[str, str], seconds: float
) -> Iterator[ErrorRow]:
    """A row for each kind of error, as far as the time goes. serial: where the router has its
    serial lines, by name."""
    ends = time.monotonic() + seconds
    with temporary_folder("errors") as folder:
        router = folder / "router.toml"
        router.write_text(as_it_runs(profile, management.url, serial), "utf-8")
        for number, kind in enumerate(kinds_of(profile)):
            left = ends - time.monotonic()
            if left < _LEAST:
                yield ErrorRow(kind.error, {}, problem=_NO_TIME)
            else:
                yield _row(kind, router, folder / str(number), profile, management, left)


def as_it_runs(profile: Profile, url: str | None, serial: Mapping[str, str]) -> str:
    """The profile's text for a router that is running already: without what would start it."""

    def place(found: re.Match[str]) -> str:
        at = serial.get(found[1], "")
        return f'pty = "{at}"' if at.startswith("/") else f'tcp = "{at}"' if at else found[0]

    text = re.sub(r"(?m)^(embedded|start|stop)\s*=.*$", "", profile.text)
    text = re.sub(r'(?m)^serial\s*=\s*"(\w+)"', place, text)
    if profile.embedded is None or url is None or profile.counters is None:
        return text
    page = f'url = "{url}"\n'
    if re.search(r"(?m)^\[counters\]\s*$", text):
        return re.sub(r"(?m)^\[counters\]\s*$", f"[counters]\n{page}", text, count=1)
    return re.sub(r"(?m)^\[counters\.", f"[counters]\n{page}\n[counters.", text, count=1)


def _row(
    kind: Kind, router: Path, output: Path, profile: Profile, management: Management, left: float
) -> ErrorRow:
    counters = profile.counters
    before = management.page_at_rest()
    verdicts, problem = _run(kind.cases, router, output, left)
    if problem or counters is None or before is None or management.is_too_old():
        return ErrorRow(kind.error, verdicts, problem=problem)
    after = management.page_when(lambda page: what_moved(counters, before, page, kind)[2] == RIGHT)
    if after is None:
        return ErrorRow(kind.error, verdicts)
    counter, step, result = what_moved(counters, before, after, kind)
    return ErrorRow(kind.error, verdicts, counter, step, result)


def _run(
    cases: tuple[str, ...], router: Path, output: Path, seconds: float
) -> tuple[dict[str, str], str]:
    """Verdicts by case, and why there are none."""
    command = [sys.executable, "-P", "-c", "from x25shark.cli import main; main()", "run"]
    command += ["--router", str(router), "--select", ",".join(cases), "--output", str(output)]
    command += ["--deadline", str(max(round(seconds), 1))]
    try:
        done = run(command, seconds + _ENDS)
        found = read_results(output / "results.json")
    except subprocess.TimeoutExpired:
        return {}, f"the cases did not end within {seconds + _ENDS:.0f} s"
    except ResultsError as error:
        if done.returncode == exit_status(()):  # none of them applies
            return dict.fromkeys(cases, str(Verdict.NOT_APPLICABLE)), ""
        return {}, last_words(done, str(error))
    verdicts = {case.id: str(case.verdict) for case in found.cases if case.id in cases}
    return verdicts, _NO_TIME if Verdict.NOT_RUN in verdicts.values() else ""


def what_moved(
    counters: Counters, before: Any, after: Any, kind: Kind = XOT_KINDS[0]
) -> tuple[str, int | None, str]:
    """Where the errors were counted: the counter, by how much it moved, and a word of names.py."""
    mapped = [
        place for place in places(counters, [kind.counter]) if place.interface == kind.interface
    ]
    known: list[Place] = []
    of_errors: list[Place] = []
    for place in places(counters, counters.named()):
        known += place.paths
        of_errors += place.paths if NAMES[place.name].error else ()
    earlier = dict(numbers(before))
    others = [
        steps
        for steps, number in numbers(after)
        if moved(earlier.get(steps, number), number, 1) > 0
        and _is_below(counters, kind.interface, steps)
    ]
    # Much else moves while the cases run: only what counts errors can have counted these.
    instead = [
        in_words(steps)
        for steps in others
        if any(p.leads_to(steps) for p in of_errors)
        or (_OF_ERRORS.search(str(steps[-1])) and not any(p.leads_to(steps) for p in known))
    ]
    if not mapped:
        return (instead[0] if instead else "", None, NO_COUNTER)
    old, new = (value(page, mapped[0].paths) for page in (before, after))
    if new is None:
        return ("", None, NO_COUNTER)
    if (step := moved(old or 0, new, 1)) > 0:
        return mapped[0].text, step, RIGHT
    if instead:
        return instead[0], 0, WRONG_COUNTER
    return mapped[0].text, 0, NOT_COUNTED


def _is_below(counters: Counters, interface: str, steps: tuple[str | int, ...]) -> bool:
    """Whether a number stands among the counters of an interface ("router": the whole router)."""
    root = counters.root(interface)
    above = () if root is None else tuple(s for s in root.steps if isinstance(s, (str, int)))
    return steps[: len(above)] == above

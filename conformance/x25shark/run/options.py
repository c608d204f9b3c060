# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run is asked to do, who is told of it, and why it cannot begin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..catalogue import Purpose, catalogue
from ..evidence.slicer import Slice
from ..profile import Profile
from ..results import CaseResult
from .deadline import ANY_TIME, Time
from .judging import CaseRecord


class CampaignError(Exception):
    """The run cannot begin; status is the exit status that says so."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Options:
    """What a run is asked to do.

    router_options go to the embedded reference router. repeat: how often each case will be run.
    stop_on_fail: after the first FAIL or ERROR run no further case, and leave the router as it
    is. keep_going: run every case, even if the router does not answer any more. inconclusive_ok:
    INCONCLUSIVE cases do not spoil the exit status. time: that the run may take, from when it
    starts; each case has a bound of its own then. judge_apart: in a process of its own; the
    purposes about the whole run are then those that are known when it starts. profile_name: what
    results call a profile that was read from a copy.
    """

    router: str
    profile: Profile
    directory: Path
    judge: str = "auto"
    seed: int = 0
    slow: bool = False
    selection: str = ""
    command: str = ""
    router_options: tuple[str, ...] = ()
    repeat: int = 1
    stop_on_fail: bool = False
    keep_going: bool = False
    own_namespace: bool = False
    inconclusive_ok: bool = False
    time: Time = ANY_TIME
    judge_apart: bool = False
    profile_name: str = ""

    def rerun_command(self, purpose: Purpose, shown_in: str | None = None) -> str:
        """The command that runs just this case again.

        shown_in: of a purpose about the whole run, the case that shows it.
        """
        known = catalogue().purposes
        cases = [purpose, known[shown_in]] if shown_in in known else [purpose]
        slow = " --slow" if any(case.slow for case in cases) else ""
        options = "".join(f" {word}" for word in self.router_options)
        seed = f" --seed {self.seed}" if self.seed else ""
        repeat = f" --repeat {self.repeat}" if self.repeat > 1 else ""
        chosen = ",".join(case.id for case in cases)
        router = f"{self.profile_name or self.router}{options}"
        return f"x25shark run --router {router} --select {chosen}{slow}{seed}{repeat}"


@dataclass
class Watcher:
    """Told of what happens. on_result is called in the main thread, in the order of verdicts.

    on_judged: gets what a case was judged by, which is given up otherwise.
    """

    on_start: Callable[[Purpose], None] = lambda _purpose: None
    on_result: Callable[[CaseResult], None] = lambda _result: None
    on_judged: Callable[[CaseRecord, Slice], None] | None = None

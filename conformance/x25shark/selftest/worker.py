# SPDX-License-Identifier: GPL-2.0-or-later
"""Many changed reference routers through one campaign, and such campaigns in parallel."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ..profile import Profile, load_profile
from ..results import CaseResult
from ..run.campaign import Campaign
from ..run.judging import Judgement, Watched
from ..run.options import Options, Watcher
from ..run.router import RouterError
from ..suite.loader import Case, body_of, cases
from .warm import Warm

Row = TypeVar("Row")

# The embedded router answers within a millisecond; a witness without an answer waits this long.
REACTION_SECONDS = 0.3
# And so long where it is told to call, and does not.
DIAL_SECONDS = 3.0
# What runs where a witness looks at the whole run.
TRAFFIC = (
    *("PLP-DATA-01", "PLP-RST-01", "XOT-HDR-01", "PLP-MALF-17", "PLP-FLOW-09"),
    *("PLP-CALL-03", "PLP-FAC-02", "PLP-FAC-18", "XOT-PVC-01", "XOT-PVC-11"),
    *(
        "PLP-CALL-04",
        "PLP-CALL-08",
        "PLP-CALL-19",
        "PLP-DATA-08",
        "PLP-INT-01",
        "PLP-MOD-02",
        "LAPB-SET-11",
        "LAPB-BUSY-01",
    ),
    *("PLP-RST-03", "PLP-FLOW-01", "PLP-RSTRT-02", "PLP-FS-02", "PLP-FS-20", "PLP-FAC-22"),
    *("PLP-CLR-08", "PLP-SEG-01"),
)


def in_haste(profile: Profile) -> Profile:
    times = profile.times.model_copy(update={"reaction": REACTION_SECONDS, "dial": DIAL_SECONDS})
    return profile.model_copy(update={"times": times})


def applicable(profile: Profile, chosen: Iterable[str], *, slow: bool = False) -> list[Case]:
    """The cases of these purposes that can run under the profile; slow: those that are slow too."""
    known = cases()
    return [
        case
        for case in (known[i] for i in chosen if i in known)
        if case.purpose.unmet(profile.configurations, profile.declared, profile.has) is None
        and (slow or not case.purpose.slow)
    ]


class Worker:
    """One campaign in an own network namespace, through which many changed routers go.

    hasty: wait for a missing answer no longer than the embedded router could take.
    """

    def __init__(
        self,
        profile_name: str,
        directory: Path,
        profile: Profile | None = None,
        *,
        hasty: bool = True,
    ) -> None:
        profile = load_profile(profile_name) if profile is None else profile
        self.profile = in_haste(profile) if hasty else profile
        self.directory = directory
        self.results: dict[str, CaseResult] = {}
        self._watched: list[Watched] = []
        self._reruns: dict[int, str] = {}
        watcher = Watcher(on_result=lambda result: self.results.update({result.rerun: result}))
        options = Options(profile_name, self.profile, directory, keep_going=True)
        self.campaign = Campaign(options, watcher)
        self._warm = Warm()
        self.campaign.start()
        assert self.campaign.router is not None
        self.campaign.router.begin = self._warm.begin

    def run(self, options: tuple[str, ...], chosen: Sequence[Case]) -> tuple[list[str], str]:
        """Run cases with one broken router: the keys of their results, and what went wrong."""
        campaign = self.campaign
        try:
            campaign.change_router(options)
        except RouterError as error:
            return [], str(error)
        campaign.watched = []
        for case in chosen:
            if case.purpose.whole_run:
                campaign.watch(case.purpose, case.function)
        keys = []
        for case in chosen:
            keys.append(campaign.options.rerun_command(case.purpose))
            if not case.purpose.whole_run:
                campaign.run_case(case.purpose, body_of(case.function, case.options))
        if campaign.watched:
            for case in applicable(self.profile, TRAFFIC):
                campaign.run_case(case.purpose, body_of(case.function, case.options))
            for watched in campaign.watched:
                self._reruns[id(watched)] = campaign.options.rerun_command(watched.purpose)
            self._watched += campaign.watched
        return keys, ""

    def finish(self) -> None:
        """Wait for all verdicts."""
        self.campaign.watched = []
        self.campaign.finish()
        for watched in self._watched:
            key = self._reruns[id(watched)]
            self.results[key] = Judgement.whole_run(watched, key)
        self._warm.close()


def each_apart(
    jobs: int, work: Callable[..., list[Row]], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[list[Row]]:
    """What the tasks found, each as soon as it ends.

    Each enters a namespace of its own, so each needs a fresh process with one thread.
    """
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(partial(_until_interrupted, work), tasks)


def _until_interrupted(work: Callable[..., list[Row]], task: tuple[Any, ...]) -> list[Row]:
    try:
        return work(*task)
    except KeyboardInterrupt:
        # The process that started this one has been told as well, and says so.
        sys.exit(130)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The management plane under load: the router's counters page, once a second, in every phase.

Bradner asked the same of a router's console: does it still answer at maximum, at a quarter more,
and flooded?

What the page shows may be what the router gathered some seconds ago: how many, the profile says
(counters.age), or trials in succession show, as the suite's calls do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ..counters.locations import places
from ..counters.pages import moved, value
from ..counters.reader import ReadError, Reading
from ..counters.settings import Counters

SLOW = 1.0
"""Seconds from which an answer is slow."""
_EVERY = 1.0
_FIRST = 0.15
"""Seconds after the start of a phase: its load is there by then."""
_MOST_ANSWERS = 10_000
REACTION = 0.5
"""Seconds after which a page that is never old shows what has passed."""
WAIT = 1.1
"""A page that may be old is waited for this many times as long."""
_PAUSE = 0.05
_TRIES = 5
_CHANGES = 3
_WATCHED = ("data_in", "data_out")


@dataclass
class Answers:
    """Seconds that each answer took; None: there was none."""

    taken: list[float | None] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """state: "ok", "slow", "dead" (no answer at all) or "" where nobody asked."""
        came = [t for t in self.taken if t is not None]
        state = ""
        if self.taken:
            state = "dead" if not came else "slow" if max(came) >= SLOW else "ok"
        if came and len(came) < len(self.taken):
            state = "slow"
        return {
            "asked": len(self.taken),
            "answered": len(came),
            "slowest_ms": max(came) * 1000 if came else None,
            "state": state,
        }


class Management:
    """Asks for the page while phases run. Without a page nothing is asked."""

    def __init__(self, counters: Counters | None, url: str | None) -> None:
        self._counters = counters
        self.url = url if counters is not None else None
        self.phases: dict[str, Answers] = {}
        self._age = counters.age if counters is not None else None
        self._unseen: list[int | None] | None = None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Ask soon after the start and then once a second, until the phase is over."""
        if self.url is None or self._counters is None:
            yield
            return
        answers = self.phases.setdefault(name, Answers())
        over = threading.Event()
        thread = threading.Thread(target=self._ask, args=(answers, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _ask(self, answers: Answers, over: threading.Event) -> None:
        assert self.url is not None and self._counters is not None
        if over.wait(_FIRST):
            return
        while len(answers.taken) < _MOST_ANSWERS:
            begun = time.monotonic()
            try:
                self._reading().wait()
                answers.taken.append(time.monotonic() - begun)
            except ReadError:
                answers.taken.append(None)
            if over.wait(max(_EVERY - (time.monotonic() - begun), 0.05)):
                return

    def page(self) -> Any:
        """The page now; None where there is none."""
        if self.url is None or self._counters is None:
            return None
        try:
            return self._reading().wait()
        except ReadError:
            return None

    def page_at_rest(self) -> Any:
        """The page when it shows all that has passed by now; None where there is none."""
        time.sleep(self.age * WAIT)
        page = self.page()
        for _ in range(_TRIES):
            if page is None:
                break
            time.sleep(_PAUSE)
            before, page = page, self.page()
            if self._watched(before) == self._watched(page):
                break
        return page

    def page_when(self, right: Callable[[Any], bool]) -> Any:
        """The page as soon as it is right, at the latest when it has to be."""
        end = time.monotonic() + REACTION + self.age * WAIT
        while True:
            page = self.page()
            if page is None or time.monotonic() >= end or right(page):
                return page
            time.sleep(_PAUSE)

    @property
    def age(self) -> float:
        """Seconds by which a page may be too old, as far as that is known."""
        return self._age or 0.0

    def measure_age(self, change: Callable[[], object], patience: float) -> None:
        """Find the age where the profile does not say it; change() makes Data packets pass.

        From the last look ahead of one change to the next change lies all the time for which one
        page is shown.
        """
        if self._age is not None or not any(n is not None for n in self._watched(self.page())):
            return
        changes: list[tuple[float, float, bool]] = []
        asked, page = time.monotonic(), self.page()
        while len(changes) < _CHANGES:
            change()
            over, before = time.monotonic(), page
            unseen, asked, page = asked, over, self.page()
            while page is not None and self._watched(page) == self._watched(before):
                if asked - over >= patience:
                    self._unseen = self._watched(page)
                    return
                time.sleep(_PAUSE)
                unseen, asked, page = asked, time.monotonic(), self.page()
            if page is None:
                return
            changes.append((unseen, time.monotonic(), unseen >= over))
            if len(changes) > 1 and changes[-1][2]:
                break
        shown = min(after[1] - before[0] for before, after in pairwise(changes))
        self._age = shown + _PAUSE if any(waited for _, _, waited in changes) else 0.0

    def is_too_old(self) -> bool:
        """Whether the page showed too late what passed when its age was measured: nothing is to be
        said of its counters then. One that never shows anything is not old."""
        if self._unseen is None or (page := self.page()) is None:
            return False
        return self._watched(page) != self._unseen

    def _watched(self, page: Any) -> list[int | None]:
        """The counters of Data packets."""
        if self._counters is None or page is None:
            return []
        return [value(page, place.paths) for place in places(self._counters, _WATCHED)]

    def _reading(self) -> Reading:
        assert self.url is not None and self._counters is not None
        return Reading(self.url, self._counters.timeout, reader=self._counters.reader)

    def moved(
        self, before: Any, after: Any, name: str, interface: str, shown: int
    ) -> tuple[str, int] | None:
        """Where a counter stands and by how much it moved where `shown` passed; None: there is no
        such counter."""
        if self._counters is None:
            return None
        for place in places(self._counters, [name]):
            if place.interface == interface:
                old, new = value(before, place.paths), value(after, place.paths)
                if new is None:
                    return None
                return place.text, moved(old or 0, new, shown)
        return None

# SPDX-License-Identifier: GPL-2.0-or-later
"""The management plane under load: the router's counters page, once a second, in every phase.

Bradner asked the same of a router's console: does it still answer at maximum, at a quarter more,
and flooded?
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..counters.locations import places
from ..counters.pages import value
from ..counters.reader import ReadError, Reading
from ..counters.settings import Counters

SLOW = 1.0
"""Seconds from which an answer is slow."""
_EVERY = 1.0
_FIRST = 0.15
"""Seconds after the start of a phase: its load is there by then."""
_MOST_ANSWERS = 10_000


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

    def _reading(self) -> Reading:
        assert self.url is not None and self._counters is not None
        return Reading(self.url, self._counters.timeout, reader=self._counters.reader)

    def moved(self, before: Any, after: Any, name: str, interface: str) -> tuple[str, int] | None:
        """Where a counter stands and by how much it moved; None: no such counter."""
        if self._counters is None:
            return None
        for place in places(self._counters, [name]):
            if place.interface == interface:
                old, new = value(before, place.paths), value(after, place.paths)
                if new is None:
                    return None
                return place.text, new - (old or 0)
        return None

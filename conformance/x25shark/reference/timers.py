# SPDX-License-Identifier: GPL-2.0-or-later
"""Timers of the event loop."""

import heapq
import time
from collections.abc import Callable


class RunningTimer:
    """A timer of the loop."""

    __slots__ = ("at", "expired")

    def __init__(self, at: float, expired: Callable[[], None] | None) -> None:
        self.at = at
        self.expired = expired

    def __lt__(self, other: "RunningTimer") -> bool:
        return self.at < other.at

    def cancel(self) -> None:
        self.expired = None


class LoopTimers:
    """Timers of the loop, in a heap; cancelled ones are swept when they are many."""

    def __init__(self) -> None:
        self._heap: list[RunningTimer] = []

    def start(self, seconds: float, expired: Callable[[], None]) -> RunningTimer:
        timer = RunningTimer(time.monotonic() + seconds, expired)
        heapq.heappush(self._heap, timer)
        if len(self._heap) > 4096:
            self._sweep()
        return timer

    def _sweep(self) -> None:
        alive = [timer for timer in self._heap if timer.expired is not None]
        if len(alive) < len(self._heap) // 2:
            self._heap = alive
            heapq.heapify(self._heap)

    def next(self) -> float | None:
        """Seconds until the next timer, None without one."""
        while self._heap and self._heap[0].expired is None:
            heapq.heappop(self._heap)
        return max(0.0, self._heap[0].at - time.monotonic()) if self._heap else None

    def run(self) -> None:
        """Run the timers that are due."""
        now = time.monotonic()
        while self._heap and self._heap[0].at <= now:
            expired = heapq.heappop(self._heap).expired
            if expired is not None:
                expired()

# SPDX-License-Identifier: GPL-2.0-or-later
"""What one connection has under way in one direction of an emulated line."""

import time
from collections import deque
from collections.abc import Callable

from .emulation import NANOSECONDS, Direction, EmulatedLine
from .ports import Timer, Timers


class Pipe:
    """Units come out in their order, each when the line has carried it.

    arrived: takes a unit at the end of the line. emptied: told when nothing is under way any more.
    clock: nanoseconds, the clock of `timers`.
    """

    def __init__(
        self,
        timers: Timers,
        line: EmulatedLine,
        direction: Direction,
        arrived: Callable[[bytes], None],
        emptied: Callable[[], None],
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._timers = timers
        self._line = line
        self._direction = direction
        self._arrived = arrived
        self._emptied = emptied
        self._clock = clock
        #: Octets of the units in it.
        self.octets = 0
        #: What the line's queue has no room for yet, with its charge.
        self._held: deque[tuple[bytes, int]] = deque()
        #: When it arrives, and what.
        self._under_way: deque[tuple[int, bytes]] = deque()
        self._timer: Timer | None = None

    def put(self, *units: bytes) -> None:
        """Units for the line, behind those before them; all at this moment."""
        now = self._clock()
        waited = bool(self._held)
        for unit in units:
            self.octets += len(unit)
            self._held.append((unit, self._line.charge(unit)))
        if units and not waited:
            self._admit(now)
            # What arrives next arrives as before, where something is under way.
            if self._timer is None or self._held:
                self._wake()

    def is_full(self, most: int) -> bool:
        """Whether the line's queue is full, or more octets than `most` are under way."""
        return bool(self._held) or self.octets > most

    def seconds_left(self) -> float:
        """How long the line takes for everything that is in it, about."""
        rate, delay = self._direction.way.rate, self._direction.way.delay
        held = sum(charge for _, charge in self._held) * 8 / rate if rate else 0.0
        last = self._under_way[-1][0] - self._clock() if self._under_way else 0
        return held + max(last / NANOSECONDS, 0.0) + (delay if held else 0.0)

    def clear(self) -> None:
        """Nothing arrives any more."""
        self._held.clear()
        self._under_way.clear()
        self.octets = 0
        self._wake()

    def hurry(self) -> None:
        """Everything arrives at once."""
        units = [unit for _, unit in self._under_way] + [unit for unit, _ in self._held]
        self.clear()
        for unit in units:
            self._arrived(unit)

    def _admit(self, now: int) -> None:
        while self._held:
            unit, charge = self._held[0]
            if not self._direction.drops and self._direction.room_at(now, charge) is not None:
                return
            self._held.popleft()
            at = self._direction.send(now, charge)
            if at is None:
                self._out(unit)
            else:
                self._under_way.append((at, unit))

    def _out(self, unit: bytes) -> None:
        self.octets -= len(unit)

    def _due(self) -> None:
        self._timer = None
        now = self._clock()
        self._admit(now)
        while self._under_way and self._under_way[0][0] <= now:
            _, unit = self._under_way.popleft()
            self._out(unit)
            self._arrived(unit)
        self._wake()

    def _wake(self) -> None:
        """Have the timer run at what comes next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = self._clock()
        times = [self._under_way[0][0]] if self._under_way else []
        if self._held and (room := self._direction.room_at(now, self._held[0][1])) is not None:
            times.append(room)
        if times or self._held:
            wait = max(min(times, default=now) - now, 0) / NANOSECONDS
            self._timer = self._timers.start(wait, self._due)
        elif not self.octets:
            self._emptied()

# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGINT, SIGTERM, SIGHUP: taken at any moment, acted on at safe ones.

A command raises Interrupted wherever the signal finds it, and ends with the signal's status. A run
has processes, captures and verdicts to bring home: within counted() a signal is only noted, and
check() raises it where nothing is half done. The second signal hurries (nothing more is awaited),
the third gives up at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

# Some senders signal a process and then its group: what comes that soon is the same wish.
_SAME_WISH = 0.3
_GIVE_UP = 3
# How long after an Interrupted that Python dropped the next is raised.
_RAISED_AGAIN_AFTER = 0.001
INTERRUPTED = 128 + signal.SIGINT
# A closed terminal, or a connection that broke, sends SIGHUP.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _ours() -> list[signal.Signals]:
    """The signals that end this process in order: under nohup(1) SIGHUP is not to."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in _SIGNALS if not (ignored and number is signal.SIGHUP)]


class Interrupted(KeyboardInterrupt):
    """A signal came."""


class Interrupts:
    """The interrupts of this process.

    count: how many wishes to end have come, those of one moment together. status: the exit status
    that tells of the first (128 and the number of the signal).
    """

    def __init__(self) -> None:
        self.count = 0
        self.status = INTERRUPTED
        self._latest = 0.0
        self._counting = 0
        self._raised = False
        self._awaited = 0

    def listen(self) -> None:
        """From now on these signals end this process in order."""
        signal.signal(signal.SIGALRM, self._raise)
        sys.unraisablehook = self._dropped
        for number in _ours():
            signal.signal(number, self._come)

    @staticmethod
    def over() -> None:
        """From now on these signals end this process at once: it has nothing left to do."""
        for number in _ours():
            signal.signal(number, signal.SIG_DFL)

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Listen; within it signals are noted, and raised by check() alone. Main thread only."""
        before = [(number, signal.signal(number, self._come)) for number in _ours()]
        self._counting += 1
        try:
            yield
        finally:
            self._counting -= 1
            self._awaited, self._raised = 0, False
            for number, handler in before:
                signal.signal(number, handler)

    def _come(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.count == 0:
            self.status = 128 + number
        elif now - self._latest < _SAME_WISH:
            return
        self.count += 1
        self._latest = now
        self._raise()
        if self.count >= _GIVE_UP:
            # What this process started ends with its pipes; the next run sweeps what is left.
            os._exit(self.status)

    def _raise(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        if not self._counting:
            raise Interrupted

    @staticmethod
    def _dropped(unraisable: sys.UnraisableHookArgs) -> None:
        # A destructor or a callback of the garbage collector was under way: nobody could catch it.
        if isinstance(unraisable.exc_value, Interrupted):
            signal.setitimer(signal.ITIMER_REAL, _RAISED_AGAIN_AFTER)
        else:
            sys.__unraisablehook__(unraisable)

    @property
    def asked(self) -> bool:
        """Whether somebody wants this process to end."""
        return self.count > 0

    @property
    def hurried(self) -> bool:
        """Whether nothing more is to be awaited."""
        return self.count > 1

    @property
    def in_haste(self) -> bool:
        """Whether a wait should end now: the first signal ends the work, the second its end."""
        return self.count > self._awaited

    def bring_home(self) -> None:
        """The work has ended: from now on only the second signal ends a wait."""
        self._awaited = 1
        self._raised = True

    def check(self) -> None:
        """Raise Interrupted if a signal has come, once. In other threads: nothing."""
        in_main = threading.current_thread() is threading.main_thread()
        if self.count and not self._raised and in_main:
            self._raised = True
            raise Interrupted


interrupts = Interrupts()

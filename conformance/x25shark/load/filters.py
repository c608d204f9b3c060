# SPDX-License-Identifier: GPL-2.0-or-later
"""Filter conditions in the router's configuration, set by the hook control.filters of a profile."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress

_LEAST = 1.0
_RESET = 10.0
"""Seconds that taking the conditions away may need: nothing may be left behind for want of time."""


class FilterError(Exception):
    """The hook failed; the message says how."""


class Filters:
    """The hook: a shell command with {count} for the number of conditions.

    problem: why it is not used any more. left_set: why conditions may still be there. took: the
    most seconds that it has taken.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self.problem = ""
        self.left_set = ""
        self.took = 0.0

    def set(self, number: int, seconds: float) -> None:
        """So many conditions, within that time. Raises FilterError."""
        began = time.monotonic()
        try:
            self._run(number, max(seconds, _LEAST))
        except FilterError as error:
            self.problem = str(error)
            raise
        finally:
            self.took = max(self.took, time.monotonic() - began)

    def reset(self) -> None:
        """None any more. What ends the measurement meanwhile is more than a hook that fails: it
        raises nothing."""
        try:
            self._run(0, _RESET)
        except FilterError as error:
            self.problem = self.left_set = str(error)

    def _run(self, number: int, seconds: float) -> None:
        command = self._command.replace("{count}", str(number))
        nothing = subprocess.DEVNULL
        # In a session of its own: Ctrl-C is not for it, and nothing of it stays behind.
        with subprocess.Popen(
            command, shell=True, stdin=nothing, stdout=nothing, stderr=nothing,
            start_new_session=True,
        ) as hook:  # fmt: skip
            try:
                status = hook.wait(seconds)
            except subprocess.TimeoutExpired:
                _end(hook)
                raise FilterError(
                    f"control.filters did not end within {seconds:.0f} s: {command}"
                ) from None
            except BaseException:
                _end(hook)
                raise
        if status:
            raise FilterError(f"control.filters ended with status {status}: {command}")


def _end(hook: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(hook.pid, signal.SIGKILL)

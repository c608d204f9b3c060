# SPDX-License-Identifier: GPL-2.0-or-later
"""Filter conditions in the router's configuration, set by the hook control.filters of a profile."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

_SECONDS = 60.0


class FilterError(Exception):
    """The hook failed; the message says how."""


class Filters:
    """The hook: a shell command with {count} for the number of conditions."""

    def __init__(self, command: str) -> None:
        self._command = command

    @contextmanager
    def set(self, number: int) -> Iterator[None]:
        """So many conditions, and none any more afterwards. Raises FilterError."""
        self._run(number)
        try:
            yield
        finally:
            self._run(0)

    def _run(self, number: int) -> None:
        command = self._command.replace("{count}", str(number))
        try:
            done = subprocess.run(
                command,
                shell=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise FilterError(f"control.filters did not end within {_SECONDS:g} s") from None
        if done.returncode:
            raise FilterError(f"control.filters ended with status {done.returncode}: {command}")

# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a process may take, by its own time rather than by the clock.

A busy machine lets a process wait for a processor. It does not hang then, so the wait does not
count. Linux tells it in /proc/PID/schedstat: nanoseconds on a processor, nanoseconds waiting
for one, and how often it ran. Where that file is not, the clock decides.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path


def waited(pid: int) -> float:
    """Seconds that the first thread of a process has waited for a processor; 0 if nobody knows."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def computed(pid: int) -> float:
    """Seconds that a process has computed, with all its threads; 0 if nobody knows."""
    try:
        behind_name = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(behind_name[11]) + int(behind_name[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


class TimeLimit:
    """So many seconds for a process, from now on."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid = pid
        self._end = time.monotonic() + seconds - waited(pid)

    def left(self) -> float:
        """Seconds until the process has taken too long, if it need not wait; 0 or less: it has."""
        return self._end + waited(self._pid) - time.monotonic()


def ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait until the process has ended (True), or has had so many seconds (False)."""
    limit = TimeLimit(process.pid, seconds)
    while process.poll() is None:
        left = limit.left()
        if left <= 0:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(left)
    return True

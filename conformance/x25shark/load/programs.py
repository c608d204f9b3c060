# SPDX-License-Identifier: GPL-2.0-or-later
"""Other programs, run to their end, and what they said last."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from ..report.text import one_line


def run(
    command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A program without input that may take so long. Raises OSError, subprocess.TimeoutExpired."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=seconds,
        env=environment,
    )


def last_words(done: subprocess.CompletedProcess[str], otherwise: str) -> str:
    """The last line that is not empty of what it complained of."""
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return one_line(said[-1] if said else otherwise, 200)

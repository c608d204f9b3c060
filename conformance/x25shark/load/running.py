# SPDX-License-Identifier: GPL-2.0-or-later
"""What long measurements have in common: progress with the time left, their end, sentences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ..report.text import one_line
from .bench import Gone
from .results import lost_testers

LINES_SHOWN = 30


@contextmanager
def progress(console: Console, seconds: float) -> Iterator[Callable[[str], None]]:
    """One line: what is running, how far, how long it may still take."""
    began = time.monotonic()

    def line(text: str) -> Text:
        passed = time.monotonic() - began
        left = max(seconds - passed, 0)
        return Text(one_line(f"{passed:5.0f} s, about {left:.0f} s left  {text}", 78))

    if console.is_terminal:
        with Live(line(""), console=console, transient=True, refresh_per_second=4) as shown:
            yield lambda text: shown.update(line(text))
        return
    printed = [""]

    def plain(text: str) -> None:
        words = text.partition(",")[0]
        if words != printed[0]:
            printed[0] = words
            console.print(line(text))

    yield plain


@dataclass
class Outcome:
    """Why it ended: status 0, 1, 3 or 130, and the reason in words."""

    status: int = 0
    reason: str = ""


def gone_outcome(gone: Gone, measured: bool) -> Outcome:
    """The end of a run whose router, or testers, went: status 3 where nothing was measured."""
    words = gone.later if measured else gone.words
    return Outcome(1 if measured else 3, f"{words}: {one_line(gone, 200)}.")


def conclude_status(result: dict[str, Any], outcome: Outcome) -> None:
    """0: all was measured and nothing found; 1: something was."""
    result["verdict"]["reasons"] += lost_testers(result)
    status = outcome.status or (1 if result["verdict"]["reasons"] else 0)
    result["exit_status"] = status
    result["verdict"]["ok"] = status == 0


def sentences(console: Console, verdict: Mapping[str, Any]) -> None:
    """What was found, and what is worth knowing."""
    for word, texts in (("Found", verdict["reasons"]), ("Remark", verdict["remarks"])):
        for text in texts[:LINES_SHOWN]:
            console.print(Text(one_line(f"{word}: {text}", 300)))
        if len(texts) > LINES_SHOWN:
            console.print(f"... and {len(texts) - LINES_SHOWN} more in load.json")

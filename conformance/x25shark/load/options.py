# SPDX-License-Identifier: GPL-2.0-or-later
"""What a load consists of. Made by the command line, checked here and again by the engine."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

SHORTEST = 16
"""Octets of the shortest test record: no message is shorter."""
PACKET_SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
SLOW_MS = 500
"""Answers that took longer are named. They spoil a run only if the user has set a limit: how slow a
router is is a figure, and no fault of the measurement."""
PUBLISHED_SECONDS = 20.0
"""Length of the published runs; the sweep's figures are calls in this time."""
_SETUPS = 512
"""Calls that a closed loop has in set-up at the same time, and the least of an open loop."""
Mode = Literal["echo", "sink", "source"]


class OptionError(Exception):
    """An option that cannot be; the message names it and says what can."""


@dataclass(frozen=True)
class LoadOptions:
    """One load. Times are seconds unless the name says milliseconds."""

    circuits: int = 1
    threads: int = 1
    duration: float | None = PUBLISHED_SECONDS
    calls: int | None = None
    rate: float | None = None
    poisson: bool = False
    modulo: int = 8
    packet_size: int = 128
    window: int = 2
    shortest: int = SHORTEST
    longest: int = 8192
    messages: int = 1
    depth: int = 1
    message_rate: float | None = None
    hold: float = 0.0
    hold_to_end: bool = False
    mode: Mode = "echo"
    q_share: float = 0.0
    d_share: float = 0.0
    interrupt_every: int = 0
    reset_every: int = 0
    busy_every: int = 0
    backoff_ms: int = 0
    timeout: float = 5.0
    late_ms: int = SLOW_MS
    late_is_flaw: bool = False
    seed: int = 1
    calling_base: str = "310000"

    def for_seconds(self, seconds: float) -> LoadOptions:
        """The same load for another time."""
        return replace(self, duration=seconds, calls=None)

    def caller(
        self, connect: str, called: tuple[str, str], run: int, sources: tuple[str, ...] = ()
    ) -> dict[str, object]:
        """The calling side's configuration for the engine."""
        # By schedule means whatever becomes of the calls before: no bound to those in set-up.
        open_loop: dict[str, object] = (
            {} if self.rate is None else {"max_setups": max(self.circuits, _SETUPS)}
        )
        return open_loop | {
            "connect": connect,
            "sources": list(sources),
            "called_start": called[0],
            "called_end": called[1],
            "calling_base": self.calling_base,
            "utc_offset_minutes": time.localtime().tm_gmtoff // 60,
            "circuits": self.circuits,
            "threads": min(self.threads, self.circuits),
            "duration_ms": None if self.duration is None else round(self.duration * 1000),
            "calls": self.calls,
            "rate": self.rate,
            "poisson": self.poisson,
            "modulo": self.modulo,
            "packet_size": self.packet_size,
            "window": self.window,
            "message_length": [self.shortest, self.longest],
            "messages": self.messages,
            "depth": self.depth,
            "message_rate": self.message_rate,
            "hold_ms": round(self.hold * 1000),
            "hold_to_end": self.hold_to_end,
            "mode": self.mode,
            "q_share": self.q_share,
            "d_share": self.d_share,
            "interrupt_every": self.interrupt_every,
            "reset_every": self.reset_every,
            "busy_every": self.busy_every,
            "backoff_ms": self.backoff_ms,
            "timeout_ms": round(self.timeout * 1000),
            "late_ms": self.late_ms,
            "seed": self.seed,
            "run": run,
        }

    def responder(self, listen: str, run: int) -> dict[str, object]:
        """The called side's configuration for the engine."""
        return {
            "listen": listen,
            "threads": min(self.threads, self.circuits),
            "mode": self.mode,
            "messages": self.messages,
            "message_length": self.longest,
            "run": run,
        }

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def address_range(text: str) -> tuple[str, str]:
    """ "start,end" or one address, as two X.121 addresses with the same number of digits."""
    start, _, end = text.partition(",")
    end = end or start
    for part in (start, end):
        if not (part.isascii() and part.isdecimal() and len(part) <= 15):
            raise OptionError(
                f"called address {part!r}: 1 to 15 decimal digits, or a range as 2100001,2199999"
            )
    if len(start) != len(end) or start > end:
        raise OptionError(
            f"called address range {text!r}: both ends need the same number of digits, in order"
        )
    return start, end


def number_list(text: str, name: str, allowed: range | tuple[int, ...]) -> list[int]:
    """ "128,256" or "1-7" as numbers; each must be in allowed."""
    numbers: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise OptionError(f"{name} {part!r}: give numbers such as 1,2,7 or 1-7")
        if dash and isinstance(allowed, tuple):
            numbers += [n for n in allowed if int(low) <= n <= int(high)]
        else:
            last = int(high) if dash else int(low)
            if last - int(low) > 1000:
                raise OptionError(f"{name} {part!r}: too many numbers")
            numbers += range(int(low), last + 1)
    wrong = [n for n in numbers if n not in allowed]
    if wrong or not numbers:
        known = (
            f"{allowed.start} to {allowed.stop - 1}"
            if isinstance(allowed, range)
            else ", ".join(map(str, allowed))
        )
        raise OptionError(f"{name} {wrong[0] if wrong else text!r}: must be of {known}")
    return list(dict.fromkeys(numbers))

# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs on each worker of a cluster: the engine, for one tester's share of a load."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .engine import Clock, Side, load_engine

_MOMENTS = ("start_ns", "began_ns", "end_ns", "finished_ns")


def boot() -> str:
    """What is the same for all processes that share a clock."""
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


def shifted(result: dict[str, Any], by: int) -> dict[str, Any]:
    """The result of a side with its moments on another clock (ns). 0: it never came."""

    def moved(counted: dict[str, Any], names: Sequence[str]) -> dict[str, int]:
        return {name: counted[name] + by if counted[name] else 0 for name in names}

    trial = result["trial"] | moved(result["trial"], ("start_ns", "last_ns"))
    return result | moved(result, _MOMENTS) | {"trial": trial}


def usable(sources: list[str]) -> list[str]:
    """Those of the addresses that this machine has; none: the kernel chooses."""
    found = []
    for address in sources:
        with socket.socket() as probe:
            try:
                probe.bind((address, 0))
            except OSError:
                continue
        found.append(address)
    return found


def outgoing(connect: str) -> str:
    """The address from which the kernel would connect to "address:port"; "": it has none."""
    address, _, port = connect.partition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, int(port)))  # nothing is sent
        except OSError:
            return ""
        return str(probe.getsockname()[0])


class Tester:
    """An actor: every method returns at once, for one follows the other."""

    def __init__(self) -> None:
        self._engine = load_engine()
        self._sides: dict[int, Side] = {}
        self._clock: Clock | None = None

    def clock(self) -> tuple[int, str]:
        """The time here (ns since 1970), and which machine this is."""
        return time.time_ns(), boot()

    def addresses(self, wanted: list[str], connect: str) -> tuple[list[str], str]:
        """Those of the addresses that this machine has, and the one that its kernel would take."""
        return usable(wanted), outgoing(connect)

    def start(self, run: int, share: dict[str, Any], at: int, trial_after: int) -> str:
        """Begin at a moment (ns since 1970), a trial so much later; why not, if it cannot be."""
        start = time.monotonic_ns() + at - time.time_ns()
        share = share | {"start_ns": start}
        if trial_after:
            share["trial_start_ns"] = start + trial_after
        try:
            self._sides[run] = self._engine.caller(share)
        except ValueError as error:
            return str(error)
        return ""

    def answer(self, run: int, configuration: dict[str, Any]) -> tuple[int, str]:
        """Answer calls together with other testers: the port, and why not, if it cannot be."""
        try:
            side = self._engine.responder(configuration | {"shared": True})
        except ValueError as error:
            return 0, str(error)
        self._sides[run] = side
        return side.port, ""

    def keep_clock(self, whole: dict[str, Any], at: int) -> None:
        """The schedule of a trial that begins at a moment (ns since 1970), for the called side."""
        start = time.monotonic_ns() + at - time.time_ns()
        self._clock = self._engine.clock(whole | {"trial_start_ns": start})

    def arrived(self) -> int:
        """Messages of the trial that have arrived here."""
        return 0 if self._clock is None else self._clock.arrived()

    def has(self, address: str) -> bool:
        """Whether this machine has the address."""
        return bool(usable([address]))

    def release(self, run: int) -> None:
        """Let go of what is ignored on purpose."""
        self._sides[run].release()

    def snapshot(self, run: int) -> str:
        """Counters so far, as JSON."""
        return self._sides[run].snapshot()

    def finished(self, run: int) -> bool:
        """Whether it has ended."""
        return self._sides[run].wait(0)

    def stop(self, run: int) -> None:
        """Ask for an orderly end."""
        if run in self._sides:
            self._sides[run].stop()

    def result(self, run: int) -> str:
        """The counts of a side that has ended, as JSON, with moments in ns since 1970."""
        result = json.loads(self._sides.pop(run).result())
        return json.dumps(shifted(result, time.time_ns() - time.monotonic_ns()))


def ignore_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal; the one that has the command acts on it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

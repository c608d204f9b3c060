# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time and memory: of a router on this machine and of the machine as a whole, from /proc; of a
router elsewhere from its counters page, where the profile says how ([counters.machine])."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..counters.paths import Missing
from ..counters.paths import Path as Place
from ..counters.reader import ReadError, Reading
from ..counters.settings import Counters

Usage = tuple[float | None, float | None]
"""CPU seconds so far and octets of memory of a router; None: not known."""

_TICKS = os.sysconf("SC_CLK_TCK")
_LISTEN = "0A"


def process_seconds(pid: int) -> float | None:
    """User and system CPU seconds of a process with all its threads; None if it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The command name may hold anything, parentheses too: fields count from the last one.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def process_memory(pid: int) -> float | None:
    """Octets of memory that a process has resident; None if it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def machine_seconds() -> tuple[float, float]:
    """Busy and total CPU seconds of all processors since boot."""
    fields = [int(f) for f in Path("/proc/stat").read_text("ascii").split("\n", 1)[0].split()[1:9]]
    total = sum(fields) / _TICKS
    return total - (fields[3] + fields[4]) / _TICKS, total


def _hexadecimal(endpoint: str) -> tuple[set[str], str]:
    """The local address as /proc/net/tcp writes it, and the wildcard, with the port."""
    address, _, port = endpoint.rpartition(":")
    octets = [int(part) for part in address.split(".")]
    word = "".join(f"{o:02X}" for o in reversed(octets))
    return {word, "00000000"}, f"{int(port):04X}"


def listener_process(endpoint: str) -> int | None:
    """The process of this machine that listens on "address:port", if it can be seen."""
    addresses, port = _hexadecimal(endpoint)
    inodes = set()
    try:
        lines = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    except OSError:
        return None
    for line in lines:
        fields = line.split()
        address, _, local_port = fields[1].partition(":")
        if fields[3] == _LISTEN and local_port == port and address in addresses:
            inodes.add(f"socket:[{fields[9]}]")
    if not inodes:
        return None
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            for descriptor in (folder / "fd").iterdir():
                if os.readlink(descriptor) in inodes:
                    return int(folder.name)
        except OSError:
            continue
    return None


def page_usage(counters: Counters, url: str) -> Usage:
    """What the router's own page says of it."""
    machine = counters.machine
    try:
        document = Reading(url, counters.timeout, reader=counters.reader).wait()
    except ReadError:
        return None, None
    return _amount(document, machine.cpu_seconds), _amount(document, machine.memory_octets)


def _amount(document: Any, place: Place | None) -> float | None:
    """The sum of the numbers that stand there; None if there is none, or something else."""
    try:
        values = [] if place is None else place.values(document)
        found = [float(value) for value in values if not isinstance(value, bool)]
    except (Missing, TypeError, ValueError, OverflowError):
        return None
    total = sum(found)
    return total if found and 0 <= total < float("inf") else None


@dataclass
class CpuMeter:
    """CPU use between start and stop. router_page: asks a router that is not a process of this
    machine."""

    router_pid: int | None
    router_page: Callable[[], Usage] | None = None
    _router: float | None = None
    _busy: float = 0.0
    _total: float = 0.0

    def start(self) -> None:
        self._router = self._of_router()[0]
        self._busy, self._total = machine_seconds()

    def stop(self) -> dict[str, float | None]:
        """CPU seconds and memory of the router (None: not known), those seconds that it had of this
        machine, and the machine's load."""
        busy, total = machine_seconds()
        now, memory = self._of_router()
        router = now - self._router if now is not None and self._router is not None else None
        share = (busy - self._busy) / (total - self._total) if total > self._total else 0.0
        return {
            "router_seconds": router,
            "router_octets": memory,
            "local_seconds": router if self.router_pid else None,
            "machine_busy": share,
        }

    def _of_router(self) -> Usage:
        if self.router_pid:
            return process_seconds(self.router_pid), process_memory(self.router_pid)
        return self.router_page() if self.router_page else (None, None)

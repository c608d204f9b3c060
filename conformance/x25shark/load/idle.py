# SPDX-License-Identifier: GPL-2.0-or-later
"""Idle traffic: what a router sends that is left alone, from a capture of its XOT connections.

Counted are the router's packets alone, per minute and by kind: X.25 packets by type, and TCP
segments without data (keep-alives, acknowledgements). Without the right to capture the report says
so. tshark reads what it captured in a process of its own.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from typing import Any

from .. import plain_tshark
from .programs import last_words, run

_STARTS = 20.0
"""Seconds that tshark may take to begin."""
_LINES = 200_000
_TYPES = {
    0x01: "RR",
    0x05: "RNR",
    0x0B: "Call",
    0x0F: "Call Accepted",
    0x13: "Clear",
    0x17: "Clear Confirmation",
    0x1B: "Reset",
    0x1F: "Reset Confirmation",
    0x23: "Interrupt",
    0x27: "Interrupt Confirmation",
    0xF1: "Diagnostic",
    0xF5: "PVC setup",
}


@dataclass(frozen=True)
class Idle:
    """Packets by kind in so many seconds; problem: why there is no figure."""

    seconds: float
    kinds: dict[str, int]
    problem: str = ""

    def as_dict(self) -> dict[str, Any]:
        """per_minute: packets of each kind."""
        per_minute = {kind: n * 60 / self.seconds for kind, n in self.kinds.items()}
        return {"seconds": self.seconds, "per_minute": per_minute, "problem": self.problem}


def kinds_of(payload: bytes) -> list[str]:
    """The X.25 packets of one segment that begins with an XOT header; what is cut off is left."""
    found = []
    while len(payload) >= 7:
        length = int.from_bytes(payload[2:4], "big")
        kind = payload[6]
        if kind & 1 == 0:
            found.append("Data")
        else:
            found.append(_TYPES.get(kind) or _TYPES.get(kind & 0x1F, "other"))
        payload = payload[4 + length :]
    return found or ["other"]


def watch(address: str, port: int, seconds: float, interface: str = "any") -> Idle:
    """What the router at this address sends in that time, on connections with its XOT port."""
    program = shutil.which("tshark")
    if program is None:
        return Idle(seconds, {}, "tshark is not installed")
    command = [
        program, "-l", "-n", "-Q", "-i", interface,
        "-f", f"src host {address} and tcp port {port}",
        "-a", f"duration:{round(seconds + 1)}",
        "-T", "fields", "-e", "frame.time_epoch", "-e", "tcp.len", "-e", "tcp.payload",
        "-o", "tcp.desegment_tcp_streams:FALSE", "--disable-protocol", "xot",
    ]  # fmt: skip
    try:
        done = run(command, seconds + _STARTS, plain_tshark.environment())
    except (OSError, subprocess.TimeoutExpired):
        return Idle(seconds, {}, "tshark did not capture")
    if done.returncode:
        return Idle(seconds, {}, f"no capture: {last_words(done, 'tshark failed')}")
    return count(done.stdout, seconds)


def count(lines: str, seconds: float) -> Idle:
    """Kinds in tshark's lines: time, length and payload in hexadecimal, with tabs between."""
    kinds: Counter[str] = Counter()
    for line in lines.splitlines()[:_LINES]:
        fields = line.split("\t")
        if len(fields) < 2 or not fields[1].isdigit():
            continue
        if int(fields[1]) == 0:
            kinds["TCP without data"] += 1
            continue
        try:
            payload = bytes.fromhex(fields[2].replace(":", "")) if len(fields) > 2 else b""
        except ValueError:
            continue
        kinds.update(kinds_of(payload))
    return Idle(seconds, dict(kinds))

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the wire shows of a load: a short capture by dumpcap, read by tshark.

A setting that was asked for is one thing, what the packets say another. Read are, for each leg
(tester to router, router to tester) and each way: the MSS that the SYN announces, the largest
window that is advertised, the largest segment, the segments that tshark takes for sent again, and
the packet sizes and windows of the Call Accepted packets (X.25 6.12). The capture is bounded: so
many packets from the start of the load on, cut off after SNAP octets.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import plain_tshark
from ..report.text import one_line
from ..tied import tied
from .programs import last_words, run

SNAP = 160
"""Octets of each packet: headers, options and a whole Call packet."""
_STARTS = 20.0
_READS = 120.0
_SIZES, _WINDOWS = 0x42, 0x43
_CALL, _ACCEPTED = 0x0B, 0x0F
_FIELDS = (
    "frame.time_relative", "tcp.stream", "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport",
    "tcp.flags", "tcp.len", "tcp.window_size", "tcp.options.mss_val", "tcp.analysis.retransmission",
    "tcp.payload",
)  # fmt: skip
_SYN = 0x02


@dataclass
class Way:
    """What one end of a leg sent."""

    mss: set[int] = field(default_factory=set)
    advertised: int = 0
    largest_segment: int = 0
    segments: int = 0
    retransmitted: int = 0

    def as_dict(self) -> dict[str, Any]:
        """As in load.json; mss: as the SYNs announce it."""
        return vars(self) | {"mss": sorted(self.mss)}

    def add(self, other: Way) -> None:
        """Take in another connection."""
        self.mss |= other.mss
        self.advertised = max(self.advertised, other.advertised)
        self.largest_segment = max(self.largest_segment, other.largest_segment)
        self.segments += other.segments
        self.retransmitted += other.retransmitted


@dataclass
class Leg:
    """Connections between the router and one end of the tester; called: by their Call Request."""

    connections: int = 0
    called: str = ""
    tester: Way = field(default_factory=Way)
    router: Way = field(default_factory=Way)
    packet_sizes: set[int] = field(default_factory=set)
    windows: set[int] = field(default_factory=set)

    def as_dict(self) -> dict[str, Any]:
        """As in load.json."""
        return {
            "connections": self.connections,
            "tester": self.tester.as_dict(),
            "router": self.router.as_dict(),
            "packet_sizes": sorted(self.packet_sizes),
            "windows": sorted(self.windows),
        }

    def add(self, other: Leg) -> None:
        """Take in another connection."""
        self.connections += other.connections
        self.tester.add(other.tester)
        self.router.add(other.router)
        self.packet_sizes |= other.packet_sizes
        self.windows |= other.windows


@dataclass
class Seen:
    """A capture that was read; problem: why there is none, or less than should be.

    streams: one leg for each connection, by the name of its end and tshark's number.
    """

    streams: dict[tuple[str, str], Leg] = field(default_factory=dict)
    packets: int = 0
    seconds: float = 0.0
    dropped: int = 0
    problem: str = ""

    def leg(self, name: str, called: tuple[str, str] | None = None) -> Leg:
        """All connections of an end; called: only those that called an address from ... to."""
        whole = Leg()
        for (end, _), one in self.streams.items():
            if end == name and (called is None or called[0] <= one.called <= called[1]):
                whole.add(one)
        return whole

    def as_dict(self) -> dict[str, Any]:
        """As in load.json."""
        return {
            "packets": self.packets,
            "seconds": self.seconds,
            "dropped": self.dropped,
            "problem": self.problem,
        }


@dataclass
class Recording:
    """A capture under way, or why there is none."""

    path: Path
    process: subprocess.Popen[str] | None = None
    problem: str = ""
    said: list[str] = field(default_factory=list)
    ready: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> None:
        """Keep what dumpcap says, to its end."""
        assert self.process is not None and self.process.stderr is not None
        for line in self.process.stderr:
            if len(self.said) < 100:
                self.said.append(line.strip())
            if line.startswith("File:"):
                self.ready.set()
        self.ready.set()

    @property
    def dropped(self) -> int:
        """Packets that the capture lost, as dumpcap says at its end."""
        for line in self.said:
            found = re.match(r"Packets received/dropped on interface .*: \d+/(\d+)", line)
            if found:
                return int(found[1])
        return 0


@contextlib.contextmanager
def recorded(ends: Sequence[str], path: Path, packets: int) -> Iterator[Recording]:
    """Capture the connections of these ends ("address:port") while the block runs."""
    recording = _start(ends, path, packets)
    try:
        yield recording
    finally:
        if recording.process is not None:
            recording.process.terminate()
            try:
                recording.process.wait(timeout=_STARTS)
            except subprocess.TimeoutExpired:
                recording.process.kill()
                recording.process.wait()


def _start(ends: Sequence[str], path: Path, packets: int) -> Recording:
    recording = Recording(path)
    program = shutil.which("dumpcap")
    if program is None:
        recording.problem = "dumpcap is not installed"
        return recording
    parts = [end.partition(":") for end in dict.fromkeys(ends)]
    words = " or ".join(f"(host {address} and tcp port {port})" for address, _, port in parts)
    command = [*tied(), program, "-q", "-i", "any", "-s", str(SNAP), "-B", "64", "-c", str(packets)]
    try:
        recording.process = subprocess.Popen(
            [*command, "-f", words, "-w", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,  # Ctrl-C is for the load; the capture ends with it
        )
    except OSError as error:
        recording.problem = f"no capture: {error.strerror}"
        return recording
    threading.Thread(target=recording.listen, daemon=True).start()
    recording.ready.wait(_STARTS)
    if recording.process.poll() is not None and not path.exists():
        why = [line for line in recording.said if line]
        recording.problem = one_line(f"no capture: {why[-1] if why else 'dumpcap failed'}", 200)
    return recording


def read(recording: Recording, legs: Mapping[str, str]) -> Seen:
    """What the capture shows of each leg; legs: the end (address:port) that names it."""
    if recording.problem:
        return Seen(problem=recording.problem)
    program = shutil.which("tshark")
    if program is None:
        return Seen(problem="tshark is not installed")
    command = [program, "-n", "-r", str(recording.path), "-T", "fields"]
    command += [word for name in _FIELDS for word in ("-e", name)]
    command += ["-o", "tcp.desegment_tcp_streams:FALSE", "--disable-protocol", "xot"]
    try:
        done = run(command, _READS, plain_tshark.environment())
    except (OSError, subprocess.TimeoutExpired):
        return Seen(problem="tshark did not read the capture")
    seen = digest(done.stdout, legs)
    seen.dropped = recording.dropped
    if not seen.packets:
        nothing = "nothing was seen"
        seen.problem = last_words(done, nothing) if done.returncode else nothing
    return seen


def digest(lines: str, legs: Mapping[str, str]) -> Seen:
    """Read tshark's lines, with tabs between the fields. What is damaged is left out."""
    seen = Seen()
    by_end = {end: name for name, end in legs.items()}
    first = last = None
    for line in lines.splitlines():
        fields = line.split("\t")
        if len(fields) < len(_FIELDS):
            continue
        when, stream, source, source_port, target, target_port = fields[:6]
        sender, receiver = f"{source}:{source_port}", f"{target}:{target_port}"
        name = by_end.get(receiver) or by_end.get(sender)
        if name is None:
            continue
        leg = seen.streams.setdefault((name, stream), Leg(1))
        # The named end of leg A is the router's, that of a leg to B is the tester's.
        from_named = sender in by_end
        way = leg.tester if from_named != (name == "a") else leg.router
        try:
            _note(leg, way, fields[6:])
            at = float(when)
        except ValueError:
            continue
        first = at if first is None else first
        last = at
        seen.packets += 1
    seen.seconds = last - first if first is not None and last is not None else 0.0
    return seen


def _note(leg: Leg, way: Way, fields: Sequence[str]) -> None:
    flags, length, window, mss, again, payload = fields[:6]
    octets = int(length or 0)
    if int(flags, 16) & _SYN:
        if mss:
            way.mss.add(int(mss))
        return  # the window of a SYN is never scaled
    way.advertised = max(way.advertised, int(window or 0))
    way.largest_segment = max(way.largest_segment, octets)
    way.segments += octets > 0
    way.retransmitted += bool(again)
    if 7 <= octets < SNAP:
        for kind, called, facilities in _call_packets(bytes.fromhex(payload)):
            if kind == _CALL:
                leg.called = called
                continue
            size, allowed = agreed(facilities)
            leg.packet_sizes |= {size} if size else set()
            leg.windows |= {allowed} if allowed else set()


def _call_packets(payload: bytes) -> Iterator[tuple[int, str, bytes]]:
    """Type, called address and facilities of the Call and Call Accepted packets of a segment.

    XOT header 4 octets (version, length), X.25 header 3, the lengths of calling and called address
    in one octet, the called and the calling address, the length of the facilities, facilities
    (X.25 5.2.1).
    """
    while len(payload) >= 7 and payload[:2] == b"\0\0":
        length = int.from_bytes(payload[2:4], "big")
        packet, payload = payload[4 : 4 + length], payload[4 + length :]
        if len(packet) < 5 or packet[2] not in (_CALL, _ACCEPTED):
            continue
        calling, called = packet[3] >> 4, packet[3] & 15
        at = 4 + (calling + called + 1) // 2
        facilities = packet[at + 1 : at + 1 + packet[at]] if len(packet) > at else b""
        yield packet[2], packet[4:at].hex()[:called], facilities


def agreed(facilities: bytes) -> tuple[int, int]:
    """Packet size and window from the calling DTE on: the second octet of each (X.25 7.2.2.1,
    7.2.2.2). 0: not stated."""
    stated = dict(_facilities(facilities))
    exponent, window = stated.get(_SIZES, b"\0\0")[1], stated.get(_WINDOWS, b"\0\0")[1]
    return (1 << exponent if 4 <= exponent <= 12 else 0), window & 0x7F


def _facilities(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """Code and parameter; the class of the code (its first two bits) says how long (7.1)."""
    while len(octets) >= 2:
        code = octets[0]
        if code == 0:
            return  # markers: what follows is not X.25's
        kind = code >> 6
        start, length = (1, kind + 1) if kind < 3 else (2, octets[1])
        parameter = octets[start : start + length]
        if len(parameter) == length:
            yield code, parameter
        octets = octets[start + length :]

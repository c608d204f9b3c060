# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a permitted behaviour is seen on the wire, in the evidence of cases.

A filter of a permission counts the packets that it matches; {k} is put behind each strict field,
and "router" stands for: sent by the embedded router, over XOT or on a serial line. What no filter
says has a measure here: a function of a capture that gives a number.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..catalogue.permission import Permission
from ..evidence import pcapng
from ..judges.reading import Judge, PacketRead, Reading

ROUTER = "127.0.25.1"
# Of a frame of a serial line: who sent it, as judges tell it, and as a filter.
ON_A_LINE = "R"
FROM_ROUTER = f"(ip.src == {ROUTER} || hdlcs.direction == 1)"
FIELDS = ("x25s.type", "x25s.octets", "x25s.user_data", "x25s.m", "lapbs.type", "hdlcs.octets")

_STRICT = re.compile(r"\b(?:x25s|xots|x25t|lapbs|hdlcs)\.[a-z0-9_.]+")
_FROM_ROUTER = re.compile(r"\brouter\b")


@dataclass(frozen=True)
class Seen:
    """The evidence of one case: its packets, and when each frame was captured (seconds)."""

    reading: Reading
    times: tuple[float, ...]

    @property
    def from_router(self) -> list[PacketRead]:
        """The packets that the router sent, in the order of the capture."""
        return [packet for packet in self.reading.packets if packet.src in (ROUTER, ON_A_LINE)]

    def time(self, packet: PacketRead) -> float:
        """When the frame was captured in which a packet ended."""
        return self.times[packet.frame - 1]


Measure = Callable[[Seen], float]
MEASURES: dict[str, Measure] = {}


def measure(function: Measure) -> Measure:
    """Register a measure under the name of its function."""
    MEASURES[function.__name__] = function
    return function


@measure
def packets_in_a_segment(seen: Seen) -> float:
    """The most packets of the router that ended in one segment."""
    frames = Counter(packet.frame for packet in seen.from_router)
    return max(frames.values(), default=0)


@measure
def seconds_until_the_answer(seen: Seen) -> float:
    """The longest time between a packet of the tester and the next one of the router."""
    longest = 0.0
    since: float | None = None
    for packet in seen.reading.packets:
        if packet.src not in (ROUTER, ON_A_LINE):
            since = seen.time(packet)
        elif since is not None:
            longest, since = max(longest, seen.time(packet) - since), None
    return longest


def amount(judge: Judge, permission: Permission, captures: Sequence[bytes]) -> float:
    """How much of the permitted behaviour these captures show.

    To be compared with that of the router without the variant: more shows it.
    """
    if permission.measure:
        sign = -1 if permission.measure.startswith("-") else 1
        function = MEASURES[permission.measure.removeprefix("-")]
        return sign * sum(function(_look(judge, capture)) for capture in captures)
    text = display_filter(permission.more or permission.fewer)
    hits = sum(len(judge.read(capture, [text]).hits[0]) for capture in captures)
    return hits if permission.more else -hits


def display_filter(text: str) -> str:
    """The filter of a permission as judge two takes it."""
    return _FROM_ROUTER.sub(FROM_ROUTER, _STRICT.sub(r"\g<0>#{k}", text))


def _look(judge: Judge, capture: bytes) -> Seen:
    times = []
    interfaces = []
    for block in pcapng.read_blocks(io.BytesIO(capture)):
        if block.kind == pcapng.INTERFACE_DESCRIPTION:
            interfaces.append(pcapng.interface(block))
        elif block.kind == pcapng.ENHANCED_PACKET:
            number, units, _ = pcapng.packet(block)
            times.append(units / interfaces[number].per_second)
    return Seen(judge.read(capture, (), FIELDS), tuple(times))

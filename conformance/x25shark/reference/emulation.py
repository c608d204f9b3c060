# SPDX-License-Identifier: GPL-2.0-or-later
"""An emulated access line at an interface of the router: rate, propagation delay, queue, loss.

    [[emulation]] at = "127.0.25.2"  the XOT peer whose connections share the line, or
                                     "serial:NAME": that interface
        framing = "xot"              what a packet of XOT is charged with: its header and itself,
                                     or an HDLC frame with one flag and FCS, stuffed by bits
                                     ("hdlc") or octets ("hdlcoctet"). A serial interface has its
                                     own frames: they are charged as they are
        overflow = "hold"            what becomes of a packet that finds the queue full, or "drop"
        seed = 1                     of the losses
        in = {rate = 56000, delay = 72, queue = 20, queue_octets = 0, loss = 0.0}
        out = {...}                  towards the router, and from it: bit/s, milliseconds, what may
                                     wait while another packet is sent, share of packets; 0: no
                                     limit

The line is a clock that runs ahead: a packet takes exactly octets x 8 / rate seconds from when the
one before it has been sent, however late the timers of the loop run, so the rate is exact over any
time. An idle line saves nothing up. TCP's own handshakes and ends take no time.
"""

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from .config_table import Table
from .framing import HEADER, SHORTEST
from .hdlc import add_fcs

FRAMINGS = ("xot", "hdlc", "hdlcoctet")
OVERFLOWS = ("hold", "drop")
NANOSECONDS = 1_000_000_000
#: Address and control of an information frame of LAPB; their values are those of the first frame.
_ADDRESS_CONTROL = b"\x03\x00"


@dataclass(frozen=True)
class Way:
    """One direction. rate: bit/s; delay: seconds; 0: no limit."""

    rate: int = 0
    delay: float = 0.0
    queue: int = 0
    queue_octets: int = 0
    loss: float = 0.0


@dataclass(frozen=True)
class Emulation:
    """One [[emulation]]; its meaning is explained above."""

    at: str
    framing: str = "xot"
    overflow: str = "hold"
    seed: int = 1
    towards: Way = field(default_factory=Way)
    away: Way = field(default_factory=Way)


def read_emulation(table: Table) -> Emulation:
    """One table of the configuration."""
    found = Emulation(
        at=table.text("at"),
        framing=table.choice("framing", "xot", FRAMINGS),
        overflow=table.choice("overflow", "hold", OVERFLOWS),
        seed=table.integer("seed", 1, 0, 2**63 - 1),
        towards=read_way(table.table("in")),
        away=read_way(table.table("out")),
    )
    table.finish()
    return found


def read_way(table: Table) -> Way:
    way = Way(
        rate=table.integer("rate", 0, 0, 10**10),
        delay=table.number("delay", 0.0, 60_000) / 1000,
        queue=table.integer("queue", 0, 0, 10**6),
        queue_octets=table.integer("queue_octets", 0, 0, 10**9),
        loss=table.number("loss", 0.0, 1),
    )
    table.finish()
    return way


class Direction:
    """One direction of a line at work. Times are nanoseconds of one clock.

    carried: packets; octets: those of the wire; lost; overflowed: dropped for a full queue.
    """

    def __init__(self, way: Way, *, drops: bool, seed: int) -> None:
        self.way = way
        self.drops = drops
        self.carried = self.octets = self.lost = self.overflowed = 0
        self._delay = round(way.delay * NANOSECONDS)
        self._free_at = Fraction(0)
        #: When each packet that waits begins to be sent, and its octets.
        self._waiting: deque[tuple[Fraction, int]] = deque()
        self._draw = random.Random(seed)

    def room_at(self, now: int, octets: int) -> int | None:
        """When the queue has room for so many octets more; None: at once."""
        while self._waiting and self._waiting[0][0] <= now:
            self._waiting.popleft()
        if self._free_at <= now or not (self.way.queue or self.way.queue_octets):
            return None  # nothing waits for an idle line
        packets = len(self._waiting) + 1
        total = sum(waiting for _, waiting in self._waiting) + octets
        if self._fits(packets, total):
            return None
        for start, gone in self._waiting:
            packets, total = packets - 1, total - gone
            if self._fits(packets, total):
                return -int(-start // 1)
        return -int(-self._free_at // 1)

    def _fits(self, packets: int, octets: int) -> bool:
        way = self.way
        return (not way.queue or packets <= way.queue) and (
            not way.queue_octets or octets <= way.queue_octets or packets == 1
        )

    def send(self, now: int, octets: int) -> int | None:
        """When the last bit of a packet arrives at the other end; None: never."""
        if self.drops and self.room_at(now, octets) is not None:
            self.overflowed += 1
            return None
        start = max(self._free_at, Fraction(now))
        if self.way.rate:
            self._free_at = start + Fraction(octets * 8 * NANOSECONDS, self.way.rate)
        else:
            self._free_at = start
        if start > now:
            self._waiting.append((start, octets))
        self.carried += 1
        self.octets += octets
        if self.way.loss and self._draw.random() < self.way.loss:
            self.lost += 1
            return None
        return int(self._free_at) + self._delay


class EmulatedLine:
    """Both directions, shared by all connections of the interface."""

    def __init__(self, settings: Emulation) -> None:
        drops = settings.overflow == "drop"
        self.framing = settings.framing
        self.serial = settings.at.startswith("serial:")
        self.towards = Direction(settings.towards, drops=drops, seed=settings.seed)
        self.away = Direction(settings.away, drops=drops, seed=settings.seed + 1)

    def charge(self, unit: bytes) -> int:
        """Octets of the wire for one unit; a rest of bits counts as a whole one."""
        if self.serial or self.framing == "xot":
            return len(unit)
        frame = add_fcs(_ADDRESS_CONTROL + unit[HEADER:])
        if self.framing == "hdlcoctet":
            return 1 + len(frame) + frame.count(0x7D) + frame.count(0x7E)
        # Low-order bit first; a zero is put in behind five ones.
        bits = f"{int.from_bytes(frame, 'little'):0{8 * len(frame)}b}"[::-1]
        return -(-(8 + len(bits) + bits.count("11111")) // 8)

    def units(self, octets: bytearray) -> Iterator[bytes]:
        """Take whole units out of what has come: XOT units, or anything that is none at once."""
        while octets:
            length = len(octets)
            if not self.serial:
                if length < HEADER:
                    return
                announced = int.from_bytes(octets[2:HEADER], "big")
                if octets[0] == octets[1] == 0 and announced >= SHORTEST:
                    if length < HEADER + announced:
                        return
                    length = HEADER + announced
            unit = bytes(octets[:length])
            del octets[:length]
            yield unit

# SPDX-License-Identifier: GPL-2.0-or-later
"""What judge two read in one capture: the result both ways of asking Wireshark give.

Every packet is known by (frame, k): the k-th strict X.25 packet of that frame, k from 1. The octet
offset counts from the first octet after the SYN in that direction of the connection. On a serial
line every frame has k = 1, also one without an X.25 packet or with a wrong FCS.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import NamedTuple, Self

Value = int | str | bytes

TCP_FIN, TCP_SYN, TCP_RST, TCP_ACK = 0x01, 0x02, 0x04, 0x10


class JudgeError(Exception):
    """One reading could not be made.

    kind: "start" (no judge), "crash", "timeout", "filter", "field", "file" (not a capture at all),
    "limit" (the capture is beyond a bound), "request". place: the number of the filter or field.
    """

    def __init__(self, kind: str, message: str, place: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.place = place


class Hit(NamedTuple):
    """A packet that a filter matched; k is 0 for a filter without {k}."""

    frame: int
    k: int


class PacketRead(NamedTuple):
    """One strict X.25 packet, or one HDLC frame with all that it carries (k = 1).

    fields: the values asked for, by field name, in their order. Of a frame stream is the interface
    of the capture, src and dst are "A" (the tester) and "R" (the router), the ports are 0, and
    offset counts the octets of earlier frames in its direction.
    """

    frame: int
    k: int
    stream: int
    src: str
    sport: int
    dst: str
    dport: int
    offset: int | None
    fields: Mapping[str, tuple[Value, ...]]


class TcpEnd(NamedTuple):
    """A TCP frame with SYN, FIN or RST, or the acknowledgement that completes a handshake.

    offset: payload octets its direction sent before it; of a FIN, as many as it says.
    """

    frame: int
    stream: int
    src: str
    sport: int
    dst: str
    dport: int
    flags: int
    seq: int
    length: int
    offset: int

    @property
    def syn(self) -> bool:
        return bool(self.flags & TCP_SYN)

    @property
    def fin(self) -> bool:
        return bool(self.flags & TCP_FIN)

    @property
    def rst(self) -> bool:
        return bool(self.flags & TCP_RST)

    @property
    def ack(self) -> bool:
        return bool(self.flags & TCP_ACK)


class ExpertInfo(NamedTuple):
    """An expert info of a strict protocol; k is 0 if it belongs to the XOT unit, not the packet.

    stream, src, sport, dst, dport: as of a PacketRead.
    """

    frame: int
    k: int
    stream: int
    src: str
    sport: int
    dst: str
    dport: int
    offset: int | None
    id: str
    message: str
    severity: str


class Difference(NamedTuple):
    """Where Wireshark's own dissector reads a packet differently ("p_s: 10, built-in 20")."""

    frame: int
    k: int
    text: str


@dataclass(frozen=True)
class Reading:
    """One capture as judge two read it. hits has one entry for each filter, in their order.

    file_error: why the capture could not be read to its end (what came before is here).
    """

    frames: int
    packets: tuple[PacketRead, ...]
    tcp_ends: tuple[TcpEnd, ...]
    hits: tuple[tuple[Hit, ...], ...]
    experts: tuple[ExpertInfo, ...]
    differences: tuple[Difference, ...]
    lua_errors: tuple[str, ...]
    file_error: str | None
    milliseconds: float = field(default=0.0, compare=False)

    def renumbered(self, numbers: Sequence[int]) -> Reading:
        """The same with other frame numbers: numbers has that of each frame, in their order."""
        if isinstance(numbers, range) and numbers.start == 1:
            return self
        return replace(
            self,
            packets=tuple(PacketRead(numbers[p[0] - 1], *p[1:]) for p in self.packets),
            tcp_ends=tuple(TcpEnd(numbers[e[0] - 1], *e[1:]) for e in self.tcp_ends),
            hits=tuple(tuple(Hit(numbers[f - 1], k) for f, k in each) for each in self.hits),
            experts=tuple(ExpertInfo(numbers[e[0] - 1], *e[1:]) for e in self.experts),
        )


class CaptureReader(ABC):
    """Anything that reads captures with the strict dissector."""

    @abstractmethod
    def read(
        self,
        capture: bytes | int,
        filters: Sequence[str] = (),
        fields: Sequence[str] = (),
        *,
        timeout: float = 10.0,
    ) -> Reading:
        """What the dissector says of a capture."""

    @property
    @abstractmethod
    def computed(self) -> float:
        """Seconds of processor time of its processes so far; 0 where nobody tells."""

    @abstractmethod
    def close(self) -> None:
        """End what runs, and remove its folder."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

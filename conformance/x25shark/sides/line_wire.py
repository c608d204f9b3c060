# SPDX-License-Identifier: GPL-2.0-or-later
"""The octets and bits of a serial line, and frames that are lost on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from scapy.packet import Packet
from scapy_x25 import hdlc
from scapy_x25.lapb import LapbREJ, LapbRNR, LapbRR

from .. import profile as profiles
from ..links.hdlc import FrameUnit, Line
from ..links.lapb import Station
from .outcomes import NotApplicable
from .wire import ConnectionWire, Wired


class OnALine(Wired, Protocol):
    """What these parts need of their line."""

    name: str
    line: Line
    profile: profiles.Line
    station: Station
    frames: LineFrames

    @property
    def command_address(self) -> int:
        """Of commands to the router and its responses."""

    @property
    def response_address(self) -> int:
        """Of the router's commands and the responses to it."""

    def octets_of(self, packet: Packet) -> bytes:
        """A LAPB frame without FCS, with address and numbers where it does not name them."""

    def take_part(self) -> None:
        """The case is about this line as well."""

    def let_pass(self, *frames: Packet) -> None:
        """Such frames may come at any time from here on."""


class FramePlane:
    """The frames of a line as a side looks at a connection."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self.log = line.log
        self.local, self.remote = line.tester(), line.router()
        self.end: str | None = None
        self.closed = self.sent_in_part = False
        self.on_unit: Callable[[FrameUnit], None] | None = None

    @property
    def received(self) -> list[FrameUnit]:
        return self.log.received

    @property
    def sent(self) -> list[FrameUnit]:
        return self.log.sent

    @property
    def flooded(self) -> bool:
        return self._line.flooded

    @property
    def received_octets(self) -> int:
        return self._line.received_octets

    @property
    def amid_a_unit(self) -> bool:
        """The tap cuts frames; nothing is waited for."""
        return False

    def close(self) -> None:
        self.closed = True


class LineWire(ConnectionWire):
    """What stands between the flags, and the flags, as a case wants them."""

    def __init__(self, line: OnALine) -> None:
        super().__init__(line)
        self.line = line

    def send_whole(self, frames: Iterable[bytes], *, shared_flags: bool = False) -> None:
        """What stands between the flags, FCS included, as it is; numbers do not count on."""
        self.begin()
        self.line.line.send_frames(frames, shared_flags=shared_flags)

    def send_part(self, octets: bytes, bits: int, behind: bytes = b"") -> None:
        """A frame whose last octet has only so many bits; behind: a whole one that shares its last
        flag."""
        self._begin_in_octets("single bits")
        self.line.line.send_part(octets, bits, behind)

    def send_aborted(self, octets: bytes, behind: bytes = b"", ones: int = hdlc.ABORT_ONES) -> None:
        """The octets, then an abort; a whole frame behind it shares its flag."""
        self._begin_in_octets("an abort")
        self.line.line.send_aborted(octets, behind, ones)

    def send_flags(self, count: int) -> None:
        self._begin_in_octets("flags alone")
        self.line.line.send_flags(count)

    def send_idle(self, octets: int) -> None:
        """Ones, as many as so many octets have bits."""
        self._begin_in_octets("ones")
        self.line.line.send_idle(octets)

    def send_behind_ones(self, ones: int, octets: bytes) -> None:
        """So many 1s and a 0, then the octets of a frame that no flag opens."""
        self._begin_in_octets("ones ahead of a frame")
        self.line.line.send_behind_ones(ones, octets)

    def send(self, octets: bytes) -> None:
        """Octets of the line as they are."""
        self._begin_in_octets("octets of any kind")
        self.line.line.send_octets(octets)

    def _begin_in_octets(self, what: str) -> None:
        """As begin(), for what is no whole frame. Raises NotApplicable where the line has none."""
        if self.line.profile.whole_frames:
            name = self.line.name.lower()
            raise NotApplicable(f"line {name} hands whole frames on, and cannot carry {what}")
        self.begin()

    def begin(self) -> None:
        """The case is about this line, which sends now."""
        line = self.line
        line.take_part()
        line.context.sends(line)


class Losses:
    """Frames that are lost on their way."""

    def __init__(self, line: OnALine) -> None:
        self.line = line
        # Whether the next frame of the router is lost.
        self.router: Callable[[], bool] = lambda: False

    def begin(self, received: Callable[[], bool], sent: Callable[[], bool]) -> None:
        """From here on frames are lost: of the router, and of the station's own."""
        line = self.line
        self.router = received
        line.station.loses = sent
        line.let_pass(*line.frames.rejections(), *line.frames.answers())

    def end(self) -> None:
        """From here on none is lost."""
        self.begin(lambda: False, lambda: False)


class LineFrames:
    """Frames of a line with their right address."""

    def __init__(self, line: OnALine) -> None:
        self.line = line

    def with_fcs(self, frame: Packet) -> bytes:
        """The same with a right FCS."""
        return hdlc.with_fcs(self.line.octets_of(frame))

    def answers(self, **fields: Any) -> tuple[Packet, ...]:
        """The answers to a command with P=1 while there is a link (X.25 2.4.3)."""
        kinds = (LapbRR, LapbRNR, LapbREJ)
        return tuple(kind(address=self.line.command_address, p_f=1, **fields) for kind in kinds)

    def rejections(self, **fields: Any) -> tuple[Packet, ...]:
        """REJ that is not an answer: with F=0, or a command with P=1."""
        poll = LapbREJ(address=self.line.response_address, p_f=1, **fields)
        return LapbREJ(p_f=0, **fields), poll

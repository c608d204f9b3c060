# SPDX-License-Identifier: GPL-2.0-or-later
"""The HDLC link: one serial line, its frames with FCS as they were on it (X.25 2.2).

The line is an octet stream: octet-stuffed, or the bits of a bit-synchronous line, low-order bit
first. Every frame sent and received is known by line, direction, and the octets of earlier frames
in that direction; what counts is what stood between two flags, FCS included, and also what an
abort left, or what is not whole octets.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from scapy_x25 import hdlc

from .carrier import FRAMES, LineEnd
from .loop import Loop
from .stream import MOST_OCTETS, READ, Stream

_SABM, _DISC, _UA, _DM, _P_F = 0x2F, 0x43, 0x63, 0x0F, 0x10
# As stream.MOST_OCTETS; on all lines of a case.
MOST_FRAMES = 8_000
FRAMINGS = ("octet", "bit")


@dataclass(frozen=True)
class FrameUnit:
    """One frame: octets of earlier frames in its direction, and its octets with FCS.

    damage: "aborted" (or longer than anybody keeps), "unaligned" (no whole octets), or "".
    """

    offset: int
    octets: bytes
    damage: str
    time: float
    # No header of XOT.
    version = 0

    @property
    def packet(self) -> bytes:
        return self.octets

    @property
    def end(self) -> int:
        return self.offset + len(self.octets)

    @property
    def valid(self) -> bool:
        """Whole, with a right FCS and 32 bits or more (X.25 2.2.9); the address may be any."""
        return (
            not self.damage
            and len(self.octets) >= hdlc.SHORTEST
            and hdlc.fcs_register(self.octets) == hdlc.FCS_GOOD
        )


class Deframer:
    """Cuts one direction of a line into frames."""

    def __init__(self, framing: str) -> None:
        self._framing = framing
        self.octets = 0
        self.restart()

    def restart(self) -> None:
        """A new line: what was begun is lost."""
        self._deframer: hdlc.OctetDeframer | hdlc.BitDeframer
        if self._framing == "octet":
            self._deframer = hdlc.OctetDeframer()
        else:
            self._deframer = hdlc.BitDeframer()

    def take(self, octets: bytes) -> list[FrameUnit]:
        """The frames that are complete now."""
        now = time.monotonic()
        units = []
        for event in self._deframer.feed(octets):
            if isinstance(event, hdlc.Idle) or not event.octets:
                continue
            whole = event.octets
            damage = "aborted" if isinstance(event, hdlc.Aborted) else ""
            if isinstance(event, hdlc.Broken):
                damage = "unaligned"
                if event.reason.startswith("more than"):
                    whole = whole[: hdlc.LONGEST].ljust(hdlc.LONGEST, b"\0")
                    damage = "aborted"
            units.append(FrameUnit(self.octets, whole, damage, now))
            self.octets += len(whole)
        return units


@dataclass
class FrameLog:
    """The frames of one case. A line has no end as a TCP connection has."""

    received: list[FrameUnit] = field(default_factory=list)
    sent: list[FrameUnit] = field(default_factory=list)
    end: str | None = None
    # Nothing of TCP.
    finished_first = sent_in_part = False
    octets_read = syn_octets = end_at = None


class Line:
    """The tester's end of a line. log has the frames since begin_case().

    on_received and on_sent see each frame; flooded: the router sent more than the tester reads.
    """

    def __init__(self, loop: Loop, name: str, sock: socket.socket, framing: str) -> None:
        self._loop = loop
        self.name = name
        self._sock = sock
        self.framing = framing
        self._input = Deframer(framing)
        self._outgoing = Deframer(framing)
        self._framer = hdlc.BitFramer()
        self._stream = Stream(loop, sock, self._receive)
        self.log = FrameLog()
        self.flooded = False
        # Why the router's end is not there; "": it is.
        self.down = ""
        # Whether the router has asked for a link by SABM since the line is there.
        self.asked = False
        # Whether it sends a Restart of its own on a new link; None: not known yet.
        self.restarts: bool | None = None
        # Its last SABM, if neither an answer nor a DISC of the tester has followed.
        self.unanswered: FrameUnit | None = None
        # It came after that: between cases nobody looks.
        self.unanswered_since = 0.0
        self.on_received: Callable[[FrameUnit], None] | None = None
        self.on_sent: Callable[[FrameUnit], None] | None = None

    # who is who, in the key of judges

    def router(self, plane: int = FRAMES) -> LineEnd:
        """The router's end of a logical channel, or of the line itself."""
        return LineEnd(self.name, plane, of_router=True)

    def tester(self, plane: int = FRAMES) -> LineEnd:
        return LineEnd(self.name, plane, of_router=False)

    @property
    def received_octets(self) -> int:
        return self._input.octets

    def begin_case(self) -> None:
        """Count from 0 again. A frame that has begun belongs to the case in which it ends."""
        self.end_case()
        self._input.octets = self._outgoing.octets = 0
        self.flooded = False
        self._stream.read(True)

    def end_case(self) -> None:
        """What comes until the next case belongs to none."""
        self.log = FrameLog()
        self.on_received = self.on_sent = None

    def drain(self) -> None:
        """Read what is here; after a flood throw it away, so that the tap can go on."""
        if self.flooded:
            with contextlib.suppress(OSError):
                while self._sock.recv(READ):
                    pass
        while self._stream.reading and self._receive():
            pass

    def line_ended(self) -> None:
        """The router's end is gone: take what it has sent; a new line begins with nothing."""
        self.drain()
        self._input.restart()
        self._outgoing.restart()
        self._stream.forget()
        self._framer = hdlc.BitFramer()
        self.asked, self.unanswered = False, None

    # receiving

    def _receive(self) -> bool:
        """Whether there was something."""
        try:
            octets = self._sock.recv(READ)
        except BlockingIOError:
            return False
        except OSError:
            octets = b""
        if not octets:
            # The tap is gone; the campaign notices by itself.
            self._stream.read(False)
            return False
        self._loop.received += len(octets)
        for unit in self._input.take(octets):
            self._loop.units += 1
            self.log.received.append(unit)
            self._note_set_up(unit)
            if self.on_received is not None:
                self.on_received(unit)
        if (
            self.received_octets > MOST_OCTETS * self._loop.allowance
            or self._loop.units > MOST_FRAMES * self._loop.allowance
        ):
            self.flooded = True
            self._stream.read(False)
        return True

    def _note_set_up(self, unit: FrameUnit) -> None:
        kind = unit.octets[1] & ~_P_F if unit.valid else 0
        if kind == _SABM:
            self.asked, self.unanswered = True, unit
            self.unanswered_since = self._loop.looked
        elif kind == _DISC:
            self.unanswered = None

    # sending

    def send_octets(self, octets: bytes) -> None:
        """Octets of the line as they are: flags, halves of frames, anything."""
        units = self._outgoing.take(octets)
        self._stream.send(octets)
        self.log.sent += units
        if any(unit.valid and unit.octets[1] & ~_P_F in (_UA, _DM, _DISC) for unit in units):
            self.unanswered = None
        if self.on_sent is not None:
            for unit in units:
                self.on_sent(unit)

    def send_frames(self, frames: Iterable[bytes], *, shared_flags: bool = False) -> None:
        """Frames with their FCS (right or wrong), each between flags, in one write."""
        if self.framing == "octet":
            self.send_octets(hdlc.frame_octets(frames, shared_flags))
            return
        self._framer.frames(frames, shared_flags)
        self._send_bits()

    def framed(self, frame: bytes) -> bytes:
        """The octets of the line for a frame, flags included: who takes them sends them all."""
        if self.framing == "octet":
            return hdlc.frame_octets([frame])
        self._framer.frames([frame])
        self._framer.flag()
        return self._framer.take()

    def send_part(self, octets: bytes, bits: int = 8, behind: bytes = b"") -> None:
        """A frame whose last octet has only so many bits (bit-synchronous lines).

        behind: a whole one, which begins with the flag that ends the first.
        """
        self._framer.flag()
        self._framer.body(octets, bits)
        self._framer.flag()
        if behind:
            self._framer.body(behind)
            self._framer.flag()
        self._send_bits()

    def send_aborted(self, octets: bytes, behind: bytes = b"", ones: int = hdlc.ABORT_ONES) -> None:
        """A flag, octets of a frame, and an abort (of so many 1s on a bit-synchronous line).

        behind: a whole one, with no more than one flag in front: the one that ends the abort on an
        octet-stuffed line.
        """
        if self.framing == "octet":
            whole = hdlc.stuff_octets(behind) + b"\x7e" if behind else b""
            self.send_octets(b"\x7e" + hdlc.stuff_octets(octets) + b"\x7d\x7e" + whole)
            return
        self._framer.flag()
        self._framer.body(octets)
        self._framer.bits(*[1] * ones)
        if behind:
            self._framer.flag()
            self._framer.body(behind)
            self._framer.flag()
        else:
            self._framer.bits(0)
        self._send_bits()

    def send_flags(self, count: int) -> None:
        """Idle flags between frames."""
        if self.framing == "octet":
            self.send_octets(b"\x7e" * count)
            return
        for _ in range(count):
            self._framer.flag()
        self._send_bits()

    def send_idle(self, octets: int) -> None:
        """Continuous 1s (bit-synchronous lines)."""
        self._framer.bits(*[1] * (8 * octets))
        self._send_bits()

    def send_behind_ones(self, ones: int, octets: bytes) -> None:
        """So many 1s and a 0, then the octets of a frame without a flag in front (bit-synchronous
        lines)."""
        self._framer.bits(*[1] * ones, 0)
        self._framer.body(octets)
        self._send_bits()

    def _send_bits(self) -> None:
        # The flag behind is there so that the last bits fill an octet and are sent.
        self._framer.flag()
        self.send_octets(self._framer.take())

    def close(self) -> None:
        """Forget the line; the socket belongs to the tap."""
        self._stream.close()

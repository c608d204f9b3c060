# SPDX-License-Identifier: GPL-2.0-or-later
"""The logical channels of a serial line: packets out of its I frames, by channel and circuit.

A packet of a channel is one that an I frame in sequence brought; a frame that was sent again, or
that came after a gap, brings none. What is in sequence follows from the frames on the line alone
(SABM, UA, N(S) and N(R)), not from what the tester's LAPB machine believes, so that judge two can
come to the same from the capture. A circuit is a call on a channel, from its Call packet on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scapy_x25.x25 import (
    CALL_REQUEST,
    CLEAR_CONFIRMATION,
    CLEAR_REQUEST,
    RESTART_CONFIRMATION,
    RESTART_REQUEST,
    packet_type,
)

from .carrier import LineEnd
from .hdlc import FrameUnit, Line

_FCS_OCTETS = 2
_RESTARTS = (RESTART_REQUEST, RESTART_CONFIRMATION)
_SABM, _SABME, _UA = 0x2F, 0x6F, 0x63
_P_F = 0x10
_U = 3
_ADDRESSES = (0x01, 0x03, 0x07, 0x0F)
# A longer frame is followed by nobody; the dissector's own bound.
_LONGEST_FOLLOWED = 4096 + 4 + 3 + 2
# Octets of a frame that no N1 makes a giant (X.25 2.4.8.5; 1 088 bits with the FCS).
_NEVER_A_GIANT = 136
MODULUS = 8
ROUTER, TESTER = 0, 1


@dataclass(frozen=True)
class PacketUnit:
    """A packet, known by the place of the frame that brought it."""

    offset: int
    packet: bytes
    end: int
    time: float
    # No header of XOT, and a damaged frame brings no packet.
    version = 0
    damage = ""


@dataclass
class ChannelLog:
    """All packets of one channel in a case. end: "DISC" once the router has ended the link; end_at:
    where it did so last."""

    received: list[PacketUnit] = field(default_factory=list)
    sent: list[PacketUnit] = field(default_factory=list)
    end: str | None = None
    end_at: int | None = None
    # Nothing of TCP.
    finished_first = sent_in_part = False
    octets_read = syn_octets = None


class Sequence:
    """Which I frames of both directions are in sequence (X.25 2.4.5, 2.4.7)."""

    def __init__(self) -> None:
        self._expected: list[int | None] = [None, None]
        # SABM was sent and not answered; the station is in its set-up phase.
        self._asked = [False, False]
        self._setting_up = [False, False]
        self._known = False
        # N(S) and packet of a long frame that was taken last and that nobody has acknowledged yet.
        self._doubtful: list[tuple[int, bytes] | None] = [None, None]

    def follow(self, sender: int, frame: FrameUnit) -> bytes | None:
        """Take the next frame of a direction: the packet if it is an I frame in sequence."""
        octets = frame.octets
        if not frame.valid or len(octets) > _LONGEST_FOLLOWED or octets[0] not in _ADDRESSES:
            return None
        control = octets[1]
        if control & ~_P_F in (_SABM, _SABME):
            self._asked[sender] = self._setting_up[sender] = self._known = True
        elif control & ~_P_F == _UA:
            self._accepted(sender)
        elif control & 3 != _U:
            self._acknowledged(1 - sender, control >> 5)
            if not control & 1:
                return self._information(sender, octets)
        return None

    def _acknowledged(self, sender: int, n_r: int) -> None:
        if n_r == self._expected[sender]:
            self._doubtful[sender] = None

    def _information(self, sender: int, octets: bytes) -> bytes | None:
        """The packet of an I frame, if it brings one.

        A long frame may be a giant to the other end, whose N1 is not known here. Then another one
        of the same N(S) stands in its place; a station that repeats a frame does not change it.
        """
        n_s = octets[1] >> 1 & 7
        packet = octets[2:-_FCS_OCTETS]
        if self._expected[sender] in (None, n_s):
            self._expected[sender] = (n_s + 1) % MODULUS
            self._doubtful[sender] = (n_s, packet) if len(octets) > _NEVER_A_GIANT else None
            return packet
        doubtful = self._doubtful[sender]
        if doubtful is None or doubtful[0] != n_s or doubtful[1] == packet:
            return None
        self._doubtful[sender] = None
        return packet

    def _accepted(self, sender: int) -> None:
        """UA: its sender begins anew if it was asked, and so does the other if it asked."""
        other = 1 - sender
        if not self._known:
            self._expected = [0, 0]
        elif self._asked[other]:
            self._expected[sender] = 0
            self._asked[other] = self._setting_up[sender] = False
            if self._setting_up[other]:
                self._expected[other] = 0
                self._setting_up[other] = False


class Circuit:
    """A call on a logical channel, with what a side needs of a connection.

    received and sent hold its packets. end is None, or why the link does not carry it any more.
    stop: where the next circuit on the same channel begins, for what is expected of this one.
    """

    def __init__(self, channels: Channels, lcn: int, start: int) -> None:
        self._channels = channels
        self.lcn = lcn
        self.start = start
        self.stop: int | None = None
        self.local: LineEnd = channels.line.tester(lcn)
        self.remote: LineEnd = channels.line.router(lcn)
        self.received: list[PacketUnit] = []
        self.sent: list[PacketUnit] = []
        self.end: str | None = None
        self.closed = self.sent_in_part = False
        self.on_unit: Callable[[PacketUnit], None] | None = None
        self._clearing = False
        self.over = False

    @property
    def flooded(self) -> bool:
        return self._channels.line.flooded

    @property
    def amid_a_unit(self) -> bool:
        """The tap cuts frames; nothing is waited for."""
        return False

    @property
    def received_octets(self) -> int:
        """Where the next packet of the router would be."""
        return self._channels.line.received_octets

    def send_packets(self, packets: list[bytes]) -> None:
        """Packets of the tester, through the link."""
        for packet in packets:
            self._channels.send(packet)

    def took(self, unit: PacketUnit, *, sent: bool) -> None:
        """A packet of this circuit was on the line."""
        (self.sent if sent else self.received).append(unit)
        kind = packet_type(unit.packet)
        if kind == CLEAR_CONFIRMATION or (kind == CLEAR_REQUEST and self._clearing):
            self.over = True
        self._clearing = self._clearing or kind == CLEAR_REQUEST
        if not sent and self.on_unit is not None:
            self.on_unit(unit)

    def close(self) -> None:
        """The line outlives its calls."""
        self.closed = True


class Channels:
    """The circuits of one line. send gives a packet to the link; on_circuit sees calls of the
    router, on_channel each channel that it uses for the first time."""

    def __init__(self, line: Line, send: Callable[[bytes], None], *, highest_first: bool) -> None:
        self.line = line
        self.send = send
        self._highest_first = highest_first
        self._sequence = Sequence()
        self._current: dict[int, Circuit] = {}
        self.logs: dict[int, ChannelLog] = {}
        self._end: tuple[str, int] | tuple[None, None] = (None, None)
        self._used_by_router: set[int] = set()
        self.on_channel: Callable[[int], None] | None = None
        self.on_circuit: Callable[[Circuit], None] | None = None

    def took(self, unit: FrameUnit, *, sent: bool) -> None:
        """A frame was on the line."""
        packet = self._sequence.follow(TESTER if sent else ROUTER, unit)
        if not packet:
            return
        # A packet of one octet has no channel; it is shown with channel 0.
        lcn = (packet[0] & 15) << 8 | packet[1] if len(packet) > 1 else 0
        brought = PacketUnit(unit.offset, packet, unit.end, unit.time)
        if not sent and lcn and lcn not in self._used_by_router:
            self._used_by_router.add(lcn)
            if self.on_channel is not None:
                self.on_channel(lcn)
        kind = packet_type(packet)
        if lcn == 0 and kind in _RESTARTS:
            self._restarted(by_router=not sent)
        current = self._current.get(lcn)
        if not sent and kind == CALL_REQUEST and (current is None or current.over):
            current = self.open(lcn, unit.offset)
            if self.on_circuit is not None:
                self.on_circuit(current)
        log = self.log(lcn)
        (log.sent if sent else log.received).append(brought)
        if current is not None:
            current.took(brought, sent=sent)

    def _restarted(self, *, by_router: bool) -> None:
        """Every call is over; of the router nothing more can come then, no confirmation either."""
        for circuit in self._current.values():
            if circuit.lcn != 0:
                circuit.over = True
                if by_router:
                    circuit.end = circuit.end or "the router restarted the packet layer"

    def log(self, lcn: int) -> ChannelLog:
        """All packets of a channel."""
        end, end_at = self._end
        return self.logs.setdefault(lcn, ChannelLog(end=end, end_at=end_at))

    def ended(self, how: str, at: int) -> None:
        """The router ended the link in an orderly way, at this octet of the line."""
        self._end = how, at
        for log in self.logs.values():
            log.end, log.end_at = self._end

    def open(self, lcn: int, start: int | None = None) -> Circuit:
        """A new circuit on this channel: from here on, or with what has come since start."""
        begin = self.line.received_octets if start is None else start
        before = self._current.get(lcn)
        if before is not None:
            before.stop = begin
        self._current[lcn] = circuit = Circuit(self, lcn, begin)
        came = self.log(lcn).received
        circuit.received.extend(unit for unit in came if unit.offset >= begin)
        return circuit

    def free(self, lcns: range) -> int | None:
        """A channel for a call of the tester: the DTE looks from above (X.25 Annex A).

        Channels that had no call yet come first, so that calls of a case do not share one.
        """
        order = list(reversed(lcns)) if self._highest_first else list(lcns)
        unused = [lcn for lcn in order if lcn not in self.logs]
        over = [lcn for lcn in order if lcn in self._current and self._current[lcn].over]
        return next(iter(unused or over), None)

    def link_lost(self, why: str) -> None:
        """No call is carried any more; channel 0 is there as soon as there is a link again."""
        for circuit in self._current.values():
            if circuit.lcn != 0:
                circuit.over = True
                circuit.end = circuit.end or why

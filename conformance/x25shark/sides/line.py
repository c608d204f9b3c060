# SPDX-License-Identifier: GPL-2.0-or-later
"""Sides on a serial line: the line itself (frames by hand, and what is expected of frames), and
the calls on its logical channels, which are sides like any other. Parts of a line: link
(line_link.py); wire, frames and losses (line_wire.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scapy.packet import Packet
from scapy_x25 import Diagnostic, hdlc
from scapy_x25.lapb import (
    LAPB,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbSABME,
    LapbUA,
)

from ..judges.expectation import TcpEnd
from ..judges.frames import ABORTED, decode_frame
from ..judges.values import one_of
from ..links.circuits import Channels, Circuit
from ..links.hdlc import FrameUnit, Line
from ..links.lapb import DISC, DM, UA, Parameters, Station
from ..profile import Line as LineProfile
from .line_link import LineLink
from .line_wire import LineFrames, LineWire, Losses
from .outcomes import NotOnALine
from .side import Side
from .wire import ConnectionWire

if TYPE_CHECKING:
    from .bench import Bench

_COMMANDS = (LapbSABM, LapbSABME, LapbDISC, LapbI)
_RESPONSES = (LapbUA, LapbDM, LapbFRMR)
# What a router may send at any time, as far as frames are concerned: packets are judged by their
# channels, and acknowledgements belong to them; it may be busy for a while (X.25 2.4.5.8).
_LINK_FLOW: tuple[Packet, ...] = (LapbI(), LapbRR(p_f=0), LapbRNR(p_f=0), ABORTED)
# To DISC without a link (X.25 2.4.4.4.2). It is DM; LAPB-SET-10 says so of those that answer UA.
NO_LINK: tuple[Packet, ...] = (LapbDM(p_f=1), LapbUA(p_f=1))
# While the tester ends the link.
_LINK_ENDING: tuple[Packet, ...] = (
    LapbUA(),
    LapbDM(),
    LapbSABM(),
    LapbDISC(),
    LapbRR(),
    LapbRNR(),
    LapbREJ(),
    LapbI(),
    LapbFRMR(),
    ABORTED,
)
_NETWORK_OPERATIONAL = 0x07
_P_F = 0x10


class ChannelWire(ConnectionWire):
    """What a logical channel has not."""

    def send(self, octets: bytes) -> None:
        raise NotOnALine("octets of an XOT connection have no counterpart on a serial line")

    def reset(self) -> None:
        raise NotOnALine("a TCP RST has no counterpart on a serial line")

    def half_close(self) -> None:
        raise NotOnALine("a TCP FIN has no counterpart on a serial line")


class ChannelSide(Side):
    """A DTE or DCE on one logical channel of a line; lcn 0: restarts and diagnostics."""

    def __init__(self, bench: Bench, name: str, circuit: Circuit, modulus: int) -> None:
        self._circuit = circuit
        self.router_is_dce = bench.profile.line.by_side()[name.lower()].role == "dce"
        # A circuit has all of a connection that a side needs; what it has not is of XOT only.
        super().__init__(bench, name, circuit, modulus, circuit.start)
        self.wire = ChannelWire(self)
        self.lcn = circuit.lcn
        self.origin = circuit.start

    def _transmit(self, packets: Sequence[bytes]) -> None:
        self.bench.last_sender = self
        self._circuit.send_packets(list(packets))

    def allow(self, *templates: Packet) -> None:
        """As at any side; a Diagnostic comes on channel 0 of the line (X.25 5.6)."""
        super().allow(*templates)
        diagnostics = [template for template in templates if isinstance(template, Diagnostic)]
        if diagnostics and self.lcn:
            self.bench.lines[self.name.lower()].layer.allow(*diagnostics)

    def close(self) -> None:
        """The line outlives its calls."""
        self._circuit.close()

    @property
    def stop(self) -> int | None:  # type: ignore[override]
        """Where another call on the same channel begins."""
        return self._circuit.stop


class FramePlane:
    """The frames of a line as a side looks at a connection."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self.log = line.log
        self.local, self.remote = line.tester(), line.router()
        self.end: str | None = None
        self.closed = False
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


def _alike(passing: Packet, expected: Packet | TcpEnd) -> bool:
    """Whether a frame could be as both say; what is a set of values could be any of them."""
    if not isinstance(expected, type(passing)):
        return False
    both = passing.fields.keys() & expected.fields.keys()
    pairs = [(passing.fields[name], expected.fields[name]) for name in both]
    return all(a == b or not isinstance(a, int) or not isinstance(b, int) for a, b in pairs)


class LineSide(Side):
    """The tester's end of a serial line: frames are sent and expected as packets are elsewhere.

    A frame to send gets address, N(S) and N(R) where it does not name them; a template of a
    command or a response gets the right address, so that a wrong one does not match. The LAPB
    station below answers by itself unless by_hand is set.
    """

    relaxed = _LINK_ENDING
    wire: LineWire

    def __init__(self, bench: Bench, name: str, line: Line, profile: LineProfile) -> None:
        self.line = line
        self.profile = profile
        self.station = Station(
            line, Parameters(profile.role == "dte", profile.t1, profile.n2, profile.k)
        )
        self.channels = Channels(line, self.station.send, highest_first=profile.role == "dce")
        self.station.on_link_lost = self.channels.link_lost
        self.station.on_repeat = self._repeats
        self.station.on_crossing = lambda: self.let_pass(LapbSABM())
        self.station.by_hand = True
        # It may ask whether the tester is there, too, for want of an answer or out of the blue.
        asked = (kind(address=self.station.own, p_f=1) for kind in (LapbRR, LapbRNR))
        self.passing = (*_LINK_FLOW, *asked)
        # watched: the case is about frames; kept_down: it wants no link.
        self.watched = self.used = self.kept_down = False
        # Whether a SABM by hand is followed by UA where it crosses with the router's.
        self.answers_crossing = True
        self.link = LineLink(self)
        self.frames = LineFrames(self)
        self.losses = Losses(self)
        line.begin_case()
        line.on_received, line.on_sent = self._received, self._sent
        super().__init__(bench, name, FramePlane(line))
        self.wire = LineWire(self)

    def _received(self, unit: FrameUnit) -> None:
        if unit.valid and unit.octets[1] & ~_P_F == DISC:
            self.channels.ended("DISC")
        self.channels.took(unit, sent=False)
        if self.losses.router():
            return
        self.station.take(unit)
        if self.station.peer_busy:
            # What it dropped while it was busy it asks for (X.25 2.4.5.8).
            self.let_pass(*self.frames.rejections())

    def let_pass(self, *frames: Packet) -> None:
        """Such frames may come at any time from here on."""
        self.passing += tuple(frame for frame in frames if frame not in self.passing)

    def _repeats(self) -> None:
        """On a slow machine the first command is answered as well, if late."""
        self.let_pass(LapbUA(p_f=1), LapbDM(p_f=1), *self.frames.answers())

    def _sent(self, unit: FrameUnit) -> None:
        self.channels.took(unit, sent=True)

    def _arrived(self, unit: Any) -> None:
        """Frames are the station's business."""

    def take_part(self) -> None:
        """The case is about this line as well: until then the tester is silent on it."""
        if not self.used:
            self.used, self.station.by_hand = True, False

    # who has which address

    @property
    def command_address(self) -> int:
        """Of commands to the router and its responses."""
        return self.station.other

    @property
    def response_address(self) -> int:
        """Of the router's commands and the responses to it."""
        return self.station.own

    @property
    def modulo_bits(self) -> int:
        """Of the general format identifier."""
        return 2 if self.profile.modulo == 128 else 1

    @property
    def by_hand(self) -> bool:
        return self.station.by_hand

    @by_hand.setter
    def by_hand(self, value: bool) -> None:
        self.station.by_hand = value

    # sending

    def octets_of(self, packet: Packet) -> bytes:
        """A LAPB frame without FCS, with address and numbers where it does not name them."""
        whole = packet.copy()
        if "address" not in whole.fields and "address" in whole.fieldtype:
            response = isinstance(packet, (*_RESPONSES, LapbRR, LapbRNR, LapbREJ))
            whole.fields["address"] = self.response_address if response else self.command_address
        if "n_r" in whole.fieldtype:
            whole.fields.setdefault("n_r", self.station.v_r)
        if isinstance(whole, LapbI):
            whole.fields.setdefault("n_s", self.station.v_s)
        return bytes(whole)

    def send(self, *packets: Packet) -> None:
        """Frames with their right FCS, in one write; I frames with the next N(S) count on."""
        if any(isinstance(packet, LapbI) for packet in packets):
            self.wait_until_ready()
        if any(isinstance(packet, LapbDISC) for packet in packets):
            self.link.want_no_link()
        frames = []
        for packet in packets:
            octets = self.octets_of(packet)
            frames.append(hdlc.with_fcs(octets))
            self.station.count_sent(octets)
        self.wire.send_whole(frames)
        commands = [packet for packet in packets if isinstance(packet, LapbSABM)]
        if self.answers_crossing and any("address" not in p.fields for p in commands):
            self.station.answer_crossing()

    def wait_until_ready(self) -> None:
        """A router that is busy may drop I frames (X.25 2.4.5.8): wait for the end of it."""
        if self.station.peer_busy:
            self.wait_until(lambda: not self.station.peer_busy)

    # expecting

    def expect(self, *alternatives: Packet | TcpEnd, **options: Any) -> Packet | None:
        """As Side.expect(), for frames. What a link may bring at any time passes."""
        return super().expect(*map(self._addressed, alternatives), **options)

    def _passing_beside(self, alternatives: Sequence[Packet | TcpEnd]) -> tuple[Packet, ...]:
        """All that a link may bring but what might be taken for what is expected."""
        return tuple(f for f in self.passing if not any(_alike(f, a) for a in alternatives))

    def acknowledged(self, passing: Sequence[Packet] = (), **options: Any) -> Packet | None:
        """Expect an acknowledgement of all that was sent: RR, RNR, or an I frame.

        Older numbers may come before it.
        """
        taken = self.station.v_s
        older = one_of(*((taken - behind) % 8 for behind in range(1, max(2, self.profile.k))))
        kinds = (LapbRR, LapbRNR, LapbI)
        return self.expect(
            *(kind(n_r=taken) for kind in kinds),
            passing=(*(kind(n_r=older) for kind in kinds), *passing),
            **options,
        )

    def decoded(self, octets: bytes) -> Packet:
        frame = decode_frame(octets)
        assert frame is not None  # it has just met a template of a frame
        return frame

    def expect_at_once(self, *alternatives: Packet, **options: Any) -> Packet | None:
        """The very next frame is one of these: nothing passes but what the router aborts."""
        usual = self.passing, self.allowed
        self.passing, self.allowed = (ABORTED,), []
        try:
            return self.expect(*alternatives, **options)
        finally:
            self.passing, self.allowed = usual

    def no_reaction(self, *templates: Packet, **fence: Any) -> None:
        """No such frame comes in reaction to what was sent: up to the answer to a command."""
        self.never(*templates)
        demand = self.bench.expectations[-1]
        demand.stop = self.link_fence(**fence)

    def never(self, *templates: Packet, **options: Any) -> None:
        super().never(*(self._addressed(t) for t in templates), **options)

    def expect_count(self, template: Packet, low: int, *more: Any, **options: Any) -> None:
        super().expect_count(self._addressed(template), low, *more, **options)

    def _addressed(self, template: Any) -> Any:
        if not isinstance(template, LAPB) or "address" in template.fields:
            return template
        if isinstance(template, _COMMANDS):
            address = self.response_address
        elif isinstance(template, _RESPONSES):
            address = self.command_address
        else:
            return template
        whole = template.copy()
        whole.fields["address"] = address
        return whole

    # fences

    @property
    def restart_cause(self) -> int:
        """What the tester may give as cause: a DTE gives 0."""
        return _NETWORK_OPERATIONAL if self.station.parameters.dce else 0

    @property
    def layer(self) -> ChannelSide:
        """Channel 0: restarts and diagnostics."""
        return self.bench.serial.channel_zero(self)

    def link_fence(self, n_r: int | None = None) -> int:
        """A command with P=1 and its answer: what came before it has been dealt with.

        n_r: the N(R) of the answer (what the router has taken) if the link is up. Returns where
        the answer begins.
        """
        if not self.station.up:
            return self._fence_without_a_link()
        if n_r is None and not self.by_hand:
            self._fence_by_the_station()
        else:
            self.poll(n_r=self.station.v_s if n_r is None else n_r, note="fence")
        return self._last_begin()

    def _fence_by_the_station(self) -> None:
        """A poll that is answered with all taken.

        A busy router (RNR) need not have taken the I frames that came meanwhile (X.25 2.4.5.8).
        The station sends them again when it is no more busy; then it is polled once more.
        """
        v_s, v_a = self.station.v_s, self.station.v_a
        older = tuple(number % 8 for number in range(v_a, v_a + (v_s - v_a) % 8))
        # Answers to polls of the station itself, at its T1, may be there already.
        others = one_of(*(number % 8 for number in range(v_s + 1, v_s + 8)))
        stale = self.frames.answers(n_r=others)
        passing = stale if self._answered_before() else ()
        self.send(LapbRR(address=self.command_address, p_f=1))
        busy = [LapbRNR(address=self.command_address, p_f=1, n_r=one_of(*older))] if older else []
        seen = self.expect(*self.frames.answers(n_r=v_s), *busy, passing=passing, note="fence")
        if seen is None or seen.n_r == v_s:
            return
        self.bench.remark("the router was busy (RNR), and took what it had dropped later")
        self.wait_until(lambda: self.station.v_a == v_s)
        self.send(LapbRR(address=self.command_address, p_f=1))
        self.expect(*self.frames.answers(n_r=v_s), passing=stale, note="fence")

    def _answered_before(self) -> bool:
        """Whether a supervisory response with F=1 is there that no expectation has looked at."""
        new = [u.octets for u in self.line.log.received if u.offset >= self.cursor and u.valid]
        return any(o[0] == self.command_address and o[1] & 0x13 == 0x11 for o in new)

    def _fence_without_a_link(self) -> int:
        """DISC and its answer.

        UA may be the answer of a station without a link (a remark of LAPB-SET-10), but it may just
        as well be the reaction to what was sent before. A polled RR is answered by DM in either
        case (X.25 2.4.4.4.2), and the last UA ahead of that was for the DISC. A router that leaves
        the poll unanswered has its own case (LAPB-SET-11): here time has to do.
        """
        tries = self.link.set_up_tries()
        self.send(LapbDISC(p_f=1))
        seen = self.expect(*NO_LINK, passing=tries, note="fence")
        begin = self._last_begin()
        if isinstance(seen, LapbUA):
            before = self.cursor
            self.send(LapbRR(address=self.command_address, p_f=1))
            if self.wait_until(lambda: self._refused_since(before)):
                self.expect(
                    LapbDM(p_f=1), passing=(*tries, LapbUA()), note="fence: there is no link"
                )
            else:
                self.bench.remark("a poll without a link was not answered (X.25 2.4.4.4.2)")
                self.cursor = self.connection.received_octets
            units = self.line.log.received
            later = [u for u in units if before <= u.offset < self.cursor and u.valid]
            answers = [u.offset for u in later if u.octets[1] == UA | _P_F]
            begin = max([begin, *answers])
        return begin

    def _refused_since(self, begin: int) -> bool:
        """Whether DM F=1 has come from there on."""
        new = [u.octets[1] for u in self.line.log.received if u.offset >= begin and u.valid]
        return DM | _P_F in new

    def _last_begin(self) -> int:
        """Where the frame begins that was expected last."""
        units = self.line.log.received
        return next((u.offset for u in reversed(units) if u.end == self.cursor), self.cursor)

    def pause(self, seconds: float) -> None:
        """Let time pass for the router's timers: no longer than needed, unlike a patient wait."""
        until = time.monotonic() + seconds
        self.wait_until(lambda: time.monotonic() >= until, seconds)

    def skip(self) -> None:
        """What has come so far has no expectation: preambles brought it."""
        self.cursor = self.origin = self.connection.received_octets

    def poll(self, note: str = "", **fields: Any) -> Packet | None:
        """RR P=1 and the answer to it, which has F=1 and what fields say."""
        self.send(LapbRR(address=self.command_address, p_f=1))
        return self.expect(*self.frames.answers(**fields), note=note)

    def packet(self, packet: Packet, **fields: Any) -> Packet:
        """An I frame that carries a packet of this line's modulus."""
        whole = packet.copy()
        whole.fields.setdefault("modulo", self.modulo_bits)
        return LapbI(**fields) / bytes(whole)

    def finish(self) -> None:
        """The end of the case."""
        if self.left_at is None:
            self.link.leave()
        self.station.stop()

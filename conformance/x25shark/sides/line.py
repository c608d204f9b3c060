# SPDX-License-Identifier: GPL-2.0-or-later
"""A serial line as a side: frames by hand, what is expected of frames, and how its link comes and
goes. The calls on its logical channels are sides of their own (channel.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from scapy.packet import Packet
from scapy_x25 import RestartConfirmation, RestartRequest, hdlc
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
from scapy_x25.x25 import RESTART_CONFIRMATION, RESTART_REQUEST

from ..judges.expectation import TcpEnd
from ..judges.frames import ABORTED, decode_frame
from ..judges.values import one_of
from ..links.circuits import Channels, Circuit
from ..links.hdlc import FrameUnit, Line
from ..links.lapb import DISC, DM, FRMR, RNR, SABM, UA, Parameters, Station
from ..profile import Line as LineProfile
from .channel import ChannelSide
from .context import Context
from .line_wire import FramePlane, LineFrames, LineWire, Losses
from .side import Side

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
# Without a link: either station may ask for one, by SABM or by DM F=0, and DISC may come ahead of
# SABM so that both begin alike (X.25 2.4.4.1, 2.4.4.4.2).
ASKING_FOR_A_LINK: tuple[Packet, ...] = (LapbSABM(), LapbDM(p_f=0), LapbDISC())
# A station that refuses a link because it is not ready yet is asked again so long (seconds).
NOT_READY_SECONDS = 3.0
_NETWORK_OPERATIONAL = 0x07
_P_F = 0x10
_OF_RESTARTS = (RESTART_REQUEST, RESTART_CONFIRMATION)


def _alike(passing: Packet, expected: Packet | TcpEnd) -> bool:
    """Whether a frame could be as both say; what is a set of values could be any of them."""
    if not isinstance(expected, type(passing)):
        return False
    both = passing.fields.keys() & expected.fields.keys()
    pairs = [(passing.fields[name], expected.fields[name]) for name in both]
    return all(a == b or not isinstance(a, int) or not isinstance(b, int) for a, b in pairs)


def _begins(control: int) -> bool:
    """Whether a link can begin with this frame of the router."""
    return control & ~_P_F in (SABM, UA)


class LineSide(Side):
    """The tester's end of a serial line: frames are sent and expected as packets are elsewhere.

    A frame to send gets address, N(S) and N(R) where it does not name them; a template of a
    command or a response gets the right address, so that a wrong one does not match. The LAPB
    station below answers by itself unless by_hand is set.
    """

    relaxed = _LINK_ENDING
    wire: LineWire

    def __init__(
        self,
        context: Context,
        name: str,
        line: Line,
        profile: LineProfile,
        add_channel: Callable[[LineSide, Circuit], ChannelSide],
    ) -> None:
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
        self.link = LineLink(self, add_channel)
        self.frames = LineFrames(self)
        self.losses = Losses(self)
        line.begin_case()
        line.on_received, line.on_sent = self._received, self._sent
        super().__init__(context, name, FramePlane(line))
        self.wire = LineWire(self)

    def _received(self, unit: FrameUnit) -> None:
        if unit.valid and unit.octets[1] & ~_P_F == DISC:
            self.channels.ended("DISC", unit.offset)
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
        demand = self.context.expectations[-1]
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
        return self.link.channel_0()

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
        The station sends them again when it is not busy any more; then it is polled once more. A
        request for them may cross a poll, so a router that is known to be busy is polled when it
        has them; one that comes to be busy as it is polled may ask for them ahead of its answer.
        """
        if self.station.peer_busy:
            self.wait_until(
                lambda: not self.station.peer_busy and self.station.v_a == self.station.v_s
            )
        v_s, v_a = self.station.v_s, self.station.v_a
        older = tuple(number % 8 for number in range(v_a, v_a + (v_s - v_a) % 8))
        # Answers to polls of the station itself, at its T1, may be there already.
        others = one_of(*(number % 8 for number in range(v_s + 1, v_s + 8)))
        stale = self.frames.answers(n_r=others)
        passing = stale if self._answered_before() else ()
        begin = self.connection.received_octets
        self.send(LapbRR(address=self.command_address, p_f=1))
        if older:
            self.wait_until(lambda: self._answered_since(begin))
        busy = self.frames.answers(n_r=one_of(*older)) if older and self._busy_before() else ()
        seen = self.expect(*self.frames.answers(n_r=v_s), *busy, passing=passing, note="fence")
        if seen is None or seen.n_r == v_s:
            return
        self.context.remark("the router was busy (RNR), and accepted later what it had dropped")
        self.wait_until(lambda: self.station.v_a == v_s)
        self.send(LapbRR(address=self.command_address, p_f=1))
        self.expect(*self.frames.answers(n_r=v_s), passing=stale, note="fence")

    def _answered_before(self) -> bool:
        """Whether a supervisory response with F=1 is there that no expectation has looked at."""
        return self._answered_since(self.cursor)

    def _answered_since(self, begin: int) -> bool:
        """Whether a supervisory response with F=1 has come from there on."""
        new = [u.octets for u in self.line.log.received if u.offset >= begin and u.valid]
        return any(o[0] == self.command_address and o[1] & 0x13 == 0x11 for o in new)

    def _busy_before(self) -> bool:
        """Whether an RNR is there that no expectation has looked at."""
        new = [u.octets[1] for u in self.line.log.received if u.offset >= self.cursor and u.valid]
        return any(control & 0x0F == RNR for control in new)

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
                self.context.remark("a poll without a link was not answered (X.25 2.4.4.4.2)")
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


class LineLink:
    """Sets the link of a line up and ends it, as a preamble or as what the case is about."""

    def __init__(
        self, line: LineSide, add_channel: Callable[[LineSide, Circuit], ChannelSide]
    ) -> None:
        self.line = line
        self._add_channel = add_channel
        self._layer: ChannelSide | None = None
        # The link on which the packet layer has been restarted; 0: none yet.
        self._restarted = 0

    def channel_0(self, start: int = 0) -> ChannelSide:
        """The side of restarts and diagnostics; start: where its link begins, if it is new."""
        if self._layer is None:
            self._layer = self._add_channel(self.line, self.line.channels.open(0, start))
        return self._layer

    def leave(self) -> None:
        """End the link, if the case used it; the answer is waited for, but not demanded."""
        line = self.line
        line.kept_down = True
        if line.used:
            line.station.by_hand = False
            line.station.refusing = True
            line.station.disconnect()
            line.context.loop.wait(
                lambda: line.station.phase == "disconnected" or line.connection.flooded,
                line.context.profile.times.reaction,
            )

    def bring_down(self) -> None:
        """Preamble: the link is in its disconnected phase. Raises Inconclusive.

        It is set up first, so that DISC ends a link and is answered by UA; not so where the
        router sets it up as well, since the two might collide. What it tries then is refused (DM).
        """
        line = self.line
        line.kept_down = True
        line.take_part()
        with line.context.preamble():
            if not line.profile.initiates and not line.station.up:
                self._set_up()
            self.want_no_link()
            self.end()

    def want_no_link(self) -> None:
        """What the router may ask for now is refused."""
        line = self.line
        line.station.refusing = True
        line.allow(*ASKING_FOR_A_LINK)

    def end(self) -> None:
        """DISC and its answer."""
        self._have_answered(self.line.station.disconnect, LapbUA(p_f=1), LapbDM(p_f=1))

    def _set_up(self) -> None:
        """SABM, until UA: a station that is not ready yet answers DM (X.25 2.4.4.1)."""
        line = self.line
        until = time.monotonic() + NOT_READY_SECONDS
        while time.monotonic() < until:
            seen = self._have_answered(line.station.set_up, LapbUA(p_f=1), LapbDM(p_f=1))
            if not isinstance(seen, LapbDM):
                return
            line.pause(NOT_READY_SECONDS / 10)
        self._have_answered(line.station.set_up, LapbUA(p_f=1))

    def _have_answered(self, command: Callable[[], None], *expected: Packet) -> Packet | None:
        """Have the station send SABM or DISC, and expect the answer: to each, if it repeats it.

        A second SABM resets the link once more, and what came before belongs to an earlier one.
        """
        line = self.line
        begin = line.connection.received_octets
        command()
        seen = line.expect(*expected, passing=self.set_up_tries())
        if line.station.commands < 2:
            return seen
        answers = UA | _P_F, DM | _P_F

        def all_answered() -> bool:
            came = [u for u in line.line.log.received if u.offset >= begin and u.valid]
            return sum(unit.octets[1] in answers for unit in came) >= line.station.commands

        line.wait_until(all_answered)
        line.cursor = line.connection.received_octets
        return seen

    def set_up_came_first(self) -> bool:
        """Whether a SABM or DISC came before DM F=1 or FRMR, and before the time for it was over.

        A station that has sent one of them discards all other commands (X.25 2.4.4.1, 2.4.4.3).
        """
        line = self.line
        begin, own, answers = line.cursor, (SABM, DISC), (DM | _P_F, FRMR, FRMR | _P_F)

        def came() -> list[bool]:
            units = [u for u in line.line.log.received if u.offset >= begin and u.valid]
            controls = [(u.octets[1], u.octets[1] & ~_P_F) for u in units]
            return [kind in own for c, kind in controls if kind in own or c in answers]

        line.wait_until(lambda: bool(came()))
        return came()[:1] == [True]

    def set_up_tries(self) -> tuple[Packet, ...]:
        """What may come in between: of an earlier link, and set-up by the router itself."""
        return (
            *(LapbI(), LapbRR(), LapbRNR(), LapbREJ(), LapbFRMR()),
            *ASKING_FOR_A_LINK,
        )

    def bring_up(self, *, judged: bool = False) -> None:
        """Preamble P-LINK: SABM and UA, and the restart of the packet layer.

        judged: it is not a preamble; what goes wrong is what the case is about.
        """
        line = self.line
        line.kept_down = False
        if line.station.up and (line.by_hand or self._restarted == line.station.links):
            return
        line.wire.begin()
        with nullcontext() if judged else line.context.preamble():
            self.raise_link()
            if not judged and line.station.links == 1:
                line.skip()
            self.restart()

    def raise_link(self) -> None:
        """SABM and UA; the packet layer is as the router leaves it."""
        line = self.line
        if not line.station.up:
            self._set_up()
            # What came before belongs to an earlier link.
            layer = self.channel_0(line.cursor)
            layer.cursor = max(layer.cursor, line.cursor)

    def restart(self) -> None:
        """The packet layer begins anew: the tester's Restart collides with the router's, or is
        confirmed (X.25 3.3)."""
        line = self.line
        layer = line.layer
        frames = [unit for unit in line.line.log.received if unit.valid]
        began = max((u.offset for u in frames if _begins(u.octets[1])), default=0)
        # What came before belongs to an earlier link.
        layer.cursor = max(layer.cursor, began)
        layer.send(RestartRequest(cause=line.restart_cause, diagnostic=0))
        layer.expect(RestartConfirmation(), RestartRequest())
        if self._restarted != line.station.links:
            self._settle(began)
        # A call over another link must not overtake it.
        layer.wait_until(lambda: not line.station.unacknowledged)
        self.note_restarted()
        line.cursor = line.connection.received_octets

    def _settle(self, began: int) -> None:
        """The router's own Restart of this link, behind its confirmation of the tester's.

        No clause says how soon it comes (X.25 3.3.2, 4.6), and it ends what has begun until then.
        A router that leaves it to the tester on one link is not waited for on the next.
        """
        line, layer = self.line, self.line.layer

        def came() -> list[bool]:
            """Of the packets of restarts on this link, which ask for one."""
            kinds = layer.arrivals.types(began)
            return [kind == RESTART_REQUEST for kind in kinds if kind in _OF_RESTARTS]

        if came()[:1] == [True]:
            # It has met the tester's.
            line.line.restarts = True
            return
        if line.line.restarts is not False:
            layer.wait_until(
                lambda: any(came()) or not line.station.up, line.context.profile.times.reaction
            )
            if line.station.up:
                line.line.restarts = any(came())
        if any(came()):
            layer.expect(RestartRequest(), passing=(RestartConfirmation(),))
            layer.send(RestartConfirmation())

    def note_restarted(self) -> None:
        """The packet layer of this link has been restarted, or is the case's own business."""
        self._restarted = self.line.station.links

# SPDX-License-Identifier: GPL-2.0-or-later
"""The LAPB station of a serial interface, modulo 8 (X.25 2.4; ISO/IEC 7776).

Frames come in without FCS, checked; packets go up once and in order. The station never polls while
it can avoid it: an acknowledgement goes out with the next I frame, at the end of the turn, or after
T2. Lost frames are repeated after REJ, or after T1 and the answer to a poll (timer recovery).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from . import lapb_frames as frames
from .lapb_frames import COMMANDS, RESPONSES, SUPERVISORY, Control, Frame, Reason
from .ports import Timer, Timers

#: Sequence numbers count modulo this.
MODULO = 8


@dataclass(frozen=True)
class Parameters:
    """X.25 2.4.8: times in seconds (0: not run), N1 in bits."""

    t1: float = 3.0
    t2: float = 0.0
    t3: float = 30.0
    n1: int = 2104
    n2: int = 10
    k: int = 7
    #: Start the link and not only answer; pause between two rounds of N2 attempts.
    initiate: bool = False
    retry: float = 10.0


class Phase(Enum):
    """What the text of X.25 2.4 calls phases and conditions."""

    DISCONNECTED = "L1"
    SET_UP = "L2"
    DISCONNECT = "L3"
    TRANSFER = "L4"
    REJECT = "L5"


class Station(Protocol):
    """What stands around the machine: the line below, the packet layer above, the counters."""

    def frame_out(self, octets: bytes) -> None:
        """Send a frame; the FCS is not there yet."""

    def link_up(self) -> None:
        """The link is set up, or was reset: numbers are 0, and packets may have been lost."""

    def link_down(self) -> None:
        """There is no link any more."""

    def packet_in(self, packet: bytes) -> None:
        """The information field of an I frame, once and in order."""

    def window_moved(self) -> None:
        """Packets that waited may have gone out."""

    def count(self, name: str) -> None:
        """Move a counter."""

    def note_rejection(self, name: str, field: bytes) -> None:
        """Keep the information field of the last FRMR."""


class Lapb:
    """One station. own is the address of commands to it, other that of its own commands."""

    def __init__(self, parameters: Parameters, dce: bool, timers: Timers, station: Station) -> None:
        self.parameters = parameters
        self.own = frames.ADDRESS_B if dce else frames.ADDRESS_A
        self.other = frames.ADDRESS_A if dce else frames.ADDRESS_B
        self.timers = timers
        self.station = station
        self.phase = Phase.DISCONNECTED
        self.line = False
        #: Packets that were not sent yet.
        self.waiting: deque[bytes] = deque()
        self._running: dict[str, Timer] = {}
        self.forget()

    def forget(self) -> None:
        """X.25 2.4.7: a new link starts with 0 and without conditions."""
        self.v_s = self.v_r = self.v_a = 0
        #: Packets of the I frames that are not acknowledged, from V(A) on.
        self.open: list[bytes] = []
        #: I frames received and not acknowledged.
        self.owed = 0
        self.peer_busy = False
        #: REJ was sent, and the frame that it asks for has not come.
        self.rejecting = False
        #: A poll waits for its answer (timer recovery).
        self.polling = False
        self.attempts = 0
        self.rejection = b""

    def enter(self, phase: Phase) -> None:
        self.phase = phase
        self.station.count("lapbFlowStateChanges")

    # -- what the line and the packet layer ask for ---------------------------------------------

    def line_up(self) -> None:
        """The line is there."""
        self.line = True
        if self.parameters.initiate:
            self.set_up()

    def line_down(self) -> None:
        """The line is gone, and the link with it."""
        self.line = False
        self.stop_timers()
        self.end_link()
        self.stop("retry")

    def set_up(self) -> None:
        """Send SABM P=1, until UA comes (X.25 2.4.4.1)."""
        self.stop_timers()
        self.forget()
        self.enter(Phase.SET_UP)
        self.attempts = 1
        self.command(Control.SABM)
        self.start("T1", self.parameters.t1, self.t1_expired)

    def disconnect(self) -> None:
        """Send DISC P=1, until UA or DM comes (X.25 2.4.4.3)."""
        if self.phase is Phase.DISCONNECTED:
            return
        self.stop_timers()
        self.enter(Phase.DISCONNECT)
        self.attempts = 1
        self.command(Control.DISC)
        self.start("T1", self.parameters.t1, self.t1_expired)

    def send(self, packet: bytes) -> None:
        """A packet for the other side; without a link it is lost."""
        if self.phase is Phase.TRANSFER:
            self.waiting.append(packet)
            self.pump()

    def flush(self) -> None:
        """The end of a turn: acknowledge what no I frame has acknowledged, unless T2 runs."""
        if self.owed and (not self.parameters.t2 or self.owed >= self.parameters.k):
            self.acknowledge_now()

    # -- frames that come in --------------------------------------------------------------------

    def receive(self, octets: bytes) -> None:
        """A frame of two octets or more with the address A or B."""
        frame = frames.parse(octets, self.own)
        if self.phase is Phase.TRANSFER:
            self.idle()
        known = frame.kind in frames.NAMES
        right = (
            frame.command
            if frame.kind in COMMANDS or frame.kind == Control.I
            else (frame.kind in SUPERVISORY or not frame.command)
        )
        if not known or not right or frame.kind == Control.SABME:
            self.undefined(frame)
        elif frame.information and frame.kind not in (Control.I, Control.FRMR):
            self.not_permitted(frame)
        elif frame.kind in COMMANDS or frame.kind in RESPONSES:
            self.on_unnumbered(frame)
        elif self.phase is Phase.TRANSFER:
            self.on_numbered(frame)
        else:
            self.out_of_phase(frame)

    def undefined(self, frame: Frame) -> None:
        """A control field that is not defined, or not implemented, or in the wrong direction."""
        if self.phase is Phase.TRANSFER:
            self.reject(frame, Reason.W)
        elif frame.kind == Control.SABME and frame.command:
            if self.phase is Phase.DISCONNECTED:
                self.respond(Control.DM, frame.p_f)
        else:
            self.out_of_phase(frame)

    def not_permitted(self, frame: Frame) -> None:
        """An information field where none may be (X.25 2.4.6.1)."""
        if self.phase is Phase.TRANSFER:
            self.reject(frame, Reason.W | Reason.X)
        else:
            self.out_of_phase(frame)

    def out_of_phase(self, frame: Frame) -> None:
        """Without a link only a command with P=1 is answered (X.25 2.4.4.4, 2.4.7.3)."""
        if not (frame.command and frame.p_f):
            return
        if self.phase is Phase.DISCONNECTED:
            self.respond(Control.DM, True)
        elif self.phase is Phase.REJECT:
            self.respond_rejection(True)

    def on_unnumbered(self, frame: Frame) -> None:
        match frame.kind:
            case Control.SABM:
                self.on_sabm(frame.p_f)
            case Control.DISC:
                self.on_disc(frame.p_f)
            case Control.UA:
                self.on_ua(frame.p_f)
            case Control.DM:
                self.on_dm(frame.p_f)
            case Control.FRMR:
                self.on_frmr(frame.information)

    def on_sabm(self, p_f: bool) -> None:
        """Set-up or reset; in L3 a collision of different commands (X.25 2.4.4.5)."""
        if self.phase is Phase.DISCONNECT:
            self.respond(Control.DM, p_f)
            self.end_link()
            return
        self.respond(Control.UA, p_f)
        self.transfer()

    def transfer(self) -> None:
        """The information transfer phase begins."""
        self.stop_timers()
        self.forget()
        self.waiting.clear()
        self.enter(Phase.TRANSFER)
        self.idle()
        self.station.link_up()

    def on_disc(self, p_f: bool) -> None:
        """X.25 2.4.4.3 to 2.4.4.5: UA if there is a link to end, DM if there is none."""
        ends = self.phase in (Phase.TRANSFER, Phase.REJECT, Phase.DISCONNECT)
        self.respond(Control.UA if ends else Control.DM, p_f)
        self.end_link()

    def end_link(self) -> None:
        """Back to the disconnected phase."""
        self.stop_timers()
        if self.phase is not Phase.DISCONNECTED:
            self.forget()
            self.waiting.clear()
            self.enter(Phase.DISCONNECTED)
            self.station.link_down()
        if self.parameters.initiate and self.line:
            self.start("retry", self.parameters.retry, self.set_up)

    def on_ua(self, p_f: bool) -> None:
        """Only UA F=1 answers SABM or DISC with P=1; an unsolicited UA says nothing."""
        if p_f and self.phase is Phase.SET_UP:
            self.transfer()
        elif p_f and self.phase is Phase.DISCONNECT:
            self.end_link()

    def on_dm(self, p_f: bool) -> None:
        """X.25 2.4.4.1, 2.4.4.6, 2.4.6.4: refusal with F=1, request for set-up with F=0."""
        if self.phase in (Phase.SET_UP, Phase.DISCONNECT):
            if p_f:
                self.end_link()
        elif self.phase is not Phase.DISCONNECTED or not p_f:
            self.set_up()

    def on_frmr(self, field: bytes) -> None:
        """X.25 2.4.6.2: the other station waits for SABM."""
        if self.phase in (Phase.TRANSFER, Phase.REJECT):
            self.station.note_rejection("lapbFlowFrmrReceived", field)
            self.set_up()

    # -- information transfer -------------------------------------------------------------------

    def on_numbered(self, frame: Frame) -> None:
        """I, RR, RNR or REJ."""
        if not self.n_r_is_valid(frame.n_r):
            self.reject(frame, Reason.Z)
        elif frame.kind == Control.I:
            self.on_information(frame)
        else:
            self.on_supervisory(frame)

    def n_r_is_valid(self, n_r: int) -> bool:
        """From the oldest frame that is not acknowledged to the next one (X.25 2.4.6.1)."""
        return (n_r - self.v_a) % MODULO <= len(self.open)

    def on_information(self, frame: Frame) -> None:
        """X.25 2.4.5.2, 2.4.5.4. N(R) and P count even if N(S) is not the one expected."""
        self.take_n_r(frame.n_r)
        if frame.n_s != self.v_r:
            self.out_of_sequence(frame)
        else:
            self.in_sequence(frame)
        self.pump()

    def in_sequence(self, frame: Frame) -> None:
        self.v_r = (self.v_r + 1) % MODULO
        self.rejecting = False
        self.owed += 1
        if frame.p_f:
            self.answer_poll()
        elif self.parameters.t2 and "T2" not in self._running:
            self.start("T2", self.parameters.t2, self.acknowledge_now)
        self.station.packet_in(frame.information)

    def out_of_sequence(self, frame: Frame) -> None:
        """One REJ for each gap (X.25 2.4.5.4)."""
        if not self.rejecting:
            self.rejecting = True
            self.station.count("lapbFlowRejOutPkts")
            self.acknowledge_with(Control.REJ, frame.p_f)
        elif frame.p_f:
            self.answer_poll()

    def on_supervisory(self, frame: Frame) -> None:
        """X.25 2.4.5.5 to 2.4.5.7, 2.4.5.9."""
        if frame.kind == Control.REJ:
            self.station.count("lapbFlowRejInPkts")
        was_busy, self.peer_busy = self.peer_busy, frame.kind == Control.RNR
        self.take_n_r(frame.n_r)
        if self.polling and frame.p_f and not frame.command:
            self.poll_answered(frame.n_r)
        elif frame.kind == Control.REJ:
            self.v_s = frame.n_r
        if frame.command and frame.p_f:
            self.answer_poll()
        if self.peer_busy and not was_busy and not self.polling:
            self.start("T1", self.parameters.t1, self.t1_expired)
        self.pump()

    def take_n_r(self, n_r: int) -> None:
        """Frames before N(R) have arrived."""
        count = (n_r - self.v_a) % MODULO
        if not count:
            return
        if (self.v_s - self.v_a) % MODULO < count:
            self.v_s = n_r
        del self.open[:count]
        self.v_a = n_r
        if not self.polling:
            self.attempts = 0
            self.stop("T1")
            self.watch_window()

    def poll_answered(self, n_r: int) -> None:
        """Timer recovery ends; what the answer does not acknowledge is sent again."""
        self.polling = False
        self.attempts = 0
        self.v_s = n_r
        self.stop("T1")
        self.watch_window()

    def watch_window(self) -> None:
        """T1 runs while an I frame is open or the other station is busy."""
        if (self.open or self.peer_busy) and "T1" not in self._running:
            self.start("T1", self.parameters.t1, self.t1_expired)
        elif not self.open and not self.peer_busy and not self.polling:
            self.stop("T1")

    def window_open(self) -> bool:
        """Fewer than k I frames are open (X.25 2.4.8.6)."""
        return len(self.open) < self.parameters.k

    def may_send(self) -> bool:
        return self.phase is Phase.TRANSFER and not self.peer_busy and not self.polling

    def pump(self) -> None:
        """Send I frames: first those to be sent again, then those that wait."""
        moved = False
        while self.may_send():
            place = (self.v_s - self.v_a) % MODULO
            if place >= len(self.open):
                if not self.waiting or not self.window_open():
                    break
                self.open.append(self.waiting.popleft())
                moved = True
            self.emit_information(self.v_s, self.open[place])
            self.v_s = (self.v_s + 1) % MODULO
            self.watch_window()
        if self.phase is Phase.TRANSFER:
            self.watch_window()
        if moved:
            self.station.window_moved()

    def emit_information(self, n_s: int, packet: bytes) -> None:
        self.acknowledged()
        self.station.frame_out(frames.information(self.other, n_s, self.v_r, packet))

    # -- frames that go out ---------------------------------------------------------------------

    def command(self, kind: int) -> None:
        """An unnumbered command with P=1."""
        self.station.frame_out(frames.unnumbered(self.other, kind, True))

    def respond(self, kind: int, f: bool, field: bytes = b"") -> None:
        """An unnumbered response; F copies P (X.25 2.4.3)."""
        self.station.frame_out(frames.unnumbered(self.own, kind, f, field))

    def answer_poll(self) -> None:
        """P=1 is answered at once with F=1 (X.25 2.4.3)."""
        self.acknowledge_with(Control.RR, True)

    def acknowledge_now(self) -> None:
        if self.phase is Phase.TRANSFER and self.owed:
            self.acknowledge_with(Control.RR, False)

    def acknowledge_with(self, kind: int, f: bool) -> None:
        """A supervisory response with N(R)=V(R)."""
        self.acknowledged()
        self.station.frame_out(frames.supervisory(self.own, kind, self.v_r, f))

    def acknowledged(self) -> None:
        self.owed = 0
        self.stop("T2")

    def reject(self, frame: Frame, reasons: int) -> None:
        """An error that sending again does not mend: FRMR, and wait for SABM (X.25 2.4.6.1)."""
        self.stop_timers()
        self.rejection = frames.rejection(frame, self.v_s, self.v_r, reasons)
        self.station.note_rejection("lapbFlowFrmrSent", self.rejection)
        self.enter(Phase.REJECT)
        self.attempts = 1
        self.respond_rejection(frame.p_f and frame.command)
        self.start("T1", self.parameters.t1, self.t1_expired)

    def respond_rejection(self, f: bool) -> None:
        self.respond(Control.FRMR, f, self.rejection)

    def too_long(self, octets: bytes) -> None:
        """A frame above N1 that is rejected and not dropped."""
        if self.phase is Phase.TRANSFER:
            self.reject(frames.parse(octets, self.own), Reason.Y)

    # -- timers ---------------------------------------------------------------------------------

    def start(self, name: str, seconds: float, expired: Callable[[], None]) -> None:
        self.stop(name)
        if seconds > 0:

            def run() -> None:
                self._running.pop(name, None)
                expired()

            self._running[name] = self.timers.start(seconds, run)

    def stop(self, name: str) -> None:
        timer = self._running.pop(name, None)
        if timer is not None:
            timer.cancel()

    def stop_timers(self) -> None:
        for name in list(self._running):
            self.stop(name)

    def idle(self) -> None:
        """T3 runs from the last frame on (X.25 2.4.8.3)."""
        self.start("T3", self.parameters.t3, self.t3_expired)

    def t1_expired(self) -> None:
        """X.25 2.4.8.1, 2.4.8.4: N2 attempts, then the next worse thing."""
        self.station.count("lapbFlowT1Timeouts")
        if self.phase is Phase.TRANSFER:
            self.poll()
            return
        if self.attempts >= self.parameters.n2:
            if self.phase is Phase.REJECT:
                self.set_up()
            else:
                self.end_link()
            return
        self.attempts += 1
        if self.phase is Phase.REJECT:
            self.respond_rejection(False)
        else:
            self.command(Control.SABM if self.phase is Phase.SET_UP else Control.DISC)
        self.start("T1", self.parameters.t1, self.t1_expired)

    def t3_expired(self) -> None:
        """A long silence: is the other station still there?"""
        if self.phase is Phase.TRANSFER and "T1" not in self._running:
            self.poll()

    def poll(self) -> None:
        """RR P=1, up to N2 times without an answer, then a link reset (X.25 2.4.5.9)."""
        if self.attempts >= self.parameters.n2:
            self.set_up()
            return
        self.attempts += 1
        self.polling = True
        self.emit_poll()
        self.start("T1", self.parameters.t1, self.t1_expired)

    def emit_poll(self) -> None:
        """Ask where the other station is, which answers with its N(R)."""
        self.acknowledged()
        self.station.frame_out(frames.supervisory(self.other, Control.RR, self.v_r, True))

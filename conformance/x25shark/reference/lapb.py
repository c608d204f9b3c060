# SPDX-License-Identifier: GPL-2.0-or-later
"""The LAPB station of a serial interface, modulo 8 (X.25 2.4; ISO/IEC 7776).

Frames come in without FCS, checked; packets go up once and in order. The station never polls while
it can avoid it: an acknowledgement goes out with the next I frame, at the end of the turn, or after
T2. Lost frames are repeated after REJ, or after T1 and the answer to a poll (timer recovery).

The station keeps the state and the timers, and gives each frame to the part that deals with it:

    phases           SABM, DISC, UA, DM, FRMR of the other one   lapb_phases.py
    transfer         I, RR, RNR, REJ                             lapb_transfer.py
    acknowledging    N(R) of what was taken, answers to polls    lapb_acknowledging.py
    recovery         polls of its own                            lapb_recovery.py
    errors           FRMR, and what is dropped                   lapb_errors.py
"""

from collections import deque
from collections.abc import Callable

from . import lapb_frames as frames
from .lapb_acknowledging import Acknowledging
from .lapb_errors import FrameErrors
from .lapb_frames import COMMANDS, RESPONSES, SUPERVISORY, Control, Frame
from .lapb_phases import Phases
from .lapb_recovery import TimerRecovery
from .lapb_station import Parameters, Phase, Station
from .lapb_transfer import InformationTransfer
from .ports import Timer, Timers


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
        self.running: dict[str, Timer] = {}
        self.phases = Phases(self)
        self.transfer = InformationTransfer(self)
        self.acknowledging = Acknowledging(self)
        self.recovery = TimerRecovery(self)
        self.errors = FrameErrors(self)
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
            self.phases.set_up()

    def line_down(self) -> None:
        """The line is gone, and the link with it."""
        self.line = False
        self.stop_timers()
        self.phases.end_link()
        self.stop("retry")

    def send(self, packet: bytes) -> None:
        """A packet for the other side; without a link it is lost."""
        if self.phase is Phase.TRANSFER:
            self.waiting.append(packet)
            self.transfer.pump()

    def flush(self) -> None:
        """The end of a turn: acknowledge what no I frame has acknowledged, unless T2 runs."""
        if self.owed and (not self.parameters.t2 or self.owed >= self.parameters.k):
            self.acknowledging.acknowledge_now()

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
            self.errors.undefined(frame)
        elif frame.information and frame.kind not in (Control.I, Control.FRMR):
            self.errors.not_permitted(frame)
        elif frame.kind in COMMANDS or frame.kind in RESPONSES:
            self.on_unnumbered(frame)
        elif self.phase is Phase.TRANSFER:
            self.transfer.on_numbered(frame)
        else:
            self.errors.out_of_phase(frame)

    def on_unnumbered(self, frame: Frame) -> None:
        match frame.kind:
            case Control.SABM:
                self.phases.on_sabm(frame.p_f)
            case Control.DISC:
                self.phases.on_disc(frame.p_f)
            case Control.UA:
                self.phases.on_ua(frame.p_f)
            case Control.DM:
                self.phases.on_dm(frame.p_f)
            case Control.FRMR:
                self.phases.on_frmr(frame.information)

    # -- frames that go out ---------------------------------------------------------------------

    def command(self, kind: int) -> None:
        """An unnumbered command with P=1."""
        self.station.frame_out(frames.unnumbered(self.other, kind, True))

    def respond(self, kind: int, f: bool, field: bytes = b"") -> None:
        """An unnumbered response; F copies P (X.25 2.4.3)."""
        self.station.frame_out(frames.unnumbered(self.own, kind, f, field))

    # -- timers ---------------------------------------------------------------------------------

    def start(self, name: str, seconds: float, expired: Callable[[], None]) -> None:
        self.stop(name)
        if seconds > 0:

            def run() -> None:
                self.running.pop(name, None)
                expired()

            self.running[name] = self.timers.start(seconds, run)

    def stop(self, name: str) -> None:
        timer = self.running.pop(name, None)
        if timer is not None:
            timer.cancel()

    def stop_timers(self) -> None:
        for name in list(self.running):
            self.stop(name)

    def idle(self) -> None:
        """T3 runs from the last frame on (X.25 2.4.8.3)."""
        self.start("T3", self.parameters.t3, self.recovery.t3_expired)

    def t1_expired(self) -> None:
        """X.25 2.4.8.1, 2.4.8.4: N2 attempts, then the next worse thing."""
        self.station.count("lapbFlowT1Timeouts")
        if self.phase is Phase.TRANSFER:
            self.recovery.poll()
            return
        if self.attempts >= self.parameters.n2:
            if self.phase is Phase.REJECT:
                self.phases.set_up()
            else:
                self.phases.end_link()
            return
        self.attempts += 1
        if self.phase is Phase.REJECT:
            self.errors.respond_rejection(False)
        else:
            self.command(Control.SABM if self.phase is Phase.SET_UP else Control.DISC)
        self.start("T1", self.parameters.t1, self.t1_expired)

# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain LAPB station, modulo 8 (X.25 2.4): the tester's own, on which packets can rely.

It does what a right station does, and no more; what a case wants to send wrong, or not at all, it
sends by hand (by_hand: the station then only keeps count of the numbers).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from scapy_x25 import hdlc
from scapy_x25.lapb import ADDRESS_A, ADDRESS_B

from .circuits import MODULUS
from .hdlc import FrameUnit, Line

SABM, SABME, DISC, UA, DM, FRMR = 0x2F, 0x6F, 0x43, 0x63, 0x0F, 0x87
RR, RNR, REJ = 0x01, 0x05, 0x09
_COMMANDS = (SABM, SABME, DISC)
_P_F = 0x10
_FCS_OCTETS = 2


@dataclass(frozen=True)
class Parameters:
    """t1 in seconds; n2 attempts; k I frames open at most. dce: the tester is the DCE."""

    dce: bool
    t1: float = 3.0
    n2: int = 10
    k: int = 7


class Station:
    """One end of a link. phase: disconnected, set-up, transfer, disconnecting, or rejected."""

    def __init__(self, line: Line, parameters: Parameters) -> None:
        self._line = line
        self.parameters = parameters
        # Commands to this station and its responses carry own, the other's carry other (2.4.2).
        self.own = ADDRESS_B if parameters.dce else ADDRESS_A
        self.other = ADDRESS_A if parameters.dce else ADDRESS_B
        self.phase = "disconnected"
        self.by_hand = False
        # I frames are not acknowledged while this is set.
        self.withholding = False
        # SABM is answered by DM: there shall be no link yet.
        self.refusing = False
        # How often the link has come up, or was reset.
        self.links = 0
        self.on_link_lost: Callable[[str], None] = lambda _why: None
        # SABM, DISC or a poll is sent for want of an answer: there may be two answers in the end.
        self.on_repeat: Callable[[], None] = lambda: None
        # Whether the next frame of this station is lost on its way.
        self.loses: Callable[[], bool] = lambda: False
        # How many SABM or DISC the last set_up() or disconnect() has sent.
        self.commands = 0
        # A SABM of the other has crossed with the set-up, and was answered.
        self.on_crossing: Callable[[], None] = lambda: None
        self._deadline: float | None = None
        self._forget()

    def _forget(self) -> None:
        self.v_s = self.v_r = self.v_a = 0
        self._open: list[bytes] = []
        self._waiting: deque[bytes] = deque()
        self.peer_busy = self._rejecting = self._polling = False
        # Whether an I or a supervisory frame has come on this link.
        self._heard = False
        self._attempts = 0

    @property
    def up(self) -> bool:
        return self.phase == "transfer"

    @property
    def unacknowledged(self) -> int:
        """I frames of this station that are sent or wait, and are not acknowledged."""
        return len(self._open) + len(self._waiting)

    # what the packet layer asks for

    def set_up(self) -> None:
        """Send SABM P=1; the link is up when UA has come."""
        self.refusing = False
        self._forget()
        self.phase = "set-up"
        self.commands = 0
        self._attempts = 1
        self._command(SABM)
        self.answer_crossing()

    def answer_crossing(self) -> None:
        """Behind a SABM: if one of the other is not answered yet the two have crossed, and the
        other may wait for its UA (X.25 2.4.4.5.1)."""
        asked = self._line.unanswered
        if asked and self._waits_for_ua():
            self.emit(self.own, UA | asked.octets[1] & _P_F)

    def _waits_for_ua(self) -> bool:
        """Whether the other has sent its last SABM within T1.

        One that came while nobody looked, between cases, may be older: what sent it may have given
        up, and a UA that nobody waits for ends its link (X.25 2.4.6.3). Otherwise it asks again.
        """
        return time.monotonic() - self._line.unanswered_since < self.parameters.t1

    def disconnect(self) -> None:
        """Send DISC P=1."""
        self.phase = "disconnecting"
        self.commands = 0
        self._attempts = 1
        self._command(DISC)

    def send(self, packet: bytes) -> None:
        """A packet; without a link it is lost, as the router's would be."""
        if self.phase == "transfer":
            self._waiting.append(packet)
            self._pump()

    def stop(self) -> None:
        """Send nothing more."""
        self.by_hand = True
        self._deadline = None

    # frames

    def emit(self, address: int, control: int, information: bytes = b"") -> None:
        """A frame with its right FCS."""
        if not self.loses():
            self._line.send_frames([hdlc.with_fcs(bytes([address, control]) + information)])

    def _command(self, kind: int) -> None:
        self.commands += 1
        self.emit(self.other, kind | _P_F)
        self._start()

    def count_sent(self, octets: bytes) -> None:
        """A frame that a case sends by hand: the number of an I frame is used up, SABM and DISC
        are followed by their answers as if the station had sent them, and UA to the router's SABM
        begins the link."""
        if len(octets) < 2:
            return
        control = octets[1]
        if octets[0] == self.other and control & ~_P_F in (SABM, DISC):
            if control & ~_P_F == SABM:
                self.refusing = False
                self._forget()
            self.phase = "set-up" if control & ~_P_F == SABM else "disconnecting"
            self._deadline = None
        elif octets[0] == self.own and control & ~_P_F == UA and self.phase == "disconnected":
            asked = self._line.unanswered
            if asked and asked.octets[1] & _P_F == control & _P_F:
                self._began()
        elif control & 1 == 0 and octets[0] == self.other and control >> 1 & 7 == self.v_s:
            self._open.append(octets[2:])
            self.v_s = (self.v_s + 1) % MODULUS

    def take(self, unit: FrameUnit) -> None:
        """A frame of the router."""
        octets = unit.octets[:-_FCS_OCTETS]
        if not unit.valid or len(octets) < 2 or octets[0] not in (ADDRESS_A, ADDRESS_B):
            return
        command, control = octets[0] == self.own, octets[1]
        p_f = bool(control & _P_F)
        if control & 3 == 3:
            self._unnumbered(control & ~_P_F, p_f, command)
        elif self.phase == "transfer":
            self._heard = True
            if control & 1:
                self._supervisory(control & 15, control >> 5, p_f, command)
            elif command:
                self._information(control >> 1 & 7, control >> 5, p_f)
        elif command and p_f and self.phase == "disconnected" and not self.by_hand:
            self.emit(self.own, DM | _P_F)

    def _unnumbered(self, kind: int, p_f: bool, command: bool) -> None:
        if command != (kind in _COMMANDS):
            return
        # What a case sent by hand may have had P=0; then T1 does not run.
        answers = p_f or self._deadline is None
        if kind == UA and self.phase == "set-up" and answers:
            self._began()
        elif answers and (
            (kind == DM and self.phase == "set-up")
            or (kind in (UA, DM) and self.phase == "disconnecting")
        ):
            self._lost("the router disconnected the link")
        elif kind == SABM and self.phase == "set-up":
            # Two SABMs that cross are both answered (X.25 2.4.4.5.1), a case's own as well.
            if self._waits_for_ua():
                self.emit(self.own, UA | _P_F * p_f)
        elif self.by_hand:
            # FRMR behind a SABM of the tester belongs to the link before.
            if kind in (SABM, DISC) or (kind == FRMR and self.phase != "set-up"):
                self._lost("the router ended the link")
        elif kind == SABM:
            self._asked_for_link(p_f)
        elif kind == DISC:
            answer = UA if self.phase == "transfer" else DM
            self.emit(self.own, answer | _P_F * p_f)
            self._lost("the router sent DISC")
        elif kind == DM and self.phase == "transfer":
            self._lost("the router sent DM")
        elif kind == FRMR and self.phase == "transfer":
            self._lost("the router sent FRMR")

    def _asked_for_link(self, p_f: bool) -> None:
        """SABM: a link; during transfer a reset.

        As the first frame on a link it belongs to the set-up still: the other has answered SABM,
        and may wait for the UA to its own all the same (X.25 2.4.4.5.1). Until then it takes no
        packet, so what was sent is sent again.
        """
        if self.phase == "disconnecting" or (self.refusing and self.phase == "disconnected"):
            self.emit(self.own, DM | _P_F * p_f)
            return
        was_up = self.phase == "transfer"
        if not was_up and not self._waits_for_ua():
            return
        self.emit(self.own, UA | _P_F * p_f)
        if was_up and not self._heard:
            packets = [*self._open, *self._waiting]
            self._forget()
            self._deadline = None
            self._waiting.extend(packets)
            self.on_crossing()
            self._pump()
            return
        self._began()
        if was_up:
            self.on_link_lost("the router reset the link (SABM)")

    def _began(self) -> None:
        """A link from here on: all counts are 0 (X.25 2.4.7)."""
        self._forget()
        self._deadline = None
        self.phase = "transfer"
        self.links += 1

    def _lost(self, why: str) -> None:
        self.phase = "disconnected"
        self._deadline = None
        self._forget()
        self.on_link_lost(why)

    # information transfer

    def _information(self, n_s: int, n_r: int, p_f: bool) -> None:
        self._acknowledged(n_r)
        if n_s == self.v_r:
            self.v_r = (self.v_r + 1) % MODULUS
            self._rejecting = False
            if not self.withholding or p_f:
                self._answer(RR, p_f)
        elif not self._rejecting and (n_s - self.v_r) % MODULUS < MODULUS // 2:
            self._rejecting = True
            self._answer(REJ, p_f)
        else:
            self._answer(RR, p_f)
        self._pump()

    def _answer(self, kind: int, p_f: bool) -> None:
        if not self.by_hand:
            self.emit(self.own, self.v_r << 5 | kind | _P_F * p_f)

    def _supervisory(self, kind: int, n_r: int, p_f: bool, command: bool) -> None:
        self.peer_busy = kind == RNR
        self._acknowledged(n_r)
        if command and p_f:
            self._answer(RR, True)
        answered = self._polling and p_f and not command
        if (kind == REJ or answered) and not self.by_hand:
            self._polling = False
            self._attempts = 0
            self._deadline = None
            again, self.v_s = self._open, n_r
            self._open = []
            self._waiting.extendleft(reversed(again))
        self._pump()

    def _acknowledged(self, n_r: int) -> None:
        count = (n_r - self.v_a) % MODULUS
        if 0 < count <= len(self._open):
            del self._open[:count]
            self.v_a = n_r
            if not self._polling:
                self._attempts = 0
                self._deadline = None

    def _pump(self) -> None:
        if self.by_hand or self.phase != "transfer":
            return
        while self._waiting and not self.peer_busy and not self._polling:
            if len(self._open) >= self.parameters.k:
                break
            packet = self._waiting.popleft()
            self._open.append(packet)
            control = self.v_r << 5 | self.v_s << 1
            self.v_s = (self.v_s + 1) % MODULUS
            self.emit(self.other, control, packet)
        if (self._open or self.peer_busy) and self._deadline is None:
            self._start()

    # T1

    def _start(self) -> None:
        self._deadline = time.monotonic() + self.parameters.t1

    def tick(self) -> None:
        """T1, looked at whenever the tester waits for something."""
        if self.by_hand or self._deadline is None or time.monotonic() < self._deadline:
            return
        if self._attempts >= self.parameters.n2:
            self._lost(f"{self.parameters.n2} attempts without an answer (N2)")
            return
        self._attempts += 1
        self.on_repeat()
        if self.phase == "set-up":
            self._command(SABM)
        elif self.phase == "disconnecting":
            self._command(DISC)
        elif self.phase == "transfer":
            self._polling = True
            self.emit(self.other, self.v_r << 5 | RR | _P_F)
            self._start()

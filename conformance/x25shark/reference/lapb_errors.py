# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames that a LAPB station cannot take as they are (X.25 2.4.6, and 2.4.4.4 without a link)."""

from typing import TYPE_CHECKING

from . import lapb_frames as frames
from .lapb_frames import Control, Frame, Reason
from .lapb_station import Phase

if TYPE_CHECKING:
    from .lapb import Lapb


class FrameErrors:
    """Rejects by FRMR, answers by DM, or drops."""

    def __init__(self, lapb: "Lapb") -> None:
        self.lapb = lapb

    def undefined(self, frame: Frame) -> None:
        """A control field that is not defined, or not implemented, or in the wrong direction."""
        lapb = self.lapb
        if lapb.phase is Phase.TRANSFER:
            self.reject(frame, Reason.W)
        elif frame.kind == Control.SABME and frame.command:
            if lapb.phase is Phase.DISCONNECTED:
                lapb.respond(Control.DM, frame.p_f)
        else:
            self.out_of_phase(frame)

    def not_permitted(self, frame: Frame) -> None:
        """An information field where none may be (X.25 2.4.6.1)."""
        if self.lapb.phase is Phase.TRANSFER:
            self.reject(frame, Reason.W | Reason.X)
        else:
            self.out_of_phase(frame)

    def out_of_phase(self, frame: Frame) -> None:
        """Without a link only a command with P=1 is answered (X.25 2.4.4.4, 2.4.7.3)."""
        lapb = self.lapb
        if not (frame.command and frame.p_f):
            return
        if lapb.phase is Phase.DISCONNECTED:
            lapb.respond(Control.DM, True)
        elif lapb.phase is Phase.REJECT:
            self.respond_rejection(True)

    def reject(self, frame: Frame, reasons: int) -> None:
        """An error that sending again does not mend: FRMR, and wait for SABM (X.25 2.4.6.1)."""
        lapb = self.lapb
        lapb.stop_timers()
        lapb.rejection = frames.rejection(frame, lapb.v_s, lapb.v_r, reasons)
        lapb.station.note_rejection("lapbFlowFrmrSent", lapb.rejection)
        lapb.enter(Phase.REJECT)
        lapb.attempts = 1
        self.respond_rejection(frame.p_f and frame.command)
        lapb.start("T1", lapb.parameters.t1, lapb.t1_expired)

    def respond_rejection(self, f: bool) -> None:
        lapb = self.lapb
        lapb.respond(Control.FRMR, f, lapb.rejection)

    def too_long(self, octets: bytes) -> None:
        """A frame above N1 that is rejected and not dropped."""
        lapb = self.lapb
        if lapb.phase is Phase.TRANSFER:
            self.reject(frames.parse(octets, lapb.own), Reason.Y)

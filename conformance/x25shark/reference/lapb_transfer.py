# SPDX-License-Identifier: GPL-2.0-or-later
"""I frames in order, and the supervisory frames that steer them (X.25 2.4.5)."""

from typing import TYPE_CHECKING

from . import lapb_frames as frames
from .lapb_frames import Control, Frame, Reason
from .lapb_station import MODULO, Phase

if TYPE_CHECKING:
    from .lapb import Lapb


class InformationTransfer:
    """Takes and sends I frames, and takes RR, RNR and REJ."""

    def __init__(self, lapb: "Lapb") -> None:
        self.lapb = lapb

    def on_numbered(self, frame: Frame) -> None:
        """I, RR, RNR or REJ."""
        if not self.n_r_is_valid(frame.n_r):
            self.lapb.errors.reject(frame, Reason.Z)
        elif frame.kind == Control.I:
            self.on_information(frame)
        else:
            self.on_supervisory(frame)

    def n_r_is_valid(self, n_r: int) -> bool:
        """From the oldest frame that is not acknowledged to the next one (X.25 2.4.6.1)."""
        lapb = self.lapb
        return (n_r - lapb.v_a) % MODULO <= len(lapb.open)

    def on_information(self, frame: Frame) -> None:
        """X.25 2.4.5.2, 2.4.5.4. N(R) and P count even if N(S) is not the one expected."""
        self.take_n_r(frame.n_r)
        if frame.n_s != self.lapb.v_r:
            self.out_of_sequence(frame)
        else:
            self.in_sequence(frame)
        self.pump()

    def in_sequence(self, frame: Frame) -> None:
        lapb = self.lapb
        lapb.v_r = (lapb.v_r + 1) % MODULO
        lapb.rejecting = False
        lapb.owed += 1
        if frame.p_f:
            lapb.acknowledging.answer_poll()
        elif lapb.parameters.t2 and "T2" not in lapb.running:
            lapb.start("T2", lapb.parameters.t2, lapb.acknowledging.acknowledge_now)
        lapb.station.packet_in(frame.information)

    def out_of_sequence(self, frame: Frame) -> None:
        """One REJ for each gap (X.25 2.4.5.4)."""
        lapb = self.lapb
        if not lapb.rejecting:
            lapb.rejecting = True
            lapb.station.count("lapbFlowRejOutPkts")
            lapb.acknowledging.acknowledge_with(Control.REJ, frame.p_f)
        elif frame.p_f:
            lapb.acknowledging.answer_poll()

    def on_supervisory(self, frame: Frame) -> None:
        """X.25 2.4.5.5 to 2.4.5.7, 2.4.5.9."""
        lapb = self.lapb
        if frame.kind == Control.REJ:
            lapb.station.count("lapbFlowRejInPkts")
        was_busy, lapb.peer_busy = lapb.peer_busy, frame.kind == Control.RNR
        self.take_n_r(frame.n_r)
        if lapb.polling and frame.p_f and not frame.command:
            lapb.recovery.poll_answered(frame.n_r)
        elif frame.kind == Control.REJ:
            lapb.v_s = frame.n_r
        if frame.command and frame.p_f:
            lapb.acknowledging.answer_poll()
        if lapb.peer_busy and not was_busy and not lapb.polling:
            lapb.start("T1", lapb.parameters.t1, lapb.t1_expired)
        self.pump()

    def take_n_r(self, n_r: int) -> None:
        """Frames before N(R) have arrived."""
        lapb = self.lapb
        count = (n_r - lapb.v_a) % MODULO
        if not count:
            return
        if (lapb.v_s - lapb.v_a) % MODULO < count:
            lapb.v_s = n_r
        del lapb.open[:count]
        lapb.v_a = n_r
        if not lapb.polling:
            lapb.attempts = 0
            lapb.stop("T1")
            self.watch_window()

    def watch_window(self) -> None:
        """T1 runs while an I frame is open or the other station is busy."""
        lapb = self.lapb
        if (lapb.open or lapb.peer_busy) and "T1" not in lapb.running:
            lapb.start("T1", lapb.parameters.t1, lapb.t1_expired)
        elif not lapb.open and not lapb.peer_busy and not lapb.polling:
            lapb.stop("T1")

    def window_open(self) -> bool:
        """Fewer than k I frames are open (X.25 2.4.8.6)."""
        lapb = self.lapb
        return len(lapb.open) < lapb.parameters.k

    def may_send(self) -> bool:
        lapb = self.lapb
        return lapb.phase is Phase.TRANSFER and not lapb.peer_busy and not lapb.polling

    def pump(self) -> None:
        """Send I frames: first those to be sent again, then those that wait."""
        lapb = self.lapb
        moved = False
        while self.may_send():
            place = (lapb.v_s - lapb.v_a) % MODULO
            if place >= len(lapb.open):
                if not lapb.waiting or not self.window_open():
                    break
                lapb.open.append(lapb.waiting.popleft())
                moved = True
            self.emit_information(lapb.v_s, lapb.open[place])
            lapb.v_s = (lapb.v_s + 1) % MODULO
            self.watch_window()
        if lapb.phase is Phase.TRANSFER:
            self.watch_window()
        if moved:
            lapb.station.window_moved()

    def emit_information(self, n_s: int, packet: bytes) -> None:
        lapb = self.lapb
        lapb.acknowledging.acknowledged()
        lapb.station.frame_out(frames.information(lapb.other, n_s, lapb.v_r, packet))

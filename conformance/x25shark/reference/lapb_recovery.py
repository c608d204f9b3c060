# SPDX-License-Identifier: GPL-2.0-or-later
"""Timer recovery: a poll, and what its answer does not acknowledge again (X.25 2.4.5.9)."""

from typing import TYPE_CHECKING

from . import lapb_frames as frames
from .lapb_frames import Control
from .lapb_station import Phase

if TYPE_CHECKING:
    from .lapb import Lapb


class TimerRecovery:
    """Polls the other station, and takes the answer."""

    def __init__(self, lapb: "Lapb") -> None:
        self.lapb = lapb

    def poll_answered(self, n_r: int) -> None:
        """Timer recovery ends; what the answer does not acknowledge is sent again."""
        lapb = self.lapb
        lapb.polling = False
        lapb.attempts = 0
        lapb.v_s = n_r
        lapb.stop("T1")
        lapb.transfer.watch_window()

    def t3_expired(self) -> None:
        """A long silence: is the other station still there?"""
        lapb = self.lapb
        if lapb.phase is Phase.TRANSFER and "T1" not in lapb.running:
            self.poll()

    def poll(self) -> None:
        """RR P=1, up to N2 times without an answer, then a link reset (X.25 2.4.5.9)."""
        lapb = self.lapb
        if lapb.attempts >= lapb.parameters.n2:
            lapb.phases.set_up()
            return
        lapb.attempts += 1
        lapb.polling = True
        self.emit_poll()
        lapb.start("T1", lapb.parameters.t1, lapb.t1_expired)

    def emit_poll(self) -> None:
        """Ask where the other station is, which answers with its N(R)."""
        lapb = self.lapb
        lapb.acknowledging.acknowledged()
        lapb.station.frame_out(frames.supervisory(lapb.other, Control.RR, lapb.v_r, True))

# SPDX-License-Identifier: GPL-2.0-or-later
"""What a LAPB station says of the I frames that it has taken (X.25 2.4.3, 2.4.5.2, 2.4.8.2)."""

from typing import TYPE_CHECKING

from . import lapb_frames as frames
from .lapb_frames import Control
from .lapb_station import Phase

if TYPE_CHECKING:
    from .lapb import Lapb


class Acknowledging:
    """Sends N(R) by RR and REJ."""

    def __init__(self, lapb: "Lapb") -> None:
        self.lapb = lapb

    def answer_poll(self) -> None:
        """P=1 is answered at once with F=1 (X.25 2.4.3)."""
        self.acknowledge_with(Control.RR, True)

    def acknowledge_now(self) -> None:
        lapb = self.lapb
        if lapb.phase is Phase.TRANSFER and lapb.owed:
            self.acknowledge_with(Control.RR, False)

    def acknowledge_with(self, kind: int, f: bool) -> None:
        """A supervisory response with N(R)=V(R)."""
        lapb = self.lapb
        self.acknowledged()
        lapb.station.frame_out(frames.supervisory(lapb.own, kind, lapb.v_r, f))

    def acknowledged(self) -> None:
        lapb = self.lapb
        lapb.owed = 0
        lapb.stop("T2")

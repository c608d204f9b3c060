# SPDX-License-Identifier: GPL-2.0-or-later
"""How a LAPB link comes and goes: SABM, DISC, UA, DM, the other station's FRMR (X.25 2.4.4)."""

from typing import TYPE_CHECKING

from .lapb_frames import Control
from .lapb_station import Phase

if TYPE_CHECKING:
    from .lapb import Lapb


class Phases:
    """Sets links up, ends them, and answers the other station that does."""

    def __init__(self, lapb: "Lapb") -> None:
        self.lapb = lapb

    def set_up(self) -> None:
        """Send SABM P=1, until UA comes (X.25 2.4.4.1)."""
        lapb = self.lapb
        lapb.stop_timers()
        lapb.forget()
        lapb.enter(Phase.SET_UP)
        lapb.attempts = 1
        lapb.command(Control.SABM)
        lapb.start("T1", lapb.parameters.t1, lapb.t1_expired)

    def disconnect(self) -> None:
        """Send DISC P=1, until UA or DM comes (X.25 2.4.4.3)."""
        lapb = self.lapb
        if lapb.phase is Phase.DISCONNECTED:
            return
        lapb.stop_timers()
        lapb.enter(Phase.DISCONNECT)
        lapb.attempts = 1
        lapb.command(Control.DISC)
        lapb.start("T1", lapb.parameters.t1, lapb.t1_expired)

    def on_sabm(self, p_f: bool) -> None:
        """Set-up or reset; in L3 a collision of different commands (X.25 2.4.4.5)."""
        lapb = self.lapb
        if lapb.phase is Phase.DISCONNECT:
            lapb.respond(Control.DM, p_f)
            self.end_link()
            return
        lapb.respond(Control.UA, p_f)
        self.begin_transfer()

    def begin_transfer(self) -> None:
        """The information transfer phase begins."""
        lapb = self.lapb
        lapb.stop_timers()
        lapb.forget()
        lapb.waiting.clear()
        lapb.enter(Phase.TRANSFER)
        lapb.idle()
        lapb.station.link_up()

    def on_disc(self, p_f: bool) -> None:
        """X.25 2.4.4.3 to 2.4.4.5: UA if there is a link to end, DM if there is none."""
        lapb = self.lapb
        ends = lapb.phase in (Phase.TRANSFER, Phase.REJECT, Phase.DISCONNECT)
        lapb.respond(Control.UA if ends else Control.DM, p_f)
        self.end_link()

    def end_link(self) -> None:
        """Back to the disconnected phase."""
        lapb = self.lapb
        lapb.stop_timers()
        if lapb.phase is not Phase.DISCONNECTED:
            lapb.forget()
            lapb.waiting.clear()
            lapb.enter(Phase.DISCONNECTED)
            lapb.station.link_down()
        if lapb.parameters.initiate and lapb.line:
            lapb.start("retry", lapb.parameters.retry, self.set_up)

    def on_ua(self, p_f: bool) -> None:
        """Only UA F=1 answers SABM or DISC with P=1; an unsolicited UA says nothing."""
        lapb = self.lapb
        if p_f and lapb.phase is Phase.SET_UP:
            self.begin_transfer()
        elif p_f and lapb.phase is Phase.DISCONNECT:
            self.end_link()

    def on_dm(self, p_f: bool) -> None:
        """X.25 2.4.4.1, 2.4.4.6, 2.4.6.4: refusal with F=1, request for set-up with F=0."""
        lapb = self.lapb
        if lapb.phase in (Phase.SET_UP, Phase.DISCONNECT):
            if p_f:
                self.end_link()
        elif lapb.phase is not Phase.DISCONNECTED or not p_f:
            self.set_up()

    def on_frmr(self, field: bytes) -> None:
        """X.25 2.4.6.2: the other station waits for SABM."""
        lapb = self.lapb
        if lapb.phase in (Phase.TRANSFER, Phase.REJECT):
            lapb.station.note_rejection("lapbFlowFrmrReceived", field)
            self.set_up()

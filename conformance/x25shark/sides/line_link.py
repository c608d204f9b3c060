# SPDX-License-Identifier: GPL-2.0-or-later
"""How the link of a serial line comes and goes, and the restart of the packet layer on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from scapy.packet import Packet
from scapy_x25 import RestartConfirmation, RestartRequest
from scapy_x25.lapb import (
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbUA,
)

from ..links.lapb import DISC, DM, FRMR, SABM, UA

if TYPE_CHECKING:
    from .line import LineSide

# Without a link: either station may ask for one, by SABM or by DM F=0, and DISC may come ahead of
# SABM so that both begin alike (X.25 2.4.4.1, 2.4.4.4.2).
ASKING_FOR_A_LINK: tuple[Packet, ...] = (LapbSABM(), LapbDM(p_f=0), LapbDISC())
# A station that refuses a link because it is not ready yet is asked again so long (seconds).
NOT_READY_SECONDS = 3.0
_P_F = 0x10


class LineLink:
    """Sets the link of a line up and ends it, as a preamble or as what the case is about."""

    def __init__(self, line: LineSide) -> None:
        self.line = line
        # The link on which the packet layer has been restarted; 0: none yet.
        self._restarted = 0

    def leave(self) -> None:
        """End the link, if the case used it; the answer is waited for, but not demanded."""
        line = self.line
        line.kept_down = True
        if line.used:
            line.station.by_hand = False
            line.station.refusing = True
            line.station.disconnect()
            line.bench.loop.wait(
                lambda: line.station.phase == "disconnected" or line.connection.flooded,
                line.bench.profile.times.reaction,
            )

    def bring_down(self) -> None:
        """Preamble: the link is in its disconnected phase. Raises Inconclusive.

        It is set up first, so that DISC ends a link and is answered by UA; not so where the
        router sets it up as well, since the two might collide. What it tries then is refused (DM).
        """
        line = self.line
        line.kept_down = True
        line.take_part()
        with line.bench.preamble():
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

        judged: it is no preamble; what goes wrong is what the case is about.
        """
        line = self.line
        line.kept_down = False
        if line.station.up and (line.by_hand or self._restarted == line.station.links):
            return
        line.wire.begin()
        with nullcontext() if judged else line.bench.preamble():
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
            layer = line.bench.serial.channel_zero(line, line.cursor)
            layer.cursor = max(layer.cursor, line.cursor)

    def restart(self) -> None:
        """The packet layer begins anew: the tester's Restart collides with the router's, or is
        confirmed (X.25 3.3)."""
        line = self.line
        layer = line.layer
        layer.send(RestartRequest(cause=line.restart_cause, diagnostic=0))
        layer.expect(RestartConfirmation(), RestartRequest())
        # A call over another link must not overtake it.
        layer.wait_until(lambda: not line.station.unacknowledged)
        self.note_restarted()
        line.cursor = line.connection.received_octets

    def note_restarted(self) -> None:
        """The packet layer of this link has been restarted, or is the case's own business."""
        self._restarted = self.line.station.links

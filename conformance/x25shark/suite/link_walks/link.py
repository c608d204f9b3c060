# SPDX-License-Identifier: GPL-2.0-or-later
"""A line of a walk, and what the walk has left open on its link."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...judges.template import matches
from ..language import (
    Inconclusive,
    LapbI,
    LapbRNR,
    LapbRR,
    LineSide,
    Packet,
    RestartConfirmation,
    RestartRequest,
    not_in,
)
from ..links import ENDING, all_again, by_t1, is_polled, left_alone, let_go, polls, respond

# What takes longer than this part of T1 is late; so often it is not an accident.
LATE = 0.6
TOO_OFTEN = 2


class Step(NamedTuple):
    """One step: what, on which line, and a number that decides its values."""

    action: str
    line: str
    number: int

    def __str__(self) -> str:
        return f"{self.action} {self.line} {self.number}"


@dataclass
class Link:
    """A line, and what the walk has left open on its link."""

    line: LineSide
    #: N(R) that the tester has given last: the oldest I frame of the router that is open.
    acked: int = 0
    #: Confirmations that the router owes, or that have come and are not acknowledged.
    owed: int = 0
    #: Restart Requests since the confirmations were counted last.
    asked: int = 0
    #: Octets of the line from which on the router knows that the tester is busy.
    busy_from: int | None = None
    #: A REJ of the router stands, for all that the tester knows: "", "maybe" or "sure".
    gap: str = ""
    rejected_at: float = 0.0
    #: Frames that are open were asked for once more.
    repeated: bool = False
    #: The router has been busy: bursts may be dropped (X.25 2.4.5.8).
    careful: bool = False
    #: How often the router did only at T1 what it has to do at once.
    late: int = 0

    @property
    def restart(self) -> Packet:
        line = self.line
        return RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)

    @property
    def opened(self) -> int:
        """I frames of the router that have come and are not acknowledged."""
        return (self.line.station.v_r - self.acked) % 8

    @property
    def settled(self) -> bool:
        """Nothing of either direction is open, so that each other N(R) is invalid."""
        return not self.owed and not self.opened

    @property
    def ready(self) -> type[Packet]:
        """The frame that says how things are."""
        return LapbRR if self.busy_from is None else LapbRNR

    @property
    def beside(self) -> tuple[Packet, ...]:
        """What may come beside what is expected."""
        return polls(self.line) + (self.line.frames.rejections() if self.gap else ())

    @property
    def is_polled(self) -> bool:
        """The router waits for F=1."""
        return is_polled(self.line)

    def fresh(self) -> None:
        """A link that has just begun, with its restart behind it; by hand from here on."""
        line = self.line
        let_go(line)
        line.link_fence()
        line.by_hand = True
        self.acked = line.station.v_r
        self.owed = self.asked = 0
        self.busy_from, self.gap, self.repeated = None, "", False
        line.layer.cursor = max(line.layer.cursor, line.connection.received_octets)

    def take(self, count: int) -> None:
        """So many of the open frames are acknowledged by what is sent next."""
        self.acked = (self.acked + count) % 8
        self.owed -= count

    def still_busy(self) -> None:
        """While the tester is busy, all that came is the I frame with the N(S) of its N(R)."""
        if self.busy_from is not None:
            self.line.expect_count(
                LapbI(n_s=not_in(self.acked)), 0, 0, start=self.busy_from, note="to a busy tester"
            )

    def busy(self) -> None:
        """The router knows that the tester is busy, and with which N(R)."""
        self.busy_from = -1
        self.fence()
        self.busy_from = self.line.cursor

    def has_been_busy(self) -> bool:
        """Whether the router has been: what it dropped then it may ask for by REJ (2.4.5.8)."""
        return any(u.valid and u.octets[1] & 0x0F == 5 for u in self.line.line.log.received)

    def fence(self, behind: Sequence[bytes] = ()) -> None:
        """A poll, and what the router has taken. behind: what stands between flags ahead of it, in
        the same write, and shares a flag with it."""
        line = self.line
        poll = self.ready(address=line.command_address, n_r=self.acked, p_f=1)
        line.wire.send_whole([*behind, line.frames.with_fcs(poll)], shared_flags=bool(behind))
        line.expect(*line.frames.answers(n_r=line.station.v_s), passing=self.beside)

    def answer(self) -> None:
        """F=1 if the router waits for it: what is open it sends again then.

        Raises Inconclusive where it has made all its attempts while the tester was at another line.
        """
        if left_alone(self.line):
            self.line.allow(*ENDING)
            raise Inconclusive(
                f"line {self.line.name.lower()}: the router gave its link up for polls that the "
                "tester, which was at another line, left unanswered (N2 x T1 is short)"
            )
        if self.is_polled:
            respond(self.line, self.ready, self.acked)
            self.repeated = self.repeated or self.owed > 0

    def comes(self, n_s: int, begin: int, note: str) -> None:
        """An I frame with this N(S), from there on; polls of a router that is in timer recovery
        meanwhile are answered, as it sends nothing else before."""
        line = self.line
        template = LapbI(n_s=n_s % 8)

        for _ in range(line.profile.n2):
            line.wait_until(lambda: self._has_come(template, begin) or self.is_polled, by_t1(line))
            if self._has_come(template, begin):
                break
            self.answer()
        line.expect_count(template, 1, start=begin, note=note)

    def at_once(self, n_s: int, begin: int, note: str) -> None:
        """As comes(), to a router that did not wait for F=1 when it was asked for this frame.

        A poll that crosses with what asks for it is answered. One that comes long behind that is
        the one at T1: the router has not sent what it was asked for. A machine that stands still
        makes it so once.
        """
        line, asked = self.line, time.monotonic()
        template = LapbI(n_s=n_s % 8)
        line.wait_until(lambda: self.is_polled or self._has_come(template, begin))
        if self.is_polled and not self._has_come(template, begin) and self.is_late(asked):
            line.expect_count(template, 1, start=begin, note=f"{note}, before T1 runs out")
        self.comes(n_s, begin, note)

    def is_late(self, asked: float) -> bool:
        """Whether what has just come took the better part of T1, and not for the first time.

        asked: when it was asked for (monotonic, seconds).
        """
        line = self.line
        took = time.monotonic() - asked
        if "t1" in line.profile.model_fields_set and took > LATE * line.profile.t1:
            self.late += 1
            line.context.remark(f"line {line.name.lower()}: the router took {took:.2f} s, up to T1")
        return self.late >= TOO_OFTEN

    def _has_come(self, template: Packet, begin: int) -> bool:
        frames = [u.octets for u in self.line.line.log.received if u.offset >= begin and u.valid]
        return any(matches(template, octets) for octets in frames)

    def acknowledged(self) -> None:
        """As LineSide.acknowledged(); what the router's poll at T1 acknowledges is too late.

        T2 is shorter than T1 (X.25 2.4.8.2). It is asked once more then, so that nothing is held
        against a router which is late for another reason.
        """
        line, sent = self.line, time.monotonic()
        seen = line.acknowledged(passing=self.beside)
        if seen is None or isinstance(seen, LapbI) or not seen.p_f or not self.is_late(sent):
            return
        self.answer()
        line.send(line.packet(self.restart, n_r=self.acked))
        self.owed += 1
        self.asked += 1
        kinds = (LapbRR, LapbRNR, LapbI)
        line.expect(
            *(kind(n_r=line.station.v_s, p_f=0) for kind in kinds),
            note="acknowledged before T1 runs out",
        )

    def drain(self) -> None:
        """All that the router owes comes, from the oldest on."""
        begin = self.line.cursor
        self.comes(self.acked, begin, "the oldest that is open")
        self.line.cursor = begin
        may_come = all_again(self.line, self.acked, self.owed)
        self.take(self.owed)
        if may_come:
            # Before a window is looked at that begins behind them.
            self.fence()
        self.repeated = False
        self.count()

    def count(self) -> None:
        """Each packet was passed up once."""
        self.line.layer.expect_count(
            RestartConfirmation(), self.asked, self.asked, note="each packet once"
        )
        self.asked = 0

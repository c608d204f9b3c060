# SPDX-License-Identifier: GPL-2.0-or-later
"""Purposes about everything the router sends in a whole run.

Their cases are written like others, as expectations, but made anew for each connection of every
other case: a Watch collects the demands before the run, the campaign judges them (twice) with
each case, and the purpose gets its verdict at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from scapy.packet import Packet

from .expectation import Consumed, Direction, Expectation, Judge, Never, PacketView, Seen
from .template import decode, matches

# What a connection carried, both ways, in order: (sent by the tester, packet).
Conversation = Sequence[tuple[bool, Packet, PacketView]]
Rule = Callable[[Conversation], PacketView | None]


@lru_cache(maxsize=4096)
def _decoded(octets: bytes) -> Packet:
    """A packet to look at: several rules, and both judges, read the same ones."""
    return decode(octets)


@dataclass
class Follows(Expectation):
    """A rule over the whole conversation of a connection holds.

    rule: gives the first packet of the router that breaks it, or None.
    """

    rule: Rule = lambda _conversation: None
    rule_in_words: str = ""

    @property
    def text(self) -> str:
        return self.rule_in_words

    def templates(self) -> tuple[Packet, ...]:
        return ()

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        assert self.direction is not None
        back = Direction(self.direction.destination, self.direction.source)
        order = judge.conversation(self.direction, back)
        broken = self.rule([(sent, _decoded(octets), view) for sent, octets, view in order])
        if broken is None:
            return Seen(True, None, "all as demanded")
        return Seen(False, broken)


@dataclass
class _Demand:
    make: Callable[[str, Direction], Expectation]
    unless_sent: tuple[Packet, ...]


class Watch:
    """What a campaign purpose demands of every connection."""

    def __init__(self, clause: str, model: str) -> None:
        self.clause = clause
        self.model = model
        self._demands: list[_Demand] = []

    def never(self, *templates: Packet) -> None:
        """The router never sends such a packet.

        A splice passes what the other end sent: a case in which the tester itself sent such a
        packet is left out there.
        """

        def make(side: str, direction: Direction) -> Expectation:
            return Never(side, self.clause, direction, forbidden=templates)

        self._demands.append(_Demand(make, templates if self.model == "splice" else ()))

    def always(self, rule_in_words: str, rule: Rule) -> None:
        """A rule over the conversation holds on every connection."""

        def make(side: str, direction: Direction) -> Expectation:
            return Follows(side, self.clause, direction, rule=rule, rule_in_words=rule_in_words)

        self._demands.append(_Demand(make, ()))

    def expectations(
        self, side: str, direction: Direction, sent: Sequence[bytes]
    ) -> list[Expectation]:
        """The demands for one connection; sent: all packets that the tester sent in the case."""
        return [
            demand.make(side, direction)
            for demand in self._demands
            if not any(matches(t, octets) for t in demand.unless_sent for octets in sent)
        ]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Purposes about everything the router sends in a whole run.

Their cases are written like others, as expectations, but made anew for each connection of every
other case: a Watch collects the demands before the run, the campaign judges them (twice) with
each case, and the purpose gets its verdict at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scapy.packet import Packet
from scapy_x25.x25 import CALL_ACCEPTED, CALL_REQUEST, CLEAR_CONFIRMATION, CLEAR_REQUEST

from .expectation import (
    Consumed,
    Direction,
    Expectation,
    Judge,
    Never,
    PacketView,
    Seen,
)
from .form import OF_CHANNEL_ZERO, packet_problem
from .frames import Damaged, decode_frame
from .template import decode, matches, type_of
from .tester import TesterJudge

# What a connection carried, both ways, in order: (sent by the tester, packet).
Conversation = Sequence[tuple[bool, Packet, PacketView]]
Rule = Callable[[Conversation], PacketView | None]
Told = Callable[[PacketView], str]


Decoded = list[tuple[bool, Packet, PacketView]]


@dataclass
class Looked:
    """A conversation, decoded. came: classes of the packets of the router in it.

    broken: by rule that was asked, what it found. holds: by classes that were asked for, whether
    the router sent a packet of any of them.
    """

    decoded: Decoded
    came: frozenset[type[Packet]]
    broken: dict[Rule, PacketView | None] = field(default_factory=dict)
    holds: dict[tuple[type[Packet], ...], bool] = field(default_factory=dict)

    def any_of(self, kinds: tuple[type[Packet], ...]) -> bool:
        """Whether the router sent a packet of one of these classes."""
        known = self.holds.get(kinds)
        if known is None:
            known = self.holds[kinds] = any(issubclass(kind, kinds) for kind in self.came)
        return known


Order = Sequence[tuple[bool, bytes, PacketView]]
# The conversations decoded last, by judge and direction, each with what it was made of: all rules
# look at the same ones.
_latest: dict[Judge, dict[Direction, tuple[Order, Looked]]] = {}


def looked_at(judge: Judge, direction: Direction) -> Looked:
    """A conversation, its packets decoded.

    A judge that has nothing new gives the same conversation again.
    """
    if judge not in _latest and len(_latest) >= _JUDGES:
        _latest.clear()
    of_judge = _latest.setdefault(judge, {})
    known = of_judge.get(direction)
    order = judge.conversation(direction, Direction(direction.destination, direction.source))
    if known is None or known[0] is not order:
        known = of_judge[direction] = (order, _same(direction, order) or _looked(order))
    return known[1]


def _looked(order: Order) -> Looked:
    found = [(sent, decode(octets), view) for sent, octets, view in order]
    return Looked(found, frozenset(type(packet) for sent, packet, _ in found if not sent))


def _same(direction: Direction, order: Order) -> Looked | None:
    """What the conversation of the other judge was decoded to, if it has the same octets there.

    Every rule says the same of it: it looks at nothing else.
    """
    for of_judge in _latest.values():
        known = of_judge.get(direction)
        if known is not None and _alike(known[0], order):
            return known[1]
    return None


def _damage(octets: bytes) -> str:
    return octets.how if isinstance(octets, Damaged) else ""


def _alike(one: Order, other: Order) -> bool:
    return len(one) == len(other) and all(
        a[1] == b[1]
        and a[0] == b[0]
        and a[2].offset == b[2].offset
        and a[2].framed == b[2].framed
        and _damage(a[2].octets) == _damage(b[2].octets)
        for a, b in zip(one, other, strict=True)
    )


# Both judges of a case are asked in turn; a third may be at work for the next case.
_JUDGES = 4


# Packets of so many octets are shown in octets too: what is wrong need not be in their summary.
_SHORT = 8


def _with_octets(view: PacketView) -> str:
    short = not view.framed and len(view.octets) <= _SHORT
    return f"{view.text} (octets {view.octets.hex(' ')})" if short else ""


@dataclass
class Follows(Expectation):
    """A rule over the whole conversation of a connection holds.

    rule: gives the first packet of the router that breaks it, or None. told: what is said of it;
    "": the packet alone. about: what the router has
    to have sent for the rule to say anything. mild: to break it is a remark.
    """

    rule: Rule = lambda _conversation: None
    rule_in_words: str = ""
    told: Told = _with_octets
    about: tuple[type[Packet], ...] = ()
    mild: bool = False

    @property
    def text(self) -> str:
        return self.rule_in_words

    def templates(self) -> tuple[Packet, ...]:
        return ()

    def applies(self, judge: Judge) -> bool:
        """Whether the router sent anything that the rule is about."""
        assert self.direction is not None
        return not self.about or self.applies_to(looked_at(judge, self.direction))

    def applies_to(self, looked: Looked) -> bool:
        """The same of a conversation that was looked at."""
        return not self.about or looked.any_of(self.about)

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        assert self.direction is not None
        return self.found_in(looked_at(judge, self.direction))

    def found_in(self, looked: Looked) -> Seen:
        """What is to be seen in a conversation that was looked at."""
        if self.rule not in looked.broken:
            looked.broken[self.rule] = self.rule(looked.decoded)
        broken = looked.broken[self.rule]
        return _AS_DEMANDED if broken is None else Seen(False, broken, self.told(broken))


_AS_DEMANDED = Seen(True, None, "all as demanded")


@dataclass
class Framed(Expectation):
    """Every unit has a header of version 0 and the length of the packet behind it (RFC 1613 4.1).

    closed: the router closed the connection before the tester did, so that there must be nothing
    behind the last unit. A router whose peer has closed may drop the rest of what it was sending.
    """

    closed: bool = False

    @property
    def text(self) -> str:
        return "units of version 0, each as long as its header says"

    def templates(self) -> tuple[Packet, ...]:
        return ()

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        assert self.direction is not None
        border = 0
        for header in judge.headers(self.direction):
            length = header.end - header.offset - _HEADER
            if header.offset != border or not length:
                return _misframed(border, "a header with length 0")
            if header.version:
                return _misframed(header.offset, "a header with another version than 0")
            if not _SHORTEST <= length <= _LONGEST:
                return _misframed(header.offset, f"a header with length {length}")
            border = header.end
        octets = judge.octets_sent(self.direction) if self.closed else None
        if octets is not None and octets != border:
            return _misframed(border, f"{octets - border} octets that are not a whole unit")
        return Seen(True, None, "all as demanded")


# Octets of a header; of the shortest and the longest X.25 packet (4096 octets, modulo 128).
_HEADER, _SHORTEST, _LONGEST = 4, 3, 4100


def _misframed(offset: int, said: str) -> Seen:
    view = PacketView(offset, offset, None, b"", 0, 0, b"")
    return Seen(False, view, said)


@dataclass
class PlainSyn(Expectation):
    """The SYN that opened the connection carries no octets (RFC 1613 5)."""

    @property
    def text(self) -> str:
        return "no octets with the SYN"

    def templates(self) -> tuple[Packet, ...]:
        return ()

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        assert self.direction is not None
        octets = judge.octets_with_syn(self.direction)
        return Seen(not octets, None, f"{octets} octets" if octets else "none")


@dataclass
class WellFormed(Expectation):
    """Every packet (or frame) of the direction has the form of its type.

    excused: families of packet types that are left aside, for the tester sent malformed ones.
    """

    excused: frozenset[int | None] = frozenset()

    @property
    def text(self) -> str:
        return f"only {'frames' if self._framed() else 'packets'} of the right form"

    def _framed(self) -> bool:
        return self.direction is not None and self.direction.framed

    def templates(self) -> tuple[Packet, ...]:
        return ()

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        for view in self.window(judge):
            if _family(view.type) in self.excused:
                continue
            problem = judge.malformed(view)
            if problem:
                return Seen(False, view, f"{view.text} ({problem})")
        return Seen(True, None, "all of the right form")


# What one packet of a call says, another one of it may repeat.
_CALLS = frozenset({CALL_REQUEST, CALL_ACCEPTED, CLEAR_REQUEST, CLEAR_CONFIRMATION})


def _family(kind: int | None) -> int | None:
    """Packet types that are left aside together."""
    return CALL_REQUEST if kind in _CALLS else kind


def _malformed_families(sent: Sequence[bytes], lines: bool, splice: bool) -> frozenset[int | None]:
    """Families of what the tester itself sent in another than the usual form, in frames or not.

    lines: there are serial lines, so that some of it may be frames. splice: what it sent on channel
    0 may come on with the number of the call.
    """
    found = set()
    for octets in sent:
        packet = octets
        if lines and decode_frame(octets) is not None:
            if octets[1] & 1:
                continue
            packet = octets[2:-2]
        kind = type_of(decode(packet)) if packet else None
        with_a_bit = packet and packet[0] & 0x80 and _family(kind) == CALL_REQUEST
        on_channel_0 = splice and isinstance(decode(packet), OF_CHANNEL_ZERO)
        if not packet or with_a_bit or on_channel_0 or packet_problem(packet):
            found.add(_family(kind))
    return frozenset(found)


# What the tester sent in the case that was looked at last, decoded: several rules ask.
_sent: list[tuple[Sequence[bytes], list[Packet]]] = []


def _decoded_sent(sent: Sequence[bytes], lines: bool) -> list[Packet]:
    """lines: there are serial lines. Elsewhere nothing is a frame, even if it looks like one."""
    if not _sent or _sent[0][0] is not sent:
        packets = [(lines and decode_frame(octets)) or decode(octets) for octets in sent]
        _sent[:] = [(sent, packets)]
    return _sent[0][1]


Made = Callable[[str, Direction, TesterJudge, Sequence[bytes]], Expectation | None]


class Watch:
    """What a campaign purpose demands of every connection.

    roles: what the router is on the serial line of a side ("A" or "B"): "dce" or "dte". windows: k
    of that line.
    passes_numbers: numbers, sizes and windows at one end may be those that the tester sent at the
    other one, right or wrong (RFC 1613 6.2). takes_below: so may values of an answer (N-BELOW).
    """

    def __init__(
        self,
        clause: str,
        model: str,
        roles: Mapping[str, str] | None = None,
        *,
        windows: Mapping[str, int] | None = None,
        passes_numbers: bool = False,
        takes_below: bool = False,
    ) -> None:
        self.clause = clause
        self.model = model
        self.passes_numbers = passes_numbers
        self.takes_below = takes_below
        self.roles = roles or {}
        self.windows = windows or {}
        self._demands: list[Made] = []

    def never(self, *templates: Packet, side: str | None = None) -> None:
        """The router never sends such a packet (on one side, or on any).

        A splice passes what the other end sent: a case in which the tester itself sent such a
        packet is left out there.
        """

        def make(
            its_side: str, direction: Direction, _judge: TesterJudge, sent: Sequence[bytes]
        ) -> Expectation | None:
            if side not in (None, its_side):
                return None
            if self.model == "splice" and any(matches(t, o) for t in templates for o in sent):
                return None
            return Never(its_side, self.clause, direction, forbidden=templates)

        self._demands.append(make)

    def always(
        self,
        rule_in_words: str,
        rule: Rule | None = None,
        *,
        told: Told | None = None,
        about: tuple[type[Packet], ...] = (),
        given_sent: Callable[[Sequence[Packet]], Rule | None] | None = None,
        mild: bool = False,
        side: str | None = None,
    ) -> None:
        """A rule over the conversation holds on every connection (of one side, or of any).

        given_sent: makes the rule from all packets and frames that the tester sent in the case;
        None: it is left out.
        told, about, mild: as in Follows.
        """
        # The connections of a case share what the tester sent in it, and so the rule.
        latest: list[tuple[Sequence[bytes], Rule | None]] = []

        def rule_for(sent: Sequence[bytes]) -> Rule | None:
            if given_sent is None:
                return rule
            if not latest or latest[0][0] is not sent:
                latest[:] = [(sent, given_sent(_decoded_sent(sent, bool(self.roles))))]
            return latest[0][1]

        def make(
            its_side: str, direction: Direction, _judge: TesterJudge, sent: Sequence[bytes]
        ) -> Expectation | None:
            used = rule_for(sent) if side in (None, its_side) else None
            if used is None:
                return None
            return Follows(
                its_side,
                self.clause,
                direction,
                rule=used,
                rule_in_words=rule_in_words,
                told=told or _with_octets,
                about=about,
                mild=mild,
            )

        self._demands.append(make)

    def framed(self) -> None:
        """Every unit of the router has a right header.

        A splice may pass what the other end sent: a case in which the tester itself sent an
        illegal header is left out there.
        """

        def make(
            side: str, direction: Direction, judge: TesterJudge, _sent: Sequence[bytes]
        ) -> Expectation | None:
            if self.model == "splice" and judge.misframed_by_tester():
                return None
            closed = judge.closed_by_router(direction)
            return Framed(side, self.clause, direction, closed=closed)

        self._demands.append(make)

    def well_formed(self) -> None:
        """Every packet, or frame, has the form of its type.

        What the tester itself malformed in a case is left aside in it: parts of such a packet may
        come back, and a splice passes all of it.
        """
        latest: list[tuple[Sequence[bytes], frozenset[int | None]]] = []
        splice = self.model == "splice"

        def make(
            side: str, direction: Direction, _judge: TesterJudge, sent: Sequence[bytes]
        ) -> Expectation | None:
            if direction.framed:
                return WellFormed(side, self.clause, direction)
            if not latest or latest[0][0] is not sent:
                families = _malformed_families(sent, bool(self.roles), splice)
                latest[:] = [(sent, families)]
            excused = latest[0][1]
            if excused and splice:
                return None
            return WellFormed(side, self.clause, direction, excused=excused)

        self._demands.append(make)

    def plain_syn(self) -> None:
        """No octets come with a SYN of the router."""

        def make(
            side: str, direction: Direction, judge: TesterJudge, _sent: Sequence[bytes]
        ) -> Expectation | None:
            if judge.octets_with_syn(direction) is None:
                return None
            return PlainSyn(side, self.clause, direction)

        self._demands.append(make)

    def expectations(
        self, side: str, direction: Direction, judge: TesterJudge, sent: Sequence[bytes]
    ) -> list[Expectation]:
        """The demands for one connection; sent: all packets that the tester sent in the case."""
        made = [make(side, direction, judge, sent) for make in self._demands]
        return [expectation for expectation in made if expectation is not None]

# SPDX-License-Identifier: GPL-2.0-or-later
"""What a case expects, and the one procedure that evaluates it, for either judge.

Everything is said in the common key: connection and direction (who sends to whom), and octet
offset within that direction. "After the stimulus" is an offset, never a time. Where the tester
waited and nothing came, the expectation ends (stop) at the octets that had come until then, so that
a packet that came too late is too late for both judges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from scapy.packet import Packet
from scapy_x25 import RNR, RNR128, RR, RR128, summary_line

from ..links.carrier import FRAMES, End, LineEnd
from ..results import CounterReading
from .frames import frame_line
from .template import describe_template


class Direction(NamedTuple):
    """One direction of one TCP connection, or of one logical channel of a serial line.

    Channel FRAMES of a line stands for its frames themselves. There the offset is that of the
    frame.
    """

    source: End
    destination: End

    @property
    def line(self) -> str | None:
        """The name of the serial line; None for TCP."""
        return self.source.line if isinstance(self.source, LineEnd) else None

    @property
    def framed(self) -> bool:
        """Whether it is about the frames of a line themselves."""
        return isinstance(self.source, LineEnd) and self.source.channel == FRAMES

    @property
    def by_router(self) -> bool:
        """Whether the router sends in it, on a line."""
        return isinstance(self.source, LineEnd) and self.source.of_router

    @property
    def to_router(self) -> bool:
        """Whether the tester sends in it, on a line."""
        return isinstance(self.source, LineEnd) and not self.source.of_router


class PacketView(NamedTuple):
    """One X.25 packet of a direction, as one judge sees it.

    offset and end: octets of the direction before its XOT header, and up to its last octet.
    framed: it is a frame of a serial line, octets are those between the flags.
    """

    offset: int
    end: int
    type: int | None
    user_data: bytes
    m: int
    q: int
    octets: bytes
    frame: int | None = None
    k: int | None = None
    framed: bool = False

    @property
    def text(self) -> str:
        """The packet in one line, called as what the router sends (to a DTE)."""
        if self.framed:
            return frame_line(self.octets, to_dte=True)
        return summary_line(self.octets, to_dte=True)


class Header(NamedTuple):
    """The XOT header of a unit (RFC 1613 4.1), by its place and that of the unit's end."""

    offset: int
    end: int
    version: int


class Judge(ABC):
    """The packets of a case, as one judge sees them."""

    def headers(self, direction: Direction) -> Sequence[Header]:
        """The header of each unit, one without a packet too, in order. Version: 0, or any other."""
        raise NotImplementedError

    def octets_sent(self, direction: Direction) -> int | None:
        """All octets of a direction that ended in an orderly way (FIN); None: it did not."""
        raise NotImplementedError

    def octets_with_syn(self, direction: Direction) -> int | None:
        """Octets that came with the SYN of the sender; None: it sent no SYN, or not known."""
        raise NotImplementedError

    @abstractmethod
    def packets(self, direction: Direction) -> Sequence[PacketView]:
        """All packets of a direction, in order."""

    @abstractmethod
    def ended(self, direction: Direction, since: int) -> str | None:
        """How the sender ended the direction: "FIN", "RST" or, on a line, "DISC", or None.

        since: a link that ended ahead of this octet, and was set up again, has not ended.
        """

    @abstractmethod
    def connections_to(self, listener: End) -> Sequence[Direction]:
        """Connections opened to a listening address of the tester, in order."""

    @abstractmethod
    def conversation(
        self, there: Direction, back: Direction
    ) -> Sequence[tuple[bool, bytes, PacketView]]:
        """Both directions of a connection in order: (whether it went back, octets, view)."""

    @abstractmethod
    def matches(self, template: Packet, view: PacketView, direction: Direction) -> bool:
        """Whether a packet is as the template says."""

    def may_match(self, templates: Iterable[Packet], direction: Direction) -> bool:
        """False: certainly no packet of the direction is as one of the templates says."""
        return True

    @abstractmethod
    def malformed(self, view: PacketView) -> str:
        """What is wrong with the form of a packet or frame, in words; empty: nothing."""


@dataclass(frozen=True)
class Seen:
    """What one judge says of one expectation: met or not, and the packet that decides.

    count: the number that it found, where the expectation is about one.
    """

    met: bool
    view: PacketView | None
    said: str = ""
    count: int | None = None

    @property
    def saw(self) -> str:
        """What was seen, in words."""
        return self.said or (self.view.text if self.view else "nothing")

    @property
    def offset(self) -> int | None:
        return self.view.offset if self.view else None


@dataclass(frozen=True)
class TcpEnd:
    """In place of a packet: the router closes (FIN) or resets (RST) the TCP connection."""

    def __str__(self) -> str:
        return "TCP close"


CLOSED = TcpEnd()
NO_CONNECTION = "no connection came from the router"
FLOW_CONTROL: tuple[Packet, ...] = (RR(), RNR(), RR128(), RNR128())

Consumed = set[tuple[Direction, int]]


def in_words(item: Packet | TcpEnd) -> str:
    return str(item) if isinstance(item, TcpEnd) else describe_template(item)


@dataclass
class Expectation(ABC):
    """One thing that a case expects. clause: where the standard says so.

    stimulus: direction and offset of the last packet that the tester had sent before. tcp_ended:
    side on which the tester had ended a TCP connection since, and how ("FIN", "RST").
    """

    side: str
    clause: str
    direction: Direction | None = None
    start: int = 0
    stop: int | None = None
    preamble: bool = False
    note: str = ""
    stimulus: tuple[Direction, int] | None = None
    tcp_ended: tuple[str, str] | None = None

    @property
    @abstractmethod
    def text(self) -> str:
        """The expectation in words."""

    @abstractmethod
    def templates(self) -> tuple[Packet, ...]:
        """Every template that has to be matched."""

    def leading(self) -> tuple[Packet, ...]:
        """The templates of what is expected (or must not come), for the reported filter."""
        return self.templates()

    @abstractmethod
    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        """Judge; add to consumed what was expected and came."""

    def counter(self, two: Seen) -> CounterReading | None:
        """The counter of the router that this is about, with what judge two counted."""
        return None

    def window(self, judge: Judge) -> list[PacketView]:
        """The packets of the direction from start to stop."""
        if self.direction is None:
            return []
        views = judge.packets(self.direction)
        first = bisect_left(views, self.start, key=lambda view: view.offset)
        last = None
        if self.stop is not None:
            last = bisect_left(views, self.stop, key=lambda view: view.offset)
        return list(views[first:last])

    def any_match(self, judge: Judge, templates: Iterable[Packet], view: PacketView) -> bool:
        assert self.direction is not None
        return any(judge.matches(t, view, self.direction) for t in templates)


@dataclass
class Next(Expectation):
    """The next packet, those in passing left aside, is one of the alternatives.

    What has passed ahead of it is accounted for as well. on_line: where there is no direction yet,
    it would be on a serial line.
    """

    alternatives: tuple[Packet | TcpEnd, ...] = ()
    passing: tuple[Packet, ...] = FLOW_CONTROL
    on_line: bool = False
    # Several packets may make it up: waiting goes on while they come.
    in_parts: ClassVar[bool] = False

    @property
    def text(self) -> str:
        # Some differ in what is not said of them, as in the octets behind a packet.
        return " or ".join(dict.fromkeys(in_words(a) for a in self.alternatives))

    def templates(self) -> tuple[Packet, ...]:
        return self.leading() + self.passing

    def leading(self) -> tuple[Packet, ...]:
        return tuple(a for a in self.alternatives if not isinstance(a, TcpEnd))

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        if self.direction is None:
            nothing = "no call came on the line" if self.on_line else NO_CONNECTION
            return Seen(False, None, nothing)
        passed: Consumed = set()
        for view in self.window(judge):
            if self.any_match(judge, self.leading(), view):
                consumed |= {*passed, (self.direction, view.offset)}
                return Seen(True, view)
            if not self.any_match(judge, self.passing, view):
                return Seen(False, view)
            passed.add((self.direction, view.offset))
        return self._at_end(judge)

    def _at_end(self, judge: Judge) -> Seen:
        assert self.direction is not None
        how = judge.ended(self.direction, self.start) if self.stop is None else None
        if how is None:
            return Seen(False, None, "nothing")
        how = f"the link's {how}" if self.direction.line is not None else f"TCP {how}"
        return Seen(CLOSED in self.alternatives, None, how)


@dataclass
class NextMessage(Next):
    """The next complete packet sequence: these octets, all packets with this Q bit.

    However many packets it is cut into; sizes are another expectation's business. Data that may
    pass is left aside ahead of the sequence.
    """

    octets: bytes = b""
    q: int = 0
    longest: int | None = None
    in_parts: ClassVar[bool] = True

    @property
    def text(self) -> str:
        return f"{in_words(self.alternatives[0])} ... a sequence of {len(self.octets)} octets" + (
            ", Q" if self.q else ""
        )

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        if self.direction is None:
            return Seen(False, None, NO_CONNECTION)
        collected = b""
        for view in self.window(judge):
            if not self.any_match(judge, self.leading(), view):
                if self.any_match(judge, self.passing, view):
                    continue
                return Seen(False, view)
            wrong = self._wrong(view, collected + view.user_data)
            if wrong and not collected and self.any_match(judge, self.passing, view):
                continue
            collected += view.user_data
            consumed.add((self.direction, view.offset))
            if wrong or not view.m:
                return Seen(not wrong, view, wrong or f"{len(collected)} octets, as sent")
        seen = self._at_end(judge)
        return Seen(False, None, f"{len(collected)} octets of the sequence, then {seen.saw}")

    def _wrong(self, view: PacketView, collected: bytes) -> str:
        if view.q != self.q:
            return f"a packet with Q={view.q}"
        if self.longest is not None and len(view.user_data) > self.longest:
            return f"a packet of {len(view.user_data)} octets; {self.longest} are agreed"
        if not self.octets.startswith(collected):
            at = next(
                (i for i, (a, b) in enumerate(zip(collected, self.octets, strict=False)) if a != b),
                len(self.octets),
            )
            return f"other octets from number {at} of the sequence on"
        if not view.m and len(collected) < len(self.octets):
            return f"a sequence of {len(collected)} octets only"
        return ""


@dataclass
class Quiet(Expectation):
    """Nothing comes but what other expectations expected, and what is allowed to pass.

    Holds over the whole remaining life of the direction. From relaxed_from on (where the tester
    began to end the call) the packets that belong to clearing may come too. From over_from on the
    call is over, and flow control does not pass any more.
    """

    passing: tuple[Packet, ...] = FLOW_CONTROL
    relaxed_from: int | None = None
    relaxed: tuple[Packet, ...] = ()
    over_from: int | None = None

    @property
    def text(self) -> str:
        return "nothing else"

    def templates(self) -> tuple[Packet, ...]:
        return self.passing + self.relaxed

    def leading(self) -> tuple[Packet, ...]:
        return ()

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        for view in self.window(judge):
            allowed = self.passing
            if self.over_from is not None and view.offset >= self.over_from:
                allowed = tuple(p for p in allowed if p not in FLOW_CONTROL)
            if self.relaxed_from is not None and view.offset >= self.relaxed_from:
                allowed += self.relaxed
            assert self.direction is not None
            if (self.direction, view.offset) in consumed:
                continue
            if not self.any_match(judge, allowed, view):
                return Seen(False, view)
        return Seen(True, None, "nothing else")


@dataclass
class Never(Expectation):
    """No packet as these templates say comes, from start to the end of the direction."""

    forbidden: tuple[Packet, ...] = ()

    @property
    def text(self) -> str:
        return "no " + " or ".join(in_words(t) for t in self.forbidden)

    def templates(self) -> tuple[Packet, ...]:
        return self.forbidden

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        if self.direction is not None and judge.may_match(self.forbidden, self.direction):
            for view in self.window(judge):
                if self.any_match(judge, self.forbidden, view):
                    return Seen(False, view)
        return Seen(True, None, "none")


@dataclass
class Counted(Expectation):
    """From low to high packets (both included) as the template says come."""

    template: Packet | None = None
    low: int = 0
    high: int | None = None

    @property
    def text(self) -> str:
        assert self.template is not None
        words = in_words(self.template)
        if self.high == 0:
            return f"no {words}"
        if self.high is None:
            return f"{words}, {_times(self.low)} or more"
        if self.low == self.high:
            return f"{words}, exactly {_times(self.low)}"
        return f"{words}, {f'{self.low} to' if self.low else 'at most'} {_times(self.high)}"

    def templates(self) -> tuple[Packet, ...]:
        assert self.template is not None
        return (self.template,)

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        found = [v for v in self.window(judge) if self.any_match(judge, self.templates(), v)]
        if self.direction is not None:
            consumed.update((self.direction, v.offset) for v in found)
        too_many = self.high is not None and len(found) > self.high
        met = len(found) >= self.low and not too_many
        last = found[-1] if found else None
        if too_many and self.high is not None:
            last = found[self.high]
        return Seen(met, last, _times(len(found)) if found else "none", len(found))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


@dataclass
class NoConnection(Expectation):
    """The router opens no connection to a listening side but those that are known."""

    listener: End = ("", 0)
    known: frozenset[Direction] = field(default_factory=frozenset)

    @property
    def text(self) -> str:
        if self.on_line:
            return "no packet on another logical channel"
        return "no further TCP connection from the router"

    @property
    def on_line(self) -> bool:
        """Whether the listening side is a serial line: then its channels are what is known."""
        return isinstance(self.listener, LineEnd)

    def templates(self) -> tuple[Packet, ...]:
        return ()

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        others = [d for d in judge.connections_to(self.listener) if d not in self.known]
        if not others:
            return Seen(True, None, "none")
        source = others[0].source
        if self.on_line:
            return Seen(False, None, f"a packet on logical channel {source[1]}")
        return Seen(False, None, f"a connection from {source[0]}:{source[1]}")


def evaluate_all(
    expectations: Sequence[Expectation], judge: Judge, consumed: Consumed | None = None
) -> list[Seen]:
    """Every expectation in the order of the case, as one judge sees it.

    consumed: where to add the packets by which expectations were met.
    """
    consumed = set() if consumed is None else consumed
    # Quiet looks at what all others consumed, so it is judged after them.
    order = sorted(range(len(expectations)), key=lambda i: isinstance(expectations[i], Quiet))
    found: dict[int, Seen] = {}
    for index in order:
        found[index] = expectations[index].evaluate(judge, consumed)
    return [found[i] for i in range(len(expectations))]

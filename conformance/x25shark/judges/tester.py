# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge one: the packets as the tester received them, decoded by the Scapy layers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scapy.packet import Packet

from ..links.carrier import End, Traffic, Unit
from .expectation import Direction, Header, Judge, PacketView
from .form import frame_problem, packet_problem
from .frames import Damaged, decode_frame
from .strict import strict_conditions
from .template import decode, matches, type_of


@dataclass(frozen=True)
class StoredUnit:
    """A unit as it was, or changed, for another look."""

    offset: int
    packet: bytes
    end: int
    time: float
    version: int = 0
    damage: str = ""


@dataclass(frozen=True)
class Stored:
    """A direction as it was when the case ended."""

    received: Sequence[Unit]
    sent: Sequence[Unit]
    end: str | None
    finished_first: bool = False
    octets_read: int | None = None
    syn_octets: int | None = None
    sent_in_part: bool = False
    end_at: int | None = None


Conversation = Sequence[tuple[bool, bytes, PacketView]]
# A header and the three octets that each X.25 packet has.
SHORTEST_UNIT = 7


def _header(unit: Unit) -> Header:
    """The header of a unit; that of a unit put together for another look has version 0."""
    return Header(unit.offset, unit.end, unit.version)


@dataclass
class Received:
    """One direction, decoded as far as it has come. framed: its units are frames of a line."""

    source: Traffic
    framed: bool = False
    views: list[PacketView] = field(default_factory=list)
    packets: dict[int, bytes] = field(default_factory=dict)
    types: set[int | None] = field(default_factory=set)
    taken: int = 0

    def view(self, unit: Unit) -> PacketView:
        """A unit as an expectation looks at it."""
        return frame_view_of(unit) if self.framed else view_of(unit)

    def update(self) -> None:
        """Make views of the units that have come since."""
        for unit in self.source.received[self.taken :]:
            if unit.packet:
                view = self.view(unit)
                self.views.append(view)
                self.types.add(view.type)
                self.packets[unit.offset] = unit.packet
        self.taken = len(self.source.received)


def view_of(unit: Unit) -> PacketView:
    """A unit as an expectation looks at it."""
    packet = decode(unit.packet)
    return PacketView(
        offset=unit.offset,
        end=unit.end,
        type=type_of(packet),
        user_data=packet.fields.get("user_data") or b"",
        m=packet.fields.get("m") or 0,
        q=packet.fields.get("q") or 0,
        octets=unit.packet,
    )


def frame_view_of(unit: Unit) -> PacketView:
    """A frame of a serial line as an expectation looks at it."""
    octets = Damaged(unit.packet, unit.damage) if unit.damage else unit.packet
    frame = decode_frame(octets)
    kind = frame.fields.get("type") if frame is not None else None
    return PacketView(
        offset=unit.offset,
        end=unit.end,
        type=kind,
        user_data=b"",
        m=0,
        q=0,
        octets=octets,
        framed=True,
    )


def _in_order(received: Received) -> Conversation:
    """Both directions by the tester's own clock: when it sent, and when it had received.

    While a case runs there is no other.
    """
    received.update()
    units = [unit for unit in received.source.received if unit.packet]
    both = [(unit.time, False, view) for unit, view in zip(units, received.views, strict=True)] + [
        (unit.time, True, received.view(unit)) for unit in received.source.sent if unit.packet
    ]
    both.sort(key=lambda item: item[0])
    return [(sent, view.octets, view) for _, sent, view in both]


def _in_order_of(captured: Conversation, own: Conversation) -> Conversation:
    """The tester's own packets as the capture has them; one that it lacks stays behind the last."""
    places = {(sent, view.offset): place for place, (sent, _, view) in enumerate(captured)}
    keyed = []
    last = [-1, -1]
    for item in own:
        sent, _, view = item
        last[sent] = max(last[sent], places.get((sent, view.offset), -1))
        keyed.append((last[sent], item))
    keyed.sort(key=lambda pair: pair[0])
    return [item for _, item in keyed]


def _stored(source: Traffic) -> Stored:
    """A direction as it is now."""
    return Stored(
        list(source.received),
        list(source.sent),
        source.end,
        source.finished_first,
        source.octets_read,
        source.syn_octets,
        source.sent_in_part,
        source.end_at,
    )


def _with_others(
    unit: Unit, direction: Direction, packets: Mapping[tuple[Direction, int], bytes]
) -> StoredUnit:
    """A unit with its packet replaced, if there is another one for it."""
    packet = packets.get((direction, unit.offset), unit.packet)
    return StoredUnit(unit.offset, packet, unit.end, unit.time)


class TesterJudge(Judge):
    """Judge one over the received directions of a case."""

    def __init__(
        self,
        received: Mapping[Direction, Received],
        accepted: dict[End, list[Direction]],
    ) -> None:
        self._received = received
        self._accepted = accepted
        self._conversations: dict[Direction, tuple[tuple[int, int], Conversation]] = {}
        self._captured: Judge | None = None

    def at_the_end(self) -> TesterJudge:
        """What has come until now, without the links that it came on: the case is over."""
        received = {
            there: Received(_stored(kept.source), kept.framed)
            for there, kept in self._received.items()
        }
        return TesterJudge(received, dict(self._accepted))

    def changed(
        self,
        packets: Mapping[tuple[Direction, int], bytes],
        without_end: Collection[Direction] = (),
    ) -> TesterJudge:
        """The same with packets replaced, by direction and offset, and TCP ends taken away.

        A direction may also be that in which the tester sends.
        """
        changed = dict(self._received)
        directions = {d for d, _ in packets} | set(without_end)
        for there, received in self._received.items():
            back = Direction(there.destination, there.source)
            if not directions & {there, back}:
                continue
            source = received.source
            came = [_with_others(u, there, packets) for u in source.received]
            sent = [_with_others(u, back, packets) for u in source.sent]
            end = None if there in without_end else source.end
            stored = Stored(came, sent, end, end_at=source.end_at)
            changed[there] = Received(stored, received.framed)
        return TesterJudge(changed, self._accepted)

    def packets(self, direction: Direction) -> Sequence[PacketView]:
        received = self._received.get(direction)
        if received is None:
            return ()
        received.update()
        return received.views

    def borders(self) -> dict[Direction, int]:
        """The octet behind the last packet that was read, by direction of a TCP connection."""
        sources = {d: kept.source for d, kept in self._received.items() if d.line is None}
        return {
            d: source.received[-1].end if source.received else 0 for d, source in sources.items()
        }

    def octets_at(self, direction: Direction, offset: int) -> bytes:
        """The packet at an offset of a direction."""
        return self._received[direction].packets[offset]

    def ended(self, direction: Direction, since: int) -> str | None:
        received = self._received.get(direction)
        if received is None:
            return None
        at = received.source.end_at
        return received.source.end if at is None or at >= since else None

    def closed_by_router(self, direction: Direction) -> bool:
        """Whether the router closed in an orderly way (FIN), and the tester had not before."""
        source = self._received[direction].source
        return source.end == "FIN" and not source.finished_first

    def headers(self, direction: Direction) -> Sequence[Header]:
        received = self._received.get(direction)
        return [] if received is None else [_header(u) for u in received.source.received]

    def octets_sent(self, direction: Direction) -> int | None:
        source = self._received[direction].source
        return source.octets_read if source.end == "FIN" else None

    def octets_with_syn(self, direction: Direction) -> int | None:
        return self._received[direction].source.syn_octets

    def misframed_by_tester(self) -> bool:
        """Whether the tester itself sent a unit with an illegal header, or half a unit, in this
        case."""
        sources = [received.source for received in self._received.values()]
        return any(source.sent_in_part for source in sources) or any(
            _header(unit).version or unit.end - unit.offset < SHORTEST_UNIT
            for source in sources
            for unit in source.sent
        )

    def connections_to(self, listener: End) -> Sequence[Direction]:
        return self._accepted.get(listener, ())

    def settle_by(self, captured: Judge, turned_away: Collection[Direction]) -> None:
        """Take from the capture what the tester itself cannot tell.

        Which connections of the router are of this case: those whose SYN was captured in its
        window. turned_away: connections that the tester took in no case. And which of two packets
        that crossed was first: the tester knows only when it had read the one that came.
        """
        self._captured = captured
        self._conversations.clear()
        for listener, own in self._accepted.items():
            seen = captured.connections_to(listener)
            self._accepted[listener] = [
                *(d for d in own if d in seen or d in self._received),
                *(d for d in seen if d in turned_away and d not in own),
            ]

    def conversation(self, there: Direction, back: Direction) -> Conversation:
        received = self._received.get(there)
        if received is None:
            return ()
        extent = len(received.source.received), len(received.source.sent)
        known = self._conversations.get(there)
        if known is None or known[0] != extent:
            order = _in_order(received)
            if self._captured is not None:
                order = _in_order_of(self._captured.conversation(there, back), order)
            known = self._conversations[there] = extent, order
        return known[1]

    def may_match(self, templates: Iterable[Packet], direction: Direction) -> bool:
        received = self._received.get(direction)
        if received is None:
            return False
        if received.framed:
            return True
        received.update()
        # A template of a class with a type octet of its own matches no other type.
        kinds = (strict_conditions(type(t)).get("x25s.type") for t in templates)
        return any(kind is None or kind in received.types for kind in kinds)

    def matches(self, template: Packet, view: PacketView, direction: Direction) -> bool:
        return matches(template, view.octets)

    def malformed(self, view: PacketView) -> str:
        return frame_problem(view.octets) if view.framed else packet_problem(view.octets)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge two: the packets of a case as libwireshark (or tshark) dissects its evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from scapy.packet import Packet

from ..links.carrier import FRAMES, End, LineEnd
from .expectation import Direction, Expectation, Header, Judge, PacketView
from .frames import Damaged
from .reading import PacketRead, Reading
from .template import to_filter

FIELDS = (
    "x25s.type",
    "x25s.user_data",
    "x25s.m",
    "x25s.q",
    "x25s.octets",
    "hdlcs.octets",
    "hdlcs.aborted",
    "hdlcs.unaligned",
    "lapbs.type",
)
_HEADER_OCTETS = 4
# What the strict dissector says of a unit without a packet, of which it shows nothing else.
_EMPTY_UNIT = ("xots.length.bad", "length 0")
_DISC = 0x43
# Expert infos of the strict dissector about the form of a packet, and of a frame.
PACKET_FORM = frozenset(
    f"x25s.{name}"
    for name in (
        *("malformed", "gfi.invalid", "type.undefined", "lcn.invalid", "length.invalid"),
        *("address.invalid", "facilities.malformed", "facilities.duplicate"),
    )
)
FRAME_FORM = frozenset(
    (
        *("lapbs.control.undefined", "lapbs.control.short", "lapbs.information.length"),
        *("lapbs.information.reserved", "hdlcs.address.unknown"),
    )
)
_PASSED_OVER = frozenset({"lapbs.repeated", "hdlcs.giant", "hdlcs.address.unknown"})


def filters_of(expectations: Iterable[Expectation]) -> list[str]:
    """Every filter that is needed to judge these expectations, each once."""
    # Most templates are those of many expectations.
    templates = {id(t): t for e in expectations for t in e.templates()}
    return list(dict.fromkeys(map(to_filter, templates.values())))


class Read(NamedTuple):
    """One packet of the evidence with the direction it went; or one frame of a serial line."""

    direction: Direction
    view: PacketView
    octets: bytes


class EvidenceJudge(Judge):
    """Judge two over the reading of one capture, made with filters_of() and FIELDS.

    lines: names of the serial lines by their interface in the capture.
    """

    def __init__(
        self, reading: Reading, filters: Sequence[str], lines: Mapping[int, str] | None = None
    ) -> None:
        self._hits = {
            text: frozenset(hits) for text, hits in zip(filters, reading.hits, strict=True)
        }
        self._opened: dict[End, list[Direction]] = {}
        # Where the router has sent DISC last, by line.
        self._disconnected: dict[str, int] = {}
        self.reads: list[Read] = []
        # Frames whose packet is of no channel: sent again, or followed by nobody.
        passed_over = {e.frame for e in reading.experts if e.id in _PASSED_OVER}
        for packet in reading.packets:
            if packet.offset is None:
                continue
            if not packet.sport and not packet.dport:
                self._take_frame(packet, lines or {}, passed_over)
            else:
                self.reads.append(_read(packet))
        self._by_direction: dict[Direction, list[PacketView]] = {}
        self._by_connection: dict[frozenset[End], list[Read]] = {}
        self._conversations: dict[Direction, list[tuple[bool, bytes, PacketView]]] = {}
        for read in self.reads:
            self._by_direction.setdefault(read.direction, []).append(read.view)
            self._by_connection.setdefault(frozenset(read.direction), []).append(read)
        self._problems: dict[tuple[bool, int | None, int | None], str] = {}
        for e in reading.experts:
            if e.id in PACKET_FORM or e.id in FRAME_FORM:
                self._problems.setdefault((e.id in FRAME_FORM, e.frame, e.k), e.message)
        self._ends: dict[Direction, str] = {}
        self._octets: dict[Direction, int] = {}
        self._with_syn: dict[Direction, int] = {}
        self._bad_versions = {
            (e.frame, e.offset) for e in reading.experts if e.id == "xots.version.bad"
        }
        self._empty: dict[Direction, list[Header]] = {}
        for e in reading.experts:
            if (e.id, e.message) == _EMPTY_UNIT and e.offset is not None:
                direction = Direction((e.src, e.sport), (e.dst, e.dport))
                version = int((e.frame, e.offset) in self._bad_versions)
                header = Header(e.offset, e.offset + _HEADER_OCTETS, version)
                self._empty.setdefault(direction, []).append(header)
        answered: set[Direction] = set()
        for end in reading.tcp_ends:
            direction = Direction((end.src, end.sport), (end.dst, end.dport))
            if end.syn and not end.ack:
                self._with_syn[direction] = max(end.length, self._with_syn.get(direction, 0))
            if end.fin or end.rst:
                self._ends.setdefault(direction, "FIN" if end.fin else "RST")
                if end.fin:
                    self._octets.setdefault(direction, end.offset + end.length)
            elif end.syn and end.ack:
                # A SYN that the listening side refused opened nothing: its answer counts.
                answered.add(Direction(direction.destination, direction.source))
            if end.ack and not end.rst and direction in answered:
                # Nor did one whose sender had changed its mind when the answer came.
                opened = self._opened.setdefault(direction.destination, [])
                if direction not in opened:
                    opened.append(direction)

    def _take_frame(
        self, packet: PacketRead, lines: Mapping[int, str], passed_over: Collection[int]
    ) -> None:
        """A frame of a serial line, and the packet that it brought to a channel."""
        name = lines.get(packet.stream, f"interface {packet.stream}")
        by_router = packet.src != "A"

        def direction_of(channel: int) -> Direction:
            return Direction(
                LineEnd(name, channel, by_router), LineEnd(name, channel, not by_router)
            )

        whole = _octets(packet, "hdlcs.octets")
        how = [w for w in ("aborted", "unaligned") if _number(packet, f"hdlcs.{w}")]
        if how:
            whole = Damaged(whole, how[0])
        offset = packet.offset or 0
        view = PacketView(
            offset=offset,
            end=offset + len(whole),
            type=_number(packet, "lapbs.type"),
            user_data=b"",
            m=0,
            q=0,
            octets=whole,
            frame=packet.frame,
            k=packet.k,
            framed=True,
        )
        self.reads.append(Read(direction_of(FRAMES), view, whole))
        if by_router and view.type == _DISC:
            self._disconnected[name] = offset
        brought = _octets(packet, "x25s.octets")
        if not brought or packet.frame in passed_over:
            return
        lcn = (brought[0] & 15) << 8 | brought[1] if len(brought) > 1 else 0
        direction = direction_of(lcn)
        self.reads.append(Read(direction, _view(packet, brought, view.end), brought))
        if by_router and lcn:
            opened = self._opened.setdefault(LineEnd(name, 0, of_router=False), [])
            if direction not in opened:
                opened.append(direction)

    def leave_out_behind(self, borders: Mapping[Direction, int]) -> None:
        """Take no notice of units that begin at this octet of their direction, or behind it.

        What came when the tester read no more is in the capture, and judge one has not got it.
        """
        for direction, border in borders.items():
            if empty := self._empty.get(direction):
                self._empty[direction] = [header for header in empty if header.offset < border]
            views = self._by_direction.get(direction)
            if views and views[-1].offset >= border:
                self._by_direction[direction] = [v for v in views if v.offset < border]
                both = frozenset(direction)
                self._by_connection[both] = [
                    read
                    for read in self._by_connection[both]
                    if read.direction != direction or read.view.offset < border
                ]
        self._conversations.clear()

    def frames(self) -> dict[tuple[Direction, int], tuple[int | None, int | None]]:
        """Frame and k of every packet, by direction and offset."""
        return {(r.direction, r.view.offset): (r.view.frame, r.view.k) for r in self.reads}

    def packets(self, direction: Direction) -> Sequence[PacketView]:
        return self._by_direction.get(direction, ())

    def ended(self, direction: Direction, since: int) -> str | None:
        source = direction.source
        if isinstance(source, LineEnd) and source.channel != FRAMES:
            at = self._disconnected.get(source.line, -1) if source.of_router else -1
            return "DISC" if at >= since else None
        return self._ends.get(direction)

    def headers(self, direction: Direction) -> Sequence[Header]:
        filled = [
            Header(v.offset, v.end, int(self.has_bad_version(v))) for v in self.packets(direction)
        ]
        empty = self._empty.get(direction)
        return sorted([*filled, *empty]) if empty else filled

    def has_bad_version(self, view: PacketView) -> bool:
        """Whether another version than 0 stands in the XOT header of the packet."""
        return not view.framed and (view.frame, view.offset) in self._bad_versions

    def octets_sent(self, direction: Direction) -> int | None:
        return self._octets.get(direction)

    def octets_with_syn(self, direction: Direction) -> int | None:
        return self._with_syn.get(direction)

    def connections_to(self, listener: End) -> Sequence[Direction]:
        return self._opened.get(listener, ())

    def conversation(
        self, there: Direction, back: Direction
    ) -> Sequence[tuple[bool, bytes, PacketView]]:
        known = self._conversations.get(there)
        if known is None:
            known = self._conversations[there] = [
                (read.direction == back, read.octets, read.view)
                for read in self._by_connection.get(frozenset(there), ())
            ]
        return known

    def matches(self, template: Packet, view: PacketView, direction: Direction) -> bool:
        return (view.frame, view.k) in self._hits[to_filter(template)]

    def may_match(self, templates: Iterable[Packet], direction: Direction) -> bool:
        return any(self._hits[to_filter(template)] for template in templates)

    def malformed(self, view: PacketView) -> str:
        return self._problems.get((view.framed, view.frame, view.k), "")


def _octets(packet: PacketRead, name: str) -> bytes:
    """The first value of a field of octets; none if it is not there."""
    values = packet.fields.get(name)
    return values[0] if values and isinstance(values[0], bytes) else b""


def _number(packet: PacketRead, name: str) -> int | None:
    """The first value of a field that is a number; None if it is not there."""
    values = packet.fields.get(name)
    return values[0] if values and isinstance(values[0], int) else None


def _view(packet: PacketRead, octets: bytes, end: int) -> PacketView:
    return PacketView(
        offset=packet.offset or 0,
        end=end,
        type=_number(packet, "x25s.type"),
        user_data=_octets(packet, "x25s.user_data"),
        m=_number(packet, "x25s.m") or 0,
        q=_number(packet, "x25s.q") or 0,
        octets=octets,
        frame=packet.frame,
        k=packet.k,
    )


def _read(packet: PacketRead) -> Read:
    whole = _octets(packet, "x25s.octets")
    end = (packet.offset or 0) + _HEADER_OCTETS + len(whole)
    direction = Direction((packet.src, packet.sport), (packet.dst, packet.dport))
    return Read(direction, _view(packet, whole, end), whole)

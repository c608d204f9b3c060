# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge two: the packets of a case as libwireshark (or tshark) dissects its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scapy.packet import Packet

from .expectation import Address, Direction, Expectation, Judge, PacketView
from .reading import PacketRead, Reading
from .template import to_filter

FIELDS = ("x25s.type", "x25s.user_data", "x25s.m", "x25s.q", "x25s.octets")
_HEADER_OCTETS = 4


def filters_of(expectations: Iterable[Expectation]) -> list[str]:
    """Every filter that is needed to judge these expectations, each once."""
    return list(dict.fromkeys(to_filter(t) for e in expectations for t in e.templates()))


@dataclass(frozen=True)
class Read:
    """One packet of the evidence with the direction it went."""

    direction: Direction
    view: PacketView
    octets: bytes


class EvidenceJudge(Judge):
    """Judge two over the reading of one capture, made with filters_of() and FIELDS."""

    def __init__(self, reading: Reading, filters: Sequence[str]) -> None:
        self._hits = {
            text: frozenset(hits) for text, hits in zip(filters, reading.hits, strict=True)
        }
        self._filters: dict[int, tuple[Packet, str]] = {}
        self.reads = [_read(packet) for packet in reading.packets if packet.offset is not None]
        self._by_direction: dict[Direction, list[PacketView]] = {}
        self._by_connection: dict[frozenset[Address], list[Read]] = {}
        for read in self.reads:
            self._by_direction.setdefault(read.direction, []).append(read.view)
            self._by_connection.setdefault(frozenset(read.direction), []).append(read)
        self._ends: dict[Direction, str] = {}
        self._opened: dict[Address, list[Direction]] = {}
        for end in reading.tcp_ends:
            direction = Direction((end.src, end.sport), (end.dst, end.dport))
            if end.fin or end.rst:
                self._ends.setdefault(direction, "FIN" if end.fin else "RST")
            elif end.syn and end.flags & 0x10:
                # A SYN that the listening side refused opened nothing: its answer counts.
                asked = Direction(direction.destination, direction.source)
                opened = self._opened.setdefault(asked.destination, [])
                if asked not in opened:
                    opened.append(asked)

    def frames(self) -> dict[tuple[Direction, int], tuple[int | None, int | None]]:
        """Frame and k of every packet, by direction and offset."""
        return {(r.direction, r.view.offset): (r.view.frame, r.view.k) for r in self.reads}

    def packets(self, direction: Direction) -> Sequence[PacketView]:
        return self._by_direction.get(direction, ())

    def ended(self, direction: Direction) -> str | None:
        return self._ends.get(direction)

    def connections_to(self, listener: Address) -> Sequence[Direction]:
        return self._opened.get(listener, ())

    def conversation(
        self, there: Direction, back: Direction
    ) -> Sequence[tuple[bool, bytes, PacketView]]:
        return [
            (read.direction == back, read.octets, read.view)
            for read in self._by_connection.get(frozenset(there), ())
        ]

    def matches(self, template: Packet, view: PacketView, direction: Direction) -> bool:
        # Templates are compared by identity: writing the filter anew for every packet is slow.
        known = self._filters.get(id(template))
        if known is None or known[0] is not template:
            known = self._filters[id(template)] = (template, to_filter(template))
        return (view.frame, view.k) in self._hits[known[1]]


def _read(packet: PacketRead) -> Read:
    def first(name: str) -> int | str | bytes | None:
        values = packet.fields.get(name, ())
        return values[0] if values else None

    def octets_of(name: str) -> bytes:
        value = first(name)
        return value if isinstance(value, bytes) else b""

    def number(name: str) -> int | None:
        value = first(name)
        return value if isinstance(value, int) else None

    whole = octets_of("x25s.octets")
    offset = packet.offset or 0
    view = PacketView(
        offset=offset,
        end=offset + _HEADER_OCTETS + len(whole),
        type=number("x25s.type"),
        user_data=octets_of("x25s.user_data"),
        m=number("x25s.m") or 0,
        q=number("x25s.q") or 0,
        octets=whole,
        frame=packet.frame,
        k=packet.k,
    )
    direction = Direction((packet.src, packet.sport), (packet.dst, packet.dport))
    return Read(direction, view, whole)

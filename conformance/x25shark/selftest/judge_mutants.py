# SPDX-License-Identifier: GPL-2.0-or-later
"""Test the judges with changed packets: python -m x25shark.selftest.judge_mutants

The suite runs once against the embedded router. Then, for every expectation that was met, each
field that it names is changed in the stored packet: judge one alone and judge two alone must both
say "not met". A field that it does not name is changed as well: both must still say "met".
"""

from __future__ import annotations

import argparse
import copy
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table
from scapy.packet import Packet

from ..evidence.frames import FIN, RST, Segment
from ..evidence.slicer import Slice
from ..judges.counter_events import Packets
from ..judges.counter_moved import CounterMoved
from ..judges.evidence import FIELDS, EvidenceJudge, filters_of
from ..judges.expectation import (
    CLOSED,
    Counted,
    Direction,
    Expectation,
    Judge,
    Next,
    NextMessage,
    PacketView,
    Quiet,
    Seen,
    evaluate_all,
)
from ..judges.template import decode, matches
from ..judges.values import Absent
from ..judges.wireshark import open_judge
from ..links.carrier import LineEnd
from ..profile import load_profile
from ..run.campaign import Campaign
from ..run.judging import CaseRecord
from ..run.namespaces import enter_own
from ..run.options import Options, Watcher
from ..suite.loader import body_of, cases
from ..suite.selection import select
from .frame_changes import FramePlaces, frame_changes, harmless_change, quiet_frame

_HEADER_OCTETS = 4
# What counts is not changed together with other packets.
_ALONE = (Quiet, Counted, CounterMoved)
_INTERRUPT_CONFIRMATION, _UNDEFINED = 0x27, 0x2B


@dataclass(frozen=True)
class Change:
    """One packet of a direction in other octets; offset None: the TCP end taken away."""

    what: str
    named: bool
    direction: Direction
    offset: int | None = None
    packet: bytes = b""

    @property
    def of_a_frame(self) -> bool:
        """Whether it is a frame of a serial line that is changed, and not a packet."""
        return self.direction.framed

    @property
    def place(self) -> tuple[LineEnd | Direction, int | None]:
        """Of changes at one place only one is made."""
        source = self.direction.source
        return (
            source._replace(channel=0) if isinstance(source, LineEnd) else self.direction
        ), self.offset


@dataclass
class Score:
    """What became of the changes to the expectations of one case."""

    named: int = 0
    unnamed: int = 0
    unchanged: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def changes(expectation: Expectation, view: PacketView | None, octets: bytes) -> Iterator[Change]:
    """Changes to the packet that met an expectation: each named field, and one that is not."""
    direction = expectation.direction
    assert direction is not None
    if view is None:
        closed = isinstance(expectation, Next) and CLOSED in expectation.alternatives
        if closed and direction.line is None:
            yield Change("TCP end", True, direction)
        return
    if view.framed:
        for what, named, changed_frame in frame_changes(expectation, octets):
            yield Change(what, named, direction, view.offset, changed_frame)
        return
    packet = decode(octets)
    met = [t for t in expectation.leading() if matches(t, octets)]
    for template in met[:1]:
        names = [n for n in template.fields if n not in ("type", "facilities")]
        for name in names:
            changed = _with_other(packet, name, expectation)
            if changed is not None:
                yield Change(name, True, direction, view.offset, changed)
        yield from _facility_changes(packet, template, expectation, direction, view)
        if direction.line is not None:
            # The channel is part of the direction there.
            harmless = harmless_change(packet, template)
            if harmless is not None:
                what, named, other_octets = harmless
                yield Change(what, named, direction, view.offset, other_octets)
        elif "lcn" not in template.fields and packet.fields.get("lcn") is not None:
            other = packet.copy()
            other.setfieldval("lcn", packet.fields["lcn"] ^ 0x155)
            yield Change("lcn", False, direction, view.offset, bytes(other))
    if isinstance(expectation, NextMessage) and packet.fields.get("user_data"):
        changed = _flip(packet, "user_data")
        yield Change("user_data", True, direction, view.offset, changed)
        other = packet.copy()
        other.setfieldval("q", 1 - expectation.q)
        yield Change("q", True, direction, view.offset, bytes(other))
    if not isinstance(expectation, Counted):
        # The class of the packet is named by the template as such.
        changed = _other_type(octets, expectation)
        if changed is not None:
            yield Change("type", True, direction, view.offset, changed)


def _other_type(octets: bytes, expectation: Expectation) -> bytes | None:
    """The packet with a type that no alternative allows and that may not pass; None where each is.

    One that may pass would leave it to the packet behind it to meet the expectation.
    """
    allowed = list(expectation.leading())
    if isinstance(expectation, Next):
        allowed += expectation.passing
    for kind in (0xF1, 0x27, 0x1F, 0x17):
        changed = octets[:2] + bytes([kind]) + octets[3:]
        if not any(matches(t, changed) for t in allowed):
            return changed
    return None


def _with_other(packet: Packet, name: str, expectation: Expectation) -> bytes | None:
    """The packet with a value in that field which no alternative allows, if its length stays."""
    value = packet.fields.get(name)
    length = len(bytes(packet))
    candidates: list[object] = []
    if isinstance(value, int):
        candidates = [value ^ bit for bit in (1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80)]
    elif isinstance(value, bytes) and value:
        candidates = [bytes([value[0] ^ 1]) + value[1:]]
    elif isinstance(value, str) and value:
        candidates = [("1" if value[0] != "1" else "2") + value[1:]]
    for candidate in candidates:
        other = packet.copy()
        other.setfieldval(name, candidate)
        try:
            octets = bytes(other)
        except ValueError:
            continue
        if len(octets) == length and not any(matches(t, octets) for t in expectation.leading()):
            return octets
    return None


def _facility_changes(
    packet: Packet,
    template: Packet,
    expectation: Expectation,
    direction: Direction,
    view: PacketView,
) -> Iterator[Change]:
    wanted = template.fields.get("facilities")
    if not isinstance(wanted, list):
        return
    for item in wanted:
        if not isinstance(item, Packet):
            continue
        for name, value in item.fields.items():
            if isinstance(value, Absent):
                continue
            for number, facility in enumerate(packet.fields.get("facilities") or ()):
                if type(facility) is not type(item):
                    continue
                changed = _facility_with_other(packet, number, name, expectation)
                if changed is not None:
                    what = f"{type(item).__name__}.{name}"
                    yield Change(what, True, direction, view.offset, changed)


def _facility_with_other(
    packet: Packet, number: int, name: str, expectation: Expectation
) -> bytes | None:
    octets = bytes(packet)
    for bit in (1, 2, 4, 8):
        other = copy.deepcopy(packet)
        facility = other.fields["facilities"][number]
        value = facility.getfieldval(name)
        if not isinstance(value, int):
            return None
        facility.fields[name] = value ^ bit
        other.raw_packet_cache = None
        try:
            changed = bytes(other)
        except ValueError:
            continue
        differs = changed != octets and len(changed) == len(octets)
        if differs and not any(matches(t, changed) for t in expectation.leading()):
            return changed
    return None


def _flip(packet: Packet, name: str) -> bytes:
    other = packet.copy()
    value = packet.fields[name]
    other.setfieldval(name, bytes([value[0] ^ 1]) + value[1:])
    return bytes(other)


def quiet_change(expectation: Quiet, judge: Judge, others: Sequence[Expectation]) -> Change | None:
    """An RR that may pass becomes an Interrupt Confirmation (a frame: DM), which may not.

    Where others count those, and would take it for one of theirs, it becomes a packet of a type
    that X.25 does not have.
    """
    direction = expectation.direction
    assert direction is not None
    counted = [t for o in others if isinstance(o, Counted) for t in o.leading()]
    for view in expectation.window(judge):
        if view.framed:
            frame = quiet_frame(expectation, view)
            if frame is not None:
                return Change("RR", True, direction, view.offset, frame)
        elif view.type == 0x01 and view.end - view.offset == _HEADER_OCTETS + 3:
            header = b"\x10\x01" if direction.line is None else view.octets[:2]
            for kind in (_INTERRUPT_CONFIRMATION, _UNDEFINED):
                packet = header + bytes([kind])
                if not any(matches(t, packet) for t in (*expectation.passing, *counted)):
                    return Change("RR", True, direction, view.offset, packet)
    return None


def counter_change(expectation: CounterMoved, judge: Judge) -> Change | None:
    """The first packet that was counted becomes one of another type: one fewer is to be counted."""
    definition = expectation.definition
    if not isinstance(definition, Packets) or definition.framed:
        return None
    for cut in expectation.cuts:
        match = cut.match(judge)
        for event in cut.events(judge):
            if definition.count([event], match):
                changed = _other_type(event[1].octets, expectation)
                if changed is None:
                    # Packets of all types count.
                    return None
                direction = cut.back if event[0] else cut.direction
                return Change("counted packet", True, direction, event[1].offset, changed)
    return None


def apply(made: Sequence[Change], found: Slice) -> bytes:
    """The capture of a case with the changes in it."""
    by_direction: dict[tuple[object, ...], list[Change]] = {}
    by_line: dict[LineEnd, list[tuple[int, int | None, bytes]]] = {}
    for change in made:
        source = change.direction.source
        if isinstance(source, LineEnd):
            by_line.setdefault(source._replace(channel=0), []).append(
                (source.channel, change.offset, change.packet)
            )
        else:
            by_direction.setdefault(tuple(change.direction), []).append(change)
    places = FramePlaces()
    first: dict[tuple[object, ...], int] = {}
    blocks = [b.octets for b in found.head]
    for frame in found.frames:
        segment = frame.segment
        octets = frame.block.octets
        sender = segment.source
        if isinstance(sender, LineEnd):
            blocks.append(places.patched(octets, sender, by_line.get(sender, ())))
            continue
        key = (segment.source, segment.destination)
        if segment.flags & 2:
            first[key] = segment.sequence + 1
        for change in by_direction.get(key, ()):
            if change.offset is None:
                octets = _without_end(octets, segment)
            elif key in first:
                start = (segment.sequence - first[key]) & 0xFFFFFFFF
                octets = _patched(octets, 28 + segment.payload_at, start, change)
        blocks.append(octets)
    return b"".join(blocks)


def _patched(octets: bytes, at: int, start: int, change: Change) -> bytes:
    """A block with the changed packet in it, as far as its payload (from at on) holds it."""
    assert change.offset is not None
    captured = int.from_bytes(octets[20:24], sys.byteorder)
    begin = at + change.offset + _HEADER_OCTETS - start
    end = 28 + captured
    if begin >= end or begin + len(change.packet) <= at:
        return octets
    low, high = max(begin, at), min(begin + len(change.packet), end)
    return octets[:low] + change.packet[low - begin : high - begin] + octets[high:]


def _without_end(octets: bytes, segment: Segment) -> bytes:
    """A block whose TCP header has FIN and RST cleared (octet 14 of the header)."""
    ports = segment.source[1].to_bytes(2, "big") + segment.destination[1].to_bytes(2, "big")
    header = octets.rindex(ports, 0, 28 + segment.payload_at - 16)
    block = bytearray(octets)
    block[header + 13] = segment.flags & ~(FIN | RST)
    return bytes(block)


class Examiner:
    """Takes the judged cases one by one and examines the judges with each."""

    def __init__(self) -> None:
        self.judge = open_judge()
        self.scores: dict[str, Score] = {}

    def examine(self, record: CaseRecord, found: Slice) -> None:
        score = self.scores[record.purpose.id] = Score()
        if record.judge_one is None or record.failure is not None:
            score.unchanged["case did not pass"] += 1
            return
        seen = evaluate_all(record.expectations, record.judge_one)
        pending: list[tuple[int, Change]] = []
        for number, (expectation, reading) in enumerate(
            zip(record.expectations, seen, strict=True)
        ):
            made = [(number, c) for c in self._changes(expectation, reading, record)]
            pending += made
            if not made:
                score.unchanged[type(expectation).__name__] += 1
        while pending:
            chosen = _independent(pending, record.expectations)
            self._try(chosen, record, found, score)
            pending = [item for item in pending if item not in chosen]

    @staticmethod
    def _changes(expectation: Expectation, seen: Seen, record: CaseRecord) -> Iterator[Change]:
        assert record.judge_one is not None
        view = seen.view
        if isinstance(expectation, Counted) and (seen.count or 0) > expectation.low:
            # One packet less is as good.
            return
        if isinstance(expectation, CounterMoved):
            change = counter_change(expectation, record.judge_one)
            if change is not None:
                yield change
        if expectation.direction is None:
            return
        if isinstance(expectation, Quiet):
            change = quiet_change(expectation, record.judge_one, record.expectations)
            if change is not None:
                yield change
        elif isinstance(expectation, (Next, Counted)):
            octets = b""
            if view is not None:
                octets = record.judge_one.octets_at(expectation.direction, view.offset)
            yield from changes(expectation, view, octets)

    def _try(
        self,
        chosen: Sequence[tuple[int, Change]],
        record: CaseRecord,
        found: Slice,
        score: Score,
    ) -> None:
        """Judge with these changes at once; they do not touch each other's expectation."""
        assert record.judge_one is not None
        made = [change for _, change in chosen]
        one = record.judge_one.changed(
            {(c.direction, c.offset): c.packet for c in made if c.offset is not None},
            [c.direction for c in made if c.offset is None],
        )
        filters = filters_of(record.expectations)
        reading = self.judge.read(apply(made, found), filters, FIELDS, timeout=60.0)
        readings = (
            ("one", evaluate_all(record.expectations, one)),
            (
                "two",
                evaluate_all(record.expectations, EvidenceJudge(reading, filters, found.lines)),
            ),
        )
        for number, change in chosen:
            score.named += change.named
            score.unnamed += not change.named
            for name, seen in readings:
                met = seen[number].met
                if met == change.named:
                    verdict = "still met" if met else "not met any more"
                    score.wrong.append(
                        f"{record.purpose.id}, expectation {number + 1} "
                        f"({record.expectations[number].text}), {change.what} changed: "
                        f"judge {name}: {verdict}"
                    )


def _independent(
    pending: Sequence[tuple[int, Change]], expectations: Sequence[Expectation]
) -> list[tuple[int, Change]]:
    """As many changes as can be made at once: one of each expectation and packet, all named or
    all not, and a change to what may pass (Quiet) or to a TCP end alone."""
    first_number, first = pending[0]
    if isinstance(expectations[first_number], (Quiet, CounterMoved)) or first.offset is None:
        return [pending[0]]
    numbers: set[int] = set()
    packets: set[tuple[LineEnd | Direction, int | None]] = set()
    chosen: list[tuple[int, Change]] = []
    for number, change in pending:
        alone = isinstance(expectations[number], _ALONE) or change.offset is None
        if (alone and chosen) or change.named != first.named:
            continue
        # An I frame that is out of sequence brings no packet to others.
        if change.of_a_frame != first.of_a_frame:
            continue
        if number not in numbers and change.place not in packets:
            numbers.add(number)
            packets.add(change.place)
            chosen.append((number, change))
            if alone:
                break
    return chosen


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0: both judges noticed every change that matters, and no other."""
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.judge_mutants")
    parser.add_argument("--router", default="reference", help="profile of the router that is right")
    parser.add_argument("--select", default="", help="only these cases")
    arguments = parser.parse_args(argv)
    enter_own()
    known = cases()
    chosen = select(arguments.select, list(known)) if arguments.select else list(known)
    judged: list[tuple[CaseRecord, Slice]] = []
    with tempfile.TemporaryDirectory(prefix="x25shark-judges-") as directory:
        watcher = Watcher(on_judged=lambda record, found: judged.append((record, found)))
        profile = load_profile(arguments.router)
        campaign = Campaign(Options(arguments.router, profile, Path(directory)), watcher)
        campaign.start()
        for identifier in chosen:
            case = known[identifier]
            if not case.purpose.whole_run:
                campaign.run_case(case.purpose, body_of(case.function, case.options))
        campaign.finish()
    examiner = Examiner()
    with examiner.judge:
        for record, found in judged:
            examiner.examine(record, found)
    return _report(examiner.scores)


def _report(scores: dict[str, Score]) -> int:
    console = Console(width=max(Console().width, 100))
    table = Table("case", "named changed", "unnamed changed", "wrong", "could not be changed")
    for identifier, score in scores.items():
        table.add_row(
            identifier,
            str(score.named),
            str(score.unnamed),
            str(len(score.wrong)),
            ", ".join(f"{n} {kind}" for kind, n in sorted(score.unchanged.items())),
        )
    console.print(table)
    wrong = [text for score in scores.values() for text in score.wrong]
    for text in wrong[:50]:
        print(f"WRONG: {text}")
    named = sum(s.named for s in scores.values())
    unnamed = sum(s.unnamed for s in scores.values())
    print(f"{named} named and {unnamed} unnamed fields changed, each judged by both judges alone")
    print(f"{named + unnamed - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not named else 0


if __name__ == "__main__":
    sys.exit(main())

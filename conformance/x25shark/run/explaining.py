# SPDX-License-Identifier: GPL-2.0-or-later
"""What came in place of what was expected: the packet that is wrong and its fields, in words.

Where nothing came, it is said what was let pass on that connection, and what came meanwhile at
the other sides, up to the moment at which the tester gave up. None of this decides anything: the
verdict stands before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from scapy_x25 import RNR, RNR128, RR, RR128

from ..judges.evidence import EvidenceJudge
from ..judges.expectation import (
    Counted,
    Direction,
    Expectation,
    Next,
    NextMessage,
    PacketView,
    Seen,
)
from ..judges.frames import is_invalid
from ..judges.template import decode, wrong_fields

# More than so many packets of one kind are not told, and so much of each.
_MOST = 2
_LONGEST = 150
# The sides of a case of one call: with more of them an end may be that of a call before.
_ONE_CALL = 2
# Of so many sides of a case in which the router did not do what was expected, packets are told.
_SIDES = 3
_FLOW = (RR, RNR, RR128, RNR128)


class Until(NamedTuple):
    """What a direction had brought when the tester gave up: octets, and how it had ended."""

    octets: int
    end: str


NOTHING = Until(0, "")


def explanation(
    expectation: Expectation,
    seen: Seen,
    judge: EvidenceJudge,
    consumed: Collection[tuple[Direction, int]],
    sides: Sequence[tuple[str, Direction]] = (),
    received: Mapping[Direction, Until] | None = None,
) -> str:
    """What to say behind "received: ..." of an expectation that was not met; empty: no more.

    seen: what judge two says. consumed: packets that expectations were met by. sides: names of the
    connections, by their direction from the router. received: what each had brought when the tester
    gave up.
    """
    if seen.view is not None:
        return "; ".join(_of_packet(expectation, seen, seen.view))
    if not isinstance(expectation, (Next, Counted)):
        return ""
    said = [
        *_left_aside(expectation, judge, consumed),
        *_meanwhile(expectation, judge, consumed, sides, received or {}),
    ]
    return "; ".join(said or _last(expectation, judge))


def _of_packet(expectation: Expectation, seen: Seen, view: PacketView) -> Iterator[str]:
    """The packet itself where that was not said, and which of its fields are wrong."""
    if isinstance(expectation, Counted):
        few = (seen.count or 0) < expectation.low
        yield f"{'the last of them' if few else 'the first too many'}: {_shown(view)}"
        return
    if seen.said:
        yield f"in {_shown(view)}"
        return
    found = [wrong_fields(t, view.octets) for t in expectation.leading()]
    wrong = [names for names in found if names]
    if wrong:
        yield f"wrong in it: {', '.join(sorted(wrong, key=len)[0])}"


def _left_aside(
    expectation: Expectation, judge: EvidenceJudge, consumed: Collection[tuple[Direction, int]]
) -> Iterator[str]:
    """What came on the connection itself, and was not taken for what was expected."""
    direction = expectation.direction
    if direction is None:
        return
    views = expectation.window(judge)
    taken = [v for v in views if (direction, v.offset) in consumed]
    if isinstance(expectation, NextMessage) and taken and taken[-1].m:
        yield f"the last packet announces more: {_shown(taken[-1])}"
    aside = [v for v in views if (direction, v.offset) not in consumed]
    others = [v for v in aside if not _is_flow_control(v)]
    if others:
        yield f"allowed but not expected: {_listed(others)}"
    elif aside:
        yield f"allowed but not expected: {_shown(aside[-1])}"


def _last(expectation: Expectation, judge: EvidenceJudge) -> Iterator[str]:
    """What had come last on the connection, although it was expected."""
    if expectation.direction is None:
        return
    before = [v for v in judge.packets(expectation.direction) if v.offset < expectation.start]
    if before:
        yield f"the last before that: {_shown(before[-1])}"


def _meanwhile(
    expectation: Expectation,
    judge: EvidenceJudge,
    consumed: Collection[tuple[Direction, int]],
    sides: Sequence[tuple[str, Direction]],
    received: Mapping[Direction, Until],
) -> Iterator[str]:
    """What came at the other sides since the last packet that the tester sent.

    If nothing did, what had come before and no expectation had asked for. Of many sides, the last.
    """
    frames = judge.frames()
    now: list[str] = []
    earlier: list[str] = []
    ends: list[str] = []
    sent = frames.get(expectation.stimulus, (None, None))[0] if expectation.stimulus else None
    for name, direction in sides:
        if direction == expectation.direction:
            continue
        until = received.get(direction, NOTHING)
        came = [
            view
            for view in judge.packets(direction)
            if view.end <= until.octets
            and (direction, view.offset) not in consumed
            and not _is_flow_control(view)
        ]
        since = [view for view in came if (view.frame or 0) >= (sent or 0)]
        if since:
            now.append(f"meanwhile at side {name}: {_listed(since)}")
        elif came:
            earlier.append(f"before at side {name}: {_listed(came)}")
        if until.end and expectation.direction is not None and len(sides) == _ONE_CALL:
            ends.append(f"TCP {until.end} at side {name}")
    for said in (now, earlier):
        yield from said[-_SIDES:]
        if len(said) > _SIDES:
            when, _, _ = said[0].partition(" ")
            yield f"{when} on {len(said) - _SIDES} more connections"
    yield from ends
    strange = [view for view in _of_no_side(judge, sides) if (view.frame or 0) >= (sent or 0)]
    if strange:
        yield f"meanwhile on a logical channel of no side: {_listed(strange)}"
    damaged = [view for view in _damaged(judge) if (view.frame or 0) >= (sent or 0)]
    if damaged:
        yield f"meanwhile on a serial line: {_listed(damaged)}"


def _of_no_side(
    judge: EvidenceJudge, sides: Sequence[tuple[str, Direction]]
) -> Iterator[PacketView]:
    """Packets of the router on logical channels of a line on which the tester has nothing."""
    known = {direction for _, direction in sides}
    for direction, view, _ in judge.reads:
        if direction.line is None or view.framed or direction.to_router or direction in known:
            continue
        # Restarts and diagnostics are of the line itself.
        if direction.source[1] != 0:
            yield view


def _damaged(judge: EvidenceJudge) -> Iterator[PacketView]:
    """Frames of the router that no station takes: a wrong FCS, an abort, too few octets."""
    for direction, view, octets in judge.reads:
        if view.framed and direction.by_router and is_invalid(octets):
            yield view


def _is_flow_control(view: PacketView) -> bool:
    return not view.framed and isinstance(decode(view.octets), _FLOW)


def _listed(views: Sequence[PacketView]) -> str:
    more = f" and {len(views) - _MOST} more" if len(views) > _MOST else ""
    return ", ".join(map(_shown, views[:_MOST])) + more


def _shown(view: PacketView) -> str:
    text = view.text if len(view.text) <= _LONGEST else view.text[: _LONGEST - 3] + "..."
    return f"{text} (frame {view.frame}, packet {view.k})" if view.frame else text

# SPDX-License-Identifier: GPL-2.0-or-later
"""What came in place of what was expected: the packet that is wrong and its fields, in words.

First stands what the tester had sent before, for a router author looks for what his router made of
that. Where nothing came, it is said what was let pass on that connection, and what came meanwhile
at the other sides, up to the moment at which the tester gave up. None of this decides anything: the
verdict stands before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from scapy_x25 import RNR, RNR128, RR, RR128
from scapy_x25.lapb import LapbI, LapbRNR, LapbRR

from ..judges.evidence import EvidenceJudge
from ..judges.expectation import (
    Counted,
    Direction,
    Expectation,
    Never,
    Next,
    NextMessage,
    NoConnection,
    PacketView,
    Quiet,
    Seen,
)
from ..judges.frames import decode_frame, is_invalid
from ..judges.template import decode, wrong_fields
from ..results import ExpectationResult, PacketLine

# More than so many packets of one kind are not told, and so much of each.
_MOST = 2
_LONGEST = 150
# The sides of a case of one call: with more of them an end may be that of a call before.
_ONE_CALL = 2
# Of so many sides of a case in which the router did not do what was expected, packets are told.
_SIDES = 3
_FLOW = (RR, RNR, RR128, RNR128)
# RR, and in frames without P, tells what is expected next: P(R) or N(R).
_ACKNOWLEDGES = re.compile(r"RR |LAPB RR .*P/F=0$")
_LCI = re.compile(r"LCI=\d+")
_NEXT_EXPECTED = re.compile(r"[PN]\(R\)=\d+")
_SETUP = "PVC setup "
_ACCEPTED = "status=0x00 "
_SUPERVISORY = ("LAPB RR ", "LAPB RNR ")
# So much is told of a packet that the tester sent before.
_LONGEST_SENT = 140


class Until(NamedTuple):
    """What a direction had brought when the tester gave up: octets, and how it had ended."""

    octets: int
    end: str


NOTHING = Until(0, "")


def sent_before(
    expectation: Expectation,
    shown: ExpectationResult,
    packets: Sequence[PacketLine],
    *,
    of_link: bool = False,
) -> str:
    """What the tester had sent, to stand behind what was received; "": nothing, or not known.

    That is what it sent last before it began to wait, and the packet before on the same connection;
    of what had come by then, or must not come, the last before that came. packets: the ladder of
    the case. of_link: it is about the link, whose frames are shown whole.
    """
    if not isinstance(expectation, (Next, Counted, Never, Quiet)):
        return ""
    packets = _of_its_conversation(expectation, packets, of_link=of_link)
    until = shown.stimulus_frame or 0
    if shown.frame is not None and (not isinstance(expectation, Next) or shown.frame < until):
        sent = _sent_last(packets, shown.frame)
    else:
        sent = [p for p in packets if p.sent and p.frame <= until]
        sent = _last_two([p for p in sent if p.connection == sent[-1].connection])
    told: list[str] = []
    side = ""
    for packet in sent:
        of = "" if packet.side == side else f"side {packet.side} had sent "
        text = packet.text
        if not (of_link or (expectation.direction is not None and expectation.direction.framed)):
            # Of an I frame what it carries; what is expected is not a frame.
            text = text.rpartition(" | ")[2]
        text = _cut(text, _LONGEST_SENT) + _other_modulo(packet, packets)
        told.append(f"{of}{text} (frame {packet.frame})")
        side = packet.side
    if expectation.tcp_ended is not None:
        name, how = expectation.tcp_ended
        told.append(f"side {name} had ended its TCP connection ({how})")
    after = f", after {' and '.join(told)}" if told else ""
    return after + _refused_before(sent, packets)


def _other_modulo(packet: PacketLine, packets: Sequence[PacketLine]) -> str:
    """The modulo that its GFI says, where others of the tester on its connection say another."""
    own = _modulo(packet)
    others = {_modulo(p) for p in packets if p.sent and p.connection == packet.connection}
    return f" in modulo {own}" if own is not None and others - {own, None} else ""


def _modulo(packet: PacketLine) -> int | None:
    """Of a packet on a TCP connection; frames do not begin with a GFI."""
    if not packet.octets or not packet.k or packet.text.startswith(("LAPB", "frame", "runt")):
        return None
    return {1: 8, 2: 128}.get(int(packet.octets[0], 16) & 3)


def _refused_before(sent: Sequence[PacketLine], packets: Sequence[PacketLine]) -> str:
    """The PVC setup before this one, if it was one on another connection that got a refusal."""
    if not sent or not sent[-1].text.startswith(_SETUP):
        return ""
    this = sent[-1]
    before = [
        p
        for p in packets
        if p.frame < this.frame and p.side == this.side and p.connection != this.connection
    ]
    asked = next((p for p in reversed(before) if p.sent and p.text.startswith(_SETUP)), None)
    if asked is None:
        return ""
    answers = [p for p in before if p.connection == asked.connection and not p.sent]
    if not answers or not answers[-1].text.startswith(_SETUP) or _ACCEPTED in answers[-1].text:
        return ""
    return (
        f"; the setup before it, on another connection: {_cut(asked.text, _LONGEST_SENT)} "
        f"(frame {asked.frame}) got {_cut(answers[-1].text, _LONGEST_SENT)} "
        f"(frame {answers[-1].frame})"
    )


def _of_its_conversation(
    expectation: Expectation, packets: Sequence[PacketLine], *, of_link: bool
) -> Sequence[PacketLine]:
    """The ladder without what the tester sent in other conversations of serial lines.

    Frames belong to their own line. Packets of another channel of the same line, and frames that
    acknowledge only, have not led to a packet; a restart, on channel 0, may have. Everything stays
    where nothing was sent in the conversation itself.
    """
    direction = expectation.direction
    if direction is None or direction.line is None:
        return packets
    side, own = expectation.side, {0, direction.source[1]}

    def is_other(packet: PacketLine) -> bool:
        if direction.framed:
            return packet.side != side
        if packet.side != side:
            return False
        lci = _LCI.search(packet.text)
        if lci is None:
            return not of_link and packet.text.startswith(_SUPERVISORY)
        return int(lci[0].removeprefix("LCI=")) not in own

    left = [p for p in packets if not p.sent or not is_other(p)]
    return left if any(p.sent and p.side == side for p in left) else packets


def _sent_last(packets: Sequence[PacketLine], frame: int) -> list[PacketLine]:
    """What was sent last before this frame of the router, and before that on its connection.

    A packet that is one of the tester at another side is what the router made of that one.
    """
    here = {p.connection for p in packets if p.frame == frame}
    came = {_LCI.sub("", p.text) for p in packets if p.frame == frame and not p.sent}
    before = [p for p in packets if p.sent and p.frame < frame]
    passed = [p for p in before if p.connection not in here and _LCI.sub("", p.text) in came]
    last = (passed or before)[-1:]
    if passed:
        # What came ahead of the packet that was passed on may be why it is not as it should be;
        # what came behind it in the same segment is not.
        at_source = before[: before.index(passed[-1]) + 1]
        both = _last_two([p for p in at_source if p.connection == passed[-1].connection])
        if len(both) > 1:
            return both
    return _last_two([*(p for p in before if p.connection in here and p not in last), *last])


def _last_two(sent: Sequence[PacketLine]) -> list[PacketLine]:
    """The last packet, and the last before it that does more than acknowledge what came."""
    told: dict[int, str] = {}
    found = []
    for packet in sent[:-1]:
        number = _NEXT_EXPECTED.search(packet.text)
        before = told.get(packet.connection)
        if number is not None:
            told[packet.connection] = number[0]
        if number is None or number[0] == before or not _ACKNOWLEDGES.match(packet.text):
            found.append(packet)
    return [*found[-1:], *sent[-1:]]


def nearest(
    expectation: Expectation,
    seen: Seen,
    judge: EvidenceJudge,
    consumed: Collection[tuple[Direction, int]],
) -> PacketView | None:
    """Where nothing came that was expected: the last of its kind that was let pass, if one did."""
    if seen.saw != "nothing" or not isinstance(expectation, Next):
        return None
    return next(
        (
            view
            for view in reversed(expectation.window(judge))
            if (expectation.direction, view.offset) not in consumed and _wrong_in(expectation, view)
        ),
        None,
    )


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
    view = seen.view or nearest(expectation, seen, judge, consumed)
    if view is not None:
        return "; ".join(_of_packet(expectation, seen, view, judge))
    if isinstance(expectation, NoConnection):
        return "; ".join(_first_of_it(expectation, judge))
    if not isinstance(expectation, (Next, Counted)):
        return ""
    said = [
        *_left_aside(expectation, judge, consumed),
        *_meanwhile(expectation, judge, consumed, sides, received or {}),
    ]
    return "; ".join(said or _last(expectation, judge))


def _of_packet(
    expectation: Expectation, seen: Seen, view: PacketView, judge: EvidenceJudge
) -> Iterator[str]:
    """The packet itself where that was not said, and which of its fields are wrong."""
    if isinstance(expectation, Counted):
        few = (seen.count or 0) < expectation.low
        yield f"{'the last of them' if few else 'the first too many'}: {_shown(view)}"
        return
    if seen.said and seen.view is not None:
        yield f"in {_shown(view)}"
        return
    if isinstance(expectation, Quiet) and expectation.direction is not None:
        same = [
            v
            for v in judge.packets(expectation.direction)
            if v.offset < view.offset and v.octets == view.octets
        ]
        if same:
            yield f"the same had come before (frame {same[-1].frame}, packet {same[-1].k})"
    wrong = _wrong_in(expectation, view)
    if wrong:
        yield f"wrong in it: {', '.join(wrong)}"


def _wrong_in(expectation: Expectation, view: PacketView) -> list[str]:
    """The fields in which a packet is not as the alternative of its kind that is nearest to it."""
    found = [wrong_fields(t, view.octets) for t in expectation.leading()]
    return min((names for names in found if names), key=len, default=[])


def _first_of_it(expectation: NoConnection, judge: EvidenceJudge) -> Iterator[str]:
    """The first packet of a connection, or on a channel, that there must not be."""
    for direction in judge.connections_to(expectation.listener):
        views = judge.packets(direction)
        if direction not in expectation.known and views:
            yield f"the first on it: {_shown(views[0])}"
            return


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
    shown_as_packets = {d.line for _, d in sides if d.line is not None and not d.framed}
    for direction, name in {direction: name for name, direction in sides}.items():
        if direction == expectation.direction or _is_beside_frames(expectation, direction):
            continue
        until = received.get(direction, NOTHING)
        came = [
            view
            for view in judge.packets(direction)
            if view.end <= until.octets
            and (direction, view.offset) not in consumed
            and not _is_flow_control(view)
            and not (view.framed and direction.line in shown_as_packets and _is_i_frame(view))
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


def _is_beside_frames(expectation: Expectation, direction: Direction) -> bool:
    """Whether frames are expected: what comes on channels, or another line, does not count."""
    own = expectation.direction
    return own is not None and own.framed and direction.line is not None


def _is_flow_control(view: PacketView) -> bool:
    if view.framed:
        return isinstance(decode_frame(view.octets), (LapbRR, LapbRNR))
    return isinstance(decode(view.octets), _FLOW)


def _is_i_frame(view: PacketView) -> bool:
    return isinstance(decode_frame(view.octets), LapbI)


def _listed(views: Sequence[PacketView]) -> str:
    more = f" and {len(views) - _MOST} more" if len(views) > _MOST else ""
    return ", ".join(map(_shown, views[:_MOST])) + more


def _shown(view: PacketView) -> str:
    text = _cut(view.text, _LONGEST)
    return f"{text} (frame {view.frame}, packet {view.k})" if view.frame else text


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."

# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a permitted behaviour is seen on the wire, in the evidence of cases.

A filter of a permission counts the packets that it matches; {k} is put behind each strict field,
and "router" stands for: sent by the embedded router, over XOT or on a serial line. What no filter
says has a measure here: a function of a capture that gives a number.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scapy_x25.x25 import (
    CALL_ACCEPTED,
    CALL_REQUEST,
    CLEAR_CONFIRMATION,
    CLEAR_REQUEST,
    INTERRUPT,
    INTERRUPT_CONFIRMATION,
    RECEIVE_NOT_READY,
    RECEIVE_READY,
    RESET_CONFIRMATION,
    RESET_REQUEST,
    RESTART_CONFIRMATION,
    RESTART_REQUEST,
)

from ..catalogue.permission import Permission
from ..endpoints import XOT_PORT
from ..evidence import pcapng
from ..judges.reading import CaptureReader, PacketRead, Reading, TcpEnd
from ..sides.numbering import DATA

ROUTER = "127.0.25.1"
# Of a frame of a serial line: who sent it, as judges tell it, and as a filter.
ON_A_LINE = "R"
FROM_ROUTER = f"(ip.src == {ROUTER} || hdlcs.direction == 1)"
I_FRAME = 0x00
FIELDS = (
    *("x25s.type", "x25s.octets", "x25s.user_data", "x25s.m", "x25s.p_r", "x25s.facility_code"),
    *("lapbs.type", "lapbs.n_s", "lapbs.n_r", "lapbs.p_f", "hdlcs.octets"),
)
# SABM, UA: a link begins anew.
SABM, UA = _UNNUMBERED = (0x2F, 0x63)

_STRICT = re.compile(r"\b(?:x25s|xots|x25t|lapbs|hdlcs)\.[a-z0-9_.]+")
_FROM_ROUTER = re.compile(r"\brouter\b")


@dataclass(frozen=True)
class Seen:
    """The evidence of one case: its packets, and of each frame when it was captured (seconds).

    line_octets: octets of the serial line when the frame was complete; 0: it is not of a line.
    """

    reading: Reading
    times: tuple[float, ...]
    line_octets: tuple[int, ...]

    @property
    def from_router(self) -> list[PacketRead]:
        """The packets that the router sent, in the order of the capture."""
        return [packet for packet in self.reading.packets if packet.src in (ROUTER, ON_A_LINE)]

    def time(self, packet: PacketRead) -> float:
        """When the frame was captured in which a packet ended."""
        return self.times[packet.frame - 1]


Measure = Callable[[Seen], float]
MEASURES: dict[str, Measure] = {}


def measure(function: Measure) -> Measure:
    """Register a measure under the name of its function."""
    MEASURES[function.__name__] = function
    return function


@measure
def packets_beyond_the_segments(seen: Seen) -> float:
    """How many more packets than segments the router sent: each that shares one with another."""
    return len(seen.from_router) - len({packet.frame for packet in seen.from_router})


@measure
def seconds_until_the_answer(seen: Seen) -> float:
    """The longest time between a packet of the tester and the next one of the router."""
    longest = 0.0
    since: float | None = None
    for packet in seen.reading.packets:
        if packet.src not in (ROUTER, ON_A_LINE):
            since = seen.time(packet)
        elif since is not None:
            longest, since = max(longest, seen.time(packet) - since), None
    return longest


@measure
def data_without_p_r(seen: Seen) -> float:
    """The most Data of the router on a connection between two P(R) of the tester."""
    return max(_data_behind(seen, {DATA, RECEIVE_READY, RECEIVE_NOT_READY}).values(), default=0)


@measure
def window_status_repeated(seen: Seen) -> float:
    """RR of the router right behind one with the same P(R) on the same connection."""
    last: dict[int, PacketRead] = {}
    found = 0
    for packet in seen.reading.packets:
        before = last.get(packet.stream)
        ready = _ours(packet) and _kind(packet) == RECEIVE_READY
        if ready and before and _ours(before):
            p_r = number(packet, "x25s.p_r")
            found += (_kind(before), number(before, "x25s.p_r")) == (RECEIVE_READY, p_r)
        last[packet.stream] = packet
    return found


@measure
def acknowledged_ahead(seen: Seen) -> float:
    """The most Data of a call that the router had acknowledged and not passed on yet."""
    return _most_acknowledged(seen, lambda packet: int(_ours(packet) and _kind(packet) == DATA))


@measure
def acknowledged_before_the_far_end(seen: Seen) -> float:
    """The most Data of a call that the router had acknowledged and the far end had not."""
    far: dict[int, int] = {}

    def taken(packet: PacketRead) -> int:
        if _kind(packet) in (CALL_REQUEST, CALL_ACCEPTED):
            far[packet.stream] = 0
        p_r = None if _ours(packet) else number(packet, "x25s.p_r")
        return 0 if p_r is None else _newly_acknowledged(far, packet.stream, p_r)

    return _most_acknowledged(seen, taken)


def _most_acknowledged(seen: Seen, settled: Callable[[PacketRead], int]) -> int:
    """The most Data of a call that P(R) of the router were ahead of what other packets settled."""
    most = ahead = 0
    p_r_of: dict[int, int] = {}
    for packet in seen.reading.packets:
        p_r = number(packet, "x25s.p_r")
        if _kind(packet) in (CALL_REQUEST, CALL_ACCEPTED):
            p_r_of[packet.stream] = ahead = 0
        elif _ours(packet) and p_r is not None:
            ahead += _newly_acknowledged(p_r_of, packet.stream, p_r)
        ahead -= settled(packet)
        most = max(most, ahead)
    return most


def _newly_acknowledged(p_r_of: dict[int, int], stream: int, p_r: int) -> int:
    """How many a P(R) of modulo 8 acknowledges beyond the last one of its sender."""
    count = (p_r - p_r_of.get(stream, 0)) % 8
    p_r_of[stream] = p_r
    return count


@measure
def data_behind_rnr(seen: Seen) -> float:
    """The Data of the router on connections where the last that the tester told it is RNR."""
    busy: set[int] = set()
    found = 0
    for packet in seen.reading.packets:
        kind = _kind(packet)
        if packet.src == ROUTER:
            found += kind == DATA and packet.stream in busy
        elif kind == RECEIVE_NOT_READY:
            busy.add(packet.stream)
        elif kind is not None:
            busy.discard(packet.stream)
    return found


@measure
def seconds_between_data(seen: Seen) -> float:
    """The shortest time between two Data of the router on a connection."""
    last: dict[int, float] = {}
    shortest = 1.0
    for packet in seen.from_router:
        if _kind(packet) == DATA:
            now = seen.time(packet)
            shortest = min(shortest, now - last.get(packet.stream, -1.0))
            last[packet.stream] = now
    return shortest


@measure
def reset_confirmations_passed_on(seen: Seen) -> float:
    """Reset Confirmations of the router right behind one of the tester."""
    found = 0
    last: int | None = None
    for packet in seen.reading.packets:
        kind = _kind(packet)
        if packet.src != ROUTER:
            last = kind
        elif kind == RESET_CONFIRMATION:
            found += last == RESET_CONFIRMATION
    return found


@measure
def far_resets_behind_a_confirmation(seen: Seen) -> float:
    """Resets of the router behind the confirmation of its Reset of the other side."""
    return _told_behind_a_confirmation(seen, RESET_REQUEST, RESET_CONFIRMATION)


@measure
def far_clears_behind_a_confirmation(seen: Seen) -> float:
    """The same of Clears."""
    return _told_behind_a_confirmation(seen, CLEAR_REQUEST, CLEAR_CONFIRMATION)


def _told_behind_a_confirmation(seen: Seen, request: int, confirmation: int) -> int:
    """How often the router sends it to the one side, that confirms, and then to the other side."""
    found = 0
    before: list[tuple[bool, int | None, int]] = []
    for packet in seen.reading.packets:
        if _kind(packet) not in (request, confirmation):
            continue
        before = [*before[-2:], (_ours(packet), _kind(packet), packet.stream)]
        kinds = [(ours, kind) for ours, kind, _ in before]
        if kinds == [(True, request), (False, confirmation), (True, request)]:
            (_, _, one), (_, _, same), (_, _, other) = before
            found += one == same != other
    return found


@measure
def interrupts_before_confirmations(seen: Seen) -> float:
    """Interrupt Confirmations of the router right behind an Interrupt of its own."""
    kinds = [_kind(packet) for packet in seen.from_router]
    return sum(pair == (INTERRUPT, INTERRUPT_CONFIRMATION) for pair in pairwise(kinds))


@measure
def interrupts_ahead_of_data(seen: Seen) -> float:
    """Interrupts of the router behind which Data comes that the tester had sent before them."""
    sent: list[tuple[str, int | None, object]] = []
    found = 0
    for packet in seen.reading.packets:
        user_data = packet.fields.get("x25s.user_data", ())
        who = "router" if packet.src == ROUTER else "tester"
        sent.append((who, _kind(packet), user_data))
    for at, (who, kind, octets) in enumerate(sent):
        if (who, kind) != ("router", INTERRUPT) or ("tester", INTERRUPT, octets) not in sent[:at]:
            continue
        there = len(sent[:at]) - 1 - sent[:at][::-1].index(("tester", INTERRUPT, octets))
        late = [o for w, k, o in sent[:there] if (w, k) == ("tester", DATA)]
        found += any((w, k) == ("router", DATA) and o in late for w, k, o in sent[at:])
    return found


def _kind(packet: PacketRead) -> int | None:
    """The type of the packet, as the strict dissector gives it."""
    kind = packet.fields.get("x25s.type", ())
    return kind[0] if kind and isinstance(kind[0], int) else None


def _data_behind(seen: Seen, ending: set[int]) -> dict[int, int]:
    """For each connection the most Data of the router between two of these of the tester."""
    now: Counter[int] = Counter()
    most: dict[int, int] = {}
    for packet in seen.reading.packets:
        kind = _kind(packet)
        if packet.src == ROUTER and kind == DATA:
            now[packet.stream] += 1
            most[packet.stream] = max(most.get(packet.stream, 0), now[packet.stream])
        elif packet.src != ROUTER and kind in ending:
            now[packet.stream] = 0
    return most


@measure
def window_in_front_of_size(seen: Seen) -> float:
    """Packets of the router in which the window size precedes the packet size."""
    orders = [packet.fields.get("x25s.facility_code", ()) for packet in seen.from_router]
    both = [codes for codes in orders if 0x42 in codes and 0x43 in codes]
    return sum(codes.index(0x43) < codes.index(0x42) for codes in both)


@measure
def most_open_i_frames(seen: Seen) -> float:
    """The most I frames of the router that no N(R) of the tester had acknowledged."""
    most = 0
    open_numbers: set[int] = set()
    for packet in seen.reading.packets:
        n_s, n_r = (number(packet, f"lapbs.{name}") for name in ("n_s", "n_r"))
        if number(packet, "lapbs.type") in _UNNUMBERED:
            open_numbers.clear()
        elif packet.src == ON_A_LINE and n_s is not None:
            open_numbers.add(n_s)
            most = max(most, len(open_numbers))
        elif packet.src != ON_A_LINE and n_r is not None:
            # The oldest ones are behind N(R), by no more than a window.
            open_numbers -= {(n_r - behind) % 8 for behind in range(1, len(open_numbers) + 1)}
    return most


@measure
def seconds_until_a_restart_is_confirmed(seen: Seen) -> float:
    """The longest time between a Restart and the other end's confirmation of it."""
    longest = 0.0
    asked: dict[str, float] = {}
    for packet in seen.reading.packets:
        kind = number(packet, "x25s.type")
        if kind == RESTART_REQUEST:
            asked[packet.src] = seen.time(packet)
        elif kind == RESTART_CONFIRMATION and packet.dst in asked:
            longest = max(longest, seen.time(packet) - asked.pop(packet.dst))
    return longest


@measure
def seconds_until_a_poll(seen: Seen) -> float:
    """The longest time between an I frame of the router and its next poll."""
    longest, since = 0.0, None
    for packet in seen.from_router:
        if number(packet, "lapbs.type") == I_FRAME:
            since = seen.time(packet) if since is None else since
        elif since is not None and number(packet, "lapbs.p_f"):
            longest, since = max(longest, seen.time(packet) - since), None
    return longest


@measure
def octets_around_a_frame(seen: Seen) -> float:
    """Flags, stuffing and fill of the router: octets of the line beside those of its frames."""
    around = frames = 0
    before: dict[int, int] = {}
    for packet in seen.from_router:
        on_line = seen.line_octets[packet.frame - 1]
        octets = packet.fields.get("hdlcs.octets", (b"",))[0]
        if packet.stream in before and isinstance(octets, bytes):
            around += on_line - before[packet.stream] - len(octets)
            frames += 1
        before[packet.stream] = on_line
    return around / frames if frames else 0.0


@measure
def i_frames_right_behind_ua(seen: Seen) -> float:
    """I frames of the router with nothing of the tester between its UA and them."""
    types = [(p.src, number(p, "lapbs.type")) for p in seen.reading.packets]
    return list(pairwise(types)).count(((ON_A_LINE, UA), (ON_A_LINE, I_FRAME)))


def number(packet: PacketRead, name: str) -> int | None:
    """The first value of a field that holds a number."""
    values = [value for value in packet.fields.get(name, ()) if isinstance(value, int)]
    return values[0] if values else None


@measure
def connections_ended_first(seen: Seen) -> float:
    """Connections of the tester that the router was the first to close or reset.

    Its own ones it ends at about the time that the tester does.
    """
    first: dict[int, TcpEnd] = {}
    for end in seen.reading.tcp_ends:
        if end.fin or end.rst:
            first.setdefault(end.stream, end)
    return sum(_ours(end) and end.sport == XOT_PORT for end in first.values())


@measure
def seconds_until_the_router_closes(seen: Seen) -> float:
    """The longest time between what the tester did last on a connection and the router's close."""
    longest = 0.0
    for end in seen.reading.tcp_ends:
        if not _ours(end):
            continue
        packets = [p.frame for p in seen.reading.packets if p.stream == end.stream and not _ours(p)]
        ends = [e.frame for e in seen.reading.tcp_ends if e.stream == end.stream and not _ours(e)]
        before = [frame for frame in (*packets, *ends) if frame < end.frame]
        if before:
            longest = max(longest, seen.times[end.frame - 1] - seen.times[max(before) - 1])
    return longest


@measure
def closes_behind_the_far_confirmation(seen: Seen) -> float:
    """Connections that the tester closed first, and the router only when the tester had confirmed
    a Clear on another one."""
    closed = {e.stream: e.frame for e in reversed(seen.reading.tcp_ends) if e.fin and not _ours(e)}
    answered = {e.stream: e.frame for e in reversed(seen.reading.tcp_ends) if e.fin and _ours(e)}
    confirmed = [
        (packet.stream, packet.frame)
        for packet in seen.reading.packets
        if _kind(packet) == CLEAR_CONFIRMATION and not _ours(packet)
    ]
    return sum(
        any(other != stream and frame < at < answered.get(stream, 0) for other, at in confirmed)
        for stream, frame in closed.items()
    )


@measure
def closes_behind_another_confirmation(seen: Seen) -> float:
    """Connections that the router closed first, when what the tester had sent last, on another one,
    was a Clear Confirmation."""
    ours = [packet for packet in seen.reading.packets if not _ours(packet)]
    first: dict[int, TcpEnd] = {}
    for end in seen.reading.tcp_ends:
        if end.fin or end.rst:
            first.setdefault(end.stream, end)
    found = 0
    for end in first.values():
        before = [packet for packet in ours if packet.frame < end.frame]
        confirms = bool(before) and _kind(before[-1]) == CLEAR_CONFIRMATION
        found += _ours(end) and confirms and before[-1].stream != end.stream
    return found


@measure
def closed_behind_a_clear(seen: Seen) -> float:
    """Clears of the router behind which it closed before the tester had confirmed."""
    closed = {e.stream: e.frame for e in reversed(seen.reading.tcp_ends) if e.fin and _ours(e)}
    open_clears: set[int] = set()
    confirmed: set[int] = set()
    for packet in seen.reading.packets:
        kind = _kind(packet)
        if kind == CLEAR_REQUEST and _ours(packet):
            open_clears.add(packet.stream)
        elif kind == CLEAR_CONFIRMATION and packet.frame < closed.get(packet.stream, 0):
            confirmed.add(packet.stream)
    return len((open_clears & closed.keys()) - confirmed)


@measure
def confirmations_behind_the_others(seen: Seen) -> float:
    """Clear Confirmations of the router that followed one of the tester on another connection."""
    count = owed = 0
    for packet in seen.reading.packets:
        if _kind(packet) != CLEAR_CONFIRMATION:
            continue
        if not _ours(packet):
            owed += 1
        elif owed:
            count, owed = count + 1, owed - 1
    return count


@measure
def calls_that_overtake(seen: Seen) -> float:
    """Calls of the router that came out ahead of one that it had got earlier."""
    placed: list[object] = []
    count = 0
    for packet in seen.reading.packets:
        if _kind(packet) != CALL_REQUEST:
            continue
        data = packet.fields.get("x25s.user_data")
        if not _ours(packet):
            placed.append(data)
        elif data in placed:
            count += placed.index(data) > 0
            placed.remove(data)
    return count


def _ours(sent: PacketRead | TcpEnd) -> bool:
    """Whether the embedded router sent it."""
    return sent.src == ROUTER


def amount(judge: CaptureReader, permission: Permission, captures: Sequence[bytes]) -> float:
    """How much of the permitted behaviour these captures show.

    To be compared with that of the router without the variant: more shows it.
    """
    if permission.measure:
        sign = -1 if permission.measure.startswith("-") else 1
        function = MEASURES[permission.measure.removeprefix("-")]
        return sign * sum(function(_look(judge, capture)) for capture in captures)
    text = display_filter(permission.more or permission.fewer)
    hits = sum(len(judge.read(capture, [text]).hits[0]) for capture in captures)
    return hits if permission.more else -hits


def display_filter(text: str) -> str:
    """The filter of a permission as judge two takes it."""
    return _FROM_ROUTER.sub(FROM_ROUTER, _STRICT.sub(r"\g<0>#{k}", text))


def _look(judge: CaptureReader, capture: bytes) -> Seen:
    times, line_octets = [], []
    interfaces = []
    for block in pcapng.read_blocks(io.BytesIO(capture)):
        if block.kind == pcapng.INTERFACE_DESCRIPTION:
            interfaces.append(pcapng.interface(block))
        elif block.kind == pcapng.ENHANCED_PACKET:
            number, units, _ = pcapng.packet(block)
            times.append(units / interfaces[number].per_second)
            line_octets.append(pcapng.line_octets(block))
    return Seen(judge.read(capture, (), FIELDS), tuple(times), tuple(line_octets))

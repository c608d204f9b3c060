# SPDX-License-Identifier: GPL-2.0-or-later
"""What cases about LAPB have in common.

What makes a router send I frames is a Restart Request on a ready packet layer: each is confirmed.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from scapy_x25 import hdlc
from scapy_x25.x25 import RESTART_REQUEST, packet_type

from ..judges.template import matches
from ..judges.values import OF_A_DTE
from ..links.hdlc import FrameUnit
from ..sides.line import NOT_READY_SECONDS
from .clearing import AnySide
from .language import (
    ASKING_FOR_A_LINK,
    Bench,
    Call,
    Diagnostic,
    Inconclusive,
    LapbDISC,
    LapbDM,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbUA,
    LineSide,
    Matcher,
    Packet,
    ResetIndication,
    RestartConfirmation,
    RestartRequest,
    Side,
    one_of,
)
from .reactions import both

_SABM = 0x2F
# What is sent within this part of T1 behind the last time is early; the rest is for clocks, and
# for a tester that is a little late.
EARLY_FROM = 0.8
EARLY = 0.1
# By this part of a timer at the latest its time is over.
LATE = 1.2
LOOK = 0.02
# Commands of HDLC that LAPB does not have (X.25 Table 2-5), without P.
UI, XID, TEST = 0x03, 0xAF, 0xE3
# How often a command may cross with a router's wish for a link.
CROSSINGS = 20
# What a router does that sets its link up anew, or gives it up: DISC may come ahead of SABM, as at
# each set-up (X.25 2.4.4.1).
ANEW: tuple[Packet, ...] = (LapbSABM(p_f=1), LapbDM(), LapbDISC(p_f=1))
ENDS = LapbSABM, LapbDM, LapbDISC
# What may come of such a link from then on, whatever its P or F.
ENDING: tuple[Packet, ...] = tuple(kind() for kind in ENDS)


def calls_lines(bench: Bench) -> tuple[str, ...]:
    """The lines that carry calls between A and B: B's first."""
    return tuple(at for at in ("b", "a") if at in bench.lines)


def at_the_line(bench: Bench, call: Call, at: str = "") -> tuple[LineSide, Side, Side]:
    """The line that carries a call (B's if both do), and the call's ends: there, and beyond."""
    one, other = both(call)
    at = at or calls_lines(bench)[0]
    near, far = (one, other) if one.name.lower() == at else (other, one)
    return bench.lines[at], near, far


def is_dte_of_a_line(bench: Bench, side: Side) -> bool:
    """Whether the router is the DTE of the line that this side is on; on XOT none is."""
    line = bench.lines.get(side.name.lower())
    return line is not None and line.profile.role == "dte"


def unanswered_call(bench: Bench, called: Side) -> float:
    """Seconds after which the router gives up a Call that it sent to this side: T11, or T21 where
    it is the DTE of the line (X.25 Tables D-1, D-2)."""
    times = bench.profile.times
    return times.t21 if is_dte_of_a_line(bench, called) else times.t11


def unconfirmed_clear(bench: Bench, side: AnySide) -> float:
    """The same of a Clear: T13, or T23."""
    times = bench.profile.times
    dte = isinstance(side, Side) and is_dte_of_a_line(bench, side)
    return times.t23 if dte else times.t13


def ready(bench: Bench) -> tuple[LineSide, Packet]:
    """A line whose link is up, and a Restart Request for it."""
    line = bench.line()
    line.link.bring_up()
    return line, RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)


def with_one_t1(bench: Bench, *names: str) -> list[list[tuple[LineSide, Packet]]]:
    """The lines, those with the same T1 together, so that it runs out on them at once; their links
    are up, and there is a Restart Request for each.

    names: values of a line without which it is left out. Raises NotApplicable if none has them.
    """
    given = [n for n in sorted(bench.lines) if names_given(bench.lines[n], names)]
    bench.need(bool(given), f"no line of the profile gives {', '.join(names)}")
    found: dict[float, list[tuple[LineSide, Packet]]] = {}
    for name in given:
        line = bench.line(name)
        line.link.bring_up()
        restart = RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)
        found.setdefault(line.profile.t1, []).append((line, restart))
    return list(found.values())


def count_to(line: LineSide, restart: Packet, number: int) -> None:
    """The next I frame of the router has this N(S)."""
    while line.station.v_r != number:
        line.send(line.packet(restart))
        line.layer.expect(RestartConfirmation())
    line.link_fence()


def unacknowledged(line: LineSide, restart: Packet, count: int) -> int:
    """Restart Requests whose confirmations the tester does not acknowledge; the N(R) it keeps.

    A router may take its time to confirm (X.25 3.3.1), and T1 runs from the first I frame on: for
    that one it is waited as for any answer, then half of T1 for as many as may be open, since it
    may also have fewer open.
    """
    line.by_hand = True
    n_r, begin = line.station.v_r, line.connection.received_octets
    began = time.monotonic()
    for _ in range(count):
        line.send(line.packet(restart, n_r=n_r))
        _not_given_up(line, begin, began)
        line.acknowledged()
    may_come = min(count, line.profile.k)
    line.wait_until(lambda: opened(line, n_r, begin) > 0)
    line.wait_until(lambda: opened(line, n_r, begin) >= may_come, line.profile.t1 / 2)
    return n_r


def _not_given_up(line: LineSide, begin: int, began: float) -> None:
    """Wait for the acknowledgement of what was sent, if the router has not ended the link.

    It polls each T1 for what the tester leaves unanswered. Raises Inconclusive where N2 attempts
    may have been made meanwhile (X.25 2.4.8.4), as its acknowledgements, or the machine, are slow.
    """
    taken = line.station.v_s
    acknowledgements = tuple(kind(n_r=taken) for kind in (LapbRR, LapbRNR, LapbI))
    line.wait_until(lambda: came(line, begin, (*acknowledgements, *ANEW)))
    attempts = EARLY_FROM * line.profile.n2 * line.profile.t1
    late = time.monotonic() - began > attempts or not names_given(line, ("t1", "n2"))
    if late and came(line, begin, ANEW):
        raise Inconclusive("the router has made N2 attempts before all was sent")


def came(line: LineSide, begin: int, templates: Sequence[Packet]) -> bool:
    """Whether such a frame has come from there on."""
    frames = [unit.octets for unit in line.line.log.received if unit.offset >= begin and unit.valid]
    return any(matches(template, octets) for octets in frames for template in templates)


def begins_anew(
    line: LineSide,
    *others: Packet,
    passing: Sequence[Packet] = (),
    note: str = "",
) -> Packet | None:
    """What a router does that has its link set up anew, or gives it up, where a command with P=1 is
    the last that it got; or one of the others.

    One that asks for the link by DM F=0 has none any more, and answers that command by DM F=1 (X.25
    2.4.4.4.2): it is waited for, as it is no answer to what the tester sends next.
    """
    seen = line.expect(*others, *ANEW, passing=passing, note=note)
    poll_is_answered(line, seen)
    return seen


def poll_is_answered(line: LineSide, seen: Packet | None) -> None:
    """Where DM F=0 has come ahead of it."""
    if isinstance(seen, LapbDM) and not seen.p_f:
        line.allow(*ENDING)
        begin, answer = line.cursor, (LapbDM(p_f=1),)
        line.wait_until(lambda: came(line, begin, answer), line.context.reaction_limit)
        line.skip()


def _comes(line: LineSide, begin: int, template: Packet) -> bool:
    """As came(); it has the time of an answer."""
    return line.wait_until(lambda: came(line, begin, (template,)))


def one_open(line: LineSide, restart: Packet) -> int:
    """The N(S) of an I frame of the router that the tester does not acknowledge.

    Raises Inconclusive where the router takes too long over it.
    """
    begin = line.cursor
    first = unacknowledged(line, restart, 1)
    if not opened(line, first, begin):
        raise Inconclusive("the router has sent no I frame that is open")
    return first


def opened(line: LineSide, first: int, begin: int) -> int:
    """How many I frames the router has open from this N(S) on: k of them or fewer (2.4.8.6)."""
    frames = [u.octets[1] for u in line.line.log.received if u.offset >= begin and u.valid]
    numbers = {control >> 1 & 7 for control in frames if not control & 1}
    return next(count for count in range(9) if (first + count) % 8 not in numbers)


def beyond_the_window(line: LineSide, first: int) -> Packet:
    """I frames that are too many while the one with this N(S) is not acknowledged."""
    numbers = range(first + line.profile.k, first + 8)
    return LapbI(n_s=one_of(*(number % 8 for number in numbers)))


def all_again(line: LineSide, first: int, count: int, *, may_ask: bool = False) -> bool:
    """So many I frames from this N(S) on, in order; each is acknowledged, as k may be 1.

    The first may come once more: it may have been sent to a busy station too (X.25 2.4.5.7), and
    the acknowledgement crosses with it. Those behind it may have been under way when the router was
    told to begin with it. Those from the N(R) of the first F=1 on come once more where T1 ran out
    meanwhile (X.25 2.4.5.9), though the tester may have acknowledged some of them by then. With
    may_ask the router may poll before the first too: no clause says when a frame that is open is
    sent again to a station that is no longer busy. What it sends now has the N(R) that it
    acknowledged last: N(R) is V(R) at the time of sending (X.25 2.4.5.1), and does not run back.

    Returns whether some of them may come once more yet: F=1 has asked for those behind it.
    """
    acknowledged = line.station.v_s
    under_way = tuple(LapbI(n_s=number % 8) for number in range(first + 1, first + count))
    final = first if may_ask and asks_before_it_sends(line) else None
    if final is not None:
        respond(line, LapbRR, first)
    for number in range(first, first + count):
        again = (LapbI(n_s=first % 8),) if number > first else under_way
        if final is not None:
            again += tuple(LapbI(n_s=before % 8) for before in range(final, number))
        line.expect(LapbI(n_s=number % 8, n_r=acknowledged), passing=again)
        if final is None and is_polled(line):
            final = number + 1
        respond(line, LapbRR, number + 1)
    return final is not None and final < first + count


def asks_before_it_sends(line: LineSide) -> bool:
    """Whether the router polls by a supervisory frame, and sends no I frame before the answer."""
    begin = line.cursor

    def sent_i_frames() -> bool:
        units = line.line.log.received
        return any(u.valid and not u.octets[1] & 1 for u in units if u.offset >= begin)

    line.wait_until(
        lambda: sent_i_frames() or polled(line, begin),
        by_t1(line),
    )
    return not sent_i_frames() and polled(line, begin)


def respond(line: LineSide, kind: type[Packet], n_r: int) -> None:
    """A response with this N(R); F=1 if the router has polled and waits for that."""
    line.send(kind(n_r=n_r % 8, p_f=int(is_polled(line))))


def let_go(line: LineSide) -> None:
    """The station answers by itself from here on, and a poll that has come before."""
    line.by_hand = False
    if is_polled(line):
        # The router sends no I frame before F=1 (X.25 2.4.5.9): T1 would have to run out.
        respond(line, LapbRR, line.station.v_r)


def is_polled(line: LineSide) -> bool:
    """Whether the router has sent a command with P=1 on this link, and no F=1 has followed."""
    log = line.line.log
    began = max(_latest(log.received, _begins_a_link), _latest(log.sent, _begins_a_link))
    return _polled_at(line) > max(_answered_at(line), began)


def left_alone(line: LineSide) -> bool:
    """Whether the router has begun to end a link on which nobody answered its poll."""
    ended = _latest(line.line.log.received, _ends_a_link)
    return ended > _polled_at(line) > _answered_at(line)


def _polled_at(line: LineSide) -> float:
    """When the router sent a command with P=1 last."""
    return _latest(line.line.log.received, partial(_is_final_or_poll, line.response_address))


def _answered_at(line: LineSide) -> float:
    """When the tester sent F=1, or an unnumbered frame, last."""
    sent = line.line.log.sent
    final = _latest(sent, partial(_is_final_or_poll, line.response_address))
    return max(final, _latest(sent, lambda octets: octets[1] & 3 == 3))


def _latest(frames: Sequence[FrameUnit], wanted: Callable[[bytes], bool]) -> float:
    return max((u.time for u in frames if u.valid and wanted(u.octets)), default=0.0)


def _is_final_or_poll(address: int, octets: bytes) -> bool:
    return octets[0] == address and bool(octets[1] & 0x10) and octets[1] & 3 != 3


def _begins_a_link(octets: bytes) -> bool:
    return octets[1] & ~0x10 == _SABM


def _ends_a_link(octets: bytes) -> bool:
    return any(matches(template, octets) for template in ENDING)


def out_of_sequence(line: LineSide, packet: Packet, ahead: int, **fields: int) -> None:
    """An I frame with an N(S) that is so many ahead of the next; it uses up no number."""
    number = (line.station.v_s + ahead) % 8
    line.wire.send_whole([line.frames.with_fcs(line.packet(packet, n_s=number, **fields))])


def polls(line: LineSide) -> tuple[Packet, ...]:
    """How a router may ask whether the tester is there: a command with P=1 (X.25 2.4.5.9)."""
    address = line.response_address
    commands = [kind(address=address, p_f=1) for kind in (LapbRR, LapbRNR, LapbREJ)]
    return (*commands, LapbI(p_f=1))


def by_t1(line: LineSide) -> float:
    """Seconds within which the router has done what it does when T1 runs out."""
    return line.profile.t1_at_most + line.context.reaction_limit


def expect_poll(line: LineSide, note: str = "", within: float | None = None) -> None:
    """The router polls at T1; what it has to say first may be a little late, unless within says
    how much.

    Raises Inconclusive where it ends the link in place of that, as the frame may have been the only
    attempt.
    """
    seen = line.expect(
        *polls(line),
        *ends_after(line, 1),
        within=by_t1(line) if within is None else within,
        passing=(LapbI(p_f=0),),
        note=note,
    )
    if isinstance(seen, ENDS):
        line.allow(*ENDING)
        link_was_reset(line)
        raise Inconclusive("N2 is 1: the router makes no further attempt by a poll")


def ends_after(line: LineSide, attempts: int) -> tuple[Packet, ...]:
    """How a router may end a link behind so many attempts, of which its I frame may be the first
    (X.25 2.4.8.4): none where N2 is more, or is not given."""
    return ANEW if names_given(line, ("n2",)) and line.profile.n2 <= attempts else ()


def given_up(line: LineSide, begin: int) -> Packet | None:
    """The last poll without an answer, if there is one more, and then a new link, or none. Returns
    how that begins or ends."""
    reaction_limit = by_t1(line)
    last = line.expect(*polls(line), *ANEW, within=reaction_limit, passing=(LapbI(p_f=0),))
    if not isinstance(last, ENDS):
        last = line.expect(*ANEW, within=reaction_limit, note="N2 polls")
    line.allow(*ENDING)
    at_most_n2(line, begin)
    return last


def polled_to_the_end(
    polling: Sequence[tuple[LineSide, int]], fewer: int, **options: Any
) -> Iterator[LineSide]:
    """Each line polls N2 times from there on, and then begins anew or is given up. Yields a line
    behind each of its polls.

    fewer: by how many polls the end may come before N2, for what counts as an attempt besides; one
    more may come at will. options: as for expect().
    """
    left = list(polling)
    for number in range(max(line.profile.n2 for line, _ in left) + 2):
        for one in left[:]:
            line, begin = one
            seen = line.expect(
                *(*polls(line), *(ANEW if number >= line.profile.n2 - fewer else ())),
                within=by_t1(line),
                note=f"poll {number + 1}",
                **options,
            )
            if isinstance(seen, ENDS):
                at_most_n2(line, begin)
                left.remove(one)
            else:
                yield line
    for line, begin in left:
        at_most_n2(line, begin)


def at_most_n2(line: LineSide, begin: int) -> None:
    """No more polls than N2 from there on, and one that may be sent at will; then a new link.

    Which is at will the time says: those of timer recovery are T1 apart (X.25 2.4.8.1, 2.4.8.4).
    """
    most = line.profile.n2 if all_at_t1(line, begin) else line.profile.n2 + 1
    for poll in polls(line):
        line.expect_count(poll, 0, most, start=begin, note="N2 attempts")
    line.allow(LapbSABM(), LapbDISC())
    line.layer.allow(RestartConfirmation())


def all_at_t1(line: LineSide, begin: int) -> bool:
    """Whether each poll from there on came T1 behind the I frame or poll before it.

    Nothing is known of a T1 that the profile does not name.
    """
    sent = [
        unit
        for unit in line.line.log.received
        if unit.valid and unit.octets[0] == line.response_address and _is_attempt(unit.octets[1])
    ]
    first = sum(unit.offset < begin for unit in sent) - 1
    times = [unit.time for unit in sent[max(0, first) :]]
    apart = [later - sooner for sooner, later in itertools.pairwise(times)]
    return "t1" in line.profile.model_fields_set and min(apart, default=0.0) > (
        EARLY_FROM * line.profile.t1
    )


def _is_attempt(control: int) -> bool:
    """An I frame, or a supervisory frame with P=1."""
    return not control & 1 or bool(control & 3 == 1 and control & 0x10)


def polled_in_vain(lines: Sequence[tuple[LineSide, Packet]]) -> None:
    """One poll fewer than N2: the frame itself may be the first attempt (X.25 2.4.8.4)."""
    for number in range(1, max(line.profile.n2 for line, _ in lines)):
        for line, _ in lines:
            if number < line.profile.n2:
                expect_poll(line, f"poll {number}")


def polled(line: LineSide, begin: int) -> bool:
    """Whether the router has sent a command with P=1 from there on, and so waits for F=1."""
    came = [unit.octets for unit in line.line.log.received if unit.offset >= begin and unit.valid]
    return any(octets[0] == line.response_address and octets[1] & 0x10 for octets in came)


def taken(
    line: LineSide, p_f: int = 1, passing: Sequence[Packet] = (), *, at_once: bool = False
) -> bool:
    """SABM is answered by UA; whether the first one was. A station that is not ready yet may refuse
    it by DM, and so does one whose DISC crosses with it (X.25 2.4.4.1, 2.4.4.5.2); for good is too
    long. at_once: nothing of a link comes ahead of UA.

    DM F=0 may be a wish for a link that has crossed with SABM P=0 (X.25 2.4.4.4.2): UA follows.
    """
    until, patient, first = time.monotonic() + NOT_READY_SECONDS, True, True
    expect = line.expect_at_once if at_once else line.expect
    while patient:
        line.send(LapbSABM(p_f=p_f))
        patient = time.monotonic() < until
        refused = (LapbDM(p_f=p_f),) if patient else ()
        seen = expect(LapbUA(p_f=p_f), *refused, passing=passing)
        begin = line.cursor
        if isinstance(seen, LapbDM) and not p_f and _comes(line, begin, LapbUA(p_f=0)):
            seen = expect(LapbUA(p_f=0), passing=passing)
        if isinstance(seen, LapbUA):
            return first
        line.context.remark("SABM was refused by DM at first")
        line.pause(NOT_READY_SECONDS / 10)
        first = False
    return False


def names_given(line: LineSide, names: Sequence[str]) -> bool:
    """Whether these values of a line are the router's own."""
    return line.profile.model_fields_set.issuperset(names)


def needs_given(line: LineSide, *names: str) -> None:
    """These values of a line are the router's own; without them the case does not apply."""
    for name in names:
        given = name in line.profile.model_fields_set
        line.context.need(given, f"the profile does not give line.{line.name.lower()}: {name}")


def not_before(line: LineSide, earliest: float, *templates: Packet, note: str) -> None:
    """None of these comes before then, counted from the cursor; a moment (monotonic, seconds) at
    which they are early even by a clock that runs a tenth too fast.

    Looked at too late it says nothing, and is not judged; nor is a T1 that the profile does not
    name.
    """
    begin = line.cursor
    if "t1" not in line.profile.model_fields_set:
        line.context.remark(
            f"line.{line.name.lower()}: t1 is not given: that T1 runs out too early was not judged"
        )
        return
    line.pause(earliest - time.monotonic())
    if time.monotonic() > earliest + EARLY * line.profile.t1:
        line.context.remark("the tester was delayed: that T1 runs out too early was not judged")
        return
    for template in templates:
        line.expect_count(template, 0, 0, start=begin, note=note)


def comes_at_t1(line: LineSide, *templates: Packet) -> bool:
    """Whether one of these comes before T1 and the time of a reaction (TR) are over."""
    begin = line.cursor
    within = LATE * line.profile.t1 + line.context.profile.times.reaction
    return line.wait_until(lambda: came(line, begin, templates), within)


def last_look(line: LineSide, *templates: Packet) -> float:
    """Wait for one of these; the last moment (monotonic, seconds) at which none had come."""
    begin = line.cursor
    until = time.monotonic() + by_t1(line)

    def came() -> bool:
        frames = [u.octets for u in line.line.log.received if u.offset >= begin and u.valid]
        return any(matches(template, octets) for octets in frames for template in templates)

    before = time.monotonic()
    while not came() and time.monotonic() < until:
        before = time.monotonic()
        line.wait_until(came, LOOK)
    return before


def restarted(line: LineSide, begin: int = 0, within: float | None = None) -> bool:
    """Whether the router restarts its packet layer of itself, from there on; what it has to send
    on its own it may send a little later, unless within says how much."""

    def came() -> bool:
        units = line.channels.log(0).received
        return any(packet_type(u.packet) == RESTART_REQUEST and u.offset >= begin for u in units)

    line.layer.wait_until(came, line.context.profile.times.reaction if within is None else within)
    return came()


def of_a_dte(line: LineSide, cause: int) -> Matcher:
    """A cause as the router of this line may write it: a DTE has its own (X.25 5.5.1.1)."""
    return one_of(cause) if line.profile.role == "dce" else OF_A_DTE


def link_was_reset(line: LineSide) -> None:
    """What the packet layer may make of it: it goes on, or restarts (X.25 4.6); what the tester
    restarts is confirmed, or collides. A restart that the tester leaves unconfirmed is repeated,
    and given up with a Diagnostic (T10 of Table D-1)."""
    given_up = Diagnostic(diagnostic=line.context.diagnostic(52))
    line.layer.allow(RestartRequest(), RestartConfirmation(), given_up)


def may_be_reset(*sides: Side) -> None:
    """Calls that go on behind a link reset: packets may have been lost (X.25 4.4.3, 4.6)."""
    for side in sides:
        side.allow(ResetIndication())


def send_control(
    line: LineSide, control: int, information: bytes = b"", *, response: bool = False
) -> None:
    """A command with this control octet, or a response."""
    address = line.response_address if response else line.command_address
    line.wire.send_whole([hdlc.with_fcs(bytes([address, control]) + information)])


def begin_again(line: LineSide) -> None:
    """The link anew, whatever state it is in; each new link begins with a restart."""
    link_was_reset(line)
    line.by_hand = False
    line.link.bring_down()
    line.link.bring_up()


def begins_at_0(line: LineSide, restart: Packet, note: str) -> None:
    """Behind UA, by hand: a first frame that is missing brings REJ, and the router sends I
    frames."""
    begin = line.cursor
    out_of_sequence(line, restart, 1)
    line.expect(LapbREJ(n_r=0), note=f"{note}: its first frame is missing")
    if is_polled(line):
        # As soon as there is a link, a router may ask whether the tester is there, and send no more
        # I frames before the answer (X.25 2.4.3).
        respond(line, LapbRR, line.station.v_r)
    line.send(line.packet(restart, n_s=0))
    line.expect_count(LapbI(), 1, start=begin, note=f"{note}: I frames of the router")
    # The first may have been on its way before the condition was thought of; none but I frames
    # tells the router that the tester is ready.
    _second_frame(line, restart, begin)
    line.expect_count(LapbI(), 2, start=begin, note=f"{note}: more I frames of the router")


def _second_frame(line: LineSide, restart: Packet, begin: int) -> None:
    """The I frame with N(S)=1. A busy router drops it, and asks for it later (X.25 2.4.5.8)."""
    line.send(line.packet(restart, n_s=1))
    line.wait_until(lambda: opened(line, 0, begin) > 1 or line.station.peer_busy)
    if line.station.peer_busy:
        line.wait_until_ready()
        line.send(line.packet(restart, n_s=1))


def answered_without_a_link(line: LineSide, command: Packet, *answers: Packet) -> int:
    """A command other than SABM and DISC in the disconnected phase, and its answer.

    Sent again where it crossed with the router's wish for a link: a station that has sent SABM
    discards it (X.25 2.4.4.1). Returns how often; an answer may yet come to each.
    """
    crossed = 0
    while crossed < CROSSINGS:
        line.skip()
        line.wire.send_whole([line.frames.with_fcs(command)])
        if not line.link.set_up_came_first():
            break
        crossed += 1
    line.expect_at_once(*answers, passing=ASKING_FOR_A_LINK)
    return crossed


def unasked_without_a_link(line: LineSide, response: Packet) -> None:
    """A response that nobody asked for in the disconnected phase changes nothing: the command with
    P=1 right behind it has its answer there.

    Sent again where it crossed with the router's wish for a link, which UA F=1 would have granted.
    What ended that link may have its answer (UA) behind the one to the command that crossed.
    """
    asked = LapbRR(address=line.command_address, p_f=1)
    passing = ASKING_FOR_A_LINK
    for _ in range(CROSSINGS):
        line.skip()
        line.wire.send_whole([line.frames.with_fcs(frame) for frame in (response, asked)])
        if not line.link.set_up_came_first():
            note = f"{response.name} F={response.p_f} without a link"
            line.expect_at_once(LapbDM(p_f=1), passing=passing, note=note)
            return
        line.link.bring_down()
        passing = *ASKING_FOR_A_LINK, LapbUA(p_f=1)
    line.context.remark(f"the router asked for a link whenever {response.name} came")

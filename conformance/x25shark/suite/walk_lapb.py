# SPDX-License-Identifier: GPL-2.0-or-later
"""Random walks on links: I frames, their acknowledgement and repetition, ready and busy, resets,
ends and errors, in any order and on every serial line by turns.

Each step has the reactions that LAPB asks for (X.25 2.4), and leaves something behind: frames that
are open, a busy tester, a gap, a link that was just reset. A step that makes no sense where the
walk stands is left out.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scapy_x25 import hdlc

from ..judges.template import matches
from .language import (
    ASKING_FOR_A_LINK,
    Bench,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbUA,
    LineSide,
    Packet,
    RestartConfirmation,
    RestartRequest,
    not_in,
    one_of,
)
from .links import (
    all_again,
    begin_again,
    beyond_the_window,
    expect_poll,
    is_polled,
    link_was_reset,
    out_of_sequence,
    polls,
    respond,
    send_control,
)

# Control octets that nothing is defined for (X.25 Table 2-5).
UNDEFINED = (0x0D, 0x2D, 0xEF, 0xCF)
# Packets beyond the window that may wait in the router.
WAITING = 3
# How often a walk waits for T1.
RECOVERIES = 2
# Polls that a router may send of itself in front of the one at T1.
EARLY_POLLS = 3
_P_F = 0x10


class Step(NamedTuple):
    """One step: what, on which line, and a number that decides its values."""

    action: str
    line: str
    number: int

    def __str__(self) -> str:
        return f"{self.action} {self.line} {self.number}"


@dataclass
class Link:
    """A line, and what the walk has left open on its link."""

    line: LineSide
    #: N(R) that the tester has given last: the oldest I frame of the router that is open.
    acked: int = 0
    #: Confirmations that the router owes, or that have come and are not acknowledged.
    owed: int = 0
    #: Restart Requests since the confirmations were counted last.
    asked: int = 0
    #: Octets of the line from which on the router knows that the tester is busy.
    busy_from: int | None = None
    #: A REJ of the router stands, for all that the tester knows: "", "maybe" or "sure".
    gap: str = ""
    rejected_at: float = 0.0
    #: Frames that are open were asked for once more.
    repeated: bool = False
    #: The router has been busy: bursts may be dropped (X.25 2.4.5.8).
    careful: bool = False

    @property
    def restart(self) -> Packet:
        line = self.line
        return RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)

    @property
    def opened(self) -> int:
        """I frames of the router that have come and are not acknowledged."""
        return (self.line.station.v_r - self.acked) % 8

    @property
    def settled(self) -> bool:
        """Nothing of either direction is open, so that each other N(R) is invalid."""
        return not self.owed and not self.opened

    @property
    def ready(self) -> type[Packet]:
        """The frame that says how things are."""
        return LapbRR if self.busy_from is None else LapbRNR

    @property
    def beside(self) -> tuple[Packet, ...]:
        """What may come beside what is expected."""
        return polls(self.line) + (self.line.frames.rejections() if self.gap else ())

    @property
    def is_polled(self) -> bool:
        """The router waits for F=1."""
        return is_polled(self.line)

    def fresh(self) -> None:
        """A link that has just begun, with its restart behind it; by hand from here on."""
        line = self.line
        line.by_hand = False
        line.link_fence()
        line.by_hand = True
        self.acked = line.station.v_r
        self.owed = self.asked = 0
        self.busy_from, self.gap, self.repeated = None, "", False
        line.layer.cursor = max(line.layer.cursor, line.connection.received_octets)

    def take(self, count: int) -> None:
        """So many of the open frames are acknowledged by what is sent next."""
        self.acked = (self.acked + count) % 8
        self.owed -= count

    def still_busy(self) -> None:
        """While the tester is busy, all that came is the I frame with the N(S) of its N(R)."""
        if self.busy_from is not None:
            self.line.expect_count(
                LapbI(n_s=not_in(self.acked)), 0, 0, start=self.busy_from, note="to a busy tester"
            )

    def busy(self) -> None:
        """The router knows that the tester is busy, and with which N(R)."""
        self.busy_from = -1
        self.fence()
        self.busy_from = self.line.cursor

    def has_been_busy(self) -> bool:
        """Whether the router has been: what it dropped then it may ask for by REJ (2.4.5.8)."""
        return any(u.valid and u.octets[1] & 0x0F == 5 for u in self.line.line.log.received)

    def fence(self) -> None:
        """A poll, and what the router has taken."""
        line = self.line
        line.send(self.ready(address=line.command_address, n_r=self.acked, p_f=1))
        line.expect(*line.frames.answers(n_r=line.station.v_s), passing=self.beside)

    def answer(self) -> None:
        """F=1 if the router waits for it: what is open it sends again then."""
        if self.is_polled:
            respond(self.line, self.ready, self.acked)
            self.repeated = self.repeated or self.owed > 0

    def comes(self, n_s: int, begin: int, note: str) -> None:
        """An I frame with this N(S), from there on; polls of a router that is in timer recovery
        meanwhile are answered, as it sends nothing else before."""
        line = self.line
        template = LapbI(n_s=n_s % 8)

        def came() -> bool:
            frames = [u.octets for u in line.line.log.received if u.offset >= begin and u.valid]
            return any(matches(template, octets) for octets in frames)

        for _ in range(line.profile.n2):
            line.wait_until(lambda: came() or self.is_polled)
            if came():
                break
            self.answer()
        line.expect_count(template, 1, start=begin, note=note)

    def drain(self) -> None:
        """All that the router owes comes, from the oldest on."""
        begin = self.line.cursor
        self.comes(self.acked, begin, "the oldest that is open")
        self.line.cursor = begin
        all_again(self.line, self.acked, self.owed)
        self.take(self.owed)
        self.repeated = False
        self.count()

    def count(self) -> None:
        """Each packet was passed up once."""
        self.line.layer.expect_count(
            RestartConfirmation(), self.asked, self.asked, note="each packet once"
        )
        self.asked = 0


class LinkWalk:
    """A walk over the lines; the steps that were made are kept."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.links: dict[str, Link] = {}
        self.made: list[Step] = []
        self.recoveries = 0

    def go(self, steps: Sequence[Step]) -> None:
        """Make the steps; at the end every link is in order."""
        try:
            for at in sorted(self.bench.lines):
                line = self.bench.line(at)
                line.link.bring_up()
                self.links[at] = Link(line)
                self.links[at].fresh()
            for step in steps:
                for link in self.links.values():
                    link.answer()
                self.made.append(step)
                if not _ACTIONS[step.action](self, self.links[step.line], step.number):
                    self.made.pop()
            for link in self.links.values():
                _tidy(self, link)
        finally:
            self.bench.remark("steps: " + "; ".join(map(str, self.made)))


def _tidy(walk: LinkWalk, link: Link) -> None:
    ready(walk, link, 0)
    _settle(walk, link)
    ask(walk, link, 0)
    link.comes(link.acked, 0, "the last confirmation")
    respond(link.line, LapbRR, link.line.station.v_r)
    link.take(link.opened)
    link.count()
    link.fence()


def drawn(count: int, lines: Sequence[str], seed: str, *, errors: bool) -> list[Step]:
    """So many steps, drawn by a seed; each walk has its own likings."""
    chance = random.Random(seed)
    known = [a for a in WEIGHTS if errors or a not in ERRORS]
    liking = {a: 1.0 if a == "ask" else chance.choice(LIKINGS) for a in known}
    weights = [WEIGHTS[a] * liking[a] for a in known]
    habits = [h for h in HABITS if errors or not ERRORS & set(h)]
    # Each habit on each line, and the more of them the more steps there are.
    planned = [(habit, at) for habit in habits for at in lines]
    chance.shuffle(planned)
    steps: list[Step] = []
    while len(steps) < count:
        habit: tuple[str, ...] = (chance.choices(known, weights)[0],)
        at, times = chance.choice(lines), 1
        if planned and chance.random() < OF_HABIT:
            habit, at = planned.pop()
            times = TIMES
        steps += [Step(action, at, chance.randrange(256)) for _ in range(times) for action in habit]
    return steps


# steps: each says whether it could be made


def ask(walk: LinkWalk, link: Link, number: int) -> bool:
    """Restart Requests, one by one or several in one write; the confirmations stay open."""
    line, k = link.line, link.line.profile.k
    count = 1 + number % (k + 2)
    if link.owed + count > k + WAITING:
        return False
    begin, before = line.connection.received_octets, link.opened
    if number & 0x40 and count <= k and not link.careful:
        if not _burst(link, count):
            return True
    else:
        for _ in range(count):
            line.send(line.packet(link.restart, n_r=link.acked))
            line.acknowledged(passing=link.beside)
            link.gap = ""
    link.owed += count
    link.asked += count
    if link.busy_from is None:
        if not before:
            link.comes(link.acked, begin, "an I frame of the router")
        may_come = min(link.owed, k)
        line.wait_until(lambda: link.opened >= may_come, line.profile.t1 / 4)
    line.expect_count(
        beyond_the_window(line, link.acked), 0, 0, start=begin, note="more than k open"
    )
    return True


def _burst(link: Link, count: int) -> bool:
    """Whether the router took them all; one that is busy may drop some, and the link is ended."""
    line = link.line
    line.send(*[line.packet(link.restart, n_r=link.acked)] * count)
    taken = line.station.v_s
    older = one_of(*((taken - behind) % 8 for behind in range(1, count + 1)))
    kinds = (LapbRR, LapbI)
    stale = line.frames.rejections(n_r=older) if link.gap else ()
    seen = line.expect(
        *(kind(n_r=taken) for kind in kinds),
        *(LapbRNR(p_f=0), *(() if link.gap else line.frames.rejections())),
        passing=(*(kind(n_r=older) for kind in kinds), *polls(line), *stale),
        note=f"{count} in one write",
    )
    link.gap = ""
    if isinstance(seen, LapbRNR | LapbREJ):
        line.bench.remark("the router is busy: no more bursts")
        link.careful = True
        begin_again(line)
        link.fresh()
        return False
    return True


def acknowledge(walk: LinkWalk, link: Link, number: int) -> bool:
    """Some of the open frames, by a response, a command or an I frame: the window moves on."""
    line = link.line
    there = link.opened
    if not there:
        return False
    count = 1 + number % there
    link.still_busy()
    begin, following = line.connection.received_octets, line.station.v_r
    link.take(count)
    how = 0 if link.is_polled else number >> 4 & 3
    if how == 0:
        respond(line, link.ready, link.acked)
    elif how == 1:
        line.send(link.ready(address=line.command_address, n_r=link.acked))
    elif how == 2:
        link.fence()
    else:
        line.send(line.packet(link.restart, n_r=link.acked))
        line.acknowledged(passing=link.beside)
        link.owed += 1
        link.asked += 1
        link.gap = ""
    goes_on = count == there or not link.repeated
    if link.busy_from is None and goes_on and link.owed > there - count:
        link.comes(following, begin, "the window has moved")
    if link.busy_from is not None:
        link.busy()
    if not link.owed:
        link.repeated = False
    return True


def repeat(walk: LinkWalk, link: Link, number: int) -> bool:
    """REJ with any N(R) that is right: what is open from there on comes again."""
    line = link.line
    if not link.owed and number & 3:
        return False
    count = number % (link.opened + 1)
    begin = line.connection.received_octets
    link.take(count)
    link.busy_from = None
    how = 0 if link.is_polled else number >> 4 & 3
    if how in (0, 1):
        respond(line, LapbREJ, link.acked)
    else:
        line.send(LapbREJ(address=line.command_address, n_r=link.acked, p_f=how & 1))
    if how == 3:
        answers = line.frames.answers(n_r=line.station.v_s)
        line.expect(*answers, passing=link.beside, note="the answer to REJ with P=1")
    if number & 0x80 and link.owed and how != 3:
        line.cursor = begin
        link.drain()
    elif link.owed:
        link.repeated = True
        link.comes(link.acked, begin, "REJ brings it again")
    return True


def _settle(walk: LinkWalk, link: Link) -> None:
    """What the router owes comes, unless the tester is busy."""
    if link.owed and link.busy_from is None:
        repeat(walk, link, 0x80)


def poll(walk: LinkWalk, link: Link, number: int) -> bool:
    """A command with P=1, or several behind each other."""
    for _ in range(1 + number % 3):
        link.fence()
    return True


def not_ready(walk: LinkWalk, link: Link, number: int) -> bool:
    """RNR acknowledges all that has come; nothing but one I frame comes from here on."""
    line = link.line
    link.still_busy()
    if number & 2:
        _settle(walk, link)
    link.take(link.opened)
    if link.is_polled or number & 1:
        respond(line, LapbRNR, link.acked)
    else:
        line.send(LapbRNR(address=line.command_address, n_r=link.acked))
    link.busy()
    # What was under way when the router got to know of it.
    link.take(link.opened)
    link.busy()
    if not link.owed:
        link.repeated = False
    return True


def ready(walk: LinkWalk, link: Link, number: int) -> bool:
    """RR, or REJ: what has waited comes."""
    line = link.line
    if link.busy_from is None:
        return False
    link.still_busy()
    link.answer()
    link.busy_from = None
    if number & 3 == 0 and not link.is_polled:
        line.send(LapbRR(address=line.command_address, n_r=link.acked))
    else:
        respond(line, LapbREJ if number & 3 == 1 else LapbRR, link.acked)
    if link.owed:
        link.drain()
    return True


def skip_one(walk: LinkWalk, link: Link, number: int) -> bool:
    """I frames whose N(S) is ahead of the next: one REJ, and N(R) stays where it was."""
    line, ahead = link.line, 1 + number % 3
    line.wait_until_ready()
    before, expected, begin = link.gap, line.station.v_s, line.connection.received_octets
    link.gap = link.gap or "sure"
    for more in range(1 + (number >> 2 & 1)):
        out_of_sequence(line, link.restart, ahead + more, n_r=link.acked)
    if not before:
        line.expect(LapbREJ(n_r=expected), passing=polls(line))
        link.rejected_at = time.monotonic()
    link.fence()
    late = time.monotonic() - link.rejected_at > 0.5 * line.profile.t1
    if before != "maybe" and not late and not link.has_been_busy():
        # REJ as the answer to the poll has F=1.
        most = 0 if before else 1
        line.expect_count(LapbREJ(p_f=0), 0, most, start=begin, note="one REJ for each gap")
    return True


def duplicate(walk: LinkWalk, link: Link, number: int) -> bool:
    """An I frame that has been taken: it is not taken again."""
    line = link.line
    line.wait_until_ready()
    link.gap = link.gap or "maybe"
    out_of_sequence(line, link.restart, -1 - number % 3, n_r=link.acked)
    link.fence()
    return True


def recover(walk: LinkWalk, _link: Link, number: int) -> bool:
    """T1 runs out on every line; the answer to the poll says what is missing, or that the tester
    is busy."""
    if walk.recoveries >= RECOVERIES:
        return False
    walk.recoveries += 1
    links = [link for link in walk.links.values() if link.busy_from is None]
    for link in links:
        if not link.opened:
            ask(walk, link, 0)
        link.answer()
        link.fence()
        if link.gap:
            # REJ may come again at T1.
            link.line.allow(*link.line.frames.rejections(n_r=link.line.station.v_s))
    began = time.monotonic()
    for link in links:
        _recovered(link, number, began)
    return True


def _recovered(link: Link, number: int, began: float) -> None:
    """The poll at T1, and its answer; to one before T1 the answer brings nothing again."""
    line = link.line
    expect_poll(line)
    for _ in range(EARLY_POLLS):
        came = [unit.time for unit in line.line.log.received if unit.end == line.cursor]
        if came[-1] - began > line.profile.t1 / 2:
            break
        began = time.monotonic()
        link.answer()
        link.fence()
        expect_poll(line)
    link.take(number >> 2 & 7 if number >> 2 & 7 <= link.opened else 0)
    kind = (LapbRR, LapbRR, LapbREJ, LapbRNR)[number & 3]
    line.send(kind(n_r=link.acked, p_f=1))
    if kind is LapbRNR:
        link.busy()
    elif link.owed:
        link.drain()


def noise(walk: LinkWalk, link: Link, number: int) -> bool:
    """Frames that are invalid (X.25 2.3.5.3): nothing comes of them."""
    line = link.line
    command = line.command_address
    control = (
        *(line.station.v_s << 1 | link.acked << 5, 0x3F, 0x53, 0x87, 0x0F),
        *(link.acked << 5 | kind for kind in (0x01, 0x05, 0x09)),
    )[number & 7]
    whole = bytes([command, control]) + (b"" if control & 3 == 1 else bytes(link.restart))
    right = hdlc.with_fcs(whole)
    how = number >> 3 & 3
    for _ in range(1 + (number >> 5 & 1)):
        if how == 0:
            line.wire.send_whole([right[:-1] + bytes([right[-1] ^ 1 << (number >> 5)])])
        elif how == 1:
            line.wire.send_aborted(right)
        elif how == 2:
            line.wire.send_whole([hdlc.with_fcs(bytes([0x0F, control]) + whole[2:])])
        else:
            line.wire.send_whole([hdlc.with_fcs(whole[:1])])
    link.fence()
    return True


# ends of links


def reset(walk: LinkWalk, link: Link, number: int) -> bool:
    """SABM: all counts begin at 0, and no condition of the link before stands."""
    line, p = link.line, number & 1
    owed = link.owed
    link_was_reset(line)
    line.send(LapbSABM(p_f=p))
    line.expect(LapbUA(p_f=p), passing=link.beside)
    _begun(link, number, owed)
    return True


def _begun(link: Link, number: int, owed: int = 0) -> None:
    """A link that begins, behind UA; a first frame that is missing brings REJ."""
    line = link.line
    if number & 2:
        out_of_sequence(line, link.restart, 1, n_r=0)
        line.expect(LapbREJ(n_r=0), note="a new link: its first frame is missing")
    begin = line.layer.cursor
    line.by_hand = False
    line.link.restart()
    units = line.channels.log(0).received
    asked = any(u.packet[2:3] == b"\xfb" and u.offset >= begin for u in units)
    if owed and not asked:
        # It goes on as if there had been no reset: what was open may come yet (X.25 2.4.7, 4.6).
        begin_again(line)
    link.fresh()


def end(walk: LinkWalk, link: Link, number: int) -> bool:
    """DISC; what comes without a link has no effect on the next one."""
    line, p = link.line, number & 1
    link_was_reset(line)
    line.send(LapbDISC(p_f=p))
    line.expect(LapbUA(p_f=p), passing=link.beside)
    if number & 4:
        line.send(LapbRNR(n_r=0), LapbREJ(address=line.command_address, n_r=3))
        out_of_sequence(line, link.restart, number % 8, n_r=5)
    line.allow(*ASKING_FOR_A_LINK)
    line.by_hand = False
    line.link.bring_up(judged=True)
    link.fresh()
    return True


def reject(walk: LinkWalk, link: Link, number: int) -> bool:
    """A frame that cannot be taken: FRMR, and nothing is taken until the link begins anew."""
    line, bench = link.line, walk.bench
    _settle(walk, link)
    if not bench.declared("L-FRMR") or not link.settled or link.is_polled:
        return False
    p = number >> 2 & 1
    wrong = (line.station.v_r + 1 + (number >> 3) % 7) % 8
    kind = number & 3
    command, information, reasons = True, b"", {"w": 0, "x": 0, "y": 0, "z": 1}
    if kind == 0:
        control = wrong << 5 | line.station.v_s << 1
        information = bytes(link.restart)
    elif kind == 1:
        control = wrong << 5 | (0x01, 0x05, 0x09)[number >> 3 & 1]
        command = bool(number & 0x80)
        p = p if command else 0
    elif kind == 2:
        control = UNDEFINED[number >> 3 & 3]
        reasons = {"w": 1}
    else:
        control, information = link.acked << 5 | 0x01, b"\0"
        reasons = {"w": 1, "x": 1}
    control |= p * _P_F
    link_was_reset(line)
    address = line.command_address if command else line.response_address
    line.wire.send_whole([hdlc.with_fcs(bytes([address, control]) + information)])
    first = LapbFRMR(
        rejected_control=control,
        v_s=line.station.v_r,
        v_r=line.station.v_s,
        c_r=int(not command),
        p_f=p,
        **reasons,
    )
    came = line.expect(first, *((LapbSABM(p_f=1),) if kind == 2 else ()), passing=link.beside)
    if isinstance(came, LapbSABM):
        begin_again(line)
    else:
        _in_frame_reject(link, control, number)
    link.fresh()
    return True


def _in_frame_reject(link: Link, control: int, number: int) -> None:
    """What comes changes nothing; SABM or DISC ends it."""
    line = link.line
    again = LapbFRMR(rejected_control=control)
    if number & 0x10:
        send_control(line, UNDEFINED[number >> 5 & 3])
    if number & 0x20:
        out_of_sequence(line, link.restart, 0, p_f=1)
        line.expect(
            LapbFRMR(rejected_control=control, p_f=1),
            passing=(LapbFRMR(rejected_control=control, p_f=0),),
        )
    line.allow(again)
    begin = line.layer.cursor
    if number & 0x40:
        line.send(LapbDISC(p_f=1))
        line.expect(LapbUA(p_f=1), passing=(again,))
        line.by_hand = False
        line.link.bring_up(judged=True)
    else:
        line.send(LapbSABM(p_f=1))
        line.expect(LapbUA(p_f=1), passing=(again,))
        _begun(link, 2)
    line.layer.cursor = max(begin, line.layer.cursor)


def rejected(walk: LinkWalk, link: Link, number: int) -> bool:
    """FRMR of the tester, or DM: the router sets the link up anew, or has none."""
    line = link.line
    if number & 1:
        line.send(LapbDM(p_f=number >> 1 & 1), LapbRR(address=line.command_address, p_f=1))
    else:
        v_s, v_r = line.station.v_s, line.station.v_r
        line.send(LapbFRMR(rejected_control=v_s << 5 | 1, v_s=v_s, v_r=v_r, z=1))
    line.expect(LapbSABM(p_f=1), LapbDM(), passing=link.beside)
    line.allow(LapbSABM(), LapbDM())
    begin_again(line)
    link.fresh()
    return True


_ACTIONS: dict[str, Callable[[LinkWalk, Link, int], bool]] = {
    "ask": ask,
    "acknowledge": acknowledge,
    "repeat": repeat,
    "poll": poll,
    "not-ready": not_ready,
    "ready": ready,
    "skip-one": skip_one,
    "duplicate": duplicate,
    "recover": recover,
    "noise": noise,
    "reset": reset,
    "end": end,
    "reject": reject,
    "rejected": rejected,
}
#: How often each action is drawn.
WEIGHTS = {
    "ask": 14, "acknowledge": 12, "repeat": 6, "poll": 2, "not-ready": 4, "ready": 4,
    "skip-one": 5, "duplicate": 3, "recover": 1, "noise": 3, "reset": 2, "end": 1, "reject": 2,
    "rejected": 1,
}  # fmt: skip
#: What the weight of an action is multiplied by in one walk.
LIKINGS = (0.3, 1.0, 1.0, 2.5)
#: What is done several times on one line: what a link may count, and what it may leave behind.
HABITS: tuple[tuple[str, ...], ...] = (
    ("ask", "repeat"),
    ("skip-one", "ask", "acknowledge"),
    ("not-ready", "ask", "ready"),
    ("not-ready", "reset", "ask"),
    ("not-ready", "end", "ask"),
    ("ask", "skip-one", "reset"),
    ("ask", "skip-one", "end", "skip-one"),
    ("not-ready", "reject", "ask", "acknowledge"),
    ("skip-one", "reject", "skip-one", "ask"),
    ("ask", "rejected", "ask"),
)
#: How often such a habit is drawn in place of an action, and how often it is followed.
OF_HABIT, TIMES = 0.35, 3
#: Those in which the tester breaks the rules.
ERRORS = frozenset({"reject", "rejected"})

# SPDX-License-Identifier: GPL-2.0-or-later
"""I frames that the router owes, their acknowledgements, and what asks for them again."""

from __future__ import annotations

from ..language import LapbI, LapbREJ, LapbRNR, LapbRR, one_of
from ..links import begin_again, beyond_the_window, polls, respond
from .link import Link

# Packets beyond the window that may wait in the router.
WAITING = 3


def ask(link: Link, number: int) -> bool:
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
            link.acknowledged()
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
        line.context.remark("the router is busy: no more bursts")
        link.careful = True
        begin_again(line)
        link.fresh()
        return False
    return True


def acknowledge(link: Link, number: int) -> bool:
    """Some of the open frames, by a response, a command or an I frame: the window moves on."""
    line = link.line
    there = link.opened
    if not there:
        return False
    count = 1 + number % there
    link.still_busy()
    begin, following = line.connection.received_octets, line.station.v_r
    link.take(count)
    polling = link.is_polled
    how = 0 if polling else number >> 4 & 3
    if how == 0:
        respond(line, link.ready, link.acked)
        # F=1 brings again what it leaves open (X.25 2.4.5.9).
        link.repeated = link.repeated or (polling and count < there)
    elif how == 1:
        line.send(link.ready(address=line.command_address, n_r=link.acked))
    elif how == 2:
        link.fence()
    else:
        line.send(line.packet(link.restart, n_r=link.acked))
        link.acknowledged()
        link.owed += 1
        link.asked += 1
        link.gap = ""
    if link.repeated:
        # What an F=1 before it has brought again is there, and is not taken for more than k.
        link.fence()
    goes_on = count == there or not link.repeated
    if link.busy_from is None and goes_on and link.owed > there - count:
        link.comes(following, begin, "the window has moved")
    if link.busy_from is not None:
        link.busy()
    if not link.owed:
        link.repeated = False
    return True


def repeat(link: Link, number: int) -> bool:
    """REJ with any N(R) that is right: what is open from there on comes again."""
    line = link.line
    if not link.owed and number & 3:
        return False
    # What an F=1 before it has brought again is there, and is not taken for what REJ brings.
    link.fence()
    count = number % (link.opened + 1)
    begin = line.connection.received_octets
    link.take(count)
    link.busy_from = None
    polling = link.is_polled
    how = 0 if polling else number >> 4 & 3
    if how in (0, 1):
        respond(line, LapbREJ, link.acked)
    else:
        line.send(LapbREJ(address=line.command_address, n_r=link.acked, p_f=how & 1))
    if how == 3:
        answers = line.frames.answers(n_r=line.station.v_s)
        line.expect(*answers, passing=link.beside, note="the answer to REJ with P=1")
    if number & 0x80 and link.owed and how != 3:
        if not polling:
            link.at_once(link.acked, begin, "REJ brings it again")
        line.cursor = begin
        link.drain()
    elif link.owed:
        link.repeated = True
        comes = link.comes if polling else link.at_once
        comes(link.acked, begin, "REJ brings it again")
    return True


def settle(link: Link) -> None:
    """What the router owes comes, unless the tester is busy."""
    if link.owed and link.busy_from is None:
        repeat(link, 0x80)


def poll(link: Link, number: int) -> bool:
    """A command with P=1, or several behind each other."""
    for _ in range(1 + number % 3):
        link.fence()
    return True

# SPDX-License-Identifier: GPL-2.0-or-later
"""Busy testers, gaps, and frames that count for nothing."""

from __future__ import annotations

import time

from scapy_x25 import hdlc

from ..language import LapbREJ, LapbRNR, LapbRR
from ..links import out_of_sequence, polls, respond
from .link import Link
from .sending import settle


def not_ready(link: Link, number: int) -> bool:
    """RNR acknowledges all that has come; nothing but one I frame comes from here on."""
    line = link.line
    link.still_busy()
    if number & 2:
        settle(link)
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


def ready(link: Link, number: int) -> bool:
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


def skip_one(link: Link, number: int) -> bool:
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


def duplicate(link: Link, number: int) -> bool:
    """An I frame that has been taken: it is not taken again."""
    line = link.line
    line.wait_until_ready()
    link.gap = link.gap or "maybe"
    out_of_sequence(line, link.restart, -1 - number % 3, n_r=link.acked)
    link.fence()
    return True


def noise(link: Link, number: int) -> bool:
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
    times = 1 + (number >> 5 & 1)
    invalid = (
        right[:-1] + bytes([right[-1] ^ 1 << (number >> 5)]),
        None,
        hdlc.with_fcs(bytes([0x0F, control]) + whole[2:]),
        hdlc.with_fcs(whole[:1]),
    )[how]
    if invalid is None and line.profile.whole_frames:
        return False
    if invalid is None:
        for _ in range(times):
            line.wire.send_aborted(right)
        link.fence()
    else:
        # The flag that ends it may begin the next one (X.25 2.2.2).
        link.fence([invalid] * times)
    return True

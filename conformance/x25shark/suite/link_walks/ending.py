# SPDX-License-Identifier: GPL-2.0-or-later
"""Links that begin anew, and what they end with."""

from __future__ import annotations

from scapy_x25 import hdlc
from scapy_x25.x25 import RESTART_REQUEST, packet_type

from ..language import (
    ASKING_FOR_A_LINK,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbUA,
)
from ..links import (
    ANEW,
    ENDING,
    ENDS,
    begin_again,
    begins_anew,
    let_go,
    link_was_reset,
    out_of_sequence,
    poll_is_answered,
    send_control,
)
from .link import Link
from .sending import settle

# Control octets that nothing is defined for (X.25 Table 2-5).
UNDEFINED = (0x0D, 0x2D, 0xEF, 0xCF)
_P_F = 0x10


def reset(link: Link, number: int) -> bool:
    """SABM: all counts begin at 0, and no condition of the link before stands."""
    line, p = link.line, number & 1
    owed = link.owed
    link_was_reset(line)
    line.send(LapbSABM(p_f=p))
    line.expect(LapbUA(p_f=p), passing=link.beside)
    begun(link, number, owed)
    return True


def begun(link: Link, number: int, owed: int = 0) -> None:
    """A link that begins, behind UA; a first frame that is missing brings REJ."""
    line = link.line
    if number & 2:
        out_of_sequence(line, link.restart, 1, n_r=0)
        line.expect(LapbREJ(n_r=0), note="a new link: its first frame is missing")
    begin = line.layer.cursor
    let_go(line)
    line.link.restart()
    units = line.channels.log(0).received
    asked = any(packet_type(u.packet) == RESTART_REQUEST and u.offset >= begin for u in units)
    if owed and not asked:
        # It goes on as if there had been no reset: what was open may come yet (X.25 2.4.7, 4.6).
        begin_again(line)
    link.fresh()


def end(link: Link, number: int) -> bool:
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


def reject(link: Link, number: int) -> bool:
    """A frame that cannot be taken: FRMR, and nothing is taken until the link begins anew."""
    line, bench = link.line, link.line.context
    settle(link)
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
    # A DTE may do so for any of them (ISO/IEC 7776).
    may_reset = kind == 2 or line.profile.role == "dte"
    resets = (LapbSABM(p_f=1), LapbDISC(p_f=1), LapbDM(p_f=0)) if may_reset else ()
    came = line.expect(first, *resets, passing=link.beside)
    if isinstance(came, ENDS):
        if p:
            poll_is_answered(line, came)
        line.allow(*ENDING)
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
    begin, p = line.layer.cursor, int(not number & 8)
    if number & 0x40:
        line.send(LapbDISC(p_f=p))
        line.expect(LapbUA(p_f=p), passing=(again,))
        line.by_hand = False
        line.link.bring_up(judged=True)
    else:
        line.send(LapbSABM(p_f=p))
        line.expect(LapbUA(p_f=p), passing=(again,))
        begun(link, 2)
    line.layer.cursor = max(begin, line.layer.cursor)


def rejected(link: Link, number: int) -> bool:
    """FRMR of the tester, or DM: the router sets the link up anew, or has none.

    What it sets up behind FRMR is the link that goes on.
    """
    line = link.line
    if number & 1:
        line.send(LapbDM(p_f=number >> 1 & 1), LapbRR(address=line.command_address, p_f=1))
        came = begins_anew(line, passing=link.beside)
    else:
        v_s, v_r = line.station.v_s, line.station.v_r
        line.by_hand = False
        line.send(LapbFRMR(rejected_control=v_s << 5 | 1, v_s=v_s, v_r=v_r, z=1))
        came = line.expect(*ANEW, passing=link.beside)
    line.allow(*ENDING)
    if isinstance(came, LapbSABM) and not line.by_hand:
        link_was_reset(line)
        line.link.bring_up(judged=True)
    else:
        begin_again(line)
    link.fresh()
    return True

# SPDX-License-Identifier: GPL-2.0-or-later
"""What each PICS item says of a router, as a sentence, for x25shark init and the documents."""

from __future__ import annotations

from ..catalogue import catalogue
from ..profile import PICS_ITEMS

SENTENCES: dict[str, str] = {
    "R-DCE": "The router is a DCE, as a network is: clears and resets that it makes itself have a "
    "cause of a network, neither 0x00 nor one from 0x80 on.",
    "R-DTE": "The router is a DTE: clears and resets that it makes itself have cause 0x00.",
    "R-STE": "The router is the gateway between two networks, or it is not known which end it is: "
    "the causes of a DTE and those of a DCE both pass.",
    "N-TRUST": "It switches without looking: P(S), P(R), sizes and the Q bit are left to the ends.",
    "N-CHECK": "Its numbers are end to end, and still it checks them and resets the call itself.",
    "N-BELOW": "It accepts an answer that names a packet size below the default of 128 octets, or "
    "a window below the default of 2.",
    "X-PVC": "It takes and opens PVC connections with PVC Setup (RFC 1613 6.5).",
    "X-KA": "It notices a peer that is gone without a word, for instance by TCP keepalive.",
    "X-MULTI": "It carries more than one circuit on one TCP connection.",
    "P-PVC": "It has permanent virtual circuits.",
    "P-MOD128": "It numbers packets modulo 128 (extended numbering) where the ends ask for it.",
    "P-MOD32768": "It numbers packets modulo 32768 (super extended numbering) where asked to.",
    "P-MIXMOD": "It connects a side with modulo 8 and one with modulo 128.",
    "P-DBIT": "It carries the D bit: delivery is confirmed from end to end.",
    "P-INT1": "It takes one octet of interrupt user data only, as X.25 of 1980 had it.",
    "P-REJ": "It retransmits packets when a REJ asks for them.",
    "P-DIAG": "It sends Diagnostic packets where no other packet can say what was wrong.",
    "P-REG": "It understands Registration packets.",
    "P-LCRANGE": "It keeps logical channels for one direction of calls only.",
    "F-THR": "It negotiates throughput classes.",
    "F-CUG": "It has closed user groups.",
    "F-FS": "It carries fast select: up to 128 octets of user data in call and clear.",
    "F-FSA": "It refuses fast select where the called side has not subscribed to it.",
    "F-RC": "It carries the facility reverse charging.",
    "F-RCA": "It refuses reverse charging where the called side has not subscribed to it.",
    "F-REDIR": "It redirects calls.",
    "F-TD": "It carries transit delay selection and indication.",
    "F-BAR": "It bars incoming calls for an address (addresses.barred).",
    "F-TOA": "It takes addresses with type and numbering plan (A bit).",
    "R-REWRITE": "It rewrites addresses on their way.",
    "R-ALT": "It tries another route where the first is down (addresses.alternate).",
    "R-INSERT": "It fills in a calling address that is missing.",
    "T-10": "It has timer T10: it acts when nobody confirms its Restart.",
    "T-11": "It has timer T11: it clears a call that nobody answers.",
    "T-12": "It has timer T12: it acts when nobody confirms its Reset.",
    "T-13": "It has timer T13: it acts when nobody confirms its Clear.",
    "G-MIB": "Its counters can be read; the section [counters] says where.",
    "I-IP": "It carries IP over X.25 (RFC 1356); the section [ip] says its addresses.",
    "L-FRMR": "Its LAPB sends FRMR where a frame cannot be accepted.",
    "L-T3": "Its LAPB supervises an idle link (timer T3).",
}
"""By item; each of `profile.PICS_ITEMS` has one."""


def cases_about(item: str) -> list[str]:
    """The purposes with a condition that names the item."""
    found = catalogue().purposes.values()
    return [p.id for p in found if any(item in condition.split() for condition in p.pics)]


def offered(two_sided: bool) -> list[str]:
    """The items that x25shark init offers for a router over XOT: none that needs a line, counters
    or an address of its own, or (without side B) that is about switching."""
    elsewhere = {"L-FRMR", "L-T3", "G-MIB", "I-IP", "F-BAR", "R-ALT", "R-REWRITE", "R-INSERT"}
    switching = {"P-MIXMOD", "N-TRUST", "N-CHECK", "F-REDIR", "R-STE"}
    left_out = elsewhere | (set() if two_sided else switching)
    return [item for item in PICS_ITEMS if item not in left_out]

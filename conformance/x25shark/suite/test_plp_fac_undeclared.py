# SPDX-License-Identifier: GPL-2.0-or-later
"""Facilities that a profile does not declare (X.25 clause 6; RFC 1613 6.1)."""

from __future__ import annotations

from typing import NamedTuple

from scapy_x25 import ClosedUserGroup, ClosedUserGroupExtended, TransitDelay

from .clearing import give_up, refused
from .facilities import call_with
from .language import (
    Bench,
    CallRequest,
    ClearIndication,
    FastSelectReverseCharging,
    Packet,
    PacketSize,
    ThroughputClass,
    WindowSize,
    between,
    lacks,
    purpose,
)
from .occasion import amid


class Undeclared(NamedTuple):
    """A facility, the PICS item that declares it, and what B may be told in its place."""

    item: str
    sent: Packet
    at_b: tuple[Packet, ...]


_CHARGED = FastSelectReverseCharging(fast_select=0, redirection=0, reverse_charging=1)
FACILITIES = (
    Undeclared(
        "F-THR",
        ThroughputClass(called=9, calling=10),
        (ThroughputClass(called=between(3, 9), calling=between(3, 10)),),
    ),
    Undeclared(
        "F-CUG",
        ClosedUserGroup(index=12),
        (ClosedUserGroup(index=between(0, 99)), ClosedUserGroupExtended(index=between(0, 9999))),
    ),
    Undeclared(
        "F-TD",
        TransitDelay(milliseconds=100),
        (TransitDelay(milliseconds=between(0, 0xFFFF)),),
    ),
    Undeclared("F-RC", _CHARGED, (_CHARGED,)),
)
# Invalid facility request, access barred, local procedure error, no reverse charging acceptance.
REFUSED = (0x03, 0x0B, 0x13, 0x19)


@purpose("PLP-FAC-41")
def test_facilities_that_nobody_declared(bench: Bench) -> None:
    """Throughput class, closed user group, transit delay, reverse charging: each arrives as what it
    is, is left out, or is an error. A throughput class is never raised (6.13)."""
    undeclared = [one for one in FACILITIES if not bench.declared(one.item)]
    bench.need(undeclared, "a facility that the profile does not declare")
    for item, sent, at_b in undeclared:
        with amid(bench, f"{sent.name}, not declared ({item})"):
            a, request = call_with(bench, sent, PacketSize(), WindowSize())
            if bench.went_on(a):
                choices = [[one] for one in at_b] + [[lacks(type(one)) for one in at_b]]
                whole = [
                    CallRequest(facilities=choice, user_data=request.user_data)
                    for choice in choices
                ]
                give_up(a, bench.incoming(*whole))
            else:
                refused(bench, a, ClearIndication(cause=bench.cause(*REFUSED)))
    bench.fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet sizes and windows of a call, as its ends agree on them (X.25 6.12; RFC 1613 6.1, 6.2).

Both facilities have two octets: from the called DTE, then from the calling one. A value moves
between request and answer only towards the default, 128 octets (code 7) and window 2. What the
router agreed with A need not be what it offers to B.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scapy.packet import Packet
from scapy_x25 import CallAccepted, PacketSize, WindowSize

DEFAULT_SIZE, DEFAULT_WINDOW = 7, 2
# Octets of user data, 16 to 4096 (X.25 7.2.2.1.1).
SIZES = tuple(16 << power for power in range(9))
# The facilities, and what stands for one that is missing.
DEFAULTS: tuple[tuple[type[Packet], int], ...] = (
    (PacketSize, DEFAULT_SIZE),
    (WindowSize, DEFAULT_WINDOW),
)


class Values(NamedTuple):
    """What one end may send, and what it may get: octets of user data, and windows."""

    size: int = 128
    window: int = 2
    size_in: int = 128
    window_in: int = 2

    @property
    def crossed(self) -> Values:
        """The same, seen from the other end."""
        return Values(self.size_in, self.window_in, self.size, self.window)


STANDARD = Values()
# Shared: not to be changed.
ACCEPTED = CallAccepted()
_NOT_NAMED = PacketSize(), WindowSize()


def offer_of(call: Packet) -> tuple[PacketSize, WindowSize]:
    """Packet size and window size that a Call names; the defaults where it does not."""
    size, window = _NOT_NAMED
    for facility in call.fields.get("facilities") or ():
        if isinstance(facility, PacketSize):
            size = facility
        elif isinstance(facility, WindowSize):
            window = facility
    return size, window


def values_of(packet: Packet, *, called: bool, otherwise: Values = STANDARD) -> Values:
    """What a Call or its answer gives the called or the calling end; otherwise: what it lacks."""
    found = otherwise._asdict()
    mine, its = ("called", "calling") if called else ("calling", "called")
    for facility in packet.fields.get("facilities") or ():
        for octet, suffix in ((mine, ""), (its, "_in")):
            if isinstance(facility, PacketSize) and 4 <= facility.getfieldval(octet) <= 12:
                found["size" + suffix] = 1 << facility.getfieldval(octet)
            elif isinstance(facility, WindowSize) and 1 <= facility.getfieldval(octet) <= 127:
                found["window" + suffix] = facility.getfieldval(octet)
    return Values(**found)


def towards(wanted: int, offered: int, default: int) -> int:
    """The value nearest to the wanted one that an answer to this offer may have (X.25 6.12)."""
    low, high = sorted((offered, default))
    return min(max(wanted, low), high)


def acceptance(request: Packet, call: Packet) -> CallAccepted:
    """Call Accepted of B by which its side has the values that A asked for, as nearly as may be.

    request: the Call of A; call: that at B. Where both name the same, the answer names nothing.
    """
    answers = list(_answers(request, call))
    return CallAccepted(facilities=answers) if answers else ACCEPTED


def answering(call: Packet, size: int, window: int) -> CallAccepted:
    """Call Accepted with packet size (its code) and window, as nearly as this Call lets it.

    It names what differs from the Call, and what that should have named (RFC 1613 6.1).
    """
    there = {type(facility) for facility in call.fields.get("facilities") or ()}
    answers: list[Packet] = []
    for wanted, offered, (kind, default) in zip(
        (size, window), offer_of(call), DEFAULTS, strict=True
    ):
        asked = {octet: offered.getfieldval(octet) for octet in ("called", "calling")}
        answer = {octet: towards(wanted, value, default) for octet, value in asked.items()}
        if kind not in there or answer != asked:
            answers.append(kind(**answer))
    return CallAccepted(facilities=answers) if answers else ACCEPTED


def _answers(request: Packet, call: Packet) -> Iterator[Packet]:
    for wanted, offered, (kind, default) in zip(
        offer_of(request), offer_of(call), DEFAULTS, strict=True
    ):
        answer = {
            octet: towards(wanted.getfieldval(octet), offered.getfieldval(octet), default)
            for octet in ("called", "calling")
        }
        if any(answer[octet] != offered.getfieldval(octet) for octet in answer):
            yield kind(**answer)

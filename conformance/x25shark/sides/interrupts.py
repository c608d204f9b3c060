# SPDX-License-Identifier: GPL-2.0-or-later
"""User data of an Interrupt as the router takes it: 1 to 32 octets (X.25 4.3.7, 5.3.2), or 1 octet
alone of a router of 1980, whose profile lacks P-INT32."""

from __future__ import annotations

from typing import TypeVar, cast

from scapy_x25 import Interrupt

LONGEST = 32

Sent = TypeVar("Sent")


def as_taken(packet: Sent, most: int) -> Sent:
    """A packet or template; of an Interrupt with more user data than most the first octets.

    One that is too long for every router stays as it is: it is an error on purpose.
    """
    if not isinstance(packet, Interrupt):
        return packet
    octets = packet.fields.get("user_data")
    if not isinstance(octets, bytes) or not most < len(octets) <= LONGEST:
        return packet
    shorter = packet.copy()
    shorter.fields["user_data"] = octets[:most]
    return cast("Sent", shorter)

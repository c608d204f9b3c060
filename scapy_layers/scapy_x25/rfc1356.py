# SPDX-License-Identifier: GPL-2.0-or-later
"""Datagrams on X.25 circuits (RFC 1356, RFC 877).

The user data of the call says what the circuit carries, one unit per complete packet sequence:
    0xCC                    IP datagrams as they are (any other identifier: units of that protocol)
    0x80 and five octets    SNAP: units of the protocol of that OUI and protocol identifier
    0x00                    null encapsulation: each unit begins with its own 0xCC, or 0x80 and SNAP
"""

from __future__ import annotations

from dataclasses import dataclass

from .tables import protocol_meaning

NULL = 0x00
SNAP = 0x80
IP = 0xCC
SNAP_OCTETS = 5


@dataclass(frozen=True)
class Protocol:
    """A protocol identifier octet, with OUI (3 octets) and protocol (2 octets) if it is SNAP."""

    identifier: int
    snap: bytes = b""

    def octets(self) -> bytes:
        """As they are in call user data, or before a unit. ValueError if SNAP is wrong."""
        if len(self.snap) != (SNAP_OCTETS if self.identifier == SNAP else 0):
            raise ValueError(
                f"snap: {len(self.snap)} octets with identifier {self.identifier:#04x}; "
                f"SNAP ({SNAP:#04x}) has {SNAP_OCTETS}, others have none"
            )
        return bytes([self.identifier]) + self.snap

    def __str__(self) -> str:
        meaning = protocol_meaning(self.identifier) or f"protocol {self.identifier:#04x}"
        return f"{meaning} {self.snap.hex()}" if self.snap else meaning


IP_PROTOCOL = Protocol(IP)
NULL_ENCAPSULATION = Protocol(NULL)


def split_protocol(octets: bytes) -> tuple[Protocol, bytes] | None:
    """The protocol at the front of call user data or of a unit, and what follows; None if the
    octets end before."""
    if not octets:
        return None
    if octets[0] != SNAP:
        return Protocol(octets[0]), octets[1:]
    if len(octets) <= SNAP_OCTETS:
        return None
    return Protocol(SNAP, octets[1 : 1 + SNAP_OCTETS]), octets[1 + SNAP_OCTETS :]


def encapsulate(unit: bytes, circuit: Protocol, protocol: Protocol = IP_PROTOCOL) -> bytes:
    """A unit of a protocol as the user data of one packet sequence on a circuit.

    ValueError if the circuit carries another protocol.
    """
    if circuit == NULL_ENCAPSULATION:
        return protocol.octets() + unit
    if circuit != protocol:
        raise ValueError(f"the circuit carries {circuit}, not {protocol}")
    return unit


def decapsulate(octets: bytes, circuit: Protocol) -> tuple[Protocol, bytes] | None:
    """The protocol and the unit in the user data of a packet sequence; None if it is cut."""
    return split_protocol(octets) if circuit == NULL_ENCAPSULATION else (circuit, octets)

# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information
# mypy: disallow-subclassing-any=False

# scapy.contrib.description = X.25 facility field
# scapy.contrib.status = library

"""The facility field: octets to a list of facilities and back (X.25 7.1).

A code means what its class says only in its region: in front of any marker, or behind the marker
of the DTE facilities; elsewhere it is generic. What is cut off at the end of the field is Raw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scapy.config import conf
from scapy.fields import Field
from scapy.packet import Packet

from .facilities import (
    DEFINED,
    DTE_FACILITIES,
    EXTENSION,
    GENERIC,
    NETWORK_FACILITIES,
    X25_FACILITIES,
    Facility,
    FacilityExtension,
    Marker,
    code_of,
)
from .fields import number

_MARKER = code_of(Marker)
_DTE_MARKER = 0x0F
_BY_CODE = {(facility.region, code_of(facility)): facility for facility in DEFINED}


def _parameter_octets(code: int, behind: bytes) -> int | None:
    """Octets of the parameter field behind a code octet (with length octet); None if unknown."""
    kind = code >> 6
    if kind < 3:
        return kind + 1
    return 1 + behind[0] if behind else None


def facility_octets(octets: bytes) -> int | None:
    """Octets of the first facility in a facility field; None if it runs past the end."""
    code, start = octets[0], 1
    if code == EXTENSION:
        if len(octets) < 2:
            return None
        code, start = octets[1], 2
    parameters = _parameter_octets(code, octets[start:])
    if parameters is None or start + parameters > len(octets):
        return None
    return start + parameters


def parse_facilities(octets: bytes) -> list[Packet]:
    """The facilities of a facility field (without its length octet); never raises.

    Raw at the end holds what is cut off.
    """
    facilities: list[Packet] = []
    region = X25_FACILITIES
    while octets:
        size = facility_octets(octets)
        if size is None:
            facilities.append(conf.raw_layer(load=octets))
            break
        code = octets[0]
        if code == EXTENSION:
            kind: type[Facility] = FacilityExtension
        elif code == _MARKER:
            kind = Marker
            region = DTE_FACILITIES if octets[1] == _DTE_MARKER else NETWORK_FACILITIES
        else:
            kind = _BY_CODE.get((region, code), GENERIC[code >> 6])
        facilities.append(kind(octets[:size]))
        octets = octets[size:]
    return facilities


def build_facilities(facilities: Sequence[Any] | bytes | None) -> bytes:
    """Octets of a facility field without its length octet."""
    if facilities is None:
        return b""
    if isinstance(facilities, bytes):
        return facilities
    if not isinstance(facilities, (list, tuple)):
        raise ValueError(f"facilities: {facilities!r} is neither a list nor octets")
    return b"".join(bytes(facility) for facility in facilities)


class Facilities(Field):
    """List of facility packets, as long as facility_length says.

    Octets may be given instead of a list, for fields that no list can describe.
    """

    islist = 1
    holds_packets = 1
    structural = True

    def __init__(self, name: str) -> None:
        super().__init__(name, None, "B")

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        if isinstance(x, Packet):
            x = [x]
        if isinstance(x, (list, tuple)):
            x = list(x)
            for facility in x:
                if pkt is not None and isinstance(facility, Packet):
                    facility.add_parent(pkt)
        return x

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, list[Packet] | None]:
        length = pkt.fields.get("facility_length")
        if length is None or length > len(s):
            return s, None
        facilities = parse_facilities(s[:length])
        for facility in facilities:
            facility.add_parent(pkt)
        return s[length:], facilities

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        return s + build_facilities(val)


def facility_length(pkt: Packet) -> int:
    """Octets of the facility field of a packet, as it would be built."""
    octets = len(build_facilities(pkt.getfieldval("facilities")))
    return number(pkt.get_field("facility_length"), octets, 8)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of the strict Wireshark dissector's fields for the fields of the Scapy classes.

A field F of a packet is x25s.F, of the XOT header xots.F, of a LAPB frame lapbs.F, of HDLC
hdlcs.F; a field of a facility carries the name of the facility in front: PacketSize.called is
x25s.packet_size_called.
"""

from scapy.packet import Packet

from .facilities import Facility
from .hdlc import HDLC
from .lapb import LAPB
from .x25 import X25

# Fill and reserved bits, which no expectation is about, have no strict field of their own.
_WITHOUT = frozenset({"filler", "reserved"})


def strict_fields(packet_class: type[Packet]) -> dict[str, str]:
    """Strict field by Scapy field, for a class of this package; ValueError for others.

    Fields without a strict field are left out: filler, reserved bits, length octets of class D
    facilities and the fields inside those facilities (x25s.facility_value has all their octets).
    """
    names = [str(field.name) for field in packet_class.fields_desc]
    if getattr(packet_class, "strict_protocol", None) == "xots":
        return {name: f"xots.{name}" for name in names}
    if issubclass(packet_class, HDLC):
        return {name: f"hdlcs.{name}" for name in names}
    if issubclass(packet_class, LAPB):
        return {name: f"lapbs.{name}" for name in names if not name.startswith("reserved")}
    if issubclass(packet_class, X25):
        return {name: f"x25s.{name}" for name in names if name not in _WITHOUT}
    if issubclass(packet_class, Facility):
        return _facility_fields(packet_class, names)
    raise ValueError(f"{packet_class.__name__} has no strict Wireshark fields")


def _facility_fields(facility: type[Facility], names: list[str]) -> dict[str, str]:
    found = {"code": "x25s.facility_code"}
    prefix = facility.strict_prefix
    if prefix == "facility":
        own = {name: f"x25s.facility_{name}" for name in ("extended_code", "value")}
        return found | {name: own[name] for name in names if name in own}
    for name in names[1:]:
        found[name] = f"x25s.{prefix}_{name}" if prefix else f"x25s.{name}"
    return found

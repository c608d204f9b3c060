# SPDX-License-Identifier: GPL-2.0-or-later
"""How the strict Wireshark dissector calls what the Scapy classes call otherwise.

A field F of a packet is x25s.F, of the XOT header xots.F, of a LAPB frame lapbs.F, of HDLC
hdlcs.F; a field of a facility carries the name of the facility in front: PacketSize.called is
x25s.packet_size_called.
"""

from __future__ import annotations

from scapy.packet import Packet
from scapy_x25 import x25
from scapy_x25.facilities import (
    DEFINED,
    BilateralClosedUserGroup,
    CallDeflectionSelection,
    CallDuration,
    CalledAddressExtension,
    CalledLineAddressModified,
    CallingAddressExtension,
    CallRedirectionNotification,
    ChargingInformationRequest,
    ClosedUserGroup,
    ClosedUserGroupExtended,
    ClosedUserGroupOutgoingAccess,
    ClosedUserGroupOutgoingAccessExtended,
    EndToEndTransitDelay,
    ExpeditedDataNegotiation,
    ExtendedThroughputClass,
    Facility,
    FacilityExtension,
    FastSelectReverseCharging,
    Marker,
    MinimumThroughputClass,
    MonetaryUnit,
    NetworkUserIdentification,
    PacketSize,
    Priority,
    Protection,
    RoaSelection,
    RoaSelectionExtended,
    SegmentCount,
    ThroughputClass,
    TransitDelay,
    WindowSize,
    code_of,
)
from scapy_x25.hdlc import HDLC
from scapy_x25.lapb import LAPB, LAPB128, LapbUndefined
from scapy_x25.x25 import X25, Undefined

# Fill and reserved bits, which no expectation is about, have no strict field of their own.
_WITHOUT = frozenset({"filler", "reserved"})
_XOT = "XOT"
# The facilities whose fields are shown by name. Of others there are x25s.facility_code and
# x25s.facility_value.
_PREFIXES: dict[type[Facility], str] = {
    BilateralClosedUserGroup: "bilateral_closed_user_group_",
    CalledLineAddressModified: "called_line_address_modified_",
    ChargingInformationRequest: "charging_information_",
    ClosedUserGroup: "closed_user_group_",
    ClosedUserGroupExtended: "closed_user_group_extended_",
    ClosedUserGroupOutgoingAccess: "closed_user_group_outgoing_access_",
    ClosedUserGroupOutgoingAccessExtended: "closed_user_group_outgoing_access_extended_",
    ExpeditedDataNegotiation: "expedited_data_",
    ExtendedThroughputClass: "extended_throughput_class_",
    FastSelectReverseCharging: "",
    Marker: "marker_",
    MinimumThroughputClass: "minimum_throughput_class_",
    PacketSize: "packet_size_",
    RoaSelection: "roa_selection_",
    ThroughputClass: "throughput_class_",
    TransitDelay: "transit_delay_",
    WindowSize: "window_size_",
}
_OF_ANY_FACILITY = frozenset({"extended_code", "value"})
# Those without such fields, by their names in x25s.facility_meaning: a code has its meaning only in
# front of any marker, or behind that of the DTE facilities, elsewhere it is shown as a number.
_MEANINGS: dict[type[Facility], str] = {
    CallDeflectionSelection: "call_deflection_selection",
    CallDuration: "charging_call_duration",
    CalledAddressExtension: "called_address_extension",
    CallingAddressExtension: "calling_address_extension",
    CallRedirectionNotification: "call_redirection_notification",
    EndToEndTransitDelay: "end_to_end_transit_delay",
    MonetaryUnit: "charging_monetary_unit",
    NetworkUserIdentification: "network_user_identification",
    Priority: "priority",
    Protection: "protection",
    RoaSelectionExtended: "roa_selection_extended",
    SegmentCount: "charging_segment_count",
}


def strict_fields(packet_class: type[Packet]) -> dict[str, str]:
    """Strict field by Scapy field, for a class of scapy_x25; ValueError for others.

    Fields without a strict field are left out: filler, reserved bits, length octets of class D
    facilities and the fields inside those facilities (x25s.facility_value has all their octets).
    """
    names = [str(field.name) for field in packet_class.fields_desc]
    # By name: the layer of XOT brings Scapy's layers of IP with it, which few need.
    if packet_class.__name__ == _XOT:
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
    prefix = _PREFIXES.get(facility)
    if prefix is None:
        return found | {name: f"x25s.facility_{name}" for name in names if name in _OF_ANY_FACILITY}
    return found | {name: f"x25s.{prefix}{name}" for name in names[1:]}


def facility_meaning(facility: Packet) -> str | None:
    """What x25s.facility_meaning begins with: the name of its class, for a generic one its code as
    "0x" and two digits, and a space. None for a facility with strict fields of its own."""
    kind = type(facility)
    if kind in _PREFIXES or kind is FacilityExtension:
        return None
    name = _MEANINGS.get(kind) or f"0x{facility.getfieldval('code'):02x}"
    return f"{name} "


# What was asked for: each packet that is judged asks.
_conditions: dict[type[Packet], dict[str, int]] = {}


def strict_conditions(packet_class: type[Packet]) -> dict[str, int]:
    """The strict fields, and their values, by which packets of a class are known; none for a class
    that stands for several kinds of packets, and for a generic facility."""
    known = _conditions.get(packet_class)
    if known is None:
        known = _conditions[packet_class] = _conditions_of(packet_class)
    return known


def _conditions_of(packet_class: type[Packet]) -> dict[str, int]:
    if packet_class in (X25, LAPB, LAPB128):
        return {}
    if issubclass(packet_class, Undefined):
        return {"x25s.undefined": 1}
    if issubclass(packet_class, LapbUndefined):
        return {"lapbs.undefined": 1}
    if issubclass(packet_class, LAPB):
        return {"lapbs.type": _default(packet_class, "type")}
    if issubclass(packet_class, X25):
        conditions = {"x25s.type": x25.code_of(packet_class)}
        # Sequence numbers have their places by the modulus.
        if "p_r" in packet_class().fieldtype:
            conditions["x25s.modulo"] = _default(packet_class, "modulo")
        return conditions
    if packet_class in DEFINED or packet_class is FacilityExtension:
        return {"x25s.facility_code": code_of(packet_class)}
    return {}


def _default(packet_class: type[Packet], name: str) -> int:
    return int(packet_class().fieldtype[name].default)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Facilities: every class, markers, extension codes, address extensions."""

import pytest
from scapy.packet import Packet, Raw
from scapy_x25 import (
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
    FacilityA,
    FacilityB,
    FacilityC,
    FacilityD,
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
    parse_facilities,
)
from scapy_x25.facilities import DEFINED, DTE_FACILITIES, Facility, code_of

EXAMPLES: list[tuple[Packet, str]] = [
    (Marker(value=0x0F), "000f"),
    (FastSelectReverseCharging(fast_select=2, redirection=1, reverse_charging=1), "0191"),
    (ThroughputClass(called=10, calling=13), "02ad"),
    (ClosedUserGroup(index=42), "0342"),
    (ChargingInformationRequest(value=1), "0401"),
    (CalledLineAddressModified(reason=7), "0807"),
    (ClosedUserGroupOutgoingAccess(index=99), "0999"),
    (MinimumThroughputClass(called=3, calling=4), "0a34"),
    (ExpeditedDataNegotiation(value=1), "0b01"),
    (BilateralClosedUserGroup(index=1234), "411234"),
    (PacketSize(called=8, calling=7), "420807"),
    (WindowSize(called=4, calling=2), "430402"),
    (RoaSelection(dnic=2080), "442080"),
    (ClosedUserGroupExtended(index=9), "470009"),
    (ClosedUserGroupOutgoingAccessExtended(index=1000), "481000"),
    (TransitDelay(milliseconds=600), "490258"),
    (ExtendedThroughputClass(called=12, calling=13), "4c0c0d"),
    (CallDuration(days=0, hours=1, minutes=0x30, seconds=0x59), "c10400013059"),
    (SegmentCount(value=bytes(8)), "c208" + "00" * 8),
    (CallRedirectionNotification(reason=1, address="123"), "c30401031230"),
    (RoaSelectionExtended(value=b"\x20\x80"), "c4022080"),
    (MonetaryUnit(value=b"\1"), "c50101"),
    (NetworkUserIdentification(value=b"me"), "c6026d65"),
    (CalledAddressExtension(use=2, address="4712"), "c903844712"),
    (EndToEndTransitDelay(cumulative=100), "ca020064"),
    (EndToEndTransitDelay(cumulative=1, requested=2, maximum=3), "ca06000100020003"),
    (CallingAddressExtension(use=0, address="471", filler=0), "cb03034710"),
    (CallDeflectionSelection(reason=0xC0, address="55"), "d103c00255"),
    (Priority(value=b"\1\2"), "d2020102"),
    (Protection(value=b""), "d300"),
]


@pytest.mark.parametrize(("facility", "octets"), EXAMPLES, ids=[o for _, o in EXAMPLES])
def test_example(facility: Facility, octets: str) -> None:
    assert bytes(facility).hex() == octets
    front = bytes.fromhex("000f" if facility.region == DTE_FACILITIES else "")
    found = parse_facilities(front + bytes.fromhex(octets))[-1]
    assert type(found) is type(facility)
    assert not found.payload
    for name, value in facility.fields.items():
        assert found.getfieldval(name) == value, name


def test_every_defined_facility_has_an_example() -> None:
    assert {type(facility) for facility, _ in EXAMPLES} == set(DEFINED)
    assert len({code_of(facility) for facility in DEFINED}) == len(DEFINED)


def kinds(field: str) -> list[type[Packet]]:
    return [type(facility) for facility in parse_facilities(bytes.fromhex(field))]


def test_markers_change_what_codes_mean() -> None:
    assert kinds("420707") == [PacketSize]
    assert kinds("0000420707") == [Marker, FacilityB]
    assert kinds("00ff0201") == [Marker, FacilityA]
    assert kinds("000f420707") == [Marker, FacilityB]
    assert kinds("000fc90100") == [Marker, CalledAddressExtension]
    assert kinds("c90100") == [FacilityD]
    assert kinds("0000010100ff0201000fd20101") == [
        Marker,
        FacilityA,
        Marker,
        FacilityA,
        Marker,
        Priority,
    ]


def test_classes_of_unknown_codes() -> None:
    assert kinds("3e00" + "7e0000" + "be000000" + "fe0100") == [
        FacilityA,
        FacilityB,
        FacilityC,
        FacilityD,
    ]


def test_extension_code() -> None:
    """The octet behind 0xFF gives the class."""
    field = "ff0501" + "ff450102" + "ff85010203" + "ffc502aabb"
    facilities = parse_facilities(bytes.fromhex(field))
    assert [type(f) for f in facilities] == [FacilityExtension] * 4
    assert [(f.extended_code, f.value.hex()) for f in facilities] == [
        (0x05, "01"),
        (0x45, "0102"),
        (0x85, "010203"),
        (0xC5, "02aabb"),
    ]


@pytest.mark.parametrize("field", ["01", "4207", "be0000", "fe", "fe0201", "ff", "ff05", "ffc5"])
def test_what_is_cut_off_is_raw(field: str) -> None:
    assert kinds("0201" + field) == [ThroughputClass, Raw]


def test_digits_above_nine_are_kept() -> None:
    (group,) = parse_facilities(b"\x03\x1f")
    assert group.getfieldval("index") is None
    assert bytes(group.payload) == b"\x1f"


def test_numbers_for_generic_facilities() -> None:
    assert bytes(FacilityA(code=1, value=0x80)).hex() == "0180"
    assert bytes(FacilityB(code=0x42, value=0x0707)).hex() == "420707"
    assert bytes(FacilityC(code=0x80, value=1)).hex() == "80000001"
    with pytest.raises(ValueError, match="value: 256"):
        FacilityA(value=256)
    with pytest.raises(ValueError, match="index: 100"):
        bytes(ClosedUserGroup(index=100))

# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information
# mypy: disallow-subclassing-any=False

# scapy.contrib.description = X.25 facilities
# scapy.contrib.status = library

"""Facilities of X.25 call set-up and clearing packets (X.25 clause 7, Annex G).

Bits 8-7 of the code octet give the class: 00 A (one octet follows), 01 B (two), 10 C (three),
11 D (a length octet, then so many). Code 0xFF is the extension code: the next octet is an
extended code of the same build. A marker (code 0x00) says whose facilities follow: 0x00 those
of the local network, 0xFF those of the remote network (both generic here), 0x0F those of the
DTEs (Annex G).
"""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.fields import Field
from scapy.packet import Packet

from .fields import (
    DecimalDigits,
    Digits,
    Filler,
    Octets,
    OptionalBits,
    OptionalInteger,
    check_digits,
)

EXTENSION = 0xFF

X25_FACILITIES = "x25"  # in front of any marker
DTE_FACILITIES = "dte"  # behind marker 0x0F
NETWORK_FACILITIES = "network"  # behind marker 0x00 or 0xFF


def _rest_of_facility(pkt: Packet) -> int:
    """Octets that the fields behind the length octet take when built."""
    built: Any = b""
    behind = False
    for field in pkt.fields_desc:
        if behind:
            built = field.addfield(pkt, built, pkt.getfieldval(field.name))
        behind = behind or field.name == "length"
    return len(built) + len(pkt.payload)


def _code(value: int) -> OptionalInteger:
    return OptionalInteger("code", value)


def _length() -> OptionalInteger:
    return OptionalInteger("length", None, automatic=_rest_of_facility, always=True)


def _octet(*parts: tuple[str, int], default: int | None = 0) -> list[Field]:
    group = tuple(name for name, _ in parts)
    return [OptionalBits(name, default, size, group) for name, size in parts]


def _digit_count(pkt: Packet) -> int:
    return len(check_digits("address", pkt.getfieldval("address") or ""))


def _digits_announced(pkt: Packet, left: int) -> int | None:
    announced: int | None = pkt.fields.get("address_length")
    return announced if announced is not None and announced <= left else None


def _address(*front: tuple[str, int], bits: int = 8) -> list[Field]:
    """An address in half-octets: [bits in front], number of digits, digits, filler."""
    group = (*(name for name, _ in front), "address_length")
    return [
        *(OptionalBits(name, 0, size, group) for name, size in front),
        OptionalBits("address_length", None, bits, group, automatic=_digit_count, always=True),
        Digits("address", _digits_announced),
        Filler("filler"),
    ]


class Facility(Packet):
    """Base of all facilities: code octet, then parameters by class."""

    name = "X.25 facility"
    fields_desc: ClassVar[list[Any]] = []
    #: where this meaning of the code holds
    region: ClassVar[str] = X25_FACILITIES

    def answers(self, other: Packet) -> int:
        return 0

    def mysummary(self) -> str:
        return str(self.name)


class FacilityA(Facility):
    """Class A: code, one octet."""

    name = "class A facility"
    fields_desc: ClassVar[list[Any]] = [_code(0x3E), Octets("value", b"\0", lambda _: 1, width=1)]


class FacilityB(Facility):
    """Class B: code, two octets."""

    name = "class B facility"
    fields_desc: ClassVar[list[Any]] = [_code(0x7E), Octets("value", b"\0\0", lambda _: 2, width=2)]


class FacilityC(Facility):
    """Class C: code, three octets."""

    name = "class C facility"
    fields_desc: ClassVar[list[Any]] = [
        _code(0xBE),
        Octets("value", b"\0\0\0", lambda _: 3, width=3),
    ]


class FacilityD(Facility):
    """Class D: code, length octet, so many octets."""

    name = "class D facility"
    fields_desc: ClassVar[list[Any]] = [
        _code(0xFE),
        _length(),
        Octets("value", b"", lambda pkt: pkt.fields.get("length")),
    ]


class FacilityExtension(Facility):
    """Extension code 0xFF, extended code, then its parameter octets (with length if class D)."""

    name = "facility extension"
    fields_desc: ClassVar[list[Any]] = [
        _code(EXTENSION),
        OptionalInteger("extended_code", 0),
        Octets("value", b"\0"),
    ]


def _class_a(code: int, *fields: Field) -> list[Any]:
    return [_code(code), *fields]


def _class_d(code: int, *fields: Field) -> list[Any]:
    return [_code(code), _length(), *fields]


class Marker(Facility):
    """0x00: whose facilities follow (0x00 local network, 0xFF remote network, 0x0F DTEs)."""

    name = "marker"
    fields_desc = _class_a(0x00, OptionalInteger("value", 0x0F))


class FastSelectReverseCharging(Facility):
    """0x01: bits 8-7 fast select (2 without, 3 with restriction on response), 6-5 redirection
    prevention, 4-2 reserved, 1 reverse charging."""

    name = "fast select and reverse charging"
    fields_desc = _class_a(
        0x01,
        *_octet(("fast_select", 2), ("redirection", 2), ("reserved", 3), ("reverse_charging", 1)),
    )


class ThroughputClass(Facility):
    """0x02: bits 8-5 from the called DTE, 4-1 from the calling DTE; 3 = 75 ... 13 = 64000 bit/s."""

    name = "throughput class"
    fields_desc = _class_a(0x02, *_octet(("called", 4), ("calling", 4), default=11))


class ClosedUserGroup(Facility):
    """0x03: closed user group, basic format: two BCD digits in one octet."""

    name = "closed user group"
    fields_desc = _class_a(0x03, DecimalDigits("index", 0))


class ChargingInformationRequest(Facility):
    """0x04: bit 1 asks for charging information."""

    name = "charging information request"
    fields_desc = _class_a(0x04, OptionalInteger("value", 1))


class CalledLineAddressModified(Facility):
    """0x08: why the called address was changed."""

    name = "called line address modified notification"
    fields_desc = _class_a(0x08, OptionalInteger("reason", 0))


class ClosedUserGroupOutgoingAccess(Facility):
    """0x09: closed user group with outgoing access, basic format: two BCD digits."""

    name = "closed user group with outgoing access"
    fields_desc = _class_a(0x09, DecimalDigits("index", 0))


class MinimumThroughputClass(Facility):
    """0x0A (DTE): as ThroughputClass."""

    name = "minimum throughput class"
    region = DTE_FACILITIES
    fields_desc = _class_a(0x0A, *_octet(("called", 4), ("calling", 4)))


class ExpeditedDataNegotiation(Facility):
    """0x0B (DTE): bit 1 asks for expedited data."""

    name = "expedited data negotiation"
    region = DTE_FACILITIES
    fields_desc = _class_a(0x0B, OptionalInteger("value", 1))


class BilateralClosedUserGroup(Facility):
    """0x41: four BCD digits in two octets."""

    name = "bilateral closed user group"
    fields_desc = _class_a(0x41, DecimalDigits("index", 0, 2))


class PacketSize(Facility):
    """0x42: log2 of the octets, first from the called DTE, then from the calling DTE (4 to 12)."""

    name = "packet size"
    fields_desc = _class_a(0x42, OptionalInteger("called", 7), OptionalInteger("calling", 7))


class WindowSize(Facility):
    """0x43: packets, first from the called DTE, then from the calling DTE (1 to 7, or 127)."""

    name = "window size"
    fields_desc = _class_a(0x43, OptionalInteger("called", 2), OptionalInteger("calling", 2))


class RoaSelection(Facility):
    """0x44: ROA selection, basic format: four BCD digits in two octets."""

    name = "ROA selection"
    fields_desc = _class_a(0x44, DecimalDigits("dnic", 0, 2))


class ClosedUserGroupExtended(Facility):
    """0x47: closed user group, extended format: four BCD digits in two octets."""

    name = "closed user group, extended"
    fields_desc = _class_a(0x47, DecimalDigits("index", 0, 2))


class ClosedUserGroupOutgoingAccessExtended(Facility):
    """0x48: with outgoing access, extended format: four BCD digits in two octets."""

    name = "closed user group with outgoing access, extended"
    fields_desc = _class_a(0x48, DecimalDigits("index", 0, 2))


class TransitDelay(Facility):
    """0x49: transit delay in milliseconds, two octets."""

    name = "transit delay"
    fields_desc = _class_a(0x49, OptionalInteger("milliseconds", 0, 2))


class ExtendedThroughputClass(Facility):
    """0x4C: one class octet per direction."""

    name = "extended throughput class"
    fields_desc = _class_a(0x4C, OptionalInteger("called", 11), OptionalInteger("calling", 11))


class CallDuration(Facility):
    """0xC1: charging, call duration: days, hours, minutes, seconds, each two BCD digits."""

    name = "charging, call duration"
    fields_desc = _class_d(
        0xC1, *(OptionalInteger(unit, 0) for unit in ("days", "hours", "minutes", "seconds"))
    )


def _value() -> Octets:
    return Octets("value", b"", lambda pkt: pkt.fields.get("length"))


class SegmentCount(Facility):
    """0xC2: charging, segment count: eight BCD octets per tariff."""

    name = "charging, segment count"
    fields_desc = _class_d(0xC2, _value())


class CallRedirectionNotification(Facility):
    """0xC3: call redirection or deflection notification: reason, digits of the address."""

    name = "call redirection or deflection notification"
    fields_desc = _class_d(0xC3, OptionalInteger("reason", 0), *_address())


class RoaSelectionExtended(Facility):
    """0xC4: ROA selection, extended format: two octets per ROA."""

    name = "ROA selection, extended"
    fields_desc = _class_d(0xC4, _value())


class MonetaryUnit(Facility):
    """0xC5: charging, monetary unit."""

    name = "charging, monetary unit"
    fields_desc = _class_d(0xC5, _value())


class NetworkUserIdentification(Facility):
    """0xC6: network user identification, in the network's own format."""

    name = "network user identification"
    fields_desc = _class_d(0xC6, _value())


class CalledAddressExtension(Facility):
    """0xC9 (DTE): bits 8-7 use, 6-1 number of digits (up to 40), digits."""

    name = "called address extension"
    region = DTE_FACILITIES
    fields_desc = _class_d(0xC9, *_address(("use", 2), bits=6))


class EndToEndTransitDelay(Facility):
    """0xCA (DTE): cumulative, requested and maximum acceptable delay in milliseconds; the last
    two may be missing."""

    name = "end-to-end transit delay"
    region = DTE_FACILITIES
    fields_desc = _class_d(
        0xCA,
        OptionalInteger("cumulative", 0, 2),
        OptionalInteger("requested", None, 2),
        OptionalInteger("maximum", None, 2),
    )


class CallingAddressExtension(Facility):
    """0xCB (DTE): as CalledAddressExtension."""

    name = "calling address extension"
    region = DTE_FACILITIES
    fields_desc = _class_d(0xCB, *_address(("use", 2), bits=6))


class CallDeflectionSelection(Facility):
    """0xD1: reason, digits of the address the call is to go to."""

    name = "call deflection selection"
    fields_desc = _class_d(0xD1, OptionalInteger("reason", 0), *_address())


class Priority(Facility):
    """0xD2 (DTE): priorities, one to six octets."""

    name = "priority"
    region = DTE_FACILITIES
    fields_desc = _class_d(0xD2, _value())


class Protection(Facility):
    """0xD3 (DTE): protection."""

    name = "protection"
    region = DTE_FACILITIES
    fields_desc = _class_d(0xD3, _value())


GENERIC: tuple[type[Facility], ...] = (FacilityA, FacilityB, FacilityC, FacilityD)
DEFINED: tuple[type[Facility], ...] = (
    Marker,
    FastSelectReverseCharging,
    ThroughputClass,
    ClosedUserGroup,
    ChargingInformationRequest,
    CalledLineAddressModified,
    ClosedUserGroupOutgoingAccess,
    MinimumThroughputClass,
    ExpeditedDataNegotiation,
    BilateralClosedUserGroup,
    PacketSize,
    WindowSize,
    RoaSelection,
    ClosedUserGroupExtended,
    ClosedUserGroupOutgoingAccessExtended,
    TransitDelay,
    ExtendedThroughputClass,
    CallDuration,
    SegmentCount,
    CallRedirectionNotification,
    RoaSelectionExtended,
    MonetaryUnit,
    NetworkUserIdentification,
    CalledAddressExtension,
    EndToEndTransitDelay,
    CallingAddressExtension,
    CallDeflectionSelection,
    Priority,
    Protection,
)


def code_of(facility: type[Facility]) -> int:
    """The code octet that a facility class stands for."""
    return int(facility.fields_desc[0].default)

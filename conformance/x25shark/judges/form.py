# SPDX-License-Identifier: GPL-2.0-or-later
"""The form of one packet or frame, as judge one reads it (X.25 2.3.4, 5.1 to 5.7, 7; RFC 1613 6.5).

What is asked here can be said of the octets alone: the bits of octet 1, the length that the type
allows, the address block, the facilities, and that nothing is behind the last field. Judge two
takes the same from the expert infos of the strict dissector, which has its own reading of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scapy.packet import Packet, Raw
from scapy_x25 import (
    CallAccepted,
    CalledAddressExtension,
    CallingAddressExtension,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Data,
    Data128,
    Diagnostic,
    FacilityExtension,
    FastSelectReverseCharging,
    Interrupt,
    InterruptConfirmation,
    Marker,
    PacketSize,
    PvcSetup,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetConfirmation,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    Undefined,
    WindowSize,
)
from scapy_x25.fields import DecimalDigits
from scapy_x25.lapb import (
    ADDRESS_A,
    ADDRESS_B,
    ADDRESS_C,
    ADDRESS_D,
    LapbFRMR,
    LapbI,
    LapbUndefined,
)
from scapy_x25.remembered import remembered

from .frames import decode_frame
from .template import decode

# Octets of the shortest packet of a type, where it has more than the three of the header.
_SHORTEST: dict[type[Packet], int] = {
    CallRequest: 5,
    ClearRequest: 4,
    Diagnostic: 4,
    Interrupt: 4,
    PvcSetup: 15,
    RegistrationConfirmation: 7,
    RegistrationRequest: 5,
    ResetRequest: 4,
    RestartRequest: 4,
}
OF_CHANNEL_ZERO = (
    Diagnostic,
    RegistrationConfirmation,
    RegistrationRequest,
    RestartConfirmation,
    RestartRequest,
)
_OF_CALLS = (CallRequest, CallAccepted, ClearRequest, ClearConfirmation)
_WITH_BIT_8 = (*_OF_CALLS, Data, Data128, RegistrationConfirmation, RegistrationRequest)
_WITH_D_BIT = (CallRequest, CallAccepted, Data, Data128)
_WITHOUT_MORE = (InterruptConfirmation, ResetConfirmation, RestartConfirmation)
_NEEDED: tuple[tuple[tuple[type[Packet], ...], str], ...] = (
    ((CallRequest,), "facility_length"),
    ((RegistrationConfirmation, RegistrationRequest), "registration"),
)
_MOST_FACILITIES = 109
_MOST_USER_DATA: dict[type[Packet], int] = {
    CallAccepted: 128,
    ClearRequest: 128,
    Data: 4096,
    Data128: 4096,
    Interrupt: 32,
}
_CALL_USER_DATA, _FAST_SELECT_USER_DATA, _EXPLANATION = 16, 128, 3
# Octets of information in FRMR, modulo 8 (X.25 2.3.4.9).
_REJECTION = 3
_SIZES, _WINDOWS = range(4, 13), range(1, 128)


@remembered
def packet_problem(octets: bytes) -> str:
    """What is wrong with the form of an X.25 packet, in words; empty: nothing."""
    return next(_problems(octets), "")


@remembered
def frame_problem(octets: bytes) -> str:
    """What is wrong with the form of a LAPB frame (modulo 8) with a right FCS."""
    frame = decode_frame(octets)
    if frame is None:
        return ""
    if frame.fields["address"] not in (ADDRESS_A, ADDRESS_B, ADDRESS_C, ADDRESS_D):
        return f"address {frame.fields['address']:#04x} is none of A, B, C and D"
    if isinstance(frame, LapbUndefined):
        return f"control octet {octets[1]:#04x} is not defined"
    information = len(octets) - 4
    if isinstance(frame, LapbFRMR):
        if information != _REJECTION:
            return f"FRMR with {information} octets of information"
        reserved = any(v for name, v in frame.fields.items() if name.startswith("reserved"))
        return "FRMR with a reserved bit that is not 0" if reserved else ""
    if information and not isinstance(frame, LapbI):
        return f"{information} octets of information in {frame.name}"
    return ""


def _problems(octets: bytes) -> Iterator[str]:
    packet = decode(octets)
    if len(octets) < 3:
        yield f"{len(octets)} octets, a packet has at least 3"
    elif octets[0] >> 4 & 3 not in (1, 2):
        yield f"bits 6 and 5 of octet 1 are {octets[0] >> 4 & 3:02b}"
    elif isinstance(packet, Undefined):
        yield f"{octets[2]:#04x} is not a packet type"
    else:
        yield from _octet_1(packet, octets)
        yield from _length(packet, octets)
        yield from _addresses(packet)
        yield from _facilities(packet)


def _octet_1(packet: Packet, octets: bytes) -> Iterator[str]:
    lcn = int.from_bytes(octets[:2], "big") & 0xFFF
    if isinstance(packet, OF_CHANNEL_ZERO) and lcn:
        yield f"{packet.name} on logical channel {lcn}, it must be 0"
    if octets[0] & 0x40 and not isinstance(packet, _WITH_D_BIT):
        yield f"the D bit is set in {packet.name}"
    if octets[0] & 0x80 and not isinstance(packet, _WITH_BIT_8):
        yield f"bit 8 of octet 1 is set in {packet.name}"
    elif octets[0] & 0x80 and isinstance(packet, _OF_CALLS) and not _has_addresses(packet):
        # There it says how the addresses are written.
        yield f"bit 8 of octet 1 is set in {packet.name} without addresses"


def _has_addresses(packet: Packet) -> bool:
    return packet.fields.get("called_address_length") is not None


def _length(packet: Packet, octets: bytes) -> Iterator[str]:
    kind = type(packet)
    shortest = _SHORTEST.get(kind, 4 if octets[0] & 0x20 and _numbered(packet) else 3)
    if len(octets) < shortest:
        yield f"{len(octets)} octets, {packet.name} has at least {shortest}"
        return
    if len(packet.payload):
        plural = "" if len(packet.payload) == 1 else "s"
        yield f"{len(packet.payload)} octet{plural} behind the last field"
    if isinstance(packet, PvcSetup) and packet.fields.get("pvc_responder_name") is None:
        yield "the interface names end behind the packet"
    for kinds, name in _NEEDED:
        if isinstance(packet, kinds) and packet.fields.get(name) is None:
            yield f"the {name.replace('_', ' ')} is missing"
    if packet.fields.get("reserved"):
        yield "bit 1 of octet 4 is not 0"
    most = _most_user_data(packet)
    carried = len(packet.fields.get("user_data") or b"")
    if most is not None and carried > most:
        yield f"{carried} octets of user data, {most} are allowed"
    if len(packet.fields.get("explanation") or b"") > _EXPLANATION:
        yield "more than three octets of explanation"


def _numbered(packet: Packet) -> bool:
    return any(field.name == "p_r" for field in packet.fields_desc)


def _most_user_data(packet: Packet) -> int | None:
    if not isinstance(packet, CallRequest):
        return _MOST_USER_DATA.get(type(packet))
    return _FAST_SELECT_USER_DATA if fast_select_of(packet) >= 2 else _CALL_USER_DATA


def fast_select_of(call: Packet) -> int:
    """The two bits of the fast select facility of a Call; 0 if it has none."""
    for facility in call.fields.get("facilities") or []:
        if isinstance(facility, FastSelectReverseCharging):
            return int(facility.fields.get("fast_select") or 0)
    return 0


def _addresses(packet: Packet) -> Iterator[str]:
    if _has_addresses(packet) and packet.fields.get("calling_address") is None:
        yield "the addresses end behind the packet"
    for side in ("called", "calling"):
        digits = packet.fields.get(f"{side}_address")
        if digits and not digits.isdecimal():
            yield f"the {side} address holds a half-octet above 9"
    if packet.fields.get("filler"):
        yield "the filler half-octet behind an odd number of digits is not 0"


def _facilities(packet: Packet) -> Iterator[str]:
    announced = packet.fields.get("facility_length") or 0
    facilities = packet.fields.get("facilities")
    if announced > _MOST_FACILITIES or (announced and facilities is None):
        yield f"the facility length is {announced}"
    seen: set[int] = set()
    for facility in facilities or []:
        if isinstance(facility, Raw):
            yield "the facility field does not hold whole facilities"
            return
        code = facility.fields["code"]
        if isinstance(facility, Marker):
            seen.clear()
        elif not isinstance(facility, FacilityExtension):
            if code in seen:
                yield f"facility {code:#04x} occurs more than once"
            seen.add(code)
        if _is_wrong(facility):
            yield f"facility {code:#04x} with a parameter that it cannot have"


def _is_wrong(facility: Any) -> bool:
    if isinstance(facility, (PacketSize, WindowSize)):
        allowed = _SIZES if isinstance(facility, PacketSize) else _WINDOWS
        return any(facility.fields.get(side) not in allowed for side in ("called", "calling"))
    if isinstance(facility, (CalledAddressExtension, CallingAddressExtension)):
        return bool(facility.fields.get("length")) and facility.fields.get("address") is None
    return any(
        isinstance(field, DecimalDigits) and facility.fields.get(field.name) is None
        for field in facility.fields_desc
    )

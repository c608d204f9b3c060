# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information
# mypy: disallow-subclassing-any=False

# scapy.contrib.description = X.25 packet layer (modulo 8 and 128)
# scapy.contrib.status = loads

"""X.25 packets, modulo 8 and 128 (X.25 clause 5; PVC setup: RFC 1613 6.5).

Every packet begins with
    octet 1   bit 8 q (Q bit; A bit in call set-up and clearing), bit 7 d (D bit),
              bits 6-5 modulo (1 = modulo 8, 2 = modulo 128), bits 4-1 lcn, high part
    octet 2   lcn, low part (lcn: the 12 bits of logical channel group and number)
    octet 3   type
X25(octets) gives the class that fits; X25(...) without octets is any packet, as a template.
Fields given as None, and fields behind them, are absent. Lengths count themselves unless given.
Whatever a class has no field for is Raw behind it, so that no octet is ever lost.
"""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.config import conf
from scapy.packet import Packet

from .address import address_fields
from .facility_field import Facilities, facility_length
from .fields import Octets, OptionalBits, OptionalInteger, octet_count
from .tables import cause_meaning, diagnostic_meaning, pvc_status_meaning

MODULO_8 = 1
MODULO_128 = 2
PVC_SETUP_VERSION = 0x81

# Packet types: octet 3 (X.25 table 5-2). Indications share the type of their requests, Call
# Connected that of Call Accepted. In modulo 8 RR, RNR and REJ have P(R) above it. Data: bit 1 is 0.
CALL_REQUEST, CALL_ACCEPTED = 0x0B, 0x0F
CLEAR_REQUEST, CLEAR_CONFIRMATION = 0x13, 0x17
INTERRUPT, INTERRUPT_CONFIRMATION = 0x23, 0x27
RESET_REQUEST, RESET_CONFIRMATION = 0x1B, 0x1F
RESTART_REQUEST, RESTART_CONFIRMATION = 0xFB, 0xFF
REGISTRATION_REQUEST, REGISTRATION_CONFIRMATION = 0xF3, 0xF7
DIAGNOSTIC = 0xF1
RECEIVE_READY, RECEIVE_NOT_READY, REJECT = 0x01, 0x05, 0x09
# RFC 1613 6.5.
PVC_SETUP = 0xF5

_HEADER = ("q", "d", "modulo", "lcn")


def _header(modulo: int = MODULO_8, lcn: int = 1) -> list[Any]:
    return [
        OptionalBits("q", 0, 1, _HEADER, 2),
        OptionalBits("d", 0, 1, _HEADER, 2),
        OptionalBits("modulo", modulo, 2, _HEADER, 2),
        OptionalBits("lcn", lcn, 12, _HEADER, 2),
    ]


def _type(octet: int | None) -> OptionalInteger:
    return OptionalInteger("type", octet)


def _facilities(always: bool) -> list[Any]:
    return [
        OptionalInteger("facility_length", None, automatic=facility_length, always=always),
        Facilities("facilities"),
    ]


def _cause(packet: str) -> OptionalInteger:
    return OptionalInteger("cause", 0, text=lambda value: cause_meaning(packet, value))


def _diagnostic() -> OptionalInteger:
    return OptionalInteger("diagnostic", 0, text=diagnostic_meaning)


class X25(Packet):
    """Any X.25 packet: octets 1 and 2, and octet 3 if there is one.

    answered: names of the packet classes that this one answers.
    """

    name = "X.25"
    fields_desc: ClassVar[list[Any]] = [*_header(), _type(None)]
    answered: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_args: Any, **_kargs: Any) -> type[Packet]:
        return packet_class(bytes(_pkt)) if _pkt else cls

    def __eq__(self, other: object) -> bool:
        """Equal class and equal octets; templates, which cannot be built, by their fields."""
        if type(other) is not type(self):
            return False
        try:
            return bytes(self) == bytes(other)
        except (ValueError, TypeError):
            return bool(super().__eq__(other))

    __hash__ = None  # type: ignore[assignment]

    def hashret(self) -> bytes:
        lcn = self.getfieldval("lcn")
        return lcn.to_bytes(2, "big") if isinstance(lcn, int) and lcn < 1 << 16 else b""

    def answers(self, other: Packet) -> int:
        return int(type(other).__name__ in self.answered)

    def mysummary(self) -> str:
        from .summary import describe

        return describe(self)


class Undefined(X25):
    """A packet that X.25 does not define: unknown octet 3, GFI neither 01 nor 10 in bits 6-5, or
    fewer than three octets. What follows octet 3 is Raw."""

    name = "X.25 undefined packet"
    fields_desc: ClassVar[list[Any]] = [*_header(), _type(0x03)]


class CallRequest(X25):
    """Call Request, Incoming Call: address block, facility length, facilities, call user data."""

    name = "X.25 Call Request"
    fields_desc: ClassVar[list[Any]] = [
        *_header(),
        _type(CALL_REQUEST),
        *address_fields(always=True),
        *_facilities(always=True),
        Octets("user_data", b""),
    ]


class CallAccepted(X25):
    """Call Accepted, Call Connected: as CallRequest, but all behind octet 3 may be missing."""

    name = "X.25 Call Accepted"
    fields_desc: ClassVar[list[Any]] = [
        *_header(),
        _type(CALL_ACCEPTED),
        *address_fields(always=False),
        *_facilities(always=False),
        Octets("user_data", b""),
    ]
    answered = frozenset({"CallRequest"})


class ClearRequest(X25):
    """Clear Request, Clear Indication: cause, diagnostic (None: absent); extended format: address
    block, facility length, facilities, clear user data."""

    name = "X.25 Clear Request"
    fields_desc: ClassVar[list[Any]] = [
        *_header(),
        _type(CLEAR_REQUEST),
        _cause("clear"),
        _diagnostic(),
        *address_fields(always=False),
        *_facilities(always=False),
        Octets("user_data", b""),
    ]
    answered = frozenset({"CallRequest", "ClearRequest"})


class ClearConfirmation(X25):
    """Clear Confirmation; extended format: address block, facility length, facilities."""

    name = "X.25 Clear Confirmation"
    fields_desc: ClassVar[list[Any]] = [
        *_header(),
        _type(CLEAR_CONFIRMATION),
        *address_fields(always=False),
        *_facilities(always=False),
    ]
    answered = frozenset({"ClearRequest"})


class Data(X25):
    """Data, modulo 8: octet 3 is P(R) (bits 8-6), M (5), P(S) (4-2), 0; then user data."""

    name = "X.25 Data"
    fields_desc: ClassVar[list[Any]] = [
        *_header(),
        OptionalBits("p_r", 0, 3, ("p_r", "m", "p_s", "type")),
        OptionalBits("m", 0, 1, ("p_r", "m", "p_s", "type")),
        OptionalBits("p_s", 0, 3, ("p_r", "m", "p_s", "type")),
        OptionalBits("type", 0, 1, ("p_r", "m", "p_s", "type")),
        Octets("user_data", b""),
    ]


class Data128(X25):
    """Data, modulo 128: octet 3 is P(S) (bits 8-2), 0; octet 4 P(R) (8-2), M; then user data."""

    name = "X.25 Data (modulo 128)"
    fields_desc: ClassVar[list[Any]] = [
        *_header(MODULO_128),
        OptionalBits("p_s", 0, 7, ("p_s", "type")),
        OptionalBits("type", 0, 1, ("p_s", "type")),
        OptionalBits("p_r", 0, 7, ("p_r", "m")),
        OptionalBits("m", 0, 1, ("p_r", "m")),
        Octets("user_data", b""),
    ]


class Interrupt(X25):
    """Interrupt: 1 to 32 octets of user data."""

    name = "X.25 Interrupt"
    fields_desc: ClassVar[list[Any]] = [*_header(), _type(INTERRUPT), Octets("user_data", b"\0")]


class InterruptConfirmation(X25):
    """Interrupt Confirmation: nothing behind octet 3."""

    name = "X.25 Interrupt Confirmation"
    fields_desc: ClassVar[list[Any]] = [*_header(), _type(INTERRUPT_CONFIRMATION)]
    answered = frozenset({"Interrupt"})


def _acknowledgement(code: int) -> list[Any]:
    """Modulo 8: P(R) in bits 8-6 of octet 3, type in bits 5-1."""
    group = ("p_r", "type")
    return [*_header(), OptionalBits("p_r", 0, 3, group), OptionalBits("type", code, 5, group)]


def _acknowledgement_128(code: int) -> list[Any]:
    """Modulo 128: type in octet 3, P(R) in bits 8-2 of octet 4, bit 1 zero."""
    group = ("p_r", "reserved")
    return [
        *_header(MODULO_128),
        _type(code),
        OptionalBits("p_r", 0, 7, group),
        OptionalBits("reserved", 0, 1, group),
    ]


class RR(X25):
    """Receive Ready, modulo 8."""

    name = "X.25 RR"
    fields_desc = _acknowledgement(RECEIVE_READY)
    answered = frozenset({"Data"})


class RNR(X25):
    """Receive Not Ready, modulo 8."""

    name = "X.25 RNR"
    fields_desc = _acknowledgement(RECEIVE_NOT_READY)
    answered = frozenset({"Data"})


class REJ(X25):
    """Reject, modulo 8 (from a DTE only)."""

    name = "X.25 REJ"
    fields_desc = _acknowledgement(REJECT)
    answered = frozenset({"Data"})


class RR128(X25):
    """Receive Ready, modulo 128."""

    name = "X.25 RR (modulo 128)"
    fields_desc = _acknowledgement_128(RECEIVE_READY)
    answered = frozenset({"Data128"})


class RNR128(X25):
    """Receive Not Ready, modulo 128."""

    name = "X.25 RNR (modulo 128)"
    fields_desc = _acknowledgement_128(RECEIVE_NOT_READY)
    answered = frozenset({"Data128"})


class REJ128(X25):
    """Reject, modulo 128 (from a DTE only)."""

    name = "X.25 REJ (modulo 128)"
    fields_desc = _acknowledgement_128(REJECT)
    answered = frozenset({"Data128"})


class ResetRequest(X25):
    """Reset Request, Reset Indication: cause, diagnostic (None: absent)."""

    name = "X.25 Reset Request"
    fields_desc: ClassVar[list[Any]] = [
        *_header(),
        _type(RESET_REQUEST),
        _cause("reset"),
        _diagnostic(),
    ]
    answered = frozenset({"ResetRequest"})


class ResetConfirmation(X25):
    """Reset Confirmation: nothing behind octet 3."""

    name = "X.25 Reset Confirmation"
    fields_desc: ClassVar[list[Any]] = [*_header(), _type(RESET_CONFIRMATION)]
    answered = frozenset({"ResetRequest"})


class RestartRequest(X25):
    """Restart Request, Restart Indication (lcn 0): cause, diagnostic (None: absent)."""

    name = "X.25 Restart Request"
    fields_desc: ClassVar[list[Any]] = [
        *_header(lcn=0),
        _type(RESTART_REQUEST),
        _cause("restart"),
        _diagnostic(),
    ]
    answered = frozenset({"RestartRequest"})


class RestartConfirmation(X25):
    """Restart Confirmation (lcn 0): nothing behind octet 3."""

    name = "X.25 Restart Confirmation"
    fields_desc: ClassVar[list[Any]] = [*_header(lcn=0), _type(RESTART_CONFIRMATION)]
    answered = frozenset({"RestartRequest"})


class Diagnostic(X25):
    """Diagnostic (lcn 0): diagnostic code, explanation (the first three octets of the packet
    concerned, as far as there are any)."""

    name = "X.25 Diagnostic"
    fields_desc: ClassVar[list[Any]] = [
        *_header(lcn=0),
        _type(DIAGNOSTIC),
        _diagnostic(),
        Octets("explanation", b""),
    ]


def _registration() -> list[Any]:
    return [
        OptionalInteger(
            "registration_length",
            None,
            automatic=lambda pkt: octet_count(pkt, "registration"),
            always=True,
        ),
        Octets("registration", b"", lambda pkt: pkt.fields.get("registration_length")),
    ]


class RegistrationRequest(X25):
    """Registration Request (lcn 0): address block, registration length, registration."""

    name = "X.25 Registration Request"
    fields_desc: ClassVar[list[Any]] = [
        *_header(lcn=0),
        _type(REGISTRATION_REQUEST),
        *address_fields(always=True),
        *_registration(),
    ]


class RegistrationConfirmation(X25):
    """Registration Confirmation (lcn 0): cause, diagnostic, then as RegistrationRequest."""

    name = "X.25 Registration Confirmation"
    fields_desc: ClassVar[list[Any]] = [
        *_header(lcn=0),
        _type(REGISTRATION_CONFIRMATION),
        OptionalInteger("cause", 0x7F, text=lambda value: cause_meaning("registration", value)),
        _diagnostic(),
        *address_fields(always=True),
        *_registration(),
    ]
    answered = frozenset({"RegistrationRequest"})


class InterfaceName(Octets):
    """Name of the initiator's or responder's interface; both are absent if they do not fit."""

    def __init__(self, side: str) -> None:
        super().__init__(f"pvc_{side}_name", b"", lambda pkt: self.announced(pkt, side))

    @staticmethod
    def announced(pkt: Packet, side: str) -> int | None:
        length: int | None = pkt.fields.get(f"pvc_{side}_name_length")
        return length

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, bytes | None]:
        if self.name == "pvc_initiator_name" and sum(
            self.announced(pkt, side) or 0 for side in ("initiator", "responder")
        ) > len(s):
            return s, None
        return super().getfield(pkt, s)


def _name_length(side: str) -> OptionalInteger:
    return OptionalInteger(
        f"pvc_{side}_name_length",
        None,
        automatic=lambda pkt: octet_count(pkt, f"pvc_{side}_name"),
        always=True,
    )


class PvcSetup(X25):
    """PVC setup of XOT (RFC 1613 6.5). Octets behind octet 3: version 0x81, status, length of the
    initiator's interface name, initiator LCN (2), length of the responder's interface name,
    responder LCN (2), the sender's incoming and outgoing window, incoming and outgoing packet
    size (log2 of octets), initiator name, responder name (octets, no padding)."""

    name = "XOT PVC setup"
    fields_desc: ClassVar[list[Any]] = [
        *_header(),
        _type(PVC_SETUP),
        OptionalInteger("pvc_version", PVC_SETUP_VERSION),
        OptionalInteger("pvc_status", 0, text=pvc_status_meaning),
        _name_length("initiator"),
        OptionalInteger("pvc_initiator_lcn", 1, 2),
        _name_length("responder"),
        OptionalInteger("pvc_responder_lcn", 1, 2),
        OptionalInteger("pvc_incoming_window", 2),
        OptionalInteger("pvc_outgoing_window", 2),
        OptionalInteger("pvc_incoming_packet_size", 7),
        OptionalInteger("pvc_outgoing_packet_size", 7),
        InterfaceName("initiator"),
        InterfaceName("responder"),
    ]
    answered = frozenset({"PvcSetup"})


# On XOT the names from DCE to DTE and from DTE to DCE are one packet (RFC 1613 3).
IncomingCall = CallRequest
CallConnected = CallAccepted
ClearIndication = ClearRequest
ResetIndication = ResetRequest
RestartIndication = RestartRequest


def code_of(packet: type[X25]) -> int:
    """Octet 3 of a packet class without sequence numbers and M bit."""
    (code,) = (field.default for field in packet.fields_desc if field.name == "type")
    return int(code)


_BY_OCTET_3: dict[int, type[X25]] = {
    code_of(packet): packet
    for packet in (
        CallRequest,
        CallAccepted,
        ClearRequest,
        ClearConfirmation,
        Interrupt,
        InterruptConfirmation,
        ResetRequest,
        ResetConfirmation,
        RestartRequest,
        RestartConfirmation,
        Diagnostic,
        RegistrationRequest,
        RegistrationConfirmation,
        PvcSetup,
    )
}
_ACKNOWLEDGEMENTS: dict[int, tuple[type[X25], type[X25]]] = {
    RECEIVE_READY: (RR, RR128),
    RECEIVE_NOT_READY: (RNR, RNR128),
    REJECT: (REJ, REJ128),
}
PACKETS: tuple[type[X25], ...] = (
    *_BY_OCTET_3.values(),
    Data,
    Data128,
    *(packet for pair in _ACKNOWLEDGEMENTS.values() for packet in pair),
    Undefined,
)


def packet_type(octets: bytes) -> int | None:
    """Octet 3 of a packet, None where there is none."""
    return octets[2] if len(octets) > 2 else None


def packet_class(octets: bytes) -> type[X25]:
    """The class for the octets of an X.25 packet (X.25 table 5-2)."""
    if len(octets) < 3:
        return Undefined
    modulo, octet_3 = octets[0] >> 4 & 3, octets[2]
    if modulo not in (MODULO_8, MODULO_128):
        return Undefined
    if octet_3 & 1 == 0:
        return Data if modulo == MODULO_8 else Data128
    code = octet_3 & 0x1F if modulo == MODULO_8 else octet_3
    if code in _ACKNOWLEDGEMENTS:
        return _ACKNOWLEDGEMENTS[code][0 if modulo == MODULO_8 else 1]
    return _BY_OCTET_3.get(octet_3, Undefined)


def cut(packet: Packet, n: int) -> Packet:
    """The first n octets of a packet (negative n: without the last -n octets), as a packet.

    An X.25 packet cut becomes what the octets left stand for; others keep their class.
    """
    octets = bytes(packet)[:n]
    if not octets:
        return conf.raw_layer(load=b"")
    return X25(octets) if isinstance(packet, X25) else type(packet)(octets)

# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information
# mypy: disallow-subclassing-any=False

# scapy.contrib.description = LAPB, the data link layer of X.25 (modulo 8 and 128)
# scapy.contrib.status = loads

"""LAPB frames without FCS (X.25 2.3, 2.4).

    octet 1   address: A 0x03, B 0x01 (multilink C 0x0F, D 0x07)
    octet 2   control; modulo 128: I and S frames have a second control octet
Commands to the DTE and responses from the DTE carry A, commands to the DCE and responses from the
DCE carry B. LAPB(octets) dissects modulo 8, LAPB128(octets) modulo 128; both give the class that
fits. type is the control octet without N(S), N(R) and P/F: I 0x00, RR 0x01, RNR 0x05, REJ 0x09,
SABM 0x2F, SABME 0x6F, DISC 0x43, UA 0x63, DM 0x0F, FRMR 0x87.
"""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.config import conf
from scapy.fields import Field
from scapy.packet import Packet

from .fields import OptionalBits, OptionalInteger, is_cut, is_sent, number
from .x25 import X25

ADDRESS_A = 0x03
ADDRESS_B = 0x01
ADDRESS_C = 0x0F
ADDRESS_D = 0x07

_P_F = 0x10  # the P/F bit in a control octet modulo 8


class UnnumberedControl(Field):
    """type or p_f of a U frame: P/F is bit 5, in the middle of the control octet.

    type comes first in fields_desc and leaves the octet to p_f.
    """

    structural = True

    def __init__(self, name: str, default: int) -> None:
        super().__init__(name, default, "B")

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, int | None]:
        if not s or is_cut(pkt, self.name):
            return s, None
        return (s, s[0] & ~_P_F) if self.name == "type" else (s[1:], s[0] >> 4 & 1)

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        if self.name == "type" or not is_sent(pkt, "type"):
            return s
        code = number(pkt.get_field("type"), pkt.getfieldval("type") or 0, 8)
        octet: int = code | number(self, val or 0, 1) << 4
        return s + octet.to_bytes(1, "big")


def _address() -> OptionalInteger:
    return OptionalInteger("address", ADDRESS_A)


def _unnumbered(code: int) -> list[Any]:
    return [_address(), UnnumberedControl("type", code), UnnumberedControl("p_f", 0)]


def _supervisory(code: int) -> list[Any]:
    group = ("n_r", "p_f", "type")
    return [
        _address(),
        OptionalBits("n_r", 0, 3, group),
        OptionalBits("p_f", 0, 1, group),
        OptionalBits("type", code, 4, group),
    ]


def _supervisory_128(code: int) -> list[Any]:
    group = ("n_r", "p_f")
    return [
        _address(),
        OptionalInteger("type", code),
        OptionalBits("n_r", 0, 7, group),
        OptionalBits("p_f", 0, 1, group),
    ]


def _reasons() -> list[Any]:
    """Last octet of the FRMR field: bit 4 Z (invalid N(R)), 3 Y (too long), 2 X (information not
    permitted), 1 W (undefined control)."""
    group = ("reserved_reason", "z", "y", "x", "w")
    return [
        OptionalBits("reserved_reason", 0, 4, group),
        *(OptionalBits(name, 0, 1, group) for name in group[1:]),
    ]


class LAPB(Packet):
    """Any LAPB frame, modulo 8: address and control."""

    name = "LAPB"
    fields_desc: ClassVar[list[Any]] = [_address(), OptionalInteger("control", None)]

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_args: Any, **_kargs: Any) -> type[Packet]:
        return frame_class(bytes(_pkt)) if _pkt else cls

    def mysummary(self) -> str:
        given = [
            f"{label}={self.fields[name]}"
            for name, label in (("n_s", "N(S)"), ("n_r", "N(R)"), ("p_f", "P/F"))
            if self.fields.get(name) is not None
        ]
        return " ".join([str(self.name), *given])


class LAPB128(LAPB):
    """Any LAPB frame, modulo 128."""

    name = "LAPB (modulo 128)"

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_args: Any, **_kargs: Any) -> type[Packet]:
        return frame_class(bytes(_pkt), extended=True) if _pkt else cls


class LapbI(LAPB):
    """I, modulo 8: control is N(R) (bits 8-6), P (5), N(S) (4-2), 0; then an X.25 packet."""

    name = "LAPB I"
    fields_desc: ClassVar[list[Any]] = [
        _address(),
        OptionalBits("n_r", 0, 3, ("n_r", "p_f", "n_s", "type")),
        OptionalBits("p_f", 0, 1, ("n_r", "p_f", "n_s", "type")),
        OptionalBits("n_s", 0, 3, ("n_r", "p_f", "n_s", "type")),
        OptionalBits("type", 0, 1, ("n_r", "p_f", "n_s", "type")),
    ]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return X25


class LapbI128(LAPB):
    """I, modulo 128: control N(S) (bits 8-2), 0; N(R) (8-2), P; then an X.25 packet."""

    name = "LAPB I (modulo 128)"
    fields_desc: ClassVar[list[Any]] = [
        _address(),
        OptionalBits("n_s", 0, 7, ("n_s", "type")),
        OptionalBits("type", 0, 1, ("n_s", "type")),
        OptionalBits("n_r", 0, 7, ("n_r", "p_f")),
        OptionalBits("p_f", 0, 1, ("n_r", "p_f")),
    ]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        # A frame that ends inside its control field carries no packet.
        return conf.raw_layer if self.fields.get("n_r") is None else X25


class LapbRR(LAPB):
    """Receive ready, modulo 8: N(R) (bits 8-6), P/F (5), 0001."""

    name = "LAPB RR"
    fields_desc = _supervisory(0x01)


class LapbRNR(LAPB):
    """Receive not ready, modulo 8: N(R) (bits 8-6), P/F (5), 0101."""

    name = "LAPB RNR"
    fields_desc = _supervisory(0x05)


class LapbREJ(LAPB):
    """Reject, modulo 8: N(R) (bits 8-6), P/F (5), 1001."""

    name = "LAPB REJ"
    fields_desc = _supervisory(0x09)


class LapbRR128(LAPB):
    """Receive ready, modulo 128: 0x01, then N(R) (bits 8-2), P/F."""

    name = "LAPB RR (modulo 128)"
    fields_desc = _supervisory_128(0x01)


class LapbRNR128(LAPB):
    """Receive not ready, modulo 128: 0x05, then N(R) (bits 8-2), P/F."""

    name = "LAPB RNR (modulo 128)"
    fields_desc = _supervisory_128(0x05)


class LapbREJ128(LAPB):
    """Reject, modulo 128: 0x09, then N(R) (bits 8-2), P/F."""

    name = "LAPB REJ (modulo 128)"
    fields_desc = _supervisory_128(0x09)


class LapbSABM(LAPB):
    """Set asynchronous balanced mode (command): 0x2F."""

    name = "LAPB SABM"
    fields_desc = _unnumbered(0x2F)


class LapbSABME(LAPB):
    """Set asynchronous balanced mode extended, modulo 128 (command): 0x6F."""

    name = "LAPB SABME"
    fields_desc = _unnumbered(0x6F)


class LapbDISC(LAPB):
    """Disconnect (command): 0x43."""

    name = "LAPB DISC"
    fields_desc = _unnumbered(0x43)


class LapbUA(LAPB):
    """Unnumbered acknowledgement (response): 0x63."""

    name = "LAPB UA"
    fields_desc = _unnumbered(0x63)


class LapbDM(LAPB):
    """Disconnected mode (response): 0x0F."""

    name = "LAPB DM"
    fields_desc = _unnumbered(0x0F)


class LapbFRMR(LAPB):
    """Frame reject (response), modulo 8: 0x87, then rejected control octet; V(R) (bits 8-6), C/R
    (5; 1: a response was rejected), V(S) (4-2), 0; W X Y Z (see _reasons)."""

    name = "LAPB FRMR"
    fields_desc: ClassVar[list[Any]] = [
        *_unnumbered(0x87),
        OptionalInteger("rejected_control", 0),
        OptionalBits("v_r", 0, 3, ("v_r", "c_r", "v_s", "reserved")),
        OptionalBits("c_r", 0, 1, ("v_r", "c_r", "v_s", "reserved")),
        OptionalBits("v_s", 0, 3, ("v_r", "c_r", "v_s", "reserved")),
        OptionalBits("reserved", 0, 1, ("v_r", "c_r", "v_s", "reserved")),
        *_reasons(),
    ]


class LapbFRMR128(LAPB):
    """Frame reject (response), modulo 128: 0x87, then two rejected control octets (the second zero
    for a U frame); V(S) (bits 8-2), 0; V(R) (8-2), C/R; W X Y Z."""

    name = "LAPB FRMR (modulo 128)"
    fields_desc: ClassVar[list[Any]] = [
        *_unnumbered(0x87),
        OptionalInteger("rejected_control", 0, 2),
        OptionalBits("v_s", 0, 7, ("v_s", "reserved")),
        OptionalBits("reserved", 0, 1, ("v_s", "reserved")),
        OptionalBits("v_r", 0, 7, ("v_r", "c_r")),
        OptionalBits("c_r", 0, 1, ("v_r", "c_r")),
        *_reasons(),
    ]


class LapbUndefined(LAPB):
    """A control octet that LAPB does not define, or a frame of fewer than two octets."""

    name = "LAPB undefined frame"
    fields_desc = _unnumbered(0xEF)


_SUPERVISORY: dict[int, tuple[type[LAPB], type[LAPB]]] = {
    0x01: (LapbRR, LapbRR128),
    0x05: (LapbRNR, LapbRNR128),
    0x09: (LapbREJ, LapbREJ128),
}
_UNNUMBERED: dict[int, tuple[type[LAPB], type[LAPB]]] = {
    0x2F: (LapbSABM, LapbSABM),
    0x6F: (LapbSABME, LapbSABME),
    0x43: (LapbDISC, LapbDISC),
    0x63: (LapbUA, LapbUA),
    0x0F: (LapbDM, LapbDM),
    0x87: (LapbFRMR, LapbFRMR128),
}
FRAMES: tuple[type[LAPB], ...] = (
    LapbI,
    LapbI128,
    *(frame for pair in _SUPERVISORY.values() for frame in pair),
    *dict.fromkeys(frame for pair in _UNNUMBERED.values() for frame in pair),
    LapbUndefined,
)


def frame_class(octets: bytes, extended: bool = False) -> type[LAPB]:
    """The class for the octets of a frame without FCS; extended: modulo 128."""
    if len(octets) < 2:
        return LapbUndefined
    control = octets[1]
    which = 1 if extended else 0
    if control & 1 == 0:
        return (LapbI, LapbI128)[which]
    if control & 3 == 1:
        found = _SUPERVISORY.get(control if extended else control & 0x0F)
    else:
        found = _UNNUMBERED.get(control & ~_P_F)
    return found[which] if found else LapbUndefined


def is_command(address: int, from_dce: bool) -> bool:
    """True if a frame with this address, sent by the DCE or by the DTE, is a command (2.4.2).

    ValueError if the address is none of A, B, C and D.
    """
    if address not in (ADDRESS_A, ADDRESS_B, ADDRESS_C, ADDRESS_D):
        raise ValueError(f"address {address:#04x} is none of A 03, B 01, C 0f, D 07")
    return (address in (ADDRESS_A, ADDRESS_C)) == from_dce

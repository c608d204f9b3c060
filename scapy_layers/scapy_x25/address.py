# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information
# mypy: disallow-subclassing-any=False

# scapy.contrib.description = X.25 address block
# scapy.contrib.status = library

"""The address block of X.25 packets (X.25 5.2.1).

A bit (bit 8 of octet 1, field q) 0:
    octet 1   bits 8-5 calling address length, bits 4-1 called address length (digits)
    octet 2.. called digits, then calling digits, one per half-octet, high half first; an odd
              total is filled with one half-octet 0
A bit 1 (TOA/NPI format):
    octet 1   called address length, octet 2 calling address length, in half-octets
    octet 3.. called, then calling; each: type of address, numbering plan, digits
called_type, called_plan, calling_type and calling_plan exist in the second format only; where
an address is given without them they are 1 (international) and 3 (X.121).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scapy.fields import Field
from scapy.packet import Packet

from .fields import Digits, Filler, HalfOctet, check_digits, is_cut, is_sent, number

INTERNATIONAL = 1
X121 = 3
_ASSUMED = {"type": INTERNATIONAL, "plan": X121}


def has_type_and_plan(pkt: Packet) -> bool:
    """True if the A bit chooses the TOA/NPI format."""
    return bool(pkt.getfieldval("q") == 1)


def _sent_half_octet(side: str, part: str) -> Callable[[Packet], int | None]:
    name = f"{side}_{part}"

    def sent(pkt: Packet) -> int | None:
        if not has_type_and_plan(pkt):
            return None
        if name in pkt.fields:
            value: int | None = pkt.fields[name]
            return value
        return _ASSUMED[part] if pkt.getfieldval(f"{side}_address") else None

    return sent


def _half_octets(pkt: Packet, side: str) -> int:
    """Half-octets that one address takes when built."""
    name = f"{side}_address"
    digits = check_digits(name, pkt.getfieldval(name) or "")
    parts = [_sent_half_octet(side, part)(pkt) for part in ("type", "plan")]
    return len(digits) + sum(part is not None for part in parts)


def _fits(pkt: Packet, left: int) -> bool:
    """True if both addresses, as far as they are not dissected yet, are in the half-octets left."""
    called, calling = (pkt.fields.get(f"{side}_address_length") for side in ("called", "calling"))
    if called is None or calling is None:
        return False
    needed: int = called + calling
    for side in ("called", "calling"):
        needed -= len(pkt.fields.get(f"{side}_address") or "")
        needed -= sum(pkt.fields.get(f"{side}_{part}") is not None for part in ("type", "plan"))
    return needed <= left


def _wanted_half_octet(side: str, least: int) -> Callable[[Packet, int], bool]:
    def wanted(pkt: Packet, left: int) -> bool:
        return (
            has_type_and_plan(pkt)
            and _fits(pkt, left)
            and bool(pkt.fields[f"{side}_address_length"] >= least)
        )

    return wanted


def _digits_announced(side: str) -> Callable[[Packet, int], int | None]:
    def announced(pkt: Packet, left: int) -> int | None:
        if not _fits(pkt, left):
            return None
        length = pkt.fields[f"{side}_address_length"]
        return max(0, length - 2) if has_type_and_plan(pkt) else int(length)

    return announced


class AddressLength(Field):
    """One of the two address lengths; which octet or half-octet, the A bit says."""

    __slots__ = ["always", "side"]
    structural = True

    def __init__(self, side: str, always: bool) -> None:
        super().__init__(f"{side}_address_length", None, "B")
        self.side = side
        self.always = always

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, int | None]:
        needed = 2 if has_type_and_plan(pkt) and self.side == "called" else 1
        if len(s) < needed or is_cut(pkt, self.name):
            return s, None
        if has_type_and_plan(pkt):
            return s[1:], s[0]
        # Both lengths share an octet; the called one comes first in fields_desc and leaves it.
        return (s, s[0] & 0x0F) if self.side == "called" else (s[1:], s[0] >> 4)

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        one_octet = not has_type_and_plan(pkt)
        if not is_sent(pkt, "called_address_length" if one_octet else self.name):
            return s
        if not one_octet:
            return s + self.octet(pkt, val, 8).to_bytes(1, "big")
        if self.side == "called":
            return s
        called = pkt.get_field("called_address_length")
        low = called.octet(pkt, pkt.getfieldval(called.name), 4)
        octet: int = self.octet(pkt, val, 4) << 4 | low
        return s + octet.to_bytes(1, "big")

    def octet(self, pkt: Packet, value: Any, bits: int) -> int:
        """The length to send: as given, or counted."""
        return number(self, _half_octets(pkt, self.side) if value is None else value, bits)


def address_fields(always: bool) -> list[Field]:
    """The fields of an address block; always: it is present even if nothing demands it."""
    fields: list[Field] = [AddressLength("called", always), AddressLength("calling", always)]
    for side in ("called", "calling"):
        for least, part in enumerate(("type", "plan"), start=1):
            wanted = _wanted_half_octet(side, least)
            fields.append(HalfOctet(f"{side}_{part}", wanted, _sent_half_octet(side, part)))
        fields.append(Digits(f"{side}_address", _digits_announced(side)))
    return [*fields, Filler("filler")]

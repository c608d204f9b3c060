# SPDX-License-Identifier: GPL-2.0-or-later
"""The address block of call set-up and clearing packets (X.25 5.2.1).

A bit 0: one octet with the two lengths (calling in bits 8-5, called in bits 4-1), then the called
digits and the calling digits, one per half-octet without a gap; a sum that is odd is filled by 0.
A bit 1: one octet per length (called, calling); each address starts with its type of address and
numbering plan, a half-octet each, and both count.
"""

from typing import NamedTuple

from .codes import Diag, PacketError

#: Longest address in half-octets: X.121 digits, and with type and plan in front (X.25 5.2.1).
LONGEST_PLAIN = 15
LONGEST_TOA = 17


class Addresses(NamedTuple):
    """Called and calling address as half-octets in hexadecimal, lower case."""

    called: str
    calling: str
    a_bit: bool = False

    @property
    def called_digits(self) -> str:
        """The digits that routes look at: without type and plan."""
        return self.called[2:] if self.a_bit else self.called

    @property
    def calling_digits(self) -> str:
        return self.calling[2:] if self.a_bit else self.calling


NO_ADDRESSES = Addresses("", "")


def parse(octets: bytes, at: int, a_bit: bool) -> tuple[Addresses, int]:
    """Read the address block at `at`; return it and the index behind it.

    Raises PacketError 38 if the block runs past the end of the packet.
    """
    lengths = 2 if a_bit else 1
    if len(octets) < at + lengths:
        raise PacketError(Diag.TOO_SHORT)
    if a_bit:
        called_length, calling_length = octets[at], octets[at + 1]
    else:
        called_length, calling_length = octets[at] & 0x0F, octets[at] >> 4
    start = at + lengths
    total = called_length + calling_length
    end = start + (total + 1) // 2
    if len(octets) < end:
        raise PacketError(Diag.TOO_SHORT)
    digits = octets[start:end].hex()
    return Addresses(digits[:called_length], digits[called_length:total], a_bit), end


def check(addresses: Addresses) -> None:
    """Raise PacketError 67 or 68 for a digit above 9 or an impossible length."""
    longest = LONGEST_TOA if addresses.a_bit else LONGEST_PLAIN
    for address, digits, diagnostic in (
        (addresses.called, addresses.called_digits, Diag.CALLED_ADDRESS),
        (addresses.calling, addresses.calling_digits, Diag.CALLING_ADDRESS),
    ):
        if len(address) > longest or not is_decimal(digits):
            raise PacketError(diagnostic)
        if addresses.a_bit and len(address) == 1:
            raise PacketError(diagnostic)


def is_decimal(digits: str) -> bool:
    """True if each half-octet is 0 to 9 (also for no digits at all)."""
    return not digits or digits.isdecimal()


def encode(addresses: Addresses) -> bytes:
    """The address block with its length octets and filler."""
    called, calling = addresses.called, addresses.calling
    digits = called + calling
    if len(digits) % 2:
        digits += "0"
    if addresses.a_bit:
        lengths = bytes((len(called), len(calling)))
    else:
        lengths = bytes((len(calling) << 4 | len(called),))
    return lengths + bytes.fromhex(digits)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets as octets (X.25 clause 5). Written from the standard for this router alone.

Octet 1: bit 8 Q or A, bit 7 D, bits 6-5 modulo (01 = 8, 10 = 128), bits 4-1 logical channel group;
octet 2: logical channel number; octet 3: packet type identifier.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from . import addresses
from .addresses import NO_ADDRESSES, Addresses
from .codes import DEFINED_TYPES, LOCAL_TYPES, Diag, PacketError, Type
from .facilities import LONGEST, Facilities

Q_BIT = 0x80
D_BIT = 0x40
MODULO_8 = 0x10
MODULO_128 = 0x20

#: X.25 5.2.2 and 6.16: octets of user data in call set-up and clearing.
USER_DATA_LONGEST = 16
FAST_SELECT_LONGEST = 128
#: X.25 5.3.2: octets of user data of an Interrupt.
INTERRUPT_LONGEST = 32

#: Packet types by what the counters call them, and what stands for the others.
TYPE_NAMES = {value: name for name, value in vars(Type).items() if isinstance(value, int)}
SHORT, UNDEFINED = "SHORT", "UNDEFINED"


def header(modulo: int, lcn: int, packet_type: int, bits: int = 0) -> bytes:
    """The three octets that every packet starts with; bits: Q or A, and D, of octet 1."""
    gfi = bits | (MODULO_128 if modulo == 128 else MODULO_8)
    return bytes((gfi | lcn >> 8, lcn & 0xFF, packet_type))


def modulo_of(octets: bytes) -> int:
    """8 or 128, or 0 if bits 6-5 are neither 01 nor 10 (X.25 5.1.1)."""
    bits = octets[0] & 0x30
    return 8 if bits == MODULO_8 else 128 if bits == MODULO_128 else 0


def lcn_of(octets: bytes) -> int:
    """Logical channel group and number as one number of twelve bits."""
    return (octets[0] & 0x0F) << 8 | octets[1]


def type_of(octets: bytes, modulo: int) -> int:
    """Packet type without sequence numbers; -1 if X.25 does not define it (X.25 Table 5-2)."""
    octet = octets[2]
    if not octet & 1:
        return Type.DATA
    flow = octet & 0x1F if modulo == 8 else octet
    if flow in (Type.RR, Type.RNR, Type.REJ):
        return flow
    return octet if octet in DEFINED_TYPES or octet in LOCAL_TYPES else -1


def kind_of(octets: bytes) -> str:
    """Name of a packet type, for the counters."""
    if len(octets) < 3:
        return SHORT
    return TYPE_NAMES.get(type_of(octets, modulo_of(octets) or 8), UNDEFINED)


def gfi_is_valid(octets: bytes, packet_type: int, modulo: int) -> bool:
    """X.25 5.1.1: which of bits 8 and 7 a packet type may set, and the modulo of the circuit."""
    if not modulo or modulo_of(octets) != modulo:
        return False
    bits = octets[0] & (Q_BIT | D_BIT)
    if packet_type in (Type.DATA, Type.CALL, Type.ACCEPT, -1):
        return True
    if packet_type in (Type.CLEAR, Type.CLEAR_CONFIRMATION):
        return not bits & D_BIT
    return not bits


class Data(NamedTuple):
    """A Data packet (X.25 5.3.1)."""

    p_s: int
    p_r: int
    q: bool
    d: bool
    m: bool
    user_data: bytes


def parse_data(octets: bytes, modulo: int) -> Data:
    """Read a Data packet. Raises PacketError 38 if the header is not complete."""
    first = octets[0]
    q, d = first & Q_BIT != 0, first & D_BIT != 0
    third = octets[2]
    if modulo == 8:
        return Data(third >> 1 & 7, third >> 5, q, d, third & 0x10 != 0, octets[3:])
    if len(octets) < 4:
        raise PacketError(Diag.TOO_SHORT)
    fourth = octets[3]
    return Data(third >> 1, fourth >> 1, q, d, fourth & 1 != 0, octets[4:])


def encode_data(modulo: int, lcn: int, data: Data) -> bytes:
    """A Data packet; modulo 8: P(R) M P(S) in octet 3; modulo 128: P(S), then P(R) M in octet 4."""
    first = (data.q << 7 | data.d << 6) | lcn >> 8
    if modulo == 8:
        third = data.p_r << 5 | data.m << 4 | data.p_s << 1
        return bytes((first | MODULO_8, lcn & 0xFF, third)) + data.user_data
    numbers = (data.p_s << 1, data.p_r << 1 | data.m)
    return bytes((first | MODULO_128, lcn & 0xFF, *numbers)) + data.user_data


def parse_flow(octets: bytes, modulo: int) -> int:
    """P(R) of RR or RNR. Raises PacketError 38 or 39 for another length than the format's."""
    length = 3 if modulo == 8 else 4
    if len(octets) < length:
        raise PacketError(Diag.TOO_SHORT)
    if len(octets) > length:
        raise PacketError(Diag.TOO_LONG)
    return octets[2] >> 5 if modulo == 8 else octets[3] >> 1


def encode_flow(modulo: int, lcn: int, packet_type: int, p_r: int) -> bytes:
    """RR or RNR (X.25 5.4.1)."""
    if modulo == 8:
        return header(modulo, lcn, packet_type | p_r << 5)
    return header(modulo, lcn, packet_type) + bytes((p_r << 1,))


@dataclass
class Call:
    """Call Request, and with fewer fields Call Accepted (X.25 5.2.2, 5.2.3)."""

    modulo: int
    lcn: int
    d: bool = False
    addresses: Addresses = NO_ADDRESSES
    facilities: Facilities = field(default_factory=Facilities)
    user_data: bytes = b""
    #: The packet as received.
    octets: bytes = b""


def parse_facility_field(octets: bytes, at: int) -> tuple[Facilities, int]:
    """The facility length at `at` and its field; returns the index behind.

    Raises PacketError 69 if the length is above 109 or runs past the end of the packet.
    """
    length = octets[at]
    end = at + 1 + length
    if length > LONGEST or end > len(octets):
        raise PacketError(Diag.FACILITY_LENGTH)
    return Facilities.parse(octets[at + 1 : end]), end


def parse_call(octets: bytes) -> Call:
    """Read a Call Request. Raises PacketError 38 or 69 if it ends inside a field."""
    if len(octets) < 5:
        raise PacketError(Diag.TOO_SHORT)
    parties, at = addresses.parse(octets, 3, octets[0] & Q_BIT != 0)
    if at >= len(octets):
        raise PacketError(Diag.TOO_SHORT)
    facilities, at = parse_facility_field(octets, at)
    d = octets[0] & D_BIT != 0
    return Call(modulo_of(octets), lcn_of(octets), d, parties, facilities, octets[at:], octets)


def parse_accept(octets: bytes) -> Call:
    """Read a Call Accepted: everything behind octet 3 may be missing (X.25 5.2.3)."""
    call = Call(modulo_of(octets), lcn_of(octets), octets[0] & D_BIT != 0, octets=octets)
    if len(octets) == 3:
        return call
    call.addresses, at = addresses.parse(octets, 3, octets[0] & Q_BIT != 0)
    if at < len(octets):
        call.facilities, at = parse_facility_field(octets, at)
        call.user_data = octets[at:]
    return call


def encode_call(packet_type: int, call: Call) -> bytes:
    """Call Request, or Call Accepted in its long form."""
    bits = call.d << 6 | call.addresses.a_bit << 7
    facilities = call.facilities.encode()
    return (
        header(call.modulo, call.lcn, packet_type, bits)
        + addresses.encode(call.addresses)
        + bytes((len(facilities),))
        + facilities
        + call.user_data
    )


@dataclass
class Clear:
    """Clear Request (X.25 5.2.4): cause, diagnostic and what the extended format adds."""

    cause: int
    diagnostic: int = 0
    #: True if octets follow the diagnostic.
    extended: bool = False
    addresses: Addresses = NO_ADDRESSES
    facilities: Facilities = field(default_factory=Facilities)
    user_data: bytes = b""
    #: True if the peer sent it; False if this router made it up because of an error of the peer.
    by_peer: bool = True


def parse_clear(octets: bytes) -> Clear:
    """Read a Clear Request. Raises PacketError 38 without a cause, 39 for octets it cannot have."""
    if len(octets) < 4:
        raise PacketError(Diag.TOO_SHORT)
    clear = Clear(octets[3])
    if len(octets) > 4:
        clear.diagnostic = octets[4]
    if len(octets) > 5:
        clear.extended = True
        try:
            clear.addresses, at = addresses.parse(octets, 5, octets[0] & Q_BIT != 0)
            if at < len(octets):
                clear.facilities, at = parse_facility_field(octets, at)
                clear.user_data = octets[at:]
        except PacketError as error:
            raise PacketError(Diag.TOO_LONG) from error
    return clear


def encode_clear(modulo: int, lcn: int, clear: Clear) -> bytes:
    """A Clear of five octets, or of the extended format."""
    bits = clear.addresses.a_bit << 7 if clear.extended else 0
    octets = header(modulo, lcn, Type.CLEAR, bits) + bytes((clear.cause, clear.diagnostic))
    if not clear.extended:
        return octets
    facilities = clear.facilities.encode()
    return (
        octets
        + addresses.encode(clear.addresses)
        + bytes((len(facilities),))
        + facilities
        + clear.user_data
    )


def parse_reset(octets: bytes) -> tuple[int, int]:
    """Cause and diagnostic of a Reset Request (X.25 5.4.3); the diagnostic may be missing."""
    if len(octets) < 4:
        raise PacketError(Diag.TOO_SHORT)
    if len(octets) > 5:
        raise PacketError(Diag.TOO_LONG)
    return octets[3], octets[4] if len(octets) == 5 else 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""As much of IP as an end needs that answers an echo (RFC 791, RFC 792, RFC 1122 3.2.2.6).

A datagram: header of IHL x 4 octets (version and IHL, TOS, total length 2, identification 2, flags
and fragment offset 2, TTL, protocol, checksum 2, source 4, destination 4, options), then its data.
ICMP: type, code, checksum 2, identifier 2, sequence number 2, data.
"""

HEADER = 20
ECHO_REPLY, ECHO = 0, 8
ICMP = 1
TTL = 64
MORE_FRAGMENTS, OFFSET = 0x2000, 0x1FFF


def checksum(octets: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    total = sum(octets[::2]) * 256 + sum(octets[1::2])
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo_reply(datagram: bytes, own: bytes) -> bytes | None:
    """The answer to an echo request for this address; None to anything else, or damaged."""
    header = (datagram[0] & 15) * 4 if datagram else 0
    if len(datagram) < HEADER or datagram[0] >> 4 != 4 or not HEADER <= header <= len(datagram):
        return None
    length = int.from_bytes(datagram[2:4], "big")
    fragment = int.from_bytes(datagram[6:8], "big") & (MORE_FRAGMENTS | OFFSET)
    if not header + 8 <= length <= len(datagram) or fragment or checksum(datagram[:header]):
        return None
    message = datagram[header:length]
    if datagram[9] != ICMP or datagram[16:20] != own or message[0] != ECHO or checksum(message):
        return None
    answer = bytes((ECHO_REPLY, 0, 0, 0)) + message[4:]
    answer = answer[:2] + checksum(answer).to_bytes(2, "big") + answer[4:]
    return datagram_of(own, datagram[12:16], answer, datagram[4:6], datagram[1])


def datagram_of(
    source: bytes, destination: bytes, data: bytes, identification: bytes, tos: int, where: int = 0
) -> bytes:
    """A datagram of ICMP; where: flags and fragment offset."""
    length = (HEADER + len(data)).to_bytes(2, "big")
    front = bytes((0x45, tos)) + length + identification + where.to_bytes(2, "big")
    header = front + bytes((TTL, ICMP, 0, 0)) + source + destination
    return header[:10] + checksum(header).to_bytes(2, "big") + header[12:] + data


def fragments(datagram: bytes, mtu: int) -> list[bytes]:
    """A datagram without options, in pieces of at most that many octets (RFC 791 3.2)."""
    if len(datagram) <= mtu:
        return [datagram]
    data, step = datagram[HEADER:], (mtu - HEADER) // 8 * 8
    found = []
    for at in range(0, len(data), step):
        more = MORE_FRAGMENTS if at + step < len(data) else 0
        piece = data[at : at + step]
        ends = datagram[12:16], datagram[16:20]
        found.append(datagram_of(*ends, piece, datagram[4:6], datagram[1], more | at // 8))
    return found

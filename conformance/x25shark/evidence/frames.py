# SPDX-License-Identifier: GPL-2.0-or-later
"""The TCP or UDP part of a captured frame: enough to know whose it is.

Link types: Ethernet (1, also the loopback interface), Linux cooked SLL (113) and SLL2 (276), raw
IP (101). IPv4 only, as links and profiles are.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from socket import inet_ntoa
from typing import NamedTuple

from ..links.carrier import End

LINK_ETHERNET, LINK_RAW, LINK_SLL, LINK_SLL2 = 1, 101, 113, 276
# Octets before the network header, and where the Ethertype stands.
_LINK = {LINK_ETHERNET: (14, 12), LINK_SLL: (16, 14), LINK_SLL2: (20, 0), LINK_RAW: (0, None)}
_IPV4 = 0x0800
FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
_TCP, _UDP = 6, 17


class Segment(NamedTuple):
    """A TCP segment or UDP datagram, or the place of a frame of a serial line.

    flags is -1 for UDP. payload: of UDP alone, for that of TCP is in the frame, from payload_at on.
    length: octets of the payload.
    """

    source: End
    destination: End
    flags: int
    sequence: int
    payload_at: int
    payload: bytes
    length: int = 0


@lru_cache(maxsize=1024)
def _end(address: bytes, port: int) -> End:
    """The same object for the same end: a case may have hundreds of thousands of frames."""
    return inet_ntoa(address), port


def segment(link_type: int, octets: bytes) -> Segment | None:
    """The segment in a frame, or None if it holds none (or only a fragment of one)."""
    if link_type not in _LINK:
        return None
    start, type_at = _LINK[link_type]
    try:
        if type_at is not None and struct.unpack_from("!H", octets, type_at)[0] != _IPV4:
            return None
        first, total, fragment, protocol = struct.unpack_from("!BxH2xHxB", octets, start)
        if first >> 4 != 4 or fragment & 0x3FFF:
            return None
        at = start + (first & 15) * 4
        end = start + total if total else len(octets)
        source, destination = octets[start + 12 : start + 16], octets[start + 16 : start + 20]
        source_port, destination_port = struct.unpack_from("!HH", octets, at)
        flags, sequence = -1, 0
        if protocol == _UDP:
            at += 8
        elif protocol == _TCP:
            sequence, offset, flags = struct.unpack_from("!4xI4xBB", octets, at)
            at += (offset >> 4) * 4
        else:
            return None
        ends = _end(bytes(source), source_port), _end(bytes(destination), destination_port)
    except (struct.error, OSError):
        return None
    return Segment(
        *ends,
        flags,
        sequence,
        at,
        octets[at:end] if flags < 0 else b"",
        max(min(end, len(octets)) - at, 0),
    )


def trimmed(link_type: int, octets: bytes, count: int) -> bytes:
    """A frame with a TCP segment as if the segment began that many octets later."""
    start = _LINK[link_type][0]
    tcp = start + (octets[start] & 15) * 4
    at = tcp + (octets[tcp + 12] >> 4) * 4
    whole = bytearray(octets[:at] + octets[at + count :])
    total = struct.unpack_from("!H", whole, start + 2)[0]
    sequence = struct.unpack_from("!I", whole, tcp + 4)[0]
    # 0: the network interface cuts the segment, and fills the length in.
    struct.pack_into("!H", whole, start + 2, max(0, total - count))
    struct.pack_into("!I", whole, tcp + 4, (sequence + count) % (1 << 32))
    return bytes(whole)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Small captures of XOT connections, written octet by octet, for the gaps and the tests.

Time, addresses and sequence numbers are fixed, so that the same call gives the same file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

A, B = 0, 1
ROUTER_PORT = 1998
LINK_ETHERNET, LINK_LAPB = 1, 207

FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10


def unit(packet: bytes | str, version: int = 0, length: int | None = None) -> bytes:
    """One XOT unit (RFC 1613 4.1): version (2 octets), length (2), packet (as hexadecimal)."""
    octets = bytes.fromhex(packet) if isinstance(packet, str) else packet
    return struct.pack(">HH", version, len(octets) if length is None else length) + octets


def _checksum(octets: bytes) -> int:
    if len(octets) % 2:
        octets += b"\0"
    total: int = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass
class Connection:
    """One TCP connection: end A connects to port 1998 of end B. Frames gather in `frames`."""

    addresses: tuple[str, str] = ("127.0.25.2", "127.0.25.1")
    ports: tuple[int, int] = (40000, ROUTER_PORT)
    frames: list[bytes] = field(default_factory=list)
    sequence: list[int] = field(default_factory=lambda: [0x1000, 0x5000])

    def segment(self, end: int, flags: int, payload: bytes = b"") -> None:
        """Append one TCP segment that `end` sends."""
        other = 1 - end
        source, target = (bytes(map(int, self.addresses[e].split("."))) for e in (end, other))
        tcp = struct.pack(
            ">HHIIBBHHH",
            self.ports[end],
            self.ports[other],
            self.sequence[end] & 0xFFFFFFFF,
            self.sequence[other] & 0xFFFFFFFF if flags & ACK else 0,
            5 << 4,
            flags,
            0xFFFF,
            0,
            0,
        )
        pseudo = source + target + struct.pack(">BBH", 0, 6, len(tcp) + len(payload))
        tcp = tcp[:16] + struct.pack(">H", _checksum(pseudo + tcp + payload)) + tcp[18:] + payload
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0) + source + target
        ip = ip[:10] + struct.pack(">H", _checksum(ip)) + ip[12:]
        ethernet = b"\2\0\0\0\0\2" + b"\2\0\0\0\0\1" + b"\x08\x00"
        self.frames.append(ethernet + ip + tcp)
        self.sequence[end] += len(payload) + (1 if flags & (SYN | FIN) else 0)

    def open(self) -> Connection:
        """The three-way handshake."""
        self.segment(A, SYN)
        self.segment(B, SYN | ACK)
        self.segment(A, ACK)
        return self

    def send(self, end: int, payload: bytes) -> Connection:
        """Octets in one segment."""
        self.segment(end, PSH | ACK, payload)
        return self

    def close(self) -> Connection:
        """FIN from both ends."""
        self.segment(A, FIN | ACK)
        self.segment(B, FIN | ACK)
        self.segment(A, ACK)
        return self


def connection(exchange: Iterable[tuple[int, bytes]]) -> list[bytes]:
    """Frames of a whole connection: handshake, one segment for each (end, octets), FINs."""
    made = Connection().open()
    for end, payload in exchange:
        made.send(end, payload)
    return made.close().frames


def _block(kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def pcapng(
    frames: Sequence[bytes], link: int = LINK_ETHERNET, flags: Sequence[int] | None = None
) -> bytes:
    """A pcapng file: section header, one interface, one enhanced packet block a frame.

    flags: the epb_flags option of each frame (1 inbound, 2 outbound).
    """
    parts = [
        _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        _block(1, struct.pack("<HHI", link, 0, 0)),
    ]
    for number, frame in enumerate(frames):
        time = 1_700_000_000_000_000 + 1000 * number
        padded = frame + b"\0" * (-len(frame) % 4)
        options = b"" if flags is None else struct.pack("<HHIHH", 2, 4, flags[number], 0, 0)
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame))
        parts.append(_block(6, head + padded + options))
    return b"".join(parts)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures for the tests of the Wireshark side, by name; none is kept as a file."""

from __future__ import annotations

import struct

import crc32c
from capture_builder import ACK, FIN, PSH, RST, SYN, A, B, Connection, connection, pcapng, unit

__all__ = ["ACK", "CALL", "CAPTURES", "FIN", "PSH", "RST", "SYN", "A", "B", "Connection", "unit"]
__all__ += ["connection", "pcapng", "record"]

# Called 12345, calling 98765, packet size 128/128, window 2/2.
CALL = unit("10010b5512345987650642070743020200"[:-2])
CALL_128 = unit("20010b5512345987650642070743021010"[:-4] + "1010")
ACCEPT = unit("10010f")
ACCEPT_128 = unit("20010f")


def record(run: int, call: int, sequence: int, direction: int, filler: bytes) -> bytes:
    """A test record with a right CRC-32C."""
    size = (24 + len(filler)).to_bytes(3, "big")
    head = b"X25T" + struct.pack(">IIIB", run, call, sequence, direction) + size
    crc = crc32c.crc32c(head + b"\0\0\0\0" + filler)
    return head + crc.to_bytes(4, "big") + filler


def _data(p_s: int, p_r: int, more: int, octets: bytes) -> bytes:
    return unit(b"\x10\x01" + bytes([p_r << 5 | more << 4 | p_s << 1]) + octets)


def _records() -> list[bytes]:
    """A record in three segments of the M-bit chain, one in a single packet, one damaged."""
    long = record(7, 9, 1, 0, bytes(range(200)) + b"\xaa" * 80)
    short = record(7, 9, 2, 1, b"hello")
    damaged = bytearray(record(7, 9, 3, 0, b"to be damaged"))
    damaged[-1] ^= 0x40
    return connection(
        [
            (A, CALL),
            (B, ACCEPT),
            (A, _data(0, 0, 1, long[:128]) + _data(1, 0, 1, long[128:256])),
            (B, unit("100141")),
            (A, _data(2, 0, 0, long[256:])),
            (B, _data(0, 3, 0, short)),
            (A, _data(3, 1, 0, bytes(damaged))),
        ]
    )


def short_record(run: int, call: int, sequence: int, direction: int, filler: bytes) -> bytes:
    """A test record of less than 24 octets with a right CRC-32C."""
    head = bytes([0xA0 | direction << 3 | len(filler)]) + sequence.to_bytes(3, "big")
    head += struct.pack(">II", run, call)
    crc = crc32c.crc32c(head + b"\0\0\0\0" + filler)
    return head + crc.to_bytes(4, "big") + filler


def _short_records() -> list[bytes]:
    """One of 16 octets, one of 23; one with an octet changed, and what only begins like one."""
    least = short_record(7, 9, 1, 0, b"")
    most = short_record(7, 9, 0xFFFFFF, 1, b"filler.")
    strange = b"\xa0 and ten octets more"
    return connection(
        [
            (A, CALL),
            (B, ACCEPT),
            (A, _data(0, 0, 0, least)),
            (B, _data(0, 1, 0, most)),
            (A, _data(1, 1, 0, least[:15] + bytes([least[15] ^ 1]))),
            (A, _data(2, 1, 0, strange)),
        ]
    )


def _split(units: bytes, *sizes: int) -> list[bytes]:
    parts, place = [], 0
    for size in sizes:
        parts.append(units[place : place + size])
        place += size
    return [*parts, units[place:]]


def _reused_ports() -> list[bytes]:
    """Two connections with the same addresses and ports, one after the other."""
    first = Connection().open()
    first.send(A, CALL).send(B, ACCEPT).send(A, _data(0, 0, 0, b"x")).close()
    second = Connection(frames=first.frames)
    second.sequence = [0x90000, 0xA0000]
    second.open().send(A, CALL).send(B, ACCEPT).send(A, _data(0, 0, 0, b"y")).close()
    return second.frames


def _reset_in_the_middle() -> list[bytes]:
    made = Connection().open()
    made.send(A, CALL)
    made.send(B, ACCEPT)
    made.segment(B, RST | ACK)
    return made.frames


def _fin_ahead_of_its_data() -> list[bytes]:
    """The segment in front of the FIN was lost, and is sent again."""
    made = Connection().open()
    made.send(A, CALL).send(B, ACCEPT).send(B, _data(0, 0, 0, b"late")).close()
    lost = made.frames.pop(5)
    return [*made.frames, lost]


def _abandoned() -> list[bytes]:
    """The end that asks for a connection gives up before the answer comes."""
    made = Connection()
    made.segment(A, SYN)
    made.segment(B, SYN | ACK)
    made.segment(A, RST)
    return made.frames


def _many_layers(count: int) -> bytes:
    return b"".join(unit(b"\x10\x01" + bytes([i % 8 << 5 | 1])) for i in range(count))


CAPTURES: dict[str, bytes] = {
    "call": pcapng(connection([(A, CALL), (B, ACCEPT), (A, unit("1001130000"))])),
    "swapped fields": pcapng(connection([(B, unit("1001130502") + unit("10011b0305"))])),
    "four-octet clear first": pcapng(
        connection([(A, CALL), (B, unit("10011305") + unit("10010f") + unit("100141"))])
    ),
    "sixty layers": pcapng(connection([(A, CALL), (B, ACCEPT), (A, _many_layers(60))])),
    "header split after 1": pcapng(
        connection([(A, part) for part in _split(CALL, 1)] + [(B, ACCEPT)])
    ),
    "header split after 2": pcapng(
        connection([(A, part) for part in _split(CALL, 2)] + [(B, ACCEPT)])
    ),
    "header split after 3": pcapng(
        connection([(A, part) for part in _split(CALL, 3)] + [(B, ACCEPT)])
    ),
    "octet by octet": pcapng(
        connection([(A, bytes([octet])) for octet in CALL + unit("1001130000")])
    ),
    "modulo 128": pcapng(
        connection(
            [
                (A, CALL_128),
                (B, ACCEPT_128),
                (A, unit("20010000aa") + unit("20010200bb")),
                (B, unit("20010104") + unit("20010005cc")),
            ]
        )
    ),
    "bad headers": pcapng(
        connection([(A, unit("10010f", version=1) + unit("") + unit("10") + unit("1001"))])
    ),
    "incomplete last unit": pcapng(connection([(A, CALL + unit("100100aabb", length=40))])),
    "records": pcapng(_records()),
    "short records": pcapng(_short_records()),
    "reused ports": pcapng(_reused_ports()),
    "reset in the middle": pcapng(_reset_in_the_middle()),
    "fin ahead of its data": pcapng(_fin_ahead_of_its_data()),
    "abandoned": pcapng(_abandoned()),
    "xot inside user data": pcapng(
        connection([(A, CALL + unit("10010f")), (A, unit(b"\x10\x01\x00" + CALL))])
    ),
    "no connection": pcapng([]),
}

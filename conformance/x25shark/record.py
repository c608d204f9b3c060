# SPDX-License-Identifier: GPL-2.0-or-later
"""The test record: user data that never repeats and shows by itself whether it arrived whole.

Big endian, 24 octets and filler; the record is the user data of one complete packet sequence:
    octets 1-4    "X25T"
    octets 5-8    run         octets 9-12   call       octets 13-16  sequence
    octet  17     direction   0 = A to B, 1 = B to A
    octets 18-20  length of the whole record
    octets 21-24  CRC-32C of the whole record with these four octets zero
    octets 25..   filler
The filler is a stream of 64-bit words, little endian; word i (from 1) is mix(seed + i * STEP)
modulo 2^64, where mix is the finaliser of SplitMix64 and
seed = mix((run << 32 | call) xor mix((direction << 32 | sequence) + 1)).

The load engine has a shorter form for 16 to 23 octets: conformance/engine/src/record.rs.
"""

import struct
from dataclasses import dataclass
from typing import ClassVar

from crc32c import crc32c

MAGIC = b"X25T"
HEADER = struct.Struct(">4sIIIB3sI")
CRC_AT = HEADER.size - 4
LONGEST = 0xFFFFFF

_STEP = 0x9E3779B97F4A7C15
_MASK = 0xFFFFFFFFFFFFFFFF


def mix(z: int) -> int:
    """The finaliser of SplitMix64, on 64 bits."""
    z ^= z >> 30
    z = z * 0xBF58476D1CE4E5B9 & _MASK
    z ^= z >> 27
    z = z * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def filler(run: int, call: int, sequence: int, direction: int, octets: int) -> bytes:
    """The first so many filler octets of a record."""
    seed = mix((run << 32 | call) ^ mix((direction << 32 | sequence) + 1 & _MASK))
    words = (octets + 7) // 8
    stream = [mix(seed + i * _STEP & _MASK) for i in range(1, words + 1)]
    return struct.pack(f"<{words}Q", *stream)[:octets]


def crc_of(record: bytes) -> int:
    """CRC-32C of a record, its CRC field taken as zero."""
    crc = crc32c(record[:CRC_AT])
    return int(crc32c(record[HEADER.size :], crc32c(bytes(4), crc)))


@dataclass(frozen=True, slots=True)
class RecordProblem:
    """Why octets are not an intact test record: kind is short, magic, length, direction, crc or
    filler."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class TestRecord:
    """A test record: whose it is, and its length in octets."""

    __test__: ClassVar[bool] = False  # no test class, whatever its name says to pytest

    run: int
    call: int
    sequence: int
    direction: int
    length: int

    @classmethod
    def build(cls, run: int, call: int, sequence: int, direction: int, length: int) -> bytes:
        """The octets of a record. ValueError if a number does not fit its field."""
        for name, value in (("run", run), ("call", call), ("sequence", sequence)):
            if not 0 <= value < 1 << 32:
                raise ValueError(f"{name}: {value} does not fit into 32 bits")
        if direction not in (0, 1):
            raise ValueError(f"direction: {direction} is neither 0 (A to B) nor 1 (B to A)")
        if not HEADER.size <= length <= LONGEST:
            raise ValueError(f"length: {length} is not between {HEADER.size} and {LONGEST} octets")
        octets = length.to_bytes(3, "big")
        head = HEADER.pack(MAGIC, run, call, sequence, direction, octets, 0)
        record = head + filler(run, call, sequence, direction, length - HEADER.size)
        return record[:CRC_AT] + crc_of(record).to_bytes(4, "big") + record[HEADER.size :]

    @classmethod
    def check(cls, octets: bytes) -> "TestRecord | RecordProblem":
        """The record these octets are, or what is wrong with them. Never raises."""
        if len(octets) < HEADER.size:
            return RecordProblem(
                "short", f"{len(octets)} octets, a record has at least {HEADER.size}"
            )
        magic, run, call, sequence, direction, length_octets, crc = HEADER.unpack_from(octets)
        if magic != MAGIC:
            return RecordProblem("magic", f"begins with {magic.hex()}, not with {MAGIC.hex()}")
        length = int.from_bytes(length_octets, "big")
        if length != len(octets):
            return RecordProblem(
                "length", f"says {length} octets in a packet sequence of {len(octets)}"
            )
        if (found := crc_of(octets)) != crc:
            return RecordProblem("crc", f"CRC-32C is {found:08x}, the record says {crc:08x}")
        if direction > 1:
            return RecordProblem("direction", f"direction {direction} is neither 0 nor 1")
        if octets[HEADER.size :] != filler(run, call, sequence, direction, length - HEADER.size):
            return RecordProblem("filler", "the filler is not the one of this record")
        return cls(run, call, sequence, direction, length)

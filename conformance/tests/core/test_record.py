# SPDX-License-Identifier: GPL-2.0-or-later
"""Test record: layout, filler, and what check() says."""

import random
import zlib

import pytest
from x25shark.record import RecordProblem, TestRecord, crc_of, filler, mix


def reference_filler(run: int, call: int, sequence: int, direction: int, octets: int) -> bytes:
    """The filler by the words of the specification, octet by octet."""
    seed = mix((run << 32 | call) ^ mix(((direction << 32 | sequence) + 1) % 2**64))
    stream = bytearray()
    word = 0
    while len(stream) < octets:
        word += 1
        stream += mix((seed + word * 0x9E3779B97F4A7C15) % 2**64).to_bytes(8, "little")
    return bytes(stream[:octets])


def crc32c_bitwise(octets: bytes) -> int:
    register = 0xFFFFFFFF
    for octet in octets:
        register ^= octet
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def test_mix_is_the_finaliser_of_splitmix64() -> None:
    """SplitMix64 from seed 0 begins with these published values."""
    step = 0x9E3779B97F4A7C15
    assert mix(step) == 0xE220A8397B1DCDAF
    assert mix(2 * step % 2**64) == 0x6E789E6AA1B965F4


def test_crc_is_castagnoli() -> None:
    assert crc32c_bitwise(b"123456789") == 0xE3069283
    record = TestRecord.build(1, 2, 3, 0, 100)
    assert crc_of(record) == crc32c_bitwise(record[:20] + bytes(4) + record[24:])
    assert crc_of(record) != zlib.crc32(record[:20] + bytes(4) + record[24:])


def test_layout() -> None:
    record = TestRecord.build(0x01020304, 5, 0xFFFFFFFF, 1, 300)
    assert len(record) == 300
    assert record[:20].hex() == "58323554" + "01020304" + "00000005" + "ffffffff" + "01" + "00012c"
    assert record[20:24] == crc_of(record).to_bytes(4, "big")
    assert record[24:] == reference_filler(0x01020304, 5, 0xFFFFFFFF, 1, 276)


@pytest.mark.parametrize("length", [24, 25, 31, 32, 33, 128, 4096])
@pytest.mark.parametrize("direction", [0, 1])
def test_build_and_check(length: int, direction: int) -> None:
    record = TestRecord.build(9, 8, 7, direction, length)
    assert TestRecord.check(record) == TestRecord(9, 8, 7, direction, length)


def test_fillers_differ() -> None:
    keys = [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 0), (1, 0, 0, 0)]
    assert len({filler(*key, 64) for key in keys}) == len(keys)


def test_every_changed_octet_is_found() -> None:
    record = bytearray(TestRecord.build(1, 1, 1, 0, 128))
    for position in range(len(record)):
        record[position] ^= 0x10
        assert isinstance(TestRecord.check(bytes(record)), RecordProblem), position
        record[position] ^= 0x10
    assert isinstance(TestRecord.check(bytes(record)), TestRecord)


def with_crc(octets: bytes) -> bytes:
    return octets[:20] + crc_of(octets).to_bytes(4, "big") + octets[24:]


def test_kinds_of_problems() -> None:
    record = TestRecord.build(1, 1, 1, 0, 64)
    strange = with_crc(record[:16] + b"\2" + record[17:])
    other_filler = with_crc(record[:24] + record[25:] + record[24:25])
    cases = {
        b"": "short",
        record[:23]: "short",
        b"Y" + record[1:]: "magic",
        record[:-1]: "length",
        record + b"\0": "length",
        record[:30] + b"!" + record[31:]: "crc",
        strange: "direction",
        other_filler: "filler",
    }
    for octets, kind in cases.items():
        problem = TestRecord.check(octets)
        assert isinstance(problem, RecordProblem)
        assert problem.kind == kind
        assert problem.text


def test_check_never_raises() -> None:
    source = random.Random(25)
    for _ in range(500):
        TestRecord.check(b"X25T" * source.randrange(2) + source.randbytes(source.randrange(60)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1 << 32, 0, 0, 0, 24), "run"),
        ((0, -1, 0, 0, 24), "call"),
        ((0, 0, 1 << 32, 0, 24), "sequence"),
        ((0, 0, 0, 2, 24), "direction"),
        ((0, 0, 0, 0, 23), "length"),
        ((0, 0, 0, 0, 1 << 24), "length"),
    ],
)
def test_what_does_not_fit(arguments: tuple[int, int, int, int, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        TestRecord.build(*arguments)

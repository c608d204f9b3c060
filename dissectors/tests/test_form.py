# SPDX-License-Identifier: GPL-2.0-or-later
"""The form of packets and frames: both judges find the same ones wrong, whatever the octets are."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from capture_builder import A, B, connection, pcapng, unit
from scapy_x25 import hdlc
from x25shark.judges.evidence import FIELDS, EvidenceJudge
from x25shark.judges.form import frame_problem, packet_problem
from x25shark.judges.wireshark import WiresharkJudge

LINK_USER0 = 147
OUTBOUND = 2
SOUND = (
    *("10010b0000", "10010b55123459876506420707430202", "10010b000201c0" + "aa" * 128),
    *("10010b0000" + "aa" * 16, "90010b04051321301300", "10010f", "10010f00"),
    *("10010f00064207074302020a", "50010f0000", "20010f0003430202", "90011f0000"),
    *("10011305", "1001130526", "100113000000", "10011300000000" + "aa" * 128),
    *("100117", "9001170404", "10011b0305", "10011b03", "10011f"),
    *("100123aa", "100123" + "aa" * 32, "100127"),
    *("100100", "1001fe" + "aa" * 128, "d00110aa", "20010001aa", "e001000002"),
    *("100141", "100145", "100149", "20010104", "20010502", "20010900"),
    *("1000f124100000", "1000fb0000", "1000ff", "1000f30000", "1000f77f000000"),
    *("1001f5810000000100000202020707", "1001f581000200010200020202070761626364"),
    *("10010b0009000fc90302411201c0", "10010b00020312", "10010b0002017f", "10010b0003410123"),
    *("10010b000442070743", "10010b0006420f07430780", "10010b000703120000010102"),
)
FRAMES = (
    "032f",
    "013f",
    "0363",
    "030f",
    "0187" + "2f0008",
    "0300" + "100141",
    "0101",
    "0115",
    "0119",
)


def changed(sound: bytes, chance: random.Random) -> Iterator[bytes]:
    """The octets as they are, cut, with more behind, and with single bits or octets changed."""
    yield sound
    for count in range(1, len(sound)):
        if count < 8 or count > len(sound) - 2:
            yield sound[:count]
    yield sound + b"\0"
    yield sound + b"\x31" * 17
    for bit in range(8 * min(len(sound), 9)):
        other = bytearray(sound)
        other[bit // 8] ^= 0x80 >> bit % 8
        yield bytes(other)
    for _ in range(40):
        other = bytearray(sound)
        other[chance.randrange(len(other))] = chance.randrange(256)
        other[chance.randrange(len(other))] = chance.randrange(256)
        yield bytes(other)


def read(capture: bytes) -> EvidenceJudge:
    with WiresharkJudge() as judge:
        return EvidenceJudge(judge.read(capture, (), FIELDS), [], {0: "line.a"})


@pytest.mark.parametrize("sound", SOUND)
def test_both_judges_find_the_same_packets_malformed(sound: str) -> None:
    packets = [*changed(bytes.fromhex(sound), random.Random(sound))]
    judge = read(pcapng(connection([(A, unit("10010b0000")), *((B, unit(p)) for p in packets)])))
    seen = {r.octets: judge.malformed(r.view) for r in judge.reads}
    for octets in packets:
        own = packet_problem(octets)
        assert bool(own) == bool(seen[octets]), f"{octets.hex()}: {own!r}, {seen[octets]!r}"


@pytest.mark.parametrize("sound", FRAMES)
def test_both_judges_find_the_same_frames_malformed(sound: str) -> None:
    contents = [c for c in changed(bytes.fromhex(sound), random.Random(sound)) if len(c) >= 2]
    frames = [hdlc.with_fcs(c) for c in contents]
    judge = read(pcapng(frames, LINK_USER0, [OUTBOUND] * len(frames)))
    seen = {r.octets: judge.malformed(r.view) for r in judge.reads if r.view.framed}
    for octets in frames:
        own = frame_problem(octets)
        assert bool(own) == bool(seen[octets]), f"{octets.hex()}: {own!r}, {seen[octets]!r}"


@pytest.mark.parametrize("sound", ("10010b0000", "100117", "100141", "100123aa", "1000ff"))
def test_sound_packets_have_no_problem(sound: str) -> None:
    assert packet_problem(bytes.fromhex(sound)) == ""

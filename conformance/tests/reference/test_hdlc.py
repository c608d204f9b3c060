# SPDX-License-Identifier: GPL-2.0-or-later
"""The router's HDLC codec: vectors of the standard, and the tester's own codec at the other end."""

import random
from typing import Any

import pytest
from scapy_x25 import hdlc as other
from x25shark.reference.hdlc import FRAMINGS, Kind, Received, add_fcs, fcs_is_good, register

#: X.25 Appendix I, and an I frame with a Restart.
VECTORS = ("033f5bec", "013febdf", "01738357", "03733364", "01538176", "03001000fb0700c478")


@pytest.mark.parametrize("vector", VECTORS)
def test_fcs_of_the_standard(vector: str) -> None:
    octets = bytes.fromhex(vector)
    assert add_fcs(octets[:-2]) == octets
    assert fcs_is_good(octets)
    for bit in range(8 * len(octets)):
        damaged = bytearray(octets)
        damaged[bit // 8] ^= 1 << bit % 8
        assert not fcs_is_good(bytes(damaged))


def test_check_value() -> None:
    assert register(b"123456789") ^ 0xFFFF == 0x906E


def frames_of(seed: int, count: int = 60) -> list[bytes]:
    """Frames with many flags, escapes and rows of ones in them."""
    chance = random.Random(seed)
    choice = (0x7E, 0x7D, 0xFF, 0x00, 0x1F, 0xF8, 0x5E, 0x20)
    return [
        add_fcs(bytes(chance.choice(choice) for _ in range(chance.randrange(2, 90))))
        for _ in range(count)
    ]


def pieces(octets: bytes, chance: random.Random) -> list[bytes]:
    parts, at = [], 0
    while at < len(octets):
        size = chance.randrange(1, 9)
        parts.append(octets[at : at + size])
        at += size
    return parts


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("seed", range(5))
def test_frames_survive_their_own_codec_and_the_tester_reads_them(framing: str, seed: int) -> None:
    frames = frames_of(seed)
    ours: Any = FRAMINGS[framing](300)
    theirs = other.OctetDeframer() if framing == "octet" else other.BitDeframer()
    seen: list[Received] = []
    heard: list[Any] = []
    chance = random.Random(seed)
    for frame in frames:
        for piece in pieces(ours.frame(frame), chance):
            seen += ours.feed(piece)
            heard += theirs.feed(piece)
        # Nothing of a frame waits for the next one.
        assert seen[-1] == Received(Kind.FRAME, frame)
    assert [one.octets for one in seen] == frames
    assert heard == [other.Frame(frame) for frame in frames]


@pytest.mark.parametrize("shared", [True, False])
def test_frames_of_the_tester_with_shared_flags(shared: bool) -> None:
    frames = frames_of(7)
    framer = other.BitFramer()
    framer.frames(frames, shared_flags=shared)
    bits = FRAMINGS["bit"](300).feed(framer.finish())
    octets = FRAMINGS["octet"](300).feed(other.frame_octets(frames, shared_flags=shared))
    assert [one.octets for one in bits] == [one.octets for one in octets] == frames


def test_octet_framing_abort_and_noise() -> None:
    framing = FRAMINGS["octet"](10)
    assert framing.feed(bytes.fromhex("99887e7e7e")) == []
    assert framing.feed(bytes.fromhex("0102037d7e")) == [Received(Kind.ABORTED, b"\1\2\3")]
    assert framing.feed(bytes.fromhex("0405067e")) == [Received(Kind.FRAME, b"\4\5\6")]
    long = framing.feed(bytes(11) + b"\x7e")
    assert long == [Received(Kind.ENDLESS, bytes(10))]
    assert framing.feed(b"\7\x7e") == [Received(Kind.FRAME, b"\7")]


def test_bit_framing_abort_idle_and_odd_bits() -> None:
    def line(*parts: Any) -> list[Received]:
        framer = other.BitFramer()
        for part in parts:
            part(framer)
        framing = FRAMINGS["bit"](10)
        return framing.feed(framer.finish())

    good = bytes.fromhex("033f5bec")
    send = [lambda f: f.flag(), lambda f: f.body(good), lambda f: f.flag()]
    frame = Received(Kind.FRAME, good)
    assert line(*send) == [frame]
    half = [lambda f: f.flag(), lambda f: f.body(b"\1\2"), lambda f: f.abort()]
    assert line(*half, *send) == [Received(Kind.ABORTED, b"\1\2"), frame]
    assert line(lambda f: f.idle(), *send, lambda f: f.idle(), *send) == [frame, frame]
    odd = [lambda f: f.flag(), lambda f: f.body(b"\1\2\3", last_bits=3)]
    assert line(*odd, *send) == [Received(Kind.UNALIGNED, b"\1\2"), frame]
    assert line(lambda f: f.flag(), lambda f: f.body(bytes(12)), *send) == [
        Received(Kind.ENDLESS, bytes(10)),
        frame,
    ]
    # Two flags that share a 0.
    assert line(*send, lambda f: f.bits(1, 1, 1, 1, 1, 1, 0), *send) == [frame, frame]


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("seed", range(10))
def test_noise_is_read_as_the_tester_reads_it(framing: str, seed: int) -> None:
    """Any octets at all: both codecs find the same frames, and the same number of aborts."""
    chance = random.Random(seed)
    noise = bytes(
        chance.choice((0x7E, 0x7D, 0xFF, 0x3F, 0xF8, chance.randrange(256))) for _ in range(4000)
    )
    ours = FRAMINGS[framing](64)
    theirs: Any = other.OctetDeframer(64) if framing == "octet" else other.BitDeframer(64)
    seen = ours.feed(noise)
    heard = [one for one in theirs.feed(noise) if not isinstance(one, other.Idle)]
    kinds = {other.Frame: {Kind.FRAME}, other.Aborted: {Kind.ABORTED}}
    broken = {Kind.UNALIGNED, Kind.ENDLESS}
    assert len(seen) == len(heard)
    for one, same in zip(seen, heard, strict=True):
        assert one.kind in kinds.get(type(same), broken)
        if one.kind is not Kind.ENDLESS:
            assert one.octets == same.octets

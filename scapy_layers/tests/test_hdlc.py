# SPDX-License-Identifier: GPL-2.0-or-later
"""HDLC: FCS, both framings, aborts, broken frames."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy_x25 import RestartRequest
from scapy_x25.hdlc import (
    FCS_GOOD,
    HDLC,
    HDLC128,
    Aborted,
    BitDeframer,
    BitFramer,
    Broken,
    Frame,
    Idle,
    OctetDeframer,
    fcs16,
    fcs_register,
    frame_octets,
    with_fcs,
)
from scapy_x25.lapb import LAPB, LapbDISC, LapbI, LapbI128, LapbSABM, LapbUA

# X.25 Appendix I (SABM, UA) and others, with FCS.
EXAMPLES = [
    (LapbSABM(address=3, p_f=1), "033f5bec"),
    (LapbSABM(address=1, p_f=1), "013febdf"),
    (LapbUA(address=1, p_f=1), "01738357"),
    (LapbUA(address=3, p_f=1), "03733364"),
    (LapbDISC(address=1, p_f=1), "01538176"),
    (LapbI() / RestartRequest(cause=7, diagnostic=0), "03001000fb0700c478"),
]


@pytest.mark.parametrize(("frame", "octets"), EXAMPLES, ids=[text for _, text in EXAMPLES])
def test_example(frame: LAPB, octets: str) -> None:
    assert bytes(HDLC() / frame).hex() == octets
    found = HDLC(bytes.fromhex(octets))
    assert found.fcs_is_good()
    assert type(found.payload) is type(frame)
    found.clear_cache()
    assert bytes(found).hex() == octets


def test_fcs() -> None:
    assert fcs16(b"123456789") == 0x906E
    assert fcs_register(with_fcs(b"123456789")) == FCS_GOOD


def test_wrong_fcs() -> None:
    frame = HDLC(fcs=0x1234) / LapbSABM()
    assert bytes(frame).hex() == "032f3412"
    assert not frame.fcs_is_good()
    assert bytes(HDLC(fcs=None) / LapbSABM()).hex() == "032f"
    assert isinstance(HDLC128(with_fcs(b"\x03\x02\x04")).payload, LapbI128)


@given(st.binary(min_size=1, max_size=60))
def test_no_octet_is_lost(octets: bytes) -> None:
    for kind in (HDLC, HDLC128):
        frame = kind(octets)
        assert bytes(frame) == octets
        frame.clear_cache()
        assert bytes(frame) == octets


frames = st.lists(st.binary(min_size=1, max_size=30), max_size=5)
pieces = st.integers(1, 40)


@given(frames, st.booleans(), pieces)
def test_octet_stuffed(sent: list[bytes], shared: bool, size: int) -> None:
    stream = frame_octets(sent, shared)
    deframer = OctetDeframer()
    events = [
        event
        for start in range(0, len(stream), size)
        for event in deframer.feed(stream[start : start + size])
    ]
    assert events == [Frame(octets) for octets in sent]


@given(frames, st.booleans(), pieces, st.integers(0, 7))
def test_bit_synchronous(sent: list[bytes], shared: bool, size: int, shift: int) -> None:
    framer = BitFramer()
    framer.bits(*[0] * shift)
    framer.frames(sent, shared)
    stream = framer.take() + framer.finish()
    deframer = BitDeframer()
    events = [
        event
        for start in range(0, len(stream), size)
        for event in deframer.feed(stream[start : start + size])
    ]
    assert events == [Frame(octets) for octets in sent]


@given(st.binary(max_size=200))
def test_deframers_take_any_octets(octets: bytes) -> None:
    for deframer in (OctetDeframer(longest=16), BitDeframer(longest=16)):
        for event in deframer.feed(octets):
            if not isinstance(event, Idle):
                assert len(event.octets) <= 17


def test_octet_abort() -> None:
    deframer = OctetDeframer()
    assert deframer.feed(bytes.fromhex("55 7e 0102 7d7e 0304 7e 7e")) == [
        Aborted(b"\1\2"),
        Frame(b"\3\4"),
    ]


def test_escapes_on_the_line() -> None:
    assert frame_octets([b"\x7e\x7d\x01"]).hex() == "7e7d5e7d5d017e"
    assert frame_octets([b"a", b"b"], shared_flags=True) == b"~a~b~"
    assert frame_octets([b"a", b"b"]) == b"~a~~b~"


def line(*parts: str) -> bytes:
    """Bits as written, first bit first, filled up with 1s."""
    framer = BitFramer()
    framer.bits(*(int(bit) for part in parts for bit in part if bit in "01"))
    return framer.take() + framer.finish()


FLAG_BITS = "01111110"


def test_flag_on_the_line_and_zero_insertion() -> None:
    assert line(FLAG_BITS) == b"\x7e"
    framer = BitFramer()
    framer.frames([b"\xff"])
    assert framer.finish() == line(FLAG_BITS, "111110111", FLAG_BITS)


def test_flags_that_share_a_zero() -> None:
    assert BitDeframer().feed(line("0111111", "0111111", "0", "10000000", FLAG_BITS)) == [
        Frame(b"\1")
    ]


def test_bit_abort_and_idle() -> None:
    framer = BitFramer()
    framer.flag()
    framer.body(b"\1\2")
    framer.abort()
    framer.bits(0)
    framer.frames([b"\3"])
    framer.idle()
    events = BitDeframer().feed(framer.finish())
    assert events == [Aborted(b"\1\2"), Frame(b"\3"), Idle()]


def test_bits_that_are_no_octets() -> None:
    framer = BitFramer()
    framer.flag()
    framer.body(b"\1\2\3", last_bits=3)
    framer.flag()
    (event,) = BitDeframer().feed(framer.take() + framer.finish())
    assert event == Broken("19 bits are not whole octets", b"\1\2")


@pytest.mark.parametrize("size", [16, 17, 100])
def test_too_long(size: int) -> None:
    body = bytes(range(1, size + 1))
    framer = BitFramer()
    framer.frames([body, b"\5"])
    for events in (
        OctetDeframer(longest=16).feed(frame_octets([body, b"\5"])),
        BitDeframer(longest=16).feed(framer.take() + framer.finish()),
    ):
        if size == 16:
            assert events == [Frame(body), Frame(b"\5")]
        else:
            assert isinstance(events[0], Broken)
            assert events[0].octets[:15] == body[:15]
            assert events[1:] == [Frame(b"\5")]


@pytest.mark.parametrize(
    ("octets", "extended", "reason"),
    [
        (with_fcs(b"\x03\x3f"), False, ""),
        (with_fcs(b"\x03\x3f"), True, ""),
        (with_fcs(b"\x03\x00"), False, ""),
        (with_fcs(b"\x03\x00"), True, "32 bits between flags, at least 40 are needed"),
        (with_fcs(b"\x03"), False, "24 bits between flags, at least 32 are needed"),
        (b"\x03\x3f\x5b\xed", False, "FCS is wrong"),
        (with_fcs(b"\x05\x3f"), False, "address 0x05 is neither A nor B"),
    ],
)
def test_invalid_frames(octets: bytes, extended: bool, reason: str) -> None:
    assert Frame(octets).invalid(extended) == reason

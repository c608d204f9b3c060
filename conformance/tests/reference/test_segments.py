# SPDX-License-Identifier: GPL-2.0-or-later
"""Re-segmentation and delivery confirmation of the local model (X.25 4.3.3 to 4.3.6, 4.4.1.4)."""

import random
from typing import Any

import pytest
from x25shark.reference.codec import Data
from x25shark.reference.relay_local import Segmenter


def sequence(packets: list[tuple[int, bool, bool, bool]], size_in: int, size_out: int) -> Any:
    """Segments made of packets given as (octets, Q, D, M): the same four, and the octets."""
    segmenter = Segmenter(size_in, size_out)
    result, joined, at = [], b"", 0
    sent = b""
    for length, q, d, m in packets:
        octets = bytes((at + index) & 0xFF for index in range(length))
        at += length
        sent += octets
        for segment in segmenter.feed(Data(0, 0, q, d, m, octets)):
            joined += segment.user_data
            result.append((len(segment.user_data), segment.q, segment.d, segment.m))
    assert joined == sent
    return result


T, F = True, False


@pytest.mark.parametrize(
    ("packets", "size_in", "size_out", "expected"),
    [
        # Equal sizes.
        ([(128, F, F, T), (10, F, F, F)], 128, 128, [(128, F, F, T), (10, F, F, F)]),
        # Joined: 128 to 512.
        ([(128, F, F, T)] * 4 + [(100, F, F, F)], 128, 512, [(512, F, F, T), (100, F, F, F)]),
        # Split: 512 to 128, with M = 0 and M = 1.
        ([(512, F, F, F)], 512, 128, [(128, F, F, T)] * 3 + [(128, F, F, F)]),
        ([(512, F, F, T), (1, F, F, F)], 512, 128, [(128, F, F, T)] * 4 + [(1, F, F, F)]),
        # Part-filled, M = 1, D = 0: M counts as 0.
        ([(10, F, F, T), (10, F, F, F)], 128, 256, [(10, F, F, F), (10, F, F, F)]),
        # Category B is not joined.
        ([(10, F, F, F), (20, F, F, F)], 128, 256, [(10, F, F, F), (20, F, F, F)]),
        # An exact fit has no empty tail.
        ([(128, F, F, T), (128, F, F, F)], 128, 256, [(256, F, F, F)]),
        # Q on every part, D on the last one only.
        ([(512, T, F, F)], 512, 128, [(128, T, F, T)] * 3 + [(128, T, F, F)]),
        ([(512, F, T, F)], 512, 128, [(128, F, F, T)] * 3 + [(128, F, T, F)]),
        # D = 1 and M = 1 is a border that is kept.
        ([(128, F, T, T), (5, F, F, F)], 128, 256, [(128, F, T, T), (5, F, F, F)]),
        # A packet without user data.
        ([(0, F, F, F)], 128, 256, [(0, F, F, F)]),
        ([(128, F, F, T), (0, F, F, F)], 128, 128, [(128, F, F, T), (0, F, F, F)]),
    ],
)
def test_segments(packets: Any, size_in: int, size_out: int, expected: Any) -> None:
    assert sequence(packets, size_in, size_out) == expected


@pytest.mark.parametrize("seed", range(20))
def test_random_sequences_arrive_as_the_same_messages(seed: int) -> None:
    chance = random.Random(seed)
    size_in, size_out = (1 << chance.randint(4, 12) for _ in range(2))
    segmenter = Segmenter(size_in, size_out)
    sent, received, parts = [], [], b""
    for _ in range(50):
        q, d = chance.random() < 0.3, chance.random() < 0.2
        message = chance.randbytes(chance.choice((0, 1, size_in, size_out, 3 * size_in, 5000)))
        sent.append((q, d, message))
        pieces = [message[at : at + size_in] for at in range(0, len(message), size_in)] or [b""]
        for index, piece in enumerate(pieces):
            last = index == len(pieces) - 1
            for segment in segmenter.feed(Data(0, 0, q, d and last, not last, piece)):
                assert len(segment.user_data) <= size_out
                assert segment.q == q
                parts += segment.user_data
                if segment.m:
                    assert len(segment.user_data) == size_out
                    assert not segment.d
                else:
                    received.append((segment.q, segment.d, parts))
                    parts = b""
    assert received == sent


def wide(size: str, window: str = "0707") -> str:
    return f"10010b7721000013100001 0642{size}43{window}".replace(" ", "")


def test_a_long_chain_passes_while_it_arrives(make_lab: Any) -> None:
    a, b = make_lab("local", {"packet_size": 512}).call(wide("0707"))
    for number in range(16):
        a.tell(f"1001{0x10 | number % 8 * 2:02x}" + "41" * 128)
        sent = b.take()
        assert len(sent) == (number % 4 == 3)
        if sent:
            b.tell(f"1001{(number // 4 + 1) % 8 << 5 | 1:02x}")
        assert a.take() == [f"1001{(number + 1) % 8 << 5 | 1:02x}"]


def test_windows_of_both_sides_hold_while_splitting(make_lab: Any) -> None:
    lab = make_lab("local", {"packet_size": 128, "window": 2})
    a, b = lab.call(wide("0a0a", "0202"))
    a.tell("100100" + "41" * 1024, "100102" + "42" * 1024)
    assert len(b.take()) == 2
    assert a.take() == []
    for number in range(2, 16, 2):
        b.tell(f"1001{number % 8 << 5 | 1:02x}")
        assert len(b.take()) == 2
    # P(R) counts A's packets, each when its last part has left.
    assert a.take() == ["100121", "100141"]


def test_d_bit_is_confirmed_by_the_other_end(make_lab: Any) -> None:
    for model in ("local", "end-to-end"):
        a, b = make_lab(model).call(wide("0707"))
        a.tell("50010041", "50010241")
        assert [packet[:6] for packet in b.take()] == ["500100", "500102"]
        assert a.take() == []
        b.tell("100121")
        assert a.take() == ["100121"]
        b.tell("100141")
        assert a.take() == ["100141"]


def test_d_bit_is_confirmed_after_the_last_part(make_lab: Any) -> None:
    a, b = make_lab("local", {"packet_size": 128, "window": 7}).call(wide("0909"))
    a.tell("100100" + "41" * 10, "500102" + "41" * 512)
    assert [packet[:6] for packet in b.take()] == [
        *("100100", "100112", "100114", "100116", "500108"),
    ]
    assert a.take() == ["100121"]
    b.tell("100181")
    assert a.take() == []
    b.tell("1001a1")
    assert a.take() == ["100141"]


def test_a_reset_drops_the_open_sequence_and_open_confirmations(make_lab: Any) -> None:
    a, b = make_lab("local", {"packet_size": 256}).call(wide("0707"))
    a.tell("100110" + "41" * 128, "500102" + "42" * 10)
    assert [packet[:6] for packet in b.take()] == ["500100"]
    assert a.take() == ["100121"]
    a.tell("100114" + "43" * 128, "10011b0007")
    assert a.take() == ["10011f"]
    b.tell("10011f")
    a.tell("10010055")
    assert b.take() == ["10011b0007", "10010055"]
    b.tell("100121")
    assert a.take() == ["100121"]


def test_data_in_front_of_a_clear_arrives(make_lab: Any) -> None:
    for model in ("local", "end-to-end", "splice"):
        a, b = make_lab(model).call(wide("0707"))
        data = [f"1001{2 * number:02x}{number:02x}" for number in range(7)]
        a.tell_together(*data, "10011300f1")
        assert b.take() == [*data, "10011300f1"]


def test_clear_does_not_wait_behind_data(make_lab: Any) -> None:
    a, b = make_lab("local", {"window": 1}).call(wide("0707"))
    a.tell("10010041", "10010242", "10011300f1")
    assert b.take() == ["10010041", "10011300f1"]


def test_congestion_holds_the_sender(make_lab: Any) -> None:
    a, b = make_lab("local").call(wide("0707", "0202"))
    b.congested = True
    a.tell("10010041", "10010242")
    assert (a.take(), b.take()) == ([], [])
    b.congested = False
    b.connection.drained()
    assert b.take() == ["10010041", "10010242"]
    assert a.take() == ["100141"]

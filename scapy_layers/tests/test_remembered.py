# SPDX-License-Identifier: GPL-2.0-or-later
"""What was made of octets is remembered, but never much of it."""

import weakref

import pytest
from scapy_x25.remembered import remembered


@pytest.mark.parametrize("length", [3, 100, 1000])
def test_the_same_octets_are_asked_for_once(length: int) -> None:
    asked: list[bytes] = []

    @remembered
    def twice(octets: bytes, more: int = 0) -> bytes:
        """Made."""
        asked.append(octets)
        return octets * (2 + more)

    for _ in range(3):
        assert twice(bytes(length)) == bytes(2 * length)
    assert twice(bytes(length), more=1) == bytes(3 * length)
    assert len(asked) == 2
    assert twice.__doc__ == "Made."


class Made:
    """What a reference can be held to that does not keep it."""


@pytest.mark.parametrize("length", [32, 256, 65_000])
def test_a_router_cannot_fill_the_memory(length: int) -> None:
    """Whatever it sends, and however often: no more than 2 MB of octets are kept."""

    @remembered
    def make(_octets: bytes) -> Made:
        return Made()

    kept = [weakref.ref(make(n.to_bytes(2, "big") + bytes(length - 2))) for n in range(2000)]
    alive = sum(one() is not None for one in kept)
    assert 0 < alive < (2 << 20) // length
    assert alive <= 1024

# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers, sizes and windows of all Data of a router: what is blamed, and what must not be."""

from __future__ import annotations

import pytest
from scapy.packet import Packet
from scapy_x25 import (
    RR,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Data,
    PacketSize,
    ResetConfirmation,
    ResetRequest,
    WindowSize,
)
from x25shark.judges.expectation import PacketView
from x25shark.judges.template import decode
from x25shark.suite.test_numbers import _wrong

T, R = True, False  # the tester, the router
VALUES = [PacketSize(called=7, calling=8), WindowSize(called=2, calling=3)]
CALL = (T, CallRequest(lcn=1, facilities=VALUES))
UP = [CALL, (R, CallAccepted(lcn=1, facilities=VALUES))]
CALLED = [(R, CallRequest(lcn=1, facilities=VALUES)), (T, CallAccepted(lcn=1))]
Story = list[tuple[bool, Packet]]


def data(p_s: int, p_r: int = 0, octets: int = 1) -> Packet:
    return Data(lcn=1, p_s=p_s, p_r=p_r, user_data=b"x" * octets)


def rr(p_r: int) -> Packet:
    return RR(lcn=1, p_r=p_r)


def blamed(story: Story) -> dict[str, int]:
    """What is wrong, and at which place of the story."""
    told = []
    for place, (sent, packet) in enumerate(story):
        octets = bytes(packet)
        told.append((sent, decode(octets), PacketView(place, place, None, b"", 0, 0, octets)))
    found = {what: _wrong(what, False, told) for what in ("number", "size", "window")}
    return {what: view.offset for what, view in found.items() if view is not None}


RESET, CONFIRMED = ResetRequest(lcn=1, cause=0, diagnostic=0), ResetConfirmation(lcn=1)
CLEAR, CLEARED = ClearRequest(lcn=1, cause=0, diagnostic=0), ClearConfirmation(lcn=1)

RIGHT: dict[str, Story] = {
    "window of 2, then acknowledged": [*UP, (R, data(0)), (R, data(1)), (T, rr(1)), (R, data(2))],
    "as the caller it has the calling values": [*CALLED, *((R, data(n, 0, 256)) for n in range(3))],
    "old numbers cross a reset": [
        *UP,
        (R, data(0)),
        (T, RESET),
        (R, data(1)),
        (R, CONFIRMED),
        (R, data(0)),
    ],
    "a reset of its own": [
        *UP,
        (R, data(0)),
        (R, RESET),
        (T, rr(1)),
        (T, CONFIRMED),
        (R, data(0)),
        (R, data(1)),
    ],
    "reset collision": [
        *UP,
        (R, data(0)),
        (T, RESET),
        (R, RESET),
        (R, data(0)),
        (T, rr(1)),
        (R, data(1)),
    ],
    "a second call": [*UP, (R, data(0)), (T, CLEAR), (R, CLEARED), *UP, (R, data(0))],
    "a call without an end, as of a link that is gone": [*UP, (R, data(0)), *UP, (R, data(0))],
    "the tester acknowledges what never came": [*UP, (T, rr(5)), (R, data(0)), (R, data(1))],
    "the tester's answer is out of bounds": [
        *CALLED[:1],
        (T, CallAccepted(lcn=1, facilities=[WindowSize(called=2, calling=7)])),
        *((R, data(n)) for n in range(6)),
    ],
    "no answer may mean the default": [
        (T, CallRequest(lcn=1, facilities=[WindowSize(called=1, calling=1)])),
        (R, CallAccepted(lcn=1)),
        (R, data(0)),
        (R, data(1)),
    ],
    "nothing is agreed": [(T, CallRequest(lcn=1)), (R, CallAccepted(lcn=1)), (R, data(0, 0, 999))],
}

WRONG: dict[str, tuple[Story, str, int]] = {
    "the first is not 0": ([*UP, (R, data(1))], "number", 2),
    "one is left out": ([*UP, (R, data(0)), (R, data(2))], "number", 3),
    "not 0 after a reset": (
        [*UP, (R, data(0)), (R, RESET), (T, CONFIRMED), (R, data(1))],
        "number",
        5,
    ),
    "three in a window of 2": ([*UP, *((R, data(n)) for n in range(3))], "window", 4),
    "four in a window of 3": ([*CALLED, *((R, data(n)) for n in range(4))], "window", 5),
    "longer than 128": ([*UP, (R, data(0, 0, 129))], "size", 2),
    "longer than 256": ([*CALLED, (R, data(0, 0, 257))], "size", 2),
    "the second call takes the numbers of the first": (
        [*UP, (R, data(0)), (T, CLEAR), (R, CLEARED), *UP, (R, data(1))],
        "number",
        7,
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right(name: str) -> None:
    assert blamed(RIGHT[name]) == {}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name: str) -> None:
    story, what, place = WRONG[name]
    assert blamed(story) == {what: place}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Every kind of expectation, met and not met, as both judges see it."""

from __future__ import annotations

from typing import Any

import pytest
from scapy_x25 import (
    RR,
    CallAccepted,
    ClearConfirmation,
    ClearRequest,
    Data,
    PacketSize,
    ResetRequest,
    Undefined,
)
from x25shark.judges.expectation import (
    CLOSED,
    Counted,
    Expectation,
    Never,
    Next,
    NextMessage,
    NoConnection,
    Quiet,
)
from x25shark.judges.template import lacks
from x25shark.judges.values import ABSENT, between, either, not_in, one_of
from x25shark.judges.watch import Framed

from .conftest import FROM_ROUTER, ROUTER, Exchange, Judge

ACCEPTED = bytes.fromhex("10010f")
ACCEPTED_SIZES = bytes.fromhex("10010f0003420707")
CLEAR_5_2 = bytes.fromhex("1001130502")
RESET_3_5 = bytes.fromhex("10011b0305")
CONFIRMED = bytes.fromhex("100117")
RECEIVE_READY = bytes.fromhex("100141")
FIRST = b"\x10\x01\x10" + b"a" * 128
EMPTY = b""
LAST = b"\x10\x01\x02" + b"tail"
QUALIFIED = b"\x90\x01\x02" + b"tail"

HERE: dict[str, Any] = {"side": "A", "clause": "test", "direction": FROM_ROUTER}
CALL_THEN_CLEAR = Exchange([[ACCEPTED], [RECEIVE_READY, CLEAR_5_2]])
SWAPPED = Exchange([[CLEAR_5_2, RESET_3_5]])
MESSAGE = Exchange([[FIRST, RECEIVE_READY, LAST]])

CASES: list[tuple[str, bool, Exchange, list[Expectation]]] = [
    ("next", True, CALL_THEN_CLEAR, [Next(**HERE, alternatives=(CallAccepted(),))]),
    (
        "next, what may pass left aside",
        True,
        CALL_THEN_CLEAR,
        [Next(**HERE, start=7, alternatives=(ClearRequest(cause=5),))],
    ),
    ("next, other cause", False, SWAPPED, [Next(**HERE, alternatives=(ClearRequest(cause=3),))]),
    (
        "next, swapped in a segment",
        False,
        SWAPPED,
        [Next(**HERE, alternatives=(ClearRequest(cause=5, diagnostic=5),))],
    ),
    (
        "next, second of a segment",
        True,
        SWAPPED,
        [Next(**HERE, start=9, alternatives=(ResetRequest(cause=3, diagnostic=5),))],
    ),
    (
        "next, too late",
        False,
        CALL_THEN_CLEAR,
        [Next(**HERE, start=7, stop=14, alternatives=(ClearRequest(),))],
    ),
    ("next, nothing came", False, Exchange([]), [Next(**HERE, alternatives=(CallAccepted(),))]),
    ("FIN", True, Exchange([[ACCEPTED]], "FIN"), [Next(**HERE, start=7, alternatives=(CLOSED,))]),
    ("RST", True, Exchange([[ACCEPTED]], "RST"), [Next(**HERE, start=7, alternatives=(CLOSED,))]),
    ("no end", False, Exchange([[ACCEPTED]]), [Next(**HERE, start=7, alternatives=(CLOSED,))]),
    (
        "a facility",
        True,
        Exchange([[ACCEPTED_SIZES]]),
        [Next(**HERE, alternatives=(CallAccepted(facilities=[PacketSize(called=7)]),))],
    ),
    (
        "a facility with another value",
        False,
        Exchange([[ACCEPTED_SIZES]]),
        [Next(**HERE, alternatives=(CallAccepted(facilities=[PacketSize(called=8)]),))],
    ),
    (
        "a facility that must lack",
        False,
        Exchange([[ACCEPTED_SIZES]]),
        [Next(**HERE, alternatives=(CallAccepted(facilities=[lacks(PacketSize)]),))],
    ),
    ("message", True, MESSAGE, [_m := NextMessage(
        **HERE, alternatives=(Data(),), octets=b"a" * 128 + b"tail", longest=128)]),
    ("message, packets too long", False, MESSAGE, [NextMessage(
        **HERE, alternatives=(Data(),), octets=_m.octets, longest=64)]),
    ("message, other octets", False, MESSAGE, [NextMessage(
        **HERE, alternatives=(Data(),), octets=b"a" * 128 + b"tall")]),
    ("message, cut short", False, Exchange([[FIRST]]), [NextMessage(
        **HERE, alternatives=(Data(),), octets=_m.octets)]),
    ("message, Q bit differs", False, Exchange([[FIRST, QUALIFIED]]), [NextMessage(
        **HERE, alternatives=(Data(),), octets=_m.octets)]),
    ("quiet", True, CALL_THEN_CLEAR, [
        Next(**HERE, alternatives=(CallAccepted(),)),
        Next(**HERE, start=7, alternatives=(ClearRequest(),)), Quiet(**HERE)]),
    ("quiet, it passed ahead of what was expected", True, SWAPPED, [
        Next(**HERE, alternatives=(ResetRequest(),), passing=(ClearRequest(),)), Quiet(**HERE)]),
    ("quiet, one packet more", False, SWAPPED, [
        Next(**HERE, alternatives=(ClearRequest(),)), Quiet(**HERE)]),
    ("quiet, clearing allowed later", True, CALL_THEN_CLEAR, [
        Next(**HERE, alternatives=(CallAccepted(),)),
        Quiet(**HERE, relaxed_from=7, relaxed=(ClearRequest(),))]),
    ("never", True, SWAPPED, [Never(**HERE, forbidden=(ClearConfirmation(), Undefined()))]),
    ("never, but it came", False, SWAPPED, [Never(**HERE, forbidden=(ResetRequest(),))]),
    ("counted", True, MESSAGE, [Counted(**HERE, template=Data(), low=2, high=2)]),
    ("counted, too many", False, MESSAGE, [Counted(**HERE, template=Data(), low=0, high=1)]),
    ("counted, too few", False, MESSAGE, [Counted(**HERE, template=RR(), low=2)]),
    ("one of", True, SWAPPED, [Next(**HERE, alternatives=(
        ClearRequest(cause=one_of(range(4, 6)), diagnostic=between(2, 9)),))]),
    ("one of, absent allowed", True, Exchange([[bytes.fromhex("10011305")]]), [
        Next(**HERE, alternatives=(ClearRequest(diagnostic=one_of(7, None)),))]),
    ("absent, but there", False, SWAPPED, [
        Next(**HERE, alternatives=(ClearRequest(diagnostic=ABSENT),))]),
    ("either", True, SWAPPED, [Next(**HERE, alternatives=(
        ClearRequest(cause=either(one_of(1), between(5, 5))),))]),
    ("not in", False, SWAPPED, [Next(**HERE, alternatives=(ClearRequest(cause=not_in(5, 6)),))]),
    ("framed", True, CALL_THEN_CLEAR, [Framed(**HERE)]),
    ("framed, an empty unit alone", False, Exchange([[EMPTY]]), [Framed(**HERE)]),
    ("framed, an empty unit first", False, Exchange([[EMPTY, ACCEPTED]]), [Framed(**HERE)]),
    ("framed, an empty unit last", False, Exchange([[ACCEPTED], [EMPTY]]), [Framed(**HERE)]),
    ("framed, an empty unit before FIN", False, Exchange([[ACCEPTED, EMPTY]], end="FIN"), [
        Framed(**HERE, closed=True)]),
    ("framed, empty units behind a short one", False, Exchange([[b"\x10\x01", EMPTY], [EMPTY]]), [
        Framed(**HERE)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("met", "exchange", "expectations"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_both_judges(
    met: bool, exchange: Exchange, expectations: list[Expectation], judge: Judge
) -> None:
    one, two = judge(exchange, expectations)
    assert all(seen.met for seen in one) is met
    assert [(s.met, s.offset, s.saw) for s in one] == [(s.met, s.offset, s.saw) for s in two]


def test_the_deciding_packet_is_named_by_its_place_in_the_frame(judge: Judge) -> None:
    template = ResetRequest(cause=3)
    _, (seen,) = judge(SWAPPED, [Next(**HERE, start=9, alternatives=(template,))])
    assert seen.view is not None
    assert (seen.view.frame, seen.view.k, seen.offset) == (4, 2, 9)


def test_a_connection_from_the_router_is_seen_by_both(judge: Judge) -> None:
    """The tester of the exchange asked for the connection itself: ROUTER is its listener."""
    expectation = NoConnection("A", "test", listener=ROUTER)
    one, two = judge(CALL_THEN_CLEAR, [expectation])
    # Judge one was given no accepted connection; the capture shows one.
    assert one[0].met
    assert not two[0].met
    assert two[0].saw == "a connection from 127.0.25.2:40000"


def test_an_expectation_without_a_connection_is_not_met(judge: Judge) -> None:
    for expectation in (
        Next("B", "test", None, alternatives=(CallAccepted(),)),
        NextMessage("B", "test", None, alternatives=(Data(),), octets=b"x"),
    ):
        one, two = judge(CALL_THEN_CLEAR, [expectation])
        assert one[0].saw == two[0].saw == "no connection came from the router"
        assert not one[0].met
        assert not two[0].met


def test_a_confirmation_is_no_request(judge: Judge) -> None:
    one, two = judge(Exchange([[CONFIRMED]]), [Next(**HERE, alternatives=(ClearRequest(),))])
    assert not one[0].met
    assert not two[0].met

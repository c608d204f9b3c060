# SPDX-License-Identifier: GPL-2.0-or-later
"""Facilities and their negotiation (X.25 clause 7, 6.12, 6.13; RFC 1613 6.1)."""

from __future__ import annotations

from .clearing import refused
from .language import (
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearIndication,
    PacketSize,
    WindowSize,
    between,
    purpose,
)


@purpose("PLP-FAC-01")
def test_call_sent_has_packet_size_and_window_size(bench: Bench) -> None:
    a = bench.connect()
    a.send(bench.call_request())
    b = bench.incoming(CallRequest(facilities=[PacketSize(), WindowSize()]))
    b.send(CallAccepted())
    a.expect(CallAccepted())
    Call(bench, a, b).fence()


@purpose("PLP-FAC-03")
def test_offer_is_not_above_the_request(bench: Bench) -> None:
    a = bench.connect()
    a.send(bench.call_request(size=1024, window=7))
    size, window = between(7, 10), between(2, 7)
    b = bench.incoming(
        CallRequest(
            facilities=[
                PacketSize(called=size, calling=size),
                WindowSize(called=window, calling=window),
            ]
        )
    )
    b.send(CallAccepted())
    a.expect(CallAccepted())
    Call(bench, a, b).fence()


@purpose("PLP-FAC-08")
def test_window_0_is_refused(bench: Bench) -> None:
    """0/2 and 2/0; cause 0x03 or 0x13."""
    for window in ((0, 2), (2, 0)):
        a = bench.connect()
        a.send(bench.call_request(window=window))
        refused(
            bench,
            a,
            ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=bench.diagnostic(66)),
        )
    bench.fence()


@purpose("PLP-FAC-10")
def test_packet_size_codes_outside_4_to_12_are_refused(bench: Bench) -> None:
    for code in (3, 13, 0):
        a = bench.connect()
        a.send(bench.call_request(facilities=[PacketSize(called=code, calling=code), WindowSize()]))
        refused(
            bench,
            a,
            ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=bench.diagnostic(66)),
        )
    bench.fence()


@purpose("PLP-FAC-22")
def test_same_facility_twice_is_refused(bench: Bench) -> None:
    """An IUT that takes the last value is a remark."""
    twice = [PacketSize(called=7, calling=7), WindowSize(), PacketSize(called=8, calling=8)]
    a = bench.connect()
    a.send(bench.call_request(facilities=twice))
    refused(
        bench,
        a,
        ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=bench.diagnostic(73)),
    )
    bench.fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Datagrams on a circuit, whole and damaged, as both judges see them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.packet import Packet, Raw
from scapy_x25 import Data
from x25shark.judges.datagrams import (
    IP_IDENTIFIERS,
    Echo,
    NextReply,
    OnlyDatagrams,
)

from .conftest import FROM_ROUTER, Exchange, Judge

ROUTER, TESTER = "10.25.0.1", "10.25.0.2"
ECHO = Echo(bytes((10, 25, 0, 2)), bytes((10, 25, 0, 1)), 7, 9, bytes(range(200)))
OTHER = Echo(ECHO.tester, ECHO.router, 7, 10, b"other")
RESET_CONFIRMATION = bytes.fromhex("10011f")


def reply(echo: Echo = ECHO, **header: object) -> Packet:
    message = ICMP(type=0, id=echo.identifier, seq=echo.number) / Raw(echo.data)
    return IP(src=ROUTER, dst=TESTER, **{"ttl": 255, "id": 77, **header}) / message


def packets(unit: bytes, *, q: int = 0, last_m: int = 0, size: int = 128) -> list[bytes]:
    """A unit in Data packets."""
    starts = range(0, len(unit), size)
    return [
        bytes((q << 7 | 0x10, 1, (last_m if at == starts[-1] else 1) << 4)) + unit[at : at + size]
        for at in starts
    ]


WHOLE = bytes(reply())
DAMAGED = WHOLE[:-1] + b"?"
CUT = packets(WHOLE[:-1])


def test_the_request_is_what_scapy_makes() -> None:
    made = IP(src=TESTER, dst=ROUTER, id=9, ttl=64) / ICMP(id=7, seq=9) / Raw(ECHO.data)
    assert ECHO.datagram == bytes(made)


@pytest.mark.parametrize(
    ("segment", "identifiers", "replied", "clean"),
    [
        (packets(WHOLE), (), True, True),
        (packets(bytes(reply(tos=0xB8, flags="DF", options=[]))), (), True, True),
        (packets(b"\xcc" + WHOLE), IP_IDENTIFIERS, True, True),
        (packets(IP_IDENTIFIERS[1] + WHOLE), IP_IDENTIFIERS, True, True),
        (packets(bytes(reply(OTHER))) + packets(WHOLE), (), True, True),
        ([p for f in reply().fragment(96) for p in packets(bytes(f))], (), True, True),
        ([*packets(WHOLE[:128], last_m=1), RESET_CONFIRMATION], (), False, True),
        (packets(b"\x81abc") + packets(b"\xcc" + WHOLE), IP_IDENTIFIERS, True, True),
        (packets(WHOLE) + packets(WHOLE), (), True, False),
        (packets(DAMAGED), (), False, False),
        (CUT, (), False, False),
        (packets(WHOLE + b"?"), (), False, False),
        (packets(WHOLE, q=1), (), False, False),
        (packets(WHOLE, size=228), (), False, False),
        (packets(WHOLE, size=100), (), False, False),
        (packets(b"\xcc" + WHOLE), (), False, False),
        (packets(WHOLE), IP_IDENTIFIERS, False, False),
        (packets(b"\x81" + WHOLE), IP_IDENTIFIERS, False, False),
        (packets(WHOLE[:10] + b"\0\0" + WHOLE[12:]), (), False, False),
    ],
)
def test_replies(
    judge: Judge,
    segment: Sequence[bytes],
    identifiers: tuple[bytes, ...],
    replied: bool,
    clean: bool,
) -> None:
    asked = (ECHO, OTHER)
    here = {"side": "A", "clause": "test", "direction": FROM_ROUTER, "identifiers": identifiers}
    next_reply = NextReply(**here, alternatives=(Data(),), echo=ECHO, asked=asked)  # type: ignore[arg-type]
    only = OnlyDatagrams(**here, data=Data(), asked=asked)  # type: ignore[arg-type]
    one, two = judge(Exchange([segment]), [next_reply, only])
    assert [seen.met for seen in one] == [seen.met for seen in two] == [replied, clean]
    assert [seen.saw for seen in one] == [seen.saw for seen in two]


def test_a_datagram_above_the_mtu(judge: Judge) -> None:
    for mtu, met in ((len(WHOLE), True), (len(WHOLE) - 1, False)):
        expectation = NextReply(
            "A", "test", FROM_ROUTER, alternatives=(Data(),), echo=ECHO, asked=(ECHO,), longest=mtu
        )
        for seen in judge(Exchange([packets(WHOLE)]), [expectation]):
            assert seen[0].met is met

# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls to compare later ones with, as a hostile router sends them."""

from __future__ import annotations

import pytest
from x25shark.judges.template import decode
from x25shark.suite.connections import same_call

CALL = bytes.fromhex("10010b772100001310000106420707430202c0")
# Address lengths that leave no room for the facilities.
LONG_ADDRESS = bytes.fromhex("10010b502100001310000106420707430202c0")


def test_it_has_the_facilities_octet_for_octet() -> None:
    assert same_call(decode(CALL)).facilities == bytes.fromhex("420707430202")


@pytest.mark.parametrize(
    "packet", [LONG_ADDRESS, *(CALL[:n] for n in range(3, len(CALL)))], ids=lambda p: p.hex()
)
def test_a_malformed_one_is_no_failure_of_the_tester(packet: bytes) -> None:
    same_call(decode(packet))

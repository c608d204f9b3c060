# SPDX-License-Identifier: GPL-2.0-or-later
"""Datagrams on X.25 circuits."""

import pytest
from scapy_x25.rfc1356 import (
    IP_PROTOCOL,
    NULL_ENCAPSULATION,
    SNAP,
    Protocol,
    decapsulate,
    encapsulate,
    split_protocol,
)

UNIT = b"\x45\x00"
ARP = Protocol(SNAP, bytes.fromhex("0000000806"))


def test_call_user_data() -> None:
    assert IP_PROTOCOL.octets() == b"\xcc"
    assert NULL_ENCAPSULATION.octets() == b"\0"
    assert ARP.octets().hex() == "800000000806"
    assert split_protocol(b"\xcc") == (IP_PROTOCOL, b"")
    assert split_protocol(bytes.fromhex("80000000080601")) == (ARP, b"\1")
    assert split_protocol(b"") is None
    assert split_protocol(bytes.fromhex("8000000008")) is None


def test_units() -> None:
    assert encapsulate(UNIT, IP_PROTOCOL) == UNIT
    assert encapsulate(UNIT, NULL_ENCAPSULATION).hex() == "cc4500"
    assert encapsulate(UNIT, NULL_ENCAPSULATION, ARP).hex() == "8000000008064500"
    assert encapsulate(UNIT, ARP, ARP) == UNIT
    for circuit, protocol in (
        (IP_PROTOCOL, IP_PROTOCOL),
        (NULL_ENCAPSULATION, IP_PROTOCOL),
        (NULL_ENCAPSULATION, ARP),
        (ARP, ARP),
    ):
        octets = encapsulate(UNIT, circuit, protocol)
        assert decapsulate(octets, circuit) == (protocol, UNIT)
    assert decapsulate(b"", NULL_ENCAPSULATION) is None


def test_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="the circuit carries IP, not SNAP 0000000806"):
        encapsulate(UNIT, IP_PROTOCOL, ARP)
    for wrong in (Protocol(SNAP), Protocol(0xCC, b"12345")):
        with pytest.raises(ValueError, match="snap"):
            wrong.octets()
    assert str(Protocol(0x42)) == "protocol 0x42"

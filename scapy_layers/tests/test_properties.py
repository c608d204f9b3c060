# SPDX-License-Identifier: GPL-2.0-or-later
"""Properties that hold for all octets: nothing raises, nothing is lost."""

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scapy.config import conf
from scapy.packet import Packet, Raw
from scapy_x25 import (
    PACKETS,
    X25,
    XOT,
    CallAccepted,
    CallRequest,
    ClearRequest,
    Data,
    Data128,
    FacilityA,
    FacilityB,
    FacilityC,
    FacilityD,
    Marker,
    PacketSize,
    PvcSetup,
    build_facilities,
    decoded,
    describe,
    parse_facilities,
    summary_line,
)
from scapy_x25.facilities import DEFINED, GENERIC, FacilityExtension
from scapy_x25.summary import LONGEST
from scapy_x25.x25 import code_of

octets = st.binary(min_size=1, max_size=300)
headers = st.builds(
    lambda gfi, lcn, octet_3: bytes([gfi << 4 | lcn >> 8, lcn & 0xFF, octet_3]),
    st.integers(0, 15),
    st.integers(0, 4095),
    st.sampled_from(sorted({0x33, *map(code_of, PACKETS)})),
)
likely_octets = st.builds(lambda head, rest: head + rest, headers, st.binary(max_size=300))


@pytest.fixture(autouse=True)
def errors_show() -> Iterator[None]:
    """Without this Scapy turns an error of a dissector into Raw."""
    before = conf.debug_dissector
    conf.debug_dissector = True
    yield
    conf.debug_dissector = before


def rebuilt(packet: Packet) -> bytes:
    """Octets built from the fields alone, not from Scapy's copy of what was dissected."""
    packet.clear_cache()
    assert packet.raw_packet_cache is None
    return bytes(packet)


@given(octets | likely_octets)
@example(b"\x10\x01\x00data")
@example(b"\x20\x01\x00\x00data")
def test_shared(raw: bytes) -> None:
    packet, whole = decoded(raw), X25(raw)
    assert (type(packet), packet.fields) == (type(whole), whole.fields)
    assert bytes(packet) == raw
    assert packet.payload == whole.payload
    assert rebuilt(packet.copy()) == raw


@given(octets | likely_octets)
def test_x25(raw: bytes) -> None:
    packet = X25(raw)
    assert bytes(packet) == raw
    assert rebuilt(packet) == raw
    assert rebuilt(X25(raw).copy()) == raw
    assert X25(raw) == packet


@pytest.mark.parametrize("kind", PACKETS)
@given(raw=octets | likely_octets)
def test_every_class_takes_every_octet(kind: type[Packet], raw: bytes) -> None:
    assert rebuilt(kind(raw)) == raw


@pytest.mark.parametrize("kind", [*DEFINED, *GENERIC, FacilityExtension])
@given(raw=st.binary(min_size=1, max_size=40))
def test_every_facility_takes_every_octet(kind: type[Packet], raw: bytes) -> None:
    assert rebuilt(kind(raw)) == raw


@given(octets)
@example(b"\0\0\0\0\0\0\0\0")
@example(bytes.fromhex("0000000310012700000003100127"))
def test_xot(raw: bytes) -> None:
    assert bytes(XOT(raw)) == raw
    assert rebuilt(XOT(raw)) == raw


@given(st.integers(0, 0xFFFF), st.integers(0, 400), octets | likely_octets)
def test_xot_units(version: int, length: int, raw: bytes) -> None:
    unit = version.to_bytes(2, "big") + length.to_bytes(2, "big") + raw
    packet = XOT(unit)
    assert (packet.version, packet.length) == (version, length)
    assert rebuilt(packet) == unit


@given(st.binary(max_size=255))
@example(b"\x00\x0f\xc9\x05\x83\x12\x30\xff")
@example(b"\xff")
@example(b"\xff\xc1\x02\x01")
def test_facility_field(field: bytes) -> None:
    facilities = parse_facilities(field)
    assert build_facilities(facilities) == field
    for facility in facilities:
        facility.clear_cache()
    assert build_facilities(facilities) == field
    assert not any(isinstance(facility, Raw) for facility in facilities[:-1])


@given(octets | likely_octets)
def test_summary_is_one_bounded_line(raw: bytes) -> None:
    line = summary_line(raw)
    assert 0 < len(line) <= LONGEST
    assert line.isprintable() and line.isascii()
    assert describe(X25(raw)) == line
    assert X25(raw).mysummary() == line


digits = st.text("0123456789abcdef", max_size=15)
octet = st.integers(0, 255)
facility_lists = st.lists(
    st.one_of(
        st.builds(PacketSize, called=octet, calling=octet),
        st.builds(FacilityA, code=st.integers(0x30, 0x3F), value=st.binary(min_size=1, max_size=1)),
        st.builds(FacilityB, code=st.integers(0x60, 0x7F), value=st.binary(min_size=2, max_size=2)),
        st.builds(FacilityC, code=st.integers(0x80, 0xBF), value=st.binary(min_size=3, max_size=3)),
        st.builds(FacilityD, code=st.integers(0xE0, 0xFE), value=st.binary(max_size=20)),
        st.just(Marker(value=0x00)),
    ),
    max_size=6,
)
lcns = st.integers(0, 4095)
bit = st.integers(0, 1)
calls = {
    "lcn": lcns,
    "called_address": digits,
    "calling_address": digits,
    "facilities": facility_lists.filter(
        lambda each: not any(isinstance(f, Marker) for f in each[:-1])
    ),
    "user_data": st.binary(min_size=1, max_size=128),
}


@given(
    st.one_of(
        st.builds(CallRequest, **calls),
        st.builds(CallAccepted, **calls),
        st.builds(ClearRequest, cause=octet, diagnostic=octet, **calls),
        st.builds(
            Data, q=bit, d=bit, m=bit, lcn=lcns, p_s=st.integers(0, 7), p_r=st.integers(0, 7)
        ),
        st.builds(
            Data128, m=bit, p_s=st.integers(0, 127), p_r=st.integers(0, 127), user_data=octets
        ),
        st.builds(
            PvcSetup,
            pvc_status=octet,
            pvc_initiator_name=st.binary(max_size=255),
            pvc_responder_name=st.binary(max_size=255),
        ),
    )
)
def test_what_was_built_is_dissected_again(packet: Packet) -> None:
    dissected = X25(bytes(packet))
    assert type(dissected) is type(packet)
    assert dissected == packet
    for name, value in packet.fields.items():
        found = dissected.getfieldval(name)
        if name != "facilities":
            assert found == value, name
            continue
        assert [type(f) for f in found] == [type(f) for f in value]
        for one, other in zip(found, value, strict=True):
            for key, parameter in other.fields.items():
                assert one.getfieldval(key) == parameter

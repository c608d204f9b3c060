# SPDX-License-Identifier: GPL-2.0-or-later
"""X.25 packets: examples octet by octet, absent fields, malformed packets, templates."""

from typing import Any

import pytest
from scapy.packet import Packet, Raw
from scapy_x25 import (
    MODULO_128,
    PACKETS,
    REJ,
    RNR,
    RR,
    RR128,
    X25,
    CallAccepted,
    CallConnected,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Data128,
    Diagnostic,
    FacilityA,
    FacilityD,
    FastSelectReverseCharging,
    IncomingCall,
    Interrupt,
    InterruptConfirmation,
    PacketSize,
    PvcSetup,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartConfirmation,
    RestartIndication,
    RestartRequest,
    Undefined,
    WindowSize,
    cut,
    packet_class,
)
from scapy_x25.x25 import code_of

EXAMPLES: list[tuple[Packet, str]] = [
    (
        CallRequest(
            called_address="12345",
            calling_address="98765",
            facilities=[PacketSize(called=7, calling=7), WindowSize(called=2, calling=2)],
            user_data=b"\1\0\0\0",
        ),
        "10010b5512345987650642070743020201000000",
    ),
    (CallRequest(), "10010b0000"),
    (
        CallRequest(
            called_address="123",
            facilities=[FastSelectReverseCharging(fast_select=3)],
            user_data=b"\xcc",
        ),
        "10010b0312300201c0cc",
    ),
    (CallAccepted(), "10010f"),
    (
        CallAccepted(facilities=[PacketSize(called=8, calling=8), WindowSize(called=4, calling=4)]),
        "10010f0006420808430404",
    ),
    (ClearRequest(cause=0, diagnostic=0), "1001130000"),
    (ClearRequest(cause=0, diagnostic=None), "10011300"),
    (ClearIndication(cause=0x13, diagnostic=23), "1001131317"),
    (ClearRequest(user_data=b"\xab\xcd"), "10011300000000abcd"),
    (ClearConfirmation(), "100117"),
    (Data(p_r=0, p_s=0, m=0, user_data=b"hi"), "1001006869"),
    (Data(p_r=3, p_s=7, m=1, user_data=b"A"), "10017e41"),
    (Data(q=1, p_r=1, p_s=2, user_data=b"A"), "90012441"),
    (Data(d=1, p_r=0, p_s=1, user_data=b"A"), "50010241"),
    (RR(p_r=5), "1001a1"),
    (RNR(p_r=5), "1001a5"),
    (REJ(p_r=5), "1001a9"),
    (Interrupt(user_data=b"\1"), "10012301"),
    (InterruptConfirmation(), "100127"),
    (ResetRequest(cause=0, diagnostic=0), "10011b0000"),
    (ResetIndication(cause=5, diagnostic=1), "10011b0501"),
    (ResetConfirmation(), "10011f"),
    (
        PvcSetup(
            pvc_status=0,
            pvc_initiator_lcn=1,
            pvc_responder_lcn=2,
            pvc_incoming_window=2,
            pvc_outgoing_window=2,
            pvc_incoming_packet_size=7,
            pvc_outgoing_packet_size=7,
            pvc_initiator_name="Serial0",
            pvc_responder_name=b"Serial1",
        ),
        "1001f581000700010700020202070753657269616c3053657269616c31",
    ),
    (Data128(p_s=5, p_r=2, m=1, user_data=b"A"), "20010a0541"),
    (RR128(p_r=100), "200101c8"),
    (ClearConfirmation(lcn=4095), "1fff17"),
    (RestartIndication(cause=7, diagnostic=0), "1000fb0700"),
    (RestartConfirmation(), "1000ff"),
    (Diagnostic(diagnostic=36, explanation=bytes.fromhex("100900")), "1000f124100900"),
    (RegistrationRequest(registration=b"\5\1"), "1000f300020501"),
    (RegistrationConfirmation(cause=0x7F), "1000f77f000000"),
]


@pytest.mark.parametrize(("packet", "octets"), EXAMPLES, ids=[text for _, text in EXAMPLES])
def test_example(packet: Packet, octets: str) -> None:
    """Built octet by octet, dissected to the same class with every value that was given."""
    assert bytes(packet).hex() == octets
    dissected = X25(bytes.fromhex(octets))
    assert type(dissected) is type(packet)
    assert dissected == packet
    for name, value in packet.fields.items():
        assert dissected.getfieldval(name) == value, name
    assert not dissected.payload
    dissected.clear_cache()
    assert bytes(dissected).hex() == octets


def test_all_packet_classes_have_an_example() -> None:
    seen = {type(packet) for packet, _ in EXAMPLES}
    assert {kind.__name__ for kind in set(PACKETS) - seen} == {"RNR128", "REJ128", "Undefined"}


def test_names_of_both_directions_are_one_class() -> None:
    assert IncomingCall is CallRequest
    assert CallConnected is CallAccepted
    assert ClearIndication is ClearRequest
    assert ResetIndication is ResetRequest
    assert RestartIndication is RestartRequest


@pytest.mark.parametrize("modulo", range(4))
def test_octet_3_gives_the_class(modulo: int) -> None:
    """Table 5-2: what is not in it is Undefined; reserved GFIs are Undefined whatever follows."""
    defined = 0
    for octet_3 in range(256):
        kind = packet_class(bytes([modulo << 4, 1, octet_3, 0]))
        if kind is not Undefined:
            defined += 1
            code = code_of(kind)
            assert code in (octet_3, octet_3 & 0x1F, octet_3 & 1)
    # 128 Data; RR, RNR, REJ with 8 values of P(R) each or once; 14 others
    assert defined == {0: 0, 1: 128 + 24 + 14, 2: 128 + 3 + 14, 3: 0}[modulo]


def test_modulo_128_of_packets_without_numbers() -> None:
    packet = X25(bytes(CallRequest(modulo=MODULO_128, called_address="1")))
    assert isinstance(packet, CallRequest)
    assert (packet.modulo, packet.called_address) == (MODULO_128, "1")


@pytest.mark.parametrize(
    ("packet", "octets"),
    [
        (ClearRequest(cause=None, diagnostic=None), "100113"),
        (ClearRequest(cause=None, diagnostic=4), "1001130004"),
        (CallAccepted(called_address="31"), "10010f0231"),
        (CallAccepted(facility_length=0), "10010f0000"),
        (CallAccepted(called_address_length=5), "10010f05"),
        (CallAccepted(calling_address_length=5), "10010f50"),
        (CallAccepted(user_data=b"\xcc"), "10010f0000cc"),
        (ClearConfirmation(facilities=[FacilityA(code=4, value=1)]), "10011700020401"),
        (CallRequest(facility_length=None), "10010b00"),
        (
            CallRequest(
                called_address_length=None, calling_address_length=None, facility_length=None
            ),
            "10010b",
        ),
        (Data128(p_r=None, m=None), "200100"),
    ],
)
def test_absent_fields(packet: Packet, octets: str) -> None:
    """None means absent, unless something behind it is there."""
    assert bytes(packet).hex() == octets
    again = X25(bytes.fromhex(octets))
    again.clear_cache()
    assert bytes(again).hex() == octets


@pytest.mark.parametrize(
    ("packet", "octets"),
    [
        (CallRequest(called_address_length=15, called_address="12"), "10010b0f1200"),
        (CallRequest(called_address="123", filler=7), "10010b03123700"),
        (CallRequest(called_address="1a"), "10010b021a00"),
        (CallRequest(facility_length=109, facilities=[PacketSize()]), "10010b006d420707"),
        (CallRequest(facilities=[FacilityD(length=9, value=b"x")]), "10010b0003fe0978"),
        (CallRequest(facilities=b"\x42\x07"), "10010b00024207"),
        (CallRequest(facilities=[FacilityA(value=b"")]), "10010b00013e"),
        (CallRequest(type=0x2B), "10012b0000"),
        (X25(modulo=3, type=0x33) / Raw(b"xy"), "3001337879"),
        (Undefined(modulo=0, type=0x0B), "00010b"),
        (RR(p_r=1) / Raw(b"\xff"), "100121ff"),
        (RR(type=0x1F, p_r=7), "1001ff"),
        (InterruptConfirmation(lcn=0) / Raw(b"\0"), "10002700"),
        (PvcSetup(pvc_initiator_name_length=9, pvc_version=0), "1001f5000009000100000102020707"),
        (RR128(p_r=1, reserved=1), "20010103"),
    ],
)
def test_malformed_packets_can_be_built(packet: Packet, octets: str) -> None:
    assert bytes(packet).hex() == octets
    again = X25(bytes.fromhex(octets))
    again.clear_cache()
    assert bytes(again).hex() == octets


def test_address_block_with_a_bit() -> None:
    """TOA/NPI format: lengths in octets 4 and 5, called first, both with type and plan."""
    packet = CallRequest(
        q=1,
        called_type=0,
        called_plan=3,
        called_address="123",
        calling_type=2,
        calling_plan=1,
        calling_address="45",
    )
    octets = "90010b0504" + "031232145000"
    assert bytes(packet).hex() == octets
    dissected = X25(bytes.fromhex(octets))
    for name, value in packet.fields.items():
        assert dissected.getfieldval(name) == value, name
    assert (dissected.called_address_length, dissected.calling_address_length) == (5, 4)
    assert dissected.filler == 0
    # Without type and plan they are international, X.121; without an address there are none.
    assert bytes(CallRequest(q=1, called_address="31")).hex() == "90010b0400133100"
    assert bytes(CallAccepted(q=1, called_type=1, called_plan=None)).hex() == "90010f01001000"[:12]


def test_address_that_runs_past_the_end() -> None:
    """A cut address block is not an address: its lengths are there, its octets are Raw."""
    for octets in ("10010b550123", "10010b5501234567", "90010b0504031232"):
        packet = X25(bytes.fromhex(octets))
        assert packet.called_address_length == 5
        for name in ("called_type", "called_address", "calling_address", "facility_length"):
            assert packet.getfieldval(name) is None
        assert isinstance(packet.payload, Raw)


def test_lengths_in_two_octets_are_both_there_or_none() -> None:
    packet = X25(bytes.fromhex("90010b05"))
    assert packet.getfieldval("called_address_length") is None
    assert bytes(packet.payload).hex() == "05"


def test_interface_names_past_the_end() -> None:
    packet = X25(bytes.fromhex("1001f581000100010200020202070741" + "42"))
    assert (packet.pvc_initiator_name_length, packet.pvc_responder_name_length) == (1, 2)
    assert packet.getfieldval("pvc_initiator_name") is None
    assert bytes(packet.payload) == b"AB"


def test_facility_length_past_the_end() -> None:
    packet = X25(bytes.fromhex("10010b00094207"))
    assert packet.facility_length == 9
    assert packet.getfieldval("facilities") is None
    assert packet.getfieldval("user_data") is None
    assert bytes(packet.payload).hex() == "4207"


def test_facility_past_the_end_of_the_field() -> None:
    packet = X25(bytes.fromhex("10010b000542070742" + "07cc"))
    assert packet.user_data == b"\xcc"
    assert [type(f) for f in packet.facilities] == [PacketSize, Raw]
    assert bytes(packet.facilities[1]).hex() == "4207"


def test_octets_behind_fixed_packets_are_raw() -> None:
    for octets, behind in (("1001a1ff", "ff"), ("10011b05010203", "0203"), ("10012700", "00")):
        assert bytes(X25(bytes.fromhex(octets)).payload).hex() == behind


def test_cut() -> None:
    call = CallRequest(called_address="12345")
    assert bytes(cut(call, 4)) == bytes(call)[:4]
    assert isinstance(cut(call, 4), CallRequest)
    assert isinstance(cut(call, 2), Undefined)
    assert bytes(cut(call, -1)) == bytes(call)[:-1]
    assert bytes(cut(call, 0)) == b""


@pytest.mark.parametrize(
    ("packet", "said"),
    [
        (RR(lcn=4096), "lcn: 4096"),
        (CallRequest(called_address="12x"), "called_address: '12x'"),
        (CallRequest(called_address="1234567890123456"), "called_address_length: 16"),
        (CallRequest(facilities=b"\0" * 256), "facility_length: 256"),
        (ClearRequest(cause="busy"), "cause: 'busy'"),
        (Data(user_data=7), "user_data: 7"),
    ],
)
def test_what_cannot_be_built_is_said(packet: Packet, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        bytes(packet)


class Matcher:
    """What a judge puts in place of a value."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def matches(self, value: Any) -> bool:
        return value in self.values


@pytest.mark.parametrize("kind", [X25, *PACKETS])
def test_template_keeps_only_what_was_given(kind: type[Packet]) -> None:
    assert kind().fields == {}
    assert kind().copy().fields == {}
    for field in kind.fields_desc:
        matcher = Matcher(1)
        template = kind(**{field.name: matcher})
        assert template.fields == {field.name: matcher}
        assert template.getfieldval(field.name) is matcher
        assert getattr(template, field.name) is matcher
        assert template.copy().fields == {field.name: matcher}
        assert template.copy() == template
        assert repr(template)


# Fields that are on the wire only if something else calls for them.
_ON_DEMAND = {"filler", "called_type", "called_plan", "calling_type", "calling_plan"}


@pytest.mark.parametrize("kind", [X25, *PACKETS])
def test_templates_cannot_be_built(kind: type[Packet]) -> None:
    """A clear ValueError, whatever field the matcher is in."""
    for field in kind.fields_desc:
        if field.name not in _ON_DEMAND:
            with pytest.raises(ValueError, match=field.name):
                bytes(kind(**{field.name: Matcher(1)}))


def test_facilities_of_templates() -> None:
    matcher = Matcher(7, 8)
    template = CallRequest(facilities=[PacketSize(called=matcher), WindowSize()])
    copy = template.copy()
    assert copy.facilities[0].fields == {"called": matcher}
    assert copy.facilities[1].fields == {}
    assert copy.facilities[0] is not template.facilities[0]
    one = CallRequest(facilities=PacketSize(called=matcher))
    assert [f.fields for f in one.facilities] == [{"called": matcher}]
    assert CallRequest(facilities=matcher).copy().getfieldval("facilities") is matcher


def test_changing_a_dissected_packet_changes_its_octets() -> None:
    packet = X25(bytes.fromhex("10010b0003420707"))
    packet.facilities[0].called = 8
    assert bytes(packet).hex() == "10010b0003420807"
    packet.called_address = "12"
    packet.called_address_length = 2
    assert bytes(packet).hex() == "10010b021203420807"


def test_answers_and_hashret() -> None:
    call, accepted = CallRequest(lcn=5), CallAccepted(lcn=5)
    assert accepted.answers(call)
    assert accepted.hashret() == call.hashret()
    assert not call.answers(accepted)
    assert ClearConfirmation().answers(ClearRequest())
    assert not ClearConfirmation().answers(ResetRequest())
    assert RR().answers(Data())
    assert not RR().answers(Data128())
    assert RR(lcn=Matcher(1)).hashret() == b""

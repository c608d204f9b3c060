# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB frames, modulo 8 and 128, and LAPB over Ethernet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy_x25 import RR, Data, RestartRequest
from scapy_x25.lapb import (
    ADDRESS_A,
    ADDRESS_B,
    FRAMES,
    LAPB,
    LAPB128,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbFRMR128,
    LapbI,
    LapbI128,
    LapbREJ,
    LapbREJ128,
    LapbRNR,
    LapbRNR128,
    LapbRR,
    LapbRR128,
    LapbSABM,
    LapbSABME,
    LapbUA,
    LapbUndefined,
    is_command,
)
from scapy_x25.lapbether import LapbEther

EXAMPLES: list[tuple[type[Packet], Packet, str]] = [
    (LAPB, LapbI(n_s=5, n_r=3, p_f=1) / Data(user_data=b"A"), "037a10010041"),
    (LAPB, LapbI(address=ADDRESS_B), "0100"),
    (LAPB, LapbRR(n_r=7), "03e1"),
    (LAPB, LapbRNR(n_r=1, p_f=1), "0335"),
    (LAPB, LapbREJ(address=ADDRESS_B, n_r=2), "0149"),
    (LAPB, LapbSABM(), "032f"),
    (LAPB, LapbSABM(p_f=1), "033f"),
    (LAPB, LapbSABME(p_f=1), "037f"),
    (LAPB, LapbDISC(p_f=1), "0353"),
    (LAPB, LapbUA(p_f=1), "0373"),
    (LAPB, LapbDM(p_f=1), "031f"),
    (
        LAPB,
        LapbFRMR(p_f=1, rejected_control=0x54, v_r=1, c_r=1, v_s=6, z=1),
        "0397543c08",
    ),
    (LAPB, LapbFRMR(w=1, x=1, y=1), "038700" + "0007"),
    (LAPB, LapbUndefined(type=0x83) / Raw(b"x"), "038378"),
    (LAPB128, LapbI128(n_s=100, n_r=3, p_f=1) / RR(p_r=1), "03c807" + "100121"),
    (LAPB128, LapbRR128(n_r=127), "0301fe"),
    (LAPB128, LapbRNR128(n_r=1, p_f=1), "030503"),
    (LAPB128, LapbREJ128(), "030900"),
    (
        LAPB128,
        LapbFRMR128(rejected_control=0xC807, v_s=5, v_r=9, c_r=1, z=1),
        "0387c8070a1308",
    ),
    (LAPB128, LapbUA(), "0363"),
]


@pytest.mark.parametrize(("link", "frame", "octets"), EXAMPLES, ids=[e[2] for e in EXAMPLES])
def test_example(link: type[Packet], frame: Packet, octets: str) -> None:
    assert bytes(frame).hex() == octets
    found = link(bytes.fromhex(octets))
    assert type(found) is type(frame)
    for name, value in frame.fields.items():
        assert found.getfieldval(name) == value, name
    assert type(found.payload) is type(frame.payload)
    found.clear_cache()
    assert bytes(found).hex() == octets


def test_every_class_has_an_example() -> None:
    assert {type(frame) for _, frame, _ in EXAMPLES} == set(FRAMES)


def test_templates_keep_only_what_was_given() -> None:
    kinds: list[type[Packet]] = [LAPB, LAPB128, *FRAMES]
    for kind in kinds:
        assert kind().copy().fields == {}
        assert kind(address=1).fields == {"address": 1}


@pytest.mark.parametrize("link", [LAPB, LAPB128, *FRAMES])
@given(octets=st.binary(min_size=1, max_size=40))
def test_no_octet_is_lost(link: type[Packet], octets: bytes) -> None:
    frame = link(octets)
    assert bytes(frame) == octets
    frame.clear_cache()
    assert bytes(frame) == octets


def test_restart_in_an_i_frame() -> None:
    frame = LAPB(bytes.fromhex("03001000fb0700"))
    assert isinstance(frame.payload, RestartRequest)
    assert frame.payload.cause == 7


def test_cut_control_field_carries_no_packet() -> None:
    frame = LAPB128(bytes.fromhex("0302"))
    assert isinstance(frame, LapbI128)
    assert (frame.n_s, frame.getfieldval("n_r")) == (1, None)


def test_commands_and_responses() -> None:
    assert is_command(ADDRESS_A, from_dce=True)
    assert not is_command(ADDRESS_B, from_dce=True)
    assert is_command(ADDRESS_B, from_dce=False)
    assert not is_command(ADDRESS_A, from_dce=False)
    with pytest.raises(ValueError, match="0x02"):
        is_command(2, from_dce=True)


def test_over_ethernet() -> None:
    head = "ffffffffffff" + "020000000001" + "6000"
    frame = Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01") / LapbEther() / LapbSABM(p_f=1)
    assert bytes(frame).hex() == head + "0200" + "033f"
    received = Ether(bytes.fromhex(head + "0200" + "033f" + "00" * 42))
    assert received[LapbEther].length == 2
    assert isinstance(received[LapbEther].payload, LapbSABM)
    assert bytes(received).hex() == head + "0200" + "033f" + "00" * 42

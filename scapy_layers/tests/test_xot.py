# SPDX-License-Identifier: GPL-2.0-or-later
"""XOT: header, units of a stream, Scapy's TCP reassembly."""

import subprocess
import sys

import pytest
import scapy_x25
from scapy.layers.inet import IP, TCP
from scapy.packet import Padding, Raw
from scapy.sessions import TCPSession
from scapy_x25 import (
    RR,
    X25,
    XOT,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Data,
    Interrupt,
    PacketSize,
    ResetRequest,
    cause_meaning,
    describe,
    diagnostic_meaning,
    pvc_status_meaning,
    split_units,
    summary_line,
)
from scapy_x25.tables import CAUSES, DTE_DIAGNOSTICS, PERMANENT_ONLY


def test_length_counts_itself() -> None:
    assert bytes(XOT() / CallRequest()).hex() == "0000000510010b0000"
    assert bytes(XOT(length=2) / RR()).hex() == "00000002100101"
    assert bytes(XOT(version=1, length=0)).hex() == "00010000"
    assert bytes(XOT()).hex() == "00000000"
    with pytest.raises(ValueError, match="length: 65536"):
        bytes(XOT() / Raw(bytes(65536)))


def test_unit_and_what_follows() -> None:
    packet = XOT(bytes.fromhex("00000003100127" + "0000000310011f"))
    assert packet.payload.name == "X.25 Interrupt Confirmation"
    assert bytes(packet[Padding]).hex() == "0000000310011f"


@pytest.mark.parametrize(
    ("stream", "units", "rest"),
    [
        ("", [], ""),
        ("000000", [], "000000"),
        ("00000000", ["00000000"], ""),
        ("0000000310012700", ["00000003100127"], "00"),
        ("00010001ff00000003100127", ["00010001ff", "00000003100127"], ""),
        ("0000ffff1001", [], "0000ffff1001"),
    ],
)
def test_split_units(stream: str, units: list[str], rest: str) -> None:
    found, left = split_units(bytes.fromhex(stream))
    assert [unit.hex() for unit in found] == units
    assert left.hex() == rest


STREAM = b"".join(
    bytes(XOT() / packet)
    for packet in (CallRequest(called_address="123"), Data(user_data=b"x" * 9), ClearRequest())
)


@pytest.mark.parametrize("size", [*range(1, 24), len(STREAM)])
def test_reassembly_at_any_cut(size: int) -> None:
    """However TCP cuts the stream, every unit comes out once, whole and in order. Scapy stacks the
    units that one segment completes."""
    session = TCPSession()
    received = []
    for start in range(0, len(STREAM), size):
        tcp = TCP(sport=40000, dport=1998, seq=1000 + start, flags="PA")
        segment = IP(src="127.0.0.1", dst="127.0.0.2") / tcp / Raw(STREAM[start : start + size])
        packet = session.process(IP(bytes(segment)))
        if packet is not None:
            unit = packet.getlayer(XOT)
            while unit is not None:
                received.append(type(unit.payload))
                unit = unit.payload.getlayer(XOT)
    assert received == [CallRequest, Data, ClearRequest]


def test_reassembly_of_a_stream_socket() -> None:
    session = TCPSession(app=True)
    units = []
    for octet in STREAM:
        packet = session.process(bytes([octet]), cls=XOT)
        if packet is not None:
            units.append(bytes(packet))
    assert units == split_units(STREAM)[0]


@pytest.mark.parametrize(("sport", "dport"), [(40000, 1998), (1998, 40000), (1998, 1998)])
def test_bound_to_the_port_both_ways(sport: int, dport: int) -> None:
    frame = bytes(IP() / TCP(sport=sport, dport=dport) / XOT() / RR())
    assert RR in IP(frame)


def test_answers() -> None:
    assert (XOT() / CallAccepted()).answers(XOT() / CallRequest())
    assert not (XOT() / ClearConfirmation()).answers(XOT() / CallRequest())
    assert (XOT() / RR(lcn=3)).hashret() == b"\0\3"


def _modules_after(code: str) -> set[str]:
    """The modules of Scapy and of this package that are loaded behind these statements."""
    code += "; import sys; print(*(m for m in sys.modules if 'scapy' in m))"
    return set(
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
    )


def _layers(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("scapy.layers.")}


def test_import_is_light() -> None:
    """No layer of Scapy's; with XOT, inet and what that needs."""
    modules = _modules_after("import scapy_x25")
    assert "scapy_x25.x25" in modules
    assert "scapy.all" not in modules
    assert _layers(modules) == set()
    modules = _modules_after("from scapy_x25 import XOT")
    assert "scapy.all" not in modules
    assert _layers(modules) == {"scapy.layers.inet", "scapy.layers.inet6", "scapy.layers.l2"}


def test_xot_is_bound_where_tcp_is_there_first() -> None:
    assert "scapy_x25.xot" in _modules_after("import scapy.layers.inet; import scapy_x25")


def test_what_the_package_does_not_have() -> None:
    with pytest.raises(AttributeError, match="no attribute 'NOTHING'"):
        scapy_x25.NOTHING  # noqa: B018 - that it is asked for is what counts


def test_tables() -> None:
    assert cause_meaning("clear", 0x13) == "local procedure error"
    assert cause_meaning("reset", 5) == "local procedure error"
    assert cause_meaning("restart", 7) == "network operational"
    assert cause_meaning("clear", 0x85) == "DTE originated"
    assert cause_meaning("clear", 0xC3) == "gateway congestion"
    assert cause_meaning("clear", 0x42) == ""
    assert cause_meaning("registration", 0x85) == ""
    assert {packet: len(causes) for packet, causes in CAUSES.items()} == {
        "clear": 17,
        "reset": 12,
        "restart": 8,
        "registration": 4,
    }
    assert 1 in PERMANENT_ONLY
    assert diagnostic_meaning(23) == "packet type invalid for state p4"
    assert diagnostic_meaning(15) == ""
    assert 161 in DTE_DIAGNOSTICS
    assert pvc_status_meaning(0x18) == "mismatched flow control values"


@pytest.mark.parametrize(
    ("octets", "line"),
    [
        (
            bytes(ResetRequest(lcn=1, cause=5, diagnostic=1)),
            "Reset Indication LCI=1 cause=0x05 (local procedure error) diagnostic=1 (invalid P(S))",
        ),
        (
            bytes(Data(p_s=3, p_r=1, m=1, q=1, user_data=bytes(128))),
            "Data LCI=1 P(S)=3 P(R)=1 M Q 128 octets",
        ),
        (bytes(Interrupt(user_data=b"\x1b[2J")), "Interrupt LCI=1 user data=1b5b324a (4 octets)"),
        (
            bytes(CallRequest(called_address="12", facilities=[PacketSize()])),
            "Call Request LCI=1 called=12 [packet size 128/128]",
        ),
        (
            bytes.fromhex("10010b021204420707 43"),
            "Call Request LCI=1 called=12 [packet size 128/128, cut off: 43 (1 octet)]",
        ),
        (b"\x30\x01\x0b", "undefined packet LCI=1 GFI bits 6-5=3 type=0x0b"),
        (b"\x10", "undefined packet +1 octet"),
        (b"", "empty packet"),
    ],
)
def test_summary_line(octets: bytes, line: str) -> None:
    assert summary_line(octets) == line


@pytest.mark.parametrize(
    ("packet", "from_dte", "to_dte"),
    [
        (CallRequest(), "Call Request", "Incoming Call"),
        (CallAccepted(), "Call Accepted", "Call Connected"),
        (ClearRequest(cause=0x13), "Clear Request", "Clear Indication"),
        (ResetRequest(cause=0), "Reset Request", "Reset Indication"),
        (Interrupt(), "Interrupt", "Interrupt"),
    ],
)
def test_packets_are_called_by_their_direction(packet: X25, from_dte: str, to_dte: str) -> None:
    assert describe(packet, to_dte=False).startswith(from_dte)
    assert describe(packet, to_dte=True).startswith(to_dte)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of the strict dissector's fields, and what its packets are known by."""

import pytest
from scapy.packet import Packet, Raw
from scapy_x25 import (
    RR,
    RR128,
    X25,
    XOT,
    CallRequest,
    Data128,
    FacilityA,
    FacilityExtension,
    PacketSize,
    Undefined,
)
from scapy_x25.lapb import LAPB, LAPB128, LapbFRMR128, LapbI128, LapbRR, LapbUndefined
from x25shark.judges.strict import strict_conditions, strict_fields


def test_strict_fields() -> None:
    assert strict_fields(RR) == {
        "q": "x25s.q",
        "d": "x25s.d",
        "modulo": "x25s.modulo",
        "lcn": "x25s.lcn",
        "p_r": "x25s.p_r",
        "type": "x25s.type",
    }
    assert strict_fields(PacketSize) == {
        "code": "x25s.facility_code",
        "called": "x25s.packet_size_called",
        "calling": "x25s.packet_size_calling",
    }
    assert strict_fields(XOT) == {"version": "xots.version", "length": "xots.length"}
    assert strict_fields(FacilityExtension) == {
        "code": "x25s.facility_code",
        "extended_code": "x25s.facility_extended_code",
        "value": "x25s.facility_value",
    }
    assert strict_fields(CallRequest)["called_plan"] == "x25s.called_plan"
    assert "filler" not in strict_fields(CallRequest)
    assert strict_fields(LapbRR)["n_r"] == "lapbs.n_r"
    with pytest.raises(ValueError, match="Raw"):
        strict_fields(Raw)


@pytest.mark.parametrize(
    ("kind", "conditions"),
    [
        (X25, {}),
        (XOT, {}),
        (CallRequest, {"x25s.type": 0x0B}),
        (RR, {"x25s.type": 0x01, "x25s.modulo": 1}),
        (RR128, {"x25s.type": 0x01, "x25s.modulo": 2}),
        (Data128, {"x25s.type": 0x00, "x25s.modulo": 2}),
        (Undefined, {"x25s.undefined": 1}),
        (LAPB, {}),
        (LAPB128, {}),
        (LapbI128, {"lapbs.type": 0x00}),
        (LapbFRMR128, {"lapbs.type": 0x87}),
        (LapbUndefined, {"lapbs.undefined": 1}),
        (PacketSize, {"x25s.facility_code": 0x42}),
        (FacilityExtension, {"x25s.facility_code": 0xFF}),
        (FacilityA, {}),
    ],
)
def test_strict_conditions(kind: type[Packet], conditions: dict[str, int]) -> None:
    assert strict_conditions(kind) == conditions

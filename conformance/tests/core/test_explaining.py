# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of an expectation that was not met: the packet that is wrong, and its fields."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from scapy.packet import Packet
from scapy_x25 import (
    CallAccepted,
    ClearConfirmation,
    ClearRequest,
    Data,
    PacketSize,
    ResetRequest,
    WindowSize,
)
from scapy_x25.lapb import LapbFRMR
from x25shark.judges.evidence import EvidenceJudge, Read
from x25shark.judges.expectation import (
    Counted,
    Direction,
    Expectation,
    Next,
    NextMessage,
    PacketView,
    Quiet,
    Seen,
)
from x25shark.judges.template import describe_template, lacks, wrong_fields
from x25shark.links.carrier import FRAMES, LineEnd
from x25shark.run.explaining import Until, explanation
from x25shark.sides.bench import Bench
from x25shark.sides.outcomes import ExpectationFailed, Inconclusive
from x25shark.suite.occasion import amid

A = Direction(("127.0.0.1", 1998), ("127.0.0.2", 1000))
B = Direction(("127.0.0.1", 2000), ("127.0.0.3", 1998))


def view(octets: str, offset: int, frame: int, **fields: int) -> PacketView:
    raw = bytes.fromhex(octets)
    return PacketView(
        offset, offset + 4 + len(raw), None, b"", fields.get("m", 0), 0, raw, frame, 1
    )


class Evidence(EvidenceJudge):
    """Judge two with packets that a test has made up."""

    def __init__(self, packets: dict[Direction, list[PacketView]]) -> None:
        self._made = packets
        self.reads = [Read(d, v, v.octets) for d, views in packets.items() for v in views]

    def packets(self, direction: Direction) -> list[PacketView]:
        return self._made.get(direction, [])

    def frames(self) -> dict[tuple[Direction, int], tuple[int | None, int | None]]:
        return {(d, v.offset): (v.frame, v.k) for d, views in self._made.items() for v in views}


OTHER_CHANNEL = Direction(LineEnd("line.b", 127, True), LineEnd("line.b", 127, False))
LINE = Direction(LineEnd("line.b", FRAMES, True), LineEnd("line.b", FRAMES, False))
WRONG_FCS = view("013f0000", 0, 4)._replace(framed=True)
RESET = view("10011b0527", 0, 7)
RR = view("100121", 0, 8)
DATA = view("100110" + "41" * 3, 0, 9, m=1)
SIDES = [("A", A), ("B", B)]
ALL = {A: Until(1000, ""), B: Until(1000, "")}


@pytest.mark.parametrize(
    ("template", "octets", "wrong"),
    [
        (ClearRequest(cause=19, diagnostic=38), "1001131126", ["cause"]),
        (ClearRequest(cause=17, diagnostic=38), "1001131126", []),
        (Data(p_s=1, user_data=b"AAB"), "100100414141", ["P(S)", "user data (from octet 2 on)"]),
        (
            Data(user_data=b"AAAA"),
            "100100414141",
            ["user data (3 octets in place of 4)"],
        ),
        (
            CallAccepted(facilities=[PacketSize(called=8), lacks(WindowSize)]),
            "10010f0006420707430202",
            ["packet size", "window size, which is there"],
        ),
        (Data(), "1001131126", []),
        (ClearConfirmation(modulo=2), "100117", ["modulo (8 in place of 128)"]),
    ],
)
def test_the_fields_that_are_wrong(template: Packet, octets: str, wrong: list[str]) -> None:
    assert wrong_fields(template, bytes.fromhex(octets)) == wrong


HERE: dict[str, Any] = {"side": "A", "clause": "test", "direction": A}
NOTHING = Seen(False, None, "nothing")
CASES: list[tuple[str, Expectation, Seen, dict[Direction, list[PacketView]], list[str]]] = [
    (
        "the field of the packet that came",
        Next(**HERE, alternatives=(ResetRequest(cause=5, diagnostic=38),)),
        Seen(False, RESET),
        {A: [RESET]},
        ["wrong in it: diagnostic"],
    ),
    (
        "the packet in which other octets came",
        NextMessage(**HERE, alternatives=(Data(),), octets=b"AAA"),
        Seen(False, DATA, "other octets"),
        {A: [DATA]},
        ["in Data LCI=1 P(S)=0 P(R)=0 M 3 octets (frame 9, packet 1)"],
    ),
    (
        "a packet too many",
        Counted(**HERE, template=ResetRequest(), high=0),
        Seen(False, RESET, "once", 1),
        {A: [RESET]},
        ["the first too many: Reset Indication", "diagnostic=39"],
    ),
    (
        "a packet too few",
        Counted(**HERE, template=ResetRequest(), low=2),
        Seen(False, RESET, "once", 1),
        {A: [RESET]},
        ["the last of them: Reset Indication"],
    ),
    (
        "what came at the other side",
        Next(**HERE, alternatives=(ClearConfirmation(),)),
        NOTHING,
        {A: [RR], B: [RESET]},
        ["allowed but not expected: RR LCI=1 P(R)=1", "meanwhile at side B: Reset Indication"],
    ),
    (
        "what had come, where nothing else did",
        Next(**HERE, alternatives=(ClearConfirmation(),), start=DATA.end),
        NOTHING,
        {A: [DATA]},
        ["the last before that: Data LCI=1"],
    ),
    (
        "what came on a channel that nobody has",
        Next(**HERE, alternatives=(ClearConfirmation(),)),
        NOTHING,
        {OTHER_CHANNEL: [RESET]},
        ["meanwhile on a logical channel of no side: Reset Indication LCI=1"],
    ),
    (
        "what came on a line and no station takes",
        Next(**HERE, alternatives=(ClearConfirmation(),)),
        NOTHING,
        {LINE: [WRONG_FCS]},
        ["meanwhile on a serial line: frame with wrong FCS, 4 octets (frame 4, packet 1)"],
    ),
    ("a counter is no packet", Quiet(**HERE), NOTHING, {B: [RESET]}, []),
]


@pytest.mark.parametrize(("expectation", "seen", "packets", "texts"), [c[1:] for c in CASES])
def test_what_is_said(
    expectation: Expectation,
    seen: Seen,
    packets: dict[Direction, list[PacketView]],
    texts: list[str],
) -> None:
    said = explanation(expectation, seen, Evidence(packets), set(), SIDES, ALL)
    assert all(text in said for text in texts), said
    assert bool(said) == bool(texts)


def test_a_sequence_whose_last_packet_announces_more() -> None:
    expectation = NextMessage(**HERE, alternatives=(Data(),), octets=b"AAA")
    said = explanation(expectation, NOTHING, Evidence({A: [DATA]}), {(A, 0)}, SIDES, ALL)
    assert said.startswith("the last packet announces more: Data LCI=1 P(S)=0 P(R)=0 M")


def test_what_came_after_the_tester_gave_up_is_not_told() -> None:
    expectation = Next(**HERE, alternatives=(ClearConfirmation(),))
    early = {A: Until(0, ""), B: Until(0, "")}
    assert explanation(expectation, NOTHING, Evidence({B: [RESET]}), set(), SIDES, early) == ""


def test_of_many_sides_the_last_are_told() -> None:
    expectation = Next(**HERE, alternatives=(ClearConfirmation(),))
    others = [Direction(("127.0.0.1", port), ("127.0.0.3", 1998)) for port in range(2000, 2005)]
    judge = Evidence({direction: [RESET] for direction in others})
    sides = [("A", A), *(("B", direction) for direction in others)]
    until = dict.fromkeys((A, *others), Until(1000, ""))
    said = explanation(expectation, NOTHING, judge, set(), sides, until)
    assert said.count("meanwhile at side B: Reset Indication") == 3
    assert said.endswith("meanwhile on 2 more connections")


def test_a_failure_says_on_which_occasion_it_came() -> None:
    expectation = Next(**HERE, alternatives=(ClearConfirmation(),), note="fence")
    remarks: list[str] = []
    bench = cast(Bench, SimpleNamespace(remark=remarks.append))
    with pytest.raises(ExpectationFailed), amid(bench, "behind a reset of B"):
        raise ExpectationFailed(expectation, NOTHING)
    assert expectation.note == "fence; behind a reset of B"
    with pytest.raises(Inconclusive), amid(bench, "in a call of B"):
        raise Inconclusive("no channel")
    assert remarks == ["in a call of B"]


def test_templates_of_frames_show_their_fields() -> None:
    assert describe_template(LapbFRMR(c_r=1)) == "LAPB FRMR C/R=1"

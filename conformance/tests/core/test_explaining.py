# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of an expectation that was not met: the packet that is wrong, and its fields."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scapy.packet import Packet
from scapy_x25 import RR as ReceiveReady
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
    Never,
    Next,
    NextMessage,
    NoConnection,
    PacketView,
    Quiet,
    Seen,
)
from x25shark.judges.template import describe_template, lacks, wrong_fields
from x25shark.links.carrier import FRAMES, End, LineEnd
from x25shark.results import ExpectationResult, PacketLine
from x25shark.run.explaining import Until, explanation, nearest, sent_before
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

    def connections_to(self, listener: End) -> list[Direction]:
        return [direction for direction in self._made if direction.destination == listener]

    def frames(self) -> dict[tuple[Direction, int], tuple[int | None, int | None]]:
        return {(d, v.offset): (v.frame, v.k) for d, views in self._made.items() for v in views}


OTHER_CHANNEL = Direction(LineEnd("line.b", 127, True), LineEnd("line.b", 127, False))
LINE = Direction(LineEnd("line.b", FRAMES, True), LineEnd("line.b", FRAMES, False))
WRONG_FCS = view("013f0000", 0, 4)._replace(framed=True)
RESET = view("10011b0527", 0, 7)
RR = view("100121", 0, 8)
RR_OF_2 = ReceiveReady(p_r=2)
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
    (
        "what was let pass and is of the kind that was expected",
        Next(**HERE, alternatives=(RR_OF_2,)),
        NOTHING,
        {A: [RR]},
        ["wrong in it: P(R)"],
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


def test_of_a_connection_that_must_not_be_the_first_packet_is_told() -> None:
    expectation = NoConnection("B", "test", listener=B.destination)
    found = Seen(False, None, "a connection from 127.0.0.1:2000")
    said = explanation(expectation, found, Evidence({B: [RESET]}), set(), SIDES, ALL)
    assert said.startswith("the first on it: Reset Indication LCI=1")


def test_only_where_nothing_came_it_is_what_was_let_pass() -> None:
    expectation = Next(**HERE, alternatives=(RR_OF_2,))
    judge = Evidence({A: [RR]})
    assert nearest(expectation, NOTHING, judge, set()) == RR
    assert nearest(expectation, NOTHING, judge, {(A, RR.offset)}) is None
    assert nearest(expectation, Seen(False, None, "TCP FIN"), judge, set()) is None
    assert nearest(Never(**HERE, forbidden=(RR_OF_2,)), NOTHING, judge, set()) is None


def sent(frame: int, text: str, connection: int = 1) -> PacketLine:
    return PacketLine(0.0, frame, 1, "AB"[connection - 1], True, connection, 0, text)


LADDER = [
    sent(1, "Call Request"),
    sent(3, "Call Accepted", 2),
    sent(5, "Data P(S)=0 P(R)=0"),
    sent(7, "RR P(R)=1"),
    sent(9, "RR P(R)=1"),
    sent(11, "Interrupt", 2),
    PacketLine(0.0, 12, 1, "A", False, 1, 0, "Reset Indication"),
    sent(13, "RR P(R)=2"),
]


@pytest.mark.parametrize(
    ("expectation", "frame", "stimulus", "said"),
    [
        # What it waited behind, and the one before on that connection.
        (
            Next(**HERE),
            None,
            5,
            ", after side A had sent Call Request (frame 1) and Data P(S)=0 P(R)=0 (frame 5)",
        ),
        (Next(**HERE), None, 1, ", after side A had sent Call Request (frame 1)"),
        # An acknowledgement is no reason, but one that says the same again is.
        (
            Next(**HERE),
            None,
            13,
            ", after side A had sent RR P(R)=1 (frame 9) and RR P(R)=2 (frame 13)",
        ),
        (
            Next(**HERE),
            None,
            7,
            ", after side A had sent Data P(S)=0 P(R)=0 (frame 5) and RR P(R)=1 (frame 7)",
        ),
        # Nothing that was sent after it came.
        (
            Next(**HERE),
            12,
            13,
            ", after side A had sent RR P(R)=1 (frame 9) and side B had sent Interrupt (frame 11)",
        ),
        (
            Never(**HERE),
            12,
            1,
            ", after side A had sent RR P(R)=1 (frame 9) and side B had sent Interrupt (frame 11)",
        ),
        (Next(**HERE), None, None, ""),
        (
            Next(**HERE, tcp_ended=("B", "FIN")),
            None,
            1,
            ", after side A had sent Call Request (frame 1) and side B had ended its TCP "
            "connection (FIN)",
        ),
    ],
)
def test_what_the_tester_had_sent(
    expectation: Expectation, frame: int | None, stimulus: int | None, said: str
) -> None:
    shown = ExpectationResult(
        text="", side="A", clause="", met=False, frame=frame, k=1, stimulus_frame=stimulus
    )
    assert sent_before(expectation, shown, LADDER) == said


def on_line(frame: int, side: str, text: str) -> PacketLine:
    return PacketLine(0.0, frame, 1, side, True, "AB".index(side) + 1, 0, text)


A_CHANNEL = Direction(LineEnd("line.a", 254, True), LineEnd("line.a", 254, False))
A_FRAMES = Direction(LineEnd("line.a", FRAMES, True), LineEnd("line.a", FRAMES, False))
I_FRAME = "LAPB I address=0x01 N(S)=1 N(R)=1 P/F=0 | "
ON_LINES = [
    on_line(1, "A", f"{I_FRAME}Call Request LCI=254"),
    on_line(2, "A", f"{I_FRAME}Data LCI=254 P(S)=0 P(R)=0"),
    on_line(3, "A", f"{I_FRAME}Call Request LCI=253"),
    on_line(4, "A", "LAPB RR address=0x01 N(R)=2 P/F=1"),
    on_line(5, "B", "LAPB SABM address=0x03 P/F=1"),
]
UNMET = ExpectationResult(
    text="", side="A", clause="", met=False, frame=None, k=None, stimulus_frame=5
)


def test_of_a_line_its_own_channel_is_told() -> None:
    expectation = Next(side="A", clause="test", direction=A_CHANNEL)
    before_b = dataclasses.replace(UNMET, stimulus_frame=4)
    assert sent_before(expectation, before_b, ON_LINES) == (
        ", after side A had sent Call Request LCI=254 (frame 1) and "
        "Data LCI=254 P(S)=0 P(R)=0 (frame 2)"
    )


def test_where_nothing_was_sent_on_the_channel_everything_is_told() -> None:
    elsewhere = [packet for packet in ON_LINES if packet.frame > 2]
    before_b = dataclasses.replace(UNMET, stimulus_frame=3)
    said = sent_before(Next(side="A", clause="test", direction=A_CHANNEL), before_b, elsewhere)
    assert said == ", after side A had sent Call Request LCI=253 (frame 3)"


def test_behind_a_frame_the_frames_of_its_own_line_are_told() -> None:
    said = sent_before(Next(side="A", clause="test", direction=A_FRAMES), UNMET, ON_LINES)
    assert "side B" not in said
    assert said.endswith("and LAPB RR address=0x01 N(R)=2 P/F=1 (frame 4)")


def test_in_a_case_of_the_link_a_packet_is_shown_with_its_frame() -> None:
    expectation = Next(side="A", clause="test", direction=A_CHANNEL)
    before_b = dataclasses.replace(UNMET, stimulus_frame=2)
    said = sent_before(expectation, before_b, ON_LINES, of_link=True)
    assert said.endswith(f"{I_FRAME}Data LCI=254 P(S)=0 P(R)=0 (frame 2)")


def test_what_was_sent_ahead_of_a_packet_that_was_passed_on_is_told_with_its_modulo() -> None:
    wrong = dataclasses.replace(sent(5, "Data LCI=1 P(S)=0 P(R)=0 9 octets"), octets="20010000")
    good = dataclasses.replace(sent(6, "Data LCI=1 P(S)=0 P(R)=0 8 octets"), octets="10010041")
    came = PacketLine(0.0, 7, 1, "B", False, 2, 0, "Data LCI=4 P(S)=0 P(R)=0 8 octets")
    shown = dataclasses.replace(UNMET, frame=7, k=1, stimulus_frame=6)
    packets = [sent(3, "Call Accepted", 2), wrong, good, came]
    assert sent_before(Next(side="B", clause="test", direction=B), shown, packets) == (
        ", after side A had sent Data LCI=1 P(S)=0 P(R)=0 9 octets in modulo 128 (frame 5) and "
        "Data LCI=1 P(S)=0 P(R)=0 8 octets in modulo 8 (frame 6)"
    )


@pytest.mark.parametrize(
    ("answer", "told"), [("PVC setup status=0x19 (x)", True), ("PVC setup status=0x00 (x)", False)]
)
def test_a_pvc_setup_that_was_refused_before_is_told(answer: str, told: bool) -> None:
    def line(frame: int, connection: int, text: str, *, mine: bool) -> PacketLine:
        return PacketLine(0.0, frame, 1, "A", mine, connection, 0, text)

    packets = [
        line(1, 1, "PVC setup status=0x00 (x) a", mine=True),
        line(2, 1, answer, mine=False),
        line(3, 2, "PVC setup status=0x00 (x) b", mine=True),
        line(4, 2, "PVC setup status=0x17 (x)", mine=False),
    ]
    shown = dataclasses.replace(UNMET, frame=4, k=1, stimulus_frame=3)
    said = sent_before(Next(**HERE), shown, packets)
    assert said.startswith(", after side A had sent PVC setup status=0x00 (x) b (frame 3)")
    assert (f"(frame 1) got {answer} (frame 2)" in said) == told


def test_of_a_packet_too_many_the_one_like_it_is_told() -> None:
    first = RESET._replace(offset=0, frame=5)
    again = RESET._replace(offset=20, end=30)
    said = explanation(Quiet(**HERE), Seen(False, again), Evidence({A: [first, again]}), set())
    assert said == "the same had come before (frame 5, packet 1)"
    assert not explanation(Quiet(**HERE), Seen(False, first), Evidence({A: [first]}), set())

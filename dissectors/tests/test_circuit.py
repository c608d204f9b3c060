# SPDX-License-Identifier: GPL-2.0-or-later
"""The circuit's state: what is blamed, and what must not be (X.25 4.3, 4.4, Annex C)."""

from __future__ import annotations

import pytest
from capture_builder import A, B, Connection, connection, pcapng, unit
from strict_tshark import strict_tshark
from x25shark.judges.sandbox import Sandbox
from x25shark.judges.wireshark import WiresharkJudge
from xot_captures import ACCEPT, CALL

CLEAR, CLEAR_CONFIRMATION = unit("1001130000"), unit("100117")
RESET, RESET_CONFIRMATION = unit("10011b0000"), unit("10011f")
INTERRUPT, INTERRUPT_CONFIRMATION = unit("100123aa"), unit("100127")
UP = [(A, CALL), (B, ACCEPT)]
FAST_SELECT = unit("10010b0002" + "0180")
RESTRICTED = unit("10010b0002" + "01c0")


def data(p_s: int, p_r: int = 0, more: int = 0, octets: bytes = b"x", q: int = 0) -> bytes:
    return unit(bytes([0x10 | q << 7, 1, p_r << 5 | more << 4 | p_s << 1]) + octets)


def rr(p_r: int) -> bytes:
    return unit(bytes([0x10, 1, p_r << 5 | 1]))


Exchange = list[tuple[int, bytes]]

LEGAL: dict[str, Exchange] = {
    "call, data, clear": [
        *UP,
        (A, data(0) + data(1)),
        (B, rr(2)),
        (A, data(2)),
        (B, data(0, 3)),
        (A, CLEAR),
        (B, CLEAR_CONFIRMATION),
    ],
    "numbers wrap": [
        *UP,
        *[step for n in range(20) for step in ((A, data(n % 8)), (B, rr((n + 1) % 8)))],
    ],
    "reset by one end": [
        *UP,
        (A, data(0)),
        (A, RESET),
        (B, data(0, 1)),
        (B, RESET_CONFIRMATION),
        (A, data(0)),
        (B, data(0, 1)),
    ],
    "reset collision": [*UP, (A, RESET), (B, RESET), (A, data(0)), (B, data(0))],
    "reset repeated by timer": [*UP, (A, RESET), (A, RESET), (B, RESET_CONFIRMATION)],
    "clear collision": [*UP, (A, CLEAR), (B, CLEAR)],
    "data crosses the clear": [*UP, (A, CLEAR), (B, data(0)), (B, CLEAR_CONFIRMATION)],
    "call refused": [(A, CALL), (B, CLEAR), (A, CLEAR_CONFIRMATION)],
    "second call": [*UP, (A, CLEAR), (B, CLEAR_CONFIRMATION), *UP, (A, data(0))],
    "interrupts both ways": [
        *UP,
        (A, INTERRUPT),
        (B, INTERRUPT),
        (A, INTERRUPT_CONFIRMATION),
        (B, INTERRUPT_CONFIRMATION),
        (A, INTERRUPT),
    ],
    "fast select answer": [(A, FAST_SELECT), (B, unit("10010f0000" + "aa" * 128))],
    "window of 4 after negotiation": [
        (A, unit("10010b0003" + "430704")),
        (B, unit("10010f0003" + "430704")),
        (A, data(0) + data(1) + data(2) + data(3)),
    ],
    "permanent circuit": [
        (A, unit("1001f5810000000100000202020707")),
        (B, unit("1001f5810000000100000202020707")),
        (A, data(0) + data(1)),
        (B, rr(2)),
        (A, RESET),
        (B, RESET_CONFIRMATION),
    ],
}

ILLEGAL: dict[str, tuple[Exchange, list[tuple[int, str]]]] = {
    # frame 4 is the first of the exchange
    "P(S) skipped": ([*UP, (A, data(1))], [(6, "x25s.p_s.invalid")]),
    "P(S) repeated": ([*UP, (A, data(0)), (A, data(0))], [(7, "x25s.p_s.invalid")]),
    "first P(S) after a reset": (
        [*UP, (A, data(0)), (B, rr(1)), (B, RESET), (A, RESET_CONFIRMATION), (A, data(1))],
        [(10, "x25s.p_s.invalid")],
    ),
    "P(R) ahead": ([*UP, (B, rr(1))], [(6, "x25s.p_r.invalid")]),
    "P(R) back": (
        [*UP, (A, data(0)), (B, rr(1)), (B, rr(0))],
        [(8, "x25s.p_r.invalid")],
    ),
    "window exceeded": ([*UP, (A, data(0) + data(1) + data(2))], [(6, "x25s.window.exceeded")]),
    "data before the call": ([(A, data(0))], [(4, "x25s.state.invalid")]),
    "data before the answer": ([(A, CALL), (A, data(0))], [(5, "x25s.state.invalid")]),
    "answer by the caller": ([(A, CALL), (A, ACCEPT)], [(5, "x25s.state.invalid")]),
    "data after own clear": ([*UP, (A, CLEAR), (A, data(0))], [(7, "x25s.state.invalid")]),
    "data after own reset": ([*UP, (A, RESET), (A, data(0))], [(7, "x25s.state.invalid")]),
    "unasked confirmations": (
        [*UP, (A, CLEAR_CONFIRMATION), (A, RESET_CONFIRMATION), (A, INTERRUPT_CONFIRMATION)],
        [(6, "x25s.state.invalid"), (7, "x25s.state.invalid"), (8, "x25s.state.invalid")],
    ),
    "second interrupt": ([*UP, (A, INTERRUPT), (A, INTERRUPT)], [(7, "x25s.state.invalid")]),
    "second call at once": ([*UP, (A, CALL)], [(6, "x25s.state.invalid")]),
    "Q changes in a sequence": (
        [*UP, (A, data(0, more=1)), (A, data(1, q=1))],
        [(7, "x25s.q.inconsistent")],
    ),
    "longer than the packet size": (
        [*UP, (A, data(0, octets=b"x" * 129))],
        [(6, "x25s.packet_size.exceeded")],
    ),
    "other modulus": ([*UP, (A, unit("20010000aa"))], [(6, "x25s.modulo.differs")]),
    "called user data without fast select": (
        [(A, CALL), (B, unit("10010f0000aa"))],
        [(5, "x25s.user_data.invalid")],
    ),
    "answer to restricted fast select": (
        [(A, RESTRICTED), (B, ACCEPT)],
        [(5, "x25s.state.invalid")],
    ),
    "clear on a permanent circuit": (
        [
            (A, unit("1001f5810000000100000202020707")),
            (B, unit("1001f5810000000100000202020707")),
            (A, CLEAR),
        ],
        [(6, "x25s.state.invalid")],
    ),
    "answer to a PVC setup": (
        [(A, unit("1001f5810000000100000202020707")), (B, ACCEPT)],
        [(5, "x25s.state.invalid")],
    ),
    "restart on XOT": ([*UP, (A, unit("1000fb0000"))], [(6, "x25s.forbidden")]),
}


@pytest.mark.parametrize("name", LEGAL)
def test_nothing_legal_is_blamed(name: str, judge: WiresharkJudge) -> None:
    assert judge.read(pcapng(connection(LEGAL[name]))).experts == ()


@pytest.mark.parametrize("name", ILLEGAL)
def test_what_is_blamed(name: str, judge: WiresharkJudge) -> None:
    exchange, expected = ILLEGAL[name]
    found = judge.read(pcapng(connection(exchange))).experts
    assert [(e.frame, e.id) for e in found] == expected


def test_a_capture_that_starts_in_the_middle_blames_nothing_early(judge: WiresharkJudge) -> None:
    made = Connection()
    made.send(A, data(5, 3)).send(B, rr(6)).send(A, data(6, 3)).send(B, CLEAR)
    made.send(A, CLEAR_CONFIRMATION).send(A, data(0))
    found = judge.read(pcapng(made.frames)).experts
    assert [(e.frame, e.id) for e in found] == [(6, "x25s.state.invalid")]


def test_circuits_of_other_connections_are_apart(judge: WiresharkJudge) -> None:
    first = Connection().open()
    second = Connection(ports=(40001, 1998), frames=first.frames).open()
    for made in (first, second):
        made.send(A, CALL)
    for made in (second, first):
        made.send(B, ACCEPT)
    first.send(A, data(0)).send(A, data(1))
    second.send(A, data(0))
    assert judge.read(pcapng(first.frames)).experts == ()


def test_two_passes_show_the_same_as_one() -> None:
    """What Wireshark's window does: findings of the first pass are kept for the second."""
    exchange, _ = ILLEGAL["P(S) repeated"]
    sandbox = Sandbox()
    try:
        capture = pcapng(connection(exchange))
        fields = ["-T", "fields", "-e", "frame.number", "-e", "x25s.offset"]
        fields += ["-e", "_ws.expert.message"]
        once, twice = (
            strict_tshark(sandbox, capture, *fields, *more, words=False).stdout
            for more in ([], ["-2"])
        )
    finally:
        sandbox.close()
    assert "P(S)=0, expected is 1" in once
    assert once == twice

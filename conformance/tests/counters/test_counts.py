# SPDX-License-Identifier: GPL-2.0-or-later
"""What counters must have moved by, counted by both judges in the same exchange."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from x25shark.counters.names import (
    NAMES,
    NO_COUNTER,
    NOT_COUNTED,
    RIGHT,
    WRONG_COUNTER,
    WRONG_NUMBER,
)
from x25shark.counters.settings import Cleared
from x25shark.judges import tester
from x25shark.judges.cleared_table import ClearedTable, NoTable, entries
from x25shark.judges.counter_events import DEFINITIONS, Cut, definition
from x25shark.judges.counter_moved import CounterMoved
from x25shark.judges.evidence import FIELDS, EvidenceJudge, filters_of
from x25shark.judges.expectation import Direction, Expectation, Judge, Seen, evaluate_all
from x25shark.judges.wireshark import WiresharkJudge

sys.path.insert(0, str(Path(__file__).parents[3] / "dissectors" / "gaps"))

from capture_builder import ACK, FIN, A, B, Connection, pcapng, unit

ROUTER, TESTER = ("127.0.25.1", 1998), ("127.0.25.2", 40000)
FROM_ROUTER = Direction(ROUTER, TESTER)
CALL = "10010b" + "77" + "2100001" + "3100002" + "00"

# A call that comes about, with data, resets and an interrupt, then one that is refused: (sent by
# the tester, packet).
SCRIPT: tuple[tuple[bool, str], ...] = (
    (True, CALL),
    (False, "10010f"),
    (True, "100100" + "aa" * 10),
    (False, "100120" + "bb" * 4),
    (False, "100122"),
    (True, "100142" + "aa" * 3),
    (True, "100123" + "01"),
    (False, "100127"),
    (True, "10011b" + "0000"),
    (False, "10011f"),
    (True, "10011b" + "0500"),
    (False, "10011f"),
    (False, "10011b" + "8000"),
    (True, "10011f"),
    (True, "100113" + "0933"),
    (False, "100117"),
    (True, CALL),
    (False, "100113" + "0d44"),
    (True, "100117"),
)
EXPECTED = {
    "packets_in": 10,
    "packets_out": 9,
    "calls_in": 2,
    "calls_out": 0,
    "accepts_in": 0,
    "accepts_out": 1,
    "clears_in": 1,
    "clears_out": 1,
    "clear_confirmations_in": 1,
    "clear_confirmations_out": 1,
    "data_in": 2,
    "data_out": 2,
    "data_octets_in": 13,
    "data_octets_out": 4,
    "interrupts_in": 1,
    "interrupts_out": 0,
    "interrupt_confirmations_in": 0,
    "interrupt_confirmations_out": 1,
    "receive_ready_in": 0,
    "receive_ready_out": 0,
    "receive_not_ready_in": 0,
    "receive_not_ready_out": 0,
    "resets_in": 2,
    "resets_out": 1,
    "reset_confirmations_in": 1,
    "reset_confirmations_out": 2,
    "restarts_in": 0,
    "restarts_out": 0,
    "restart_confirmations_in": 0,
    "restart_confirmations_out": 0,
    "diagnostics_in": 0,
    "diagnostics_out": 0,
    "call_refusals": 1,
    "call_failures": 0,
    "provider_clears_in": 1,
    "provider_resets_in": 1,
    "remote_resets_in": 1,
    "procedure_errors_in": 1,
    "circuits": 0,
}


def offsets(script: tuple[tuple[bool, str], ...]) -> Iterator[tuple[bool, int, bytes]]:
    reached = {True: 0, False: 0}
    for sent, text in script:
        packet = bytes.fromhex(text)
        yield sent, reached[sent], packet
        reached[sent] += 4 + len(packet)


class Both:
    """The exchange as judge one and as judge two have it."""

    def __init__(self, wireshark: WiresharkJudge) -> None:
        self._wireshark = wireshark
        units: dict[bool, list[tester.StoredUnit]] = {True: [], False: []}
        made = Connection().open()
        for number, (sent, offset, packet) in enumerate(offsets(SCRIPT)):
            end = offset + 4 + len(packet)
            units[sent].append(tester.StoredUnit(offset, packet, end, float(number)))
            made.send(A if sent else B, unit(packet))
        made.segment(A, FIN | ACK)
        stored = tester.Stored(units[False], units[True], None)
        self.one = tester.TesterJudge({FROM_ROUTER: tester.Received(stored)}, {})
        self._capture = pcapng(made.frames)

    def two(self, expectations: list[Expectation]) -> Judge:
        filters = filters_of(expectations)
        reading = self._wireshark.read(self._capture, filters, FIELDS)
        assert not reading.lua_errors
        return EvidenceJudge(reading, filters)

    def evaluate(self, *expectations: Expectation) -> list[Seen]:
        """What both say; they must not differ."""
        one = evaluate_all(expectations, self.one)
        two = evaluate_all(expectations, self.two(list(expectations)))
        assert [(s.met, s.count, s.saw) for s in one] == [(s.met, s.count, s.saw) for s in two]
        return two


@pytest.fixture(scope="module")
def exchange() -> Iterator[Both]:
    with WiresharkJudge() as judge:
        yield Both(judge)


def whole() -> Cut:
    ends = {sent: offset + 4 + len(packet) for sent, offset, packet in offsets(SCRIPT)}
    return Cut(FROM_ROUTER, (0, ends[False]), (0, ends[True]))


def moved(name: str, cut: Cut, after: int | None, before: int | None = 100) -> CounterMoved:
    counting = (
        definition(name) if name in DEFINITIONS else definition(name[:-3], int(name[-2:], 16))
    )
    return CounterMoved(
        "A", "RFC 1382", name=name, definition=counting, cuts=(cut,), before=before, after=after
    )


def test_every_definition_is_tried_here() -> None:
    assert set(EXPECTED) == {name for name, one in DEFINITIONS.items() if not one.framed}
    assert set(DEFINITIONS) <= set(NAMES)


def test_both_judges_count_the_same(exchange: Both) -> None:
    seen = exchange.evaluate(*(moved(n, whole(), 100 + e) for n, e in EXPECTED.items()))
    assert dict(zip(EXPECTED, (s.count for s in seen), strict=True)) == EXPECTED
    assert all(s.met for s in seen)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("clears_in_by_cause 09", 1),
        ("clears_in_by_cause 00", 0),
        ("clears_out_by_cause 0d", 1),
        ("resets_in_by_cause 00", 1),
        ("resets_in_by_cause 05", 1),
        ("resets_out_by_cause 80", 1),
    ],
)
def test_counts_by_cause(exchange: Both, name: str, count: int) -> None:
    (seen,) = exchange.evaluate(moved(name, whole(), 100 + count))
    assert seen.met


def test_only_the_part_counts(exchange: Both) -> None:
    """From the tester's first Data packet on, up to its second one: the call is up then."""
    places = [(sent, offset) for sent, offset, _ in offsets(SCRIPT)]
    sent, received = places[2][1], places[3][1]
    part = Cut(FROM_ROUTER, (received, 1000), (sent, places[5][1]))
    seen = exchange.evaluate(
        moved("data_in", part, 101),
        moved("calls_in", part, 100),
        moved("data_out", part, 102),
        moved("circuits", Cut(FROM_ROUTER, (received, 1000), (sent, places[16][1])), 99),
    )
    assert [s.met for s in seen] == [True] * 4


@pytest.mark.parametrize(
    ("before", "after", "instead", "result"),
    [
        (5, 7, (), RIGHT),
        (None, 2, (), RIGHT),
        (0xFFFFFFFF, 1, (), RIGHT),
        (5, 8, (), WRONG_NUMBER),
        (5, 6, (), WRONG_NUMBER),
        (5, 5, (), NOT_COUNTED),
        (5, 5, ("data_out by 2 too many",), WRONG_COUNTER),
        (None, None, (), NO_COUNTER),
        (5, None, (), WRONG_NUMBER),
    ],
)
def test_what_becomes_of_a_reading(
    exchange: Both, before: int | None, after: int | None, instead: tuple[str, ...], result: str
) -> None:
    expectation = moved("data_in", whole(), after, before)
    expectation.instead = instead
    (seen,) = exchange.evaluate(expectation)
    assert seen.met is (result == RIGHT)
    reading = expectation.counter(seen)
    assert (reading.result, reading.shown) == (result, 2)
    assert (reading.before, reading.after) == (before, after)


@pytest.mark.parametrize(("before", "after"), [(None, None), (0, None), (None, 0)])
def test_a_counter_that_is_not_there_and_had_nothing_to_count(
    exchange: Both, before: int | None, after: int | None
) -> None:
    (seen,) = exchange.evaluate(moved("calls_out", whole(), after, before))
    assert seen.met


# -- the table of cleared circuits -----------------------------------------------------------------

CLEARED = Cleared.model_validate(
    {"table": "$.table", "called_address": "to", "calling_address": "from", "cause": "cause"}
)


def table(*rows: tuple[str, str, int]) -> ClearedTable:
    page = {"table": [{"to": to, "from": sender, "cause": c} for to, sender, c in rows]}
    found = tuple(entries(page, CLEARED).elements())
    return ClearedTable("A", "RFC 1382", path="$.table", new=found, cuts=(whole(),))


def test_the_table_of_cleared_circuits(exchange: Both) -> None:
    right, cause, address, empty, twice = exchange.evaluate(
        table(("2100001", "3100002", 9)),
        table(("2100001", "3100002", 8)),
        table(("2100001", "3100003", 9)),
        table(),
        table(("2100001", "3100002", 9), ("2100001", "3100002", 13)),
    )
    assert right.met
    assert not cause.met and "that the capture lacks" in cause.said
    assert not address.met
    assert not empty.met and "no entry for 1 of 1 circuits" in empty.said
    assert not twice.met


def test_a_table_of_cleared_circuits_may_list_both_legs(exchange: Both) -> None:
    row = ("2100001", "3100002", 9)
    both, three = exchange.evaluate(
        replace(table(row, row), far=(whole(),)), replace(table(row, row, row), far=(whole(),))
    )
    assert both.met
    assert not three.met


@pytest.mark.parametrize(
    "page",
    [
        {},
        {"table": 5},
        {"table": [{"to": "1", "from": "2", "cause": 10**2000}]},
        {"table": [5]},
        {"table": [{"to": "1", "from": "2"}]},
        {"table": [{"to": '1" || x', "from": "2", "cause": 0}]},
        {"table": [{"to": "1", "from": "2", "cause": 256}]},
        {"table": [{"to": "1", "from": "2", "cause": "x"}]},
    ],
)
def test_what_is_no_table(page: object) -> None:
    with pytest.raises(NoTable):
        entries(page, CLEARED)

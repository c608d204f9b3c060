# SPDX-License-Identifier: GPL-2.0-or-later
"""The state tables: each cell is written as it can be read, and has a case or a reason."""

from __future__ import annotations

import pytest
from x25shark.catalogue import catalogue, states
from x25shark.catalogue.data import CatalogueError
from x25shark.suite import loader, scenes
from x25shark.suite.events import STIMULI
from x25shark.suite.state_judging import _NORMAL


def test_every_reachable_cell_is_a_purpose_with_one_case() -> None:
    made = [cell.identifier(modulus) for cell, modulus in states.reachable()]
    assert len(made) == len(set(made))
    assert set(made) == {name for name in loader.cases() if name.startswith("STATE-")}
    assert set(made) <= set(catalogue().purposes)
    assert len(made) >= 100


def test_every_cell_without_a_case_has_a_reason() -> None:
    reached = {(c.table.id, c.row.event, c.state) for c, _ in states.reachable()}
    for table in states.tables().values():
        for cell in table.cells():
            key = (table.id, cell.row.event, cell.state)
            assert (key in reached) != bool(cell.unreached), key


def test_the_tables_of_x25_hold_on_serial_lines() -> None:
    """What RFC 1613 changes it changes over XOT alone; the packet layer of a line has all cells."""
    for cell, _ in states.reachable():
        line = cell.on_line
        assert line is not None
        on_lines = {"TX", "T4"} & set(cell.configurations)
        assert bool(on_lines) != bool(line.why), cell.identifier()
        if on_lines:
            assert line.text == cell.row.cells[cell.state]
            assert line.clause == cell.table.clause
    there = {c.table.id for c, _ in states.reachable() if not (c.on_line and c.on_line.why)}
    assert there == {"C3", "C4", "INT", "FC"}
    found = catalogue().purposes["STATE-C3-p1-restart_packet"]
    assert found.purpose.endswith(": discard; on a serial line: error 41 p7.")
    assert found.clause == "RFC 1613 6.4; on a serial line X.25 Table C-3"
    alone = catalogue().purposes["STATE-C3-p1-two_octets"]
    assert alone.configurations == ("TX", "T4")
    assert (alone.purpose, alone.clause) == (
        "p1 (ready): packet of two octets: error 38 p7.",
        "X.25 Table C-3",
    )


def test_states_are_reached_and_events_brought_about() -> None:
    for cell, _ in states.reachable():
        assert cell.state in scenes._SCENES, cell.identifier()
        assert STIMULI[cell.row.event], cell.identifier()
        assert cell.configurations, cell.identifier()


def test_what_is_judged_as_normal_is_a_cell() -> None:
    found = [one for c, _ in states.reachable() for one in (c, c.on_line) if one is not None]
    cells = {f"{c.state} {c.row.event}" for c in found if c.can("normal")}
    assert set(_NORMAL) <= cells


def test_next_states_and_tables_exist() -> None:
    known = {state for table in states.tables().values() for state in table.states} | {"d3"}
    for table in states.tables().values():
        for cell in table.cells():
            for reaction in cell.reactions:
                if reaction.action == "table":
                    assert reaction.next in states.tables()
                elif reaction.next:
                    assert reaction.next in known


def test_rows_name_only_states_of_their_table() -> None:
    for table in states.tables().values():
        for row in table.rows:
            for named in (row.xot, row.no_case, row.splice):
                assert set(named) <= set(table.states), (table.id, row.event)


def test_cells_that_rfc_1613_changes_name_its_clause() -> None:
    for cell, _ in states.reachable():
        if cell.state in cell.row.xot:
            assert "RFC 1613" in cell.clause


@pytest.mark.parametrize("text", ["error p2", "error x p7", "normal", "nothing", ""])
def test_a_cell_that_cannot_be_read_says_where(text: str) -> None:
    with pytest.raises(CatalogueError, match="C3, call_request, p1"):
        states._reaction(text, "C3, call_request, p1")


def test_coverage_prints_every_cell_once() -> None:
    lines = list(states.coverage())
    cells = sum(len(t.rows) * len(t.states) for t in states.tables().values())
    shown = [line for line in lines if line.startswith("    ")]
    assert len(shown) == cells
    covered = sum("covered" in line for line in shown)
    assert covered == len({(c.table.id, c.row.event, c.state) for c, _ in states.reachable()})
    assert lines[-1].startswith(f"{len(list(states.reachable()))} cases")

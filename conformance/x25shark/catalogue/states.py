# SPDX-License-Identifier: GPL-2.0-or-later
"""The state tables (X.25 Annex C, RFC 1613) as data: what a router does with an event in a state.

state_tables.toml holds the tables and says how its cells are written. Each cell that a test can
reach, over XOT or on a serial line, is a purpose of its own, named STATE-table-state-event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from . import Purpose, data

_FILE = "state_tables.toml"
# Configurations in which a channel of a serial line can be in the state.
_OF_LINES = ("TX", "T4")


@dataclass(frozen=True)
class Reaction:
    """One thing that a router may do: action, diagnostic of an error, next state or table."""

    action: str
    diagnostic: int | None = None
    next: str = ""

    def __str__(self) -> str:
        words = [self.action, "" if self.diagnostic is None else str(self.diagnostic), self.next]
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Cell:
    """An event in a state over XOT. why: the reason if it has no case there.

    on_line: the same on a serial line, where nothing of RFC 1613 applies; of that one itself None.
    """

    table: Table
    row: Row
    state: str
    reactions: tuple[Reaction, ...]
    low: bool
    clause: str
    why: str
    on_line: Cell | None = None

    @property
    def unreached(self) -> str:
        """Why it has no case at all; empty if it has one."""
        return self.why if self.on_line is None or self.on_line.why else ""

    @property
    def configurations(self) -> tuple[str, ...]:
        """Those of its case."""
        there = self.table.reach.get(self.state, ())
        on_line = self.on_line is not None and not self.on_line.why
        return tuple(c for c in there if (on_line if c in _OF_LINES else not self.why))

    @property
    def text(self) -> str:
        """The cell as the table has it."""
        return " or ".join(map(str, self.reactions)) + (" ?" if self.low else "")

    def can(self, action: str) -> bool:
        """Whether one of the reactions is of that kind."""
        return any(reaction.action == action for reaction in self.reactions)

    @property
    def diagnostics(self) -> tuple[int, ...]:
        """The diagnostics that an error here may have."""
        own = [r.diagnostic for r in self.reactions if r.diagnostic is not None]
        return (*own, *self.row.also)

    def identifier(self, modulus: int = 8) -> str:
        """The id of its purpose."""
        name = f"STATE-{self.table.id}-{self.state}-{self.row.event}"
        return name if modulus == 8 else f"{name}_modulo_{modulus}"

    def purpose(self, modulus: int = 8) -> Purpose:
        """The purpose that is made from the cell."""
        pics = [*self.table.pics.get(self.state, ()), *self.row.pics]
        if self.state not in self.row.splice and "M-E2E" not in pics:
            pics.append("not M-SPLICE")
        if self.row.checks_numbers:
            pics.append("not N-TRUST")
        if modulus == 128:
            pics.append("P-MOD128")
        named = "" if modulus == 8 else f", modulo {modulus}"
        state = f"{self.state} ({self.table.states[self.state]}){named}"
        return Purpose(
            id=self.identifier(modulus),
            purpose=f"{state}: {self.row.text}: {self._both('text', '; on a serial line:')}.",
            clause=self._both("clause", "; on a serial line"),
            configurations=self.configurations,
            pics=tuple(pics),
        )

    def _both(self, name: str, between: str) -> str:
        """What it is over XOT, and on a line if that is something else."""
        here: str = getattr(self, name)
        if self.on_line is None or self.on_line.why:
            return here
        there: str = getattr(self.on_line, name)
        if self.why or here == there:
            return there
        return f"{here}{between} {there}"


@dataclass(frozen=True)
class Row:
    """One event. cells: what the table has; xot: what RFC 1613 puts in its place.

    no_case: why a state has no case over XOT; no_line: why it has none on a serial line.
    """

    event: str
    text: str
    cells: dict[str, str]
    xot: dict[str, str] = field(default_factory=dict)
    xot_clause: str = ""
    clause: str = ""
    splice: tuple[str, ...] = ()
    pics: tuple[str, ...] = ()
    also: tuple[int, ...] = ()
    no_case: dict[str, str] = field(default_factory=dict)
    no_line: str = ""
    checks_numbers: bool = False


@dataclass(frozen=True)
class Table:
    """One state table. error: the packet of an ERROR cell (clear, reset, restart, none)."""

    id: str
    title: str
    clause: str
    error: str
    states: dict[str, str]
    rows: tuple[Row, ...] = ()
    reach: dict[str, list[str]] = field(default_factory=dict)
    unreachable: dict[str, str] = field(default_factory=dict)
    pics: dict[str, list[str]] = field(default_factory=dict)
    moduli: tuple[int, ...] = (8,)
    out_of_scope: str = ""

    def cells(self) -> Iterator[Cell]:
        """Every cell, row by row."""
        for row in self.rows:
            for state in self.states:
                yield self._cell(row, state)

    def _cell(self, row: Row, state: str) -> Cell:
        changed = state in row.xot
        clause = row.xot_clause if changed else row.clause or self.clause
        over_xot = self._read(row, state, row.xot.get(state, row.cells[state]), clause)
        why = self.out_of_scope or self.unreachable.get(state) or row.no_case.get(state, "")
        no_line = self.out_of_scope or row.no_line
        if not no_line and not set(_OF_LINES) & set(self.reach.get(state, ())):
            no_line = self.unreachable.get(state, "a table of XOT alone")
        line = self._read(row, state, row.cells[state], self.clause)
        return replace(
            over_xot,
            why=why or over_xot.why,
            on_line=replace(line, why=no_line or line.why),
        )

    def _read(self, row: Row, state: str, written: str, clause: str) -> Cell:
        """What is written in a cell."""
        low = written.endswith("?")
        reactions = tuple(
            _reaction(part, f"{self.id}, {row.event}, {state}")
            for part in written.rstrip("? ").split(" or ")
        )
        why = f"see table {reactions[0].next}" if reactions[0].action == "table" else ""
        return Cell(self, row, state, reactions, low, clause, why)


def _reaction(text: str, where: str) -> Reaction:
    match text.split():
        case ["normal", state]:
            return Reaction("normal", next=state)
        case ["error", code, state] if code.isdigit():
            return Reaction("error", int(code), state)
        case ["diagnostic", code] if code.isdigit():
            return Reaction("diagnostic", int(code))
        case ["table", table]:
            return Reaction("table", next=table)
        case ["discard"] | ["close"]:
            return Reaction(text.strip())
        case ["clear", "far"]:
            return Reaction("clear far")
    raise data.CatalogueError(f"{_FILE}: {where}: {text!r} is not a cell")


@cache
def tables() -> dict[str, Table]:
    """The tables by id. Raises CatalogueError."""
    found = {}
    for item in data.rows(_FILE, "table"):
        rows = item.pop("row", [])
        table = data.made(Table, _FILE, item, ["moduli"])
        states = list(table.states)
        found[table.id] = replace(table, rows=tuple(_row(row, states, table.id) for row in rows))
    return found


def _row(item: dict[str, Any], states: list[str], table: str) -> Row:
    missing = [state for state in states if state not in item]
    if missing:
        event = item.get("event", item)
        raise data.CatalogueError(f"{_FILE}: {table}, {event}: no cell for {missing}")
    cells = {state: item.pop(state) for state in states}
    return data.made(Row, f"{_FILE}: {table}", {"cells": cells, **item}, ("splice", "pics", "also"))


def reachable() -> Iterator[tuple[Cell, int]]:
    """Every cell that has a case, with the modulus of the case."""
    for table in tables().values():
        for modulus in table.moduli:
            for cell in table.cells():
                if not cell.unreached:
                    yield cell, modulus


def purposes() -> dict[str, Purpose]:
    """The purposes made from the tables, by id."""
    made = (cell.purpose(modulus) for cell, modulus in reachable())
    return {purpose.id: purpose for purpose in made}


def groups() -> dict[str, str]:
    """The titles of their groups: one for each table and state."""
    return {
        f"STATE-{cell.table.id}-{cell.state}": (
            f"{cell.table.title}: {cell.state}, {cell.table.states[cell.state]}"
        )
        for cell, _ in reachable()
    }


def coverage() -> Iterator[str]:
    """The tables as text: each cell with its case, or the reason why it has none."""
    cases = 0
    without: dict[str, int] = {}
    for table in tables().values():
        yield f"Table {table.id}: {table.title} ({table.clause})"
        if table.out_of_scope:
            yield f"  out of scope: {table.out_of_scope}"
        for state, why in table.unreachable.items():
            yield f"  {state} ({table.states[state]}) unreachable: {why}"
        for row in table.rows:
            yield f"  {row.event}: {row.text}"
            for cell in (c for c in table.cells() if c.row is row):
                kind = _kind(cell)
                without[kind] = without.get(kind, 0) + (kind != "covered")
                cases += len(table.moduli) * (kind == "covered")
                reason = f": {cell.why}" if kind == "no case" else _where(cell)
                yield f"    {cell.state:5} {cell.text:40} {kind}{reason}"
        yield ""
    others = ", ".join(f"{count} {kind}" for kind, count in without.items() if count)
    yield f"{cases} cases; cells without: {others}."


def _where(cell: Cell) -> str:
    """Of a cell with a case: where it has none."""
    if cell.unreached or cell.on_line is None:
        return ""
    if cell.why:
        return f" on serial lines; over XOT {cell.why}"
    return f" over XOT; on serial lines {cell.on_line.why}" if cell.on_line.why else ""


def _kind(cell: Cell) -> str:
    """covered, unreachable, out of scope, no case, or in another table."""
    if not cell.unreached:
        return "covered"
    if cell.table.out_of_scope:
        return "out of scope"
    if cell.state in cell.table.unreachable:
        return "unreachable"
    return "in another table" if cell.reactions[0].action == "table" else "no case"

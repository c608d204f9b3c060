# SPDX-License-Identifier: GPL-2.0-or-later
"""The state tables (X.25 Annex C, RFC 1613) as data: what a router does with an event in a state.

state_tables.toml holds the tables and says how its cells are written. Each cell that a test over
XOT can reach is a purpose of its own, named STATE-table-state-event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from . import Purpose, data

_FILE = "state_tables.toml"


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
    """An event in a state. why: the reason if it has no case."""

    table: Table
    row: Row
    state: str
    reactions: tuple[Reaction, ...]
    low: bool
    clause: str
    why: str

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
            purpose=f"{state}: {self.row.text}: {self.text}.",
            clause=self.clause,
            configurations=tuple(self.table.reach[self.state]),
            pics=tuple(pics),
        )


@dataclass(frozen=True)
class Row:
    """One event. cells: what the table has; xot: what RFC 1613 puts in its place."""

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
        written = row.xot[state] if changed else row.cells[state]
        low = written.endswith("?")
        reactions = tuple(
            _reaction(part, f"{self.id}, {row.event}, {state}")
            for part in written.rstrip("? ").split(" or ")
        )
        why = self.out_of_scope or self.unreachable.get(state) or row.no_case.get(state, "")
        if not why and reactions[0].action == "table":
            why = f"see table {reactions[0].next}"
        clause = row.xot_clause if changed else row.clause or self.clause
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
                if not cell.why:
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
                reason = f": {cell.why}" if kind == "no case" else ""
                yield f"    {cell.state:5} {cell.text:40} {kind}{reason}"
        yield ""
    others = ", ".join(f"{count} {kind}" for kind, count in without.items() if count)
    yield f"{cases} cases; cells without: {others}."


def _kind(cell: Cell) -> str:
    """covered, unreachable, out of scope, no case, or in another table."""
    if not cell.why:
        return "covered"
    if cell.table.out_of_scope:
        return "out of scope"
    if cell.state in cell.table.unreachable:
        return "unreachable"
    return "in another table" if cell.reactions[0].action == "table" else "no case"

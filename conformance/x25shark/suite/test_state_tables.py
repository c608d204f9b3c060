# SPDX-License-Identifier: GPL-2.0-or-later
"""The state tables (X.25 Annex C, RFC 1613): one case for each cell that XOT can reach.

The cases are made from catalogue/state_tables.toml; `x25shark list --coverage` prints the tables.
"""

from __future__ import annotations

from collections.abc import Callable

from ..catalogue.states import Cell, reachable
from .language import Bench, purpose
from .state_judging import run_cell


def _case(cell: Cell, modulus: int) -> Callable[[Bench], None]:
    @purpose(cell.identifier(modulus))
    def case(bench: Bench) -> None:
        run_cell(bench, cell, modulus)

    case.__doc__ = cell.purpose(modulus).purpose
    return case


for _cell, _modulus in reachable():
    _name = _cell.identifier(_modulus).removeprefix("STATE-").replace("-", "_")
    globals()[f"test_{_name}"] = _case(_cell, _modulus)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots of a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .chart import Axis, Plot, Series
from .figures import over_time
from .wording import rate

_STEP = 0.2
_CEILING = 4


def plots(result: Mapping[str, Any]) -> list[Plot]:
    """Speed by test with the ceiling and the control figure; speed over the time of each test."""
    cells = result["cells"]
    return [_speeds(cells), _over_time(cells)] if cells else []


def _name(cell: Mapping[str, Any]) -> str:
    return f"test {cell['test']}"


def _reach(pair: Mapping[str, Any]) -> tuple[float, float]:
    figure = over_time(pair["speed"], pair["parts"], "Mbit/s")
    return figure.low, figure.high


def _speeds(cells: Sequence[Mapping[str, Any]]) -> Plot:
    tests = [_name(cell) for cell in cells]
    drawn = [
        Series(
            pair["pair"],
            tests,
            [cell["pairs"][which]["speed"] for cell in cells],
            which,
            "Mbit/s",
            # The second pair is paler, so that they are told apart without colour.
            ("solid", "dotted")[which % 2],
            kind="bars",
            reach=[_reach(cell["pairs"][which]) for cell in cells],
        )
        for which, pair in enumerate(cells[0]["pairs"])
    ]
    points = [(_name(cell), cell["ceiling"]) for cell in cells if cell["ceiling"]]
    if points:
        x, y = zip(*points, strict=True)
        drawn.append(Series("ceiling of the line", x, y, _CEILING, "Mbit/s", kind="levels"))
    caption = (
        "User data that arrived, of all pairs at the same time, one on the other. "
        "Bars of error: twice the standard error of the parts of a test."
    )
    alone = [cell["control"] for cell in cells if cell.get("control")]
    if alone:
        caption += (
            f" Without the router the tester does {rate(min(alone))} to {rate(max(alone))} Mbit/s."
        )
    return Plot("Speed by test", caption, drawn, Axis(""), Axis("Mbit/s"))


def _over_time(cells: Sequence[Mapping[str, Any]]) -> Plot:
    drawn = [
        Series(
            f"{_name(cell)}, {pair['pair']}",
            [round((i + 0.5) * _STEP, 1) for i in range(len(pair["parts"]))],
            pair["parts"],
            colour,
            "Mbit/s",
            ("solid", "dotted")[which % 2],
        )
        for colour, cell in enumerate(cells)
        for which, pair in enumerate(cell["pairs"])
    ]
    caption = "A second pair is dotted."
    return Plot("Speed over the time of each test", caption, drawn, Axis("seconds"), Axis("Mbit/s"))

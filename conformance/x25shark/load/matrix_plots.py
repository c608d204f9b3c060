# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots of a matrix. Needs plotly, as plots.py does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from .plots import COLOURS, Plot, figure_of, label
from .wording import rate

_STEP = 0.2


def plots(result: Mapping[str, Any]) -> list[Plot]:
    """Speed by test with the ceiling and the control figure; speed over the time of each test."""
    cells = result["cells"]
    return [_speeds(cells), _over_time(cells)] if cells else []


def _name(cell: Mapping[str, Any]) -> str:
    return f"test {cell['test']}"


def _speeds(cells: Sequence[Mapping[str, Any]]) -> Plot:
    names = [pair["pair"] for pair in cells[0]["pairs"]]
    tests = [_name(cell) for cell in cells]
    traces: list[Any] = [
        go.Bar(
            name=label(name),
            x=tests,
            y=[round(cell["pairs"][number]["speed"], 3) for cell in cells],
            marker={"color": COLOURS[number % len(COLOURS)]},
            hovertemplate="%{y:,.4~r} Mbit/s",
        )
        for number, name in enumerate(names)
    ]
    points = [(_name(cell), cell["ceiling"]) for cell in cells if cell["ceiling"]]
    if points:
        traces.append(
            go.Scatter(
                name="ceiling of the line",
                x=[x for x, _ in points],
                y=[round(y, 3) for _, y in points],
                mode="markers",
                marker={
                    "symbol": "line-ew-open",
                    "size": 40,
                    "color": COLOURS[4],
                    "line": {"width": 3, "color": COLOURS[4]},
                },
                hovertemplate="%{y:,.4~r} Mbit/s",
            )
        )
    caption = "User data that arrived, of all pairs at the same time, one on the other."
    alone = [cell["control"] for cell in cells if cell.get("control")]
    if alone:
        caption += f" Without the router the tester does {rate(min(alone))} to {rate(max(alone))}."
    return Plot(
        "Speed by test",
        caption,
        figure_of(traces, "", "Mbit/s", barmode="stack", xaxis={"type": "category"}),
    )


def _over_time(cells: Sequence[Mapping[str, Any]]) -> Plot:
    traces = []
    for number, cell in enumerate(cells):
        for which, pair in enumerate(cell["pairs"]):
            traces.append(
                go.Scatter(
                    name=label(f"{_name(cell)}, {pair['pair']}"),
                    x=[round((i + 0.5) * _STEP, 1) for i in range(len(pair["parts"]))],
                    y=pair["parts"],
                    mode="lines",
                    line={
                        "color": COLOURS[number % len(COLOURS)],
                        "dash": ("solid", "dot")[which % 2],
                        "width": 2,
                    },
                    hovertemplate="%{y:,.4~r} Mbit/s",
                )
            )
    return Plot(
        "Speed over the time of each test",
        "A second pair is dotted.",
        figure_of(traces, "seconds", "Mbit/s", hovermode="closest"),
    )

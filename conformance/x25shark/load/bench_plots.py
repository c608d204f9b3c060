# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots of a bench result. Needs plotly, as plots.py does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from .plots import COLOURS, Plot, figure_of

_RATES = (
    ("hammer", "hammer: the tester alone", "dot"),
    ("maximum", "maximum without loss", "solid"),
    ("plus_25", "+25 %", "solid"),
    ("flood", "flood", "solid"),
)


def plots(rows: Sequence[Mapping[str, Any]]) -> list[Plot]:
    """Rates by size, delay by size and load, every trial of the searches."""
    if not rows:
        return []
    found = [_rates(rows), _octets(rows)]
    if any(row.get("delays") for row in rows):
        found.append(_delays(rows))
    return [*found, _trials(rows)]


def _line(name: str, x: list[Any], y: list[Any], number: int, dash: str, unit: str) -> Any:
    return go.Scatter(
        name=name,
        x=x,
        y=y,
        mode="lines+markers",
        line={"color": COLOURS[number], "width": 2, "dash": dash},
        marker={"symbol": number, "size": 8},
        hovertemplate=f"%{{y:,.4~r}} {unit}",
    )


def _series(rows: Sequence[Mapping[str, Any]], scale: Any, unit: str) -> list[Any]:
    traces = []
    for number, (key, words, dash) in enumerate(_RATES):
        points = [(row, row[key]["carried"]) for row in rows if row.get(key)]
        x = [str(row["size"]) for row, _ in points]
        y = [round(scale(row, value), 6) for row, value in points]
        traces.append(_line(words, x, y, number, dash, unit))
    theory = [(row, row["theoretical"]) for row in rows if row.get("theoretical")]
    if theory:
        x = [str(row["size"]) for row, _ in theory]
        y = [round(scale(row, value), 6) for row, value in theory]
        traces.append(_line("theoretical", x, y, 4, "dash", unit))
    return traces


def _rates(rows: Sequence[Mapping[str, Any]]) -> Plot:
    return Plot(
        "Messages per second by size",
        "Dotted: what the tester does without the router. The axis of rates is logarithmic.",
        figure_of(
            _series(rows, lambda _row, value: value, "messages/s"),
            "octets of a message",
            "messages/s",
            xaxis={"type": "category"},
            yaxis={"type": "log", "rangemode": "normal", "dtick": 1},
        ),
    )


def _octets(rows: Sequence[Mapping[str, Any]]) -> Plot:
    return Plot(
        "User data by size",
        "The same in octets: where the line, not the packet, is the limit, this is flat.",
        figure_of(
            _series(rows, lambda row, value: value * row["size"] / 1e6, "MB/s"),
            "octets of a message",
            "MB/s",
            xaxis={"type": "category"},
            yaxis={"type": "log", "rangemode": "normal", "dtick": 1, "tickformat": "~g"},
        ),
    )


def _delays(rows: Sequence[Mapping[str, Any]]) -> Plot:
    traces = []
    loads = list(dict.fromkeys(one["load"] for row in rows for one in row.get("delays", [])))
    for number, load in enumerate(loads):
        for side, dash in (("router", "solid"), ("control", "dot")):
            points = [
                (row["size"], one[side]["p50"])
                for row in rows
                for one in row.get("delays", [])
                if one["load"] == load and one[side]
            ]
            x = [str(size) for size, _ in points]
            y = [round(value, 4) for _, value in points]
            traces.append(_line(f"{load} load ({side})", x, y, number, dash, "ms"))
    return Plot(
        "Delay by size, median",
        "From when a message is due at A to its last octet at B. Dotted: without the router.",
        figure_of(
            traces,
            "octets of a message",
            "ms",
            xaxis={"type": "category"},
            yaxis={"type": "log", "rangemode": "normal", "dtick": 1, "tickformat": "~g"},
        ),
    )


def _trials(rows: Sequence[Mapping[str, Any]]) -> Plot:
    traces = [
        go.Scatter(
            name=f"{row['size']} octets",
            x=[round(t["rate"], 2) for t in row["trials"] if t["rate"]],
            y=[round(100 * t["loss_ratio"], 4) for t in row["trials"] if t["rate"]],
            mode="markers",
            marker={"color": COLOURS[n % len(COLOURS)], "symbol": n % 8, "size": 9},
            hovertemplate="%{x:,.5~r} messages/s: %{y:.3~f} % lost",
        )
        for n, row in enumerate(rows)
    ]
    return Plot(
        "Every trial of the searches",
        "Where the points leave zero is the throughput; how sharply says how sure it is.",
        figure_of(
            traces,
            "messages/s offered",
            "% lost",
            hovermode="closest",
            xaxis={"type": "log", "dtick": 1},
        ),
    )

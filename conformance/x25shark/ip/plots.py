# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures 1 to 5 of the paper, tables 3 and 4 as curves. Needs plotly, as load/plots.py does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from ..load.plots import COLOURS, Plot, figure_of
from . import paper

Result = Mapping[str, Any]


def plots(result: Result) -> list[Plot]:
    """Those for which there are measurements, in the paper's order."""
    found = result["experiments"]
    drawn: list[Plot] = []
    if "availability" in found:
        drawn += _by_time(found["availability"])
    if "saturation" in found:
        drawn.append(_saturation(found["saturation"], result["options"]["line"]["rate"]))
    if "ping" in found:
        drawn.append(_pings(found["ping"]["rows"]))
    for name, title in (("circuits", "Table 3"), ("files", "Table 4")):
        if name in found:
            drawn.append(_by_circuits(found[name]["rows"], title))
    return drawn


def _line(name: str, x: Sequence[Any], y: Sequence[Any], colour: int, **more: Any) -> go.Scatter:
    return go.Scatter(
        name=name,
        x=list(x),
        y=list(y),
        mode=more.pop("mode", "lines+markers"),
        line={"color": COLOURS[colour], "width": 2, "dash": more.pop("dash", "solid")},
        **more,
    )


def _by_time(found: Mapping[str, Any]) -> list[Plot]:
    rows = found["rows"]
    hours = [round(row["from_s"] / 3600, 4) for row in rows]
    return [
        Plot(
            f"Figure {number}. {name.capitalize()} round trip by time",
            "Pings of 64 octets; a gap: none was answered. "
            f"Dotted: the model. Available {found['available']:.1%} of the time.",
            figure_of(
                [
                    _line(name, hours, [row[name] for row in rows], 0),
                    _line("model", hours, [found["model"]["median"]] * len(rows), 6, mode="lines",
                          dash="dot"),
                ],
                "hours since the start",
                "ms",
            ),
        )
        for number, name in enumerate(("minimum", "average", "maximum", "median"), 1)
    ]  # fmt: skip


def _saturation(found: Mapping[str, Any], rate: int) -> Plot:
    rows = found["rows"]
    minutes = [row["minute"] for row in rows]
    traces = [
        _line("bit/s of the line", minutes, [row["bits_per_second"] for row in rows], 0),
        _line("the line", minutes, [rate] * len(rows), 6, mode="lines", dash="dot"),
        _line("datagrams offered by IP, per minute", minutes,
              [row["datagrams_per_minute"] for row in rows], 1, yaxis="y2"),
        _line("packets offered to X.25, per minute", minutes,
              [row["packets_per_minute"] for row in rows], 2, yaxis="y2"),
    ]  # fmt: skip
    right = {
        "title": {"text": "per minute"},
        "overlaying": "y",
        "side": "right",
        "automargin": True,
    }
    return Plot(
        "Figure 5. Saturation",
        "Each minute one transfer more, over as many circuits as the settings say.",
        figure_of(
            traces,
            "minute",
            "bit/s",
            yaxis2=right | {"rangemode": "tozero"},
            # The axis on the right needs room.
            margin={"l": 60, "r": 80, "t": 35, "b": 50},
        ),
    )


def _pings(rows: Sequence[Mapping[str, Any]]) -> Plot:
    traces = [
        _line(f"{row['octets']} octets", range(1, len(row["ms"]) + 1), row["ms"], n)
        for n, row in enumerate(rows)
    ]
    return Plot(
        "Table 1 ping by ping",
        "The first waits for the circuit.",
        figure_of(traces, "ping", "ms"),
    )


def _by_circuits(rows: Sequence[Mapping[str, Any]], title: str) -> Plot:
    numbers = [row["circuits"] for row in rows]
    published: Mapping[int, float | None] = (
        paper.CIRCUITS if title == "Table 3" else {n: rate for n, (_, rate) in paper.MANY.items()}
    )
    traces = [
        _line("measured", numbers, [row["bits_per_second"] for row in rows], 0),
        _line("model", numbers, [row["model"]["bits_per_second"] for row in rows], 6, dash="dot"),
        _line("paper", [n for n in published if published[n]],
              [rate for rate in published.values() if rate], 1),
    ]  # fmt: skip
    return Plot(
        f"{title} as a curve",
        "Bound by the window at first, by the line in the end.",
        figure_of(traces, "circuits", "bit/s"),
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots as plotly figures. This module needs plotly (MIT); the rest of load does without.

The words of a figure go through plotly's own little markup, so texts that are not ours are escaped
for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Any

import plotly.graph_objects as go

from ..report.text import one_line
from .options import PUBLISHED_SECONDS
from .wording import count, plural

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8609a", "#8a6d00", "#7b68c8", "#7a7f84")
"""Told apart with the common colour deficiencies (after Okabe and Ito). Each has a contrast of 3 or
more with both grounds below, so that a line keeps its colour when the page changes."""
GROUNDS = {"light": "#ffffff", "dark": "#1b1f23"}
_INKS = {"light": "#1d2226", "dark": "#e4e6e6"}
_GRIDS = {"light": "#eceae3", "dark": "#2f353a"}
LOGARITHMIC = {"type": "log", "rangemode": "normal", "dtick": 1, "tickformat": "~g"}
_FAR_APART = 10
_DASHES = {"router": "solid", "control": "dot"}


@dataclass(frozen=True)
class Plot:
    """One plot with its words."""

    title: str
    caption: str
    figure: go.Figure


def looks() -> dict[str, Any]:
    """What differs between a light and a dark page, as plotly templates by name."""
    return {
        name: go.layout.Template(
            layout={
                "font": {"color": _INKS[name], "family": "system-ui, DejaVu Sans, sans-serif"},
                "paper_bgcolor": ground,
                "plot_bgcolor": ground,
                "colorway": COLOURS,
                "hoverlabel": {"bgcolor": ground, "bordercolor": _GRIDS[name]},
                "modebar": {"bgcolor": ground, "color": _INKS[name]},
                **{
                    axis: {"gridcolor": _GRIDS[name], "zerolinecolor": _GRIDS[name]}
                    for axis in ("xaxis", "yaxis")
                },
            }
        ).to_plotly_json()
        for name, ground in GROUNDS.items()
    }


def figure_of(traces: Sequence[go.Scatter], x: str, y: str, **more: Any) -> go.Figure:
    """A figure with the looks that all plots have."""
    figure = go.Figure(traces)
    figure.update_layout(
        template=None,  # the page brings its own, see looks()
        font_size=13,
        separators=". ",
        height=430,
        margin={"l": 60, "r": 15, "t": 35, "b": 50},
        hovermode="x unified",
        showlegend=True,
        # Below the plot, where the buttons of plotly do not hide it.
        legend={"orientation": "h", "y": -0.24, "yanchor": "top", "x": 0, "xanchor": "left"},
        xaxis={"title": {"text": x}, "automargin": True},
        yaxis={"title": {"text": y}, "automargin": True, "rangemode": "tozero"},
    )
    return figure.update_layout(**more)


def _sparse(number: int) -> dict[str, Any]:
    """A few markers on a line of many points: what tells lines apart without colour."""
    return {"symbol": number % 8, "size": 7, "maxdisplayed": 12}


def label(text: str) -> str:
    """A text that is not ours, for plotly's own markup."""
    return escape(one_line(text, 60))


def _upright(traces: Sequence[go.Scatter]) -> dict[str, Any]:
    """A logarithmic axis where series are so far apart that the lower would lie on the ground."""
    middles = [median(trace.y) for trace in traces if any(trace.y)]
    far = len(middles) > 1 and max(middles) >= _FAR_APART * max(min(middles), 1e-9)
    return {"yaxis": LOGARITHMIC} if far else {}


def over_time(measurements: Sequence[Mapping[str, Any]]) -> list[Plot]:
    """Calls and user data per second over the run."""
    calls: list[go.Scatter] = []
    data: list[go.Scatter] = []
    for measurement in measurements:
        timeline = measurement["caller"]["timeline"]
        step = measurement["caller"]["interval_ns"] / 1e9
        name = measurement["name"]
        for traces, key, words, unit, colour in (
            (calls, "calls_completed", "completed", "calls/s", 0),
            (calls, "calls_failed", "failed", "calls/s", 1),
            (data, "octets_received", "received", "MB/s", 2),
        ):
            scale = step * (1e6 if unit == "MB/s" else 1)
            rates = [round(interval[key] / scale, 3) for interval in timeline]
            if key == "calls_failed" and not any(rates):
                continue
            traces.append(
                go.Scatter(
                    name=label(f"{words} ({name})"),
                    x=[round((i + 0.5) * step, 3) for i in range(len(timeline))],
                    y=rates,
                    mode="lines+markers",
                    line={"color": COLOURS[colour], "dash": _DASHES.get(name, "solid"), "width": 2},
                    marker=_sparse(colour),
                    hovertemplate=f"%{{y:,.5~r}} {unit}",
                )
            )
    axis = {"xaxis": {"hoverformat": ".1f"}}
    return [
        Plot(
            "Calls per second over the run",
            "Dotted: the control run, the tester without the router.",
            figure_of(calls, "seconds since the start", "calls/s", **axis, **_upright(calls)),
        ),
        Plot(
            "User data over the run",
            "User data that came back to the calling side.",
            figure_of(data, "seconds since the start", "MB/s", **axis, **_upright(data)),
        ),
    ]


def percentile_curve(buckets: Sequence[Sequence[int]]) -> tuple[list[float], list[float]]:
    """1 / (1 - share of values at or below) against milliseconds, for every bucket."""
    total = sum(n for _, n in buckets)
    x: list[float] = []
    y: list[float] = []
    seen = 0
    for value, number in buckets:
        # The last bucket's share is 1: it is drawn where half of one value would be left.
        seen += number
        left = (total - seen) / total if seen < total else 0.5 / total
        x.append(1 / left)
        y.append(value / 1e6)
    return x, y


def percentiles(measurements: Sequence[Mapping[str, Any]]) -> Plot:
    """Latency against percentile; the axis stretches towards 100%."""
    traces: list[go.Scatter] = []
    kinds = (("call_setup", "call set-up"), ("message", "message round trip"), ("clear", "clear"))
    for measurement in measurements:
        name = measurement["name"]
        for number, (kind, words) in enumerate(kinds):
            if not measurement["caller"][kind]["count"]:
                continue
            x, y = percentile_curve(measurement["caller"][kind]["buckets"])
            traces.append(
                go.Scatter(
                    name=label(f"{words} ({name})"),
                    x=x,
                    y=y,
                    customdata=[100 * (1 - 1 / at) for at in x],
                    mode="lines+markers",
                    line={"color": COLOURS[number], "dash": _DASHES.get(name, "solid"), "width": 2},
                    marker=_sparse(number),
                    hovertemplate="%{y:.3f} ms at or below for %{customdata:.5~g}%",
                )
            )
    nines = [1.0, 2.0, 10.0, 100.0, 1e3, 1e4, 1e5]
    texts = ["0%", "50%", "90%", "99%", "99.9%", "99.99%", "99.999%"]
    return Plot(
        "Latency by percentile",
        "Both axes are logarithmic: the slow ones stay visible.",
        figure_of(
            traces,
            "percentile",
            "ms",
            hovermode="closest",  # each curve has points of its own
            xaxis={"type": "log", "tickvals": nines, "ticktext": texts},
            yaxis=LOGARITHMIC,
        ),
    )


def _scaled(cells: Sequence[Mapping[str, Any]]) -> str:
    """From which seconds the cells are scaled, if they are."""
    seconds = max(round(c["figures"]["seconds"], 1) for c in cells)
    return "" if seconds >= PUBLISHED_SECONDS else f"; scaled from cells of {seconds:g} s"


def sweep(cells: Sequence[Mapping[str, Any]]) -> list[Plot]:
    """The published two: calls in 20 s against packet size (windows as series) and the reverse."""
    plots: list[Plot] = []
    axes = (("packet_size", "window", "packet size, octets"), ("window", "packet_size", "window"))
    for circuits in sorted({c["circuits"] for c in cells}):
        mine = [c for c in cells if c["circuits"] == circuits]
        errors = [c.get("calls_in_20_s_error") or 0 for c in mine]
        tops = [c["calls_in_20_s"] + error for c, error in zip(mine, errors, strict=True)]
        most = max(tops, default=0) * 1.05 or 1
        caption = "Each call: one message echoed and verified, then cleared."
        if any(errors):
            caption += f" Bars: twice the standard error{_scaled(mine)}."
        alone = [c["control"]["calls_per_second"] * PUBLISHED_SECONDS for c in mine if c["control"]]
        if alone:
            caption += (
                f" Without the router the tester does {count(min(alone))} to {count(max(alone))}."
            )
        for axis, series, words in axes:
            traces = []
            for number, value in enumerate(sorted({c[series] for c in mine})):
                points = sorted((c for c in mine if c[series] == value), key=lambda c: c[axis])
                traces.append(
                    go.Scatter(
                        name=f"window {value}" if series == "window" else f"{value} octets",
                        x=[str(c[axis]) for c in points],
                        y=[round(c["calls_in_20_s"]) for c in points],
                        mode="lines+markers",
                        line={"color": COLOURS[number % len(COLOURS)], "width": 2},
                        marker={"symbol": number % 8, "size": 8},
                        error_y={
                            "type": "data",
                            "array": [round(c.get("calls_in_20_s_error") or 0) for c in points],
                            "thickness": 1,
                            "width": 3,
                        },
                        hovertemplate="%{y:,} calls",
                    )
                )
            plots.append(
                Plot(
                    f"Calls in 20 s by {axis.replace('_', ' ')}, {plural(circuits, 'circuit')}",
                    caption,
                    figure_of(
                        traces,
                        words,
                        "calls in 20 s",
                        xaxis={"type": "category"},
                        yaxis={"range": [0, most], "separatethousands": True},
                    ),
                )
            )
    return plots

# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots as plotly.js figures (plain data: this module needs no library)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

# Distinguishable with the common colour deficiencies (after Okabe and Ito), dark on white.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#444444")
_DASHES = {"router": "solid", "control": "dot"}


class Figure(TypedDict):
    """One plot with its words."""

    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


def _layout(x: str, y: str, **more: Any) -> dict[str, Any]:
    axis = {"gridcolor": "#eceae3", "zerolinecolor": "#dedad2", "linecolor": "#9aa0a4"}
    layout: dict[str, Any] = {
        "font": {"family": "system-ui, DejaVu Sans, sans-serif", "size": 13},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "height": 416,
        "margin": {"l": 70, "r": 20, "t": 70, "b": 55},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": 1.04, "yanchor": "bottom"},
        "xaxis": {"title": {"text": x}, **axis},
        "yaxis": {"title": {"text": y}, "rangemode": "tozero", **axis},
    }
    for name in ("xaxis", "yaxis"):
        layout[name].update(more.get(name, {}))
    return layout


def over_time(measurements: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Calls and user data per second over the run."""
    calls: list[dict[str, Any]] = []
    data: list[dict[str, Any]] = []
    for measurement in measurements:
        caller, name = measurement["caller"], measurement["name"]
        step = caller["interval_ns"] / 1e9
        times = [round((i + 0.5) * step, 3) for i in range(len(caller["timeline"]))]
        line = {"dash": _DASHES.get(name, "solid"), "width": 2}

        def rates(
            key: str, unit: float = 1.0, caller: Any = caller, step: float = step
        ) -> list[float]:
            return [round(i[key] / step / unit, 3) for i in caller["timeline"]]

        calls.append(
            {
                "name": f"completed ({name})",
                "x": times,
                "y": rates("calls_completed"),
                "line": {**line, "color": _COLOURS[0]},
            }
        )
        if any(i["calls_failed"] for i in caller["timeline"]):
            calls.append(
                {
                    "name": f"failed ({name})",
                    "x": times,
                    "y": rates("calls_failed"),
                    "line": {**line, "color": _COLOURS[1]},
                }
            )
        data.append(
            {
                "name": f"received ({name})",
                "x": times,
                "y": rates("octets_received", 1e6),
                "line": {**line, "color": _COLOURS[2]},
            }
        )
    return [
        {
            "title": "Calls per second over the run",
            "caption": "Dotted: the control run, the tester without the router.",
            "data": calls,
            "layout": _layout("seconds since the start", "calls/s"),
        },
        {
            "title": "User data over the run",
            "caption": "Octets of user data that came back to the calling side.",
            "data": data,
            "layout": _layout("seconds since the start", "MB/s"),
        },
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


def percentiles(measurements: Sequence[Mapping[str, Any]]) -> Figure:
    """Latency against percentile; the axis stretches towards 100 %."""
    data: list[dict[str, Any]] = []
    kinds = (("call_setup", "call set-up"), ("message", "message round trip"), ("clear", "clear"))
    for measurement in measurements:
        name = measurement["name"]
        for colour, (kind, words) in zip(_COLOURS, kinds, strict=False):
            if not measurement["caller"][kind]["count"]:
                continue
            x, y = percentile_curve(measurement["caller"][kind]["buckets"])
            data.append(
                {
                    "name": f"{words} ({name})",
                    "x": x,
                    "y": y,
                    "mode": "lines",
                    "line": {"color": colour, "dash": _DASHES.get(name, "solid"), "width": 2},
                    "hovertemplate": "%{y:.3f} ms",
                }
            )
    nines = [1.0, 2.0, 10.0, 100.0, 1e3, 1e4, 1e5]
    texts = ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"]
    return {
        "title": "Latency by percentile",
        "caption": "Both axes are logarithmic: the slow ones stay visible.",
        "data": data,
        "layout": _layout(
            "percentile",
            "ms",
            xaxis={"type": "log", "tickvals": nines, "ticktext": texts},
            yaxis={"type": "log", "rangemode": "normal", "dtick": 1, "tickformat": "~g"},
        ),
    }


def sweep(cells: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Calls in 20 s against packet size (windows as series) and against window (sizes)."""
    figures: list[Figure] = []
    axes = (("packet_size", "window", "packet size, octets"), ("window", "packet_size", "window"))
    for circuits in sorted({c["circuits"] for c in cells}):
        mine = [c for c in cells if c["circuits"] == circuits]
        most = max((c["calls_in_20_s"] for c in mine), default=0) * 1.1 or 1
        for axis, series, words in axes:
            data = []
            for number, value in enumerate(sorted({c[series] for c in mine})):
                points = sorted((c for c in mine if c[series] == value), key=lambda c: c[axis])
                label = f"window {value}" if series == "window" else f"{value} octets"
                data.append(
                    {
                        "name": label,
                        "x": [str(c[axis]) for c in points],
                        "y": [round(c["calls_in_20_s"]) for c in points],
                        "mode": "lines+markers",
                        "line": {"color": _COLOURS[number % len(_COLOURS)], "width": 2},
                    }
                )
            controls = [c["control"]["calls_per_second"] * 20 for c in mine if c["control"]]
            caption = "Each call: one message echoed and verified, then cleared."
            if controls:
                low, high = (f"{v:,.0f}".replace(",", " ") for v in (min(controls), max(controls)))
                caption += f" Without the router the tester does {low} to {high} in 20 s."
            plural = "circuit" if circuits == 1 else "circuits"
            figures.append(
                {
                    "title": f"Calls completed in 20 s against {axis.replace('_', ' ')}, "
                    f"{circuits} {plural}",
                    "caption": caption,
                    "data": data,
                    "layout": _layout(
                        words,
                        "calls in 20 s",
                        xaxis={"type": "category"},
                        yaxis={"range": [0, most]},
                    ),
                }
            )
    return figures

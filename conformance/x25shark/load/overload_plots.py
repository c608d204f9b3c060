# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots of overload results. Needs plotly, as plots.py does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from .plots import COLOURS, Plot, figure_of, label

Result = Mapping[str, Any]


def plots(found: Sequence[Result]) -> list[Plot]:
    """Completed against offered, set-up by rate, and the polite caller's calls over each flood."""
    drawn = [_completed(found), _setup(found)]
    if len(found) == 1:
        drawn += [_flood(flood) for flood in found[0]["floods"] if flood.get("timeline")]
    return drawn


def _name(found: Sequence[Result], number: int) -> str:
    if len(found) == 1:
        return ""
    words = "old" if number == 0 else "new" if number == len(found) - 1 else str(number)
    return f" ({words}: {label(found[number]['router']['name'])})"


def _steps(result: Result) -> list[Mapping[str, Any]]:
    return sorted([*result["ramp"], *result["refined"]], key=lambda s: float(s["rate"]))


def _completed(found: Sequence[Result]) -> Plot:
    traces = []
    most = max((s["rate"] for r in found for s in r["ramp"]), default=1.0)
    traces.append(
        go.Scatter(
            name="all that is offered",
            x=[0, most],
            y=[0, most],
            mode="lines",
            line={"color": COLOURS[6], "dash": "dot", "width": 1},
            hoverinfo="skip",
        )
    )
    for number, result in enumerate(found):
        steps = _steps(result)
        traces.append(
            go.Scatter(
                name=f"completed{_name(found, number)}",
                x=[s["rate"] for s in steps],
                y=[round(s["completed_per_second"], 2) for s in steps],
                mode="lines+markers",
                line={"color": COLOURS[number % len(COLOURS)], "width": 2},
                marker={"symbol": number % 8, "size": 8},
                hovertemplate="%{y:,.4~r} calls/s",
            )
        )
    return Plot(
        "Calls completed against calls offered",
        "The knee is where the curve leaves the dotted line.",
        figure_of(traces, "calls/s offered", "calls/s completed"),
    )


def _setup(found: Sequence[Result]) -> Plot:
    traces = []
    for number, result in enumerate(found):
        for which, dash in (("p50", "solid"), ("p99", "dash"), ("p99.9", "dot")):
            steps = [s for s in _steps(result) if s["setup_ms"]]
            traces.append(
                go.Scatter(
                    name=f"{which}{_name(found, number)}",
                    x=[s["rate"] for s in steps],
                    y=[round(s["setup_ms"][which], 4) for s in steps],
                    mode="lines+markers",
                    line={"color": COLOURS[number % len(COLOURS)], "dash": dash, "width": 2},
                    hovertemplate="%{y:,.4~r} ms",
                )
            )
    return Plot(
        "Call set-up by rate",
        "From the time a call was due. The axis of times is logarithmic.",
        figure_of(
            traces,
            "calls/s offered",
            "ms",
            yaxis={"type": "log", "rangemode": "normal", "dtick": 1, "tickformat": "~g"},
        ),
    )


def _flood(flood: Mapping[str, Any]) -> Plot:
    points = flood["timeline"]
    answered = [(at, took) for at, took in points if took is not None]
    failed = [at for at, took in points if took is None]
    traces = [
        go.Scatter(
            name="set-up of a polite call",
            x=[at for at, _ in answered],
            y=[round(took, 3) for _, took in answered],
            mode="markers",
            marker={"color": COLOURS[0], "size": 5},
            hovertemplate="%{x:.2f} s: %{y:,.4~r} ms",
        )
    ]
    if failed:
        traces.append(
            go.Scatter(
                name="failed",
                x=failed,
                y=[flood["recovery"]["limit_ms"]] * len(failed),
                mode="markers",
                marker={"color": COLOURS[1], "symbol": "x", "size": 7},
                hovertemplate="%{x:.2f} s: failed",
            )
        )
    end = flood["flood_seconds"]
    return Plot(
        f"Beside {flood['words']}",
        f"The overload lasts from 0 to {end:.1f} s (shaded).",
        figure_of(
            traces,
            "seconds since its start",
            "ms",
            hovermode="closest",
            shapes=[
                {
                    "type": "rect",
                    "xref": "x",
                    "yref": "paper",
                    "x0": 0,
                    "x1": end,
                    "y0": 0,
                    "y1": 1,
                    "fillcolor": COLOURS[1],
                    "opacity": 0.12,
                    "line": {"width": 0},
                }
            ],
            yaxis={"type": "log", "rangemode": "normal", "dtick": 1, "tickformat": "~g"},
        ),
    )

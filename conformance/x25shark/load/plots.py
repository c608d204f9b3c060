# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots of stress and sweep results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .chart import Axis, Plot, Series, far_apart, number
from .options import PUBLISHED_SECONDS
from .wording import count, plural

_DASHES = {"router": "solid", "control": "dotted"}


def over_time(measurements: Sequence[Mapping[str, Any]]) -> list[Plot]:
    """Calls and user data per second over the run."""
    calls: list[Series] = []
    data: list[Series] = []
    for measurement in measurements:
        timeline = measurement["caller"]["timeline"]
        step = measurement["caller"]["interval_ns"] / 1e9
        name = measurement["name"]
        for series, key, words, unit, colour in (
            (calls, "calls_completed", "completed", "calls/s", 0),
            (calls, "calls_failed", "failed", "calls/s", 1),
            (data, "octets_received", "received", "MB/s", 2),
        ):
            scale = step * (1e6 if unit == "MB/s" else 1)
            rates = [round(interval[key] / scale, 3) for interval in timeline]
            if key == "calls_failed" and not any(rates):
                continue
            series.append(
                Series(
                    f"{words} ({name})",
                    [round((i + 0.5) * step, 3) for i in range(len(timeline))],
                    rates,
                    colour,
                    unit,
                    _DASHES.get(name, "solid"),
                )
            )
    seconds = Axis("s since the start")
    return [
        Plot(
            "Calls per second over the run",
            "Dotted: the control run, the tester without the router.",
            calls,
            seconds,
            Axis("calls/s", logarithmic=far_apart(calls)),
        ),
        Plot(
            "User data over the run",
            "User data that came back to the calling side.",
            data,
            seconds,
            Axis("MB/s", logarithmic=far_apart(data)),
        ),
    ]


def percentile_curve(buckets: Sequence[Sequence[int]]) -> tuple[list[float], list[float]]:
    """1 / (1 - share of values at or below) against milliseconds, for every bucket."""
    total = sum(n for _, n in buckets)
    x: list[float] = []
    y: list[float] = []
    seen = 0
    for value, many in buckets:
        # The last bucket's share is 1: it is drawn where half of one value would be left.
        seen += many
        left = (total - seen) / total if seen < total else 0.5 / total
        x.append(1 / left)
        y.append(value / 1e6)
    return x, y


def percentiles(measurements: Sequence[Mapping[str, Any]]) -> Plot:
    """Latency against percentile; the axis stretches towards 100%."""
    drawn: list[Series] = []
    kinds = (("call_setup", "call set-up"), ("message", "message round trip"), ("clear", "clear"))
    for measurement in measurements:
        name = measurement["name"]
        for colour, (kind, words) in enumerate(kinds):
            if not measurement["caller"][kind]["count"]:
                continue
            x, y = percentile_curve(measurement["caller"][kind]["buckets"])
            notes = [
                f"{number(ms)} ms at or below for {100 * (1 - 1 / at):.5g}%"
                for at, ms in zip(x, y, strict=True)
            ]
            dash = _DASHES.get(name, "solid")
            drawn.append(Series(f"{words} ({name})", x, y, colour, dash=dash, notes=notes))
    nines = [1.0, 2.0, 10.0, 100.0, 1e3, 1e4, 1e5]
    texts = ["0%", "50%", "90%", "99%", "99.9%", "99.99%", "99.999%"]
    return Plot(
        "Latency by percentile",
        "Both axes are logarithmic: the slow ones stay visible.",
        drawn,
        Axis("percentile", logarithmic=True, ticks=dict(zip(nines, texts, strict=True))),
        Axis("ms", logarithmic=True),
    )


def _scaled(cells: Sequence[Mapping[str, Any]]) -> str:
    """From which seconds the cells are scaled, if they are."""
    seconds = max(round(c["figures"]["seconds"], 1) for c in cells)
    return "" if seconds >= PUBLISHED_SECONDS else f"; scaled from cells of {seconds:g} s"


def _reach(cell: Mapping[str, Any]) -> tuple[float, float] | None:
    """Twice the standard error about a cell's figure."""
    value, error = cell["calls_in_20_s"], cell.get("calls_in_20_s_error")
    return (value - error, value + error) if error else None


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
        for axis, which, words in axes:
            drawn = []
            for colour, value in enumerate(sorted({c[which] for c in mine})):
                points = sorted((c for c in mine if c[which] == value), key=lambda c: c[axis])
                drawn.append(
                    Series(
                        f"window {value}" if which == "window" else f"{value} octets",
                        [str(c[axis]) for c in points],
                        [round(c["calls_in_20_s"]) for c in points],
                        colour,
                        "calls",
                        reach=[_reach(c) for c in points],
                    )
                )
            title = f"Calls in 20 s by {axis.replace('_', ' ')}, {plural(circuits, 'circuit')}"
            # The same height for both, so that they can be compared.
            plots.append(Plot(title, caption, drawn, Axis(words), Axis("calls in 20 s", top=most)))
    return plots

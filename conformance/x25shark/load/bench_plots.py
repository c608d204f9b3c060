# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots of a bench result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .chart import Axis, Plot, Series, number

_RATES = (
    ("hammer", "hammer: the tester alone", "dotted"),
    ("maximum", "maximum without loss", "solid"),
    ("plus_25", "+25 %", "solid"),
    ("flood", "flood", "solid"),
)
_SIZES = Axis("octets of a message")


def plots(rows: Sequence[Mapping[str, Any]]) -> list[Plot]:
    """Rates by size, delay by size and load, every trial of the searches."""
    if not rows:
        return []
    found = [_rates(rows), _octets(rows)]
    if any(row.get("delays") for row in rows):
        found.append(_delays(rows))
    return [*found, _trials(rows)]


def _bounds(row: Mapping[str, Any], scale: Any) -> tuple[float, float] | None:
    """Between what was carried without loss and what was not, if the search found both."""
    found = row["throughput"]
    if not found["said"] or not found["upper"]:
        return None
    return scale(row, found["lower"]), scale(row, found["upper"])


def _series(rows: Sequence[Mapping[str, Any]], scale: Any, unit: str) -> list[Series]:
    found = []
    for colour, (key, words, dash) in enumerate(_RATES):
        points = [(row, row[key]["carried"]) for row in rows if row.get(key)]
        x = [str(row["size"]) for row, _ in points]
        y = [round(scale(row, value), 6) for row, value in points]
        reach = [_bounds(row, scale) for row, _ in points] if key == "maximum" else ()
        found.append(Series(words, x, y, colour, unit, dash, reach=reach))
    theory = [(row, row["theoretical"]) for row in rows if row.get("theoretical")]
    if theory:
        x = [str(row["size"]) for row, _ in theory]
        y = [round(scale(row, value), 6) for row, value in theory]
        found.append(Series("theoretical", x, y, len(_RATES), unit, "dashed"))
    return found


def _rates(rows: Sequence[Mapping[str, Any]]) -> Plot:
    return Plot(
        "Messages per second by size",
        "Dotted: what the tester does without the router. Bars: from the highest rate without loss "
        "to the lowest with some. The axis of rates is logarithmic.",
        _series(rows, lambda _row, value: value, "messages/s"),
        _SIZES,
        Axis("messages/s", logarithmic=True),
    )


def _octets(rows: Sequence[Mapping[str, Any]]) -> Plot:
    return Plot(
        "User data by size",
        "The same in octets: where the line, not the packet, is the limit, this is flat.",
        _series(rows, lambda row, value: value * row["size"] / 1e6, "MB/s"),
        _SIZES,
        Axis("MB/s", logarithmic=True),
    )


def _delays(rows: Sequence[Mapping[str, Any]]) -> Plot:
    drawn = []
    loads = list(dict.fromkeys(one["load"] for row in rows for one in row.get("delays", [])))
    for colour, load in enumerate(loads):
        for side, dash in (("router", "solid"), ("control", "dotted")):
            points = [
                (row["size"], one[side])
                for row in rows
                for one in row.get("delays", [])
                if one["load"] == load and one[side]
            ]
            x = [str(size) for size, _ in points]
            y = [times["p50"] for _, times in points]
            reach = [(times["p50"], times["p99"]) for _, times in points]
            drawn.append(Series(f"{load} load ({side})", x, y, colour, "ms", dash, reach=reach))
    return Plot(
        "Delay by size, median",
        "From when a message is due at A to its last octet at B. Bars: to the 99th percentile. "
        "Dotted: without the router.",
        drawn,
        _SIZES,
        Axis("ms", logarithmic=True),
    )


def _trials(rows: Sequence[Mapping[str, Any]]) -> Plot:
    drawn = []
    for colour, row in enumerate(rows):
        trials = [trial for trial in row["trials"] if trial["rate"]]
        x = [trial["rate"] for trial in trials]
        y = [round(100 * trial["loss_ratio"], 4) for trial in trials]
        notes = [
            f"{number(trial['rate'])} messages/s: {100 * trial['loss_ratio']:.3g} % lost"
            for trial in trials
        ]
        drawn.append(Series(f"{row['size']} octets", x, y, colour, kind="marks", notes=notes))
    return Plot(
        "Every trial of the searches",
        "Where the points leave zero is the throughput; how sharply says how sure it is.",
        drawn,
        Axis("messages/s offered", logarithmic=True),
        Axis("% lost"),
    )

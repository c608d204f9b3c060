# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures 1 to 5 of the paper, tables 3 and 4 as curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..load.chart import Axis, Plot, Series
from . import paper

Result = Mapping[str, Any]
_GREY = 6
_BIT_RATE = Axis("bit/s")


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


def _steady(name: str, x: Sequence[float], value: float, unit: str) -> Series:
    """What has one value everywhere, as a dotted line."""
    return Series(name, x, [value] * len(x), _GREY, unit, "dotted", mark=-1)


def _by_time(found: Mapping[str, Any]) -> list[Plot]:
    rows = found["rows"]
    hours = [round(row["from_s"] / 3600, 4) for row in rows]
    return [
        Plot(
            f"Figure {number}. {name.capitalize()} round trip by time",
            "Pings of 64 octets; a gap: none was answered. "
            f"Dotted: the model. Available {found['available']:.1%} of the time.",
            [
                Series(name, hours, [row[name] for row in rows], 0, "ms"),
                _steady("model", hours, found["model"]["median"], "ms"),
            ],
            Axis("hours since the start"),
            Axis("ms"),
        )
        for number, name in enumerate(("minimum", "average", "maximum", "median"), 1)
    ]


def _saturation(found: Mapping[str, Any], rate: int) -> Plot:
    rows = found["rows"]
    minutes = [row["minute"] for row in rows]
    counted = (
        ("datagrams offered by IP, per minute", "datagrams_per_minute"),
        ("packets offered to X.25, per minute", "packets_per_minute"),
    )
    drawn = [
        Series("bit/s of the line", minutes, [row["bits_per_second"] for row in rows], 0, "bit/s"),
        _steady("the line", minutes, rate, "bit/s"),
        *(
            Series(words, minutes, [row[key] for row in rows], colour, "per minute", right=True)
            for colour, (words, key) in enumerate(counted, 1)
        ),
    ]
    return Plot(
        "Figure 5. Saturation",
        "Each minute one transfer more, over as many circuits as the settings say.",
        drawn,
        Axis("minute"),
        _BIT_RATE,
        right=Axis("per minute"),
    )


def _pings(rows: Sequence[Mapping[str, Any]]) -> Plot:
    drawn = [
        Series(f"{row['octets']} octets", range(1, len(row["ms"]) + 1), row["ms"], colour, "ms")
        for colour, row in enumerate(rows)
    ]
    caption = "The first waits for the circuit."
    return Plot("Table 1, ping by ping", caption, drawn, Axis("ping"), Axis("ms"))


def _by_circuits(rows: Sequence[Mapping[str, Any]], title: str) -> Plot:
    numbers = [row["circuits"] for row in rows]
    published: Mapping[int, float | None] = (
        paper.CIRCUITS if title == "Table 3" else {n: rate for n, (_, rate) in paper.MANY.items()}
    )
    printed = [n for n in published if published[n]]
    model = [row["model"]["bits_per_second"] for row in rows]
    drawn = [
        Series("measured", numbers, [row["bits_per_second"] for row in rows], 0, "bit/s"),
        Series("model", numbers, model, _GREY, "bit/s", "dotted"),
        Series("paper", printed, [published[n] for n in printed], 1, "bit/s", "dashed"),
    ]
    return Plot(
        f"{title} as a curve",
        "Bound by the window at first, by the line in the end.",
        drawn,
        Axis("circuits"),
        _BIT_RATE,
    )

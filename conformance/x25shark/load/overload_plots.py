# SPDX-License-Identifier: GPL-2.0-or-later
"""The plots of overload results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .chart import Axis, Plot, Series, number

Result = Mapping[str, Any]
_OFFERED = Axis("calls/s offered")
_GREY = 6


def plots(found: Sequence[Result]) -> list[Plot]:
    """Completed against offered, set-up by rate, and the polite caller's calls over each flood."""
    drawn = [_completed(found), _setup(found)]
    if len(found) == 1:
        # One that was interrupted may have a part of it only.
        whole = [f for f in found[0]["floods"] if f.get("timeline") and "flood_seconds" in f]
        drawn += [_flood(flood) for flood in whole]
    return drawn


def _name(found: Sequence[Result], which: int) -> str:
    if len(found) == 1:
        return ""
    words = "old" if which == 0 else "new" if which == len(found) - 1 else str(which)
    return f" ({words}: {found[which]['router']['name']})"


def _steps(result: Result) -> list[Mapping[str, Any]]:
    return sorted([*result["ramp"], *result["refined"]], key=lambda s: float(s["rate"]))


def _completed(found: Sequence[Result]) -> Plot:
    most = max((s["rate"] for r in found for s in r["ramp"]), default=1.0)
    offered = Series("all that is offered", [0, most], [0, most], _GREY, dash="dotted", mark=-1)
    drawn = [offered]
    for colour, result in enumerate(found):
        steps = _steps(result)
        drawn.append(
            Series(
                f"completed{_name(found, colour)}",
                [s["rate"] for s in steps],
                [s["completed_per_second"] for s in steps],
                colour,
                "calls/s",
            )
        )
    return Plot(
        "Calls completed against calls offered",
        "The knee is where the curve leaves the dotted line.",
        drawn,
        _OFFERED,
        Axis("calls/s completed"),
    )


def _setup(found: Sequence[Result]) -> Plot:
    drawn = []
    for colour, result in enumerate(found):
        steps = [s for s in _steps(result) if s["setup_ms"]]
        shares = (("p50", "solid"), ("p99", "dashed"), ("p99.9", "dotted"))
        for mark, (which, dash) in enumerate(shares):
            drawn.append(
                Series(
                    f"{which}{_name(found, colour)}",
                    [s["rate"] for s in steps],
                    [s["setup_ms"][which] for s in steps],
                    colour,
                    "ms",
                    dash,
                    mark,
                )
            )
    return Plot(
        "Call set-up by rate",
        "From the time a call was due. The axis of times is logarithmic.",
        drawn,
        _OFFERED,
        Axis("ms", logarithmic=True),
    )


def _flood(flood: Mapping[str, Any]) -> Plot:
    points = flood["timeline"]
    answered = [(at, took) for at, took in points if took is not None]
    failed = [at for at, took in points if took is None]
    drawn = [
        Series(
            "set-up of a polite call",
            [at for at, _ in answered],
            [took for _, took in answered],
            0,
            kind="marks",
            notes=[f"{at:.2f} s: {number(took)} ms" for at, took in answered],
        )
    ]
    if failed:
        heights = [flood["recovery"]["limit_ms"]] * len(failed)
        notes = [f"{at:.2f} s: failed" for at in failed]
        drawn.append(Series("failed", failed, heights, 1, mark=6, kind="marks", notes=notes))
    end = flood["flood_seconds"]
    return Plot(
        f"Beside {flood['words']}",
        f"The overload lasts from 0 to {end:.1f} s (shaded).",
        drawn,
        Axis("seconds since its start"),
        Axis("ms", logarithmic=True),
        shaded=(0, end),
    )

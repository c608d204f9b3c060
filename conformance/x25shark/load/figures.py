# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a load result by name, each with its own spread: for `compare` and `gate`.

    stress     calls_per_second, messages_per_second, octets_received_per_second, message.p50
    sweep      calls_per_second.CIRCUITS.SIZE.WINDOW
    bench      throughput.SIZE, plus_25.SIZE, flood.SIZE, burst.SIZE, delay.LOAD.SIZE (ms, median)
    matrix     speed.TCPWINDOW.MSS.PARALLEL.SIZE.WINDOW.PAIR (Mbit/s)
    overload   knee, completed.RATE, recovery.KIND (s)

Rates are per second, times in milliseconds unless said otherwise. The spread is what the result
itself says: the bounds of a search, the time line of a run, the middle half of a distribution; a
rate that was measured once, without a time line, is taken as sure to a twentieth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from .options import PUBLISHED_SECONDS
from .wording import count, milliseconds, rate

ONCE = 0.05
_LATENCIES = ("call_setup", "message", "clear")


@dataclass(frozen=True)
class Figure:
    """A value, from where to where it may be taken to lie, its unit, and whether more is better."""

    value: float
    low: float
    high: float
    unit: str
    more_is_better: bool

    @property
    def text(self) -> str:
        """The value with its unit."""
        if self.unit == "ms":
            return f"{milliseconds(self.value)} ms"
        if self.unit == "s":
            return "never" if math.isinf(self.value) else f"{self.value:.1f} s"
        shown = rate(self.value) if self.unit != "octets/s" else count(self.value)
        return f"{shown} {self.unit}".strip()


def _once(value: float, unit: str) -> Figure:
    return Figure(value, value * (1 - ONCE), value * (1 + ONCE), unit, True)


def _of_times(latency: Mapping[str, Any]) -> Figure:
    """The median of a distribution; it spreads as far as the middle half does above it."""
    middle = float(latency["p50"])
    reach = max(float(latency.get("p75", middle)) - middle, 0.05 * middle)
    return Figure(middle, middle - reach, middle + reach, "ms", False)


def of_calls(caller: Mapping[str, Any], value: float) -> Figure:
    """Calls per second with what they may be off by, from the time line of a run.

    A run of less than four parts has no spread of its own: the square root of the calls says what
    chance alone does, and no less than a twentieth is taken.
    """
    step = caller["interval_ns"] / 1e9
    parts = [part["calls_completed"] / step for part in caller["timeline"]]
    # The last part is cut off by the end of the run.
    found = over_time(value, parts[:-1], "calls/s")
    calls = caller["measured"]["calls_completed"]
    share = max(ONCE, 2 / math.sqrt(calls)) if calls else 0.0
    if len(parts) > 4:
        return found
    return Figure(value, value * (1 - min(share, 1)), value * (1 + share), "calls/s", True)


def over_time(value: float, steps: Sequence[float], unit: str) -> Figure:
    """A mean with twice its standard error, from the parts of a run."""
    if len(steps) < 4:
        return _once(value, unit)
    error = 2 * stdev(steps) / math.sqrt(len(steps))
    # What the parts scatter around is their own mean; the last of them may be cut off.
    share = error / mean(steps) if mean(steps) else ONCE
    return Figure(value, value * (1 - share), value * (1 + share), unit, True)


def _stress(result: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    measured = result["measurements"][0]
    figures, caller = measured["figures"], measured["caller"]
    step = caller["interval_ns"] / 1e9
    for name, key, unit in (
        ("calls_per_second", "calls_completed", "calls/s"),
        ("messages_per_second", "messages_verified", "messages/s"),
        ("octets_received_per_second", "octets_received", "octets/s"),
    ):
        parts = [part[key] / step for part in caller["timeline"]]
        yield name, over_time(figures[name], parts, unit)
    for name in _LATENCIES:
        if figures["latency_ms"].get(name):
            yield f"{name}.p50", _of_times(figures["latency_ms"][name])


def _sweep(result: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    for cell in result["cells"]:
        name = f"{cell['circuits']}.{cell['packet_size']}.{cell['window']}"
        value = cell["figures"]["calls_per_second"]
        error = cell.get("calls_in_20_s_error")
        if error is None:
            yield f"calls_per_second.{name}", _once(value, "calls/s")
        else:
            error /= PUBLISHED_SECONDS
            figure = Figure(value, max(value - error, 0), value + error, "calls/s", True)
            yield f"calls_per_second.{name}", figure


def _bench(result: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    for row in result["rows"]:
        size, found = row["size"], row["throughput"]
        if found["said"]:
            upper = found["upper"] or found["lower"]
            yield (
                f"throughput.{size}",
                Figure(found["lower"], found["lower"], upper, "messages/s", True),
            )
        for name in ("plus_25", "flood"):
            if row.get(name):
                yield f"{name}.{size}", _once(row[name]["carried"], "messages/s")
        burst = row.get("burst")
        if burst:
            high = burst["lost_at"] or math.inf
            yield (
                f"burst.{size}",
                Figure(burst["messages"], burst["messages"], high, "messages", True),
            )
        for one in row.get("delays", []):
            if one["router"]:
                yield f"delay.{one['load']}.{size}", _of_times(one["router"])


def _overload(result: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    knee = result["knee"]
    if knee and knee["rate"]:
        upper = knee["upper"] or math.inf
        yield "knee", Figure(knee["rate"], knee["rate"], upper, "calls/s", True)
    for step in result["ramp"]:
        if not step.get("unplaced"):  # else the figure is the tester's own
            yield f"completed.{step['rate']:g}", _once(step["completed_per_second"], "calls/s")
    for flood in result["floods"]:
        recovery = flood.get("recovery")
        if recovery:
            seconds = recovery["seconds"]
            value = math.inf if seconds is None else seconds
            yield f"recovery.{flood['kind']}", Figure(value, value - 0.5, value + 0.5, "s", False)


def _matrix(result: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    axes = ("tcp_window", "mss", "parallel", "packet_size", "window")
    for cell in result["cells"]:
        setting = ".".join(str(cell[axis]) for axis in axes)
        for pair in cell["pairs"]:
            yield (
                f"speed.{setting}.{pair['pair']}",
                over_time(pair["speed"], pair["parts"], "Mbit/s"),
            )


_MAKERS = {
    "matrix": _matrix,
    "stress": _stress,
    "sweep": _sweep,
    "bench": _bench,
    "overload": _overload,
}


def figures_of(result: Mapping[str, Any]) -> dict[str, Figure]:
    """Every figure of a result."""
    return dict(_MAKERS[result["command"]](result))

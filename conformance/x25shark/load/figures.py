# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a load result by name, each with its own spread: for `compare` and `gate`.

    stress     calls_per_second, messages_per_second, octets_received_per_second, retransmitted,
               call_setup.p50, message.p50, clear.p50, and p99 of each
    sweep      calls_per_second.CIRCUITS.SIZE.WINDOW
    bench      throughput.SIZE, half_percent.SIZE, plus_25.SIZE, flood.SIZE, burst.SIZE, f1.SIZE,
               f10.SIZE, delay.LOAD.SIZE (ms, median), delay_p99.LOAD.SIZE
    matrix     speed.TCPWINDOW.MSS.PARALLEL.SIZE.WINDOW.PAIR (Mbit/s), retransmitted... (segments by
               the kernel), tshark... (the same by tshark)
    overload   knee, completed.RATE, setup_p50.RATE, setup_p99.RATE, recovery.KIND (s)

Rates are per second, times in milliseconds unless said otherwise. The spread is what the result
itself says: the bounds of a search, the time line of a run, the middle half of a distribution; a
rate that was measured once, without a time line, is taken as sure to a twentieth. A p99 is taken to
lie between a fifth less and the p99.9; a number of segments is off by what chance does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from statistics import mean, stdev
from typing import Any

from .options import PUBLISHED_SECONDS
from .overload import KINDS
from .wording import count, milliseconds, rate

ONCE = 0.05
TAIL = 0.2
"""The share by which a p99 may be off, whatever the p99.9 says."""
FILTERS = (1, 10)
_LOADS = ("light", "half", "full")
_AXES = ("tcp_window", "mss", "parallel", "packet_size", "window")
_MOST_NAMES = 100_000
"""Combinations of options: more than any command takes, and no more of a file that claims them."""
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


def _of_tail(latency: Mapping[str, Any]) -> Figure:
    """The p99 of a distribution."""
    tail = float(latency["p99"])
    most = max(float(latency.get("p99.9", tail)), tail * (1 + TAIL))
    return Figure(tail, tail * (1 - TAIL), most, "ms", False)


def _of_count(number: int) -> Figure:
    """A number of rare events: twice its square root is chance."""
    reach = 2 * math.sqrt(max(number, 1))
    return Figure(number, max(number - reach, 0), number + reach, "segments", False)


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
            yield f"{name}.p99", _of_tail(figures["latency_ms"][name])
    sides = [side for side in (caller, measured["responder"]) if side and "tcp" in side]
    if sides:
        yield "retransmitted", _of_count(sum(int(side["tcp"]["retransmitted"]) for side in sides))


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
        lower = found.get("half_percent_lower")
        if lower is not None:
            upper = found.get("half_percent_upper") or lower
            yield f"half_percent.{size}", Figure(lower, lower, upper, "messages/s", True)
        for name in ("plus_25", "flood"):
            if row.get(name):
                yield f"{name}.{size}", _once(row[name]["carried"], "messages/s")
        for number in FILTERS:
            carried = (row.get("filters") or {}).get(str(number))
            if carried is not None:
                yield f"f{number}.{size}", _once(carried, "messages/s")
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
                yield f"delay_p99.{one['load']}.{size}", _of_tail(one["router"])


def _overload(result: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    knee = result["knee"]
    if knee:  # at 0 it carried not even the first rate: the worst that a limit can meet
        upper = knee["upper"] or math.inf
        yield "knee", Figure(knee["rate"], knee["rate"], upper, "calls/s", True)
    for step in result["ramp"]:
        if step.get("unplaced"):
            continue  # the figures are the tester's own
        yield f"completed.{step['rate']:g}", _once(step["completed_per_second"], "calls/s")
        if step.get("setup_ms"):
            yield f"setup_p50.{step['rate']:g}", _of_times(step["setup_ms"])
            yield f"setup_p99.{step['rate']:g}", _of_tail(step["setup_ms"])
    for flood in result["floods"]:
        recovery = flood.get("recovery")
        if recovery:
            seconds = recovery["seconds"]
            value = math.inf if seconds is None else seconds
            yield f"recovery.{flood['kind']}", Figure(value, value - 0.5, value + 0.5, "s", False)


def _matrix(result: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    for cell in result["cells"]:
        setting = ".".join(str(cell[axis]) for axis in _AXES)
        for pair in cell["pairs"]:
            name = f"{setting}.{pair['pair']}"
            yield f"speed.{name}", over_time(pair["speed"], pair["parts"], "Mbit/s")
            again = pair.get("retransmitted") or {}
            for kind, counter in (("retransmitted", "kernel"), ("tshark", "tshark")):
                if again.get(counter) is not None:
                    yield f"{kind}.{name}", _of_count(again[counter])


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


# -- what a run set out to measure ----------------------------------------------------------------


def _options(result: Mapping[str, Any], name: str) -> list[Any]:
    """An option that is a list; results of earlier versions may have none of that name."""
    found = (result.get("options") or {}).get(name)
    return list(found) if isinstance(found, (list, tuple)) else []


def _of_stress(_result: Mapping[str, Any]) -> Iterator[str]:
    yield from ("calls_per_second", "messages_per_second", "octets_received_per_second")
    yield "retransmitted"
    yield from (f"{name}.{share}" for name in _LATENCIES for share in ("p50", "p99"))


def _of_sweep(result: Mapping[str, Any]) -> Iterator[str]:
    asked = [_options(result, name) for name in ("circuits", "packet_size", "window")]
    for cell in islice(product(*asked), _MOST_NAMES):
        yield "calls_per_second." + ".".join(map(str, cell))


def _of_bench(result: Mapping[str, Any]) -> Iterator[str]:
    for size in [*_options(result, "sizes"), *(row["size"] for row in result["rows"])]:
        kinds = ["throughput", "half_percent", "plus_25", "flood", "burst"]
        kinds += [f"f{number}" for number in FILTERS]
        kinds += [f"{name}.{load}" for name in ("delay", "delay_p99") for load in _LOADS]
        yield from (f"{kind}.{size}" for kind in kinds)


def _of_overload(result: Mapping[str, Any]) -> Iterator[str]:
    yield "knee"
    rates = [*_options(result, "rates"), *(step["rate"] for step in result["ramp"])]
    yield from (
        f"{kind}.{rate:g}" for rate in rates for kind in ("completed", "setup_p50", "setup_p99")
    )
    floods = _options(result, "floods") or ["beyond", *KINDS]
    yield from (f"recovery.{kind}" for kind in floods)


def _of_matrix(result: Mapping[str, Any]) -> Iterator[str]:
    cells = result["cells"]
    axes = [_options(result, axis) or sorted({cell[axis] for cell in cells}) for axis in _AXES]
    pairs = [pair["pair"] for pair in cells[0]["pairs"]] if cells else ["A-B", "A-B2"]
    for setting in islice(product(*axes, pairs), _MOST_NAMES):
        name = ".".join(map(str, setting))
        yield from (f"{kind}.{name}" for kind in ("speed", "retransmitted", "tshark"))


_NAMERS = {
    "matrix": _of_matrix,
    "stress": _of_stress,
    "sweep": _of_sweep,
    "bench": _of_bench,
    "overload": _of_overload,
}


def names_of(result: Mapping[str, Any]) -> set[str]:
    """The names of all that the run set out to measure, whether it came to it or not."""
    return set(_NAMERS[result["command"]](result)) | set(figures_of(result))

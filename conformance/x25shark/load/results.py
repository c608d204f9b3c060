# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures out of raw results, the judgement, and load.json.

load.json (UTF-8, one object):
    format "x25shark-load", version 1, command ("stress" or "sweep"), started (ISO 8601, UTC),
    engine (version), machine (processors, system), router (name, address, called),
    testers (null, or several: {asked, answering (of those), where, runs, skew_ms: how far apart
    they began at most, clock_uncertainty_ms, lost and shared (addresses that not each has to
    itself): in words}), options (see options.LoadOptions), exit_status,
    verdict {ok, reasons, remarks, tester_was_limit, share_of_control, limit (stress: words)};
    remarks spoil nothing
    stress: measurements [{name "router" or "control", run, interrupted, figures, caller,
            responder or null, cpu {router_seconds, router_octets, local_seconds (of this machine):
            null where unknown, machine_busy}}]
    sweep:  cells [{circuits, packet_size, window, calls_in_20_s, calls_in_20_s_error (twice the
            standard error), figures, control (figures or null), share_of_control, reasons,
            remarks}]
caller and responder are the engine's counts: total and measured (counters at the end of the
measured time and at the very end), latencies in nanoseconds as {count, min, max, mean,
percentiles, buckets [[highest value, count], ...]}, timeline (one entry per interval_ns),
failures, clears and resets ("cause/diagnostic", decimal), protocol_errors, findings.
Buckets of several files may be added; percentiles may not.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..foreign import parse_trouble, text_of
from ..results import write_whole
from ..temporary import Claim
from .engine import Engine
from .measure import Measurement
from .options import LoadOptions
from .target import Target
from .wording import count, milliseconds, plural, rate

FORMAT = "x25shark-load"
VERSION = 1
# Octets of a load.json.
_LONGEST = 1 << 26
NEAR = 0.8
"""From this share of the control run's figure on, the tester counts as the limit."""
BUSY_ROUTER = 0.8
"""From this share of a processor on, a router of this machine counts as the limit."""
OTHER_WORK = 0.25
"""From this share of the machine on, what else ran on it is worth a remark."""
LATENCIES = ("tcp_connect", "call_setup", "message", "interrupt", "reset", "clear", "call_duration")
INTEGRITY = (
    "lost_messages",
    "lost_packets",
    "duplicated_messages",
    "duplicated_packets",
    "reordered_messages",
    "corrupted_messages",
    "mixed_up_messages",
    "short_messages",
)


class ResultError(Exception):
    """A result file that cannot be used; the message says why."""


def _both(measurement: Measurement, counter: str) -> int:
    sides = [measurement.caller, measurement.responder]
    return sum(int(side["total"][counter]) for side in sides if side is not None)


def latency(raw: Mapping[str, Any]) -> dict[str, float] | None:
    """Milliseconds: count, min, p50, p90, p99, p99.9, p99.99, max; None if nothing was measured."""
    if not raw["count"]:
        return None
    found = {"count": raw["count"], "min": raw["min"] / 1e6, "mean": raw["mean"] / 1e6}
    found |= {name: value / 1e6 for name, value in raw["percentiles"].items()}
    found["max"] = raw["max"] / 1e6
    return found


def figures(measurement: Measurement) -> dict[str, Any]:
    """The figures that are shown and compared. Rates count the measured time only."""
    caller = measurement.caller
    measured, total = caller["measured"], caller["total"]
    seconds = max((caller["end_ns"] - caller["start_ns"]) / 1e9, 1e-9)
    answered = measurement.responder
    tester_cpu = caller["cpu_user_ns"] + caller["cpu_system_ns"]
    if answered is not None:
        tester_cpu += answered["cpu_user_ns"] + answered["cpu_system_ns"]
    delivered = int(total["messages_verified"])
    if answered is not None and not delivered:
        delivered = int(answered["total"]["messages_verified"])
    return {
        "seconds": seconds,
        "calls_made": total["calls_started"],
        "calls_offered": caller["calls_offered"],
        "calls_connected": total["calls_connected"],
        "calls_completed": total["calls_completed"],
        "calls_completed_in_time": measured["calls_completed"],
        "calls_received": answered["total"]["calls_accepted"] if answered else None,
        "calls_failed": total["calls_failed"],
        "calls_per_second": measured["calls_completed"] / seconds,
        "messages_sent": total["messages_sent"],
        "messages_verified": delivered,
        "messages_per_second": measured["messages_verified"] / seconds,
        "data_packets_sent": total["data_packets_sent"],
        "data_packets_received": total["data_packets_received"],
        "data_packets_per_second": (
            measured["data_packets_sent"] + measured["data_packets_received"]
        )
        / seconds,
        "octets_sent": total["octets_sent"],
        "octets_received": total["octets_received"],
        "octets_sent_per_second": measured["octets_sent"] / seconds,
        "octets_received_per_second": measured["octets_received"] / seconds,
        "integrity": {name: _both(measurement, name) for name in INTEGRITY},
        "late": total["late"],
        "corrupted_octets": _both(measurement, "corrupted_octets"),
        "protocol_errors": _both(measurement, "protocol_errors"),
        "latency_ms": {name: latency(caller[name]) for name in LATENCIES},
        "tester_cpu": tester_cpu / 1e9 / seconds,
        "router_cpu": (
            measurement.cpu["router_seconds"] / seconds
            if measurement.cpu["router_seconds"] is not None
            else None
        ),
        "machine_busy": measurement.cpu["machine_busy"],
        "other_work": _other_work(measurement, tester_cpu / 1e9 / seconds, seconds),
        "octets_per_circuit": (
            caller["circuit_octets"] / caller["circuits_peak"] if caller["circuits_peak"] else None
        ),
    }


def _other_work(measurement: Measurement, tester: float, seconds: float) -> float | None:
    """Share of this machine that neither tester nor router had; None where the latter is unknown.

    The router of a control run is the tester itself.
    """
    router, busy = measurement.cpu["local_seconds"], measurement.cpu["machine_busy"]
    if router is None and measurement.name != "control":
        return None
    taken = (tester + (router or 0.0) / seconds) / (os.cpu_count() or 1)
    return max((busy or 0.0) - taken, 0.0)


def main_figure(options: LoadOptions) -> tuple[str, str]:
    """The figure by which a run is compared with its control run, and its name in words."""
    if options.mode == "sink":
        return "octets_sent_per_second", "octets/s sent"
    if options.mode == "source":
        return "octets_received_per_second", "octets/s received"
    if options.messages > 1:
        return "messages_per_second", "messages/s"
    return "calls_per_second", "calls/s"


def share_of_control(
    options: LoadOptions, figure: Mapping[str, Any], control: Mapping[str, Any] | None
) -> float | None:
    """The run's main figure as a share of the control run's; None where that means nothing."""
    if control is None or options.rate is not None or options.message_rate is not None:
        return None  # an offered rate is not a limit that was found
    name = main_figure(options)[0]
    return float(figure[name]) / float(control[name]) if control[name] else None


def limit(
    options: LoadOptions, figure: Mapping[str, Any], control: Mapping[str, Any] | None
) -> str:
    """What held the rate, as far as the figures tell, in words with the figures; "": nothing.

    That the tester does more alone shows only that it was not the tester. That it was the router
    is known where its process is and had no processor left; elsewhere it may be what the router
    waits for, or the path.
    """
    share = share_of_control(options, figure, control)
    name, words = main_figure(options)
    if share is None or control is None or not figure[name]:
        return ""
    beside = f"{rate(figure[name])} {words} with, {rate(control[name])} without the router"
    beside += f" ({share:.0%})"
    if share >= NEAR:
        return f"The tester was the limit: {beside}. The router can do at least this much."
    if crowded([figure, control]):
        return (
            f"Not the tester alone was the limit: {beside}. Other work took part of this machine."
        )
    computed = figure["router_cpu"]
    if computed is None:
        return f"The router, or the path to it, was the limit: {beside}."
    if computed >= BUSY_ROUTER:
        return f"The router was the limit: {beside}; it computed for {computed:.0%} of a processor."
    return (
        f"Not the tester was the limit: {beside}. The router computed for {computed:.0%} of a "
        "processor only: it waited for something."
    )


def _unverified(measurement: Measurement, figure: Mapping[str, Any]) -> int:
    """Messages that were sent and neither verified nor explained (one-way loads only)."""
    total = measurement.caller["total"]
    if measurement.responder is None or figure["messages_verified"] == 0:
        return 0
    if total["messages_verified"] or figure["calls_failed"] or measurement.interrupted:
        return 0
    return int(figure["messages_sent"]) - int(figure["messages_verified"])


def reasons(measurement: Measurement, figure: Mapping[str, Any], options: LoadOptions) -> list[str]:
    """Why the run is not clean; empty if it is."""
    found: list[str] = []
    caller = measurement.caller
    if figure["calls_failed"]:
        kinds = sorted(caller["failures"].items(), key=lambda item: -item[1])
        text = ", ".join(f"{count(number)} x {kind}" for kind, number in kinds[:4])
        made = plural(figure["calls_made"], "call")
        found.append(f"{count(figure['calls_failed'])} of {made} failed: {text}")
    exhausted = exhaustion(measurement)
    if exhausted:
        found.append(exhausted)
    for name, number in figure["integrity"].items():
        if number:
            found.append(plural(number, name.replace("_", " ").removesuffix("s")))
    missing = _unverified(measurement, figure)
    if missing > 0:
        found.append(f"{plural(missing, 'message')} sent and never verified at the other end")
    if figure["late"] and options.late_is_flaw:
        found.append(_slow(figure, options))
    if figure["protocol_errors"]:
        found.append(plural(figure["protocol_errors"], "protocol error"))
    resets = caller["resets"]
    if resets:
        causes = ", ".join(f"{count(number)} x cause {kind}" for kind, number in resets.items())
        found.append(f"{plural(sum(resets.values()), 'reset')} by the peer: {causes}")
    return found


def remarks(figure: Mapping[str, Any], options: LoadOptions) -> list[str]:
    """What is worth knowing and spoils nothing: a slow router is a figure, not a flaw."""
    if not figure["late"] or options.late_is_flaw:
        return []
    return [f"{_slow(figure, options)}: slow, but not wrong (--late sets a limit)"]


def crowded(figures: Sequence[Mapping[str, Any]]) -> list[str]:
    """A remark where other work on this machine may have spoilt the figures."""
    most = max((figure["other_work"] or 0.0 for figure in figures), default=0.0)
    if most < OTHER_WORK:
        return []
    return [f"other work took up to {most:.0%} of this machine: rates may be too low"]


def _slow(figure: Mapping[str, Any], options: LoadOptions) -> str:
    taken = [figure["latency_ms"][name] for name in ("call_setup", "message")]
    slowest = max((values["max"] for values in taken if values), default=0.0)
    return (
        f"{plural(figure['late'], 'answer')} took longer than {options.late_ms} ms, "
        f"the slowest {milliseconds(slowest)} ms"
    )


def exhaustion(measurement: Measurement) -> str | None:
    """Says so if the router stopped taking calls for good: what a leak of channels looks like."""
    caller = measurement.caller
    first = caller["first_failure"]
    numbered = caller["first_exhaustion"]
    if numbered is not None:
        return (
            f"exhaustion: from call {numbered} on there was no free channel or socket "
            f"(last completed call: {caller['last_completed']})"
        )
    failed = int(caller["total"]["calls_failed"])
    if first is None or failed < 10 or caller["last_completed"] >= first[0] + failed // 10 + 100:
        return None
    if int(caller["total"]["calls_completed"]) == 0:
        return None  # it never worked: no exhaustion
    return (
        f"exhaustion: call {first[0]} was the first to fail ({first[1]}), and none after call "
        f"{caller['last_completed']} was completed"
    )


def exit_status(measurements: list[Measurement], found: list[str]) -> int:
    """0 clean, 1 something was found, 3 no call was completed, 130 interrupted."""
    if any(m.interrupted for m in measurements):
        return 130
    if not any(int(m.caller["total"]["calls_connected"]) for m in measurements[:1]):
        return 3
    return 1 if found else 0


def without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """The options without those that a command has no use for."""
    return {name: value for name, value in options.items() if name not in names}


def lost_testers(result: Mapping[str, Any]) -> list[str]:
    """In words, the testers of several that were lost: what they did is not in the figures."""
    testers = result.get("testers")
    return list(testers["lost"]) if testers else []


def head(command: str, engine: Engine, target: Target, options: LoadOptions) -> dict[str, Any]:
    """The first part of load.json."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "command": command,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "engine": engine.version,
        "testers": engine.testers,
        "machine": {"processors": os.cpu_count(), "system": platform.release()},
        "router": {
            "name": target.name,
            "address": target.connect,
            "called": list(target.called),
        },
        "options": options.as_dict(),
    }


def write(path: Path, result: Mapping[str, Any]) -> None:
    """Write load.json in one step: a reader never sees half a file."""
    write_whole(path, json.dumps(result, indent=1, allow_nan=False) + "\n")


@contextmanager
def held(folder: Path | None) -> Iterator[None]:
    """The output folder, made and written to once: better now than after the run. No other command
    takes it meanwhile. Raises ResultError."""
    claim = None
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            claim = Claim(folder)
    except BlockingIOError:
        raise ResultError(
            f"{folder}: another run is writing its results there; name another folder with "
            "--output, or wait until it has ended"
        ) from None
    except OSError as error:
        raise ResultError(f"no results can be written into {folder}: {error.strerror}") from None
    try:
        yield
    finally:
        if claim is not None:
            claim.release()


def read(path: Path) -> dict[str, Any]:
    """Read a load.json. Raises ResultError."""
    try:
        result = json.loads(text_of(path, _LONGEST))
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path}: not JSON: {parse_trouble(error)}") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise ResultError(f"{path}: not a load result of x25shark")
    if result.get("version") != VERSION:
        raise ResultError(f"{path}: version {result.get('version')!r}, this x25shark reads 1")
    return result


@contextmanager
def taken_from(*paths: Path) -> Iterator[None]:
    """What goes wrong in here is due to what these files have in place of results, which somebody
    else may have written. Raises ResultError."""
    try:
        yield
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, ArithmeticError):
        raise ResultError(f"{', '.join(map(str, paths))}: a damaged load result") from None

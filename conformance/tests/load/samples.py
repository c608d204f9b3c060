# SPDX-License-Identifier: GPL-2.0-or-later
"""Results as the engine gives them, made by hand."""

from __future__ import annotations

from typing import Any

from x25shark.load import results
from x25shark.load.measure import Measurement

COUNTERS = [
    "calls_started",
    "calls_connected",
    "calls_completed",
    "calls_failed",
    "calls_accepted",
    "messages_sent",
    "messages_verified",
    "data_packets_sent",
    "data_packets_received",
    "octets_sent",
    "octets_received",
    "late",
    "protocol_errors",
    "corrupted_octets",
    *results.INTEGRITY,
]


def raw(**counts: int) -> dict[str, Any]:
    """A side's results as the engine gives them."""
    total = dict.fromkeys(COUNTERS, 0) | counts
    nothing = {"count": 0, "min": 0, "max": 0, "mean": 0, "percentiles": {}, "buckets": []}
    extent = {"min": 128, "max": 128}
    return {
        "start_ns": 0,
        "end_ns": 2_000_000_000,
        "calls_offered": 0,
        "cpu_user_ns": 500_000_000,
        "cpu_system_ns": 500_000_000,
        "measured": dict(total),
        "total": total,
        "interval_ns": 200_000_000,
        "timeline": [],
        "failures": {},
        "clears": {},
        "resets": {},
        "findings": [],
        "first_exhaustion": None,
        "first_failure": None,
        "last_completed": 0,
        "circuit_octets": 1000,
        "circuits_peak": 10,
        "negotiated": dict.fromkeys(
            ("packet_size_in", "packet_size_out", "window_in", "window_out"), extent
        ),
        **dict.fromkeys(results.LATENCIES, nothing),
    }


def cpu(router: float | None, busy: float) -> dict[str, float | None]:
    """As CpuMeter gives it; router: CPU seconds of one on this machine, None: there is none."""
    return {
        "router_seconds": router,
        "router_octets": None,
        "local_seconds": router,
        "machine_busy": busy,
    }


def measurement(**counts: int) -> Measurement:
    return Measurement("router", raw(**counts), None, cpu(1.0, 0.5), False, 1)


GOOD = {"calls_started": 100, "calls_connected": 100, "calls_completed": 100}

# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial: messages of one size at a stated rate over circuits that are up (RFC 2544 24, 26.1).

Delivered is what arrives whole and right within the grace of the time it was due. The rest is lost,
by kind. A path with flow control does not drop, it holds back: what does not arrive in time is
late, and what the windows never let go is late too. A trial is short, and the grace is generous:
a path that is too slow by a tenth loses nothing in a second. So it counts as well by how much the
path falls behind the schedule: the delay of its messages grows all the time, and a longer trial
would lose what grows beyond the grace.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import median
from typing import Any

from .engine import Engine, Side
from .measure import Measurement, measure, measure_control, new_run
from .options import LoadOptions
from .results import latency
from .target import Target

GROWTH = 0.005
"""A path falls behind from this growth of the delay on, seconds per second: half the usual width
of a search."""
KINDS = ("late", "missing", "corrupt", "duplicated", "wrong_circuit")
SYN_AGAIN = 0.9e9
"""Nanoseconds."""
FEW = 2
"""Connections that are opened at the same time where more of them have to be asked for again."""
_ENDED = "run ended"
_UNANSWERED = ("timeout: TCP connection", "timeout: call not answered")
_FINDINGS = 20


@dataclass(frozen=True)
class Trial:
    """What came of a trial. Rates are messages/s, times seconds unless the name says otherwise.

    rate: offered by schedule; None for a flood or a burst. lost: by kind. held_back: of the late
    ones those that never left the tester. behind: by how much the delay grew, seconds per second.
    carried: messages/s that arrived within the time. delay_ms: None where nothing was due.
    packets_received: None where the tester does not answer the calls itself.
    """

    rate: float | None
    seconds: float
    offered: int
    delivered: int
    carried: float
    lost: dict[str, int]
    held_back: int
    behind: float
    delay_ms: dict[str, float] | None
    connected: int
    failures: dict[str, int]
    findings: list[dict[str, Any]]
    interrupted: bool
    cpu: dict[str, float | None]
    tester_cpu: float
    packets_sent: int = 0
    packets_received: int | None = None
    crowded_out: bool = False
    """A connection was set up at the second try only: too many were opened at the same time."""

    @property
    def other_work(self) -> float:
        """Share of this machine that neither the tester nor a router on it had."""
        taken = self.tester_cpu + (self.cpu["local_seconds"] or 0.0) / self.seconds
        return max((self.cpu["machine_busy"] or 0.0) - taken / (os.cpu_count() or 1), 0.0)

    @property
    def unanswered(self) -> bool:
        """Whether calls were waited for in vain beside others that were connected."""
        return self.connected > 0 and any(why in _UNANSWERED for why in self.failures)

    @property
    def clean(self) -> bool:
        """Whether all arrived, and the path kept up."""
        whole = self.delivered >= self.offered > 0 and not self.harmed
        return whole and self.behind <= GROWTH

    @property
    def harmed(self) -> int:
        """Messages that no slowness explains."""
        return sum(self.lost[kind] for kind in KINDS[1:])

    @property
    def loss_ratio(self) -> float:
        """Share that was lost, or would be in a trial without end."""
        if not self.offered:
            return 1.0
        lost = min(max(self.offered - self.delivered, self.harmed), self.offered) / self.offered
        if lost > 0.5 and self.rate:
            # Hardly anything got through: what did says best how much the path can carry.
            return max(1.0 - self.carried / self.rate, 1.0 / self.offered)
        return max(lost, self.behind if self.behind > GROWTH else 0.0)

    def as_dict(self) -> dict[str, Any]:
        """As in load.json; CPU as a share of one processor."""
        router = self.cpu["router_seconds"]
        return {
            "rate": self.rate,
            "seconds": self.seconds,
            "offered": self.offered,
            "delivered": self.delivered,
            "carried": self.carried,
            "lost": self.lost,
            "held_back": self.held_back,
            "behind": self.behind,
            "loss_ratio": self.loss_ratio,
            "delay_ms": self.delay_ms,
            "connected": self.connected,
            "failures": self.failures,
            "findings": self.findings,
            "packets_sent": self.packets_sent,
            "packets_received": self.packets_received,
            "router_cpu": None if router is None else router / self.seconds,
            "router_octets": self.cpu.get("router_octets"),
            "tester_cpu": self.tester_cpu,
            "other_work": self.other_work,
        }


def growth(parts: Sequence[Mapping[str, int]], seconds: float) -> float:
    """Seconds per second by which the delay grows: the median slope between the parts of a trial.

    The median stands a pause of the tester in a few of them.
    """
    means = [(i, p["sum_ns"] / p["count"]) for i, p in enumerate(parts) if p["count"]]
    if len(means) < 4:
        return 0.0
    part_ns = seconds * 1e9 / len(parts)
    slopes = [(b - a) / ((j - i) * part_ns) for (i, a), (j, b) in combinations(means, 2)]
    return min(max(median(slopes), 0.0), 1.0)


def lost_by_kind(
    offered: int, caller: Mapping[str, Any], verifier: Mapping[str, Any]
) -> tuple[dict[str, int], int]:
    """Lost messages by kind, and how many of the late ones never left the tester.

    Missing is what did not come although something shows that it was lost: a gap in P(S) or in the
    numbers of the messages, a reset, a circuit that ended. Otherwise it is late.
    """
    trial, seen, sent = verifier["trial"], verifier["total"], caller["total"]
    corrupt = int(seen["corrupted_messages"] + seen["short_messages"])
    wrong = int(seen["mixed_up_messages"])
    both = (caller["total"], verifier["total"])
    duplicated = sum(int(t["duplicated_messages"] + t["duplicated_packets"]) for t in both[-1:])
    unsent = max(offered - int(sent["messages_sent"]), 0)
    rest = max(offered - unsent - int(trial["delivered"]) - int(trial["late"]) - corrupt - wrong, 0)
    resets = sum(int(t["resets_sent"] + t["resets_received"]) for t in both)
    failed = sum(n for reason, n in caller["failures"].items() if reason != _ENDED)
    shown = sum(int(t["lost_packets"] + t["lost_messages"]) for t in both) + resets + failed
    missing = rest if shown else 0
    late = int(trial["late"]) + unsent + rest - missing
    if failed and not int(sent["calls_connected"]):
        missing, late, unsent = offered, 0, 0
    kinds = dict(zip(KINDS, (late, missing, corrupt, duplicated, wrong), strict=True))
    return kinds, min(unsent, late)


def judge(measured: Measurement, rate: float | None, seconds: float) -> Trial:
    """The result of a trial out of what both sides counted."""
    caller = measured.caller
    answered = measured.responder
    verifier = answered if answered is not None and answered["trial"]["start_ns"] else caller
    trial = verifier["trial"]
    offered = int(caller["trial"]["offered"])
    lost, held_back = lost_by_kind(offered, caller, verifier)
    sides = [side for side in (caller, answered) if side is not None]
    cpu = sum(side["cpu_user_ns"] + side["cpu_system_ns"] for side in sides)
    elapsed = max((caller["end_ns"] - caller["start_ns"]) / 1e9, 1e-9)
    return Trial(
        rate=rate,
        seconds=seconds,
        offered=offered,
        delivered=int(trial["delivered"]),
        carried=int(trial["in_time"]) / seconds,
        lost=lost,
        held_back=held_back,
        behind=growth(trial["parts"], seconds),
        delay_ms=latency(trial["delay"]),
        connected=int(caller["total"]["calls_connected"]),
        failures={k: int(n) for k, n in caller["failures"].items() if k != _ENDED},
        findings=[f for side in sides for f in side["findings"] if f["kind"] != "late"][:_FINDINGS],
        interrupted=measured.interrupted,
        cpu=measured.cpu,
        tester_cpu=cpu / 1e9 / elapsed,
        packets_sent=int(caller["total"]["data_packets_sent"]),
        packets_received=(
            None if answered is None else int(answered["total"]["data_packets_received"])
        ),
        crowded_out=crowded_out(caller["tcp_connect"]),
    )


def crowded_out(connect: Mapping[str, Any]) -> bool:
    """Whether TCP had to ask again (after a second, RFC 6298 2), although the path is quick."""
    return bool(connect["count"] and connect["max"] >= SYN_AGAIN and connect["min"] < SYN_AGAIN / 3)


def _comes_up(caller: Side, circuits: int, seconds: float) -> bool:
    """Whether at least one circuit is up once all are settled, or the time is over."""
    end = time.monotonic() + seconds
    while True:
        now = json.loads(caller.snapshot())
        if now["calls_connected"] + now["calls_failed"] >= circuits or time.monotonic() > end:
            return bool(now["calls_connected"])
        time.sleep(0.02)


@dataclass(frozen=True)
class Track:
    """Where trials run: through the router, or (target None) from the tester to itself.

    more: what the calling side's configuration has besides, shared with all that is made of this.
    """

    engine: Engine
    options: LoadOptions
    target: Target | None
    grace: float = 1.0
    more: dict[str, Any] = field(default_factory=dict)

    def of_size(self, length: int, packet_size: int) -> Track:
        """The same with messages of so many octets."""
        load = replace(self.options, shortest=length, longest=length, packet_size=packet_size)
        return replace(self, options=load)

    def alone(self) -> Track:
        """The same without the router: the control trial."""
        return replace(self, target=None)

    def _run(self, trial: dict[str, Any], rate: float | None, seconds: float) -> Trial:
        options = replace(self.options, duration=None, calls=self.options.circuits)
        if self.target is None:
            done = measure_control(self.engine, options, trial=trial)
        else:
            done = measure(self.engine, options, self.target, more=self.more, trial=trial)
        return judge(done, rate, seconds)

    @contextmanager
    def quiet_circuits(self, seconds: float) -> Iterator[bool]:
        """Circuits that are up and carry nothing, for so long at most; whether any came up."""
        assert self.target is not None
        options = replace(self.options, duration=None, calls=self.options.circuits)
        run = new_run()
        listen = self.target.listen
        responder = self.engine.responder(options.responder(listen, run)) if listen else None
        load = options.caller(self.target.connect, self.target.called, run, self.target.sources)
        # One burst of nothing: the trial has a time, and no message is due in it.
        trial = self._plan(1e-6, seconds)
        caller = self.engine.caller(load | self.more | {"trial": trial})
        try:
            yield _comes_up(caller, options.circuits, options.timeout)
        finally:
            caller.stop()
            caller.result()
            if responder is not None:
                responder.stop()
                responder.result()

    def _plan(self, rate: float, seconds: float, burst: int = 0) -> dict[str, Any]:
        return {
            "rate": rate,
            "duration_ms": max(round(seconds * 1000), 1),
            "grace_ms": round(self.grace * 1000),
            "burst": burst,
        }

    def open_few_at_once(self) -> None:
        """From now on, here and in all that shares `more`."""
        self.more["max_setups"] = FEW

    def wait_less(self, seconds: float) -> None:
        """For an answer to a call, at most; from now on, here and in all that shares `more`."""
        self.more["setup_timeout_ms"] = round(min(seconds, self.options.timeout) * 1000)

    def at(self, rate: float, seconds: float) -> Trial:
        """A trial at a rate."""
        return self._run(self._plan(rate, seconds), rate, seconds)

    def flood(self, seconds: float) -> Trial:
        """As fast as the tester and the windows allow."""
        return self._run(self._plan(0.0, seconds), None, seconds)

    def burst(self, messages: int, seconds: float) -> Trial:
        """So many at once, with this time for them to arrive."""
        return self._run(self._plan(0.0, seconds, messages), None, seconds)

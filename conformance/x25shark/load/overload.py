# SPDX-License-Identifier: GPL-2.0-or-later
"""Overload (after the notes on the IA64 Linux TCP stack): a ramp of calls/s, floods, recovery.

All loads are open loop: calls are placed by schedule whatever becomes of those before, and the
set-up of a call counts from the time it was due.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..run.router import HOOK_SECONDS, RouterError
from . import results
from .bench import Gone, Interrupted
from .engine import Engine
from .measure import Measurement, measure, measure_control
from .options import LoadOptions
from .polite import WINDOW, Met, Polite, figures, limit_ms, polite_caller
from .results import NEAR, latency
from .target import Target

KINDS = ("connections", "calls", "clears", "half-closed")
WORDS = {
    "beyond": "calls beyond the knee",
    "connections": "connections without a call",
    "calls": "calls that nobody accepts",
    "clears": "clears that nobody confirms",
    "half-closed": "half-closed connections",
}
LEFT_UNDONE = ("calls", "clears")
"""Floods in which it is the called side of the tester that leaves something undone."""
NO_CALLED_SIDE = (
    "left out: the tester does not answer these calls itself, and whoever does would answer these "
    "too (xot.b of the profile, or --listen)"
)
NO_TIME = "left out: no time was left"
UNANSWERED, UNCONFIRMED = "c0783235aa", "c0783235bb"
"""Call user data by which the called side knows the calls that it leaves without an answer."""
ENOUGH = 0.975
"""A step is carried if this share of its calls is completed within its time, and none fails."""
LESS = 0.5
"""Completing less than this share of the best when more is offered is named. The load of so many
calls is shared with the tester, where both are on one machine."""
OWN_SHORTAGES = (
    "no free local port",
    "address in use",
    "no free file descriptor",
    "no memory for a socket",
)
"""Ends of reasons by which the tester itself, and not the router, failed to open a connection."""
WIDTH = 0.03
_REFINE = 6
_TRIES = 2
_MOST_CIRCUITS = 60_000
_SAMPLES = 3000
_BESIDE = 0.4
"""Seconds that a step takes beside its own."""
_RECOVERS = 2.0
"""Seconds that most routers need to recover, with those in which it is seen."""
_CONTROL = 5.0
_PAUSES = 100.0
"""Milliseconds by which calls of a busy machine may be slower, and nothing be left behind."""
_TRIED = 2
"""Tries for the knee that the steps beyond it leave time for."""


@dataclass(frozen=True)
class OverloadPlan:
    """What is done. Rates in calls/s, times in seconds."""

    rates: Sequence[float]
    step: float
    base_rate: float
    base: float
    flood_rate: float
    flood: float
    flood_most: int
    bound: float
    kinds: Sequence[str]
    timeout: float = 5.0
    """For which a step beyond the knee waits at its end."""
    refine: int = _REFINE
    most: float | None = None
    """What it may take; None: as long as all that was asked for may take."""

    def expected(self) -> float:
        """Seconds that it should take."""
        ramp = (len(self.rates) + self.refine + 1) * (self.step + _BESIDE)
        ramp += len(self.rates) / 4 * self.timeout
        return min(ramp + self.floods() * (self.base + self.flood + _RECOVERS), self.seconds())

    def seconds(self) -> float:
        """The longest that it takes: every step made again and waited for, no flood recovered from.
        The restart hook alone may take more."""
        steps = _TRIES * (len(self.rates) + 2) + self.refine
        ramp = steps * self.step_seconds()
        flood = 2 * self.base + self.flood + 3 * (self.bound + WINDOW)
        longest = ramp + self.floods() * flood
        return longest if self.most is None else min(longest, self.most)

    def floods(self) -> int:
        """How many there are, with that of calls beyond the knee."""
        return len(self.kinds) + 1

    def step_seconds(self) -> float:
        """A step that is waited for."""
        return self.step + self.timeout + _BESIDE

    def flood_seconds(self) -> float:
        """A flood with the whole time for the recovery."""
        return self.base + self.flood + self.bound + WINDOW + _BESIDE

    def reserved(self) -> float:
        """What of the time is for floods, before they begin: one that is not recovered from."""
        others = (self.floods() - 1) * (self.base + self.flood + _RECOVERS)
        return self.flood_seconds() + others


@dataclass
class Overload:
    """Measures; what there is so far stays whatever happens."""

    engine: Engine
    options: LoadOptions
    target: Target
    plan: OverloadPlan
    say: Callable[[str], None]
    ramp: list[dict[str, Any]] = field(default_factory=list)
    refined: list[dict[str, Any]] = field(default_factory=list)
    floods: list[dict[str, Any]] = field(default_factory=list)
    control: dict[str, Any] | None = None
    control_at_knee: dict[str, Any] | None = None
    """Where the tester alone did not carry the top rate: whether it carries a quarter more than the
    router's knee."""
    knee: dict[str, Any] | None = None
    left_out: list[str] = field(default_factory=list)
    """In words, what was not done, and why."""
    _ends: float = 0.0

    def run(self) -> None:
        """The control step, the ramp, the knee, then each flood with its recovery."""
        self._ends = time.monotonic() + self.plan.seconds()
        self.say("control: the tester alone")
        self.control = self._alone(max(self.plan.rates))
        self._ramp()
        self.knee = find_knee(self.ramp)
        self._refine()
        near = max(self.knee["rate"], min(self.plan.rates)) / NEAR
        if not self.control["carried"] and near < self.control["rate"]:
            self.say("control: the tester alone, near the knee")
            self.control_at_knee = self._alone(near)
        for kind in ("beyond", *self.plan.kinds):
            if kind in LEFT_UNDONE and self.target.listen is None:
                self.left_out.append(f"{WORDS[kind]}: {NO_CALLED_SIDE}")
            elif self._left() < self.plan.flood_seconds():
                self.left_out.append(f"{WORDS[kind]}: {NO_TIME}")
            else:
                self._flood(kind)

    def _left(self) -> float:
        """Seconds until the time is over."""
        return self._ends - time.monotonic()

    def _alone(self, rate: float) -> dict[str, Any]:
        """A step of the tester without the router; made again where it only lags, as others are."""
        step: dict[str, Any] = {}
        for _ in range(_TRIES):
            alone = measure_control(self.engine, self._load(rate, min(self.plan.step, _CONTROL)))
            if alone.interrupted:
                raise Interrupted
            step = step_of(alone, rate)
            if step["carried"] or step["share"] < LESS:
                break
        return step

    def _ramp(self) -> None:
        """All steps for which there is time; those beyond the knee are the last."""
        rates = self.plan.rates
        for number, rate in enumerate(rates, 1):
            beyond = any(not step["carried"] for step in self.ramp)
            wanted = self.plan.step_seconds() * (1 + beyond * min(_TRIED, self.plan.refine))
            if number > 1 and self._left() - self.plan.reserved() < wanted:
                missing = ", ".join(f"{one:g}" for one in rates[number - 1 :][:20])
                self.left_out.append(f"steps of the ramp ({missing} calls/s): {NO_TIME}")
                return
            self.say(f"ramp {number}/{len(rates)}: {rate:g} calls/s")
            self.ramp.append(self._step(rate, len(rates) - number))
            if number == 1 and not self.ramp[0]["connected"]:
                raise Gone(reasons_of(self.ramp[0]["failures"]) or "no call was answered")

    def _load(self, rate: float, seconds: float) -> LoadOptions:
        circuits = min(round(rate * self.options.timeout) + 64, _MOST_CIRCUITS)
        return replace(
            self.options, rate=rate, duration=seconds, circuits=circuits, messages=0, mode="echo"
        )

    def _step(self, rate: float, more: int = 0) -> dict[str, Any]:
        """A step of the ramp; one that only lags is made again, if there is time for that and for
        so many more."""
        best: dict[str, Any] = {}
        others = self.plan.reserved() + more * (self.plan.step + _BESIDE)
        for number in range(_TRIES):
            if number and self._left() - others < self.plan.step_seconds():
                break
            done = measure(self.engine, self._load(rate, self.plan.step), self.target)
            if done.interrupted:
                raise Interrupted
            step = step_of(done, rate)
            if not best or step["share"] > best["share"]:
                best = step
            if step["carried"] or step["failed"] or step["share"] < LESS:
                break
        return best

    def _refine(self) -> None:
        """Halve between the highest rate that was carried and the next one."""
        knee = self.knee
        if knee is None or knee["upper"] is None or not knee["rate"]:
            return
        for number in range(self.plan.refine):
            low, high = knee["rate"], knee["upper"]
            if high - low <= WIDTH * high:
                return
            if self._left() - self.plan.reserved() < self.plan.step_seconds():
                self.left_out.append(
                    f"more tries between {low:.0f} and {high:.0f} calls/s: {NO_TIME}"
                )
                return
            rate = (low + high) / 2
            self.say(f"knee, try {number + 1}: {rate:.0f} calls/s")
            step = self._step(rate)
            self.refined.append(step)
            if step["unplaced"]:
                return
            knee["rate" if step["carried"] else "upper"] = rate

    # -- floods ---------------------------------------------------------------------------------

    def _flood(self, kind: str) -> None:
        """Before, during and after a flood, as a polite caller meets it."""
        plan = self.plan
        self.say(f"{WORDS[kind]}: the polite caller alone")
        found: dict[str, Any] = {"kind": kind, "words": WORDS[kind]}
        responder = self._answering()
        longest = 2 * plan.base + plan.flood + 3 * (plan.bound + WINDOW) + HOOK_SECONDS + 30
        try:
            with polite_caller(
                self.engine, self.options, self.target, plan.base_rate, longest
            ) as polite:
                began = time.monotonic()
                before = polite.watch(plan.base)
                # What was before may have left something over that takes its time.
                patient = min(began + plan.bound, self._ends)
                while self._unsettled(before) and time.monotonic() < patient:
                    before = polite.watch(plan.base)
                limit = limit_ms(before)
                if limit is None:
                    waited = time.monotonic() - began
                    raise Gone(f"none of those that a polite caller placed in {waited:.0f} s")
                if self._left() < plan.flood + plan.bound + WINDOW:
                    self.left_out.append(f"{WORDS[kind]}: {NO_TIME}")
                    return
                found["before"] = figures(before)
                self.floods.append(found)
                self.say(f"{WORDS[kind]}: flooded")
                flooded = time.monotonic_ns()
                flood = self._start(kind)
                during = polite.watch(plan.flood)
                ended = time.monotonic_ns()
                if responder is not None:
                    responder.release()  # what the tester itself leaves undone ends as well
                found["flood"] = self._stop(flood)
                found["during"] = figures(during)
                self.say(f"{WORDS[kind]}: recovery")
                found["recovery"] = self._recovery(polite, ended, limit)
                polite.collect()
                timeline = [
                    [round((m.due_ns - flooded) / 1e9, 3), m.took_ms] for m in polite.met[:_SAMPLES]
                ]
                # Both at once: an interrupt may come between any two.
                found |= {"flood_seconds": (ended - flooded) / 1e9, "timeline": timeline}
        finally:
            if responder is not None:
                responder.stop()
                responder.result()

    def _unsettled(self, before: Sequence[Met]) -> bool:
        """Whether calls are far slower yet than those of the first step, which was a light load: a
        recovery would be held against what the ramp has left behind."""
        limit = limit_ms(before)
        light = self.ramp[0]["setup_ms"] if self.ramp and self.ramp[0]["carried"] else None
        return limit is None or (light is not None and limit > 2 * light["p99"] + _PAUSES)

    def _answering(self) -> Any:
        if self.target.listen is None:
            return None
        side = self.options.responder(self.target.listen, 1) | {"mode": "echo"}
        more = {"unanswered": UNANSWERED, "unconfirmed": UNCONFIRMED}
        return self.engine.responder(side | more)

    def _start(self, kind: str) -> Any:
        plan = self.plan
        if kind == "beyond":
            upper = (self.knee or {}).get("upper")
            rate = 2 * upper if upper else 4 * max(plan.rates)
            load = self._load(rate, plan.flood + 60)
            caller = load.caller(self.target.connect, self.target.called, 2, self.target.sources)
            return self.engine.caller(caller)
        marks = {"calls": UNANSWERED, "clears": UNCONFIRMED}
        return self.engine.flood(
            {
                "connect": self.target.connect,
                "sources": list(self.target.sources),
                "kind": kind,
                "rate": plan.flood_rate,
                "duration_ms": round((plan.flood + 60) * 1000),
                "most": plan.flood_most,
                "called": self.target.called[0],
                "user_data": marks.get(kind, "c0"),
            }
        )

    @staticmethod
    def _stop(flood: Any) -> dict[str, Any]:
        """End it; what it did."""
        flood.stop()
        done = json.loads(flood.result())
        if "opened" in done:
            return {name: done[name] for name in ("offered", "opened", "connected", "open_most",
                                                  "ended", "cleared", "failures")}  # fmt: skip
        total = done["total"]
        return {
            "offered": done["calls_offered"],
            "opened": total["calls_started"],
            "connected": total["calls_connected"],
            "completed": total["calls_completed"],
            "failures": done["failures"],
        }

    def _recovery(self, polite: Polite, ended: int, limit: float) -> dict[str, Any]:
        """When it is over; if never, whether a restart helps."""
        bound = self.plan.bound
        seconds = polite.await_recovery(ended, limit, bound)
        found: dict[str, Any] = {"seconds": seconds, "bound": bound, "limit_ms": limit}
        if seconds is not None or self.target.restart is None:
            return found
        again = min(bound, self._left() - WINDOW)
        if again < WINDOW:
            self.left_out.append(f"a restart, which would show whether it helps: {NO_TIME}")
            return found
        self.say("restart")
        try:
            self.target.restart()
        except RouterError as error:
            return found | {"restart_failed": str(error)}
        return found | {"after_restart": polite.await_recovery(time.monotonic_ns(), limit, again)}


def reasons_of(failures: Mapping[str, int]) -> str:
    """The first kinds of failure with their numbers."""
    return ", ".join(f"{n} x {reason}" for reason, n in sorted(failures.items())[:4])


def own_shortage(failures: Mapping[str, int]) -> int:
    """Calls that the tester had no socket for."""
    return sum(n for reason, n in failures.items() if reason.endswith(OWN_SHORTAGES))


def step_of(done: Measurement, rate: float) -> dict[str, Any]:
    """A step of the ramp out of what the engine counted."""
    caller = done.caller
    seconds = max((caller["end_ns"] - caller["start_ns"]) / 1e9, 1e-9)
    offered = int(caller["calls_offered"])
    in_time = int(caller["measured"]["calls_completed"])
    failed = int(caller["total"]["calls_failed"])
    share = in_time / offered if offered else 0.0
    return {
        "rate": rate,
        "seconds": seconds,
        "offered": offered,
        "completed": in_time,
        "completed_per_second": in_time / seconds,
        "connected": int(caller["total"]["calls_connected"]),
        "failed": failed,
        "failures": {reason: int(n) for reason, n in list(caller["failures"].items())[:50]},
        "unplaced": own_shortage(caller["failures"]),
        "share": share,
        "carried": share >= ENOUGH and not failed,
        "setup_ms": latency(caller["call_setup"]),
        "router_cpu": (
            None if done.cpu["router_seconds"] is None else done.cpu["router_seconds"] / seconds
        ),
        "router_octets": done.cpu["router_octets"],
        "other_work": results.figures(done)["other_work"],
        "tester_cpu": (caller["cpu_user_ns"] + caller["cpu_system_ns"]) / 1e9 / seconds,
    }


def of_router(ramp: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Steps that say something of the router: all that the tester had sockets for."""
    return [step for step in ramp if not step["unplaced"]]


def find_knee(ramp: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The highest rate that was carried, and the first above it that was not (None: all were)."""
    rate = max((step["rate"] for step in ramp if step["carried"]), default=0.0)
    upper = min((step["rate"] for step in of_router(ramp) if step["rate"] > rate), default=None)
    return {"rate": rate, "upper": upper}


def disturbed(ramp: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Steps that were not carried, though more was."""
    rate = find_knee(ramp)["rate"]
    return [step for step in of_router(ramp) if step["rate"] < rate and not step["carried"]]


def collapse(ramp: Sequence[dict[str, Any]]) -> str:
    """In words where fewer calls are completed when more are offered; empty: nowhere."""
    ramp = of_router(ramp)
    best = max(ramp, key=lambda s: float(s["completed_per_second"]), default=None)
    if best is None:
        return ""
    worst = min(
        (s for s in ramp if s["rate"] > best["rate"]),
        key=lambda s: float(s["completed_per_second"]),
        default=None,
    )
    if worst is None or worst["completed_per_second"] >= LESS * best["completed_per_second"]:
        return ""
    return (
        f"completes {worst['completed_per_second']:.0f} calls/s of {worst['rate']:g} offered, and "
        f"{best['completed_per_second']:.0f} of {best['rate']:g}: less when it is offered more"
    )

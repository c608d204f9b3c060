# SPDX-License-Identifier: GPL-2.0-or-later
"""Bradner's router tests over XOT (the ancestor of RFC 1242 and RFC 2544): what is measured.

For each size of message: all that the tester can do without the router (hammer), the highest rate
without loss (throughput, searched), a quarter more, a flood, the delay at three loads, the longest
burst without loss, and the same with filters. Then the router left alone, its counters, what it
makes of bad frames, and its management plane in every phase.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..interrupts import interrupts
from .bench_findings import (
    BELOW,
    LESS,
    by_short_trials,
    carried,
    conclude,
    overloaded,
    partly,
    standstill,
)
from .ceiling import messages_per_second
from .filters import FilterError, Filters
from .management import WAIT, Management
from .results import NEAR
from .search import LEAST_MESSAGES, Found, lowest_rate, search
from .trial import Track, Trial

ORIGINAL_SIZES = (64, 128, 256, 512, 1024, 1518)
SIZES = (16, 64, 128, 256, 512, 1024, 2048, 4096)
QUICK_SIZES = (128, 1024, 4096)
LIGHT = 0.1
"""Share of the found rate that is light load."""
LOADS = (("light", LIGHT), ("half", 0.5), ("full", 1.0))
LEAST_RATE = 50.0
LIGHT_SECONDS = 2.5
DISTURBED = 0.5
"""A trial in which nothing was lost but the path fell behind by less than this is made again."""
BURST = 16
"""Messages of the first burst that is tried."""
TRIES = 3
CONFIRMED = 40_000
"""Messages that a rate is confirmed with, if there is time."""
DESCENT = 8
_SET_UP = 1.0
_STARTS = 2.0
"""What tshark takes to begin and to end."""
RECOVERS = 1.0
PATIENCE = 1.5
"""For how long an answer to a call is waited for once calls were left unanswered: a SYN that is
sent again (after a second, RFC 6298 2) has its answer by then."""
NO_HOOK, HOOK_FAILED = "no hook", "failed"
NO_TIME, NO_RATE = "no time", "loss"
"""Why there is no rate with filter conditions."""


class Gone(Exception):
    """The router takes no calls, or no more; the message says what it did instead."""

    words = "The router takes no calls"
    later = "The router takes no calls any more"
    """The same where something was measured before."""


class Interrupted(Exception):
    """Ctrl-C: what was measured until then counts."""


@dataclass(frozen=True)
class BenchPlan:
    """What is measured, and for how long. Times in seconds."""

    sizes: Sequence[int]
    packet_size: int | None = None
    """None: each message is one packet of its own size, negotiated."""
    trial: float = 1.0
    bound: float = 9.0
    confirm: float = 3.0
    delay: float = 1.0
    width: float = 0.01
    line_rate: float | None = None
    idle: float = 8.0
    burst: float = 4.0
    burst_most: int = 2000
    errors: float = 30.0
    """For all kinds of errors together."""
    filters: float = 0.0
    """For the filter conditions of a size; 0: the profile has no hook for them."""
    counters: bool = False
    """Whether there is a page of counters."""
    age: float | None = None
    """By how much that page may be too old; None: it is measured."""
    patience: float = 1.5
    """How long it is waited for the page when that is measured."""
    skip: frozenset[str] = frozenset()

    def packet_size_for(self, size: int) -> int:
        """The packet size to ask for: the least that X.25 has and the message fits in."""
        if self.packet_size is not None:
            return self.packet_size
        return next(p for p in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096) if p >= size)

    def with_filters(self) -> BenchPlan:
        """The same with time for filter conditions, which the other parts of a size give away."""
        if "filters" in self.skip:
            return self
        less = replace(
            self, bound=0.75 * self.bound, delay=0.5 * self.delay, burst=0.75 * self.burst
        )
        return replace(less, filters=self.size_seconds() - less.size_seconds())

    def seconds(self) -> float:
        """The longest that it should take."""
        return self.size_seconds() * len(self.sizes) + self._once()

    def search_seconds(self) -> float:
        """What the search of a size and its confirmation have."""
        return self.bound + max(self.confirm, self.trial)

    def size_seconds(self) -> float:
        """What one size has: what did not come within it is left out."""
        return self.search_seconds() + 4 * self.trial + 2 + self.later_seconds()

    def later_seconds(self) -> float:
        """What of it is for the parts behind the flood."""
        later = self.filters
        if "delay" not in self.skip:
            later += 5 * (self.delay + 0.1) + max(self.delay, LIGHT_SECONDS)
        if "burst" not in self.skip:
            later += self.burst
        return later

    def _once(self) -> float:
        """What is done once, whatever the sizes."""
        idle = 2 * (self.idle + _STARTS) if "idle" not in self.skip else 0
        errors = self.errors if "errors" not in self.skip else 0
        return _SET_UP + idle + self._counting() + errors

    def _counting(self) -> float:
        """What is waited for a page of counters that is old: before and after a trial at the
        maximum and a flood."""
        if not self.counters or "counters" in self.skip:
            return 0.0
        measured = self.patience if self.age is None else 0.0
        return measured + 4 * WAIT * (self.patience if self.age is None else self.age)


QUICK = BenchPlan(
    QUICK_SIZES,
    trial=0.5,
    bound=3.5,
    confirm=1.0,
    delay=0.3,
    idle=2.0,
    burst=1.2,
    burst_most=500,
    patience=0.9,
    skip=frozenset({"errors"}),
)
"""What --quick measures."""
DEFAULT = BenchPlan(SIZES)


@dataclass
class Bench:
    """Measures; `rows` and `counters` hold what there is so far, whatever happens."""

    track: Track
    plan: BenchPlan
    management: Management
    filters: Filters | None
    say: Callable[[str], None]
    rows: list[dict[str, Any]] = field(default_factory=list)
    counters: list[dict[str, Any]] = field(default_factory=list)
    few_at_once: bool = False
    """Whether the path takes few new connections at the same time."""
    measured: bool = False
    """Whether any trial through the router had a circuit."""
    _waited_for: set[str] = field(default_factory=set)
    """The loads at which counters were read although their page is old."""
    _running: str = ""
    """The phase at hand."""
    _ends: float = 0.0
    """When the time of the size at hand is over."""

    def run(self) -> None:
        """All sizes. Raises Gone or Interrupted."""
        for number, size in enumerate(self.plan.sizes, 1):
            title = f"{size} octets ({number}/{len(self.plan.sizes)})"
            row: dict[str, Any] = {"size": size, "packet_size": self.plan.packet_size_for(size)}
            self.rows.append(row)
            try:
                self._size(row, title)
            except (Gone, Interrupted, KeyboardInterrupt):
                row["interrupted"] = self._running
                raise

    def look_at_set_up(self) -> None:
        """A path that takes few connections at once gets few: each trial would wait for seconds."""
        self.say("circuits up")
        size = self.plan.sizes[0]
        track = self.track.of_size(size, self.plan.packet_size_for(size))
        few = lowest_rate(self.plan.trial)
        self._trial(track, track.at, few, self.plan.trial / 2)
        if not {"counters", "errors"} <= self.plan.skip:
            self.say("how old the counters page is")
            self.management.measure_age(
                lambda: self._trial(track, track.at, few, LEAST_MESSAGES / few / 5),
                self.plan.patience,
            )

    def _has_time(self, row: dict[str, Any], part: str, later: float = 0.0) -> bool:
        """Whether the size's time, but for what comes later, is not over; if it is, the part is
        noted as left out."""
        if time.monotonic() < self._ends - later:
            return True
        row.setdefault("left_out", []).append(part)
        return False

    def _size(self, row: dict[str, Any], title: str) -> None:
        # What the sizes before have left over is there too, and what they took too much is not;
        # without the time for a search there would be nothing at all.
        now = time.monotonic()
        self._ends = max(
            (self._ends or now) + self.plan.size_seconds(), now + self.plan.search_seconds()
        )
        track = self.track.of_size(row["size"], row["packet_size"])
        row["packets"] = math.ceil(row["size"] / row["packet_size"])
        row["theoretical"] = (
            messages_per_second(self.plan.line_rate, row["size"], row["packet_size"], track.options)
            if self.plan.line_rate
            else None
        )
        with self._phase("hammer", title, asks=False):
            alone = track.alone()
            row["hammer"] = self._trial(alone, alone.flood, self.plan.trial / 2).as_dict()
        highest = row["hammer"]["carried"]
        with self._phase("search", title):
            found = self._search(track, highest, row)
        rate = row["throughput"]["rate"]
        with self._phase("maximum", title):
            row["maximum"] = self._at(track, rate, "maximum")
        with self._phase("control", title, asks=False):
            row["control"] = self._at(track.alone(), rate)
        share = row["throughput"]["rate"] / highest if highest else None
        row["share_of_control"] = share
        row["tester_was_limit"] = share is not None and share >= NEAR
        with self._phase("+25 %", title):
            row["plus_25"] = self._more("plus_25", row, track, lambda: self._at(track, rate * 1.25))
        with self._phase("flood", title):
            row["flood"] = self._more("flood", row, track, lambda: self._flood(track))
        row["less"] = overloaded(row)
        if "delay" not in self.plan.skip:
            row["delays"] = []
            for one in self.delays(row, track, rate, title):
                row["delays"].append(one)
        if "burst" not in self.plan.skip and self._has_time(row, "burst", self.plan.filters):
            with self._phase("burst", title):
                row["burst"] = self._burst(track, rate)
        if "filters" not in self.plan.skip:
            self._filters(row, track, found, title)

    @contextmanager
    def _phase(self, name: str, title: str, asks: bool = True) -> Iterator[None]:
        self.say(f"{title}  {name}")
        self._running = name
        if not asks:
            yield
            return
        with self.management.phase(name):
            yield

    def _trial(self, track: Track, measure: Callable[..., Trial], *of: float) -> Trial:
        """A trial, made again with few connections at once where the path did not take as many.

        What leaves calls unanswered does so in each trial, and each would wait for them: from then
        on a trial waits for less.
        """
        trial = self._checked(track, measure(*of))
        if track.target is None or not (trial.crowded_out or trial.unanswered):
            return trial
        if trial.unanswered:
            track.wait_less(PATIENCE)
        if self.few_at_once:
            return trial
        self.few_at_once = True
        track.open_few_at_once()
        return self._checked(track, measure(*of))

    def _checked(self, track: Track, trial: Trial) -> Trial:
        """Ends the bench where it cannot go on."""
        if trial.connected and track.target is not None:
            self.measured = True
        if trial.interrupted:
            raise Interrupted
        if not trial.connected:
            why = ", ".join(f"{n} x {reason}" for reason, n in trial.failures.items())
            raise Gone(why or "no call was answered")
        return trial

    def _flood(self, track: Track) -> dict[str, Any]:
        return self._counted(track, lambda: track.flood(self.plan.trial), "flood").as_dict()

    def _more(
        self, name: str, row: dict[str, Any], track: Track, measure: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """What the path carries when it is offered more, beside its maximum at about that time.

        Where it is less both are measured again, at least once: only a router that carries less
        each time does.
        """
        maximum = float(row["maximum"]["carried"])
        shares = row.setdefault("share_of_maximum", {})
        best: dict[str, Any] = {}
        for number in range(TRIES):
            began = time.monotonic()
            if number:
                time.sleep(RECOVERS)
                maximum = float(self._at(track, row["throughput"]["rate"])["carried"])
            more = measure()
            share = more["carried"] / maximum if maximum else 1.0
            if not best or share > shares[name]:
                best, shares[name] = more, share
            # As long as this one took the next will take.
            next_end = 2 * time.monotonic() - began
            if share >= LESS or (number and next_end > self._ends - self.plan.later_seconds()):
                break
        return best

    def _at(self, track: Track, rate: float, load: str = "") -> dict[str, Any]:
        return self._counted(track, lambda: track.at(rate, self.plan.trial), load).as_dict()

    def _counted(self, track: Track, measure: Callable[[], Trial], load: str) -> Trial:
        """A trial with the router's counters of Data packets read before and after it.

        A page that may be old is waited for once for each of the loads that are named.
        """
        if track.target is None or "counters" in self.plan.skip or self.management.url is None:
            return self._trial(track, measure)
        if self.management.age and (not load or load in self._waited_for):
            return self._trial(track, measure)
        if self.management.is_too_old():
            return self._trial(track, measure)
        self._waited_for.add(load)
        began = time.monotonic()
        before = self.management.page_at_rest()
        waited = time.monotonic() - began
        many = not self.few_at_once
        trial = self._trial(track, measure)
        if before is None or (many and self.few_at_once):  # made twice: counted twice
            return trial
        began = time.monotonic()
        after = self.management.page_when(
            lambda page: all(r["right"] for r in self._readings(track, trial, before, page))
        )
        if self.management.age:  # the plan has this time beside that of the size
            self._ends += waited + time.monotonic() - began
        if after is not None:
            self.counters += self._readings(track, trial, before, after)
        return trial

    def _readings(
        self, track: Track, trial: Trial, before: Any, after: Any
    ) -> list[dict[str, Any]]:
        """By how much each counter moved in a trial, and by how much it should have."""
        load = "flood" if trial.rate is None else f"{trial.rate:.0f}/s"
        found = []
        for name, interface, sent in (
            ("data_in", "a", trial.packets_sent),
            ("data_out", "b", trial.packets_received),
        ):
            if sent is None:
                continue
            moved = self.management.moved(before, after, name, interface, sent)
            if moved is None:
                continue
            found.append(
                {
                    "counter": moved[0],
                    "name": name,
                    "interface": interface,
                    "load": load,
                    "size": track.options.longest,
                    "shown": sent,
                    "moved": moved[1],
                    "right": sent == moved[1],
                }
            )
        return found

    def _search(self, track: Track, highest: float, row: dict[str, Any]) -> Found:
        started = time.monotonic()
        over = started + self.plan.bound
        made: list[Trial] = []

        def measure(rate: float, seconds: float) -> Trial:
            trial = self._trial(track, track.at, rate, seconds)
            made.append(trial)
            for _ in range(TRIES - 1):
                lossless = not trial.harmed and trial.delivered >= trial.offered
                if trial.clean or not lossless or trial.behind > DISTURBED:
                    break
                if time.monotonic() >= over:
                    break
                # Whoever took the processor away for a moment is not the router.
                again = self._trial(track, track.at, rate, seconds)
                made[-1] = trial = min(trial, again, key=lambda t: t.loss_ratio)
            self.say(f"{row['size']} octets  search, {rate:.0f} messages/s")
            return trial

        try:
            found = search(
                measure,
                highest,
                width=self.plan.width,
                trial_seconds=self.plan.trial,
                bound_seconds=self.plan.bound,
            )
            self._descend(found, measure)
            self._confirm(found, measure, max(over - time.monotonic(), 0.0))
        except (Gone, Interrupted, KeyboardInterrupt):
            if made:
                row["throughput"] = partly(made, time.monotonic() - started)
                row["trials"] = [trial.as_dict() for trial in made]
            raise
        row["throughput"] = conclude(found, time.monotonic() - started)
        row["trials"] = [trial.as_dict() for trial in found.trials]
        return found

    def _descend(self, found: Found, measure: Callable[[float, float], Trial]) -> None:
        """Where the search found no rate that is carried: halve until one is."""
        for _ in range(DESCENT):
            if found.goals[0.0].lower or by_short_trials(found.trials).lower:
                return
            lowest = min(t.rate or 0.0 for t in found.trials)
            if lowest <= 1 or time.monotonic() >= self._ends:
                return
            seconds = max(self.plan.trial, 2 * LEAST_MESSAGES / lowest)
            found.trials.append(measure(lowest / 2, seconds))

    def _confirm(self, found: Found, measure: Callable[[float, float], Trial], more: float) -> None:
        """Many messages a little below the rate found: rare loss has nothing to do with the rate,
        and the trials of a search may be too small to show it. more: what the search left over.

        Where the rate found is far below what the path carries, a little below that first.
        """
        said = conclude(found, 0.0)
        rates = [said["rate"] * BELOW]
        # A search goes far down from a rate at which something was lost, whatever lost it.
        if said["rate"] <= (near := carried(found) * BELOW):
            rates.insert(0, near)
        for rate in rates:
            seconds = min(CONFIRMED / rate, self.plan.confirm + more)
            if time.monotonic() >= self._ends:
                return
            if seconds <= self.plan.trial:  # the search has shown as much of this rate
                continue
            found.trials.append(trial := measure(rate, seconds))
            if trial.clean or trial.harmed:
                return

    def delays(
        self, row: dict[str, Any], track: Track, rate: float, title: str
    ) -> Iterator[dict[str, Any]]:
        """Delay at light load, at half and at the found rate, with and without the router."""
        for name, share in LOADS:
            if not self._has_time(row, f"delay at {name} load", self.plan.filters):
                continue
            wanted = max(rate * share, LEAST_RATE)
            # At light load nothing but the path itself makes a message wait: long enough to see
            # what comes once a second.
            seconds = max(self.plan.delay, LIGHT_SECONDS) if name == "light" else self.plan.delay
            for number in range(1, TRIES + 1):
                with self._phase(f"delay at {name} load", title):
                    through = self._trial(track, track.at, wanted, seconds)
                beside = track.alone()
                alone = self._trial(beside, beside.at, wanted, self.plan.delay)
                one = {
                    "load": name,
                    "rate": through.rate,
                    "router": through.delay_ms,
                    "control": alone.delay_ms,
                    "clean": through.clean,
                }
                # A path that stands still does so each time; a busy machine does not.
                ends = self._ends - self.plan.filters
                over = number == TRIES or time.monotonic() >= ends
                if over or not standstill({"delays": [one]}):
                    break
            yield one

    def _burst(self, track: Track, rate: float) -> dict[str, Any]:
        """The longest burst without loss: doubled until one loses, then halved in between."""
        most = self.plan.burst_most
        good, bad, tried = 0, None, min(BURST, most)
        while tried <= most and time.monotonic() < self._ends - self.plan.filters:
            trial = self._trial(track, track.burst, tried, tried / rate)
            if trial.harmed or trial.delivered < trial.offered:
                bad = tried
            else:
                good = tried
            if bad is None and good == most:
                break
            if bad is not None and bad - good <= narrow(good):
                break
            tried = min(2 * good, most) if bad is None else (good + bad) // 2
            if tried in (good, 0):
                break
        control = None
        if bad is not None and time.monotonic() < self._ends - self.plan.filters:
            # What the tester alone does not take is no limit of the router.
            alone = track.alone()
            trial = self._trial(alone, alone.burst, bad, bad / rate)
            control = not trial.harmed and trial.delivered >= trial.offered
        return {"messages": good, "lost_at": bad, "most": most, "control": control}

    def _filters(self, row: dict[str, Any], track: Track, before: Found, title: str) -> None:
        """The rate with 1 and with 10 filter conditions in the router's configuration, and why
        there is none."""
        hook = self.filters
        unknown = NO_HOOK if hook is None else HOOK_FAILED if hook.problem else ""
        why, short = {"1": unknown, "10": unknown}, list[str]()
        rates: dict[str, Any] = {"1": None, "10": None, "why": why, "short": short}
        row["filters"] = rates
        if hook is None or hook.problem:
            return
        upper = before.goals[0.0].upper or before.goals[0.0].lower or row["throughput"]["rate"]
        try:
            for name, left in (("1", 2), ("10", 1)):
                if not self._has_time(row, f"filter {name}", 2 * hook.took):
                    why[name] = NO_TIME
                    continue
                with self._phase(f"filter {name}", title):
                    hook.set(int(name), self._ends - time.monotonic())
                    # What comes after is taking them away, and setting others before.
                    seconds = self._ends - time.monotonic() - left * hook.took
                    found = self._filtered(track, upper, seconds / left)
                rate = found.goals[0.0].lower
                if not found.complete:
                    short.append(name)
                    rate = rate or by_short_trials(found.trials).lower
                rates[name] = rate
                why[name] = "" if rate else NO_RATE if found.complete else NO_TIME
        except FilterError:
            for name, said in why.items():
                why[name] = said or ("" if rates[name] else HOOK_FAILED)
        finally:
            # Whatever ended it: the router is left as it was.
            with interrupts.counted():
                hook.reset()

    def _filtered(self, track: Track, upper: float, seconds: float) -> Found:
        """A search up to a little above what the router carried without conditions."""
        # Shorter trials than before, as long as they have enough messages: there is less time.
        trial = min(max(self.plan.trial / 2, 4 * LEAST_MESSAGES / upper), self.plan.trial)
        return search(
            lambda rate, long: self._trial(track, track.at, rate, long),
            upper * 1.1,
            width=self.plan.width,
            trial_seconds=trial,
            bound_seconds=max(min(seconds, self.plan.bound / 2), trial),
            goals=(0.0,),
        )


def narrow(burst: int) -> float:
    """How far above the longest burst without loss the shortest with one may lie."""
    return max(1, burst * 0.02)

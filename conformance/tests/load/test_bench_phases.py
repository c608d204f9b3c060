# SPDX-License-Identifier: GPL-2.0-or-later
"""What bench makes of paths that end, change or are slow: computed paths, no network."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from x25shark.counters.settings import Counters
from x25shark.load.bench import Bench, BenchPlan, Gone
from x25shark.load.bench_run import body
from x25shark.load.bench_tables import rates
from x25shark.load.management import Management
from x25shark.load.options import LoadOptions
from x25shark.load.running import Outcome, gone_outcome
from x25shark.load.trial import Trial

from .schema import Row
from .test_bench import trial

FLOOD = 100_000.0
QUICK = BenchPlan([128], trial=0.5, bound=60.0, confirm=1.0, delay=0.3, burst_most=500)


@dataclass
class Path:
    """In place of a Track: trials by a function of the rate, the tester alone without a limit."""

    carries: Callable[[float, float], Trial]
    options: LoadOptions = field(default_factory=LoadOptions)
    target: object | None = "router"
    more: dict[str, Any] = field(default_factory=dict)

    def of_size(self, length: int, packet_size: int) -> Path:
        return replace(self, options=replace(self.options, longest=length))

    def alone(self) -> Path:
        return replace(self, carries=trial, target=None)

    def at(self, rate: float, seconds: float) -> Trial:
        return self.carries(rate, seconds)

    def flood(self, seconds: float) -> Trial:
        return replace(self.carries(FLOOD, seconds), rate=None)

    def burst(self, messages: int, seconds: float) -> Trial:
        return replace(self.carries(messages, 1.0), rate=None)


def bench_of(
    carries: Callable[[float, float], Trial], plan: BenchPlan = QUICK, **more: Any
) -> Bench:
    path: Any = Path(carries)
    usual: dict[str, Any] = {"management": Management(None, None), "filters": None}
    return Bench(path, plan, say=lambda _text: None, **usual | more)


def slow(rate: float, seconds: float) -> Trial:
    """A path that carries 1000/s and holds back the rest."""
    return trial(rate, seconds, behind=max(0.0, 1 - 1000 / rate))


@pytest.mark.parametrize("trials", [2, 5])
def test_a_router_that_dies_in_the_first_search_has_been_measured(trials: int) -> None:
    left = trials

    def dies(rate: float, seconds: float) -> Trial:
        nonlocal left
        left -= 1
        found = slow(rate, seconds)
        return found if left >= 0 else replace(found, connected=0, failures={"refused": 1})

    bench = bench_of(dies)
    bench.look_at_set_up()
    with pytest.raises(Gone, match="1 x refused") as gone:
        bench.run()
    outcome = gone_outcome(gone.value, bench.measured)
    assert outcome.status == 1
    assert outcome.reason.startswith(Gone.later)
    result = body(bench, {}, outcome)
    (row,) = result["rows"]
    Row.model_validate(row)
    assert row["interrupted"] == "search"
    assert row["hammer"]["carried"] == FLOOD
    assert 1 <= len(row["trials"]) < trials
    assert not row["throughput"]["said"]
    remark = "128 octets: interrupted (search): its figures are those until then"
    assert remark in result["verdict"]["remarks"]
    assert rates(result)[1][0][0] == "128 (part)"


def test_what_came_before_a_later_phase_stays() -> None:
    floods = 0

    class Dies(Path):
        def flood(self, seconds: float) -> Trial:
            nonlocal floods
            floods += self.target is not None
            return replace(super().flood(seconds), connected=int(self.target is None))

    path: Any = Dies(slow)
    bench = Bench(path, QUICK, Management(None, None), None, lambda _text: None)
    with pytest.raises(Gone):
        bench.run()
    (row,) = bench.rows
    Row.model_validate(row)
    assert (floods, row["interrupted"], row["throughput"]["said"]) == (1, "flood", True)
    assert row["plus_25"] and "flood" not in row


def test_a_router_that_never_took_a_call_has_not_been_measured() -> None:
    bench = bench_of(lambda rate, seconds: replace(slow(rate, seconds), connected=0))
    with pytest.raises(Gone) as gone:
        bench.run()
    assert gone_outcome(gone.value, bench.measured).status == 3
    assert body(bench, {}, Outcome())["rows"] == []


class Page(Management):
    """A page that shows what the router counted when it looked last: every so many seconds."""

    def __init__(self, every: float, age: float | None = None) -> None:
        names = {"data_in": "in", "data_out": "out"}
        roots = {"a": "x", "b": "x"}
        named = Counters.model_validate({"names": names, "roots": roots, "age": age})
        super().__init__(named, "http://127.0.0.1:1/")
        self.count = 2**32 - 7
        self.every = every
        self.shown, self.gathered = self.count, time.monotonic()

    def carries(self, rate: float, seconds: float) -> Trial:
        self.page()
        found = slow(rate, seconds)
        self.count = (self.count + found.offered) % 2**32
        return replace(found, packets_sent=found.offered, packets_received=found.offered)

    def page(self) -> Any:
        if time.monotonic() >= self.gathered + self.every:
            self.shown, self.gathered = self.count, time.monotonic()
        return {"x": {"in": self.shown, "out": self.shown}}


SIZES_WITH_PAGE = replace(QUICK, sizes=[64, 128], skip=frozenset({"delay", "burst"}))


@pytest.mark.parametrize(("every", "age"), [(0.0, None), (0.4, 0.4), (0.4, None)])
def test_a_right_router_is_not_accused_of_a_page_that_is_old(
    every: float, age: float | None
) -> None:
    page = Page(every, age)
    bench = bench_of(page.carries, SIZES_WITH_PAGE, management=page)
    bench.look_at_set_up()
    bench.run()
    assert bench.counters
    assert all(reading["right"] for reading in bench.counters)
    assert "flood" in {reading["load"] for reading in bench.counters}
    old = [r for r in body(bench, {}, Outcome())["verdict"]["remarks"] if "waited for" in r]
    assert bool(old) == bool(every)
    assert {r["size"] for r in bench.counters} == ({64} if every else {64, 128})


def test_nothing_is_said_of_a_page_that_is_older_than_anybody_waits() -> None:
    page = Page(1e9)
    plan = replace(SIZES_WITH_PAGE, patience=0.1)
    bench = bench_of(page.carries, plan, management=page)
    bench.look_at_set_up()
    page.every = 0.0  # now it shows what came before
    page.page()
    page.every = 1e9
    bench.run()
    assert bench.counters == []
    verdict = body(bench, {}, Outcome())["verdict"]
    assert not [r for r in verdict["reasons"] if "moved by" in r]
    assert any("did not show within 0.1 s" in remark for remark in verdict["remarks"])


def test_a_counter_that_counts_nothing_is_wrong_and_not_old() -> None:
    page = Page(1e9)
    bench = bench_of(page.carries, replace(SIZES_WITH_PAGE, patience=0.1), management=page)
    bench.look_at_set_up()
    bench.run()
    assert bench.counters
    assert not any(reading["right"] for reading in bench.counters)

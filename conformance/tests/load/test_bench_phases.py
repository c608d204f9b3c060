# SPDX-License-Identifier: GPL-2.0-or-later
"""What bench makes of paths that end, change or are slow: computed paths, no network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
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

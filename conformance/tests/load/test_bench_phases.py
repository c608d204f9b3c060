# SPDX-License-Identifier: GPL-2.0-or-later
"""What bench makes of paths that end, change or are slow: computed paths, no network."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path as File
from typing import Any, ClassVar

import pytest
from x25shark.counters.settings import Counters
from x25shark.load.bench import (
    DEFAULT,
    PATIENCE,
    QUICK,
    Bench,
    BenchPlan,
    Gone,
    Interrupted,
)
from x25shark.load.bench_findings import conclude
from x25shark.load.bench_run import body
from x25shark.load.bench_tables import bounds, delays, rates
from x25shark.load.filters import FilterError, Filters
from x25shark.load.management import Management
from x25shark.load.options import LoadOptions
from x25shark.load.running import Outcome, gone_outcome
from x25shark.load.search import Bounds, Found
from x25shark.load.trial import FEW, Track, Trial
from x25shark.load.wording import count

from .schema import Row
from .test_bench import trial

FLOOD = 100_000.0
SHORT = BenchPlan([128], trial=0.5, bound=60.0, confirm=1.0, delay=0.3, burst_most=500)


@dataclass
class Path:
    """In place of a Track: trials by a function of the rate, the tester alone without a limit."""

    carries: Callable[[float, float], Trial]
    options: LoadOptions = field(default_factory=LoadOptions)
    target: object | None = "router"
    more: dict[str, Any] = field(default_factory=dict)

    open_few_at_once: ClassVar[Any] = Track.open_few_at_once
    wait_less: ClassVar[Any] = Track.wait_less

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
    carries: Callable[[float, float], Trial], plan: BenchPlan = SHORT, **more: Any
) -> Bench:
    path: Any = Path(carries)
    usual: dict[str, Any] = {"management": Management(None, None), "filters": None}
    return Bench(path, plan, say=lambda _text: None, **usual | more)


def slow(rate: float, seconds: float) -> Trial:
    """A path that carries 1000/s and holds back the rest."""
    return trial(rate, seconds, behind=max(0.0, 1 - 1000 / rate))


@pytest.mark.parametrize(("capacity", "unsure"), [(100, True), (50_000, False)])
def test_how_small_a_loss_could_be_seen_is_said(capacity: float, unsure: bool) -> None:
    bench = bench_of(
        lambda rate, seconds: trial(rate, seconds, behind=max(0.0, 1 - capacity / rate)),
        replace(SHORT, skip=frozenset({"delay", "burst"})),
    )
    bench.run()
    (row,) = bench.rows
    clean = row["throughput"]["clean_messages"]
    assert (clean < 30_000) is unsure
    head, (cells,) = bounds({"rows": bench.rows})
    assert (head[-1], cells[-1]) == ("no loss in", count(clean))
    remarks = [r for r in body(bench, {}, Outcome())["verdict"]["remarks"] if "too few" in r]
    words = f"one in 10 000: no loss in {count(clean)} of 128 octets (< {300 / clean:.2g} %)"
    assert [words in remark for remark in remarks] == [True] * unsure


def test_a_search_that_ends_early_leaves_its_time_to_the_confirmation() -> None:
    bench = bench_of(slow, replace(SHORT, skip=frozenset({"delay", "burst"})))
    bench.run()
    (row,) = bench.rows
    longest = max(one["seconds"] for one in row["trials"])
    assert longest > 10 * SHORT.confirm  # 40 000 messages at 900/s


@pytest.mark.parametrize(("lost", "rates"), [(1, [900]), (0, [900, 450])])
def test_a_rate_far_below_what_the_path_carries_is_confirmed_beside_that(
    lost: int, rates: list[float]
) -> None:
    def path(rate: float, seconds: float) -> Trial:
        return trial(rate, seconds, missing=lost, behind=0.0 if lost or rate < 600 else 0.5)

    goals = {0.0: Bounds(500, 1000), 0.005: Bounds(1000, 1005)}
    found = Found(goals, [trial(500, 1)], complete=False)
    bench = bench_of(slow)
    bench._ends = float("inf")
    bench._confirm(found, path, 1.0)
    assert [one.rate for one in found.trials[1:]] == rates
    assert bool(conclude(found, 1.0)["loss"]) == bool(lost)


def test_a_rate_is_confirmed_although_the_one_beside_it_needs_no_more() -> None:
    goals = {0.0: Bounds(45_000, 100_000), 0.005: Bounds(100_000, 100_500)}
    found = Found(goals, [trial(45_000, 0.5)], complete=False)
    bench = bench_of(slow)
    bench._ends = float("inf")
    bench._confirm(found, trial, 1.0)  # 40 000 messages: 0.4 s at 90 000/s, 1 s at 40 500/s
    assert [one.rate for one in found.trials[1:]] == [40_500]


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
    bench = Bench(path, SHORT, Management(None, None), None, lambda _text: None)
    with pytest.raises(Gone):
        bench.run()
    (row,) = bench.rows
    Row.model_validate(row)
    assert (floods, row["interrupted"], row["throughput"]["said"]) == (1, "flood", True)
    assert row["plus_25"] and "flood" not in row


@pytest.mark.parametrize("all_it_wants", [True, False])
def test_calls_that_are_not_answered_are_made_few_at_a_time_and_waited_for_less(
    all_it_wants: bool,
) -> None:
    waited: list[int | None] = []

    class Crowded(Path):
        def at(self, rate: float, seconds: float) -> Trial:
            found = super().at(rate, seconds)
            if self.target is None:
                return found
            waited.append(self.more.get("setup_timeout_ms"))
            if all_it_wants and "max_setups" in self.more:
                return found
            failures = {"timeout: call not answered": 2}
            return replace(found, connected=14, failures=failures)

    path: Any = Crowded(slow)
    bench = Bench(path, SHORT, Management(None, None), None, lambda _text: None)
    bench.look_at_set_up()
    assert len(waited) == 2, "it was made again"
    bench.run()
    assert path.more == {"max_setups": FEW, "setup_timeout_ms": 1000 * PATIENCE}
    assert waited[:1] == [None] and set(waited[1:]) == {1000 * PATIENCE}
    assert bench.rows[0]["throughput"]["lower"] == pytest.approx(1000, rel=0.02)
    remarks = body(bench, {}, Outcome())["verdict"]["remarks"]
    assert sum("calls were not answered" in remark for remark in remarks) == 1


def test_a_trial_that_was_made_twice_is_not_held_against_the_counters() -> None:
    page = Page(every=0.0, age=0.0)

    def crowded(rate: float, seconds: float) -> Trial:
        found = page.carries(rate, seconds)
        return found if bench.few_at_once else replace(found, crowded_out=True)

    bench = bench_of(crowded, management=page)
    track: Any = bench.track
    counted = [bench._counted(track, lambda: track.at(100, 0.5), "") for _ in range(2)]
    assert [one.crowded_out for one in counted] == [False, False]
    assert [reading["right"] for reading in bench.counters] == [True, True]


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


SIZES_WITH_PAGE = replace(SHORT, sizes=[64, 128], skip=frozenset({"delay", "burst"}))


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


class Clock:
    """Stands still but for what trials and hooks take."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.passes)

    def passes(self, seconds: float) -> None:
        self.now += seconds


class SlowHook(Filters):
    """Sets nothing, in a second and a half."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("{count}")
        self.clock = clock
        self.counts: list[int] = []

    def _run(self, number: int, seconds: float) -> None:
        self.clock.passes(min(1.5, seconds))
        self.counts.append(number)


@pytest.mark.parametrize("capacity", [20, 1000, 50_000])
@pytest.mark.parametrize("hook", [False, True])
@pytest.mark.parametrize(("plan", "most"), [(QUICK, 60), (DEFAULT, 300)])
def test_the_time_that_is_said_is_kept(
    monkeypatch: pytest.MonkeyPatch, capacity: float, hook: bool, plan: BenchPlan, most: float
) -> None:
    clock = Clock(monkeypatch)

    def carries(rate: float, seconds: float) -> Trial:
        over = max(0.0, 1 - capacity / rate)
        clock.passes(0.05 + seconds + (1.0 if over else 0.0))  # the grace
        return trial(rate, seconds, behind=over)

    slow_hook = SlowHook(clock)
    plan = replace(plan.with_filters() if hook else plan, counters=True)
    bench = bench_of(carries, plan, filters=slow_hook if hook else None)
    bench.look_at_set_up()
    bench.run()
    # Idle traffic and counters have times of their own; the errors have what is left.
    errors = 0 if "errors" in plan.skip else plan.errors
    others = plan.seconds() - len(plan.sizes) * plan.size_seconds() - errors
    assert clock.now - 1000 + others + min(errors, 5) <= most
    if hook:
        assert slow_hook.counts[-1] == 0
        for row in bench.rows:
            found = row["filters"]
            assert found["1"] or found["why"]["1"] == "no time"


def hook_of(folder: File, code: str) -> Filters:
    """A script as the hook, which writes down every count."""
    script, counts = folder / "hook.py", folder / "counts"
    script.write_text(
        f"import sys\ncount = int(sys.argv[1])\n"
        f"open({str(counts)!r}, 'a').write(f'{{count}}\\n')\n{code}\n",
        "utf-8",
    )
    return Filters(f"{sys.executable} {script} {{count}}")


def counts_of(folder: File) -> list[int]:
    return [int(line) for line in (folder / "counts").read_text("utf-8").split()]


ONE_SIZE = replace(SHORT, skip=frozenset({"delay", "burst"}), filters=60.0)


def test_the_hook_sets_each_number_of_conditions_and_takes_them_away(tmp_path: File) -> None:
    """The path is slower with conditions, as it reads what the hook wrote."""

    def carries(rate: float, seconds: float) -> Trial:
        counts = counts_of(tmp_path) if (tmp_path / "counts").exists() else [0]
        return trial(rate, seconds, behind=max(0.0, 1 - (1000 - 50 * counts[-1]) / rate))

    bench = bench_of(carries, ONE_SIZE, filters=hook_of(tmp_path, ""))
    bench.run()
    assert counts_of(tmp_path) == [1, 10, 0]
    (row,) = bench.rows
    Row.model_validate(row)
    assert row["filters"]["1"] == pytest.approx(950, rel=0.03)
    assert row["filters"]["10"] == pytest.approx(500, rel=0.03)
    (cells,) = rates({"rows": bench.rows})[1]
    assert [float(cell) for cell in cells[-2:]] == pytest.approx([950, 500], rel=0.03)


def said_of(bench: Bench) -> tuple[list[str], list[str]]:
    """f1 and f10 of the last size, and the remarks."""
    return rates({"rows": bench.rows})[1][-1][-2:], body(bench, {}, Outcome())["verdict"]["remarks"]


def test_no_hook_a_hook_that_fails_and_want_of_time_are_told_apart(tmp_path: File) -> None:
    without = bench_of(slow, ONE_SIZE)
    without.run()
    assert said_of(without)[0] == ["no hook", "no hook"]

    two = replace(ONE_SIZE, sizes=[64, 128])
    fails = bench_of(slow, two, filters=hook_of(tmp_path, "sys.exit(3 if count else 0)"))
    fails.run()
    cells, remarks = said_of(fails)
    assert cells == ["failed", "failed"]
    assert counts_of(tmp_path) == [1, 0], "what failed is not tried again at the next size"
    assert any("control.filters ended with status 3" in remark for remark in remarks)
    assert not any("may still be" in remark for remark in remarks)

    lossy = bench_of(
        lambda rate, seconds: trial(rate, seconds, missing=1 if lossy_from_here() else 0),
        ONE_SIZE, filters=hook_of(tmp_path, ""),
    )  # fmt: skip

    def lossy_from_here() -> bool:
        return counts_of(tmp_path)[-1] > 0

    lossy.run()
    cells, remarks = said_of(lossy)
    assert cells == ["loss", "loss"]
    assert any("with 1 filter condition no rate without loss" in remark for remark in remarks)


def test_filters_for_which_there_is_no_time_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def carries(rate: float, seconds: float) -> Trial:
        clock.passes(100)
        return slow(rate, seconds)

    hook = SlowHook(clock)
    bench = bench_of(carries, ONE_SIZE, filters=hook)
    bench.run()
    cells, remarks = said_of(bench)
    assert cells == ["no time", "no time"]
    assert any("no time was left for: filter 1, filter 10" in remark for remark in remarks)


def test_a_reset_that_fails_is_said_and_the_figures_stay(tmp_path: File) -> None:
    bench = bench_of(slow, ONE_SIZE, filters=hook_of(tmp_path, "sys.exit(0 if count else 4)"))
    bench.run()
    cells, remarks = said_of(bench)
    assert [float(cell.replace(" ", "")) for cell in cells] == pytest.approx([1000] * 2, rel=0.03)
    assert any("filter conditions may still be" in remark for remark in remarks)


@pytest.mark.parametrize("end", [Gone, Interrupted])
def test_a_reset_that_fails_does_not_hide_what_ended_the_search(
    tmp_path: File, end: type[Exception]
) -> None:
    def carries(rate: float, seconds: float) -> Trial:
        if not (tmp_path / "counts").exists():
            return slow(rate, seconds)
        ended = {"connected": 0} if end is Gone else {"interrupted": True}
        return replace(slow(rate, seconds), **ended)

    bench = bench_of(carries, ONE_SIZE, filters=hook_of(tmp_path, "sys.exit(0 if count else 4)"))
    with pytest.raises(end):
        bench.run()
    assert counts_of(tmp_path) == [1, 0]
    cells, remarks = said_of(bench)
    assert cells == ["-", "-"]
    assert any("filter conditions may still be" in remark for remark in remarks)
    assert bench.rows[0]["interrupted"] == "filter 1"


def test_a_hook_that_does_not_end_is_ended(tmp_path: File) -> None:
    hook = hook_of(tmp_path, "import time; time.sleep(600)")
    with pytest.raises(FilterError, match="did not end within 1 s"):
        hook.set(1, 0.0)
    assert hook.problem


@pytest.mark.parametrize("alone", [True, False])
def test_a_burst_stands_beside_what_the_tester_alone_takes(alone: bool) -> None:
    class Drops(Path):
        def burst(self, messages: int, seconds: float) -> Trial:
            most = 50 if self.target is not None or not alone else messages
            lost = max(messages - most, 0)
            return replace(trial(messages, 1.0, missing=lost), rate=None)

    path: Any = Drops(slow)
    plan = replace(SHORT, skip=frozenset({"delay", "filters"}))
    bench = Bench(path, plan, Management(None, None), None, lambda _text: None)
    bench.run()
    (row,) = bench.rows
    Row.model_validate(row)
    assert (row["burst"]["messages"], row["burst"]["control"]) == (50, alone)
    cell = bounds({"rows": bench.rows})[1][0][-2]
    assert cell == ("50" if alone else "50*")
    remarks = body(bench, {}, Outcome())["verdict"]["remarks"]
    assert any("the tester alone lost of a burst" in remark for remark in remarks) is not alone


def test_the_controls_own_p99_and_near_filters_are_shown() -> None:
    times = {"p50": 1.0, "p95": 1.0, "p99": 2.0, "p99.9": 3.0, "max": 4.0}
    one = {"load": "light", "rate": 50.0, "router": times, "control": times | {"p99": 0.5}}
    head, (cells,) = delays({"rows": [{"size": 128, "delays": [one]}]})
    assert dict(zip(head, cells, strict=True))["control p99"] == "0.500"
    row = {
        "size": 128, "hammer": {"carried": 100.0}, "throughput": {"said": False},
        "filters": {"1": 90.0, "10": 70.0, "why": {"1": "", "10": ""}, "short": ["10"]},
    }  # fmt: skip
    assert rates({"rows": [row]})[1][0][-2:] == ["90.0*", ">= 70.0"]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials, the search and its conclusions, on paths that are computed; no network, no clock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from x25shark.load import idle
from x25shark.load.bench import DEFAULT, QUICK, Bench, BenchPlan
from x25shark.load.bench_findings import (
    by_short_trials,
    conclude,
    overloaded,
    spoilt,
    standstill,
)
from x25shark.load.bench_run import _remarks
from x25shark.load.ceiling import frame_octets, messages_per_second
from x25shark.load.management import Management
from x25shark.load.measure_cli import bit_rate
from x25shark.load.options import LoadOptions, OptionError
from x25shark.load.search import GOALS, Bounds, Found, library, search
from x25shark.load.trial import KINDS, Trial, crowded_out, growth, lost_by_kind

from .samples import cpu

NO_LOSS = dict.fromkeys(KINDS, 0)
RATES = (50, 150, 500, 1500, 5000)


def trial(rate: float, seconds: float, *, behind: float = 0.0, **lost: int) -> Trial:
    """What the tester would have counted."""
    offered = max(round(rate * seconds), 1)
    kinds = NO_LOSS | lost
    return Trial(
        rate=rate, seconds=seconds, offered=offered,
        delivered=max(offered - sum(kinds.values()), 0), carried=offered / seconds * (1 - behind),
        lost=kinds, held_back=0, behind=behind, delay_ms=None, connected=1, failures={},
        findings=[], interrupted=False,
        cpu=cpu(None, 0.0), tester_cpu=0.0,
    )  # fmt: skip


def find(path: Any, highest: float = 200_000.0) -> Found:
    return search(path, highest, width=0.01, trial_seconds=1.0, bound_seconds=60)


@pytest.mark.parametrize("capacity", RATES)
def test_the_rate_of_a_path_that_holds_back_is_found(capacity: float) -> None:
    def path(rate: float, seconds: float) -> Trial:
        return trial(rate, seconds, behind=max(0.0, 1 - capacity / rate))

    done = find(path)
    found = conclude(done, 1.0)
    assert found["said"] and found["complete"] and not found["loss"]
    assert found["lower"] == pytest.approx(capacity, rel=0.02)
    assert found["lower"] < found["upper"] <= found["lower"] * 1.02
    assert len(done.trials) < 20


@pytest.mark.parametrize("capacity", RATES)
def test_the_rate_of_a_path_that_drops_is_found(capacity: float) -> None:
    def path(rate: float, seconds: float) -> Trial:
        return trial(rate, seconds, missing=max(round((rate - capacity) * seconds), 0))

    found = conclude(find(path), 1.0)
    assert found["said"]
    assert found["lower"] == pytest.approx(capacity, rel=0.02)


def test_a_path_that_carries_less_when_overloaded_is_found_from_below() -> None:
    def path(rate: float, seconds: float) -> Trial:
        return trial(rate, seconds, behind=1 - 33 / rate if rate > 994 else 0.0)

    assert conclude(find(path), 1.0)["lower"] == pytest.approx(994, rel=0.02)


def test_loss_that_does_not_depend_on_the_rate_is_no_throughput() -> None:
    sent = 0

    def path(rate: float, seconds: float) -> Trial:
        nonlocal sent
        before, sent = sent, sent + round(rate * seconds)
        dropped = sent // 10_000 - before // 10_000
        return trial(rate, seconds, behind=max(0.0, 1 - 5000 / rate), missing=dropped)

    done = find(path)
    done.trials.append(path(4500, 8.0))  # as bench does to confirm a rate
    found = conclude(done, 1.0)
    assert not found["said"]
    assert "missing of" in found["loss"]
    assert found["half_percent_lower"] == pytest.approx(5000, rel=0.02)


def test_rare_loss_that_the_search_goes_down_from_is_no_throughput() -> None:
    trials = [trial(4975, 2, missing=1), trial(4990, 2), trial(2489, 2), trial(2240, 3)]
    goals = {0.0: Bounds(2489, 4975), 0.005: Bounds(4990, 5015)}
    found = conclude(Found(goals, trials, complete=False), 1.0)
    assert (found["said"], found["loss"]) == (False, "1 missing of 19930 messages")
    # The same loss would have shown among these: it comes with the rate.
    many = [*trials, trial(2240, 18)]
    assert conclude(Found(goals, many, complete=False), 1.0)["said"]
    # So near to what it carries it is where a path begins to drop.
    near = {0.0: Bounds(4925, 4975), 0.005: Bounds(4990, 5015)}
    assert conclude(Found(near, [*trials, trial(4925, 2)], complete=True), 1.0)["said"]


def test_what_a_path_drops_beyond_what_it_carries_is_no_loss_below() -> None:
    beyond = [trial(946, 1, missing=446), trial(686, 1, missing=190), trial(585, 1, behind=0.15)]
    trials = [*(replace(t, carried=498) for t in beyond), trial(497, 1)]
    none = Bounds(None, None)
    found = conclude(Found(dict.fromkeys(GOALS, none), trials, complete=False), 1.0)
    assert (found["said"], found["lower"], found["upper"], found["loss"]) == (True, 497, 585, "")
    trials.append(trial(300, 1, missing=2))
    assert conclude(Found(dict.fromkeys(GOALS, none), trials, complete=False), 1.0)["loss"]


def test_what_stops_the_measurement_comes_through_the_search() -> None:
    def path(rate: float, seconds: float) -> Trial:
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        find(path)


def test_a_defect_of_the_engine_is_not_the_end_of_the_time() -> None:
    def path(rate: float, seconds: float) -> Trial:
        raise RuntimeError("a thread of the engine ended")

    with pytest.raises(RuntimeError, match="a thread of the engine"):
        find(path)


def test_what_the_library_stumbles_over_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def main_loop(*_: Any) -> None:
        raise RuntimeError("Load not worth")

    monkeypatch.setattr(library().MultipleLossRatioSearch, "main_loop", main_loop)
    done = find(trial)
    assert (done.complete, done.problem) == (False, "Load not worth")
    row = {"size": 128, "throughput": conclude(done, 1.0), "trials": []}
    assert any("MLRsearch stumbled: Load not worth" in remark for remark in _remarks(row))


def test_a_search_without_time_gives_what_short_trials_say() -> None:
    done = search(
        lambda rate, seconds: trial(rate, seconds, behind=max(0.0, 1 - 500 / rate)),
        100_000.0, width=0.01, trial_seconds=1.0, bound_seconds=1e-9,
    )  # fmt: skip
    assert (done.complete, done.problem) == (False, "")
    assert conclude(done, 1.0)["short"]
    trials = [trial(100, 1), trial(400, 1, missing=1), trial(300, 1), trial(600, 1)]
    assert (by_short_trials(trials).lower, by_short_trials(trials).upper) == (300, 400)


@pytest.mark.parametrize("where", ["trials", "flood"])
def test_what_no_rate_explains_is_found_at_every_rate(where: str) -> None:
    bad = trial(900, 1, corrupt=3, wrong_circuit=1, missing=400, late=80).as_dict()
    row: dict[str, Any] = {"packets": 1, "trials": [trial(100, 1).as_dict()]}
    assert spoilt(row) == ""
    row[where] = [*row["trials"], bad] if where == "trials" else bad
    assert spoilt(row) == "1 wrong circuit, 3 corrupt of 1000 messages"
    assert spoilt(row | {"packets": 4}) == "1 wrong circuit of 1000 messages"


@pytest.mark.parametrize(("lost_at", "said"), [(64, True), (33, False), (None, False)])
def test_a_burst_that_was_not_narrowed_says_so(lost_at: int | None, said: bool) -> None:
    row = {
        "throughput": {
            "complete": True,
            "problem": "",
            "said": True,
            "loss": "",
            "rate": 500,
            "upper": 510,
        },
        "burst": {"messages": 32, "lost_at": lost_at, "most": 2000, "control": True},
    }
    assert any("has 32 to 63 messages" in remark for remark in _remarks(row)) is said


def test_growth_is_the_slope_of_the_delay_and_stands_a_pause() -> None:
    def parts(delays: list[float]) -> list[dict[str, int]]:
        return [{"count": 5, "sum_ns": round(5e9 * delay)} for delay in delays]

    assert growth(parts([0.01] * 20), 1.0) == 0
    assert growth(parts([0.01 + 0.02 * i / 20 for i in range(20)]), 1.0) == pytest.approx(0.02)
    pause = [0.01] * 16 + [0.2, 0.1, 0.05, 0.01]
    assert growth(parts(pause), 1.0) == pytest.approx(0, abs=1e-9)
    assert growth(parts([1.0, 0.5]), 1.0) == 0


def counters(**more: int) -> dict[str, int]:
    names = (
        "messages_sent", "calls_connected", "corrupted_messages", "short_messages",
        "mixed_up_messages", "duplicated_messages", "duplicated_packets", "resets_sent",
        "resets_received", "lost_packets", "lost_messages",
    )  # fmt: skip
    return dict.fromkeys(names, 0) | more


@pytest.mark.parametrize(
    ("seen", "delivered", "late", "expected"),
    [
        ({}, 100, 0, {}),
        ({}, 90, 4, {"late": 10}),  # 4 came late, 6 are under way: nothing shows that they are lost
        ({"lost_packets": 1}, 90, 4, {"late": 4, "missing": 6}),
        ({"corrupted_messages": 2, "short_messages": 1}, 97, 0, {"corrupt": 3}),
        ({"mixed_up_messages": 5}, 95, 0, {"wrong_circuit": 5}),
        ({"duplicated_messages": 2}, 100, 0, {"duplicated": 2}),
    ],
)
def test_what_is_lost_is_counted_by_kind(
    seen: dict[str, int], delivered: int, late: int, expected: dict[str, int]
) -> None:
    caller = {"total": counters(messages_sent=100, calls_connected=1), "failures": {}}
    verifier = {"total": counters(**seen), "trial": {"delivered": delivered, "late": late}}
    kinds, held_back = lost_by_kind(100, caller, verifier)
    assert (kinds, held_back) == (NO_LOSS | expected, 0)


def test_what_never_left_the_tester_is_late_and_held_back() -> None:
    caller = {"total": counters(messages_sent=60, calls_connected=1), "failures": {"run ended": 1}}
    verifier = {"total": counters(), "trial": {"delivered": 60, "late": 0}}
    assert lost_by_kind(100, caller, verifier) == (NO_LOSS | {"late": 40}, 40)


def test_messages_of_a_circuit_that_failed_are_missing() -> None:
    failed = {"call set-up: connection reset": 1}
    caller = {"total": counters(messages_sent=100, calls_connected=3), "failures": failed}
    verifier = {"total": counters(), "trial": {"delivered": 75, "late": 0}}
    assert lost_by_kind(100, caller, verifier)[0] == NO_LOSS | {"missing": 25}


def test_a_duplicate_is_no_clean_trial() -> None:
    doubled = trial(100, 1.0)
    doubled.lost["duplicated"] = 1
    try:
        assert not doubled.clean and doubled.loss_ratio == 0.01
    finally:
        doubled.lost["duplicated"] = 0


def test_carrying_less_is_named_and_a_little_less_is_not() -> None:
    row: dict[str, Any] = {"maximum": {"carried": 1000.0}, "plus_25": {"carried": 990.0}}
    shares = {"plus_25": 0.99, "flood": 0.9}
    assert overloaded(row | {"flood": {"carried": 900.0}, "share_of_maximum": shares}) == []
    low = {"plus_25": 0.99, "flood": 0.033}
    (words,) = overloaded(row | {"flood": {"carried": 33.0}, "share_of_maximum": low})
    assert words == "carries 33 messages/s at flood, 1000 at its maximum"


def test_a_path_that_stands_still_at_light_load_is_named() -> None:
    def row(p95: float, load: str = "light", control: float = 0.2) -> dict[str, Any]:
        router = {"p50": 0.5, "p95": p95, "max": 210.0}
        return {"delays": [{"load": load, "router": router, "control": {"p95": control}}]}

    assert "stands still at times" in standstill(row(150.0))
    assert standstill(row(20.0)) == ""
    assert standstill(row(150.0, load="full")) == ""
    assert standstill(row(150.0, control=60.0)) == "", "the tester itself stood still"
    assert standstill({}) == ""


def test_the_ceiling_counts_every_octet() -> None:
    # 1 octet of payload: 1 + 52 octets of TCP and IP in a frame of 14 + 4 + 8 + 12.
    assert frame_octets(1) == 1 + 52 + 38
    assert frame_octets(1448) == 1538
    assert frame_octets(1449) == 1538 + 91
    options = LoadOptions()
    assert messages_per_second(8 * (128 + 7 + 52 + 38), 128, 128, options) == pytest.approx(1.0)
    two = messages_per_second(8 * ((128 + 7 + 90) + (72 + 7 + 90)), 200, 128, options)
    assert two == pytest.approx(1.0)


def test_line_rates_are_read_and_refused() -> None:
    assert [bit_rate(t) for t in ("56k", "100M", "1G", "9600")] == [56e3, 1e8, 1e9, 9600.0]
    for wrong in ("", "fast", "0", "-1", "1T"):
        with pytest.raises(OptionError, match="--line-rate"):
            bit_rate(wrong)


def test_a_message_gets_the_least_packet_size_that_it_fits_in() -> None:
    plan = BenchPlan([32])
    assert [plan.packet_size_for(s) for s in (16, 24, 33, 4096)] == [16, 32, 64, 4096]
    assert BenchPlan([1518], packet_size=128).packet_size_for(1518) == 128


def test_quick_is_a_minute_and_the_default_five() -> None:
    for plan, most in ((QUICK, 60), (DEFAULT, 300)):
        with_page = replace(plan, counters=True)
        for one in (plan, with_page, with_page.with_filters()):
            assert one.seconds() <= most
            assert one.size_seconds() <= 30
        assert plan.with_filters().filters > 1.5
    old = replace(DEFAULT, counters=True, age=10.0)
    assert old.seconds() > DEFAULT.seconds() + 40, "a page that is old is waited for, and said"


@pytest.mark.parametrize(
    ("least_ms", "most_ms", "expected"),
    [(1, 20, False), (1, 1010, True), (600, 1200, False), (0, 0, False)],
)
def test_connections_that_were_asked_for_again_are_known_by_their_time(
    least_ms: int, most_ms: int, expected: bool
) -> None:
    connect = {"count": int(most_ms > 0), "min": least_ms * 1e6, "max": most_ms * 1e6}
    assert crowded_out(connect) is expected


def test_what_no_time_is_left_for_is_named() -> None:
    nothing: Any = None  # no trial is made
    bench = Bench(nothing, BenchPlan([128]), Management(None, None), None, lambda _text: None)
    row: dict[str, Any] = {"size": 128}
    assert list(bench.delays(row, nothing, 100.0, "128 octets")) == []
    assert row["left_out"] == [f"delay at {name} load" for name in ("light", "half", "full")]


def test_idle_packets_are_told_apart() -> None:
    rr, data = "00000003100121", "0000000510010041 42".replace(" ", "")
    lines = f"1.0\t0\t\n1.1\t7\t{rr}\n1.2\t16\t{rr}{data}\n1.3\tx\t\n1.4\t3\tzz\n"
    found = idle.count(lines, 30.0)
    assert found.kinds == {"TCP without data": 1, "RR": 2, "Data": 1}
    assert found.as_dict()["per_minute"]["RR"] == 4
    assert idle.kinds_of(bytes.fromhex("000000051001130000")) == ["Clear"]

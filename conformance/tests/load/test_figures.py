# SPDX-License-Identifier: GPL-2.0-or-later
"""Options, figures, judgement and pages, without a network."""

from __future__ import annotations

import copy
import os
from pathlib import Path

import pytest
from x25shark.interrupts import interrupts
from x25shark.load import results
from x25shark.load.measure import Measurement, settle
from x25shark.load.options import (
    PACKET_SIZES,
    LoadOptions,
    OptionError,
    address_range,
    number_list,
)
from x25shark.load.processor import listener_process, process_seconds
from x25shark.load.sweep import not_as_asked
from x25shark.load.target import endpoint

from .samples import GOOD, cpu, measurement, raw


def test_rates_count_the_measured_time() -> None:
    figure = results.figures(measurement(**GOOD, octets_sent=4_000_000))
    assert figure["calls_per_second"] == 50
    assert figure["octets_sent_per_second"] == 2_000_000
    assert figure["tester_cpu"] == 0.5
    assert figure["router_cpu"] == 0.5
    assert figure["octets_per_circuit"] == 100


def test_a_clean_run_has_status_0_and_no_reasons() -> None:
    clean = measurement(**GOOD)
    found = results.reasons(clean, results.figures(clean), LoadOptions())
    assert found == []
    assert results.exit_status([clean], found) == 0


@pytest.mark.parametrize("name", [*results.INTEGRITY, "protocol_errors"])
def test_each_flaw_alone_makes_the_run_unclean(name: str) -> None:
    flawed = measurement(**GOOD, **{name: 1})
    found = results.reasons(flawed, results.figures(flawed), LoadOptions())
    assert len(found) == 1
    assert found[0].startswith("1 ")
    assert results.exit_status([flawed], found) == 1


def test_slow_answers_are_a_remark_and_a_flaw_only_beyond_a_limit_that_was_set() -> None:
    slow = measurement(**GOOD, late=2)
    figure = results.figures(slow)
    usual, strict = LoadOptions(), LoadOptions(late_ms=20, late_is_flaw=True)
    assert results.reasons(slow, figure, usual) == []
    (remark,) = results.remarks(figure, usual)
    assert remark.startswith("2 answers took longer than 500 ms")
    (reason,) = results.reasons(slow, figure, strict)
    assert reason.startswith("2 answers took longer than 20 ms")
    assert results.remarks(figure, strict) == []


def test_other_work_on_the_machine_is_a_remark() -> None:
    clean = measurement(**GOOD)  # 1 s of tester's and 1 s of router's time in 2 s
    processors = os.cpu_count() or 1
    for busy, remarked in ((1 / processors, False), (1 / processors + 0.3, True)):
        crowded = Measurement("router", clean.caller, None, cpu(1.0, busy), False, 1)
        figure = results.figures(crowded)
        text = "other work took up to 30% of this machine: rates may be too low"
        assert results.crowded([figure]) == [text] * remarked
        assert results.reasons(crowded, figure, LoadOptions()) == []
    unknown = results.figures(Measurement("router", clean.caller, None, cpu(None, 1.0), False, 1))
    assert unknown["other_work"] is None


def test_a_flaw_of_the_called_side_counts_too() -> None:
    clean = measurement(**GOOD)
    both = Measurement("router", clean.caller, raw(lost_packets=2), clean.cpu, False, 1)
    assert results.reasons(both, results.figures(both), LoadOptions()) == ["2 lost packets"]


def test_nothing_connected_is_never_green() -> None:
    nothing = measurement(calls_started=5)
    assert results.exit_status([nothing], []) == 3


def test_interrupted_is_130() -> None:
    clean = measurement(**GOOD)
    stopped = Measurement("router", clean.caller, None, clean.cpu, True, 1)
    assert results.exit_status([stopped], []) == 130


def test_an_interrupt_behind_a_measurement_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the called side sees the last connections end: raised there, or noted alone."""

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    assert not settle(0.0)
    monkeypatch.setattr(interrupts, "count", 1)
    assert settle(0.0)
    monkeypatch.undo()
    monkeypatch.setattr("x25shark.load.measure.time.sleep", interrupted)
    assert settle(0.0)


def test_one_way_messages_that_never_arrived_are_found() -> None:
    clean = measurement(**GOOD, messages_sent=50)
    both = Measurement("router", clean.caller, raw(messages_verified=48), clean.cpu, False, 1)
    found = results.reasons(both, results.figures(both), LoadOptions())
    assert found == ["2 messages sent and never verified at the other end"]


def test_exhaustion_names_the_call() -> None:
    caller = raw(calls_started=1000, calls_connected=255, calls_completed=255, calls_failed=745)
    caller["first_failure"] = [256, "cleared: cause 5 diagnostic 0"]
    caller["last_completed"] = 255
    leaking = Measurement("router", caller, None, cpu(None, 0), False, 1)
    text = results.exhaustion(leaking)
    assert text is not None
    assert "call 256 was the first to fail" in text
    healthy = copy.deepcopy(caller) | {"last_completed": 999}
    assert results.exhaustion(Measurement("router", healthy, None, leaking.cpu, False, 1)) is None


def test_the_control_run_is_compared_by_the_right_figure() -> None:
    figure = results.figures(measurement(**GOOD))
    control = results.figures(measurement(**GOOD | {"calls_completed": 110}))
    share = results.share_of_control(LoadOptions(), figure, control)
    assert share == pytest.approx(100 / 110)
    assert results.share_of_control(LoadOptions(rate=50.0), figure, control) is None
    assert results.main_figure(LoadOptions(mode="sink"))[0] == "octets_sent_per_second"


def test_address_ranges() -> None:
    assert address_range("2100001,2199999") == ("2100001", "2199999")
    assert address_range("21") == ("21", "21")
    for wrong in ("", "21,2", "22,21", "2a", "1" * 16):
        with pytest.raises(OptionError):
            address_range(wrong)


def test_number_lists() -> None:
    assert number_list("1-3,7", "window", range(1, 8)) == [1, 2, 3, 7]
    assert number_list("128-1024", "packet size", PACKET_SIZES) == [128, 256, 512, 1024]
    for wrong in ("8", "x", "", "0-2", "1-99999999"):
        with pytest.raises(OptionError):
            number_list(wrong, "window", range(1, 8))


def test_endpoints() -> None:
    assert endpoint("192.0.2.1") == "192.0.2.1:1998"
    assert endpoint("192.0.2.1:5") == "192.0.2.1:5"
    for wrong in ("router", "1.2.3.4:99999", "1.2.3.4:x", "1.2.3"):
        with pytest.raises(OptionError):
            endpoint(wrong)


def test_a_setting_without_effect_is_named() -> None:
    found = not_as_asked(measurement(**GOOD), LoadOptions(packet_size=4096, window=128))
    assert "packet size out: 4096 asked, 128 to 128 agreed" in found
    assert not any(text.startswith("window") for text in found)


def test_load_json_is_read_back_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "load.json"
    results.write(path, {"format": results.FORMAT, "version": results.VERSION})
    assert results.read(path)["version"] == 1
    for wrong in ("{}", "[]", "not json", '{"format": "x25shark-load", "version": 9}'):
        path.write_text(wrong)
        with pytest.raises(results.ResultError):
            results.read(path)
    with pytest.raises(results.ResultError):
        results.read(tmp_path / "none.json")


def test_processes_of_this_machine_are_measured() -> None:
    assert (process_seconds(os.getpid()) or 0) > 0
    assert process_seconds(2**22 + 1) is None
    assert listener_process("127.0.26.77:1") is None


@pytest.mark.parametrize(
    ("router", "control", "cpu", "words"),
    [
        ({}, {"calls_completed": 101}, 0.99, "The tester was the limit: "),
        ({}, {"calls_completed": 1000}, 0.99, "The router was the limit: "),
        ({}, {"calls_completed": 1000}, 0.33, "it waited for something"),
        ({}, {"calls_completed": 1000}, None, "The router, or the path to it, was the limit: "),
        ({"calls_completed": 0}, {"calls_completed": 1000}, 0.33, ""),
    ],
    ids=["the tester alone does as much", "a router without a processor left", "an idle router",
         "a router elsewhere", "no call at all"],
)  # fmt: skip
def test_what_was_the_limit_is_said_as_far_as_it_is_known(
    router: dict[str, int], control: dict[str, int], cpu: float | None, words: str
) -> None:
    figure = results.figures(measurement(**GOOD | router)) | {"router_cpu": cpu}
    alone = results.figures(measurement(**GOOD | control))
    found = results.limit(LoadOptions(), figure, alone)
    assert words in found and bool(found) is bool(words)
    busy = figure | {"other_work": 0.5}
    if "tester" not in words and words:
        assert "Other work took part" in results.limit(LoadOptions(), busy, alone)
    assert results.limit(LoadOptions(rate=50.0), figure, alone) == ""

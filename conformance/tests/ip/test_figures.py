# SPDX-License-Identifier: GPL-2.0-or-later
"""The model against figures made by hand; what is read of programs; what is found wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from x25shark.ip import hosts, tables
from x25shark.ip.lab import Conditions, Line
from x25shark.ip.model import Flow, Model, delay_for
from x25shark.ip.result import judge
from x25shark.ip.traffic import answers, url

# 8000 bit/s: an octet takes a millisecond.
SLOW = Conditions(line=Line(rate=8000, delay=0.1))


def test_one_packet_waits_for_both_lines() -> None:
    # 64 octets of ICMP, 20 of IP, 3 of X.25, 4 of XOT.
    assert Model(SLOW).round_trip(64) == pytest.approx(4 * (0.091 + 0.1))


def test_a_window_of_two_holds_the_third_packet_back() -> None:
    # Three packets of 135 octets. The first is at the router after 235 ms and acknowledged after
    # 342; the third then starts, and both lines carry it alone.
    assert Model(SLOW).one_way(384) == pytest.approx(0.342 + 2 * 0.235)
    wide = replace(SLOW, window=7)
    assert Model(wide).one_way(384) == pytest.approx(3 * 0.135 + 0.1 + 0.235)


def test_a_window_that_the_far_gateway_opens_waits_for_both_lines() -> None:
    # The first of three packets arrives after 470 ms, its RR is back after 2 x 107 ms more.
    model = Model(replace(SLOW, end_to_end=True))
    assert model.one_way(384) == pytest.approx(0.47 + 0.214 + 0.47)
    assert model.window_round_trip == pytest.approx(2 * Model(SLOW).window_round_trip)
    assert model.circuit_rate == pytest.approx(Model(SLOW).circuit_rate / 2)
    rate = 300 * model.segment * 8 / Flow(model, 1).follow([[model.c.mtu] * 300])
    assert 0.9 * model.circuit_rate < rate <= model.circuit_rate * 1.01


def test_what_one_circuit_carries_and_how_many_fill_the_line() -> None:
    model = Model(replace(SLOW, mtu=576))
    # 5 packets: 4 of 135 octets and one of 71; T = mean 122.2 + 7 + 200 ms.
    assert model.window_round_trip == pytest.approx(0.3292)
    assert model.circuit_rate == pytest.approx(524 * 8 / (5 * 0.3292 / 2))
    assert model.line_rate == pytest.approx(524 * 8 / 0.611)
    assert model.circuits_to_fill == 2
    assert model.rate(1) == model.circuit_rate
    assert model.rate(2) == model.line_rate
    assert Model(replace(SLOW, line=Line(rate=8000, delay=0.0))).circuits_to_fill == 1


def test_a_flow_of_many_datagrams_has_the_rates_of_the_formulas() -> None:
    model = Model(SLOW)
    for circuits, rate in ((1, model.circuit_rate), (10, model.line_rate)):
        seconds = Flow(model, circuits).follow([[576] * 300])
        # What TCP acknowledges takes its share of the way back, and never adds to the rate.
        assert 0.9 * rate < 300 * 524 * 8 / seconds <= rate


def test_tcp_has_no_more_of_a_file_under_way_than_its_window() -> None:
    # Seven segments of 524 octets are what 4096 hold: over ten circuits all leave at once, and
    # the acknowledgement of every second one lets two follow.
    model = Model(replace(SLOW, line=Line(rate=10_000_000, delay=0.1), tcp_window=4096))
    assert model.segments_under_way == 7
    seconds = Flow(model, 10).follow([[576] * 300])
    assert 300 * 524 * 8 / seconds == pytest.approx(model.tcp_rate, rel=0.2)
    # Two files have a window each.
    assert Flow(model, 10).follow([[576] * 150] * 2) < 0.8 * seconds


@pytest.mark.parametrize("window", [0, 500, 1048, 4096, 65_535])
def test_a_flow_ends_whatever_the_window(window: int) -> None:
    model = Model(replace(SLOW, tcp_window=window))
    for datagrams in (1, 2, 3, 10, 11):
        assert Flow(model, 2).follow([[576] * datagrams] * 2) >= model.one_way(576)


@pytest.mark.parametrize("end_to_end", [False, True])
def test_a_flow_of_one_datagram_is_the_one_way_time(end_to_end: bool) -> None:
    for octets in (20, 128, 129, 576):
        for window in (1, 2, 7):
            model = Model(replace(SLOW, window=window, end_to_end=end_to_end))
            assert Flow(model, 3).follow([[octets]]) == pytest.approx(model.one_way(octets))


def test_the_delay_follows_from_the_ping() -> None:
    delay = delay_for(0.340, Conditions())
    line = replace(Conditions().line, delay=delay)
    assert Model(replace(Conditions(), line=line)).round_trip(64) == pytest.approx(0.340)
    with pytest.raises(ValueError, match="--ping 1 ms"):
        delay_for(0.001, Conditions())


def test_what_ping_prints() -> None:
    text = (
        "[1.0] 64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=342 ms\n"
        "[1.0] 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=651.5 ms\n"
        "[1.0] 64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=400 ms (DUP!)\n"
        "[1.0] 64 bytes from 10.0.0.2: icmp_seq=9 ttl=64 time=1 ms\n"
    )
    assert answers(text, 3) == [651.5, 342.0, None]


def test_urls() -> None:
    assert url("10.88.0.2", "f") == "ftp://10.88.0.2:2121/f"
    assert url("fd88::2", "f") == "ftp://[fd88::2]:2121/f"


def transfer(**given: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": "put", "octets": 9, "begun": 0.0, "seconds": 1.0, "same": True, "sha256": "ab",
        "error": "", "circuits": 1, "ratio": 1.0, "bits_per_second": 72.0,
        "model": {"seconds": 1.0, "bits_per_second": 72.0},
    }  # fmt: skip
    return plain | given


def judged(*rows: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"experiments": {"circuits": {"rows": list(rows)}}}
    judge(result)
    return result


def test_a_file_that_differs_or_is_lost_is_named() -> None:
    assert judged(transfer())["exit_status"] == 0
    found = judged(transfer(same=False, circuits=4), transfer(same=None, error="curl: (28) late"))
    assert found["exit_status"] == 1
    differs, lost = found["verdict"]["reasons"]
    assert "4 circuits" in differs
    assert "differs" in differs
    assert "lost, curl: (28) late" in lost
    _, rows = tables.circuits(found)
    assert [row[3] for row in rows] == ["DIFFERS", "failed"]


def test_a_figure_far_from_the_model_is_remarked() -> None:
    assert judged(transfer(ratio=1.04))["verdict"]["remarks"] == []
    assert judged(transfer(ratio=0.94))["verdict"]["remarks"] == ["circuits 1: 0.94 of the model"]


def test_what_both_ends_count_is_told_once() -> None:
    ends = {
        "a": {"totals": {"clears_in": 5, "calls_refused": 1, "cut_off": 2}},
        "b": {"totals": {"clears_in": 4, "cut_off": 1, "resets": 1}},
    }
    row = transfer(counted={"hosts": {}, "lines": [], "gateways": ends})
    assert judged(row, row)["verdict"]["remarks"] == [
        "circuits: 2 calls refused",
        "circuits: 10 circuits cleared by the network; the next datagram called again",
        "circuits: 2 resets",
        "circuits: 6 datagrams cut off by a clear",
    ]
    assert judged(row)["verdict"]["remarks"][0] == "circuits: 1 call refused"


def test_what_is_missing_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "TUN_PATH", "/dev/none/tun")
    with pytest.raises(hosts.HostError, match=r"no TUN device: /dev/none/tun: .*modprobe tun"):
        hosts.open_tun()
    with pytest.raises(hosts.HostError, match="not the name of a network device"):
        hosts.open_tun("a/b")
    with pytest.raises(hosts.HostError, match="apt-get install iputils-ping"):
        hosts.program("no-such-ping", "iputils-ping")

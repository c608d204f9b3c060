# SPDX-License-Identifier: GPL-2.0-or-later
"""The network between tester and router, and cases over it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from x25shark.profile import load_profile
from x25shark.selftest import networks
from x25shark.selftest.network import NETWORKS, Network, Way

# Some of each: framing, many segments, resets and connections that are given up.
SELECTED = "XOT-HDR-02,XOT-HDR-10,XOT-TCP-07,XOT-VC-03,PLP-CALL-01,PLP-RST-04,SYS-ROB-03"
TUN = Path("/dev/net/tun")


def arrivals(network: Network, packets: list[bytes], seed: str = "0") -> list[tuple[float, bytes]]:
    """When which of the packets arrives, that enter one each second."""
    way = Way(network, random.Random(seed))
    for now, packet in enumerate(packets):
        way.put(packet, float(now))
    came = []
    while (at := way.next_at()) is not None:
        came += [(at, packet) for packet in way.take(at)]
    return came


PACKETS = [bytes([n]) for n in range(200)]


def test_a_plain_network_changes_nothing() -> None:
    assert arrivals(Network(), PACKETS) == [(float(n), p) for n, p in enumerate(PACKETS)]


def test_loss_comes_from_the_seed() -> None:
    came = arrivals(Network(loss=0.1), PACKETS)
    assert 10 <= len(PACKETS) - len(came) <= 35
    assert came == arrivals(Network(loss=0.1), PACKETS)
    assert came != arrivals(Network(loss=0.1), PACKETS, "1")


def test_jitter_keeps_the_order_and_lateness_does_not() -> None:
    shaken = arrivals(Network(delay=0.5, jitter=3.0), PACKETS)
    assert [packet for _, packet in shaken] == PACKETS
    assert all(n + 0.5 <= at for n, (at, _) in enumerate(shaken))
    late = arrivals(Network(late=0.1, lateness=5.0), PACKETS)
    assert sorted(packet for _, packet in late) == PACKETS
    assert [packet for _, packet in late] != PACKETS


def test_a_rate_and_its_queue() -> None:
    """At 8 bit/s an octet takes a second; ten seconds' worth may wait."""
    slow = arrivals(Network(rate=8, queue=10), [bytes(3)] * 20)
    assert [at for at, _ in slow[:3]] == [3.0, 6.0, 9.0]
    assert len(slow) < 20


@pytest.mark.parametrize("profile", networks.PROFILES)
def test_the_profile_is_that_of_a_router_elsewhere(profile: str, tmp_path: Path) -> None:
    made = load_profile(str(networks.write_profile(profile, tmp_path)))
    own = load_profile(profile)
    assert made.relay_model == own.relay_model and made.pics == own.pics
    assert not made.is_loopback
    assert made.control.start is not None and made.embedded is None
    assert "127." not in made.text + (tmp_path / f"{profile}.router").read_text()


@pytest.mark.skipif(not TUN.exists(), reason="this system has no TUN interfaces")
@pytest.mark.usefixtures("namespaces")
def test_no_network_makes_a_right_router_fail(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    wanted = ["--routers", "reference", "--select", SELECTED, "--json", str(table)]
    status = networks.main(["all", *wanted])
    (row,) = json.loads(table.read_text())
    assert (row["bad"], row["problem"], status) == ([], "", 0)
    assert row["verdicts"]["PASS"] == len(SELECTED.split(","))
    # What is there already is not run again.
    assert networks.main(["all", *wanted, "--go-on"]) == 0


def test_networks_are_named_as_they_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        networks.main(["marsh"])
    assert ended.value.code == 2
    assert "unknown: marsh" in capsys.readouterr().err
    assert {"delay", "loss", "reordering", "slow", "mtu"} < set(NETWORKS)

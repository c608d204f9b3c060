# SPDX-License-Identifier: GPL-2.0-or-later
"""The self-test of emulated lines: what it counts by itself, and what it finds wrong. How exact the
lines are is for the command, on a machine that is idle."""

from __future__ import annotations

import json
import random
import threading
import time

import pytest
from x25shark.load.engine import Engine
from x25shark.selftest.lines import (
    Measured,
    Path,
    RouterSide,
    data_packet,
    fcs,
    main,
    measure,
    wire_octets,
)


@pytest.mark.parametrize("framing", ["xot", "hdlc", "hdlcoctet"])
def test_octets_of_the_wire_are_those_that_the_line_charges(engine: Engine, framing: str) -> None:
    draw = random.Random(1)
    units = [data_packet(length, draw) for length in (1, 16, 127, 128, 1024)]
    units.append(data_packet(128, draw)[:7] + b"\xff" * 64 + b"\x7e\x7d" * 32)
    way = {"rate": 10_000_000}
    path = Path(engine, {"directions": [way, way], "framing": framing})
    path.near.sendall(b"".join(units))
    came = 0
    while came < sum(map(len, units)):
        came += len(path.receive()[0])
    assert not isinstance(path.relay, RouterSide)
    carried = json.loads(path.relay.carried())[0]
    path.close()
    assert carried["packets"] == len(units)
    assert carried["octets"] == sum(wire_octets(unit, framing) for unit in units)


def test_the_fcs_of_the_usual_check_string() -> None:
    assert fcs(b"123456789") == 0x906E


@pytest.mark.parametrize("framing", ["xot", "hdlc"])
def test_bursts_are_what_the_queues_hold_and_nothing_is_early(engine: Engine, framing: str) -> None:
    found = measure(engine, 400_000, framing, 0.2, threading.Barrier(1))
    assert not found.error
    assert found.queued == (21, 21)
    assert found.octets_queued[0] == found.octets_queued[1] in (19, 20)
    assert found.megabytes > 0
    # Late is what a busy machine makes it; the line itself is never early.
    assert min(found.delays_ms) > 71


@pytest.mark.parametrize("interface", ["in", "out"])
def test_lines_at_interfaces_of_the_router_carry_the_same(interface: str) -> None:
    way = {"rate": 1_000_000, "delay_ms": 72.0}
    path = Path(interface, {"directions": [way, way], "framing": "hdlc"})
    unit = data_packet(128, random.Random(1))
    begun = time.time()
    path.near.sendall(unit)
    came, at = b"", 0.0
    while len(came) < len(unit):
        octets, at = path.receive()
        came += octets
    path.close()
    assert came == unit
    assert at - begun > 0.071


def test_what_is_off_is_said() -> None:
    right = Measured(9600, 9600.0, 0.0, 1.0, (72.1, 72.2, 90.0), (21, 21), (20, 20))
    assert list(right.problems()) == []
    wrong = Measured(9600, 9700.0, 0.0, 1.0, (75.0, 75.0), (20, 21), (20, 20))
    assert list(wrong.problems()) == [
        "the rate is +1.04% off",
        "the delay is +3.00 ms off",
        "the queue of packets let 20 of a burst pass, and not 21",
    ]


@pytest.mark.parametrize(
    "words", [["--rates", "x"], ["--rates", "0"], ["--rates", ","], ["--seconds", "0"]]
)
def test_bad_usage_is_said(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert f"{words[0]} {words[1]}: " in capsys.readouterr().err

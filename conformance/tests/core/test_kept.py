# SPDX-License-Identifier: GPL-2.0-or-later
"""A router that keeps its connections for the next call (RFC 1613 5), and the seed of races."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scapy_x25 import ClearRequest
from x25shark.links.xot import Unit
from x25shark.results import CaseResult, read_results
from x25shark.sides.side import Side
from x25shark.verdicts import Verdict

from .conftest import x25shark

pytestmark = pytest.mark.usefixtures("namespaces")


def cases(directory: Path, router: str, select: str, *more: str) -> dict[str, CaseResult]:
    arguments = ["--own-namespace", "--router", router, "--select", select, *more]
    done = x25shark("run", *arguments, "--output", str(directory))
    assert done.returncode == 0, done.stdout + done.stderr
    return {case.id: case for case in read_results(directory / "results.json").cases}


def calls_per_connection(case: CaseResult) -> Counter[int]:
    """Incoming Calls at side B, by connection."""
    return Counter(
        packet.connection
        for packet in case.packets
        if packet.side == "B" and packet.text.startswith("Incoming Call")
    )


def test_a_kept_connection_serves_for_the_next_call(tmp_path: Path) -> None:
    found = cases(tmp_path, "reference-basic", "PLP-CLR-04,XOT-TCP-24,XOT-TCP-26,PLP-CALL-20")
    assert all(case.verdict is Verdict.PASS for case in found.values())
    assert max(calls_per_connection(found["PLP-CLR-04"]).values()) > 5
    assert max(calls_per_connection(found["XOT-TCP-24"]).values()) > 1
    # Calls at the same time have connections of their own.
    assert max(calls_per_connection(found["XOT-TCP-26"]).values()) == 1


@pytest.mark.parametrize("the_tester_first", [True, False])
def test_where_both_sides_clear_the_next_call_is_seen(the_tester_first: bool) -> None:
    """X.25 4.1.9: neither confirms, and the call is over."""
    connection: Any = SimpleNamespace(remote=("r", 1), local=("l", 1), received=[])
    bench: Any = SimpleNamespace(
        far_end=SimpleNamespace(echoes=False, without_echo=False),
        last_call=None,
        dte_on_xot=False,
        declared=lambda _item: True,
    )
    side = Side(bench, "B", connection)
    clear = bytes.fromhex("1001130000")

    def from_router(packet: bytes, offset: int) -> None:
        octets = bytes((0, 0, 0, len(packet))) + packet
        connection.on_unit(Unit(offset, octets, 0.0))

    def from_tester() -> None:
        cast(Any, side)._note(ClearRequest(cause=0, diagnostic=0), clear)

    steps: list[Callable[[], None]] = [from_tester, lambda: from_router(clear, 0)]
    for step in steps if the_tester_first else reversed(steps):
        step()
    from_router(bytes.fromhex("10010b00"), 9)
    assert side.next_call == 9


def test_others_open_a_connection_for_each_call(tmp_path: Path) -> None:
    found = cases(tmp_path, "reference", "PLP-CLR-04")
    assert set(calls_per_connection(found["PLP-CLR-04"]).values()) == {1}


def test_the_seed_of_a_race_is_reported(tmp_path: Path) -> None:
    found = cases(tmp_path, "reference", "PLP-RST-08", "--seed", "5")
    (remark,) = found["PLP-RST-08"].remarks
    assert remark.startswith("resets collided in ")
    assert remark.endswith(" of 20 tries (seed 5)")
    assert "--seed 5" in found["PLP-RST-08"].rerun

# SPDX-License-Identifier: GPL-2.0-or-later
"""The two judges over one exchange, and runs of the x25shark command in their own namespace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from x25shark.judges.evidence import FIELDS, EvidenceJudge, filters_of
from x25shark.judges.expectation import Direction, Expectation, Seen, evaluate_all
from x25shark.judges.tester import Received, Stored, StoredUnit, TesterJudge
from x25shark.judges.wireshark import WiresharkJudge

ROOT = Path(__file__).parents[3]
# The builder of small captures lives with the captures of Wireshark's gaps.
sys.path.insert(0, str(ROOT / "dissectors" / "gaps"))

from capture_builder import ACK, FIN, RST, A, B, Connection, pcapng, unit  # noqa: E402

ROUTER, TESTER = ("127.0.25.1", 1998), ("127.0.25.2", 40000)
FROM_ROUTER = Direction(ROUTER, TESTER)


@dataclass
class Exchange:
    """What a router sent on a connection, in segments of several packets, and how it ended it."""

    segments: Sequence[Sequence[bytes]]
    end: str | None = None

    def judge_one(self) -> TesterJudge:
        units, offset = [], 0
        for packet in (p for segment in self.segments for p in segment):
            end = offset + 4 + len(packet)
            units.append(StoredUnit(offset, packet, end, float(offset)))
            offset = end
        stored = Received(Stored(units, [], self.end))
        return TesterJudge({FROM_ROUTER: stored}, {})

    def capture(self) -> bytes:
        made = Connection().open()
        for segment in self.segments:
            made.send(B, b"".join(unit(packet) for packet in segment))
        if self.end is not None:
            made.segment(B, (FIN if self.end == "FIN" else RST) | ACK)
        made.segment(A, FIN | ACK)
        return pcapng(made.frames)


@pytest.fixture(scope="session")
def wireshark() -> Iterator[WiresharkJudge]:
    with WiresharkJudge() as judge:
        yield judge


Judge = Callable[[Exchange, Sequence[Expectation]], tuple[list[Seen], list[Seen]]]


@pytest.fixture
def judge(wireshark: WiresharkJudge) -> Judge:
    """Both judges over the same expectations."""

    def both(
        exchange: Exchange, expectations: Sequence[Expectation]
    ) -> tuple[list[Seen], list[Seen]]:
        filters = filters_of(expectations)
        reading = wireshark.read(exchange.capture(), filters, FIELDS)
        assert not reading.lua_errors
        two = EvidenceJudge(reading, filters)
        return evaluate_all(expectations, exchange.judge_one()), evaluate_all(expectations, two)

    return both


def environment(**changed: str) -> dict[str, str]:
    paths = [str(ROOT / "conformance"), str(ROOT / "scapy_layers")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"} | changed


def x25shark(
    *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command. Its router and tester have a network namespace of their own."""
    return subprocess.run(
        [sys.executable, "-c", "from x25shark.cli import main; main()", *arguments],
        env=env or environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        stdin=subprocess.DEVNULL,
    )


def cases_against_reference(
    directory: Path, profile: str, *options: str
) -> dict[str, dict[str, Any]]:
    """The cases of a run that ends with status 0, by their names. profile: its text."""
    (directory / "mine.toml").write_text(profile, "utf-8")
    report = directory / "report"
    where = ["--router", str(directory / "mine.toml"), "--output", str(report)]
    done = x25shark("run", "--own-namespace", *where, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return {c["id"]: c for c in json.loads((report / "results.json").read_text())["cases"]}


@pytest.fixture(scope="session")
def namespaces() -> None:
    """Tests that need an own network namespace; skipped where the system gives none."""
    test = ["unshare", "-n" if os.geteuid() == 0 else "-Urn", "true"]
    if subprocess.run(test, capture_output=True, check=False).returncode != 0:
        pytest.skip("this system gives no network namespaces")

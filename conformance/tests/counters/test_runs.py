# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole runs: pages that cannot be read, routers that count wrongly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from x25shark.report.terminal import failure_text
from x25shark.results import read_results

HERE = Path(__file__).parent
ROOT = HERE.parents[2]

Verdicts = dict[str, dict[str, list[str]]]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(ROOT / "conformance"), str(ROOT / "scapy_layers")]
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def namespaces() -> None:
    """Skipped where the system gives no network namespaces."""
    test = ["unshare", "-n" if os.geteuid() == 0 else "-Urn", "true"]
    if subprocess.run(test, capture_output=True, check=False).returncode != 0:
        pytest.skip("this system gives no network namespaces")


@pytest.fixture(scope="module")
def found(namespaces: None) -> Verdicts:
    """For each kind of page, verdict and reason of each case."""
    done = python("-m", "tests.counters.run_with_pages")
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts: Verdicts = json.loads(done.stdout)
    return verdicts


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("silent", "no whole answer within 0.4 s"),
        ("slow", "no whole answer within 0.4 s"),
        ("broken", "the answer is not JSON"),
        ("no answer", "no answer"),
    ],
)
def test_a_page_that_cannot_be_read(found: Verdicts, kind: str, reason: str) -> None:
    """INCONCLUSIVE, with the reason, for the cases concerned; nothing else suffers."""
    for identifier, (verdict, said) in found[kind].items():
        if identifier.startswith("SYS-MIB"):
            assert verdict == "INCONCLUSIVE", identifier
            assert "the counters cannot be read: http://127.0.0.1:" in said
            assert reason in said
        else:
            assert verdict == "PASS", (identifier, said)
    assert len(found[kind]) == 8


def test_a_page_that_holds_something_else(found: Verdicts) -> None:
    """There the router has none of the counters that the profile names."""
    verdict, said = found["a list"]["SYS-MIB-01"]
    assert verdict == "FAIL"
    assert "no such counter as calls; the capture shows 5" in said
    assert found["a list"]["PLP-DATA-01"][0] == "PASS"


def test_a_counter_may_come_late_but_must_come(found: Verdicts) -> None:
    assert found["late"]["SYS-MIB-01"] == ["PASS", ""]
    verdict, said = found["standing"]["SYS-MIB-01"]
    assert verdict == "FAIL"
    assert "not counted: calls moved by 0, the capture shows 5" in said


@pytest.mark.parametrize(
    ("fault", "case", "name", "result"),
    [
        ("BUG-MIB-01", "SYS-MIB-02", "call_refusals", "not counted"),
        ("BUG-MIB-02", "SYS-MIB-07", "interrupts_in", "wrong counter moved"),
        ("BUG-MIB-06", "SYS-MIB-03", "calls_out", "no such counter"),
    ],
)
def test_a_router_that_counts_wrongly(
    namespaces: None, tmp_path: Path, fault: str, case: str, name: str, result: str
) -> None:
    """The reading is in results.json, with the count of the capture, and is shown."""
    main = "from x25shark.cli import main; main()"
    done = python(
        "-c", main, "run", "--own-namespace", "--fault", fault, "--select", case, "--output",
        str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    (judged,) = read_results(tmp_path / "results.json").cases
    readings = [e.counter for e in judged.expectations if e.counter is not None]
    wrong = [r for r in readings if r.name == name and r.interface == "router"]
    assert [r.result for r in wrong] == [result]
    assert wrong[0].shown > 0
    assert result in failure_text(judged)
    assert result in (tmp_path / "report.html").read_text()
    assert "Counter" in _comments(tmp_path / "cases" / f"{case}.pcapng")


def _comments(path: Path) -> str:
    """The text of the evidence's first block, which is its header."""
    octets = path.read_bytes()
    length = int.from_bytes(octets[4:8], sys.byteorder)
    return octets[:length].decode("utf-8", "replace")

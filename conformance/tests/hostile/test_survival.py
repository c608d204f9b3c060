# SPDX-License-Identifier: GPL-2.0-or-later
"""Things that happen to the tester itself: the run ends, and the report says what happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from . import stopped
from .conftest import COMMAND, TIMEOUT, Run

CASES = ("--select", "XOT-HDR,PLP-CALL,PLP-CLR")
Begin = Callable[..., Run]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(begin: Begin, number: signal.Signals) -> None:
    """Twice, as timeout(1) does: to the process and to its group."""
    run = begin(*CASES)
    run.wait_for_evidence(3)
    run.process.send_signal(number)
    os.killpg(run.process.pid, number)
    status, results = run.end()
    verdicts = [case["verdict"] for case in results["cases"]]
    assert status == results["exit_status"] == 128 + number
    assert verdicts.count("PASS") >= 3 and "ERROR" not in verdicts
    reasons = [c["reason"] for c in results["cases"] if c["verdict"] == "NOT RUN"]
    assert reasons.count("interrupted") >= 10
    assert (run.report / "report.html").is_file() and (run.report / "junit.xml").is_file()


def test_judge_killed(begin: Begin) -> None:
    """A judge that dies costs one case at most, and the next one is started."""
    run = begin(*CASES, "--judge", "libwireshark")
    run.wait_for_evidence(2)
    os.kill(run.child("x25shark-judge"), signal.SIGKILL)
    status, results = run.end()
    errors = [case for case in results["cases"] if case["verdict"] == "ERROR"]
    assert len(errors) <= 1
    assert all("judge" in case["reason"] for case in errors)
    assert status == (4 if errors else 0)
    assert sum(case["verdict"] == "PASS" for case in results["cases"]) > 40


def test_the_process_that_judges_killed(begin: Begin) -> None:
    """The case that it had in hand is lost, and no other: all else is judged in the tester."""
    run = begin(*CASES)
    run.wait_for_evidence(2)
    os.kill(run.child("x25shark-one"), signal.SIGKILL)
    status, results = run.end()
    errors = [case for case in results["cases"] if case["verdict"] == "ERROR"]
    assert len(errors) <= 1
    assert all("the process that judges died" in case["reason"] for case in errors)
    assert status == (4 if errors else 0)
    passed = [case for case in results["cases"] if case["verdict"] == "PASS"]
    assert len(passed) > 40
    # The purposes about the whole run have no evidence of their own.
    assert all(case["evidence"] for case in passed if case["expectations"])


def test_dumpcap_killed(begin: Begin) -> None:
    """Without a capture there is no PASS; the cases that remain are not even run."""
    run = begin(*CASES)
    run.wait_for_evidence(2)
    os.kill(run.child("dumpcap"), signal.SIGKILL)
    status, results = run.end()
    assert status == 4
    run_cases = [c for c in results["cases"] if c["verdict"] not in ("NOT APPLICABLE", "NOT RUN")]
    assert {case["verdict"] for case in run_cases} == {"ERROR"}
    assert all("capture" in c["reason"] or "evidence" in c["reason"] for c in run_cases)
    assert sum("dumpcap was ended by signal 9" in c["reason"] for c in run_cases) > 10


def test_output_closed(begin: Begin) -> None:
    """x25shark run | head: the run goes on, the report is written."""
    run = begin("--select", "XOT-HDR")
    assert run.process.stdout is not None
    run.process.stdout.close()
    assert run.process.wait(120) == 0
    assert run.errors.read_text() == ""
    assert (run.report / "results.json").is_file()


def test_disk_full(tmp_path: Path) -> None:
    """Evidence that cannot be written is ERROR; the message says what could not be written."""
    script = 'mount -t tmpfs -o size=1500k tmpfs "$0" || exit 99; exec "$@"'
    namespace = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    if subprocess.run([*namespace, "true"], check=False).returncode:
        pytest.skip("no mount namespaces here")
    run = [*COMMAND, "run", "--own-namespace", "--select", "XOT-HDR,PLP-CLR", "--output"]
    done = subprocess.run(
        [*namespace, "sh", "-c", script, str(tmp_path), *run, str(tmp_path / "report")],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 4, done.stderr
    assert "no evidence: " in done.stdout
    assert "the report cannot be written: " in done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(("times", "verdict"), [(0, "PASS"), (1, "PASS"), (2, "INCONCLUSIVE")])
def test_a_tester_that_is_stopped_fails_nobody(times: int, verdict: str, tmp_path: Path) -> None:
    """Stopped once, the case is run again, by the same router; stopped twice, it says nothing."""
    done = subprocess.run(
        [sys.executable, stopped.__file__, str(times), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    ((_, came, reason, remarks),), routers = json.loads(done.stdout)
    assert routers == [[]] * (1 + (times > 0))
    assert came == verdict, reason
    why = "this machine kept the tester away for "
    assert any(r.startswith(f"run a second time: {why}") for r in remarks) is (times > 0)
    assert reason.startswith(why) is (times > 1)

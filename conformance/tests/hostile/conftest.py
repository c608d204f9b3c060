# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the x25shark command that something happens to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-c", "from x25shark.cli import main; main()"]
TIMEOUT = 240.0


def below(process: int) -> Iterator[int]:
    """The processes that a process has started, and what those have."""
    with suppress(OSError):
        for number in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            yield int(number)
            yield from below(int(number))


class Run:
    """One `x25shark run` in a network namespace of its own."""

    def __init__(self, directory: Path, *options: str) -> None:
        self.report = directory / "report"
        self.errors = directory / "errors"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*COMMAND, "run", "--own-namespace", "--output", str(self.report), *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | {"CI": ""},
                start_new_session=True,
            )

    def child(self, name: str) -> int:
        """The process id of a process below the tester, as soon as it is there."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline and self.process.poll() is None:
            for number in below(self.process.pid):
                with suppress(OSError):
                    if Path(f"/proc/{number}/comm").read_text().strip() == name:
                        return number
            time.sleep(0.02)
        raise AssertionError(f"the tester has no child {name}")

    def wait_for_evidence(self, cases: int) -> None:
        """Wait until that many cases have been judged."""
        deadline = time.monotonic() + TIMEOUT
        while len(list(self.report.glob(".run-*/cases/*.pcapng"))) < cases:
            assert self.process.poll() is None, self.errors.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def end(self) -> tuple[int, dict[str, Any]]:
        """Exit status and results.json, when the run has ended by itself."""
        assert self.process.stdout is not None
        self.process.stdout.read()
        status = self.process.wait(TIMEOUT)
        errors = self.errors.read_text()
        assert "Traceback" not in errors, errors
        return status, json.loads((self.report / "results.json").read_text())


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Begin a run; what is left of it at the end of the test is killed."""
    runs: list[Run] = []

    def start(*options: str) -> Run:
        runs.append(Run(tmp_path, *options))
        return runs[-1]

    yield start
    for run in runs:
        with suppress(ProcessLookupError):
            os.killpg(run.process.pid, signal.SIGKILL)
        run.process.wait()
        if run.process.stdout is not None:
            run.process.stdout.close()

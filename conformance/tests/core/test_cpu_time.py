# SPDX-License-Identifier: GPL-2.0-or-later
"""What a busy machine makes a judge wait does not count as its time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from x25shark import cpu_time

HOUR_NS = 3_600_000_000_000


@pytest.fixture()
def statistics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands in for the file of the kernel."""
    path = tmp_path / "schedstat"
    path.write_text("5 7 1\n")
    monkeypatch.setattr(cpu_time, "Path", lambda _: path)
    return path


def test_what_a_process_waited(statistics: Path) -> None:
    statistics.write_text("5 2500000000 1\n")
    assert cpu_time.waited(1) == 2.5


def test_waiting_for_a_processor_does_not_count(statistics: Path) -> None:
    one = cpu_time.TimeLimit(1, 0.0)
    assert one.left() <= 0
    statistics.write_text(f"5 {HOUR_NS} 2\n")
    assert 0 < one.left() <= 3600


def test_running_counts(statistics: Path) -> None:
    one = cpu_time.TimeLimit(1, 0.0)
    statistics.write_text(f"{HOUR_NS} 7 2\n")
    assert one.left() <= 0


@pytest.mark.parametrize("content", ["", "5", "5 x 1", None])
def test_without_the_file_the_clock_decides(statistics: Path, content: str | None) -> None:
    if content is None:
        statistics.unlink()
    else:
        statistics.write_text(content)
    assert cpu_time.TimeLimit(1, 0.0).left() <= 0
    assert 0 < cpu_time.TimeLimit(1, 3600.0).left() <= 3600


def test_a_process_that_ends_and_one_that_does_not() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as quick:
        assert cpu_time.ends_within(quick, 600.0)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as slow:
        assert not cpu_time.ends_within(slow, 0.0)
        slow.kill()

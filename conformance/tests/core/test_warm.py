# SPDX-License-Identifier: GPL-2.0-or-later
"""Routers that are copies of one that has imported everything: as Popen has them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from x25shark.selftest.warm import MODULE, Warm, WarmRouter

COMMAND = [sys.executable, "-P", "-m", MODULE]
CONFIG = 'listen = "127.0.0.1:0"\n'


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    warm = Warm()
    yield warm
    warm.close()


def begun(warm: Warm, folder: Path, *options: str) -> WarmRouter:
    with (folder / "log").open("ab") as log:
        pipe = subprocess.PIPE
        return warm.begin([*COMMAND, *options], stdin=pipe, stdout=pipe, stderr=log)


def test_it_runs_until_its_input_ends(warm: Warm, tmp_path: Path) -> None:
    (tmp_path / "own.router").write_text(CONFIG)
    routers = [
        begun(warm, tmp_path, "--config", str(tmp_path / "own.router"), "--stop-on-eof")
        for _ in range(2)
    ]
    for router in routers:
        assert router.stdout is not None and router.stdin is not None
        said = json.loads(router.stdout.readline())
        assert said["ready"] and said["pid"] == router.pid
    first, second = routers
    assert first.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        first.wait(0)
    assert first.stdin is not None
    first.stdin.close()
    assert first.wait() == 0
    assert second.poll() is None
    second.kill()
    assert second.wait() == -9
    second.terminate()


def test_one_that_does_not_start_says_why(warm: Warm, tmp_path: Path) -> None:
    for options, status, words in (
        (["--fault", "NONE"], 2, "NONE"),
        (["--nonsense"], 2, "unrecognized arguments"),
        (["--config", str(tmp_path / "none")], 2, "none"),
    ):
        router = begun(warm, tmp_path, *options)
        assert router.stdout is not None
        assert router.stdout.read() == b""
        assert router.wait() == status
        assert words in (tmp_path / "log").read_text()

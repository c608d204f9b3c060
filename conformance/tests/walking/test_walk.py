# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark walk: steps, a fault that is found and made short, what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from x25shark.suite.walks.alphabet import ERRORS, Step
from x25shark.suite.walks.walk import drawn, step_of

ROOT = Path(__file__).parents[3]


def walk(*arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(str(ROOT / name) for name in ("conformance", "scapy_layers"))
    return subprocess.run(
        [sys.executable, "-c", "from x25shark.cli import main; main()", "walk", *arguments],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )


def test_a_seed_draws_the_same_steps_again() -> None:
    assert drawn(50, 3, "7/walk", errors=True) == drawn(50, 3, "7/walk", errors=True)
    assert drawn(50, 3, "7/walk", errors=True) != drawn(50, 3, "8/walk", errors=True)
    assert not ERRORS & {step.action for step in drawn(500, 3, "7/walk", errors=False)}


def test_a_step_is_read_as_it_is_printed() -> None:
    for step in drawn(200, 12, "1", errors=True):
        assert step_of(str(step)) == step
    assert step_of("reset 0a 17") == Step("reset", 0, 0, 17)


@pytest.mark.parametrize("line", ["reset 0a", "reset 0c 1", "jump 0a 1", "reset a 1", "reset 0a x"])
def test_what_is_not_a_step_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "walk.txt").write_text(f"# a comment\nplace 0a 1\n{line}\n")
    done = walk("--replay", str(tmp_path / "walk.txt"))
    assert done.returncode == 2
    assert "walk.txt, line 3: not a step" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_needs_two_sides() -> None:
    done = walk("--router", "reference-terminal")
    assert (done.returncode, "needs both sides" in done.stderr) == (2, True)


def test_a_fault_is_found_and_made_short(tmp_path: Path) -> None:
    """Links under the names of its files are replaced, not followed."""
    where = ("--own-namespace", "--output", str(tmp_path))
    for name in ("walk.txt", "walk.pcapng"):
        (tmp_path / name).symlink_to(tmp_path / "other")
    (tmp_path / "other").write_text("precious")
    done = walk("--fault", "BUG-RST-09", "--seed", "1", *where)
    assert done.returncode == 1, done.stdout + done.stderr
    steps = [line for line in (tmp_path / "walk.txt").read_text().splitlines() if line[0] != "#"]
    assert 1 <= len(steps) <= 8
    assert (tmp_path / "walk.pcapng").stat().st_size > 0
    assert (tmp_path / "other").read_text() == "precious"
    replay = ("--replay", str(tmp_path / "walk.txt"), *where)
    assert walk("--fault", "BUG-RST-09", *replay).returncode == 1
    assert walk(*replay).returncode == 0

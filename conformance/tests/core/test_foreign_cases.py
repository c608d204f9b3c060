# SPDX-License-Identifier: GPL-2.0-or-later
"""A file of cases that asks pytest for what no case gets is refused, before anything is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAD = "import pytest\nfrom x25shark.suite.language import Bench, purpose\n\n\n"
FIXTURE = '@purpose("PLP-INT-01")\ndef test_it(bench: Bench, tmp_path: object) -> None:\n    pass\n'
PARAMETERS = (
    '@pytest.mark.parametrize("bench", [1, 2])\n@purpose("PLP-INT-01")\n'
    "def test_it(bench: Bench) -> None:\n    pass\n"
)
UNKNOWN = '@purpose("PLP-INT-99")\ndef test_it(bench: Bench) -> None:\n    pass\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FIXTURE, "test_own.py::test_it: a case takes bench, call or watch, not 'tmp_path'"),
        (PARAMETERS, "test_own.py::test_it[1]: parametrize does not reach a case"),
        (UNKNOWN, "test_own.py::test_it: no purpose 'PLP-INT-99' in the catalogue"),
    ],
    ids=["fixture", "parameters", "unknown"],
)
def test_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(HEAD + text)
    command = [sys.executable, "-m", "pytest", "-q", "test_own.py"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 4
    assert said in done.stderr + done.stdout
    assert not (tmp_path / "x25shark-report").exists()


def test_module() -> None:
    command = [sys.executable, "-m", "x25shark", "--version"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("x25shark")

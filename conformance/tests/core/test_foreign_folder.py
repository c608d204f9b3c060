# SPDX-License-Identifier: GPL-2.0-or-later
"""A run in a folder of somebody else's: no Python file that lies there is executed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TRAPS = ("tty.py", "json.py", "socket.py", "conftest.py", "sitecustomize.py", "scapy.py")


@pytest.mark.parametrize("router", ["reference", "reference-serial"])
def test_what_lies_in_the_folder_is_not_imported(router: str, tmp_path: Path) -> None:
    for name in TRAPS:
        (tmp_path / name).write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').write({name!r})\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    program = Path(sys.executable).with_name("x25shark")
    case = "PLP-RST-01" if router == "reference" else "LAPB-REC-12"
    done = subprocess.run(
        [program, "run", "--router", router, "--select", case, "--output", "report"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()

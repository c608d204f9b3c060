# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the UTScapy campaigns of this folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("campaign", sorted(HERE.glob("*.uts")), ids=lambda path: path.name)
def test_campaign(campaign: Path, tmp_path: Path) -> None:
    """All tests of the campaign pass, and as many ran as it has."""
    done = subprocess.run(
        [sys.executable, "-m", "scapy.tools.UTscapy", "-t", str(campaign), "-f", "text", "-N"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    text = campaign.read_text(encoding="utf-8")
    tests = len(re.findall(r"^= ", text, flags=re.MULTILINE))
    assert tests > 0
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"PASSED={tests} FAILED=0\b", done.stdout + done.stderr), done.stdout

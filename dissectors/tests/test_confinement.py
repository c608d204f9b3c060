# SPDX-License-Identifier: GPL-2.0-or-later
"""What the judge on libwireshark may not do, as the kernel tells it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from x25shark.judges.sandbox import Sandbox
from x25shark.judges.wireshark import WiresharkJudge


def status(pid: int) -> dict[str, str]:
    """/proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_what_it_says_is_in_force_is() -> None:
    with WiresharkJudge() as judge:
        assert judge.process_id is not None
        found = status(judge.process_id)
        # A process that left root is none of an ordinary user's business any more.
        limits = Path(f"/proc/{judge.process_id}/limits").read_text()
        namespaces = [os.readlink(f"/proc/{p}/ns/net") for p in (judge.process_id, "self")]
        confined = judge.confined
    assert "no new privileges" in confined
    assert found["NoNewPrivs"] == "1"
    assert int(found["CapEff"], 16) == int(found["CapPrm"], 16) == 0
    assert "0" not in found["Uid"].split()
    assert ("system calls filtered" in confined) is (found["Seccomp"] == "2")
    assert ("no network" in confined) is (namespaces[0] != namespaces[1])
    assert "limits" in confined
    for line in limits.splitlines():
        if line.startswith(("Max processes", "Max core file size")):
            assert line.split()[-3:-1] == ["0", "0"] or line.split()[-2:] == ["0", "0"], line


def test_the_callers_data_folder_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An init.lua in it would run."""
    (tmp_path / "init.lua").write_text(f'io.open("{tmp_path}/ran", "w"):close()')
    tmp_path.chmod(0o777)
    monkeypatch.setenv("WIRESHARK_DATA_DIR", str(tmp_path))
    sandbox = Sandbox()
    try:
        assert str(tmp_path) not in " ".join(sandbox.environment().values())
    finally:
        sandbox.close()
    with WiresharkJudge():
        pass
    assert not (tmp_path / "ran").exists()


def test_doctor_says_what_is_in_force() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "x25shark.start", "doctor"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    assert "confined: " in done.stdout
    assert "no new privileges" in done.stdout

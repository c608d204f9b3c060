# SPDX-License-Identifier: GPL-2.0-or-later
"""What the judge on libwireshark may not do, as the kernel tells it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from x25shark.judges.sandbox import Sandbox, as_nobody, dissectors_folder
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


def _flags(*packages: str) -> list[str]:
    done = subprocess.run(
        ["pkg-config", "--cflags", "--libs", *packages], capture_output=True, text=True, check=False
    )
    return done.stdout.split() if done.returncode == 0 else []


def test_one_that_was_taken_over_harms_nobody(tmp_path: Path) -> None:
    """Not even what is its user's: an ordinary user's judge runs as that user."""
    filters = _flags("libseccomp")
    if not filters:
        pytest.skip("libseccomp is not there")
    source = dissectors_folder() / "judge"
    program = tmp_path / "taken_over"
    subprocess.run(
        ["gcc", "-Wall", "-Wextra", "-Werror", "-DHAVE_SECCOMP", f"-I{source}", "-o", program,
         Path(__file__).with_name("taken_over.c"), source / "confinement.c",
         source / "privileges.c", *_flags("glib-2.0"), *filters],
        check=True,
    )  # fmt: skip
    prefix, nobody = as_nobody()
    # Those above tmp_path let nobody through.
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([*prefix, "sleep", "600"], **nobody) as other,
    ):
        os.chmod(folder, 0o777)
        file = Path(folder) / "file"
        file.write_text("whole")
        if nobody:
            os.chown(file, nobody["user"], nobody["group"])
        try:
            done = subprocess.run(
                [program, str(other.pid), file], capture_output=True, text=True, check=False
            )
            assert other.poll() is None
        finally:
            other.kill()
        assert file.read_text() == "whole"
    said = dict(line.rsplit(": ", 1) for line in done.stdout.splitlines())
    assert "system calls filtered" in done.stdout
    # Landlock alone keeps it from writing where it may write: not each kernel has it.
    unsure = set() if "no files written" in done.stdout else {"open", "mem"}
    for name in said.keys() - {"in force", "own limit"} - unsure:
        assert said[name] == "refused", done.stdout
    assert {"tgkill", "prlimit", "setxattr", "execve"} <= said.keys()
    assert said["own limit"] == "allowed"
    assert done.returncode == -signal.SIGABRT


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""A run in a folder, or with a home, of somebody else's: no program that lies there is executed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from x25shark.load import wire
from x25shark.run.versions import installed_version

PROGRAM = Path(sys.executable).with_name("x25shark")
TRAPS = ("tty.py", "json.py", "socket.py", "conftest.py", "sitecustomize.py", "scapy.py")


@pytest.mark.parametrize("router", ["reference", "reference-serial"])
def test_what_lies_in_the_folder_is_not_imported(router: str, tmp_path: Path) -> None:
    for name in TRAPS:
        (tmp_path / name).write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').write({name!r})\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    case = "PLP-RST-01" if router == "reference" else "LAPB-REC-12"
    done = subprocess.run(
        [PROGRAM, "run", "--router", router, "--select", case, "--output", "report"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()


def test_nothing_of_the_users_pytest_counts(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    sprung = tmp_path / "sprung"
    (tmp_path / "plugins" / "trap.py").write_text(f"open({str(sprung)!r}, 'w')\n")
    (tmp_path / "report").write_text("--collect-only\n")
    settings = {"PYTEST_PLUGINS": "trap", "PYTEST_ADDOPTS": "--collect-only --no-such-option"}
    paths = [str(tmp_path / "plugins"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [PROGRAM, "run", "--own-namespace", "--select", "PLP-RST-01", "--output", "@report"],
        env=os.environ | settings | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "@report" / "results.json").exists()
    assert not sprung.exists()


def test_no_lua_of_the_home_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do its preferences count; dumpcap reads none, the judges have a home of their own."""
    settings = tmp_path / ".config" / "wireshark"
    settings.mkdir(parents=True)
    (settings / "init.lua").write_text(f"io.open({str(tmp_path / 'sprung')!r}, 'w')\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(settings.parent))
    monkeypatch.setenv("WIRESHARK_CONFIG_DIR", str(settings))
    installed_version.cache_clear()
    assert installed_version()[0].isdigit()
    capture = tmp_path / "empty.pcap"
    capture.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    assert wire.read(wire.Recording(capture), {}).problem == "nothing was seen"
    assert not (tmp_path / "sprung").exists()

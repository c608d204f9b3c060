# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark wireshark: nothing of others is overwritten or removed, and Wireshark loads it."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from x25shark.cli import main
from x25shark.judges.sandbox import as_other_id
from x25shark.setup.wireshark_files import (
    Places,
    WiresharkFilesError,
    bundle,
    files,
    install,
    places,
    status,
    uninstall,
    write_zip,
)
from x25shark.wireshark import command_for


@pytest.fixture
def at(tmp_path: Path) -> Places:
    return places("linux", {"HOME": str(tmp_path)})


def _everything(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_places_of_each_platform(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    plugins = tmp_path / ".local/lib/wireshark/plugins/x25shark.lua"
    for platform in ("linux", "darwin"):
        assert places(platform, home).script == plugins
        assert places(platform, home).configuration == tmp_path / ".config/wireshark"
    (tmp_path / ".wireshark").mkdir()
    assert places("linux", home).configuration == tmp_path / ".wireshark"
    assert (
        places("linux", home | {"XDG_CONFIG_HOME": "/x"}).configuration == tmp_path / ".wireshark"
    )
    windows = places("win32", {"APPDATA": str(tmp_path)})
    assert windows.script == tmp_path / "Wireshark" / "plugins" / "x25shark.lua"
    named = places("linux", home | {"WIRESHARK_CONFIG_DIR": "/c"})
    assert named.profile == Path("/c/profiles/x25shark")
    for platform in ("linux", "win32"):
        with pytest.raises(WiresharkFilesError, match="is not set"):
            places(platform, {})


def test_install_and_uninstall_leave_no_trace(at: Places, tmp_path: Path) -> None:
    at.plugins.mkdir(parents=True)
    (at.plugins / "another.lua").write_text("-- somebody's")
    before = _everything(tmp_path)
    said = install(at)
    assert len(said) == len(files()) == len(status(at))
    assert set(status(at).values()) == {"current"}
    assert all(line.startswith("current") for line in install(at))
    uninstall(at)
    assert _everything(tmp_path) == before
    assert not at.profile.exists()
    assert uninstall(at) == ["nothing of x25shark was there"]


def test_a_file_of_another_is_neither_overwritten_nor_removed(at: Places) -> None:
    at.plugins.mkdir(parents=True)
    at.script.write_text("-- mine")
    with pytest.raises(WiresharkFilesError, match="was not installed by x25shark"):
        install(at)
    assert at.script.read_text() == "-- mine"
    assert not at.profile.exists()
    assert uninstall(at)[0].startswith("kept")
    assert at.script.read_text() == "-- mine"
    install(at, force=True)
    assert at.script.read_text() == bundle()


def test_a_link_is_not_followed(at: Places, tmp_path: Path) -> None:
    target = tmp_path / "target.lua"
    target.write_text(bundle())
    at.plugins.mkdir(parents=True)
    at.script.symlink_to(target)
    with pytest.raises(WiresharkFilesError):
        install(at)
    uninstall(at)
    assert at.script.is_symlink()


def test_what_the_user_changed_stays(at: Places) -> None:
    install(at)
    preferences = at.profile / "preferences"
    preferences.write_text("mine")
    assert status(at)[preferences] == "changed"
    assert any(line.startswith("kept") for line in install(at))
    uninstall(at)
    assert preferences.read_text() == "mine"
    assert status(at)[preferences] == "changed"  # and is known yet
    uninstall(at, force=True)
    assert not at.profile.exists()


def test_an_older_version_is_replaced(at: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    new = bundle()
    monkeypatch.setattr("x25shark.setup.wireshark_files.bundle", lambda: "-- version 0")
    install(at)
    monkeypatch.undo()
    assert status(at)[at.script] == "older"
    assert f"replaced {at.script}" in install(at)
    assert at.script.read_text() == new


@pytest.mark.parametrize("note", ["", "[]", "{", '{"files": 3}', '{"files": {"../x": "y"}}'])
def test_a_note_that_is_none_says_nothing(at: Places, note: str) -> None:
    install(at)
    at.note.write_text(note)
    at.script.write_text("-- changed")
    assert status(at)[at.script] == "foreign"


def test_wireshark_loads_the_one_file(at: Places, tmp_path: Path) -> None:
    """Without the folder of its modules, and for every user setting of an empty HOME."""
    install(at)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        ["tshark", "-G", "protocols"], env=environment, capture_output=True, text=True, check=True
    )
    names = [line.split("\t")[2] for line in done.stdout.splitlines()]
    assert {"xots", "x25s", "x25t", "hdlcs", "lapbs"} <= set(names)
    assert "error" not in done.stderr.lower()


def test_the_zip_holds_the_same_and_is_the_same(tmp_path: Path) -> None:
    """A link in its place is replaced, not followed."""
    one, two, other = tmp_path / "one.zip", tmp_path / "two.zip", tmp_path / "other"
    other.write_text("precious")
    two.symlink_to(other)
    write_zip(one)
    write_zip(two)
    assert other.read_text() == "precious"
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as found:
        names = found.namelist()
        assert found.read("x25shark-wireshark/plugins/x25shark.lua").decode() == bundle()
    assert "x25shark-wireshark/profiles/x25shark/colorfilters" in names
    assert len(names) == len(files()) + 1


def test_the_command_says_what_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("WIRESHARK_CONFIG_DIR", raising=False)
    runner = CliRunner()
    done = runner.invoke(main, ["wireshark", "status"])
    assert done.exit_code == 1
    assert done.output.startswith("not installed: x25shark wireshark install\n")
    assert "as root" not in done.output
    done = runner.invoke(main, ["wireshark", "install"])
    assert done.exit_code == 0
    assert "loads it" in done.output and "does not" not in done.output
    assert runner.invoke(main, ["wireshark", "status"]).exit_code == 0
    (tmp_path / ".local/lib/wireshark/plugins/x25shark.lua").unlink()
    (tmp_path / ".local/lib/wireshark/plugins/x25shark.lua").mkdir()
    done = runner.invoke(main, ["wireshark", "install"])
    assert done.exit_code == 2
    assert done.output.count("\n") == 1


def test_root_opens_a_capture_as_another_id(tmp_path: Path) -> None:
    """Wireshark from 4.4 on runs no Lua as root. What only root may read is read all the same."""
    capture = tmp_path / "private.pcapng"
    capture.write_text("of one only")
    capture.chmod(0o600)
    program = tmp_path / "wireshark"
    program.write_text('#!/bin/sh\nid -u\nfor last in "$@"; do :; done\ncat "$last"\n')
    program.chmod(0o755)
    with command_for(str(program), capture) as (command, environment):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    identity, content = done.stdout.splitlines()
    assert content == "of one only"
    assert (identity == "0") == (as_other_id() is None)


@pytest.mark.parametrize("kind", ["nested", "pipe", "folder"])
def test_a_note_that_cannot_be_read_says_nothing(at: Places, kind: str) -> None:
    """Deeply nested, or nothing that can be read to its end: as if there was no note."""
    install(at)
    at.note.unlink()
    if kind == "nested":
        at.note.write_text("[" * 60_000)
    elif kind == "pipe":
        os.mkfifo(at.note)
    else:
        at.note.mkdir()
    assert set(status(at).values()) == {"current"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look anywhere")
def test_a_folder_that_may_not_be_looked_into_is_one_line(at: Places) -> None:
    at.plugins.mkdir(parents=True)
    at.plugins.chmod(0)
    try:
        for what in (status, install, uninstall):
            with pytest.raises(WiresharkFilesError, match="Permission denied"):
                what(at)
    finally:
        at.plugins.chmod(0o700)

# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark wireshark: nothing of others is overwritten or removed, and Wireshark loads it."""

from __future__ import annotations

import hashlib
import json
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
from x25shark.wireshark import command_for, tshark_words


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


def _rewritten(text: str) -> str:
    """Preferences as Wireshark writes them: in words of its own, its defaults in comments."""
    lines = ["# Configuration file for Wireshark 4.0.17.", "", "gui.column.hidden: "]
    lines.append("gui.qt.font_name: DejaVu Sans Mono,9,-1,5,50,0,0,0,0,0")
    for line in text.splitlines():
        if line.startswith("x25.reassemble"):
            lines += ["", "# TRUE or FALSE (case-insensitive)", "x25.reassemble: false"]
        elif line.startswith("xots.ports"):
            continue  # the dissector was not loaded
        elif not line.startswith("#"):
            lines.append(line.replace("gui.column.format:", "gui.column.format: "))
    return "\n".join([*lines, "#udp.check_checksum: TRUE", ""])


def test_what_wireshark_writes_anew_is_not_the_users(at: Places) -> None:
    """The window's state whenever it ends, and settings that are equal in other words."""
    install(at)
    recent, preferences = at.profile / "recent", at.profile / "preferences"
    recent.write_text("# Recent settings file for Wireshark 4.0.17.\ngui.geometry_main_x: 20\n")
    preferences.write_text(_rewritten(preferences.read_text()))
    assert {status(at)[path] for path in (recent, preferences)} == {"rewritten"}
    kept = recent.read_text()
    install(at)
    assert recent.read_text() == kept
    (at.profile / "decode_as_entries").write_text("# regenerated each time\n\n")
    uninstall(at)
    assert not at.profile.exists()


def test_decode_as_of_the_user_stays(at: Places) -> None:
    install(at)
    entries = at.profile / "decode_as_entries"
    entries.write_text("# regenerated each time\ndecode_as_entry: tcp.port,1999,(none),xots\n")
    uninstall(at)
    assert [path.name for path in at.profile.iterdir()] == [entries.name]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("preferences", "x25.reassemble: false", "#x25.reassemble: TRUE"),
        ("preferences", "gui.column.hidden: ", 'gui.column.hidden: "%m"'),
        ("preferences", '"Time", "%t",', ""),
        ("dfilters", '"X.25 packets" x25s\n', ""),
        ("dfilter_buttons", "Bad frames", "Good frames"),
    ],
)
def test_a_setting_of_the_user_is_a_change(at: Places, name: str, old: str, new: str) -> None:
    install(at)
    path = at.profile / name
    text = path.read_text()
    text = _rewritten(text) if name == "preferences" else f"# Wireshark's\n{text}"
    assert old in text
    path.write_text(text)
    assert status(at)[path] == "rewritten"
    path.write_text(text.replace(old, new))
    assert status(at)[path] == "changed"
    uninstall(at)
    assert path.read_text() == text.replace(old, new)
    uninstall(at, force=True)
    assert not at.profile.exists()


def _with_dropped(monkeypatch: pytest.MonkeyPatch, at: Places) -> Path:
    """Installed by a version that had a file more, and other texts."""
    old = {name: f"{text}\n# older\n" for name, text in files().items()}
    old["profile/dropped"] = "what a later version has no more\n"
    monkeypatch.setattr("x25shark.setup.wireshark_files.files", lambda: old)
    install(at)
    monkeypatch.undo()
    return at.profile / "dropped"


def test_what_a_later_version_drops_is_removed(at: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped = _with_dropped(monkeypatch, at)
    preferences, recent = at.profile / "preferences", at.profile / "recent"
    preferences.write_text(_rewritten(preferences.read_text()))
    recent.write_text("gui.geometry_main_x: 20\n")
    assert set(status(at).values()) == {"older"}
    assert any(line.startswith(f"removed  {dropped}") for line in install(at))
    assert not dropped.exists()
    assert dropped not in status(at)
    assert set(status(at).values()) == {"current"}


def test_what_a_later_version_drops_is_uninstalled(
    at: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_dropped(monkeypatch, at)
    uninstall(at)
    assert not at.profile.exists()
    dropped = _with_dropped(monkeypatch, at)
    dropped.write_text("mine")
    for _ in range(2):
        assert any(line.startswith(f"kept     {dropped}") for line in install(at))
    uninstall(at)
    assert dropped.read_text() == "mine"
    uninstall(at, force=True)
    assert not at.profile.exists()


def test_a_note_names_nothing_outside(at: Places, tmp_path: Path) -> None:
    install(at)
    precious = at.configuration / "preferences"
    precious.write_text("precious")
    note = json.loads(at.note.read_text())
    for name in ("profile/../../preferences", f"profile/{at.note.name}", "/etc/passwd"):
        note["files"][name] = hashlib.sha256(b"precious").hexdigest()
    at.note.write_text(json.dumps(note))
    uninstall(at)
    assert precious.read_text() == "precious"
    assert not at.profile.exists()


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


def test_who_has_it_installed_may_name_it_too(at: Places, tmp_path: Path) -> None:
    """As x25shark open does, and the command that it says where there is no display."""
    install(at)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    capture = sorted((Path(__file__).parents[3] / "pcaps").glob("PLP-CALL-01*"))[0]
    done = subprocess.run(
        tshark_words(capture), env=environment, capture_output=True, text=True, check=True
    )
    assert "Call Request LCN 1 to" in done.stdout
    assert "Lua" not in done.stderr


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


@pytest.mark.parametrize(("version", "blamed"), [("4.0.17", False), ("4.4.5", True)])
def test_a_foreign_dissector_is_why_none_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, blamed: bool
) -> None:
    """And that root gets none is said of a Wireshark that is so."""
    at = places("linux", {"HOME": str(tmp_path)})
    tshark = tmp_path / "bin" / "tshark"
    tshark.parent.mkdir()
    tshark.write_text(f'#!/bin/sh\n[ "$1" != --version ] || echo "TShark (Wireshark) {version}."\n')
    tshark.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tshark.parent), prepend=os.pathsep)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("WIRESHARK_CONFIG_DIR", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    runner = CliRunner()
    at.plugins.mkdir(parents=True)
    at.script.write_text("-- mine")
    said = runner.invoke(main, ["wireshark", "status"]).output
    assert f"does not load it: {at.script} is not x25shark's" in said
    assert "as root" not in said
    at.script.unlink()
    install(at)
    said = runner.invoke(main, ["wireshark", "status"]).output
    assert "does not load it" in said
    assert ("as root" in said) is blamed


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""The surroundings in which Wireshark reads a capture: nobody's settings, readable by anyone.

The folder holds a copy of the Lua dissector (a judge that has left root could not read the
original), an empty home and configuration, and a data folder without the tables of makers,
enterprises and services: libwireshark 4.0 reads them again with every capture, which costs 10 to
30 ms and, for makers and services, 11 MB.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..temporary import TemporaryError, TemporaryFolder
from .reading import JudgeError

# The user and group that a judge started by root becomes.
NOBODY = 65534
DATA_FOLDERS = ("/usr/share/wireshark", "/usr/local/share/wireshark")
# A prefix under which root is another id that may still read what is root's.
_OTHER_ID = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}")
TABLES_LEFT_EMPTY = frozenset({"enterprises.tsv", "manuf", "services", "wka"})
_XOT_PORT = 1998
# Tells the dissector that the C judge reads, which wants to know less of it than tshark.
RESIDENT = {"X25SHARK_RESIDENT": "1"}
KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")


def as_nobody() -> tuple[list[str], dict[str, Any]]:
    """A command prefix and Popen arguments to leave root, if this is root."""
    if os.geteuid() != 0:
        return [], {}
    nobody: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        subprocess.run(["true"], **nobody, check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError):
        # A user namespace that maps one id only: show that id as another inside a nested one.
        return list(_OTHER_ID), {}
    return [], nobody


def as_other_id() -> list[str] | None:
    """A command prefix for programs that do not do for root what they do for others.

    Wireshark from 4.4 on runs no Lua as root. What is root's stays readable. Empty if this is not
    root, None where no user namespace can be had.
    """
    if os.geteuid() != 0:
        return []
    try:
        subprocess.run([*_OTHER_ID, "true"], check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return list(_OTHER_ID)


def dissectors_folder() -> Path:
    """The folder `dissectors`, installed with the package or in the source tree.

    X25SHARK_DISSECTORS names another one. Raises JudgeError if there is none.
    """
    here = Path(__file__).resolve()
    candidates = [here.parents[1] / "dissectors", here.parents[3] / "dissectors"]
    if named := os.environ.get("X25SHARK_DISSECTORS"):
        candidates.insert(0, Path(named))
    for folder in candidates:
        if (folder / "lua" / "x25shark.lua").is_file():
            return folder
    raise JudgeError("start", f"the Lua dissector is not in {' or '.join(map(str, candidates))}")


def xot_ports_preference(ports: Iterable[int]) -> str:
    """The line of Wireshark's preferences by which the dissector takes 1998 and these TCP ports."""
    return f"xots.ports: {','.join(map(str, sorted({_XOT_PORT, *ports})))}\n"


def _lay_out_data(target: Path) -> bool:
    """A data folder of links to Wireshark's own. False if Wireshark's own is not where expected."""
    for source in map(Path, DATA_FOLDERS):
        if not source.is_dir():
            continue
        target.mkdir()
        for entry in source.iterdir():
            if entry.name in TABLES_LEFT_EMPTY:
                (target / entry.name).touch()
            else:
                (target / entry.name).symlink_to(entry)
        return True
    return False


class Sandbox:
    """A temporary folder with all of it; close() removes it. xot_ports: besides 1998."""

    def __init__(self, xot_ports: Iterable[int] = ()) -> None:
        try:
            self._temporary = TemporaryFolder("judge")
        except TemporaryError as error:
            raise JudgeError("start", str(error)) from None
        self.folder = self._temporary.path
        try:
            self._fill(xot_ports)
        except OSError as error:
            self.close()
            why = error.strerror or error
            where = self.folder.parent
            raise JudgeError("start", f"no room for the judge's files in {where}: {why}") from None
        except BaseException:
            self.close()
            raise

    def _fill(self, xot_ports: Iterable[int]) -> None:
        for name in ("home", "config"):
            (self.folder / name).mkdir()
        (self.folder / "config" / "preferences").write_text(xot_ports_preference(xot_ports))
        source = dissectors_folder() / "lua"
        for entry in [source / "x25shark.lua", *sorted((source / "x25shark").glob("*.lua"))]:
            copy = self.folder / "lua" / entry.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(entry, copy)
        self.has_data = _lay_out_data(self.folder / "data")
        for parent, folders, files in os.walk(self.folder):
            for name in folders:
                if not (Path(parent) / name).is_symlink():
                    (Path(parent) / name).chmod(0o755)
            for name in files:
                if not (Path(parent) / name).is_symlink():
                    (Path(parent) / name).chmod(0o644)
        # Where the judge becomes nobody it is still for nobody else.
        with contextlib.suppress(OSError):
            os.chown(self.folder, -1, NOBODY)
            self.folder.chmod(0o750)

    @property
    def lua(self) -> Path:
        """The file to give to Wireshark as lua_script."""
        return self.folder / "lua" / "x25shark.lua"

    def environment(self) -> dict[str, str]:
        """The whole environment of the judge: nothing of the caller's settings comes in."""
        variables = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        variables |= {
            "HOME": str(self.folder / "home"),
            "WIRESHARK_CONFIG_DIR": str(self.folder / "config"),
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            # User data stays user data: what a router sends must not choose further dissectors.
            "X25SHARK_BUILTIN_PAYLOAD": "0",
            # Nobody reads columns, or texts of the tree.
            "X25SHARK_WORDS": "0",
        }
        if self.has_data:
            variables["WIRESHARK_DATA_DIR"] = str(self.folder / "data")
        return variables

    def close(self) -> None:
        """Remove the folder."""
        self._temporary.close()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Dissector and profile in the user's own Wireshark: put there, taken away, looked at.

Wireshark runs every Lua file below its plugin folder, so the dissector goes there as one file, its
modules inside. What was written is noted with digests beside the profile: a file that the user
changed, or that somebody else put there, is never overwritten nor removed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..judges.sandbox import dissectors_folder
from ..results import write_whole

PROFILE = "x25shark"
SCRIPT = "x25shark.lua"
NOTE = "x25shark-installed.json"
_MOST_NOTE = 65_536
_LONGEST_FILE = 4_000_000
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)

INSTRUCTIONS = f"""x25shark {__version__}: strict dissector and profile for Wireshark 4.0 and later.

In Wireshark: Help > About Wireshark > Folders.
Copy plugins/{SCRIPT} into the folder "Personal Lua Plugins", and the folder
profiles/{PROFILE} into the folder profiles below "Personal configuration". Start
Wireshark again, and choose the profile {PROFILE} (Edit > Configuration Profiles).
"""


class WiresharkFilesError(Exception):
    """What is in the way, and where."""


@dataclass(frozen=True)
class Places:
    """Where Wireshark looks for files of a user."""

    plugins: Path
    configuration: Path

    @property
    def script(self) -> Path:
        return self.plugins / SCRIPT

    @property
    def profile(self) -> Path:
        return self.configuration / "profiles" / PROFILE

    @property
    def note(self) -> Path:
        return self.profile / NOTE


def places(platform: str = sys.platform, environment: Mapping[str, str] | None = None) -> Places:
    """The places on this platform, as Wireshark 4.0 to 4.6 finds them.

    Raises WiresharkFilesError where the environment does not say them.
    """
    env = os.environ if environment is None else environment
    if platform == "win32":
        if not env.get("APPDATA"):
            raise WiresharkFilesError("APPDATA is not set, so Wireshark's folder is not known")
        configuration = Path(env.get("WIRESHARK_CONFIG_DIR") or Path(env["APPDATA"]) / "Wireshark")
        return Places(configuration / "plugins", configuration)
    if not env.get("HOME"):
        raise WiresharkFilesError("HOME is not set, so Wireshark's folder is not known")
    home = Path(env["HOME"])
    modern = Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "wireshark"
    old = home / ".wireshark"
    found = old if old.is_dir() and not modern.is_dir() else modern
    configuration = Path(env.get("WIRESHARK_CONFIG_DIR") or found)
    return Places(home / ".local" / "lib" / "wireshark" / "plugins", configuration)


def bundle() -> str:
    """The dissector as one file: its modules first, each under the name it is required by."""
    folder = dissectors_folder() / "lua"
    parts = [
        "-- SPDX-License-Identifier: GPL-2.0-or-later",
        f"-- x25shark {__version__}: the strict X.25 dissector in one file, made from its modules.",
        "-- luacheck: ignore",
    ]
    for module in sorted((folder / "x25shark").glob("*.lua")):
        name = f"x25shark.{module.stem}"
        parts.append(f'package.preload["{name}"] = function(...)')
        parts.append(module.read_text().rstrip())
        parts.append("end")
    main = (folder / SCRIPT).read_text()
    # The modules are inside: no folder beside the file is looked into.
    main = re.sub(r"(?m)^ *local folder = .*\n *package\.path = .*\n", "", main)
    return "\n".join([*parts, main])


def files() -> dict[str, str]:
    """Everything that is installed, by its place: script, or profile/NAME."""
    found = {"script": bundle()}
    for path in sorted((dissectors_folder() / "profile" / PROFILE).iterdir()):
        found[f"profile/{path.name}"] = path.read_text()
    return found


def _target(name: str, at: Places) -> Path:
    return at.script if name == "script" else at.profile / name.removeprefix("profile/")


def _digest(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()


def _noted(at: Places) -> dict[str, str]:
    """Names and digests of what an earlier install wrote; a note that is none says nothing."""
    try:
        if not at.note.is_file() or at.note.stat().st_size > _MOST_NOTE:
            return {}
        found = json.loads(at.note.read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    written = found.get("files") if isinstance(found, dict) else None
    if not isinstance(written, dict):
        return {}
    known = set(files())
    return {k: v for k, v in written.items() if k in known and isinstance(v, str)}


def _state(path: Path, digest: str | None, wanted: str) -> str:
    """What stands at a place: absent, current, older, changed (by the user) or foreign."""
    if path.is_symlink():
        return "foreign"
    if not path.exists():
        return "absent"
    if not path.is_file() or path.stat().st_size > _LONGEST_FILE:
        return "foreign"
    found = _digest(path.read_bytes())
    if found == _digest(wanted.encode()):
        return "current"
    if digest is None:
        return "foreign"
    return "older" if found == digest else "changed"


def status(at: Places) -> dict[Path, str]:
    """Each file that belongs there, and what stands there. Raises WiresharkFilesError."""
    noted = _noted(at)
    try:
        return {
            _target(name, at): _state(_target(name, at), noted.get(name), text)
            for name, text in files().items()
        }
    except OSError as error:
        raise WiresharkFilesError(f"{error.filename}: {error.strerror or error}") from error


_BLAMED = {"foreign": "was not installed by x25shark", "changed": "was changed since"}


def install(at: Places, *, force: bool = False) -> list[str]:
    """Put everything in its place. Returns what was done, in words.

    Without `force` a file that the user changed stays, and nothing at all is written where a file
    is not x25shark's. Raises WiresharkFilesError.
    """
    found = status(at)
    foreign = [path for path, state in found.items() if state == "foreign"]
    if foreign and not force:
        raise WiresharkFilesError(
            f"{foreign[0]} was not installed by x25shark; move it away, or overwrite it with "
            "--force"
        )
    noted, said = _noted(at), []
    try:
        for name, text in files().items():
            path = _target(name, at)
            state = found[path]
            if state == "changed" and not force:
                said.append(f"kept     {path}: it was changed since; --force overwrites it")
                continue
            noted[name] = _digest(text.encode())
            if state == "current":
                said.append(f"current  {path}")
                continue
            write_whole(path, text)
            said.append(f"{'wrote' if state == 'absent' else 'replaced':8} {path}")
        note = {"x25shark": __version__, "files": noted}
        write_whole(at.note, json.dumps(note, indent=1) + "\n")
    except OSError as error:
        raise WiresharkFilesError(f"{error.filename}: {error.strerror or error}") from error
    return said


def uninstall(at: Places, *, force: bool = False) -> list[str]:
    """Take away what `install` put there and nobody changed; `force`: changed files too.

    Raises WiresharkFilesError.
    """
    noted, said, stays = _noted(at), [], False
    try:
        for name, text in files().items():
            path = _target(name, at)
            state = _state(path, noted.get(name), text)
            if state == "absent":
                continue
            if state == "foreign" or (state == "changed" and not force):
                said.append(f"kept     {path}: it {_BLAMED[state]}")
                stays = stays or state == "changed"
                continue
            path.unlink()
            said.append(f"removed  {path}")
        if not stays:
            at.note.unlink(missing_ok=True)
        if at.profile.is_dir() and not any(at.profile.iterdir()):
            at.profile.rmdir()
            said.append(f"removed  {at.profile}")
        elif at.profile.is_dir():
            said.append(f"kept     {at.profile}: other files are in it")
    except OSError as error:
        raise WiresharkFilesError(f"{error.filename}: {error.strerror or error}") from error
    return said or ["nothing of x25shark was there"]


def write_zip(path: Path) -> None:
    """The same for those without Python, with how to install it; equal files make an equal zip.

    Raises OSError.
    """
    named = {"README.txt": INSTRUCTIONS}
    for name, text in files().items():
        inside = name.replace("profile/", f"profiles/{PROFILE}/", 1)
        named[f"plugins/{SCRIPT}" if name == "script" else inside] = text
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in sorted(named.items()):
            member = zipfile.ZipInfo(f"x25shark-wireshark/{name}", _ZIP_DATE)
            member.external_attr = 0o644 << 16
            made.writestr(member, text, zipfile.ZIP_DEFLATED)
    write_whole(path, whole.getvalue())

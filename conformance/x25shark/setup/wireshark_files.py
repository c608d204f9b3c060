# SPDX-License-Identifier: GPL-2.0-or-later
"""Dissector and profile in the user's own Wireshark: put there, taken away, looked at.

Wireshark runs every Lua file below its plugin folder, so the dissector goes there as one file, its
modules inside. What was written is noted beside the profile: a file that the user changed, or that
somebody else put there, is never overwritten nor removed. Wireshark writes its window's state
into the profile, and settings in words of its own: that is no change of the user's.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..judges.sandbox import dissectors_folder
from ..results import write_whole

PROFILE = "x25shark"
SCRIPT = "x25shark.lua"
NOTE = "x25shark-installed.json"
# Wireshark writes the widths of the columns and the window's state here whenever it ends.
_STATE_OF_WINDOW = "profile/recent"
# Settings that it writes of itself with the first one that is saved, whatever they are.
_OF_ITSELF = frozenset({"gui.qt.font_name"})
# Files that it adds to a profile with nothing but comments in them.
_ADDED = ("decode_as_entries", "disabled_protos", "enabled_protos", "heuristic_protos")
_MOST_NOTE = 262_144
_NAME = re.compile(r"script|profile/[A-Za-z0-9][A-Za-z0-9_.-]{0,60}")
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


@dataclass(frozen=True)
class _Noted:
    """What an earlier install wrote, by name: digests, and the texts of the profile."""

    digests: Mapping[str, str]
    texts: Mapping[str, str]

    def names(self) -> list[str]:
        """Of this version and of earlier ones, which may have had others."""
        return [*files(), *(name for name in self.digests if name not in files())]


def _words(found: object) -> dict[str, str]:
    """The names and words of a part of a note; one that is none says nothing."""
    if not isinstance(found, dict):
        return {}
    own = f"profile/{NOTE}"
    return {
        name: word
        for name, word in found.items()
        if _NAME.fullmatch(name) and name != own and isinstance(word, str)
    }


def _noted(at: Places) -> _Noted:
    try:
        if not at.note.is_file() or at.note.stat().st_size > _MOST_NOTE:
            return _Noted({}, {})
        found = json.loads(at.note.read_text())
    except (OSError, ValueError, RecursionError):
        return _Noted({}, {})
    if not isinstance(found, dict):
        return _Noted({}, {})
    return _Noted(_words(found.get("files")), _words(found.get("texts")))


def _settings(text: str) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Settings, those in a comment (Wireshark writes defaults so), and other lines, in order."""
    kept, defaults, lines = dict[str, str](), dict[str, str](), list[str]()
    # A line that begins with white space goes on with the one before it.
    for line in re.sub(r"\n[ \t]+", " ", text).splitlines():
        setting = re.fullmatch(r"(#?)([a-z0-9_]+(?:\.[a-zA-Z0-9_-]+)+):(.*)", line)
        if setting:
            value = re.sub(r"\s+", "", setting[3]).lower()
            (defaults if setting[1] else kept)[setting[2]] = value
        elif line.strip() and not line.startswith("#"):
            lines.append(" ".join(line.split()))
    return kept, defaults, lines


def _same_meaning(found: str, ours: str) -> bool:
    """Whether Wireshark, and nobody else, has written our file anew: equal settings and lines."""
    kept, defaults, lines = _settings(found)
    wanted, _, own_lines = _settings(ours)
    return (
        lines == own_lines
        and all(wanted.get(n, "") == value for n, value in kept.items() if n not in _OF_ITSELF)
        and all(defaults.get(name, value) == value for name, value in wanted.items())
    )


def _state(name: str, at: Places, noted: _Noted, wanted: str | None) -> str:
    """What stands at a place: absent, current, older, rewritten, changed or foreign.

    rewritten: by Wireshark; changed: by the user. `wanted` is None for a file that this version
    has no more.
    """
    path = _target(name, at)
    if path.is_symlink():
        return "foreign"
    if not path.exists():
        return "absent"
    if not path.is_file() or path.stat().st_size > _LONGEST_FILE:
        return "foreign"
    octets = path.read_bytes()
    new = None if wanted is None else _digest(wanted.encode())
    if _digest(octets) == new:
        return "current"
    of_window = name == _STATE_OF_WINDOW and noted.digests
    if name not in noted.digests:
        return "older" if of_window else "foreign"
    if _digest(octets) == noted.digests[name]:
        return "older"
    text = noted.texts.get(name)
    found = octets.decode(errors="replace")
    if not (of_window or (text is not None and _same_meaning(found, text))):
        return "changed"
    return "rewritten" if noted.digests[name] == new else "older"


def _states(at: Places, noted: _Noted) -> dict[str, str]:
    texts = files()
    found = {name: _state(name, at, noted, texts.get(name)) for name in noted.names()}
    # A name that this version does not have: what is not there, or another's, is not looked at.
    return {k: v for k, v in found.items() if k in texts or v not in {"absent", "foreign"}}


def status(at: Places) -> dict[Path, str]:
    """Each file that belongs there, and what stands there. Raises WiresharkFilesError."""
    try:
        return {_target(name, at): state for name, state in _states(at, _noted(at)).items()}
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
    noted, said, texts = _noted(at), [], files()
    digests, written = dict(noted.digests), dict(noted.texts)
    try:
        for name, state in _states(at, noted).items():
            path, text = _target(name, at), texts.get(name)
            if state == "changed" and not force:
                said.append(f"kept     {path}: it was changed since; --force overwrites it")
                continue
            if text is None:
                path.unlink()
                said.append(f"removed  {path}: this version has none")
                continue
            digests[name] = _digest(text.encode())
            if name != "script":
                written[name] = text
            if state == "current" or (state == "rewritten" and not force):
                said.append(f"current  {path}")
                continue
            write_whole(path, text)
            said.append(f"{'wrote' if state == 'absent' else 'replaced':8} {path}")
        # A dropped file that the user changed stays known, so that it can be removed yet.
        there = {name for name in digests if name in texts or _target(name, at).is_file()}
        note = {
            "x25shark": __version__,
            "files": {name: digests[name] for name in digests if name in there},
            "texts": {name: written[name] for name in written if name in there},
        }
        write_whole(at.note, json.dumps(note, indent=1) + "\n")
    except OSError as error:
        raise WiresharkFilesError(f"{error.filename}: {error.strerror or error}") from error
    return said


def _added_without_content(at: Places) -> Iterator[Path]:
    for path in map(at.profile.joinpath, _ADDED):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _LONGEST_FILE:
            lines = path.read_text(errors="replace").splitlines()
            if all(line.startswith("#") or not line.strip() for line in lines):
                yield path


def uninstall(at: Places, *, force: bool = False) -> list[str]:
    """Take away what `install` put there and nobody changed; `force`: changed files too.

    Raises WiresharkFilesError.
    """
    said, stays = [], False
    noted = _noted(at)
    try:
        for name, state in _states(at, noted).items():
            path = _target(name, at)
            if state == "absent":
                continue
            if state == "foreign" or (state == "changed" and not force):
                said.append(f"kept     {path}: it {_BLAMED[state]}")
                stays = stays or state == "changed"
                continue
            path.unlink()
            said.append(f"removed  {path}")
        for path in _added_without_content(at) if noted.digests else ():
            path.unlink()
            said.append(f"removed  {path}")
        if stays:
            said.append(f"kept     {at.note}: by it uninstall --force knows what was changed")
        else:
            at.note.unlink(missing_ok=True)
        if at.profile.is_dir() and not any(at.profile.iterdir()):
            at.profile.rmdir()
            said.append(f"removed  {at.profile}")
        elif at.profile.is_dir() and not stays:
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

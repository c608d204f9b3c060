# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the C judge comes from: installed, named by X25SHARK_JUDGE, or built into a cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .reading import JudgeError
from .sandbox import dissectors_folder

NAME = "x25shark-judge"
PACKAGES = ("wireshark", "json-glib-1.0")
BUILD_SECONDS = 300.0
TO_TYPE = (
    "sudo apt-get install gcc make pkg-config libwireshark-dev libwiretap-dev "
    "libjson-glib-dev libseccomp-dev"
)


def _cannot(why: str) -> JudgeError:
    """The judge cannot be built: why, and what to type on Debian and Ubuntu."""
    return JudgeError(
        "start", f"the C judge cannot be built: {why}. On Debian and Ubuntu: {TO_TYPE}"
    )


def _need(*tools: str) -> None:
    """Raises JudgeError with those that are not installed."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        raise _cannot(f"not installed: {', '.join(missing)}")


def _version(package: str) -> str:
    _need("pkg-config")
    answer = subprocess.run(
        ["pkg-config", "--modversion", package], capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        raise _cannot(f"the development files of {package} are missing")
    return answer.stdout.strip()


def _optional(package: str) -> str:
    """The version of what the judge is built with if it is there."""
    try:
        return _version(package)
    except JudgeError:
        return "none"


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "x25shark"


def build(target: str = "all", name: str = NAME) -> Path:
    """Build the judge once for these sources and this libwireshark; return its path.

    Raises JudgeError with what the compiler said.
    """
    source = dissectors_folder() / "judge"
    if not (source / "Makefile").is_file():
        raise JudgeError("start", f"the C judge cannot be built: no Makefile in {source}")
    digest = hashlib.sha256()
    for package in PACKAGES:
        digest.update(f"{package} {_version(package)}\n".encode())
    digest.update(f"libseccomp {_optional('libseccomp')}\n".encode())
    for file in sorted([*source.glob("*.[ch]"), source / "Makefile"]):
        digest.update(file.read_bytes())
    folder = _cache() / f"judge-{digest.hexdigest()[:16]}"
    program = folder / name
    if program.is_file():
        return program
    _need("make", *os.environ.get("CC", "cc").split()[:1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as part:
        try:
            made = subprocess.run(
                ["make", "-C", str(source), f"OUT={part}", target],
                capture_output=True,
                text=True,
                check=False,
                timeout=BUILD_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise JudgeError("start", f"the C judge cannot be built: {error}") from error
        if made.returncode != 0:
            raise JudgeError("start", f"the C judge cannot be built: {made.stderr.strip()[-2000:]}")
        # Two builders may meet here; both hold the same program.
        (Path(part) / name).replace(program)
    return program


def find() -> Path:
    """The C judge. Raises JudgeError if it neither exists nor can be built."""
    if named := os.environ.get("X25SHARK_JUDGE"):
        if os.access(named, os.X_OK):
            return Path(named)
        raise JudgeError("start", f"X25SHARK_JUDGE={named} is not a program")
    installed = dissectors_folder() / "judge" / NAME
    if os.access(installed, os.X_OK):
        return installed
    return build()

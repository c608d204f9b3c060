# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the C judge comes from: installed, named by X25SHARK_JUDGE, or built into a cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from .. import own_cache
from ..own_cache import CacheError
from ..temporary import TemporaryError, temporary_folder
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


def build(target: str = "all", name: str = NAME) -> Path:
    """Build the judge once for these sources and this libwireshark; return its path.

    Raises JudgeError with what the compiler said, or why the user has no cache of his own.
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
    try:
        folder = own_cache.folder() / f"judge-{digest.hexdigest()[:16]}"
        program = folder / name
        if program.is_file():
            return own_cache.own(program)
    except (OSError, CacheError) as error:
        raise JudgeError("start", f"the C judge cannot be stored: {error}") from error
    _need("make", *os.environ.get("CC", "cc").split()[:1])
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        # Where somebody ends this meanwhile, the next one who needs a temporary folder sweeps it.
        with temporary_folder("build") as made:
            _make(source, made, target)
            _put(made / name, program)
        return own_cache.own(program)
    except (OSError, CacheError, TemporaryError) as error:
        raise JudgeError("start", f"the C judge cannot be built: {error}") from error


def _make(source: Path, to: Path, target: str) -> None:
    """Raises JudgeError with what the compiler said."""
    try:
        done = subprocess.run(
            ["make", "-C", str(source), f"OUT={to}", target],
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILD_SECONDS,
            # The compiler's own temporary files too.
            env=os.environ | {"TMPDIR": str(to)},
        )
    except subprocess.TimeoutExpired as error:
        raise JudgeError("start", f"the C judge cannot be built: {error}") from error
    if done.returncode != 0:
        raise JudgeError("start", f"the C judge cannot be built: {done.stderr.strip()[-2000:]}")


def _put(made: Path, program: Path) -> None:
    """Put it there whole: two builders may meet, both hold the same. Raises OSError."""
    part = program.with_name(f".{program.name}.{os.getpid()}")
    try:
        shutil.copyfile(made, part)
        part.chmod(0o755)
        part.replace(program)
    finally:
        part.unlink(missing_ok=True)


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

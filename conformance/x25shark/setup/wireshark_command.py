# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark wireshark: the dissector and the profile in the user's own Wireshark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import click

from ..groups import Group
from ..report.tell import complain, tell
from ..wireshark import AS_ROOT
from .wireshark_files import (
    PROFILE,
    Places,
    WiresharkFilesError,
    install,
    places,
    status,
    uninstall,
    write_zip,
)

_WORDS = {
    "absent": "not there",
    "current": "installed",
    "older": "installed by another version; x25shark wireshark install renews it",
    "rewritten": "installed, and written anew by Wireshark",
    "changed": "installed, and changed since",
    "foreign": "not x25shark's",
}
# tshark starts in a fraction of a second; one that hangs says nothing.
_TIMEOUT = 60


def _refuse(message: str) -> NoReturn:
    complain(message)
    sys.exit(2)


def _places() -> Places:
    try:
        return places()
    except WiresharkFilesError as error:
        _refuse(str(error))


# From this version on Wireshark runs no Lua as root.
_NO_LUA_AS_ROOT = (4, 4)


def _version(program: str) -> tuple[int, int] | None:
    """Of tshark; None where it does not say it."""
    done = subprocess.run(
        [program, "--version"],
        capture_output=True,
        timeout=_TIMEOUT,
        check=False,
        text=True,
        errors="replace",
    )
    found = re.search(r"\b(\d{1,4})\.(\d{1,4})\.\d", done.stdout)
    return (int(found[1]), int(found[2])) if found else None


def _loaded(at: Places) -> str:
    """Whether the tshark of this machine has the strict dissector, in words."""
    program = shutil.which("tshark")
    if program is None:
        return "tshark is not on the path, so nothing was tried"
    try:
        done = subprocess.run(
            [program, "-G", "protocols"],
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
            text=True,
            errors="replace",
        )
        version = _version(program)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} could not be tried: {error}"
    for line in done.stderr.splitlines():
        if "lua" in line.lower() and "error" in line.lower():
            return f"{program} complains: {line}"
    if any(line.split("\t")[2:3] == ["x25s"] for line in done.stdout.splitlines()):
        return f"{program} loads it"
    stands = status(at)[at.script]
    if stands in {"absent", "foreign"}:
        return f"{program} does not load it: {at.script} is {_WORDS[stands]}"
    if os.geteuid() != 0 or (version or _NO_LUA_AS_ROOT) < _NO_LUA_AS_ROOT:
        return f"{program} does not load it"
    return (
        f"{program} does not load it for root. {AS_ROOT} Install it as the user who looks at "
        "captures; x25shark open needs no installation"
    )


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        tell(line)


@click.group("wireshark", cls=Group)
def wireshark_command() -> None:
    """Put the strict dissector and its profile into your own Wireshark, or take them away.

    x25shark open needs none of this; it is for captures that you open in Wireshark yourself.
    """


@wireshark_command.command("install")
@click.option(
    "--force",
    is_flag=True,
    help="Overwrite files that were changed, or that x25shark did not install.",
)
def install_command(force: bool) -> None:
    """Install the dissector and the profile for this user."""
    at = _places()
    try:
        _tell(install(at, force=force))
    except WiresharkFilesError as error:
        _refuse(str(error))
    tell(f"check    {_loaded(at)}")
    tell(
        f"next     wireshark -C {PROFILE} FILE.pcapng; in a running Wireshark: Edit > Configuration"
    )
    tell(
        "         Profiles, after Analyze > Reload Lua Plugins. Circuits and findings: Tools > X.25"
    )


@wireshark_command.command("uninstall")
@click.option("--force", is_flag=True, help="Also remove files that were changed since.")
def uninstall_command(force: bool) -> None:
    """Remove what install put there."""
    try:
        _tell(uninstall(_places(), force=force))
    except WiresharkFilesError as error:
        _refuse(str(error))


@wireshark_command.command("status")
def status_command() -> None:
    """Say what is installed where. Exit status 1 if anything is missing, old or another's."""
    at = _places()
    try:
        found = status(at)
    except WiresharkFilesError as error:
        _refuse(str(error))
    installed = set(found.values()) != {"absent"}
    if not installed:
        tell("not installed: x25shark wireshark install")
    for path, state in found.items():
        tell(f"{_WORDS[state]:10} {path}")
    if installed:
        tell(f"check      {_loaded(at)}")
    sys.exit(0 if set(found.values()) <= {"current", "rewritten", "changed"} else 1)


@wireshark_command.command("zip")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def zip_command(file: Path) -> None:
    """Write a zip with dissector, profile and how to install them without Python."""
    try:
        write_zip(file)
    except OSError as error:
        _refuse(f"{file}: {error.strerror or error}")
    tell(f"wrote {file}")


commands: list[click.Command] = [wireshark_command]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Versions of what a verdict rests on."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from functools import cache
from importlib import metadata

from .. import __version__
from ..judges.reading import Judge, JudgeError
from ..judges.wireshark import WiresharkJudge


def versions(wireshark: str, confined: str = "") -> dict[str, str]:
    """Versions of what a verdict rests on; wireshark: that of judge two. And what confines that."""
    found = {
        "x25shark": __version__,
        "Python": platform.python_version(),
        "Scapy": metadata.version("scapy"),
        "pytest": metadata.version("pytest"),
        "system": f"{platform.system()} {platform.release()}",
        "cores": str(os.cpu_count()),
    }
    found["Wireshark"] = wireshark
    if confined:
        found["judge two"] = confined
    return found


def confinement(judge: Judge) -> str:
    """What keeps a hostile capture from doing harm through a judge, in words."""
    if isinstance(judge, WiresharkJudge) and judge.confined:
        return f"confined: {', '.join(judge.confined)}"
    return "not confined"


def version_of(judge: Judge) -> str:
    """The version of Wireshark that a judge reads captures with. Raises JudgeError."""
    if isinstance(judge, WiresharkJudge):
        return _number(judge.version, "the judge")
    return installed_version()


def _number(text: str, who: str) -> str:
    version = re.search(r"\d+\.\d+\.\d+", text)
    if version is None:
        raise JudgeError("start", f"{who} does not tell a version")
    return version[0]


@cache
def installed_version() -> str:
    """The version of the installed tshark; JudgeError if there is none."""
    program = shutil.which("tshark")
    if program is None:
        raise JudgeError("start", "tshark is not installed: sudo apt-get install tshark")
    command = [program, "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JudgeError("start", f"{program} --version: {error}") from None
    return _number(done.stdout, f"{program} --version")

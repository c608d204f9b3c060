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
from ..judges.reading import JudgeError


def versions() -> dict[str, str]:
    """Versions of what a verdict rests on."""
    found = {
        "x25shark": __version__,
        "Python": platform.python_version(),
        "Scapy": metadata.version("scapy"),
        "pytest": metadata.version("pytest"),
        "system": f"{platform.system()} {platform.release()}",
        "cores": str(os.cpu_count()),
    }
    found["Wireshark"] = wireshark_version()
    return found


@cache
def wireshark_version() -> str:
    """The version of the installed Wireshark; JudgeError if there is none."""
    program = shutil.which("tshark")
    if program is None:
        raise JudgeError("start", "tshark is not installed: sudo apt-get install tshark")
    command = [program, "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JudgeError("start", f"{program} --version: {error}") from None
    version = re.search(r"\d+\.\d+\.\d+", done.stdout)
    if version is None:
        raise JudgeError("start", f"{program} --version does not tell a version")
    return version[0]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Versions of what a verdict rests on."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib import metadata

from .. import __version__, plain_tshark
from ..judges.reading import CaptureReader, JudgeError
from ..judges.tshark import TsharkJudge
from ..judges.wireshark import WiresharkJudge


@dataclass(frozen=True)
class About:
    """Judge two: its name, its version of Wireshark, what confines it.

    slower: why it is the slower one, in words; empty: it is not, or was asked for.
    """

    name: str = ""
    wireshark: str = ""
    confined: str = ""
    slower: str = ""


def about(judge: CaptureReader, slower: str = "") -> About:
    """What is to be said of a judge that is up. Raises JudgeError."""
    name = "tshark" if isinstance(judge, TsharkJudge) else "libwireshark"
    return About(name, version_of(judge), confinement(judge), slower)


def versions(judge_two: About) -> dict[str, str]:
    """Versions of what a verdict rests on, and what confines judge two."""
    found = {
        "x25shark": __version__,
        "Python": platform.python_version(),
        "Scapy": metadata.version("scapy"),
        "pytest": metadata.version("pytest"),
        "system": f"{platform.system()} {platform.release()}",
        "cores": str(os.cpu_count()),
    }
    found["Wireshark"] = judge_two.wireshark
    if judge_two.confined:
        found["judge two"] = judge_two.confined
    return found


def confinement(judge: CaptureReader) -> str:
    """What keeps a hostile capture from doing harm through a judge, in words."""
    if isinstance(judge, WiresharkJudge) and judge.confined:
        return f"confined: {', '.join(judge.confined)}"
    return "not confined"


def version_of(judge: CaptureReader) -> str:
    """The version of Wireshark that a judge reads captures with. Raises JudgeError."""
    if isinstance(judge, WiresharkJudge):
        return _number(judge.version, "the judge")
    return installed_version()


def _number(text: str, who: str) -> str:
    version = re.search(r"\d+\.\d+\.\d+", text)
    if version is None:
        raise JudgeError("start", f"{who} does not report its version")
    return version[0]


@cache
def installed_version() -> str:
    """The version of the installed tshark; JudgeError if there is none."""
    program = shutil.which("tshark")
    if program is None:
        raise JudgeError("start", "tshark is not installed: sudo apt-get install tshark")
    command = [program, "--version"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=plain_tshark.environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JudgeError("start", f"{program} --version: {error}") from None
    return _number(done.stdout, f"{program} --version")

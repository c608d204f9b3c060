# SPDX-License-Identifier: GPL-2.0-or-later
"""The text of a profile as a report may show it: without commands.

Reports are passed on, and what starts a router may hold the name of a machine, or a password.
"""

from __future__ import annotations

import re
import tomllib

from ..profile import Profile

_LEFT_OUT = "# [control] is left out of reports"
_ALL_LEFT_OUT = "# not shown: what is to be left out of reports cannot be told from the rest\n"
_HEADER = re.compile(r"\s*\[")
_CONTROL = re.compile(r"""\s*\[\s*(["']?)control\1\s*\]""")


def shown(profile: Profile) -> str:
    """The profile's text without [control]."""
    kept: list[str] = []
    within = False
    for line in profile.text.splitlines():
        if _HEADER.match(line):
            within = _CONTROL.match(line) is not None
            kept += [_LEFT_OUT] if within else []
        if not within:
            kept.append(line)
    text = "".join(f"{line}\n" for line in kept)
    return text if _as_meant(text, profile.text) else _ALL_LEFT_OUT


def _as_meant(text: str, whole: str) -> bool:
    """Whether nothing but [control] is missing: lines alone do not tell what TOML is."""
    try:
        wanted, found = tomllib.loads(whole), tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    wanted.pop("control", None)
    return "control" not in found and found == wanted

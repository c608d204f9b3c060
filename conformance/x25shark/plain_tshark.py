# SPDX-License-Identifier: GPL-2.0-or-later
"""The surroundings of a tshark that reads none of the user's settings and runs none of their Lua.

A preference may change what it counts, and whoever tests as root need not trust each init.lua.
"""

from __future__ import annotations

import os

_NOWHERE = "/nonexistent"
_SETTINGS = ("HOME", "XDG_CONFIG_HOME", "WIRESHARK_CONFIG_DIR")


def environment() -> dict[str, str]:
    """For subprocess: the caller's, with settings that are nowhere, and Wireshark's own folders."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WIRESHARK_")}
    return kept | dict.fromkeys(_SETTINGS, _NOWHERE)

# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark with the strict dissector, and never as root: Wireshark from 4.4 on runs no Lua for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from x25shark.judges.sandbox import Sandbox, as_nobody


def strict_tshark(
    sandbox: Sandbox, capture: bytes | Path, *options: str, words: bool = True
) -> subprocess.CompletedProcess[str]:
    """One run of it. The capture is copied to where nobody can read it; words: with Info texts."""
    copy = sandbox.folder / "capture.pcapng"
    copy.write_bytes(capture if isinstance(capture, bytes) else capture.read_bytes())
    prefix, identity = as_nobody()
    return subprocess.run(
        [*prefix, "tshark", "-n", "-X", f"lua_script:{sandbox.lua}", "-r", str(copy), *options],
        env=sandbox.environment() | ({"X25SHARK_WORDS": "1"} if words else {}),
        cwd=sandbox.folder,
        capture_output=True,
        text=True,
        check=True,
        **identity,
    )

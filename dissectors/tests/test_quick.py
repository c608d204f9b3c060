# SPDX-License-Identifier: GPL-2.0-or-later
"""What nobody asks for is not built: the lines of a capture stay the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from x25shark.judges.sandbox import Sandbox
from xot_captures import CAPTURES

_NAMES = ["call", "header split after 2", "modulo 128", "bad headers", "records", "reused ports"]


def _lines(capture: Path, sandbox: Sandbox, *options: str) -> list[str]:
    script = f"lua_script:{sandbox.lua}"
    done = subprocess.run(
        ["tshark", "-n", "-X", script, "-r", str(capture), *options],
        env=sandbox.environment() | {"X25SHARK_WORDS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", [*_NAMES, "sixty layers", "xot inside user data"])
def test_lines_are_the_same_whether_a_filter_asks_for_fields_or_not(
    name: str, tmp_path: Path
) -> None:
    capture = tmp_path / "one.pcapng"
    capture.write_bytes(CAPTURES[name])
    sandbox = Sandbox()
    try:
        plain = _lines(capture, sandbox)
        asked = _lines(capture, sandbox, "-Y", "!(x25s.offset == 4294967295)")
    finally:
        sandbox.close()
    assert any("LCN 1" in line for line in plain)
    assert plain == asked

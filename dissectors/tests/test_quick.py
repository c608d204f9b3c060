# SPDX-License-Identifier: GPL-2.0-or-later
"""What nobody asks for is not built: the lines of a capture stay the same."""

from __future__ import annotations

import pytest
from strict_tshark import strict_tshark
from x25shark.judges.sandbox import Sandbox
from xot_captures import CAPTURES

_NAMES = ["call", "header split after 2", "modulo 128", "bad headers", "records", "reused ports"]


@pytest.mark.parametrize("name", [*_NAMES, "sixty layers", "xot inside user data"])
def test_lines_are_the_same_whether_a_filter_asks_for_fields_or_not(
    name: str,
) -> None:
    sandbox = Sandbox()
    try:
        plain = strict_tshark(sandbox, CAPTURES[name]).stdout.splitlines()
        everything = "!(x25s.offset == 4294967295)"
        asked = strict_tshark(sandbox, CAPTURES[name], "-Y", everything).stdout.splitlines()
    finally:
        sandbox.close()
    assert any("LCN 1" in line for line in plain)
    assert plain == asked

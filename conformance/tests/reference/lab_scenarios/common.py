# SPDX-License-Identifier: GPL-2.0-or-later
"""What scenarios share: the list of them, packets, and the form of a Call."""

from collections.abc import Callable
from typing import Any

FULL = "41" * 128


#: Called 2100001, calling 3100001, sizes 128, windows 2.
PLAIN = "10010b772100001310000106420707430202"


WIDE = "10010b772100001310000106420707430707"


Scenario = Callable[[Any, str], Any]


SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__] = function
    return function


def call(called: str, calling: str = "", facilities: str = "", user_data: str = "") -> str:
    """A Call Request."""
    digits = called + calling
    return (
        f"10010b{len(calling):x}{len(called):x}{digits}{'0' * (len(digits) % 2)}"
        f"{len(facilities) // 2:02x}{facilities}{user_data}"
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of legal and illegal behaviour, by subject.

Each plays against a router in the laboratory, by default in each relay model, and returns the
laboratories; what the router sent, closed and counted in them is looked at.
"""

from . import (
    beside_others,
    calls,
    circuits,
    connections,
    data,
    next_calls,
    resets,
    second_forms,
    terminals,
)
from .common import SCENARIOS

__all__ = [
    "SCENARIOS",
    "beside_others",
    "calls",
    "circuits",
    "connections",
    "data",
    "next_calls",
    "resets",
    "second_forms",
    "terminals",
]

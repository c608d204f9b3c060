# SPDX-License-Identifier: GPL-2.0-or-later
"""The third opinion: Wireshark's built-in dissector.

It never decides. Where it reads a packet differently from the strict dissector, and the
difference is not a known gap of this Wireshark version, the case gets a remark.
"""

from __future__ import annotations

from collections.abc import Callable

from ..judges.reading import Reading

MOST_REMARKS = 5


def load() -> Callable[[Reading], list[str]]:
    """A function that gives the remarks for one reading."""

    def remarks(reading: Reading) -> list[str]:
        found = [
            f"Wireshark's built-in dissector differs, frame {d.frame}, packet {d.k}: {d.text}"
            for d in reading.differences
        ]
        return found[:MOST_REMARKS]

    return remarks

# SPDX-License-Identifier: GPL-2.0-or-later
"""The published figures: J. T. Korb and C. E. Wills, CSD-TR-664, Purdue University, 1987."""

from __future__ import annotations

LINE = 56_000
"""bit/s."""
PINGS = 100
"""A second apart."""
STEADY_FROM = 50
"""Packets from here on have a circuit that is up."""

PING_MS = {
    64: {"average": (1992, 561), "median": (340, 330)},
    512: {"average": (1246, 1270), "median": (880, 880)},
}
"""Table 1: by size, over packets 1-100 and 50-100."""
FILE_OCTETS = 175_426
TRANSFER = {"put": 15_012, "get": 19_997}
"""Table 2, bit/s, one circuit."""
CIRCUITS = {1: 15_012, 2: 12_604, 4: 19_254}
"""Table 3, bit/s, put (one circuit: table 2)."""
FILES = 5
FILES_OCTETS = 100_000
MANY = {1: (3645, None), 5: (127, 31_496), 8: (114, 35_088)}
"""Table 4: seconds of the longest of five files, estimated bit/s, by circuits."""
LINE_SHARE = 0.63
"""Of the line's capacity: the most that was reached."""
AVAILABLE = 0.81
"""Of 235 hours."""

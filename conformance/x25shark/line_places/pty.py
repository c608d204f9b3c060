# SPDX-License-Identifier: GPL-2.0-or-later
"""A serial line whose octets go over a terminal: a pseudo-terminal, or a real line."""

from __future__ import annotations

import os
import termios
import tty
from typing import Any

KEY = "pty"
TYPE = str
EXAMPLE = '"/dev/pts/7"'
WORDS = "path of a terminal that carries the octets of the line"
WHOLE_FRAMES = False


def read(value: Any) -> str:
    printable = isinstance(value, str) and value.isascii() and value.isprintable()
    if not printable or len(value) < 2 or not value.startswith("/"):
        raise ValueError(f"{value!r} is not the path of a terminal, such as {EXAMPLE}")
    return str(value)


def connect(place: str) -> int:
    descriptor = os.open(place, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    if os.isatty(descriptor):
        # Now: what the router has sent already is not to be flushed.
        tty.setraw(descriptor, termios.TCSANOW)
    return descriptor


def host(place: str) -> str | None:
    return None

# SPDX-License-Identifier: GPL-2.0-or-later
"""What all readers raise."""

from __future__ import annotations


class ReadError(Exception):
    """There is no reading; the message says of what, and why."""


def printable(error: BaseException) -> str:
    """What an exception says, without what a router could put into it."""
    text = (error.strerror if isinstance(error, OSError) else "") or str(error)
    shown = "".join(c if c.isascii() and c.isprintable() else "?" for c in text[:200])
    return shown or type(error).__name__

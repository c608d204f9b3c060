# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that somebody else may have made: none of them keeps x25shark waiting, or fills its memory.

A folder that came from elsewhere may hold a FIFO under the name of a result, and a link in it may
lead to a device without end.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def octets_of(path: Path, most: int) -> bytes:
    """What a file holds. Raises OSError, also where it is longer than that, or no file.

    What a shell passes with <(...) is a file too; a FIFO that nobody writes to is empty.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        os.set_blocking(descriptor, True)
        found = file.read(most + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"More than {most:,} octets", str(path))
    return found


def text_of(path: Path, most: int) -> str:
    """The same as UTF-8 text. Raises OSError, or UnicodeDecodeError (a ValueError)."""
    return octets_of(path, most).decode("utf-8")


def values_in(document: bytes) -> int:
    """How many values a JSON document has at most, told before any of them takes memory: the
    smallest take thirty times their octets."""
    return sum(map(document.count, (b",", b"[", b"{")))


def parse_trouble(error: ValueError | RecursionError) -> str:
    """What a parser of JSON or TOML does not like, in words that are not about Python."""
    if isinstance(error, RecursionError):
        return "nested too deep"
    if type(error) is ValueError and "digits" in str(error):
        return "a number of thousands of digits"
    return str(error)

# SPDX-License-Identifier: GPL-2.0-or-later
"""What a long run does so that its memory stays small."""

from __future__ import annotations

import contextlib
import ctypes
import gc

from scapy import data

# <malloc.h>: mallopt(3).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_LARGE = 1 << 20


def spare() -> None:
    """For this process and those that are forked from it.

    What a large case took goes back to the system: by itself glibc raises the size from which it
    does that, and keeps memory for each thread. Scapy's table of the makers of network cards goes,
    50,000 names that nothing here asks for.
    """
    with contextlib.suppress(AttributeError, OSError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        for what, value in (
            (_M_ARENA_MAX, 1),
            (_M_MMAP_THRESHOLD, _LARGE),
            (_M_TRIM_THRESHOLD, _LARGE),
        ):
            mallopt(what, value)
    with contextlib.suppress(AttributeError):  # another Scapy
        data.MANUFDB.d.clear()


def give_back(*, circles: bool = False) -> None:
    """What is free goes back to the system: glibc by itself returns only the end of its memory.

    circles: look first for objects that nobody needs but that refer to each other. Python counts
    objects, and 2 MB of a hostile router are few. It takes a tenth of a second.
    """
    if circles:
        gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)

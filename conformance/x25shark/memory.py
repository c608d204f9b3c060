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


def give_back() -> None:
    """What cases have left goes back to the system, now.

    Their sides and connections refer to each other and keep all octets that came, until Python
    looks for such circles: it counts objects, and 2 MB of a hostile router are few. And glibc
    returns by itself only what is free at the end of its memory.
    """
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)

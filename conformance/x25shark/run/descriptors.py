# SPDX-License-Identifier: GPL-2.0-or-later
"""How many files and sockets this process may have open: as many as the system allows.

A router may open more connections in a case than a shell grants its programs. What belongs to the
router is started with what this process was given: a router that loses descriptors is to be found
out as soon as ever.
"""

from __future__ import annotations

import contextlib
import resource

# Some programs close every number up to the limit, and there is no need for a billion.
_ENOUGH = 1 << 16
_given = resource.getrlimit(resource.RLIMIT_NOFILE)


def take() -> None:
    """Raise the limit of this process, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def give_back() -> None:
    """The limit as it was; in a process that is about to become another program."""
    resource.setrlimit(resource.RLIMIT_NOFILE, _given)

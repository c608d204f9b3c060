# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the router died in a case: then the case is FAIL, whatever else came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..links import xot
from ..links.xot import LinkError

if TYPE_CHECKING:
    from ..links.loop import Loop
    from ..profile import Profile
    from ..sides.bench import Bench
    from .lines import Lines
    from .router import Router

# One that is only out of breath takes the second connection.
_ATTEMPTS = 2
_PAUSE_SECONDS = 0.1


def why_gone(
    profile: Profile, loop: Loop, router: Router | None, lines: Lines, *, passed: bool
) -> str:
    """Why the router is not there at the end of a case, in words; "" if it is.

    Its process has ended; or nobody listens where it did; or its serial line is not there any
    more. After a case that passed only the process is looked at: the next one will notice.
    """
    if router is not None and router.ended:
        return router.ended
    if passed:
        return ""
    ends = profile.xot
    if ends is not None and ends.a is not None and not profile.only_calls:
        refused = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                loop.wait(lambda: False, _PAUSE_SECONDS)
            try:
                xot.connect(loop, ends.router, ends.a[0], profile.times.reaction).close()
            except LinkError as error:
                refused = str(error) if error.refused else ""
            else:
                return ""
        if refused:
            return refused
    return lines.lost()


def was_there(bench: Bench) -> bool:
    """Whether the router took a connection, opened one, or sent a frame in the case."""
    return bool(bench.connections) or any(line.log.received for line in bench.serial.own())

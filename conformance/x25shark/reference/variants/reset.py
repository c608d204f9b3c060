# SPDX-License-Identifier: GPL-2.0-or-later
"""What outlives a reset (X.25 4.4.3): it discards what is in the network, and no more."""

from ..terminal import Echo
from .registry import Original, Patch, variant


@variant("MAY-RST-01")
def late_echo(patch: Patch) -> None:
    @patch.wrap(Echo, "drop")
    def drop(original: Original, echo: Echo) -> None:
        read = list(echo.direction.queue)
        while read and read[-1].m:
            del read[-1]
        original(echo)
        echo.direction.queue.extend(read)
        echo.direction.made = len(read)

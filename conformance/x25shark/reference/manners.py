# SPDX-License-Identifier: GPL-2.0-or-later
"""Legal habits that the reference router does not have by itself: table [manners].

    write = "packet"      or "halves" (each packet in two TCP segments), "gather" (what comes up
                          within 20 ms in one): the stream has no packet boundaries (RFC 1613 4)
    delay = 0             seconds that each packet waits before it is sent
    acknowledge = "soon"  or "each" (an RR for every Data), "half" (when half of the window is used
                          up, or after 1 s): when P(R) is sent is the receiver's own matter
    pause = 0             behind every so many Data an RNR, and an RR behind it (X.25 4.4.1.6)
    hang_up = false       a call that is not connected is refused by a close of TCP (RFC 1613 6.1)
    diagnostics = true    false: diagnostic 0 in the Clears and Resets of its own (X.25 Annex E)
    late_echo = false     what the DTE of "echo" read before a reset it sends back after it: a reset
                          discards what is in the network, not what a DTE has read (X.25 4.4.3)

None of them is wrong by X.25 or RFC 1613. habits.py puts them on.
"""

from dataclasses import dataclass

from .config_table import Table

WRITES = ("packet", "halves", "gather")
ACKNOWLEDGEMENTS = ("soon", "each", "half")


@dataclass(frozen=True)
class Manners:
    """The table, checked."""

    write: str = "packet"
    delay: float = 0.0
    acknowledge: str = "soon"
    pause: int = 0
    hang_up: bool = False
    diagnostics: bool = True
    late_echo: bool = False


def read_manners(table: Table) -> Manners:
    """Read the table [manners]. Raises ConfigError."""
    found = Manners(
        write=table.choice("write", "packet", WRITES),
        delay=table.seconds("delay", 0.0),
        acknowledge=table.choice("acknowledge", "soon", ACKNOWLEDGEMENTS),
        pause=table.integer("pause", 0, 0, 1000),
        hang_up=table.flag("hang_up", False),
        diagnostics=table.flag("diagnostics", True),
        late_echo=table.flag("late_echo", False),
    )
    table.finish()
    return found

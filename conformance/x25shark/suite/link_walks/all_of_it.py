# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that a link does, once, wherever the link may come from.

What a router does right on its first link, it may do wrong behind a reset, behind an error, behind
timer recovery, or at another number. So there is one list of steps, and it is made on links of
every kind, from another number each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..links import out_of_sequence
from ..occasion import amid
from .link import Link
from .walk import ACTIONS, tidy

Action = Callable[[Link, int], bool]

#: Each step with its number; what is open is acknowledged in every way, and asked for again.
STEPS: tuple[tuple[str, int], ...] = (
    ("ask", 0),
    ("acknowledge", 0x00),  # by a response
    ("ask", 1),
    ("acknowledge", 0x10),  # the first of two, by a command
    ("acknowledge", 0x20),  # by a poll
    ("overfill", 0),
    ("acknowledge", 0x30),  # one of k, by an I frame
    ("final", 0),
    ("repeat", 0x80),
    ("ask", 2),
    ("repeat", 0x00),  # all three, by a response
    ("repeat", 0x21),  # from the second on, by a command
    ("repeat", 0x30),  # by a command with P=1
    ("repeat", 0x80),
    ("not-ready", 0),  # as a command
    ("not-ready", 0),
    ("ask", 1),
    ("final", 0),
    ("ready", 0),  # as a command
    ("ask", 1),
    ("not-ready", 1),  # as a response
    ("ask", 0),
    ("ready", 1),  # by REJ
    ("not-ready", 0),
    ("ask", 0),
    ("ready", 2),  # by RR
    ("skip-one", 0),
    ("skip-one", 1),
    ("ask", 0),
    ("gap-with-p", 0),
    ("ask", 1),
    ("duplicate", 0),
    ("duplicate", 2),
    ("idle", 0),
    ("repeat", 0x80),
)
#: Numbers of "noise": frames of each kind, and what is wrong with them.
NOISE = 32
#: How many of them on each link.
OF_NOISE = 5
#: Ones on an idle line: more than fifteen, and a moment.
IDLE_OCTETS = 4


def _overfill(link: Link, _number: int) -> bool:
    """Two more packets than the window takes: they wait, and what the tester sends meanwhile is
    acknowledged all the same."""
    return ACTIONS["ask"](link, link.line.profile.k + 1)


def _final(link: Link, _number: int) -> bool:
    """An I frame with P=1: F=1, and N(R) counts that frame."""
    line = link.line
    line.send(line.packet(link.restart, n_r=link.acked, p_f=1))
    line.expect(*line.frames.answers(n_r=line.station.v_s), passing=link.beside)
    link.owed += 1
    link.asked += 1
    link.gap = ""
    return True


def _gap_with_p(link: Link, _number: int) -> bool:
    """I frames with P=1 that are ahead of the next: F=1, and N(R) stays where it was."""
    line = link.line
    line.wait_until_ready()
    link.gap = "sure"
    for ahead in (1, 2):
        out_of_sequence(line, link.restart, ahead, n_r=link.acked, p_f=1)
        line.expect(*line.frames.answers(n_r=line.station.v_s), passing=link.beside)
    return True


def _idle(link: Link, _number: int) -> bool:
    """Ones for a moment, on a line that has them: its link stands (X.25 2.2.12.2, 2.4.8.3)."""
    line = link.line
    if line.profile.framing != "bit":
        return False
    line.wire.send_idle(IDLE_OCTETS)
    link.fence()
    return True


#: What only this list does, beside the actions of the walks.
OWN: dict[str, Action] = {
    "overfill": _overfill,
    "final": _final,
    "gap-with-p": _gap_with_p,
    "idle": _idle,
}


def does_all(link: Link, number: int, where: str, every: Sequence[Link]) -> None:
    """Each step; number: from how many I frames on. where: what came before, for the reason
    of a FAIL. every: the links of all lines, as a router may poll one that is idle."""

    def answered() -> None:
        for one in every:
            one.answer()

    with amid(link.line.context, f"line {link.line.name.lower()}: {where}"):
        for _ in range(number % 8):
            ACTIONS["ask"](link, 0)
            ACTIONS["acknowledge"](link, 0)
        for action, value in STEPS:
            answered()
            (OWN.get(action) or ACTIONS[action])(link, value)
        for kind in range(OF_NOISE):
            answered()
            ACTIONS["noise"](link, (number * OF_NOISE + kind) * 7 % NOISE)
        answered()
        tidy(link)

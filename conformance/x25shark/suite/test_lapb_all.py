# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that a link does, wherever the link may come from (X.25 2.4)."""

from __future__ import annotations

from .language import Bench, purpose
from .link_walks.all_of_it import OWN, does_all
from .link_walks.link import Link
from .link_walks.walk import ACTIONS, recover

#: What is left open on a link, what ends it, and what it is called.
ENDS: tuple[tuple[tuple[tuple[str, int], ...], tuple[str, int], str], ...] = (
    (
        (("ask", 1), ("skip-one", 0), ("not-ready", 0)),
        ("reset", 1),
        "behind a reset of a busy tester",
    ),
    ((("ask", 2), ("skip-one", 0)), ("rejected", 0), "behind FRMR of the tester"),
    ((("skip-one", 0), ("ask", 0)), ("reject", 0x2C), "behind FRMR of the router"),
)


@purpose("LAPB-I-16")
def test_on_links_of_every_kind(bench: Bench) -> None:
    """New, behind each end of the one before, and behind timer recovery, which is of all lines at
    once."""
    links = []
    for at in sorted(bench.lines):
        line = bench.line(at)
        line.link.bring_up()
        links.append(Link(line))
    for link in links:
        link.fresh()
    for link in links:
        does_all(link, 0, "on a new link", links)
        for number, (left, (end, value), where) in enumerate(ENDS, 1):
            for action, how in left:
                ACTIONS[action](link, how)
            ACTIONS[end](link, value)
            does_all(link, number, where, links)
    # More waits than the window takes, all of which F=1 acknowledges.
    for link in links:
        OWN["overfill"](link, 0)
    recover(links, 0x20)
    for link in links:
        does_all(link, len(ENDS) + 1, "behind timer recovery", links)

# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: timers of a link on which nothing happens (X.25 2.4.8)."""

from __future__ import annotations

from .language import (
    Bench,
    LapbDISC,
    LapbDM,
    LapbI,
    LapbRR,
    LapbSABM,
    LineSide,
    RestartConfirmation,
    purpose,
)
from .links import (
    LATE,
    comes_at_t1,
    expect_poll,
    given_up,
    names_given,
    needs_given,
    one_open,
    polls,
    ready,
    respond,
)

# How often a T1 may be late before it is too long.
TRIES = 3


@purpose("LAPB-EXT-05", each_line=True)
def test_t1_is_no_longer(bench: Bench) -> None:
    """The router polls at T1 and the time of a reaction (TR) at the latest. Once in time is enough:
    a machine that is held up is late more than once, but not always."""
    needs_given(bench.line(), "t1")
    line, restart = ready(bench)
    line.layer.allow(RestartConfirmation())
    first = one_open(line, restart)
    for left in reversed(range(TRIES)):
        line.skip()
        if comes_at_t1(line, *polls(line)) or not left:
            break
        expect_poll(line)
        respond(line, LapbRR, first)
        line.expect(LapbI(n_s=first))
    line.expect(*polls(line), passing=(LapbI(p_f=0),), within=0, note="T1")


@purpose("LAPB-EXT-06")
def test_an_idle_link_is_supervised(bench: Bench) -> None:
    """Polls behind T3: more than N2 that are answered, and the link stays; then N2 that are not.

    T3 may also end an idle link at once (X.25 2.4.8.3).
    """
    given = [n for n in sorted(bench.lines) if names_given(bench.lines[n], ("t3", "n2"))]
    bench.need(bool(given), "no line of the profile gives t3 and n2")
    for name in given:
        is_supervised(bench, bench.line(name))


def is_supervised(bench: Bench, line: LineSide) -> None:
    line.link.bring_up()
    line.by_hand = True
    within = LATE * line.profile.t3 + bench.reaction_limit
    ends = LapbSABM(), LapbDISC(), LapbDM()
    for number in range(1, line.profile.n2 + 2):
        seen = line.expect(
            *polls(line),
            *(ends if number == 1 else ()),
            within=within,
            note=f"poll {number} of an idle link; the tester has answered those before",
        )
        if isinstance(seen, (LapbSABM, LapbDISC, LapbDM)):
            bench.remark(f"line {line.name.lower()}: T3 ends the link")
            line.allow(*ends)
            return
        respond(line, LapbRR, line.station.v_r)
    line.expect(*polls(line), within=within, note="a poll that the tester does not answer")
    begin = line.cursor
    for number in range(2, line.profile.n2):
        expect_poll(line, f"unanswered poll {number}")
    given_up(line, begin)

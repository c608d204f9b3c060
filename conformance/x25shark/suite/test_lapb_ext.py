# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB: timers of a link on which nothing happens (X.25 2.4.8)."""

from __future__ import annotations

from .language import Bench, LapbDISC, LapbDM, LapbRR, LapbSABM, LineSide, purpose
from .links import expect_poll, given_up, names_given, polls, respond
from .test_plp_lines import LATE


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

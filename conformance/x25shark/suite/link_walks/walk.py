# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the steps of a walk, and makes them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from ..language import Bench, LapbREJ, LapbRNR, LapbRR
from ..links import expect_poll, respond
from .ending import end, reject, rejected, reset
from .link import Link, Step
from .receiving import duplicate, noise, not_ready, ready, skip_one
from .sending import acknowledge, ask, poll, repeat, settle

# How often a walk waits for T1.
RECOVERIES = 2
# Polls that a router may send of itself in front of the one at T1.
EARLY_POLLS = 3


class LinkWalk:
    """A walk over the lines; the steps that were made are kept."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.links: dict[str, Link] = {}
        self.made: list[Step] = []
        self.recoveries = 0

    def go(self, steps: Sequence[Step]) -> None:
        """Make the steps; at the end every link is in order."""
        try:
            for at in sorted(self.bench.lines):
                line = self.bench.line(at)
                line.link.bring_up()
                self.links[at] = Link(line)
                self.links[at].fresh()
            for step in steps:
                for link in self.links.values():
                    link.answer()
                self.made.append(step)
                if not self._made(step):
                    self.made.pop()
            for link in self.links.values():
                tidy(link)
        finally:
            self.bench.remark("steps: " + "; ".join(map(str, self.made)))

    def _made(self, step: Step) -> bool:
        if step.action != "recover":
            return ACTIONS[step.action](self.links[step.line], step.number)
        if self.recoveries >= RECOVERIES:
            return False
        self.recoveries += 1
        recover(list(self.links.values()), step.number)
        return True


def tidy(link: Link) -> None:
    """Nothing is open on the link any more."""
    ready(link, 0)
    settle(link)
    ask(link, 0)
    link.comes(link.acked, 0, "the last confirmation")
    respond(link.line, LapbRR, link.line.station.v_r)
    link.take(link.opened)
    link.count()
    link.fence()


def drawn(count: int, lines: Sequence[str], seed: str, *, errors: bool) -> list[Step]:
    """So many steps, drawn by a seed; each walk has its own likings."""
    chance = random.Random(seed)
    known = [a for a in WEIGHTS if errors or a not in ERRORS]
    liking = {a: 1.0 if a == "ask" else chance.choice(LIKINGS) for a in known}
    weights = [WEIGHTS[a] * liking[a] for a in known]
    habits = [h for h in HABITS if errors or not ERRORS & set(h)]
    # Each habit on each line, and the more of them the more steps there are.
    planned = [(habit, at) for habit in habits for at in lines]
    chance.shuffle(planned)
    steps: list[Step] = []
    while len(steps) < count:
        habit: tuple[str, ...] = (chance.choices(known, weights)[0],)
        at, times = chance.choice(lines), 1
        if planned and chance.random() < OF_HABIT:
            habit, at = planned.pop()
            times = TIMES
        steps += [Step(action, at, chance.randrange(256)) for _ in range(times) for action in habit]
    return steps


def recover(every: Sequence[Link], number: int) -> None:
    """T1 runs out on every line; the answer to the poll says what is missing, or that the tester
    is busy."""
    links = [link for link in every if link.busy_from is None]
    for link in links:
        if not link.opened:
            ask(link, 0)
        link.answer()
        link.fence()
        if link.gap:
            # REJ may come again at T1.
            link.line.allow(*link.line.frames.rejections(n_r=link.line.station.v_s))
    began = time.monotonic()
    for link in links:
        _recovered(link, number, began)


def _recovered(link: Link, number: int, began: float) -> None:
    """The poll at T1, and its answer; to one before T1 the answer brings nothing again."""
    line = link.line
    expect_poll(line)
    for _ in range(EARLY_POLLS):
        came = [unit.time for unit in line.line.log.received if unit.end == line.cursor]
        if came[-1] - began > line.profile.t1 / 2:
            break
        began = time.monotonic()
        link.answer()
        link.fence()
        expect_poll(line)
    count = link.opened if number & 0x20 else number >> 2 & 7
    link.take(count if count <= link.opened else 0)
    kind = (LapbRR, LapbRR, LapbREJ, LapbRNR)[number & 3]
    line.send(kind(n_r=link.acked, p_f=1))
    if kind is LapbRNR:
        link.busy()
    elif link.owed:
        link.drain()


ACTIONS: dict[str, Callable[[Link, int], bool]] = {
    "ask": ask,
    "acknowledge": acknowledge,
    "repeat": repeat,
    "poll": poll,
    "not-ready": not_ready,
    "ready": ready,
    "skip-one": skip_one,
    "duplicate": duplicate,
    "noise": noise,
    "reset": reset,
    "end": end,
    "reject": reject,
    "rejected": rejected,
}
#: How often each action is drawn.
WEIGHTS = {
    "ask": 14, "acknowledge": 12, "repeat": 6, "poll": 2, "not-ready": 4, "ready": 4,
    "skip-one": 5, "duplicate": 3, "recover": 1, "noise": 3, "reset": 2, "end": 1, "reject": 2,
    "rejected": 1,
}  # fmt: skip
#: What the weight of an action is multiplied by in one walk.
LIKINGS = (0.3, 1.0, 1.0, 2.5)
#: What is done several times on one line: what a link may count, and what it may leave behind.
HABITS: tuple[tuple[str, ...], ...] = (
    ("ask", "repeat"),
    ("skip-one", "ask", "acknowledge"),
    ("not-ready", "ask", "ready"),
    ("not-ready", "reset", "ask"),
    ("not-ready", "end", "ask"),
    ("ask", "skip-one", "reset"),
    ("ask", "skip-one", "end", "skip-one"),
    ("not-ready", "reject", "ask", "acknowledge"),
    ("skip-one", "reject", "skip-one", "ask"),
    ("ask", "rejected", "ask"),
)
#: How often such a habit is drawn in place of an action, and how often it is followed.
OF_HABIT, TIMES = 0.35, 3
#: Those in which the tester breaks the rules.
ERRORS = frozenset({"reject", "rejected"})

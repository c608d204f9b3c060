# SPDX-License-Identifier: GPL-2.0-or-later
"""Readings of the router's counters around what a case does.

    with counting(bench, "calls_in", "calls_out"):
        ...                    # what ends here has been answered: nothing is under way any more

Each counter must have moved by what the capture shows of the connections of the case. The router
may take its time: it is read again until every counter is right, or the time for a reaction
is over. What it shows may be what it gathered some seconds ago: how many, two calls in succession
show, or the profile says. A router that cannot be read makes the case INCONCLUSIVE.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..counters.locations import Place, places
from ..counters.names import RIGHT
from ..counters.pages import COUNTER32, moved, others_moved, value
from ..counters.reader import ReadError, Reading
from ..counters.settings import Cleared
from ..judges.cleared_table import ClearedTable, Entry, NoTable, entries
from ..judges.counter_events import DEFINITIONS, N1, Cut, Definition, definition
from ..judges.counter_moved import CounterMoved
from ..judges.expectation import Direction, Expectation
from ..judges.frame_reject_kept import FrameRejectKept, field
from ..links.carrier import Unit
from ..sides.outcomes import ExpectationFailed
from .language import Bench, Inconclusive, LineSide, NotApplicable
from .many import hang_up

# How often a router is asked before the case begins, until two answers are the same.
TRIES = 5
PAUSE = 0.05

# So long a page is looked at until it shows a call; who gathers his counters less often than that
# has to say so. As many calls are made: the first two may meet the moment in which he does; more,
# where they take long.
MOST_AGE = 12.0
CALLS_FOR_AGE = 3
MOST_FOR_AGE = 8
# What was measured, by the place of the page.
_ages: dict[str, float] = {}

# Octets of whole packets received and sent on each connection.
Extent = dict[Direction, tuple[int, int]]


def read(bench: Bench) -> Any:
    """The router's page, while the connections are served. Raises Inconclusive."""
    counters = bench.profile.counters
    url = bench.counters_url()
    if counters is None or url is None:
        raise NotApplicable("the router shows no counters")
    woken, waker = socket.socketpair()
    try:
        bench.loop.add(woken, lambda _events: None, selectors.EVENT_READ)
        reading = Reading(url, counters.timeout, waker.close, reader=counters.reader)
        bench.loop.wait(lambda: reading.done, counters.timeout)
        return reading.result()
    except ReadError as error:
        raise Inconclusive(f"the counters cannot be read: {error}") from None
    finally:
        bench.loop.remove(woken)
        woken.close()


def age(bench: Bench) -> float:
    """Seconds by which a page may be too old, as far as that is known by now."""
    counters = bench.profile.counters
    said = None if counters is None else counters.age
    return _ages.get(bench.counters_url() or "", 0.0) if said is None else said


@dataclass(frozen=True)
class Shown:
    """A call, and when the page showed it: seconds of one clock.

    began, over: the call. unseen: when the last page without it was asked for. seen: when one with
    it had come. held_up: how long the tester was not there meanwhile.
    """

    began: float
    over: float
    unseen: float
    seen: float
    held_up: float = 0.0

    @property
    def waited(self) -> bool:
        """Whether a page came behind the call that did not show it."""
        return self.unseen >= self.over


def age_by(calls: Sequence[Shown]) -> float:
    """Seconds by which pages may be too old, by calls one behind the other; 0: they are not old.

    From the last look ahead of one change to the next change lies all the time for which one page
    is shown. Calls that took long and were there at once tell no more than that.
    """
    shown = min((after.seen - before.unseen for before, after in pairwise(calls)), default=0.0)
    old = any(call.waited for call in calls[1:]) or shown > TRIES * PAUSE
    return round(shown + PAUSE, 2) if old else 0.0


def measure_age(bench: Bench) -> None:
    """Make calls until one of them is seen to wait for the next page, or each is there at once."""
    counters, url = bench.profile.counters, bench.counters_url()
    if counters is None or url is None or counters.age is not None or url in _ages:
        return
    looked_at = places(counters, counters.named())
    calls: list[Shown] = []
    asked, page = time.monotonic(), read(bench)
    while len(calls) < MOST_FOR_AGE and (len(calls) < CALLS_FOR_AGE or age_by(calls)):
        began, lag = time.monotonic(), bench.loop.lag
        settle(bench)
        over, before = time.monotonic(), page
        unseen, asked = asked, over
        page = read(bench)
        while _same(before, page, looked_at) and asked - over < MOST_AGE:
            bench.loop.wait(lambda: False, PAUSE)
            unseen, asked = asked, time.monotonic()
            page = read(bench)
        if _same(before, page, looked_at):
            break
        calls.append(Shown(began, over, unseen, time.monotonic(), bench.loop.lag - lag))
        if len(calls) > 1 and calls[-1].waited and calls[-1].held_up < PAUSE:
            break
    _ages[url] = old = age_by(calls)
    if any(call.waited for call in calls[1:]):
        bench.remark(f"the router shows its counters as they were up to {old:g} s ago")


def measure_age_beforehand(bench: Bench) -> None:
    """For a case that begins on a line, before it does: a call in its midst would disturb it."""
    if bench.profile.counters is not None and bench.two_sided:
        measure_age(bench)


def _same(before: Any, after: Any, looked_at: Sequence[Place]) -> bool:
    return all(value(before, p.paths) == value(after, p.paths) for p in looked_at)


def read_at_rest(bench: Bench, looked_at: Sequence[Place]) -> Any:
    """The page when these counters do not move any more, as far as they come to rest."""
    old = age(bench)
    if old:
        bench.loop.wait(lambda: False, old + max(0.1 * old, PAUSE))
    page = read(bench)
    for _ in range(TRIES):
        bench.loop.wait(lambda: False, PAUSE)
        before, page = page, read(bench)
        if _same(before, page, looked_at):
            break
    return page


def settle(bench: Bench) -> None:
    """A call from end to end that is over: what came before it has been counted."""
    with bench.preamble():
        call = bench.place_call()
        call.fence()
        hang_up([call])
        call.a.wait_until(lambda: call.a.connection.end is not None, 2 * PAUSE)


@contextmanager
def counting(
    bench: Bench,
    *names: str,
    causes: Sequence[int] = (),
    on: str = "",
    counted: Mapping[str, Definition] | None = None,
) -> Iterator[None]:
    """Demand that these counters move by what the capture shows of the block.

    causes: those that are looked at where a name counts by cause. on: only this interface, "a" or
    "b". counted: for a name how it is counted in this block, where that differs. Raises
    NotApplicable where the profile maps none of the names, Inconclusive, ExpectationFailed.
    """
    counters = bench.profile.counters
    looked_at = [] if counters is None else places(counters, names, causes)
    looked_at = [place for place in looked_at if on in ("", place.interface)]
    if counters is None or not looked_at:
        raise NotApplicable(f"the profile maps none of these counters: {', '.join(names)}")
    for name in names:
        if counters.paths(name) is None:
            bench.remark(f"the profile maps no counter {name}")
    if not bench.sides:
        measure_age(bench)
        settle(bench)
    before = read_at_rest(bench, looked_at)
    if any(value(before, place.paths) is None for place in looked_at):
        bench.remark("the page of counters has nothing of what is not counted yet")
    begun = _begun(bench)
    yield
    _compare(bench, looked_at, before, begun, counted or {})


def _begun(bench: Bench) -> Extent:
    """How far each connection, channel and line of the case has come."""
    return {
        direction: (_end(received.source.received), _end(received.source.sent))
        for direction, received in bench.received.items()
    }


def _end(units: Sequence[Unit]) -> int:
    return units[-1].end if units else 0


def _interface_of(bench: Bench, direction: Direction) -> str:
    """To which side the router sends there: a, b, or another one."""
    xot = bench.profile.xot
    ends = {"a": xot.a, "b": xot.b} if xot is not None else {}
    for name, end in ends.items():
        if end is not None and direction.destination[0] == end[0]:
            return name
    return (direction.line or "").removeprefix("line.")


def _cuts(bench: Bench, interface: str, begun: Extent, *, framed: bool = False) -> tuple[Cut, ...]:
    """What an interface has carried since: packets by connection or channel, or frames."""
    cuts = []
    for direction, (end_received, end_sent) in _begun(bench).items():
        if interface not in ("router", _interface_of(bench, direction)):
            continue
        if framed is not direction.framed:
            continue
        received, sent = begun.get(direction, (0, 0))
        cuts.append(Cut(direction, (received, end_received), (sent, end_sent)))
    return tuple(cuts)


def _compare(
    bench: Bench,
    looked_at: Sequence[Place],
    before: Any,
    begun: Extent,
    counted: Mapping[str, Definition],
) -> None:
    """Read until every counter is right, or the time for a reaction is over; then expect it."""
    started, lag = time.monotonic(), bench.loop.lag
    # Few packets come between two pages.
    shown: dict[tuple[Place, tuple[Cut, ...]], int] = {}

    def is_wrong(place: Place, expected: CounterMoved) -> bool:
        key = place, expected.cuts
        if key not in shown:
            shown[key] = _shown(bench, expected)
        return expected.result(shown[key]) != RIGHT

    while True:
        after = read(bench)
        expectations = [_moved(bench, p, before, after, begun, counted) for p in looked_at]
        pairs = zip(looked_at, expectations, strict=True)
        wrong = [expected for place, expected in pairs if is_wrong(place, expected)]
        waited = time.monotonic() - started - (bench.loop.lag - lag)
        if not wrong or waited > bench.reaction_limit + age(bench):
            break
        bench.loop.wait(lambda: False, PAUSE)
    if any(_passed_the_top(place, before, after) for place in looked_at):
        bench.remark("a counter of the router passed 2^32 and began again at 0")
    for expectation in wrong:
        _find_others(bench, expectation, before, after, begun)
    for expectation in expectations:
        bench.state(expectation)
    if wrong:
        raise ExpectationFailed(wrong[0], bench.judge(wrong[0]))


def _shown(bench: Bench, expected: CounterMoved) -> int:
    """What the capture shows. Thousands of packets take long, and the connections are served
    meanwhile: no timer of the router is to run out between one counter and the next."""
    bench.loop.poll()
    return expected.definition.total(expected.cuts, bench.judge_one)


def _passed_the_top(place: Place, before: Any, after: Any) -> bool:
    first, last = value(before, place.paths), value(after, place.paths)
    return first is not None and last is not None and first - last > COUNTER32 // 2


def _moved(
    bench: Bench,
    place: Place,
    before: Any,
    after: Any,
    begun: Extent,
    counted: Mapping[str, Definition],
) -> CounterMoved:
    line = bench.profile.line.by_side().get(place.interface)
    usual = definition(place.name, place.cause, N1 if line is None else line.n1)
    chosen = counted.get(place.name, usual)
    return CounterMoved(
        {"a": "A", "b": "B"}.get(place.interface, place.interface),
        bench.purpose.clause,
        name=place.shown_name,
        interface=place.interface,
        path=place.text,
        definition=chosen,
        cuts=_cuts(bench, place.interface, begun, framed=chosen.framed),
        before=value(before, place.paths),
        after=value(after, place.paths),
    )


def _find_others(bench: Bench, wrong: CounterMoved, before: Any, after: Any, begun: Extent) -> None:
    """Where the missing may have been counted: counters that moved too far, or by just as much."""
    counters = bench.profile.counters
    shown = _shown(bench, wrong)
    missing = shown - moved(wrong.before or 0, wrong.after or 0, shown)
    if counters is None or missing <= 0:
        return
    others = []
    for place in places(counters, [name for name in counters.named() if name in DEFINITIONS]):
        if place.interface == wrong.interface:
            other = _moved(bench, place, before, after, begun, {})
            right = _shown(bench, other)
            step = moved(other.before or 0, other.after or 0, right)
            if step > right * other.definition.most:
                others.append(f"{place.shown_name} by {step - right} too many")
    wrong.instead = tuple(others)
    root = counters.root(wrong.interface)
    if not others and root is not None and wrong.before == wrong.after:
        mapped = [p.below(root) for name in counters.named() for p in counters.paths(name) or ()]
        wrong.perhaps = tuple(others_moved(before, after, root, missing, mapped)[:5])


@contextmanager
def cleared_circuits(bench: Bench) -> Iterator[None]:
    """Demand that each circuit that is cleared in the block is in the router's table of them.

    Raises as counting().
    """
    counters = bench.profile.counters
    cleared = counters.cleared if counters is not None else None
    if cleared is None:
        raise NotApplicable("the profile names no table of cleared circuits ([counters.cleared])")
    measure_age(bench)
    settle(bench)
    begun = _begun(bench)
    before = _entries(read_at_rest(bench, ()), cleared)[0]
    yield

    def table() -> ClearedTable:
        after, problem = _entries(read(bench), cleared)
        return ClearedTable(
            "A",
            bench.purpose.clause,
            path=cleared.table.text,
            new=tuple((after - before).elements()),
            problem=problem,
            cuts=_cuts(bench, "a", begun),
            far=_cuts(bench, "b", begun),
        )

    _demand(bench, table)


def _demand(bench: Bench, of_the_page: Callable[[], Expectation]) -> None:
    """Demand what the router's page shows. It may come late: until then the page is read again."""
    started, lag = time.monotonic(), bench.loop.lag
    while True:
        expectation = of_the_page()
        waited = time.monotonic() - started - (bench.loop.lag - lag)
        seen = bench.judge(expectation)
        if seen.met or waited > bench.reaction_limit + age(bench):
            break
        bench.loop.wait(lambda: False, PAUSE)
    bench.state(expectation)
    if not seen.met:
        raise ExpectationFailed(expectation, seen)


def _entries(page: Any, cleared: Cleared) -> tuple[Counter[Entry], str]:
    try:
        return entries(page, cleared), ""
    except NoTable as error:
        return Counter(), str(error)


@contextmanager
def frame_reject_kept(bench: Bench, line: LineSide, *, received: bool) -> Iterator[None]:
    """Demand that the router keeps the field of the last FRMR of the block, sent or received.

    Raises as counting().
    """
    interface = line.name.lower()
    counters = bench.profile.counters
    if counters is None:
        raise NotApplicable("the router shows no counters")
    root, where = counters.root(interface), counters.frame_rejects
    kept = where.received if received else where.sent
    if kept is None or root is None:
        raise NotApplicable("the profile does not say where an FRMR is kept (counters)")
    path = kept.below(root)
    begun = _begun(bench)
    yield
    _demand(
        bench,
        lambda: FrameRejectKept(
            line.name,
            bench.purpose.clause,
            path=path.text,
            received=received,
            kept=field(read(bench), path),
            cuts=_cuts(bench, interface, begun, framed=True),
        ),
    )

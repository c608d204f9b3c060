# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that show only under load: for x25shark bench and overload, not for the suite.

The number of each is the rate per second above which it shows.
"""

import time
from collections.abc import Callable
from typing import Any

from ..channel import Channel
from ..codec import Call, Data
from ..counters import Interface
from ..http import Exchange
from ..line_counters import LineCounters
from ..relay_local import LocalRelay
from ..router import Router
from ..server import Server
from .common import leak
from .registry import Patch, fault

#: Seconds over which a rate is counted, and for which the overload lasts at least.
WINDOW = 0.1
LASTS = 0.3


class Load:
    """Whether events come faster than a rate, or did a moment ago."""

    def __init__(self, limit: float, lasts: float = 0.0) -> None:
        self.most = limit * WINDOW
        self.lasts = lasts
        self.since = 0.0
        self.count = 0
        self.until = 0.0

    def event(self) -> bool:
        now = time.monotonic()
        if now - self.since > WINDOW:
            self.since, self.count = now, 0
        self.count += 1
        if self.count > self.most:
            self.until = max(self.until, self.since + WINDOW, now + self.lasts)
        return now < self.until

    def is_over(self) -> bool:
        return time.monotonic() < self.until


def watch_data(patch: Patch, load: Load, above: Callable[[], None] = lambda: None) -> None:
    """Count received Data packets; above() is called for those that are too many."""

    @patch.wrap(Interface, "data_in")
    def data_in(original: Any, interface: Interface, octets: int) -> None:
        original(interface, octets)
        if load.event():
            above()


@fault("BUG-LOAD-01", 500, text="carries less when it is offered more than so many Data packets/s")
def carries_less(patch: Patch) -> None:
    watch_data(patch, Load(patch.number, LASTS), lambda: time.sleep(0.02))


@fault("BUG-LOAD-02", 500, text="does not count Data packets above this rate")
def counts_less(patch: Patch) -> None:
    load = Load(patch.number)

    @patch.wrap(Interface, "data_in")
    def data_in(original: Any, interface: Interface, octets: int) -> None:
        if not load.event():
            original(interface, octets)


@fault("BUG-LOAD-03", 2000, text="the counters page is dead above so many Data packets/s")
def page_is_dead(patch: Patch) -> None:
    load = Load(patch.number, LASTS)
    watch_data(patch, load)

    @patch.wrap(Exchange, "ready")
    def ready(original: Any, exchange: Exchange, events: int) -> None:
        if load.is_over():
            exchange.close()
        else:
            original(exchange, events)


@fault("BUG-LOAD-04", 150, text="the call table keeps entries of calls above so many per second")
def table_fills(patch: Patch) -> None:
    load = Load(patch.number)

    @patch.wrap(Router, "call_received")
    def call_received(original: Any, router: Router, channel: Channel, call: Call) -> None:
        if load.event():
            leak(channel)
        original(router, channel, call)


@fault("BUG-LOAD-05", 200, text="stands still for so many milliseconds each second")
def stands_still(patch: Patch) -> None:
    due = time.monotonic() + 1

    @patch.wrap(Server, "turn")
    def turn(original: Any, server: Server, longest: float | None = None) -> None:
        nonlocal due
        if time.monotonic() >= due:
            time.sleep(patch.number / 1000)
            due = time.monotonic() + 1 - patch.number / 1000
        original(server, longest)


@fault("BUG-LOAD-06", 500, text="mixes up the data of two circuits above so many Data packets/s")
def mixed_up(patch: Patch) -> None:
    load = Load(patch.number)
    last: list[tuple[Channel, bytes]] = []

    @patch.wrap(LocalRelay, "data_received")
    def data_received(original: Any, relay: LocalRelay, channel: Channel, data: Data) -> None:
        if load.event():
            mine = data.user_data
            if last and last[0][0] is not channel and len(last[0][1]) == len(mine):
                data = data._replace(user_data=last[0][1])
            last[:] = [(channel, mine)]
        original(relay, channel, data)


@fault("BUG-LOAD-07", text="illegal XOT headers are counted as discarded units")
def wrong_error_counter(patch: Patch) -> None:
    @patch.wrap(Interface, "count")
    def count(original: Any, interface: Interface, name: str, step: int = 1) -> None:
        original(interface, "xotInDiscards" if name == "xotFramingErrors" else name, step)


@fault("BUG-LOAD-08", text="frames with a wrong FCS are counted as runts")
def wrong_line_counter(patch: Patch) -> None:
    @patch.wrap(LineCounters, "error")
    def error(original: Any, counters: LineCounters, name: str) -> None:
        original(counters, "hdlcInRunts" if name == "rs232SyncPortFrameCheckErrors" else name)


@fault("BUG-LOAD-09", text="aborted frames are not counted")
def aborts_not_counted(patch: Patch) -> None:
    @patch.wrap(LineCounters, "error")
    def error(original: Any, counters: LineCounters, name: str) -> None:
        if name != "rs232SyncPortAbortedFrames":
            original(counters, name)

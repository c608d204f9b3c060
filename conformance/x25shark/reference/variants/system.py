# SPDX-License-Identifier: GPL-2.0-or-later
"""How many calls a router takes, and how it says that it takes no more (X.25 4.1, 5.2.4)."""

import socket
import time
from contextlib import suppress
from copy import deepcopy
from typing import Any

from ..channel import Channel
from ..codec import Call
from ..codes import ClearCause, Diag
from ..counters import GAUGES, Counters
from ..router import Router
from ..server import Server
from .registry import Original, Patch, variant

FEW, ONE = 6, 1
# Of a Counter of RFC 1155.
COUNTER32 = 1 << 32
# So far below the largest value counters begin: the calls of one case pass it.
BELOW = 6


def takes(patch: Patch, calls: int) -> None:
    @patch.wrap(Router, "is_full")
    def is_full(original: Original, router: Router) -> bool:
        return len(router.circuits) >= calls


@variant("MAY-SYS-01")
def more_than_it_says(patch: Patch) -> None:
    patch.replace(Router, "is_full", lambda router: False)


@variant("MAY-SYS-02")
def a_few(patch: Patch) -> None:
    takes(patch, FEW)


@variant("MAY-SYS-03")
def one(patch: Patch) -> None:
    takes(patch, ONE)


def when_full(patch: Patch, react: Original) -> None:
    @patch.wrap(Router, "refuse")
    def refuse(
        original: Original, router: Router, channel: Channel, call: Call, cause: int, code: int
    ) -> None:
        full = cause == ClearCause.NETWORK_CONGESTION and code == Diag.NO_LOGICAL_CHANNEL
        if full and not channel.on_line:
            react(lambda why: original(router, channel, call, why, code), channel)
        else:
            original(router, channel, call, cause, code)


@variant("MAY-SYS-04")
def hang_up_when_full(patch: Patch) -> None:
    when_full(patch, lambda _refuse, channel: channel.wire.close())


@variant("MAY-SYS-05")
def busy_when_full(patch: Patch) -> None:
    when_full(patch, lambda refuse, _channel: refuse(ClearCause.NUMBER_BUSY))


@variant("MAY-SYS-06")
def no_connections_when_full(patch: Patch) -> None:
    @patch.wrap(Server, "_accept_xot")
    def accept(original: Original, server: Server, listener: socket.socket) -> None:
        if isinstance(server.router, Router) and server.router.is_full():
            with suppress(OSError):
                listener.accept()[0].close()
        else:
            original(server, listener)


# counters


@variant("MAY-SYS-07", number=1.0)
def gathered_now_and_then(patch: Patch) -> None:
    shown: dict[str, Any] = {}
    gathered = [0.0]

    @patch.wrap(Counters, "as_dict")
    def as_dict(original: Original, counters: Counters) -> dict[str, Any]:
        if time.monotonic() - gathered[0] > patch.number:
            shown.clear()
            shown.update(deepcopy(original(counters)))
            gathered[0] = time.monotonic()
        return shown


@variant("MAY-SYS-08")
def near_the_largest(patch: Patch) -> None:
    @patch.wrap(Counters, "as_dict")
    def as_dict(original: Original, counters: Counters) -> Any:
        return _begun_high(original(counters))


def _begun_high(value: Any) -> Any:
    """What counts up from just below 2^32: all that is there from the beginning."""
    if isinstance(value, dict):
        return {k: v if _left_alone(k) else _begun_high(v) for k, v in value.items()}
    counts = isinstance(value, int) and not isinstance(value, bool)
    return (value + COUNTER32 - BELOW) % COUNTER32 if counts else value


@variant("MAY-SYS-09")
def nothing_of_what_is_zero(patch: Patch) -> None:
    @patch.wrap(Counters, "as_dict")
    def as_dict(original: Original, counters: Counters) -> Any:
        return _without_zeros(original(counters))


def _without_zeros(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_zeros(inside) for name, inside in value.items() if inside != 0}
    return value


def _left_alone(name: str) -> bool:
    made_by_events = name.endswith("ByCause") or name == "x25ClearedCircuitTable"
    return made_by_events or name in GAUGES

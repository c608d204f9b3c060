# SPDX-License-Identifier: GPL-2.0-or-later
"""How many calls a router takes, and how it says that it takes no more (X.25 4.1, 5.2.4)."""

import socket
from contextlib import suppress

from ..channel import Channel
from ..codec import Call
from ..codes import ClearCause, Diag
from ..router import Router
from ..server import Server
from .registry import Original, Patch, variant

FEW, ONE = 6, 1


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Access lines of a profile ([emulation]): a relay of the engine in front of each side's router.
The embedded router may have them at its own interfaces in their place (at = "router").

    tester A - line A - router - line B - tester B

The kernel's own emulation (tc netem) does not serve: it charges TCP segments, and no X.25 packets.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..profile import AccessLine, LineDirection, Profile
from .engine import Engine
from .target import Target, open_target


def direction(way: LineDirection) -> dict[str, Any]:
    """One direction, as the engine's relay takes it."""
    return {
        "rate": way.rate,
        "delay_ms": way.delay,
        "queue_packets": way.queue,
        "queue_octets": way.queue_octets,
        "loss": way.loss,
    }


def line_of(line: AccessLine, *, from_tester: bool, seed: int = 1) -> dict[str, Any]:
    """A line as the engine's relay takes it. from_tester: the tester opens its connections."""
    ways = [direction(line.to_router), direction(line.to_tester)]
    return {
        "directions": ways if from_tester else ways[::-1],
        "framing": line.framing,
        "overflow": line.overflow,
        "seed": seed,
    }


@contextlib.contextmanager
def emulated(engine: Engine, target: Target, profile: Profile) -> Iterator[Target]:
    """The same target behind the lines of its profile; as it is without [emulation], and
    where the router itself has them."""
    lines = profile.emulation
    if lines.at == "router" or (lines.a is None and lines.b is None):
        yield target
        return
    with contextlib.ExitStack() as stack:
        # A relay listens for as long as somebody has it.
        if lines.a is not None:
            near = engine.relay(
                {
                    "listen": "127.0.0.1:0",
                    "connect": target.connect,
                    "line": line_of(lines.a, from_tester=True),
                }
            )
            stack.callback(near.stop)
            target = replace(target, connect=f"127.0.0.1:{near.port}")
        if lines.b is not None and target.listen is not None:
            behind = f"127.0.0.1:{_free_port()}"
            far = engine.relay(
                {
                    "listen": target.listen,
                    "connect": behind,
                    "line": line_of(lines.b, from_tester=False),
                }
            )
            stack.callback(far.stop)
            target = replace(target, listen=behind)
        yield target


@contextlib.contextmanager
def open_emulated(engine: Engine, **which: Any) -> Iterator[Target]:
    """As open_target(), behind the lines of the router's profile."""
    with open_target(**which) as target:
        if target.profile is None:
            yield target
            return
        with emulated(engine, target, target.profile) as behind:
            yield behind


def _free_port() -> int:
    """A port of the loopback interface that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

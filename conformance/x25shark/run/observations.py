# SPDX-License-Identifier: GPL-2.0-or-later
"""What the campaign makes of a case that went wrong: whose doing, in a line."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from scapy_x25.x25 import CALL_ACCEPTED, packet_type

from ..links.loop import Loop
from ..links.xot import LinkError, Listener
from ..sides.bench import Bench
from ..sides.side import Side


def called(bench: Bench) -> bool:
    """Whether a call came about, at both ends where the tester plays both."""
    names = {
        side.name
        for side in bench.sides
        for octets in (*side.connection.received, *side.connection.sent)
        if packet_type(octets.packet) == CALL_ACCEPTED
    }
    return len(names) == 2 if bench.two_sided else bool(names)


def carried(bench: Bench) -> bool:
    """Whether the router has sent Data on a call or a permanent circuit."""
    types = (packet_type(u.packet) for side in bench.sides for u in side.connection.received)
    # Bit 1 of octet 3 is 0 in Data alone (X.25 table 5-2).
    return any(octet is not None and not octet & 1 for octet in types)


def flood(sides: Sequence[Side], listeners: Mapping[str, Listener], loop: Loop) -> str:
    """The observation that a router sent more than the tester reads; "" if it did not.

    loop: it knows what came in the case.
    """
    for side in sides:
        connection = side.connection
        if connection.flooded:
            return (
                f"the router flooded side {side.name}: {_packets(len(connection.received))}, "
                f"{connection.received_octets} octets on one connection, {loop.units} packets with "
                f"{loop.received} octets in the case, and more to come; the tester read no further"
            )
    for name, listener in listeners.items():
        if listener.flooded:
            return (
                f"the router flooded side {name.upper()}: {listener.accepted} TCP connections in "
                "one case, and perhaps more; the tester took no further"
            )
    return ""


def _packets(number: int) -> str:
    return "1 packet" if number == 1 else f"{number} packets"


def refused(error: BaseException | None) -> bool:
    """Whether an exception came about because the router took no TCP connection."""
    while error is not None:
        if isinstance(error, LinkError):
            return True
        error = error.__context__
    return False


def fault_of_ours(error: BaseException) -> str:
    """One line for an exception of the tester itself, with the place."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"the tester failed: {type(error).__name__}: {error}{place}"[:2000]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The points of control and observation of a case (ISO/IEC 9646): sides, and what waits there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from scapy.packet import Packet

from ..judges.expectation import Direction, Expectation
from ..judges.tester import Received
from ..links.circuits import Circuit, PacketUnit
from ..links.xot import Connection, Unit
from .channel import ChannelSide
from .context import Context
from .line import LineSide
from .side import Side

Added = TypeVar("Added", bound=Side)


class Points:
    """The sides of a case, its lines, and what the router has opened."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.sides: list[Side] = []
        self.lines: dict[str, LineSide] = {}
        self.connections: list[tuple[str, Connection]] = []
        # What the router has opened and no case has taken yet, by address or line.
        self.waiting: dict[str, list[Connection | Circuit]] = {}
        # What is asked first where an expectation of a side is not met.
        self.on_unmet: Callable[[Side, Expectation], None] = lambda side, expectation: None

    def add_side(self, name: str, connection: Connection, modulus: int = 8, start: int = 0) -> Side:
        """The side of a connection, from its start or from a further call on."""
        if not start:
            self.connections.append((name, connection))
            direction = Direction(connection.remote, connection.local)
            self.context.received[direction] = Received(connection)
        return self._added(Side(self.context, name, connection, modulus, start))

    def add_channel(self, line: LineSide, circuit: Circuit) -> ChannelSide:
        """The side of a call on a logical channel of a line; of channel 0: of its restarts."""
        direction = Direction(circuit.remote, circuit.local)
        if direction not in self.context.received:
            self.context.received[direction] = Received(line.channels.log(circuit.lcn))

        def allow_on_channel_0(templates: Sequence[Packet]) -> None:
            line.layer.allow(*templates)

        return self._added(
            ChannelSide(self.context, line.name, circuit, line.profile, allow_on_channel_0)
        )

    def _added(self, side: Added) -> Added:
        side.on_unmet = self.on_unmet
        self.sides.append(side)
        return side

    def waiting_calls(self) -> list[Unit | PacketUnit]:
        """The first packets on what the router has opened and no case has taken yet."""
        opened = [one for waiting in self.waiting.values() for one in waiting]
        return [unit for one in opened for unit in one.received[:1]]

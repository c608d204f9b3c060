# SPDX-License-Identifier: GPL-2.0-or-later
"""The serial lines of a case and their logical channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..judges.expectation import Direction
from ..judges.tester import Received
from ..links.circuits import Circuit
from ..links.hdlc import Line
from . import postamble
from .line import ChannelSide, LineSide
from .outcomes import Inconclusive, NotApplicable
from .side import Side

if TYPE_CHECKING:
    from .bench import Bench


class SerialLines:
    """All lines of the profile, whether the case is about them or not."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._layers: dict[str, ChannelSide] = {}
        #: The line whose turn it is, in a case that runs on one after the other.
        self.turn = ""

    def add(self, at: str, line: LineSide) -> None:
        """The line is there; what the case wants of it is another matter."""
        bench = self.bench
        bench.lines[at] = line
        bench.listeners.waiting[at] = []
        bench.received[line.direction] = Received(line.line.log, framed=True)
        address = line.line.tester(0)
        directions = bench.accepted[address] = []
        line.channels.on_channel = lambda lcn: directions.append(
            Direction(line.line.router(lcn), line.line.tester(lcn))
        )
        line.channels.on_circuit = bench.listeners.waiting[at].append

    def turn_to(self, at: str) -> None:
        """The case begins anew on this line; on those before it, nothing is judged from here on."""
        for line in self.bench.lines.values():
            if line.watched:
                postamble.leave(self.bench, line)
        self.turn = at

    def unseen(self) -> list[LineSide]:
        """Lines whose frames are there, although the case is not about them."""
        return [line for line in self.bench.lines.values() if not line.watched]

    def own(self) -> list[Line]:
        """The tester's ends of all serial lines."""
        return [line.line for line in self.bench.lines.values()]

    def raise_links(self) -> None:
        """Bring up the links of all lines (preamble P-LINK) but those that the case keeps down."""
        for line in self.bench.lines.values():
            if not line.kept_down:
                self.need(line)
                line.link.bring_up()

    @staticmethod
    def need(line: LineSide) -> None:
        """Raises Inconclusive if the line has gone."""
        if line.line.down:
            raise Inconclusive(f"{line.line.name} is not there: {line.line.down}")

    def channel_zero(self, line: LineSide, start: int = 0) -> ChannelSide:
        """The side of restarts and diagnostics of a line; start: where its link begins."""
        if line.name not in self._layers:
            circuit = line.channels.open(0, start)
            self._layers[line.name] = self.channel_side(line, circuit)
        return self._layers[line.name]

    def take_channel(self, at: str, modulus: int) -> Side:
        """A free logical channel of a line. Raises NotApplicable or Inconclusive."""
        line = self.bench.lines[at]
        if line.profile.modulo != modulus:
            raise NotApplicable(f"line.{at} has modulo {line.profile.modulo}")
        lowest, highest = line.profile.lcn
        lcn = line.channels.free(range(lowest, highest + 1))
        if lcn is None:
            raise Inconclusive(f"all logical channels of line.{at} are in use")
        return self.channel_side(line, line.channels.open(lcn))

    def channel_side(self, line: LineSide, circuit: Circuit) -> ChannelSide:
        """The side of a call on a logical channel."""
        bench = self.bench
        direction = Direction(circuit.remote, circuit.local)
        if direction not in bench.received:
            bench.received[direction] = Received(line.channels.log(circuit.lcn))
        side = ChannelSide(bench, line.name, circuit, line.profile.modulo)
        bench.sides.append(side)
        return side

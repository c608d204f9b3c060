# SPDX-License-Identifier: GPL-2.0-or-later
"""The serial lines of a case and their logical channels."""

from __future__ import annotations

from collections.abc import Mapping

from ..judges.expectation import Direction
from ..judges.tester import Received
from ..links.hdlc import Line
from .channel import ChannelSide
from .line import LineSide
from .outcomes import Inconclusive, NotApplicable
from .points import Points
from .side import Side


class SerialLines:
    """All lines of the profile, whether the case is about them or not."""

    def __init__(self, points: Points, lines: Mapping[str, Line]) -> None:
        self._points = points
        self._context = points.context
        #: The line whose turn it is, in a case that runs on one after the other.
        self.turn = ""
        for at, line in lines.items():
            self._add(at, line)

    def _add(self, at: str, octets: Line) -> None:
        """The line is there; what the case wants of it is another matter."""
        points, context = self._points, self._context
        profile = context.profile.line.by_side()[at]
        line = LineSide(context, at.upper(), octets, profile, points.add_channel)
        points.lines[at] = line
        context.received[line.direction] = Received(line.line.log, framed=True)
        directions = context.accepted[line.line.tester(0)] = []
        line.channels.on_channel = lambda lcn: directions.append(
            Direction(line.line.router(lcn), line.line.tester(lcn))
        )
        waiting = points.waiting[at] = []
        line.channels.on_circuit = waiting.append

    def turn_to(self, at: str) -> None:
        """The case begins anew on this line; on those before it, nothing is judged from here on."""
        for line in self._points.lines.values():
            if line.watched:
                self._leave(line)
        self.turn = at

    def _leave(self, line: LineSide) -> None:
        """What this line brings from here on does not concern the case."""
        of_it = [side for side in self._points.sides if side.name == line.name]
        directions = {side.direction for side in of_it}
        for side in of_it:
            side.left_at = side.connection.received_octets
        end = line.connection.received_octets
        for expectation in self._context.expectations:
            if expectation.direction in directions and expectation.stop is None:
                expectation.stop = end
        line.link.leave()

    def unseen(self) -> list[LineSide]:
        """Lines whose frames are there, although the case is not about them."""
        return [line for line in self._points.lines.values() if not line.watched]

    def own(self) -> list[Line]:
        """The tester's ends of all serial lines."""
        return [line.line for line in self._points.lines.values()]

    def raise_links(self, *, but: LineSide | None = None) -> None:
        """Bring up the links of all lines (preamble P-LINK) but those that the case keeps down."""
        for line in self._points.lines.values():
            if line is not but and not line.kept_down:
                self.need(line)
                line.link.bring_up()

    @staticmethod
    def need(line: LineSide) -> None:
        """Raises Inconclusive if the line has gone."""
        if line.line.down:
            raise Inconclusive(f"{line.line.name} is not there: {line.line.down}")

    def open(self, line: LineSide, lcn: int) -> ChannelSide:
        """The side of a call on this logical channel."""
        return self._points.add_channel(line, line.channels.open(lcn))

    def take_channel(self, at: str, modulus: int) -> Side:
        """A free logical channel of a line. Raises NotApplicable or Inconclusive."""
        line = self._points.lines[at]
        if line.profile.modulo != modulus:
            raise NotApplicable(f"line.{at} has modulo {line.profile.modulo}")
        lowest, highest = line.profile.lcn
        lcn = line.channels.free(range(lowest, highest + 1))
        if lcn is None:
            raise Inconclusive(f"all logical channels of line.{at} are in use")
        return self.open(line, lcn)

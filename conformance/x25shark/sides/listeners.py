# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the router may call the tester: connections and calls that come, and those that may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from scapy_x25 import CallRequest, PvcSetup
from scapy_x25.x25 import PVC_SETUP, packet_type

from ..judges.expectation import Direction, NoConnection
from ..links.carrier import End
from ..links.circuits import Circuit
from ..links.xot import Connection, LinkError, Listener
from .capacity import Capacity
from .channel import ChannelSide
from .further import FurtherCalls
from .line import LineSide
from .outcomes import ExpectationFailed, Inconclusive, NotApplicable
from .points import Points
from .side import Side

# Status of a PVC setup: the destination interface is not up (RFC 1613 6.5).
INTERFACE_NOT_UP = 0x14
CALLED_BY = {"a": "xot.a", "b": "xot.b", "b2": "xot.b2"}


class Listeners:
    """The tester's listening addresses, and its lines, in one case."""

    def __init__(
        self,
        points: Points,
        capacity: Capacity,
        further: FurtherCalls,
        listeners: Mapping[str, Listener],
    ) -> None:
        self._points = points
        self._context = points.context
        self._capacity = capacity
        self._further = further
        self._listeners = listeners
        self._waiting = points.waiting
        self._waiting |= {name: [] for name in listeners}
        self._ends: set[Direction] = set()
        for name, listener in listeners.items():
            self._listen(name, listener)

    def note_ends(self, direction: Direction) -> None:
        """A capture tells connections apart by their addresses and ports alone."""
        self._context.same_ends |= direction in self._ends
        self._ends.add(direction)

    def _listen(self, name: str, listener: Listener) -> None:
        """Note what the router opens to that address."""
        accepted = self._context.accepted[listener.address] = []

        def accept(connection: Connection) -> None:
            direction = Direction(connection.remote, connection.local)
            self.note_ends(direction)
            accepted.append(direction)
            self._waiting[name].append(connection)

        listener.on_accept = accept

    def accept(self, *, at: str = "b", clause: str | None = None, note: str = "") -> Side:
        """The next TCP connection from the router to there, or a kept one with a new Call."""
        context, capacity = self._context, self._capacity
        if at not in self._waiting:
            raise NotApplicable(f"the profile has no {CALLED_BY[at]}")
        while True:
            context.loop.wait(
                lambda: self.is_called(at) or capacity.refused() is not None,
                context.reaction_limit,
                patient=True,
            )
            if not self.is_called(at):
                break
            side = self.take_called(at)
            if side is not None:
                return side
        refused = capacity.refused()
        if refused is not None:
            capacity.refuse(refused)
        told = "; ".join(filter(None, (note, self._told_instead())))
        raise context.no_call_came(CallRequest(), at, clause, told)

    def take_called(self, at: str = "b") -> Side | None:
        """The side of the next call of the router; None: there is none, or one to leave aside."""
        side = self._next_called(at)
        if side is None or self._given_up(side):
            return None
        self._capacity.accepted(side)
        return None if self._further.take(side) else side

    def take_late_ones(self) -> None:
        """At the end of a case: what has come by now and was allowed is not one too many."""
        while self._further.expected and self.is_called():
            # What it contradicts is judged with all other expectations.
            with suppress(ExpectationFailed):
                side = self.take_called()
                if side is not None:
                    self._further.take_late(side)

    def _given_up(self, side: Side) -> bool:
        """Whether the router has closed this connection again without a packet on it.

        It may: the call for which it was opened has been cleared meanwhile (RFC 1613 6.1).
        """
        if isinstance(side, ChannelSide) or side.arrivals.units:
            return False
        side.wait_until(lambda: bool(side.arrivals.units) or side.connection.end is not None)
        if side.arrivals.units or side.connection.end is None or side.connection.received_octets:
            return False
        self._left_aside(side)
        return True

    def _next_called(self, at: str) -> Side | None:
        points = self._points
        name = "A" if at == "a" else "B"
        kept = self._kept(at)
        if kept is not None:
            start, kept.next_call = kept.next_call or 0, None
            return points.add_side(name, kept.wire.tcp, start=start)
        if not self._waiting[at]:
            return None
        self._pass_over_silent(self._waiting[at])
        self._set_circuits_aside(at)
        if not self._waiting[at]:
            return None
        connection = self._waiting[at].pop(0)
        if isinstance(connection, Circuit):
            return points.add_channel(points.lines[at], connection)
        return points.add_side(name, connection)

    def _pass_over_silent(self, waiting: list[Connection | Circuit]) -> None:
        """Let a connection that brings nothing stand back behind one with a Call.

        A router that keeps its connections may keep one whose call had ended before it opened
        (RFC 1613 5).
        """
        first = waiting[0]

        def others() -> list[Connection]:
            return [one for one in waiting[1:] if isinstance(one, Connection) and _brought(one)]

        def over() -> bool:
            return isinstance(first, Circuit) or _brought(first) or first.end is not None

        context = self._context
        context.loop.wait(lambda: over() or bool(others()), context.reaction_limit, patient=True)
        if not over() and others():
            context.loop.wait(over, context.reaction_limit)
            if not over():
                context.remark("the router keeps a connection on which it has sent no Call")
                called = others()[0]
                waiting.remove(called)
                waiting.insert(0, called)

    def is_called(self, at: str = "b") -> bool:
        """Whether the router has called there and accept() has not taken that call yet."""
        self._set_circuits_aside(at)
        return bool(self._waiting.get(at)) or self._kept(at) is not None

    def has_call(self, at: str = "b") -> bool:
        """As is_called(), with the first packet of it."""
        self._set_circuits_aside(at)
        return self._kept(at) is not None or any(one.received for one in self._waiting.get(at, ()))

    def leave_given_up(self, at: str) -> None:
        """Leave connections aside that the router closes without an octet; waits for that."""
        waiting = self._waiting.get(at, [])
        silent = [one for one in waiting if isinstance(one, Connection) and not _brought(one)]
        self._context.loop.wait(
            lambda: all(one.end is not None or _brought(one) for one in silent),
            self._context.profile.times.reaction,
        )
        for one in silent:
            if one.end is not None and not _brought(one):
                waiting.remove(one)
                self._left_aside(self._points.add_side("A" if at == "a" else "B", one))
        self._set_circuits_aside(at)

    def _set_circuits_aside(self, at: str) -> None:
        """Tell a router that opens its end of a permanent circuit here that it is not up.

        Either end may open the connection (RFC 1613 6.5), and the tester opens those of the profile
        but for one, which has a listening address of its own.
        """
        if at not in CALLED_BY or not self._context.declared("X-PVC"):
            return
        waiting = self._waiting.get(at, [])
        for one in [*waiting]:
            if not isinstance(one, Connection) or not _begins_a_circuit(one):
                continue
            waiting.remove(one)
            side = self._points.add_side("A" if at == "a" else "B", one)
            side.allow(PvcSetup())
            asked = side.decoded(one.received[0].packet)
            side.send(PvcSetup(**{**asked.fields, "pvc_status": INTERFACE_NOT_UP}))
            side.close()
            self._context.remark("the router opens an end of a permanent circuit itself")

    def _left_aside(self, side: Side) -> None:
        self._context.remark("the router opened a connection and closed it without a Call")
        side.close()

    def _kept(self, at: str) -> Side | None:
        """The side of a call that is over, with the next Call on its connection."""
        listener = self._listeners.get(at)
        if listener is None:
            return None
        for side in self._points.sides:
            if side.next_call is not None and side.connection.local == listener.address:
                return side
        return None

    def no_connection(self, *, at: str = "b", clause: str | None = None) -> None:
        """Demand that the router opens no further connection to that address, up to the end."""
        if at in self._waiting:
            self.watch(at, self._context.clause(clause))

    def addresses(self) -> dict[str, End]:
        """Where the router may open connections to, or (on a line) use channels."""
        listening = self._listeners.items()
        found: dict[str, End] = {name: listener.address for name, listener in listening}
        used = {at: line for at, line in self._points.lines.items() if line.used}
        return found | {at: line.line.tester(0) for at, line in used.items()}

    def watch(self, at: str, clause: str) -> None:
        """Demand no further connection there."""
        address = self.addresses().get(at)
        if address is None:
            return
        self._context.expectations.append(
            NoConnection(at.upper(), clause, listener=address, known=frozenset())
        )

    def refuse(self, at: str = "b") -> Listener:
        """The listening address, for cases that stop() and resume() it."""
        if at not in self._listeners:
            raise NotApplicable(f"the profile has no {CALLED_BY[at]}")
        return self._listeners[at]

    @contextmanager
    def listening(self, at: str, address: tuple[str, int]) -> Iterator[None]:
        """Listen at one more address while the block runs; accept(at=...) takes its connections.

        What else comes there is nobody's: a router may connect again at any moment in which the
        case ends a circuit. Only a case that asks for it (watch) demands that nothing came.
        """
        try:
            listener = Listener(self._context.loop, address)
        except LinkError as error:
            raise Inconclusive(str(error)) from None
        self._listeners = {**self._listeners, at: listener}
        self._waiting[at] = []
        self._listen(at, listener)
        try:
            yield
        finally:
            listener.close()
            self._listeners = {name: one for name, one in self._listeners.items() if name != at}
            for connection in self._waiting.pop(at):
                if isinstance(connection, Connection):
                    connection.reset()

    def _told_instead(self) -> str:
        """What the side that acted last got in place of what was expected elsewhere."""
        side = self._context.last_sender
        if side is None or isinstance(side, LineSide):
            return ""
        told = side.arrivals.last_unread
        return f"side {side.name} got {told}" if told else ""


def _begins_a_circuit(connection: Connection) -> bool:
    return bool(connection.received) and packet_type(connection.received[0].packet) == PVC_SETUP


def _brought(connection: Connection) -> bool:
    return bool(connection.received or connection.received_octets)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the router may call the tester: connections and calls that come, and those that may not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scapy_x25 import CallRequest

from ..judges.expectation import Direction, NoConnection
from ..links.carrier import End
from ..links.circuits import Circuit, PacketUnit
from ..links.xot import Connection, LinkError, Listener, Unit
from .line import ChannelSide, LineSide
from .outcomes import Inconclusive, NotApplicable
from .side import Side

if TYPE_CHECKING:
    from .bench import Bench

CALLED_BY = {"a": "xot.a", "b": "xot.b", "b2": "xot.b2"}


class Listeners:
    """The tester's listening addresses, and its lines, in one case."""

    def __init__(self, bench: Bench, listeners: Mapping[str, Listener]) -> None:
        self.bench = bench
        self._listeners = listeners
        # What the router has opened and accept() has not taken yet, by address.
        self.waiting: dict[str, list[Connection | Circuit]] = {name: [] for name in listeners}
        self._ends: set[Direction] = set()

    def note_ends(self, direction: Direction) -> None:
        """A capture tells connections apart by their addresses and ports alone."""
        self.bench.same_ends |= direction in self._ends
        self._ends.add(direction)

    def acceptor(self, name: str) -> Callable[[Connection], None]:
        """What is to be told of a connection to that address."""

        def accept(connection: Connection) -> None:
            direction = Direction(connection.remote, connection.local)
            self.note_ends(direction)
            self.bench.accepted[connection.local].append(direction)
            self.waiting[name].append(connection)

        return accept

    def accept(self, *, at: str = "b", clause: str | None = None, note: str = "") -> Side:
        """The next TCP connection from the router to there, or a kept one with a new Call."""
        bench = self.bench
        if at not in self.waiting:
            raise NotApplicable(f"the profile has no {CALLED_BY[at]}")
        while True:
            bench.loop.wait(
                lambda: self.is_called(at) or bench.capacity.refused() is not None,
                bench.patience,
                patient=True,
            )
            if not self.is_called(at):
                break
            side = self.take_called(at)
            if side is not None:
                return side
        refused = bench.capacity.refused()
        if refused is not None:
            bench.capacity.refuse(refused)
        told = "; ".join(filter(None, (note, self._told_instead())))
        raise bench.no_call_came(CallRequest(), at, clause, told)

    def take_called(self, at: str = "b") -> Side | None:
        """The side of the next call of the router; None: there is none, or one to leave aside."""
        bench = self.bench
        side = self._next_called(at)
        if side is None or self._given_up(side):
            return None
        bench.capacity.accepted(side)
        return None if bench.further.take(side) else side

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
        bench = self.bench
        name = "A" if at == "a" else "B"
        kept = self._kept(at)
        if kept is not None:
            start, kept.next_call = kept.next_call or 0, None
            return bench.add_side(name, kept.wire.tcp, start=start)
        if not self.waiting[at]:
            return None
        connection = self.waiting[at].pop(0)
        if isinstance(connection, Circuit):
            return bench.serial.channel_side(bench.lines[at], connection)
        return bench.add_side(name, connection)

    def waiting_calls(self) -> list[Unit | PacketUnit]:
        """The first packets on what the router has opened and accept() has not taken yet."""
        opened = [one for waiting in self.waiting.values() for one in waiting]
        return [unit for one in opened for unit in one.received[:1]]

    def is_called(self, at: str = "b") -> bool:
        """Whether the router has called there and accept() has not taken that call yet."""
        return bool(self.waiting.get(at)) or self._kept(at) is not None

    def has_call(self, at: str = "b") -> bool:
        """As is_called(), with the first packet of it."""
        return self._kept(at) is not None or any(one.received for one in self.waiting.get(at, ()))

    def leave_given_up(self, at: str) -> None:
        """Leave connections aside that the router closes without an octet; waits for that."""
        waiting = self.waiting.get(at, [])
        silent = [one for one in waiting if isinstance(one, Connection) and not _brought(one)]
        self.bench.loop.wait(
            lambda: all(one.end is not None or _brought(one) for one in silent),
            self.bench.profile.times.reaction,
        )
        for one in silent:
            if one.end is not None and not _brought(one):
                waiting.remove(one)
                self._left_aside(self.bench.add_side("A" if at == "a" else "B", one))

    def _left_aside(self, side: Side) -> None:
        self.bench.remark("the router opened a connection and closed it without a Call")
        side.close()

    def _kept(self, at: str) -> Side | None:
        """The side of a call that is over, with the next Call on its connection."""
        listener = self._listeners.get(at)
        if listener is None:
            return None
        for side in self.bench.sides:
            if side.next_call is not None and side.connection.local == listener.address:
                return side
        return None

    def no_connection(self, *, at: str = "b", clause: str | None = None) -> None:
        """Demand that the router opens no further connection to that address, up to the end."""
        if at in self.waiting:
            self.watch(at, self.bench.clause(clause))

    def addresses(self) -> dict[str, End]:
        """Where the router may open connections to, or (on a line) use channels."""
        listening = self._listeners.items()
        found: dict[str, End] = {name: listener.address for name, listener in listening}
        used = {at: line for at, line in self.bench.lines.items() if line.used}
        return found | {at: line.line.tester(0) for at, line in used.items()}

    def watch(self, at: str, clause: str) -> None:
        """Demand no further connection there."""
        address = self.addresses().get(at)
        if address is None:
            return
        self.bench.expectations.append(
            NoConnection(at.upper(), clause, listener=address, known=frozenset())
        )

    def refuse(self, at: str = "b") -> Listener:
        """The listening address, for cases that stop() and resume() it."""
        if at not in self._listeners:
            raise NotApplicable(f"the profile has no {CALLED_BY[at]}")
        return self._listeners[at]

    @contextmanager
    def listening(self, at: str, address: tuple[str, int]) -> Iterator[None]:
        """Listen at one more address while the block runs; accept(at=...) takes its connections."""
        bench = self.bench
        try:
            listener = Listener(bench.loop, address)
        except LinkError as error:
            raise Inconclusive(str(error)) from None
        self._listeners = {**self._listeners, at: listener}
        self.waiting[at] = []
        bench.accepted[address] = []
        listener.on_accept = self.acceptor(at)
        try:
            yield
        finally:
            listener.close()

    def _told_instead(self) -> str:
        """What the side that acted last got in place of what was expected elsewhere."""
        side = self.bench.last_sender
        if side is None or isinstance(side, LineSide):
            return ""
        return f"side {side.name} got {side.arrivals.unread}" if side.arrivals.unread else ""


def _brought(connection: Connection) -> bool:
    return bool(connection.received or connection.received_octets)

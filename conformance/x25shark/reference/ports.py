# SPDX-License-Identifier: GPL-2.0-or-later
"""What the protocol logic needs from outside: a connection, timers, a way to open connections.

The logic does no input or output itself. It is told of events (octets, end of stream, a timer) and
acts through these interfaces, so that a test can stand in for the sockets and for the clock.
"""

from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A running timer."""

    def cancel(self) -> None:
        """Stop it; harmless if it has run out."""


class Timers(Protocol):
    """Starts timers; times in seconds."""

    def start(self, seconds: float, expired: Callable[[], None]) -> Timer:
        """Call expired once after so many seconds. Never calls it at once."""


class Wire(Protocol):
    """One XOT connection, or one logical channel of a line, as seen from the packet layer."""

    #: Address of the other end, without the port: the name of the interface in the counters.
    peer: str
    #: True while the other end takes octets too slowly.
    congested: bool
    #: True if the router has called itself: both ends of the connection are its own.
    from_self: bool

    #: True from close() or abort() on: what comes in is dropped.
    @property
    def closing(self) -> bool: ...

    def send(self, packet: bytes) -> None:
        """Send a packet in its XOT header; nothing after close()."""

    def close(self) -> None:
        """End the connection: send what is waiting, then FIN, and drop what still comes in."""

    def abort(self) -> None:
        """Give the connection up at once."""

    def pause(self) -> None:
        """Stop reading, so that TCP holds the other end."""

    def resume(self) -> None:
        """Read again."""


class StreamWire(Protocol):
    """A stream of octets without packets: what a serial line is made of."""

    congested: bool

    def queue(self, octets: bytes) -> None:
        """Send octets; nothing after close()."""

    def close(self) -> None:
        """Send what waits, then end the stream."""

    def abort(self) -> None:
        """Give the stream up at once."""

    def pause(self) -> None:
        """Stop reading."""

    def resume(self) -> None:
        """Read again."""


class Pending(Protocol):
    """A connection that is being opened."""

    def cancel(self) -> None:
        """Give it up; neither of its functions is called afterwards."""


class Network(Protocol):
    """Opens connections without waiting for them."""

    def connect(
        self,
        host: str,
        port: int,
        connected: "Callable[[Wire], WireUser]",
        failed: Callable[[str], None],
    ) -> Pending:
        """Open a connection; call connected with it, or failed with the reason, never at once."""


class WireUser(Protocol):
    """Takes what a connection brings."""

    def octets_received(self, octets: bytes) -> None:
        """Octets in the order of the stream, in pieces of any size."""

    def connection_lost(self, reset: bool) -> None:
        """The other end closed (FIN) or reset its direction; nothing more comes in."""

    def ended(self) -> None:
        """The connection is gone, whoever closed it; the last thing that is told."""

    def drained(self) -> None:
        """The other end takes octets again after a time of congestion."""

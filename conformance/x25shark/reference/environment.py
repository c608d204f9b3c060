# SPDX-License-Identifier: GPL-2.0-or-later
"""What the parts of the router have around them, so that none of them names the router itself.

    Environment    what a circuit needs: settings, clock, network, counters
    Interface      what the parts of a serial interface need of it
    Stream, Host   a connection, and the event loop, as those who use them see them

What calls share beyond that is in switchboard.py. The router, the serial interface and the event
loop have all of it, and declare nothing: these are protocols.
"""

import socket
from collections.abc import Callable
from typing import Any, Protocol

from .codec import Clear
from .config import Settings
from .counters import Counters
from .line_counters import LineCounters
from .ports import Network, StreamWire, Timers, Wire, WireUser
from .routes import Destination
from .tables import R


class Environment(Protocol):
    """What a circuit needs of the router.

    unsettled: channels that owe their peer a P(R). connections: in the order they were made.
    circuits: relays and terminals whose clearing is not complete on both sides. idle_user: whom a
    channel tells while there is no call on it.
    """

    settings: Settings
    timers: Timers
    network: Network
    counters: Counters
    stopping: bool
    unsettled: list[Any]
    connections: dict[Any, None]
    circuits: set[Any]
    idle_user: Any

    def flush(self) -> None:
        """Send the acknowledgements that no Data packet has carried."""


class Sender(Protocol):
    """The link below an interface, for those who only send."""

    congested: bool


class Interface(Protocol):
    """A serial interface, as its link, its restarts and its channels see it."""

    name: str
    dce: bool
    modulo: int
    size_limit: int
    r: R
    counters: LineCounters
    line_lost: Callable[[], None]
    channels: dict[int, Any]

    @property
    def router(self) -> Environment: ...
    @property
    def link(self) -> Sender: ...
    @property
    def restarts(self) -> Any: ...

    def link_up(self) -> None:
        """There is a link."""

    def link_down(self) -> None:
        """There is none any more."""

    def drained(self) -> None:
        """The link takes packets again."""

    def packet_in(self, octets: bytes) -> None:
        """A packet came."""

    def packet_out(self, octets: bytes) -> None:
        """Send a packet."""

    def discard(self) -> None:
        """Count a packet that is dropped."""

    def diagnose(self, diagnostic: int, octets: bytes) -> None:
        """Send a Diagnostic about a packet, if this end does so."""

    def end_calls(self, clear: Clear) -> None:
        """Every call of the interface is over."""


class Stream(Wire, StreamWire, Protocol):
    """A TCP connection or a terminal, whatever goes over it."""

    def start(self, user: WireUser) -> None:
        """Begin to read for the user."""


class Host(Protocol):
    """The event loop around the router.

    wires: the connections that are open. unsent: those with output of this turn. own_ends: local
    address and port of each connection that the router opened.
    """

    settings: Settings
    running: bool

    @property
    def timers(self) -> Timers: ...
    @property
    def wires(self) -> Any: ...
    @property
    def unsent(self) -> Any: ...
    @property
    def own_ends(self) -> set[object]: ...

    def watch(self, sock: Any, before: int, events: int, ready: Callable[[int], None]) -> int:
        """Change what a socket waits for; returns the new events."""

    def listener(self, at: Destination, accept: Callable[[socket.socket], None]) -> socket.socket:
        """Listen; accept is called for each connection that waits. Raises OSError."""

    def stream(self, sock: Any, far_end: tuple[str, int], line: str = "") -> Stream:
        """The stream of a socket or terminal that is open. line: "serial:NAME", not XOT."""

    def connect(
        self,
        host: str,
        port: int,
        connected: Callable[[Stream], WireUser],
        failed: Callable[[str], None],
        line: str = "",
    ) -> object:
        """Open a connection; call connected with it, or failed with the reason, never at once."""

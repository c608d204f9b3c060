# SPDX-License-Identifier: GPL-2.0-or-later
"""Five routers that do next to nothing: a case that passes with all of them has tested nothing.

silent accepts connections and says nothing; close closes each one at once; clear answers every
packet with a Clear 0/0; relay copies octets between A and B without looking at them; mute does so
until B has answered, and swallows everything after that.
"""

from typing import Any

from .environment import Host, Stream
from .framing import Framer, FramingError
from .ports import Wire
from .routes import INTERNAL, Destination

KINDS = ("silent", "close", "clear", "relay", "mute")


class Silent:
    """Takes octets and does nothing; closes when the peer does."""

    def __init__(self, wire: Stream) -> None:
        self.wire = wire

    def octets_received(self, octets: bytes) -> None:
        """Nothing."""

    def connection_lost(self, reset: bool) -> None:
        self.wire.close()

    def ended(self) -> None:
        """Nothing."""

    def drained(self) -> None:
        """Nothing."""


class Clearing(Silent):
    """Answers each packet, whatever it is, with Clear cause 0 diagnostic 0 on its channel."""

    def __init__(self, wire: Stream) -> None:
        super().__init__(wire)
        self.framer = Framer(longest=65535)

    def octets_received(self, octets: bytes) -> None:
        try:
            for packet in self.framer.feed(octets):
                self.wire.send(packet[:2] + b"\x13\0\0")
        except FramingError:
            self.wire.close()


class Copying(Silent):
    """Octets of one connection go to the other one."""

    other: "Copying | None" = None

    def __init__(self, wire: Stream) -> None:
        super().__init__(wire)
        self.early: list[bytes] = []

    def join(self, other: "Copying") -> None:
        self.other, other.other = other, self
        for octets in self.early:
            other.wire.queue(octets)
        self.early.clear()

    def octets_received(self, octets: bytes) -> None:
        if self.other is None:
            # The connection to B is not open yet: TCP holds the caller after this.
            self.early.append(octets)
            self.wire.pause()
            return
        self.other.wire.queue(octets)
        if self.other.wire.congested:
            self.wire.pause()

    def connection_lost(self, reset: bool) -> None:
        self.wire.close()
        if self.other is not None:
            self.other.wire.close()

    def drained(self) -> None:
        if self.other is not None:
            self.other.wire.resume()


class Muting(Copying):
    """Copies until the called side has answered; then nothing passes either way any more."""

    spent = False
    called = False

    def octets_received(self, octets: bytes) -> None:
        if self.spent:
            return
        super().octets_received(octets)
        if isinstance(self.other, Muting) and self.called:
            self.spent = self.other.spent = True


class NullRouter:
    """In the place of the router proper; has what the event loop asks of it."""

    def __init__(self, server: Host, kind: str) -> None:
        self.server = server
        self.kind = kind
        routes = [r.to for r in server.settings.routes if r.to.name not in INTERNAL]
        self.destination: Destination | None = routes[0] if routes else None
        self.counters = NoCounters()

    def accepted(self, wire: Stream) -> Silent:
        """A peer opened a connection."""
        if self.kind == "close":
            wire.close()
        if self.kind == "clear":
            return Clearing(wire)
        if self.kind not in ("relay", "mute") or self.destination is None:
            return Silent(wire)
        copying = Muting if self.kind == "mute" else Copying
        near = copying(wire)

        def connected(far_wire: Wire) -> Copying:
            far = copying(far_wire)  # type: ignore[arg-type]
            if isinstance(far, Muting):
                far.called = True
            near.join(far)
            wire.resume()
            return far

        self.server.connect(
            self.destination.host, self.destination.port, connected, lambda reason: wire.close()
        )
        return near

    def start(self) -> None:
        """Nothing is opened."""

    def flush(self) -> None:
        """Nothing is owed."""

    def stop(self) -> None:
        for wire in list(self.server.wires):
            wire.close()


class NoCounters:
    """A null router counts nothing."""

    def as_dict(self) -> dict[str, Any]:
        return {"global": {}, "interfaces": {}, "x25ClearedCircuitTable": []}

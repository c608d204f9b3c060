# SPDX-License-Identifier: GPL-2.0-or-later
"""One XOT connection: framing below, one channel above (RFC 1613 4.1, 5)."""

from .channel import Channel
from .environment import Environment
from .framing import Framer, FramingError
from .ports import Wire


class Connection:
    """Joins a wire and its channel."""

    def __init__(self, router: Environment, wire: Wire, accepted: bool) -> None:
        self.router = router
        self.wire = wire
        self.framer = Framer(router.settings.longest_packet)
        self.channel = Channel(router, wire, accepted)
        self.over = False

    @property
    def ending(self) -> bool:
        """Whether no packet will come or go any more."""
        return self.over or self.wire.closing

    def octets_received(self, octets: bytes) -> None:
        """Octets of the stream."""
        if self.over:
            return
        try:
            for packet in self.framer.feed(octets):
                self.channel_for(packet).receive(packet)
                if self.ending:
                    break
        except FramingError:
            self.channel.interface.count("xotFramingErrors")
            self.framing_failed()
        self.router.flush()

    def channel_for(self, packet: bytes) -> Channel:
        """RFC 1613 5: the circuit is that of the connection, whatever LCN the packet has."""
        return self.channel

    def framing_failed(self) -> None:
        """RFC 1613 4.1: close; the call ends at the other side."""
        self.end()
        self.wire.close()

    def connection_lost(self, reset: bool) -> None:
        """The peer closed or reset the connection."""
        if not self.over:
            self.end()
        if reset:
            self.wire.abort()
        else:
            self.wire.close()
        self.router.flush()

    def end(self) -> None:
        """No more packets; the call, if there is one, is over."""
        self.over = True
        self.router.connections.pop(self, None)
        self.channel.connection_lost()
        self.channel.stop_timers()

    def ended(self) -> None:
        """The connection is gone, also if it was this router that closed it."""
        if not self.over:
            self.end()

    def drained(self) -> None:
        """The peer takes octets again."""
        self.channel.user.writable(self.channel)
        self.router.flush()

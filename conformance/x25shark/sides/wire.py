# SPDX-License-Identifier: GPL-2.0-or-later
"""The connection of a side as it is: its octets, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..links.xot import Connection
from .outcomes import NotOnALine

if TYPE_CHECKING:
    from .side import Side


class ConnectionWire:
    """Octets of an XOT connection that are no packets, RST and FIN."""

    def __init__(self, side: Side) -> None:
        self.side = side

    @property
    def tcp(self) -> Connection:
        """The TCP connection. Raises NotOnALine."""
        connection = self.side.connection
        if not isinstance(connection, Connection):
            raise NotOnALine("a TCP connection has no counterpart on a serial line")
        return connection

    def send(self, octets: bytes) -> None:
        """Send octets on the connection as they are: headers, halves of packets, anything."""
        side = self.side
        side.bench.last_sender = side
        side.unanswered_call = None
        self.tcp.send(octets)

    def let_it_finish(self) -> None:
        side = self.side
        connection, bench = side.connection, side.bench
        if connection.amid_a_unit and not bench.left_amid_a_unit:
            quiet = bench.profile.times.quiet
            bench.left_amid_a_unit = not bench.loop.wait(lambda: not connection.amid_a_unit, quiet)

    def reset(self) -> None:
        """End the connection with a TCP RST; as close() otherwise."""
        self.let_it_finish()
        self.tcp.reset()

    def half_close(self) -> None:
        """Send FIN and go on reading; not amid a packet, as close() does not."""
        self.let_it_finish()
        self.tcp.finish_sending()

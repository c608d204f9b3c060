# SPDX-License-Identifier: GPL-2.0-or-later
"""The connection of a side as it is: its octets, and how it ends."""

from __future__ import annotations

from typing import Protocol

from ..links.xot import Connection
from .context import Context, Sender
from .outcomes import NotOnALine


class Wired(Sender, Protocol):
    """What the wire needs of its side."""

    unanswered_call: int | None

    @property
    def context(self) -> Context:
        """The case."""


class ConnectionWire:
    """Octets of an XOT connection that are not packets, RST and FIN."""

    def __init__(self, side: Wired) -> None:
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
        side.context.sends(side)
        side.unanswered_call = None
        self.tcp.send(octets)

    def let_it_finish(self) -> None:
        side = self.side
        connection, context = side.connection, side.context
        if connection.amid_a_unit and not context.left_amid_a_unit:
            quiet = context.profile.times.quiet
            context.left_amid_a_unit = not context.loop.wait(
                lambda: not connection.amid_a_unit, quiet
            )

    def reset(self) -> None:
        """End the connection with a TCP RST; as close() otherwise."""
        self.let_it_finish()
        self.side.context.tcp_ended = (self.side.name, "RST")
        self.tcp.reset()

    def half_close(self) -> None:
        """Send FIN and go on reading; not amid a packet, as close() does not."""
        self.let_it_finish()
        self.side.context.tcp_ended = (self.side.name, "FIN")
        self.tcp.finish_sending()

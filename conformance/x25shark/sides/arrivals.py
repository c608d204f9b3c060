# SPDX-License-Identifier: GPL-2.0-or-later
"""What has come on the connection of a side."""

from __future__ import annotations

from typing import Protocol

from scapy_x25 import summary_line
from scapy_x25.x25 import CLEAR_CONFIRMATION, packet_type

from ..links.carrier import Carrier, Unit


class Reader(Protocol):
    """What has to be known of the side that reads them."""

    start: int
    cursor: int

    @property
    def connection(self) -> Carrier:
        """Where they come."""


class Arrivals:
    """Units of a connection since the call of a side began."""

    def __init__(self, side: Reader) -> None:
        self.side = side

    @property
    def units(self) -> list[Unit]:
        """What has come since the call of this side began, or since the connection was opened."""
        return self.since(self.side.start)

    def since(self, offset: int) -> list[Unit]:
        """What has come on the connection from this offset on."""
        return [unit for unit in self.side.connection.received if unit.offset >= offset]

    def types(self, start: int = 0) -> list[int | None]:
        """The types of all packets of the connection, from this offset on."""
        return [packet_type(unit.packet) for unit in self.since(start)]

    @property
    def reacted(self) -> bool:
        """Whether anything has come since the call of this side began, or the connection ended."""
        return bool(self.units) or self.side.connection.end is not None

    @property
    def unread(self) -> list[Unit]:
        """What of these no expectation has looked at."""
        return self.since(max(self.side.start, self.side.cursor))

    @property
    def last_unread(self) -> str:
        """The last of these in words, or the end of the connection; "": there is neither."""
        if unread := self.unread:
            return summary_line(unread[-1].packet)
        end = self.side.connection.end
        return f"TCP {end}" if end is not None else ""

    @property
    def answered(self) -> bool:
        """Whether something has come behind what was expected last that may answer a Call.

        A Clear Confirmation does not: it belongs to the call before, and nobody need have waited
        for it (RFC 1613 6.1).
        """
        for unit in reversed(self.side.connection.received):
            if unit.offset < self.side.cursor:
                break
            if packet_type(unit.packet) != CLEAR_CONFIRMATION:
                return True
        return False

    @property
    def closed_unanswered(self) -> bool:
        """Whether the connection has ended, without an answer to a Call."""
        return self.side.connection.end is not None and not self.answered

    @property
    def at_end(self) -> bool:
        """Whether nothing has come behind what was expected last."""
        return self.end() <= self.side.cursor

    def end(self) -> int:
        """Octets of the connection up to the last packet that has come."""
        side = self.side
        received = side.connection.received
        return received[-1].end if received else side.start

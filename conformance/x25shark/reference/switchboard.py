# SPDX-License-Identifier: GPL-2.0-or-later
"""What calls share: connections that are kept, logical channels, circuits, serial interfaces."""

from collections.abc import Mapping
from typing import Protocol

from .channel import Channel
from .codec import Call
from .connection import Connection
from .environment import Environment
from .ports import Wire
from .routes import Destination
from .user import ChannelUser


class Trunk(Protocol):
    """A serial interface, for a call that goes out there."""

    modulo: int
    size_limit: int

    def refusal(self, call: Call) -> tuple[int, int] | None:
        """Cause and diagnostic if a call cannot go out here now."""

    def take_channel(self, user: ChannelUser) -> Channel:
        """The channel for a call that refusal() has not refused."""


class Switchboard(Environment, Protocol):
    """What the relays, the terminals and the permanent circuits need of the router."""

    @property
    def serials(self) -> Mapping[str, Trunk]: ...

    def new_connection(self, wire: Wire, accepted: bool) -> Connection:
        """A connection that has just been opened."""

    def keep(self, destination: Destination, connection: Connection) -> None:
        """Use a connection for the next call to the same destination (RFC 1613 5)."""

    def take_kept(self, destination: Destination) -> Connection | None:
        """A kept connection that is still open and has no call of the other side on it."""

    def take_lcn(self) -> int:
        """The lowest logical channel that no call of this router has on its far side."""

    def give_lcn(self, lcn: int) -> None:
        """That call is over."""

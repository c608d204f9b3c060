# SPDX-License-Identifier: GPL-2.0-or-later
"""The values of one call between two connections; what is done with them is in relay.py."""

from .channel import Channel
from .codec import Call
from .connection import Connection
from .facilities import Pair
from .ports import Pending
from .routes import Destination, Route
from .switchboard import Switchboard
from .user import ChannelUser


class RelayedCall(ChannelUser):
    """What a relay and its parts know about a call."""

    def __init__(self, router: Switchboard, route: Route) -> None:
        self.router = router
        self.settings = router.settings
        self.route = route
        self.near: Channel
        self.far: Channel | None = None
        self.call: Call
        #: The Call as sent to the far side.
        self.offered: Call
        #: What each side was offered, and then what it agreed to.
        self.near_size: Pair
        self.near_window: Pair
        self.far_size: Pair
        self.far_window: Pair
        self.destination: Destination
        self.destinations: list[Destination] = []
        self.pending: Pending | None = None
        #: The connection of the far side, where that is XOT.
        self.connection: Connection | None = None
        self.far_lcn = 0
        self.held_interrupts: dict[Channel, bytes] = {}
        self.near_done = False
        self.recorded = False

    def other(self, channel: Channel) -> Channel | None:
        return self.far if channel is self.near else self.near

    def record(self, cause: int, diagnostic: int) -> None:
        """One entry in the table of cleared circuits."""
        if not self.recorded:
            self.recorded = True
            parties = self.call.addresses
            self.router.counters.circuit_cleared(
                parties.called_digits, parties.calling_digits, cause, diagnostic
            )

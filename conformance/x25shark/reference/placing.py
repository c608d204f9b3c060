# SPDX-License-Identifier: GPL-2.0-or-later
"""The way of a call to its far side: the destinations of its route in turn, over XOT or a line."""

from .channel import Channel
from .codec import Clear
from .codes import ClearCause, Diag
from .connection import Connection
from .ports import Wire
from .relayed import RelayedCall


class Placing:
    """Finds the far side of a call and sends the Call there."""

    def __init__(self, relay: RelayedCall) -> None:
        self.relay = relay

    def connect(self) -> None:
        """Open a connection to the next destination of the route."""
        relay = self.relay
        relay.destination = relay.destinations.pop(0)
        if relay.destination.serial:
            self.connect_serial()
            return
        kept = relay.router.take_kept(relay.destination)
        if kept is not None:
            self.call_on(kept)
            return
        relay.pending = relay.router.network.connect(
            relay.destination.host, relay.destination.port, self.connected, self.connect_failed
        )

    def connected(self, wire: Wire) -> Connection:
        """The connection is open: send the Call on it."""
        relay = self.relay
        relay.pending = None
        connection = relay.router.new_connection(wire, accepted=False)
        self.call_on(connection)
        return connection

    def call_on(self, connection: Connection) -> None:
        """Send the Call on a connection without a call."""
        relay = self.relay
        relay.connection = connection
        relay.far = connection.channel
        relay.far.user = relay
        relay.offered.lcn = self.choose_lcn()
        self.send_call(relay.far)

    def connect_serial(self) -> None:
        """Take a logical channel of a serial interface."""
        relay = self.relay
        interface = relay.router.serials[relay.destination.serial]
        refusal = interface.refusal(relay.offered)
        if refusal is not None:
            self.unreachable(*refusal)
            return
        relay.far = interface.take_channel(relay)
        relay.offered.lcn = relay.far.lcn
        self.send_call(relay.far)

    def choose_lcn(self) -> int:
        """RFC 1613 5: any value will do; the lowest free one keeps captures readable."""
        relay = self.relay
        relay.far_lcn = relay.router.take_lcn()
        return relay.far_lcn

    def send_call(self, far: Channel) -> None:
        far.setup.call(self.relay.offered)

    def connect_failed(self, reason: str) -> None:
        """Try the next destination; if there is none the called DTE is out of order."""
        relay = self.relay
        relay.pending = None
        interface = relay.router.counters.interface(relay.destination.host)
        interface.count("x25StatOutCallAttempts")
        interface.count("x25StatOutCallFailures")
        if relay.destinations:
            self.connect()
        else:
            self.unreachable()

    def unreachable(
        self, cause: int = ClearCause.OUT_OF_ORDER, diagnostic: int = Diag.NONE
    ) -> None:
        relay = self.relay
        relay.record(cause, diagnostic)
        relay.near.clearing.clear(Clear(cause, diagnostic, by_peer=False))

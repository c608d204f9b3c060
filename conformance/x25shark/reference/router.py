# SPDX-License-Identifier: GPL-2.0-or-later
"""The switch: takes calls, finds their routes, and holds what all calls share."""

from . import addresses, routes
from .channel import Channel
from .codec import Call, Clear
from .codes import ClearCause, Diag, PacketError
from .config import Settings
from .connection import Connection
from .counters import Counters
from .ip_end import IpEnd
from .ports import Network, Timers, Wire
from .pvc import PvcTable
from .relay import Relay
from .relay_endtoend import EndToEndRelay
from .relay_local import LocalRelay
from .relay_splice import SpliceRelay
from .routes import Destination, Route
from .serial import SerialInterface
from .tables import P
from .terminal import TERMINALS, Terminal
from .user import ChannelUser

RELAYS: dict[str, type[Relay]] = {
    relay.model: relay for relay in (LocalRelay, EndToEndRelay, SpliceRelay)
}
#: Destinations inside the router, by the name that a route gives them.
ENDS: dict[str, type[Terminal]] = {**TERMINALS, "ip": IpEnd}
#: Calls to one address that may come in from the router itself: more of them are a route loop.
LOOP_LIMIT = 8


class Router(ChannelUser):
    """All connections and circuits. As a channel's user it answers while there is no call."""

    def __init__(self, settings: Settings, timers: Timers, network: Network) -> None:
        self.settings = settings
        self.idle_user: ChannelUser = self
        self.timers = timers
        self.network = network
        self.counters = Counters()
        #: In the order in which they were made.
        self.connections: dict[Connection, None] = {}
        #: Relays and terminals whose clearing is not complete on both sides.
        self.circuits: set[ChannelUser] = set()
        #: Channels that owe their peer a P(R).
        self.unsettled: list[Channel] = []
        self.used_lcns: set[int] = set()
        self.serials = {one.name: SerialInterface(self, one) for one in settings.serials}
        #: Connections without a call that this router opened, by where they lead.
        self.kept: dict[Destination, list[Connection]] = {}
        self.stopping = False
        self.pvcs = PvcTable(self)

    def start(self) -> None:
        """Open the permanent circuits that this router initiates."""
        self.pvcs.start()

    # -- connections ----------------------------------------------------------------------------

    def accepted(self, wire: Wire) -> Connection:
        """A peer opened a connection."""
        return self.new_connection(wire, accepted=True)

    def new_connection(self, wire: Wire, accepted: bool) -> Connection:
        connection = Connection(self, wire, accepted)
        self.connections[connection] = None
        return connection

    def keep(self, destination: Destination, connection: Connection) -> None:
        """Use a connection for the next call to the same destination (RFC 1613 5)."""
        channel = connection.channel
        if connection.ending or channel.given_up or self.stopping:
            connection.wire.close()
            return
        kept = self.kept.setdefault(destination, [])
        kept[:] = [*(one for one in kept if not one.over), connection]

        def forget() -> None:
            kept.remove(connection)
            connection.wire.close()

        channel.start_timer("empty", self.settings.empty, forget)

    def take_kept(self, destination: Destination) -> Connection | None:
        """A kept connection that is still open and has no call of the other side on it."""
        kept = self.kept.get(destination, [])
        while kept:
            connection = kept.pop()
            connection.channel.stop_timer("empty")
            if not connection.ending and connection.channel.p is P.READY:
                return connection
        return None

    def flush(self) -> None:
        """Send the acknowledgements that no Data packet has carried."""
        unsettled, self.unsettled = self.unsettled, []
        for channel in unsettled:
            channel.flow.flush()
        for interface in self.serials.values():
            interface.flush()

    def take_lcn(self) -> int:
        """The lowest logical channel that no call of this router has on its far side."""
        lcn = 1
        while lcn in self.used_lcns and lcn < 4095:
            lcn += 1
        self.used_lcns.add(lcn)
        return lcn

    def give_lcn(self, lcn: int) -> None:
        self.used_lcns.discard(lcn)

    # -- calls ----------------------------------------------------------------------------------

    def call_received(self, channel: Channel, call: Call) -> None:
        """A Call on a connection without a call."""
        parties = call.addresses
        if parties.a_bit and not self.settings.toa:
            raise PacketError(Diag.TOA_NPI_NOT_SUBSCRIBED)
        self.check_addresses(parties)
        if call.d and not self.settings.dbit:
            raise PacketError(Diag.D_BIT_NOT_SUPPORTED)
        if self.is_full() or self.stopping:
            self.refuse(channel, call, ClearCause.NETWORK_CONGESTION, Diag.NO_LOGICAL_CHANNEL)
            return
        if self.is_loop(channel, parties.called_digits):
            self.refuse(channel, call, ClearCause.NETWORK_CONGESTION, Diag.TEMPORARY_ROUTING)
            return
        route = routes.find(self.settings.routes, parties.called_digits, self.settings.route_rule)
        if route is None:
            self.refuse(channel, call, self.no_route_cause(), Diag.CALLED_ADDRESS)
            return
        refusal = self.refusal(route, call)
        if refusal is not None:
            self.refuse(channel, call, *refusal)
            return
        user = self.user_for(route, channel)
        self.circuits.add(user)
        channel.user = user
        user.call_received(channel, call)

    def check_addresses(self, parties: addresses.Addresses) -> None:
        addresses.check(parties)

    def no_route_cause(self) -> int:
        """X.25 5.2.4: not obtainable."""
        return ClearCause.NOT_OBTAINABLE

    def is_full(self) -> bool:
        """All logical channels are in use."""
        return len(self.circuits) >= self.settings.max_calls

    def is_loop(self, channel: Channel, called: str) -> bool:
        """Calls for one address come in from this router again and again."""
        if not channel.wire.from_self:
            return False
        same = [
            one
            for one in self.circuits
            if isinstance(one, Relay)
            and one.near.wire.from_self
            and one.call.addresses.called_digits == called
        ]
        return len(same) >= LOOP_LIMIT

    def refusal(self, route: Route, call: Call) -> tuple[int, int] | None:
        """Cause and diagnostic if the destination does not take this call (X.25 6.5 to 6.19)."""
        if route.barred:
            return ClearCause.ACCESS_BARRED, Diag.INCOMING_BARRED
        if call.facilities.reverse_charging and not route.reverse_charging_acceptance:
            return ClearCause.REVERSE_CHARGING_REFUSED, Diag.NONE
        if call.facilities.fast_select and not route.fast_select_acceptance:
            return ClearCause.FAST_SELECT_REFUSED, Diag.NONE
        return None

    def refuse(self, channel: Channel, call: Call, cause: int, diagnostic: int) -> None:
        """Clear a call that got no circuit."""
        self.counters.circuit_cleared(
            call.addresses.called_digits, call.addresses.calling_digits, cause, diagnostic
        )
        channel.clearing.clear(Clear(cause, diagnostic, by_peer=False))

    def user_for(self, route: Route, channel: Channel) -> ChannelUser:
        """A terminal or a relay of the model of the route; a line has windows of its own."""
        terminal = ENDS.get(route.to.name)
        if terminal is not None:
            return terminal(self)
        model = "local" if channel.on_line else route.model
        return RELAYS[model](self, route)

    def pvc_setup_received(self, channel: Channel, octets: bytes) -> bool:
        """A PVC setup in place of a Call (RFC 1613 6.5)."""
        return self.pvcs.setup_received(channel, octets)

    # -- end ------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Orderly stop: clear every call towards both sides, close idle connections."""
        self.stopping = True
        for connection in list(self.connections):
            channel = connection.channel
            if channel.p is P.READY or channel.permanent:
                connection.wire.close()
            else:
                channel.clearing.clear(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))
        for interface in self.serials.values():
            interface.stop()

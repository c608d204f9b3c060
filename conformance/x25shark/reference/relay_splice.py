# SPDX-License-Identifier: GPL-2.0-or-later
"""Relay model 'splice': after set-up packets pass unread (RFC 1613 6.2, last paragraph).

The Call is read for its address and passed as it came (with the addresses the route writes); so is
the answer. From then on each packet passes octet for octet, with the LCN it has. The router still
cuts the stream by the XOT headers, drops packets of local significance (RFC 1613 6.4), and watches
for the Clear, which ends the splice: the confirmation is end to end, with T13 as its limit.
TCP holds a side that sends faster than the other one takes.
"""

from functools import partial

from . import codec, routes
from .channel import Channel
from .codec import Call, Clear
from .codes import LOCAL_TYPES, Type
from .negotiation import Negotiation
from .placing import Placing
from .relay import Relay
from .routes import Route
from .switchboard import Switchboard
from .tables import P


class SpliceNegotiation(Negotiation):
    """Leaves facilities and user data to the two ends."""

    def check_call(self, call: Call) -> None:
        """Facilities and user data are the matter of the two ends."""

    def offer(self, call: Call) -> Call:
        relay = self.relay
        offered = Call(call.modulo, call.lcn, call.d, call.addresses, call.facilities.copy())
        offered.user_data = call.user_data
        offered.octets = call.octets
        if relay.route.rewrites:
            offered.addresses = routes.rewrite(relay.route, call.addresses)
            offered.octets = codec.encode_call(Type.CALL, offered)
        return offered


class SplicePlacing(Placing):
    """Sends the Call as it came."""

    def choose_lcn(self) -> int:
        return self.relay.call.lcn

    def send_call(self, far: Channel) -> None:
        relay = self.relay
        far.setup.call(relay.offered, relay.offered.octets)


class SpliceRelay(Relay):
    """See the module's text."""

    model = "splice"

    def __init__(self, router: Switchboard, route: Route) -> None:
        super().__init__(router, route)
        self.negotiation = SpliceNegotiation(self)
        self.placing = SplicePlacing(self)

    def accept_received(self, channel: Channel, octets: bytes) -> None:
        """Pass the answer on and join the two sides."""
        channel.setup.connected()
        self.near.stop_timer("T21")
        self.near.p = P.DATA_TRANSFER
        self.near.send(octets)
        self.near.joined = partial(self.packet, self.near)
        channel.joined = partial(self.packet, channel)

    def packet(self, channel: Channel, octets: bytes) -> None:
        """A packet of a joined side."""
        other = self.other(channel)
        packet_type = codec.type_of(octets, channel.modulo)
        if other is None or packet_type in LOCAL_TYPES:
            channel.discard()
            return
        self.count(channel, other, packet_type, octets)
        if packet_type == Type.CLEAR:
            self.part(channel, other, octets)
        else:
            other.send(octets)
        if other.wire.congested:
            channel.wire.pause()

    def part(self, channel: Channel, other: Channel, octets: bytes) -> None:
        """A Clear: pass it on, and wait for its confirmation as any channel does."""
        channel.joined = other.joined = None
        channel.p = P.CLEAR_RECEIVED
        self.record(octets[3] if len(octets) > 3 else 0, octets[4] if len(octets) > 4 else 0)
        other.clearing.forward(octets)
        self.read_on()

    def cleared(self, channel: Channel, clear: Clear) -> None:
        super().cleared(channel, clear)
        self.read_on()

    def read_on(self) -> None:
        """A side that is held must be able to confirm a Clear."""
        self.near.wire.resume()
        if self.far is not None:
            self.far.wire.resume()

    def released(self, channel: Channel) -> None:
        """The confirmation of one side is due to the side that cleared."""
        other = self.other(channel)
        super().released(channel)
        if other is not None and other.p is P.CLEAR_RECEIVED:
            other.clearing.confirm()
            other.released()

    def writable(self, channel: Channel) -> None:
        """A side takes octets again: read on at the other one."""
        other = self.other(channel)
        if other is not None:
            other.wire.resume()

    def count(self, channel: Channel, other: Channel, packet_type: int, octets: bytes) -> None:
        """Counters see what passes, as in the other models."""
        if packet_type == Type.DATA:
            user_data = len(octets) - (3 if channel.modulo == 8 else 4)
            channel.interface.data_in(user_data)
            other.interface.data_out(user_data)
        elif packet_type == Type.INTERRUPT:
            channel.interface.count("x25StatInInterrupts")
            channel.interface.count("x25CircuitInInterrupts")
            other.interface.count("x25StatOutInterrupts")
            other.interface.count("x25CircuitOutInterrupts")
        elif len(octets) > 3 and packet_type == Type.RESET:
            channel.interface.reset_in(octets[3])
            other.interface.resets_out[octets[3]] += 1
        elif len(octets) > 3 and packet_type == Type.CLEAR:
            channel.interface.clear_in(octets[3])

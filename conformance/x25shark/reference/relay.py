# SPDX-License-Identifier: GPL-2.0-or-later
"""A call between two connections: what all relay models share.

Set-up (X.25 4.1, RFC 1613 6.1), negotiation (X.25 6.12), clearing, interrupts (4.3.7, end to end)
and resets. What the sides agree on is in negotiation.py, the way to the far side in placing.py.
What happens to Data and to flow control is the matter of the model: relay_local, relay_endtoend,
relay_splice. 'Near' is the side that calls, 'far' the side that is called.
"""

from . import codec
from .channel import Channel
from .codec import Call, Clear
from .codes import ClearCause, Diag, PacketError
from .facilities import Pair
from .negotiation import Negotiation
from .placing import Placing
from .relayed import RelayedCall
from .routes import Route
from .switchboard import Switchboard
from .tables import P


def set_values(channel: Channel, size: Pair, window: Pair, peer_calls: bool) -> None:
    """Put agreed values into force; each octet belongs to the direction from that DTE."""
    channel.size_in = 1 << (size.calling if peer_calls else size.called)
    channel.size_out = 1 << (size.called if peer_calls else size.calling)
    channel.window_in = window.calling if peer_calls else window.called
    channel.window_out = window.called if peer_calls else window.calling


class Relay(RelayedCall):
    """One call and its two channels."""

    #: Name of the model.
    model = ""

    def __init__(self, router: Switchboard, route: Route) -> None:
        super().__init__(router, route)
        self.negotiation = Negotiation(self)
        self.placing = Placing(self)

    # -- set-up ---------------------------------------------------------------------------------

    def call_received(self, channel: Channel, call: Call) -> None:
        """Check the Call, then open a connection to the destination."""
        self.near = channel
        self.call = call
        self.negotiation.check_call(call)
        channel.fast_select = call.facilities.fast_select
        channel.restricted = call.facilities.restricted
        self.offered = self.negotiation.offer(call)
        self.destinations = [self.route.to, *self.route.alternates]
        channel.start_timer("T21", self.settings.t21, self.t21_expired)
        self.placing.connect()

    def displaced(self, channel: Channel) -> None:
        """The peer called on the same channel: try another one (X.25 4.1.6)."""
        self.far = None
        self.destinations.insert(0, self.destination)
        self.placing.connect()

    def accept_received(self, channel: Channel, octets: bytes) -> None:
        """The far side accepted: agree on values, connect the near side."""
        if channel is self.near:
            raise PacketError(Diag.STATE_P2)
        accept = codec.parse_accept(octets)
        self.negotiation.check_accept(accept, channel)
        size, window = self.negotiation.answered(accept)
        set_values(channel, size, window, peer_calls=False)
        self.negotiation.settle_near(size, window)
        set_values(self.near, self.near_size, self.near_window, peer_calls=True)
        connected = self.negotiation.connected_packet(accept)
        channel.setup.connected()
        self.near.setup.accept(connected)

    def t21_expired(self) -> None:
        """The call was not answered in time (X.25 Table D-2)."""
        self.near.interface.count("x25StatCallTimeouts")
        clear = Clear(ClearCause.NETWORK_CONGESTION, Diag.TIME_INCOMING_CALL, by_peer=False)
        self.near.clearing.clear(clear)
        self.give_up_far(clear)

    # -- clearing -------------------------------------------------------------------------------

    def cleared(self, channel: Channel, clear: Clear) -> None:
        """One side is cleared or gone: clear the other one."""
        self.record(clear.cause, clear.diagnostic)
        if channel is self.near:
            self.give_up_far(clear)
        else:
            self.near.clearing.clear(clear)

    def give_up_far(self, clear: Clear) -> None:
        """End the far half, whether it is connected yet or not."""
        if self.pending is not None:
            self.pending.cancel()
            self.pending = None
        if self.far is not None:
            self.far.clearing.clear(clear)

    def released(self, channel: Channel) -> None:
        """A side is free. The connection that this router opened is closed with its call."""
        if channel is self.near:
            self.near_done = True
        else:
            self.far = None
            self.router.give_lcn(self.far_lcn)
            self.far_released(channel)
        if self.near_done and self.far is None and self.pending is None:
            self.router.circuits.discard(self)

    def far_released(self, far: Channel) -> None:
        """RFC 1613 5: the connection may be closed, or kept for another call."""
        if self.settings.keep_connections and self.connection is not None:
            self.router.keep(self.destination, self.connection)
        else:
            far.wire.close()

    # -- interrupts and resets ------------------------------------------------------------------

    def interrupt_received(self, channel: Channel, user_data: bytes) -> None:
        """Pass an Interrupt on, ahead of all Data; it waits only for a reset."""
        other = self.other(channel)
        if other is None:
            return
        if other.ready and not other.interrupt_out:
            other.interrupts.send(user_data)
        else:
            self.held_interrupts[other] = user_data

    def interrupt_confirmed(self, channel: Channel) -> None:
        """X.25 4.3.7, RFC 1613 6.3: the confirmation comes from the other end."""
        other = self.other(channel)
        if other is not None:
            other.interrupts.confirm()

    def reset_received(self, channel: Channel, cause: int, diagnostic: int) -> None:
        """The peer resets: drop what is on the way, tell the other side."""
        self.drop()
        other = self.other(channel)
        if other is not None and other.p is P.DATA_TRANSFER:
            other.resets.reset(cause, diagnostic)
        self.settle_reset(channel)

    def settle_reset(self, channel: Channel) -> None:
        """Confirm now, or when the other side has confirmed: a matter of the model."""
        raise NotImplementedError

    def reset_by_error(self, channel: Channel, cause: int, diagnostic: int) -> None:
        """This router reset one side for an error: reset the other one too."""
        self.drop()
        other = self.other(channel)
        if other is not None:
            other.resets.reset(cause, diagnostic)

    def drop(self) -> None:
        """X.25 4.5: a reset drops the data and interrupts that are on the way."""
        self.held_interrupts.clear()

    def reset_confirmed(self, channel: Channel) -> None:
        self.writable(channel)

    def writable(self, channel: Channel) -> None:
        """Send what waited for this side."""
        if channel.ready and channel in self.held_interrupts:
            channel.interrupts.send(self.held_interrupts.pop(channel))

# SPDX-License-Identifier: GPL-2.0-or-later
"""A call between two connections: what all relay models share.

Set-up (X.25 4.1, RFC 1613 6.1), negotiation (X.25 6.12), clearing, interrupts (4.3.7, end to end)
and resets. What happens to Data and to flow control is the matter of the model: relay_local,
relay_endtoend, relay_splice. 'Near' is the side that calls, 'far' the side that is called.
"""

from typing import TYPE_CHECKING

from . import addresses, codec, facilities, routes
from .channel import Channel
from .codec import Call, Clear
from .codes import ClearCause, Diag, PacketError
from .connection import Connection
from .facilities import DEFAULT_SIZE, DEFAULT_WINDOW, PACKET_SIZE, THROUGHPUT, WINDOW_SIZE, Pair
from .ports import Pending, Wire
from .routes import Destination, Route
from .tables import P
from .user import ChannelUser

if TYPE_CHECKING:
    from .router import Router


def set_values(channel: Channel, size: Pair, window: Pair, peer_calls: bool) -> None:
    """Put agreed values into force; each octet belongs to the direction from that DTE."""
    channel.size_in = 1 << (size.calling if peer_calls else size.called)
    channel.size_out = 1 << (size.called if peer_calls else size.calling)
    channel.window_in = window.calling if peer_calls else window.called
    channel.window_out = window.called if peer_calls else window.calling


def limit(pair: Pair, called: int, calling: int) -> Pair:
    """Each value at most as given."""
    return Pair(min(pair.called, called), min(pair.calling, calling))


def check_user_data(call: Call, fast_select: bool) -> None:
    """X.25 5.2.2, 6.16: 16 octets in a Call, 128 with fast select, else diagnostic 39."""
    longest = codec.FAST_SELECT_LONGEST if fast_select else codec.USER_DATA_LONGEST
    if len(call.user_data) > longest:
        raise PacketError(Diag.TOO_LONG)


def requested(call: Call, size_limit: int, window_limit: int) -> tuple[Pair, Pair]:
    """Packet sizes and windows of a Call, defaults for those it does not name."""
    size = call.facilities.pair(PACKET_SIZE) or Pair(DEFAULT_SIZE, DEFAULT_SIZE)
    window = call.facilities.pair(WINDOW_SIZE) or Pair(DEFAULT_WINDOW, DEFAULT_WINDOW)
    return limit(size, size_limit, size_limit), limit(window, window_limit, window_limit)


class Relay(ChannelUser):
    """One call and its two channels."""

    #: Name of the model.
    model = ""

    def __init__(self, router: "Router", route: Route) -> None:
        self.router = router
        self.settings = router.settings
        self.route = route
        self.near: Channel
        self.far: Channel | None = None
        self.call: Call
        #: The Call as sent to the far side.
        self.offered: Call
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

    # -- set-up ---------------------------------------------------------------------------------

    def call_received(self, channel: Channel, call: Call) -> None:
        """Check the Call, then open a connection to the destination."""
        self.near = channel
        self.call = call
        self.check_call(call)
        channel.fast_select = call.facilities.fast_select
        channel.restricted = call.facilities.restricted
        self.offered = self.offer(call)
        self.destinations = [self.route.to, *self.route.alternates]
        channel.start_timer("T21", self.settings.t21, self.t21_expired)
        self.connect()

    def check_call(self, call: Call) -> None:
        """Raises PacketError 39, 65, 66 or 73."""
        call.facilities.check(facilities.IN_CALL, call.modulo)
        check_user_data(call, call.facilities.fast_select)

    def offer(self, call: Call) -> Call:
        """The Call for the far side. RFC 1613 6.1: it carries packet size and window size."""
        modulo = 8 if self.route.modulo8_only else call.modulo
        if self.route.to.serial:
            modulo = self.router.serials[self.route.to.serial].modulo
        self.near_size, self.near_window = requested(
            call, self.near.size_limit, min(self.near.window_max, call.modulo - 1)
        )
        self.far_size, self.far_window = self.far_values(modulo)
        offered = Call(modulo, 0, call.d, call.addresses, call.facilities.copy(), call.user_data)
        if self.route.rewrites:
            offered.addresses = routes.rewrite(self.route, call.addresses)
            if routes.too_long(offered.addresses):
                raise PacketError(Diag.CALLED_ADDRESS, ClearCause.NOT_OBTAINABLE)
        self.put_pairs(offered, self.far_size, self.far_window)
        return offered

    def far_values(self, modulo: int) -> tuple[Pair, Pair]:
        """Packet sizes and windows that the far side is offered."""
        size, window = self.near_size, self.near_window
        if self.route.packet_size:
            size = Pair(self.route.packet_size, self.route.packet_size)
        if self.route.window:
            window = Pair(self.route.window, self.route.window)
        if self.route.to.serial:
            longest = self.router.serials[self.route.to.serial].size_limit
            size = limit(size, longest, longest)
        return size, limit(window, modulo - 1, modulo - 1)

    def put_pairs(self, call: Call, size: Pair, window: Pair) -> None:
        """Write both facilities; there must be room for them (X.25 5.2.2)."""
        call.facilities.put_pair(PACKET_SIZE, size)
        call.facilities.put_pair(WINDOW_SIZE, window)
        if len(call.facilities.encode()) > facilities.LONGEST:
            raise PacketError(Diag.FACILITY_LENGTH)

    def connect(self) -> None:
        """Open a connection to the next destination of the route."""
        self.destination = self.destinations.pop(0)
        if self.destination.serial:
            self.connect_serial()
            return
        kept = self.router.take_kept(self.destination)
        if kept is not None:
            self.call_on(kept)
            return
        self.pending = self.router.network.connect(
            self.destination.host, self.destination.port, self.connected, self.connect_failed
        )

    def connected(self, wire: Wire) -> Connection:
        """The connection is open: send the Call on it."""
        self.pending = None
        connection = self.router.new_connection(wire, accepted=False)
        self.call_on(connection)
        return connection

    def call_on(self, connection: Connection) -> None:
        """Send the Call on a connection without a call."""
        self.connection = connection
        self.far = connection.channel
        self.far.user = self
        self.offered.lcn = self.choose_lcn()
        self.send_call(self.far)

    def connect_serial(self) -> None:
        """Take a logical channel of a serial interface."""
        interface = self.router.serials[self.destination.serial]
        refusal = interface.refusal(self.offered)
        if refusal is not None:
            self.unreachable(*refusal)
            return
        self.far = interface.take_channel(self)
        self.offered.lcn = self.far.lcn
        self.send_call(self.far)

    def displaced(self, channel: Channel) -> None:
        """The peer called on the same channel: try another one (X.25 4.1.6)."""
        self.far = None
        self.destinations.insert(0, self.destination)
        self.connect()

    def choose_lcn(self) -> int:
        """RFC 1613 5: any value will do; the lowest free one keeps captures readable."""
        self.far_lcn = self.router.take_lcn()
        return self.far_lcn

    def send_call(self, far: Channel) -> None:
        far.setup.call(self.offered)

    def connect_failed(self, reason: str) -> None:
        """Try the next destination; if there is none the called DTE is out of order."""
        self.pending = None
        interface = self.router.counters.interface(self.destination.host)
        interface.count("x25StatOutCallAttempts")
        interface.count("x25StatOutCallFailures")
        if self.destinations:
            self.connect()
        else:
            self.unreachable()

    def unreachable(
        self, cause: int = ClearCause.OUT_OF_ORDER, diagnostic: int = Diag.NONE
    ) -> None:
        self.record(cause, diagnostic)
        self.near.clearing.clear(Clear(cause, diagnostic, by_peer=False))

    def accept_received(self, channel: Channel, octets: bytes) -> None:
        """The far side accepted: agree on values, connect the near side."""
        if channel is self.near:
            raise PacketError(Diag.STATE_P2)
        accept = codec.parse_accept(octets)
        self.check_accept(accept, channel)
        size, window = self.answered(accept)
        set_values(channel, size, window, peer_calls=False)
        self.settle_near(size, window)
        set_values(self.near, self.near_size, self.near_window, peer_calls=True)
        connected = self.connected_packet(accept)
        channel.setup.connected()
        self.near.setup.accept(connected)

    def settle_near(self, size: Pair, window: Pair) -> None:
        """What the near side runs with, where the far one agreed to these values."""
        if not self.route.independent:
            self.near_size, self.near_window = size, window

    def check_accept(self, accept: Call, far: Channel) -> None:
        """Raises PacketError 39, 42, 65, 66, 67, 68 or 73 (X.25 5.2.3, 6.12, 6.16)."""
        if far.restricted:
            raise PacketError(Diag.INCOMPATIBLE_WITH_FACILITY)
        if accept.addresses.a_bit and not self.settings.toa:
            raise PacketError(Diag.TOA_NPI_NOT_SUBSCRIBED)
        addresses.check(accept.addresses)
        accept.facilities.check(facilities.IN_ACCEPT, accept.modulo)
        if accept.user_data and not far.fast_select:
            raise PacketError(Diag.TOO_LONG)
        check_user_data(accept, far.fast_select)
        throughput = accept.facilities.get(THROUGHPUT)
        if throughput is not None and not facilities.throughput_answer_is_legal(
            self.offered.facilities.get(THROUGHPUT), throughput
        ):
            raise PacketError(Diag.FACILITY_PARAMETER)

    def answered(self, accept: Call) -> tuple[Pair, Pair]:
        """What the far side agreed to; what it does not name is as offered (X.25 6.12)."""
        size = self.answered_pair(accept, PACKET_SIZE, self.far_size)
        return size, self.answered_pair(accept, WINDOW_SIZE, self.far_window)

    def answered_pair(self, accept: Call, code: int, offered: Pair) -> Pair:
        answer = accept.facilities.pair(code)
        if answer is None:
            return offered
        if not facilities.pair_answer_is_legal(code, offered, answer):
            raise PacketError(Diag.FACILITY_PARAMETER)
        return answer

    def connected_packet(self, accept: Call) -> Call:
        """Call Connected for the near side, with the values in force on that side."""
        connected = Call(self.call.modulo, self.near.lcn, accept.d)
        connected.addresses = accept.addresses
        if self.route.rewrites and accept.addresses.called == self.offered.addresses.called:
            connected.addresses = accept.addresses._replace(called=self.call.addresses.called)
        connected.facilities = accept.facilities.copy()
        connected.user_data = accept.user_data
        self.put_pairs(connected, self.near_size, self.near_window)
        return connected

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

    def record(self, cause: int, diagnostic: int) -> None:
        """One entry in the table of cleared circuits."""
        if not self.recorded:
            self.recorded = True
            parties = self.call.addresses
            self.router.counters.circuit_cleared(
                parties.called_digits, parties.calling_digits, cause, diagnostic
            )

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

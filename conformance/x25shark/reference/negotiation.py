# SPDX-License-Identifier: GPL-2.0-or-later
"""What the two sides of a call agree on: packet sizes, windows and facilities (X.25 6.12).

'Near' is the side that calls, 'far' the side that is called.
"""

from . import addresses, codec, facilities, routes
from .channel import Channel
from .codec import Call
from .codes import ClearCause, Diag, PacketError
from .facilities import DEFAULT_SIZE, DEFAULT_WINDOW, PACKET_SIZE, THROUGHPUT, WINDOW_SIZE, Pair
from .relayed import RelayedCall


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


class Negotiation:
    """Checks a Call and its answer, and writes those for the other side."""

    def __init__(self, relay: RelayedCall) -> None:
        self.relay = relay

    def check_call(self, call: Call) -> None:
        """Raises PacketError 39, 65, 66 or 73."""
        call.facilities.check(facilities.IN_CALL, call.modulo)
        check_user_data(call, call.facilities.fast_select)

    def offer(self, call: Call) -> Call:
        """The Call for the far side. RFC 1613 6.1: it carries packet size and window size."""
        relay = self.relay
        modulo = 8 if relay.route.modulo8_only else call.modulo
        if relay.route.to.serial:
            modulo = relay.router.serials[relay.route.to.serial].modulo
        relay.near_size, relay.near_window = requested(
            call, relay.near.size_limit, min(relay.near.window_max, call.modulo - 1)
        )
        relay.far_size, relay.far_window = self.far_values(modulo)
        offered = Call(modulo, 0, call.d, call.addresses, call.facilities.copy(), call.user_data)
        if relay.route.rewrites:
            offered.addresses = routes.rewrite(relay.route, call.addresses)
            if routes.too_long(offered.addresses):
                raise PacketError(Diag.CALLED_ADDRESS, ClearCause.NOT_OBTAINABLE)
        self.put_pairs(offered, relay.far_size, relay.far_window)
        return offered

    def far_values(self, modulo: int) -> tuple[Pair, Pair]:
        """Packet sizes and windows that the far side is offered."""
        relay = self.relay
        size, window = relay.near_size, relay.near_window
        if relay.route.packet_size:
            size = Pair(relay.route.packet_size, relay.route.packet_size)
        if relay.route.window:
            window = Pair(relay.route.window, relay.route.window)
        if relay.route.to.serial:
            longest = relay.router.serials[relay.route.to.serial].size_limit
            size = limit(size, longest, longest)
        return size, limit(window, modulo - 1, modulo - 1)

    def put_pairs(self, call: Call, size: Pair, window: Pair) -> None:
        """Write both facilities; there must be room for them (X.25 5.2.2)."""
        call.facilities.put_pair(PACKET_SIZE, size)
        call.facilities.put_pair(WINDOW_SIZE, window)
        if len(call.facilities.encode()) > facilities.LONGEST:
            raise PacketError(Diag.FACILITY_LENGTH)

    def settle_near(self, size: Pair, window: Pair) -> None:
        """What the near side runs with, where the far one agreed to these values."""
        relay = self.relay
        if not relay.route.independent:
            relay.near_size, relay.near_window = size, window

    def check_accept(self, accept: Call, far: Channel) -> None:
        """Raises PacketError 39, 42, 65, 66, 67, 68 or 73 (X.25 5.2.3, 6.12, 6.16)."""
        relay = self.relay
        if far.restricted:
            raise PacketError(Diag.INCOMPATIBLE_WITH_FACILITY)
        if accept.addresses.a_bit and not relay.settings.toa:
            raise PacketError(Diag.TOA_NPI_NOT_SUBSCRIBED)
        addresses.check(accept.addresses)
        accept.facilities.check(facilities.IN_ACCEPT, accept.modulo)
        if accept.user_data and not far.fast_select:
            raise PacketError(Diag.TOO_LONG)
        check_user_data(accept, far.fast_select)
        throughput = accept.facilities.get(THROUGHPUT)
        if throughput is not None and not facilities.throughput_answer_is_legal(
            relay.offered.facilities.get(THROUGHPUT), throughput
        ):
            raise PacketError(Diag.FACILITY_PARAMETER)

    def answered(self, accept: Call) -> tuple[Pair, Pair]:
        """What the far side agreed to; what it does not name is as offered (X.25 6.12)."""
        relay = self.relay
        size = self.answered_pair(accept, PACKET_SIZE, relay.far_size)
        return size, self.answered_pair(accept, WINDOW_SIZE, relay.far_window)

    def answered_pair(self, accept: Call, code: int, offered: Pair) -> Pair:
        answer = accept.facilities.pair(code)
        if answer is None:
            return offered
        if not facilities.pair_answer_is_legal(code, offered, answer):
            raise PacketError(Diag.FACILITY_PARAMETER)
        return answer

    def connected_packet(self, accept: Call) -> Call:
        """Call Connected for the near side, with the values in force on that side."""
        relay = self.relay
        connected = Call(relay.call.modulo, relay.near.lcn, accept.d)
        connected.addresses = accept.addresses
        if relay.route.rewrites and accept.addresses.called == relay.offered.addresses.called:
            connected.addresses = accept.addresses._replace(called=relay.call.addresses.called)
        connected.facilities = accept.facilities.copy()
        connected.user_data = accept.user_data
        self.put_pairs(connected, relay.near_size, relay.near_window)
        return connected

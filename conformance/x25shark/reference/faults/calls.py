# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of call set-up, routing and fast select."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import addresses, codec, routes
from ..addresses import Addresses
from ..call_setup import CallSetup
from ..channel import Channel
from ..circuit import Circuit
from ..codec import Call, Clear
from ..codes import Diag, PacketError, Type
from ..facilities import FAST_SELECT, Facilities
from ..negotiation import Negotiation
from ..placing import Placing
from ..relay import Relay
from ..router import Router
from ..routes import Route
from ..tables import P
from .common import came_with_accept, mark_reads, packet_type, pass_on, without_timer
from .registry import Patch, fault


def change_offer(patch: Patch, change: Any) -> None:
    """Change the Call that goes to the far side."""

    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        change(offered)
        return offered


@fault("BUG-CALL-01")
def swaps_addresses(patch: Patch) -> None:
    def change(offered: Call) -> None:
        called, calling, a_bit = offered.addresses
        offered.addresses = Addresses(calling, called, a_bit)

    change_offer(patch, change)


@fault("BUG-CALL-02")
def half_octet_shift(patch: Patch) -> None:
    @patch.wrap(codec, "encode_call")
    def encode_call(original: Any, kind: int, call: Call) -> bytes:
        octets: bytes = original(kind, call)
        total = len(call.addresses.called) + len(call.addresses.calling)
        if total % 2 == 0:
            return octets
        digits = octets.hex()
        filler = 2 * (4 + total // 2) + 1
        return bytes.fromhex(digits[:filler] + digits[filler + 1 :] + "0")


@fault("BUG-CALL-03")
def fourteen_digits(patch: Patch) -> None:
    def change(offered: Call) -> None:
        called, calling, a_bit = offered.addresses
        offered.addresses = Addresses(called[:14], calling[:14], a_bit)

    change_offer(patch, change)


@fault("BUG-CALL-44")
def fourteen_digits_of_the_called_address(patch: Patch) -> None:
    def change(offered: Call) -> None:
        offered.addresses = offered.addresses._replace(called=offered.addresses.called[:14])

    change_offer(patch, change)


@fault("BUG-CALL-04")
def wrong_route(patch: Patch) -> None:
    def select(candidates: Sequence[Route], rule: str) -> Route:
        return min(candidates, key=lambda route: len(route.prefix))

    patch.replace(routes, "select", select)


@fault("BUG-CALL-05")
def no_cause(patch: Patch) -> None:
    patch.replace(Router, "no_route_cause", lambda self: 0)


@fault("BUG-CALL-06")
def own_refusal(patch: Patch) -> None:
    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        if channel is relay.far and clear.by_peer and relay.near.p is P.CALL_RECEIVED:
            clear = replace(clear, cause=0x05, diagnostic=0)
        original(relay, channel, clear)


@fault("BUG-CALL-07")
def masks_cause(patch: Patch) -> None:
    @patch.wrap(codec, "parse_clear")
    def parse_clear(original: Any, octets: bytes) -> Clear:
        clear: Clear = original(octets)
        clear.cause &= 0x7F
        return clear

    @patch.wrap(codec, "parse_reset")
    def parse_reset(original: Any, octets: bytes) -> tuple[int, int]:
        cause, diagnostic = original(octets)
        return cause & 0x7F, diagnostic


@fault("BUG-CALL-08")
def no_t11(patch: Patch) -> None:
    without_timer(patch, "T11", "T21")


@fault("BUG-CALL-09")
def late_connected(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if (
            isinstance(channel.user, Relay)
            and channel.p is P.CLEAR_SENT
            and packet_type(channel, octets) == Type.ACCEPT
        ):
            near = channel.user.near
            near.send(codec.header(channel.modulo, near.lcn, Type.ACCEPT))
        original(channel, octets)


@fault("BUG-CALL-10")
def second_call(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.p is P.DATA_TRANSFER and packet_type(channel, octets) == Type.CALL:
            channel.send(codec.header(channel.modulo, channel.lcn, Type.ACCEPT))
        else:
            original(channel, octets)


@fault("BUG-CALL-11")
def early_data(patch: Patch) -> None:
    pass_on(patch, Type.DATA, states=(P.CALL_RECEIVED, P.CALL_SENT))


@fault("BUG-CALL-12")
def long_accept(patch: Patch) -> None:
    @patch.wrap(codec, "parse_accept")
    def parse_accept(original: Any, octets: bytes) -> Call:
        if len(octets) < 5:
            raise PacketError(Diag.TOO_SHORT)
        call: Call = original(octets)
        return call


@fault("BUG-CALL-13")
def four_octets(patch: Patch) -> None:
    def change(offered: Call) -> None:
        offered.user_data = offered.user_data[:4]

    change_offer(patch, change)


@fault("BUG-CALL-14")
def seventeen_octets(patch: Patch) -> None:
    patch.replace(codec, "USER_DATA_LONGEST", 17)


@fault("BUG-CALL-15")
def no_d_bit(patch: Patch) -> None:
    @patch.wrap(codec, "encode_call")
    def encode_call(original: Any, kind: int, call: Call) -> bytes:
        octets: bytes = original(kind, replace(call, d=False))
        return octets


@fault("BUG-CALL-16")
def a_bit_ignored(patch: Patch) -> None:
    @patch.wrap(addresses, "parse")
    def parse(original: Any, octets: bytes, at: int, a_bit: bool) -> tuple[Addresses, int]:
        parties, end = original(octets, at, False)
        return parties, end


@fault("BUG-CALL-17")
def call_twice(patch: Patch) -> None:
    @patch.wrap(Placing, "connect")
    def connect(original: Any, placing: Placing) -> None:
        vars(placing.relay)["since"] = time.monotonic()
        original(placing)

    @patch.wrap(Placing, "send_call")
    def send_call(original: Any, placing: Placing, far: Channel) -> None:
        relay = placing.relay
        original(placing, far)
        if time.monotonic() - vars(relay)["since"] > 0.5:
            far.send(far.setup.encode_call(relay.offered))


@fault("BUG-CALL-18")
def endless_loop(patch: Patch) -> None:
    """Where no channel is left the loop waits for one, and no timer ends it."""
    patch.replace(Router, "is_loop", lambda self, channel, called: False)
    without_timer(patch, "T11", "T21")

    @patch.wrap(Router, "refuse")
    def refuse(original: Any, router: Router, channel: Channel, *arguments: Any) -> None:
        if not channel.wire.from_self:
            original(router, channel, *arguments)


@fault("BUG-CALL-19")
def short_address(patch: Patch) -> None:
    patch.replace(
        routes,
        "matches",
        lambda route, digits: (
            digits.startswith(route.prefix) or (digits != "" and route.prefix.startswith(digits))
        ),
    )


class Marked(Addresses):
    """Addresses that a fault encodes in its own way."""

    #: Digits of the address block, and its first octet.
    block: str
    lengths: bytes


def encode_marked(patch: Patch) -> None:
    """Addresses of class Marked are written as they say."""

    @patch.wrap(addresses, "encode")
    def encode(original: Any, parties: Addresses) -> bytes:
        if isinstance(parties, Marked):
            filler = "0" * (len(parties.block) % 2)
            return parties.lengths + bytes.fromhex(parties.block + filler)
        octets: bytes = original(parties)
        return octets


@fault("BUG-CALL-20")
def octet_border(patch: Patch) -> None:
    encode_marked(patch)

    @patch.wrap(routes, "rewrite")
    def rewrite(original: Any, route: Route, parties: Addresses) -> Addresses:
        result: Addresses = original(route, parties)
        if parties.calling == result.calling or parties.a_bit:
            return result
        marked = Marked(*result)
        marked.block = result.called + "0" * (len(result.called) % 2) + result.calling
        marked.lengths = bytes((len(result.calling) << 4 | len(result.called),))
        return marked


@fault("BUG-CALL-21")
def old_length(patch: Patch) -> None:
    encode_marked(patch)

    @patch.wrap(routes, "rewrite")
    def rewrite(original: Any, route: Route, parties: Addresses) -> Addresses:
        result: Addresses = original(route, parties)
        if parties.a_bit or len(parties.called) == len(result.called):
            return result
        marked = Marked(*result)
        marked.block = result.called + result.calling
        marked.lengths = bytes((len(parties.calling) << 4 | len(parties.called),))
        return marked


@fault("BUG-CALL-22")
def clear_with_accept(patch: Patch) -> None:
    mark_reads(patch)

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if came_with_accept(channel) and packet_type(channel, octets) == Type.CLEAR:
            channel.discard()
        else:
            original(channel, octets)


@fault("BUG-FS-01")
def fast_select_cut(patch: Patch) -> None:
    for name in ("encode_call", "encode_clear"):

        @patch.wrap(codec, name)
        def encode(original: Any, *arguments: Any) -> bytes:
            *rest, packet = arguments
            octets: bytes = original(*rest, replace(packet, user_data=packet.user_data[:16]))
            return octets


@fault("BUG-FS-02")
def restriction_ignored(patch: Patch) -> None:
    @patch.wrap(CallSetup, "call")
    def call(original: Any, setup: CallSetup, *arguments: Any) -> None:
        original(setup, *arguments)
        setup.channel.restricted = False


@fault("BUG-FS-03")
def fast_select_bit_7(patch: Patch) -> None:
    def fast_select(facilities: Facilities) -> bool:
        value = facilities.get(FAST_SELECT)
        return value is not None and value[0] & 0x40 != 0

    patch.replace(Facilities, "fast_select", property(fast_select))


@fault("BUG-FS-04")
def clear_user_data(patch: Patch) -> None:
    @patch.wrap(codec, "encode_clear")
    def encode_clear(original: Any, modulo: int, lcn: int, clear: Clear) -> bytes:
        octets: bytes = original(modulo, lcn, replace(clear, user_data=b""))
        return octets


def runs_on(patch: Patch, timer: str) -> None:
    """Nothing stops a timer but the end of the call."""

    @patch.wrap(Circuit, "stop_timer")
    def stop_timer(original: Any, circuit: Circuit, name: str) -> None:
        if name != timer:
            original(circuit, name)


@fault("BUG-CALL-29")
def t21_runs_on(patch: Patch) -> None:
    runs_on(patch, "T21")


@fault("BUG-CALL-30")
def t11_runs_on(patch: Patch) -> None:
    runs_on(patch, "T11")


@fault("BUG-CALL-32")
def t21_behind_user_data(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, call: Call) -> None:
        channel = setup.channel
        if call.user_data:
            vars(channel)["stop_timer"] = lambda name: None
        try:
            original(setup, call)
        finally:
            vars(channel).pop("stop_timer", None)


@fault("BUG-CALL-66")
def calling_address_in_the_place_of_the_called_one(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        connected: Call = original(negotiation, accept)
        called, calling, a_bit = connected.addresses
        if calling and not called:
            connected.addresses = Addresses(calling, "", a_bit)
        return connected

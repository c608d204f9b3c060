# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of set-up and clearing that show in some calls only: later ones, those beside others."""

from collections.abc import Iterator
from typing import Any

from ..channel import Channel
from ..channel_rules import Rules
from ..clearing import Clearing
from ..codec import Call, Clear
from ..codes import Type
from ..facilities import PACKET_SIZE, WINDOW_SIZE, Pair
from ..framing import Framer
from ..negotiation import Negotiation
from ..relay import Relay
from ..tables import Cell, Do, P
from .calls import change_offer
from .later_uses import count_calls, is_later_call
from .registry import Patch, fault


@fault("BUG-LEFT-22")
def diagnostic_of_a_later_refusal(patch: Patch) -> None:
    count_calls(patch)

    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        if relay.near.p is P.CALL_RECEIVED and is_later_call(relay.near):
            clear.diagnostic = 0
        original(relay, channel, clear)


@fault("BUG-XOT-80")
def behind_a_confirmation(patch: Patch) -> None:
    @patch.wrap(Framer, "feed")
    def feed(original: Any, framer: Framer, octets: bytes) -> Iterator[bytes]:
        confirmed = False
        for packet in original(framer, octets):
            if not confirmed:
                yield packet
            confirmed = confirmed or packet[2:3] == bytes((Type.CLEAR_CONFIRMATION,))


@fault("BUG-CALL-33")
def fifteen_octets_towards_a(patch: Patch) -> None:
    def change(offered: Call) -> None:
        if offered.addresses.called.startswith("31") and not offered.facilities.fast_select:
            offered.user_data = offered.user_data[:15]

    change_offer(patch, change)


@fault("BUG-MOD-12")
def no_user_data_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        connected: Call = original(negotiation, accept)
        if connected.modulo == 128:
            connected.user_data = b""
        return connected


@fault("BUG-LEFT-23")
def data_before_a_later_answer(patch: Patch) -> None:
    count_calls(patch)

    @patch.wrap(Rules, "call_cell")
    def call_cell(original: Any, rules: Rules, packet_type: int) -> Cell:
        waits = rules.channel.p is P.CALL_RECEIVED and is_later_call(rules.channel)
        if waits and packet_type == Type.DATA:
            return Do.DISCARD
        cell: Cell = original(rules, packet_type)
        return cell


@fault("BUG-CALL-34")
def values_of_the_last_call(patch: Patch) -> None:
    last: dict[int, Pair] = {}

    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        last[PACKET_SIZE] = negotiation.relay.far_size
        last[WINDOW_SIZE] = negotiation.relay.far_window
        return offered

    @patch.wrap(Negotiation, "answered_pair")
    def answered_pair(
        original: Any, negotiation: Negotiation, accept: Call, code: int, offered: Pair
    ) -> Pair:
        pair: Pair = original(negotiation, accept, code, last.get(code, offered))
        return pair


@fault("BUG-CALL-35")
def d_bit_of_a_rewritten_call(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        offered.d = offered.d and not negotiation.relay.route.rewrites
        return offered


@fault("BUG-CALL-36")
def channel_of_a_refused_call(patch: Patch) -> None:
    refused: set[Relay] = set()

    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        if channel is not relay.near and relay.near.p is P.CALL_RECEIVED:
            refused.add(relay)
        original(relay, channel, clear)

    @patch.wrap(Relay, "released")
    def released(original: Any, relay: Relay, channel: Channel) -> None:
        original(relay, channel)
        if relay in refused:
            relay.router.circuits.add(relay)


@fault("BUG-MIB-20")
def clear_of_a_collision(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        if clearing.channel.p is P.CLEAR_SENT:
            clearing.channel.released()
        else:
            original(clearing, octets)


@fault("BUG-CALL-67")
def data_to_the_first_connection_of_the_peer(patch: Patch) -> None:
    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        relay = channel.user
        if isinstance(relay, Relay) and not octets[2] & 1 and channel is relay.far:
            near = relay.near
            channel = near if near.wire.peer == channel.wire.peer else channel
        original(channel, octets)

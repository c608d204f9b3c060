# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of a call with another modulus, or other values, at each side (RFC 1613 6.2)."""

from collections.abc import Callable
from typing import Any

from .. import codec, facilities
from ..channel import Channel
from ..codec import Call
from ..codes import Diag, Type
from ..data_flow import DataFlow
from ..facilities import Facilities, Pair
from ..negotiation import Negotiation
from ..relay import Relay
from ..relay_endtoend import EndToEndRelay
from ..tables import D, P
from .common import packet_type
from .registry import Patch, fault

_WITHOUT_NUMBERS = (Type.INTERRUPT, Type.INTERRUPT_CONFIRMATION, Type.RESET)


def _other(channel: Any) -> Channel | None:
    relay = getattr(channel, "user", None)
    return relay.other(channel) if isinstance(relay, Relay) else None


@fault("BUG-MOD-46")
def format_identifier_of_the_other_side(patch: Patch) -> None:
    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        other = _other(channel)
        differ = other is not None and other.modulo != channel.modulo
        if differ and octets[2] in _WITHOUT_NUMBERS:
            octets = bytes((octets[0] ^ 0x30,)) + octets[1:]
        original(channel, octets)


@fault("BUG-SEG-28")
def m_of_the_parts_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        other = _other(channel)
        differ = other is not None and other.size_in > channel.size_out
        if channel.modulo == 128 and differ and not octets[2] & 1:
            octets = octets[:3] + bytes((octets[3] & 0xFE,)) + octets[4:]
        original(channel, octets)


@fault("BUG-FAC-48")
def what_follows_an_unknown_facility_of_an_answer(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_accept")
    def check_accept(original: Any, negotiation: Negotiation, accept: Call, far: Channel) -> None:
        items = accept.facilities.items
        unknown = [at for at, item in enumerate(items) if item.code not in facilities.IN_ACCEPT]
        if unknown:
            accept.facilities = Facilities(items[: unknown[0]], accept.facilities.marked)
        original(negotiation, accept, far)


@fault("BUG-FAC-59")
def values_of_an_answer_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Negotiation, "answered")
    def answered(original: Any, negotiation: Negotiation, accept: Call) -> tuple[Pair, Pair]:
        size, window = original(negotiation, accept)
        relay = negotiation.relay
        return (relay.far_size, relay.far_window) if accept.modulo == 128 else (size, window)


@fault("BUG-FAC-60")
def dte_facilities_of_an_answer_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        connected: Call = original(negotiation, accept)
        if connected.modulo == 128:
            connected.facilities.marked = b""
        return connected


def _rest_is_not_acknowledged(patch: Patch, least: int, share: Callable[[Channel], int]) -> None:
    """In modulo 128 no RR for less than a share of the window, where P(R) is so much or more."""

    @patch.wrap(DataFlow, "flush")
    def flush(original: Any, flow: DataFlow) -> None:
        channel = flow.channel
        new = (channel.p_r - channel.p_r_sent) % channel.modulo
        if channel.modulo == 8 or channel.p_r < least or new >= share(channel):
            original(flow)


@fault("BUG-FLOW-26")
def last_unacknowledged_in_modulo_128(patch: Patch) -> None:
    _rest_is_not_acknowledged(patch, 0, lambda channel: min(2, channel.window_in))


@fault("BUG-FLOW-27")
def last_unacknowledged_above_63(patch: Patch) -> None:
    _rest_is_not_acknowledged(patch, 64, lambda channel: channel.window_in // 2)


def _busy_for_ever(patch: Patch, least: int) -> None:
    """In modulo 128 RR with the P(R) of an RNR is not passed on, where that is so much or more."""

    @patch.wrap(EndToEndRelay, "flow_received")
    def flow_received(
        original: Any, relay: EndToEndRelay, channel: Channel, packet_type: int, p_r: int
    ) -> None:
        other = relay.other(channel)
        same = other is not None and other.p_r_sent == p_r >= least
        if packet_type != Type.RR or channel.modulo == 8 or not same:
            original(relay, channel, packet_type, p_r)


@fault("BUG-FLOW-28")
def ready_with_the_same_number_in_modulo_128(patch: Patch) -> None:
    _busy_for_ever(patch, 0)


@fault("BUG-FLOW-29")
def ready_with_the_same_number_above_63(patch: Patch) -> None:
    _busy_for_ever(patch, 64)


@fault("BUG-FLOW-30")
def reject_acknowledges_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        wide = channel.modulo == 128 and channel.ready
        if wide and packet_type(channel, octets) == Type.REJ:
            channel.process(Type.RR, octets)
        else:
            original(channel, octets)


@fault("BUG-RST-55")
def old_numbers_in_a_reset_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, kind: int, octets: bytes) -> None:
        amid = channel.p is P.DATA_TRANSFER and channel.d is D.RESET_SENT
        has_p_r = amid and channel.modulo == 128 and kind in (Type.RR, Type.RNR)
        if has_p_r and not channel.p_r_is_valid(codec.parse_flow(octets, 128)):
            channel.resets.error(Diag.INVALID_P_R)
        else:
            original(channel, kind, octets)


@fault("BUG-RST-56")
def crossing_data_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        other = _other(channel)
        crossing = channel.p is P.DATA_TRANSFER and channel.d is D.RESET_SENT
        wide = other is not None and channel.modulo == 128 and not octets[2] & 1
        if other is not None and wide and crossing:
            data = codec.parse_data(octets, 128)
            other.flow.send_data(data.q, data.d, data.m, data.user_data)
        else:
            original(channel, octets)

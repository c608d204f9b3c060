# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet sequences, sizes and moduli that differ by side (X.25 4.3.4, 4.3.5, 6.2; RFC 1613 6.2)."""

from dataclasses import replace

from ..channel_rules import Rules
from ..codec import Call, Data
from ..codes import ClearCause, Diag, PacketError
from ..data_flow import DataFlow
from ..facilities import WINDOW_SIZE, Pair
from ..negotiation import Negotiation
from ..relay import Relay
from ..relay_local import Direction, LocalNegotiation, LocalRelay, Segment, Segmenter
from ..router import Router
from ..routes import Route
from ..serial_channel import SerialChannel
from .registry import Original, Patch, variant

PAUSE_SECONDS = 0.02
LONGEST_HELD = 16_384


@variant("MAY-SEG-01")
def mixed_modulo_refused(patch: Patch) -> None:
    @patch.wrap(Router, "refusal")
    def refusal(
        original: Original, router: Router, route: Route, call: Call
    ) -> tuple[int, int] | None:
        if route.modulo8_only and call.modulo == 128:
            return ClearCause.NETWORK_CONGESTION, Diag.NONE
        found: tuple[int, int] | None = original(router, route, call)
        return found


@variant("MAY-SEG-02")
def windows_lowered_together(patch: Patch) -> None:
    """Where B has modulo 8 its smaller window is told to A as well, or it is not."""

    @patch.wrap(LocalNegotiation, "settle_near")
    def settle_near(
        original: Original, negotiation: LocalNegotiation, size: Pair, window: Pair
    ) -> None:
        if not negotiation.relay.route.modulo8_only:
            original(negotiation, size, window)


@variant("MAY-SEG-03")
def modulo_8_at_b(patch: Patch) -> None:
    @patch.wrap(LocalRelay, "__init__")
    def init(original: Original, relay: Relay, router: Router, route: Route) -> None:
        plain = route.to.serial or route.alternates
        original(relay, router, route if plain else replace(route, modulo8_only=True))


@variant("MAY-SEG-04")
def windows_of_7(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Original, negotiation: Negotiation, call: Call) -> Call:
        relay = negotiation.relay
        offered: Call = original(negotiation, call)
        relay.near_window = Pair(*(min(value, 7) for value in relay.near_window))
        relay.far_window = Pair(*(min(value, 7) for value in relay.far_window))
        offered.facilities.put_pair(WINDOW_SIZE, relay.far_window)
        return offered


@variant("MAY-SEG-05")
def other_modulo_resets(patch: Patch) -> None:
    """A packet of the other modulus in data transfer is an error 40, not discarded."""

    @patch.wrap(Rules, "gfi_is_valid")
    def gfi_is_valid(original: Original, rules: Rules, octets: bytes, packet_type: int) -> bool:
        channel = rules.channel
        valid = bool(original(rules, octets, packet_type))
        if not valid and channel.ready and octets[0] & 0x30 in (0x10, 0x20):
            channel.resets.error(Diag.INVALID_GFI)
        return valid


@variant("MAY-SEG-06")
def other_modulo_clears(patch: Patch) -> None:
    @patch.wrap(Rules, "gfi_is_valid")
    def gfi_is_valid(original: Original, rules: Rules, octets: bytes, packet_type: int) -> bool:
        channel = rules.channel
        valid = bool(original(rules, octets, packet_type))
        of_a_call = channel.ready and not channel.permanent
        if not valid and of_a_call and octets[0] & 0x30 in (0x10, 0x20):
            channel.clearing.error(Diag.INVALID_GFI)
        return valid


@variant("MAY-SEG-07")
def one_part_at_a_time(patch: Patch) -> None:
    """The parts of a split packet go out one after the other, with a pause between them."""

    def pump(direction: Direction) -> None:
        if vars(direction).get("waits"):
            return
        if direction.queue and direction.sink.flow.can_send():
            segment = direction.queue.popleft()
            direction.sent += 1
            direction.settle()
            direction.sink.flow.send_data(*segment)
        direction.settle()
        if direction.queue:
            vars(direction)["waits"] = True
            direction.source.router.timers.start(PAUSE_SECONDS, lambda: go_on(direction))

    def go_on(direction: Direction) -> None:
        vars(direction)["waits"] = False
        if direction.source.ready and direction.sink.ready:
            direction.pump()
            direction.source.router.flush()

    patch.replace(Direction, "pump", pump)


@variant("MAY-SEG-08")
def whole_sequences(patch: Patch) -> None:
    """What arrived of a packet sequence goes on when its end is there, or as it grows too long."""

    @patch.wrap(Segmenter, "feed")
    def feed(original: Original, segmenter: Segmenter, data: Data) -> list[Segment]:
        if segmenter.joins_next(data) and segmenter.waiting < LONGEST_HELD:
            segmenter.hold(data)
            return []
        return list(original(segmenter, data))


@variant("MAY-SEG-09")
def part_filled_is_an_error(patch: Patch) -> None:
    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Original, flow: DataFlow, data: Data) -> None:
        original(flow, data)
        channel = flow.channel
        part_filled = data.m and not data.d and len(data.user_data) < channel.size_in
        if part_filled and isinstance(channel, SerialChannel) and not channel.line.dce:
            raise PacketError(Diag.PARTIALLY_FULL)

# SPDX-License-Identifier: GPL-2.0-or-later
"""When P(R) is sent, and when a receiver is not ready (X.25 4.4.1.3 to 4.4.1.6)."""

import time
from collections.abc import Callable

from ..call_setup import CallSetup
from ..channel import Channel
from ..circuit import Circuit
from ..codec import Data
from ..codes import Type
from ..data_flow import DataFlow
from ..relay_endtoend import EndToEndRelay
from ..relay_local import Direction, LocalRelay
from ..resets import Resets
from ..tables import P
from .registry import Original, Patch, variant

LATEST_SECONDS = 1.0
SHORT_SECONDS = 0.02


@variant("MAY-FLOW-01")
def rr_for_every_data(patch: Patch) -> None:
    @patch.wrap(DataFlow, "acknowledge")
    def each(_original: Original, flow: DataFlow, count: int) -> None:
        channel = flow.channel
        for _ in range(count if channel.ready else 0):
            channel.flow.forward_flow(Type.RR, (channel.p_r + 1) % channel.modulo)


@variant("MAY-FLOW-02", number=LATEST_SECONDS)
def rr_at_half_of_the_window(patch: Patch) -> None:
    @patch.wrap(DataFlow, "flush")
    def late(original: Original, flow: DataFlow) -> None:
        channel = flow.channel
        used = (channel.p_r - channel.p_r_sent) % channel.modulo
        if used * 2 >= channel.window_in:
            channel.stop_timer("acknowledge")
            original(flow)
        elif used:
            channel.start_timer("acknowledge", patch.number, lambda: original(flow))


@variant("MAY-FLOW-03", number=1)
def pauses(patch: Patch) -> None:
    counts: dict[Channel, int] = {}

    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Original, flow: DataFlow, octets: bytes) -> None:
        channel = flow.channel
        original(flow, octets)
        counts[channel] = counts.get(channel, 0) + 1
        if channel.ready and counts[channel] % max(1, round(patch.number)) == 0:
            channel.flow.forward_flow(Type.RNR, channel.p_r)
            channel.flow.forward_flow(Type.RR, channel.p_r)


@variant("MAY-FLOW-04", number=0.02)
def window_status(patch: Patch) -> None:
    def tell(channel: Channel) -> None:
        if channel.ready:
            channel.flow.forward_flow(Type.RR, channel.p_r)
        start(channel)

    def start(channel: Channel) -> None:
        if channel.p is P.DATA_TRANSFER:
            channel.start_timer("T24", patch.number, lambda: tell(channel))

    on_data_transfer(patch, start)


@variant("MAY-FLOW-05")
def rr_at_the_beginning(patch: Patch) -> None:
    def tell(channel: Channel) -> None:
        if channel.ready:
            channel.flow.forward_flow(Type.RR, 0)

    on_data_transfer(patch, tell)

    @patch.wrap(Resets, "complete")
    def reset_complete(original: Original, resets: Resets) -> None:
        channel = resets.channel
        original(resets)
        if channel.v_s == 0:
            tell(channel)


@variant("MAY-FLOW-06")
def rnr_acknowledges(patch: Patch) -> None:
    @patch.wrap(DataFlow, "flush")
    def flush(original: Original, flow: DataFlow) -> None:
        channel = flow.channel
        if channel.p_r != channel.p_r_sent and channel.ready:
            channel.flow.forward_flow(Type.RNR, channel.p_r)
            channel.start_timer("busy", SHORT_SECONDS, lambda: ready_again(channel))
            return
        original(flow)

    def ready_again(channel: Channel) -> None:
        if channel.ready:
            channel.flow.forward_flow(Type.RR, channel.p_r)


@variant("MAY-FLOW-07")
def below_the_window(patch: Patch) -> None:
    @patch.wrap(Circuit, "window_open")
    def window_open(_original: Original, circuit: Circuit) -> bool:
        open_packets = (circuit.v_s - circuit.p_r_received) % circuit.modulo
        return open_packets < max(1, circuit.window_out - 1)


@variant("MAY-FLOW-08", number=8)
def takes_ahead(patch: Patch) -> None:
    @patch.wrap(Direction, "is_settled")
    def is_settled(original: Original, direction: Direction, last: int, d: bool) -> bool:
        stored = direction.sent + round(patch.number) >= last
        return bool(original(direction, last, d) or (stored and not d))


@variant("MAY-FLOW-09")
def far_end_acknowledges(patch: Patch) -> None:
    @patch.wrap(Direction, "is_settled")
    def is_settled(original: Original, direction: Direction, last: int, _d: bool) -> bool:
        return bool(original(direction, last, True))


@variant("MAY-FLOW-10", number=LATEST_SECONDS)
def rr_for_a_whole_window(patch: Patch) -> None:
    @patch.wrap(DataFlow, "flush")
    def late(original: Original, flow: DataFlow) -> None:
        channel = flow.channel
        used = (channel.p_r - channel.p_r_sent) % channel.modulo
        if used >= channel.window_in:
            channel.stop_timer("acknowledge")
            original(flow)
        elif used:
            channel.start_timer("acknowledge", patch.number, lambda: original(flow))


@variant("MAY-FLOW-11")
def data_acknowledge_nothing_new(patch: Patch) -> None:
    @patch.wrap(DataFlow, "send_data")
    def send_data(
        _original: Original, flow: DataFlow, q: bool, d: bool, m: bool, user_data: bytes
    ) -> None:
        channel = flow.channel
        due = channel.p_r
        channel.flow.forward_data(Data(channel.v_s, channel.p_r_sent, q, d, m, user_data))
        channel.p_r = due
        channel.router.unsettled.append(channel)


@variant("MAY-FLOW-12", number=0.1)
def waits_for_data_to_acknowledge_in(patch: Patch) -> None:
    @patch.wrap(DataFlow, "flush")
    def flush(original: Original, flow: DataFlow) -> None:
        channel = flow.channel
        if channel.p_r != channel.p_r_sent and channel.ready:
            channel.start_timer("acknowledge", patch.number, lambda: original(flow))


@variant("MAY-FLOW-13")
def rnr_is_told_on(patch: Patch) -> None:
    @patch.wrap(LocalRelay, "flow_received")
    def flow_received(
        original: Original, relay: LocalRelay, channel: Channel, packet_type: int, p_r: int
    ) -> None:
        original(relay, channel, packet_type, p_r)
        other = relay.other(channel)
        busy = packet_type == Type.RNR
        if other is not None and other.ready and busy != vars(other).get("told_busy", False):
            vars(other)["told_busy"] = busy
            other.flow.forward_flow(packet_type, other.p_r)

    @patch.wrap(Channel, "restart_numbers")
    def restart_numbers(original: Original, channel: Channel) -> None:
        vars(channel)["told_busy"] = False
        original(channel)


@variant("MAY-FLOW-14")
def rnr_passes_as_rr(patch: Patch) -> None:
    @patch.wrap(EndToEndRelay, "flow_received")
    def flow_received(
        original: Original, relay: EndToEndRelay, channel: Channel, _packet_type: int, p_r: int
    ) -> None:
        original(relay, channel, Type.RR, p_r)


@variant("MAY-FLOW-15")
def only_new_p_r_passes(patch: Patch) -> None:
    @patch.wrap(DataFlow, "forward_flow")
    def forward_flow(original: Original, flow: DataFlow, _packet_type: int, p_r: int) -> None:
        if p_r != flow.channel.p_r_sent:
            original(flow, Type.RR, p_r)


@variant("MAY-FLOW-16")
def rnr_stops_nothing(patch: Patch) -> None:
    @patch.wrap(DataFlow, "can_send")
    def can_send(original: Original, flow: DataFlow) -> bool:
        channel = flow.channel
        if channel.on_line:
            return bool(original(flow))
        return channel.ready and channel.window_open() and not channel.wire.congested


@variant("MAY-FLOW-17")
def one_at_a_time(patch: Patch) -> None:
    @patch.wrap(Circuit, "window_open")
    def window_open(_original: Original, circuit: Circuit) -> bool:
        return circuit.v_s == circuit.p_r_received


@variant("MAY-FLOW-18", number=0.005)
def paced(patch: Patch) -> None:
    last: dict[Channel, float] = {}

    @patch.wrap(DataFlow, "can_send")
    def can_send(original: Original, flow: DataFlow) -> bool:
        channel = flow.channel
        now = time.monotonic()
        if now - last.get(channel, 0.0) >= patch.number:
            return bool(original(flow))
        channel.start_timer("pace", patch.number, lambda: channel.user.writable(channel))
        return False

    @patch.wrap(DataFlow, "send_data")
    def send_data(original: Original, flow: DataFlow, *data: object) -> None:
        last[flow.channel] = time.monotonic()
        original(flow, *data)


@variant("MAY-FLOW-19", number=3)
def busy_while_it_stores(patch: Patch) -> None:
    """It acknowledges what it stores, and is not ready while so many wait for the other side."""

    def look(direction: Direction) -> None:
        source, full = direction.source, len(direction.queue) >= round(patch.number)
        if source.ready and full != vars(direction).get("busy", False):
            vars(direction)["busy"] = full
            source.flow.forward_flow(Type.RNR if full else Type.RR, source.p_r)

    takes_ahead(patch)

    @patch.wrap(Direction, "data")
    def data(original: Original, direction: Direction, data: Data) -> None:
        original(direction, data)
        look(direction)

    @patch.wrap(Direction, "pump")
    def pump(original: Original, direction: Direction) -> None:
        original(direction)
        look(direction)

    @patch.wrap(Direction, "clear")
    def clear(original: Original, direction: Direction) -> None:
        original(direction)
        vars(direction)["busy"] = False

    @patch.wrap(DataFlow, "forward_flow")
    def forward_flow(original: Original, flow: DataFlow, packet_type: int, p_r: int) -> None:
        """What acknowledges meanwhile does not end the busy condition."""
        directions = getattr(flow.channel.user, "directions", None) or {}
        direction = directions.get(flow.channel)
        busy = direction is not None and vars(direction).get("busy", False)
        original(flow, Type.RNR if busy else packet_type, p_r)


def on_data_transfer(patch: Patch, then: Callable[[Channel], None]) -> None:
    """Do this where a call comes to data transfer."""

    @patch.wrap(CallSetup, "connected")
    def connected(original: Original, setup: CallSetup) -> None:
        original(setup)
        then(setup.channel)

    @patch.wrap(CallSetup, "accept")
    def accept(original: Original, setup: CallSetup, call: object) -> None:
        original(setup, call)
        then(setup.channel)

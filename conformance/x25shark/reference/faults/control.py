# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of flow control, interrupt and reset."""

from typing import Any

from .. import codec
from ..channel import Channel
from ..codec import Data
from ..codes import Diag, PacketError, Type
from ..data_flow import DataFlow
from ..interrupts import Interrupts
from ..relay import Relay
from ..relay_endtoend import EndToEndRelay
from ..relay_local import LocalRelay
from ..resets import Resets
from ..tables import D, P
from .clearing import data_outstanding, when_free
from .common import other_end, packet_type, without_timer
from .data import ignore_invalid_p_r
from .registry import Patch, fault


def outstanding(channel: Channel) -> int:
    """Data packets sent and not acknowledged."""
    return (channel.v_s - channel.p_r_received) % channel.modulo


@fault("BUG-FLOW-01")
def large_window(patch: Patch) -> None:
    patch.replace(
        Channel,
        "window_open",
        lambda self: outstanding(self) < min(self.window_out + 1, self.modulo - 1),
    )


@fault("BUG-FLOW-02")
def ignores_rnr(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, kind: int, octets: bytes) -> None:
        # Taken as an RR with the same P(R).
        original(flow, Type.RR, octets)


@fault("BUG-FLOW-03")
def stays_busy(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, kind: int, octets: bytes) -> None:
        original(flow, Type.RNR if flow.channel.peer_busy else kind, octets)


@fault("BUG-FLOW-04")
def accepts_p_r(patch: Patch) -> None:
    ignore_invalid_p_r(patch)

    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, kind: int, octets: bytes) -> None:
        try:
            original(flow, kind, octets)
        except PacketError as error:
            if error.diagnostic != Diag.INVALID_P_R:
                raise


@fault("BUG-FLOW-05")
def repeated_p_r(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, kind: int, octets: bytes) -> None:
        channel = flow.channel
        if codec.parse_flow(octets, channel.modulo) == channel.p_r_received:
            raise PacketError(Diag.INVALID_P_R)
        original(flow, kind, octets)


@fault("BUG-FLOW-06")
def storm(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        channel = flow.channel
        original(flow, octets)
        for _ in range(len(octets) // 16 + 2):
            if channel.ready:
                channel.flow.forward_flow(Type.RR, channel.p_r)


@fault("BUG-FLOW-07")
def last_unacknowledged(patch: Patch) -> None:
    @patch.wrap(DataFlow, "flush")
    def flush(original: Any, flow: DataFlow) -> None:
        channel = flow.channel
        if (channel.p_r - channel.p_r_sent) % channel.modulo > 1 or channel.window_in == 1:
            original(flow)

    @patch.wrap(EndToEndRelay, "flow_received")
    def flow_received(
        original: Any, relay: EndToEndRelay, channel: Channel, kind: int, p_r: int
    ) -> None:
        if p_r != channel.v_s or channel.window_out == 1:
            original(relay, channel, kind, p_r)


@fault("BUG-FLOW-09")
def reject_acknowledges(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if packet_type(channel, octets) == Type.REJ and channel.ready:
            channel.process(Type.RR, octets)
        else:
            original(channel, octets)


@fault("BUG-FLOW-08")
def whole_window(patch: Patch) -> None:
    @patch.wrap(DataFlow, "take_p_r")
    def take_p_r(original: Any, flow: DataFlow, p_r: int) -> None:
        channel = flow.channel
        if p_r != channel.p_r_received:
            vars(channel)["edge"] = channel.v_s
        original(flow, p_r)

    def window_open(channel: Channel) -> bool:
        edge = vars(channel).get("edge", channel.p_r_received)
        sent = (channel.v_s - edge) % channel.modulo
        return sent < channel.window_out and outstanding(channel) < channel.modulo - 1

    patch.replace(Channel, "window_open", window_open)


@fault("BUG-INT-01")
def local_confirmation(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_received")
    def interrupt_received(original: Any, relay: Relay, channel: Channel, user_data: bytes) -> None:
        original(relay, channel, user_data)
        channel.interrupts.confirm()


@fault("BUG-INT-02")
def interrupt_queued(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_received")
    def interrupt_received(original: Any, relay: Relay, channel: Channel, user_data: bytes) -> None:
        other = relay.other(channel)
        if other is not None and data_outstanding(relay, other):
            when_free(relay, other, lambda: original(relay, channel, user_data))
        else:
            original(relay, channel, user_data)


@fault("BUG-INT-03")
def one_octet(patch: Patch) -> None:
    @patch.wrap(Interrupts, "send")
    def send_interrupt(original: Any, interrupts: Interrupts, user_data: bytes) -> None:
        original(interrupts, user_data[:1])


@fault("BUG-INT-04")
def second_interrupt(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        interrupts.channel.interrupt_in = False
        original(interrupts, octets)


@fault("BUG-INT-05")
def interrupt_counts(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        channel = interrupts.channel
        original(interrupts, octets)
        channel.v_r = (channel.v_r + 1) % channel.modulo


@fault("BUG-INT-06")
def interrupt_survives(patch: Patch) -> None:
    @patch.wrap(Channel, "restart_numbers")
    def restart_numbers(original: Any, channel: Channel) -> None:
        kept = None
        if vars(channel).get("d") is not None and channel.p is P.DATA_TRANSFER:
            kept = channel.interrupt_in, channel.interrupt_out
        original(channel)
        if kept is not None:
            channel.interrupt_in, channel.interrupt_out = kept


def keep_numbers(patch: Patch, under_traffic: bool) -> None:
    """The side that resets keeps the numbers for sending."""

    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        v_s = channel.v_s
        busy = v_s != channel.p_r_received
        original(resets, octets)
        if channel.p is P.DATA_TRANSFER and (busy or not under_traffic):
            channel.v_s = channel.p_r_received = v_s


@fault("BUG-RST-01")
def old_numbers(patch: Patch) -> None:
    keep_numbers(patch, under_traffic=False)


@fault("BUG-RST-02")
def old_data(patch: Patch) -> None:
    @patch.wrap(DataFlow, "forward_data")
    def forward_data(original: Any, flow: DataFlow, data: Data) -> None:
        vars(flow.channel)["latest"] = data
        original(flow, data)

    for relay_class in (LocalRelay, EndToEndRelay):

        @patch.wrap(relay_class, "reset_confirmed")
        def reset_confirmed(original: Any, relay: Relay, channel: Channel) -> None:
            original(relay, channel)
            latest: Data | None = vars(channel).pop("latest", None)
            if latest is not None and channel.ready:
                channel.flow.send_data(latest.q, latest.d, latest.m, latest.user_data)


@fault("BUG-RST-03")
def untold(patch: Patch) -> None:
    def reset_received(relay: Relay, channel: Channel, cause: int, diagnostic: int) -> None:
        relay.drop()
        channel.resets.confirm()

    patch.replace(Relay, "reset_received", reset_received)


@fault("BUG-RST-04")
def reset_loop(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        if channel.d is D.RESET_SENT:
            channel.resets.send(*codec.parse_reset(octets))
        else:
            original(resets, octets)


@fault("BUG-RST-05")
def no_t12(patch: Patch) -> None:
    without_timer(patch, "T12")


@fault("BUG-RST-06")
def crossing_data(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        other = other_end(channel)
        crossing = channel.p is P.DATA_TRANSFER and channel.d is D.RESET_SENT
        if other is not None and crossing and packet_type(channel, octets) == Type.DATA:
            data = codec.parse_data(octets, channel.modulo)
            other.flow.send_data(data.q, data.d, data.m, data.user_data)
        else:
            original(channel, octets)


@fault("BUG-RST-07")
def timer_leak(patch: Patch) -> None:
    @patch.wrap(Resets, "send")
    def send_reset(original: Any, resets: Resets, cause: int, diagnostic: int) -> None:
        channel = resets.channel
        original(resets, cause, diagnostic)

        def expired() -> None:
            if channel.p is P.DATA_TRANSFER:
                channel.resets.emit(cause, Diag.TIME_RESET)

        if channel.settings.t12 > 0:
            channel.router.timers.start(channel.settings.t12, expired)


@fault("BUG-RST-08")
def old_numbers_under_traffic(patch: Patch) -> None:
    keep_numbers(patch, under_traffic=True)


@fault("BUG-RST-09")
def endless_reset(patch: Patch) -> None:
    patch.replace(Resets, "on_confirmation", lambda self, octets: None)


@fault("BUG-RST-10")
def queue_survives(patch: Patch) -> None:
    @patch.wrap(LocalRelay, "reset_received")
    def reset_received(
        original: Any, relay: LocalRelay, channel: Channel, cause: int, diagnostic: int
    ) -> None:
        towards = relay.towards(channel)
        kept = list(towards.queue) if towards is not None else []
        original(relay, channel, cause, diagnostic)
        if towards is not None and channel is relay.far:
            towards.queue.extend(kept)
            towards.made += len(kept)
            towards.pump()

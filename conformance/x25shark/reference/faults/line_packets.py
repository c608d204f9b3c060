# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the packet layer that a serial line alone shows."""

from typing import Any

from .. import codec
from ..call_setup import CallSetup
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Call, Clear
from ..codes import ClearCause, Diag, PacketError, ResetCause, Type
from ..data_flow import DataFlow
from ..line_counters import LineCounters
from ..resets import Resets
from ..restarts import Restarts
from ..serial import SerialInterface
from ..serial_channel import LineClearing, LineRules, SerialChannel
from ..tables import Cell, Do, P
from .common import send_rr
from .registry import Patch, fault

RNRS = 2
# Of the channels that a line has if its configuration does not say another range.
_LOWEST = 1
_THIRD = 3
# Octets of a packet with Data, up to which one fault leaves it alone.
_SHORT_DATA = 100
# Incompatible destination (X.25 5.2.4, 5.4.3).
_INCOMPATIBLE_CLEAR, _INCOMPATIBLE_RESET = 0x21, 0x11


@fault("BUG-LINE-01")
def any_size(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "__init__")
    def init(original: Any, channel: SerialChannel, interface: SerialInterface, lcn: int) -> None:
        original(channel, interface, lcn)
        channel.size_limit = interface.router.settings.size_limit


@fault("BUG-LINE-02")
def no_second_restart(patch: Patch) -> None:
    @patch.wrap(Restarts, "t10_expired")
    def t10_expired(original: Any, restarts: Restarts) -> None:
        restarts._repeats = 1
        original(restarts)


@fault("BUG-LINE-03")
def channel_lost(patch: Patch) -> None:
    @patch.wrap(Clearing, "t13_expired")
    def t13_expired(original: Any, clearing: Clearing) -> None:
        if not (isinstance(clearing.channel, SerialChannel) and clearing.channel.repeats):
            original(clearing)


@fault("BUG-LINE-04")
def any_clear(patch: Patch) -> None:
    @patch.wrap(LineClearing, "check_clear")
    def check_clear(original: Any, clearing: LineClearing, clear: Clear) -> None:
        Clearing.check_clear(clearing, clear)


@fault("BUG-LINE-05")
def any_reset(patch: Patch) -> None:
    @patch.wrap(LineRules, "check_cause")
    def check_cause(original: Any, rules: LineRules, cause: int) -> None:
        """Whatever it is, it is right."""


@fault("BUG-LINE-06")
def third_rnr(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        original(flow, packet_type, octets)
        channel = flow.channel
        if packet_type == Type.RNR and isinstance(channel, SerialChannel):
            state = vars(channel)
            state["rnrs"] = state.get("rnrs", 0) + 1
            if state["rnrs"] > RNRS:
                channel.peer_busy = False


@fault("BUG-LINE-45")
def busy_until_it_sends(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        original(flow, octets)
        if isinstance(flow.channel, SerialChannel) and flow.channel.peer_busy:
            flow.channel.peer_busy = False
            flow.channel.user.writable(flow.channel)


@fault("BUG-LINE-63")
def busy_at_a_shut_window(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        busy, last, shut = channel.peer_busy, channel.p_r_received, not channel.window_open()
        original(flow, packet_type, octets)
        if isinstance(channel, SerialChannel) and shut and channel.p_r_received == last:
            channel.peer_busy = busy and packet_type == Type.RNR


@fault("BUG-LINE-64")
def busy_until_all_is_taken(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        channel = flow.channel
        last = channel.p_r_received
        original(flow, octets)
        if isinstance(channel, SerialChannel) and last != channel.p_r_received == channel.v_s:
            channel.peer_busy = False
            channel.user.writable(channel)


@fault("BUG-LINE-65")
def ready_by_a_second_rnr(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        busy, last = channel.peer_busy, channel.p_r_received
        original(flow, packet_type, octets)
        if isinstance(channel, SerialChannel) and busy and channel.p_r_received != last:
            channel.peer_busy = False
            channel.user.writable(channel)


@fault("BUG-LINE-07")
def reset_behind_a_clear(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "receive")
    def receive(original: Any, channel: SerialChannel, octets: bytes) -> None:
        if channel.p is P.CLEAR_SENT and octets[2:3] == bytes((Type.RESET,)):
            channel.send(octets[:2] + bytes((Type.RESET_CONFIRMATION,)))
            return
        original(channel, octets)


@fault("BUG-LINE-08")
def t12_for_ever(patch: Patch) -> None:
    @patch.wrap(Resets, "t12_expired")
    def t12_expired(original: Any, resets: Resets) -> None:
        channel: Channel = resets.channel
        if not isinstance(channel, SerialChannel):
            original(resets)
            return
        resets.emit(ResetCause.LOCAL_PROCEDURE_ERROR, Diag.TIME_RESET)
        channel.start_timer("T12", channel.settings.t12, resets.t12_expired)


@fault("BUG-LINE-09")
def causes_of_a_network(patch: Patch) -> None:
    @patch.wrap(LineRules, "own_cause")
    def own_cause(original: Any, rules: LineRules, cause: int) -> int:
        return cause if cause == ClearCause.REMOTE_PROCEDURE_ERROR else original(rules, cause)


@fault("BUG-LINE-10")
def repeats_left_over(patch: Patch) -> None:
    @patch.wrap(Restarts, "restart")
    def restart(original: Any, restarts: Restarts, cause: int, diagnostic: int) -> None:
        repeats = restarts._repeats
        original(restarts, cause, diagnostic)
        restarts._repeats = repeats


@fault("BUG-LINE-11")
def t10_runs_on(patch: Patch) -> None:
    @patch.wrap(Restarts, "complete")
    def complete(original: Any, restarts: Restarts) -> None:
        timer, restarts.timer = restarts.timer, None
        original(restarts)
        restarts.timer = timer


@fault("BUG-LINE-12")
def rej_discarded(patch: Patch) -> None:
    @patch.wrap(LineRules, "reset_cell")
    def reset_cell(original: Any, rules: LineRules, packet_type: int) -> Cell:
        return Do.DISCARD if packet_type == Type.REJ else original(rules, packet_type)


@fault("BUG-LINE-13")
def incompatible_clear(patch: Patch) -> None:
    @patch.wrap(LineClearing, "check_clear")
    def check_clear(original: Any, clearing: LineClearing, clear: Clear) -> None:
        if clear.cause == _INCOMPATIBLE_CLEAR:
            raise PacketError(Diag.IMPROPER_CAUSE)
        original(clearing, clear)


@fault("BUG-LINE-14")
def incompatible_reset(patch: Patch) -> None:
    @patch.wrap(LineRules, "check_cause")
    def check_cause(original: Any, rules: LineRules, cause: int) -> None:
        if cause == _INCOMPATIBLE_RESET:
            raise PacketError(Diag.IMPROPER_CAUSE)
        original(rules, cause)


@fault("BUG-LINE-15")
def cleared_for_ever(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "end")
    def end(original: Any, channel: SerialChannel, clear: Clear) -> None:
        if channel.p is not P.CLEAR_SENT:
            original(channel, clear)


def runs_on(patch: Patch, *names: str) -> None:
    """These timers of a channel outlast a new start of its line."""

    @patch.wrap(SerialChannel, "end")
    def end(original: Any, channel: SerialChannel, clear: Clear) -> None:
        kept = {name: channel._timers.pop(name) for name in names if name in channel._timers}
        original(channel, clear)
        channel._timers.update(kept)


@fault("BUG-LINE-16")
def t11_runs_on(patch: Patch) -> None:
    runs_on(patch, "T11")


@fault("BUG-LINE-17")
def t12_runs_on(patch: Patch) -> None:
    runs_on(patch, "T12")


@fault("BUG-LINE-18")
def t13_runs_on(patch: Patch) -> None:
    runs_on(patch, "T13")


@fault("BUG-LINE-19")
def no_call_on_the_lowest_channel(patch: Patch) -> None:
    @patch.wrap(CallSetup, "on_call")
    def on_call(original: Any, setup: CallSetup, octets: bytes) -> None:
        channel = setup.channel
        if not isinstance(channel, SerialChannel) or channel.lcn != _LOWEST:
            original(setup, octets)


@fault("BUG-LINE-20")
def bit_8_of_the_channel(patch: Patch) -> None:
    """Of the second octet, which 0x80 has alone."""

    @patch.wrap(codec, "lcn_of")
    def lcn_of(original: Any, octets: bytes) -> int:
        lcn: int = original(octets)
        return lcn & 0x7F or lcn


@fault("BUG-LINE-21")
def gauge_of_ended_calls(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "end")
    def end(original: Any, channel: SerialChannel, clear: Clear) -> None:
        channel._gauge = ""
        original(channel, clear)


@fault("BUG-LINE-22")
def diagnostics_not_counted(patch: Patch) -> None:
    @patch.wrap(codec, "kind_of")
    def kind_of(original: Any, octets: bytes) -> str:
        return str(original(octets)).replace("DIAGNOSTIC", codec.UNDEFINED)


@fault("BUG-LINE-23")
def confirmations_as_restarts(patch: Patch) -> None:
    @patch.wrap(codec, "kind_of")
    def kind_of(original: Any, octets: bytes) -> str:
        return str(original(octets)).replace("RESTART_CONFIRMATION", "RESTART")


@fault("BUG-LINE-24")
def rejections_as_sent(patch: Patch) -> None:
    @patch.wrap(LineCounters, "count")
    def count(original: Any, counters: LineCounters, name: str, step: int = 1) -> None:
        original(counters, name.replace("InFrameRejects", "OutFrameRejects"), step)


@fault("BUG-LINE-44")
def short_on_channel_3(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "receive")
    def receive(original: Any, channel: SerialChannel, octets: bytes) -> None:
        of_data = len(octets) > _SHORT_DATA and not octets[2] & 1
        original(channel, octets[:-1] if channel.lcn == _THIRD and of_data else octets)


@fault("BUG-LINE-48")
def rr_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Resets, "emit")
    def emit(original: Any, resets: Resets, cause: int, diagnostic: int) -> None:
        original(resets, cause, diagnostic)
        if resets.channel.on_line:
            send_rr(resets.channel)


@fault("BUG-LINE-49")
def rr_behind_a_clear(patch: Patch) -> None:
    @patch.wrap(Clearing, "emit")
    def emit(original: Any, clearing: Clearing, clear: Clear) -> None:
        original(clearing, clear)
        if clearing.channel.on_line:
            send_rr(clearing.channel)


@fault("BUG-LINE-50")
def rr_in_front_of_call_connected(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, call: Call) -> None:
        if setup.channel.on_line:
            send_rr(setup.channel)
        original(setup, call)


def _low_octet_of_the_channel(patch: Patch, kind: int) -> None:
    """Packets of this type go out on a line with the low octet of the channel alone."""

    @patch.wrap(SerialInterface, "packet_out")
    def packet_out(original: Any, interface: SerialInterface, octets: bytes) -> None:
        if codec.type_of(octets, interface.modulo) == kind:
            octets = bytes((octets[0] & 0xF0,)) + octets[1:]
        original(interface, octets)


@fault("BUG-LINE-60")
def channel_of_a_reset_confirmation(patch: Patch) -> None:
    _low_octet_of_the_channel(patch, Type.RESET_CONFIRMATION)


@fault("BUG-LINE-61")
def channel_of_a_clear_confirmation(patch: Patch) -> None:
    _low_octet_of_the_channel(patch, Type.CLEAR_CONFIRMATION)


@fault("BUG-LINE-62")
def channel_of_rr(patch: Patch) -> None:
    _low_octet_of_the_channel(patch, Type.RR)


def _without_calls_of_the_station(channel: Channel) -> None:
    """The channel takes no Call of the station any more."""
    vars(channel)["leaked"] = True


def _keeps_channels(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "receive")
    def receive(original: Any, channel: SerialChannel, octets: bytes) -> None:
        if "leaked" not in vars(channel) or octets[2:3] != bytes((Type.CALL,)):
            original(channel, octets)


@fault("BUG-LINE-66")
def channel_of_a_refused_call(patch: Patch) -> None:
    _keeps_channels(patch)

    @patch.wrap(LineClearing, "on_clear")
    def on_clear(original: Any, clearing: LineClearing, octets: bytes) -> None:
        refused = clearing.channel.p is P.CALL_SENT
        original(clearing, octets)
        if refused:
            _without_calls_of_the_station(clearing.channel)


@fault("BUG-LINE-67")
def channel_of_a_call_that_was_taken_back(patch: Patch) -> None:
    _keeps_channels(patch)

    @patch.wrap(LineClearing, "send")
    def send(original: Any, clearing: LineClearing, clear: Clear) -> None:
        if clearing.channel.p is P.CALL_SENT and clear.by_peer:
            _without_calls_of_the_station(clearing.channel)
        original(clearing, clear)

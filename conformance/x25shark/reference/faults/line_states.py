# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults in cells of the state tables (C-3, C-4, states within d1) that a line alone has."""

from collections.abc import Callable
from typing import Any

from .. import codec
from ..channel import Channel
from ..clearing import Clearing
from ..codes import ClearCause, Diag, PacketError, ResetCause, Type
from ..data_flow import DataFlow
from ..interrupts import Interrupts
from ..relay_local import LocalRelay
from ..serial_channel import LineRules, SerialChannel
from ..tables import RESTART_ON_CHANNEL, SHORT, Cell, D, Do, P
from .common import other_end
from .registry import Patch, fault

# Octets of RR and RNR, modulo 8 and 128.
_FLOW = {8: 3, 128: 4}


def in_a_call_cell(patch: Patch, packet_type: int, state: P, cell: Cell) -> None:
    """Table C-3 has this in place of what it should have."""

    @patch.wrap(LineRules, "call_cell")
    def call_cell(original: Any, rules: LineRules, kind: int) -> Cell:
        meant = kind == packet_type and rules.channel.p is state
        return cell if meant else original(rules, kind)


def in_a_reset_cell(patch: Patch, packet_type: int, state: D, cell: Cell) -> None:
    """Table C-4 likewise."""

    @patch.wrap(LineRules, "reset_cell")
    def reset_cell(original: Any, rules: LineRules, kind: int) -> Cell:
        meant = kind == packet_type and rules.channel.d is state
        return cell if meant else original(rules, kind)


def ends_the_calls(channel: SerialChannel, diagnostic: int) -> None:
    """Of the channel's line."""
    clear = codec.Clear(ClearCause.LOCAL_PROCEDURE_ERROR, diagnostic, by_peer=False)
    for other in list(channel.line.channels.values()):
        other.clearing.clear(clear)


@fault("BUG-LINE-26")
def short_on_a_free_channel(patch: Patch) -> None:
    in_a_call_cell(patch, SHORT, P.READY, Do.DISCARD)


@fault("BUG-LINE-27")
def restart_before_the_answer(patch: Patch) -> None:
    in_a_call_cell(patch, RESTART_ON_CHANNEL, P.CALL_SENT, Do.DISCARD)


@fault("BUG-LINE-28")
def confirmation_on_a_free_channel(patch: Patch) -> None:
    in_a_call_cell(patch, Type.CLEAR_CONFIRMATION, P.READY, Do.DISCARD)


@fault("BUG-LINE-29")
def cleared_by_a_reset_confirmation(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "process")
    def process(original: Any, channel: SerialChannel, packet_type: int, octets: bytes) -> None:
        if packet_type == Type.RESET_CONFIRMATION and channel.p is P.CLEAR_SENT:
            packet_type = Type.CLEAR_CONFIRMATION
        original(channel, packet_type, octets)


@fault("BUG-LINE-30")
def rej_amid_a_reset(patch: Patch) -> None:
    in_a_reset_cell(patch, Type.REJ, D.RESET_SENT, Diag.REJ_NOT_SUBSCRIBED)


@fault("BUG-LINE-31")
def short_amid_a_reset(patch: Patch) -> None:
    in_a_reset_cell(patch, SHORT, D.RESET_SENT, Do.NORMAL)

    @patch.wrap(SerialChannel, "take")
    def take(original: Any, channel: SerialChannel, packet_type: int, octets: bytes) -> None:
        if packet_type == SHORT:
            channel.resets.complete()
        else:
            original(channel, packet_type, octets)


def amid_interrupts(patch: Patch, meant: Callable[[Channel, bytes], bool]) -> None:
    """Such an Interrupt of a line is discarded."""

    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        channel = interrupts.channel
        if not (channel.on_line and channel.interrupt_out and meant(channel, octets)):
            original(interrupts, octets)


@fault("BUG-LINE-32")
def long_interrupt_amid_the_other(patch: Patch) -> None:
    amid_interrupts(patch, lambda channel, octets: len(octets) - 3 > codec.INTERRUPT_LONGEST)


@fault("BUG-LINE-33")
def second_interrupt_amid_the_other(patch: Patch) -> None:
    amid_interrupts(patch, lambda channel, octets: channel.interrupt_in)


@fault("BUG-LINE-34")
def any_p_s_to_a_busy_peer(patch: Patch) -> None:
    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: codec.Data) -> None:
        try:
            original(flow, data)
        except PacketError as error:
            busy = flow.channel.on_line and flow.channel.peer_busy
            if not busy or error.diagnostic != Diag.INVALID_P_S:
                raise


@fault("BUG-LINE-35")
def long_flow_of_a_busy_peer(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        if channel.on_line and channel.peer_busy:
            octets = octets[: _FLOW[channel.modulo]]
        original(flow, packet_type, octets)


@fault("BUG-LINE-36")
def registration_on_a_channel(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "receive")
    def receive(original: Any, channel: SerialChannel, octets: bytes) -> None:
        if octets[2:3] == bytes((Type.REGISTRATION,)) and channel.in_transfer():
            channel.discard()
        else:
            original(channel, octets)


@fault("BUG-LINE-37")
def cleared_by_a_confirmation(patch: Patch) -> None:
    """As if the caller had sent a Clear, but that nothing confirms it."""

    @patch.wrap(SerialChannel, "process")
    def process(original: Any, channel: SerialChannel, packet_type: int, octets: bytes) -> None:
        if packet_type == Type.CLEAR_CONFIRMATION and channel.p is P.CALL_RECEIVED:
            clear = codec.Clear(ClearCause.REMOTE_PROCEDURE_ERROR, Diag.STATE_P2, by_peer=False)
            channel.user.cleared(channel, clear)
            channel.released()
        else:
            original(channel, packet_type, octets)


@fault("BUG-LINE-38")
def undefined_ends_the_calls_of_its_line(patch: Patch) -> None:
    @patch.wrap(Clearing, "error")
    def error(original: Any, clearing: Clearing, diagnostic: int, cause: int | None = None) -> None:
        channel = clearing.channel
        free = channel.p is P.READY
        original(clearing, diagnostic, cause)
        if isinstance(channel, SerialChannel) and free and diagnostic == Diag.UNIDENTIFIABLE:
            ends_the_calls(channel, diagnostic)


def stays_in_d2(patch: Patch) -> None:
    """A Reset is confirmed when the other end has confirmed it, as a router may (X.25 4.4.3.2)."""

    @patch.wrap(LocalRelay, "settle_reset")
    def settle_reset(_original: Any, relay: LocalRelay, channel: Channel) -> None:
        other = relay.other(channel)
        if other is None or other.ready:
            channel.resets.confirm()

    @patch.wrap(LocalRelay, "reset_confirmed")
    def reset_confirmed(original: Any, relay: LocalRelay, channel: Channel) -> None:
        other = other_end(channel)
        if other is not None:
            other.resets.confirm()
        original(relay, channel)


@fault("BUG-LINE-39")
def all_discarded_in_d2(patch: Patch) -> None:
    stays_in_d2(patch)

    @patch.wrap(LineRules, "reset_cell")
    def reset_cell(original: Any, rules: LineRules, kind: int) -> Cell:
        return Do.DISCARD if rules.channel.d is D.RESET_RECEIVED else original(rules, kind)


@fault("BUG-LINE-40")
def line_ended_in_d2(patch: Patch) -> None:
    stays_in_d2(patch)

    @patch.wrap(SerialChannel, "process")
    def process(original: Any, channel: SerialChannel, packet_type: int, octets: bytes) -> None:
        again = packet_type in (Type.REJ, Type.RESET) and channel.d is D.RESET_RECEIVED
        if again and channel.p is P.DATA_TRANSFER:
            ends_the_calls(channel, Diag.STATE_D2)
        else:
            original(channel, packet_type, octets)


@fault("BUG-LINE-41")
def short_in_a_call(patch: Patch) -> None:
    in_a_call_cell(patch, SHORT, P.CALL_RECEIVED, Do.DISCARD)
    in_a_call_cell(patch, SHORT, P.CALL_SENT, Do.DISCARD)
    in_a_reset_cell(patch, SHORT, D.FLOW_CONTROL_READY, Do.DISCARD)


@fault("BUG-LINE-42")
def cleared_by_a_short_packet(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "process")
    def process(original: Any, channel: SerialChannel, packet_type: int, octets: bytes) -> None:
        if packet_type == SHORT and channel.p is P.CLEAR_SENT:
            channel.released()
        else:
            original(channel, packet_type, octets)


def causes_of_a_dte(patch: Patch, cause: int, of_a_dte: int) -> None:
    """A DCE beside a DTE, which has no other causes itself, gives this one for its own."""

    @patch.wrap(LineRules, "own_cause")
    def own_cause(original: Any, rules: LineRules, wanted: int) -> int:
        return of_a_dte if rules.line.dce and wanted == cause else original(rules, wanted)


@fault("BUG-LINE-43")
def error_of_a_dte(patch: Patch) -> None:
    causes_of_a_dte(patch, ClearCause.LOCAL_PROCEDURE_ERROR, 0)


@fault("BUG-LINE-46")
def reset_of_a_dte(patch: Patch) -> None:
    causes_of_a_dte(patch, ResetCause.LOCAL_PROCEDURE_ERROR, 0)


@fault("BUG-LINE-47")
def refusal_of_a_dte(patch: Patch) -> None:
    causes_of_a_dte(patch, ClearCause.NOT_OBTAINABLE, 0x80 | ClearCause.NOT_OBTAINABLE)

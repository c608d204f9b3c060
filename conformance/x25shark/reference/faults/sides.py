# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that show at the called side only: on connections that the router itself has opened."""

from collections.abc import Callable
from typing import Any

from .. import codec
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Clear, Data
from ..codes import Diag, PacketError, Type
from ..data_flow import DataFlow
from ..interrupts import Interrupts
from ..resets import Resets
from ..tables import UNDEFINED, D, P
from .common import other_end, packet_type
from .registry import Patch, fault


def _tolerates(patch: Patch, part: type[Any], name: str, *diagnostics: int) -> None:
    """A check of that part raises none of these for what comes from the called side."""

    @patch.wrap(part, name)
    def check(original: Any, part: Any, *arguments: Any) -> Any:
        try:
            return original(part, *arguments)
        except PacketError as error:
            if part.channel.accepted or error.diagnostic not in diagnostics:
                raise
            return None


def _data_of_the_called_side(patch: Patch, change: Callable[[Data], Data]) -> None:
    """Data from the called side passes changed."""

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if not channel.accepted and channel.ready and packet_type(channel, octets) == Type.DATA:
            data = change(codec.parse_data(octets, channel.modulo))
            octets = codec.encode_data(channel.modulo, channel.lcn, data)
        original(channel, octets)


@fault("BUG-SIDE-01")
def long_interrupt(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        original(interrupts, octets if interrupts.channel.accepted else octets[:35])


@fault("BUG-SIDE-02")
def second_interrupt(patch: Patch) -> None:
    _tolerates(patch, Interrupts, "on_interrupt", Diag.INTERRUPT_NOT_DUE)


@fault("BUG-SIDE-03")
def any_p_s(patch: Patch) -> None:
    _tolerates(patch, DataFlow, "check_data", Diag.INVALID_P_S)


@fault("BUG-SIDE-20")
def no_window(patch: Patch) -> None:
    @patch.wrap(Channel, "p_s_is_valid")
    def p_s_is_valid(original: Any, channel: Channel, p_s: int) -> bool:
        return original(channel, p_s) if channel.accepted else p_s == channel.v_r


@fault("BUG-SIDE-04")
def any_p_r(patch: Patch) -> None:
    _tolerates(patch, DataFlow, "on_flow", Diag.INVALID_P_R)


@fault("BUG-SIDE-05")
def long_reset(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        original(resets, octets if resets.channel.accepted else octets[:5])


@fault("BUG-SIDE-06")
def no_m_bit(patch: Patch) -> None:
    _data_of_the_called_side(patch, lambda data: data._replace(m=False))


@fault("BUG-SIDE-07")
def no_q_bit(patch: Patch) -> None:
    _data_of_the_called_side(patch, lambda data: data._replace(q=False))


@fault("BUG-SIDE-08")
def no_d_bit(patch: Patch) -> None:
    _data_of_the_called_side(patch, lambda data: data._replace(d=False))


@fault("BUG-SIDE-09")
def any_size(patch: Patch) -> None:
    _tolerates(patch, DataFlow, "check_data", Diag.TOO_LONG)


@fault("BUG-SIDE-10")
def undefined_type(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        undefined = packet_type(channel, octets) == UNDEFINED
        if undefined and not channel.accepted and channel.p is P.DATA_TRANSFER:
            channel.discard()
        else:
            original(channel, octets)


@fault("BUG-SIDE-11")
def one_side(patch: Patch) -> None:
    @patch.wrap(Resets, "error")
    def reset_error(original: Any, resets: Resets, diagnostic: int) -> None:
        channel = resets.channel
        if channel.accepted:
            original(resets, diagnostic)
        else:
            channel.resets.send(0x05, diagnostic)


@fault("BUG-SIDE-12")
def no_diagnostic(patch: Patch) -> None:
    @patch.wrap(Resets, "reset")
    def reset(original: Any, resets: Resets, cause: int, diagnostic: int) -> None:
        channel = resets.channel
        far = other_end(channel)
        from_called = channel.accepted and far is not None and far.d is D.RESET_RECEIVED
        original(resets, cause, 0 if from_called else diagnostic)


@fault("BUG-SIDE-13")
def unasked_confirmation(patch: Patch) -> None:
    _tolerates(patch, Interrupts, "on_confirmation", Diag.INTERRUPT_CONFIRMATION_NOT_DUE)


@fault("BUG-SIDE-14")
def old_numbers(patch: Patch) -> None:
    @patch.wrap(Channel, "restart_numbers")
    def restart_numbers(original: Any, channel: Channel) -> None:
        kept = vars(channel).get("v_s", 0)
        original(channel)
        if not channel.accepted and vars(channel).get("p") is P.DATA_TRANSFER:
            channel.v_s = channel.p_r_received = kept


@fault("BUG-SIDE-15")
def wide_window(patch: Patch) -> None:
    @patch.wrap(Channel, "window_open")
    def window_open(original: Any, channel: Channel) -> bool:
        if channel.accepted:
            return bool(original(channel))
        return (channel.v_s - channel.p_r_received) % channel.modulo <= channel.window_out


@fault("BUG-SIDE-16")
def one_octet_more(patch: Patch) -> None:
    @patch.wrap(DataFlow, "forward_data")
    def forward_data(original: Any, flow: DataFlow, data: Data) -> None:
        channel = flow.channel
        if not channel.accepted and len(data.user_data) == channel.size_out:
            data = data._replace(user_data=data.user_data + b"\0")
        original(flow, data)


@fault("BUG-SIDE-17")
def clear_for_a_reset(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        if channel.accepted or channel.d is not D.RESET_SENT:
            original(clearing, octets)


@fault("BUG-SIDE-18")
def clear_user_data(patch: Patch) -> None:
    @patch.wrap(Clearing, "check_clear")
    def check_clear(original: Any, clearing: Clearing, clear: Clear) -> None:
        if clearing.channel.accepted:
            original(clearing, clear)

    @patch.wrap(Clearing, "permitted")
    def permitted(original: Any, clearing: Clearing, clear: Clear) -> Clear:
        return clear if clearing.channel.accepted else original(clearing, clear)


@fault("BUG-SIDE-19")
def gfi_0(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if not channel.accepted and not octets[0] & 0x30:
            octets = bytes((octets[0] | 0x10,)) + octets[1:]
        original(channel, octets)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of what a failed attempt leaves behind, and of halves of a call seldom looked at."""

from typing import Any

from .. import codec
from ..call_setup import CallSetup
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Clear, Data
from ..codes import Diag, PacketError, Type
from ..connection import Connection
from ..tables import D, P
from .common import packet_type
from .registry import Patch, fault


@fault("BUG-CALL-60")
def t21_of_a_refused_call(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send(original: Any, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        if channel.p is P.CALL_RECEIVED and clear.by_peer:
            channel._timers.pop("T21", None)
        original(clearing, clear)


@fault("BUG-CALL-61")
def t21_of_a_withdrawn_call(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        if clearing.channel.p is P.CALL_RECEIVED:
            clearing.channel._timers.pop("T21", None)
        original(clearing, octets)


@fault("BUG-CALL-62")
def no_t11_in_calls_back(patch: Patch) -> None:
    """The first that has called is A."""

    @patch.wrap(CallSetup, "on_call")
    def on_call(original: Any, setup: CallSetup, octets: bytes) -> None:
        vars(setup.channel.router).setdefault("first_caller", setup.channel.interface)
        original(setup, octets)

    @patch.wrap(CallSetup, "call")
    def call(original: Any, setup: CallSetup, *rest: Any) -> None:
        original(setup, *rest)
        if setup.channel.interface is vars(setup.channel.router).get("first_caller"):
            setup.channel.stop_timer("T11")


@fault("BUG-CLR-30")
def no_t13_at_the_called_side(patch: Patch) -> None:
    @patch.wrap(Clearing, "await_confirmation")
    def await_confirmation(original: Any, clearing: Clearing) -> None:
        original(clearing)
        if not clearing.channel.accepted:
            clearing.channel.stop_timer("T13")


@fault("BUG-CLR-31")
def clear_behind_what_follows(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        state = vars(channel)
        in_a_call = not channel.accepted and channel.p is P.DATA_TRANSFER
        if in_a_call and not state.get("read") and packet_type(channel, octets) == Type.CLEAR:
            state["clear"] = octets
        else:
            original(channel, octets)

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        original(connection, octets)
        state = vars(connection.channel)
        clear = state.pop("clear", None)
        if clear is not None:
            state["read"] = True
            connection.channel.receive(clear)
            state["read"] = False
            connection.router.flush()


@fault("BUG-MOD-30")
def empty_data_is_too_short(patch: Patch) -> None:
    @patch.wrap(codec, "parse_data")
    def parse_data(original: Any, octets: bytes, modulo: int) -> Data:
        data: Data = original(octets, modulo)
        if modulo == 128 and not data.user_data:
            raise PacketError(Diag.TOO_SHORT)
        return data


@fault("BUG-RST-30")
def old_numbers_in_a_reset(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, kind: int, octets: bytes) -> None:
        if channel.p is P.DATA_TRANSFER and channel.d is D.RESET_SENT:
            old = False
            if kind == Type.DATA:
                old = not channel.p_s_is_valid(codec.parse_data(octets, channel.modulo).p_s)
            elif kind in (Type.RR, Type.RNR):
                old = not channel.p_r_is_valid(codec.parse_flow(octets, channel.modulo))
            if old:
                channel.resets.error(Diag.INVALID_P_S if kind == Type.DATA else Diag.INVALID_P_R)
                return
        original(channel, kind, octets)

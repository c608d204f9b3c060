# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of call collision on a serial line (X.25 4.1.6)."""

from typing import Any

from ..channel import Channel
from ..clearing import Clearing
from ..codes import ClearCause, Diag, Type
from ..relay import Relay
from ..serial_channel import LineCallSetup, LineRules, SerialChannel
from ..tables import Cell, P
from .common import keeps_timer
from .registry import Patch, fault


def collides(channel: Channel, packet_type: int) -> bool:
    """Whether a Call comes where the router's own waits for an answer."""
    return packet_type == Type.CALL and channel.p is P.CALL_SENT


@fault("BUG-CALL-23")
def clears_both_calls(patch: Patch) -> None:
    @patch.wrap(LineCallSetup, "on_call")
    def on_call(original: Any, setup: LineCallSetup, octets: bytes) -> None:
        channel = setup.channel
        if channel.p is P.CALL_SENT:
            channel.clearing.error(Diag.STATE_P3)
        else:
            original(setup, octets)


@fault("BUG-CALL-24")
def displaced_in_silence(patch: Patch) -> None:
    patch.replace(Relay, "displaced", lambda relay, channel: setattr(relay, "far", None))


@fault("BUG-CALL-25")
def dte_clears_its_call(patch: Patch) -> None:
    @patch.wrap(LineRules, "call_cell")
    def call_cell(original: Any, rules: LineRules, packet_type: int) -> Cell:
        if not rules.line.dce and collides(rules.channel, packet_type):
            return Diag.STATE_P3
        cell: Cell = original(rules, packet_type)
        return cell


@fault("BUG-CALL-26")
def displaced_with_a_clear(patch: Patch) -> None:
    @patch.wrap(LineCallSetup, "on_call")
    def on_call(original: Any, setup: LineCallSetup, octets: bytes) -> None:
        channel = setup.channel
        if channel.p is P.CALL_SENT:
            header = bytes((octets[0], octets[1], Type.CLEAR))
            channel.send(header + bytes((ClearCause.NUMBER_BUSY, Diag.NONE)))
        original(setup, octets)


@fault("BUG-CALL-27")
def dce_goes_on(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "process")
    def process(original: Any, channel: SerialChannel, packet_type: int, octets: bytes) -> None:
        if not (channel.line.dce and collides(channel, packet_type)):
            original(channel, packet_type, octets)


@fault("BUG-CALL-28")
def dte_takes_both(patch: Patch) -> None:
    @patch.wrap(LineRules, "call_cell")
    def call_cell(original: Any, rules: LineRules, packet_type: int) -> Cell:
        channel = rules.channel
        if not rules.line.dce and collides(channel, packet_type):
            user, channel.user = channel.user, channel.router.idle_user
            user.displaced(channel)
            channel.p = P.READY
        cell: Cell = original(rules, packet_type)
        return cell


@fault("BUG-CALL-31")
def displaced_timer_runs_on(patch: Patch) -> None:
    keeps_timer(patch, LineCallSetup, "on_call", "T11")


@fault("BUG-CALL-63")
def clear_behind_a_collision(patch: Patch) -> None:
    @patch.wrap(LineCallSetup, "on_call")
    def on_call(original: Any, setup: LineCallSetup, octets: bytes) -> None:
        vars(setup.channel)["collided"] = setup.channel.p is P.CALL_SENT
        original(setup, octets)

    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        if channel.p is P.CALL_RECEIVED and vars(channel).get("collided"):
            channel.user = channel.router.idle_user
        original(clearing, octets)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Data: the Q bit, empty packets, and what an echo makes of them (X.25 4.3)."""

from ..channel import Channel
from ..codec import Data
from ..codes import Diag, PacketError
from ..data_flow import DataFlow
from ..terminal import Echo
from .registry import Original, Patch, variant


@variant("MAY-DATA-01")
def q_is_not_checked(patch: Patch) -> None:
    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Original, flow: DataFlow, data: Data) -> None:
        flow.channel.sequence_q = None
        original(flow, data)


@variant("MAY-DATA-02")
def echo_drops_empty_messages(patch: Patch) -> None:
    @patch.wrap(Echo, "data_received")
    def data_received(original: Original, echo: Echo, channel: Channel, data: Data) -> None:
        # What was read, not what was sent: Data may wait to be sent.
        amid, vars(echo)["amid"] = vars(echo).get("amid", False), bool(data.m)
        if data.user_data or data.m or amid:
            original(echo, channel, data)
        else:
            channel.flow.acknowledge(1)

    @patch.wrap(Echo, "drop")
    def drop(original: Original, echo: Echo) -> None:
        vars(echo)["amid"] = False
        original(echo)


@variant("MAY-DATA-03")
def empty_data_is_too_short(patch: Patch) -> None:
    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Original, flow: DataFlow, data: Data) -> None:
        if not data.user_data:
            raise PacketError(Diag.TOO_SHORT)
        original(flow, data)

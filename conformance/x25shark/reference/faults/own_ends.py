# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the ends of calls inside the router, which nothing passes through."""

from typing import Any

from ..channel import Channel
from ..codec import Data
from ..codes import Diag, PacketError
from ..relay_local import Direction
from ..terminal import Echo, Terminal
from .registry import Patch, fault


@fault("BUG-INT-13")
def one_octet_alone(patch: Patch) -> None:
    @patch.wrap(Echo, "interrupt_received")
    def interrupt_received(original: Any, echo: Echo, channel: Channel, user_data: bytes) -> None:
        if len(user_data) > 1:
            raise PacketError(Diag.TOO_LONG)
        original(echo, channel, user_data)


@fault("BUG-DATA-51")
def knows_no_q(patch: Patch) -> None:
    @patch.wrap(Echo, "data_received")
    def data_received(original: Any, echo: Echo, channel: Channel, data: Data) -> None:
        if data.q:
            raise PacketError(Diag.INCONSISTENT_Q)
        original(echo, channel, data)


@fault("BUG-FLOW-22")
def last_in_first_out(patch: Patch) -> None:
    @patch.wrap(Direction, "pump")
    def pump(original: Any, direction: Direction) -> None:
        if direction.source is direction.sink and direction.sink.flow.can_send():
            direction.queue.rotate(1)
        original(direction)


@fault("BUG-RST-31")
def knows_one_cause(patch: Patch) -> None:
    @patch.wrap(Terminal, "reset_received")
    def reset_received(
        original: Any, terminal: Terminal, channel: Channel, cause: int, diagnostic: int
    ) -> None:
        if not cause:
            original(terminal, channel, cause, diagnostic)

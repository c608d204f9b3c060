# SPDX-License-Identifier: GPL-2.0-or-later
"""Relay model 'end-to-end': the router follows the call, the numbers belong to the two ends.

P(S), P(R), RR and RNR pass unchanged, so packet size and window are the same on both sides, and
each side's packets are checked against what the other side sent (RFC 1613 6.2). A reset is
confirmed when the other end has confirmed it (X.25 4.4.3); so is an interrupt.
"""

from collections import deque

from .channel import Channel
from .codec import Data
from .relay import Relay

#: A Data packet, or a flow control packet as (type, P(R)).
Held = Data | tuple[int, int]


class EndToEndRelay(Relay):
    """See the module's text."""

    model = "end-to-end"

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        #: Packets for a side that has not confirmed a reset; the window bounds their number.
        self.held: dict[Channel, deque[Held]] = {}

    def data_received(self, channel: Channel, data: Data) -> None:
        self.forward(channel, data)

    def flow_received(self, channel: Channel, packet_type: int, p_r: int) -> None:
        self.forward(channel, (packet_type, p_r))

    def forward(self, channel: Channel, packet: Held) -> None:
        """Pass a numbered packet on, in order."""
        other = self.other(channel)
        if other is None:
            return
        if other.ready and not self.held.get(other):
            self.emit(other, packet)
            return
        waiting = self.held.setdefault(other, deque())
        if not isinstance(packet, Data) and waiting and not isinstance(waiting[-1], Data):
            # Only the latest of several flow control packets in a row has a meaning.
            waiting.pop()
        waiting.append(packet)

    def emit(self, channel: Channel, packet: Held) -> None:
        if isinstance(packet, Data):
            channel.flow.forward_data(packet)
        else:
            channel.flow.forward_flow(*packet)

    def settle_reset(self, channel: Channel) -> None:
        """The confirmation waits for the other side, if it has been reset."""
        other = self.other(channel)
        if other is None or other.ready:
            channel.resets.confirm()

    def reset_confirmed(self, channel: Channel) -> None:
        other = self.other(channel)
        if other is not None:
            other.resets.confirm()
        super().reset_confirmed(channel)

    def drop(self) -> None:
        super().drop()
        self.held.clear()

    def writable(self, channel: Channel) -> None:
        super().writable(channel)
        waiting = self.held.get(channel)
        while waiting and channel.ready:
            self.emit(channel, waiting.popleft())

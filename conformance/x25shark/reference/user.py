# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands above a channel: a relay, a terminal, a permanent circuit, or the router itself."""

from typing import TYPE_CHECKING

from .codec import Call, Clear, Data

if TYPE_CHECKING:
    from .channel import Channel


class ChannelUser:
    """What a channel tells its user. A method that a user does not need does nothing."""

    def call_received(self, channel: "Channel", call: Call) -> None:
        """A Call came in (state p2). May raise PacketError to refuse it as an error."""

    def accept_received(self, channel: "Channel", octets: bytes) -> None:
        """The Call that this router sent was accepted (p4). May raise PacketError."""

    def cleared(self, channel: "Channel", clear: Clear) -> None:
        """The call is over on this side; clear is what the other side has to be told."""

    def released(self, channel: "Channel") -> None:
        """Clearing is complete; the channel is free (p1)."""

    def data_received(self, channel: "Channel", data: Data) -> None:
        """A Data packet that passed all checks. The user owes acknowledge()."""

    def acknowledged(self, channel: "Channel", count: int) -> None:
        """The peer acknowledged so many more Data packets."""

    def flow_received(self, channel: "Channel", packet_type: int, p_r: int) -> None:
        """RR or RNR with a valid P(R)."""

    def writable(self, channel: "Channel") -> None:
        """Sending may be possible again: reset complete, or the connection has drained."""

    def interrupt_received(self, channel: "Channel", user_data: bytes) -> None:
        """An Interrupt. The user owes confirm_interrupt()."""

    def interrupt_confirmed(self, channel: "Channel") -> None:
        """The peer confirmed the Interrupt that was sent to it."""

    def reset_received(self, channel: "Channel", cause: int, diagnostic: int) -> None:
        """The peer resets (d2). The user owes confirm_reset()."""

    def reset_by_error(self, channel: "Channel", cause: int, diagnostic: int) -> None:
        """This router reset the peer for an error (d3); the values are for the other side."""

    def reset_confirmed(self, channel: "Channel") -> None:
        """The peer confirmed a reset (d1)."""

    def displaced(self, channel: "Channel") -> None:
        """The Call that this router sent is void: the peer called on the same channel."""

    def lost(self, channel: "Channel") -> None:
        """The connection ended while there was no circuit on it."""

    def pvc_setup_received(self, channel: "Channel", octets: bytes) -> bool:
        """A PVC setup before any call; True if it was taken (RFC 1613 6.5)."""
        return False

# SPDX-License-Identifier: GPL-2.0-or-later
"""Data and its flow control on one end of a circuit (X.25 4.3, 4.4.1)."""

from typing import TYPE_CHECKING

from . import codec
from .codec import Data
from .codes import Diag, PacketError, Type

if TYPE_CHECKING:
    from .channel import Channel


class DataFlow:
    """Takes and sends Data, RR and RNR."""

    def __init__(self, channel: "Channel") -> None:
        self.channel = channel

    def on_data(self, octets: bytes) -> None:
        """Data in d1 (X.25 4.3, 4.4.1)."""
        channel = self.channel
        data = codec.parse_data(octets, channel.modulo)
        self.check_data(data)
        full = len(data.user_data) == channel.size_in
        channel.sequence_q = data.q if full and data.m and not data.d else None
        channel.v_r = (channel.v_r + 1) % channel.modulo
        channel.interface.data_in(len(data.user_data))
        self.take_p_r(data.p_r)
        channel.user.data_received(channel, data)

    def check_data(self, data: Data) -> None:
        """X.25 4.4.1 and Annex E: raises PacketError 1, 2, 39, 83 or 166."""
        channel = self.channel
        if not channel.p_s_is_valid(data.p_s):
            raise PacketError(Diag.INVALID_P_S)
        if not channel.p_r_is_valid(data.p_r):
            raise PacketError(Diag.INVALID_P_R)
        if len(data.user_data) > channel.size_in:
            raise PacketError(Diag.TOO_LONG)
        if channel.sequence_q is not None and data.q != channel.sequence_q:
            raise PacketError(Diag.INCONSISTENT_Q)
        if data.d and not channel.settings.dbit:
            raise PacketError(Diag.D_BIT_NOT_SUPPORTED)

    def take_p_r(self, p_r: int) -> None:
        """Rotate the window for sending."""
        channel = self.channel
        count = (p_r - channel.p_r_received) % channel.modulo
        if count:
            channel.p_r_received = p_r
            channel.user.acknowledged(channel, count)

    def on_flow(self, packet_type: int, octets: bytes) -> None:
        """RR or RNR in d1 (X.25 4.4.1.3)."""
        channel = self.channel
        p_r = codec.parse_flow(octets, channel.modulo)
        if not channel.p_r_is_valid(p_r):
            raise PacketError(Diag.INVALID_P_R)
        channel.peer_busy = packet_type == Type.RNR
        self.take_p_r(p_r)
        channel.user.flow_received(channel, packet_type, p_r)

    def can_send(self) -> bool:
        """One more Data packet may go out now."""
        channel = self.channel
        return (
            channel.ready
            and channel.window_open()
            and not channel.peer_busy
            and not channel.wire.congested
        )

    def send_data(self, q: bool, d: bool, m: bool, user_data: bytes) -> None:
        """Send a Data packet with this side's own numbers; only after can_send()."""
        channel = self.channel
        self.forward_data(Data(channel.v_s, channel.p_r, q, d, m, user_data))

    def forward_data(self, data: Data) -> None:
        """Send a Data packet with the numbers it has."""
        channel = self.channel
        channel.v_s = (data.p_s + 1) % channel.modulo
        channel.p_r_sent = channel.p_r = data.p_r
        channel.interface.data_out(len(data.user_data))
        channel.send(codec.encode_data(channel.modulo, channel.lcn, data))

    def acknowledge(self, count: int) -> None:
        """So many received Data packets are dealt with; P(R) goes out at the next flush."""
        channel = self.channel
        channel.p_r = (channel.p_r + count) % channel.modulo
        channel.router.unsettled.append(channel)

    def flush(self) -> None:
        """Send an RR unless a Data packet has carried the P(R)."""
        channel = self.channel
        if channel.p_r != channel.p_r_sent and channel.ready:
            self.forward_flow(Type.RR, channel.p_r)

    def forward_flow(self, packet_type: int, p_r: int) -> None:
        """Send RR or RNR with that P(R)."""
        channel = self.channel
        channel.p_r_sent = channel.p_r = p_r
        channel.send(codec.encode_flow(channel.modulo, channel.lcn, packet_type, p_r))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Resets of one end of a circuit (X.25 4.4.3, Table C-4; T12 of Table D-1)."""

from typing import TYPE_CHECKING

from . import codec
from .codes import Diag, PacketError, ResetCause, Type
from .tables import D, P

if TYPE_CHECKING:
    from .channel import Channel


class Resets:
    """Takes, sends and confirms Resets."""

    def __init__(self, channel: "Channel") -> None:
        self.channel = channel

    def on_reset(self, octets: bytes) -> None:
        """Reset Request (X.25 4.4.3); in d3 a collision, which completes."""
        channel = self.channel
        cause, diagnostic = codec.parse_reset(octets)
        channel.rules.check_cause(cause)
        channel.interface.reset_in(cause)
        if channel.d is D.RESET_SENT:
            self.complete()
            return
        channel.d = D.RESET_RECEIVED
        channel.restart_numbers()
        channel.user.reset_received(channel, cause, diagnostic)

    def on_confirmation(self, octets: bytes) -> None:
        if len(octets) > 3:
            raise PacketError(Diag.TOO_LONG)
        self.complete()

    def complete(self) -> None:
        """d3 ends."""
        channel = self.channel
        channel.stop_timer("T12")
        channel.d = D.FLOW_CONTROL_READY
        channel.restart_numbers()
        channel.user.reset_confirmed(channel)

    def error(self, diagnostic: int) -> None:
        """Table C-4: reset the peer that made the error, and the other end as a remote error."""
        cause = ResetCause.LOCAL_PROCEDURE_ERROR
        self.send(cause, diagnostic)
        self.channel.user.reset_by_error(self.channel, self.remote_cause(cause), diagnostic)

    def remote_cause(self, cause: int) -> int:
        return ResetCause.REMOTE_PROCEDURE_ERROR

    def reset(self, cause: int, diagnostic: int) -> None:
        """Reset the peer; a peer that waits for a confirmation gets it; else one is under way."""
        channel = self.channel
        if channel.p is not P.DATA_TRANSFER:
            return
        if channel.d is D.FLOW_CONTROL_READY:
            self.send(cause, diagnostic)
        elif channel.d is D.RESET_RECEIVED:
            self.confirm()

    def send(self, cause: int, diagnostic: int) -> None:
        """Send a Reset (d3) and start T12."""
        channel = self.channel
        channel.d = D.RESET_SENT
        channel.restart_numbers()
        channel.repeats = 0
        self.emit(cause, diagnostic)
        channel.start_timer("T12", channel.settings.t12, self.t12_expired)

    def emit(self, cause: int, diagnostic: int) -> None:
        channel = self.channel
        cause = channel.rules.own_cause(cause)
        channel.interface.resets_out[cause] += 1
        octets = codec.header(channel.modulo, channel.lcn, Type.RESET)
        channel.send(octets + bytes((cause, diagnostic)))

    def confirm(self) -> None:
        """Confirm a reset of the peer: d1."""
        channel = self.channel
        if channel.p is P.DATA_TRANSFER and channel.d is D.RESET_RECEIVED:
            channel.d = D.FLOW_CONTROL_READY
            channel.send(codec.header(channel.modulo, channel.lcn, Type.RESET_CONFIRMATION))
            channel.user.writable(channel)

    def t12_expired(self) -> None:
        """No Reset Confirmation: repeat once, then clear (X.25 Table D-1)."""
        channel = self.channel
        channel.interface.count("x25StatResetTimeouts")
        channel.repeats += 1
        if channel.repeats == 1:
            self.emit(ResetCause.LOCAL_PROCEDURE_ERROR, Diag.TIME_RESET)
            channel.start_timer("T12", channel.settings.t12, self.t12_expired)
        elif channel.permanent:
            self.complete()
        else:
            channel.clearing.error(Diag.TIME_RESET)

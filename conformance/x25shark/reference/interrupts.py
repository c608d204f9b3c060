# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts on one end of a circuit: one at a time in each direction (X.25 4.3.7)."""

from typing import TYPE_CHECKING

from . import codec
from .codes import Diag, PacketError, Type

if TYPE_CHECKING:
    from .channel import Channel


class Interrupts:
    """Takes, sends and confirms Interrupts."""

    def __init__(self, channel: "Channel") -> None:
        self.channel = channel

    def on_interrupt(self, octets: bytes) -> None:
        """Interrupt in d1: one at a time (X.25 4.3.7)."""
        channel = self.channel
        length = len(octets) - 3
        if length < 1:
            raise PacketError(Diag.TOO_SHORT)
        if length > codec.INTERRUPT_LONGEST:
            raise PacketError(Diag.TOO_LONG)
        if channel.interrupt_in:
            raise PacketError(Diag.INTERRUPT_NOT_DUE)
        channel.interrupt_in = True
        channel.interface.count("x25StatInInterrupts")
        channel.interface.count("x25CircuitInInterrupts")
        channel.user.interrupt_received(channel, octets[3:])

    def on_confirmation(self, octets: bytes) -> None:
        channel = self.channel
        if len(octets) > 3:
            raise PacketError(Diag.TOO_LONG)
        if not channel.interrupt_out:
            raise PacketError(Diag.INTERRUPT_CONFIRMATION_NOT_DUE)
        channel.interrupt_out = False
        channel.user.interrupt_confirmed(channel)

    def send(self, user_data: bytes) -> None:
        channel = self.channel
        channel.interrupt_out = True
        channel.interface.count("x25StatOutInterrupts")
        channel.interface.count("x25CircuitOutInterrupts")
        channel.send(codec.header(channel.modulo, channel.lcn, Type.INTERRUPT) + user_data)

    def confirm(self) -> None:
        channel = self.channel
        if channel.interrupt_in and channel.ready:
            channel.interrupt_in = False
            channel.send(codec.header(channel.modulo, channel.lcn, Type.INTERRUPT_CONFIRMATION))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Call set-up on one end of a circuit (X.25 4.1; T11 of Table D-1)."""

from typing import TYPE_CHECKING

from . import codec
from .codec import Call
from .codes import Diag, Type
from .tables import P

if TYPE_CHECKING:
    from .channel import Channel


class CallSetup:
    """Takes and makes calls."""

    def __init__(self, channel: "Channel") -> None:
        self.channel = channel

    def on_call(self, octets: bytes) -> None:
        """Call Request in p1 (X.25 4.1.2)."""
        channel = self.channel
        channel.p = P.CALL_RECEIVED
        channel.stop_timer("empty")
        channel.interface.count("x25StatInCalls")
        channel.set_gauge("x25StatIncomingCircuits")
        channel.user.call_received(channel, codec.parse_call(octets))

    def call(self, call: Call, octets: bytes = b"") -> None:
        """Send a Call (p3), as it is encoded or in the octets given, and start T11."""
        channel = self.channel
        channel.modulo, channel.lcn = call.modulo, call.lcn
        channel.p = P.CALL_SENT
        channel.fast_select, channel.restricted = (
            call.facilities.fast_select,
            call.facilities.restricted,
        )
        channel.set_gauge("x25StatOutgoingCircuits")
        channel.interface.count("x25StatOutCallAttempts")
        channel.send(octets or self.encode_call(call))
        channel.start_timer("T11", channel.settings.t11, self.t11_expired)

    def encode_call(self, call: Call) -> bytes:
        return codec.encode_call(Type.CALL, call)

    def connected(self) -> None:
        """The call that was sent is accepted: p4."""
        channel = self.channel
        channel.stop_timer("T11")
        channel.p = P.DATA_TRANSFER

    def accept(self, call: Call) -> None:
        """Send Call Connected: p4."""
        channel = self.channel
        channel.stop_timer("T21")
        channel.p = P.DATA_TRANSFER
        channel.send(self.encode_accept(call))

    def encode_accept(self, call: Call) -> bytes:
        return codec.encode_call(Type.ACCEPT, call)

    def t11_expired(self) -> None:
        """No answer to the Call (X.25 Table D-1)."""
        channel = self.channel
        channel.interface.count("x25StatCallTimeouts")
        channel.clearing.error(Diag.TIME_INCOMING_CALL)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Clearing on one end of a circuit (X.25 4.1.7 to 4.1.9, Table C-3; T13 of Table D-1)."""

from dataclasses import replace
from typing import TYPE_CHECKING

from . import codec
from .codec import Clear
from .codes import ClearCause, Diag, PacketError, Type
from .tables import P

if TYPE_CHECKING:
    from .channel import Channel


class Clearing:
    """Takes, sends and confirms Clears."""

    def __init__(self, channel: "Channel") -> None:
        self.channel = channel

    def on_clear(self, octets: bytes) -> None:
        """Clear Request (X.25 4.1.7), confirmed at once; in p7 a collision, which completes."""
        channel = self.channel
        if channel.p is P.CLEAR_SENT:
            channel.interface.clear_in(octets[3] if len(octets) > 3 else 0)
            channel.released()
            return
        clear = codec.parse_clear(octets)
        self.check_clear(clear)
        channel.interface.clear_in(clear.cause)
        if channel.p is P.CALL_SENT:
            channel.interface.count("x25StatOutCallFailures")
        channel.p = P.CLEAR_RECEIVED
        self.confirm()
        channel.user.cleared(channel, clear)
        channel.released()

    def check_clear(self, clear: Clear) -> None:
        """X.25 5.2.4: user data need fast select, and the extended format a reason."""
        channel = self.channel
        if not clear.extended or channel.p is P.READY:
            return
        if channel.fast_select:
            if len(clear.user_data) > codec.FAST_SELECT_LONGEST:
                raise PacketError(Diag.TOO_LONG)
        elif clear.user_data or not clear.facilities.items:
            raise PacketError(Diag.TOO_LONG)

    def confirm(self) -> None:
        channel = self.channel
        channel.send(codec.header(channel.modulo, channel.lcn, Type.CLEAR_CONFIRMATION))

    def error(self, diagnostic: int, cause: int | None = None) -> None:
        """Table C-3: clear the peer that made the error, and the other end as a remote error."""
        if cause is None:
            cause = ClearCause.LOCAL_PROCEDURE_ERROR
        self.send(Clear(cause, diagnostic))
        self.channel.user.cleared(self.channel, self.remote_clear(cause, diagnostic))

    def remote_clear(self, cause: int, diagnostic: int) -> Clear:
        """What the other end is told of a procedure error here."""
        return Clear(ClearCause.REMOTE_PROCEDURE_ERROR, diagnostic, by_peer=False)

    def clear(self, clear: Clear) -> None:
        """Clear the call; nothing if there is none or if clearing is under way."""
        if self.channel.p in (P.CALL_RECEIVED, P.CALL_SENT, P.DATA_TRANSFER):
            self.send(clear)

    def send(self, clear: Clear) -> None:
        """Send a Clear (p7) and start T13."""
        channel = self.channel
        if channel.p is P.CALL_RECEIVED:
            channel.interface.count("x25StatInCallRefusals")
        elif channel.p is P.CALL_SENT and not clear.by_peer:
            channel.interface.count("x25StatOutCallFailures")
        channel.stop_timers()
        channel.p = P.CLEAR_SENT
        channel.joined = None
        self.emit(clear)
        self.await_confirmation()

    def emit(self, clear: Clear) -> None:
        channel = self.channel
        cause = channel.rules.own_cause(clear.cause)
        channel.interface.clears_out[cause] += 1
        clear = replace(self.permitted(clear), cause=cause)
        channel.send(codec.encode_clear(channel.modulo, channel.lcn, clear))

    def forward(self, octets: bytes) -> None:
        """Send the Clear of the other side of a splice as it is (p7)."""
        channel = self.channel
        channel.stop_timers()
        channel.p = P.CLEAR_SENT
        channel.interface.clears_out[octets[3] if len(octets) > 3 else 0] += 1
        channel.send(octets)
        self.await_confirmation()

    def await_confirmation(self) -> None:
        channel = self.channel
        channel.repeats = 0
        channel.start_timer("T13", channel.settings.t13, self.t13_expired)

    def permitted(self, clear: Clear) -> Clear:
        """The extended format only where this side may see it (X.25 5.2.4)."""
        if clear.extended and not (self.channel.fast_select or clear.facilities.items):
            return Clear(clear.cause, clear.diagnostic)
        return clear

    def t13_expired(self) -> None:
        """No Clear Confirmation: repeat once, then give the connection up (X.25 Table D-1)."""
        channel = self.channel
        channel.interface.count("x25StatClearTimeouts")
        channel.repeats += 1
        if channel.repeats == 1:
            self.emit(Clear(ClearCause.LOCAL_PROCEDURE_ERROR, Diag.TIME_CLEAR))
            channel.start_timer("T13", channel.settings.t13, self.t13_expired)
        else:
            # The two ends no longer agree on the state, so the connection cannot be used again.
            channel.given_up = True
            channel.wire.close()
            channel.released()

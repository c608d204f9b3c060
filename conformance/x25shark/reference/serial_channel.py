# SPDX-License-Identifier: GPL-2.0-or-later
"""One logical channel of a serial interface (X.25 clause 4, Tables C-3 and C-4).

It is the channel of an XOT connection without what RFC 1613 changes: its number means something,
packets of local significance are errors, calls of both sides may collide. A DTE writes causes that
a DTE may write (X.25 5.2.4) and sees the state diagrams from the other side.
"""

from .call_setup import CallSetup
from .channel import Channel
from .channel_rules import Rules
from .clearing import Clearing
from .codec import Clear
from .codes import ClearCause, Diag, PacketError, ResetCause, Type
from .counters import is_from_dte
from .environment import Interface
from .tables import (
    LAPB_CALL_SETUP,
    LAPB_RESET,
    RESTART_ON_CHANNEL,
    SHORT,
    UNDEFINED,
    Cell,
    D,
    Do,
    P,
)

#: State diagnostics as a DCE and as a DTE name the same state.
_MIRRORED = {
    one: other
    for pair in (
        (Diag.STATE_P2, Diag.STATE_P3),
        (Diag.STATE_P6, Diag.STATE_P7),
        (Diag.STATE_D2, Diag.STATE_D3),
    )
    for one, other in (pair, pair[::-1])
}
_OF_ANOTHER_CHANNEL = frozenset({Type.RESTART, Type.RESTART_CONFIRMATION, Type.REGISTRATION})
_OF_THE_DCE = frozenset({Type.DIAGNOSTIC, Type.REGISTRATION_CONFIRMATION, Type.PVC_SETUP})
_ERRORS = frozenset({ClearCause.LOCAL_PROCEDURE_ERROR, ResetCause.LOCAL_PROCEDURE_ERROR})


class ChannelWire:
    """The way of a channel's packets to the line."""

    from_self = False
    closing = False

    def __init__(self, interface: Interface) -> None:
        self.interface = interface
        self.peer = interface.name

    @property
    def congested(self) -> bool:
        return self.interface.link.congested

    @congested.setter
    def congested(self, value: bool) -> None:
        raise AttributeError("the link knows whether it is congested")

    def send(self, packet: bytes) -> None:
        self.interface.packet_out(packet)

    def close(self) -> None:
        """The line outlives its calls."""

    def abort(self) -> None:
        """As close()."""

    def pause(self) -> None:
        """The windows of the channel hold the peer."""

    def resume(self) -> None:
        """As pause()."""


class LineRules(Rules):
    """How packets of a serial line are read: without what RFC 1613 changes."""

    def __init__(self, channel: "SerialChannel") -> None:
        super().__init__(channel)
        self.line = channel.line

    def classify(self, octets: bytes) -> int:
        packet_type = super().classify(octets)
        if packet_type in _OF_ANOTHER_CHANNEL:
            return RESTART_ON_CHANNEL
        return UNDEFINED if packet_type in _OF_THE_DCE else packet_type

    def call_cell(self, packet_type: int) -> Cell:
        channel = self.channel
        if packet_type == Type.CALL and channel.p is P.CALL_SENT and not self.line.dce:
            # X.25 4.1.6: the DCE cancels its call and goes on with this one.
            return Do.DISCARD
        return LAPB_CALL_SETUP[packet_type][channel.p]

    def reset_cell(self, packet_type: int) -> Cell:
        return LAPB_RESET[packet_type][self.channel.d]

    def state_diagnostic(self, diagnostic: int) -> int:
        return diagnostic if self.line.dce else _MIRRORED.get(diagnostic, diagnostic)

    def check_cause(self, cause: int) -> None:
        """X.25 5.2.4, 5.4.3: a DTE gives cause 0x00 or 0x80 to 0xFF."""
        if self.line.dce and not is_from_dte(cause):
            raise PacketError(Diag.IMPROPER_CAUSE)

    def own_cause(self, cause: int) -> int:
        if self.line.dce or is_from_dte(cause):
            return cause
        return 0 if cause in _ERRORS else 0x80 | cause


class LineCallSetup(CallSetup):
    """Takes and makes calls, of which two may meet on one channel."""

    def on_call(self, octets: bytes) -> None:
        """In p3 a collision: the call of the peer counts (X.25 4.1.6)."""
        channel = self.channel
        if channel.p is P.CALL_SENT:
            user, channel.user = channel.user, channel.router.idle_user
            channel.stop_timers()
            channel.set_gauge("")
            channel.forget_call()
            channel.p = P.CALL_RECEIVED
            channel.interface.count("x25StatOutCallFailures")
            user.displaced(channel)
        super().on_call(octets)


class LineClearing(Clearing):
    """Takes only the causes that the peer may give."""

    def check_clear(self, clear: Clear) -> None:
        super().check_clear(clear)
        self.channel.rules.check_cause(clear.cause)


class SerialChannel(Channel):
    """See the module's text."""

    def __init__(self, interface: Interface, lcn: int) -> None:
        self.line = interface
        super().__init__(interface.router, ChannelWire(interface), accepted=True)
        self.rules = LineRules(self)
        self.setup = LineCallSetup(self)
        self.clearing = LineClearing(self)
        self.on_line = True
        self.lcn = lcn
        self.modulo = interface.modulo
        self.size_limit = min(self.size_limit, interface.size_limit)

    def wait_for_call(self) -> None:
        """A free channel stays."""

    def receive(self, octets: bytes) -> None:
        """A packet of two octets or more, with the modulo of the interface."""
        packet_type = SHORT if len(octets) == 2 else self.rules.classify(octets)
        if packet_type not in (
            SHORT,
            UNDEFINED,
            RESTART_ON_CHANNEL,
        ) and not self.rules.gfi_is_valid(octets, packet_type):
            self.line.diagnose(Diag.INVALID_GFI, octets)
            return
        self.process(packet_type, octets)

    def discard(self) -> None:
        self.interface.count("ifInDiscards")

    def send(self, octets: bytes) -> None:
        self.wire.send(octets)

    def is_free(self) -> bool:
        return self.p is P.READY

    def in_transfer(self) -> bool:
        return self.p is P.DATA_TRANSFER and self.d is D.FLOW_CONTROL_READY

# SPDX-License-Identifier: GPL-2.0-or-later
"""One end of a circuit: the packet layer of one XOT connection (X.25 clauses 4 and 5, Annex C).

The channel looks a packet up in the state tables and hands it to the part that deals with it; the
state is the circuit's (circuit.py), and all parts share it:

    rules        what a packet is, which cell it meets          channel_rules.py
    setup        Call and Call Accepted, T11                    call_setup.py
    clearing     Clear and its confirmation, T13                clearing.py
    flow         Data, RR and RNR                               data_flow.py
    interrupts   Interrupt and its confirmation                 interrupts.py
    resets       Reset and its confirmation, T12                resets.py

Errors are answered towards the peer that made them; what is left is told to the channel's user: a
relay (the other half of the call), a terminal, or the router itself while there is no call.
RFC 1613 5: one circuit per connection, and the LCN of a packet that comes in means nothing.
"""

from collections.abc import Callable

from . import codec
from .call_setup import CallSetup
from .channel_rules import Rules
from .circuit import Circuit
from .clearing import Clearing
from .codec import Clear
from .codes import LOCAL_TYPES, ClearCause, Diag, PacketError, Type
from .data_flow import DataFlow
from .environment import Environment
from .interrupts import Interrupts
from .ports import Wire
from .resets import Resets
from .tables import Do, P
from .user import ChannelUser


class Channel(Circuit):
    """The packet layer of one connection. See the module's text."""

    def __init__(self, router: Environment, wire: Wire, accepted: bool) -> None:
        super().__init__(router, wire, accepted)
        self.user: ChannelUser = router.idle_user
        #: RFC 1613 6.2: the other half of a splice takes the packets unread.
        self.joined: Callable[[bytes], None] | None = None
        self.rules = Rules(self)
        self.setup = CallSetup(self)
        self.clearing = Clearing(self)
        self.flow = DataFlow(self)
        self.interrupts = Interrupts(self)
        self.resets = Resets(self)
        self.wait_for_call()

    def wait_for_call(self) -> None:
        """A connection without a call may be closed after a time (RFC 1613 5)."""
        if self.router.stopping:
            self.wire.close()
        if self.accepted and not self.permanent:
            self.start_timer("empty", self.settings.empty, self.wire.close)

    # -- packets that come in -------------------------------------------------------------------

    def receive(self, octets: bytes) -> None:
        """One packet, three octets or more."""
        self.interface.values["xotInUnits"] += 1
        self.interface.packets_in[codec.kind_of(octets)] += 1
        if self.joined is not None:
            self.joined(octets)
            return
        if self.p is P.READY and not self.permanent:
            # The circuit takes its modulo from the Call; errors before a call are answered alike.
            self.modulo = self.rules.acceptable_modulo(octets)
            self.lcn = codec.lcn_of(octets)
        packet_type = self.rules.classify(octets)
        if packet_type in LOCAL_TYPES or not self.rules.gfi_is_valid(octets, packet_type):
            # X.25 Table C-1 asks for a Diagnostic packet, which RFC 1613 6.4 forbids.
            self.discard()
            return
        self.process(packet_type, octets)

    def process(self, packet_type: int, octets: bytes) -> None:
        """Do what the state tables say."""
        in_data_transfer = True
        try:
            cell = self.rules.call_cell(packet_type)
            in_data_transfer = cell is Do.SEE_C4
            if in_data_transfer:
                cell = self.rules.reset_cell(packet_type)
            if cell is Do.NORMAL:
                self.take(packet_type, octets)
            elif cell is Do.DISCARD:
                if not self.is_pvc_setup(packet_type, octets):
                    self.discard()
            else:
                assert isinstance(cell, int)
                raise PacketError(self.rules.state_diagnostic(cell))
        except PacketError as error:
            if in_data_transfer:
                self.resets.error(error.diagnostic)
            else:
                self.clearing.error(error.diagnostic, error.cause)

    def is_pvc_setup(self, packet_type: int, octets: bytes) -> bool:
        """A PVC setup in place of a Call, taken by the user (RFC 1613 6.5)."""
        if packet_type != Type.PVC_SETUP or self.p is not P.READY or self.permanent:
            return False
        return self.user.pvc_setup_received(self, octets)

    def discard(self) -> None:
        self.interface.values["xotInDiscards"] += 1

    def take(self, packet_type: int, octets: bytes) -> None:
        """Process a packet that is allowed in the state."""
        match packet_type:
            case Type.DATA:
                self.flow.on_data(octets)
            case Type.RR | Type.RNR:
                self.flow.on_flow(packet_type, octets)
            case Type.CALL:
                self.setup.on_call(octets)
            case Type.ACCEPT:
                self.user.accept_received(self, octets)
            case Type.CLEAR:
                self.clearing.on_clear(octets)
            case Type.CLEAR_CONFIRMATION:
                self.released()
            case Type.INTERRUPT:
                self.interrupts.on_interrupt(octets)
            case Type.INTERRUPT_CONFIRMATION:
                self.interrupts.on_confirmation(octets)
            case Type.RESET:
                self.resets.on_reset(octets)
            case Type.RESET_CONFIRMATION:
                self.resets.on_confirmation(octets)

    def send(self, octets: bytes) -> None:
        """One packet to the peer."""
        self.interface.values["xotOutUnits"] += 1
        self.interface.packets_out[codec.kind_of(octets)] += 1
        self.wire.send(octets)

    # -- end of a call --------------------------------------------------------------------------

    def released(self) -> None:
        """Clearing is complete: p1."""
        self.stop_timers()
        self.p = P.READY
        self.joined = None
        self.set_gauge("")
        self.forget_call()
        user, self.user = self.user, self.router.idle_user
        user.released(self)
        self.wait_for_call()

    def connection_lost(self) -> None:
        """RFC 1613 6.1: the end of the connection ends the call and confirms a Clear."""
        self.end(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))

    def end(self, clear: Clear) -> None:
        """The circuit is over without a Clear on this side; clear is for the other one."""
        if self.p is P.CALL_SENT:
            self.interface.count("x25StatOutCallFailures")
        if self.p in (P.CALL_RECEIVED, P.CALL_SENT, P.DATA_TRANSFER):
            self.user.cleared(self, clear)
        if self.p is P.READY:
            self.user.lost(self)
        else:
            self.released()

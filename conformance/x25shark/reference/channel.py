# SPDX-License-Identifier: GPL-2.0-or-later
"""One end of a circuit: the packet layer of one XOT connection (X.25 clauses 4 and 5, Annex C).

The channel keeps the states of call set-up, reset, interrupt and flow control, checks each packet
that comes in, answers errors towards the peer that made them, and tells its user what is left. The
user is a relay (the other half of the call), a terminal, or the router itself while there is no
call. RFC 1613 5: one circuit per connection, and the LCN of a packet that comes in means nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from . import codec
from .circuit import Circuit
from .codec import Call, Clear, Data
from .codes import LOCAL_TYPES, ClearCause, Diag, PacketError, ResetCause, Type
from .ports import Wire
from .tables import CALL_SETUP, RESET, Cell, D, Do, P
from .user import ChannelUser

if TYPE_CHECKING:
    from .router import Router


class Channel(Circuit):
    """The packet layer of one connection. See the module's text."""

    def __init__(self, router: "Router", wire: Wire, accepted: bool) -> None:
        super().__init__(router, wire, accepted)
        self.user: ChannelUser = router
        #: RFC 1613 6.2: the other half of a splice takes the packets unread.
        self.joined: Callable[[bytes], None] | None = None
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
        if self.joined is not None:
            self.joined(octets)
            return
        if self.p is P.READY and not self.permanent:
            # The circuit takes its modulo from the Call; errors before a call are answered alike.
            self.modulo = self.acceptable_modulo(octets)
            self.lcn = codec.lcn_of(octets)
        packet_type = self.classify(octets)
        if packet_type in LOCAL_TYPES or not self.gfi_is_valid(octets, packet_type):
            # X.25 Table C-1 asks for a Diagnostic packet, which RFC 1613 6.4 forbids.
            self.discard()
            return
        self.process(packet_type, octets)

    def process(self, packet_type: int, octets: bytes) -> None:
        """Do what the state tables say."""
        in_data_transfer = True
        try:
            cell = self.call_cell(packet_type)
            in_data_transfer = cell is Do.SEE_C4
            if in_data_transfer:
                cell = self.reset_cell(packet_type)
            if cell is Do.NORMAL:
                self.take(packet_type, octets)
            elif cell is Do.DISCARD:
                if not self.is_pvc_setup(packet_type, octets):
                    self.discard()
            else:
                assert isinstance(cell, int)
                raise PacketError(self.state_diagnostic(cell))
        except PacketError as error:
            if in_data_transfer:
                self.reset_error(error.diagnostic)
            else:
                self.clear_error(error.diagnostic, error.cause)

    def state_diagnostic(self, diagnostic: int) -> int:
        """The diagnostic of a cell of the state tables."""
        return diagnostic

    def acceptable_modulo(self, octets: bytes) -> int:
        """Modulo of a packet, or 0 if this router does not support it."""
        modulo = codec.modulo_of(octets)
        return modulo if modulo == 8 or self.settings.modulo128 else 0

    def classify(self, octets: bytes) -> int:
        """Packet type, UNDEFINED for those that X.25 does not define."""
        return codec.type_of(octets, self.modulo)

    def gfi_is_valid(self, octets: bytes, packet_type: int) -> bool:
        return codec.gfi_is_valid(octets, packet_type, self.modulo)

    def call_cell(self, packet_type: int) -> Cell:
        """Table C-3; a permanent circuit has only Table C-4."""
        if self.awaits_setup:
            return Do.DISCARD
        return Do.SEE_C4 if self.permanent else CALL_SETUP[packet_type][self.p]

    def reset_cell(self, packet_type: int) -> Cell:
        """Table C-4."""
        return RESET[packet_type][self.d]

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
                self.on_data(octets)
            case Type.RR | Type.RNR:
                self.on_flow(packet_type, octets)
            case Type.CALL:
                self.on_call(octets)
            case Type.ACCEPT:
                self.user.accept_received(self, octets)
            case Type.CLEAR:
                self.on_clear(octets)
            case Type.CLEAR_CONFIRMATION:
                self.released()
            case Type.INTERRUPT:
                self.on_interrupt(octets)
            case Type.INTERRUPT_CONFIRMATION:
                self.on_interrupt_confirmation(octets)
            case Type.RESET:
                self.on_reset(octets)
            case Type.RESET_CONFIRMATION:
                self.on_reset_confirmation(octets)

    def on_call(self, octets: bytes) -> None:
        """Call Request in p1 (X.25 4.1.2)."""
        self.p = P.CALL_RECEIVED
        self.stop_timer("empty")
        self.interface.count("x25StatInCalls")
        self.set_gauge("x25StatIncomingCircuits")
        self.user.call_received(self, codec.parse_call(octets))

    def on_clear(self, octets: bytes) -> None:
        """Clear Request (X.25 4.1.7), confirmed at once; in p7 a collision, which completes."""
        if self.p is P.CLEAR_SENT:
            self.interface.clear_in(octets[3] if len(octets) > 3 else 0)
            self.released()
            return
        clear = codec.parse_clear(octets)
        self.check_clear(clear)
        self.interface.clear_in(clear.cause)
        if self.p is P.CALL_SENT:
            self.interface.count("x25StatOutCallFailures")
        self.p = P.CLEAR_RECEIVED
        self.confirm_clear()
        self.user.cleared(self, clear)
        self.released()

    def check_clear(self, clear: Clear) -> None:
        """X.25 5.2.4: user data need fast select, and the extended format a reason."""
        if not clear.extended or self.p is P.READY:
            return
        if self.fast_select:
            if len(clear.user_data) > codec.FAST_SELECT_LONGEST:
                raise PacketError(Diag.TOO_LONG)
        elif clear.user_data or not clear.facilities.items:
            raise PacketError(Diag.TOO_LONG)

    def check_cause(self, cause: int) -> None:
        """Causes that the peer may give. On XOT no end is the DTE (RFC 1613 5): any."""

    def confirm_clear(self) -> None:
        self.send(codec.header(self.modulo, self.lcn, Type.CLEAR_CONFIRMATION))

    def on_data(self, octets: bytes) -> None:
        """Data in d1 (X.25 4.3, 4.4.1)."""
        data = codec.parse_data(octets, self.modulo)
        self.check_data(data)
        full = len(data.user_data) == self.size_in
        self.sequence_q = data.q if full and data.m and not data.d else None
        self.v_r = (self.v_r + 1) % self.modulo
        self.interface.data_in(len(data.user_data))
        self.take_p_r(data.p_r)
        self.user.data_received(self, data)

    def check_data(self, data: Data) -> None:
        """X.25 4.4.1 and Annex E: raises PacketError 1, 2, 39, 83 or 166."""
        if not self.p_s_is_valid(data.p_s):
            raise PacketError(Diag.INVALID_P_S)
        if not self.p_r_is_valid(data.p_r):
            raise PacketError(Diag.INVALID_P_R)
        if len(data.user_data) > self.size_in:
            raise PacketError(Diag.TOO_LONG)
        if self.sequence_q is not None and data.q != self.sequence_q:
            raise PacketError(Diag.INCONSISTENT_Q)
        if data.d and not self.settings.dbit:
            raise PacketError(Diag.D_BIT_NOT_SUPPORTED)

    def take_p_r(self, p_r: int) -> None:
        """Rotate the window for sending."""
        count = (p_r - self.p_r_received) % self.modulo
        if count:
            self.p_r_received = p_r
            self.user.acknowledged(self, count)

    def on_flow(self, packet_type: int, octets: bytes) -> None:
        """RR or RNR in d1 (X.25 4.4.1.3)."""
        p_r = codec.parse_flow(octets, self.modulo)
        if not self.p_r_is_valid(p_r):
            raise PacketError(Diag.INVALID_P_R)
        self.peer_busy = packet_type == Type.RNR
        self.take_p_r(p_r)
        self.user.flow_received(self, packet_type, p_r)

    def on_interrupt(self, octets: bytes) -> None:
        """Interrupt in d1: one at a time (X.25 4.3.7)."""
        length = len(octets) - 3
        if length < 1:
            raise PacketError(Diag.TOO_SHORT)
        if length > codec.INTERRUPT_LONGEST:
            raise PacketError(Diag.TOO_LONG)
        if self.interrupt_in:
            raise PacketError(Diag.INTERRUPT_NOT_DUE)
        self.interrupt_in = True
        self.interface.count("x25StatInInterrupts")
        self.interface.count("x25CircuitInInterrupts")
        self.user.interrupt_received(self, octets[3:])

    def on_interrupt_confirmation(self, octets: bytes) -> None:
        if len(octets) > 3:
            raise PacketError(Diag.TOO_LONG)
        if not self.interrupt_out:
            raise PacketError(Diag.INTERRUPT_CONFIRMATION_NOT_DUE)
        self.interrupt_out = False
        self.user.interrupt_confirmed(self)

    def on_reset(self, octets: bytes) -> None:
        """Reset Request (X.25 4.4.3); in d3 a collision, which completes."""
        cause, diagnostic = codec.parse_reset(octets)
        self.check_cause(cause)
        self.interface.reset_in(cause)
        if self.d is D.RESET_SENT:
            self.reset_complete()
            return
        self.d = D.RESET_RECEIVED
        self.restart_numbers()
        self.user.reset_received(self, cause, diagnostic)

    def on_reset_confirmation(self, octets: bytes) -> None:
        if len(octets) > 3:
            raise PacketError(Diag.TOO_LONG)
        self.reset_complete()

    def reset_complete(self) -> None:
        """d3 ends."""
        self.stop_timer("T12")
        self.d = D.FLOW_CONTROL_READY
        self.restart_numbers()
        self.user.reset_confirmed(self)

    # -- errors ---------------------------------------------------------------------------------

    def clear_error(self, diagnostic: int, cause: int | None = None) -> None:
        """Table C-3: clear the peer that made the error, and the other end as a remote error."""
        if cause is None:
            cause = ClearCause.LOCAL_PROCEDURE_ERROR
        self.send_clear(Clear(cause, diagnostic))
        self.user.cleared(self, self.remote_clear(cause, diagnostic))

    def remote_clear(self, cause: int, diagnostic: int) -> Clear:
        """What the other end is told of a procedure error here."""
        return Clear(ClearCause.REMOTE_PROCEDURE_ERROR, diagnostic, by_peer=False)

    def reset_error(self, diagnostic: int) -> None:
        """Table C-4: reset the peer that made the error, and the other end as a remote error."""
        cause = ResetCause.LOCAL_PROCEDURE_ERROR
        self.send_reset(cause, diagnostic)
        self.user.reset_by_error(self, self.remote_reset_cause(cause), diagnostic)

    def remote_reset_cause(self, cause: int) -> int:
        return ResetCause.REMOTE_PROCEDURE_ERROR

    # -- what the user asks for -----------------------------------------------------------------

    def call(self, call: Call, octets: bytes = b"") -> None:
        """Send a Call (p3), as it is encoded or in the octets given, and start T11."""
        self.modulo, self.lcn = call.modulo, call.lcn
        self.p = P.CALL_SENT
        self.fast_select, self.restricted = call.facilities.fast_select, call.facilities.restricted
        self.set_gauge("x25StatOutgoingCircuits")
        self.interface.count("x25StatOutCallAttempts")
        self.send(octets or self.encode_call(call))
        self.start_timer("T11", self.settings.t11, self.t11_expired)

    def encode_call(self, call: Call) -> bytes:
        return codec.encode_call(Type.CALL, call)

    def connected(self) -> None:
        """The call that was sent is accepted: p4."""
        self.stop_timer("T11")
        self.p = P.DATA_TRANSFER

    def accept(self, call: Call) -> None:
        """Send Call Connected: p4."""
        self.stop_timer("T21")
        self.p = P.DATA_TRANSFER
        self.send(self.encode_accept(call))

    def encode_accept(self, call: Call) -> bytes:
        return codec.encode_call(Type.ACCEPT, call)

    def clear(self, clear: Clear) -> None:
        """Clear the call; nothing if there is none or if clearing is under way."""
        if self.p in (P.CALL_RECEIVED, P.CALL_SENT, P.DATA_TRANSFER):
            self.send_clear(clear)

    def send_clear(self, clear: Clear) -> None:
        """Send a Clear (p7) and start T13."""
        if self.p is P.CALL_RECEIVED:
            self.interface.count("x25StatInCallRefusals")
        elif self.p is P.CALL_SENT and not clear.by_peer:
            self.interface.count("x25StatOutCallFailures")
        self.stop_timers()
        self.p = P.CLEAR_SENT
        self.joined = None
        self.emit_clear(clear)
        self.await_clear_confirmation()

    def emit_clear(self, clear: Clear) -> None:
        cause = self.own_cause(clear.cause)
        self.interface.clears_out[cause] += 1
        clear = replace(self.permitted(clear), cause=cause)
        self.send(codec.encode_clear(self.modulo, self.lcn, clear))

    def own_cause(self, cause: int) -> int:
        """The cause of a Clear or Reset as this side may write it."""
        return cause

    def forward_clear(self, octets: bytes) -> None:
        """Send the Clear of the other side of a splice as it is (p7)."""
        self.stop_timers()
        self.p = P.CLEAR_SENT
        self.interface.clears_out[octets[3] if len(octets) > 3 else 0] += 1
        self.send(octets)
        self.await_clear_confirmation()

    def await_clear_confirmation(self) -> None:
        self._repeats = 0
        self.start_timer("T13", self.settings.t13, self.t13_expired)

    def permitted(self, clear: Clear) -> Clear:
        """The extended format only where this side may see it (X.25 5.2.4)."""
        if clear.extended and not (self.fast_select or clear.facilities.items):
            return Clear(clear.cause, clear.diagnostic)
        return clear

    def reset(self, cause: int, diagnostic: int) -> None:
        """Reset the peer; a peer that waits for a confirmation gets it; else one is under way."""
        if self.p is not P.DATA_TRANSFER:
            return
        if self.d is D.FLOW_CONTROL_READY:
            self.send_reset(cause, diagnostic)
        elif self.d is D.RESET_RECEIVED:
            self.confirm_reset()

    def send_reset(self, cause: int, diagnostic: int) -> None:
        """Send a Reset (d3) and start T12."""
        self.d = D.RESET_SENT
        self.restart_numbers()
        self._repeats = 0
        self.emit_reset(cause, diagnostic)
        self.start_timer("T12", self.settings.t12, self.t12_expired)

    def emit_reset(self, cause: int, diagnostic: int) -> None:
        cause = self.own_cause(cause)
        self.interface.resets_out[cause] += 1
        octets = codec.header(self.modulo, self.lcn, Type.RESET)
        self.send(octets + bytes((cause, diagnostic)))

    def confirm_reset(self) -> None:
        """Confirm a reset of the peer: d1."""
        if self.p is P.DATA_TRANSFER and self.d is D.RESET_RECEIVED:
            self.d = D.FLOW_CONTROL_READY
            self.send(codec.header(self.modulo, self.lcn, Type.RESET_CONFIRMATION))
            self.user.writable(self)

    def can_send(self) -> bool:
        """One more Data packet may go out now."""
        return self.ready and self.window_open() and not self.peer_busy and not self.wire.congested

    def send_data(self, q: bool, d: bool, m: bool, user_data: bytes) -> None:
        """Send a Data packet with this side's own numbers; only after can_send()."""
        self.forward_data(Data(self.v_s, self.p_r, q, d, m, user_data))

    def forward_data(self, data: Data) -> None:
        """Send a Data packet with the numbers it has."""
        self.v_s = (data.p_s + 1) % self.modulo
        self.p_r_sent = self.p_r = data.p_r
        self.interface.data_out(len(data.user_data))
        self.send(codec.encode_data(self.modulo, self.lcn, data))

    def acknowledge(self, count: int) -> None:
        """So many received Data packets are dealt with; P(R) goes out at the next flush."""
        self.p_r = (self.p_r + count) % self.modulo
        self.router.unsettled.append(self)

    def flush(self) -> None:
        """Send an RR unless a Data packet has carried the P(R)."""
        if self.p_r != self.p_r_sent and self.ready:
            self.forward_flow(Type.RR, self.p_r)

    def forward_flow(self, packet_type: int, p_r: int) -> None:
        """Send RR or RNR with that P(R)."""
        self.p_r_sent = self.p_r = p_r
        self.send(codec.encode_flow(self.modulo, self.lcn, packet_type, p_r))

    def send_interrupt(self, user_data: bytes) -> None:
        self.interrupt_out = True
        self.interface.count("x25StatOutInterrupts")
        self.interface.count("x25CircuitOutInterrupts")
        self.send(codec.header(self.modulo, self.lcn, Type.INTERRUPT) + user_data)

    def confirm_interrupt(self) -> None:
        if self.interrupt_in and self.ready:
            self.interrupt_in = False
            self.send(codec.header(self.modulo, self.lcn, Type.INTERRUPT_CONFIRMATION))

    def send(self, octets: bytes) -> None:
        """One packet to the peer."""
        self.interface.values["xotOutUnits"] += 1
        self.wire.send(octets)

    # -- end of a call, timers ------------------------------------------------------------------

    def released(self) -> None:
        """Clearing is complete: p1."""
        self.stop_timers()
        self.p = P.READY
        self.joined = None
        self.set_gauge("")
        self.forget_call()
        user, self.user = self.user, self.router
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

    def t11_expired(self) -> None:
        """No answer to the Call (X.25 Table D-1)."""
        self.interface.count("x25StatCallTimeouts")
        self.clear_error(Diag.TIME_INCOMING_CALL)

    def t12_expired(self) -> None:
        """No Reset Confirmation: repeat once, then clear (X.25 Table D-1)."""
        self.interface.count("x25StatResetTimeouts")
        self._repeats += 1
        if self._repeats == 1:
            self.emit_reset(ResetCause.LOCAL_PROCEDURE_ERROR, Diag.TIME_RESET)
            self.start_timer("T12", self.settings.t12, self.t12_expired)
        elif self.permanent:
            self.reset_complete()
        else:
            self.clear_error(Diag.TIME_RESET)

    def t13_expired(self) -> None:
        """No Clear Confirmation: repeat once, then give the connection up (X.25 Table D-1)."""
        self.interface.count("x25StatClearTimeouts")
        self._repeats += 1
        if self._repeats == 1:
            self.emit_clear(Clear(ClearCause.LOCAL_PROCEDURE_ERROR, Diag.TIME_CLEAR))
            self.start_timer("T13", self.settings.t13, self.t13_expired)
        else:
            # The two ends no longer agree on the state, so the connection cannot be used again.
            self.given_up = True
            self.wire.close()
            self.released()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Restarts of a serial interface, and what comes on channel 0 (X.25 3.3, Table C-2, T10)."""

from . import codec
from .codec import Clear
from .codes import DEFINED_TYPES, ClearCause, Diag, RestartCause, Type
from .counters import is_from_dte
from .environment import Interface
from .ports import Timer
from .tables import R

_OF_A_CHANNEL = (DEFINED_TYPES - {Type.PVC_SETUP}) | {Type.DATA, Type.RR, Type.RNR, Type.REJ}


class Restarts:
    """Takes, sends and confirms Restarts."""

    def __init__(self, interface: Interface) -> None:
        self.interface = interface
        self.timer: Timer | None = None
        self._repeats = 0

    def on_channel_zero(self, octets: bytes) -> None:
        """Table C-2."""
        interface = self.interface
        packet_type = codec.type_of(octets, interface.modulo) if len(octets) > 2 else -1
        diagnostic = self.format_error(packet_type, octets)
        if packet_type in (Type.RESTART, Type.RESTART_CONFIRMATION):
            if diagnostic:
                self.error(diagnostic, octets)
            elif packet_type == Type.RESTART:
                self.on_restart(octets)
            else:
                self.on_confirmation(octets)
        elif interface.r is R.RESTART_SENT or packet_type == Type.DIAGNOSTIC:
            interface.discard()
        else:
            interface.diagnose(diagnostic, octets)

    def format_error(self, packet_type: int, octets: bytes) -> int:
        """Diagnostic of what is wrong with a packet on channel 0, 0 for a right one."""
        if len(octets) < 3:
            return Diag.TOO_SHORT
        if packet_type == Type.RESTART:
            if len(octets) < 4:
                return Diag.TOO_SHORT
            if len(octets) > 5:
                return Diag.TOO_LONG
            return (
                Diag.IMPROPER_CAUSE
                if self.interface.dce and not is_from_dte(octets[3])
                else Diag.NONE
            )
        if packet_type == Type.RESTART_CONFIRMATION:
            return Diag.TOO_LONG if len(octets) > 3 else Diag.NONE
        if packet_type in _OF_A_CHANNEL:
            return Diag.UNASSIGNED_CHANNEL
        return Diag.UNIDENTIFIABLE

    def error(self, diagnostic: int, octets: bytes) -> None:
        """A Restart or its confirmation that is not one."""
        interface = self.interface
        if interface.r is R.RESTART_SENT:
            self.restart(RestartCause.LOCAL_PROCEDURE_ERROR, diagnostic)
        else:
            interface.diagnose(diagnostic, octets)

    def on_restart(self, octets: bytes) -> None:
        """In r1 confirmed at once, in r3 a collision, which completes (X.25 3.3)."""
        interface = self.interface
        if interface.r is R.RESTART_SENT:
            self.complete()
            return
        interface.counters.count("x25StatInRestarts")
        diagnostic = octets[4] if len(octets) > 4 else Diag.NONE
        interface.end_calls(Clear(self.clear_cause(octets[3]), diagnostic, by_peer=False))
        interface.packet_out(codec.header(interface.modulo, 0, Type.RESTART_CONFIRMATION))

    def clear_cause(self, cause: int) -> int:
        """What the far ends of the calls are told: a DTE's own cause, else out of order."""
        return cause if is_from_dte(cause) else ClearCause.OUT_OF_ORDER

    def on_confirmation(self, octets: bytes) -> None:
        """In r1 an error (X.25 Table C-2)."""
        interface = self.interface
        if interface.r is R.RESTART_SENT:
            self.complete()
            return
        clear = Clear(ClearCause.REMOTE_PROCEDURE_ERROR, Diag.STATE_R1, by_peer=False)
        interface.end_calls(clear)
        self.restart(RestartCause.LOCAL_PROCEDURE_ERROR, Diag.STATE_R1)

    def restart(self, cause: int, diagnostic: int) -> None:
        """Send a Restart (r3) and start T10."""
        self.interface.r = R.RESTART_SENT
        self._repeats = 0
        self.emit(cause, diagnostic)

    def emit(self, cause: int, diagnostic: int) -> None:
        """A DTE has but one cause (X.25 5.5.1)."""
        interface = self.interface
        header = codec.header(interface.modulo, 0, Type.RESTART)
        own = cause if interface.dce else RestartCause.DTE_RESTARTING
        interface.packet_out(header + bytes((own, diagnostic)))
        self.stop_timer()
        t10 = interface.router.settings.t10
        if t10:
            self.timer = interface.router.timers.start(t10, self.t10_expired)

    def t10_expired(self) -> None:
        """No confirmation: repeat once, then go on without (X.25 Table D-1)."""
        interface = self.interface
        interface.counters.count("x25StatRestartTimeouts")
        self._repeats += 1
        if self._repeats == 1:
            self.emit(RestartCause.LOCAL_PROCEDURE_ERROR, Diag.TIME_RESTART)
        else:
            self.complete()
            interface.diagnose(Diag.TIME_RESTART, b"")

    def complete(self) -> None:
        self.stop_timer()
        self.interface.r = R.READY

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

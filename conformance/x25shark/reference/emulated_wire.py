# SPDX-License-Identifier: GPL-2.0-or-later
"""A connection of the event loop whose octets go over an emulated line, both ways."""

import socket

from .emulated_pipe import Pipe
from .emulation import EmulatedLine
from .environment import Host
from .ports import WireUser
from .pty_end import PtyEnd
from .wire import HIGH_WATER, LOW_WATER, TcpWire


class EmulatedWire(TcpWire):
    """A wire whose octets go over an emulated line, both ways (emulation.py)."""

    def __init__(
        self,
        server: Host,
        sock: socket.socket | PtyEnd,
        far_end: tuple[str, int],
        line: EmulatedLine,
    ) -> None:
        super().__init__(server, sock, far_end)
        self._line = line
        self._outgoing = Pipe(server.timers, line, line.away, self._sent_whole, self._all_sent)
        self._held = self._user_paused = False

    def start(self, user: WireUser) -> None:
        super().start(Inlet(self, user, self._line))

    def queue(self, octets: bytes) -> None:
        self._outgoing.put(octets)
        if self._outgoing.is_full(HIGH_WATER):
            self.congested = True
            self.server.unsent.add(self)

    def _sent_whole(self, octets: bytes) -> None:
        if not self.dead:
            super().queue(octets)

    def _all_sent(self) -> None:
        if not self.dead:
            self.server.unsent.add(self)

    def flush(self) -> None:
        # Somebody who waits for room is told by the base class: not while the line is full.
        if self.congested and self._outgoing.is_full(LOW_WATER) and not self._output:
            return
        super().flush()

    def finish(self) -> None:
        if not self._outgoing.octets:
            super().finish()

    def linger_time(self) -> float:
        return super().linger_time() + self._outgoing.seconds_left()

    def abort(self) -> None:
        self._outgoing.clear()
        super().abort()

    def pause(self) -> None:
        self._user_paused = True
        super().pause()

    def resume(self) -> None:
        self._user_paused = False
        if not self._held:
            super().resume()

    def hold(self, full: bool) -> None:
        """Do not read while the line towards the router takes nothing."""
        if full == self._held:
            return
        self._held = full
        if full and not self.closing:
            super().pause()
        elif not full and not self._user_paused:
            super().resume()


class Inlet:
    """Stands between a wire and its user: what the wire reads comes later."""

    def __init__(self, wire: EmulatedWire, user: WireUser, line: EmulatedLine) -> None:
        self._wire = wire
        self._user = user
        self._units = line.units
        self._input = bytearray()
        self._lost = False
        self._pipe = Pipe(wire.server.timers, line, line.towards, self._arrived, self._empty)

    def octets_received(self, octets: bytes) -> None:
        self._input += octets
        self._pipe.put(*self._units(self._input))
        self._wire.hold(self._pipe.is_full(HIGH_WATER))

    def connection_lost(self, reset: bool) -> None:
        """The end comes behind what is on its way; a reset does not wait for it."""
        if self._input:
            self._pipe.put(bytes(self._input))
            self._input.clear()
        if reset:
            self._pipe.hurry()
        if self._pipe.octets:
            self._lost = True
        else:
            self._user.connection_lost(reset)

    def _arrived(self, unit: bytes) -> None:
        if not self._wire.closing:
            self._user.octets_received(unit)
        self._wire.hold(self._pipe.is_full(HIGH_WATER))

    def _empty(self) -> None:
        self._wire.hold(False)
        if self._lost:
            self._lost = False
            if not self._wire.closing:
                self._user.connection_lost(False)

    def ended(self) -> None:
        self._pipe.clear()
        self._user.ended()

    def drained(self) -> None:
        self._user.drained()

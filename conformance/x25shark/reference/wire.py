# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections of the event loop: TCP, or a terminal, that carries XOT or the octets of a line.

Sockets never block. Output is collected per turn of the loop and bounded by back-pressure
(Wire.congested). A connection is closed in order: what waits is sent, then FIN, then input is read
and dropped until the peer has closed too or the linger time is over, because closing a socket with
unread input would make TCP reset the connection and destroy a Clear on its way.
"""

import selectors
import socket
from collections import deque
from contextlib import suppress

from .config import Settings
from .environment import Host
from .framing import frame
from .ports import Timer, WireUser
from .pty_end import PtyEnd

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
#: Octets of one read, and the bounds of output that waits: above the first one the wire is
#: congested, below the second one it is so no longer.
CHUNK = 65536
HIGH_WATER = 262144
LOW_WATER = 65536


class TcpWire:
    """One TCP connection that carries XOT, or the octets of a serial line; or a terminal."""

    def __init__(
        self, server: Host, sock: socket.socket | PtyEnd, far_end: tuple[str, int]
    ) -> None:
        self.server = server
        self.socket = sock
        self.peer = far_end[0]
        self.congested = False
        self.from_self = far_end in server.own_ends
        self._local = sock.getsockname()
        self.user: WireUser | None = None
        self._output: deque[bytes] = deque()
        self._waiting = 0
        self._events = 0
        self._paused = False
        self.closing = False
        self._fin_sent = False
        self._eof = False
        self.dead = False
        self._linger: Timer | None = None
        if isinstance(sock, socket.socket):
            set_options(sock, server.settings)

    def start(self, user: WireUser) -> None:
        """Begin to read for the user."""
        self.user = user
        self.server.wires.add(self)
        self.look()

    def send(self, packet: bytes) -> None:
        if self.closing or self.dead:
            return
        self.queue(frame(packet))

    def queue(self, octets: bytes) -> None:
        """Octets for the stream, sent at the end of this turn of the loop."""
        self._output.append(octets)
        self._waiting += len(octets)
        if self._waiting > HIGH_WATER:
            self.congested = True
        self.server.unsent.add(self)

    def close(self) -> None:
        if self.closing or self.dead:
            return
        self.closing = True
        self._paused = False
        self._linger = self.server.timers.start(self.linger_time(), self.abort)
        self.server.unsent.add(self)
        self.look()

    def linger_time(self) -> float:
        """Seconds that a closing connection may take to send and to see the peer's FIN."""
        return max(self.server.settings.linger, 0.001)

    def abort(self) -> None:
        if self.dead:
            return
        self.dead = True
        self.closing = True
        self._output.clear()
        self._waiting = 0
        if self._linger is not None:
            self._linger.cancel()
        self.look()
        self.server.wires.discard(self)
        self.server.unsent.discard(self)
        self.close_socket()
        if self.user is not None:
            self.user.ended()

    def close_socket(self) -> None:
        self.server.own_ends.discard(self._local)
        self.socket.close()

    def pause(self) -> None:
        if not self.closing:
            self._paused = True
            self.look()

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            self.look()

    def look(self) -> None:
        """Tell the selector what this connection waits for."""
        events = 0 if self.dead else self.wanted()
        self._events = self.server.watch(self.socket, self._events, events, self.ready)

    def wanted(self) -> int:
        """The events that an open connection waits for."""
        events = WRITE if self._output else 0
        return events if self._eof or self._paused else events | READ

    def ready(self, events: int) -> None:
        """The selector reports the socket."""
        if events & WRITE:
            self.flush()
        if events & READ and not self.dead:
            self.read()

    def read(self) -> None:
        """Take what has come in. Octets in front of a RST are read before its error is."""
        try:
            octets = self.socket.recv(CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.lost(reset=True)
            return
        if not octets:
            self._eof = True
            self.look()
            self.lost(reset=False)
        elif not self.closing and self.user is not None:
            self.user.octets_received(octets)

    def lost(self, reset: bool) -> None:
        """The peer's direction has ended."""
        if self.closing:
            if reset or self._fin_sent:
                self.abort()
            return
        if self.user is not None:
            self.user.connection_lost(reset)
        if reset:
            self.abort()

    def flush(self) -> None:
        """Send what the socket takes; then FIN if the connection is closing."""
        if self.dead:
            return
        try:
            while self._output:
                sent = self.socket.send(self.next_block())
                self._waiting -= sent
                self._drop(sent)
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self._output.clear()
            self.write_failed()
            return
        if self.congested and self._waiting < LOW_WATER:
            self.congested = False
            if self.user is not None and not self.closing:
                self.user.drained()
        if self.closing and not self._output:
            self.finish()
        elif not self.dead:
            self.look()

    def next_block(self) -> bytes:
        """As much of the output as one call can take."""
        if len(self._output) > 1:
            joined = b"".join(self._output)
            self._output.clear()
            self._output.append(joined)
        return self._output[0]

    def _drop(self, count: int) -> None:
        first = self._output.popleft()
        if count < len(first):
            self._output.appendleft(first[count:])

    def write_failed(self) -> None:
        """The peer has reset the connection; what it sent before is still there to be read."""
        while not self._eof and not self.dead:
            try:
                octets = self.socket.recv(CHUNK)
            except OSError:
                break
            if not octets:
                break
            if not self.closing and self.user is not None:
                self.user.octets_received(octets)
        self._eof = True
        self.lost(reset=True)

    def finish(self) -> None:
        """Everything is sent: FIN, and wait for that of the peer."""
        if not self._fin_sent:
            self._fin_sent = True
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
        if self._eof:
            self.abort()
        else:
            self.look()


def set_options(sock: socket.socket, settings: Settings) -> None:
    """No delay of small packets, urgent data in the stream, keepalive if it is wanted.

    No TCP_USER_TIMEOUT: a peer that keeps its window closed and answers probes is not dead
    (RFC 1122 4.2.2.17).
    """
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    if settings.keepalive > 0:
        idle = max(1, round(settings.keepalive / 2))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            ("TCP_KEEPIDLE", idle),
            ("TCP_KEEPINTVL", max(1, idle // 4)),
            ("TCP_KEEPCNT", 4),
        ):
            if hasattr(socket, option):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)

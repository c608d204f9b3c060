# SPDX-License-Identifier: GPL-2.0-or-later
"""Sockets, timers and signals around the router: one process, one thread, one event loop.

Sockets never block. Output is collected per turn of the loop and bounded by back-pressure
(Wire.congested). A connection is closed in order: what waits is sent, then FIN, then input is read
and dropped until the peer has closed too or the linger time is over, because closing a socket with
unread input would make TCP reset the connection and destroy a Clear on its way.
"""

import errno
import itertools
import os
import random
import select
import selectors
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from . import http
from .config import Settings
from .emulated_pipe import Pipe
from .emulation import EmulatedLine
from .framing import frame
from .lines import Line
from .null import NullRouter
from .ports import WireUser
from .pty_end import PtyEnd
from .router import Router
from .routes import Destination
from .timers import LoopTimers, RunningTimer

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
#: Octets of one read, and the bounds of output that waits: above the first one the wire is
#: congested, below the second one it is so no longer.
CHUNK = 65536
HIGH_WATER = 262144
LOW_WATER = 65536
#: Ports of the router's own connections, one after another: where the kernel chooses, it searches
#: for milliseconds while thousands of closed connections keep theirs, or uses one again at once.
PORTS = range(32768, 61000)
_ports = itertools.cycle(random.sample(PORTS, len(PORTS)))
#: Connections beyond these are closed at once; calls have their own limit.
SPARE_CONNECTIONS = 256
#: Seconds that an orderly stop waits for Clear Confirmations and the other side's FIN.
STOP_TIME = 1.0


def _bind(sock: socket.socket, source: str) -> None:
    """Give the socket the next port that is free. Raises OSError."""
    for port in itertools.islice(_ports, 1000):
        try:
            sock.bind((source, port))
            return
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    sock.bind((source, 0))


class TcpWire:
    """One TCP connection that carries XOT, or the octets of a serial line; or a terminal."""

    def __init__(
        self, server: "Server", sock: socket.socket | PtyEnd, far_end: tuple[str, int]
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
        self._linger: RunningTimer | None = None
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


class EmulatedWire(TcpWire):
    """A wire whose octets go over an emulated line, both ways (emulation.py)."""

    def __init__(
        self,
        server: "Server",
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


class FineSelector(selectors.EpollSelector):
    """Waits to the microsecond; epoll alone knows milliseconds, which a line's delay would show."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout:
            select.select([self.fileno()], [], [], timeout)
            timeout = 0
        return super().select(timeout)


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


class PendingConnection:
    """A TCP connection that is being opened."""

    def __init__(
        self,
        server: "Server",
        host: str,
        port: int,
        connected: "Callable[[TcpWire], WireUser]",
        failed: Callable[[str], None],
        line: str = "",
    ) -> None:
        self.server = server
        self._line = line
        self.host = host
        self.port = port
        self.connected = connected
        self.failed = failed
        self._events = 0
        self._local: object = None
        self._socket: socket.socket | None = None
        self._timer = server.timers.start(server.settings.connect_timeout or 1e6, self._timed_out)
        try:
            self._socket = sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            sock.setblocking(False)
            if server.settings.source:
                _bind(sock, server.settings.source)
            self.open(sock, (host, port))
            self._local = sock.getsockname()
            server.own_ends.add(self._local)
            self._events = server.watch(sock, 0, WRITE, self._ready)
        except OSError as error:
            # Report it in the next turn of the loop, never from within connect().
            self._timer.cancel()
            self._close()
            reason = error.strerror or "connect failed"
            self._timer = server.timers.start(0.0, lambda: self.failed(reason))

    def open(self, sock: socket.socket, address: tuple[str, int]) -> None:
        """Start the TCP handshake without waiting for its end."""
        result = sock.connect_ex(address)
        if result not in (0, errno.EINPROGRESS):
            raise OSError(result, errno.errorcode.get(result, "connect failed"))

    def cancel(self) -> None:
        self._timer.cancel()
        self._close()

    def _close(self) -> None:
        if self._socket is not None:
            self._events = self.server.watch(self._socket, self._events, 0, self._ready)
            self.server.own_ends.discard(self._local)
            self._socket.close()
            self._socket = None

    def _timed_out(self) -> None:
        self._close()
        self.failed("no answer")

    def _ready(self, events: int) -> None:
        assert self._socket is not None
        error = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        self._timer.cancel()
        if error:
            self._close()
            self.failed(errno.errorcode.get(error, "connect failed"))
            return
        sock, self._socket = self._socket, None
        self._events = self.server.watch(sock, self._events, 0, self._ready)
        wire = self.server.stream(sock, (self.host, self.port), self._line)
        wire.start(self.connected(wire))


class Server:
    """The event loop. As the router's network it opens connections."""

    def __init__(self, settings: Settings, null: str = "") -> None:
        self.settings = settings
        self.timers = LoopTimers()
        #: Emulated access lines, by the XOT peer's address or as "serial:NAME".
        self.emulated = {one.at: EmulatedLine(one) for one in settings.emulations}
        self.selector: selectors.BaseSelector = (
            FineSelector() if self.emulated else selectors.DefaultSelector()
        )
        self.wires: set[TcpWire] = set()
        #: Local address and port of each connection that this router opened.
        self.own_ends: set[object] = set()
        #: Wires with output of this turn.
        self.unsent: set[TcpWire] = set()
        self.running = True
        self.router: Router | NullRouter
        if null:
            self.router = NullRouter(self, null)
        else:
            self.router = Router(settings, self.timers, self)
        self._listening: list[socket.socket] = []
        #: Serial interfaces by name: address or path of the line.
        self.lines: dict[str, str] = {}

    def listen(self) -> None:
        """Open the listening sockets. Raises OSError if an address is in use."""
        self.xot = self.listener(self.settings.listen, self._accept_xot)
        if self.settings.http is not None:
            self.http = self.listener(self.settings.http, self._accept_http)
        if isinstance(self.router, Router):
            self.open_lines(self.router)

    def open_lines(self, router: Router) -> None:
        """The lines of the serial interfaces; where they are is in the ready line."""
        for name, interface in router.serials.items():
            line = Line(self, interface)
            line.open()
            self.lines[name] = line.place

    def listener(self, at: Destination, accept: Callable[[socket.socket], None]) -> socket.socket:
        """Listen; accept is called for each connection that waits. Raises OSError."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.setblocking(False)
            sock.bind((at.host, at.port))
            sock.listen(512)
        except OSError as error:
            sock.close()
            raise OSError(error.errno, f"{at.name}: {error.strerror}") from error
        self._listening.append(sock)
        self.watch(sock, 0, READ, lambda _events: accept(sock))
        return sock

    def watch(
        self, sock: socket.socket | PtyEnd, before: int, events: int, ready: Callable[[int], None]
    ) -> int:
        """Change what a socket waits for; returns the new events."""
        if before == events:
            return events
        if not before:
            self.selector.register(sock, events, ready)
        elif not events:
            self.selector.unregister(sock)
        else:
            self.selector.modify(sock, events, ready)
        return events

    def stream(
        self, sock: socket.socket | PtyEnd, far_end: tuple[str, int], line: str = ""
    ) -> TcpWire:
        """The stream of a socket or terminal that is open. line: "serial:NAME", not XOT."""
        emulated = self.emulated.get(line or far_end[0])
        if emulated is None:
            return TcpWire(self, sock, far_end)
        return EmulatedWire(self, sock, far_end, emulated)

    def connect(
        self,
        host: str,
        port: int,
        connected: Callable[[TcpWire], WireUser],
        failed: Callable[[str], None],
        line: str = "",
    ) -> PendingConnection:
        """Open an XOT connection (see ports.Network), or that of a serial line."""
        return PendingConnection(self, host, port, connected, failed, line)

    def _accept_xot(self, listener: socket.socket) -> None:
        try:
            sock, address = listener.accept()
        except OSError:
            # Out of descriptors, or the peer has gone again; other connections go on.
            return
        if len(self.wires) >= 2 * self.settings.max_calls + SPARE_CONNECTIONS:
            sock.close()
            return
        wire = self.stream(sock, address)
        wire.start(self.router.accepted(wire))

    def _accept_http(self, listener: socket.socket) -> None:
        with suppress(OSError):
            sock, _address = listener.accept()
            http.serve(self, sock, self.router.counters.as_dict)

    def run(self) -> None:
        """Serve until stop(); then clear the calls and end."""
        self.router.start()
        while self.running:
            self.turn()
        self.close_listeners()
        self.router.stop()
        end = time.monotonic() + STOP_TIME
        while self.wires and time.monotonic() < end:
            self.turn(longest=0.05)
        for wire in list(self.wires):
            wire.abort()
        self.selector.close()
        # A second signal, while the interpreter ends, must not turn an orderly end into a death.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)

    def turn(self, longest: float | None = None) -> None:
        """Wait for events, handle them, send what they produced."""
        self.flush()
        timeout = self.timers.next()
        if longest is not None:
            timeout = longest if timeout is None else min(timeout, longest)
        for key, events in self.selector.select(timeout):
            # An earlier event of the same turn may have ended this one's connection.
            if self.still_watched(key):
                key.data(events)
        self.timers.run()
        self.flush()

    def still_watched(self, key: selectors.SelectorKey) -> bool:
        """The same socket, not a new one under the same descriptor, and not a closed one."""
        known = self.selector.get_map().get(key.fd)
        return known is not None and known.data == key.data

    def flush(self) -> None:
        """Send what all connections have waiting."""
        self.router.flush()
        while self.unsent:
            self.unsent.pop().flush()

    def close_listeners(self) -> None:
        for sock in self._listening:
            self.selector.unregister(sock)
            sock.close()
        self._listening.clear()

    def stop(self) -> None:
        """Ask for an orderly end."""
        self.running = False

    def watch_signals(self) -> None:
        """SIGTERM and SIGINT end the router in order; with stop_on_eof so does standard input."""
        receive, send = socket.socketpair()
        send.setblocking(False)
        signal.set_wakeup_fd(send.fileno())
        self._signal_sockets = (receive, send)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_ignored: self.stop())
        self.watch(receive, 0, READ, lambda _events: self.stop())
        if self.settings.stop_on_eof:
            self.watch_input()

    def watch_input(self) -> None:
        """Stop when standard input ends; a file or /dev/null has ended before it began."""
        source = sys.stdin.fileno()

        def ready(_events: int) -> None:
            if not os.read(source, 4096):
                self.stop()

        try:
            self.selector.register(source, READ, ready)
        except (OSError, ValueError):
            self.stop()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Sockets, timers and signals around the router: one process, one thread, one event loop.

Connections that are open are in wire.py, those over an emulated line in emulated_wire.py.
"""

import errno
import functools
import itertools
import os
import random
import select
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from . import http
from .caller import Told, dial
from .config import Settings
from .emulated_wire import EmulatedWire
from .emulation import EmulatedLine
from .lines import Line
from .null import NullRouter
from .ports import WireUser
from .pty_end import PtyEnd
from .router import Router
from .routes import Destination
from .timers import LoopTimers
from .wire import READ, WRITE, TcpWire

#: Ports of the router's own connections, one after another: where the kernel chooses, it searches
#: for milliseconds while thousands of closed connections keep theirs, or uses one again at once.
#: Odd ones, as the kernel gives even ones to whoever connects without a wish: a port that was
#: asked for is not given to others, not even at another address, so that thousands of calls would
#: leave none to a tester on the same machine.
PORTS = range(32769, 61000, 2)
_MOST_PORTS = 1000
#: Connections beyond these are closed at once; calls have their own limit.
SPARE_CONNECTIONS = 256
#: Seconds that an orderly stop waits for Clear Confirmations and the other side's FIN.
STOP_TIME = 1.0


@functools.cache
def _ports() -> Iterator[int]:
    """The ports, over and over, in an order of this process."""
    return itertools.cycle(random.sample(PORTS, len(PORTS)))


class FineSelector(selectors.EpollSelector):
    """Waits to the microsecond; epoll alone knows milliseconds, which a line's delay would show."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout:
            select.select([self.fileno()], [], [], timeout)
            timeout = 0
        return super().select(timeout)


class PendingConnection:
    """A TCP connection that is being opened."""

    def __init__(
        self,
        server: "Server",
        host: str,
        port: int,
        connected: Callable[[TcpWire], WireUser],
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
            self._socket = sock = self._opened(server.settings.source, (host, port))
            self._local = sock.getsockname()
            server.own_ends.add(self._local)
            self._events = server.watch(sock, 0, WRITE, self._ready)
        except OSError as error:
            # Report it in the next turn of the loop, never from within connect().
            self._timer.cancel()
            self._close()
            reason = error.strerror or "connect failed"
            self._timer = server.timers.start(0.0, lambda: self.failed(reason))

    def _opened(self, source: str, address: tuple[str, int]) -> socket.socket:
        """A socket whose handshake has started, from the next port that is free. Raises OSError."""
        wanted = [*itertools.islice(_ports(), _MOST_PORTS), 0] if source else [None]
        for port in wanted:
            sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            try:
                sock.setblocking(False)
                if port is not None:
                    # A port whose last connection waits out its time may be had again.
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    sock.bind((source, port))
                self.open(sock, address)
            except OSError as error:
                sock.close()
                taken = error.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL)
                if not taken or not port:
                    raise
            else:
                return sock
        raise AssertionError("the last one raises or returns")

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
        if self.settings.caller is not None:
            self.listener(self.settings.caller.listen, self._accept_told)
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

    def _accept_told(self, listener: socket.socket) -> None:
        with suppress(OSError):
            sock, _address = listener.accept()
            Told(self, sock, self._dial)

    def _dial(self, digits: str, modulo: int) -> bool:
        settings = self.settings.caller
        assert settings is not None
        return isinstance(self.router, Router) and dial(self.router, settings, digits, modulo)

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

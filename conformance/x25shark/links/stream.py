# SPDX-License-Identifier: GPL-2.0-or-later
"""An octet stream to the router under the loop: what XOT connections and serial lines share."""

from __future__ import annotations

import contextlib
import errno
import selectors
import socket
from collections.abc import Callable

from .loop import Loop

READ = 65536
# What a router may send on one connection, or on one line in a case, before the tester stops
# reading: memory stays bounded. No case asks for half as much, but slow ones do (Loop.allowance).
MOST_OCTETS = 2 << 20


class Stream:
    """A connected non-blocking socket. receive is called when there is something to read."""

    def __init__(self, loop: Loop, sock: socket.socket, receive: Callable[[], object]) -> None:
        self._loop = loop
        self._sock = sock
        self._receive = receive
        self._output = bytearray()
        self._watched = 0
        self.reading = False
        self.closed = False
        # A RST was told to send(); the socket tells it only once, and would now seem at its end.
        self.reset = False
        loop.sockets.add(sock)
        self.read(True)

    @property
    def unsent(self) -> int:
        """Octets that the socket has not taken yet."""
        return len(self._output)

    def read(self, wanted: bool) -> None:
        """Read from now on, or leave what comes in the socket."""
        self.reading = wanted
        self._watch()

    def send(self, octets: bytes) -> None:
        """Send octets in one write, if the socket takes them; what an error leaves is dropped."""
        self._output += octets
        self._loop.sent += len(octets)
        self._flush()

    def forget(self) -> None:
        """Drop what was not sent yet."""
        self._output.clear()
        self._watch()

    def drain(self) -> None:
        """Give the socket a second to take what waits."""
        if self._output:
            self._loop.wait(lambda: not self._output, 1.0)

    def close(self) -> None:
        """Leave the loop; the socket stays open."""
        self.closed = True
        self._loop.sockets.discard(self._sock)
        self._watch()

    def _ready(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._flush()
        if events & selectors.EVENT_READ and not self.closed:
            self._receive()

    def _flush(self) -> None:
        try:
            while self._output:
                del self._output[: self._sock.send(self._output)]
        except BlockingIOError:
            pass
        except OSError as error:
            self.reset = self.reset or error.errno == errno.ECONNRESET
            self._output.clear()
        self._watch()

    def _watch(self) -> None:
        events = 0
        if not self.closed:
            events |= selectors.EVENT_READ if self.reading else 0
            events |= selectors.EVENT_WRITE if self._output else 0
        if events == self._watched:
            return
        if self._watched:
            with contextlib.suppress(KeyError):
                self._loop.remove(self._sock)
        if events:
            self._loop.add(self._sock, self._ready, events)
        self._watched = events

# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of the serial interfaces: TCP connections that carry octets, and pseudo terminals.

One line at a time belongs to an interface. A TCP line that ends is waited for, or opened again
after a pause; a pseudo terminal stays open, so that who uses it may come and go.
"""

import socket

from .environment import Host, Stream
from .ports import WireUser
from .pty_end import PtyEnd
from .serial import SerialInterface


class Line:
    """Gives an interface its line. place: where it is, for the ready line."""

    def __init__(self, server: Host, interface: SerialInterface) -> None:
        self.server = server
        self.interface = interface
        self.place = ""
        #: How an [[emulation]] names it.
        self.line = f"serial:{interface.name}"

    def open(self) -> None:
        """Begin. Raises OSError if that cannot work at all."""
        settings = self.interface.settings
        if settings.listen is not None:
            host, port = self.server.listener(settings.listen, self.accept).getsockname()[:2]
            self.place = f"{host}:{port}"
        elif settings.connect is not None:
            self.place = settings.connect.name
            self.interface.line_lost = self.again
            self.attempt()
        else:
            end = PtyEnd()
            self.place = end.path
            self.use(self.server.stream(end, (end.path, 0), self.line))

    def use(self, wire: Stream) -> None:
        """The wire is the line from now on."""
        wire.start(self.interface.connected(wire))

    def accept(self, listener: socket.socket) -> None:
        """A TCP connection from outside; while it lasts others are closed at once."""
        try:
            sock, address = listener.accept()
        except OSError:
            return
        if self.interface.link.wire is None:
            self.use(self.server.stream(sock, address, self.line))
        else:
            sock.close()

    def attempt(self) -> None:
        to = self.interface.settings.connect
        if to is not None and self.server.running:
            self.server.connect(to.host, to.port, self.connected, self.failed, self.line)

    def connected(self, wire: Stream) -> WireUser:
        return self.interface.connected(wire)

    def failed(self, reason: str) -> None:
        self.again()

    def again(self) -> None:
        """Open the connection again after a pause."""
        self.server.timers.start(self.interface.settings.lapb.retry, self.attempt)

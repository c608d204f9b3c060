# SPDX-License-Identifier: GPL-2.0-or-later
"""The router's end of a pseudo terminal, with the methods of a socket that a wire uses."""

import os
import termios
import tty
from contextlib import suppress


class PtyEnd:
    """A raw terminal: octets go through as they are."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        # The slave stays open here: else a read would fail each time its user closes it.
        tty.setraw(self.slave, termios.TCSANOW)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.slave)

    def fileno(self) -> int:
        return self.master

    def getsockname(self) -> tuple[str, int]:
        return self.path, 0

    def recv(self, count: int) -> bytes:
        return os.read(self.master, count)

    def send(self, octets: bytes) -> int:
        return os.write(self.master, octets)

    def shutdown(self, how: int) -> None:
        """A terminal has no half that could be closed."""

    def close(self) -> None:
        for descriptor in (self.master, self.slave):
            with suppress(OSError):
                os.close(descriptor)

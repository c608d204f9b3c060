# SPDX-License-Identifier: GPL-2.0-or-later
"""Octets and sockets of the hostile routers. Standard library only."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

HOST = "127.0.25.1"
SIDE_A = "127.0.25.2"
SIDE_B = "127.0.25.3"
PORT = 1998

Serve = Callable[[socket.socket, int], None]
Change = Callable[[bytes], bytes]


def unit(packet: bytes) -> bytes:
    """A packet behind its XOT header (RFC 1613 4.1)."""
    return struct.pack("!HH", 0, len(packet)) + packet


def forever(octets: bytes) -> Iterator[bytes]:
    block = octets * max(1, 32768 // len(octets))
    while True:
        yield block


def send_all(sock: socket.socket, pieces: Iterator[bytes]) -> None:
    with contextlib.suppress(OSError):
        for piece in pieces:
            sock.sendall(piece)


def reset(sock: socket.socket) -> None:
    """End with a TCP RST."""
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def relay(sock: socket.socket, there: Change, back: Change, flags: int = 0) -> None:
    """Octets of this side go to the other and back, each piece changed."""
    far = SIDE_B if sock.getpeername()[0] == SIDE_A else SIDE_A
    try:
        other = socket.create_connection((far, PORT), 5, (HOST, 0))
    except OSError:
        sock.close()
        return
    sender = threading.Thread(target=copy, args=(sock, other, there, flags), daemon=True)
    sender.start()
    copy(other, sock, back, flags)
    sender.join()
    sock.close()
    other.close()


def copy(source: socket.socket, target: socket.socket, change: Change, flags: int) -> None:
    with contextlib.suppress(OSError):
        while octets := source.recv(65536):
            target.sendall(change(octets), flags)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)

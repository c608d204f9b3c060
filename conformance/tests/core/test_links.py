# SPDX-License-Identifier: GPL-2.0-or-later
"""XOT connections of the tester: how an end is read, and where reading stops."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest
from x25shark.links import stream, xot
from x25shark.links.loop import Loop


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.close()


@pytest.fixture
def pair(loop: Loop) -> Iterator[tuple[xot.Connection, socket.socket]]:
    """A connection of the tester, and the router's end of it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        connection = xot.connect(loop, listening.getsockname(), "127.0.0.1", 20.0)
        router, _ = listening.accept()
    with router:
        yield connection, router
    connection.close()


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def test_fin(pair: tuple[xot.Connection, socket.socket], loop: Loop) -> None:
    connection, router = pair
    router.send(b"\x00\x00\x00\x03abc")
    router.close()
    assert loop.wait(lambda: connection.end is not None, 20.0)
    assert connection.end == "FIN"
    assert [unit.packet for unit in connection.received] == [b"abc"]


def test_rst_that_sending_meets_first(
    pair: tuple[xot.Connection, socket.socket], loop: Loop
) -> None:
    """The socket tells of a RST once; whoever reads later would take the end for a FIN."""
    connection, router = pair
    reset(router)
    connection.send(b"\x00\x00\x00\x03abc")
    connection.send(b"\x00\x00\x00\x03abc")
    assert loop.wait(lambda: connection.end is not None, 20.0)
    assert connection.end == "RST"


def test_flood(pair: tuple[xot.Connection, socket.socket], loop: Loop) -> None:
    """Reading stops a little behind the bound; the connection has no end."""
    connection, router = pair
    router.setblocking(False)
    unit = b"\x00\x00\x10\x00" + bytes(4096)

    def flooded() -> bool:
        try:
            while True:
                router.send(unit)
        except BlockingIOError:
            return connection.flooded

    assert loop.wait(flooded, 60.0)
    assert connection.end is None
    assert stream.MOST_OCTETS < connection.received_octets <= stream.MOST_OCTETS + stream.READ

# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile routers that nearly work: what they do is legal octet by octet, and has no end."""

from __future__ import annotations

import contextlib
import itertools
import queue
import socket
import sys
import threading
import time
from pathlib import Path

if __package__:
    from .habits import CONNECTED, behind_octet_3, packets_of, same
    from .wire import HOST, PORT, SIDE_B, Serve, relay, reset, unit
else:
    sys.path.insert(0, str(Path(__file__).parent))
    from habits import CONNECTED, behind_octet_3, packets_of, same  # type: ignore[import-not-found,no-redef]
    from wire import (  # type: ignore[import-not-found,no-redef]
        HOST,
        PORT,
        SIDE_B,
        Serve,
        relay,
        reset,
        unit,
    )

HEADER_SECONDS = 1.5
# Less than a reaction in the profile of router.py.
TARDY_SECONDS = 1.8
CALL, CLEAR = unit(b"\x10\x01\x0b\x00\x00"), unit(b"\x10\x01\x13\x00\x00")
RR, WHOLE = unit(b"\x10\x01\x01"), bytes(128)


def stutters(sock: socket.socket, _number: int) -> None:
    """Works, but each XOT header on its way to A stops amid its length for a while."""

    def in_two(octets: bytes) -> bytes:
        for packet in packets_of(octets):
            whole = unit(packet)
            sock.sendall(whole[:3])
            time.sleep(HEADER_SECONDS)
            sock.sendall(whole[3:])
        return b""

    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    relay(sock, same, in_two)


def shuts_the_window(sock: socket.socket, _number: int) -> None:
    """Takes no octet from the first on: the TCP window is shut, and the connection stays."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    threading.Event().wait()


def goes_on_with_a_message(sock: socket.socket, _number: int) -> None:
    """A call comes about; then whole Data packets with the M bit, in order, as the window lets."""

    def then_goes_on(octets: bytes) -> bytes:
        if octets[6:7] == bytes((CONNECTED,)):
            sock.sendall(octets)
            with contextlib.suppress(OSError):
                for p_s in itertools.count():
                    sock.sendall(unit(bytes((0x10, 1, 0x10 | (p_s & 7) << 1)) + WHOLE))
                    sock.recv(65536)
            return b""
        return octets

    relay(sock, same, then_goes_on)


def calls_b_for_ever(sock: socket.socket, _number: int) -> None:
    """Works, and beside it calls B and clears, on one connection, without end."""
    over = threading.Event()

    def calls() -> None:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((SIDE_B, PORT), 5, (HOST, 0)) as other,
        ):
            while not over.is_set():
                other.sendall(CALL)
                other.recv(65536)
                other.sendall(CLEAR)
                other.recv(65536)

    threading.Thread(target=calls, daemon=True).start()
    relay(sock, same, same)
    over.set()


def gives_giants(sock: socket.socket, _number: int) -> None:
    """Call packets leave it with 65,000 octets of facilities, of which their length says 255."""
    giant = behind_octet_3(b"\x00\xff" + b"\x01\x00" * 32_500)
    relay(sock, giant, giant)


def drips(sock: socket.socket, _number: int) -> None:
    """Answers nothing, but is never quiet: an RR on each connection now and then."""
    with contextlib.suppress(OSError):
        while True:
            sock.sendall(RR)
            time.sleep(0.3)


def tears(sock: socket.socket, _number: int) -> None:
    """Resets each connection amid the header of its answer."""
    with contextlib.suppress(OSError):
        sock.recv(65536)
        sock.sendall(b"\0\0\0")
        time.sleep(0.01)
    reset(sock)


_LAST: list[socket.socket] = []


def crosses(sock: socket.socket, _number: int) -> None:
    """Works, but what comes from B goes to the caller before as well."""
    before = _LAST[-1:]
    _LAST[:] = [sock]

    def to_both(octets: bytes) -> bytes:
        for other in before:
            with contextlib.suppress(OSError):
                other.sendall(octets)
        return octets

    relay(sock, same, to_both)


def _copy_later(source: socket.socket, target: socket.socket) -> None:
    """Each piece goes on so much later, however many are on their way."""
    pieces: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def pass_on() -> None:
        octets = b"any"
        while octets:
            due, octets = pieces.get()
            time.sleep(max(0.0, due - time.monotonic()))
            with contextlib.suppress(OSError):
                target.sendall(octets) if octets else target.shutdown(socket.SHUT_WR)

    passing = threading.Thread(target=pass_on, daemon=True)
    passing.start()
    octets = b"any"
    while octets:
        octets = b""
        with contextlib.suppress(OSError):
            octets = source.recv(65536)
        pieces.put((time.monotonic() + TARDY_SECONDS, octets))
    passing.join()


def takes_its_time(sock: socket.socket, _number: int) -> None:
    """Works, and each answer takes nearly as long as a reaction may."""
    try:
        other = socket.create_connection((SIDE_B, PORT), 5, (HOST, 0))
    except OSError:
        sock.close()
        return
    there = threading.Thread(target=_copy_later, args=(sock, other), daemon=True)
    there.start()
    _copy_later(other, sock)
    there.join()
    sock.close()
    other.close()


ENDLESS: dict[str, tuple[Serve, str]] = {
    "stutter": (stutters, f"works, but each header to A stops for {HEADER_SECONDS} s amid it"),
    "shut": (shuts_the_window, "takes connections, and no octet of them"),
    "endless": (goes_on_with_a_message, "within a call a message without end, window by window"),
    "rings": (calls_b_for_ever, "works, and calls side B and clears all the time"),
    "giant": (gives_giants, "works, with 65,000 octets of facilities in calls"),
    "drip": (drips, "answers nothing, and sends RR now and then"),
    "torn": (tears, "resets each connection amid a header"),
    "crossed": (crosses, "works, and what comes from B goes to the caller before as well"),
    "tardy": (takes_its_time, f"works, each piece {TARDY_SECONDS} s later, which is legal"),
}

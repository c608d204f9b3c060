# SPDX-License-Identifier: GPL-2.0-or-later
"""Further habits of hostile routers: late, little at a time, nearly right, just below a bound."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

if __package__:
    from .wire import HOST, PORT, SIDE_B, Serve, copy, forever, relay, reset, send_all, unit
else:
    sys.path.insert(0, str(Path(__file__).parent))
    from wire import (  # type: ignore[import-not-found,no-redef]
        HOST,
        PORT,
        SIDE_B,
        Serve,
        copy,
        forever,
        relay,
        reset,
        send_all,
        unit,
    )

# Longer than the time of a reaction in the profile of router.py; twice that is late as well.
LATE_SECONDS = 4.5
# What a tester reads within a case, less a little (links/xot.py, stream.py, sides of a case).
NEARLY_ALL_PACKETS, NEARLY_ALL_OCTETS = 7_800, 1_000_000
CONNECTED = 0x0F
RR, RNR, REJ = 0x01, 0x05, 0x09
_HELD: list[socket.socket] = []


def same(octets: bytes) -> bytes:
    return octets


def packets_of(octets: bytes) -> Iterator[bytes]:
    """The packets of what came in one piece, as far as they are whole."""
    while len(octets) >= 4:
        end = 4 + int.from_bytes(octets[2:4], "big")
        yield octets[4:end]
        octets = octets[end:]


def trickles(sock: socket.socket, _number: int) -> None:
    """Octets of either side arrive one at a time."""

    def slowly(octets: bytes, target: socket.socket) -> bytes:
        for octet in octets[:-1]:
            target.sendall(bytes((octet,)))
            time.sleep(0.05)
        return octets[-1:]

    with contextlib.suppress(OSError):
        other = socket.create_connection((SIDE_B, PORT), 5, (HOST, 0))
        for end in (sock, other):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        there = threading.Thread(
            target=copy, args=(sock, other, lambda o: slowly(o, other), 0), daemon=True
        )
        there.start()
        copy(other, sock, lambda o: slowly(o, sock), 0)
    sock.close()


def delays(sock: socket.socket, _number: int) -> None:
    """Whatever goes back to the caller comes when nobody waits for it any more."""

    def late(octets: bytes) -> bytes:
        time.sleep(LATE_SECONDS)
        return octets

    relay(sock, same, late)


def goes_deaf(sock: socket.socket, _number: int) -> None:
    """Reads nothing once a call is up: the TCP windows of both sides close for ever."""

    def until_connected(octets: bytes) -> bytes:
        if octets[6:7] == bytes((CONNECTED,)):
            sock.sendall(octets)
            time.sleep(3600)
        return octets

    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    relay(sock, same, until_connected)


def opens_no_window(sock: socket.socket, _number: int) -> None:
    """Takes RR, RNR and REJ out: the windows of packets never open."""

    def without(octets: bytes) -> bytes:
        return b"".join(
            unit(packet)
            for packet in packets_of(octets)
            if packet[2:3] and packet[2] & 0x1F not in (RR, RNR, REJ)
        )

    relay(sock, without, without)


def begins_a_header(sock: socket.socket, _number: int) -> None:
    """The header of a unit of 65,535 octets, and then an octet of it now and then."""
    with contextlib.suppress(OSError):
        for octet in itertools.chain(b"\0\0\xff\xff\x10\x01\x00", itertools.repeat(0)):
            sock.sendall(bytes((octet,)))
            time.sleep(0.5)


def mixes(sock: socket.socket, _number: int) -> None:
    """Each packet to either side has one behind it that there is not."""

    def with_nonsense(octets: bytes) -> bytes:
        return octets + unit(b"\x30\x01\xff\xff")

    relay(sock, with_nonsense, with_nonsense)


def never_ends_a_message(sock: socket.socket, _number: int) -> None:
    """A call comes about; then Data with the M bit without end, as many as may just be."""

    def chain() -> Iterator[bytes]:
        for p_s in itertools.count():
            yield unit(bytes((0x10, 1, 0x10 | (p_s & 7) << 1)) + bytes(128))
            time.sleep(0.0005)

    def then_chain(octets: bytes) -> bytes:
        if octets[6:7] == bytes((CONNECTED,)):
            sock.sendall(octets)
            send_all(sock, chain())
        return octets

    relay(sock, same, then_chain)


def churns(sock: socket.socket, _number: int) -> None:
    """Works, and opens and closes connections to side B as fast as it can beside it."""
    going = threading.Event()

    def come_and_go() -> None:
        while not going.is_set():
            with contextlib.suppress(OSError):
                socket.create_connection((SIDE_B, PORT), 5, (HOST, 0)).close()
            time.sleep(0.002)

    threading.Thread(target=come_and_go, daemon=True).start()
    relay(sock, same, same)
    going.set()


def storms_resets(sock: socket.socket, _number: int) -> None:
    """Connections to side B that are reset as they are made, 500 for each of side A."""
    with contextlib.suppress(OSError):
        for _ in range(500):
            other = socket.create_connection((SIDE_B, PORT), 5, (HOST, 0))
            other.sendall(unit(b"\x10\x01\x0b\x00\x00"))
            reset(other)
        while sock.recv(65536):
            pass
    reset(sock)


def swells(sock: socket.socket, _number: int) -> None:
    """Call packets leave it with 255 octets of facilities, nested lengths and user data."""
    swollen = behind_octet_3(b"\x00\xff\xc9\xfa" + b"\xff" * 253 + b"U" * 4000)
    relay(sock, swollen, swollen)


def behind_octet_3(octets: bytes) -> Callable[[bytes], bytes]:
    """What gives each Call packet of a stream these octets behind its third."""

    def changed(stream: bytes) -> bytes:
        found = []
        for packet in packets_of(stream):
            is_call = packet[2:3] in (b"\x0b", b"\x0f")
            found.append(unit(packet[:3] + octets if is_call else packet))
        return b"".join(found)

    return changed


def closes_one_way(sock: socket.socket, _number: int) -> None:
    """Half closes at once, and reads for ever."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)
        while sock.recv(65536):
            pass


def scans_channels(sock: socket.socket, _number: int) -> None:
    """Whatever comes is answered by a Clear on each of 4,096 logical channels."""
    clears = b"".join(unit(struct.pack("!HB", 0x1000 | lcn, 0x13) + b"\0\0") for lcn in range(4096))
    with contextlib.suppress(OSError):
        while sock.recv(65536):
            sock.sendall(clears)
    sock.close()


def mirrors(sock: socket.socket, _number: int) -> None:
    """Sends back what it gets."""
    with contextlib.suppress(OSError):
        while octets := sock.recv(65536):
            sock.sendall(octets)
    sock.close()


def repeats(sock: socket.socket, _number: int) -> None:
    """Each piece goes on twice."""
    relay(sock, lambda octets: octets * 2, lambda octets: octets * 2)


def fills_up(sock: socket.socket, _number: int) -> None:
    """A call comes about, and then as many small packets as the tester just takes."""

    def then_fill(octets: bytes) -> bytes:
        if octets[6:7] == bytes((CONNECTED,)):
            sock.sendall(octets)
            sock.sendall(unit(b"\x10\x01\x01") * NEARLY_ALL_PACKETS)
            return b""
        return octets

    relay(sock, same, then_fill)


def fills_up_with_octets(sock: socket.socket, _number: int) -> None:
    """A call comes about, and then as many octets as the tester just takes, in large packets."""
    data = unit(b"\x10\x01\x00" + bytes(4096))

    def then_fill(octets: bytes) -> bytes:
        if octets[6:7] == bytes((CONNECTED,)):
            sock.sendall(octets)
            sock.sendall(data * (NEARLY_ALL_OCTETS // len(data)))
            return b""
        return octets

    relay(sock, same, then_fill)


def crumbles(sock: socket.socket, _number: int) -> None:
    """Small packets, each octet of them in a segment of its own, without end."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with contextlib.suppress(OSError):
        for piece in itertools.cycle(unit(b"\x10\x01\x01")):
            sock.sendall(bytes((piece,)))


def says_pvc(sock: socket.socket, _number: int) -> None:
    """Whatever comes is answered as a permanent virtual circuit would be set up."""
    names = b"A" * 200
    answer = unit(b"\x10\x01\xf5\x01\x00\xc8\xc8\x00\x01\x00\x01\x02\x02\x07\x07" + names + names)
    with contextlib.suppress(OSError):
        while sock.recv(65536):
            sock.sendall(answer)
    sock.close()


def damages(sock: socket.socket, number: int) -> None:
    """One octet in forty of what passes is another one."""
    chance = random.Random(number)

    def damaged(octets: bytes) -> bytes:
        return bytes(chance.randrange(256) if chance.random() < 0.025 else o for o in octets)

    relay(sock, damaged, damaged)


def changes_its_mind(sock: socket.socket, number: int) -> None:
    """Every other connection works; the others get Data without a call, and a reset."""
    if number % 2:
        relay(sock, same, same)
        return
    send_all(sock, itertools.islice(forever(unit(b"\x10\x01\x00x")), 3))
    reset(sock)


HABITS: dict[str, tuple[Serve, str]] = {
    "trickle": (trickles, "works, an octet every 50 ms"),
    "late": (delays, f"works, each answer {LATE_SECONDS} s late"),
    "deaf": (goes_deaf, "reads nothing once a call is up"),
    "stingy": (opens_no_window, "works, but no RR, RNR or REJ passes: windows never open"),
    "header": (begins_a_header, "a unit of 65,535 octets, two octets a second"),
    "mixed": (mixes, "works, and each piece has a packet behind it that there is not"),
    "more": (never_ends_a_message, "Data with the M bit without end, within a call"),
    "churn": (churns, "works, and opens and closes connections to side B all the time"),
    "rsts": (storms_resets, "connections to side B, each reset at once"),
    "swollen": (swells, "works, with 255 octets of facilities and 4,000 of user data in calls"),
    "half": (closes_one_way, "half closes each connection at once, and reads for ever"),
    "scan": (scans_channels, "answers on 4,096 logical channels"),
    "mirror": (mirrors, "sends back what it gets"),
    "twice": (repeats, "works, and sends each piece twice"),
    "brim": (fills_up, "within a call nearly as many packets as may be"),
    "octets": (fills_up_with_octets, "within a call nearly as many octets as may be"),
    "crumbs": (crumbles, "sends RR without end, an octet a segment"),
    "pvc": (says_pvc, "answers everything as if it set up a permanent circuit"),
    "damage": (damages, "works, and changes one octet in forty"),
    "fickle": (changes_its_mind, "works every other time, and resets the rest"),
}

# SPDX-License-Identifier: GPL-2.0-or-later
"""The XOT link (RFC 1613): TCP connections to and from the router, cut into units.

A unit is version (2 octets), length (2), and length octets of X.25 packet. Units are cut by the
announced length whatever version or length say; what is illegal is for the judges to say. Every
octet sent and received is known by connection, direction and octet offset within it.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import random
import selectors
import socket
import struct
import time
from collections.abc import Callable
from typing import NamedTuple

from . import blackhole
from .carrier import TcpAddress
from .loop import Loop
from .stream import MOST_OCTETS, READ, Stream

HEADER_OCTETS = 4
# As stream.MOST_OCTETS; packets and octets on all connections of a case.
MOST_UNITS = 8_000
MOST_OCTETS_OF_A_CASE = 4 << 20
# A router passes on what the tester sent, in packets of another size perhaps; by itself it says
# little. Hundreds of small calls that each bring 65,000 octets take no less memory than one flood.
MOST_OF_ITS_OWN, TIMES_WHAT_WAS_SENT = 1 << 20, 2
# RFC 1122 4.2.3.2: so late TCP may acknowledge the first piece of a unit that was written in
# pieces, and before that a sender with Nagle's algorithm (RFC 896) sends no other.
ACKNOWLEDGED_WITHIN = 0.5
# Connections of the router to one address of the tester within a case.
MOST_CONNECTIONS = 600
# Linux's TCP_SAVE_SYN and TCP_SAVED_SYN, which Python does not name: the headers of a SYN.
_SAVE_SYN, _SAVED_SYN = 27, 28
# Local ports of the tester's own connections, one after another; below those that kernels choose.
_PORTS = range(20000, 32000)
_ports = itertools.cycle(random.sample(_PORTS, len(_PORTS)))

Address = TcpAddress


class LinkError(Exception):
    """The tester could not open what it needs; the message says what and why.

    refused: nobody listens there.
    """

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


class Unit(NamedTuple):
    """One XOT unit: offset of its header in its direction, and the octets with the header.

    time: on the monotonic clock, which nobody sets.
    """

    offset: int
    octets: bytes
    time: float

    @property
    def damage(self) -> str:
        """TCP brings nothing that is broken."""
        return ""

    @property
    def version(self) -> int:
        return int.from_bytes(self.octets[:2], "big")

    @property
    def packet(self) -> bytes:
        return self.octets[HEADER_OCTETS:]

    @property
    def end(self) -> int:
        return self.offset + len(self.octets)


class Cutter:
    """Cuts one direction of a connection into units, however it comes in pieces."""

    def __init__(self) -> None:
        self.octets = 0
        self._left = bytearray()
        self._offset = 0
        self._begun_at = 0.0
        # Seconds in which a unit that came had begun and was not complete, but for those that TCP
        # may take.
        self.in_parts = 0.0

    @property
    def begun(self) -> bytes:
        """What has come of a unit that is not complete."""
        return bytes(self._left)

    def take(self, octets: bytes) -> list[Unit]:
        """The units that are complete now."""
        now = time.monotonic()
        self.octets += len(octets)
        if not self._left:
            self._begun_at = now
        self._left += octets
        units = []
        start = 0
        while len(self._left) - start >= HEADER_OCTETS:
            end = start + HEADER_OCTETS + struct.unpack_from("!H", self._left, start + 2)[0]
            if end > len(self._left):
                break
            units.append(Unit(self._offset + start, bytes(self._left[start:end]), now))
            start = end
        del self._left[:start]
        self._offset += start
        if units:
            self.in_parts += max(now - self._begun_at - ACKNOWLEDGED_WITHIN, 0.0)
            self._begun_at = now
        return units


class Connection:
    """One TCP connection. received and sent hold its units, end how the router ended it.

    end is None, "FIN" or "RST"; data that came before a RST is kept. flooded: the router sent
    more than the tester reads.
    """

    def __init__(self, loop: Loop, sock: socket.socket, local: Address, remote: Address) -> None:
        self._loop = loop
        self._sock = sock
        self.local = local
        self.remote = remote
        self.received: list[Unit] = []
        self.sent: list[Unit] = []
        # Octets that came with the SYN of the router; None if it is not known.
        self.syn_octets: int | None = None
        self.end: str | None = None
        self.end_at: int | None = None
        # The tester ended its own direction first, and not amid a unit of the router.
        self.finished_first = False
        self._finished = False
        self.flooded = False
        self.on_unit: Callable[[Unit], None] | None = None
        self._input = Cutter()
        self._outgoing = Cutter()
        self._stream = Stream(loop, sock, self._receive)

    @property
    def closed(self) -> bool:
        """The tester has closed it."""
        return self._stream.closed

    @property
    def received_octets(self) -> int:
        return self._input.octets

    @property
    def octets_read(self) -> int:
        """All octets of the router, those of a unit that came in part as well."""
        return self._input.octets

    @property
    def amid_a_unit(self) -> bool:
        """A unit has come in part, and the rest may follow."""
        open_yet = self._stream.reading and self.end is None and not self.closed
        return open_yet and bool(self._input.begun)

    @property
    def begun(self) -> bytes:
        """What has come of a unit that is not complete."""
        return self._input.begun

    @property
    def sent_in_part(self) -> bool:
        """What the tester has sent ends amid a unit."""
        return bool(self._outgoing.begun)

    def forget(self) -> None:
        """Give up the units that came and were sent."""
        self.received, self.sent = [], []

    # receiving

    def _receive(self) -> None:
        try:
            octets = self._sock.recv(READ)
        except BlockingIOError:
            return
        except OSError:
            # A timed-out or unreachable peer is gone as one that reset the connection.
            self._ended("RST")
            return
        if not octets:
            self._ended("RST" if self._stream.reset else "FIN")
            return
        self._loop.received += len(octets)
        before = self._input.in_parts
        units = self._input.take(octets)
        self._loop.in_parts += self._input.in_parts - before
        for unit in units:
            self.received.append(unit)
            if self.on_unit is not None:
                self.on_unit(unit)
            self._loop.units += 1
            if self._loop.units > MOST_UNITS * self._loop.allowance:
                break
        answers = MOST_OF_ITS_OWN + TIMES_WHAT_WAS_SENT * self._loop.sent
        if (
            self.received_octets > MOST_OCTETS * self._loop.allowance
            or self._loop.units > MOST_UNITS * self._loop.allowance
            or self._loop.received > min(MOST_OCTETS_OF_A_CASE, answers) * self._loop.allowance
        ):
            self.flooded = True
            self._ended(None)

    def _ended(self, how: str | None) -> None:
        if self.end is None:
            self.end = how
        self._stream.read(False)

    # sending

    def send(self, octets: bytes) -> None:
        """Send octets as they are, in one write (hence one segment, if they fit).

        Octets that the router does not take any more (it has closed) are dropped: that is an
        observation (end), not an error of the tester. Behind the tester's own FIN nothing is sent.
        """
        if self._finished:
            return
        self.sent += self._outgoing.take(octets)
        if self.closed or self.end == "RST":
            return
        self._stream.send(octets)

    @property
    def unsent(self) -> int:
        """Octets that TCP has not taken yet."""
        return self._stream.unsent

    def stop_reading(self) -> None:
        """Leave what comes in the socket buffers, so that TCP holds the router."""
        self._stream.read(False)

    def go_on_reading(self) -> None:
        if self.end is None and not self.flooded:
            self._stream.read(True)

    def play_dead(self) -> None:
        """Answer nothing any more, not even at TCP level. Raises OSError outside Linux."""
        blackhole.enter(self._sock)

    # ending

    def finish_sending(self) -> None:
        """Half close: send FIN, go on reading."""
        self._stream.drain()
        if self.end is None and not self.amid_a_unit:
            self.finished_first = True
        self._finished = True
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close in an orderly way (FIN)."""
        self._stream.drain()
        if not self.closed:
            self._stream.close()
            self._sock.close()

    def reset(self) -> None:
        """End with a TCP RST."""
        if not self.closed:
            self._stream.drain()
            _reset_at_close(self._sock)
            self.close()

    def urgent(self, octets: bytes) -> None:
        """Send octets, the last of them as TCP urgent data."""
        self._stream.drain()
        self.sent += self._outgoing.take(octets)
        with contextlib.suppress(OSError):
            self._sock.send(octets, socket.MSG_OOB)


def connect(loop: Loop, router: Address, source: str, seconds: float) -> Connection:
    """Open a connection to the router. Raises LinkError if it is refused or not answered."""
    sock = _socket(loop)
    state: list[int | None] = [None]
    try:
        sock.setblocking(False)
        _prepare(sock)
        _bind(sock, source)
        code = sock.connect_ex(router)
        if code not in (0, errno.EINPROGRESS):
            raise LinkError(f"{router[0]}:{router[1]}: {socket_error(code)}")

        def connected(_events: int) -> None:
            state[0] = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

        loop.add(sock, connected, selectors.EVENT_WRITE)
        try:
            answered = loop.wait(lambda: state[0] is not None, seconds, patient=True)
        finally:
            # The wait may end by an interrupt, or with the time of the case.
            loop.remove(sock)
        if not answered:
            raise LinkError(f"{router[0]}:{router[1]}: no answer within {seconds:g} s")
        if state[0]:
            words = f"{router[0]}:{router[1]}: {socket_error(state[0])}"
            raise LinkError(words, refused=state[0] == errno.ECONNREFUSED)
        return Connection(loop, sock, sock.getsockname(), router)
    except BaseException:
        sock.close()
        raise


def _socket(loop: Loop) -> socket.socket:
    """Raises OSError where this machine has none left, and notes that."""
    try:
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    except OSError as error:
        loop.note_shortage(error)
        raise


def _prepare(sock: socket.socket) -> None:
    """One write is one segment, and urgent octets stay where they are in the stream."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)


def _bind(sock: socket.socket, source: str) -> None:
    """Give the socket a port that no connection of the last thousands had. Raises LinkError.

    The ports of the kernel come again after a RST, and then two connections of one case would
    have the same key.
    """
    try:
        for _ in range(_PORTS.stop - _PORTS.start):
            try:
                sock.bind((source, next(_ports)))
                return
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise
        sock.bind((source, 0))
    except OSError as error:
        raise LinkError(f"cannot call from {source}: {error.strerror}") from None


def _reset_at_close(sock: socket.socket) -> None:
    """Have close() send a RST instead of a FIN."""
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _octets_with_syn(sock: socket.socket) -> int | None:
    """Payload octets of the SYN that opened an accepted connection; None where it is not kept."""
    try:
        syn = sock.getsockopt(socket.IPPROTO_TCP, _SAVED_SYN, 512)
    except OSError:
        return None
    if len(syn) < 40 or syn[0] >> 4 != 4:
        return None
    start = (syn[0] & 15) * 4
    return int.from_bytes(syn[2:4], "big") - start - (syn[start + 12] >> 4) * 4


def socket_error(code: int) -> str:
    """The system's words for an errno."""
    return os.strerror(code).lower()


class Listener:
    """A listening address of the tester.

    on_accept, if set, sees each new connection before its first octet is read. stranger, if set,
    says of an address whether its connection is none of the router's: it is reset. accepted counts
    them from begin_case() on; beyond MOST_CONNECTIONS the router's calls wait in the kernel, and
    flooded says that there were as many.
    """

    def __init__(self, loop: Loop, address: Address) -> None:
        self._loop = loop
        self.address = address
        self.accepted = 0
        self.on_accept: Callable[[Connection], None] | None = None
        self.stranger: Callable[[Address], bool] = lambda _remote: False
        self._sock = self._open(None)

    def _open(self, receive_buffer: int | None) -> socket.socket:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _prepare(sock)
        if receive_buffer is not None:
            # The segments are small as well: the sender's buffer grows with their size.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        try:
            sock.bind(self.address)
            sock.listen(512)
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, _SAVE_SYN, 1)
        except OSError as error:
            sock.close()
            raise LinkError(
                f"cannot listen on {self.address[0]}:{self.address[1]}: {error.strerror}. "
                "Is another tester or router using it? (a router bound to 0.0.0.0 takes the port "
                "of every loopback address)"
            ) from None
        sock.setblocking(False)
        self._loop.add(sock, self._ready, selectors.EVENT_READ)
        return sock

    def _ready(self, _events: int) -> None:
        if self.flooded:
            with contextlib.suppress(KeyError):
                self._loop.remove(self._sock)
            return
        self._accept()

    def _accept(self) -> bool:
        """Accept one connection. Whether one was waiting."""
        try:
            sock, remote = self._sock.accept()
        except OSError as error:
            # Where there are no more descriptors the router's call waits.
            self._loop.note_shortage(error)
            return False
        if self.stranger(remote):
            _reset_at_close(sock)
            sock.close()
            return True
        with contextlib.suppress(OSError):
            sock.setblocking(False)
            _prepare(sock)
            connection = Connection(self._loop, sock, self.address, remote)
            connection.syn_octets = _octets_with_syn(sock)
            self.accepted += 1
            if self.on_accept is not None:
                self.on_accept(connection)
        return True

    @property
    def flooded(self) -> bool:
        """Whether the router opened more connections in this case than the tester takes."""
        return self.accepted >= MOST_CONNECTIONS * self._loop.allowance

    def turn_away(self) -> list[Address]:
        """Reset the connections that wait to be accepted; where they came from."""
        remotes = []
        with contextlib.suppress(OSError):
            for _ in range(2 * MOST_CONNECTIONS):
                sock, remote = self._sock.accept()
                strange = self.stranger(remote)
                _reset_at_close(sock)
                sock.close()
                if not strange:
                    remotes.append(remote)
        return remotes

    def begin_case(self) -> None:
        """Accept connections as if none had come."""
        with contextlib.suppress(KeyError):
            self._loop.remove(self._sock)
        self._loop.add(self._sock, self._ready, selectors.EVENT_READ)
        self.accepted = 0

    def close(self) -> None:
        with contextlib.suppress(KeyError):
            self._loop.remove(self._sock)
        self._sock.close()

    def stop(self) -> None:
        """Refuse connections (TCP RST in answer to SYN) until resume().

        What the kernel has accepted before is taken first: the capture shows it. While that goes
        on the kernel answers no SYN, or a call that comes amid it would be known to the capture
        alone; the router's TCP repeats that SYN, and is refused then.
        """
        with contextlib.suppress(OSError):
            self.ignore()
        for _ in range(MOST_CONNECTIONS):
            if not self._accept():
                break
        self.close()

    def resume(self, *, receive_buffer: int | None = None) -> None:
        """Listen again; receive_buffer: octets that TCP may take ahead of the tester."""
        self._sock = self._open(receive_buffer)

    def ignore(self) -> None:
        """Leave SYNs without any answer until heed(); the router's TCP repeats them."""
        blackhole.enter(self._sock)

    def heed(self) -> None:
        """Answer SYNs again."""
        blackhole.leave(self._sock)

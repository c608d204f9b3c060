# SPDX-License-Identifier: GPL-2.0-or-later
"""A file as UDP datagrams without checksum: between the hosts, nothing but the hash of the file
sees what a router changes. TCP would find it first, and send again.

Each datagram is its number (4 octets, big endian, from 0) and its part of the file. A UDP checksum
of 0 stands for none (RFC 768; RFC 6935 for IPv6). The programs of both hosts are this module:

    python -m x25shark.ip.datagrams send ADDRESS PORT FILE OCTETS SECONDS    OCTETS a datagram, each
    python -m x25shark.ip.datagrams receive ADDRESS PORT LOG                 SECONDS; LOG: what came

A record of LOG: time.monotonic() as a double, length (2 octets), the datagram.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..interrupts import interrupts
from .hosts import Host, HostError

PORT = 2122
NUMBER = 4
"""Octets in front of each part."""
HEADER = 8 + NUMBER
"""Of UDP and the number."""
_SO_NO_CHECK = 11
_IP_MTU_DISCOVER, _IP_PMTUDISC_DO = 10, 2
_UDP_NO_CHECK6_TX, _UDP_NO_CHECK6_RX = 101, 102
_RECORD = struct.Struct(">dH")
_LONGEST = 65_535
_READY_SECONDS = 30.0
_LOOK = 0.1


@dataclass(frozen=True)
class Change:
    """A datagram that is not what was sent. at: its first octet that differs, of the file."""

    number: int
    at: int
    sent: int
    received: int
    octets: int


@dataclass
class Comparison:
    """What came of a file. content: the file as far as it came, missing parts as zeros."""

    content: bytes
    arrived: int = 0
    missing: list[int] = field(default_factory=list)
    doubled: int = 0
    changes: list[Change] = field(default_factory=list)


def parts(content: bytes, octets: int) -> list[bytes]:
    """The file cut into parts of so many octets."""
    return [content[at : at + octets] for at in range(0, len(content), octets)]


def compare(content: bytes, octets: int, came: Sequence[bytes]) -> Comparison:
    """Lay datagrams beside the file. One whose number was changed goes to the missing part that is
    most like it."""
    sent = [struct.pack(">I", n) + part for n, part in enumerate(parts(content, octets))]
    found: dict[int, bytes] = {}
    strays: list[bytes] = []
    doubled = 0
    for datagram in came:
        number = int.from_bytes(datagram[:NUMBER], "big")
        if number < len(sent) and number not in found:
            found[number] = datagram
        elif number < len(sent) and datagram == sent[number] == found[number]:
            doubled += 1
        else:
            strays.append(datagram)
    for datagram in strays:
        missing = [n for n in range(len(sent)) if n not in found]
        if not missing:
            doubled += 1
            continue
        found[min(missing, key=lambda n: _difference(sent[n], datagram))] = datagram
    whole = bytearray(len(content))
    changes = []
    for number, datagram in sorted(found.items()):
        at, right = number * octets, sent[number]
        part = datagram[NUMBER : len(right)]
        whole[at : at + len(part)] = part
        if datagram != right:
            changes.append(_change(number, at, right, datagram))
    missing = [n for n in range(len(sent)) if n not in found]
    return Comparison(bytes(whole), len(came), missing, doubled, changes)


def _difference(one: bytes, other: bytes) -> int:
    return sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))


def _change(number: int, at: int, right: bytes, datagram: bytes) -> Change:
    differ = [n for n, (a, b) in enumerate(zip(right, datagram, strict=False)) if a != b]
    first = differ[0] if differ else min(len(right), len(datagram))
    return Change(
        number,
        max(at + first - NUMBER, at),
        right[first] if first < len(right) else -1,
        datagram[first] if first < len(datagram) else -1,
        _difference(right, datagram),
    )


def records(log: bytes) -> Iterator[tuple[float, bytes]]:
    """When what came; an unfinished record is left out."""
    at = 0
    while at + _RECORD.size <= len(log):
        when, length = _RECORD.unpack_from(log, at)
        at += _RECORD.size
        if at + length > len(log):
            return
        yield when, log[at : at + length]
        at += length


@dataclass(frozen=True)
class Passage:
    """One file's way. seconds: from the first datagram that came to the last."""

    sent: int
    seconds: float
    came: tuple[bytes, ...]


def carry(
    sender: Host, receiver: Host, to: str, source: Path, log: Path, octets: int, every: float,
    limit: float,
) -> Passage:  # fmt: skip
    """Send a file, a datagram each `every` seconds, and wait for what is under way: for `limit`
    seconds after the last that came. Raises HostError."""
    program = [sys.executable, "-P", "-m", "x25shark.ip.datagrams"]
    log.touch()
    answering = receiver.start([*program, "receive", to, str(PORT), str(log)])
    try:
        _await_record(log, answering)
        words = ["send", to, str(PORT), str(source), str(octets), repr(every)]
        sending = sender.start([*program, *words])
        try:
            if sending.wait():
                raise HostError(f"the sender of datagrams ended with status {sending.returncode}")
        finally:
            sending.kill()
            sending.wait()
        length = source.stat().st_size
        number = -(-length // octets)
        whole = length + number * (NUMBER + _RECORD.size) + _RECORD.size
        size, since = -1, time.monotonic()
        while size < whole and time.monotonic() - since < limit:
            if log.stat().st_size != size:
                size, since = log.stat().st_size, time.monotonic()
            interrupts.check()
            time.sleep(_LOOK)
    finally:
        answering.kill()
        answering.wait()
    # The first record is the receiver's own: it listens.
    came = [(when, datagram) for when, datagram in list(records(log.read_bytes()))[1:]]
    seconds = came[-1][0] - came[0][0] if came else 0.0
    return Passage(number, seconds, tuple(datagram for _, datagram in came))


def _await_record(log: Path, receiver: subprocess.Popen[str]) -> None:
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end and receiver.poll() is None:
        if log.stat().st_size:
            return
        time.sleep(0.02)
    raise HostError("the receiver of datagrams did not start")


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _send(address: str, port: str, path: str, octets: str, seconds: str) -> None:
    with socket.socket(_family(address), socket.SOCK_DGRAM) as out:
        if out.family == socket.AF_INET6:
            out.setsockopt(socket.IPPROTO_UDP, _UDP_NO_CHECK6_TX, 1)
        else:
            out.setsockopt(socket.SOL_SOCKET, _SO_NO_CHECK, 1)
            # Not to be fragmented: without an identification, all headers of one length are the
            # same, and no router changes those of some datagrams by chance.
            out.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _IP_PMTUDISC_DO)
        at = time.monotonic()
        for number, part in enumerate(parts(Path(path).read_bytes(), int(octets))):
            time.sleep(max(at - time.monotonic(), 0))
            out.sendto(struct.pack(">I", number) + part, (address, int(port)))
            at += float(seconds)


def _receive(address: str, port: str, path: str) -> None:
    with socket.socket(_family(address), socket.SOCK_DGRAM) as into, open(path, "ab", 0) as log:
        if into.family == socket.AF_INET6:
            into.setsockopt(socket.IPPROTO_UDP, _UDP_NO_CHECK6_RX, 1)
        into.bind((address, int(port)))
        log.write(_RECORD.pack(time.monotonic(), 0))
        while True:
            datagram = into.recv(_LONGEST)
            log.write(_RECORD.pack(time.monotonic(), len(datagram)) + datagram)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        _send(*sys.argv[2:])
    else:
        _receive(*sys.argv[2:])

# SPDX-License-Identifier: GPL-2.0-or-later
"""A network between tester and router that is slow, loses packets or puts them out of order.

    python -m x25shark.selftest.network between NAME SEED DIRECTORY
    python -m x25shark.selftest.network start DIRECTORY ARGUMENT ...
    python -m x25shark.selftest.network stop DIRECTORY

`between` runs in the tester's network namespace. It makes one more for the router, joins the two by
a TUN interface in each, and carries IP packets from one to the other, as the network of that name
does, until its standard input ends. It needs no qdisc of the kernel, and a seed says which packets
are lost. `start` and `stop` are for a profile's hooks: they run the reference router at the far
end, with these arguments.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PREFIX = "10.25.0."
ROUTER = 1
# The tester's own: A, B, B2, one that refuses connections, and that of the permanent circuits.
TESTER = (2, 3, 4, 5, 6)
_TUN, _INTERFACE = "/dev/net/tun", b"x25net"
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_SIOCSIFADDR, _SIOCSIFNETMASK, _SIOCSIFMTU = 0x8916, 0x891C, 0x8922
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_CLONE_NEWNET = 0x40000000
_LONGEST = 65536
_READY_SECONDS = 60.0


@dataclass(frozen=True)
class Network:
    """What happens to packets, in each direction alike.

    delay and jitter: seconds; each packet takes delay, and up to jitter more. loss: share of
    packets lost. late: share of packets that are held back by lateness seconds, so that others
    overtake them; jitter alone changes no order. rate: bit/s, 0 for no bound; queue: octets that
    wait for it at most. mtu: octets of an IP packet.
    """

    delay: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    late: float = 0.0
    lateness: float = 0.03
    rate: int = 0
    queue: int = 16384
    mtu: int = 1500


NETWORKS: dict[str, Network] = {
    "plain": Network(),
    "delay": Network(delay=0.05, jitter=0.02),
    "loss": Network(delay=0.005, loss=0.01),
    "reordering": Network(delay=0.005, late=0.1),
    "slow": Network(delay=0.005, rate=64_000),
    "mtu": Network(delay=0.005, mtu=576),
    "all": Network(delay=0.05, jitter=0.02, loss=0.01, late=0.05, rate=256_000, mtu=576),
}


class Way:
    """One direction: what is under way, and when it arrives."""

    def __init__(self, network: Network, chance: random.Random) -> None:
        self._network = network
        self._chance = chance
        self._free = self._latest = 0.0
        self._waiting: list[tuple[float, int, bytes]] = []
        self._number = 0

    def put(self, packet: bytes, now: float) -> None:
        """A packet enters at that time; it may be lost."""
        network = self._network
        # Each packet draws as often as every other, so that the seed alone decides.
        lost, late, jitter = (self._chance.random() for _ in range(3))
        if lost < network.loss:
            return
        if network.rate:
            backlog = max(0.0, self._free - now) * network.rate / 8
            if backlog + len(packet) > network.queue:
                return
            self._free = max(self._free, now) + len(packet) * 8 / network.rate
            now = self._free
        arrives = max(self._latest, now + network.delay + jitter * network.jitter)
        if late < network.late:
            arrives += network.lateness
        else:
            self._latest = arrives
        self._number += 1
        heapq.heappush(self._waiting, (arrives, self._number, packet))

    def next_at(self) -> float | None:
        """When the next packet arrives; None: nothing is under way."""
        return self._waiting[0][0] if self._waiting else None

    def take(self, now: float) -> list[bytes]:
        """The packets that have arrived."""
        arrived = []
        while self._waiting and self._waiting[0][0] <= now:
            arrived.append(heapq.heappop(self._waiting)[2])
        return arrived


def _interface(hosts: tuple[int, ...], mtu: int) -> int:
    """A TUN interface in this network namespace, with these hosts' addresses; its descriptor."""
    descriptor = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK)
    request = struct.pack("16sH14x", _INTERFACE, _IFF_TUN | _IFF_NO_PI)
    fcntl.ioctl(descriptor, _TUNSETIFF, request)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, _SIOCSIFMTU, struct.pack("16si12x", _INTERFACE, mtu))
        for number, host in enumerate(hosts):
            name = _INTERFACE if not number else _INTERFACE + b":%d" % number
            for what, address in (
                (_SIOCSIFADDR, f"{PREFIX}{host}"),
                (_SIOCSIFNETMASK, "255.255.255.0"),
            ):
                where = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
                fcntl.ioctl(sock, what, struct.pack("16s16s", name, where))
        flags = fcntl.ioctl(sock, _SIOCGIFFLAGS, struct.pack("16sh14x", _INTERFACE, 0))
        up = struct.unpack("16sh14x", flags)[1] | _IFF_UP
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh14x", _INTERFACE, up))
    return descriptor


def _call(which: str, *arguments: int) -> None:
    """A function of the C library that Python 3.11 has not. Raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, which)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{which}: {os.strerror(code)}")


def between(name: str, seed: str, directory: Path) -> None:
    """Join both ends, and carry packets until standard input ends. Raises OSError."""
    network = NETWORKS[name]
    near = _interface(TESTER, network.mtu)
    _call("unshare", _CLONE_NEWNET)
    far = _interface((ROUTER,), network.mtu)
    (directory / "between.pid").write_text(str(os.getpid()))
    print("ready", flush=True)
    ways = {
        near: (Way(network, random.Random(f"{seed}/there")), far),
        far: (Way(network, random.Random(f"{seed}/back")), near),
    }
    while True:
        due = [at for way, _ in ways.values() if (at := way.next_at()) is not None]
        timeout = max(0.0, min(due) - time.monotonic()) if due else None
        ready, _, _ = select.select([sys.stdin, *ways], [], [], timeout)
        if sys.stdin in ready:
            return
        for descriptor, (way, _) in ways.items():
            with contextlib.suppress(BlockingIOError):
                while descriptor in ready:
                    way.put(os.read(descriptor, _LONGEST), time.monotonic())
        for way, target in ways.values():
            for packet in way.take(time.monotonic()):
                with contextlib.suppress(OSError):
                    os.write(target, packet)


def start(directory: Path, arguments: list[str]) -> None:
    """Run the reference router at the far end, and wait until it is ready. Raises OSError."""
    there = (directory / "between.pid").read_text()
    _call("setns", os.open(f"/proc/{there}/ns/net", os.O_RDONLY), _CLONE_NEWNET)
    process = subprocess.Popen(
        [sys.executable, "-m", "x25shark.reference", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    (directory / "router.pid").write_text(str(process.pid))
    assert process.stdout is not None
    # Without a bound: the hook has one.
    if not process.stdout.readline().endswith(b"\n"):
        raise OSError("the router did not start")


def stop(directory: Path) -> None:
    """End the router, if it is there."""
    with contextlib.suppress(OSError, ValueError):
        number = int((directory / "router.pid").read_text())
        descriptor = os.pidfd_open(number)
        signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        select.select([descriptor], [], [], _READY_SECONDS)


def main(arguments: list[str]) -> int:
    """Exit status 0; 1 with a line on standard error if something cannot be made."""
    try:
        match arguments:
            case ["between", name, seed, directory] if name in NETWORKS:
                between(name, seed, Path(directory))
            case ["start", directory, *more]:
                start(Path(directory), more)
            case ["stop", directory]:
                stop(Path(directory))
            case _:
                print(
                    "usage: between NAME SEED DIR | start DIR ARGUMENT ... | stop DIR",
                    file=sys.stderr,
                )
                return 2
    except OSError as error:
        print(f"network: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""A tiny XOT peer on plain sockets, and the router as a process, for the tests of the router.

The peer shares nothing with the router nor with the tester's layers: packets are octets.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Tests share modules of this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent))
#: Seconds after which a test gives up; nothing waits that long unless it fails.
TIMEOUT = 10.0


class Peer:
    """One XOT connection of a tester."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.sock.settimeout(TIMEOUT)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def send(self, *packets: str | bytes) -> None:
        """Packets, as octets or in hexadecimal, in one segment."""
        octets = [bytes.fromhex(one) if isinstance(one, str) else one for one in packets]
        self.sock.sendall(b"".join(struct.pack(">HH", 0, len(one)) + one for one in octets))

    def raw(self, octets: bytes) -> None:
        self.sock.sendall(octets)

    def octets(self) -> bytes | None:
        """The next packet, or None at the end of the stream (FIN or RST)."""
        while True:
            if len(self.buffer) >= 4:
                version, length = struct.unpack(">HH", self.buffer[:4])
                assert version == 0
                if len(self.buffer) >= 4 + length:
                    packet, self.buffer = self.buffer[4 : 4 + length], self.buffer[4 + length :]
                    return packet
            try:
                more = self.sock.recv(65536)
            except ConnectionResetError:
                return None
            if not more:
                return None
            self.buffer += more

    def receive(self) -> str | None:
        """The next packet in hexadecimal."""
        packet = self.octets()
        return None if packet is None else packet.hex()

    def close(self) -> None:
        self.sock.close()

    def reset(self) -> None:
        """End with a TCP RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def silent(self, seconds: float = 0.2) -> bool:
        """True if nothing comes for a while. Only for a test that can prove it no better."""
        self.sock.settimeout(seconds)
        try:
            return self.octets() is None and False
        except TimeoutError:
            return True
        finally:
            self.sock.settimeout(TIMEOUT)


class Listener:
    """Where the router calls to."""

    def __init__(self) -> None:
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.sock.settimeout(TIMEOUT)
        self.address = f"127.0.0.1:{self.sock.getsockname()[1]}"

    def accept(self) -> Peer:
        return Peer(self.sock.accept()[0])

    def close(self) -> None:
        self.sock.close()


class RouterProcess:
    """The router, started with a configuration."""

    def __init__(self, config: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "x25shark.reference", "--config", str(config), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        self.ready = json.loads(line)
        host, port = self.ready["listen"].split(":")
        self.address = (host, int(port))

    def connect(self) -> Peer:
        return Peer(socket.create_connection(self.address, TIMEOUT))

    def counters(self) -> dict[str, object]:
        with urllib.request.urlopen(f"http://{self.ready['http']}/", timeout=TIMEOUT) as page:
            return dict(json.load(page))

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        _, self.errors = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode


StartRouter = Callable[..., RouterProcess]


@pytest.fixture
def listener() -> Iterator[Listener]:
    """Side B."""
    one = Listener()
    yield one
    one.close()


@pytest.fixture
def start_router(tmp_path: Path) -> Iterator[StartRouter]:
    """Start a router with a configuration and options; it is stopped at the end."""
    started: list[RouterProcess] = []

    def start(config: str, *options: str, port: int = 0) -> RouterProcess:
        path = tmp_path / f"router{len(started)}.toml"
        path.write_text(f'listen = "127.0.0.1:{port}"\nhttp = "127.0.0.1:0"\n' + config)
        router = RouterProcess(path, *options)
        started.append(router)
        return router

    yield start
    for router in started:
        status = router.stop()
        assert status == 0, router.errors
        assert "Traceback" not in router.errors, router.errors


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    """Wait for a condition, with a bound."""

    def wait(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < end, "condition not met"
            time.sleep(0.01)

    return wait


class FakeTimer:
    def __init__(self, at: float, expired: Callable[[], None]) -> None:
        self.at = at
        self.expired: Callable[[], None] | None = expired

    def cancel(self) -> None:
        self.expired = None


class FakeTimers:
    """Timers that run when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.running: list[FakeTimer] = []

    def start(self, seconds: float, expired: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(self.now + seconds, expired)
        self.running.append(timer)
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass, timer by timer."""
        end = self.now + seconds
        while True:
            due = [one for one in self.running if one.expired is not None and one.at <= end]
            if not due:
                break
            first = min(due, key=lambda one: one.at)
            self.now, expired, first.expired = first.at, first.expired, None
            assert expired is not None
            expired()
        self.now = end


class LabPeer:
    """A wire of the router and the peer behind it, without a socket."""

    def __init__(self, lab: "Lab", peer: str) -> None:
        self.lab = lab
        self.peer = peer
        self.congested = False
        self.from_self = False
        self.got: list[str] = []
        self.closed = False
        self.aborted = False
        self.paused = False
        self.connection: Any = None

    @property
    def closing(self) -> bool:
        return self.closed

    # What the router does.
    def send(self, packet: bytes) -> None:
        if not self.closed:
            self.got.append(packet.hex())

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.lab.timers.start(0, self.connection.ended)

    def abort(self) -> None:
        self.closed = self.aborted = True

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    # What the test does.
    def tell(self, *packets: str) -> None:
        """Packets in hexadecimal, each in its own read."""
        for packet in packets:
            self.tell_together(packet)

    def tell_together(self, *packets: str) -> None:
        """Packets in one read."""
        octets = [bytes.fromhex(one) for one in packets]
        self.connection.octets_received(
            b"".join(struct.pack(">HH", 0, len(one)) + one for one in octets)
        )

    def raw(self, octets: str) -> None:
        self.connection.octets_received(bytes.fromhex(octets))

    def hang_up(self, reset: bool = False) -> None:
        self.connection.connection_lost(reset)

    def take(self) -> list[str]:
        """What the router has sent since the last time."""
        taken, self.got = self.got, []
        return taken


class Lab:
    """The router without sockets: connections, timers and calls are in the test's hand."""

    def __init__(self, values: dict[str, Any]) -> None:
        from x25shark.reference import config
        from x25shark.reference.router import Router

        self.timers = FakeTimers()
        self.connects = True
        #: Connections that are being opened: (host, port, connected, failed).
        self.opening: list[tuple[str, int, Any, Any]] = []
        #: Peers that the router has called, in order, and those that have called it.
        self.called: list[LabPeer] = []
        self.callers: list[LabPeer] = []
        self.router = Router(config.parse(values), self.timers, self)

    def connect(self, host: str, port: int, connected: Any, failed: Any) -> Any:
        """The router opens a connection."""
        entry = (host, port, connected, failed)
        self.opening.append(entry)
        lab = self

        class Opening:
            def cancel(self) -> None:
                if entry in lab.opening:
                    lab.opening.remove(entry)

        return Opening()

    def open(self, succeed: bool = True) -> None:
        """Finish the connections that are being opened."""
        waiting, self.opening = self.opening, []
        for host, port, connected, failed in waiting:
            if not succeed:
                failed("refused")
                continue
            peer = LabPeer(self, host)
            vars(peer)["port"] = port
            self.called.append(peer)
            peer.connection = connected(peer)
        self.router.flush()

    def caller(self, address: str = "127.0.25.2") -> LabPeer:
        """Somebody connects to the router."""
        peer = LabPeer(self, address)
        self.callers.append(peer)
        peer.connection = self.router.accepted(peer)
        return peer

    def call(self, packet: str, accept: str = "10010f") -> tuple[LabPeer, LabPeer]:
        """A call from A to B, accepted; what was exchanged for it is taken."""
        a = self.caller()
        a.tell(packet)
        self.open()
        b = self.called[-1]
        self.offered = b.take()[-1]
        b.tell(self.offered[:4] + accept[4:] if accept[4:6] == "0f" else accept)
        self.answer = a.take()
        return a, b


MakeLab = Callable[..., Lab]
#: Where the labs' routes lead.
LAB_ROUTES = (
    {"prefix": "21", "to": "127.0.25.3:1998"},
    {"prefix": "1111", "to": "echo"},
    {"prefix": "1112", "to": "sink"},
    {"prefix": "1113", "to": "source"},
)


@pytest.fixture
def make_lab() -> MakeLab:
    """A router of a relay model, without sockets; options as in the configuration."""

    def make(model: str = "local", route: dict[str, Any] | None = None, **options: Any) -> Lab:
        first = {**LAB_ROUTES[0], **(route or {})}
        routes = [first, *LAB_ROUTES[1:], *options.pop("routes", [])]
        return Lab({"model": model, "route": routes, **options})

    return make

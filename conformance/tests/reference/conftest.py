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

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Seconds after which a test gives up; nothing waits that long unless it fails.
PATIENCE = 10.0


class Peer:
    """One XOT connection of a tester."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.sock.settimeout(PATIENCE)
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
            self.sock.settimeout(PATIENCE)


class Listener:
    """Where the router calls to."""

    def __init__(self) -> None:
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.sock.settimeout(PATIENCE)
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
        return Peer(socket.create_connection(self.address, PATIENCE))

    def counters(self) -> dict[str, object]:
        with urllib.request.urlopen(f"http://{self.ready['http']}/", timeout=PATIENCE) as page:
            return dict(json.load(page))

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        _, self.errors = self.process.communicate(timeout=PATIENCE)
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

    def start(config: str, *options: str) -> RouterProcess:
        path = tmp_path / f"router{len(started)}.toml"
        path.write_text('listen = "127.0.0.1:0"\nhttp = "127.0.0.1:0"\n' + config)
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
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "condition not met"
            time.sleep(0.01)

    return wait

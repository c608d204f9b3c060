# SPDX-License-Identifier: GPL-2.0-or-later
"""The command bench against a router that hangs, floods or lies in the middle of a search: it ends
by itself, with a report, a status and bounded memory."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from x25shark.load.engine import Engine

from .between import MOST_MEMORY, watched
from .conftest import command, environment, free_port
from .schema import Bench
from .test_bench_runs import read_until, start

Result = Callable[[], dict[str, Any]]
Habit = Callable[[bytes], bytes]
MOMENT = "128 octets search,"
OPTIONS = (
    "bench", "-P", "128", "-N", "4", "--trial", "0.2", "--bound", "2", "--timeout", "1",
    "--skip", "idle", "--skip", "errors",
)  # fmt: skip
LONGEST = 400.0
BLOCK = 65_536


def receive_ready(octets: bytes) -> bytes:
    """Units without end on the channel of what passed: RR, which X.25 allows at any time."""
    channel = octets[4:6] if len(octets) >= 7 else b"\x10\x01"
    return (b"\0\0\0\3" + channel + b"\x01") * (BLOCK // 7)


def data(octets: bytes) -> bytes:
    """Data packets without end, which no window allows."""
    channel = octets[4:6] if len(octets) >= 7 else b"\x10\x01"
    return (b"\0\0\0\x83" + channel + b"\0" + bytes(128)) * (BLOCK // 135)


def one_unit(_octets: bytes) -> bytes:
    """A unit that is longer than any packet, and never ends."""
    return b"\0\0\xff\xff" + bytes(BLOCK)


def liar() -> Habit:
    """Hands all on, but one octet of some is another, whatever it means."""
    chance = random.Random(14)

    def changed(octets: bytes) -> bytes:
        found = bytearray(octets)
        for place in range(0, len(found), 150):
            here = min(place + chance.randrange(150), len(found) - 1)
            found[here] ^= 1 << chance.randrange(8)
        return bytes(found)

    return changed


class Middle:
    """A router of few words: it hands on what comes, until it takes up a habit.

    floods: whether the habit has no end.
    """

    def __init__(self, b: int, habit: Habit, floods: bool) -> None:
        self._b, self._habit, self._floods = b, habit, floods
        self.turned = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._open.append(near)
                with contextlib.suppress(OSError):
                    far = socket.create_connection(("127.0.0.1", self._b), 5)
                    self._open.append(far)
                    for one, other in ((near, far), (far, near)):
                        threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, source: socket.socket, to: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while octets := source.recv(BLOCK):
                if not self.turned.is_set():
                    to.sendall(octets)
                    continue
                to.sendall(self._habit(octets))
                while self._floods:
                    to.sendall(self._habit(octets))
        for sock in (source, to):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for sock in self._open:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


@contextlib.contextmanager
def no_longer(process: subprocess.Popen[str]) -> Iterator[None]:
    """Ends what hangs, so that the test fails and does not hang too."""
    timer = threading.Timer(LONGEST, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def measured(
    folder: Path, connect: int, listen: int, turn: Callable[[], None]
) -> tuple[int, str, str, int]:
    """Status, output, complaints and most memory of a bench whose router turns in the middle."""
    words = [*OPTIONS, "--connect", f"127.0.0.1:{connect}", "--listen", f"127.0.0.1:{listen}"]
    with (folder / "complaints").open("w+", encoding="utf-8") as complaints:
        process = subprocess.Popen(
            command(*words, "-o", str(folder / "out")), env=environment(),
            stdout=subprocess.PIPE, stderr=complaints, text=True,
        )  # fmt: skip
        with no_longer(process), watched(process) as most:
            try:
                read_until(process, MOMENT)
            except pytest.fail.Exception as missed:
                complaints.seek(0)
                pytest.fail(f"{missed}{complaints.read()}")
            turn()
            assert process.stdout is not None
            said = process.stdout.read()
            process.wait()
        process.stdout.close()
        complaints.seek(0)
        return process.returncode, said, complaints.read(), most[0]


def holds(
    outcome: tuple[int, str, str, int], load_json: Result, folder: Path
) -> tuple[list[str], list[str]]:
    """Reasons and remarks of a report that is whole."""
    status, said, complaints, memory = outcome
    result = load_json()
    Bench.model_validate(result)
    assert (status, complaints) == (1, ""), said + complaints
    assert result["exit_status"] == status
    assert 0 < memory < MOST_MEMORY
    assert (folder / "out" / "load.html").exists()
    return result["verdict"]["reasons"], result["verdict"]["remarks"]


def test_a_router_that_hangs(engine: Engine, tmp_path: Path, load_json: Result) -> None:
    port, b = free_port("127.0.0.1"), free_port("127.0.0.1")
    relay = start("relay", f"127.0.0.1:{port}", f"127.0.0.1:{b}")
    try:
        read_until(relay, "Relaying")
        outcome = measured(tmp_path, port, b, lambda: os.kill(relay.pid, signal.SIGSTOP))
    finally:
        relay.kill()
        relay.communicate()
    _, remarks = holds(outcome, load_json, tmp_path)
    assert any("The router takes no calls any more" in remark for remark in remarks)
    assert any("128 octets: interrupted (" in remark for remark in remarks)


@pytest.mark.parametrize("habit", [receive_ready, data, one_unit])
def test_a_router_that_floods(
    engine: Engine, tmp_path: Path, load_json: Result, habit: Habit
) -> None:
    b = free_port("127.0.0.1")
    middle = Middle(b, habit, floods=True)
    try:
        outcome = measured(tmp_path, middle.port, b, middle.turned.set)
    finally:
        middle.close()
    _, remarks = holds(outcome, load_json, tmp_path)
    assert any("The router takes no calls any more" in remark for remark in remarks)


def test_a_router_that_lies(engine: Engine, tmp_path: Path, load_json: Result) -> None:
    b = free_port("127.0.0.1")
    middle = Middle(b, liar(), floods=False)
    try:
        outcome = measured(tmp_path, middle.port, b, middle.turned.set)
    finally:
        middle.close()
    reasons, remarks = holds(outcome, load_json, tmp_path)
    assert reasons or any("takes no calls any more" in remark for remark in remarks)

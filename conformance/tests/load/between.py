# SPDX-License-Identifier: GPL-2.0-or-later
"""A router that turns bad in the middle: a relay that floods or lies from a word on. And the memory
that a command took."""

from __future__ import annotations

import contextlib
import random
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

RECEIVE_READY = bytes.fromhex("0000 0003 10 01 01")
"""XOT header, then RR of channel 1: right at any time, and may come again and again."""
MOST_MEMORY = 300_000
"""kB that a command may take, whatever the router does."""


@dataclass
class Between:
    """Every connection goes on to `onward`, octet for octet, while `turned` is empty.

    "floods": behind the next answer RR without end. "lies": one octet of fifty is another.
    receive: octets of the receive buffers, by which the window is granted (0: as the kernel says).
    """

    onward: tuple[str, int]
    receive: int = 0
    turned: str = ""
    _open: list[socket.socket] = field(default_factory=list)

    def __enter__(self) -> Between:
        self._listening = socket.socket()
        if self.receive:
            self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive)
        self._listening.bind(("127.0.0.1", 0))
        self._listening.listen(1000)
        self.port = int(self._listening.getsockname()[1])
        self._begin(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        for one in [self._listening, *self._open]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    @staticmethod
    def _begin(work: object, *given: object) -> None:
        threading.Thread(target=work, args=given, daemon=True).start()  # type: ignore[arg-type]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = self._listening.accept()[0]
                far = socket.create_connection(self.onward)
                self._open += [near, far]
                self._begin(self._pump, near, far, False)
                self._begin(self._pump, far, near, True)

    def _pump(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        chance = random.Random(1)
        with contextlib.suppress(OSError):
            while octets := source.recv(65_536):
                if self.turned == "lies":
                    octets = bytes(o ^ (chance.randrange(50) == 0) for o in octets)
                sink.sendall(octets)
                while answers and self.turned == "floods":
                    sink.sendall(RECEIVE_READY * 9000)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def watched(process: subprocess.Popen[str]) -> Iterator[list[int]]:
    """The most memory that a process has had so far, in kB. Read while it runs: what the kernel
    says of it at its end counts the process that started it too."""
    most, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{process.pid}/status").read_text()
                if found := re.search(r"VmHWM:\s+(\d+)", status):
                    most[0] = int(found[1])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


def weighed(process: subprocess.Popen[str]) -> tuple[int, str, str, int]:
    """To the end of a command: its status, what it said, and the most memory that it had, in kB."""
    with watched(process) as most:
        said, errors = process.communicate()
    return process.returncode, said, errors, most[0]


@contextlib.contextmanager
def stopped_later(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that is killed at the end, even one that hangs."""
    try:
        yield process
    finally:
        process.kill()
        process.communicate()

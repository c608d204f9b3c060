# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock programs as the traffic: ping (iputils), curl, and an FTP server (pyftpdlib).

FTP, because the published transfers were FTP, and because its put ends with the server's answer
(226), so that its time includes the last octet's delivery. curl names the moments of a transfer.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from ..load.wording import count
from .hosts import Host, HostError, program

PORT = 2121
_ANSWER = re.compile(r"icmp_seq=(\d+) .*time=([\d.]+) ms")
_READY_SECONDS = 30.0
_LATEST_ANSWER = 60
"""Seconds that are left for the answer to the last ping."""
_TELL_EVERY = 10.0
_ASK_AFTER = "2"
_TIME_IS_OVER = 28
"""Exit status of curl (--max-time)."""


@dataclass(frozen=True)
class Transfer:
    """One file. seconds: from the moment the transfer was to begin until the server's last answer.

    begun: when it began, by the clock of the experiment. same: whether both hashes agree; None
    where the transfer failed, and `error` says why.
    """

    name: str
    octets: int
    begun: float
    seconds: float
    same: bool | None
    sha256: str
    error: str = ""

    @property
    def bits_per_second(self) -> float:
        return self.octets * 8 / self.seconds if self.seconds > 0 else 0.0


def ping(host: Host, to: str, number: int, size: int, interval: float) -> list[float | None]:
    """Round-trip times in ms by sequence, None for a lost one; size: of the ICMP message."""
    command = [program("ping", "iputils-ping"), "-n", "-D", "-c", str(number), "-s", str(size - 8)]
    # Without a deadline it waits for the last answers twice as long as one took so far, and no
    # longer: a late one would be taken for lost. With one it goes on until so many have come.
    deadline = ceil(number * interval) + _LATEST_ANSWER
    command += ["-i", f"{interval:g}", "-w", str(deadline), to]
    process = host.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate()
    finally:
        process.kill()
    if process.returncode not in (0, 1):
        raise HostError(
            f"ping ended with status {process.returncode}: {err.strip() or out.strip()}"
        )
    return answers(out, number)


def answers(text: str, number: int) -> list[float | None]:
    """What ping printed, by sequence number from 1."""
    found: list[float | None] = [None] * number
    for sequence, milliseconds in _ANSWER.findall(text):
        if 1 <= int(sequence) <= number and found[int(sequence) - 1] is None:
            found[int(sequence) - 1] = float(milliseconds)
    return found


def make_file(path: Path, octets: int, seed: int) -> str:
    """A file that cannot be compressed and repeats nothing; its SHA-256."""
    content = random.Random(seed).randbytes(octets)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


@contextlib.contextmanager
def ftp_server(host: Host, address: str, folder: Path, log: Path) -> Iterator[None]:
    """A server on the host that lets anybody read and write the folder."""
    with log.open("ab") as out:
        command = [sys.executable, "-P", "-m", "pyftpdlib", "-i", address, "-p", str(PORT), "-w"]
        process = host.start([*command, "-d", str(folder)], stdout=out, stderr=out)
        try:
            _await_server(host, address, process, log)
            yield
        finally:
            process.kill()
            process.wait()


def _await_server(host: Host, address: str, process: subprocess.Popen[str], log: Path) -> None:
    # In the host's own namespace, so that no octet of it crosses a line.
    probe = (
        "import socket,sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 5).close()"
    )
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        tried = host.start(
            [sys.executable, "-P", "-c", probe, address, str(PORT)], stderr=subprocess.DEVNULL
        )
        if tried.wait() == 0:
            return
        time.sleep(0.05)
    text = log.read_text("utf-8", "replace").strip().rpartition("\n")[2]
    missing = "No module named" in text
    hint = (
        ": pip install pyftpdlib==2.2.0, or ci/setup engine of the source tree" if missing else ""
    )
    raise HostError(f"the FTP server did not start{hint} ({text})")


class Upload:
    """A put or a get that is under way."""

    def __init__(
        self,
        host: Host,
        url: str,
        local: Path,
        sha256: str,
        octets: int,
        *,
        put: bool,
        limit: float,
        asks: bool = False,
    ) -> None:
        """limit: seconds after which it is given up. asks: the client asks every few seconds
        whether the server is still there, where circuits end: only its host calls again."""
        self._put, self._sha256, self._octets, self._limit = put, sha256, octets, limit
        self._name = url.rpartition("/")[2]
        form = "%{stderr}%{json}"
        direction = ["--upload-file", str(local)] if put else ["--output", str(local)]
        command = [
            program("curl", "curl"),
            "--silent",
            "--show-error",
            "--globoff",
            "--noproxy",
            "*",
        ]
        command += ["--keepalive-time", _ASK_AFTER] if asks else ["--no-keepalive"]
        command += ["--max-time", f"{limit:g}", "--write-out", form, *direction, url]
        self._begun = time.monotonic()
        self._process = host.start(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def finish(self, received: Path, began: float, tell: Callable[[str], None]) -> Transfer:
        """Wait for its end; received: the copy whose hash counts. How far it is is told."""
        try:
            text = self._await(received, tell)
        finally:
            self._process.kill()
        said, brace, rest = text.rpartition('{"')
        told = json.loads(brace + rest) if brace else {}
        octets = int(told.get("size_upload" if self._put else "size_download", 0))
        seconds = float(told.get("time_total", 0)) - float(told.get("time_pretransfer", 0))
        begun = self._begun - began + float(told.get("time_pretransfer", 0))
        if self._process.returncode != 0:
            why = said.strip() or f"curl ended with status {self._process.returncode}"
            over = time.monotonic() - self._begun >= self._limit
            if over and self._process.returncode == _TIME_IS_OVER:
                why = (
                    f"given up after {self._limit:.0f} s (--limit); {count(_size(received))} of "
                    f"{count(self._octets)} octets had arrived"
                )
            return Transfer(self._name, octets, begun, seconds, None, "", why)
        digest = hashlib.sha256(received.read_bytes()).hexdigest()
        return Transfer(self._name, octets, begun, seconds, digest == self._sha256, digest)

    def _await(self, received: Path, tell: Callable[[str], None]) -> str:
        while True:
            try:
                return self._process.communicate(timeout=_TELL_EVERY)[1]
            except subprocess.TimeoutExpired:
                seconds = time.monotonic() - self._begun
                tell(
                    f"  {self._name}: {count(_size(received))} of {count(self._octets)} octets "
                    f"after {seconds:.0f} s (given up after {self._limit:.0f})"
                )

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


def _size(path: Path) -> int:
    """Octets of a file that may not be there yet."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def url(address: str, name: str) -> str:
    at = f"[{address}]" if ":" in address else address
    return f"ftp://{at}:{PORT}/{name}"

# SPDX-License-Identifier: GPL-2.0-or-later
"""dumpcap, read through a pipe by a thread, its stream given to the slicer.

dumpcap says that it captures before it does, and packets of its last quarter second are lost when
it is stopped. So a capture counts as begun, and as complete, when a probe (a marker without a
case) has come through it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Sequence

from ..cpu_time import TimeLimit, computed
from ..interrupts import interrupts
from ..tied import tied
from . import pcapng
from .slicer import BEGIN, END, PROBE, Slicer, marker

_BUFFER_MIB = 24


class CaptureError(Exception):
    """No capture, or not a whole one; the message says why and what to do."""


def _datagrams() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    return sock


class Capture:
    """A running capture.

    launch() starts dumpcap; what is captured before begun() has returned belongs to nothing.
    begun() returns when packets are certain to be captured, stop() when all of them have been given
    to the slicer.
    """

    def __init__(
        self,
        key: bytes,
        slicer: Slicer,
        interface: str,
        ports: Sequence[int],
        prefix: Sequence[str] = (),
        hosts: Sequence[str] = (),
    ) -> None:
        """hosts: the tester's own addresses; what is between others is nobody's evidence here."""
        self._key = key
        self._slicer = slicer
        self._interface = interface
        self._ports = ports
        self._hosts = hosts
        self._prefix = prefix
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._seen = threading.Condition()
        # Somebody has to own the port, or each marker is answered by an ICMP error. Both are of
        # this run alone: on a port that is known others could listen as well, and learn and forge.
        self._marker_socket = _datagrams()
        self._marker_sink = _datagrams()
        self._marker_socket.connect(self._marker_sink.getsockname())
        self._marker_sink.connect(self._marker_socket.getsockname())
        ends = self._marker_socket.getsockname(), self._marker_sink.getsockname()
        slicer.marker_ends = ends
        self._probe = 0
        self._stopping = False
        # Seconds of processor time that dumpcap took; known when it has ended.
        self.computed = 0.0
        self.failure: str | None = None

    def launch(self) -> None:
        """Start dumpcap, which takes its time. Raises CaptureError."""
        program = shutil.which("dumpcap")
        if program is None:
            raise CaptureError(
                "dumpcap is not installed. On Debian and Ubuntu: sudo apt-get install tshark"
            )
        port = self._marker_sink.getsockname()[1]
        tcp = " or ".join(f"tcp port {port}" for port in self._ports)
        command = [
            *self._prefix,
            *tied(),
            program,
            "-q",
            "-i",
            self._interface,
            "-B",
            str(_BUFFER_MIB),
        ]
        if self._hosts:
            # A neighbour's run, or its router, may have the same port on the same interface.
            tcp = f"({tcp}) and (" + " or ".join(f"host {host}" for host in self._hosts) + ")"
        command += ["-f", f"({tcp}) or udp port {port}", "-w", "-"]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise CaptureError(f"{command[0]}: {error.strerror}") from None
        self._thread = threading.Thread(target=self._read, name="capture", daemon=True)
        self._thread.start()
        threading.Thread(target=self._errors, name="dumpcap messages", daemon=True).start()

    def begun(self, seconds: float = 20.0) -> None:
        """Wait until a probe came through. Raises CaptureError."""
        if not self.fence(seconds):
            self.abandon()
            interrupts.check()
            raise CaptureError(f"dumpcap on {self._interface}: {self._why()}")
        self._slicer.forget_strays()

    def _why(self) -> str:
        return self.failure or "no packet came through in time"

    def _errors(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        lines = []
        for raw in self._process.stderr:
            line = raw.decode("utf-8", "replace").strip()
            if line and not line.startswith(("Capturing on", "File:", "Packets", "Running as")):
                lines.append(line)
                if self._process.poll() not in (None, 0) or "permission" in line.lower():
                    self.failure = self.failure or " ".join(lines[-3:])

    def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        try:
            for block in pcapng.read_blocks(self._process.stdout):
                before = self._slicer.last_probe
                self._slicer.take(block)
                if self._slicer.last_probe != before:
                    with self._seen:
                        self._seen.notify_all()
        except pcapng.CaptureFormatError as error:
            self.failure = str(error)
        except Exception as error:  # the thread must not die unheard
            self.failure = f"the capture reader failed: {error!r}"
        self._note_end()
        with self._seen:
            self._seen.notify_all()

    def _note_end(self) -> None:
        """How dumpcap ended, if it was not asked to."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(2)
            if status < 0 and not self._stopping:
                self.failure = self.failure or f"dumpcap was ended by signal {-status}"
            elif not self._stopping:
                self.failure = self.failure or f"dumpcap ended with status {status}"

    def _send(self, kind: int, number: int) -> None:
        # Nobody reads them there: full is as good as read.
        with contextlib.suppress(OSError):
            self._marker_socket.send(marker(self._key, kind, number))

    def begin(self, number: int) -> None:
        """Mark the begin of a case. Nobody waits for it."""
        self._send(BEGIN, number)

    def end(self, number: int) -> None:
        self._send(END, number)

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def fence(self, seconds: float = 20.0) -> bool:
        """Wait until everything sent before is in the slices; False: it did not come in time.

        Sends probes until one has come through, or an interrupt wants no more waiting.
        """
        assert self._process is not None and self._thread is not None
        first = self._probe + 1
        limit = TimeLimit(self._process.pid, seconds)
        while limit.left() > 0 and self._thread.is_alive():
            self._probe += 1
            self._send(PROBE, self._probe)
            with self._seen:
                self._seen.wait(0.05)
                if self._slicer.last_probe >= first:
                    return True
            if interrupts.in_haste:
                return False
        return False

    def stop(self) -> None:
        """Wait until everything sent before is in the slices, and stop. Raises CaptureError."""
        complete = self.fence()
        self.abandon()
        self._slicer.finish()
        if not complete and not interrupts.hurried:
            raise CaptureError(f"the capture ended early: {self._why()}")

    def abandon(self) -> None:
        """Stop dumpcap, if it runs yet; what it had not passed on is lost."""
        process = self._process
        self._stopping = True
        if process is not None:
            self.computed = self.computed or computed(process.pid)
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._thread is not None:
            self._thread.join(5)
        self._marker_socket.close()
        self._marker_sink.close()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The evidence of a serial line: starts its tap (see tap.py), and reads its stream as dumpcap's.

The tester talks to the tap's socket as if it were the line. control is to be watched by the
tester's loop, which calls heard() when it is readable.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from . import pcapng
from .capture import CaptureError
from .slicer import BEGIN, END, LineStream, marker

_START_SECONDS = 20.0
_MESSAGE = 65536
# Octets of the tester that may be under way to the tap.
_BUFFER = 1 << 20


class LineTap:
    """The tap of one line. sock: the line, for the tester; state: how the router's end is."""

    def __init__(self, key: bytes, stream: LineStream, framing: str) -> None:
        self._key = key
        self._stream = stream
        self._framing = framing
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self.sock, self._far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.control, self._far_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for sock in (self.sock, self._far):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        for sock in (self.sock, self.control):
            sock.setblocking(False)
        self._marked = self._wanted = b""
        self.connected = False
        self.ended = ""
        self._line = 0
        self.failure: str | None = None
        self.on_end: Callable[[], None] = lambda: None

    @property
    def name(self) -> str:
        return self._stream.name

    def start(self) -> None:
        """Start the process. Raises CaptureError."""
        ends = [self._far.fileno(), self._far_control.fileno()]
        command = [sys.executable, "-P", "-m", "x25shark.evidence.tap", self.name, self._framing]
        try:
            self._process = subprocess.Popen(
                [*command, *map(str, ends)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                pass_fds=ends,
                start_new_session=True,
            )
        except OSError as error:
            raise CaptureError(f"the tap of {self.name}: {error.strerror}") from None
        self._far.close()
        self._far_control.close()
        self._thread = threading.Thread(target=self._read, name=self.name, daemon=True)
        self._thread.start()
        if not self._stream.ready.wait(_START_SECONDS):
            self.stop()
            raise CaptureError(f"the tap of {self.name} did not start: {self.why}")

    @property
    def why(self) -> str:
        return self.failure or "it said nothing"

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        try:
            for block in pcapng.read_blocks(self._process.stdout):
                self._stream.take(block)
        except pcapng.CaptureFormatError as error:
            self.failure = str(error)
        except Exception as error:  # the thread must not die unheard
            self.failure = f"its reader failed: {error!r}"
        status = self._process.wait()
        if status:
            self.failure = self.failure or f"it ended with status {status}"

    def heard(self) -> None:
        """Take the tap's messages."""
        with contextlib.suppress(BlockingIOError, OSError):
            while message := self.control.recv(_MESSAGE):
                said = json.loads(message)
                if "marked" in said:
                    self._marked = bytes.fromhex(said["marked"])
                elif said["line"] != self._line:
                    # Of an earlier line: that it ended is known.
                    continue
                elif "connected" in said:
                    self.connected = True
                else:
                    self.connected = False
                    self.ended = str(said.get("failed") or said.get("ended"))
                    self.on_end()
            self.failure = self.failure or "it ended"

    def _order(self, **words: object) -> None:
        with contextlib.suppress(OSError):
            self.control.send(json.dumps(words).encode())

    def connect(self, place: Sequence[object]) -> None:
        """Open the line: [KEY, PLACE] as line_places says; connected or ended tell how."""
        self.connected, self.ended = False, ""
        self._line += 1
        self._order(connect=list(place), line=self._line)

    def answered(self) -> bool:
        """Whether the last connect() came to something."""
        return self.connected or bool(self.ended) or self.failure is not None

    def begin(self, number: int) -> None:
        """Mark the begin of a case; settled() says when the tester has all that came before."""
        self._mark(BEGIN, number)

    def end(self, number: int) -> None:
        self._mark(END, number)

    def _mark(self, kind: int, number: int) -> None:
        self._wanted = marker(self._key, kind, number)
        self._order(marker=self._wanted.hex())

    def go_on(self) -> None:
        """The tester has taken what came before the last marker; what follows may come."""
        self._order(go_on=self._wanted.hex())

    def settled(self) -> bool:
        """Whether the last marker is in the stream; a tap that is dead has nothing to settle."""
        return self._marked == self._wanted or not self.alive

    def stop(self) -> None:
        """End the tap; all that it recorded is in the slices then."""
        for sock in (self.sock, self.control):
            sock.close()
        if self._thread is not None:
            self._thread.join(5)
        process = self._process
        if process is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, 9)
            process.wait()
        if self._thread is not None:
            self._thread.join(5)
        if process is not None and process.stdout is not None:
            process.stdout.close()

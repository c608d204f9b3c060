# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference routers without the third of a second in which Python starts and imports them.

Half the processor time of many short runs is that. Here one process has imported everything, and
each router is a copy of it: python -m x25shark.selftest.warm NUMBER, with the number of a socket
over which a request comes: one line of JSON, the arguments of the router, and with it four
descriptors, its standard input, output and error, and a pipe. Into the pipe goes a line with the
number of the router's process, and when it has ended another with its status, as Popen has it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Any

MODULE = "x25shark.reference"
_LONGEST = 1 << 16


class Warm:
    """Starts routers in place of Popen, until close()."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # Ctrl-C is for whoever asks for routers; it ends with the socket.
                start_new_session=True,
            )

    def close(self) -> None:
        """The routers are left as they are."""
        self._socket.close()
        self._process.wait()

    def begin(
        self, command: Sequence[str], *, stdin: int, stdout: int, stderr: IO[bytes], **_: Any
    ) -> WarmRouter:
        """As Popen does with pipes: command is python -P -m MODULE and the router's arguments."""
        assert stdin == stdout == subprocess.PIPE and command[3] == MODULE
        reads, input_ = os.pipe()
        output, writes = os.pipe()
        status, tells = os.pipe()
        theirs = [reads, writes, stderr.fileno(), tells]
        request = json.dumps(command[4:]).encode()
        try:
            socket.send_fds(self._socket, [request], theirs)
        finally:
            for number in (reads, writes, tells):
                os.close(number)
        return WarmRouter(os.fdopen(input_, "wb"), os.fdopen(output, "rb"), os.fdopen(status, "rb"))


class WarmRouter:
    """One of them, with what is used of a Popen."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes], status: IO[bytes]) -> None:
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout
        self._status = status
        self._returned: int | None = None
        self.pid = int(status.readline())

    def poll(self) -> int | None:
        return self._ended_within(0)

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        status = self._ended_within(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(MODULE, timeout or 0)
        return status

    def _ended_within(self, seconds: float | None) -> int | None:
        if self._returned is None and select.select([self._status], [], [], seconds)[0]:
            self._returned = int(self._status.readline())
            self._status.close()
        return self._returned

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def serve(requests: socket.socket) -> None:
    """Until the socket is closed; in each router's process it never returns."""
    # Who watches a router has nobody to wait for it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, _LONGEST, 4)
        if not request:
            return
        if os.fork() == 0:
            requests.close()
            os._exit(_watch(json.loads(request), descriptors))
        for number in descriptors:
            os.close(number)


def _watch(arguments: Sequence[str], descriptors: Sequence[int]) -> int:
    """Start the router and tell its status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *standard, tells = descriptors
    router = os.fork()
    if router == 0:
        os.close(tells)
        os._exit(_be_router(arguments, standard))
    for number in standard:
        os.close(number)
    os.write(tells, b"%d\n" % router)
    _, status = os.waitpid(router, 0)
    # Whoever asked for the router may have ended, as behind Ctrl-C.
    with contextlib.suppress(BrokenPipeError):
        os.write(tells, b"%d\n" % os.waitstatus_to_exitcode(status))
    return 0


def _be_router(arguments: Sequence[str], standard: Sequence[int]) -> int:
    from ..reference.__main__ import main

    os.setsid()
    for place, number in enumerate(standard):
        os.dup2(number, place)
        os.close(number)
    try:
        return main(arguments)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    from ..reference import __main__, faults, variants  # noqa: F401 - what the copies need

    serve(socket.socket(fileno=int(sys.argv[1])))

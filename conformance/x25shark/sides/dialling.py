# SPDX-License-Identifier: GPL-2.0-or-later
"""The router under test is told to call: control.call of the profile (configuration T6).

The command may ask a router that runs already and end at once, or be the DTE itself and end with
its call. Nothing that goes wrong with it says anything of the router: it makes a case INCONCLUSIVE.
What it prints is read, and the last line of it told if it fails.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from selectors import EVENT_READ

from ..links.loop import Loop
from ..profile import Profile
from .outcomes import Inconclusive

# Octets of what a command prints, from the end, that are kept.
_KEPT = 2048
# For one that has no call any more to end by itself, and for one that is told to end.
_LEFT_ALONE, _ORDERLY = 0.5, 2.0
_LONGEST_LINE = 200


class Command:
    """control.call, as it runs."""

    def __init__(self, loop: Loop, text: str, before: Callable[[], None] | None) -> None:
        self._loop = loop
        self._printed = b""
        self._mine, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                text,
                shell=True,
                stdin=subprocess.DEVNULL,
                stdout=theirs.fileno(),
                stderr=theirs.fileno(),
                start_new_session=True,
                preexec_fn=before,  # noqa: PLW1509 - one system call
            )
        self._mine.setblocking(False)
        loop.add(self._mine, self._read, EVENT_READ)
        self._reading = True

    def _read(self, _events: int) -> None:
        try:
            octets = self._mine.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            octets = b""
        self._printed = (self._printed + octets)[-_KEPT:]
        if not octets:
            self._leave()

    def _leave(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove(self._mine)
            self._mine.close()

    @property
    def status(self) -> int | None:
        """The status with which it ended; None: it runs."""
        return self._process.poll()

    @property
    def last_printed(self) -> str:
        """The last line that it printed, fit to be shown; or that there was none."""
        lines = self._printed.decode("utf-8", "replace").splitlines()
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in last)
        return shown[:_LONGEST_LINE] or "it printed nothing"

    def end(self) -> None:
        """It may end by itself for a moment; then it is ended, with what it has started."""
        self._loop.wait(lambda: self.status is not None, _LEFT_ALONE)
        for number, seconds in ((signal.SIGTERM, _ORDERLY), (signal.SIGKILL, None)):
            if self.status is not None:
                break
            # The group is that of the command, which has not been waited for: no other has it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        self._leave()


class Dialling:
    """Has calls placed, and ends what is left of their commands with the case.

    before: called in the process of a command before it becomes that command.
    """

    def __init__(self, profile: Profile, loop: Loop) -> None:
        self._profile = profile
        self._loop = loop
        self._commands: list[Command] = []
        self.before: Callable[[], None] | None = None

    def dial(self, called: Callable[[], bool], modulus: int = 8) -> None:
        """Run the command; called: whether the router has called. Raises Inconclusive."""
        text, seconds = self._profile.control.call, self._profile.times.dial
        assert text is not None  # a case that dials has a profile with it
        text = text.replace("{address}", self._profile.addresses.a)
        text = text.replace("{modulo}", str(modulus))
        try:
            command = Command(self._loop, text, self.before)
        except (OSError, ValueError) as error:
            raise Inconclusive(f"control.call could not be run: {error}") from None
        self._commands.append(command)
        self._loop.wait(lambda: called() or bool(command.status), seconds, patient=True)
        if command.status and not called():
            # What it has printed and sent may be there only now.
            self._loop.wait(called, min(seconds, _LEFT_ALONE))
        if called():
            return
        status = command.status
        if status:
            how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
            raise Inconclusive(f"control.call {how}: {command.last_printed}")
        ended = "has not ended" if status is None else "ended with status 0"
        raise Inconclusive(
            f"control.call {ended}, and no call of the router came within {seconds:g} s "
            f"(times.dial): {command.last_printed}"
        )

    def finish(self) -> None:
        """The case is over, and its calls are."""
        commands, self._commands = self._commands, []
        for command in commands:
            command.end()

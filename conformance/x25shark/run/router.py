# SPDX-License-Identifier: GPL-2.0-or-later
"""The router under test as a process: the embedded reference router, or the profile's hooks."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import IO, Protocol

from ..interrupts import interrupts
from ..line_places import tcp
from ..profile import Control, Profile, ProfileError
from ..report.tell import complain
from ..report.text import one_line
from . import descriptors

READY_SECONDS = 30.0
HOOK_SECONDS = 300.0
# When somebody at a terminal begins to wonder.
TELL_SECONDS = 10.0
# For a hook that is given up to end by itself.
ORDERLY_SECONDS = 2.0
# Octets of router.log; what is older is dropped where a router writes more.
LONGEST_LOG = 64 << 20
# Octets at its end in which the line is that is shown when the router does not start.
_TAIL = 4096
_NOTHING = "it printed nothing"
# What stands behind the name of a profile that comes with x25shark.
BUILT_IN = "(built-in)"
# For a router on this machine that is not gone when its stop hook is done.
GONE_SECONDS = 5.0
# Between two looks whether an interrupt came, or a router has gone.
_LOOK = 0.1


class RouterError(Exception):
    """The router could not be started; the message says why."""


class Process(Protocol):
    """What is used of a Popen."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class Router:
    """Starts and stops what the profile says. Used as a context manager.

    may_stay: leave() may be called, and the router then outlives this process.
    counters_url: where the embedded router shows its counters; a restart changes it. serial: where
    it has its serial interfaces, by name: "host:port", or the path of a terminal. module: what the
    embedded router is started as; begin: by whom, with the arguments of Popen.
    """

    def __init__(
        self, profile: Profile, log: Path, options: Sequence[str] = (), *, may_stay: bool = False
    ) -> None:
        self._profile = profile
        self._may_stay = may_stay
        self._left = False
        self._log_path = log
        self.options = options
        self.module = "x25shark.reference"
        self.begin: Callable[..., Process] = subprocess.Popen
        self.counters_url: str | None = None
        self.serial: dict[str, str] = {}
        self.found_running = ""
        """In words, that somebody listened at its address before it was started first."""
        self._log: IO[bytes] | None = None
        self._process: Process | None = None

    def __enter__(self) -> Router:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._left:
            self.stop()
        if self._log is not None:
            self._log.close()
            self._log = None

    @property
    def can_restart(self) -> bool:
        """Whether the profile says how to start the router again."""
        control = self._profile.control
        return (
            self._profile.embedded is not None
            or control.restart is not None
            or control.start is not None
        )

    @property
    def ended(self) -> str:
        """How the process of the embedded router ended by itself; "" if it did not."""
        status = self._process.poll() if self._process is not None else None
        if status is None:
            return ""
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"its process {how}"

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the router and wait until it is ready. Raises RouterError."""
        if self._log is None:
            self._log_path.parent.mkdir(parents=True, exist_ok=True)
            self._log = self._log_path.open("ab")
        if self._profile.embedded is not None:
            self._start_embedded(self._profile.embedded)
        elif self._profile.control.start is not None:
            self._make_way()
            self._hook("start")

    def _make_way(self) -> None:
        """Stop one that listens at the router's address already: what start begins could not, and
        the run would test an old build without a word. See `found_running`."""
        taken = self._taken()
        if not taken:
            return
        where = ", ".join(f"{host}:{port}" for host, port in taken)
        self.found_running = f"a router listened at {where} before control.start"
        if self._profile.control.stop is not None:
            with contextlib.suppress(RouterError):
                self._hook("stop")
                self._await_port()
            self.found_running += "; control.stop was run first"
        if self._taken():
            self.found_running += "; it listens still, and may be the one that was tested"

    def _taken(self) -> list[tuple[str, int]]:
        """Where on this machine somebody listens for what the router is to take: XOT, and serial
        lines whose octets go over TCP."""
        places = [line.place for line in self._profile.line.by_side().values()]
        listens = [place for way, place in filter(None, places) if way is tcp]
        if self._profile.xot is not None:
            listens.insert(0, self._profile.xot.router)
        return list(filter(_in_use, dict.fromkeys(listens)))

    def leave(self) -> str:
        """Do not stop it at the end; how to reach and to stop it, in words."""
        self._left = True
        ends = self._profile.xot
        reached = [f"{ends.router[0]}:{ends.router[1]}"] if ends is not None else []
        where = f"the router was left as it is: {', '.join([*reached, *self.serial.values()])}"
        if self._process is not None:
            process = self._process.pid
            user = "-U --preserve-credentials " if _in_own_user() else ""
            return (
                f"{where}, process {process}; a shell in its network: "
                f"nsenter {user}-n -t {process} sh; stop it: kill {process}"
            )
        return (
            f"{where}; control.stop of the profile stops it"
            if self._profile.control.stop
            else where
        )

    def stop(self) -> None:
        """Stop the router in an orderly way."""
        process = self._process
        self._process = None
        if process is not None:
            if self._may_stay:
                process.terminate()
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        elif self._profile.embedded is None and self._profile.control.stop is not None:
            self._hook("stop")

    def restart(self) -> None:
        """Stop and start, or the hook control.restart."""
        if self._profile.embedded is None and self._profile.control.restart is not None:
            self._hook("restart")
        else:
            # A router that has died cannot be stopped, and start says whether it matters.
            with contextlib.suppress(RouterError):
                self.stop()
                self._await_port()
            self.start()

    def _await_port(self) -> None:
        """A stop hook may be done before a router on this machine is: wait until its ports are
        free.

        Not for ever: what has it may be what the profile means by stopped.
        """
        end = time.monotonic() + GONE_SECONDS
        while self._taken() and time.monotonic() < end:
            time.sleep(_LOOK)

    def shorten_log(self) -> str:
        """Where the router has written more than anybody reads, drop it. What there is to say."""
        if self._log is None or os.fstat(self._log.fileno()).st_size <= LONGEST_LOG:
            return ""
        # Whoever writes to it appends.
        os.ftruncate(self._log.fileno(), 0)
        return (
            f"the router printed more than {LONGEST_LOG >> 20} MB; {self._log_path.name} has only "
            "what came last"
        )

    def _start_embedded(self, name: str) -> None:
        folder = resources.files("x25shark") / "profiles"
        beside = Path(self._profile.path).parent / name
        with resources.as_file(folder / name) as built_in:
            path = built_in if built_in.is_file() else beside
            if not path.is_file():
                raise ProfileError(
                    f"{self._profile.path}: embedded: {name!r} is neither a built-in router "
                    f"configuration nor a file beside the profile"
                )
            command = [sys.executable, "-P", "-m", self.module, "--config", str(path)]
            # One that may outlive this run must not end with it.
            self._process = self.begin(
                [*command, *([] if self._may_stay else ["--stop-on-eof"]), *self.options],
                stdin=subprocess.DEVNULL if self._may_stay else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                start_new_session=True,
                preexec_fn=descriptors.give_back,
            )
            self._await_ready()

    def _await_ready(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        stdout = self._process.stdout
        deadline = time.monotonic() + READY_SECONDS
        # Unlike select(2) it takes a descriptor of any number.
        looking = select.poll()
        looking.register(stdout, select.POLLIN)
        line = b""
        while not line.endswith(b"\n") and time.monotonic() < deadline:
            interrupts.check()
            if looking.poll(200):
                octets = os.read(stdout.fileno(), 4096)
                if not octets:
                    break
                line += octets
        try:
            said = json.loads(line)
            if said["ready"] is True:
                page = said.get("http")
                self.counters_url = f"http://{page}/" if page else None
                self.serial = dict(said.get("serial") or {})
                return
        except (ValueError, KeyError, TypeError):
            pass
        self._process.kill()
        self._process.wait()
        self._process = None
        raise RouterError(f"the reference router did not start: {self.last_printed or _NOTHING}")

    @property
    def last_printed(self) -> str:
        """The last line that the router, or a command of the profile, has printed, or ""."""
        try:
            with self._log_path.open("rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL))
                lines = log.read(_TAIL).decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return one_line(next((line for line in reversed(lines) if line.strip()), ""), 200)

    def _hook(self, which: str) -> None:
        control: Control = self._profile.control
        command = getattr(control, which)
        process = subprocess.Popen(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            preexec_fn=descriptors.give_back,  # noqa: PLW1509 - one system call
        )
        try:
            status = _status_within(process, TELL_SECONDS)
            if status is None and not interrupts.hurried:
                hint = "" if which == "stop" else ". It has to end and leave the router running (&)"
                complain(f"control.{which} has not ended; it is given {HOOK_SECONDS:g} s{hint}")
                status = _status_within(process, HOOK_SECONDS - TELL_SECONDS)
        except BaseException:
            _end(process)
            raise
        if status is None:
            _end(process)
            why = f"did not end within {HOOK_SECONDS:g} s"
            if interrupts.hurried:
                why = "was given up, as the run was to end at once"
            raise RouterError(f"control.{which} {why}")
        if status != 0:
            raise RouterError(
                f"control.{which} ended with status {status}: {self.last_printed or _NOTHING}"
                f"{self._not_here(command)}"
            )

    def _not_here(self, command: str) -> str:
        """Where a command begins with a relative path that leads nowhere, what to do; or ""."""
        program = (command.split() or [""])[0]
        if "/" not in program or program.startswith("/") or Path(program).exists():
            return ""
        where = "the folder it is relative to"
        if self._profile.path.endswith(BUILT_IN):
            where = "the top of a checkout of x25shark, which has it"
        return f". There is no {program} in {Path.cwd()}: start x25shark in {where}"


def _in_use(address: tuple[str, int]) -> bool:
    """Whether somebody listens there on this machine, found out without a packet."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def _below(process: int) -> Iterator[int]:
    """The processes that a process has started, and what those have."""
    with contextlib.suppress(OSError):
        for number in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            yield int(number)
            yield from _below(int(number))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command that is given up, and what it has started: in an orderly way, or else not."""
    with contextlib.ExitStack() as stack:
        there = []
        for number in (process.pid, *_below(process.pid)):
            with contextlib.suppress(OSError):
                there.append(os.pidfd_open(number))
                stack.callback(os.close, there[-1])
        for how, seconds in ((signal.SIGTERM, ORDERLY_SECONDS), (signal.SIGKILL, None)):
            for one in there:
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(one, how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(seconds)


def _status_within(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The status with which a process ended; None: it has not, and nobody waits any longer.

    Raises Interrupted.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not interrupts.hurried:
        interrupts.check()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK)
    return None


def _in_own_user() -> bool:
    """Whether this process has moved into a user namespace of its own."""
    try:
        return Path("/proc/self/uid_map").read_text().split()[2] != "4294967295"
    except (OSError, IndexError):
        return False

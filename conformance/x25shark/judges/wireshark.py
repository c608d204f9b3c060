# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge two: a resident process on libwireshark that reads captures with the strict dissector.

The process is the C program of dissectors/judge. It is started once and asked for every capture;
a crash or a hang costs that one reading, and the process is started again for the next. Where it
cannot be built, open_judge() gives the slower one that starts tshark (tshark.py).
"""

from __future__ import annotations

import array
import contextlib
import json
import logging
import os
import resource
import select
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from ..cpu_time import TimeLimit, computed
from ..memory import give_back
from . import program
from .reading import (
    CaptureReader,
    Difference,
    ExpertInfo,
    Hit,
    JudgeError,
    PacketRead,
    Reading,
    TcpEnd,
    Value,
)
from .sandbox import RESIDENT, Sandbox
from .tshark import TsharkJudge

__all__ = ["JudgeError", "Reading", "WiresharkJudge", "open_judge"]

DEFAULT_TIMEOUT = 10.0
START_SECONDS = 60.0
MOST_ANSWER = 1 << 30
# By how many octets the process may have grown since it was up: it gives little memory back.
MOST_GROWN = 24 << 20

_log = logging.getLogger(__name__)


End = tuple[int, str, int, str, int]


def _packet(
    item: Sequence[Any], ends: Sequence[End], fields: Sequence[str], octets: set[int]
) -> PacketRead:
    frame, k, end, offset, *values = item
    found: dict[str, tuple[Value, ...]] = {}
    for place, value in zip(values[::2], values[1::2], strict=True):
        name = fields[place]
        read = _octets(value, found, fields) if place in octets else value
        found[name] = (*found[name], read) if name in found else (read,)
    return PacketRead(frame, k, *_end(end, ends), offset if offset >= 0 else None, found)


def _octets(
    value: str | Sequence[int], found: Mapping[str, tuple[Value, ...]], fields: Sequence[str]
) -> bytes:
    """Octets in hexadecimal, or where they are among those of an earlier field of the packet."""
    if isinstance(value, str):
        return bytes.fromhex(value)
    place, begin, count = value
    whole = found[fields[place]][0]
    if not isinstance(whole, bytes):
        raise TypeError(f"{fields[place]} has no octets")
    return whole[begin : begin + count]


def _expert(item: Sequence[Any], ends: Sequence[End]) -> ExpertInfo:
    frame, k, end, offset, *words = item
    return ExpertInfo(frame, k, *_end(end, ends), offset if offset >= 0 else None, *words)


def _end(place: int, ends: Sequence[End]) -> End:
    return ends[place] if place >= 0 else (-1, "", 0, "", 0)


def _reading(answer: Mapping[str, Any], fields: Sequence[str]) -> Reading:
    """The answer in words of our own; reading.h of the judge says what it looks like."""
    ends: list[End] = [tuple(end) for end in answer["ends"]]
    octets = set(answer["octets"])
    return Reading(
        frames=answer["frames"],
        packets=tuple(_packet(item, ends, fields, octets) for item in answer["packets"]),
        tcp_ends=tuple(TcpEnd(frame, *ends[end], *rest) for frame, end, *rest in answer["tcp"]),
        hits=tuple(tuple(map(Hit, hits[::2], hits[1::2])) for hits in answer["hits"]),
        experts=tuple(_expert(item, ends) for item in answer["experts"]),
        differences=tuple(Difference(*item) for item in answer["differences"]),
        lua_errors=tuple(answer["lua_errors"]),
        file_error=answer["malformed_file"],
        milliseconds=answer["us"] / 1000,
    )


class _Process:
    """One run of the C program."""

    def __init__(self, path: Path, sandbox: Sandbox) -> None:
        ours, theirs = socket.socketpair()
        self.socket = ours
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as this
        self.pending = b""
        try:
            self.process = subprocess.Popen(
                [path, "--socket", str(theirs.fileno()), "--lua", sandbox.lua],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.errors,
                pass_fds=[theirs.fileno()],
                env=sandbox.environment() | RESIDENT,
                cwd=sandbox.folder,
                # Ctrl-C is for the run: what was played is still judged.
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            self.errors.close()
            raise JudgeError("start", f"the judge {path} cannot be started: {error}") from error
        finally:
            theirs.close()
        self._path = path
        self._version = ""
        # What is in force against a hostile capture, in the words of the program.
        self.confined: tuple[str, ...] = ()
        self._at_first = 0

    @property
    def version(self) -> str:
        """Its version of libwireshark: it says so when it is up. Raises JudgeError."""
        if not self._version:
            try:
                ready = self.receive(TimeLimit(self.process.pid, START_SECONDS))
                self._version = str(ready["ready"])
                self.confined = tuple(str(name) for name in ready.get("confined", ()))
                self._at_first = self._memory()
            except (JudgeError, KeyError) as error:
                self.close()
                why = f"the judge {self._path} does not start: {error}"
                raise JudgeError("start", why) from error
        return self._version

    def complaint(self) -> str:
        """The last lines the process wrote to stderr."""
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace").strip()
        return text[-2000:]

    def grown(self) -> int:
        """By how many octets of memory it has grown since it was up; 0 where nobody tells."""
        return self._memory() - self._at_first

    def _memory(self) -> int:
        """Without libwireshark itself, whose pages come and go."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            resident, files = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1:3]
            return (int(resident) - int(files)) * resource.getpagesize()
        return 0

    def computed(self) -> float:
        """Seconds of processor time."""
        return computed(self.process.pid)

    def ended(self) -> bool:
        return self.process.poll() is not None

    def _gone(self) -> JudgeError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=1)
        status = self.process.returncode
        words = f"the judge ended with status {status}"
        if complaint := self.complaint():
            words += f": {complaint}"
        return JudgeError("crash", words)

    def send(self, request: Mapping[str, Any], capture: int, limit: TimeLimit) -> None:
        line = json.dumps(request).encode() + b"\n"
        if len(line) > 16 * 1024 * 1024:
            raise JudgeError("limit", "the request is longer than 16 MiB")
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [capture]))]
        unsent = memoryview(line)
        while unsent:
            left = limit.left()
            self.socket.settimeout(max(left, 0.001))
            try:
                unsent = unsent[self.socket.sendmsg([unsent], rights) :]
                rights = []
            except TimeoutError as error:
                if left <= 0:
                    raise JudgeError("timeout", "the judge does not accept its request") from error
            except OSError as error:
                raise self._gone() from error

    def receive(self, limit: TimeLimit) -> dict[str, Any]:
        # A long answer is there once, and not three times, while it is read.
        came = bytearray()
        # Unlike select(2) it takes a descriptor of any number.
        looking = select.poll()
        looking.register(self.socket, select.POLLIN)
        while True:
            left = limit.left()
            if not looking.poll(1000 * max(left, 0.0)):
                if left <= 0:
                    raise JudgeError("timeout", "the judge did not answer in time")
                continue
            try:
                got = self.socket.recv(1 << 20)
            except OSError as error:
                raise self._gone() from error
            if not got:
                raise self._gone()
            came += got
            if got.endswith(b"\n"):
                break
            if len(came) > MOST_ANSWER:
                raise JudgeError("limit", "the judge's answer is longer than 1 GiB")
        try:
            whole = came.decode()
            came.clear()
            answer = json.loads(whole)
        except (ValueError, RecursionError) as error:
            raise JudgeError("crash", f"the judge's answer is not JSON: {error}") from error
        if not isinstance(answer, dict):
            raise JudgeError("crash", "the judge's answer is not a JSON object")
        return answer

    def close(self) -> None:
        self.socket.close()
        try:
            self.process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()

    def kill(self) -> None:
        self.process.kill()
        self.close()


class WiresharkJudge(CaptureReader):
    """The C judge. Use it as a context manager; read() may be called from any thread.

    Raises JudgeError("start") at once if the program cannot be found, built or started. waiting:
    otherwise it may still be coming up; up() waits for it.
    """

    def __init__(
        self, path: Path | None = None, xot_ports: Iterable[int] = (), *, waiting: bool = True
    ) -> None:
        self._lock = threading.Lock()
        self._loads = 0
        self._path = path or program.find()
        self._sandbox = Sandbox(xot_ports)
        self._process: _Process | None = None
        # By processes that were replaced.
        self._computed_before = 0.0
        try:
            self._process = _Process(self._path, self._sandbox)
            self.version = ""
            # What keeps a hostile capture from doing harm, in words.
            self.confined: tuple[str, ...] = ()
            if waiting:
                self._note_version(self._process)
        except JudgeError:
            self._sandbox.close()
            raise

    def up(self) -> None:
        """Wait until it is up. Raises JudgeError("start"), and is closed then."""
        with self._lock:
            assert self._process is not None
            try:
                self._note_version(self._process)
            except JudgeError:
                self._process = None
                self._sandbox.close()
                raise

    def _note_version(self, process: _Process) -> None:
        self.version, self.confined = process.version, process.confined

    @property
    def process_id(self) -> int | None:
        """The process that is up now, for diagnosis."""
        return self._process.process.pid if self._process else None

    @property
    def computed(self) -> float:
        """Seconds of processor time of its processes so far; 0 where nobody tells."""
        now = self._process.computed() if self._process is not None else 0.0
        return self._computed_before + now

    def read(
        self,
        capture: bytes | int,
        filters: Sequence[str] = (),
        fields: Sequence[str] = (),
        *,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> Reading:
        """Read a capture: its octets, or a descriptor of a regular file (its position moves).

        A filter with {k} is evaluated for each X.25 packet, any other once for each frame. fields
        are strict fields whose values are wanted with each packet. timeout: seconds, without those
        in which a busy machine had no processor for the judge. Raises JudgeError; after "crash" and
        "timeout" the next reading has a new process.
        """
        with self._lock:
            if isinstance(capture, int):
                return self._read(capture, filters, fields, timeout)
            descriptor = os.memfd_create("capture", os.MFD_CLOEXEC)
            try:
                with os.fdopen(os.dup(descriptor), "wb") as file:
                    file.write(capture)
                return self._read(descriptor, filters, fields, timeout)
            finally:
                os.close(descriptor)

    def _read(
        self, capture: int, filters: Sequence[str], fields: Sequence[str], timeout: float
    ) -> Reading:
        if self._process is not None and self._process.ended():
            self._drop()
        if self._process is None:
            # A program that starts takes more than one that is up, and follows a large capture.
            give_back()
            self._process = _Process(self._path, self._sandbox)
        self._note_version(self._process)
        self._loads += 1
        limit = TimeLimit(self._process.process.pid, timeout)
        request = {"load": self._loads, "filters": list(filters), "fields": list(fields)}
        try:
            self._process.send(request, capture, limit)
            answer = self._process.receive(limit)
            if answer.get("load") != self._loads:
                raise JudgeError("crash", "the judge answered a different request")
        except JudgeError:
            self._drop()
            raise
        if self._process.grown() > MOST_GROWN:
            self._drop()
        if error := answer.get("error"):
            raise JudgeError(error["kind"], error["message"], error.get("place"))
        try:
            return _reading(answer, fields)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            self._drop()
            raise JudgeError("crash", f"the judge's answer cannot be read: {error!r}") from error

    def _drop(self) -> None:
        if self._process is not None:
            self._computed_before += self._process.computed()
            self._process.kill()
            self._process = None

    def close(self) -> None:
        """End the process and remove its folder."""
        with self._lock:
            if self._process is not None:
                self._process.close()
                self._process = None
            self._sandbox.close()


class Opening:
    """A judge that comes up while something else is done.

    which: "libwireshark", "tshark", or "auto": the one that starts tshark only where the C judge
    cannot be had. xot_ports: TCP ports that XOT is on, besides 1998. The process belongs to the
    thread that opens it, and dies with that.
    """

    def __init__(self, which: str = "auto", xot_ports: Iterable[int] = ()) -> None:
        self._which = which
        self._ports = tuple(xot_ports)
        self._judge: CaptureReader | None = None
        # Why the slower judge has to do, in words.
        self.slower = ""
        if which == "tshark":
            self._judge = TsharkJudge(self._ports)
            return
        try:
            self._judge = WiresharkJudge(xot_ports=self._ports, waiting=False)
        except JudgeError as error:
            self._fall_back(error)

    def _fall_back(self, no_program: JudgeError) -> None:
        if self._which == "libwireshark":
            raise no_program
        try:
            self._judge = TsharkJudge(self._ports)
        except JudgeError as no_tshark:
            both = dict.fromkeys([str(no_program), str(no_tshark)])
            raise JudgeError("start", "; ".join(both)) from no_tshark
        self.slower = f"judging with tshark, which is slower: {no_program}"
        _log.warning("%s", self.slower)

    def judge(self) -> CaptureReader:
        """The judge, when it is up. Raises JudgeError("start") with all reasons."""
        if isinstance(self._judge, WiresharkJudge):
            try:
                self._judge.up()
            except JudgeError as error:
                self._judge = None
                self._fall_back(error)
        assert self._judge is not None
        return self._judge

    def close(self) -> None:
        """End the judge, up or not."""
        if self._judge is not None:
            self._judge.close()


def open_judge(xot_ports: Iterable[int] = ()) -> CaptureReader:
    """The C judge, or the one that starts tshark where the C judge cannot be had.

    xot_ports: TCP ports that XOT is on, besides 1998.

    Raises JudgeError("start") with both reasons if there is neither.
    """
    return Opening("auto", xot_ports).judge()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Judging in a process of its own: it computes beside the cases, not in turns with them.

The process is a copy of this one, made before there are threads, sockets or a capture in it. It has
judge one, starts judge two, writes the evidence, and gives back results; all that a run knows stays
here. It ends when its end of the socket does, or with the thread that made it, so that it outlives
nobody. Where it dies, or says nothing for minutes, the case that it had in hand is an ERROR, and
the others are judged here, as is a case that cannot be packed or is too large for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import os
import pickle
import queue
import select
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..catalogue import Purpose
from ..evidence.slicer import Slice
from ..interrupts import interrupts
from ..judges.reading import JudgeError
from ..judges.watch import Watch
from ..judges.wireshark import Opening
from ..results import CaseResult, ExpectationResult
from ..temporary import sweep
from .builtin_dissector import BuiltinDissector
from .judging import CaseRecord, Judgement, Taken, Watched, broken_off
from .observations import fault_of_ours
from .packed import packed, unpacked
from .pipeline import Backlog, Pipeline
from .versions import About, about, version_of

# A case with more octets of evidence is judged here: it would be in memory three times. So many
# octets are on their way at once, or one case: enough that the process need not wait, and each is
# in memory twice.
_MOST_SENT = 16 << 20
_ON_THEIR_WAY = 1 << 21
_LENGTH = _NUMBER = struct.Struct("!Q")
_END, _HURRY = b"end", b"hurry"
# When Python looks for circles of objects that nobody needs, counted in objects; what was there
# before the first case is frozen. In the tester each case leaves some (its sides and their
# connections), in the process that judges hardly any does.
COLLECT = (50_000, 3, 4)
_COLLECT_JUDGING = (200_000, 3, 4)
_NICE = 5
# What the system calls the process.
NAME = "x25shark-one"
# Between two looks, and how long a process that was told to end, or to hurry, may take.
_LOOK = 0.1
_ENDING_SECONDS = 5.0
# After how many looks of a second each without a word, though it has cases, it is stuck. Looks and
# not the clock: a machine that was asleep has looked once.
_STUCK_LOOKS = 300
_PR_SET_PDEATHSIG = 1
_NOT_UP = "the judging process does not start"


@dataclass(frozen=True)
class _NoJudge:
    """A JudgeError."""

    kind: str
    message: str


@dataclass(frozen=True)
class Noted:
    """What one case adds to a purpose about the whole run, by its place in the list of them."""

    place: int
    connections: int
    remarks: list[str]
    broken: ExpectationResult | None
    error: str | None
    with_case: bool

    def add(self, watched: Sequence[Watched], result: CaseResult) -> None:
        """Add it to what is known; result: that of the case."""
        found = watched[self.place]
        found.connections += self.connections
        found.remarks = found.remarks or self.remarks
        found.error = found.error or self.error
        if self.broken is not None and found.broken is None:
            found.broken, found.with_case = (self.broken, result), self.with_case


@dataclass(frozen=True)
class Outcome:
    """The result of a case, and what it adds to the purposes about the whole run."""

    number: int
    result: CaseResult
    noted: list[Noted]


@dataclass(frozen=True)
class _Refused:
    """A case that the process cannot read."""

    number: int


@dataclass(frozen=True)
class _Computed:
    """The last word: seconds of processor time of the process itself, and of judge two."""

    one: float
    two: float


class Here:
    """Judge two in this process, for the few cases that are judged here: started when needed."""

    def __init__(self, which: str, ports: Iterable[int]) -> None:
        self._which, self._ports = which, tuple(ports)
        self._opening: Opening | None = None
        self._opinion: BuiltinDissector | None = None

    def opinion(self) -> BuiltinDissector:
        """What reads with it. Raises JudgeError."""
        if self._opinion is None:
            self._opening = Opening(self._which, self._ports)
            judge = self._opening.judge()
            self._opinion = BuiltinDissector(judge, version_of(judge))
        return self._opinion

    def close(self) -> None:
        """End it, if it was started."""
        if self._opening is not None:
            self._opening.close()


Watches = Sequence[tuple[Purpose, Watch]]


class Apart:
    """The process, seen from here. Used as: about(), begin(), join(), close()."""

    def __init__(self, which: str, ports: Iterable[int], directory: Path, watches: Watches) -> None:
        """Start it. which, ports: as of Opening. watches: the purposes about the whole run.

        Raises OSError where the system has no process for it.
        """
        self._socket, theirs = socket.socketpair()
        tester = os.getpid()
        try:
            self._process = os.fork()
        except OSError:
            self._socket.close()
            theirs.close()
            raise
        if self._process == 0:
            body = partial(_serve, theirs, which, ports, directory, watches)
            _be_the_process(theirs, tester, body)
        theirs.close()
        self._sending = threading.Lock()
        self._changed = threading.Condition()
        self._waiting: dict[int, tuple[CaseRecord, Slice, int]] = {}
        self._on_their_way = 0
        self._lost = self._ended = False
        self._here: queue.Queue[tuple[CaseRecord, Slice] | None] = queue.Queue()
        self._threads: list[threading.Thread] = []
        self._judging_here: threading.Thread | None = None
        # Seconds of processor time; known when it has ended.
        self.judge_one = self.judge_two = 0.0

    @property
    def process_id(self) -> int:
        """The process, for diagnosis."""
        return self._process

    def about(self) -> About:
        """Its judge, when that is up. Raises JudgeError; Interrupted if somebody wants no run."""
        while not self._readable(_LOOK):
            # The judge may have to be built first.
            interrupts.check()
        said = _receive(self._socket)
        if isinstance(said, About):
            return said
        if isinstance(said, _NoJudge):
            raise JudgeError(said.kind, said.message)
        self._lost = True
        ended = os.waitid(os.P_PID, self._process, os.WEXITED | os.WNOWAIT)
        assert ended is not None
        by = "status" if ended.si_code == os.CLD_EXITED else "signal"
        raise JudgeError("start", f"{_NOT_UP}: it ended with {by} {ended.si_status}")

    def begin(
        self,
        slices: Backlog,
        record_of: Callable[[int], CaseRecord | None],
        settle: Callable[[CaseRecord, Slice, Outcome], None],
        settle_here: Callable[[CaseRecord, Slice], None],
    ) -> None:
        """Judge slices until None comes. settle_here judges one in this process."""
        self._slices, self._record_of = slices, record_of
        self._settle, self._settle_here = settle, settle_here
        for name, body in (("sending", self._send_cases), ("verdicts", self._take_outcomes)):
            thread = threading.Thread(target=body, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def join(self) -> None:
        """Wait for the last verdict; None has been put into the slices."""
        for thread in self._threads:
            self._await(thread)
        if self._judging_here is not None:
            self._here.put(None)
            self._await(self._judging_here)

    def _await(self, thread: threading.Thread) -> None:
        told, until = False, math.inf
        while thread.is_alive():
            thread.join(_LOOK)
            if not interrupts.hurried:
                continue
            until = min(until, time.monotonic() + _ENDING_SECONDS)
            told = told or self._tell(_HURRY)
            if time.monotonic() > until:
                self._kill()

    def _tell(self, word: bytes) -> bool:
        """Say it if that can be said at once: whoever is stuck reads nothing."""
        if not self._sending.acquire(timeout=_LOOK):
            return False
        try:
            with contextlib.suppress(BlockingIOError):
                self._socket.send(_LENGTH.pack(len(word)) + word, socket.MSG_DONTWAIT)
                return True
        except OSError:
            return True  # it is gone
        finally:
            self._sending.release()
        return False

    def _kill(self) -> None:
        """End it, and what it has started but for judge two, which ends with it."""
        self._lost = True
        for end in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                end(self._process, signal.SIGKILL)

    def close(self) -> None:
        """Have it end, and wait for that."""
        if self._process <= 0:
            return
        if not self._ended:
            self._tell(_END)
        deadline = time.monotonic() + _ENDING_SECONDS
        while os.waitpid(self._process, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                self._kill()
                os.waitpid(self._process, 0)
                break
            time.sleep(0.005)
        self._process = 0
        self._socket.close()
        if self._lost:
            # It could not tidy up.
            sweep()

    def _send_cases(self) -> None:
        while (found := self._slices.get()) is not None:
            record = None if interrupts.hurried else self._record_of(found.number)
            if record is None:
                self._slices.judged(found)
            elif not self._sent(record, found):
                self._judge_here(record, found)
            # Not to be held while nothing comes.
            del record, found
        with self._sending:
            self._ended = True
            _send(self._socket, _END)

    def _sent(self, record: CaseRecord, found: Slice) -> bool:
        """Give a case to the process, if that can be."""
        # Nobody reads a flood; its evidence is kept, and that is large.
        if record.flood or found.octets > _MOST_SENT:
            return False
        try:
            octets = packed(record, found)
        except Exception:  # a case of somebody else's may hold anything
            return False
        with self._changed:
            while self._waiting and self._on_their_way + len(octets) > _ON_THEIR_WAY:
                self._changed.wait(_LOOK)
                if interrupts.hurried:
                    return False
            if self._lost:
                return False
            self._waiting[found.number] = record, found, len(octets)
            self._on_their_way += len(octets)
        with self._sending:
            # Where it is gone, the other thread knows what was waiting for it.
            _send(self._socket, _NUMBER.pack(found.number), octets)
        return True

    def _take_outcomes(self) -> None:
        while not isinstance(said := self._next(), _Computed):
            if said is None:
                self._give_up()
                return
            with self._changed:
                record, found, octets = self._waiting.pop(said.number)
                self._on_their_way -= octets
                self._changed.notify_all()
            if isinstance(said, Outcome):
                self._settle(record, found, said)
                self._slices.judged(found)
            else:
                self._judge_here(record, found)
            # Not to be held while nothing comes.
            del record, found, said
            self._slices.tidy()
        self.judge_one, self.judge_two = said.one, said.two

    def _next(self) -> Any:
        """What it says next; None: it is gone. One that is stuck is ended."""
        looks = 0
        while not self._readable(1.0):
            looks = looks + 1 if self._waiting or self._ended else 0
            if looks >= _STUCK_LOOKS:
                self._kill()
        return _receive(self._socket)

    def _readable(self, seconds: float) -> bool:
        """Whether there is a word of it, or its end, within so many seconds."""
        looking = select.poll()
        looking.register(self._socket, select.POLLIN)
        return bool(looking.poll(seconds * 1000))

    def _give_up(self) -> None:
        """It has died: what it had first may be the cause, all else is judged here."""
        with self._changed:
            self._lost = True
            left = list(self._waiting.values())
            self._waiting.clear()
            self._changed.notify_all()
        for place, (record, found, _octets) in enumerate(left):
            if place or interrupts.hurried:
                self._judge_here(record, found)
                continue
            why = "the process that judges died with this case in hand"
            self._settle(record, found, Outcome(found.number, broken_off(record, why), []))
            self._slices.judged(found)

    def _judge_here(self, record: CaseRecord, found: Slice) -> None:
        with self._changed:
            self._here.put((record, found))
            if self._judging_here is None:
                self._judging_here = threading.Thread(
                    target=self._judge_all_here, name="judging", daemon=True
                )
                self._judging_here.start()

    def _judge_all_here(self) -> None:
        while (item := self._here.get()) is not None:
            if not interrupts.hurried:
                self._settle_here(*item)
            self._slices.judged(item[1])
            del item
            self._slices.tidy()


def _send(sock: socket.socket, *parts: bytes) -> None:
    """One message; nothing where the other end is gone, which whoever reads will notice."""
    with contextlib.suppress(OSError):
        sock.sendall(_LENGTH.pack(sum(map(len, parts))))
        for part in parts:
            sock.sendall(part)


def _octets(sock: socket.socket, count: int) -> bytearray | None:
    octets = bytearray(count)
    left = memoryview(octets)
    while left:
        try:
            came = sock.recv_into(left)
        except OSError:
            return None
        if not came:
            return None
        left = left[came:]
    return octets


def _message(sock: socket.socket) -> bytearray | None:
    """The next message; None: the other end is gone."""
    length = _octets(sock, _LENGTH.size)
    return None if length is None else _octets(sock, _LENGTH.unpack(length)[0])


def _receive(sock: socket.socket) -> Any:
    """What the process says; None: it is gone."""
    octets = _message(sock)
    return None if octets is None else pickle.loads(octets)


# In the process


def _be_the_process(own: socket.socket, tester: int, body: Callable[[], None]) -> None:
    """Become it: nothing of the tester's is open in it, and no signal for the tester ends it.

    tester: the process that made it; it ends with that, even where somebody has stopped it.
    """
    status = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != tester:
            return
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            os.setsid()
            Path("/proc/self/comm").write_text(NAME, "ascii")
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nowhere, standard)
        os.closerange(3, own.fileno())
        os.closerange(own.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        # Where processors are few, what is played has the first right to them: router and tester.
        os.nice(_NICE)
        gc.freeze()
        gc.set_threshold(*_COLLECT_JUDGING)
        body()
        status = 0
    finally:
        # What the tester would do when it ends is not for this process.
        os._exit(status)


def _serve(
    sock: socket.socket, which: str, ports: Iterable[int], directory: Path, watches: Watches
) -> None:
    """Judge what comes, until the end is said or the tester is gone."""
    try:
        opening = Opening(which, ports)
        judge = opening.judge()
        said = about(judge, opening.slower)
    except JudgeError as error:
        _send(sock, pickle.dumps(_NoJudge(error.kind, str(error))))
        return
    except Exception as error:
        _send(sock, pickle.dumps(_NoJudge("start", f"{_NOT_UP}: {fault_of_ours(error)}")))
        return
    _send(sock, pickle.dumps(said))
    slices = Backlog()
    records: dict[int, CaseRecord] = {}

    def settle(record: CaseRecord, _found: Slice | None, read: Callable[[], Taken]) -> None:
        records.pop(record.number, None)
        try:
            result = judgement.decide(read())
        except Exception as error:  # a case may cost its own verdict, never the run
            result = broken_off(record, error)
        noted = [_noted(place, watched) for place, watched in enumerate(record.watched)]
        outcome = Outcome(record.number, result, [n for n in noted if n is not None])
        _send(sock, pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL))

    opinion = BuiltinDissector(judge, said.wireshark)
    judgement = Judgement(lambda: opinion, directory)
    pipeline = Pipeline(slices, judgement, records.get, settle)
    while True:
        octets = _message(sock)
        if octets is None:
            return
        word = bytes(octets[: _NUMBER.size])
        if word == _END:
            break
        if word == _HURRY:
            interrupts.count = 2
            continue
        try:
            record, found = unpacked(memoryview(octets)[_NUMBER.size :])
        except Exception:  # what can be packed need not be to unpack
            _send(sock, pickle.dumps(_Refused(*_NUMBER.unpack_from(octets))))
            continue
        record.watched = [Watched(purpose, watch) for purpose, watch in watches]
        records[record.number] = record
        slices.put(found)
        # Not to be held while nothing comes.
        del octets, record, found
    slices.put(None)
    pipeline.join()
    two = judge.computed
    opening.close()
    _send(sock, pickle.dumps(_Computed(time.process_time(), two)))


def _noted(place: int, watched: Watched) -> Noted | None:
    broken = watched.broken[0] if watched.broken is not None else None
    if not (watched.connections or watched.remarks or broken or watched.error):
        return None
    return Noted(
        place, watched.connections, watched.remarks, broken, watched.error, watched.with_case
    )

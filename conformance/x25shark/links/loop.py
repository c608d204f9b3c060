# SPDX-License-Identifier: GPL-2.0-or-later
"""The tester's only event loop: plain non-blocking sockets under one selector, in one thread.

Waiting is always for a condition, with a deadline. The deadline moves away by as much as this
process was itself held up (a busy machine must not make a router late).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import selectors
import struct
import termios
import threading
import time
from collections.abc import Callable
from socket import IPPROTO_TCP, TCP_INFO, socket
from typing import TypeVar

from ..interrupts import interrupts

_Made = TypeVar("_Made")
_SLICE = 0.05
# A machine that held the tester up by x will have held up the router as well, and the kernel.
_STRETCH = 4.0
# How many times its seconds a patient wait may last while the network is at work, and a pause on a
# busy machine.
_LONGEST = 10.0
# Linux: how many octets of a socket's queue TCP has not sent once (the socket module has no name).
_SIOCOUTQNSD = 0x894B
# The state of a connection that has ended; its queue keeps what the other end never took.
_TCP_CLOSE = 7
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Overdue(Exception):
    """The time that was set for a case is over."""


def _now() -> tuple[float, float, int]:
    """Seconds by the clock, those that this thread has computed, and which thread it is."""
    return time.monotonic(), time.thread_time(), threading.get_ident()


def _octets(sock: socket, question: int) -> int:
    """The answer to an ioctl that counts octets."""
    octets: int = struct.unpack("i", fcntl.ioctl(sock, question, bytes(4)))[0]
    return octets


class Loop:
    """Runs the callbacks of readable and writable sockets while somebody waits.

    lag: seconds that this process was held up. received, units: octets and packets (or frames) of
    all connections of a case; sent: octets that the tester gave them. in_parts: seconds in which
    packets of them had come in part.
    answered: seconds in which somebody waited for the router and got an answer.
    away: the longest time in a case, in seconds, in which the tester neither waited of its own will
    nor computed: this machine had no processor for it.
    shortage: in words, that this machine had no descriptor (or memory) for a connection of a case.
    interruptible: an interrupt may be raised by any wait, and Overdue once the time that
    begin_case() was given is over.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.lag = 0.0
        self.away = 0.0
        self._here = _now()
        # When it looked last: what is read now came after that.
        self.looked = time.monotonic()
        self.interruptible = False
        # When the time of the case is over, if there was no lag; and how much there was before.
        self._end: float | None = None
        self._lag_before = 0.0
        # How much later it may be over because of answers that took their time.
        self._for_answers = 0.0
        # How many times the usual bounds a router may send; slow cases ask for a lot.
        self.allowance = 1
        self.received = self.units = self.sent = 0
        self.in_parts = self.answered = 0.0
        self.shortage = ""
        # What the tester sends on: a network may be slow to carry it.
        self.sockets: set[socket] = set()
        # Called in every turn: timers of links.
        self.on_turn: list[Callable[[], None]] = []

    def add(self, sock: socket, callback: Callable[[int], None], events: int) -> None:
        """Call callback(events) whenever the socket is ready for one of the events."""
        self._selector.register(sock, events, callback)

    def remove(self, sock: socket) -> None:
        self._selector.unregister(sock)

    def close(self) -> None:
        self._selector.close()

    def begin_case(self, seconds: float | None = None, for_answers: float = 0.0) -> None:
        """Nothing has been received in it yet, and the tester was never away.

        seconds: how long it may take, being held up not counted. for_answers: so much more the
        answers of the router may take.
        """
        self.received = self.units = self.sent = 0
        self.away = 0.0
        self.in_parts = self.answered = 0.0
        self.shortage = ""
        self._for_answers = for_answers
        self._end = None if seconds is None else time.monotonic() + seconds
        self._lag_before = self.lag
        self.here()

    def note_shortage(self, error: OSError) -> None:
        """Note an error of a connection if it is this machine's: it says nothing of the router."""
        if error.errno in _SHORTAGES:
            self.shortage = f"the tester has no room for another connection: {error.strerror}"
            if error.errno == errno.EMFILE:
                self.shortage += " (ulimit -Hn)"

    def no_end(self) -> None:
        """What is left of the case may take its time: it is bounded by itself."""
        self._end = None

    def here(self) -> None:
        """What took time up to now was meant to: a router was started, for instance."""
        self._here = _now()

    def look(self, wanted: float = 0.0) -> None:
        """Note how long the tester was away since it looked last; wanted: it waited by itself."""
        (clock, computed, thread), self._here = self._here, _now()
        if thread != self._here[2]:
            # What another thread has computed says nothing of this one.
            return
        away = self._here[0] - clock - (self._here[1] - computed) - wanted
        self.away = max(self.away, away)

    def poll(self, timeout: float = 0.0) -> None:
        """Serve what is ready now, waiting at most timeout seconds for the first event."""
        if self.interruptible:
            interrupts.check()
            self._look_at_time()
        began = time.monotonic()
        ready = self._selector.select(timeout)
        self.look(wanted=min(timeout, time.monotonic() - began))
        for key, events in ready:
            key.data(events)
        self.looked = began
        for turn in self.on_turn:
            turn()

    @property
    def in_answers(self) -> float:
        """Seconds of the case that went into answers, but for those that came bit by bit."""
        return max(self.answered - self.in_parts, 0.0)

    def _look_at_time(self) -> None:
        """Raise Overdue, once, if the time of the case is over."""
        if self._end is None:
            return
        later = self.lag - self._lag_before + min(self.in_answers, self._for_answers)
        if time.monotonic() < self._end + later:
            return
        self._end = None
        raise Overdue

    def _outgoing(self) -> tuple[int, int]:
        """Octets that TCP at the other end has not acknowledged, and how many of these were sent.

        The others wait for a router that does not read; no network is slow to carry them. What a
        connection still held when it ended goes nowhere.
        """
        queued = sent = 0
        for sock in self.sockets:
            with contextlib.suppress(OSError, ValueError):
                if sock.getsockopt(IPPROTO_TCP, TCP_INFO, 1)[0] == _TCP_CLOSE:
                    continue
                octets, unsent = _octets(sock, termios.TIOCOUTQ), _octets(sock, _SIOCOUTQNSD)
                queued += octets
                sent += octets - unsent
        return queued, sent

    def wait(self, condition: Callable[[], bool], seconds: float, *, patient: bool = False) -> bool:
        """Serve the sockets until the condition holds (True) or the time is over (False).

        patient: the seconds are those of a router. A slow network, or one that loses, takes its
        own: they count from when no octet is on its way to the router any more, and none came.
        """
        began, lag = time.monotonic(), self.lag
        met = self._wait(condition, seconds, patient)
        if met and patient:
            self.answered += time.monotonic() - began - (self.lag - lag)
        return met

    def _wait(self, condition: Callable[[], bool], seconds: float, patient: bool) -> bool:
        self.poll()
        started = time.monotonic()
        granted = seconds
        moved: tuple[int, tuple[int, int]] | None = None
        while not condition():
            before = time.monotonic()
            if patient and moved is None and before - started > _SLICE:
                # Most waits are over by then. What was on its way until now takes its own time.
                moved = self.received, self._outgoing()
                granted += before - started
            left = started + granted - before
            if left <= 0:
                # What arrived while this process was not running counts as in time.
                self.poll()
                before_that = moved
                moved = (self.received, self._outgoing()) if patient else None
                at_work = moved is not None and (moved != before_that or moved[1][1])
                if not at_work or condition() or granted >= _LONGEST * seconds:
                    return condition()
                granted += seconds
                continue
            wanted = min(_SLICE, left)
            self.poll(wanted)
            held_up = time.monotonic() - before - wanted
            if held_up > 0.01:
                self.lag += held_up
                granted += _STRETCH * held_up
        return True

    def persist(
        self,
        attempt: Callable[[], _Made],
        may_pass: Callable[[Exception], bool],
        *,
        seconds: float,
        every: float,
    ) -> _Made:
        """What an attempt makes. One whose failure may pass is made again, for so many seconds."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return attempt()
            except Exception as error:
                if time.monotonic() >= deadline or not may_pass(error):
                    raise
            self.wait(lambda: False, every)

    def pause(self, seconds: float) -> None:
        """Serve the sockets for so long, or longer where this process was held up in it.

        But never so long, however busy the machine is, that timers of the router run out.
        """
        end = time.monotonic() + _LONGEST * seconds
        self.wait(lambda: time.monotonic() >= end, seconds)

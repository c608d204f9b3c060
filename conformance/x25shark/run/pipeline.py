# SPDX-License-Identifier: GPL-2.0-or-later
"""Judging behind the cases: while judge two reads one case, the one before is decided.

Two threads, for the first mostly waits for the process on libwireshark, and the second computes.
Verdicts come in the order of the slices. Cases that leave more than the judges keep up with wait
for them (Backlog.wait), or a router that floods would fill the memory of the tester.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

from ..evidence.slicer import Slice
from ..interrupts import interrupts
from ..memory import give_back
from .judging import CaseRecord, Judgement, Taken

# So many readings may wait to be decided, besides the one that is: they are large.
_AHEAD = 3
# Octets of a slice that is read only when all that was read is decided: it takes many times as
# much. And how long until the next look.
_LARGE, _SOON = 1 << 19, 0.002
# Octets of memory that cases may take which wait for the judges before the next case waits, and how
# long that waits at most. About what they take: themselves; a frame; an octet, as a frame, within
# packets, and as what was decoded.
MOST_WAITING = 8 << 20
_OF_A_CASE, _OF_A_FRAME, _OF_AN_OCTET = 1 << 16, 1 << 10, 4
# After so many of them, judged, their memory is given back.
_MOST_LEFT = 6 << 20
_TIMEOUT = 600.0
# Between two looks whether somebody is in haste.
_LOOK = 0.1

Settle = Callable[[CaseRecord, Slice | None, Callable[[], Taken]], None]


class Backlog:
    """The slices that wait for their verdict; None behind the last."""

    def __init__(self) -> None:
        self._slices: queue.Queue[Slice | None] = queue.Queue()
        self._octets = self._left = 0
        self._of_slice: dict[int, int] = {}
        self._changed = threading.Condition()

    def put(self, found: Slice | None) -> None:
        if found is not None:
            of_frames = _OF_A_FRAME * len(found.frames)
            octets = _OF_A_CASE + of_frames + _OF_AN_OCTET * found.octets
            with self._changed:
                self._octets += octets
                self._of_slice[found.number] = octets
        self._slices.put(found)

    def get(self) -> Slice | None:
        return self._slices.get()

    def judged(self, found: Slice) -> None:
        """A slice that was taken with get has its verdict."""
        with self._changed:
            octets = self._of_slice.pop(found.number)
            self._octets -= octets
            self._left += octets
            self._changed.notify_all()

    def tidy(self) -> None:
        """What was judged is held by nobody any more: give its memory back, if it was much."""
        with self._changed:
            much = self._left > _MOST_LEFT
            if much:
                self._left = 0
        if much:
            give_back()

    def wait(self, most: int = MOST_WAITING) -> None:
        """Wait while more octets wait; not for ever, for the judges may be stuck."""
        deadline = time.monotonic() + _TIMEOUT
        with self._changed:
            while self._octets > most and time.monotonic() < deadline and not interrupts.in_haste:
                self._changed.wait(_LOOK)


class Pipeline:
    """Takes slices until None comes; settle gets each with what gives its reading, or raises."""

    def __init__(
        self,
        slices: Backlog,
        judgement: Judgement,
        record_of: Callable[[int], CaseRecord | None],
        settle: Settle,
    ) -> None:
        self._slices = slices
        self._judgement = judgement
        self._record_of = record_of
        self._settle = settle
        self._read: queue.Queue[tuple[CaseRecord, Slice, Callable[[], Taken]] | None]
        self._read = queue.Queue(_AHEAD)
        self._threads = [
            threading.Thread(target=self._read_slices, name="reading", daemon=True),
            threading.Thread(target=self._decide, name="judging", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait for the last verdict; None has been put into the slices.

        In haste for that which is under way.
        """
        for thread in self._threads:
            while thread.is_alive():
                thread.join(_LOOK)

    def _read_slices(self) -> None:
        while (found := self._slices.get()) is not None:
            record = None if interrupts.hurried else self._record_of(found.number)
            if record is not None:
                while found.octets > _LARGE and self._read.unfinished_tasks:
                    time.sleep(_SOON)
                self._read.put((record, found, self._reading(record, found)))
            else:
                self._slices.judged(found)
            # Not to be held while nothing comes.
            del record, found
        self._read.put(None)

    def _reading(self, record: CaseRecord, found: Slice) -> Callable[[], Taken]:
        try:
            taken = self._judgement.read(record, found)
        except Exception as error:  # it belongs to the verdict of the case
            failure = error

            def failed() -> Taken:
                raise failure

            return failed
        return lambda: taken

    def _decide(self) -> None:
        while (item := self._read.get()) is not None:
            if not interrupts.hurried:
                self._settle(*item)
            self._slices.judged(item[1])
            # Not to be held while nothing comes.
            del item
            self._slices.tidy()
            self._read.task_done()

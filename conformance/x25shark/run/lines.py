# SPDX-License-Identifier: GPL-2.0-or-later
"""The serial lines of a run: each with its tap, the tester's end, and the markers of cases."""

from __future__ import annotations

import contextlib
import selectors
from collections.abc import Mapping
from functools import partial

from ..evidence.capture import CaptureError
from ..evidence.line_tap import LineTap
from ..evidence.slicer import Slicer
from ..links.hdlc import Line
from ..links.loop import Loop
from ..profile import Line as LineProfile
from ..profile import Profile
from ..sides.bench import PAUSE_SECONDS

# A marker is in the stream within a millisecond; a busy machine may take its time.
_SETTLE_SECONDS = 10.0
_CONNECT_SECONDS = 15.0


class Lines:
    """All lines of a profile. ends: the tester's ends, by side."""

    def __init__(self, profile: Profile, loop: Loop, key: bytes, slicer: Slicer) -> None:
        self._profiles = profile.line.by_side()
        self._path = profile.path
        self._loop = loop
        self._taps: dict[str, LineTap] = {}
        self.ends: dict[str, Line] = {}
        self._places: dict[str, list[object]] = {}
        for side, line in self._profiles.items():
            stream = slicer.line(f"line.{side}")
            self._taps[side] = LineTap(key, stream, line.framing)

    def start(self) -> None:
        """Start the taps. Raises CaptureError."""
        for side, tap in self._taps.items():
            tap.start()
            self.ends[side] = Line(self._loop, tap.name, tap.sock, self._profiles[side].framing)
            tap.on_end = partial(self._ended, side)
            self._loop.add(tap.control, partial(self._heard, tap), selectors.EVENT_READ)

    def _heard(self, tap: LineTap, _events: int) -> None:
        tap.heard()
        if tap.failure is not None:
            with contextlib.suppress(KeyError):
                self._loop.remove(tap.control)

    def _ended(self, side: str) -> None:
        end, tap = self.ends[side], self._taps[side]
        end.line_ended()
        end.down = tap.ended

    def connect(self, serial: Mapping[str, str], seconds: float) -> None:
        """Open the lines; serial: where the embedded router has them. Raises CaptureError.

        seconds: how long one that a router has not opened yet is tried again.
        """
        self._places = {}
        for side in self._taps:
            place = _place(self._profiles[side], serial)
            if place is None:
                raise CaptureError(
                    f"{self._path}: line.{side}.serial: the router has no such interface; it has "
                    f"{', '.join(serial) or 'none'}"
                )
            self._places[side] = place
            self._loop.persist(
                partial(self._open_or_fail, side),
                lambda failed: isinstance(failed, CaptureError),
                seconds=seconds,
                every=PAUSE_SECONDS,
            )

    def _open_or_fail(self, side: str) -> None:
        self._open(side)
        if self.ends[side].down:
            raise CaptureError(
                f"line.{side} at {self.ends[side].down}. Check line.{side} in {self._path}, "
                "and that the router is running"
            )

    def _open(self, side: str) -> None:
        """Connect a line; down says what came of it."""
        end, tap, place = self.ends[side], self._taps[side], self._places[side]
        end.line_ended()
        tap.connect(place)
        self._loop.wait(tap.answered, _CONNECT_SECONDS)
        why = tap.ended or tap.failure or "no answer"
        at = place[1]
        shown = ":".join(map(str, at)) if isinstance(at, tuple) else str(at)
        end.down = "" if tap.connected else f"{shown}: {why}"

    def lost(self) -> str:
        """Which line the router has ended and does not open again, and why; "" if none."""
        for side, end in self.ends.items():
            if end.down:
                self._open(side)
            if end.down:
                return f"{end.name}: {end.down}"
        return ""

    def begin(self, number: int) -> None:
        """The marker at the begin of a case; what came before has been read then, and no more.

        A line that the router has ended is opened again first; but not a terminal of the embedded
        router, which ends with the router: another program may have got its name since.
        """
        for side, end in self.ends.items():
            gone = self._profiles[side].serial is not None and self._places[side][0] == "pty"
            if end.down and not gone:
                self._open(side)
        for tap in self._taps.values():
            tap.begin(number)
        self._settle()

    def end(self, number: int) -> None:
        for tap in self._taps.values():
            tap.end(number)
        self._settle()

    def _settle(self) -> None:
        """What comes from here on is of the next case, or of none, for tester and tap alike."""
        if not self._taps:
            return
        self._loop.wait(self._all_settled, _SETTLE_SECONDS)
        # What the tap had passed on before its marker waits in the sockets.
        for end in self.ends.values():
            end.drain()
            end.end_case()
        for tap in self._taps.values():
            tap.go_on()

    def _all_settled(self) -> bool:
        for end in self.ends.values():
            if end.flooded:
                end.drain()
        return all(tap.settled() for tap in self._taps.values())

    @property
    def dead(self) -> str:
        """Why a tap is not there any more; "": all are."""
        for tap in self._taps.values():
            if self.ends and not tap.alive:
                return f"the tap of {tap.name} ended: {tap.why}"
        return ""

    def stop(self) -> None:
        """End the taps; their streams are in the slices then."""
        for side, tap in self._taps.items():
            if side in self.ends:
                self.ends[side].close()
            with contextlib.suppress(KeyError, ValueError):
                self._loop.remove(tap.control)
            tap.stop()
        self._taps, self.ends = {}, {}


def _place(line: LineProfile, serial: Mapping[str, str]) -> list[object] | None:
    if line.place is not None:
        way, value = line.place
        return [way.KEY, value]
    place = None if line.serial is None else serial.get(line.serial)
    if place is None:
        return None
    if place.startswith("/"):
        return ["pty", place]
    host, _, port = place.rpartition(":")
    return ["tcp", (host, int(port))]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The tap of a serial line: python -m x25shark.evidence.tap NAME FRAMING OCTETS CONTROL

A process of its own between tester and router, so that evidence is not what the tester believes:

    tester  --UNIX stream socket-->  tap  --TCP connection or terminal-->  router

It passes octets on as they are, cuts frames by their flags (X.25 2.2; with code of its own), and
writes each to standard output as it completes, before it passes its last octet on: pcapng, link
type USER0, the octets between the flags with FCS and without stuffing. epb_flags say the rest:
outbound (2) tester to router, inbound (1) router to tester, symbol error: aborted, or longer than
is kept; unaligned frame error: no whole octets. How many octets of the line had come when a frame
was complete, flags and stuffing included, is a custom option. Markers are packets of link type
USER1.

NAME is the interface's name, FRAMING is octet or bit, OCTETS and CONTROL are descriptors. CONTROL
takes JSON messages: {"connect": [KEY, PLACE], "line": N} (KEY and PLACE: see line_places),
{"marker": HEX} and {"go_on": HEX}. It answers {"connected": true, "line": N}, {"failed": WHY,
"line": N} and {"marked": HEX}, and says {"ended": WHY, "line": N} when the router ends the line.
When {"marked"} comes, all that was recorded before the marker has reached the tester, and until
{"go_on"} nothing is read of the router: what the tester has then is exactly what stands before the
marker.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import socket
import struct
import sys
import time
from collections.abc import Iterator

from ..line_places import BY_KEY

USER0, USER1 = 147, 148
OUTBOUND, INBOUND = 2, 1
UNALIGNED, SYMBOL_ERROR = 1 << 28, 1 << 31
# A custom option begins with a Private Enterprise Number; this one is for examples (RFC 5612).
_CUSTOM, _ENTERPRISE = 2989, 32473
# Octets that are kept of one frame; a longer one is recorded with just as many.
LONGEST = 16384
# Octets that wait for a reader before the tap stops reading for it.
_MOST_WAITING = 1 << 20
_READ = 65536
_FLAG, _ESCAPE = 0x7E, 0x7D
_MESSAGE = 65536

Cut = tuple[bytes, int]


class OctetCutter:
    """Frames of an octet-stuffed stream: flag 0x7E, escape 0x7D, abort 0x7D 0x7E."""

    def __init__(self) -> None:
        self._rest = b""
        self._open = False

    def take(self, octets: bytes) -> Iterator[Cut]:
        """The frames that are complete now, with their error flags."""
        *parts, rest = (self._rest + octets).split(bytes([_FLAG]))
        # Twice as many escaped octets as are kept are too many in any case.
        self._rest = rest[: 2 * LONGEST + 2]
        for part in parts:
            if self._open and part:
                frame, aborted = _unescaped(part)
                yield _kept(frame, aborted)
            self._open = True


def _unescaped(part: bytes) -> tuple[bytes, bool]:
    """What stood between two flags, and whether an escape in front of the flag aborts it."""
    if _ESCAPE not in part:
        return part, False
    frame = bytearray()
    at = 0
    while (escape := part.find(_ESCAPE, at)) >= 0:
        frame += part[at:escape]
        if escape + 1 == len(part):
            return bytes(frame), True
        frame.append(part[escape + 1] ^ 0x20)
        at = escape + 2
    return bytes(frame + part[at:]), False


def _kept(frame: bytes, aborted: bool) -> Cut:
    if len(frame) > LONGEST:
        return frame[:LONGEST], SYMBOL_ERROR
    return frame, SYMBOL_ERROR if aborted else 0


class BitCutter:
    """Frames of a bit-synchronous stream: flag 01111110, a 0 behind five 1s, abort seven 1s."""

    def __init__(self) -> None:
        self._bits = bytearray()
        self._ones = 0
        self._inside = False
        self._overflow = False

    def take(self, octets: bytes) -> Iterator[Cut]:
        for octet in octets:
            for place in range(8):
                if octet >> place & 1:
                    self._ones += 1
                    if self._ones < 7:
                        self._add(1)
                    elif self._ones == 7:
                        yield from self._abort()
                    continue
                ones, self._ones = self._ones, 0
                if ones == 6:
                    yield from self._flag()
                elif ones != 5:
                    self._add(0)

    def _add(self, bit: int) -> None:
        if not self._inside:
            return
        if len(self._bits) > 8 * LONGEST + 8:
            self._overflow = True
            return
        self._bits.append(bit)

    def _flag(self) -> Iterator[Cut]:
        # The 0 and the six 1s of the flag itself were taken for data.
        bits, self._bits = self._bits[:-7], bytearray()
        inside, self._inside = self._inside, True
        overflow, self._overflow = self._overflow, False
        if not inside or len(bits) < 8:
            return
        if overflow or len(bits) > 8 * LONGEST:
            yield _packed(bits)[:LONGEST].ljust(LONGEST, b"\0"), SYMBOL_ERROR
        else:
            yield _packed(bits), UNALIGNED if len(bits) % 8 else 0

    def _abort(self) -> Iterator[Cut]:
        bits, self._bits = self._bits[:-6], bytearray()
        inside, self._inside = self._inside, False
        overflow, self._overflow = self._overflow, False
        if not inside or len(bits) < 8:
            return
        whole = _packed(bits)[:LONGEST]
        yield (whole.ljust(LONGEST, b"\0") if overflow else whole), SYMBOL_ERROR


def _packed(bits: bytearray) -> bytes:
    """Whole octets of bits, low-order bit first."""
    return bytes(
        sum(bit << place for place, bit in enumerate(bits[at : at + 8]))
        for at in range(0, len(bits) & ~7, 8)
    )


class Recorder:
    """Writes pcapng to a descriptor, in the byte order of this machine."""

    def __init__(self, descriptor: int, name: str) -> None:
        self._descriptor = descriptor
        self._last = 0
        self._write(0x0A0D0D0A, struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1))
        for link_type, title in ((USER0, name), (USER1, f"{name} markers")):
            options = _option(2, title.encode()) + _option(9, b"\x09") + _option(0, b"")
            self._write(1, struct.pack("=HHI", link_type, 0, 0) + options)

    def _write(self, kind: int, body: bytes) -> None:
        length = struct.pack("=I", len(body) + 12)
        octets = struct.pack("=I", kind) + length + body + length
        while octets:
            octets = octets[os.write(self._descriptor, octets) :]

    def packet(self, interface: int, octets: bytes, flags: int, line: int = 0) -> None:
        """An Enhanced Packet Block; times never run backwards. line: octets of the line so far."""
        self._last = max(self._last, time.time_ns())
        size = len(octets)
        head = struct.pack(
            "=IIIII", interface, self._last >> 32, self._last & 0xFFFFFFFF, size, size
        )
        options = _option(2, struct.pack("=I", flags))
        options += _option(_CUSTOM, struct.pack("=IQ", _ENTERPRISE, line)) + _option(0, b"")
        self._write(6, head + octets + bytes(-size % 4) + options)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("=HH", code, len(value)) + value + bytes(-len(value) % 4)


class Way:
    """One direction: what was read and not yet written."""

    def __init__(self, framing: str, flags: int) -> None:
        self._framing = framing
        self.flags = flags
        self.waiting = bytearray()
        self.octets = 0
        self.restart()

    def restart(self) -> None:
        """A new line: what was begun is lost."""
        self.waiting.clear()
        self.cutter = OctetCutter() if self._framing == "octet" else BitCutter()

    @property
    def full(self) -> bool:
        return len(self.waiting) >= _MOST_WAITING


class Tap:
    """See the module's text."""

    def __init__(self, name: str, framing: str, tester: int, control: int) -> None:
        self._tester = socket.socket(fileno=tester)
        self._control = socket.socket(fileno=control)
        self._router: int | None = None
        self._recorder = Recorder(sys.stdout.fileno(), name)
        self._there = Way(framing, OUTBOUND)
        self._back = Way(framing, INBOUND)
        self._marker = self._held = self._released = b""
        self._line = 0
        self._running = True
        for sock in (self._tester, self._control):
            sock.setblocking(False)

    def run(self) -> None:
        """Until the tester closes."""
        while self._running:
            selector = selectors.DefaultSelector()
            with selector:
                selector.register(self._control, selectors.EVENT_READ, self._ordered)
                self._watch(selector)
                for key, events in selector.select():
                    key.data(events)
                    if key.fileobj is self._control:
                        # The descriptors may be others now.
                        break
            self._mark()

    def _watch(self, selector: selectors.BaseSelector) -> None:
        events = 0 if self._there.full else selectors.EVENT_READ
        events |= selectors.EVENT_WRITE if self._back.waiting else 0
        if events:
            selector.register(self._tester, events, self._tester_ready)
        if self._router is not None:
            silent = self._back.full or self._marker or self._held
            events = 0 if silent else selectors.EVENT_READ
            events |= selectors.EVENT_WRITE if self._there.waiting else 0
            if events:
                selector.register(self._router, events, self._router_ready)

    # octets

    def _tester_ready(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._pass_to_tester()
        if events & selectors.EVENT_READ:
            self._read_tester()

    def _read_tester(self) -> bool:
        """Whether there was something to read."""
        try:
            octets = self._tester.recv(_READ)
        except BlockingIOError:
            return False
        except OSError:
            octets = b""
        if not octets:
            self._running = False
            return False
        self._take(self._there, octets)
        self._pass_to_router()
        return True

    def _router_ready(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._pass_to_router()
        if events & selectors.EVENT_READ and self._router is not None:
            self._read_router()

    def _read_router(self) -> bool:
        assert self._router is not None
        try:
            octets = os.read(self._router, _READ)
        except BlockingIOError:
            return False
        except OSError as error:
            self._ended(error.strerror or "error")
            return False
        if not octets:
            self._ended("closed")
            return False
        self._take(self._back, octets)
        self._pass_to_tester()
        return True

    def _take(self, way: Way, octets: bytes) -> None:
        way.octets += len(octets)
        for frame, errors in way.cutter.take(octets):
            if frame:
                self._recorder.packet(0, frame, way.flags | errors, way.octets)
        way.waiting += octets

    def _pass_to_router(self) -> None:
        if self._router is None:
            # Sent all the same, to nobody.
            self._there.waiting.clear()
        try:
            while self._there.waiting and self._router is not None:
                sent = os.write(self._router, self._there.waiting[:_READ])
                del self._there.waiting[:sent]
        except BlockingIOError:
            pass
        except OSError as error:
            self._ended(error.strerror or "error")

    def _pass_to_tester(self) -> None:
        try:
            while self._back.waiting:
                del self._back.waiting[: self._tester.send(self._back.waiting[:_READ])]
        except BlockingIOError:
            pass
        except OSError:
            self._running = False

    # orders

    def _ordered(self, _events: int) -> None:
        try:
            message = self._control.recv(_MESSAGE)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if not message:
            self._running = False
            return
        order = json.loads(message)
        if "connect" in order:
            self._hang_up()
            self._line = order["line"]
            self._connect(order["connect"])
        elif "marker" in order:
            self._marker = bytes.fromhex(order["marker"])
            # What the tester has sent before is here by now: a UNIX socket keeps nothing back.
            while not self._there.full and self._read_tester():
                pass
            if self._router is not None and not self._back.full:
                self._read_router()
        elif "go_on" in order:
            self._released, self._held = bytes.fromhex(order["go_on"]), b""

    def _mark(self) -> None:
        """Write the marker once the tester has got all that came before it."""
        if self._marker and not self._back.waiting:
            self._recorder.packet(1, self._marker, 0)
            self._say(marked=self._marker.hex())
            # A tester that did not wait for the answer has let it go on already.
            self._held = self._marker if self._marker != self._released else b""
            self._marker = b""

    def _say(self, **words: object) -> None:
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(words).encode())

    def _connect(self, place: list[object]) -> None:
        try:
            self._router = BY_KEY[str(place[0])].connect(place[1])
        except OSError as error:
            self._hang_up()
            code = error.errno or errno.ETIMEDOUT
            self._say(failed=os.strerror(code).lower(), line=self._line)
        else:
            self._say(connected=True, line=self._line)

    def _ended(self, why: str) -> None:
        self._hang_up()
        self._say(ended=why.lower(), line=self._line)

    def _hang_up(self) -> None:
        if self._router is not None:
            os.close(self._router)
            self._router = None
        self._there.restart()
        # The octets that the tester has not read yet are kept for it.
        waiting = bytes(self._back.waiting)
        self._back.restart()
        self._back.waiting += waiting


def main() -> int:
    """Run until the tester is gone."""
    _, name, framing, tester, control = sys.argv
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        Tap(name, framing, int(tester), int(control)).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())

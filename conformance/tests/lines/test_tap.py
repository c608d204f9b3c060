# SPDX-License-Identifier: GPL-2.0-or-later
"""The tap: its frames are those of another deframer, and its process passes octets unchanged."""

from __future__ import annotations

import io
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from scapy_x25 import hdlc
from x25shark.evidence import pcapng
from x25shark.evidence.line_tap import LineTap
from x25shark.evidence.slicer import Slice, Slicer
from x25shark.evidence.tap import LONGEST, SYMBOL_ERROR, UNALIGNED, BitCutter, OctetCutter
from x25shark.links.hdlc import Deframer

RUN = b"r" * 16
DAMAGE = {"": 0, "aborted": SYMBOL_ERROR, "unaligned": UNALIGNED}


def stream(framing: str, seed: int) -> bytes:
    """Frames, aborts, runts, flags and noise on a line."""
    dice = random.Random(seed)
    framer = hdlc.BitFramer()
    octets = b""
    for _ in range(60):
        frame = dice.randbytes(dice.choice((0, 1, 2, 3, 4, 40, 300)))
        kind = dice.choice(("frame", "abort", "shared", "noise", "flags", "part"))
        if framing == "octet":
            octets += {
                "frame": hdlc.frame_octets([frame]),
                "abort": b"\x7e" + hdlc.stuff_octets(frame) + b"\x7d\x7e",
                "shared": hdlc.frame_octets([frame, frame[::-1]], True),
                "noise": frame,
                "flags": b"\x7e" * 5,
                "part": b"\x7d\x7d",
            }[kind]
        elif kind in ("frame", "shared"):
            framer.frames([frame, frame[::-1]], kind == "shared")
        elif kind == "part":
            framer.flag()
            framer.body(frame, 3)
        elif kind == "noise":
            framer.bits(*(dice.getrandbits(1) for _ in range(50)))
        else:
            framer.flag()
            framer.body(frame)
            framer.abort()
            framer.idle()
    return octets + framer.finish()


@pytest.mark.parametrize("framing", ["octet", "bit"])
@pytest.mark.parametrize("seed", range(20))
def test_both_deframers_cut_the_same(framing: str, seed: int) -> None:
    octets = stream(framing, seed)
    dice = random.Random(seed)
    cutter: OctetCutter | BitCutter = OctetCutter() if framing == "octet" else BitCutter()
    deframer = Deframer(framing)
    tap, tester = [], []
    while octets:
        size = dice.randint(1, 70)
        tap += [cut for cut in cutter.take(octets[:size]) if cut[0]]
        tester += [(unit.octets, DAMAGE[unit.damage]) for unit in deframer.take(octets[:size])]
        octets = octets[size:]
    assert tap == tester
    assert len(tap) > 10


@pytest.mark.parametrize("framing", ["octet", "bit"])
def test_a_frame_without_end_is_bounded(framing: str) -> None:
    frame = bytes(range(256)) * (LONGEST // 256 + 20)
    if framing == "octet":
        octets = hdlc.frame_octets([frame])
        cuts = list(OctetCutter().take(octets))
    else:
        framer = hdlc.BitFramer()
        framer.frames([frame])
        octets = framer.finish()
        cuts = list(BitCutter().take(octets))
    (unit,) = Deframer(framing).take(octets)
    assert [(len(cut), flags) for cut, flags in cuts] == [(LONGEST, SYMBOL_ERROR)]
    assert (len(unit.octets), unit.damage) == (LONGEST, "aborted")


class Running:
    """A tap between a socket of the test (the router) and its own."""

    def __init__(self) -> None:
        self.done: dict[int, Slice] = {}
        self.slicer = Slicer(RUN, lambda s: self.done.update({s.number: s}), network=False)
        self.tap = LineTap(RUN, self.slicer.line("line.a"), "octet")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.router: socket.socket | None = None

    def connect(self) -> socket.socket:
        self.tap.connect(["tcp", self.listener.getsockname()])
        router, _ = self.listener.accept()
        self.wait(self.tap.answered)
        router.settimeout(5)
        self.router = router
        return router

    def wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < deadline, "in vain"
            self.tap.heard()
            time.sleep(0.002)

    def mark(self, mark: Callable[[int], None], number: int) -> None:
        mark(number)
        self.wait(self.tap.settled)
        self.tap.go_on()


@contextmanager
def running() -> Iterator[Running]:
    made = Running()
    made.tap.start()
    try:
        yield made
    finally:
        made.tap.stop()
        made.listener.close()
        if made.router is not None:
            made.router.close()


def test_octets_pass_unchanged_and_frames_are_recorded_with_their_direction() -> None:
    with running() as now:
        router = now.connect()
        now.mark(now.tap.begin, 1)
        there = hdlc.frame_octets([hdlc.with_fcs(b"\x01\x3f")]) + b"garbage\x7d"
        now.tap.sock.sendall(there)
        assert router.recv(1000) == there
        back = b"\x7e" + hdlc.stuff_octets(b"\x01s}~") + b"\x7d\x7e"
        router.sendall(back)
        now.wait(lambda: _peek(now.tap.sock) == len(back))
        assert now.tap.sock.recv(1000) == back
        now.mark(now.tap.end, 1)
    now.slicer.finish()
    slice_ = now.done[1]
    assert slice_.begun
    assert slice_.ended
    packets = [(pcapng.packet(f.block)[2], pcapng.flags(f.block)) for f in slice_.frames]
    assert packets == [(hdlc.with_fcs(b"\x01\x3f"), 2), (b"\x01s}~", 1 | SYMBOL_ERROR)]
    assert slice_.lines == {0: "line.a"}
    blocks = list(pcapng.read_blocks(io.BytesIO(slice_.capture())))
    assert [b.kind for b in blocks] == [
        pcapng.SECTION_HEADER,
        pcapng.INTERFACE_DESCRIPTION,
        pcapng.ENHANCED_PACKET,
        pcapng.ENHANCED_PACKET,
    ]


def _peek(sock: socket.socket) -> int:
    try:
        return len(sock.recv(1000, socket.MSG_PEEK))
    except BlockingIOError:
        return 0


def test_a_frame_behind_the_marker_is_of_the_next_case() -> None:
    frame = hdlc.frame_octets([hdlc.with_fcs(b"\x01\x3f")])
    with running() as now:
        now.connect()
        for number in (1, 2, 3):
            now.mark(now.tap.begin, number)
            for _ in range(number):
                now.tap.sock.sendall(frame)
            now.mark(now.tap.end, number)
        now.tap.sock.sendall(frame)
        now.mark(now.tap.begin, 4)
    now.slicer.finish()
    assert {n: len(s.frames) for n, s in now.done.items()} == {1: 1, 2: 2, 3: 3, 4: 0}
    assert now.slicer.stray_count == 0


def test_behind_the_marker_the_router_waits() -> None:
    """What the tester has when it is told of the marker is what stands before it, to the octet."""
    frame = hdlc.frame_octets([hdlc.with_fcs(b"\x01\x3f")])
    with running() as now:
        router = now.connect()
        now.tap.begin(1)
        now.wait(now.tap.settled)
        router.sendall(frame)
        # When this is through, the tap has had the frame before it as well.
        now.tap.sock.sendall(b"\x7e")
        assert router.recv(1) == b"\x7e"
        assert _peek(now.tap.sock) == 0
        now.tap.go_on()
        now.wait(lambda: _peek(now.tap.sock) == len(frame))
        now.mark(now.tap.end, 1)
    now.slicer.finish()
    assert len(now.done[1].frames) == 1


def test_between_the_cases_only_packets_and_damage_are_strays() -> None:
    link = [b"\x01\x3f", b"\x03\x73", b"\x01\x21", b"\x01\x87\x3f\x00\x01"]
    packets = [b"\x03\x00\x10\x00\xfb\x00\x00", b"\x03\x02"]
    with running() as now:
        now.connect()
        now.mark(now.tap.begin, 1)
        now.mark(now.tap.end, 1)
        for content in (*link, *packets):
            now.tap.sock.sendall(hdlc.frame_octets([hdlc.with_fcs(content)]))
        now.tap.sock.sendall(b"\x7e\x01\x3f\xaa\x55\x7d\x7e\x01\x3f\xaa\x7e")
        now.mark(now.tap.begin, 2)
    now.slicer.finish()
    # Two I frames, one that was aborted, and a runt.
    assert now.slicer.stray_count == 4


def test_a_router_that_goes_and_comes_again() -> None:
    with running() as now:
        router = now.connect()
        router.close()
        now.wait(lambda: bool(now.tap.ended))
        assert "closed" in now.tap.ended
        assert not now.tap.connected
        router = now.connect()
        assert now.tap.connected
        router.sendall(b"\x7e")
        now.wait(lambda: _peek(now.tap.sock) == 1)


def test_a_line_that_is_not_there_says_why() -> None:
    with running() as now:
        port = now.listener.getsockname()[1]
        now.listener.close()
        now.tap.connect(["tcp", ("127.0.0.1", port)])
        now.wait(now.tap.answered)
        assert now.tap.ended == "connection refused"
        now.tap.connect(["pty", "/nonexistent"])
        now.wait(now.tap.answered)
        assert now.tap.ended == "no such file or directory"

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the strict dissector adds to plain tshark on a large capture, as a ratio of processor time.

    python -m x25shark.selftest.dissector_speed [--frames N] [--turns N] FOLDER

One capture is made of the cases in FOLDER (pcaps/), over and over with other IP addresses, eight of
them at a time. Two are dense: a call that carries Data in one direction and RR in the other, a
packet or two in each segment with Data. All read them by turns, with the strict dissector also for
-z x25,circuits; the medians of their user time are compared, for the load of the machine lengthens
all.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..evidence import pcapng
from ..judges.sandbox import Sandbox

_AT_ONCE = 8
_IP_TYPE = slice(12, 14)
_IP_ADDRESSES = (26, 30)  # of a frame with Ethernet's header
_TARGET = 3.0
_DENSE = (1, 2)  # packets in a segment with Data


def _with_network(frame: bytes, number: int) -> bytes:
    """The frame with both IPv4 addresses in network 10.x.y; tshark checks no sum of the header."""
    changed = bytearray(frame)
    for place in _IP_ADDRESSES:
        changed[place : place + 3] = bytes([10, number >> 8 & 255, number & 255])
    return bytes(changed)


def _blocks(path: Path) -> list[pcapng.Block]:
    with path.open("rb") as stream:
        return list(pcapng.read_blocks(stream))


def _case(blocks: Sequence[pcapng.Block]) -> list[pcapng.Block]:
    """Those of its packets that are IPv4."""
    packets = [block for block in blocks if block.kind == pcapng.ENHANCED_PACKET]
    return [block for block in packets if pcapng.packet(block)[2][_IP_TYPE] == b"\x08\0"]


def frames(cases: Sequence[Sequence[pcapng.Block]], count: int) -> Iterator[pcapng.Block]:
    """`count` packets of the cases, a packet of each of eight in turn."""
    copies = 0
    running: list[Iterator[pcapng.Block]] = []
    while True:
        while len(running) < _AT_ONCE:
            running.append(_copy(cases[copies % len(cases)], copies + 1))
            copies += 1
        for one in list(running):
            block = next(one, None)
            if block is None:
                running.remove(one)
                continue
            yield block
            count -= 1
            if count == 0:
                return


def _copy(case: Sequence[pcapng.Block], number: int) -> Iterator[pcapng.Block]:
    for block in case:
        octets = _with_network(pcapng.packet(block)[2], number)
        yield pcapng.on_interface(pcapng.with_packet(block, octets), 0)


_ETHERNET = bytes(12) + b"\x08\0"
_ENDS = ((bytes([10, 0, 0, 1]), 40000), (bytes([10, 0, 0, 2]), 1998))
_SYN, _ACK, _PUSH = 2, 16, 24
_CALL = bytes.fromhex("10010b772100001310000100c0000000")
_ACCEPTED = bytes.fromhex("10010f")
_DATA_OCTETS = 100
# pcap: octets in the machine's order, version 2.4, Ethernet.
_PCAP_HEAD = struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


def _unit(packet: bytes) -> bytes:
    return struct.pack("!HH", 0, len(packet)) + packet


def _segments(packets: int) -> Iterator[tuple[int, int, bytes]]:
    """Sender, TCP flags and octets of a call that never ends; so many packets in one with Data."""
    yield 0, _SYN, b""
    yield 1, _SYN | _ACK, b""
    yield 0, _ACK, b""
    yield 0, _PUSH, _unit(_CALL)
    yield 1, _PUSH, _unit(_ACCEPTED)
    p_s = 0
    while True:
        data = [bytes([16, 1, (p_s + k) % 8 << 1]) + bytes(_DATA_OCTETS) for k in range(packets)]
        yield 0, _PUSH, b"".join(map(_unit, data))
        p_s = (p_s + packets) % 8
        yield 1, _PUSH, _unit(bytes([16, 1, p_s << 5 | 1]))


def write_dense(path: Path, count: int, packets: int) -> None:
    """A capture of so many frames, nearly all of them with XOT."""
    sequence = [1000, 5000]
    with path.open("wb") as stream:
        stream.write(_PCAP_HEAD)
        segments = itertools.islice(_segments(packets), count)
        for number, (sender, flags, octets) in enumerate(segments):
            (source, port), (target, target_port) = _ENDS[sender], _ENDS[1 - sender]
            numbers = sequence[sender] & 0xFFFFFFFF, sequence[1 - sender] & 0xFFFFFFFF
            tcp = struct.pack("!HHIIBBHHH", port, target_port, *numbers, 0x50, flags, 65535, 0, 0)
            size = 40 + len(octets)
            ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, size, 0, 0, 64, 6, 0, source, target)
            frame = _ETHERNET + ip + tcp + octets
            stamp = divmod(number * 100, 1_000_000)
            stream.write(struct.pack("=IIII", *stamp, len(frame), len(frame)) + frame)
            sequence[sender] += len(octets) + (flags & _SYN == _SYN)


def _user_seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(
        command,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(capture: Path, turns: int) -> list[tuple[float, float, float]]:
    """User seconds of plain tshark, with the strict dissector, and for the circuits, by turns."""
    sandbox = Sandbox()
    found = []
    try:
        plain = ["tshark", "-n", "-r", str(capture)]
        strict = [*plain, "-X", f"lua_script:{sandbox.lua}"]
        circuits = [*strict, "-q", "-z", "x25,circuits"]
        environment = os.environ | sandbox.environment() | {"X25SHARK_WORDS": "1"}
        for _ in range(turns):
            one, two, three = (_user_seconds(c, environment) for c in (plain, strict, circuits))
            found.append((one, two, three))
    finally:
        sandbox.close()
    return found


def _told(frames_read: int, what: str, measured: Sequence[tuple[float, float, float]]) -> str:
    plain, strict, circuits = map(statistics.median, zip(*measured, strict=True))
    each = [one[1] / one[0] for one in measured]
    return (
        f"{frames_read} frames, {what}, user time, median of {len(measured)}: plain tshark "
        f"{plain:.2f} s, with the strict dissector {strict:.2f} s: {strict / plain:.1f} times "
        f"({min(each):.1f} to {max(each):.1f}; wanted {_TARGET:.0f}), with -z x25,circuits "
        f"{circuits:.2f} s: {circuits / plain:.1f} times"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print times and ratios."""
    parser = argparse.ArgumentParser(
        prog="python -m x25shark.selftest.dissector_speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.frames < 1 or options.turns < 1:
        parser.error("--frames and --turns must be 1 or more")
    files = [_blocks(path) for path in sorted(options.folder.glob("*.pcapng"))]
    cases = [case for case in map(_case, files) if case]
    if not cases:
        print(f"no captures with IPv4 in {options.folder}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "large.pcapng"
        head = [
            next(block for block in files[0] if block.kind == kind)
            for kind in (pcapng.SECTION_HEADER, pcapng.INTERFACE_DESCRIPTION)
        ]
        with capture.open("wb") as stream:
            for block in itertools.chain(head, frames(cases, options.frames)):
                stream.write(block.octets)
        print(_told(options.frames, "cases", measure(capture, options.turns)), flush=True)
        for packets in _DENSE:
            write_dense(capture, options.frames, packets)
            what = f"dense, {packets} in a segment"
            print(_told(options.frames, what, measure(capture, options.turns)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

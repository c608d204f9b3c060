# SPDX-License-Identifier: GPL-2.0-or-later
"""What the strict dissector adds to plain tshark on a large capture, as a ratio of processor time.

    python -m x25shark.selftest.dissector_speed [--frames N] [--turns N] FOLDER

The capture is made of the cases in FOLDER (pcaps/), over and over with other IP addresses, eight of
them at a time. Both read it by turns; the medians of their user time are compared, for the load of
the machine lengthens both.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import statistics
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


def measure(capture: Path, turns: int) -> tuple[list[float], list[float]]:
    """User seconds of plain tshark, and with the strict dissector, by turns."""
    sandbox = Sandbox()
    plain: list[float] = []
    strict: list[float] = []
    try:
        command = ["tshark", "-n", "-r", str(capture)]
        environment = os.environ | sandbox.environment() | {"X25SHARK_WORDS": "1"}
        for _ in range(turns):
            plain.append(_user_seconds(command, environment))
            script = ["-X", f"lua_script:{sandbox.lua}"]
            strict.append(_user_seconds([*command, *script], environment))
    finally:
        sandbox.close()
    return plain, strict


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both times and their ratio."""
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
        plain, strict = measure(capture, options.turns)
    ratio = statistics.median(strict) / statistics.median(plain)
    each = [one / other for one, other in zip(strict, plain, strict=True)]
    print(
        f"{options.frames} frames, user time, median of {options.turns}: plain tshark "
        f"{statistics.median(plain):.2f} s, with the strict dissector "
        f"{statistics.median(strict):.2f} s: {ratio:.1f} times "
        f"({min(each):.1f} to {max(each):.1f}; wanted {_TARGET:.0f})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

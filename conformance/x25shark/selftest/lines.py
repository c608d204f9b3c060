# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure the emulated line against what it is set to: python -m x25shark.selftest.lines

Ten rates at the same time, from 9.6 kbit/s to 10 Mbit/s, each through relays of its own:

    rate   Data packets of many lengths as fast as they are taken, for --seconds: octets of the wire
           between the first arrival and the last, over the time between them; within 0.5 %
    delay  single packets on an idle line: what they take beyond octets x 8 / rate; within 1 ms
    queue  a burst at once into a queue of 20 packets, and into one of 20,000 octets, that drop what
           finds no room: exactly what fits arrives

With --interface the lines are at interfaces of the reference router, towards it ("in") or from it
("out"), in place of relays: a router each, that joins the connections of a call (splice).

Octets of the wire are counted here once more, by bits written out; arrivals are the kernel's
timestamps. On a busy machine the delay says how long this process and the relay had to wait:
`chrt -f 10` (as root) keeps that small.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle
from typing import cast

from rich.console import Console
from rich.table import Table

from ..load.engine import Engine, EngineMissingError, RelaySide, load_engine
from ..tied import tied

RATES = (9600, 14_400, 19_200, 28_800, 56_000, 64_000, 128_000, 512_000, 2_048_000, 10_000_000)
DELAY = 0.072
"""Seconds, one way: the paper's line."""
QUEUE, QUEUE_OCTETS = 20, 20_000
BEYOND = 7
"""Packets of a burst that find no room."""
RATE_WITHIN, DELAY_WITHIN = 0.005, 0.001
_BURST_PACKET = 996
"""Octets of user data: 1003 with packet and XOT header."""
_SINGLES = 10
_TIMEOUT = 120.0
_SO_TIMESTAMPNS = 35
"""socket(7); the number of its ancillary message as well (asm-generic/socket.h)."""
_FCS_POLYNOMIAL = 0x8408
_NEAR = "127.0.0.2"
"""The near end: its address is how a router knows which line is its own."""
_CALL = bytes.fromhex("0000000c 10010b 0110 06 420707 430202")
_ACCEPTED = bytes.fromhex("00000003 10010f")
"""A call to the address 1, and what the far end answers."""


def _take_unit(end: socket.socket) -> None:
    """Read one packet of call set-up."""
    header = end.recv(4, socket.MSG_WAITALL)
    end.recv(int.from_bytes(header[2:], "big"), socket.MSG_WAITALL)


def data_packet(octets: int, draw: random.Random) -> bytes:
    """A Data packet of modulo 8 on channel 1 with so many octets of user data, in XOT."""
    packet = b"\x10\x01\x00" + draw.randbytes(octets)
    return struct.pack(">HH", 0, len(packet)) + packet


def wire_octets(unit: bytes, framing: str) -> int:
    """Octets of the wire: the XOT unit, or an HDLC frame of its packet with one flag and FCS."""
    if framing == "xot":
        return len(unit)
    frame = b"\x03\x00" + unit[4:]
    frame += fcs(frame).to_bytes(2, "little")
    if framing == "hdlcoctet":
        return 1 + sum(2 if octet in (0x7D, 0x7E) else 1 for octet in frame)
    bits = "".join(f"{octet:08b}"[::-1] for octet in frame)
    return -(-(8 + len(bits.replace("11111", "111110"))) // 8)


def fcs(octets: bytes) -> int:
    """FCS of 16 bits (ISO/IEC 3309 4.6.2), bit by bit."""
    register = 0xFFFF
    for octet in octets:
        register ^= octet
        for _ in range(8):
            register = register >> 1 ^ (_FCS_POLYNOMIAL if register & 1 else 0)
    return register ^ 0xFFFF


class RouterSide:
    """The reference router with a line at one of its interfaces, as a process."""

    def __init__(self, interface: str, connect: str, line: dict[str, object]) -> None:
        ways = cast("list[dict[str, float]]", line["directions"])
        way = ", ".join(
            f"{key.removesuffix('_ms').removesuffix('_packets')} = {value}"
            for key, value in ways[0].items()
        )
        text = f"""
            listen = "127.0.0.1:0"
            model = "splice"
            [[route]]
            prefix = "1"
            to = "{connect}"
            [[emulation]]
            at = "{_NEAR if interface == "in" else connect.partition(":")[0]}"
            framing = "{line["framing"]}"
            overflow = "{line.get("overflow", "hold")}"
            {interface} = {{ {way} }}
        """
        with tempfile.NamedTemporaryFile("w", suffix=".router") as configuration:
            configuration.write(text)
            configuration.flush()
            self._process = subprocess.Popen(
                [*tied(), sys.executable, "-m", "x25shark.reference", "--config",
                 configuration.name],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert self._process.stdout is not None
            ready = self._process.stdout.readline()
        if not ready:
            raise ConnectionError("the reference router does not start")
        self.port = int(json.loads(ready)["listen"].rpartition(":")[2])

    def stop(self) -> None:
        self._process.terminate()

    def result(self) -> str:
        return self._process.communicate()[0]


class Path:
    """A TCP connection through a relay of the engine, and both its ends; or through a router with
    the line at its interface to the near end ("in") or to the far one ("out")."""

    def __init__(self, through: Engine | str, line: dict[str, object]) -> None:
        self.relay: RelaySide | RouterSide
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(_TIMEOUT)
            host, port = server.getsockname()
            if isinstance(through, str):
                self.relay = RouterSide(through, f"{host}:{port}", line)
            else:
                self.relay = through.relay(
                    {"listen": "127.0.0.1:0", "connect": f"{host}:{port}", "line": line}
                )
            self.near = socket.create_connection(
                ("127.0.0.1", self.relay.port), _TIMEOUT, source_address=(_NEAR, 0)
            )
            if isinstance(through, str):
                # The router opens the far connection when the call has come.
                self.near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.near.sendall(_CALL)
            self.far, _ = server.accept()
        self.near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.far.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self.far.settimeout(_TIMEOUT)
        if isinstance(through, str):
            _take_unit(self.far)
            self.far.sendall(_ACCEPTED)
            _take_unit(self.near)

    def receive(self) -> tuple[bytes, float]:
        """What has come, and when the last octet of it did (seconds of the epoch)."""
        octets, ancillary, _, _ = self.far.recvmsg(1 << 16, socket.CMSG_SPACE(16))
        for level, kind, value in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
                seconds, nanoseconds = struct.unpack("qq", value[:16])
                return octets, seconds + nanoseconds / 1e9
        return octets, time.time()

    def close(self) -> None:
        for end in (self.near, self.far):
            end.close()
        self.relay.stop()
        self.relay.result()


@dataclass
class Measured:
    """What came of one rate."""

    rate: int
    bits_per_second: float = 0.0
    drift_ms: float = 0.0
    """How much later the last packet came than the first one and the line's clock say."""
    megabytes: float = 0.0
    delays_ms: tuple[float, ...] = ()
    """Beyond octets x 8 / rate, in ms."""
    queued: tuple[int, int] = (0, 0)
    octets_queued: tuple[int, int] = (0, 0)
    """What arrived of a burst, and what has to."""
    error: str = ""

    @property
    def delay_error(self) -> float:
        """Of the median, in ms."""
        return statistics.median(self.delays_ms) - DELAY * 1000

    def problems(self) -> Iterator[str]:
        if self.error:
            yield self.error
            return
        off = self.bits_per_second / self.rate - 1
        if abs(off) > RATE_WITHIN:
            yield f"the rate is {off:+.2%} off"
        if abs(self.delay_error) > DELAY_WITHIN * 1000:
            yield f"the delay is {self.delay_error:+.2f} ms off"
        for what, (came, expected) in (("packets", self.queued), ("octets", self.octets_queued)):
            if came != expected:
                yield f"the queue of {what} let {came} of a burst pass, and not {expected}"


def measure(
    through: Engine | str, rate: int, framing: str, seconds: float, others: threading.Barrier
) -> Measured:
    """One rate from delay to queues. Nothing is timed while the others' routers start: delays are
    taken while all lines are idle, rates while all work."""
    found = Measured(rate)
    try:
        way: dict[str, object] = {"rate": rate, "delay_ms": DELAY * 1000}
        path = Path(through, _line(way, framing))
        _delay(path, framing, found, others)
        # Much more than half a second waits at slow rates: whoever reads late keeps the line busy.
        limit = {"queue_octets": max(rate // 16, 1 << 16)}
        path = Path(through, _line(way | limit, framing))
        _rate(path, framing, seconds, found, others)
        found.queued = _queue(through, way, framing, {"queue_packets": QUEUE})
        found.octets_queued = _queue(through, way, framing, {"queue_octets": QUEUE_OCTETS})
    except threading.BrokenBarrierError:
        found.error = "another rate's line did not come up"
    except OSError as error:
        others.abort()
        found.error = f"{error}"
    return found


def _line(way: dict[str, object], framing: str, overflow: str = "hold") -> dict[str, object]:
    return {"directions": [way, way], "framing": framing, "overflow": overflow}


def _delay(path: Path, framing: str, found: Measured, others: threading.Barrier) -> None:
    draw = random.Random(found.rate)
    try:
        others.wait(_TIMEOUT)
        taken = []
        for _ in range(_SINGLES):
            unit = data_packet(draw.randrange(1, 129), draw)
            begun = time.time()
            path.near.sendall(unit)
            got, at = b"", 0.0
            while len(got) < len(unit):
                octets, at = path.receive()
                got += octets
            sending = wire_octets(unit, framing) * 8 / found.rate
            taken.append((at - begun - sending) * 1000)
    finally:
        path.close()
    found.delays_ms = tuple(taken)


def _rate(
    path: Path, framing: str, seconds: float, found: Measured, others: threading.Barrier
) -> None:
    draw = random.Random(found.rate + 1)
    # No packet takes a twentieth of the run: what is measured are many.
    longest = max(min(1024, int(found.rate * seconds / 8 / 20)), 16)
    units = [data_packet(draw.randrange(1, longest), draw) for _ in range(64)]
    lengths = [len(unit) for unit in units]
    on_wire = [wire_octets(unit, framing) for unit in units]
    ended = threading.Event()

    def offer() -> None:
        stream = b"".join(units)
        try:
            while not ended.is_set():
                path.near.sendall(stream)
        except OSError:
            pass  # the other end has closed: the time is over

    sender = threading.Thread(target=offer, daemon=True)
    try:
        others.wait(_TIMEOUT)
        sender.start()
        first, last, octets = _arrivals(path, lengths, on_wire, seconds)
        # Routers that end are not idle: the others' last packets would be late.
        others.wait(_TIMEOUT)
    finally:
        ended.set()
        # Who waits for room on a descriptor that is closed may wait on somebody else's.
        with contextlib.suppress(OSError):
            path.near.shutdown(socket.SHUT_RDWR)
        if sender.ident is not None:
            sender.join(_TIMEOUT)
        path.close()
    found.bits_per_second = octets * 8 / (last - first)
    found.drift_ms = (last - first - octets * 8 / found.rate) * 1000
    found.megabytes = octets / 1e6


def _arrivals(
    path: Path, lengths: Sequence[int], on_wire: Sequence[int], seconds: float
) -> tuple[float, float, int]:
    """When the first packet and the last one arrived whole, and the octets of the wire of all
    but the first."""
    ends = zip(accumulate(cycle(lengths)), cycle(on_wire), strict=False)
    end, wire = next(ends)
    came = octets = 0
    first = last = 0.0
    while not first or last - first < seconds:
        got, at = path.receive()
        if not got:
            raise ConnectionError("the relay has closed the connection")
        came += len(got)
        # Only where a read ends with a packet its time is that of the packet's last octet.
        since = 0
        while end <= came:
            since += wire
            whole = end == came
            end, wire = next(ends)
            if whole and first:
                octets, last, since = octets + since, at, 0
            elif whole:
                first = last = at
                since = 0
        octets += since
    return first, last, octets


def _queue(
    through: Engine | str, way: dict[str, object], framing: str, limit: dict[str, object]
) -> tuple[int, int]:
    """Packets of a burst that arrived, and how many have to: the one that is being sent, and those
    that the queue holds."""
    path = Path(through, _line(way | limit, framing, "drop"))
    draw = random.Random(1)
    try:
        units = [data_packet(_BURST_PACKET, draw) for _ in range(1 + QUEUE + BEYOND)]
        expected, octets = 1, 0
        for unit in units[1:]:
            length = wire_octets(unit, framing)
            if "queue_packets" in limit and expected > QUEUE:
                break
            if "queue_octets" in limit and octets + length > QUEUE_OCTETS:
                # A shorter one behind it may fit: all are as long, but for the bits stuffed.
                continue
            expected, octets = expected + 1, octets + length
        path.near.sendall(b"".join(units))
        if not isinstance(through, str):
            path.near.shutdown(socket.SHUT_WR)
        came = 0
        # A router passes no end of a connection on: what comes too much comes soon.
        too_much = 1 + sum(len(unit) for unit in units[expected:]) * 8 / cast(float, way["rate"])
        with contextlib.suppress(TimeoutError):
            while octets_in := len(path.receive()[0]):
                came += octets_in
                if isinstance(through, str) and came >= expected * len(units[0]):
                    path.far.settimeout(too_much)
    finally:
        path.close()
    return came // len(units[0]), expected


def _report(results: Sequence[Measured], framing: str) -> int:
    table = Table(
        "set, bit/s", "measured", "off", "drift", "delay off, ms", "most", "queue", "octets' queue"
    )
    for one in results:
        if one.error:
            table.add_row(f"{one.rate:,}", one.error)
            continue
        table.add_row(
            f"{one.rate:,}",
            f"{one.bits_per_second:,.1f}",
            f"{one.bits_per_second / one.rate - 1:+.4%}",
            f"{one.drift_ms:+.2f} ms",
            f"{one.delay_error:+.3f}",
            f"{max(one.delays_ms) - DELAY * 1000:+.3f}",
            f"{one.queued[0]} of {one.queued[1]}",
            f"{one.octets_queued[0]} of {one.octets_queued[1]}",
        )
    console = Console(width=max(Console().width, 100))
    console.print(table)
    total = sum(one.megabytes for one in results)
    print(f"{total:,.1f} MB of the wire (framing {framing}), {DELAY * 1000:g} ms, one way")
    wrong = [f"{one.rate:,} bit/s: {text}" for one in results for text in one.problems()]
    for text in wrong:
        print(f"WRONG: {text}")
    print(f"{len(results) - len({t.partition(':')[0] for t in wrong})} of {len(results)} passed")
    return 1 if wrong else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0: every rate is within the bounds."""
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.lines")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the rate (default: 60)")
    parser.add_argument("--framing", choices=("xot", "hdlc", "hdlcoctet"), default="xot")
    parser.add_argument("--rates", help="in bit/s, as 9600,56000 (default: ten)")
    parser.add_argument(
        "--interface",
        choices=("in", "out"),
        help="of the reference router that the lines are at, in place of relays",
    )
    arguments = parser.parse_args(argv)
    try:
        rates = [int(text) for text in arguments.rates.split(",")] if arguments.rates else RATES
        if min(rates) < 1:
            raise ValueError
    except ValueError:
        parser.error(f"--rates {arguments.rates}: bit/s, as 9600,56000")
    if arguments.seconds <= 0:
        parser.error(f"--seconds {arguments.seconds:g}: more than 0")
    try:
        through: Engine | str = arguments.interface or load_engine()
    except EngineMissingError as error:
        parser.error(str(error))
    results = [Measured(rate) for rate in rates]

    others = threading.Barrier(len(rates))

    def one(number: int) -> None:
        rate, framing = rates[number], arguments.framing
        results[number] = measure(through, rate, framing, arguments.seconds, others)

    # A thread for each that waits for its turn no longer than the delay may be off.
    sys.setswitchinterval(DELAY_WITHIN / 10)
    threads = [threading.Thread(target=one, args=(n,)) for n in range(len(rates))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return _report(results, arguments.framing)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""What one may expect: window, packet size, delay and rate, without measuring anything.

Each line sends a packet in s = octets x 8 / rate seconds, and it arrives d later. The router is of
the relay model local (RFC 1613 6.2): it acknowledges a packet when it has passed it on, so a window
is bound by the round trip of one line, T = s + d + r + d, with r the time of an RR. Of this follow

    one circuit   window x packet / T          (packet: its mean over a datagram's packets)
    the line      rate less all headers
    circuits      from the line / one circuit on, the line is the limit and not the window

A transfer is followed packet by packet as well, with all circuits on the same lines, so that they
wait for each other where the rates above meet, and with TCP: no more of a file is under way than
the hosts' window, and every second segment is acknowledged on the way back. Slow start takes no
time: the kernel begins with ten segments, more than the window that the hosts have by default.
A round trip is followed packet by packet: the second hop waits for the first, both for windows.
Processing takes no time here.

Where the router passes windows on (relay models end-to-end and splice), the far gateway opens them:
T is the round trip of both lines then, T = 2 (s + d + r + d), and one window bounds both hops.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil

from .lab import Conditions

XOT = 4
HDLC = 1 + 2 + 2
"""One flag, address and control, FCS; bits stuffed come on top and depend on what is sent."""
ICMP_IP = {4: 20, 6: 40}
TCP = 20 + 12
"""With the timestamps that Linux sends."""
CALL = 25
"""Octets of a Call Request with two addresses of 7 digits, sizes, windows and one octet of data."""
CONNECTED = 12
COMMAND, ANSWER = 70, 90
"""Octets of the datagrams that carry a command of FTP and its answer."""
TCP_ACK = 52
ACK_EVERY = 2
"""Segments to one acknowledgement of TCP's (RFC 1122 4.2.3.2)."""


@dataclass(frozen=True)
class Model:
    """The model of one set of conditions. Rates are bit/s of the files' octets."""

    c: Conditions

    @property
    def _overhead(self) -> int:
        return (XOT if self.c.line.framing == "xot" else HDLC) + (3 if self.c.modulo == 8 else 4)

    def send_time(self, octets: int) -> float:
        """Seconds in which the line sends a packet with so many octets of user data."""
        return (octets + self._overhead) * 8 / self.c.line.rate if self.c.line.rate else 0.0

    @property
    def _prefix(self) -> int:
        return 1 if self.c.encapsulation == "null" else 0

    def packets(self, datagram: int) -> list[int]:
        """User data of the packets of a datagram."""
        whole, size = datagram + self._prefix, self.c.packet_size
        return [min(size, whole - at) for at in range(0, whole, size)]

    @property
    def rr_time(self) -> float:
        return self.send_time(0)

    def one_way(self, datagram: int) -> float:
        """Seconds from host to host over both lines, with nothing else under way."""
        d, w = self.c.line.delay, self.c.window
        ready = [0.0] * len(self.packets(datagram))
        # Hop by hop, the last one first to know when a packet is passed on: both by recursion.
        first_free = second_free = 0.0
        passed: list[float] = []
        arrived: list[float] = []
        for i, octets in enumerate(self.packets(datagram)):
            s = self.send_time(octets)
            ack = 0.0
            if i >= w:
                hops = 2 if self.c.end_to_end else 1
                taken = arrived if self.c.end_to_end else passed
                ack = taken[i - w] + hops * (self.rr_time + d)
            begin = max(ready[i], first_free, ack)
            first_free = begin + s
            there = first_free + d
            second_ack = 0.0
            if i >= w and not self.c.end_to_end:
                second_ack = arrived[i - w] + self.rr_time + d
            on = max(there, second_free, second_ack)
            passed.append(on)
            second_free = on + s
            arrived.append(second_free + d)
        return arrived[-1]

    def round_trip(self, icmp: int) -> float:
        """Seconds of a ping with so many octets of ICMP, the circuit being up."""
        return 2 * self.one_way(icmp + ICMP_IP[self.c.ip_version])

    @property
    def call_setup(self) -> float:
        """Seconds from Call Request to Call Connected."""
        header = -self._overhead + (XOT if self.c.line.framing == "xot" else HDLC)
        there, back = self.send_time(CALL + header), self.send_time(CONNECTED + header)
        return 2 * (there + back) + 4 * self.c.line.delay

    def first_ping(self, icmp: int) -> float:
        """Seconds of the ping that has to wait for the circuit."""
        return self.call_setup + self.round_trip(icmp)

    @property
    def segment(self) -> int:
        """Octets of a file in a full datagram."""
        return self.c.mtu - ICMP_IP[self.c.ip_version] - TCP

    @property
    def segments_under_way(self) -> float:
        """Full segments that TCP's window lets one transfer have under way."""
        return max(self.c.tcp_window // self.segment, 1) if self.c.tcp_window else float("inf")

    @property
    def tcp_rate(self) -> float:
        """What TCP's window lets one transfer carry, however many circuits there are."""
        time = self.one_way(self.c.mtu) + self.one_way(TCP_ACK)
        octets = self.segments_under_way * self.segment
        return min(octets * 8 / time, self.line_rate) if time else float("inf")

    @property
    def window_round_trip(self) -> float:
        """T: mean seconds from a packet to its acknowledgement, over a full datagram."""
        packets = self.packets(self.c.mtu)
        mean = sum(map(self.send_time, packets)) / len(packets)
        one_line = mean + self.rr_time + 2 * self.c.line.delay
        return 2 * one_line if self.c.end_to_end else one_line

    @property
    def circuit_rate(self) -> float:
        """What window and delay let one circuit carry."""
        datagram = len(self.packets(self.c.mtu)) * self.window_round_trip / self.c.window
        return min(self.segment * 8 / datagram, self.line_rate) if datagram else float("inf")

    @property
    def line_rate(self) -> float:
        """What the line carries of files, all headers taken off."""
        time = sum(map(self.send_time, self.packets(self.c.mtu)))
        return self.segment * 8 / time if time else float("inf")

    def rate(self, circuits: int) -> float:
        return min(circuits * self.circuit_rate, self.line_rate)

    @property
    def circuits_to_fill(self) -> int:
        """From this number on, the line is the limit."""
        return ceil(self.line_rate / self.circuit_rate - 1e-9)

    def transfer_time(self, octets: int, circuits: int = 1, files: int = 1) -> float:
        """Seconds of files put at once: the command's round trip, the octets, the last answer."""
        whole, rest = divmod(octets, self.segment)
        headers = self.c.mtu - self.segment
        one = [self.c.mtu] * whole + ([rest + headers] if rest else [])
        command = self.one_way(COMMAND) + self.one_way(ANSWER)
        return command + Flow(self, circuits).follow([one] * files) + self.one_way(ANSWER)

    def as_dict(self, circuits: int) -> dict[str, float]:
        return {
            "window_round_trip_s": self.window_round_trip,
            "circuit_bits_per_second": self.circuit_rate,
            "line_bits_per_second": self.line_rate,
            "tcp_bits_per_second": self.tcp_rate,
            "circuits_to_fill_the_line": self.circuits_to_fill,
            "circuits": circuits,
            "bits_per_second": self.rate(circuits),
            "call_setup_s": self.call_setup,
        }


@dataclass(frozen=True, order=True)
class _Packet:
    """A Data packet of a file's datagram, its last or not."""

    octets: int
    ends: bool
    file: int


_NO_DATA = _Packet(0, False, 0)


@dataclass
class _File:
    """How far a file is. left: lengths of the datagrams that TCP has not sent yet; under_way and
    arrived: numbers of datagrams."""

    left: deque[int]
    under_way: int = 0
    arrived: int = 0


class Flow:
    """Datagrams of one queue over several circuits that share two lines, packet by packet."""

    def __init__(self, model: Model, circuits: int) -> None:
        self._m = model
        self._d = model.c.line.delay
        self._circuits = range(circuits)
        # When a line is free: A and B towards the server, and back.
        self._free = {"a": 0.0, "b": 0.0, "back a": 0.0, "back b": 0.0}
        self._events: list[tuple[float, int, str, int, _Packet]] = []
        self._number = 0
        self._packets: list[deque[_Packet]] = [deque() for _ in self._circuits]
        self._at_router: list[deque[_Packet]] = [deque() for _ in self._circuits]
        self._open = {hop: [0] * circuits for hop in "ab"}
        self._waiting: deque[tuple[int, int]] = deque()
        self._files: list[_File] = []

    def follow(self, files: Sequence[Sequence[int]]) -> float:
        """Seconds until the last octet has arrived of files that are these datagrams each."""
        self._files = [_File(deque(datagrams)) for datagrams in files]
        for file in range(len(files)):
            self._offer(file)
        for circuit in self._circuits:
            self._from_a(circuit, 0.0)
        now = last = 0.0
        while self._events:
            now, _, kind, circuit, packet = heappop(self._events)
            if kind == "at router":
                self._at_router[circuit].append(packet)
                self._from_router(circuit, now)
            elif kind == "at b":
                last = now
                self._arrived(circuit, now, packet)
            elif kind == "rr a":
                self._open["a"][circuit] -= 1
                self._from_a(circuit, now)
            elif kind == "rr b" and self._m.c.end_to_end:
                self._event(self._send("back a", now, 0), "rr a", circuit)
            elif kind == "rr b":
                self._open["b"][circuit] -= 1
                self._from_router(circuit, now)
            elif kind == "ack at router":  # goes on, and is acknowledged itself
                self._event(self._send("back a", now, TCP_ACK), "ack at a", circuit, packet)
                self._send("a", now, 0)
            else:
                self._files[packet.file].under_way -= self._ack_every
                self._offer(packet.file)
                for any_circuit in self._circuits:
                    self._from_a(any_circuit, now)
        return last

    @property
    def _ack_every(self) -> int:
        return min(ACK_EVERY, int(min(self._m.segments_under_way, ACK_EVERY)))

    def _offer(self, number: int) -> None:
        """TCP hands the gateway what its window allows."""
        file = self._files[number]
        while file.left and file.under_way < self._m.segments_under_way:
            self._waiting.append((number, file.left.popleft()))
            file.under_way += 1

    def _send(self, line: str, now: float, octets: int) -> float:
        """A packet enters a line; when it arrives."""
        self._free[line] = max(now, self._free[line]) + self._m.send_time(octets)
        return self._free[line] + self._d

    def _event(self, at: float, kind: str, circuit: int, packet: _Packet = _NO_DATA) -> None:
        self._number += 1
        heappush(self._events, (at, self._number, kind, circuit, packet))

    def _from_a(self, circuit: int, now: float) -> None:
        mine = self._packets[circuit]
        while self._open["a"][circuit] < self._m.c.window:
            if not mine:
                if not self._waiting:
                    return
                file, datagram = self._waiting.popleft()
                packets = self._m.packets(datagram)
                mine.extend(
                    _Packet(octets, n == len(packets), file) for n, octets in enumerate(packets, 1)
                )
            packet = mine.popleft()
            self._open["a"][circuit] += 1
            self._event(self._send("a", now, packet.octets), "at router", circuit, packet)

    def _from_router(self, circuit: int, now: float) -> None:
        queue = self._at_router[circuit]
        through = self._m.c.end_to_end
        while queue and (through or self._open["b"][circuit] < self._m.c.window):
            packet = queue.popleft()
            self._open["b"][circuit] += 1
            self._event(self._send("b", now, packet.octets), "at b", circuit, packet)
            if not through:
                self._event(self._send("back a", now, 0), "rr a", circuit)

    def _arrived(self, circuit: int, now: float, packet: _Packet) -> None:
        self._event(self._send("back b", now, 0), "rr b", circuit)
        file = self._files[packet.file]
        file.arrived += packet.ends
        if packet.ends and file.arrived % self._ack_every == 0:
            self._event(self._send("back b", now, TCP_ACK), "ack at router", circuit, packet)


def delay_for(median: float, conditions: Conditions, icmp: int = 64) -> float:
    """The delay of each line, one way, that makes a small ping take so long. ValueError if none."""
    sending = Model(conditions).round_trip(icmp) - 4 * conditions.line.delay
    if median < sending:
        raise ValueError(
            f"--ping {median * 1000:g} ms: at this rate sending alone takes {sending * 1000:.0f} ms"
        )
    return (median - sending) / 4

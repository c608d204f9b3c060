#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Look at a Linux X.25 router over XOT with raw sockets, without the tester proper.

    probe.py check      the gateway and the DTEs do what README.md says; exit status 1 if not
    probe.py quirks     print how the kernel's packet layer reacts to what it gets wrong
    probe.py fuzz       mutated packets (--seed, --packets), then check that calls still work
    probe.py measure    calls and echo round trips per second

It is a diagnostic of this test bed: when cases of the suite fail here in numbers, run `check`
first.  Only the standard library is used; packets are written out by hand (X.25 5, RFC 1613 4).
"""

import argparse
import random
import socket
import struct
import sys
import time
from collections.abc import Callable

PORT = 1998
WAIT = 5.0  # seconds for an answer; an emulated router on a busy host is slow
QUIET = 0.3  # seconds that count as silence; only for observations and fresh checks behind it
NAMES = {
    0x0B: "Call",
    0x0F: "Call Accepted",
    0x13: "Clear",
    0x17: "Clear Confirmation",
    0x1B: "Reset",
    0x1F: "Reset Confirmation",
    0x23: "Interrupt",
    0x27: "Interrupt Confirmation",
}
SIZES = bytes.fromhex("420707 430202")


class Peer:
    """One TCP connection; packets in and out with their XOT headers."""

    def __init__(self, address: str) -> None:
        self.socket = socket.create_connection((address, PORT), WAIT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def send(self, *packets: bytes) -> None:
        """Send packets in one segment."""
        self.raw(b"".join(struct.pack(">HH", 0, len(packet)) + packet for packet in packets))

    def raw(self, octets: bytes) -> None:
        """Send octets without a header."""
        self.socket.sendall(octets)

    def receive(self, wait: float = WAIT) -> bytes | None:
        """The next packet; None if none comes in time or TCP ends."""
        end = time.monotonic() + wait
        while True:
            if len(self.buffer) >= 4:
                version, length = struct.unpack_from(">HH", self.buffer)
                if version != 0 or not 3 <= length <= 4100:
                    raise AssertionError(f"illegal XOT header from the router: {self.buffer[:4]!r}")
                if len(self.buffer) >= 4 + length:
                    packet = self.buffer[4 : 4 + length]
                    self.buffer = self.buffer[4 + length :]
                    return packet
            self.socket.settimeout(max(0.001, end - time.monotonic()))
            try:
                octets = self.socket.recv(65536)
            except (TimeoutError, ConnectionError):
                return None
            if not octets:
                return None
            self.buffer += octets

    def is_closed(self) -> bool:
        """Whether TCP ends, by FIN or RST, within WAIT; packets before it are read."""
        self.socket.settimeout(WAIT)
        try:
            while self.socket.recv(65536):
                pass
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        return True

    def reset(self) -> None:
        """End TCP by RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self) -> None:
        """End TCP by FIN."""
        self.socket.close()


def header(lcn: int, gfi: int = 1) -> bytes:
    """Octets 1 and 2: general format identifier and logical channel."""
    return bytes([gfi << 4 | lcn >> 8, lcn & 255])


def call(
    called: str = "1111",
    facilities: bytes = SIZES,
    lcn: int = 1,
    gfi: int = 1,
    user: bytes = b"\xc0",
) -> bytes:
    """A Call Request from 3100001."""
    digits = called + "3100001"
    digits += "0" * (len(digits) % 2)
    addresses = bytes([7 << 4 | len(called)]) + bytes.fromhex(digits)
    return header(lcn, gfi) + b"\x0b" + addresses + bytes([len(facilities)]) + facilities + user


def data(p_s: int, p_r: int, user: bytes, lcn: int = 1, *, m: int = 0, q: int = 0) -> bytes:
    """A Data packet, modulo 8."""
    return header(lcn, 1 | q << 3) + bytes([(p_r & 7) << 5 | m << 4 | (p_s & 7) << 1]) + user


def rr(p_r: int, lcn: int = 1) -> bytes:
    """An RR packet, modulo 8."""
    return header(lcn) + bytes([(p_r & 7) << 5 | 1])


def short(kind: int, lcn: int = 1, rest: bytes = b"") -> bytes:
    """A packet that has only a type, and what follows it."""
    return header(lcn) + bytes([kind]) + rest


CLEAR = short(0x13, rest=b"\0\0")
RESET = short(0x1B, rest=b"\0\0")


def name(packet: bytes | None) -> str:
    """A packet in words."""
    if packet is None:
        return "silence"
    kind = packet[2]
    if kind & 1 == 0:
        m, q = kind >> 4 & 1, packet[0] >> 7
        text = f"Data P(S)={kind >> 1 & 7} P(R)={kind >> 5} M={m} Q={q}, {len(packet) - 3} octets"
    elif kind & 0x0F in (1, 5, 9):
        text = {1: "RR", 5: "RNR", 9: "REJ"}[kind & 0x0F] + f" P(R)={kind >> 5}"
    else:
        text = NAMES.get(kind, f"type {kind:#04x}")
        if kind in (0x13, 0x1B) and len(packet) > 4:
            text += f" {packet[3]}/{packet[4]}"
        elif len(packet) > 3:
            text += f" {packet[3:].hex()}"
    return text


def user_data(peer: Peer) -> list[bytes]:
    """Data packets up to the end of a sequence; each is acknowledged."""
    packets: list[bytes] = []
    while (packet := peer.receive()) is not None:
        if packet[2] & 1 == 0:
            packets.append(packet)
            peer.send(rr((packet[2] >> 1) + 1, (packet[0] & 15) << 8 | packet[1]))
            if not packet[2] & 0x10:
                break
    return packets


def payload(packets: list[bytes]) -> bytes:
    """The user data of Data packets, modulo 8."""
    return b"".join(packet[3:] for packet in packets)


class Probe:
    """Checks against one router."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.failed = 0

    def expect(self, what: str, met: bool, seen: object = "") -> None:
        """Print a check; count it if it is not met."""
        self.failed += not met
        print(f"{'ok    ' if met else 'NOT OK'} {what}" + ("" if met else f" (seen: {seen})"))

    def peer(self) -> Peer:
        """A fresh connection."""
        return Peer(self.address)

    def connected(self, packet: bytes | None = None) -> Peer:
        """A fresh connection with a call to the echo DTE."""
        peer = self.peer()
        peer.send(packet or call())
        answer = peer.receive()
        if answer is None or answer[2] != 0x0F:
            raise AssertionError(f"the call was not accepted: {name(answer)}")
        return peer

    def alive(self) -> bool:
        """Whether a fresh call echoes."""
        try:
            peer = self.connected()
        except (AssertionError, OSError):
            return False
        peer.send(data(0, 0, b"alive"))
        return payload(user_data(peer)) == b"alive"

    # ---- check -------------------------------------------------------------------------------

    def calls(self) -> None:
        """Set-up, negotiation, clearing."""
        peer = self.peer()
        peer.send(call(facilities=bytes.fromhex("420808 430707")))
        answer = peer.receive()
        self.expect(
            "packet size 256, window 7 are taken",
            bool(answer)
            and bytes.fromhex("420808") in (answer or b"")[4:]
            and bytes.fromhex("430707") in (answer or b"")[4:],
            name(answer),
        )
        peer.send(CLEAR)
        self.expect("Clear is confirmed", name(peer.receive()) == "Clear Confirmation")
        peer.send(call(facilities=b""))
        answer = peer.receive() or b""
        self.expect(
            "a second call on the same TCP; its answer states the sizes it left out",
            answer[2:3] == b"\x0f"
            and bytes.fromhex("420707") in answer[4:]
            and bytes.fromhex("430202") in answer[4:],
            answer.hex(),
        )
        peer.send(call(lcn=1))
        peer.send(CLEAR)
        peer.receive()
        peer.close()
        peer = self.peer()
        peer.send(call(called="5555"))
        answer = peer.receive() or b""
        self.expect("an unknown address is cleared", answer[2:3] == b"\x13", name(answer or None))
        peer.send(short(0x17), call())
        self.expect(
            "and the next call on that TCP works", name(peer.receive())[:13] == "Call Accepted"
        )
        peer.close()
        for lcn in (0, 1, 255, 256, 4095):
            peer = self.connected(call(lcn=lcn))
            peer.send(data(0, 0, b"lcn", lcn=(lcn + 7) % 4096))
            packets = user_data(peer)
            right = payload(packets) == b"lcn" and packets[0][:2] == header(lcn)
            self.expect(f"LCN {lcn}: Data on another LCN is echoed on {lcn}", right, packets)
            peer.close()

    def transfer(self) -> None:
        """Data, sequences, interrupt, reset; the other DTEs."""
        peer = self.connected()
        peer.send(data(0, 0, b"x" * 128, m=1), data(1, 0, b"y" * 20))
        packets = user_data(peer)
        self.expect(
            "a complete packet sequence comes back", payload(packets) == b"x" * 128 + b"y" * 20
        )
        peer.send(data(2, 2, b"qualified", q=1))
        packets = user_data(peer)
        self.expect("with its Q bit", len(packets) == 1 and packets[0][0] & 0x80 != 0, packets)
        peer.send(short(0x23, rest=b"\x55"))
        self.expect("Interrupt is confirmed", name(peer.receive()) == "Interrupt Confirmation")
        peer.send(RESET)
        self.expect("Reset is confirmed", name(peer.receive()) == "Reset Confirmation")
        peer.send(data(0, 0, b"again"))
        self.expect("Data from 0 after it", payload(user_data(peer)) == b"again")
        for octet in struct.pack(">HH", 0, 7) + data(1, 1, b"slow"):
            peer.raw(bytes([octet]))
        self.expect("one octet a segment", payload(user_data(peer)) == b"slow")
        peer.send(CLEAR)
        self.expect("Clear is confirmed", name(peer.receive()) == "Clear Confirmation")
        peer.close()
        peer = self.connected(call(called="1113"))
        letters = bytes(ord("a") + i % 26 for i in range(1000))
        self.expect("the source DTE sends 1000 octets", payload(user_data(peer)) == letters)
        peer.close()
        peer = self.connected(call(called="1114"))
        peer.send(data(0, 0, b"late"))
        self.expect("the delayed DTE accepts and echoes", payload(user_data(peer)) == b"late")
        peer.close()
        peer = self.connected(call(called="1112"))
        peer.send(data(0, 0, b"a"), data(1, 0, b"b"))
        self.expect("the sink DTE acknowledges", name(peer.receive()) == "RR P(R)=2")
        peer.close()

    def modulo_128(self) -> None:
        """Sequence numbers beyond 7, beside modulo 8 calls."""
        peer = self.peer()
        peer.send(call(gfi=2, facilities=bytes.fromhex("420707 431414")))
        answer = peer.receive() or b""
        self.expect(
            "modulo 128: accepted with window 20",
            answer[:1] == b"\x20" and bytes.fromhex("431414") in answer[4:],
            answer.hex(),
        )
        echoed = []
        for i in range(150):
            peer.send(bytes([0x20, 1, i % 128 << 1, i % 128 << 1]) + b"%d" % i)
            packet = peer.receive() or b"\0\0\1"
            while packet[2] & 1:
                packet = peer.receive() or b"\0\0\0"
            echoed.append((packet[2] >> 1, packet[4:]))
        self.expect(
            "modulo 128: 150 Data in order", echoed == [(i % 128, b"%d" % i) for i in range(150)]
        )
        peer.send(bytes.fromhex("2001130000"))
        answers = [peer.receive() for _ in range(1)]
        while answers[-1] is not None and answers[-1][2] == 1:
            answers.append(peer.receive())
        self.expect(
            "modulo 128: Clear is confirmed", answers[-1] == bytes.fromhex("200117"), answers
        )
        peer.close()

    def framing(self) -> None:
        """RFC 1613 4.1, 6.1, 6.4, 6.5."""
        for octets in (
            "0001 0005",
            "0100 0005",
            "ffff 0005",
            "0000 0000",
            "0000 0001 10",
            "0000 0002 1001",
            "0000 1005",
            "0000 ffff",
        ):
            peer = self.peer()
            peer.raw(bytes.fromhex(octets))
            self.expect(f"header {octets} closes TCP", peer.is_closed())
            peer = self.connected()
            peer.raw(bytes.fromhex(octets))
            self.expect(f"header {octets} closes TCP during a call", peer.is_closed())
        local = [
            short(0xFB, 0, b"\0\0"),
            short(0xFF, 0),
            short(0xF1, 0, b"\x24\x10\x01\x13"),
            short(0xF3, 0, b"\0\0"),
            short(0xF7, 0, b"\0\0\0\0"),
            short(0x09),
            short(0xE9),
        ]
        peer = self.peer()
        peer.send(*local, *(short(kind) for kind in (0x2B, 0x33, 0xD3, 0x17, 0x27, 0x01)), call())
        answer = peer.receive()
        self.expect(
            "packets without a place before a Call are discarded in silence",
            name(answer)[:13] == "Call Accepted",
            name(answer),
        )
        peer.send(*local, data(0, 0, b"after"))
        self.expect("and during a call", payload(user_data(peer)) == b"after")
        peer.close()
        peer = self.peer()
        peer.send(CLEAR, call())
        seen = [name(peer.receive())[:18], name(peer.receive())[:13]]
        self.expect(
            "Clear in p1 is confirmed", seen == ["Clear Confirmation", "Call Accepted"], seen
        )
        peer.close()
        peer = self.peer()
        peer.send(short(0xF5, rest=b"\x81\0\x03\0\x01\x03\0\x01\x02\x02\x07\x07abcdef"))
        self.expect("PVC setup closes TCP", peer.is_closed())

    def tcp(self) -> None:
        """Ends of TCP, many connections."""
        peer = self.connected()
        peer.send(CLEAR)
        peer.socket.shutdown(socket.SHUT_WR)
        self.expect("Clear and FIN: confirmed", name(peer.receive()) == "Clear Confirmation")
        self.expect("Clear and FIN: closed", peer.is_closed())
        peer = self.connected()
        peer.socket.shutdown(socket.SHUT_WR)
        self.expect("FIN during a call: closed", peer.is_closed())
        for _ in range(20):
            self.connected().reset()
        stalled = [self.peer() for _ in range(64)]
        for peer in stalled:
            peer.raw(b"\0\0\0\x1e\x10")
        self.expect("a call beside 20 resets and 64 stalled connections", self.alive())
        many = [self.connected() for _ in range(100)]
        for i, peer in enumerate(many):
            peer.send(data(0, 0, b"%d" % i))
        right = all(payload(user_data(peer)) == b"%d" % i for i, peer in enumerate(many))
        self.expect("100 calls at a time, each with its own data", right)
        for peer in many + stalled:
            peer.close()

    # ---- quirks ------------------------------------------------------------------------------

    def observe(self, what: str, *packets: bytes, first: bytes | None = call()) -> None:
        """Send packets in a call (or, with first=None, without one) and print what comes back."""
        peer = self.peer() if first is None else self.connected(first)
        peer.send(*packets)
        seen = []
        while (packet := peer.receive(QUIET)) is not None:
            seen.append(name(packet))
        print(f"{what}: {'; '.join(seen) or 'silence'}")
        peer.close()

    def quirks(self) -> None:
        """How the packet layer reacts; README.md holds the list with clauses."""
        print("# calls")
        self.observe("unknown address", call(called="5555"), first=None)
        self.observe("GFI 3 (reserved)", call(gfi=3), first=None)
        self.observe("GFI 0 (reserved)", call(gfi=0), first=None)
        self.observe("no facility length", call(facilities=b"", user=b"")[:-1], first=None)
        self.observe("facility length beyond the packet", call(user=b"")[:-3], first=None)
        self.observe("100 octets of user data, no fast select", call(user=b"u" * 100), first=None)
        self.observe("129 octets of user data", call(user=b"u" * 129), first=None)
        fast = SIZES + b"\x01\xc0"
        self.observe("fast select, restricted response", call(facilities=fast), first=None)
        self.observe("reverse charging", call(facilities=SIZES + b"\x01\x01"), first=None)
        self.observe("throughput class 9600", call(facilities=SIZES + b"\x02\xaa"), first=None)
        self.observe("packet size 8 (undefined)", call(facilities=b"\x42\3\3"), first=None)
        self.observe("packet size 8192 (undefined)", call(facilities=b"\x42\r\r"), first=None)
        self.observe("window 0", call(facilities=b"\x43\0\0"), first=None)
        self.observe(
            "called 16, calling 128, source", call("1113", b"\x42\4\7\x43\7\7"), first=None
        )
        self.observe("called window 1, calling 3, source", call("1113", b"\x43\1\3"), first=None)
        self.observe("D bit in Call", call(gfi=5), first=None)
        self.observe("window 8 in modulo 8", call(facilities=b"\x43\x08\x08"), first=None)
        self.observe("fast select bits 01", call(facilities=SIZES + b"\x01\x40"), first=None)
        unknown = bytes.fromhex("0a01 4e0102 8b010203 e50100")
        self.observe("unknown facilities, A to D", call(facilities=unknown + SIZES), first=None)
        extension = b"\x00\x0f\xc9\x03\x04\x12\x34"
        self.observe("called address extension", call(facilities=SIZES + extension), first=None)
        print("# data transfer")
        self.observe("Call again", call())
        self.observe("Call Accepted", short(0x0F))
        self.observe("undefined type 0x2b", short(0x2B))
        self.observe("129 octets at packet size 128", data(0, 0, b"z" * 129))
        self.observe("P(S) 3, expected 0", data(3, 0, b"z"))
        self.observe("P(R) 5, nothing sent", rr(5))
        self.observe("three Data, window 2", *(data(i, 0, b"z") for i in range(3)))
        self.observe(
            "M bit in a packet that is not full", data(0, 0, b"ab", m=1), data(1, 0, b"cd")
        )
        self.observe("Q changes in a sequence", data(0, 0, b"a" * 128, m=1), data(1, 0, b"b", q=1))
        self.observe("M, Reset, Data", data(0, 0, b"a" * 128, m=1), RESET, data(0, 0, b"b"))
        self.observe("no user data", data(0, 0, b""))
        self.observe("Interrupt without data", short(0x23))
        self.observe("Interrupt of 33 octets", short(0x23, rest=b"i" * 33))
        self.observe("Interrupt Confirmation never asked for", short(0x27))
        self.observe("Reset Confirmation never asked for", short(0x1F))
        self.observe("Reset without diagnostic", short(0x1B, rest=b"\0"))
        self.observe("Reset with nothing", short(0x1B))
        self.observe("Reset of 6 octets", short(0x1B, rest=b"\0\0\0"))
        self.observe("P(R) runs back", data(0, 0, b"a"), rr(1), rr(0))
        large = call(gfi=2, facilities=bytes.fromhex("420707 430707"))
        self.observe("modulo 128: RR of three octets", bytes.fromhex("200101"), first=large)
        print("# clearing")
        self.observe("Clear without diagnostic", short(0x13, rest=b"\0"))
        self.observe("Clear with nothing", short(0x13))
        self.observe("Clear with data, no fast select", CLEAR + b"\0\0user")

    # ---- fuzz, measure -----------------------------------------------------------------------

    def fuzz(self, seed: int, count: int) -> None:
        """Mutated packets on many connections; every 1000 a fresh call has to work."""
        chance = random.Random(seed)
        peers: list[Peer] = []
        for i in range(count):
            if len(peers) < 8 or chance.random() < 0.02:
                peers.append(self.peer())
                peers[-1].send(call(called=chance.choice(("1111", "1112", "1113", "1114"))))
            if len(peers) > 16:
                chance.choice((peers[0].close, peers[0].reset))()
                peers.pop(0)
            some = bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
            packet = bytearray(
                chance.choice(
                    (
                        call(facilities=some[:109]),
                        data(i, i, some),
                        rr(i),
                        CLEAR,
                        RESET,
                        short(chance.randrange(256), rest=some),
                        short(0x23, rest=some),
                        call(gfi=2),
                    )
                )
            )
            for _ in range(chance.randrange(3)):
                packet[chance.randrange(len(packet))] = chance.randrange(256)
            if chance.random() < 0.1:
                packet = packet[: chance.randrange(3, len(packet) + 1)]
            peer = chance.choice(peers)
            try:
                if chance.random() < 0.01:
                    peer.raw(bytes(chance.randrange(256) for _ in range(12)))
                else:
                    peer.send(bytes(packet))
                peer.socket.setblocking(False)
                peer.socket.recv(65536)
            except BlockingIOError:
                pass
            except OSError:
                peers.remove(peer)
            peer.socket.settimeout(WAIT) if peer.socket.fileno() >= 0 else None
            if i % 1000 == 999:
                self.expect(f"alive after {i + 1} packets, seed {seed}", self.alive())
        for peer in peers:
            peer.close()
        self.expect("alive in the end", self.alive())

    def measure(self) -> None:
        """Rates of one caller, one after another, on this machine."""
        began, count = time.monotonic(), 0
        while time.monotonic() - began < 5:
            peer = self.connected()
            peer.send(CLEAR)
            peer.receive()
            peer.close()
            count += 1
        rate = count / (time.monotonic() - began)
        print(f"{rate:.0f} calls/s (TCP connection, call, clear)")
        peer = self.peer()
        began, count = time.monotonic(), 0
        while time.monotonic() - began < 5:
            peer.send(call())
            peer.receive()
            peer.send(CLEAR)
            peer.receive()
            count += 1
        rate = count / (time.monotonic() - began)
        print(f"{rate:.0f} calls/s (on one TCP connection)")
        peer.send(call(facilities=bytes.fromhex("420707 430707")))
        peer.receive()
        began, count = time.monotonic(), 0
        while time.monotonic() - began < 5:
            peer.send(data(count, count, b"r" * 128))
            while (packet := peer.receive()) is not None and packet[2] & 1:
                pass
            count += 1
        rate = count / (time.monotonic() - began)
        print(f"{rate:.0f} echo round trips/s of 128 octets")
        peer.close()


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("check", "quirks", "fuzz", "measure"))
    parser.add_argument("--address", default="127.0.25.9", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=25, help="of fuzz; default: %(default)s")
    parser.add_argument("--packets", type=int, default=5000, help="of fuzz; default: %(default)s")
    options = parser.parse_args()
    probe = Probe(options.address)
    checks = (probe.calls, probe.transfer, probe.modulo_128, probe.framing, probe.tcp)
    work: dict[str, tuple[Callable[[], None], ...]] = {
        "check": checks,
        "quirks": (probe.quirks,),
        "fuzz": (lambda: probe.fuzz(options.seed, options.packets),),
        "measure": (probe.measure,),
    }
    try:
        for part in work[options.what]:
            part()
    except (OSError, AssertionError) as error:
        print(f"probe.py: {options.address}:{PORT}: {error}", file=sys.stderr)
        return 1
    return 1 if probe.failed else 0


if __name__ == "__main__":
    sys.exit(main())

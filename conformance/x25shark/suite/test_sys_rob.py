# SPDX-License-Identifier: GPL-2.0-or-later
"""Robustness: whatever comes, the router goes on serving calls.

What it does with each of these packets is not judged here (the state tables and PLP-MALF do that)
but packets of local significance are (XOT-FORB-07), and so is every call of the fences. All random
choices come from the seed of the run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from scapy_x25 import PACKETS

from .language import (
    CLOSED,
    Bench,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    Side,
    purpose,
)
from .many import (
    ANYTHING,
    at_a_time,
    call_among_others,
    done,
    first_packet,
    in_time,
    is_alive,
    reachable_again,
)
from .reactions import both, reach

EVERY = 20
WAITING = 200


def open_side(bench: Bench, *, connected: bool) -> Side:
    """A connection of A, with a call or without, on which anything may come."""
    if not connected:
        side = reach(bench)
    else:
        call = call_among_others(bench, "a call before the next stimulus")
        call.b.allow(ANYTHING)
        side = call.a
    side.allow(ANYTHING)
    return side


def legal_packets(bench: Bench, side: Side) -> list[bytes]:
    """One of each of the 17 packet types of X.25 and RFC 1613, as octets."""
    request = side.octets_of(bench.call_request())
    return [request] + [
        side.octets_of(packet())
        for packet in PACKETS
        if packet.__name__ not in ("CallRequest", "Undefined") and "128" not in packet.__name__
    ]


def mutated(chance: random.Random, octets: bytes) -> bytes:
    """One to three changes: an octet, a bit, octets put in or left out."""
    changed = bytearray(octets)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(changed))
        match chance.randrange(4):
            case 0:
                changed[at] = chance.randrange(256)
            case 1:
                changed[at] ^= 1 << chance.randrange(8)
            case 2:
                changed[at:at] = chance.randbytes(chance.randint(1, 8))
            case _:
                del changed[max(at, 1) : at + chance.randint(1, 4)]
    return bytes(changed)


@purpose("SYS-ROB-01")
def test_mutated_packets(bench: Bench) -> None:
    """400 mutations of legal packets, with a call and without, liveness after each 20."""
    sides: list[Side] = []
    room = at_a_time(bench, EVERY, spare=1)
    for number in in_time(bench, 400):
        if len(sides) == room:
            done(bench, sides)
        side = open_side(bench, connected=number % 2 == 0)
        sides.append(side)
        packet = bench.random.choice(legal_packets(bench, side))
        side.put(mutated(bench.random, packet))
        if number % EVERY == EVERY - 1:
            is_alive(bench)
    done(bench, sides)
    is_alive(bench)


@purpose("SYS-ROB-02")
def test_random_octets(bench: Bench) -> None:
    """100 connections of 1 to 600 random octets; half of them close behind the octets."""
    sides: list[Side] = []
    room = at_a_time(bench, 100, spare=1)
    for number in in_time(bench, 100):
        if len(sides) == room:
            done(bench, sides)
        side = open_side(bench, connected=False)
        side.wire.send(bench.random.randbytes(bench.random.randint(1, 600)))
        if number % 2:
            side.close()
        else:
            sides.append(side)
        if number % EVERY == EVERY - 1:
            is_alive(bench)
    is_alive(bench)


@purpose("SYS-ROB-03")
def test_legal_packets_in_any_order(bench: Bench) -> None:
    """20 connections, half of them with a call, and 25 packets of random types on each."""
    sides: list[Side] = []
    room = at_a_time(bench, EVERY, spare=1)
    for number in in_time(bench, 20):
        if len(sides) == room:
            done(bench, sides)
        side = open_side(bench, connected=number % 2 == 0)
        sides.append(side)
        packets = legal_packets(bench, side)
        for _ in range(25):
            side.put(bench.random.choice(packets))
        is_alive(bench)


def cuts(bench: Bench, side: Side) -> Iterator[bytes]:
    """Every packet type cut behind every octet."""
    for packet in legal_packets(bench, side):
        for octets in range(1, len(packet)):
            yield packet[:octets]


@purpose("SYS-ROB-04")
def test_cut_packets(bench: Bench) -> None:
    """Each with a length that fits, before a call and in a call."""
    sides: list[Side] = []
    for connected in (False, True):
        pattern = list(cuts(bench, bench.connect()))
        room = at_a_time(bench, len(pattern), spare=2)
        for number in in_time(bench, len(pattern)):
            if len(sides) == room:
                done(bench, sides)
            side = open_side(bench, connected=connected)
            sides.append(side)
            side.put(pattern[number])
        is_alive(bench)
        done(bench, sides)
    is_alive(bench)


@purpose("SYS-ROB-05")
def test_fast_connects_and_closes(bench: Bench) -> None:
    """1,200 connections closed at once, and 1,200 reset: more than a process has descriptors.

    As many as there is time for, where the router takes them slowly; not all of them wait to be
    taken when the call comes that has to go through.
    """
    for number in in_time(bench, 2400):
        side = reach(bench)
        if number % 2:
            side.wire.reset()
        else:
            side.close()
        if number % WAITING == WAITING - 1:
            is_alive(bench)
    is_alive(bench)


@purpose("SYS-ROB-06")
def test_call_storm(bench: Bench) -> None:
    """250 Calls, each sent as soon as the one before is out: connected, cleared or closed.

    They are ended before the fence: the router may have no room for one more.
    """
    calling: list[Side] = []
    for _ in range(250):
        a = reach(bench)
        a.send(bench.call_request())
        calling.append(a)
        accept_all(bench)
    for a in calling:
        while not a.arrivals.reacted:
            if not a.wait_until(lambda a=a: bench.listeners.is_called() or a.arrivals.reacted):  # type: ignore[misc]
                break
            accept_all(bench)
        a.expect(CallAccepted(), ClearIndication(cause=bench.network_clear), CLOSED)
        if a.phase == "being cleared":
            a.send(ClearConfirmation())
        a.allow(ANYTHING)
    done(bench, calling)
    is_alive(bench)


def reset_all(bench: Bench) -> None:
    """B resets every connection that has come."""
    while bench.listeners.is_called():
        b = bench.listeners.take_called()
        if b is not None:
            b.allow(ANYTHING)
            b.wire.reset()


def accept_all(bench: Bench) -> None:
    """B accepts every Call that has come."""
    while bench.listeners.is_called():
        b = bench.listeners.take_called()
        if b is None:
            continue
        b.allow(ANYTHING)
        first_packet(b)
        b.send(b.acceptance)


@purpose("SYS-ROB-08")
def test_flapping_of_the_called_side(bench: Bench) -> None:
    """60 calls. In turn and at random B takes no connection, resets it, or accepts the call.

    The router may try a call again whose connection was lost; B does the same to each attempt.
    """
    listener = bench.listeners.refuse("b")
    sides: list[Side] = []
    room = at_a_time(bench, 60, spare=1)
    for _ in in_time(bench, 60):
        if len(sides) == room:
            done(bench, sides)
        what = bench.random.choice(("refuses", "resets", "accepts"))
        # Ahead of A's connection: a relay opens its own for that, not for the Call.
        if what == "refuses":
            listener.stop()
        deal = accept_all if what == "accepts" else reset_all
        try:
            a = reach(bench)
            a.send(bench.call_request())
            while not a.arrivals.reacted:
                if not a.wait_until(lambda a=a: bench.listeners.is_called() or a.arrivals.reacted):  # type: ignore[misc]
                    break
                deal(bench)
        finally:
            if what == "refuses":
                listener.resume()
        cleared = ClearIndication(cause=bench.network_clear)
        a.expect(*([CallAccepted()] if what == "accepts" else []), cleared, CLOSED)
        a.allow(ANYTHING)
        sides.append(a)
    reachable_again(bench)
    is_alive(bench)


@purpose("SYS-ROB-09")
def test_write_to_a_connection_that_was_reset(bench: Bench) -> None:
    """30 calls, in turn with A and B: one end resets TCP while the other one goes on sending."""
    for number in range(30):
        a, b = both(bench.place_call(note=f"call {number + 1}", options={"window": 7}))
        sender, gone = (a, b) if number % 2 == 0 else (b, a)
        gone.allow(ANYTHING)
        gone.wire.tcp.stop_reading()
        behind = (min(6, sender.window) + 1) // 2
        for _ in range(min(6, sender.window) - behind):
            sender.send(sender.data(bytes(128)))
        gone.wire.reset()
        for _ in range(behind):
            sender.send(sender.data(bytes(128)))
        came = sender.expect(ClearIndication(cause=bench.lost_clear), CLOSED)
        if came is not None:
            sender.send(ClearConfirmation())
    bench.fence()

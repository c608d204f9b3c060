# SPDX-License-Identifier: GPL-2.0-or-later
"""Data through a call: sizes that differ by side, windows kept shut, and fences past them.

X.25 4.3, 4.4.1; RFC 1613 6.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from scapy.packet import Packet

from ..sides.agreement import DEFAULT_WINDOW, towards
from ..sides.bench import SIZE_CODES, Bench, Call
from ..sides.side import AbsentSide, Side
from .anew import called_with
from .language import (
    RNR,
    RNR128,
    RR,
    RR128,
    CallAccepted,
    Data,
    Data128,
    Interrupt,
    InterruptConfirmation,
    PacketSize,
    WindowSize,
    not_in,
    one_of,
)

# Data by which P(S) and P(R) get past six bits.
_BEYOND_SIX_BITS = 70


def past_six_bits(call: Call) -> None:
    """Data each way by turns, up to numbers of more than six bits."""
    a, b = call.a, call.b
    assert isinstance(b, Side)
    for number in range(_BEYOND_SIX_BITS):
        for sender, receiver in ((a, b), (b, a)):
            sender.send_data(b"%d" % number)
            receiver.expect(receiver.data(b"%d" % number))


def call_of_sizes(
    bench: Bench,
    size_a: int,
    size_b: int,
    *,
    window: int = 7,
    modulus: int = 8,
    on: Side | None = None,
) -> Call:
    """A call with one packet size at A and another one at B (relay model local).

    on: a side of A whose call is over, and which calls again. Raises NotApplicable where the router
    agrees on one size for both sides, Inconclusive where no call comes about.
    """
    largest = max(size_a, size_b)
    bench.need(bench.profile.limits.packet_size >= largest, f"packet size {largest}")
    called = bench.profile.addresses.own_sizes or bench.far_end.address
    with bench.preamble():
        request = bench.call_request(called=called, size=size_a, window=window)
        if on is None:
            a = bench.connect(modulus=modulus)
            a.send(request)
        else:
            a = called_with(bench, on, request)
        b = bench.incoming()
        bench.need(
            size_b <= min(b.packet_size, b.size_in), f"a path that offers packet size {size_b} to B"
        )
        code = SIZE_CODES[size_b]
        # The router may have another window at B (X.25 6.12).
        of_b = {
            "called": towards(window, b.window, DEFAULT_WINDOW),
            "calling": towards(window, b.window_in, DEFAULT_WINDOW),
        }
        values = [PacketSize(called=code, calling=code), WindowSize(**of_b)]
        b.send(CallAccepted(facilities=values))
        connected = a.expect(CallAccepted())
    assert connected is not None
    named = connected.fields.get("facilities") or ()
    told = [f for f in named if isinstance(f, PacketSize)]
    own = all(f.called == f.calling == SIZE_CODES[size_a] for f in told)
    bench.need(own, f"packet size {size_a} at A with {size_b} at B: a path where sizes differ")
    bench.settle(a, b, request, connected)
    return Call(bench, a, b)


def each_way(
    bench: Bench, sending: int, receiving: int, *, window: int = 7, modulus: int = 8
) -> Iterator[Call]:
    """Calls of which the first end has the one packet size and the second the other: A and B, then
    B and A if the route takes any sizes."""
    yield call_of_sizes(bench, sending, receiving, window=window, modulus=modulus)
    if bench.profile.addresses.own_sizes is not None:
        yield call_of_sizes(bench, receiving, sending, window=window, modulus=modulus).turned()


def window_of(call: Call) -> int:
    """How many Data may be on their way from A to B without an acknowledgement of B."""
    return min(call.a.window, call.b.window_in)


def send_as_allowed(side: Side, messages: list[bytes]) -> int:
    """Send one Data for each message while the window is open; how many went out."""
    count = 0
    while messages and side.numbering.outstanding < side.window:
        side.send(side.data(messages.pop(0)))
        count += 1
    return count


def fence_past_window(call: Call, passing: Sequence[Packet] = ()) -> None:
    """A round trip that needs no window: Interrupt from A, confirmation from B (X.25 4.3.7)."""
    note = "fence, past the window"
    call.a.send(Interrupt(user_data=b"fence"))
    call.b.expect(Interrupt(user_data=b"fence"), passing=passing, note=note)
    call.b.send(InterruptConfirmation())
    call.a.expect(InterruptConfirmation(), note=note)


def nothing_more_at_b(call: Call, note: str, most: int = 0) -> None:
    """B gets no Data (or so many) from here to where an Interrupt that A sends now has come."""
    assert isinstance(call.b, Side)
    mark, kind = call.b.cursor, Data128 if call.b.modulus == 128 else Data
    call.a.send(Interrupt(user_data=b"fence"))
    call.b.expect(Interrupt(user_data=b"fence"), passing=(kind(),), note=note)
    call.b.expect_count(kind(), 0, most, start=mark, note=note)
    call.b.send(InterruptConfirmation())
    call.a.expect(InterruptConfirmation(), note=note)


def fence_from_b(call: Call, p_r: int, note: str = "fence from B") -> None:
    """B sends Data with this P(R), A gets it: so has A what the router had to send before."""
    octets = f"fence {call.bench.number} from B".encode()
    call.b.send_data(octets, p_r=p_r)
    call.a.expect_message(octets, note=note)


def acknowledged_up_to(side: Side, *p_r: int, start: int | None = None, note: str = "") -> None:
    """From start (of the call, unless given) to here no RR, RNR or Data had another P(R)."""
    start = side.start if start is None else start
    for kind in (RR128, RNR128, Data128) if side.modulus == 128 else (RR, RNR, Data):
        side.expect_count(kind(p_r=not_in(*p_r)), 0, 0, start=start, note=note)


def acknowledgement(p_r: int, modulus: int = 8) -> tuple[Packet, Packet]:
    """What acknowledges up to P(R) where no Data goes that way."""
    return any_of(p_r, modulus=modulus)


def confirmed_by_b_alone(call: Call, octets: bytes, *, m: int = 0, q: int = 0) -> None:
    """A sends Data with D=1: its P(R) comes when B has acknowledged it, and not before.

    What A has sent before is acknowledged by B (X.25 4.3.3, 4.4.1.4).
    """
    a, b = call.a, call.b
    assert isinstance(b, Side)
    b.withholding = True
    here, there, begin = a.numbering, b.numbering, a.arrivals.end()
    earlier = [(here.acknowledged + count) % a.modulus for count in range(here.outstanding + 1)]
    confirmed, not_yet = (here.next_p_s + 1) % a.modulus, there.p_r
    a.send_data(octets, d=1, m=m, q=q)
    b.expect(b.data(octets, d=1, m=m, q=q))
    fence_from_b(call, p_r=not_yet)
    acknowledged_up_to(a, *earlier, start=begin, note="B has not acknowledged")
    b.acknowledge((not_yet + 1) % b.modulus)
    acknowledgement_comes(a, confirmed)
    b.withholding = False


def acknowledgement_comes(side: Side, *p_r: int) -> None:
    """RR or RNR with one of these P(R), behind those that were on their way."""
    passing = (RR128, RNR128) if side.modulus == 128 else (RR, RNR)
    before = [kind(p_r=not_in(*p_r)) for kind in passing]
    side.expect(*any_of(*p_r, modulus=side.modulus), passing=before)


def not_acknowledged(side: Side, p_r: int, start: int, note: str = "") -> None:
    """From start to here no RR, RNR or Data had this P(R)."""
    for kind in (RR128, RNR128, Data128) if side.modulus == 128 else (RR, RNR, Data):
        side.expect_count(kind(p_r=p_r), 0, 0, start=start, note=note)


def any_of(*numbers: int, modulus: int = 8) -> tuple[Packet, Packet]:
    """RR and RNR with one of these P(R)."""
    p_r = numbers[0] if len(numbers) == 1 else one_of(*numbers)
    return (RR128(p_r=p_r), RNR128(p_r=p_r)) if modulus == 128 else (RR(p_r=p_r), RNR(p_r=p_r))


def deliver(sender: Side | AbsentSide, receiver: Side | AbsentSide, parts: Sequence[bytes]) -> None:
    """Send each part as a Data packet of its own and see it come, one after the other."""
    for octets in parts:
        sender.send_data(octets)
        receiver.expect_message(octets)


def acknowledged_inside_data(call: Call) -> None:
    """Nothing but the Data of the other direction has a P(R): first with Q=0, then with Q=1."""
    call.a.withholding = call.b.withholding = True
    for q, number in product((0, 1), range(20)):
        for sender, receiver in ((call.a, call.b), (call.b, call.a)):
            octets = f"{number} from {sender.name}".encode()
            sender.send_data(octets, q=q)
            kind = Data128 if receiver.modulus == 128 else Data
            receiver.expect(kind(user_data=octets))
    call.a.withholding = call.b.withholding = False
    call.a.acknowledge()
    call.fence()


def interrupt_answered(call: Call, sent: Interrupt) -> None:
    """The router confirms A's Interrupt itself; its echo may send one back, before or after."""
    a, text = call.a, b"behind"
    if isinstance(a.expect(InterruptConfirmation(), sent), Interrupt):
        a.send(InterruptConfirmation())
        a.expect(InterruptConfirmation())
    a.send_data(text)
    echoes = not call.bench.far_end.without_echo
    if echoes and isinstance(a.expect(a.data(text), sent), Interrupt):
        a.send(InterruptConfirmation())
        a.expect(a.data(text))

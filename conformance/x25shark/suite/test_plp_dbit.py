# SPDX-License-Identifier: GPL-2.0-or-later
"""Delivery confirmation (X.25 4.3.3, 4.4.1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ..sides.side import receive_not_ready
from .calls import modes, moduli
from .clearing import end
from .language import (
    RNR,
    RR,
    Bench,
    Call,
    Data,
    Interrupt,
    InterruptConfirmation,
    Packet,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    one_of,
    purpose,
)
from .occasion import amid
from .procedure_errors import confirmed_ahead, takes_empty_data
from .reactions import both, reset
from .transfer import (
    acknowledged_up_to,
    acknowledgement,
    acknowledgement_comes,
    confirmed_by_b_alone,
    deliver,
    each_way,
    fence_from_b,
    not_acknowledged,
    window_of,
)
from .windows import all_acknowledged, fill_window, may_come, may_send


@purpose("PLP-DBIT-01", both_sides=True)
def test_d_bit_passes(call: Call) -> None:
    for sender, receiver in ((call.a, call.b), (call.b, call.a)):
        for d in (1, 0, 1):
            octets = f"from {sender.name}, D={d}".encode()
            sender.send_data(octets, d=d)
            receiver.expect(Data(d=d, user_data=octets))
    call.fence()


@purpose("PLP-DBIT-02", both_sides=True)
def test_confirmed_only_when_b_has_acknowledged(call: Call) -> None:
    """Alone, in a sequence with M=1 in a full packet and in one that is not (Table 4-1), with Q=0
    and with Q=1; empty, of a router that takes such Data; and over the wrap of P(S)."""
    a, b = both(call)
    full = bytes(min(a.packet_size, b.size_in))
    sequences = ((b"alone", 0), (full, 1), (b"part of it", 1), (b"the rest", 0))
    for q, (octets, m) in product((0, 1), sequences):
        confirmed_by_b_alone(call, octets, m=m, q=q)
    if takes_empty_data(call):
        for m in (0, 1):
            confirmed_by_b_alone(call, b"", m=m)
        confirmed_by_b_alone(call, b"the end of that")
    while a.numbering.next_p_s != 0:
        confirmed_by_b_alone(call, b"up to the wrap")
    confirmed_by_b_alone(call, b"behind it")
    call.fence()


@purpose("PLP-DBIT-03", both_sides=True, window=3)
def test_earlier_packets_may_be_acknowledged(call: Call) -> None:
    a, b = both(call)
    b.withholding = True
    a.send(a.data(b"D=0"), a.data(b"D=1", d=1))
    b.expect(Data(d=0, user_data=b"D=0"))
    taken = 0
    if not may_come(b):
        # A router may wait for the P(R) of the first one.
        taken = 1
        b.acknowledge(taken)
    b.expect(Data(d=1, user_data=b"D=1"))
    fence_from_b(call, p_r=taken)
    acknowledged_up_to(a, 0, 1, note="B has not acknowledged")
    b.acknowledge(2)
    a.expect(*acknowledgement(2), passing=(*acknowledgement(0), *acknowledgement(1)))
    _later_ones_wait(call)
    _behind_more_data(call)
    b.withholding = False
    call.fence()


def _behind_more_data(call: Call) -> None:
    """The same at the end of a packet sequence, which B has as A sent it if its packets are of the
    same size."""
    a, b = both(call)
    if b.size_in != a.packet_size:
        return
    full = call.bench.record(a.packet_size)
    a.send(a.data(full, m=1), a.data(b"D=1 at the end", d=1))
    b.expect(Data(d=0, m=1, user_data=full))
    taken = 4
    if not may_come(b):
        taken = 5
        b.acknowledge(taken)
    b.expect(Data(d=1, m=0, user_data=b"D=1 at the end"))
    fence_from_b(call, p_r=taken)
    acknowledged_up_to(a, *range(6), note="B has not acknowledged the D=1 at the end of a sequence")
    b.acknowledge(6)
    acknowledgement_comes(a, 6)


def _later_ones_wait(call: Call) -> None:
    """P(R) for D=0 would acknowledge the D=1 in front of it as well (X.25 4.4.1.3)."""
    a, b = both(call)
    a.send(a.data(b"D=1 in front", d=1), a.data(b"D=0 behind it"))
    b.expect(Data(d=1, user_data=b"D=1 in front"))
    at_once = may_come(b)
    if at_once:
        b.expect(Data(d=0, user_data=b"D=0 behind it"))
    fence_from_b(call, p_r=2)
    acknowledged_up_to(a, 0, 1, 2, note="B has not acknowledged the D=1")
    b.acknowledge(3)
    either = (RR(p_r=one_of(3, 4)), RNR(p_r=one_of(3, 4)))
    a.expect(*either, passing=acknowledgement(2))
    if not at_once:
        b.expect(Data(d=0, user_data=b"D=0 behind it"))
    b.acknowledge(4)


@purpose("PLP-DBIT-04", both_sides=True, window=7)
def test_confirmed_in_order(call: Call) -> None:
    confirmed_in_order(call)


@purpose("PLP-DBIT-21", both_sides=True, window=7)
def test_confirmed_in_order_behind_a_reset(call: Call) -> None:
    reset(call)
    confirmed_in_order(call)


def confirmed_in_order(call: Call) -> None:
    """A window of Data with D=1 from A; P(R) says how much of it B has acknowledged."""
    a, b = both(call)
    b.withholding = True
    parts = [f"packet {number}".encode() for number in range(window_of(call))]
    open_at_b = fill_window(a, b, parts, d=1)
    for number, octets in enumerate(parts):
        if number >= open_at_b.came:
            b.expect(Data(d=1, user_data=octets))
        fence_from_b(call, p_r=number)
        acknowledged_up_to(a, *range(number + 1), note=f"B has acknowledged {number}")
        b.acknowledge(number + 1)
        a.expect(*acknowledgement(number + 1), passing=acknowledgement(number))
    b.withholding = False
    call.fence()


@purpose("PLP-DBIT-05")
def test_confirmed_when_the_last_part_is(bench: Bench) -> None:
    """Of as many parts as modulo 8 has numbers too; then of two packets that are both open. From B
    as well, if the route takes any sizes."""
    for modulus, size in product(moduli(bench), (512, 1024)):
        if size <= bench.profile.limits.packet_size:
            for call in each_way(bench, size, 128, modulus=modulus):
                with amid(bench, f"modulo {modulus}, {size // 128} parts, from {call.a.name}"):
                    _last_part_is_confirmed(call, size // 128)
                end(call)
        if size == 512:
            for call in each_way(bench, size, 128, modulus=modulus):
                with amid(bench, f"modulo {modulus}, two packets, from {call.a.name}"):
                    _two_are_split_and_confirmed(call)
                end(call)


def _last_part_is_confirmed(call: Call, parts: int) -> None:
    a, b = both(call)
    octets = call.bench.random.randbytes(128 * parts)
    b.withholding = True
    a.send_data(octets, d=1)
    for number in range(parts):
        if number and not may_come(b):
            b.acknowledge(number % b.modulus)
        b.expect(b.data(octets[128 * number : 128 * number + 128]))
    b.acknowledge((parts - 1) % b.modulus)
    fence_from_b(call, p_r=(parts - 1) % b.modulus)
    acknowledged_up_to(a, 0, note="B has acknowledged all parts but one")
    b.acknowledge(parts % b.modulus)
    a.expect(*acknowledgement(1, a.modulus), passing=acknowledgement(0, a.modulus))
    b.withholding = False
    call.fence()


# How many packets B has acknowledged of those that came to it, and how many of A's its P(R) may
# acknowledge then.
Steps = Sequence[tuple[int, tuple[int, ...]]]
# Two packets of A, each of which comes in four parts.
SPLIT: Steps = ((3, (0,)), (4, (1,)), (7, (1,)), (8, (2,)))
# Two pairs of packets, each of which comes as one. The first of a pair has D=0, and may be
# acknowledged without B.
JOINED: Steps = ((0, (0, 1)), (1, (2, 3)), (2, (4,)))


def _two_are_split_and_confirmed(call: Call) -> None:
    """Each with the last of its four parts, while B takes part by part."""
    a, b = both(call)
    octets = call.bench.random.randbytes(1024)
    parts = [octets[at : at + 128] for at in range(0, 1024, 128)]
    due = [b.data(part, d=int(number in (3, 7))) for number, part in enumerate(parts)]
    _confirmed_step_by_step(
        call, [a.data(octets[:512], d=1), a.data(octets[512:], d=1)], due, SPLIT
    )


def _two_are_joined_and_confirmed(call: Call) -> None:
    """Two packets with D=1 of two parts each come to B; it acknowledges one after the other."""
    a, b = both(call)
    octets = call.bench.random.randbytes(172)
    pair = (a.data(octets[:128], m=1), a.data(octets[128:], d=1))
    sent = [part.copy() for _ in range(2) for part in pair]
    _confirmed_step_by_step(call, sent, [b.data(octets, d=1, m=0)] * 2, JOINED)


def _confirmed_step_by_step(
    call: Call, sent: Sequence[Packet], due: Sequence[Packet], steps: Steps
) -> None:
    """A sends all of that, and B, to which this is due, takes one after the other.

    The next one that is due has come before B acknowledges, and so has the one behind it where the
    router sends that without a P(R).
    """
    a, b = both(call)
    if a.window < len(sent):
        return
    all_acknowledged(a)
    begin, first, taken = a.arrivals.end(), a.numbering.next_p_s, b.numbering.p_r
    acknowledged, came = 0, 0
    had: tuple[int, ...] = (0,)
    b.withholding = True
    for packet in sent:
        a.send(packet)
    for upto, may in steps:
        for count in range(acknowledged, upto + 1):
            if count > acknowledged:
                b.acknowledge((taken + count) % b.modulus)
            for packet in due[came : count + 2]:
                if came > count and not may_come(b):
                    break
                b.expect(packet)
                came += 1
        acknowledged = upto
        if not {*may} & {*had}:
            acknowledgement_comes(a, *((first + count) % a.modulus for count in may))
        had = may
        if upto < len(due):
            fence_from_b(call, p_r=(taken + upto) % b.modulus)
        for count in range(max(may) + 1, len(sent) + 1):
            note = f"B has acknowledged {upto} of {len(due)}"
            not_acknowledged(a, (first + count) % a.modulus, begin, note=note)
    b.withholding = False
    call.fence()


@purpose("PLP-DBIT-20")
def test_confirmed_when_what_was_joined_is(bench: Bench) -> None:
    """B has the larger size: full packets with M=1, and the last one with D=1, come to it as one.

    Those with D=0 may be acknowledged before. The last one with M=0 first, then with M=1: part of
    a packet, and all of it.
    """
    for modulus in moduli(bench):
        for call in each_way(bench, 128, 512, modulus=modulus):
            for m, last in ((0, 44), (1, 44), (1, 128)):
                occasion = f"from {call.a.name}, modulo {modulus}, {last} octets, D=1 and M={m}"
                with amid(bench, occasion):
                    _joined_and_confirmed(call, m, last)
            with amid(bench, f"from {call.a.name}, modulo {modulus}, two of them"):
                _two_are_joined_and_confirmed(call)


def _joined_and_confirmed(call: Call, m: int, last: int) -> None:
    a, b = both(call)
    count = min(3, a.window)
    all_acknowledged(a)
    begin, first, taken = a.arrivals.end(), a.numbering.next_p_s, b.numbering.p_r
    octets = call.bench.random.randbytes(128 * (count - 1) + last)
    b.withholding = True
    for at in range(0, 128 * (count - 1), 128):
        a.send_data(octets[at : at + 128], m=1)
    a.send_data(octets[128 * (count - 1) :], d=1, m=m)
    b.expect(b.data(octets, d=1, m=m))
    fence_from_b(call, p_r=taken)
    confirmed = (first + count) % a.modulus
    not_acknowledged(a, confirmed, begin, note="B has not acknowledged")
    b.acknowledge((taken + 1) % b.modulus)
    acknowledgement_comes(a, confirmed)
    b.withholding = False
    if m:
        a.send_data(b"the end of the sequence")
        b.expect(b.data(b"the end of the sequence", d=0, m=0))
    call.fence()


@purpose("PLP-DBIT-22")
def test_confirmed_as_the_last_of_a_window(bench: Bench) -> None:
    """D=0 in front of it, as much as the window of the other end takes but one: from A and from B,
    in each window."""
    for modulus in moduli(bench):
        for window in WINDOWS[modulus]:
            call = bench.call(window=window, modulus=modulus)
            for way in (call, call.turned()):
                with amid(bench, f"window {window} of modulo {way.a.modulus}, from {way.a.name}"):
                    _last_of_a_window(way)
            end(call)
    bench.fence()


# For each modulus; of 128 those around another bit of the numbers.
WINDOWS = {8: range(1, 8), 128: (1, 2, 7, 8, 15, 33)}


def _last_of_a_window(call: Call) -> None:
    """A router with a window of its own may keep below it: then nothing is the last of one."""
    a, b = both(call)
    all_acknowledged(a)
    first, taken = a.numbering.next_p_s, b.numbering.p_r
    last = b"the last of the window"
    b.withholding = True
    filled = fill_window(a, b, [b"D=0"] * (b.window_in - 1))
    count = len(filled.sent)
    whole = count == b.window_in - 1 and filled.came == count and may_send(a)
    # What acknowledges earlier Data may have the same P(R), and comes before this.
    begin = a.arrivals.end()
    if whole:
        a.send(a.data(last, d=1))
        whole = may_come(b)
    if whole:
        b.expect(b.data(last, d=1))
        confirmed = (first + count + 1) % a.modulus
        for acknowledged in (0, count):
            fence_from_b(call, p_r=(taken + acknowledged) % b.modulus)
            note = "B has not acknowledged the last of its window"
            not_acknowledged(a, confirmed, begin, note)
        b.acknowledge((taken + count + 1) % b.modulus)
        acknowledgement_comes(a, confirmed)
        b.withholding = False
        return
    call.bench.remark("the router keeps below the window of the other side")
    b.withholding = False
    b.acknowledge()
    filled.take_rest()
    if a.numbering.next_p_s != (first + count) % a.modulus:
        b.expect(b.data(last, d=1))
    call.fence()


@purpose("PLP-DBIT-23", both_sides=True, window=3)
def test_confirmed_by_b_alone_amid_other_things(call: Call) -> None:
    """While A is busy, while a D=1 of B is open, and while an Interrupt of each side is; in modulo
    128 too."""
    for way in modes(call):
        for happens, what in AMID_WHAT.items():
            with amid(call.bench, f"modulo {way.a.modulus}, {what}"):
                happens(way)
                way.fence()


def _open_at_b(call: Call, octets: bytes, **fields: int) -> tuple[int, int, int]:
    """A's Data with D=1 is at B, which has not acknowledged it: where that began, its P(S), and the
    P(R) of B. fields: further ones of that Data."""
    a, b = both(call)
    all_acknowledged(a)
    begin, sent, taken = a.arrivals.end(), a.numbering.next_p_s, b.numbering.p_r
    b.withholding = True
    a.send_data(octets, d=1, **fields)
    b.expect(b.data(octets, d=1))
    return begin, sent, taken


def _not_yet_then_confirmed(call: Call, began: tuple[int, int, int]) -> None:
    """A has had no P(R) for that Data up to here; it comes when B has acknowledged."""
    a, b = both(call)
    begin, sent, taken = began
    confirmed = (sent + 1) % a.modulus
    not_acknowledged(a, confirmed, begin, note="B has not acknowledged")
    b.acknowledge((taken + 1) % b.modulus)
    acknowledgement_comes(a, confirmed)
    b.withholding = False


def _interrupt(here: Side, there: Side) -> None:
    """A round trip past the windows."""
    here.send(Interrupt(user_data=b"fence"))
    there.expect(Interrupt(user_data=b"fence"))
    there.send(InterruptConfirmation())
    here.expect(InterruptConfirmation())


def _while_the_sender_is_busy(call: Call) -> None:
    a, b = both(call)
    a.send(receive_not_ready(a))
    began = _open_at_b(call, b"of a busy sender")
    _interrupt(b, a)
    _not_yet_then_confirmed(call, began)
    a.acknowledge()


def _while_each_has_one_open(call: Call) -> None:
    a, b = both(call)
    of_b = _open_at_b(call.turned(), b"of B")
    of_a = _open_at_b(call, b"of A", p_r=of_b[2])
    for here, there in ((a, b), (b, a)):
        _interrupt(here, there)
    _not_yet_then_confirmed(call, of_a)
    _interrupt(a, b)
    _not_yet_then_confirmed(call.turned(), of_b)


def _while_interrupts_are(call: Call) -> None:
    a, b = both(call)
    for here, there in ((a, b), (b, a)):
        here.send(Interrupt(user_data=b"open"))
        there.expect(Interrupt(user_data=b"open"))
    began = _open_at_b(call, b"amid Interrupts")
    fence_from_b(call, p_r=began[2])
    _not_yet_then_confirmed(call, began)
    for here, there in ((a, b), (b, a)):
        here.send(InterruptConfirmation())
        there.expect(InterruptConfirmation())


AMID_WHAT = {
    _while_the_sender_is_busy: "A is busy",
    _while_each_has_one_open: "a D=1 of B is open",
    _while_interrupts_are: "an Interrupt of each side is open",
}


@purpose("PLP-DBIT-06", both_sides=True)
def test_reset_confirms_nothing(call: Call) -> None:
    """Three Data that B acknowledged, and one that it did not; then a reset of B, and one of A.

    What B acknowledged before a reset counts for no D=1 behind it.
    """
    a, b = both(call)
    for by, other in ((b, a), (a, b)):
        begin, here = a.cursor, a.numbering
        before = [(here.acknowledged + count) % 8 for count in range(here.outstanding + 4)]
        deliver(a, b, (b"one", b"two", b"three"))
        b.withholding = True
        a.send_data(b"never confirmed", d=1)
        b.expect(Data(d=1, user_data=b"never confirmed"))
        by.send(ResetRequest(cause=0, diagnostic=0))
        other.expect(ResetIndication(cause=0, diagnostic=0))
        other.send(ResetConfirmation())
        by.expect(ResetConfirmation())
        note = "B has not acknowledged the fourth"
        acknowledged_up_to(a, 0, *before, start=begin, note=note)
        confirmed_by_b_alone(call, f"behind a reset of {by.name}".encode())
        call.fence()


@purpose("PLP-DBIT-07", both_sides=True)
def test_d_bit_is_not_half_supported(call: Call) -> None:
    """Diagnostic 166: D bit procedure not supported (X.25 Table E-1); or 40, as the bit is one of
    the GFI."""
    bench, a, b = call.bench, call.a, call.b
    b.withholding = True
    a.send_data(b"D=1", d=1)
    here = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(166, 40))
    ahead = confirmed_ahead(a, b, here)
    came = b.expect(Data(user_data=b"D=1"), ResetIndication(cause=bench.remote_reset))
    b.withholding = False
    if isinstance(came, ResetIndication):
        if not ahead:
            a.expect(here)
            a.send(ResetConfirmation())
        b.send(ResetConfirmation())
    elif came is not None and came.d:
        fence_from_b(call, p_r=0)
        acknowledged_up_to(a, 0, note="D=1 has passed, and B has not acknowledged")
        b.acknowledge(1)
    else:
        b.acknowledge(1)
    call.fence()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of data transfer: messages, busy sides, windows, delivery confirmation, Interrupts."""

from __future__ import annotations

from scapy_x25 import RNR128

from ...sides.side import receive_not_ready
from ..calls import window_holds
from ..language import (
    RNR,
    RR,
    RR128,
    Bench,
    Interrupt,
    InterruptConfirmation,
    Matcher,
    Packet,
    Side,
    one_of,
)
from ..procedure_errors import part_filled_is_reset
from .alphabet import Step, action
from .circuit import Circuit, Withheld, told_not_ready
from .ending import anew

# Octets of a message: so many full packets, and so many octets more.
LENGTHS = ((0, 1), (0, 2), (0, 17), (1, -1), (1, 0), (1, 1), (2, -1), (2, 0), (2, 1), (8, 3))


@action("message", 20)
def message(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A complete packet sequence, or the rest of one; it may have to wait in the router."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    octets = _octets(bench, x, step)
    if not circuit.may_send(x, y, -(-len(octets) // x.packet_size)):
        return False
    circuit.send(x, octets, q=step.number >> 7)
    if not circuit.holds(y):
        circuit.receive(y)
    return True


def _octets(bench: Bench, side: Side, step: Step) -> bytes:
    """A message whose length has to do with the packet size of the side that sends it."""
    packets, more = LENGTHS[step.number % len(LENGTHS)]
    length = packets * side.packet_size + more
    octets = bench.record(64)[:length]
    return octets + bytes(length - len(octets))


@action("begin", 4)
def begin(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """Full packets with M=1; the sequence stays open, or one that was open goes on."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    packets = 1 + step.number % 3
    if not circuit.may_send(x, y, packets):
        return False
    octets = bench.record(64) + bytes(packets * x.packet_size)
    circuit.send(x, octets[: packets * x.packet_size], q=step.number >> 7, more=True)
    return True


@action("cut-short", 1)
def cut_short(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A part-filled packet with M=1 ends a sequence; the next may have another Q (X.25 4.3.4)."""
    if circuit.call is None or bench.model != "local":
        return False
    x, y = circuit.ends(step.side)
    if not circuit.calm(x, y):
        return False
    q = step.number >> 7
    octets = bench.record(64)[: x.packet_size - 1]
    other = {1: y.size_in, 2: x.size_in}.get(step.number % 4, x.packet_size)
    if other < x.packet_size:
        # Full is what has the size of that side and that direction.
        octets = bytes(other)
    x.send_data(octets, m=1, q=q, **circuit.p_r_of(x))
    if part_filled_is_reset(bench, x, y):
        anew(bench, circuit, y, step)
        return True
    y.expect_message(octets, q=q)
    circuit.send(x, b"with the other Q", q=1 - q)
    circuit.receive(y)
    return True


@action("stream", 2)
def stream(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """Messages one behind the other, until the numbers of their packets have come round.

    Where that takes 128 of them, it does so in half of the steps.
    """
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if not circuit.calm(x, y):
        return False
    around = x.modulus if step.number & 0x80 else 8
    for _ in range(around + step.number % 4):
        circuit.send(x, bench.record(32))
        circuit.receive(y)
    return True


@action("not-ready", 6)
def not_ready(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """RNR; Data of the same side behind it shows that the router has read it."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if circuit.holds(x) or not circuit.calm(x, y):
        return False
    x.send(receive_not_ready(x))
    circuit.not_ready.add(x)
    circuit.send(x, bench.record(32))
    circuit.receive(y)
    return True


@action("ready", 5)
def ready(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """RR: what has waited comes."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if x not in circuit.not_ready:
        return False
    x.acknowledge()
    circuit.not_ready.discard(x)
    y.wait_until(lambda: not told_not_ready(y))
    circuit.receive(x)
    return True


@action("withhold", 4)
def withhold(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A side acknowledges nothing from here on, and the other fills its window."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if circuit.holds(x) or y in circuit.begun:
        return False
    x.withholding = True
    circuit.withheld[x] = Withheld(x.numbering.p_r, x.arrivals.end())
    for number in range(min(x.window_in + 2, 10)):
        if not circuit.may_send(y, x, 1):
            break
        circuit.send(y, b"withheld " + bytes((number,)))
    return True


@action("release", 4)
def release(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """P(R) of a side that withheld it, in an RR or in Data: what has waited comes."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if x not in circuit.withheld:
        return False
    circuit.window_was_kept(x)
    in_data = step.number & 1 and circuit.calm(x, y)
    del circuit.withheld[x]
    x.withholding = False
    if in_data:
        circuit.send(x, b"P(R) in Data")
        circuit.receive(y)
    else:
        x.acknowledge()
    circuit.receive(x)
    return True


@action("window", 2)
def window(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """The window of the other side is filled and never exceeded, and opens again."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if not circuit.calm(x, y) or y in circuit.interrupted:
        return False
    if not circuit.calm(y, x):
        return False
    window_holds(x, y)
    return True


@action("delivery", 3)
def delivery(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """D=1: P(R) comes when the other side has acknowledged, and not before (X.25 4.4.1.4)."""
    if circuit.call is None or not bench.declared("P-DBIT"):
        return False
    x, y = circuit.ends(step.side)
    if not circuit.calm(x, y) or not circuit.calm(y, x):
        return False
    x.wait_for_window()
    before, mark = y.numbering.p_r, x.arrivals.end()
    due = (x.numbering.next_p_s + 1) % x.modulus
    open_before = range(x.numbering.outstanding + 1)
    earlier = one_of(*((x.numbering.acknowledged + n) % x.modulus for n in open_before))
    y.withholding = True
    octets, q = bytes((step.number,)) * (1 + step.number % 16), step.number >> 7
    x.send_data(octets, d=1, q=q)
    y.expect(y.data(octets, d=1, q=q, m=0))
    y.send_data(b"not acknowledged", p_r=before)
    x.expect_message(b"not acknowledged")
    for packet in acknowledging(x, p_r=due):
        x.expect_count(packet, 0, 0, start=mark, note="D=1, and not acknowledged")
    y.withholding = False
    y.acknowledge()
    x.expect(*acknowledging(x, p_r=due), passing=acknowledging(x, p_r=earlier))
    return True


def acknowledging(side: Side, **fields: int | Matcher) -> tuple[Packet, ...]:
    """RR and RNR of the side's modulus."""
    kinds = (RR128, RNR128) if side.modulus == 128 else (RR, RNR)
    return tuple(kind(**fields) for kind in kinds)


@action("interrupt", 8)
def interrupt(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """An Interrupt, which passes a side that is not ready; it stays unconfirmed."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if y in circuit.interrupted:
        return False
    octets = bytes((1 + step.number + n) & 0xFF for n in range(1 + step.number % 32))
    x.send(Interrupt(user_data=octets))
    circuit.expect(y, Interrupt(user_data=octets))
    circuit.interrupted.add(y)
    return True


@action("confirm", 6)
def confirm(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """The confirmation of an Interrupt."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if x not in circuit.interrupted:
        return False
    x.send(InterruptConfirmation())
    circuit.expect(y, InterruptConfirmation())
    circuit.interrupted.discard(x)
    return True

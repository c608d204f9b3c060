# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps in which a side makes an error: the router resets or clears both (X.25 Tables C-3, C-4)."""

from __future__ import annotations

from scapy_x25 import RNR128

from ...sides.channel import ChannelSide
from ..language import (
    RNR,
    RR,
    RR128,
    Bench,
    ClearConfirmation,
    ClearIndication,
    Interrupt,
    InterruptConfirmation,
    Packet,
    Raw,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
)
from ..procedure_errors import expect_after, far_end_is_reset_first
from ..reactions import header
from .alphabet import Step, action
from .circuit import Circuit, any_data
from .ending import anew

# Octet 3 of packets that X.25 does not define, in either modulus.
UNDEFINED = (0x2B, 0x33, 0x3F, 0x43, 0x4F, 0x53, 0x7B, 0x8F, 0xA7, 0xE7)
# One octet more than this may be no packet at all (RFC 1613 4.1).
LONGEST = 4096
CALL_ACCEPTED, RESET, INTERRUPT = 0x0F, 0x1B, 0x23


def checks_numbers(bench: Bench) -> bool:
    """Where numbers are end to end their check may be left to the ends (RFC 1613 6.2)."""
    return bench.model != "end-to-end" or bench.declared("N-CHECK")


def resets_both(
    bench: Bench, circuit: Circuit, step: Step, wrong: Packet | bytes, diagnostic: int
) -> bool:
    """Both sides are reset because of this packet; either may confirm first."""
    x, y = circuit.ends(step.side)
    if isinstance(wrong, bytes):
        x.put(wrong)
    else:
        x.send(wrong)
    here = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(diagnostic))
    there = ResetIndication(cause=bench.remote_reset)
    ends = ((x, here), (y, there))
    if not step.number & 4 and far_end_is_reset_first(y):
        ends = ends[::-1]
    for side, template in ends:
        expect_after(side, template, any_data(side))
        side.send(ResetConfirmation())
    anew(bench, circuit, ends[1][0], step)
    return True


@action("wrong-p(s)", 2, error=True)
def wrong_p_s(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """Data with a P(S) that is not the next one."""
    if circuit.call is None or not checks_numbers(bench):
        return False
    x, _ = circuit.ends(step.side)
    p_s = (x.numbering.next_p_s + 1 + step.number % (x.modulus - 1)) % x.modulus
    return resets_both(bench, circuit, step, circuit.data(x, b"wrong", p_s=p_s), 1)


@action("wrong-p(r)", 2, error=True)
def wrong_p_r(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """P(R) in RR, RNR or Data that is neither the last one nor up to what can have come since."""
    if circuit.call is None or not checks_numbers(bench):
        return False
    x, y = circuit.ends(step.side)
    last = circuit.withheld[x].p_r if x in circuit.withheld else x.numbering.p_r
    others = x.modulus - 1 - x.window_in
    if others < 1:
        return False
    p_r = (last + x.window_in + 1 + step.number % others) % x.modulus
    kind = step.number % 3
    if kind == 0 and not circuit.holds(y):
        x.wait_for_window()
        return resets_both(bench, circuit, step, circuit.data(x, b"wrong P(R)", p_r=p_r), 2)
    kinds = (RR128, RNR128) if x.modulus == 128 else (RR, RNR)
    return resets_both(bench, circuit, step, kinds[kind % 2](p_r=p_r), 2)


@action("too-much", 1, error=True)
def too_much(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """Data with one octet more than agreed."""
    if circuit.call is None or not checks_numbers(bench):
        return False
    x, y = circuit.ends(step.side)
    # A frame that is longer than the line takes is none of the packet layer's.
    longest = bench.profile.limits.packet_size if isinstance(x, ChannelSide) else LONGEST
    if circuit.holds(y) or x.packet_size >= longest:
        return False
    x.wait_for_window()
    return resets_both(bench, circuit, step, circuit.data(x, bytes(x.packet_size + 1)), 39)


@action("wrong-length", 2, error=True)
def wrong_length(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A Reset or an Interrupt that is too short or too long."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    kind = step.number % 4
    if kind > 1 and y in circuit.interrupted:
        return False
    wrong: dict[int, tuple[Packet | bytes, int]] = {
        0: (header(x, RESET), 38),
        1: (ResetRequest(cause=0, diagnostic=0) / Raw(b"\0"), 39),
        2: (header(x, INTERRUPT), 38),
        3: (Interrupt(user_data=bytes(33)), 39),
    }
    packet, diagnostic = wrong[kind]
    octets = packet if isinstance(packet, bytes) else x.octets_of(packet)
    return resets_both(bench, circuit, step, octets, diagnostic)


@action("undefined", 2, error=True)
def undefined(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A packet type that X.25 does not define."""
    if circuit.call is None:
        return False
    x, _ = circuit.ends(step.side)
    octets = header(x, UNDEFINED[step.number % len(UNDEFINED)])
    return resets_both(bench, circuit, step, octets, 33)


@action("stray-confirmation", 2, error=True)
def stray_confirmation(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """An Interrupt Confirmation for nothing."""
    if circuit.call is None:
        return False
    x, _ = circuit.ends(step.side)
    if x in circuit.interrupted:
        return False
    return resets_both(bench, circuit, step, InterruptConfirmation(), 43)


@action("stray-reset-confirmation", 1, error=True)
def stray_reset_confirmation(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A Reset Confirmation for nothing."""
    if circuit.call is None:
        return False
    x, _ = circuit.ends(step.side)
    return resets_both(bench, circuit, step, x.octets_of(ResetConfirmation()), 27)


@action("second-interrupt", 2, error=True)
def second_interrupt(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """An Interrupt before the last one was confirmed."""
    if circuit.call is None:
        return False
    _, y = circuit.ends(step.side)
    if y not in circuit.interrupted:
        return False
    return resets_both(bench, circuit, step, Interrupt(user_data=b"again"), 44)


@action("second-call", 1, error=True)
def second_call(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A Call, or its answer, in data transfer: both sides are cleared."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if step.number & 1:
        x.put(x.octets_of(bench.call_request()))
    else:
        x.put(header(x, CALL_ACCEPTED))
    here = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(23))
    _cleared(x, here)
    _cleared(y, ClearIndication(cause=bench.remote_clear))
    circuit.fresh(None)
    return True


def _cleared(side: Side, wanted: Packet) -> None:
    expect_after(side, wanted, any_data(side))
    side.send(ClearConfirmation())

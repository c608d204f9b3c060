# SPDX-License-Identifier: GPL-2.0-or-later
"""How calls begin, and the values agreed for them (X.25 4.1, 6.12; RFC 1613 6.1)."""

from __future__ import annotations

from collections.abc import Sequence

from scapy.packet import Packet
from scapy_x25 import (
    CallAccepted,
    Interrupt,
    InterruptConfirmation,
    PacketSize,
    WindowSize,
)

from ..sides.bench import Bench
from ..sides.call import Call
from ..sides.side import AbsentSide, Side
from .clearing import AnySide


def arrives(bench: Bench, *templates: Packet) -> AnySide:
    """The call at B as one of the templates says; where the router ends it itself, no side."""
    return bench.incoming(*templates) if bench.two_sided else AbsentSide()


def accepted(
    a: Side,
    b: AnySide,
    request: Packet,
    answer: Packet | None = None,
    connected: Sequence[Packet] = (),
) -> Call:
    """B accepts with this answer, A is connected (as one of the templates says); data may flow."""
    reply = CallAccepted() if answer is None else answer
    b.send(reply)
    came = a.expect(*(connected or (CallAccepted(),)))
    assert came is not None
    a.bench.settle(a, b, request, came)
    if b.present:
        take_answer(b, reply)
    return Call(a.bench, a, b)


def trusts_the_ends(bench: Bench) -> bool:
    """Whether the checks of a call may be left to its ends (section 6.2 of RFC 1613)."""
    return bench.model == "splice" or (bench.model == "end-to-end" and bench.declared("N-TRUST"))


def take_answer(b: AnySide, answer: Packet) -> None:
    """B is bound by the values that it answered with itself."""
    for facility in answer.fields.get("facilities") or ():
        if isinstance(facility, PacketSize):
            b.packet_size = 1 << facility.getfieldval("called")
        elif isinstance(facility, WindowSize):
            b.window = facility.getfieldval("called")


# values in force


def offer_of(call: Packet) -> tuple[PacketSize, WindowSize]:
    """Packet size and window size that a Call names; the defaults where it does not."""
    size, window = PacketSize(), WindowSize()
    for facility in call.fields.get("facilities") or ():
        if isinstance(facility, PacketSize):
            size = facility
        elif isinstance(facility, WindowSize):
            window = facility
    return size, window


def window_is(sender: AnySide, receiver: AnySide, agreed: int) -> None:
    """Towards the receiver the router keeps exactly this window.

    The receiver gives no P(R); Data up to the window comes, and then an Interrupt, which Data may
    not hold up (X.25 4.3.7), comes before any further Data.
    """
    if isinstance(sender, AbsentSide) or isinstance(receiver, AbsentSide):
        return
    receiver.withholding = True
    parts = [bytes((0x30 + number,)) * 5 for number in range(agreed + 1)]
    for part in parts[:agreed]:
        sender.send_data(part)
    for part in parts[:agreed]:
        receiver.expect(receiver.data(part))
    further = may_send(sender)
    if further:
        sender.send(sender.data(parts[agreed]))
    interrupt_passes(sender, receiver)
    receiver.withholding = False
    receiver.acknowledge()
    if further:
        receiver.expect(receiver.data(parts[agreed]))


def may_send(sender: Side, within: float | None = None) -> bool:
    """Whether the window lets the sender send one more Data packet.

    A router with a window of its own on each side may open it by itself, within TQ or as given.
    """
    if sender.numbering.outstanding < sender.window or sender.bench.model != "local":
        return sender.numbering.outstanding < sender.window
    return sender.wait_until(
        lambda: sender.numbering.outstanding < sender.window,
        within or sender.bench.profile.times.quiet,
    )


def interrupt_passes(sender: Side, receiver: Side) -> None:
    """An Interrupt arrives next, and its confirmation returns."""
    sender.send(Interrupt(user_data=b"!"))
    receiver.expect(Interrupt(user_data=b"!"))
    receiver.send(InterruptConfirmation())
    sender.expect(InterruptConfirmation())

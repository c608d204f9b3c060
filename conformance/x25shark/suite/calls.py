# SPDX-License-Identifier: GPL-2.0-or-later
"""How calls begin, and the values agreed for them (X.25 4.1, 6.12; RFC 1613 6.1)."""

from __future__ import annotations

from collections.abc import Sequence

from scapy.packet import Packet
from scapy_x25 import (
    CallAccepted,
    Interrupt,
    InterruptConfirmation,
    Marker,
    PacketSize,
    WindowSize,
)

from ..judges.template import decode
from ..sides.bench import Bench
from ..sides.call import Call
from ..sides.side import AbsentSide, Side
from .clearing import AnySide
from .windows import fill_window, may_send


def arrives(bench: Bench, *templates: Packet) -> AnySide:
    """The call at B as one of the templates says; where the router ends it itself, no side."""
    return bench.incoming(*templates) if bench.two_sided else AbsentSide()


def pending(bench: Bench, request: Packet | None = None) -> tuple[Side, Side]:
    """A Call of A that has arrived at B, which has not answered yet. Raises Inconclusive."""
    with bench.preamble():
        a = bench.connect()
        a.send(bench.call_request() if request is None else request)
        return a, bench.incoming()


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


def received_call(side: Side) -> Packet:
    """The first packet of a call: the Incoming Call of a called side."""
    side.wait_until(lambda: bool(side.units or side.connection.end))
    return decode(side.units[0].packet if side.units else b"")


def behind_marker(side: Side, marked: Sequence[Packet]) -> bytes:
    """The facility field that the next packet must have to end with exactly these facilities.

    What stands in front of the first marker is the router's own matter.
    """
    side.wait_until(
        lambda: (
            side.connection.end is not None
            or any(unit.offset >= side.cursor for unit in side.connection.received)
        )
    )
    units = [unit for unit in side.connection.received if unit.offset >= side.cursor]
    own: list[Packet] = []
    for facility in decode(units[0].packet).fields.get("facilities") or () if units else ():
        if isinstance(facility, Marker):
            break
        own.append(facility)
    return b"".join(bytes(facility) for facility in (*own, *marked))


def carries(call: Call) -> None:
    """1500 octets each way in packets no longer than each receiving side has agreed to."""
    if isinstance(call.b, AbsentSide):
        return
    for sender, receiver in ((call.a, call.b), (call.b, call.a)):
        octets = call.bench.record(1500)
        sender.send_message(octets)
        receiver.expect_message(octets, longest=receiver.packet_size)


def window_is(sender: AnySide, receiver: AnySide, agreed: int) -> None:
    """Towards the receiver the router keeps exactly this window.

    The receiver gives no P(R); Data up to the window comes, and then an Interrupt, which Data may
    not hold up (X.25 4.3.7), comes before any further Data.
    """
    if isinstance(sender, AbsentSide) or isinstance(receiver, AbsentSide):
        return
    receiver.withholding = True
    parts = [bytes((0x30 + number,)) * 5 for number in range(agreed + 1)]
    filled = fill_window(sender, receiver, parts[:agreed], most=agreed)
    if may_send(sender):
        filled.send_one_more(sender, parts[len(filled.sent)])
    mark, due = receiver.cursor, filled.due
    interrupt_passes(sender, receiver, filled.passing)
    receiver.expect_count(filled.any_data, 0, due, start=mark)
    receiver.withholding = False
    receiver.acknowledge()
    filled.take_rest()


def interrupt_passes(sender: Side, receiver: Side, passing: Sequence[Packet] = ()) -> None:
    """An Interrupt arrives next (behind what may pass), and its confirmation returns."""
    sender.send(Interrupt(user_data=b"!"))
    receiver.expect(Interrupt(user_data=b"!"), passing=passing)
    receiver.send(InterruptConfirmation())
    sender.expect(InterruptConfirmation())

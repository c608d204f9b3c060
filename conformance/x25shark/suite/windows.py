# SPDX-License-Identifier: GPL-2.0-or-later
"""Windows that are filled and kept shut (X.25 4.4.1.2; RFC 1613 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scapy.packet import Packet
from scapy_x25 import Data, Data128, Interrupt, InterruptConfirmation

from ..sides.numbering import DATA, kind_of
from ..sides.side import Side


@dataclass
class Unacknowledged:
    """Data to a side that acknowledges none of it. begin: where the first of it may be."""

    receiver: Side
    sent: list[bytes]
    begin: int
    most: int

    @property
    def came(self) -> int:
        """How many Data have come, up to the last packet that was expected."""
        return data_between(self.receiver, self.begin, self.receiver.cursor)

    @property
    def due(self) -> int:
        """How many more the window of the receiver lets in."""
        return self.most - self.came

    @property
    def passing(self) -> tuple[Packet, ...]:
        """What may come ahead of other packets: Data, if the router keeps below the window."""
        return (self.any_data,) if self.due > 0 else ()

    @property
    def any_data(self) -> Packet:
        """A Data packet of the receiver."""
        return Data128() if self.receiver.modulus == 128 else Data()

    def send_one_more(self, sender: Side, octets: bytes) -> None:
        """One more Data packet."""
        self.sent.append(octets)
        sender.send(sender.data(octets))

    def take_rest(self) -> None:
        """The receiver has acknowledged, and gets what is missing."""
        for octets in self.sent[self.came :]:
            self.receiver.expect(self.receiver.data(octets))


def all_acknowledged(sender: Side) -> bool:
    """Whether no Data of a side is outstanding, now or within TQ: no P(R) is on its way that would
    open its window further."""
    quiet = sender.context.profile.times.quiet
    return sender.wait_until(lambda: not sender.numbering.outstanding, quiet)


def data_between(side: Side, begin: int, end: int) -> int:
    """How many Data a side was sent between these offsets."""
    units = [unit for unit in side.arrivals.units if begin <= unit.offset < end]
    return sum(kind_of(unit.packet, side.modulus) == DATA for unit in units)


def fill_window(
    sender: Side,
    receiver: Side,
    parts: Sequence[bytes],
    *,
    most: int | None = None,
    **fields: Any,
) -> Unacknowledged:
    """A Data packet for each part, to a side that acknowledges none; they fit into its window.

    A window says how many may be on their way at most (X.25 4.4.1.2): a router with a window of
    its own may keep below it, but sends one at least.
    """
    most = receiver.window_in if most is None else most
    filled = Unacknowledged(receiver, [], receiver.cursor, most)
    for octets in parts:
        if not may_send(sender):
            break
        sender.send(sender.data(octets, **fields))
        filled.sent.append(octets)
    for number, octets in enumerate(filled.sent):
        if number and not may_come(receiver):
            sender.context.remark(f"{number} of {most} Data are sent without a P(R)")
            break
        receiver.expect(receiver.data(octets, **fields))
    return filled


def before_interrupt(sender: Side, receiver: Side, due: Sequence[Packet]) -> int:
    """An Interrupt goes from end to end; none but these packets come first. How many of them did.

    How much of a window a router uses is its own matter, and so is how far Interrupts overtake.
    """
    came = 0
    sender.send(Interrupt(user_data=b"!"))
    while not isinstance(receiver.expect(*due[came:][:1], Interrupt(user_data=b"!")), Interrupt):
        came += 1
    receiver.send(InterruptConfirmation())
    sender.expect(InterruptConfirmation())
    return came


def may_come(side: Side) -> bool:
    """Whether one more packet comes; a router with a window of its own is given TQ for it."""
    if side.context.model != "local":
        return True
    return side.wait_until(
        lambda: data_between(side, side.cursor, side.connection.received_octets) > 0,
        side.context.profile.times.quiet,
    )


def may_send(sender: Side, within: float | None = None) -> bool:
    """Whether the window lets the sender send one more Data packet.

    A router with a window of its own on each side may open it by itself, within TQ or as given.
    """
    if sender.numbering.outstanding < sender.window or sender.context.model != "local":
        return sender.numbering.outstanding < sender.window
    return sender.wait_until(
        lambda: sender.numbering.outstanding < sender.window,
        within or sender.context.profile.times.quiet,
    )

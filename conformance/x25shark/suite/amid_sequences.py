# SPDX-License-Identifier: GPL-2.0-or-later
"""What either side of a call may send amid a packet sequence without changing it (X.25 4.3.4,
4.3.7, 4.4.1): RR, RNR and Interrupts, whose place in the stream has nothing to do with M bits, and
Data of the other direction, which has sequences of its own.

Each is a function of the call, whose side A sends the sequence, and of the P(R) that B has given
last if it acknowledges nothing for now.
"""

from __future__ import annotations

from collections.abc import Callable

from scapy_x25 import Data, Data128, Interrupt, InterruptConfirmation

from ..sides.bench import Call
from ..sides.side import Side, receive_not_ready, receive_ready
from .reactions import both

# What may come while something else is expected, and between the packets of the sequence.
OF_A_SEQUENCE = (Data(), Data128())
BETWEEN = (Interrupt(), InterruptConfirmation())


def interrupt_of_the_sender(call: Call, kept: int | None = None) -> None:
    _interrupt(*both(call))


def interrupt_of_the_receiver(call: Call, kept: int | None = None) -> None:
    _interrupt(*both(call)[::-1])


def ready_of_the_sender(call: Call, kept: int | None = None) -> None:
    """An RR that says nothing new."""
    call.a.send(receive_ready(call.a, call.a.numbering.p_r))


def busy_sender(call: Call, kept: int | None = None) -> None:
    """Busy and ready again, ahead of what it sends next."""
    a, p_r = call.a, call.a.numbering.p_r
    a.send(receive_not_ready(a, p_r), receive_ready(a, p_r))


def ready_of_the_receiver(call: Call, kept: int | None = None) -> None:
    """An RR that says nothing new; the Interrupt behind it shows that the router has read it."""
    a, b = both(call)
    b.send(receive_ready(b, _last(b, kept)))
    _interrupt(b, a)


def busy_receiver(call: Call, kept: int | None = None) -> None:
    """Busy, and ready again once the router has read that."""
    a, b = both(call)
    b.send(receive_not_ready(b, _last(b, kept)))
    _interrupt(b, a)
    b.send(receive_ready(b, _last(b, kept)))


def data_of_the_receiver(call: Call, kept: int | None = None) -> None:
    """With Q=0, a message of its own, which ends no sequence of the other direction."""
    a, b = both(call)
    b.send_data(b"of the receiver", p_r=_last(b, kept))
    a.expect(a.data(b"of the receiver", q=0, m=0))


def _interrupt(here: Side, there: Side) -> None:
    here.send(Interrupt(user_data=b"amid a sequence"))
    there.expect(Interrupt(user_data=b"amid a sequence"), passing=OF_A_SEQUENCE)
    there.send(InterruptConfirmation())
    here.expect(InterruptConfirmation(), passing=OF_A_SEQUENCE)


def _last(b: Side, kept: int | None) -> int:
    """The P(R) that B has given last."""
    return b.numbering.p_r if kept is None else kept


AMID: dict[Callable[[Call, int | None], None], str] = {
    interrupt_of_the_sender: "an Interrupt of the sender",
    interrupt_of_the_receiver: "an Interrupt of the receiver",
    ready_of_the_sender: "an RR of the sender",
    busy_sender: "RNR and RR of the sender",
    ready_of_the_receiver: "an RR of the receiver",
    busy_receiver: "RNR and RR of the receiver",
    data_of_the_receiver: "Data of the receiver",
}

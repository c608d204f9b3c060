# SPDX-License-Identifier: GPL-2.0-or-later
"""A call and what a walk has left open on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from scapy_x25.x25 import RECEIVE_NOT_READY, RECEIVE_READY, RESET_CONFIRMATION, RESET_REQUEST

from ...judges.expectation import TcpEnd
from ...sides import numbering
from ..language import CLOSED, Call, ClearConfirmation, Data, Data128, Packet, Side
from ..reactions import both

# The packets after which it is known whether the peer is ready.
_READINESS = (RECEIVE_READY, RECEIVE_NOT_READY, RESET_REQUEST, RESET_CONFIRMATION)


@dataclass
class Sequence:
    """A packet sequence on its way: what its receiver has not got of it.

    ended: all of it was sent; else the router may keep the end of it, to join it with what follows.
    """

    octets: bytes
    q: int = 0
    ended: bool = True

    def next_packets(self, side: Side) -> list[Packet]:
        """The Data packets that the side may get next of it."""
        left, size = self.octets, side.size_in
        found = []
        if len(left) >= size:
            found.append(side.data(left[:size], q=self.q, m=1))
        if self.ended and len(left) <= size:
            found.append(side.data(left, q=self.q, m=0))
        return found


@dataclass
class Withheld:
    """A side acknowledges nothing: the P(R) that it repeats, and since where."""

    p_r: int
    begin: int


@dataclass
class Circuit:
    """See the module's text."""

    call: Call | None = None
    #: A's side of a call that is over, whose connection may take another one.
    last: Side | None = None
    fast_select: bool = False
    #: Sides that said RNR, and those that acknowledge nothing.
    not_ready: set[Side] = field(default_factory=set)
    withheld: dict[Side, Withheld] = field(default_factory=dict)
    #: Sides that have an Interrupt to confirm.
    interrupted: set[Side] = field(default_factory=set)
    #: What a side has not got yet, the first of it first.
    under_way: dict[Side, list[Sequence]] = field(default_factory=dict)
    #: The sequence that a side has begun and not ended.
    begun: dict[Side, Sequence] = field(default_factory=dict)

    def fresh(self, call: Call | None) -> None:
        """Another call, or none; or the same after a reset."""
        for side in self.withheld:
            side.withholding = False
        if call is None and self.call is not None:
            self.last, self.fast_select = None, False
        self.call = call
        self.not_ready.clear()
        self.withheld.clear()
        self.interrupted.clear()
        self.under_way.clear()
        self.begun.clear()

    def ends(self, side: int) -> tuple[Side, Side]:
        """The side that acts, and the other one."""
        assert self.call is not None
        a, b = both(self.call)
        return (a, b) if side == 0 else (b, a)

    def from_side(self, side: Side) -> Call:
        """The call as that side sees it: it is the first of the two."""
        assert self.call is not None
        return self.call if side is self.call.a else self.call.turned()

    def state(self, side: int) -> str:
        """Where the walk stands on this circuit, seen from a side; for the coverage."""
        if self.call is None:
            return "no call"
        x, y = self.ends(side)
        open_things = [
            "not ready" if x in self.not_ready else "",
            "other not ready" if y in self.not_ready else "",
            "withholding" if x in self.withheld else "",
            "other withholding" if y in self.withheld else "",
            "interrupted" if x in self.interrupted else "",
            "other interrupted" if y in self.interrupted else "",
            "amid a sequence" if x in self.begun else "",
            "other amid a sequence" if y in self.begun else "",
            "data waits" if self.under_way.get(y) else "",
        ]
        return ", ".join(filter(None, open_things)) or "data transfer"

    # what a side may do

    def holds(self, side: Side) -> bool:
        """Whether what is sent to this side may have to wait in the router."""
        return side in self.not_ready or side in self.withheld

    def may_send(self, x: Side, y: Side, packets: int) -> bool:
        """Whether the window of x lets so many Data out, now or as soon as they are through.

        Where flow control is end to end, the router has passed an RNR on.
        """
        if not self.holds(y):
            return True
        return not told_not_ready(x) and x.numbering.outstanding + packets <= x.window

    def calm(self, x: Side, y: Side) -> bool:
        """Nothing is open from x to y, but Interrupts."""
        return not (self.holds(y) or x in self.begun or self.under_way.get(y))

    # what it sends, and what comes

    def send(self, x: Side, octets: bytes, *, q: int = 0, more: bool = False) -> None:
        """Octets as Data of x to the other side; more: the sequence goes on behind them."""
        assert self.call is not None
        y = self.from_side(x).b
        assert isinstance(y, Side)
        sequence = self.begun.get(x)
        if sequence is None:
            sequence = Sequence(b"", q)
            self.under_way.setdefault(y, []).append(sequence)
        parts = [octets[i : i + x.packet_size] for i in range(0, len(octets), x.packet_size)]
        for number, part in enumerate(parts or [b""], 1):
            m = int(more or number < len(parts))
            x.send_data(part, m=m, q=sequence.q, **self.p_r_of(x))
        sequence.octets += octets
        sequence.ended = not more
        if more:
            self.begun[x] = sequence
        else:
            self.begun.pop(x, None)

    def p_r_of(self, x: Side) -> dict[str, int]:
        """The P(R) that a side names that acknowledges nothing."""
        return {"p_r": self.withheld[x].p_r} if x in self.withheld else {}

    def data(self, x: Side, octets: bytes, **fields: int) -> Packet:
        """A Data packet of x that fits to what is open: its P(R), and Q of a sequence."""
        q = self.begun[x].q if x in self.begun else 0
        return x.data(octets, **{"q": q, **self.p_r_of(x), **fields})

    def receive(self, side: Side) -> None:
        """All that is complete comes, in order."""
        waiting = self.under_way.get(side, [])
        while waiting and waiting[0].ended:
            sequence = waiting.pop(0)
            side.expect_message(sequence.octets, q=sequence.q, longest=side.size_in)

    def expect(self, side: Side, *wanted: Packet | TcpEnd) -> Packet | None:
        """One of these, or Data that is on its way to the side and then one of these."""
        while True:
            waiting = self.under_way.get(side) or [Sequence(b"", ended=False)]
            came = side.expect(*wanted, *waiting[0].next_packets(side))
            if not isinstance(came, (Data, Data128)):
                return came
            waiting[0].octets = waiting[0].octets[len(came.user_data or b"") :]
            if not came.m:
                waiting.pop(0)

    def window_was_kept(self, side: Side) -> None:
        """No more Data came to a side that acknowledged nothing than its window takes."""
        begin, cursor = self.withheld[side].begin, side.cursor
        side.expect_count(any_data(side), 0, side.window_in, start=begin, note="its window is shut")
        side.cursor = cursor


def told_not_ready(side: Side) -> bool:
    """Whether the last that this side was told of flow control is RNR."""
    kinds = [numbering.kind_of(unit.packet, side.modulus) for unit in side.arrivals.units]
    told = [kind for kind in kinds if kind in _READINESS]
    return bool(told) and told[-1] == RECEIVE_NOT_READY


def any_data(side: Side) -> Packet:
    """Any Data packet of the side's modulus, as a template."""
    return Data128() if side.modulus == 128 else Data()


def confirmed(side: Side) -> bool:
    """The Clear of this side is confirmed (True), or TCP closed; Data may come before."""
    while True:
        came = side.expect(ClearConfirmation(), CLOSED, any_data(side))
        if came is None or isinstance(came, ClearConfirmation):
            return came is not None

# SPDX-License-Identifier: GPL-2.0-or-later
"""Circuits that carry IP, as the cases share them (RFC 1356, RFC 877).

Where a router answers is its own matter: on the circuit that asked, on another one of the same
pair of hosts (RFC 1356 3.7), or on one that it calls the tester for.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from ..judges.datagrams import IP_IDENTIFIERS, Echo, NextReply, OnlyDatagrams
from ..judges.expectation import FLOW_CONTROL
from ..profile import Ip
from ..sides.context import Context
from ..sides.side import AbsentSide
from .clearing import clear_or_close, confirmed, refused
from .language import (
    CLOSED,
    Bench,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Data128,
    Inconclusive,
    InterruptConfirmation,
    Packet,
    Side,
    one_of,
)
from .windows import data_between

# RFC 1356 3.14: ISO/IEC 8208's "protocol not supported", or the 0 of those that have no such code.
UNSUPPORTED = one_of(249, 0)
# A value for both directions, or for that from the called and that from the calling side.
Each = int | tuple[int, int]


@dataclass(frozen=True)
class Form:
    """How a circuit carries IP: its call user data, and what precedes each datagram."""

    name: str
    user_data: bytes
    identifiers: tuple[bytes, ...] = ()


NLPID = Form("0xCC", b"\xcc")
NULL = Form("null", b"\x00", IP_IDENTIFIERS)
SNAP = Form("snap", b"\x80\x00\x00\x00\x08\x00")
FORMS = (NLPID, NULL, SNAP)


def ip_of(context: Context) -> Ip:
    """[ip] of the profile, which a case of this group has."""
    assert context.profile.ip is not None
    return context.profile.ip


class Circuit:
    """A circuit that carries IP, and what was asked on it."""

    def __init__(self, network: Network, side: Side, form: Form) -> None:
        self.network = network
        self.side = side
        self.form = form
        # Where the case had looked to when it made a request, by the number of that.
        self.marks: dict[int, int] = {}
        self.up_at = side.cursor
        # When a datagram was asked or answered last, and the longest silence since an answer.
        self.spoke, self.silent = time.monotonic(), 0.0
        self.data = Data128() if side.modulus == 128 else Data()
        # The router's other datagrams are its own matter.
        side.allow(self.data)
        side.context.state(
            OnlyDatagrams(
                side.name,
                side.context.purpose.clause,
                side.direction,
                start=side.cursor,
                data=self.data,
                asked=network.asked,
                identifiers=form.identifiers,
                full=side.size_in,
                longest=ip_of(side.context).mtu,
            )
        )

    def unit(self, datagram: bytes) -> bytes:
        """A datagram as this circuit carries it."""
        return (self.form.identifiers or (b"",))[0] + datagram

    def send(self, echo: Echo) -> None:
        """Ask, in one complete packet sequence."""
        self.silence()
        self.spoke = time.monotonic()
        self.side.send_message(self.unit(echo.datagram))

    def silence(self) -> None:
        """Measure how long no datagram has been on the circuit."""
        self.silent = max(self.silent, time.monotonic() - self.spoke)

    def answers(self, octets: int = 84) -> None:
        """A request of so many octets is answered."""
        echo = self.network.echo(octets)
        self.send(echo)
        self.network.expect_reply(echo, self)

    def fill(self, echo: Echo) -> None:
        """A request whose answer fills the window of the tester, which keeps it shut from here on.

        The answer may be on its way on another circuit (RFC 1356 3.7), or behind a smaller window:
        it is given TQ, which ends before an idle circuit does.
        """
        side = self.side
        begin = side.cursor
        side.withholding = True
        self.send(echo)
        side.wait_until(
            lambda: (
                data_between(side, begin, side.connection.received_octets) >= side.window_in
                or side.connection.end is not None
            ),
            side.context.profile.times.quiet,
        )

    def reply(self, echo: Echo, *instead: Packet) -> NextReply:
        """The expectation of a reply on this circuit, or of something in its place. The
        confirmation of an Interrupt may come amid it (X.25 4.3.7)."""
        side = self.side
        return NextReply(
            side.name,
            side.context.purpose.clause,
            side.direction,
            start=self.marks.get(echo.number, self.up_at),
            alternatives=(self.data, *instead),
            passing=(*FLOW_CONTROL, InterruptConfirmation()),
            echo=echo,
            asked=self.network.asked,
            identifiers=self.form.identifiers,
            full=side.size_in,
            longest=ip_of(side.context).mtu,
        )


def _ends(circuit: Circuit) -> bool:
    """Whether the router has begun to end a circuit."""
    return circuit.side.phase == "being cleared" or circuit.side.connection.end is not None


class Network:
    """The two hosts of a case, and the circuits between them."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.asked: list[Echo] = []
        self.circuits: list[Circuit] = []
        # Those that the router has cleared for a further one, and that replaced() has to tell of.
        self._replaced: list[Circuit] = []

    def echo(self, octets: int, *, counts: bool = True) -> Echo:
        """An echo request of so many octets in all; counts: it may be answered."""
        ends, random = ip_of(self.bench), self.bench.random
        number = (self.bench.number * 64 + len(self.asked) + 1) & 0xFFFF
        data = random.randbytes(octets - 28)
        # Its own series of numbers, so that an answer to it is one to nothing that was asked.
        echo = Echo(
            ends.tester.packed,
            ends.router.packed,
            self.bench.run & 0xFFFF,
            number if counts else number ^ 0x8000,
            data,
        )
        if counts:
            self.asked.append(echo)
        for circuit in self.circuits:
            circuit.marks[echo.number] = circuit.side.cursor
        return echo

    def call(self, user_data: bytes = b"", *, size: Each = 128, window: Each = 2) -> Circuit:
        """A circuit for IP as every system has to take it (RFC 1356 3.2); demanded.

        It is the only one: some systems have one for each pair of hosts (3.7).
        """
        while self.circuits:
            self.clear(self.circuits[-1])
        side = self._calling(user_data or NLPID.user_data, size, window)
        connected = side.expect(CallAccepted())
        return self._up(side, NLPID, connected)

    def call_again(self, side: Side) -> Circuit:
        """The same on a connection whose call is over, or on a new one (RFC 1613 5)."""
        if side.connection.end is not None:
            return self.call()
        side.numbering.reset()
        self._request = self.bench.call_request(
            called=self.bench.profile.addresses.ip, user_data=NLPID.user_data
        )
        side.send(self._request)
        connected = side.expect(CallAccepted(), CLOSED)
        if connected is None:
            self.bench.remark("the connection is closed at the second call")
            return self.call()
        return self._up(side, NLPID, connected)

    def offer(self, form: Form) -> Circuit | None:
        """A circuit of a form that a system may lack; refused before it is up, or accepted.

        None: refused. A form that the profile names has to be accepted, but beside another circuit
        for IP: a system may have one for each pair of hosts (RFC 1356 3.7).
        """
        side = self._further(form.user_data, 2)
        refusal = ClearIndication(diagnostic=UNSUPPORTED)
        if form.name in ip_of(self.bench).encapsulations:
            if not self.circuits:
                return self._up(side, form, side.expect(CallAccepted()))
            refusal = ClearIndication()
        connected = side.expect(CallAccepted(), refusal, CLOSED)
        if isinstance(connected, CallAccepted):
            return self._up(side, form, connected)
        self._confirm(side)
        self.bench.remark(f"calls for IP in the form {form.name} are refused")
        return None

    def offer_modulo_128(self, *, window: int) -> Circuit | None:
        """A circuit for 0xCC of modulo 128. None: refused, as no clause of RFC 1356 asks for it."""
        side = self._further(NLPID.user_data, window, modulus=128)
        connected = side.expect(CallAccepted(), ClearIndication(), CLOSED)
        if isinstance(connected, CallAccepted):
            return self._up(side, NLPID, connected)
        self._confirm(side)
        self.bench.remark("calls for IP of modulo 128 are refused")
        return None

    def _further(self, user_data: bytes, window: Each, *, modulus: int = 8) -> Side:
        """A call beside the circuits that there are; the router may take it only when one of those
        that it clears for it is gone."""
        side = self._calling(user_data, 128, window, modulus=modulus)
        older = self.circuits[:]
        if older:
            self.bench.loop.wait(
                lambda: side.arrivals.reacted or any(map(_ends, older)), self.bench.reaction_limit
            )
            if not side.arrivals.reacted:
                self._give_way(older)
        return side

    def replaced(self) -> list[Circuit]:
        """Circuits in whose place the last one is, and which the router ends for it within TQ."""
        older = self.circuits[:-1]
        if older:
            quiet = self.bench.profile.times.quiet
            older[0].side.wait_until(lambda: all(map(_ends, older)), quiet)
        self._give_way(older)
        found, self._replaced = self._replaced, []
        return found

    def _give_way(self, older: list[Circuit]) -> None:
        for circuit in filter(_ends, older):
            self.bench.remark("a further circuit takes the place of one that there is")
            self.was_cleared(circuit)
            self._replaced.append(circuit)

    def was_cleared(self, circuit: Circuit) -> None:
        """The router has ended a circuit, by a Clear or by a close of its connection."""
        side = circuit.side
        cleared = side.phase == "being cleared"
        if not (cleared and side.arrivals.at_end):
            cleared = side.expect(ClearIndication(), CLOSED) is not None
        if cleared:
            side.send(ClearConfirmation())
        self.circuits.remove(circuit)

    def clear(self, circuit: Circuit) -> None:
        """The tester ends a circuit."""
        circuit.side.send(ClearRequest(cause=0, diagnostic=0))
        confirmed(circuit.side)
        self.circuits.remove(circuit)

    def one_more(self) -> Circuit | None:
        """A further circuit for 0xCC, which a system may refuse (RFC 1356 3.7)."""
        side = self._further(NLPID.user_data, 2)
        connected = side.expect(CallAccepted(), ClearIndication(), CLOSED)
        if isinstance(connected, CallAccepted):
            return self._up(side, NLPID, connected)
        self._confirm(side)
        self.bench.remark("a second circuit for the same protocol is refused")
        return None

    def is_refused(self, user_data: bytes) -> None:
        """A call for a protocol that nobody has is cleared before it is up."""
        refused(
            self.bench, self._calling(user_data, 128, 2), ClearIndication(diagnostic=UNSUPPORTED)
        )

    def is_borne(self, user_data: bytes) -> None:
        """A call whose protocol cannot be told is refused, or the tester clears it when up."""
        side = self._calling(user_data, 128, 2)
        if isinstance(side.expect(CallAccepted(), ClearIndication(), CLOSED), CallAccepted):
            side.allow(Data())
            side.send(ClearRequest(cause=0, diagnostic=0))
            # A Clear of the router's own is as good: it may have crossed.
            side.expect(ClearConfirmation(), ClearIndication(), CLOSED)
        else:
            self._confirm(side)

    def expect_reply(self, echo: Echo, circuit: Circuit, *instead: Packet) -> Circuit:
        """The answer comes on that circuit, on another, or on one that the router calls for it.

        instead: what may come on that circuit in its place. Returns the circuit of the answer.
        Raises Inconclusive where that was silent for so long that it may have been cleared as idle.
        """

        def on_others() -> list[Circuit]:
            self._take_calls()
            judged = self.bench.judge
            return [
                one
                for one in self.circuits
                if judged(one.reply(echo, *(instead if one is circuit else ()))).met
            ]

        def decided() -> bool:
            return bool(on_others()) or wrong() or circuit.side.connection.end is not None

        def wrong() -> bool:
            return self.bench.judge(circuit.reply(echo, *instead)).view is not None

        circuit.silence()
        self.bench.loop.wait(decided, self.bench.reaction_limit, patient=True)
        found = on_others()
        idle = ip_of(self.bench).idle
        cleared = not found and circuit.side.phase == "being cleared"
        if cleared and idle is not None and circuit.silent > 0.8 * idle:
            held_up = f"the tester was held up for {circuit.silent:.1f} s; ip.idle is {idle:g}"
            raise Inconclusive(held_up)
        there = circuit if circuit in found or not found else found[0]
        if there is not circuit:
            self.bench.remark("an answer comes on another circuit than its request")
        there.side.demand(there.reply(echo, *(instead if there is circuit else ())))
        there.spoke, there.silent = time.monotonic(), 0.0
        return there

    def _take_calls(self) -> None:
        """Calls of the router to side A, for what it has to say."""
        while self.bench.listeners.has_call("a"):
            side = self.bench.incoming(at="a")
            user_data = side.call.fields.get("user_data") if side.call is not None else None
            form = next((f for f in FORMS if f.user_data[:1] == (user_data or b"")[:1]), NLPID)
            side.send(side.acceptance)
            self.bench.remark("the router calls the tester for its answers")
            self.circuits.append(Circuit(self, side, form))

    def _calling(self, user_data: bytes, size: Each, window: Each, *, modulus: int = 8) -> Side:
        side = self.bench.connect(modulus=modulus)
        called = self.bench.profile.addresses.ip
        self._request = self.bench.call_request(
            called=called, user_data=user_data, size=size, window=window
        )
        side.send(self._request)
        return side

    def _up(self, side: Side, form: Form, connected: object) -> Circuit:
        assert isinstance(connected, CallAccepted)
        self.bench.settle(side, AbsentSide(), self._request, connected)
        circuit = Circuit(self, side, form)
        self.circuits.append(circuit)
        return circuit

    def _confirm(self, side: Side) -> None:
        clear_or_close(self.bench, side)

# SPDX-License-Identifier: GPL-2.0-or-later
"""One side of the tester: a DTE on one XOT connection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

from scapy.packet import Packet
from scapy_x25 import (
    RNR,
    RNR128,
    RR,
    RR128,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Data,
    Data128,
    Interrupt,
    InterruptConfirmation,
    ResetRequest,
    RestartRequest,
)
from scapy_x25.x25 import (
    CALL_ACCEPTED,
    CALL_REQUEST,
    CLEAR_CONFIRMATION,
    CLEAR_REQUEST,
    RESET_CONFIRMATION,
    RESET_REQUEST,
    packet_type,
)

from ..judges.expectation import (
    CLOSED,
    FLOW_CONTROL,
    Counted,
    Direction,
    Expectation,
    Never,
    Next,
    NextMessage,
    Seen,
    TcpEnd,
)
from ..judges.template import decode
from ..judges.values import ABSENT
from ..links.carrier import Carrier, Unit
from .agreement import ACCEPTED, Values, values_of
from .arrivals import Arrivals
from .arriving import as_its_caller_arrives, is_another_form, says_callers, with_calling
from .causes import as_no_dte
from .context import Context
from .diagnostics import as_no_dce
from .interrupts import LONGEST, as_taken
from .numbering import DATA, Numbering, kind_of
from .outcomes import ExpectationFailed, Inconclusive
from .wire import ConnectionWire

Expected = TypeVar("Expected", bound=Packet | TcpEnd)


def unit(packet: bytes) -> bytes:
    """A packet behind its XOT header: version 0, length (RFC 1613 4.1)."""
    return b"\0\0" + len(packet).to_bytes(2, "big") + packet


def _built(packet: Packet, fields: Mapping[str, Any]) -> bytes:
    """The octets of a packet with these fields, which are all that it has."""
    plain = not packet.payload and packet.raw_packet_cache is None
    # A copy would copy the fields as well, each facility with its own.
    whole = type(packet)() if plain else packet.copy()
    whole.fields.update(fields)
    # No field stands for several values, so Scapy need not look for what to expand.
    whole.explicit = 1
    return bytes(whole)


@lru_cache(maxsize=1024)
def _built_before(kind: type[Packet], fields: tuple[tuple[str, Any], ...]) -> bytes:
    """The octets of a packet of that class: many cases send the same ones."""
    return _built(kind(), dict(fields))


def _with_octets(fields: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    """The fields of a packet with facilities as their octets, so that equal ones are equal."""
    return tuple(
        (name, b"".join(map(_facility_octets, value)) if isinstance(value, list) else value)
        for name, value in fields
    )


def _facility_octets(facility: Packet) -> bytes:
    if facility.payload or facility.raw_packet_cache is not None:
        return bytes(facility)
    return _built_before(cast(Hashable, type(facility)), tuple(facility.fields.items()))


@lru_cache(maxsize=512)
def _with_number(kind: type[Packet], p_r: int | None) -> Packet:
    return kind() if p_r is None else kind(p_r=p_r)


def receive_ready(side: Side | AbsentSide, p_r: int | None = None) -> Packet:
    """RR of the side's modulus; its P(R) is filled in where none is named."""
    return _with_number(RR128 if side.modulus == 128 else RR, p_r)


def receive_not_ready(side: Side | AbsentSide, p_r: int | None = None) -> Packet:
    """RNR of the side's modulus; its P(R) is filled in where none is named."""
    return _with_number(RNR128 if side.modulus == 128 else RNR, p_r)


def _with_right(template: Any, field: str, right_of: Callable[[Any], Any]) -> Any:
    """The template with the values of a field that are right there."""
    wanted = template.fields.get(field, ABSENT)
    right = right_of(wanted)
    if right is wanted or right == wanted:
        return template
    whole = template.copy()
    whole.fields[field] = right
    return whole


# What a packet of the router makes of a call.
_PHASES: dict[int | None, str] = {
    CALL_ACCEPTED: "connected",
    CLEAR_REQUEST: "being cleared",
    CLEAR_CONFIRMATION: "cleared",
}


class Side:
    """A DTE (side "A" calls, side "B" is called) on one connection.

    lcn and modulus are put into every packet that does not name its own; so are P(S) and P(R).
    Data is acknowledged by RR as it arrives, unless withholding is set. start: octets that the
    router had sent on the connection before the call of this side (RFC 1613 5: it may be kept).
    """

    present = True
    # What may come at any time, and what besides while the tester ends the call.
    passing: tuple[Packet, ...] = FLOW_CONTROL
    relaxed: tuple[Packet, ...] = (ClearRequest(), ClearConfirmation())
    # X.25 knows the two ends of a line apart; on XOT no end is the DTE or the DCE (RFC 1613 5).
    router_is_dce = False
    # Octets of the direction before the first that is of this connection, or channel's call, and
    # before what is not part of it any more.
    origin = 0
    stop: int | None = None
    # Where the tester ended what is there, while the case went on elsewhere.
    left_at: int | None = None

    def __init__(
        self, context: Context, name: str, connection: Carrier, modulus: int = 8, start: int = 0
    ) -> None:
        self.context = context
        self.name = name
        self.router_is_dte = self._says_dte()
        self.longest_interrupt = LONGEST if context.declared("P-INT32") else 1
        self.connection = connection
        self.direction = Direction(connection.remote, connection.local)
        self.lcn = 1
        self.agree(Values())
        # The Call that came in on the connection, and how to accept it (see agreement.py).
        self.call: Packet | None = None
        self.acceptance = ACCEPTED
        self.numbering = Numbering(modulus)
        self.withholding = False
        self.start = self.cursor = start
        self.wire = ConnectionWire(self)
        self.arrivals = Arrivals(self)
        # Octets before a further Call on the connection of a call that is over.
        self.next_call: int | None = None
        self.phase = "idle"
        # Octets that had come when the side sent a Call, as long as it has sent nothing since and
        # no case has looked at an answer.
        self.unanswered_call: int | None = None
        self.allowed: list[Packet] = []
        # What is asked first where an expectation is not met.
        self.on_unmet: Callable[[Side, Expectation], None] = lambda side, expectation: None
        # T2: user data that the DTE beyond the router has not sent back yet.
        self._not_echoed: list[bytes] = []
        if context.far_end.without_echo:
            # What a DTE has to say is its own matter: the prompt of a host, X.29 messages, and one
            # Interrupt, for as long as that is not confirmed.
            self.allow(Data(), Data128(), Interrupt())
        # Units looked at so far, and the Data packets among them.
        self._data_found = (0, 0)
        connection.on_unit = self._arrived
        for unit in self.arrivals.units:
            self._arrived(unit)

    def _says_dte(self) -> bool:
        """Whether the router is a DTE here."""
        return self.context.dte_on_xot

    def agree(self, values: Values) -> None:
        """Put these values into force: for what the side sends, and for what it gets."""
        self.packet_size, self.window, self.size_in, self.window_in = values

    @property
    def values(self) -> Values:
        """The values in force."""
        return Values(self.packet_size, self.window, self.size_in, self.window_in)

    # sending

    @property
    def modulus(self) -> int:
        return self.numbering.modulus

    @modulus.setter
    def modulus(self, value: int) -> None:
        self.numbering = Numbering(value)

    def octets_of(self, packet: Packet) -> bytes:
        """The octets of a packet, with lcn, modulus, P(S) and P(R) filled in where not named."""
        packet = as_taken(packet, self.longest_interrupt)
        fields = dict(packet.fields)
        if "lcn" not in fields and packet.getfieldval("lcn") != 0:
            fields["lcn"] = self.lcn
        fields.setdefault("modulo", 2 if self.modulus == 128 else 1)
        if isinstance(packet, (Data, Data128)):
            fields.setdefault("p_s", self.numbering.next_p_s)
        if "p_r" in packet.fieldtype:
            fields.setdefault("p_r", self.numbering.p_r)
        if packet.payload or packet.raw_packet_cache is not None:
            return _built(packet, fields)
        try:
            return _built_before(cast(Hashable, type(packet)), _with_octets(tuple(fields.items())))
        except TypeError:  # a facility with a list of its own
            return _built(packet, fields)

    def send(self, *packets: Packet) -> None:
        """Send packets, all in one write (one TCP segment, as far as they fit).

        Data waits for the window, in a further write then, unless the case gives P(S) itself.
        """
        whole: list[bytes] = []
        for packet in packets:
            if isinstance(packet, (Data, Data128)) and "p_s" not in packet.fields:
                self._give_way(whole)
            octets = self.octets_of(packet)
            self._note(packet, octets)
            whole.append(octets)
        start = self.arrivals.end()
        self._transmit(whole)
        called = bool(packets) and isinstance(packets[-1], CallRequest)
        self.unanswered_call = start if called else None

    def _give_way(self, whole: list[bytes]) -> None:
        """Where the window is shut: send what there is, and wait until it opens."""
        if self.numbering.outstanding < self.window:
            return
        if whole:
            self._transmit(whole)
            whole.clear()
        self.wait_for_window()

    def put(self, octets: bytes) -> None:
        """A packet as it is, right or wrong: behind a right XOT header, or in an I frame."""
        self._transmit([octets])

    def _transmit(self, packets: Sequence[bytes]) -> None:
        self.wire.send(b"".join(map(unit, packets)))

    def _note(self, packet: Packet, octets: bytes) -> None:
        expected = self.numbering.next_p_s
        self.numbering.sent(octets)
        if self.context.far_end.echoes:
            self._note_echo(octets, in_sequence=self.numbering.next_p_s != expected)
        if isinstance(packet, CallRequest):
            self.phase = "calling"
            self.context.last_call = packet
        elif isinstance(packet, CallAccepted):
            self.phase = "connected"
            self.agree(values_of(packet, called=True, otherwise=self.values))
        elif isinstance(packet, ClearRequest):
            # X.25 4.1.9: clearing is complete where both sides clear.
            self.phase = "cleared" if self.phase == "being cleared" else "clearing"
        elif isinstance(packet, ClearConfirmation):
            self.phase = "cleared"

    def _note_echo(self, octets: bytes, *, in_sequence: bool) -> None:
        """Keep account of what the DTE beyond the router is to send back (T2).

        What it read before a reset it may send back after it: a reset discards what is on its way
        in the network (X.25 4.4.3.3), and not what a DTE has read already.
        """
        kind = kind_of(octets, self.modulus)
        if kind == DATA and in_sequence:
            self._not_echoed.append(octets[self._data_header :])
        elif kind in (RESET_REQUEST, RESET_CONFIRMATION):
            self.allow(*(self.data(octets) for octets in dict.fromkeys(self._not_echoed)))
            self._not_echoed.clear()

    @property
    def _data_header(self) -> int:
        """Octets of a Data packet before its user data."""
        return 4 if self.modulus == 128 else 3

    def unit_of(self, packet: Packet) -> bytes:
        """The octets of a packet behind its XOT header, for wire.send(); numbers count on."""
        octets = self.octets_of(packet)
        self._note(packet, octets)
        return unit(octets)

    def data(self, user_data: bytes, **fields: Any) -> Packet:
        """A Data packet of this side's modulus."""
        return (Data128 if self.modulus == 128 else Data)(user_data=user_data, **fields)

    def send_data(self, user_data: bytes, **fields: Any) -> None:
        """Send one Data packet, waiting for the window to open first."""
        self.wait_for_window()
        self.send(self.data(user_data, **fields))

    def send_message(self, octets: bytes, *, q: int = 0, d: int = 0) -> None:
        """Send octets as one complete packet sequence, waiting for the window as needed."""
        size = self.packet_size
        parts = [octets[i : i + size] for i in range(0, len(octets), size)] or [b""]
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            self.send_data(part, m=int(not last), q=q, d=d if last else 0)

    def wait_for_window(self) -> None:
        """Wait until the router's P(R) lets this side send; ExpectationFailed if it never does."""
        if self.numbering.outstanding < self.window:
            return
        opened = self.context.loop.wait(
            lambda: self.numbering.outstanding < self.window or self.connection.end is not None,
            self.context.reaction_limit,
            patient=True,
        )
        if opened and self.connection.end is None:
            return
        acknowledgement = Next(
            self.name,
            self.context.clause("X.25 4.4.1.3"),
            self.direction,
            start=self.arrivals.end(),
            alternatives=(receive_ready(self, self.numbering.next_p_s),),
            passing=(),
            stop=self.arrivals.end(),
            note="the window has to open again",
        )
        self.context.state(acknowledgement)
        self.on_unmet(self, acknowledgement)
        raise ExpectationFailed(acknowledgement, Seen(False, None, "no P(R) that opens the window"))

    def acknowledge(self, p_r: int | None = None) -> None:
        """Send RR with the current P(R), or the one given."""
        self.send(receive_ready(self, p_r))

    # receiving

    def _arrived(self, unit: Unit) -> None:
        packet = unit.packet
        if packet_type(packet) == CALL_REQUEST and self.phase == "cleared":
            self.next_call = unit.offset
        if (phase := _PHASES.get(packet_type(packet))) is not None:
            collision = phase == "being cleared" and self.phase == "clearing"
            # X.25 4.1.9: clearing is complete then, without a confirmation.
            self.phase = "cleared" if collision else phase
        # A call that is being cleared takes no more packets (X.25 4.1.7).
        clearing = self.phase in ("clearing", "being cleared", "cleared")
        if self.numbering.received(packet) and not self.withholding and not clearing:
            self.acknowledge()
        if self._not_echoed and kind_of(packet, self.modulus) == DATA:
            with contextlib.suppress(ValueError):
                self._not_echoed.remove(packet[self._data_header :])

    def expect(
        self,
        *alternatives: Packet | TcpEnd,
        passing: Sequence[Packet] = (),
        clause: str | None = None,
        within: float | None = None,
        note: str = "",
    ) -> Packet | None:
        """Wait for the next packet and demand that it is one of the alternatives.

        RR and RNR pass unless they are what is expected, and so does whatever passing names and
        what the case has allowed. Returns the packet (decoded), or None if the connection ended as
        allowed (CLOSED). Raises ExpectationFailed.
        """
        wanted, alternatives = alternatives, self._readable(alternatives)
        if wanted != alternatives:
            note = note or "it has read the Data before"
        alternatives, as_sent = self._from_their_callers(alternatives)
        expectation = Next(
            self.name,
            self.context.clause(clause),
            self.direction,
            start=self.cursor,
            alternatives=tuple(map(self.right_here, alternatives)),
            passing=(
                *self._passing_beside(alternatives),
                *(as_taken(p, self.longest_interrupt) for p in passing),
                *self.allowed,
            ),
            preamble=self.context.in_preamble,
            note=note,
        )
        seen = self.demand(expectation, within)
        if seen.view is None:
            return None
        received = self.context.received[self.direction].packets[seen.view.offset]
        if not as_sent:
            raise Inconclusive(
                f"a call came from {self.decoded(received).calling_address}: if the router is to "
                "put digits before calling addresses, or to take them off, the profile says so "
                "(addresses.a_calls_as, addresses.b_calls_as)"
            )
        return self.decoded(received)

    def _from_their_callers(
        self, alternatives: tuple[Packet | TcpEnd, ...]
    ) -> tuple[tuple[Packet | TcpEnd, ...], bool]:
        """Calls with their calling addresses as they arrive (arriving.py); False: in another form
        than that of the caller, which the profile does not say."""
        addresses, as_sent = self.context.profile.addresses, True
        found = list(alternatives)
        for place, one in enumerate(alternatives):
            if not isinstance(one, CallRequest) or "calling_type" in one.fields:
                continue
            calling = one.fields.get("calling_address")
            if not isinstance(calling, str) or not calling:
                continue
            arrives = as_its_caller_arrives(addresses, self.name, calling)
            if not says_callers(addresses, self.name):
                came = self._comes_from()
                if is_another_form(calling, came):
                    as_sent, arrives = False, came
            if arrives != calling:
                found[place] = with_calling(one, arrives)
        return tuple(found), as_sent

    def _comes_from(self) -> str:
        """The calling address of the Call that is there, or comes now; "": there is none."""
        new = [unit.packet for unit in self.arrivals.unread]
        if not new:
            self.wait_until(lambda: not self.arrivals.at_end or self.connection.end is not None)
            new = [unit.packet for unit in self.arrivals.unread]
        first = self.decoded(new[0]) if new else None
        return (first.calling_address or "") if isinstance(first, CallRequest) else ""

    def _passing_beside(self, alternatives: Sequence[Packet | TcpEnd]) -> tuple[Packet, ...]:
        """What passes while these are expected."""
        flow = any(isinstance(a, type(f)) for a in alternatives for f in self.passing)
        return () if flow else self.passing

    def decoded(self, octets: bytes) -> Packet:
        """What came, as a packet to look at."""
        return decode(octets)

    def right_here(self, template: Expected) -> Expected:
        """The same, with what is right on this link (causes.py, diagnostics.py)."""
        if not isinstance(template, (ClearRequest, ResetRequest, RestartRequest)):
            return as_taken(template, self.longest_interrupt)
        right = template if self.router_is_dte else _with_right(template, "cause", as_no_dte)
        return right if self.router_is_dce else _with_right(right, "diagnostic", as_no_dce)

    def expect_message(
        self,
        octets: bytes,
        *,
        q: int = 0,
        longest: int | None = None,
        passing: Sequence[Packet] = (),
        clause: str | None = None,
        within: float | None = None,
        start: int | None = None,
        note: str = "",
        **fields: Any,
    ) -> None:
        """Wait for the next complete packet sequence and demand that it holds these octets.

        longest: no packet of it may have more octets of user data. start: where it may begin, a
        cursor of before, if its packets were let pass while something else was expected. fields:
        what each of its Data packets must show besides. Raises ExpectationFailed.
        """
        if self.context.far_end.without_echo:
            self.expect(self.data(octets), passing=passing, clause=clause, within=within, note=note)
            return
        kind = Data128 if self.modulus == 128 else Data
        self.demand(
            NextMessage(
                self.name,
                self.context.clause(clause),
                self.direction,
                start=self.cursor if start is None else start,
                alternatives=(kind(**fields),),
                passing=FLOW_CONTROL + tuple(passing) + tuple(self.allowed),
                octets=octets,
                q=q,
                longest=longest,
                preamble=self.context.in_preamble,
                note=note,
            ),
            within,
        )

    def _readable(self, alternatives: Sequence[Packet | TcpEnd]) -> tuple[Packet | TcpEnd, ...]:
        """T2 without an echo: in place of Data that would come back, what shows that it was read.

        That is the confirmation of an Interrupt, which is sent here, behind the Data: a DTE
        confirms each (X.25 4.3.7).
        """
        others = tuple(a for a in alternatives if not isinstance(a, (Data, Data128)))
        if not self.context.far_end.without_echo or len(others) == len(alternatives):
            return tuple(alternatives)
        self.send(Interrupt(user_data=b"!"))
        return (InterruptConfirmation(), *others)

    def expect_closed(self, *, clause: str | None = None, within: float | None = None) -> None:
        """Demand that the router closes or resets the connection, and sends nothing before."""
        self.expect(CLOSED, clause=clause, within=within)

    def never(
        self,
        *templates: Packet,
        clause: str | None = None,
        from_start: bool = False,
        note: str = "",
    ) -> None:
        """Demand that no such packet comes, from here (or the very start) to the TCP end."""
        self.context.state(
            Never(
                self.name,
                self.context.clause(clause),
                self.direction,
                start=self.origin if from_start else self.cursor,
                forbidden=tuple(as_taken(t, self.longest_interrupt) for t in templates),
                note=note,
            )
        )

    def expect_count(
        self,
        template: Packet,
        low: int,
        high: int | None = None,
        *,
        start: int | None = None,
        clause: str | None = None,
        note: str = "",
    ) -> None:
        """Demand low to high packets as the template says, from the cursor (or start) to here.

        Waits until low of them have come. Those counted need no other expectation.
        """
        expectation = Counted(
            self.name,
            self.context.clause(clause),
            self.direction,
            start=self.cursor if start is None else start,
            template=self.right_here(template),
            low=low,
            high=high,
            note=note,
        )
        self.context.loop.wait(
            lambda: self.context.judge(expectation).met or self.connection.end is not None,
            self.context.reaction_limit if low else 0.0,
            patient=bool(low),
        )
        expectation.stop = self.arrivals.end()
        self.context.state(expectation)
        seen = self.context.judge(expectation)
        if not seen.met:
            self.on_unmet(self, expectation)
            raise ExpectationFailed(expectation, seen)
        self.cursor = expectation.stop

    def cause_given(self, cause: int) -> int:
        """This cause of a Clear or Reset if the tester may give it here, or else 0.

        A DTE gives 0 or a private one, with bit 8 set (X.25 5.2.4.1.1, 5.4.3.1).
        """
        return cause if cause >= 0x80 or not self.router_is_dce else 0

    def allow(self, *templates: Packet) -> None:
        """Let such packets come at any time without an expectation of their own."""
        self.allowed += (self.right_here(template) for template in templates)

    def wait_until(self, condition: Callable[[], bool], seconds: float | None = None) -> bool:
        """Serve the connections until the condition holds or the time is over."""
        if seconds is not None:
            return self.context.loop.wait(condition, seconds)
        return self.context.loop.wait(condition, self.context.reaction_limit, patient=True)

    def demand(self, expectation: Next, within: float | None = None) -> Seen:
        """Wait until what is expected next is decided. Raises ExpectationFailed."""
        context = self.context
        context.state(expectation)
        latest: list[Seen] = []
        looked_at = [-1, ""]

        def decided() -> bool:
            state = [len(self.connection.received), str(self.connection.end)]
            if state != looked_at:
                looked_at[:] = state
                latest[:] = [context.judge(expectation)]
            seen = latest[0]
            return seen.met or seen.view is not None or self.connection.end is not None

        reaction_limit = context.reaction_limit if within is None else within
        come = self._data_received()
        with context.undecided(expectation):
            context.wait_noting_lateness(decided, reaction_limit, expectation)
            while expectation.in_parts and not decided():
                # Patience counts from the last progress: no clause says how long a transfer takes.
                before, come = come, self._data_received()
                if come == before:
                    break
                context.loop.wait(decided, reaction_limit, patient=True)
        seen = latest[0]
        if not seen.met:
            self.on_unmet(self, expectation)
        self.unanswered_call = None
        if not seen.met:
            if seen.view is None and self.connection.end is None:
                expectation.stop = self.arrivals.end()
            raise ExpectationFailed(expectation, seen)
        if seen.view is not None:
            self.cursor = seen.view.end
        return seen

    def _data_received(self) -> int:
        """How many Data packets have come on the connection."""
        looked_at, found = self._data_found
        new = self.connection.received[looked_at:]
        found += sum(kind_of(unit.packet, self.modulus) == DATA for unit in new)
        self._data_found = looked_at + len(new), found
        return found

    # ending

    def close(self) -> None:
        """Close TCP (FIN); not amid a packet that is on its way in, for that would cut it."""
        self.wire.let_it_finish()
        self.context.tcp_ended = (self.name, "FIN")
        self.connection.close()


class AbsentWire:
    """The connection of an absent side."""

    def send(self, octets: bytes) -> None:
        """Nothing: the router plays this side."""

    def reset(self) -> None:
        """Nothing to close."""

    half_close = reset


class AbsentSide:
    """Side B where the router ends the calls itself (T2): stimuli and observations are left out."""

    present = False
    name = "B"
    modulus = 8
    window = window_in = 7
    packet_size = size_in = 128
    withholding = False
    acceptance = ACCEPTED
    wire = AbsentWire()

    def agree(self, values: Values) -> None:
        """Put these values into force."""
        self.packet_size, self.window, self.size_in, self.window_in = values

    def send(self, *packets: Packet) -> None:
        """Nothing: the router plays this side."""

    acknowledge = send

    def send_data(self, user_data: bytes, **fields: Any) -> None:
        """Nothing: the router plays this side."""

    send_message = send_data

    def expect(self, *alternatives: Packet | TcpEnd, **options: Any) -> None:
        """Nothing to see at this end."""

    expect_closed = expect
    never = expect
    allow = expect
    expect_count = expect

    def expect_message(self, octets: bytes, **options: Any) -> None:
        """Nothing to see at this end."""

    def close(self) -> None:
        """Nothing to close."""

# SPDX-License-Identifier: GPL-2.0-or-later
"""What one case works with: it opens connections and calls, and keeps every expectation.

A case that ends without a failed expectation still has to pass what every case demands: nothing
came on any of its connections but what was expected or may pass (Quiet), and the router opened no
connection that the case did not ask for. Parts: listeners (what the router opens), serial (the
lines), far_end (what is called), capacity (how many calls the router takes), further, dialling (how
the router is made to call, where its calls are what is tested).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from scapy.packet import Packet
from scapy_x25 import (
    CallAccepted,
    CallRequest,
    FastSelectReverseCharging,
    PacketSize,
    WindowSize,
)

from ..catalogue import Purpose
from ..judges.expectation import (
    Direction,
    Expectation,
)
from ..judges.template import decode
from ..links import xot
from ..links.circuits import Circuit
from ..links.hdlc import Line
from ..links.loop import Loop
from ..links.xot import LinkError, Listener
from ..profile import Profile
from ..record import HEADER, TestRecord
from . import own_accord, postamble
from .agreement import DEFAULT_SIZE, DEFAULT_WINDOW, acceptance, answering, values_of
from .arriving import as_they_arrive, whatever_arrives
from .capacity import Capacity, Ended
from .channel import ChannelSide
from .context import Context
from .dialling import Dialling
from .further import FurtherCalls
from .line import LineSide
from .listeners import CALLED_BY, Listeners
from .outcomes import Inconclusive, NoChannel, NotApplicable
from .points import Points
from .race import Race
from .serial_lines import SerialLines
from .side import AbsentSide, Side

# A call that took longer to come about waited for something else (seconds).
MOST_SLOW = 0.15
# A router that has just been started gets this long until it listens, and is tried so often.
START_SECONDS, PAUSE_SECONDS = 15.0, 0.5

__all__ = ["CALLED_BY", "SIZE_CODES", "Bench", "Inconclusive", "NoChannel", "NotApplicable"]

SIZE_CODES = {16 << i: 4 + i for i in range(9)}


class Call:
    """A call that is connected. In T2 side b is absent and what it would do is left out."""

    def __init__(self, bench: Bench, a: Side, b: Side | AbsentSide) -> None:
        self.bench = bench
        self.a = a
        self.b = b

    def turned(self) -> Call:
        """The same call with its ends exchanged: what a case has A do, B does."""
        assert isinstance(self.b, Side)
        return Call(self.bench, self.b, self.a)

    @property
    def model(self) -> str:
        """The relay model: local, end-to-end or splice."""
        return self.bench.model

    def fence(self, note: str = "fence") -> None:
        """A round trip from A to B to A on this call.

        When it is through, whatever the router had to send because of what A sent before has
        been sent before it. The octets are plain text of a few characters, so that only a router
        that cannot carry any data fails here.
        """
        there = f"fence {self.bench.number} there".encode()
        back = f"fence {self.bench.number} back".encode()
        self.a.send_message(there)
        if isinstance(self.b, AbsentSide):
            self.a.expect_message(there, note=note)
            return
        self.b.expect_message(there, note=note)
        self.b.send_message(back)
        self.a.expect_message(back, note=note)

    def fence_back(self, note: str = "fence") -> None:
        """The same from B to A to B, for stimuli that B sent."""
        if isinstance(self.b, AbsentSide):
            self.fence(note)
            return
        octets = f"fence {self.bench.number} from B".encode()
        self.b.send_message(octets)
        self.a.expect_message(octets, note=note)
        answer = f"fence {self.bench.number} from A".encode()
        self.a.send_message(answer)
        self.b.expect_message(answer, note=note)


class Bench(Context):
    """The tester's side of one case. See the module's text, and call() for how calls are made."""

    def __init__(
        self,
        profile: Profile,
        purpose: Purpose,
        loop: Loop,
        listeners: Mapping[str, Listener],
        run: int,
        number: int,
        seed: int = 0,
        lines: Mapping[str, Line] | None = None,
        ended: Ended | None = None,
        patience: postamble.Patience | None = None,
    ) -> None:
        super().__init__(profile, purpose, loop, number, seed)
        self.run = run
        self.races: list[Race] = []
        self.restart_router: Callable[[], None] | None = None
        # Where the router shows its counters (profile, or embedded router); None: nowhere.
        self.counters_url: Callable[[], str | None] = lambda: None
        self._points = Points(self)
        self.sides, self.lines = self._points.sides, self._points.lines
        self.connections = self._points.connections
        self.capacity = Capacity(self._points, ended)
        self._points.on_unmet = self._unmet
        self.further = FurtherCalls()
        self.listeners = Listeners(self._points, self.capacity, self.further, listeners)
        self.serial = SerialLines(self._points, lines or {})
        self.dialling = Dialling(profile, loop)
        self._calls = 0
        self._called_at = 0.0
        # How long the slowest call of this case took to come about, in seconds up to a bound.
        self._slowest = 0.0
        self._patience = postamble.Patience() if patience is None else patience
        self.left_amid_a_unit = self._patience.over
        self._records = 0
        self.loop.on_turn[:] = [line.station.tick for line in self.lines.values()]

    def _unmet(self, side: Side, expectation: Expectation) -> None:
        """Where it says nothing of the router that an expectation is not met: raise the outcome."""
        self.capacity.turned_away(side, expectation)
        if self.is_a_dte:
            own_accord.look(side, expectation)

    # connections

    def connect(self, *, at: str = "a", modulus: int = 8) -> Side:
        """Open a TCP connection to the router as tester A (or "b"). Raises Inconclusive.

        On a serial line: take a free logical channel.
        """
        if self.dials:
            raise NotApplicable("the router under test opens the connections (T6)")
        self.serial.raise_links()
        self.capacity.give_back()
        side = self._new_side(at, modulus)
        self.capacity.opened(side)
        return side

    def connect_patiently(self) -> Side:
        """As connect(), to a router that may just be starting: it gets some time to listen."""
        return self.loop.persist(
            self.connect,
            lambda failed: isinstance(failed, Inconclusive),
            seconds=START_SECONDS,
            every=PAUSE_SECONDS,
        )

    def _new_side(self, at: str, modulus: int) -> Side:
        if at in self.lines:
            return self.serial.take_channel(at, modulus)
        ends = self.profile.xot
        own = {"a": ends.a, "b": ends.b}[at] if ends is not None else None
        if ends is None or own is None:
            raise NotApplicable(f"the profile has no {CALLED_BY[at]}")
        try:
            connection = xot.connect(self.loop, ends.router, own[0], self.reaction_limit)
        except LinkError as error:
            raise Inconclusive(f"no TCP connection to the router: {error}") from None
        self.listeners.note_ends(Direction(connection.remote, connection.local))
        return self._points.add_side(at.upper(), connection, modulus)

    # serial lines

    def line(self, at: str = "", *, initiates: bool = False, framing: str = "") -> LineSide:
        """A serial line, to send and expect frames on; "" is the first one.

        initiates: one on which the router starts the link itself, or else one on which it does
        not if there is one. framing: only such a one. Raises NotApplicable.
        """
        at = at or self.serial.turn
        lines = [line for name, line in self.lines.items() if at in ("", name)]
        found = sorted(lines, key=lambda line: line.profile.initiates is not initiates)
        found = [line for line in found if line.profile.initiates or not initiates]
        found = [line for line in found if framing in ("", line.profile.framing)]
        if not found:
            raise NotApplicable(f"the profile has no such serial line {framing}".strip())
        line = found[0]
        self.serial.need(line)
        if not line.watched:
            line.watched = True
            line.take_part()
            self.sides.append(line)
        return line

    def incoming(
        self, *templates: Packet, at: str = "b", clause: str | None = None, note: str = ""
    ) -> Side:
        """The next connection from the router and the Call on it, as one of the templates says.

        A connection whose call is cleared may serve for the next one (RFC 1613 5). at: "b", "b2" or
        "a" (a call in the other direction). Raises ExpectationFailed.
        """
        side = self.listeners.accept(at=at, clause=clause, note=note)
        addresses = self.profile.addresses
        wanted = as_they_arrive(addresses, templates or (CallRequest(),))
        unsaid = whatever_arrives(addresses, wanted)
        came = side.expect(*wanted, *unsaid, clause=clause, note=note)
        if unsaid and came is not None:
            self._need_called(came, wanted)
        self._take_numbers(side)
        return side

    def _need_called(self, came: Packet, wanted: Sequence[Packet]) -> None:
        """Raises Inconclusive if it came for another called address than the case named."""
        named = {template.fields.get("called_address") for template in wanted}
        if None not in named and came.called_address not in named:
            arrived = came.called_address or "no called address"
            raise Inconclusive(
                f"a call for {', '.join(sorted(named))} arrived with {arrived}: if the router is "
                "to rewrite it, the profile says so (addresses.a_arrives, addresses.b_arrives)"
            )

    def went_on(self, calling: Side, *, at: str = "b", seconds: float | None = None) -> bool:
        """Wait until the router calls there or answers the calling side. Whether it called.

        For rows that allow a call to be refused or to be carried on. What it opens for a Call and
        gives up without one is not a call: the Call may have crossed its close (RFC 1613 5).
        """
        listeners = self.listeners

        def answered() -> bool:
            return calling.arrivals.answered or calling.connection.end is not None

        self.loop.wait(
            lambda: listeners.has_call(at) or answered(),
            self.reaction_limit if seconds is None else seconds,
            patient=seconds is None,
        )
        if not listeners.has_call(at):
            listeners.leave_given_up(at)
        return listeners.is_called(at)

    # calls

    def call_request(
        self,
        *,
        called: str | None = None,
        window: int | tuple[int, int] = 2,
        size: int | tuple[int, int] = 128,
        user_data: bytes | None = None,
        fast_select: int | None = None,
        facilities: Sequence[Packet] | None = None,
        more: Sequence[Packet] = (),
        calling: str | None = None,
    ) -> CallRequest:
        """The Call Request of the preamble P-CALL: sizes and windows as (called, calling)."""
        self._calls += 1
        self._called_at = time.monotonic()
        sizes = (size, size) if isinstance(size, int) else size
        windows = (window, window) if isinstance(window, int) else window
        if facilities is None:
            facilities = [
                PacketSize(called=SIZE_CODES[sizes[0]], calling=SIZE_CODES[sizes[1]]),
                WindowSize(called=windows[0], calling=windows[1]),
            ]
            if fast_select is not None:
                facilities.insert(0, FastSelectReverseCharging(fast_select=fast_select))
        called = called or self.far_end.address
        if user_data is None:
            # A router that carries IP takes calls for IP only, and ignores what follows 0xCC.
            first = b"\xcc" if called == self.profile.addresses.ip else b"\xc0"
            user_data = first + (self.number << 10 | self._calls).to_bytes(3, "big")
        return CallRequest(
            called_address=called,
            calling_address=self.profile.addresses.a if calling is None else calling,
            facilities=[*facilities, *more],
            user_data=user_data,
        )

    def checking_numbers(self) -> AbstractContextManager[None]:
        """Expectations of a router that checks P(S), P(R), sizes and Q of a call.

        Where numbers are end to end that may be left to the ends (RFC 1613 6.2): unless the profile
        says which it is (N-CHECK, N-TRUST), what fails within is INCONCLUSIVE.
        """
        if self.model != "end-to-end" or self.declared("N-CHECK"):
            return nullcontext()
        self.remark("end-to-end: N-CHECK or N-TRUST in pics says whether the router checks numbers")
        return self.preamble()

    def call(
        self,
        request: Packet | None = None,
        *,
        modulus: int = 8,
        lcn: int = 1,
        answer: Packet | None = None,
        **options: Any,
    ) -> Call:
        """A call from A to B up to Call Connected (preamble P-CALL). Raises Inconclusive.

        options: as call_request(). In T2 the router answers, and side B is absent.
        """
        with self.preamble():
            return self.place_call(
                request, modulus=modulus, lcn=lcn, answer=answer, options=options
            )

    def place_call(
        self,
        request: Packet | None = None,
        *,
        on: Side | None = None,
        modulus: int = 8,
        lcn: int = 1,
        answer: Packet | None = None,
        note: str = "",
        options: Mapping[str, Any] | None = None,
    ) -> Call:
        """As call(), but that the call comes about is expected: a router that fails has failed.

        on: the connection of side A to use (a new one). Raises ExpectationFailed.
        """
        if self.dials:
            return self._place_dialled(on, modulus, answer, note, options or {})
        place = partial(self._place_call, request, on, modulus, lcn, answer, note, options)
        return place() if on is not None else self.capacity.in_the_end(place)

    def dialled(self, *templates: Packet, modulus: int = 8, note: str = "") -> Side:
        """The call that the router under test places when it is told to (T6), not answered yet.

        Raises Inconclusive if there is none, or one of another modulus than it was told, and
        ExpectationFailed if its Call is none of the templates.
        """
        self.dialling.dial(lambda: self.listeners.is_called("a"), modulus)
        side = self.incoming(*templates, at="a", note=note or "the call that was asked for")
        assert side.call is not None
        if self.profile.calls_as_told and side.modulus != modulus:
            raise Inconclusive(
                f"control.call was told modulo {modulus}, and the router called with modulo "
                f"{side.modulus}"
            )
        side.acceptance = answering(side.call, DEFAULT_SIZE, DEFAULT_WINDOW)
        return side

    def _place_dialled(
        self,
        on: Side | None,
        modulus: int,
        answer: Packet | None,
        note: str,
        options: Mapping[str, Any],
    ) -> Call:
        """As _place_call(), by the router under test: the answer takes of its offer what it can."""
        size, window = options.get("size", 128), options.get("window", DEFAULT_WINDOW)
        plain = isinstance(size, int) and isinstance(window, int)
        told = modulus == 8 or self.profile.calls_as_told
        if on is not None or not told or not plain or set(options) - {"size", "window"}:
            raise NotApplicable("the router under test chooses how it calls (T6)")
        side = self.dialled(modulus=modulus, note=note)
        assert side.call is not None
        if answer is None:
            answer = answering(side.call, SIZE_CODES[size], window)
        side.send(answer)
        far = AbsentSide()
        far.agree(side.values)
        return Call(self, side, far)

    def _place_call(
        self,
        request: Packet | None,
        on: Side | None,
        modulus: int,
        lcn: int,
        answer: Packet | None,
        note: str,
        options: Mapping[str, Any] | None,
    ) -> Call:
        side_a = self._reach(modulus, note) if on is None else on
        if on is None and not isinstance(side_a, ChannelSide):
            side_a.lcn = lcn
        elif on is None and lcn != 1:
            raise NotApplicable("a case cannot choose the logical channel on a serial line")
        request = self.call_request(**(options or {})) if request is None else request
        side_a.send(request)
        return self._answered(side_a, request, answer, note)

    def _answered(self, side_a: Side, request: Packet, answer: Packet | None, note: str) -> Call:
        """The Call that A has sent arrives, and B answers it."""
        side_b: Side | AbsentSide = AbsentSide()
        if self.two_sided:
            side_b = self.incoming(note=note)
            side_b.send(side_b.acceptance if answer is None else answer)
        connected = side_a.expect(CallAccepted(), note=note)
        assert connected is not None
        self.settle(side_a, side_b, request, connected)
        return Call(self, side_a, side_b)

    def call_again(
        self, side: Side, note: str = "", options: Mapping[str, Any] | None = None
    ) -> Call:
        """A further call of a side whose call is over; a router may close that connection instead.

        RFC 1613 5: it may be maintained. The close may be on its way already when A calls again:
        then A takes a new connection. Raises ExpectationFailed.
        """
        request = self.call_request(**(options or {}))
        side = self.to_call_again(side)
        side.send(request)
        if not self.went_on(side) and side.arrivals.closed_unanswered:
            side.expect_closed()
            self.remark("the connection is closed at the second call")
            return self.place_call(note=note, options=options)
        return self._answered(side, request, None, note)

    def to_call_again(self, side: Side) -> Side:
        """The side for a further call, its numbers from 0.

        On a line it is another one where a call of the router has had the channel since: any call
        may take any that is free (X.25 Annex A).
        """
        if side.stop is not None:
            return self.connect(at=side.name.lower(), modulus=side.modulus)
        side.numbering.reset()
        side.numbering.resetting = False
        return side

    def _reach(self, modulus: int, note: str) -> Side:
        """A connection to the router; where it takes none, what should come on it never does."""
        try:
            return self.connect(modulus=modulus)
        except Inconclusive:
            self.capacity.excuse()
            if self.in_preamble:
                raise
            note = note or "the router takes no connection"
            raise self.no_call_came(CallAccepted(), "a", note=note) from None

    def _take_numbers(self, side: Side) -> None:
        """Modulus and values of an Incoming Call become those of the called side."""
        units = [u for u in side.connection.received if u.end == side.cursor]
        packet = units[0].packet if units else b""
        if len(packet) >= 2:
            side.modulus = 128 if packet[0] >> 4 & 3 == 2 else 8
            side.lcn = (packet[0] & 15) << 8 | packet[1] or 1
            side.call = decode(packet)
            side.agree(values_of(side.call, called=True))
            if self.last_call is not None:
                side.acceptance = acceptance(self.last_call, side.call)

    def settle(self, a: Side, b: Side | AbsentSide, request: Packet, connected: Packet) -> None:
        """Packet sizes and windows of A: as answered, or else as asked for."""
        self._slowest = max(self._slowest, min(time.monotonic() - self._called_at, MOST_SLOW))
        a.agree(values_of(connected, called=False, otherwise=values_of(request, called=False)))
        if isinstance(b, AbsentSide):
            b.agree(a.values)

    def record(self, octets: int, *, call: int = 1, sequence: int | None = None) -> bytes:
        """A test record of this run; its filler repeats in no other record.

        Where a packet of the router's choice has no room for one: octets at random.
        """
        if octets < HEADER.size:
            return self.random.randbytes(octets)
        self._records += 1
        return TestRecord.build(
            self.run,
            (self.number << 12) + call,
            self._records if sequence is None else sequence,
            0,
            octets,
        )

    def fence(self, note: str = "liveness: a fresh call", *, preamble: bool = False) -> Call:
        """A fresh call with data both ways, where the connection of the case is gone.

        When it is through, everything that the router had to do about the stimulus has been done.
        Nothing orders what goes over two connections: a router that serves each in its own time is
        given twice the time in which its slowest call came about. preamble: as a part of it.
        """
        started = time.monotonic()
        before, self.in_preamble = self.in_preamble, preamble
        try:
            call = self.place_call(note=note)
            call.fence(note)
        finally:
            self.in_preamble = before
        left = 2 * self._slowest - (time.monotonic() - started)
        if left > 0:
            self.loop.pause(left)
        return call

    # races

    def race(self, what: str, tries: int, at_once: int | None = None) -> Race:
        """So many tries of a race; what: what they have to bring about, for the report.

        The first tries, at_once of them (a quarter), leave no pause between the two things.
        """
        first = (tries + 3) // 4 if at_once is None else at_once
        race = Race(what, tries, first, self.seed, self.random, self.loop.poll)
        self.races.append(race)
        return race

    def settle_races(self) -> None:
        """Raises Inconclusive if no try of a race got there."""
        for race in self.races:
            if race.tried and not race.times:
                raise Inconclusive(race.text)

    def settle_own_accord(self) -> None:
        """Raises Inconclusive if a DTE has cleared or reset a call of its own accord, unasked."""
        for side in self.sides if self.is_a_dte else ():
            own_accord.look_at_the_end(side)

    # the end of the case

    def forget(self) -> None:
        """Give up what came, was sent and was expected: the case is over, and its record has it.

        Sides, connections and this refer to each other, so that they stay until Python looks for
        such circles. They are little without this.
        """
        for _, connection in self.connections:
            connection.forget()
        self.received.clear()
        self.expectations = []

    def finish(self, *, watched: bool) -> None:
        """End what is open, in an orderly way; watched: demand that nothing else came."""
        for race in self.races:
            self.remark(race.text)
        self.listeners.take_late_ones()
        postamble.stop_at_further_calls(self._points)
        if watched:
            postamble.demand_quiet(self._points)
            postamble.demand_no_connections(self._points, self.listeners)
            postamble.note_causes(self._points)
        postamble.clear_calls(self._points, self._patience)
        postamble.end_what_may_be_kept(self._points, self._patience)
        for side in self.sides:
            side.close()
        for waiting in self._points.waiting.values():
            for connection in waiting:
                if not isinstance(connection, Circuit):
                    connection.reset()
        for line in self.lines.values():
            line.finish()
        self.dialling.finish()
        self.capacity.note_ended()

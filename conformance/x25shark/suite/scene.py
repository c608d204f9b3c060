# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls one behind the other, each of which is compared whole (X.25 5.2.2 to 5.2.4, 6.12 to 6.16).

A scene says who calls, with which modulus, and on what: the connection that the last call left, if
the router keeps it (RFC 1613 5), or else a new one. Whatever a packet says and whatever it does not
say is compared at the other side, so that what an earlier call leaves behind shows in the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from scapy_x25 import Priority, Protection

from ..judges.template import Lacks
from ..sides.agreement import STANDARD
from .anew import is_gone
from .calls import accepted, agreed_by, answer_to, behind_marker, offers, values_at_a
from .clearing import confirmed
from .language import (
    ABSENT,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    FastSelectReverseCharging,
    Marker,
    Packet,
    Side,
    ThroughputClass,
    between,
    lacks,
    one_of,
)

DTE = Marker(value=0x0F)
# Facilities of DTEs, which no network writes.
OF_DTES = (Priority, Protection)

Facilities = Sequence[Packet | Lacks]


@dataclass
class Scene:
    """See the module's text."""

    bench: Bench
    #: The side that calls, "a" or "b".
    calling: str = "a"
    modulus: int = 8
    #: A Clear of the router is confirmed in one write with the next Call.
    at_once: bool = False
    #: Each call has a connection of its own, which the tester closes behind it.
    apart: bool = False
    #: PICS items that the called side has not subscribed to.
    lacking: tuple[str, ...] = ()
    #: Whether the network takes any calling address; None: it was not asked yet.
    any_caller: bool | None = None
    #: The side of the last call, whose connection may take another one.
    last: Side | None = None
    #: What that side has to send ahead of its next Call.
    due: tuple[Packet, ...] = ()
    #: The side whose Clear is confirmed when that has been sent.
    waiting: Side | None = None

    @property
    def there(self) -> str:
        """The side that is called."""
        return "b" if self.calling == "a" else "a"

    # set-up

    def request(self, *, d: int = 0, more: Sequence[Packet] = (), **options: Any) -> CallRequest:
        """A Call of this scene; options as of Bench.call_request()."""
        bench = self.bench
        own, other = bench.profile.addresses.a, bench.far_end.address
        if self.calling == "b":
            own, other = other, own
        addresses = {"called": other, "calling": own}
        request = bench.call_request(**{**addresses, "more": more, **options})
        if d:
            request.d = 1
        if self.modulus == 128:
            request.modulo = 2
        return request

    def call(self, **options: Any) -> tuple[Side, Side, CallRequest]:
        """A Call arrives as it was sent: the calling side, the called one, and the Call."""
        request = self.request(**options)
        choices = facilities_at_b(self.bench, request, self.there)
        wanted = [template_of(self.bench, request, facilities) for facilities in choices]
        x = self.again(request)
        if x is not None:
            y = self.bench.incoming(*wanted, at=self.there)
        else:

            def placed() -> tuple[Side, Side]:
                x = self.bench.connect(at=self.calling, modulus=self.modulus)
                x.send(request)
                return x, self.bench.incoming(*wanted, at=self.there)

            x, y = self.bench.capacity.in_the_end(placed)
        self.is_confirmed()
        return x, y, request

    def again(self, request: Packet) -> Side | None:
        """The Call on the connection of the last call; None: that has gone, or is gone now."""
        x, self.last = self.last, None
        before, self.due = self.due, ()
        if x is None or x.connection.end is not None:
            if x is not None and before and not x.connection.closed:
                x.send(*before)
            return None
        x.agree(STANDARD)
        # It may be of another modulus than the call before it; numbers begin anew.
        x.modulus = self.modulus
        x.send(*before, request)
        self.bench.went_on(x, at=self.there)
        if not x.arrivals.closed_unanswered:
            return x
        x.expect_closed()
        return None

    def leave(self) -> None:
        """The connection of the last call takes no other one: the tester closes it."""
        x = self.last
        self.finish()
        self.last = None
        if x is not None and not x.connection.closed:
            x.close()

    def is_confirmed(self) -> None:
        """The confirmation that was sent with a Call ends the clearing at the other side too."""
        side, self.waiting = self.waiting, None
        if side is not None:
            confirmed(side)

    def answer(
        self,
        call: tuple[Side, Side, CallRequest],
        *,
        user_data: bytes = b"",
        d: int = 0,
        values: Sequence[Packet] | None = None,
        throughput: tuple[int, int] | None = None,
        marked: Sequence[Packet] = (),
        address: str = "",
    ) -> Call:
        """The called side accepts; Call Connected is as the answer and the Call say.

        values: packet size and window size of the answer, as of agreed(); None: as B can take what
        was asked for. throughput: as (called, calling), or what is less if the side was told so.
        """
        x, y, request = call
        if values is None:
            values = y.acceptance.fields.get("facilities") or ()
        classes = throughput_answer(y, throughput)
        whole: dict[str, Any] = {}
        if classes or values or marked:
            whole["facilities"] = [*classes, *values, *marked]
        if user_data:
            whole["user_data"] = user_data
        if d:
            whole["d"] = 1
        if address:
            whole["called_address"] = address
        answer = CallAccepted(**whole)
        given: list[list[Packet | Lacks]] = [
            [c, lacks(ThroughputClass)] for c in map(_most, classes)
        ]
        connected = []
        for named in values_at_a(self.bench, request, agreed_by(y, answer)):
            for choice in product(*given):
                template = CallAccepted(
                    facilities=[*named, *choice, *_of_dtes(marked)],
                    user_data=user_data or ABSENT,
                    d=d,
                )
                connected += self.with_addresses(template, request, address)
        return accepted(self.bench, x, y, request, answer, connected)

    def with_addresses(self, template: Packet, request: Packet, address: str) -> list[Packet]:
        """Call Connected has the address of the answer, or none (X.25 5.2.3), or the one called."""
        if not address:
            return [template]
        found = []
        for fields in (
            {"called_address": address},
            {"called_address_length": one_of(0, None)},
            {"called_address": request.called_address},
        ):
            found.append(template.copy())
            found[-1].fields |= fields
        return found

    def agreed(
        self, call: tuple[Side, Side, CallRequest], *, size: int, window: int, kind: Any = Packet
    ) -> list[Packet]:
        """Values for an answer: size by its code, or what is nearest; kind: only that facility."""
        _, y, _ = call
        return [f for f in answer_to(y, size=size, window=window).facilities if isinstance(f, kind)]

    # clearing

    def clear(
        self,
        sender: Side,
        receiver: Side,
        cause: int = 0,
        diagnostic: int = 0,
        user_data: bytes = b"",
        marked: Sequence[Packet] = (),
    ) -> None:
        """One side clears or refuses; all that it says arrives, and both confirm."""
        cause = sender.cause_given(cause)
        said = {"cause": cause, "diagnostic": diagnostic}
        sent = ClearRequest(**said)
        if user_data or marked:
            block = {"called_address_length": 0, "calling_address_length": 0}
            extra = {"facilities": list(marked)} if marked else {"facility_length": 0}
            sent = ClearRequest(**said, **block, **extra, user_data=user_data)
        wanted = ClearIndication(**said, user_data=user_data or ABSENT)
        sender.send(sent)
        if marked:
            wanted.fields["facilities"] = behind_marker(receiver, marked)
        receiver.expect(wanted)
        if self.at_once and receiver.name.lower() == self.calling:
            self.last, self.due, self.waiting = receiver, (ClearConfirmation(),), sender
            return
        receiver.send(ClearConfirmation())
        confirmed(sender)
        self.over(receiver if receiver.name.lower() == self.calling else sender)

    def over(self, side: Side) -> None:
        """The calling side is done with its call; its connection may take another one."""
        there = not is_gone(side)
        if self.apart:
            side.close()
        elif there and side.phase == "cleared":
            self.last = side

    def over_unless_closed(self, side: Side) -> None:
        """The same, where the router cleared the call and did not close the connection instead."""
        if side.phase == "cleared":
            self.over(side)

    def finish(self) -> None:
        """What the last call left to be sent."""
        if self.last is not None and self.due:
            self.last.send(*self.due)
            self.due = ()
        self.is_confirmed()


def template_of(bench: Bench, request: Packet, facilities: Facilities) -> CallRequest:
    """The Call as it arrives, with facilities as they may be."""
    template = CallRequest(
        called_address=request.called_address,
        user_data=request.user_data or ABSENT,
        facilities=list(facilities),
        d=request.fields.get("d", 0),
    )
    if request.calling_address:
        # Where there was none, a network may put one in (X.25 5.2.2).
        template.fields["calling_address"] = request.calling_address
    return template


def facilities_at_b(bench: Bench, request: Packet, there: str) -> list[list[Packet | Lacks]]:
    """What the Call may have at the called side: values, and what else was asked for, or not.

    A facility may say that there is no fast select (X.25 7.2.2), and a class may be left out where
    its side has no negotiation of classes (X.25 6.13).
    """
    asked = request.fields["facilities"]
    fast = [f for f in asked if isinstance(f, FastSelectReverseCharging)]
    none = FastSelectReverseCharging(fast_select=0, redirection=0, reverse_charging=0)
    choices: list[list[Packet | Lacks]] = [
        [*fast] if fast else [lacks(FastSelectReverseCharging), none]
    ]
    choices += [[_most(f), lacks(ThroughputClass)] for f in asked if isinstance(f, ThroughputClass)]
    of_dtes = _of_dtes(asked)
    return [
        [*offer, *of_dtes, *choice]
        for offer in offers(bench, request, there)
        for choice in product(*choices)
    ]


def _of_dtes(given: Sequence[Packet]) -> list[Packet | Lacks]:
    """What there is of DTEs behind the marker, and nothing of theirs that is not there."""
    missing = [kind for kind in OF_DTES if not any(isinstance(f, kind) for f in given)]
    there = [f for f in given if isinstance(f, (Marker, *OF_DTES))]
    return [*there, *map(lacks, missing)]


def _most(classes: Packet) -> ThroughputClass:
    """X.25 6.13: a throughput class is passed or lowered."""
    called, calling = classes.called, classes.calling
    return ThroughputClass(called=between(3, called), calling=between(3, calling))


def throughput_answer(y: Side, wanted: tuple[int, int] | None) -> list[Packet]:
    """The classes with which the called side answers: none if it was told none."""
    assert y.call is not None
    told = [f for f in y.call.facilities if isinstance(f, ThroughputClass)]
    if wanted is None or not told:
        return []
    called, calling = wanted
    least = {"called": min(called, told[0].called), "calling": min(calling, told[0].calling)}
    return [ThroughputClass(**least)]

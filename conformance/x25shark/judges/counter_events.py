# SPDX-License-Identifier: GPL-2.0-or-later
"""What a counter must have moved by, counted in the packets of a case.

Every definition is made of packet templates, so that both judges count: judge one on the packets
of the tester, judge two with display filters on the capture. Clauses: RFC 1382 x25StatTable and
x25CircuitTable; X.25 5.2.4 and 5.4.3 for the causes that a DTE gives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scapy.packet import Packet
from scapy_x25 import (
    RNR,
    RNR128,
    RR,
    RR128,
    X25,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Data,
    Data128,
    Diagnostic,
    Interrupt,
    InterruptConfirmation,
    ResetConfirmation,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
)
from scapy_x25.lapb import LAPB, LapbFRMR, LapbI, LapbREJ, LapbRNR, LapbRR, LapbUA

from .expectation import Direction, Judge, PacketView
from .frames import frame_of
from .values import OF_A_DTE, between

# X.25 5.2.4, 5.4.3: 0 and those with bit 8 are of a DTE, all others of the network.
OF_THE_NETWORK = between(1, 0x7F)
# Bits of the longest frame where a profile does not say it (X.25 2.4.8.5: 1080 or more).
N1 = 2104
_LOCAL_PROCEDURE_ERROR_CLEAR = 0x13
_LOCAL_PROCEDURE_ERROR_RESET = 0x05

# One packet of a circuit: whether the tester sent it, and the packet as a judge sees it.
Event = tuple[bool, PacketView]
Match = Callable[[Packet, Event], bool]


@dataclass(frozen=True)
class Cut:
    """The part of a connection or line that counts: octets of each direction, from and up to.

    direction: from the router to the tester.
    """

    direction: Direction
    received: tuple[int, int]
    sent: tuple[int, int]

    def events(self, judge: Judge) -> list[Event]:
        """The packets of the part, in order, as a judge sees them."""
        chosen = []
        for sent, _, view in judge.conversation(self.direction, self.back):
            first, last = self.sent if sent else self.received
            if first <= view.offset < last:
                chosen.append((sent, view))
        return chosen

    @property
    def back(self) -> Direction:
        return Direction(self.direction.destination, self.direction.source)

    def match(self, judge: Judge) -> Match:
        """What the judge says of a packet of this part."""
        return lambda template, event: judge.matches(
            template, event[1], self.back if event[0] else self.direction
        )


class Definition(ABC):
    """How a counter is counted on one connection, logical channel or line.

    framed: it counts frames of a line, not packets. most: how many times what is counted the
    counter may move by, where the standard leaves that open.
    """

    templates: tuple[Packet, ...]
    framed: bool = False
    most: int = 1

    @abstractmethod
    def count(self, events: Sequence[Event], match: Match) -> int:
        """What the counter must have moved by."""

    def total(self, cuts: Iterable[Cut], judge: Judge) -> int:
        """The same for several of them together."""
        return sum(self.count(cut.events(judge), cut.match(judge)) for cut in cuts)


@dataclass(frozen=True)
class Packets(Definition):
    """Packets that match one of the templates; octets: the user data in them instead.

    received: those that the router receives; None: both ways.
    """

    received: bool | None
    templates: tuple[Packet, ...]
    octets: bool = False

    def count(self, events: Sequence[Event], match: Match) -> int:
        # What the tester sends is what the router receives.
        chosen = [
            event
            for event in events
            if self.received in (None, event[0]) and any(match(t, event) for t in self.templates)
        ]
        return sum(self.octets_of(view) for _, view in chosen) if self.octets else len(chosen)

    @staticmethod
    def octets_of(view: PacketView) -> int:
        return len(view.user_data)


@dataclass(frozen=True)
class AllButFirst(Packets):
    """The same but for the first one."""

    def count(self, events: Sequence[Event], match: Match) -> int:
        return max(super().count(events, match) - 1, 0)


@dataclass(frozen=True)
class Frames(Packets):
    """The same for the frames of a line; octets: those between the flags, FCS included."""

    framed: bool = True
    most: int = 1

    @staticmethod
    def octets_of(view: PacketView) -> int:
        return len(view.octets)


@dataclass(frozen=True)
class Polls(Definition):
    """Polls that the router sends when T1 has run out on an I frame (X.25 2.4.5.9).

    They are commands: their address is that of the router's I frames.
    """

    templates: tuple[Packet, ...] = (LapbI(), LapbI(p_f=1), LapbRR(p_f=1), LapbRNR(p_f=1))
    framed: bool = True
    most: int = 1

    def count(self, events: Sequence[Event], match: Match) -> int:
        information, *polls = self.templates
        own = [event for event in events if not event[0]]
        commands = {view.octets[:1] for _, view in own if match(information, (False, view))}
        return sum(
            view.octets[:1] in commands and any(match(t, (False, view)) for t in polls)
            for _, view in own
        )


@dataclass(frozen=True)
class Unanswered(Definition):
    """Calls that a Clear ended before a Call Accepted came.

    received: Calls that the router received, and it is the router that clears; otherwise Calls
    that it sent, and either may clear.
    """

    received: bool
    templates: tuple[Packet, ...] = (CallRequest(), CallAccepted(), ClearRequest())

    def count(self, events: Sequence[Event], match: Match) -> int:
        call, accepted, clear = self.templates
        pending = False
        found = 0
        for event in events:
            from_tester = event[0]
            if match(call, event) and from_tester == self.received:
                pending = True
            elif match(accepted, event) and from_tester != self.received:
                pending = False
            elif match(clear, event):
                found += pending and not (self.received and from_tester)
                pending = False
        return found


@dataclass(frozen=True)
class Circuits(Definition):
    """By how much the number of connected calls has changed."""

    templates: tuple[Packet, ...] = (CallRequest(), CallAccepted(), ClearRequest())

    def count(self, events: Sequence[Event], match: Match) -> int:
        call, accepted, clear = self.templates
        change = 0
        # None: the part begins in the middle of a call, which is up then.
        up: bool | None = None
        caller: bool | None = None
        for event in events:
            if match(call, event) and up is not True:
                up, caller = False, event[0]
            elif match(accepted, event) and up is False and event[0] is not caller:
                change, up = change + 1, True
            elif match(clear, event) and up is not False:
                change, up = change - 1, False
        return change


_CALL = CallRequest()
_DATA: tuple[Packet, ...] = (Data(), Data128())
_ERRORS: tuple[Packet, ...] = (
    ClearRequest(cause=_LOCAL_PROCEDURE_ERROR_CLEAR),
    ResetRequest(cause=_LOCAL_PROCEDURE_ERROR_RESET),
)
_KINDS: Mapping[str, tuple[Packet, ...]] = {
    "packets": (X25(),),
    "calls": (_CALL,),
    "accepts": (CallAccepted(),),
    "clears": (ClearRequest(),),
    "clear_confirmations": (ClearConfirmation(),),
    "data": _DATA,
    "interrupts": (Interrupt(),),
    "interrupt_confirmations": (InterruptConfirmation(),),
    "receive_ready": (RR(), RR128()),
    "receive_not_ready": (RNR(), RNR128()),
    "resets": (ResetRequest(),),
    "reset_confirmations": (ResetConfirmation(),),
    "restarts": (RestartRequest(),),
    "restart_confirmations": (RestartConfirmation(),),
    "diagnostics": (Diagnostic(),),
}
# Those that only a line has: on XOT they are of local significance (RFC 1613 6.4).
_OF_A_LINE = ("restarts", "restart_confirmations", "diagnostics")
# The counters of packets by their type, both ways: of a logical channel, and of a line.
_BY_TYPE = [f"{kind}_{way}" for kind in _KINDS if kind != "packets" for way in ("in", "out")]
OF_A_LINE = tuple(name for name in _BY_TYPE if name.rpartition("_")[0] in _OF_A_LINE)
OF_A_CHANNEL = tuple(name for name in _BY_TYPE if name not in OF_A_LINE)

DEFINITIONS: dict[str, Definition] = {
    **{f"{name}_in": Packets(True, templates) for name, templates in _KINDS.items()},
    **{f"{name}_out": Packets(False, templates) for name, templates in _KINDS.items()},
    "data_octets_in": Packets(True, _DATA, octets=True),
    "data_octets_out": Packets(False, _DATA, octets=True),
    "call_refusals": Unanswered(True),
    "call_failures": Unanswered(False),
    "provider_clears_in": Packets(True, (ClearRequest(cause=OF_THE_NETWORK),)),
    "provider_resets_in": Packets(True, (ResetRequest(cause=OF_THE_NETWORK),)),
    "remote_resets_in": Packets(True, (ResetRequest(cause=OF_A_DTE),)),
    "procedure_errors_in": Packets(True, _ERRORS),
    "circuits": Circuits(),
    "frames_out": Frames(False, (LAPB(),)),
    "octets_out": Frames(False, (LAPB(),), octets=True),
    "rejects_in": Frames(True, (LapbREJ(),)),
    "rejects_out": Frames(False, (LapbREJ(),)),
    "frame_rejects_in": Frames(True, (LapbFRMR(),)),
    "frame_rejects_out": Frames(False, (LapbFRMR(),)),
    # Each UA ends a set-up or a disconnection; a reset may count as one change or as two.
    "link_changes": Frames(None, (LapbUA(),), most=2),
    "t1_timeouts": Polls(),
}


_ERROR_KINDS = {
    "bad_fcs": "bad_fcs",
    "runts": "runt",
    "giants": "giant",
    "aborts": "aborted",
    "unaligned": "unaligned",
    "unknown_addresses": "unknown_address",
}
_WHOLE_KINDS = ("good", "bad_fcs", "runt", "giant", "unknown_address")


def received_frames(n1: int = N1) -> dict[str, Definition]:
    """The counters of frames by their kind; n1: bits of the longest frame of the line."""
    errors = {name: frame_of(kind, n1) for name, kind in _ERROR_KINDS.items()}
    whole = tuple(frame_of(kind, n1) for kind in _WHOLE_KINDS)
    return {
        **{name: Frames(True, (template,)) for name, template in errors.items()},
        "frames_in": Frames(True, (frame_of("good", n1),)),
        "errors_in": Frames(True, tuple(errors.values())),
        "octets_in": Frames(True, whole, octets=True),
    }


DEFINITIONS |= received_frames()


def definition(name: str, cause: int | None = None, n1: int = N1) -> Definition:
    """How a counter is counted; cause: for one that counts by cause; n1: see received_frames()."""
    if cause is not None:
        packet = ClearRequest if name.startswith("clears") else ResetRequest
        return Packets("_in_" in name, (packet(cause=cause),))
    return received_frames(n1).get(name, DEFINITIONS[name])

# SPDX-License-Identifier: GPL-2.0-or-later
"""The words that cases are written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from scapy.packet import Packet, Raw
from scapy_x25 import (
    REJ,
    REJ128,
    RNR,
    RNR128,
    RR,
    RR128,
    X25,
    CallAccepted,
    CalledAddressExtension,
    CalledLineAddressModified,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Data128,
    Diagnostic,
    FacilityA,
    FacilityB,
    FacilityC,
    FacilityD,
    FastSelectReverseCharging,
    IncomingCall,
    Interrupt,
    InterruptConfirmation,
    Marker,
    PacketSize,
    PvcSetup,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    ThroughputClass,
    Undefined,
    WindowSize,
)
from scapy_x25.lapb import (
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRNR,
    LapbRR,
    LapbSABM,
    LapbSABME,
    LapbUA,
    LapbUndefined,
)

from ..judges.expectation import CLOSED
from ..judges.frames import InvalidFrame, frame_of
from ..judges.template import lacks
from ..judges.values import ABSENT, Matcher, between, either, not_in, one_of
from ..judges.watch import Conversation, Watch
from ..sides.bench import Bench, Call
from ..sides.line import ASKING_FOR_A_LINK, NO_LINK, LineSide
from ..sides.outcomes import Inconclusive, NoChannel, NotApplicable
from ..sides.race import Race
from ..sides.side import Side, unit

__all__ = [
    "ABSENT",
    "ASKING_FOR_A_LINK",
    "CLOSED",
    "NO_LINK",
    "REJ",
    "REJ128",
    "RNR",
    "RNR128",
    "RR",
    "RR128",
    "X25",
    "Bench",
    "Call",
    "CallAccepted",
    "CallRequest",
    "CalledAddressExtension",
    "CalledLineAddressModified",
    "ClearConfirmation",
    "ClearIndication",
    "ClearRequest",
    "Conversation",
    "Data",
    "Data128",
    "Diagnostic",
    "FacilityA",
    "FacilityB",
    "FacilityC",
    "FacilityD",
    "FastSelectReverseCharging",
    "IncomingCall",
    "Inconclusive",
    "Interrupt",
    "InterruptConfirmation",
    "InvalidFrame",
    "LapbDISC",
    "LapbDM",
    "LapbFRMR",
    "LapbI",
    "LapbREJ",
    "LapbRNR",
    "LapbRR",
    "LapbSABM",
    "LapbSABME",
    "LapbUA",
    "LapbUndefined",
    "LineSide",
    "Marker",
    "Matcher",
    "NoChannel",
    "NotApplicable",
    "Packet",
    "PacketSize",
    "PvcSetup",
    "Race",
    "Raw",
    "RegistrationConfirmation",
    "RegistrationRequest",
    "ResetConfirmation",
    "ResetIndication",
    "ResetRequest",
    "RestartConfirmation",
    "RestartRequest",
    "Side",
    "ThroughputClass",
    "Undefined",
    "Watch",
    "WindowSize",
    "between",
    "either",
    "frame_of",
    "lacks",
    "not_in",
    "one_of",
    "purpose",
    "unit",
]

Case = TypeVar("Case", bound=Callable[..., None])
ATTRIBUTE = "x25shark_purpose"
BOTH_SIDES = "both_sides"
EACH_LINE = "each_line"


def purpose(
    identifier: str, *, both_sides: bool = False, each_line: bool = False, **call_options: Any
) -> Callable[[Case], Case]:
    """Mark a function as the case of a purpose.

    call_options: how the preamble call of a case that takes `call` is set up (see Bench.call),
    for instance window=7. both_sides: the case runs on a second call as well, with its ends
    exchanged: what A does B does there, where the tester has a side B. each_line: a case about the
    frames of one line, without a call, runs on each serial line in turn: they may differ in role,
    framing and k.
    """

    def mark(function: Case) -> Case:
        options = dict(call_options)
        if both_sides:
            options[BOTH_SIDES] = True
        if each_line:
            options[EACH_LINE] = True
        setattr(function, ATTRIBUTE, (identifier, options))
        return function

    return mark

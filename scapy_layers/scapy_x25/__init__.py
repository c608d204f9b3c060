# SPDX-License-Identifier: GPL-2.0-or-later
"""Scapy layers for X.25, XOT (RFC 1613), LAPB and HDLC.

X25(octets) and XOT(octets) dissect; every class builds. XOT is bound to TCP port 1998 with this
package where Scapy's TCP has been imported already, and otherwise when XOT is first named: whoever
needs neither does not load Scapy's layers of IP, which take as long as all the rest.

x25             packets and their types
address         address blocks
facilities      facilities; facility_field: the field that holds them
fields          fields that may be absent
tables          what causes, diagnostics and statuses mean
xot             XOT over TCP
lapb, hdlc      frames of a serial line, and their framing
lapbether       LAPB over Ethernet
rfc1356         IP on circuits
summary         packets in one line
remembered      results kept for octets seen before
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from .facilities import (
    BilateralClosedUserGroup,
    CallDeflectionSelection,
    CallDuration,
    CalledAddressExtension,
    CalledLineAddressModified,
    CallingAddressExtension,
    CallRedirectionNotification,
    ChargingInformationRequest,
    ClosedUserGroup,
    ClosedUserGroupExtended,
    ClosedUserGroupOutgoingAccess,
    ClosedUserGroupOutgoingAccessExtended,
    EndToEndTransitDelay,
    ExpeditedDataNegotiation,
    ExtendedThroughputClass,
    Facility,
    FacilityA,
    FacilityB,
    FacilityC,
    FacilityD,
    FacilityExtension,
    FastSelectReverseCharging,
    Marker,
    MinimumThroughputClass,
    MonetaryUnit,
    NetworkUserIdentification,
    PacketSize,
    Priority,
    Protection,
    RoaSelection,
    RoaSelectionExtended,
    SegmentCount,
    ThroughputClass,
    TransitDelay,
    WindowSize,
)
from .facility_field import build_facilities, parse_facilities
from .summary import decoded, describe, printable, summary_line
from .tables import cause_meaning, diagnostic_meaning, pvc_status_meaning
from .x25 import (
    MODULO_8,
    MODULO_128,
    PACKETS,
    REJ,
    REJ128,
    RNR,
    RNR128,
    RR,
    RR128,
    X25,
    CallAccepted,
    CallConnected,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Data128,
    Diagnostic,
    IncomingCall,
    Interrupt,
    InterruptConfirmation,
    PvcSetup,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartConfirmation,
    RestartIndication,
    RestartRequest,
    Undefined,
    cut,
    packet_class,
)

__all__ = [
    "MODULO_8",
    "MODULO_128",
    "PACKETS",
    "REJ",
    "REJ128",
    "RNR",
    "RNR128",
    "RR",
    "RR128",
    "X25",
    "XOT",
    "XOT_PORT",
    "BilateralClosedUserGroup",
    "CallAccepted",
    "CallConnected",
    "CallDeflectionSelection",
    "CallDuration",
    "CallRedirectionNotification",
    "CallRequest",
    "CalledAddressExtension",
    "CalledLineAddressModified",
    "CallingAddressExtension",
    "ChargingInformationRequest",
    "ClearConfirmation",
    "ClearIndication",
    "ClearRequest",
    "ClosedUserGroup",
    "ClosedUserGroupExtended",
    "ClosedUserGroupOutgoingAccess",
    "ClosedUserGroupOutgoingAccessExtended",
    "Data",
    "Data128",
    "Diagnostic",
    "EndToEndTransitDelay",
    "ExpeditedDataNegotiation",
    "ExtendedThroughputClass",
    "Facility",
    "FacilityA",
    "FacilityB",
    "FacilityC",
    "FacilityD",
    "FacilityExtension",
    "FastSelectReverseCharging",
    "IncomingCall",
    "Interrupt",
    "InterruptConfirmation",
    "Marker",
    "MinimumThroughputClass",
    "MonetaryUnit",
    "NetworkUserIdentification",
    "PacketSize",
    "Priority",
    "Protection",
    "PvcSetup",
    "RegistrationConfirmation",
    "RegistrationRequest",
    "ResetConfirmation",
    "ResetIndication",
    "ResetRequest",
    "RestartConfirmation",
    "RestartIndication",
    "RestartRequest",
    "RoaSelection",
    "RoaSelectionExtended",
    "SegmentCount",
    "ThroughputClass",
    "TransitDelay",
    "Undefined",
    "WindowSize",
    "build_facilities",
    "cause_meaning",
    "cut",
    "decoded",
    "describe",
    "diagnostic_meaning",
    "packet_class",
    "parse_facilities",
    "printable",
    "pvc_status_meaning",
    "split_units",
    "summary_line",
    "unit_octets",
]

_OF_XOT = ("XOT", "XOT_PORT", "split_units", "unit_octets")


def __getattr__(name: str) -> Any:
    if name not in _OF_XOT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.xot"), name)


if "scapy.layers.inet" in sys.modules:
    import_module(f"{__name__}.xot")

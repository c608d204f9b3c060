# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information

# scapy.contrib.description = X.25 causes, diagnostics and protocol identifiers
# scapy.contrib.status = library

"""What coded octets of X.25 packets mean: causes, diagnostics, PVC status, protocol identifiers."""

from __future__ import annotations

DTE_ORIGINATED = "DTE originated"

# Causes of Clear (X.25 5.2.4), Reset (5.4.3), Restart (5.5.1) and Registration Confirmation (5.7.2)
# packets. Values 0x80 to 0xFF that are not listed mean "DTE originated".
CAUSES: dict[str, dict[int, str]] = {
    "clear": {
        0x00: DTE_ORIGINATED,
        0x01: "number busy",
        0x03: "invalid facility request",
        0x05: "network congestion",
        0x09: "out of order",
        0x0B: "access barred",
        0x0D: "not obtainable",
        0x11: "remote procedure error",
        0x13: "local procedure error",
        0x15: "ROA out of order",
        0x19: "reverse charging acceptance not subscribed",
        0x21: "incompatible destination",
        0x29: "fast select acceptance not subscribed",
        0x39: "ship absent",
        0xC1: "gateway procedure error",
        0xC3: "gateway congestion",
        0xC7: "gateway operational",
    },
    "reset": {
        0x00: DTE_ORIGINATED,
        0x01: "out of order",
        0x03: "remote procedure error",
        0x05: "local procedure error",
        0x07: "network congestion",
        0x09: "remote DTE operational",
        0x0F: "network operational",
        0x11: "incompatible destination",
        0x1D: "network out of order",
        0xC1: "gateway procedure error",
        0xC3: "gateway congestion",
        0xC7: "gateway operational",
    },
    "restart": {
        0x00: DTE_ORIGINATED,
        0x01: "local procedure error",
        0x03: "network congestion",
        0x07: "network operational",
        0x7F: "registration or cancellation confirmed",
        0xC1: "gateway procedure error",
        0xC3: "gateway congestion",
        0xC7: "gateway operational",
    },
    "registration": {
        0x03: "invalid facility request",
        0x05: "network congestion",
        0x13: "local procedure error",
        0x7F: "registration or cancellation confirmed",
    },
}
# Causes of a reset that only permanent virtual circuits have (X.25 table 5-6).
PERMANENT_ONLY = frozenset({0x01, 0x09, 0x0F, 0x1D})

# Diagnostics by who defines them: sent by a DCE (X.25 Annex E);
X25_DIAGNOSTICS: dict[int, str] = {
    0: "no additional information",
    1: "invalid P(S)",
    2: "invalid P(R)",
    16: "packet type invalid (generic)",
    17: "packet type invalid for state r1",
    18: "packet type invalid for state r2",
    19: "packet type invalid for state r3",
    20: "packet type invalid for state p1",
    21: "packet type invalid for state p2",
    22: "packet type invalid for state p3",
    23: "packet type invalid for state p4",
    24: "packet type invalid for state p5",
    25: "packet type invalid for state p6",
    26: "packet type invalid for state p7",
    27: "packet type invalid for state d1",
    28: "packet type invalid for state d2",
    29: "packet type invalid for state d3",
    32: "packet not allowed (generic)",
    33: "unidentifiable packet",
    34: "call on one-way logical channel",
    35: "invalid packet type on a permanent virtual circuit",
    36: "packet on unassigned logical channel",
    37: "reject not subscribed to",
    38: "packet too short",
    39: "packet too long",
    40: "invalid general format identifier",
    41: "Restart or Registration packet with non-zero LCI",
    42: "packet type not compatible with facility",
    43: "unauthorised interrupt confirmation",
    44: "unauthorised interrupt",
    45: "unauthorised reject",
    46: "TOA/NPI address facility not subscribed",
    48: "time expired (generic)",
    49: "time expired for incoming call",
    50: "time expired for clear indication",
    51: "time expired for reset indication",
    52: "time expired for restart indication",
    53: "time expired for call deflection",
    64: "call set-up, clearing or registration problem (generic)",
    65: "facility/registration code not allowed",
    66: "facility parameter not allowed",
    67: "invalid called DTE address",
    68: "invalid calling DTE address",
    69: "invalid facility/registration length",
    70: "incoming call barred",
    71: "no logical channel available",
    72: "call collision",
    73: "duplicate facility requested",
    74: "non zero address length",
    75: "non zero facility length",
    76: "facility not provided when expected",
    77: "invalid ITU-T specified DTE facility",
    78: "maximum number of redirections or deflections exceeded",
    80: "miscellaneous (generic)",
    81: "improper cause code from DTE",
    82: "not octet aligned",
    83: "inconsistent Q bit setting",
    84: "NUI problem",
    85: "ICRD problem",
    112: "international problem (generic)",
    113: "remote network problem",
    114: "international protocol problem",
    115: "international link out of order",
    116: "international link busy",
    117: "transit network facility problem",
    118: "remote network facility problem",
    119: "international routing problem",
    120: "temporary routing problem",
    121: "unknown called DNIC",
    122: "maintenance action",
}
# sent by a DTE with cause 0x00 (ISO/IEC 8208);
DTE_DIAGNOSTICS: dict[int, str] = {
    144: "timer expired or retransmission count surpassed (generic)",
    145: "timer expired or retransmission count surpassed for INTERRUPT",
    146: "timer expired or retransmission count surpassed for DATA packet transmission",
    147: "timer expired or retransmission count surpassed for REJECT",
    160: "DTE-specific signals (generic)",
    161: "DTE operational",
    162: "DTE not operational",
    163: "DTE resource constraint",
    164: "fast select not subscribed",
    165: "invalid partially full DATA packet",
    166: "D-bit procedure not supported",
    167: "registration or cancellation confirmed",
}
# sent by a DTE for the OSI network service (ISO/IEC 8878).
OSI_DIAGNOSTICS: dict[int, str] = {
    224: "OSI network service problem (generic)",
    225: "disconnection (transient condition)",
    226: "disconnection (permanent condition)",
    227: "connection rejection - reason unspecified (transient condition)",
    228: "connection rejection - reason unspecified (permanent condition)",
    229: "connection rejection - quality of service not available (transient condition)",
    230: "connection rejection - quality of service not available (permanent condition)",
    231: "connection rejection - NSAP unreachable (transient condition)",
    232: "connection rejection - NSAP unreachable (permanent condition)",
    233: "reset - reason unspecified",
    234: "reset - congestion",
    235: "connection rejection - NSAP address unknown (permanent condition)",
    240: "higher layer initiated (generic)",
    241: "disconnection - normal",
    242: "disconnection - abnormal",
    243: "disconnection - incompatible information in user data",
    244: "connection rejection - reason unspecified (transient condition)",
    245: "connection rejection - reason unspecified (permanent condition)",
    246: "connection rejection - quality of service not available (transient condition)",
    247: "connection rejection - quality of service not available (permanent condition)",
    248: "connection rejection - incompatible information in user data",
    249: "connection rejection - unrecognizable protocol identifier in user data",
    250: "reset - user resynchronization",
}
DIAGNOSTICS: dict[int, str] = {**X25_DIAGNOSTICS, **DTE_DIAGNOSTICS, **OSI_DIAGNOSTICS}

# Status of an XOT PVC setup packet (RFC 1613 6.5).
PVC_STATUSES: dict[int, str] = {
    0x00: "waiting to connect",
    0x08: "destination disconnected",
    0x09: "connection refused",
    0x0A: "routing error",
    0x0B: "connect timed out",
    0x10: "trying to connect",
    0x11: "awaiting setup reply",
    0x12: "connected",
    0x13: "no such destination interface",
    0x14: "destination interface is not up",
    0x15: "non-X.25 destination interface",
    0x16: "no such destination PVC",
    0x17: "destination PVC configuration mismatch",
    0x18: "mismatched flow control values",
    0x19: "cannot support flow control values",
    0x1A: "setup protocol error",
}

# First octet of call user data: which protocol the circuit carries (X.263, RFC 1356 3.2).
PROTOCOLS: dict[int, str] = {
    0x00: "null encapsulation",
    0x01: "X.29 (PAD)",
    0x80: "SNAP",
    0x81: "CLNP",
    0x82: "ES-IS",
    0x83: "IS-IS",
    0x8E: "IPv6",
    0xC5: "Blacker",
    0xCC: "IP",
    0xCF: "PPP",
}


def cause_meaning(packet: str, value: int) -> str:
    """Text of a cause octet; empty if the value is not defined.

    packet: "clear", "reset", "restart" or "registration". 0x80 to 0xFF stand for "DTE originated"
    unless listed, except in registration packets.
    """
    of_a_dte = 0x80 <= value <= 0xFF and packet != "registration"
    return CAUSES[packet].get(value, DTE_ORIGINATED if of_a_dte else "")


def diagnostic_meaning(value: int) -> str:
    """Text of a diagnostic octet; empty if the value is not defined."""
    return DIAGNOSTICS.get(value, "")


def pvc_status_meaning(value: int) -> str:
    """Text of a PVC setup status octet; empty if the value is not defined."""
    return PVC_STATUSES.get(value, "")


def protocol_meaning(value: int) -> str:
    """Text of a protocol identifier octet; empty if the value is not defined."""
    return PROTOCOLS.get(value, "")

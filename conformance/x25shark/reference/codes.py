# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet types, causes and diagnostics that the reference router uses.

X.25 5.1 (packet type identifier), 5.2.4 and 5.4.3 (causes), Annex E (diagnostics).
"""

from typing import Final


class Type:
    """Packet type identifier, octet 3 (X.25 Table 5-2); numbered packets without their numbers."""

    DATA: Final = 0x00
    RR: Final = 0x01
    RNR: Final = 0x05
    REJ: Final = 0x09
    CALL: Final = 0x0B
    ACCEPT: Final = 0x0F
    CLEAR: Final = 0x13
    CLEAR_CONFIRMATION: Final = 0x17
    RESET: Final = 0x1B
    RESET_CONFIRMATION: Final = 0x1F
    INTERRUPT: Final = 0x23
    INTERRUPT_CONFIRMATION: Final = 0x27
    DIAGNOSTIC: Final = 0xF1
    REGISTRATION: Final = 0xF3
    PVC_SETUP: Final = 0xF5
    REGISTRATION_CONFIRMATION: Final = 0xF7
    RESTART: Final = 0xFB
    RESTART_CONFIRMATION: Final = 0xFF


#: Packets of local significance: never sent over XOT, discarded on receipt (RFC 1613 6.4).
LOCAL_TYPES: Final = frozenset(
    {
        Type.REJ,
        Type.DIAGNOSTIC,
        Type.REGISTRATION,
        Type.REGISTRATION_CONFIRMATION,
        Type.RESTART,
        Type.RESTART_CONFIRMATION,
    }
)

#: Packets that bit 1 of octet 3 does not tell from others and that have a fixed type octet.
DEFINED_TYPES: Final = frozenset(
    {
        Type.CALL,
        Type.ACCEPT,
        Type.CLEAR,
        Type.CLEAR_CONFIRMATION,
        Type.RESET,
        Type.RESET_CONFIRMATION,
        Type.INTERRUPT,
        Type.INTERRUPT_CONFIRMATION,
        Type.PVC_SETUP,
    }
)


class ClearCause:
    """Clearing cause (X.25 5.2.4)."""

    DTE_ORIGINATED: Final = 0x00
    NUMBER_BUSY: Final = 0x01
    INVALID_FACILITY: Final = 0x03
    NETWORK_CONGESTION: Final = 0x05
    OUT_OF_ORDER: Final = 0x09
    ACCESS_BARRED: Final = 0x0B
    NOT_OBTAINABLE: Final = 0x0D
    REMOTE_PROCEDURE_ERROR: Final = 0x11
    LOCAL_PROCEDURE_ERROR: Final = 0x13
    REVERSE_CHARGING_REFUSED: Final = 0x19
    FAST_SELECT_REFUSED: Final = 0x29


class ResetCause:
    """Resetting cause (X.25 5.4.3)."""

    DTE_ORIGINATED: Final = 0x00
    OUT_OF_ORDER: Final = 0x01
    REMOTE_PROCEDURE_ERROR: Final = 0x03
    LOCAL_PROCEDURE_ERROR: Final = 0x05
    NETWORK_CONGESTION: Final = 0x07
    REMOTE_DTE_OPERATIONAL: Final = 0x09
    NETWORK_OPERATIONAL: Final = 0x0F
    NETWORK_OUT_OF_ORDER: Final = 0x1D


class RestartCause:
    """Restarting cause (X.25 5.5.1)."""

    DTE_RESTARTING: Final = 0x00
    LOCAL_PROCEDURE_ERROR: Final = 0x01
    NETWORK_CONGESTION: Final = 0x03
    NETWORK_OPERATIONAL: Final = 0x07


class Diag:
    """Diagnostic codes (X.25 Annex E)."""

    NONE: Final = 0
    INVALID_P_S: Final = 1
    INVALID_P_R: Final = 2
    STATE_R1: Final = 17
    STATE_P1: Final = 20
    STATE_P2: Final = 21
    STATE_P3: Final = 22
    STATE_P4: Final = 23
    STATE_P6: Final = 25
    STATE_P7: Final = 26
    STATE_D1: Final = 27
    STATE_D2: Final = 28
    STATE_D3: Final = 29
    UNIDENTIFIABLE: Final = 33
    INVALID_ON_PVC: Final = 35
    UNASSIGNED_CHANNEL: Final = 36
    REJ_NOT_SUBSCRIBED: Final = 37
    TOO_SHORT: Final = 38
    TOO_LONG: Final = 39
    INVALID_GFI: Final = 40
    NONZERO_CHANNEL: Final = 41
    INCOMPATIBLE_WITH_FACILITY: Final = 42
    INTERRUPT_CONFIRMATION_NOT_DUE: Final = 43
    INTERRUPT_NOT_DUE: Final = 44
    TOA_NPI_NOT_SUBSCRIBED: Final = 46
    TIME_INCOMING_CALL: Final = 49
    TIME_CLEAR: Final = 50
    TIME_RESET: Final = 51
    TIME_RESTART: Final = 52
    FACILITY_CODE: Final = 65
    FACILITY_PARAMETER: Final = 66
    CALLED_ADDRESS: Final = 67
    CALLING_ADDRESS: Final = 68
    FACILITY_LENGTH: Final = 69
    INCOMING_BARRED: Final = 70
    NO_LOGICAL_CHANNEL: Final = 71
    CALL_COLLISION: Final = 72
    FACILITY_DUPLICATE: Final = 73
    IMPROPER_CAUSE: Final = 81
    INCONSISTENT_Q: Final = 83
    TEMPORARY_ROUTING: Final = 120
    PARTIALLY_FULL: Final = 165
    D_BIT_NOT_SUPPORTED: Final = 166
    #: ISO/IEC 8208: a protocol identifier that is not supported (RFC 1356 3.14).
    PROTOCOL_NOT_SUPPORTED: Final = 249


class PacketError(Exception):
    """A packet that breaks a rule; carries the diagnostic that Annex C asks for.

    cause replaces the cause of the state table where another one is more exact, for instance
    'invalid facility request' (0x03).
    """

    def __init__(self, diagnostic: int, cause: int | None = None) -> None:
        super().__init__(f"diagnostic {diagnostic}")
        self.diagnostic = diagnostic
        self.cause = cause

# SPDX-License-Identifier: GPL-2.0-or-later
"""State tables of the packet layer on an XOT connection (X.25 Annex C as RFC 1613 changes it).

A cell says what to do with a packet that arrives in a state: NORMAL (process it), DISCARD, or the
diagnostic of the procedure error. In Table C-3 an error clears the call, in Table C-4 it resets.
RFC 1613 6.1: before a call, undefined packets and spare Clear Confirmations are discarded.
"""

from enum import Enum, auto
from typing import Final

from .codes import Diag, Type


class P(Enum):
    """Call set-up and clearing (X.25 Figure B-2); no p5, as one side opened the connection."""

    READY = "p1"
    CALL_RECEIVED = "p2"
    CALL_SENT = "p3"
    DATA_TRANSFER = "p4"
    CLEAR_RECEIVED = "p6"
    CLEAR_SENT = "p7"


class D(Enum):
    """Reset (X.25 Figure B-3)."""

    FLOW_CONTROL_READY = "d1"
    RESET_RECEIVED = "d2"
    RESET_SENT = "d3"


class Do(Enum):
    """What to do with a packet, besides the diagnostic of an error."""

    NORMAL = auto()
    DISCARD = auto()
    #: Data transfer: the cell of Table C-4 decides.
    SEE_C4 = auto()


UNDEFINED: Final = -1
NORMAL, DISCARD, C4 = Do.NORMAL, Do.DISCARD, Do.SEE_C4
Cell = Do | int

_P = (P.READY, P.CALL_RECEIVED, P.CALL_SENT, P.DATA_TRANSFER, P.CLEAR_RECEIVED, P.CLEAR_SENT)
_D = (D.FLOW_CONTROL_READY, D.RESET_RECEIVED, D.RESET_SENT)

_IN_CALL: tuple[Cell, ...] = (
    Diag.STATE_P1,
    Diag.STATE_P2,
    Diag.STATE_P3,
    C4,
    Diag.STATE_P6,
    DISCARD,
)
_NOT_DEFINED: tuple[Cell, ...] = (
    DISCARD,
    Diag.UNIDENTIFIABLE,
    Diag.UNIDENTIFIABLE,
    C4,
    DISCARD,
    DISCARD,
)
_ERROR = (Diag.STATE_P1, Diag.STATE_P2, Diag.STATE_P3, Diag.STATE_P4, Diag.STATE_P6, DISCARD)

_C3_ROWS: dict[int, tuple[Cell, ...]] = {
    Type.CALL: (NORMAL, *_ERROR[1:]),
    Type.ACCEPT: (*_ERROR[:2], NORMAL, *_ERROR[3:]),
    Type.CLEAR: (NORMAL, NORMAL, NORMAL, NORMAL, DISCARD, NORMAL),
    Type.CLEAR_CONFIRMATION: (DISCARD, *_ERROR[1:5], NORMAL),
    Type.DATA: _IN_CALL,
    Type.RR: _IN_CALL,
    Type.RNR: _IN_CALL,
    Type.INTERRUPT: _IN_CALL,
    Type.INTERRUPT_CONFIRMATION: _IN_CALL,
    Type.RESET: _IN_CALL,
    Type.RESET_CONFIRMATION: _IN_CALL,
    Type.PVC_SETUP: _NOT_DEFINED,
    UNDEFINED: _NOT_DEFINED,
}

_NUMBERED: tuple[Cell, ...] = (NORMAL, Diag.STATE_D2, DISCARD)
_UNKNOWN: tuple[Cell, ...] = (Diag.UNIDENTIFIABLE, Diag.UNIDENTIFIABLE, DISCARD)
_NOT_ON_PVC: tuple[Cell, ...] = (Diag.INVALID_ON_PVC, Diag.INVALID_ON_PVC, DISCARD)

_C4_ROWS: dict[int, tuple[Cell, ...]] = {
    Type.RESET: (NORMAL, DISCARD, NORMAL),
    Type.RESET_CONFIRMATION: (Diag.STATE_D1, Diag.STATE_D2, NORMAL),
    Type.DATA: _NUMBERED,
    Type.RR: _NUMBERED,
    Type.RNR: _NUMBERED,
    Type.INTERRUPT: _NUMBERED,
    Type.INTERRUPT_CONFIRMATION: _NUMBERED,
    Type.PVC_SETUP: _UNKNOWN,
    UNDEFINED: _UNKNOWN,
    # Only a permanent circuit gets here with these (X.25 Table C-4, RFC 1613 6.5).
    Type.CALL: _NOT_ON_PVC,
    Type.ACCEPT: _NOT_ON_PVC,
    Type.CLEAR: _NOT_ON_PVC,
    Type.CLEAR_CONFIRMATION: _NOT_ON_PVC,
}

# What differs on a LAPB interface, where RFC 1613 changes nothing.
#: A packet that ends before its type octet.
SHORT: Final = -2
#: A packet for logical channel 0 that came on another one.
RESTART_ON_CHANNEL: Final = -3
_FAULTY_CELL: dict[int, int] = {
    UNDEFINED: Diag.UNIDENTIFIABLE,
    SHORT: Diag.TOO_SHORT,
    RESTART_ON_CHANNEL: Diag.NONZERO_CHANNEL,
}
_LAPB_C3_ROWS: dict[int, tuple[Cell, ...]] = {
    **_C3_ROWS,
    # In p3 a call collision (X.25 4.1.6).
    Type.CALL: (NORMAL, Diag.STATE_P2, NORMAL, *_ERROR[3:]),
    Type.CLEAR_CONFIRMATION: (*_ERROR[:5], NORMAL),
    Type.REJ: _IN_CALL,
    **{row: (diag, diag, diag, C4, diag, DISCARD) for row, diag in _FAULTY_CELL.items()},
}
_LAPB_C4_ROWS: dict[int, tuple[Cell, ...]] = {
    **_C4_ROWS,
    Type.REJ: (Diag.REJ_NOT_SUBSCRIBED, Diag.REJ_NOT_SUBSCRIBED, DISCARD),
    **{row: (diag, diag, DISCARD) for row, diag in _FAULTY_CELL.items()},
}

#: Table C-3: packet type -> state -> cell.
CALL_SETUP: Final[dict[int, dict[P, Cell]]] = {
    packet: dict(zip(_P, cells, strict=True)) for packet, cells in _C3_ROWS.items()
}
#: Table C-4: packet type -> state -> cell.
RESET: Final[dict[int, dict[D, Cell]]] = {
    packet: dict(zip(_D, cells, strict=True)) for packet, cells in _C4_ROWS.items()
}
#: The same two for a LAPB interface.
LAPB_CALL_SETUP: Final[dict[int, dict[P, Cell]]] = {
    packet: dict(zip(_P, cells, strict=True)) for packet, cells in _LAPB_C3_ROWS.items()
}
LAPB_RESET: Final[dict[int, dict[D, Cell]]] = {
    packet: dict(zip(_D, cells, strict=True)) for packet, cells in _LAPB_C4_ROWS.items()
}


class R(Enum):
    """Restart (X.25 Figure B-1); r2 ends as soon as the restart of the peer is confirmed."""

    DOWN = "no link"
    READY = "r1"
    RESTART_SENT = "r3"

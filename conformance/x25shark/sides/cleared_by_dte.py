# SPDX-License-Identifier: GPL-2.0-or-later
"""A DTE that clears a call behind a reset, or in place of one.

A DTE may clear at any time (X.25 4.1.7), and some do so when a call is reset: a transport protocol
above them ends with its network connection (class 0 of X.224 6.6). What a case has still to ask of
that call cannot be judged then, but no clause was broken.
"""

from __future__ import annotations

from scapy_x25 import ClearConfirmation, ResetIndication

from ..judges.expectation import Expectation
from .numbering import CLEAR, RESET, kind_of
from .outcomes import Inconclusive
from .side import Side

_FIRST_OF_A_DTE = 0x80


def look(side: Side, expectation: Expectation) -> None:
    """An expectation of a side that faces a DTE is not met: because the DTE has cleared so?

    Raises Inconclusive.
    """
    packets = [unit.packet for unit in side.arrivals.units]
    if not packets or kind_of(packets[-1], side.modulus) != CLEAR or side.connection.closed:
        return
    cause = packets[-1][3:4]
    if not cause or 0 < cause[0] < _FIRST_OF_A_DTE:
        return
    sent = [unit.packet for unit in side.connection.sent]
    reset = any(kind_of(packet, side.modulus) == RESET for packet in (*packets, *sent))
    if not reset and not any(isinstance(t, ResetIndication) for t in expectation.templates()):
        return
    stated = side.context.expectations
    stated[:] = [one for one in stated if one is not expectation]
    side.send(ClearConfirmation())
    raise Inconclusive("the DTE has cleared the call behind a reset or in place of it, as it may")

# SPDX-License-Identifier: GPL-2.0-or-later
"""A DTE that clears a call of its own accord, behind a reset or in place of one.

A DTE may clear at any time (X.25 4.1.7), and some do so when a call is reset: a transport protocol
above them ends with its network connection (class 0 of X.224 6.6). What a case has still to ask of
that call cannot be judged then, but no clause was broken. A Clear with a diagnostic is for an
error, and where one is due it has to be the right one.
"""

from __future__ import annotations

from scapy_x25 import ClearConfirmation, ClearRequest, ResetIndication

from ..judges.expectation import Expectation
from .causes import OF_A_DTE
from .numbering import CLEAR, RESET, kind_of
from .outcomes import Inconclusive
from .side import Side

# Where a Clear has its cause: behind GFI, logical channel and type.
_CAUSE = 3

OF_ITS_OWN_ACCORD = "the DTE has cleared the call of its own accord, as it may at any time"


def look(side: Side, expectation: Expectation) -> None:
    """An expectation of a side that faces a DTE is not met: because the DTE has cleared so?

    Raises Inconclusive.
    """
    clear = _clear_of(side)
    if clear is None:
        return
    packets = [*side.arrivals.units, *side.connection.sent]
    reset = any(kind_of(unit.packet, side.modulus) == RESET for unit in packets)
    wanted = expectation.templates()
    if reset or any(isinstance(template, ResetIndication) for template in wanted):
        why = "the DTE has cleared the call behind a reset or in place of it, as it may"
    elif _names_no_error(clear) and not any(isinstance(t, ClearRequest) for t in wanted):
        why = OF_ITS_OWN_ACCORD
    else:
        return
    stated = side.context.expectations
    stated[:] = [one for one in stated if one is not expectation]
    side.send(ClearConfirmation())
    raise Inconclusive(why)


def look_at_the_end(side: Side) -> None:
    """A case has asked all that it had to ask, and has not looked at the Clear with which the DTE
    ended the call. Raises Inconclusive.
    """
    clear = _clear_of(side)
    if clear is None or not _names_no_error(clear):
        return
    if side.arrivals.units[-1].offset >= side.cursor:
        side.allow(ClearRequest())
        raise Inconclusive(OF_ITS_OWN_ACCORD)


def _clear_of(side: Side) -> bytes | None:
    """The Clear with a cause of a DTE that came last; None: something else came last."""
    packets = [unit.packet for unit in side.arrivals.units]
    if not packets or kind_of(packets[-1], side.modulus) != CLEAR or side.connection.closed:
        return None
    last = packets[-1]
    return last if len(last) > _CAUSE and last[_CAUSE] in OF_A_DTE else None


def _names_no_error(clear: bytes) -> bool:
    """Whether its diagnostic is absent, or 0."""
    return not any(clear[_CAUSE + 1 : _CAUSE + 2])

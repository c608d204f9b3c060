# SPDX-License-Identifier: GPL-2.0-or-later
"""A DTE that clears or resets a call of its own accord.

A DTE may clear at any time (X.25 4.1.7), and some do so when a call is reset: a transport protocol
above them ends with its network connection (class 0 of X.224 6.6). It may reset at any time as well
(X.25 4.4.3). What a case has still to ask of that call cannot be judged then, but no clause was
broken. A Clear or Reset with a diagnostic is for an error, and where one is due it has to be the
right one.
"""

from __future__ import annotations

from scapy_x25 import ClearConfirmation, ClearRequest, ResetConfirmation, ResetIndication
from scapy_x25.x25 import CLEAR_REQUEST, RESET_REQUEST

from ..judges.expectation import Expectation
from ..judges.values import OF_A_DTE
from .numbering import kind_of
from .outcomes import Inconclusive
from .side import Side

# Where a Clear or Reset has its cause: behind GFI, logical channel and type.
_CAUSE = 3
_OF_ITS_OWN_ACCORD = "the DTE has {} the call of its own accord, as it may at any time"
CLEARED, RESET = map(_OF_ITS_OWN_ACCORD.format, ("cleared", "reset"))


def look(side: Side, expectation: Expectation) -> None:
    """An expectation of a side that faces a DTE is not met: because the DTE has cleared or reset?

    Raises Inconclusive.
    """
    wanted = expectation.templates()
    ends = any(isinstance(template, (ClearRequest, ResetIndication)) for template in wanted)
    if not ends and _names_no_error(_last(side, RESET_REQUEST)):
        _no_matter(side, expectation)
        side.send(ResetConfirmation())
        raise Inconclusive(RESET)
    clear = _last(side, CLEAR_REQUEST)
    if clear is None:
        return
    packets = [*side.arrivals.units, *side.connection.sent]
    reset = any(kind_of(unit.packet, side.modulus) == RESET_REQUEST for unit in packets)
    if reset or any(isinstance(template, ResetIndication) for template in wanted):
        why = "the DTE has cleared the call behind a reset or in place of it, as it may"
    elif _names_no_error(clear) and not any(isinstance(t, ClearRequest) for t in wanted):
        why = CLEARED
    else:
        return
    _no_matter(side, expectation)
    side.send(ClearConfirmation())
    raise Inconclusive(why)


def _no_matter(side: Side, expectation: Expectation) -> None:
    """What was expected is not held against the router."""
    stated = side.context.expectations
    stated[:] = [one for one in stated if one is not expectation]


def look_at_the_end(side: Side) -> None:
    """A case has asked all that it had to ask, and has not looked at the Clear or Reset with which
    the DTE ended it. Raises Inconclusive.
    """
    if not side.arrivals.unread:
        return
    for kind, allowed, why in (
        (CLEAR_REQUEST, ClearRequest(), CLEARED),
        (RESET_REQUEST, ResetIndication(), RESET),
    ):
        if _names_no_error(_last(side, kind)):
            side.allow(allowed)
            raise Inconclusive(why)


def _last(side: Side, kind: int) -> bytes | None:
    """The packet of this type with a cause of a DTE that came last; None: something else did."""
    packets = [unit.packet for unit in side.arrivals.units]
    if not packets or kind_of(packets[-1], side.modulus) != kind or side.connection.closed:
        return None
    last = packets[-1]
    return last if len(last) > _CAUSE and last[_CAUSE] in OF_A_DTE.values else None


def _names_no_error(packet: bytes | None) -> bool:
    """Whether there is one, and its diagnostic is absent, or 0."""
    return packet is not None and not any(packet[_CAUSE + 1 : _CAUSE + 2])

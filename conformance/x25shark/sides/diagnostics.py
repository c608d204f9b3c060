# SPDX-License-Identifier: GPL-2.0-or-later
"""Diagnostics that are right on one link and not on another.

Cases name them as a DCE sends them (X.25 Annex C, Annex E). Where the router is not a DCE, or no
end is one (RFC 1613 5: on XOT), it sees the mirrored state, and what it sends is as right as a
request, whose diagnostic is not mandatory (X.25 5.2.4.1, 5.4.3.1, 5.5.1): none then stands for 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..judges.values import Matcher, OneOf, either, one_of

# r2 and r3, p2 and p3, p6 and p7, d2 and d3.
_MIRRORED = {18: 19, 19: 18, 21: 22, 22: 21, 25: 26, 26: 25, 28: 29, 29: 28}


@dataclass(frozen=True)
class Diagnostics(OneOf):
    """The diagnostics of a DCE for an error; codes: those without what the level adds."""

    codes: tuple[int, ...] = ()

    def __str__(self) -> str:
        """The right ones first: the others only pass at the level of the profile."""
        more = tuple(value for value in self.values if value not in self.codes)
        passing = f" ({OneOf(more)} pass too)" if more else ""
        return f"{OneOf(self.codes)}{passing}"


def as_no_dce(wanted: Any) -> Any:
    """The diagnostics that stand for these where the router is not the DCE."""
    if isinstance(wanted, Diagnostics):
        mirrored = tuple(_MIRRORED[c] for c in wanted.codes if c in _MIRRORED)
        absent = (None,) if 0 in wanted.values else ()
        return Diagnostics(
            tuple(dict.fromkeys((*wanted.values, *mirrored, *absent))),
            tuple(dict.fromkeys((*wanted.codes, *mirrored))),
        )
    if isinstance(wanted, OneOf):
        return one_of(*wanted.values, None) if 0 in wanted.values else wanted
    if isinstance(wanted, Matcher):
        with_0 = wanted.matches(0) and not wanted.matches(None)
        return either(wanted, OneOf((None,))) if with_0 else wanted
    return one_of(0, None) if wanted == 0 else wanted

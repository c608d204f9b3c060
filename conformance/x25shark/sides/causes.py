# SPDX-License-Identifier: GPL-2.0-or-later
"""Causes that are right of a DTE and not of a network.

What a DTE clears or resets of its own accord has cause 0x00, or one from 0x80 to 0xFF (X.25
5.2.4.1.1, 5.4.3.1). A profile says with R-DTE that the router is one; of a router with lines that
is so on those alone where its role is dte.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..judges.values import OF_A_DTE, Either, OneOf, either


@dataclass(frozen=True)
class Causes(OneOf):
    """Causes of a router that may be a DTE; of_a_network: those that are right where it is not."""

    of_a_network: OneOf = field(kw_only=True)

    def __str__(self) -> str:
        """Those of a network first."""
        others = tuple(value for value in self.values if value not in self.of_a_network.values)
        return f"{self.of_a_network}|{OneOf(others)}"


def with_those_of_a_dte(of_a_network: OneOf, *others: int) -> Causes:
    """The same and a DTE's; others: what passes besides where the router is one."""
    return Causes(
        tuple(dict.fromkeys((*of_a_network.values, *others, *OF_A_DTE.values))),
        of_a_network=of_a_network,
    )


def as_no_dte(wanted: Any) -> Any:
    """The causes that are right where the router is not a DTE."""
    if isinstance(wanted, Causes):
        return wanted.of_a_network
    if isinstance(wanted, Either):
        return either(*map(as_no_dte, wanted.matchers))
    return wanted

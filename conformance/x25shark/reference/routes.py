# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a called address leads, and what a route does to the addresses of a Call."""

from collections.abc import Sequence
from dataclasses import dataclass

from .addresses import LONGEST_PLAIN, Addresses

#: Destinations inside the router.
INTERNAL = ("echo", "sink", "source", "ip")


@dataclass(frozen=True)
class Destination:
    """An XOT peer; or a built-in terminal or a serial interface, which have no host."""

    name: str
    host: str = ""
    port: int = 0
    serial: str = ""


@dataclass(frozen=True)
class Route:
    """One [[route]] of the configuration; its meaning is explained in config.py."""

    prefix: str
    to: Destination
    alternates: tuple[Destination, ...] = ()
    model: str = "end-to-end"
    barred: bool = False
    fast_select_acceptance: bool = True
    reverse_charging_acceptance: bool = True
    strip: int = 0
    add: str = ""
    insert_calling: str = ""
    independent: bool = False
    packet_size: int = 0
    window: int = 0
    modulo8_only: bool = False

    @property
    def rewrites(self) -> bool:
        return bool(self.strip or self.add or self.insert_calling)


def matches(route: Route, digits: str) -> bool:
    """True if the address starts with all digits of the prefix."""
    return digits.startswith(route.prefix)


def find(routes: Sequence[Route], digits: str, rule: str) -> Route | None:
    """The route for a called address: longest prefix, or first match in table order."""
    candidates = [route for route in routes if matches(route, digits)]
    if not candidates:
        return None
    return select(candidates, rule)


def select(candidates: Sequence[Route], rule: str) -> Route:
    """Among routes that match; of equal prefixes the first one counts."""
    if rule == "first":
        return candidates[0]
    return max(candidates, key=lambda route: len(route.prefix))


def rewrite(route: Route, parties: Addresses) -> Addresses:
    """Addresses as the route changes them: digits stripped and added, calling address inserted."""
    plan = parties.called[:2] if parties.a_bit else ""
    called = plan + route.add + parties.called_digits[route.strip :]
    calling = parties.calling
    if not parties.calling_digits and route.insert_calling:
        calling = (parties.called[:2] if parties.a_bit else "") + route.insert_calling
    return Addresses(called, calling, parties.a_bit)


def too_long(parties: Addresses) -> bool:
    """Rewriting made an address that the length field cannot hold."""
    return max(len(parties.called_digits), len(parties.calling_digits)) > LONGEST_PLAIN

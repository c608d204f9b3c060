# SPDX-License-Identifier: GPL-2.0-or-later
"""The called address with which a Call arrives.

An address is any identification that a DTE and its network have agreed on (X.25 5.2.1), and the two
ends need not have agreed on the same: many routers rewrite the called address on its way, or leave
it out. The profile says it (addresses.b_arrives, a_arrives, rewrite_longer, rewrite_shorter). Where
it does not, another called address than the caller's is no fault, and no proof that the router
is right either.
"""

from __future__ import annotations

from collections.abc import Sequence

from scapy.packet import Packet

from ..profile import Addresses


def arriving(addresses: Addresses, called: str) -> str | None:
    """What the profile says of the called address of such a Call; None: nothing."""
    said = {addresses.b: addresses.b_arrives, addresses.a: addresses.a_arrives}
    for route in (addresses.rewrite_longer, addresses.rewrite_shorter):
        if route is not None:
            said[route["called"]] = route["arrives"]
    if called in said:
        return said[called]
    # A router that leaves the address of B as it is leaves others as they are.
    return called if addresses.b is not None and addresses.b_arrives == addresses.b else None


def with_called(template: Packet, called: str | None) -> Packet:
    """A template for such a Call with that called address; None: with any, or with none."""
    changed = template.copy()
    for name in ("called_address", "called_address_length"):
        changed.fields.pop(name, None)
    if called is not None:
        changed.fields["called_address_length"] = len(called)
        if called:
            changed.fields["called_address"] = called
    return changed


def as_they_arrive(addresses: Addresses, templates: Sequence[Packet]) -> list[Packet]:
    """These templates with the called addresses that the profile says."""
    found = []
    for template in templates:
        called = template.fields.get("called_address")
        said = arriving(addresses, called) if isinstance(called, str) else None
        found.append(template if said in (None, called) else with_called(template, said))
    return found


def whatever_arrives(addresses: Addresses, templates: Sequence[Packet]) -> list[Packet]:
    """Those of them of whose called address the profile says nothing, with any."""
    unsaid = []
    for template in templates:
        called = template.fields.get("called_address")
        if isinstance(called, str) and arriving(addresses, called) is None:
            unsaid.append(with_called(template, None))
    return unsaid

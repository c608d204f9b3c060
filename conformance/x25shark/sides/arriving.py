# SPDX-License-Identifier: GPL-2.0-or-later
"""The addresses with which a Call arrives.

An address is any identification that a DTE and its network have agreed on (X.25 5.2.1), and the two
ends need not have agreed on the same: many routers rewrite the called address on its way, or leave
it out. The profile says it (addresses.b_arrives, a_arrives, rewrite_longer, rewrite_shorter). Where
it does not, another called address than the caller's is neither a fault nor a proof that the router
is right either.

So it is with the calling address, that a network may write in another form of the same number: with
a prefix, or without one (X.121; a_calls_as, b_calls_as).
"""

from __future__ import annotations

from collections.abc import Sequence

from scapy.packet import Packet

from ..profile import Addresses

# Digits of an address without type and plan (X.25 5.2.1.1).
LONGEST = 15


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


def says_callers(addresses: Addresses, name: str) -> bool:
    """Whether the profile says how the number of the side beyond arrives at that side."""
    return (addresses.a_calls_as if name == "B" else addresses.b_calls_as) is not None


def as_its_caller_arrives(addresses: Addresses, name: str, calling: str) -> str | None:
    """The calling address with which such a Call arrives at that side; None: not known.

    What the profile says of the other side's own number it says of all that the side may name.
    """
    own, said = (
        (addresses.a, addresses.a_calls_as) if name == "B" else (addresses.b, addresses.b_calls_as)
    )
    if own is None or said is None or calling == own:
        return calling if said is None else said
    if said.endswith(own):
        longer = said.removesuffix(own) + calling
        return longer if len(longer) <= LONGEST else None
    prefix = own.removesuffix(said)
    return calling.removeprefix(prefix) if own.endswith(said) else None


def is_another_form(calling: str, came: str) -> bool:
    """Whether these two are one number, with a prefix and without."""
    return (
        calling != came
        and bool(calling and came)
        and (calling.endswith(came) or came.endswith(calling))
    )


def with_calling(template: Packet, calling: str | None) -> Packet:
    """A template for such a Call with that calling address; None: with any, or with none."""
    changed = template.copy()
    for name in ("calling_address", "calling_address_length"):
        changed.fields.pop(name, None)
    if calling is not None:
        changed.fields["calling_address_length"] = len(calling)
        if calling:
            changed.fields["calling_address"] = calling
    return changed

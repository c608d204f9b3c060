# SPDX-License-Identifier: GPL-2.0-or-later
"""The test purposes and tables, as data.

data        the TOML files beside this one
states      the state tables, and the purposes made of their cells
permission  what the standards leave to a router
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache

from . import data

# How a router can be tested, in words.
CONFIGURATIONS = {
    "T1": "both sides over XOT",
    "T2": "side A over XOT, the router answers the calls",
    "T3": "a link of LAPB over Ethernet",
    "T4": "a serial line",
    "T5": "side A over XOT, the router is an IP host at the other end of its circuits",
    "T6": "side A over XOT, the router calls it",
    "TX": "one side over XOT, one on a serial line",
}


@dataclass(frozen=True)
class Purpose:
    """One test purpose. pics: conditions that must all hold ("X", "not X", "X or Y", "needs K").

    touched_by: permissions that its case meets, beyond those whose witness it is.
    """

    id: str
    purpose: str
    clause: str
    configurations: tuple[str, ...]
    pics: tuple[str, ...]
    slow: bool = False
    whole_run: bool = False
    touched_by: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        return self.id.rsplit("-", 1)[0]

    def unmet(
        self, configurations: Collection[str], declared: Collection[str], has: Callable[[str], bool]
    ) -> str | None:
        """Why the purpose is not applicable, or None if it is.

        has: whether the profile has a key that a "needs" condition names.
        """
        if not set(configurations) & set(self.configurations):
            wanted, tested = ", ".join(self.configurations), ", ".join(configurations)
            return f"for configuration {wanted}; this router is tested in {tested}"
        for condition in self.pics:
            if condition.startswith("needs "):
                if not has(condition[6:]):
                    return f"the profile has no {condition[6:]}"
            elif condition.startswith("not "):
                if condition[4:] in declared:
                    return f"only for routers without {condition[4:]}"
            elif not any(item in declared for item in condition.split(" or ")):
                return f"not declared: {condition}"
        return None


@dataclass(frozen=True)
class Group:
    """A group of purposes."""

    id: str
    title: str


@dataclass(frozen=True)
class Catalogue:
    """All purposes in order, and the titles of their groups."""

    purposes: dict[str, Purpose]
    groups: dict[str, str]


@dataclass(frozen=True)
class Fault:
    """A fault that the suite must detect, and the purposes that witness it, the main one first.

    also_fails: further cases that it makes fail; they show that no case passes vacuously.
    at_fence: why it may show at the fence only. undetected: why it is not caught (yet). unsaid:
    why it cannot be told from what is right by a profile that declares nothing.
    """

    id: str
    behaviour: str
    witnesses: tuple[str, ...]
    configurations: tuple[str, ...]
    profile: str = "reference"
    also_fails: tuple[str, ...] = ()
    at_fence: str = ""
    undetected: str = ""
    unsaid: str = ""


@cache
def faults() -> dict[str, Fault]:
    """The fault catalogue by id. Raises CatalogueError."""
    name, lists = "faults.toml", ("witnesses", "configurations", "also_fails")
    found = (data.made(Fault, name, row, lists) for row in data.rows(name, "fault"))
    return {fault.id: fault for fault in found}


@cache
def catalogue() -> Catalogue:
    """The catalogue that comes with x25shark. Raises CatalogueError."""
    name, lists = "purposes.toml", ("configurations", "pics", "touched_by")
    made = (data.made(Purpose, name, row, lists) for row in data.rows(name, "purpose"))
    groups = (data.made(Group, name, row) for row in data.rows(name, "group"))
    from . import states  # it makes purposes, so it needs this module

    return Catalogue(
        {purpose.id: purpose for purpose in made} | states.purposes(),
        {group.id: group.title for group in groups} | states.groups(),
    )

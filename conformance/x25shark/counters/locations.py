# SPDX-License-Identifier: GPL-2.0-or-later
"""Where each counter that a profile names is in the router's page, for each interface."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from .names import NAMES
from .pages import value
from .paths import Path
from .settings import INTERFACES, Counters


@dataclass(frozen=True)
class Place:
    """One counter on one interface. root: below which all counters of the interface stand."""

    name: str
    interface: str
    cause: int | None
    root: Path
    paths: tuple[Path, ...]

    @property
    def text(self) -> str:
        """The paths as they are written in a profile."""
        return " + ".join(path.text for path in self.paths)

    @property
    def shown_name(self) -> str:
        return self.name if self.cause is None else f"{self.name} 0x{self.cause:02x}"


def places(counters: Counters, names: Sequence[str], causes: Sequence[int] = ()) -> list[Place]:
    """Where these counters stand, on each interface that the profile gives a root for.

    causes: those that are looked at where a name counts by cause.
    """
    found = []
    for name in names:
        paths = counters.paths(name)
        for interface in INTERFACES:
            root = counters.root(interface)
            if paths is None or root is None:
                continue
            for cause in causes if NAMES[name].by_cause else (None,):
                chosen = tuple(p if cause is None else p.with_cause(cause) for p in paths)
                below = tuple(path.below(root) for path in chosen)
                if interface != "router" and all(path.absolute for path in chosen):
                    continue  # it has one place for the whole router
                found.append(Place(name, interface, cause, root, below))
    return found


def survey(counters: Counters, page: Any, lines: Collection[str]) -> tuple[int, list[str]]:
    """How many counters there are to find in a page, and which of them are not there.

    lines: the interfaces that are serial lines.
    """
    wanted = [
        place
        for place in places(counters, counters.named())
        if place.interface in lines or not NAMES[place.name].line
    ]
    missing = [
        f"{place.name} ({place.interface}): {place.text}"
        for place in wanted
        if any(value(page, [path]) is None for path in place.paths)
    ]
    return len(wanted), missing

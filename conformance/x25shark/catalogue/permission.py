# SPDX-License-Identifier: GPL-2.0-or-later
"""What the standards permit a router, as data: permissions/*.toml, the mirror image of faults.toml.

id          MAY-GROUP-nn; the reference router has a variant of that name that makes use of it
text        the permission in one sentence
clause      the clauses that grant it
where       local, end-to-end, splice: relay models, both sides over XOT; terminal: a router that
            answers calls itself; lines: sides on serial lines
witnesses   cases in which it shows on the wire
profile     under which the witnesses run, where that is not the first of where
more        display filter: it matches more packets of the witnesses with the variant
fewer       display filter: it matches fewer
measure     a measure of selftest/sightings.py that is greater with the variant, for what no
            filter says ("-NAME": smaller)
remark      words of a remark that more of the witnesses get with the variant, for what is not on
            the wire
says        what a profile can say of such a router, by sections ("not X" in a list: no more X);
            unsaid, no case may FAIL
excludes    permissions that a router cannot make use of at the same time
number      what its variant gets in other cases, where that of its witnesses is too much
undrawn     why it is not combined with others at all
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from . import catalogue, data

#: The built-in profiles in which a permission of each kind can show.
PROFILES: Mapping[str, tuple[str, ...]] = {
    "local": ("reference",),
    "end-to-end": ("reference-e2e",),
    "splice": ("reference-splice",),
    "terminal": ("reference-terminal",),
    "lines": ("reference-serial", "reference-xot-serial"),
}
#: Built-in profiles of routers that do less, and the place whose permissions they draw.
PLAINER: Mapping[str, str] = {"reference-basic": "local", "reference-caller": "terminal"}


@dataclass(frozen=True)
class Permission:
    """One permission; the keys are told in the text of the module."""

    id: str
    text: str
    clause: str
    where: tuple[str, ...]
    witnesses: tuple[str, ...]
    profile: str = ""
    more: str = ""
    fewer: str = ""
    measure: str = ""
    remark: str = ""
    says: Mapping[str, Any] = field(default_factory=dict)
    excludes: tuple[str, ...] = ()
    number: float | None = None
    undrawn: str = ""

    @property
    def profiles(self) -> tuple[str, ...]:
        """The built-in profiles under which it can show."""
        return tuple(name for place in self.where for name in PROFILES[place])

    @property
    def witness_profile(self) -> str:
        """The built-in profile under which its witnesses run."""
        return self.profile or self.profiles[0]

    def applies(self, profile: str) -> bool:
        """Whether a router of this built-in profile can make use of it."""
        return profile in self.profiles or PLAINER.get(profile) in self.where

    def goes_with(self, other: Permission) -> bool:
        """Whether a router can make use of both."""
        return other.id not in self.excludes and self.id not in other.excludes


@cache
def alternatives() -> dict[str, tuple[str, ...]]:
    """Of each purpose the ids of the permissions that touch it: those whose witness it is, too.

    Cells of the state tables have theirs in cell_permissions.toml. Raises CatalogueError.
    """
    of_cells = "cell_permissions.toml"
    cells = data.read(of_cells).get("permissions", {})
    found: dict[str, set[str]] = {}
    for purpose in catalogue().purposes.values():
        name, ids = "purposes.toml", purpose.touched_by
        if purpose.id in cells:
            name, ids = of_cells, cells[purpose.id]
            if not isinstance(ids, list):
                raise data.CatalogueError(f"{name}: {purpose.id}: not a list of permissions")
        if unknown := [i for i in ids if i not in permissions()]:
            raise data.CatalogueError(f"{name}: {purpose.id}: no permission is called {unknown[0]}")
        found[purpose.id] = set(ids)
    for permission in permissions().values():
        for witness in permission.witnesses:
            found.setdefault(witness, set()).add(permission.id)
    return {purpose: tuple(sorted(ids)) for purpose, ids in found.items()}


@cache
def permissions() -> dict[str, Permission]:
    """The permissions by id, in the order of the files. Raises CatalogueError."""
    found: dict[str, Permission] = {}
    folder = data.FOLDER / "permissions"
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".toml"):
            continue
        name = f"permissions/{file.name}"
        for row in data.rows(name, "permission"):
            made = data.made(Permission, name, row, ("where", "witnesses", "excludes"))
            if made.id in found:
                raise data.CatalogueError(f"{name}: {made.id} appears twice")
            found[made.id] = made
    return found

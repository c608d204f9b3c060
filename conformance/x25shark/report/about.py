# SPDX-License-Identifier: GPL-2.0-or-later
"""What the catalogue says of a case, for those who have not run it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ..catalogue import CONFIGURATIONS, catalogue, faults
from ..catalogue.permission import alternatives, permissions

_INDENT = 12
_WIDTH = 79
_NONE = ["none that the catalogue has"]


def about(identifier: str) -> str | None:
    """Purpose, clause, conditions, the faults that the case catches and the freedoms it allows.

    Plain text of at most 79 columns; None if the catalogue has no such case.
    """
    known = {name.upper(): purpose for name, purpose in catalogue().purposes.items()}
    purpose = known.get(identifier.upper())
    if purpose is None:
        return None
    caught = [
        f"{fault.id}: {fault.behaviour}"
        for fault in faults().values()
        if purpose.id in (*fault.witnesses, *fault.also_fails)
    ]
    allowed = [
        f"{permission.id}: {permission.text} ({permission.clause})"
        for permission in permissions().values()
        if purpose.id in permission.witnesses
    ]
    shown = {text.partition(":")[0] for text in allowed}
    others = [i for i in alternatives().get(purpose.id, ()) if i not in shown]
    if others:
        allowed.append(f"{'also ' if allowed else ''}{', '.join(others)}")
    fields = [
        ("purpose", [purpose.purpose]),
        ("clause", [purpose.clause]),
        (
            "for",
            [f"{CONFIGURATIONS[c]} ({c})" for c in purpose.configurations],
        ),
        ("needs", list(purpose.pics) or ["nothing that a profile declares"]),
        ("catches", caught or _NONE),
        ("allows", allowed or _NONE),
    ]
    if purpose.slow:
        fields.insert(4, ("slow", ["it runs with --slow"]))
    lines = [purpose.id]
    for name, texts in fields:
        lines += _field(name, texts)
    return "\n".join(lines) + "\n"


def _field(name: str, texts: Sequence[str]) -> list[str]:
    """A name and its texts, each wrapped, one below the other."""
    lines = []
    for text in texts:
        lines += textwrap.wrap(
            text,
            _WIDTH,
            initial_indent=" " * _INDENT,
            subsequent_indent=" " * (_INDENT + 2),
            break_on_hyphens=False,
        )
    return [name.ljust(_INDENT) + lines[0][_INDENT:], *lines[1:]]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The expectation that the router's table of cleared circuits holds what the capture shows.

RFC 1382 x25ClearedCircuitTable: addresses, clearing cause and diagnostic of each circuit.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from scapy.packet import Packet
from scapy_x25 import CallRequest, ClearRequest

from ..counters.pages import number
from ..counters.paths import Missing
from ..counters.settings import Cleared
from .counter_events import Cut
from .expectation import Consumed, Expectation, Judge, Seen

_ADDRESS = re.compile(r"[0-9]{0,15}")

# The values of one entry by field name, in the order of the fields.
Entry = tuple[tuple[str, int | str], ...]


class NoTable(LookupError):
    """The page has no such table, or an entry that is none; the message says what."""


def entries(document: Any, cleared: Cleared) -> Counter[Entry]:
    """The entries of the table in a page. Raises NoTable."""
    try:
        (table,) = cleared.table.values(document)
    except Missing as error:
        raise NoTable(f"no table {cleared.table.text}: {error.args[0]}") from None
    if not isinstance(table, list):
        raise NoTable(f"{cleared.table.text} is not a list")
    return Counter(_entry(item, cleared) for item in table)


def _entry(item: Any, cleared: Cleared) -> Entry:
    values: list[tuple[str, int | str]] = []
    for name, path in cleared.columns().items():
        try:
            found = path.values(item)
        except Missing:
            raise NoTable(f"an entry of {cleared.table.text} has no {path.text}") from None
        address = name.endswith("address")
        kept = str(found[0]) if address else number(found[0])
        if address and not _ADDRESS.fullmatch(str(kept)):
            raise NoTable(f"an entry of {cleared.table.text} has no address at {path.text}")
        if not address and not (isinstance(kept, int) and 0 <= kept <= 255):
            raise NoTable(f"an entry of {cleared.table.text} has no octet at {path.text}")
        assert kept is not None
        values.append((name, kept))
    return tuple(values)


@dataclass
class ClearedTable(Expectation):
    """The new entries of the table are the circuits that were cleared.

    cuts: the connections of A, whose Calls name the circuits; far: the others, where a Clear may
    have come from.
    """

    path: str = ""
    new: tuple[Entry, ...] = ()
    problem: str = ""
    cuts: tuple[Cut, ...] = ()
    far: tuple[Cut, ...] = ()

    @property
    def text(self) -> str:
        return f"the table of cleared circuits ({self.path}) has those of the capture"

    def templates(self) -> tuple[Packet, ...]:
        return (CallRequest(), ClearRequest(), *self._of_entries())

    def leading(self) -> tuple[Packet, ...]:
        return self._of_entries() or self.templates()

    def _of_entries(self) -> tuple[Packet, ...]:
        return tuple(template for entry in self.new for template in _templates(entry))

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        left = [c for c in self.cuts if all(_has(c, judge, t) for t in self.templates()[:2])]
        shown = len(left)
        if self.problem:
            return Seen(False, None, self.problem, count=shown)
        for entry in self.new:
            fits = next((c for c in left if self._fits(c, entry, judge)), None)
            if left and fits is None and self._arrived(entry, judge):
                fits = left[0]
            if fits is None:
                words = ", ".join(f"{name} {value}" for name, value in entry)
                return Seen(False, None, f"an entry that the capture lacks: {words}", count=shown)
            left.remove(fits)
        if left:
            return Seen(False, None, f"no entry for {len(left)} of {shown} circuits", count=shown)
        return Seen(True, None, f"{shown} entries", count=shown)

    def _fits(self, cut: Cut, entry: Entry, judge: Judge) -> bool:
        call, clear = _templates(entry)
        return _has(cut, judge, call) and any(
            _has(c, judge, call) and _has(c, judge, clear) for c in (cut, *self.far)
        )

    def _arrived(self, entry: Entry, judge: Judge) -> bool:
        """Whether it has the addresses that a router or a network has given the Call on its way."""
        call, clear = _templates(entry)
        return any(_has(c, judge, call) and _has(c, judge, clear) for c in self.far)


def _templates(entry: Entry) -> tuple[Packet, Packet]:
    values = dict(entry)
    call = {n: v for n, v in values.items() if n.endswith("address")}
    clear = {n: v for n, v in values.items() if not n.endswith("address")}
    return CallRequest(**call), ClearRequest(**clear)


def _has(cut: Cut, judge: Judge, template: Packet) -> bool:
    match = cut.match(judge)
    return any(match(template, event) for event in cut.events(judge))

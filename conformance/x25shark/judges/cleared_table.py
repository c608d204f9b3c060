# SPDX-License-Identifier: GPL-2.0-or-later
"""The expectation that the router's table of cleared circuits holds what the capture shows.

RFC 1382 x25ClearedCircuitTable: addresses, clearing cause and diagnostic of each circuit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scapy.packet import Packet
from scapy_x25 import CallAccepted, CallRequest, ClearRequest

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
        table = cleared.table.value(document)
    except Missing as error:
        raise NoTable(f"no table {cleared.table.text}: {error.args[0]}") from None
    if not isinstance(table, list):
        raise NoTable(f"{cleared.table.text} is not a list")
    return Counter(_entry(item, cleared) for item in table)


def _entry(item: Any, cleared: Cleared) -> Entry:
    values: list[tuple[str, int | str]] = []
    for name, path in cleared.columns().items():
        try:
            found = path.value(item)
        except Missing:
            raise NoTable(f"an entry of {cleared.table.text} has no {path.text}") from None
        address = name.endswith("address")
        kept = str(found) if address else number(found)
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
    have come from, and which a table may list beside them. A call that was never connected need not
    be there (RFC 1382 lists circuits that were closed), but what is there is right.
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
        return (CallRequest(), ClearRequest(), CallAccepted(), *self._of_entries())

    def leading(self) -> tuple[Packet, ...]:
        return self._of_entries() or self.templates()

    def _of_entries(self) -> tuple[Packet, ...]:
        return tuple(template for entry in self.new for template in _templates(entry))

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        left = [c for c in self.cuts if _has(c, judge, CallRequest())]
        shown = len([c for c in left if _has(c, judge, ClearRequest())])
        if self.problem:
            return Seen(False, None, self.problem, count=shown)
        # RFC 1382 lists the circuits of every interface: a call of a switch has one on either side.
        legs = [c for c in self.far if _has(c, judge, CallRequest())]
        others = [entry for entry in self.new if not _taken(left, entry, judge)]
        for entry in others:
            fits = self._circuit_of(entry, left, judge)
            if fits is not None:
                left.remove(fits)
            elif not _taken(legs, entry, judge):
                words = ", ".join(f"{name} {value}" for name, value in entry)
                return Seen(False, None, f"an entry that the capture lacks: {words}", count=shown)
        missing = [
            c for c in left if _has(c, judge, ClearRequest()) and _has(c, judge, CallAccepted())
        ]
        if missing:
            words = f"no entry for {len(missing)} of {shown} circuits"
            return Seen(False, None, words, count=shown)
        return Seen(True, None, f"{len(self.new)} entries", count=shown)

    def _circuit_of(self, entry: Entry, left: Sequence[Cut], judge: Judge) -> Cut | None:
        """Which of the circuits that are left has this entry.

        Of a call that the router refused only the address that was called is held against it: the
        network may put digits before the other, and may tell its caller another cause than itself.
        """
        call, clear, called = _templates(entry)
        exact = [
            cut
            for cut in left
            if _has(cut, judge, call)
            and any(_has(c, judge, call) and _has(c, judge, clear) for c in (cut, *self.far))
        ]
        up = [cut for cut in left if _has(cut, judge, CallAccepted())]
        refused = [cut for cut in left if cut not in up and _has(cut, judge, called)]
        arrived = [*up, *refused, *left] if self._arrived(entry, judge) else []
        return next(iter([*exact, *arrived, *refused]), None)

    def _arrived(self, entry: Entry, judge: Judge) -> bool:
        """Whether it has the addresses that a router or a network has given the Call on its way."""
        call, clear, _ = _templates(entry)
        return any(_has(c, judge, call) and _has(c, judge, clear) for c in self.far)


def _taken(left: list[Cut], entry: Entry, judge: Judge) -> bool:
    """Whether one of these circuits has the addresses, the cause and the diagnostic of the entry
    itself; it is none of those that are left then."""
    call, clear, _ = _templates(entry)
    for cut in left:
        if _has(cut, judge, call) and _has(cut, judge, clear):
            left.remove(cut)
            return True
    return False


def _templates(entry: Entry) -> tuple[Packet, Packet, Packet]:
    """The Call, the Clear, and a Call to the same address."""
    values = dict(entry)
    call = {n: v for n, v in values.items() if n.endswith("address")}
    clear = {n: v for n, v in values.items() if not n.endswith("address")}
    called = {n: v for n, v in call.items() if n.startswith("called")}
    return CallRequest(**call), ClearRequest(**clear), CallRequest(**called)


def _has(cut: Cut, judge: Judge, template: Packet) -> bool:
    match = cut.match(judge)
    return any(match(template, event) for event in cut.events(judge))

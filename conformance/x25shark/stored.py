# SPDX-License-Identifier: GPL-2.0-or-later
"""How the results of a run are stored in results.json (format: RESULTS.md).

A run holds 100,000 expectations and packets. Each is a row, without names; a text that may be in
many rows stands once in `texts`, and its number in the row.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

from .case_results import CaseResult, CounterReading, ExpectationResult, JudgeReading, PacketLine

# Between what a packet holds and where it stands.
_PLACE = " && x25s.offset#"
_NUMBER = (int, type(None))
_SAME = "same"


class Texts:
    """The texts of a document: each once, by its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def number(self, text: str) -> int:
        known = self._numbers.setdefault(text, len(self._texts))
        if known == len(self._texts):
            self._texts.append(text)
        return known

    def all(self) -> list[str]:
        """By their numbers; not to be changed."""
        return self._texts


# Texts of a kind begin with so many characters that are the same; one that has less than this in
# common with another is written whole, and so is a longer one than that.
_KIND = 24
_LEAST_SHARED, _LONGEST_SHARED = 16, 1_000
# Characters of all texts of a file together: shared ones make much of little.
_MOST_CHARACTERS = 1 << 28


def shortened(texts: Sequence[str]) -> Iterator[Any]:
    """Each text, or [number, head, middle, tail]: what it shares with an earlier one at both ends.

    Most differ in a port, an offset or a few octets from another one of their kind.
    """
    latest: dict[str, int] = {}
    for number, text in enumerate(texts):
        before = latest.get(text[:_KIND])
        latest[text[:_KIND]] = number
        if before is None or max(len(text), len(texts[before])) > _LONGEST_SHARED:
            yield text
            continue
        base = texts[before]
        head = _shared(base, text)
        tail = _shared(base[head:][::-1], text[head:][::-1])
        if head + tail < _LEAST_SHARED:
            yield text
        else:
            yield [before, head, text[head : len(text) - tail], tail]


def _shared(one: str, other: str) -> int:
    """How many characters are the same at the beginning of both."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def whole_texts(stored: Sequence[Any]) -> list[str]:
    """The texts of a document. TypeError, ValueError or IndexError if they are damaged."""
    texts: list[str] = []
    left = _MOST_CHARACTERS
    for item in stored:
        if isinstance(item, str):
            text = item
        else:
            number, head, middle, tail = item
            if not all(isinstance(n, int) and n >= 0 for n in (number, head, tail)):
                raise TypeError("an entry of texts does not hold three numbers")
            base = texts[number]
            if head + tail > min(len(base), _LONGEST_SHARED):
                raise ValueError(
                    "an entry of texts refers to more characters than the earlier one has"
                )
            text = base[:head] + middle + base[len(base) - tail :]
        left -= len(text)
        if left < 0:
            raise ValueError("the texts are too long")
        texts.append(text)
    return texts


def _text(texts: Sequence[str], number: Any) -> str:
    if not isinstance(number, int) or number < 0:
        raise TypeError("a reference to a text is not a number")
    return texts[number]


def _stored_filter(texts: Texts, found: ExpectationResult) -> list[int]:
    """A filter, cut where it goes over from what a packet holds to where it stands."""
    what, place, where = found.filter.partition(_PLACE)
    if not place:
        return [texts.number(what)]
    number, is_, rest = where.partition(" == ")
    offset, and_, ends = rest.partition(" && ")
    if not (is_ and and_ and number.isascii() and number.isdecimal() and offset.isdecimal()):
        return [texts.number(found.filter)]
    again = f"{what}{_PLACE}{int(number)} == {int(offset)} && {ends}"
    if again != found.filter:
        return [texts.number(found.filter)]
    one = found.judge_one
    if one is not None and (found.k, one.offset) == (int(number), int(offset)):
        return [texts.number(what), texts.number(ends)]
    return [texts.number(what), int(number), int(offset), texts.number(ends)]


def _read_filter(
    texts: Sequence[str], stored: Sequence[int], k: int | None, one: JudgeReading | None
) -> str:
    if len(stored) == 1:
        return _text(texts, stored[0])
    number, offset = k, one.offset if one is not None else None
    if len(stored) == _SHORT:
        what, ends = stored
    else:
        what, number, offset, ends = stored
    return f"{_text(texts, what)}{_PLACE}{number} == {offset} && {_text(texts, ends)}"


def _stored_reading(
    texts: Texts, reading: JudgeReading | None, found: ExpectationResult
) -> list[Any] | None:
    """Offset and text; in front of them what differs from the expectation itself."""
    if reading is None:
        return None
    place = [reading.met, reading.frame, reading.k]
    own = [] if place == [found.met, found.frame, found.k] else place
    return [*own, reading.offset, texts.number(reading.saw)]


def _read_reading(texts: Sequence[str], stored: Any, place: list[Any]) -> JudgeReading | None:
    if stored is None:
        return None
    met, frame, k, offset, saw = stored if len(stored) > _SHORT else [*place, *stored]
    return JudgeReading(met, frame, k, offset, _text(texts, saw))


_SHORT = 2


def _without_layers(text: str) -> str:
    """A filter without its layer numbers: the locator, in nearly all cases."""
    what = text.partition(_PLACE)[0]
    if what.startswith("(") and what.endswith(")") and what != text:
        what = what[1:-1]
    return re.sub(r"#\d+", "", what)


# What stands at the end of an expectation's row: met, preamble, locator, judge two, counter; what
# is usual there is left out, from the end on.
_USUAL = (True, False, None, _SAME, None)


def stored_expectation(texts: Texts, found: ExpectationResult) -> list[Any]:
    """The row of an expectation."""
    alike = found.judge_one == found.judge_two and found.judge_one is not None
    derived = _without_layers(found.filter) == found.locator
    end = [
        found.met,
        found.preamble,
        None if derived else texts.number(found.locator),
        _SAME if alike else _stored_reading(texts, found.judge_two, found),
        found.counter and vars(found.counter),
    ]
    while end and end[-1] == _USUAL[len(end) - 1]:
        end.pop()
    return [
        texts.number(found.text),
        found.side,
        texts.number(found.clause),
        _stored_filter(texts, found),
        found.frame,
        found.k,
        _stored_reading(texts, found.judge_one, found),
        found.stimulus_frame,
        *end,
    ]


def read_expectation(texts: Sequence[str], row: Sequence[Any]) -> ExpectationResult:
    """The expectation of a row. TypeError, ValueError or IndexError if it is damaged."""
    text, side, clause, filter_, frame, k, one, stimulus, *end = row
    usual: list[Any] = [*end, *_USUAL[len(end) :]]
    met, preamble, locator, two, counter = usual
    _demand(isinstance(side, str) and isinstance(met, bool) and isinstance(preamble, bool))
    _demand(all(isinstance(n, _NUMBER) for n in (frame, k, stimulus)))
    place = [met, frame, k]
    first = _read_reading(texts, one, place)
    whole = _read_filter(texts, filter_, k, first)
    return ExpectationResult(
        text=_text(texts, text),
        side=side,
        clause=_text(texts, clause),
        met=met,
        filter=whole,
        locator=_without_layers(whole) if locator is None else _text(texts, locator),
        frame=frame,
        k=k,
        preamble=preamble,
        judge_one=first,
        judge_two=_read_reading(texts, one if two == _SAME else two, place),
        stimulus_frame=stimulus,
        counter=CounterReading(**counter) if counter else None,
    )


def stored_packet(texts: Texts, packet: PacketLine) -> list[Any]:
    """The row of a packet."""
    where = [packet.time, packet.frame, packet.k, packet.side, int(packet.sent)]
    return [*where, packet.connection, packet.offset, texts.number(packet.text)]


def read_packet(texts: Sequence[str], row: Sequence[Any]) -> PacketLine:
    """The packet of a row. TypeError, ValueError or IndexError if it is damaged."""
    time, frame, k, side, sent, connection, offset, text = row
    _demand(isinstance(side, str) and sent in (0, 1) and isinstance(time, int | float))
    _demand(all(isinstance(n, int) for n in (frame, k, connection, offset)))
    return PacketLine(time, frame, k, side, bool(sent), connection, offset, _text(texts, text))


def stored_case(texts: Texts, case: CaseResult) -> dict[str, Any]:
    """The object of a case. Rows that are kept are in the numbers of these texts."""
    expectations, packets = case.expectations, case.packets
    return {
        **vars(case),
        "expectations": expectations.rows()
        if isinstance(expectations, Kept)
        else [stored_expectation(texts, e) for e in expectations],
        "packets": [row[:-1] for row in packets.rows()]
        if isinstance(packets, Kept)
        else [stored_packet(texts, p) for p in packets],
    }


def read_case(texts: Sequence[str], data: dict[str, Any], *, detailed: bool) -> CaseResult:
    """The case of an object; detailed: with its expectations and packets.

    KeyError, TypeError, ValueError or IndexError if it is damaged.
    """
    expectations, packets = data["expectations"], data["packets"]
    for row in (*expectations, *packets):
        _demand(isinstance(row, list))
    return CaseResult(
        **{
            **data,
            "expectations": [read_expectation(texts, r) for r in expectations if detailed],
            "packets": [read_packet(texts, r) for r in packets if detailed],
        }
    )


_Row = TypeVar("_Row", ExpectationResult, PacketLine)


class Kept(Sequence[_Row]):
    """Expectations or packets of a case as rows, compressed: a tenth of the memory of the objects.

    Objects are made when somebody looks, all of them each time: whoever looks often makes a list.
    """

    def __init__(
        self, texts: Texts, rows: Sequence[Any], read: Callable[[Sequence[str], Any], _Row]
    ) -> None:
        self.texts = texts
        self._count = len(rows)
        self._packed = zlib.compress(json.dumps(list(rows)).encode("ascii"), _FAST)
        self._read: Callable[[Sequence[str], Any], _Row] = read

    def rows(self) -> list[Any]:
        """The rows, in the numbers of `texts`."""
        rows: list[Any] = json.loads(zlib.decompress(self._packed))
        return rows

    def _all(self) -> list[_Row]:
        return [self._read(self.texts.all(), row) for row in self.rows()]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[_Row]:
        return iter(self._all())

    @overload
    def __getitem__(self, place: int) -> _Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[_Row]: ...
    def __getitem__(self, place: int | slice) -> _Row | list[_Row]:
        return self._all()[place]


_FAST = 1


def _with_octets(texts: Sequence[str], row: Sequence[Any]) -> PacketLine:
    *stored, octets = row
    packet = read_packet(texts, stored)
    packet.octets = octets
    return packet


def keep(texts: Texts, case: CaseResult) -> None:
    """Have a case hold its expectations and packets as rows, in the numbers of these texts.

    Those with readings of counters stay objects: they are few, and looked for by the reports.
    """
    if not isinstance(case.packets, Kept):
        packets = [[*stored_packet(texts, p), p.octets] for p in case.packets]
        case.packets = Kept(texts, packets, _with_octets)
    if not isinstance(case.expectations, Kept) and not _counted(case):
        expectations = [stored_expectation(texts, e) for e in case.expectations]
        case.expectations = Kept(texts, expectations, read_expectation)


def _counted(case: CaseResult) -> bool:
    return any(e.counter is not None for e in case.expectations)


def about_counters(case: CaseResult) -> Sequence[ExpectationResult]:
    """The expectations of a case that may have readings of counters."""
    return () if isinstance(case.expectations, Kept) else case.expectations


def unpacked(case: CaseResult) -> CaseResult:
    """The same with lists of objects."""
    return replace(case, expectations=list(case.expectations), packets=list(case.packets))


def texts_of(cases: Sequence[CaseResult]) -> Texts:
    """The texts that kept rows of these cases are in the numbers of; new ones if there are none."""
    return next((c.packets.texts for c in cases if isinstance(c.packets, Kept)), Texts())


def _demand(fine: bool) -> None:
    if not fine:
        raise TypeError("a row of an expectation or a packet holds a value of the wrong type")

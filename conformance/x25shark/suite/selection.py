# SPDX-License-Identifier: GPL-2.0-or-later
"""The expressions that select cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache

from ..catalogue import catalogue

# A standard, and a clause of it: "RFC 1613 6.1", "X.25 Annex C", "ISO/IEC 3309".
_STANDARD = r"X\.\d+|RFC ?\d+|ISO/IEC ?\d+"
_CLAUSE = re.compile(rf"({_STANDARD})(?:\s+(.+))?", re.IGNORECASE)
# A place in one that is not named: "6.1", "Table C-3".
_PLACE = re.compile(r"\d+(?:\.\d+)*|(?:Table|Annex|Figure|clause) \S+", re.IGNORECASE)
# What stands before a standard in the clause of a cell of the state tables.
_ON_A_LINE = re.compile(r"on a serial line:?\s+", re.IGNORECASE)
# What numbers are often typed as.
_AS_DIGITS = str.maketrans("OIL", "011")


class SelectionError(Exception):
    """A selection that names nothing; the message says what."""


def words(expression: str) -> list[str]:
    """The items of an expression: ids, groups and patterns, and clauses between commas.

    A clause may be as x25shark show prints it: "X.25 4.3.3, 4.3.4; RFC 1613 6.3". The second place
    is of the standard before it then.
    """
    found: list[str] = []
    standard = ""
    for part in re.split("[,;]", expression):
        item = _ON_A_LINE.sub("", " ".join(part.split()))
        not_it, name = ("!", item[1:].strip()) if item.startswith("!") else ("", item)
        clause = _CLAUSE.fullmatch(name)
        if clause is not None:
            standard = f"{not_it}{clause[1]}"
            found.append(item)
        elif standard and not not_it and name.upper() in _places():
            found.append(f"{standard} {name}")
        elif _PLACE.fullmatch(name):
            found.append(item)
        else:
            standard = ""
            found += item.split()
    return found


@cache
def _places() -> frozenset[str]:
    """What stands behind the standards in the clauses of the catalogue."""
    parts = (part for p in catalogue().purposes.values() for part in p.clause.split(";"))
    clauses = filter(None, (_CLAUSE.fullmatch(_ON_A_LINE.sub("", part.strip())) for part in parts))
    return frozenset(
        place.strip().upper() for clause in clauses for place in (clause[2] or "").split(",")
    )


def _standard(name: str) -> str:
    """The name of a standard, however its blanks and letters are written."""
    return name.upper().replace(" ", "")


def _is_under(clause: str, standard: str, wanted: str) -> bool:
    """Whether one of the references of a purpose is that clause or one below it."""
    for reference in clause.split(";"):
        found = _CLAUSE.fullmatch(_ON_A_LINE.sub("", reference.strip()))
        if found is None or _standard(found[1]) != _standard(standard):
            continue
        places = [place.strip().upper() for place in (found[2] or "").split(",")]
        name = wanted.upper()
        if not name or any(p == name or p.startswith((f"{name}.", f"{name} ")) for p in places):
            return True
    return False


def _of_clause(item: str, known: Sequence[str]) -> list[str] | None:
    """The ids whose purposes rest on a clause; None if the item is not a clause."""
    found = _CLAUSE.fullmatch(item.removeprefix("!").strip())
    if found is None:
        return None
    purposes = catalogue().purposes
    standard, wanted = found[1], (found[2] or "").strip()
    matched = [
        k for k in known if k in purposes and _is_under(purposes[k].clause, standard, wanted)
    ]
    if not matched:
        raise SelectionError(f"{item!r}: no case tests this clause (x25shark list --json)")
    return matched


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The known names that are near to one that is not, as a question; "" if none is."""
    name, known = name.upper(), list(known)
    number = _as_numbered(name)
    near = [k for k in known if number is not None and _as_numbered(k) == number]
    # Then names of the same beginning, before others that only look alike.
    head = name.rpartition("-")[0]
    like = [k for k in known if head and k.upper().startswith(f"{head}-")]
    near = (
        near
        or get_close_matches(name, like, n=3, cutoff=0.75)
        or get_close_matches(name, known, n=3, cutoff=0.75)
        or get_close_matches(name, like, n=3, cutoff=0.6)
    )
    if not near:
        return ""
    *others, last = near
    return f"did you mean {' or '.join(filter(None, (', '.join(others), last)))}?"


def _as_numbered(name: str) -> tuple[str, int] | None:
    """An id whose last part is a number, however many zeros that has; a letter O is one too."""
    head, dash, last = name.upper().rpartition("-")
    number = last.translate(_AS_DIGITS)
    return (head, int(number)) if dash and number.isdecimal() else None


def no_case_is(name: str) -> str:
    """What a name that is none of a case is in the catalogue, and how it is used; "": nothing."""
    from ..catalogue import faults
    from ..catalogue.permission import permissions

    name = name.upper()
    if name in faults():
        what, text, option = "fault", faults()[name].behaviour, "fault"
    elif name in permissions():
        what, text, option = "legal variant", permissions()[name].text, "variant"
    else:
        return ""
    return (
        f"it is a {what} of the reference router: {text.rstrip('.')}. x25shark run --{option} "
        f"{name} switches it on; x25shark router --list-{option}s shows them all"
    )


def _with_standard(place: str, known: Sequence[str]) -> str:
    """The clauses that a place without its standard may be of, as a question; "": none."""
    purposes = catalogue().purposes
    clauses = [purposes[k].clause for k in known if k in purposes]
    standards = dict.fromkeys(
        found[0].upper() for c in clauses for found in re.finditer(_STANDARD, c, re.IGNORECASE)
    )
    fits = [s for s in standards if any(_is_under(c, s, place) for c in clauses)]
    # That of the protocol under test first.
    fits.sort(key=lambda s: s != "RFC 1613")
    meant = " or ".join(repr(f"{standard} {place}") for standard in fits)
    return f"a clause needs its standard; did you mean {meant}?" if meant else ""


def named(item: str, known: Sequence[str]) -> list[str]:
    """The ids that one item names, whether it adds or takes away. Raises SelectionError."""
    if (of_clause := _of_clause(item, known)) is not None:
        return of_clause
    name = item.removeprefix("!").upper()
    matched = [k for k in known if fnmatchcase(k.upper(), name) or k.upper().startswith(f"{name}-")]
    if not matched:
        if is_other := no_case_is(name):
            raise SelectionError(f"{item!r} names no case; {is_other}")
        groups = sorted({k.rsplit("-", 1)[0] for k in known})
        meant = (
            (_with_standard(item.removeprefix("!"), known) if _PLACE.fullmatch(name) else "")
            or did_you_mean(name, [*groups, *known])
            or f"groups are {', '.join(groups)}"
        )
        raise SelectionError(f"{item!r} names no case; {meant} (x25shark list shows all cases)")
    return matched


def select(expression: str, known: Sequence[str]) -> list[str]:
    """The ids that an expression names, in their order.

    The expression is a list of ids, groups ("PLP-RST", or "PLP" for all of them) or patterns with
    commas or blanks between them: "XOT-HDR PLP-RST-0*", or, between commas or semicolons, clauses:
    "RFC 1613 6.1, X.25 4.3". An item with "!" in front takes away what it names. Raises
    SelectionError for an item that names nothing.
    """
    items = words(expression)
    chosen: set[str] = set() if any(not i.startswith("!") for i in items) else set(known)
    for item in items:
        matched = set(named(item, known))
        chosen = chosen - matched if item.startswith("!") else chosen | matched
    return [k for k in known if k in chosen]


def needed(expression: str, known: Sequence[str]) -> list[str]:
    """The ids that have to be known for select() to choose the same: one that each item names."""
    return [*select(expression, known), *(named(item, known)[0] for item in words(expression))]

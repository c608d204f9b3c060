# SPDX-License-Identifier: GPL-2.0-or-later
"""The baseline file of a gate: what is known of a router, reviewed by a person.

format = "x25shark-baseline"
version = 1
pass = ["PLP-RST-01", "PLP-RST-02"]     # optional: cases that have to pass

[[known]]
id = "PLP-RST-04"
verdict = "FAIL"                        # FAIL, INCONCLUSIVE or ERROR
expectation = "B: Reset Indication"     # the expectation that is not met
why = "cause 5 came"                    # optional: how it fails
reason = "ticket 4711, fixed in 2.4"    # required: why this is accepted for now
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..foreign import parse_trouble, text_of
from ..results import Results, write_whole
from ..verdicts import Verdict
from .compare import Signature, by_id, how_different, settled, signature
from .terminal import ATTENTION
from .text import one_line, printable

FORMAT = "x25shark-baseline"
VERSION = 1
SIZE_LIMIT = 8_000_000
"""Largest baseline file, in octets."""

_KEYS = ("id", "verdict", "expectation", "why", "reason")


class BaselineError(Exception):
    """A baseline that cannot be used; the message names the file, the line and what to do."""


@dataclass(frozen=True)
class Known:
    """One known deviation; `expectation` and `why` are None where the file does not pin them."""

    id: str
    verdict: Verdict
    reason: str
    expectation: str | None = None
    why: str | None = None

    def differs(self, found: Signature) -> str:
        """In words how a failure differs from what the entry pins; empty if it does not."""
        expected = Signature(
            found.expectation if self.expectation is None else settled(self.expectation),
            found.why if self.why is None else settled(self.why),
        )
        return how_different(expected, found)


@dataclass(frozen=True)
class Baseline:
    """What is known of a router; `passing` is None where the file lists no passing cases."""

    known: dict[str, Known] = field(default_factory=dict)
    passing: frozenset[str] | None = None


def _line_of(text: str, number: int) -> int:
    """The line of the `number`-th [[known]], counted from 1."""
    found = list(re.finditer(r"(?m)^[ \t]*\[\[[ \t]*known[ \t]*\]\]", text))
    if number > len(found):
        return 1
    return text.count("\n", 0, found[number - 1].start()) + 1


def _entry(item: Any, unfinished: bool) -> Known:
    """One [[known]]; an unfinished one may lack its reason. Raises ValueError."""
    if not isinstance(item, dict):
        raise ValueError("known has to be a table: write [[known]]")
    for key, value in item.items():
        if key not in _KEYS:
            raise ValueError(f"unknown key {one_line(key, 40)!r}; allowed: {', '.join(_KEYS)}")
        if not isinstance(value, str):
            raise ValueError(f"{key} has to be a string")
    identity, reason = item.get("id", ""), item.get("reason", "")
    if not identity.strip():
        raise ValueError("id is missing: name the case")
    named = one_line(identity, 80)
    allowed = [v.value for v in ATTENTION]
    if item.get("verdict") not in allowed:
        raise ValueError(f"{named}: verdict has to be one of {', '.join(allowed)}")
    if not reason.strip() and not unfinished:
        raise ValueError(f"{named}: reason is missing or empty: say why this is accepted")
    verdict = Verdict(item["verdict"])
    if verdict is Verdict.FAIL and not ("expectation" in item or "why" in item):
        raise ValueError(
            f"{named}: expectation or why is missing: say how it fails (gate --write does)"
        )
    return Known(identity, verdict, reason, item.get("expectation"), item.get("why"))


def read_baseline(path: Path, *, unfinished: bool = False) -> Baseline:
    """Read a baseline; an unfinished one may lack reasons. Raises BaselineError."""
    try:
        text = text_of(path, SIZE_LIMIT)
        document = tomllib.loads(text)
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: not TOML: {one_line(parse_trouble(error))}") from None
    if document.get("format") != FORMAT or document.get("version") != VERSION:
        raise BaselineError(
            f'{path}: not a baseline: it has to begin with format = "{FORMAT}", version = {VERSION}'
        )
    unknown = set(document) - {"format", "version", "pass", "known"}
    if unknown:
        raise BaselineError(f"{path}: unknown key {one_line(min(unknown), 40)!r}")
    passing = document.get("pass")
    if passing is not None and not (
        isinstance(passing, list) and all(isinstance(i, str) for i in passing)
    ):
        raise BaselineError(f"{path}: pass has to be a list of case ids")
    entries = document.get("known", [])
    if not isinstance(entries, list):
        raise BaselineError(f"{path}: known has to be a list of tables: write [[known]]")
    known: dict[str, Known] = {}
    for number, item in enumerate(entries, 1):
        where = f"{path}: line {_line_of(text, number)}"
        try:
            entry = _entry(item, unfinished)
        except ValueError as error:
            raise BaselineError(f"{where}: {error}") from None
        if entry.id in known:
            raise BaselineError(f"{where}: {one_line(entry.id, 80)} is listed twice")
        if passing is not None and entry.id in passing:
            raise BaselineError(f"{where}: {one_line(entry.id, 80)} is listed under pass as well")
        known[entry.id] = entry
    return Baseline(known, frozenset(passing) if passing is not None else None)


def _string(text: str) -> str:
    # A JSON string without surrogate pairs is a TOML basic string; `printable` removed the rest.
    return json.dumps(printable(text), ensure_ascii=False)


def baseline_text(results: Results, old: Baseline | None = None) -> tuple[str, list[str]]:
    """A baseline of this run, and the ids that still need a reason.

    Reasons of entries of `old` whose case fails in the same way are kept; all others are empty,
    and a baseline with an empty reason is refused until a person has written one.
    """
    cases = by_id(results)
    lines = [
        "# What is known of this router. Each entry needs a reason, written by a person.",
        f'format = "{FORMAT}"',
        f"version = {VERSION}",
        "pass = [",
        *(f"  {_string(i)}," for i, c in cases.items() if c.verdict is Verdict.PASS),
        "]",
    ]
    open_reasons = []
    for identity, case in cases.items():
        if case.verdict not in ATTENTION:
            continue
        found = signature(case)
        before = old.known.get(identity) if old else None
        same = before and before.verdict is case.verdict and not before.differs(found)
        reason = before.reason if before and same else ""
        if not reason:
            open_reasons.append(identity)
        lines += [
            "",
            "[[known]]",
            f"id = {_string(identity)}",
            f"verdict = {_string(case.verdict.value)}",
            f"expectation = {_string(found.expectation)}",
            f"why = {_string(found.why)}",
            f"reason = {_string(reason)}",
        ]
    return "\n".join(lines) + "\n", open_reasons


def write_baseline(results: Results, path: Path, old: Baseline | None = None) -> list[str]:
    """Write a baseline of this run; returns the ids that still need a reason."""
    text, open_reasons = baseline_text(results, old)
    write_whole(path, text)
    return open_reasons

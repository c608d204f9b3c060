# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a value is in a JSON document.

xot.calls_in                members, one below the other
xot."calls.in"              a name with dots or blanks in quotes (" or ')
interfaces[0].calls         the first item of a list; [-1] the last one
clears.*                    all members or items: they are summed up
$.calls                     from the top of the document, whatever root the profile names
clears."0x{cause:02x}"      with a cause put in: {cause} decimal, {cause:02x} hexadecimal
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONGEST = 1000
_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"|'[^']*') | \[(?P<index>-?\d{1,6})\] | (?P<all>\*)
        | (?P<bare>[^.\[\]"'*\s]+)""",
    re.VERBOSE,
)
_HOLE = re.compile(r"\{[^{}]*\}")
_CAUSE = {"{cause}": "d", "{cause:02x}": "02x", "{cause:02X}": "02X", "{cause:x}": "x"}


class PathError(ValueError):
    """Text that is not a path; the message says where and why."""


class Missing(LookupError):
    """The document has nothing there; the message names the step that is missing."""


class _All:
    def __repr__(self) -> str:
        return "*"


ALL = _All()
Step = str | int | _All


@dataclass(frozen=True)
class Path:
    """A parsed path; text is as it was written."""

    text: str
    steps: tuple[Step, ...]
    absolute: bool = False

    @property
    def by_cause(self) -> bool:
        """Whether a cause has to be put in."""
        return any(isinstance(s, str) and _HOLE.search(s) for s in self.steps)

    def with_cause(self, cause: int) -> Path:
        """The path for that cause."""

        def filled(text: str) -> str:
            return _HOLE.sub(lambda hole: format(cause, _CAUSE[hole.group()]), text)

        steps = tuple(filled(s) if isinstance(s, str) else s for s in self.steps)
        return Path(filled(self.text), steps, self.absolute)

    def below(self, root: Path) -> Path:
        """The path from the top, if this one begins at root."""
        if self.absolute:
            return self
        text = ".".join(t for t in (root.text, self.text) if t)
        return Path(text, root.steps + self.steps, absolute=True)

    def leads_to(self, steps: tuple[str | int, ...]) -> bool:
        """Whether the path, with any cause, is the way to that value."""
        return len(steps) == len(self.steps) and all(
            isinstance(own, _All) or own == step or _with_any_cause(own, step)
            for own, step in zip(self.steps, steps, strict=True)
        )

    def values(self, document: Any) -> list[Any]:
        """What stands there: one value, or several where the path has a "*". Raises Missing."""
        found = [document]
        for number, step in enumerate(self.steps):
            found = [inner for value in found for inner in self._inside(value, step, number)]
        return found

    def value(self, document: Any) -> Any:
        """What stands there where one value has to. Raises Missing."""
        found = self.values(document)
        if len(found) != 1:
            raise Missing(f"{len(found)} values in place of one")
        return found[0]

    def _inside(self, value: Any, step: Step, number: int) -> Iterator[Any]:
        if isinstance(step, _All) and isinstance(value, (dict, list)):
            yield from value.values() if isinstance(value, dict) else value
        elif _has(value, step):
            yield value[step]
        else:
            above = ".".join(str(s) for s in self.steps[:number]) or "the document"
            raise Missing(f"{above} has no {step!r}")


def _with_any_cause(own: Step, step: str | int) -> bool:
    if not isinstance(own, str) or not isinstance(step, str) or not _HOLE.search(own):
        return False
    parts = (re.escape(part) for part in _HOLE.split(own))
    return re.fullmatch("[0-9A-Fa-f]{1,3}".join(parts), step) is not None


def _has(value: Any, step: Step) -> bool:
    if isinstance(value, dict):
        return isinstance(step, str) and step in value
    return isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value)


def parse(text: Any) -> Path:
    """A path from its text. Raises PathError."""
    if not isinstance(text, str):
        raise PathError('must be text such as "xot.calls_in"')
    if len(text) > LONGEST:
        raise PathError(f"has {len(text)} characters; at most {LONGEST} are allowed")
    absolute = text.startswith("$.") or text == "$"
    at = min(2, len(text)) if absolute else 0
    steps: list[Step] = []
    while at < len(text):
        if steps and text[at] == ".":
            at += 1
        elif steps and text[at] != "[":
            raise PathError(f"{text!r}: a dot or [ is needed at character {at + 1}")
        token = _TOKEN.match(text, at)
        if token is None:
            raise PathError(
                f"{text!r}: a name is missing at character {at + 1}; names with dots, blanks or "
                "brackets must be quoted"
            )
        at = token.end()
        if token["index"] is not None:
            steps.append(int(token["index"]))
        elif token["all"]:
            steps.append(ALL)
        else:
            steps.append(token["bare"] or token["quoted"][1:-1])
    for hole in _HOLE.findall(text):
        if hole not in _CAUSE:
            raise PathError(f"{text!r}: unknown placeholder {hole}; allowed: {', '.join(_CAUSE)}")
    return Path(text, tuple(steps), absolute)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The questions of x25shark init: what an answer has to be, and asking again."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import NoReturn

import click
from pydantic import TypeAdapter, ValidationError

from ..profile import PICS_ITEMS, Digits, Endpoint
from ..report.tell import complain, tell
from ..report.text import one_line

NONE = "none"
_ENDPOINT: TypeAdapter[tuple[str, int]] = TypeAdapter(Endpoint)
_DIGITS: TypeAdapter[str] = TypeAdapter(Digits)

Check = Callable[[str], str]
"""Returns an answer as it goes into the profile; ValueError, with what is wrong, if it cannot."""


def endpoint(answer: str) -> str:
    """An IPv4 address, perhaps with a port."""
    try:
        _ENDPOINT.validate_python(answer)
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    return answer


def endpoint_or_none(answer: str) -> str:
    """As `endpoint`, or the word none."""
    return NONE if answer.lower() in (NONE, "") else endpoint(answer)


def digits(answer: str) -> str:
    """An X.121 address."""
    try:
        return _DIGITS.validate_python(answer)
    except ValidationError:
        raise ValueError(f"{answer!r} is not an X.121 address (1 to 15 digits)") from None


def other_than(taken: Mapping[str, str], check: Check) -> Check:
    """What `check` takes, but none of these. taken: what stands there, by what it is in words."""

    def checked(answer: str) -> str:
        found = check(answer)
        for what, value in taken.items():
            if same(found, value):
                raise ValueError(f"{found!r} is {what}; give each its own")
        return found

    return checked


def same(one: str, other: str) -> bool:
    """Whether two answers are one X.121 address, or one IPv4 address and port."""
    return one == other or _as_endpoint(one) == _as_endpoint(other) is not None


def _as_endpoint(answer: str) -> tuple[str, int] | None:
    try:
        return _ENDPOINT.validate_python(answer)
    except ValidationError:
        return None


def one_of(known: Collection[str]) -> Check:
    """One of these words."""

    def check(answer: str) -> str:
        if answer.lower() in known:
            return answer.lower()
        near = get_close_matches(answer.lower(), list(known), 1)
        hint = f"; did you mean {near[0]}?" if near else f"; it is one of {', '.join(known)}"
        raise ValueError(f"{answer!r} is not known{hint}")

    return check


def pics_items(answer: str) -> str:
    """Names of PICS items with blanks or commas between, or the word none."""
    found = [] if answer.lower() == NONE else re.split(r"[\s,]+", answer.strip().upper())
    for item in filter(None, found):
        if item not in PICS_ITEMS:
            near = get_close_matches(item, list(PICS_ITEMS), 1)
            like = [i for i in PICS_ITEMS if i[:2] == item[:2]] or list(PICS_ITEMS)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(like)}"
            raise ValueError(f"{item!r} is not a PICS item; {hint}")
    return " ".join(dict.fromkeys(filter(None, found)))


def refuse(message: object) -> NoReturn:
    """End with what is wrong on standard error, status 2."""
    complain(message)
    sys.exit(2)


def can_ask() -> bool:
    """Whether somebody sits at a terminal."""
    return sys.stdin.isatty()


class Questions:
    """Takes what options give, asks for the rest, and asks again where an answer cannot be.

    asking: whether somebody is there; nobody is asked otherwise, and the defaults hold.
    """

    def __init__(self, asking: bool) -> None:
        self.asking = asking

    def ask(
        self,
        value: str | None,
        option: str,
        question: str,
        check: Check,
        default: str | None = None,
    ) -> str:
        """The option's value, an answer, or the default. Ends the command for a bad option, and
        where a value is needed and nobody can be asked."""
        if value is None and self.asking:
            return self._answer(question, check, default)
        if value is None and default is None:
            refuse(f"{option} is missing, and there is no terminal to ask on")
        try:
            return check(default if value is None else value)  # type: ignore[arg-type]
        except ValueError as error:
            refuse(f"{option}: {one_line(error)}")

    def _answer(self, question: str, check: Check, default: str | None) -> str:
        while True:
            answer: str = click.prompt(question, default=default)
            try:
                return check(answer.strip())
            except ValueError as error:
                tell(f"  {one_line(error)}")

    def explain(self, lines: Iterable[str]) -> None:
        """What has to be known for the next question, if there is one."""
        if self.asking:
            for line in lines:
                tell(line)

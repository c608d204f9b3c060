# SPDX-License-Identifier: GPL-2.0-or-later
"""How a fault is described and switched on.

A fault is a function that gets a Patch and replaces named parts of the router with it. A fault may
have one number, given as BUG-XOT-20=5; the text says what it is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


class Patch:
    """Replaces attributes of classes and modules, and puts them back."""

    def __init__(self, number: float = 0.0) -> None:
        self.number = number
        self._undo: list[tuple[Any, str, Any]] = []

    def replace(self, owner: Any, name: str, new: Any) -> None:
        """Put something else in the place of owner.name, which has to exist."""
        self._undo.append((owner, name, vars(owner).get(name, _ABSENT)))
        getattr(owner, name)
        setattr(owner, name, new)

    def wrap(self, owner: Any, name: str) -> Callable[[Callable[..., Any]], None]:
        """Decorator: the function takes the original first, then its arguments."""

        def decorate(function: Callable[..., Any]) -> None:
            original = getattr(owner, name)

            def wrapper(*arguments: Any, **keywords: Any) -> Any:
                return function(original, *arguments, **keywords)

            self.replace(owner, name, wrapper)

        return decorate

    def undo(self) -> None:
        """Restore what was there before, last change first."""
        while self._undo:
            owner, name, old = self._undo.pop()
            if old is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, old)


_ABSENT = object()


@dataclass(frozen=True)
class Fault:
    """One fault of the catalogue."""

    id: str
    text: str
    apply: Callable[[Patch], None]
    number: float = 0.0


FAULTS: dict[str, Fault] = {}


def fault(
    identity: str, text: str, number: float = 0.0
) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Register a fault under its id with what the router does wrong."""

    def register(function: Callable[[Patch], None]) -> Callable[[Patch], None]:
        if identity in FAULTS:
            raise ValueError(f"{identity} is there twice")
        FAULTS[identity] = Fault(identity, text, function, number)
        return function

    return register


class UnknownFault(Exception):
    """No fault of that name, or a number that is none."""


def switch_on(names: Iterable[str]) -> list[Patch]:
    """Apply faults given as ID or ID=number. Raises UnknownFault before anything is changed."""
    chosen: list[tuple[Fault, float]] = []
    for name in names:
        identity, equals, number = name.partition("=")
        known = FAULTS.get(identity)
        if known is None:
            raise UnknownFault(f"no fault {identity!r}; --list-faults shows them all")
        try:
            chosen.append((known, float(number) if equals else known.number))
        except ValueError:
            raise UnknownFault(f"{name}: {number!r} is not a number") from None
    patches = []
    for known, value in chosen:
        patch = Patch(value)
        known.apply(patch)
        patches.append(patch)
    return patches

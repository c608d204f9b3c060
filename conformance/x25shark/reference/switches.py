# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be switched on in the reference router by name: faults, and legal variants.

Each is a function that gets a Patch and replaces named parts of the router with it, so that the
router's own text stays that of a right and plain router. A switch may have one number, given as
BUG-XOT-20=5; its text in the catalogue says what it is.
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

Apply = Callable[[Patch], None]


@dataclass(frozen=True)
class Switch:
    """One thing to switch on; number: what stands behind "=" unless something else is given.

    text: what it does, where the catalogue does not say it.
    """

    id: str
    apply: Apply
    number: float = 0.0
    text: str = ""


class UnknownSwitch(Exception):
    """No switch of that name, or a number that is none."""


class Switches(dict[str, Switch]):
    """All switches of one kind, by id. kind: "fault" or "variant", for messages."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def register(
        self, identity: str, number: float = 0.0, *, text: str = ""
    ) -> Callable[[Apply], Apply]:
        """Decorator: register a function under its id. The catalogue says what it does, or text."""

        def keep(function: Apply) -> Apply:
            if identity in self:
                raise ValueError(f"{identity} appears twice")
            self[identity] = Switch(identity, function, number, text)
            return function

        return keep

    def named(self, names: Iterable[str]) -> list[tuple[Switch, float]]:
        """Switches given as ID or ID=number, with their numbers. Raises UnknownSwitch."""
        chosen: list[tuple[Switch, float]] = []
        for name in names:
            identity, equals, number = name.partition("=")
            known = self.get(identity)
            if known is None:
                raise UnknownSwitch(
                    f"no {self.kind} {identity!r}; x25shark router --list-{self.kind}s "
                    "shows them all"
                )
            try:
                chosen.append((known, float(number) if equals else known.number))
            except ValueError:
                raise UnknownSwitch(f"{name}: {number!r} is not a number") from None
        return chosen

    def switch_on(self, names: Iterable[str]) -> list[Patch]:
        """Apply switches given as ID or ID=number, in this order.

        Raises UnknownSwitch before anything is changed.
        """
        patches = []
        for known, value in self.named(names):
            patch = Patch(value)
            known.apply(patch)
            patches.append(patch)
        return patches

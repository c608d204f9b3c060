# SPDX-License-Identifier: GPL-2.0-or-later
"""Matchers: what the field of a template may be instead of one value.

Each can do three things: say whether a decoded value is right, write itself as the right-hand side
of a Wireshark display filter, and write itself for people (0|1|128..255|absent).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Value = int | str | bytes


def literal(value: Value) -> str:
    """A value as a display filter writes it."""
    if isinstance(value, bytes):
        # The colon in front: a single octet may be the name of a protocol (dc, fc, ff).
        return (":" if len(value) == 1 else "") + ":".join(f"{octet:02x}" for octet in value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)


class Matcher(ABC):
    """A set of allowed values of one field."""

    @abstractmethod
    def matches(self, value: Any) -> bool:
        """Whether the decoded value (None: the field is absent) is allowed."""

    @abstractmethod
    def filter(self, field: str) -> str:
        """The same as a display filter on that field (with its layer number)."""

    @abstractmethod
    def examples(self) -> tuple[Value, ...]:
        """Some allowed values."""


@dataclass(frozen=True)
class OneOf(Matcher):
    """Any of the values listed; None means that the field may be absent."""

    values: tuple[Value | None, ...]

    def matches(self, value: Any) -> bool:
        return value in self.values

    def filter(self, field: str) -> str:
        present = [v for v in self.values if v is not None]
        numbers = sorted(v for v in present if isinstance(v, int))
        parts = []
        if numbers and len(numbers) == len(present):
            parts.append(f"{field} in {{{', '.join(_ranges(numbers))}}}")
        else:
            parts += [f"{field} == {literal(v)}" for v in present]
        if None in self.values:
            parts.append(f"!({field})")
        return parts[0] if len(parts) == 1 else "(" + " || ".join(parts) + ")"

    def examples(self) -> tuple[Value, ...]:
        return tuple(v for v in self.values if v is not None)

    def __str__(self) -> str:
        numbers = sorted(v for v in self.values if isinstance(v, int))
        others = ["absent" if v is None else _shown(v) for v in self.values if v not in numbers]
        return "|".join([*_ranges(numbers), *others])


@dataclass(frozen=True)
class Named(OneOf):
    """Values that have a name together; others: those beside them, which have none."""

    name: str = ""
    others: tuple[Value | None, ...] = ()

    def __str__(self) -> str:
        return "|".join([self.name, *([str(OneOf(self.others))] if self.others else [])])


@dataclass(frozen=True)
class Between(Matcher):
    """An integer from low to high, both included."""

    low: int
    high: int

    def matches(self, value: Any) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high

    def filter(self, field: str) -> str:
        return f"({field} >= {self.low} && {field} <= {self.high})"

    def examples(self) -> tuple[Value, ...]:
        return (self.low, self.high)

    def __str__(self) -> str:
        return f"{self.low}..{self.high}" if self.low != self.high else str(self.low)


@dataclass(frozen=True)
class Either(Matcher):
    """What any of several matchers allows."""

    matchers: tuple[Matcher, ...]

    def matches(self, value: Any) -> bool:
        return any(m.matches(value) for m in self.matchers)

    def filter(self, field: str) -> str:
        return "(" + " || ".join(m.filter(field) for m in self.matchers) + ")"

    def examples(self) -> tuple[Value, ...]:
        return tuple(e for m in self.matchers for e in m.examples())

    def __str__(self) -> str:
        return "|".join(str(m) for m in self.matchers)


@dataclass(frozen=True)
class NotIn(Matcher):
    """Present, and none of the values listed."""

    values: tuple[Value, ...]

    def matches(self, value: Any) -> bool:
        return value is not None and value not in self.values

    def filter(self, field: str) -> str:
        refused = " || ".join(f"{field} == {literal(v)}" for v in self.values)
        return f"({field} && !({refused}))"

    def examples(self) -> tuple[Value, ...]:
        return ()

    def __str__(self) -> str:
        return "any but " + "|".join(_shown(v) for v in self.values)


@dataclass(frozen=True)
class Absent(Matcher):
    """The field is not there (an octet field: it is there with no octets, or not at all)."""

    def matches(self, value: Any) -> bool:
        return value is None or value in ("", b"")

    def filter(self, field: str) -> str:
        return f"!({field})"

    def examples(self) -> tuple[Value, ...]:
        return ()

    def __str__(self) -> str:
        return "absent"


ABSENT = Absent()


def one_of(*values: Value | Iterable[Value] | None) -> OneOf:
    """Any of the values; a range or another iterable stands for all it holds."""
    flat: list[Value | None] = []
    for value in values:
        if value is None or isinstance(value, (int, str, bytes)):
            flat.append(value)
        else:
            flat.extend(value)
    return OneOf(tuple(dict.fromkeys(flat)))


# Causes with which a DTE clears, resets or restarts of its own accord (X.25 5.2.4.1.1, 5.4.3.1).
OF_A_DTE = one_of(0, range(0x80, 0x100))


def between(low: int, high: int) -> Between:
    """An integer from low to high, both included."""
    return Between(low, high)


def either(*matchers: Matcher) -> Either:
    """What any of the matchers allows."""
    return Either(matchers)


def not_in(*values: Value) -> NotIn:
    """Any value but these."""
    return NotIn(values)


def _ranges(numbers: list[int]) -> list[str]:
    """Numbers as text, runs of three and more as ranges, as a display filter writes them."""
    found: list[str] = []
    start = 0
    for at in range(1, len(numbers) + 1):
        if at < len(numbers) and numbers[at] == numbers[at - 1] + 1:
            continue
        run = numbers[start:at]
        found += [f"{run[0]}..{run[-1]}"] if len(run) > 2 else [str(n) for n in run]
        start = at
    return found


def _shown(value: Value) -> str:
    if isinstance(value, bytes):
        return value.hex() if len(value) <= 16 else f"{value[:16].hex()}... ({len(value)} octets)"
    return str(value)

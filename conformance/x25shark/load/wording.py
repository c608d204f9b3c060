# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers as people read them, for the terminal, the page and the plots alike."""

from __future__ import annotations


def count(number: float) -> str:
    """A number with thin groups: 1 234 567."""
    return f"{number:,.0f}".replace(",", " ")


def rate(number: float) -> str:
    """A rate: with a decimal where it is small."""
    return f"{number:.1f}" if 0 < number < 100 else count(number)


def plural(number: int, noun: str) -> str:
    """ "1 circuit", "4 circuits"."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def octets(number: float) -> str:
    """Octets with a decimal unit: 1.75 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(number) < 1000 or unit == "GB":
            return f"{number:.0f} B" if unit == "B" else f"{number:.2f} {unit}"
        number /= 1000
    raise AssertionError


def octet_rate(number: float) -> str:
    """Octets per second: 1.75 MB/s."""
    return f"{octets(number)}/s"


def milliseconds(value: float | None) -> str:
    """Milliseconds with a microsecond's precision where it is small."""
    if value is None:
        return "-"
    if value >= 1000:
        return count(value)
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def percent(share: float) -> str:
    return f"{share:.0%}"


def duration(seconds: float) -> str:
    return f"{seconds:.2f} s"

# SPDX-License-Identifier: GPL-2.0-or-later
"""What was made of octets, for whoever asks again, in bounded memory whatever the octets are."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

# It takes octets first.
_Function = TypeVar("_Function", bound=Callable[..., Any])
# Up to how many octets, and how many of such a length are remembered. A packet takes a kilobyte
# of memory for each facility, which may have two octets: the longest takes 125 of them.
_SHORT, _SHORT_ONES = 32, 1024
_MIDDLE, _MIDDLE_ONES = 256, 64
_LONG_ONES = 16


def remembered(make: _Function) -> _Function:
    """Make the same of the same octets once, as long as that is remembered. Do not change it."""
    short = lru_cache(maxsize=_SHORT_ONES)(make)
    middle = lru_cache(maxsize=_MIDDLE_ONES)(make)
    long = lru_cache(maxsize=_LONG_ONES)(make)

    @wraps(make)
    def made(octets: bytes, *more: Any, **named: Any) -> Any:
        length = len(octets)
        ask = short if length <= _SHORT else middle if length <= _MIDDLE else long
        return ask(octets, *more, **named)

    return cast(_Function, made)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The legal variants of the reference router, by the ids of the permissions in the catalogue."""

from ..switches import Patch, Switches

__all__ = ["VARIANTS", "Original", "Patch", "variant"]

from collections.abc import Callable
from typing import Any

Original = Callable[..., Any]
VARIANTS = Switches("variant")


def variant(identity: str, number: float = 0.0) -> Callable[..., Any]:
    """Decorator: the function puts the permitted behaviour of this id on the router.

    Its text and clause are in the catalogue. number: what "=" gives it unless given.
    """
    return VARIANTS.register(identity, number)

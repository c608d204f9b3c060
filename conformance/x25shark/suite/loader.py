# SPDX-License-Identifier: GPL-2.0-or-later
"""Which purposes have a case, without running pytest."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from ..catalogue import Purpose, catalogue
from ..sides.bench import Bench
from .language import ATTRIBUTE


@dataclass(frozen=True)
class Case:
    """The case of a purpose: its function, and how the preamble call is set up."""

    purpose: Purpose
    function: Callable[..., None]
    options: dict[str, Any]


def body_of(function: Callable[..., None], options: dict[str, Any]) -> Callable[[Bench], None]:
    """A case as the campaign runs it: with the bench, or a call, or both, as its arguments say."""
    wants = set(inspect.signature(function).parameters)

    def body(bench: Bench) -> None:
        given: dict[str, Any] = {}
        if "bench" in wants:
            given["bench"] = bench
        if "call" in wants:
            given["call"] = bench.call(**options)
        function(**given)

    return body


class SelectionError(Exception):
    """A selection that names nothing; the message says what."""


@cache
def cases() -> dict[str, Case]:
    """Every case by the id of its purpose, in catalogue order."""
    package = importlib.import_module(__package__ or "")
    found: dict[str, Case] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if not info.name.startswith("test_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        for function in vars(module).values():
            marked = getattr(function, ATTRIBUTE, None)
            if isinstance(marked, tuple):
                identifier, options = marked
                if identifier in found:
                    raise SelectionError(f"two cases for {identifier}")
                found[identifier] = Case(catalogue().purposes[identifier], function, options)
    return {i: found[i] for i in catalogue().purposes if i in found}


def select(expression: str, known: list[str]) -> list[str]:
    """The ids that an expression names, in their order.

    The expression is a list of ids, groups or patterns with commas or blanks between them:
    "XOT-HDR PLP-RST-0*". An item with "!" in front takes away what it names. Raises
    SelectionError for an item that names nothing.
    """
    items = expression.replace(",", " ").split()
    chosen: set[str] = set() if any(not i.startswith("!") for i in items) else set(known)
    for item in items:
        name = item.removeprefix("!").upper()
        matched = {
            k for k in known if fnmatchcase(k.upper(), name) or k.upper().rsplit("-", 1)[0] == name
        }
        if not matched:
            groups = sorted({k.rsplit("-", 1)[0] for k in known})
            raise SelectionError(
                f"{item!r} names no case; groups are {', '.join(groups)} "
                "(x25shark list shows all cases)"
            )
        chosen = chosen - matched if item.startswith("!") else chosen | matched
    return [k for k in known if k in chosen]

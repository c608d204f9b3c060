# SPDX-License-Identifier: GPL-2.0-or-later
"""Which purposes have a case, without running pytest."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from ..catalogue import Purpose, catalogue
from ..sides.bench import Bench, Call
from ..sides.outcomes import NotApplicable
from .clearing import end
from .language import ATTRIBUTE, BOTH_SIDES, EACH_LINE
from .selection import SelectionError


@dataclass(frozen=True)
class Case:
    """The case of a purpose: its function, and how the preamble call is set up."""

    purpose: Purpose
    function: Callable[..., None]
    options: dict[str, Any]


def body_of(function: Callable[..., None], options: dict[str, Any]) -> Callable[[Bench], None]:
    """A case as the campaign runs it: with the bench, or a call, or both, as its arguments say."""
    wants = set(inspect.signature(function).parameters)
    how = {name: value for name, value in options.items() if name not in (BOTH_SIDES, EACH_LINE)}
    both_sides = BOTH_SIDES in options
    each_line = EACH_LINE in options

    def body(bench: Bench) -> None:
        given: dict[str, Any] = {}
        if "bench" in wants:
            given["bench"] = bench
        if "call" in wants:
            given["call"] = bench.call(**how)
        function(**given)
        if both_sides and bench.two_sided:
            # The first call is over, or a router for one call at a time would refuse the second.
            end_quietly(given["call"])
            function(**{**given, "call": bench.call(**how).turned()})
        if each_line:
            on_the_others(bench, partial(function, **given))

    return body


def on_the_others(bench: Bench, again: Callable[[], None]) -> None:
    """Run a case about one line on each line that it has left aside."""
    for name in sorted(bench.lines):
        if not bench.lines[name].watched:
            bench.serial.turn_to(name)
            try:
                again()
            except NotApplicable as why:
                bench.remark(f"line.{name}: {why}")


def end_quietly(call: Call) -> None:
    """End a call that has done its duty; how, is not what the case is about."""
    there = call.a.connection.end is None and not call.a.connection.closed
    with call.bench.preamble():
        if call.a.phase == "connected" and there:
            end(call)


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the trials of a bench say: of a search, of loss that no rate explains, of overload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .search import GOALS, Bounds, Found
from .trial import KINDS, Trial

STANDSTILL_MS = 50.0
"""A path stands still at times where 5 % of the messages at light load take longer than this, and
ten times as long as half of them."""
LESS = 0.8
"""Carrying less than this share of the maximum when overloaded is named."""
WELL_BELOW = 0.98
BELOW = 0.9
RARE = 1e-4
"""Loss that a throughput should be sure of."""


def conclude(found: Found, seconds: float) -> dict[str, Any]:
    """What a search says: a rate may be called throughput only if nothing was ever lost below it.

    rate is what the further phases go by: the lower bound, or where there is none without loss the
    one with half a percent.
    """
    without, half = (found.goals[goal] for goal in GOALS)
    short = without.lower is None and any(t.clean for t in found.trials)
    if short:
        without = by_short_trials(found.trials)
    loss = loss_below(found, without)
    rate = (without.lower or half.lower) if not loss else (half.lower or without.lower)
    return {
        "rate": rate or max(carried(found), 1.0),
        "said": without.lower is not None and not loss,
        "lower": without.lower,
        "upper": without.upper,
        "half_percent_lower": half.lower,
        "half_percent_upper": half.upper,
        "complete": found.complete,
        "problem": found.problem,
        "short": short,
        "seconds": seconds,
        "clean_messages": _clean_messages(found.trials),
        "loss": loss,
    }


def partly(trials: Sequence[Trial], seconds: float) -> dict[str, Any]:
    """What a search says that did not come to its end: bounds, but no throughput.

    Its last trial may be the one in which the router went; what was lost in it says nothing.
    """
    nothing = dict.fromkeys(GOALS, Bounds(None, None))
    before = list(trials[:-1] or trials)
    return conclude(Found(nothing, before, complete=False), seconds) | {"said": False}


def by_short_trials(trials: Sequence[Trial]) -> Bounds:
    """What trials of any length say, where time was over before any rate had its full trials."""
    lossy = min((t.rate for t in trials if t.rate and not t.clean), default=None)
    clean = [t.rate for t in trials if t.rate and t.clean and (lossy is None or t.rate < lossy)]
    return Bounds(max(clean, default=None), lossy)


def loss_below(found: Found, without: Bounds) -> str:
    """In words what was lost at rates at which the path is not slow; empty: nothing.

    Loss that does not depend on the rate says nothing of throughput: the search would only go down
    until a trial was too small to show it.
    """
    # A path that drops does so from its throughput on, which is a little below what it carries.
    carries = carried(found)
    below = [t for t in found.trials if (t.rate or 0) <= carries * WELL_BELOW]
    if words := _harm(below):
        return words
    if without.lower is None or without.lower > carries * BELOW:
        return ""
    # The rate without loss is far below that with a little: fewer messages may be all that lets it
    # look so. Not if so many got through that the same loss would have shown among them.
    above = [t for t in found.trials if without.lower < (t.rate or 0) <= carries]
    lost, offered = sum(t.harmed for t in above), sum(t.offered for t in above)
    rare = offered > 0 and lost / offered < unseen(_clean_messages(found.trials))
    return _harm(above) if rare else ""


def carried(found: Found) -> float:
    """Messages/s that the path carries with at most half a percent lost, as far as is known."""
    most = max((trial.carried for trial in found.trials), default=0.0)
    return found.goals[GOALS[1]].lower or most


def _harm(trials: Sequence[Trial]) -> str:
    """What no slowness explains in these trials."""
    return _of_kinds(KINDS[1:], [(trial.lost, trial.offered) for trial in trials])


def _clean_messages(trials: Sequence[Trial]) -> int:
    return sum(trial.offered for trial in trials if trial.clean)


def unseen(clean_messages: int) -> float:
    """The share that may be lost although none of so many was, with 95 % confidence."""
    return 3 / max(clean_messages, 3)


def spoilt(row: Mapping[str, Any]) -> str:
    """In words what arrived that never should, at whatever rate; empty: nothing.

    Of a message of several packets the rest may be there where one was dropped.
    """
    kinds = ["duplicated", "wrong_circuit", *(["corrupt"] if row["packets"] == 1 else [])]
    others = [row[name] for name in ("maximum", "plus_25", "flood") if row.get(name)]
    trials = [*row["trials"], *others]
    return _of_kinds(kinds, [(trial["lost"], trial["offered"]) for trial in trials])


def _of_kinds(kinds: Sequence[str], trials: Sequence[tuple[Mapping[str, int], int]]) -> str:
    """How many messages of trials (by kind, and all) were lost so."""
    found = {kind: sum(lost[kind] for lost, _ in trials) for kind in kinds}
    words = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in found.items() if n)
    return f"{words} of {sum(offered for _, offered in trials)} messages" if words else ""


def standstill(row: dict[str, Any]) -> str:
    """In words where a path stands still at light load; empty: it does not."""
    for one in row.get("delays", []):
        router, control = one["router"], one["control"]
        if one["load"] != "light" or not router or not control:
            continue
        slow = router["p95"]
        if slow > STANDSTILL_MS and slow > max(10 * router["p50"], 4 * control["p95"]):
            return (
                f"stands still at times: at light load 5 % of the messages take longer than "
                f"{slow:.0f} ms, the slowest {router['max']:.0f} ms, half of them "
                f"{router['p50']:.1f} ms or less"
            )
    return ""


def overloaded(row: dict[str, Any]) -> list[str]:
    """In words where a router carries less when it is offered more."""
    maximum = row["maximum"]["carried"]
    return [
        f"carries {row[name]['carried']:.0f} messages/s at {words}, {maximum:.0f} at its maximum"
        for name, words in (("plus_25", "+25 %"), ("flood", "flood"))
        if row["share_of_maximum"][name] < LESS
    ]

# SPDX-License-Identifier: GPL-2.0-or-later
"""By how much what a router shows of its counters may be too old, as calls show it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from x25shark.suite.counting import MOST_AGE, PAUSE, Shown, age_by


def calls(lengths: Sequence[float], period: float, first: float = 0.3) -> list[Shown]:
    """Calls of these lengths to a router that gathers its counters once in a period.

    It does so when it is asked. The first page was gathered so long before the first call.
    """
    found, gathered, now = [], -first, 0.0
    for length in lengths:
        began, now = now, now + length
        over, unseen = now, began
        while now - gathered <= period:
            unseen, now = now, now + PAUSE
        gathered = now
        found.append(Shown(began, over, unseen, now))
    return found


@pytest.mark.parametrize("period", [0.4, 1.0, 5.0, MOST_AGE])
@pytest.mark.parametrize("length", [0.001, 0.1, 0.3, 0.39, 0.9])
def test_no_page_is_older_than_what_is_found(period: float, length: float) -> None:
    """Under load a call may take nearly as long as a page is shown, or longer."""
    assert period <= age_by(calls([length] * 4, period)) <= period + 2 * length + 4 * PAUSE


@pytest.mark.parametrize("lengths", [[1.5, 0.1, 2.0, 0.5], [0.1, 1.5, 0.2, 1.5]])
def test_one_call_that_had_to_wait_is_enough(lengths: list[float]) -> None:
    assert age_by(calls(lengths, 1.0)) >= 1.0


def test_where_every_call_takes_long_pages_may_be_that_old() -> None:
    assert age_by(calls([1.5, 2.0, 1.2, 1.4], 1.0)) >= 1.0


def test_a_router_that_counts_at_once_shows_what_is() -> None:
    assert age_by(calls([0.01, 3.0, 2.0, 0.01, 0.01], 0.0)) == 0
    assert age_by([]) == 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""Diagnostics where the router is the DCE, and where it is not."""

from __future__ import annotations

import pytest
from x25shark.judges.values import ABSENT, between, one_of
from x25shark.sides.diagnostics import Diagnostics, as_no_dce


def test_a_state_may_be_the_mirrored_one() -> None:
    of_a_dce = Diagnostics((21,), (21,))
    assert not of_a_dce.matches(22)
    elsewhere = as_no_dce(of_a_dce)
    assert elsewhere.matches(21)
    assert elsewhere.matches(22)
    assert not elsewhere.matches(25)
    assert not elsewhere.matches(None)


def test_what_the_level_adds_is_not_mirrored() -> None:
    """18 has a mirror, but stands here for no state of its own."""
    assert not as_no_dce(Diagnostics((33, 18), (33,))).matches(19)


@pytest.mark.parametrize(
    "wanted", [0, one_of(0, 7), between(0, 7), Diagnostics((33, 32, 0), (33,))]
)
def test_0_may_be_left_out(wanted: object) -> None:
    found = as_no_dce(wanted)
    assert found.matches(None)
    assert found.matches(0)
    assert not found.matches(8)


@pytest.mark.parametrize("wanted", [7, one_of(7, 8), between(1, 7), ABSENT])
def test_another_stays_as_it_is(wanted: object) -> None:
    assert as_no_dce(wanted) == wanted

# SPDX-License-Identifier: GPL-2.0-or-later
"""A router whose system gives it the same port twice in one case is not at fault."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from x25shark.judges.expectation import Direction
from x25shark.sides.listeners import Listeners

TESTER = ("127.0.0.3", 1998)


@pytest.mark.parametrize(("ports", "same"), [((1, 2, 3), False), ((1, 2, 1), True)])
def test_the_same_port_twice_is_noticed(ports: tuple[int, ...], same: bool) -> None:
    context = SimpleNamespace(same_ends=False)
    points: Any = SimpleNamespace(context=context, waiting={})
    nothing: Any = None
    listeners = Listeners(points, nothing, nothing, {})
    for port in ports:
        direction = Direction(("127.0.0.1", port), TESTER)
        listeners.note_ends(direction)
    assert context.same_ends is same

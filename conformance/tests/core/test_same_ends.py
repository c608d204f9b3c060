# SPDX-License-Identifier: GPL-2.0-or-later
"""A router whose system gives it the same port twice in one case is not at fault."""

from __future__ import annotations

from typing import cast

import pytest
from x25shark.judges.expectation import Direction
from x25shark.sides.bench import Bench
from x25shark.sides.listeners import Listeners

TESTER = ("127.0.0.3", 1998)


class Connections:
    """What a bench knows of the ends of its connections."""

    def __init__(self) -> None:
        self.same_ends = False


@pytest.mark.parametrize(("ports", "same"), [((1, 2, 3), False), ((1, 2, 1), True)])
def test_the_same_port_twice_is_noticed(ports: tuple[int, ...], same: bool) -> None:
    connections = Connections()
    listeners = Listeners(cast(Bench, connections), {})
    for port in ports:
        direction = Direction(("127.0.0.1", port), TESTER)
        listeners.note_ends(direction)
    assert connections.same_ends is same

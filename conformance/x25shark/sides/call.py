# SPDX-License-Identifier: GPL-2.0-or-later
"""A call with both its ends, and the fence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .side import AbsentSide, Side

if TYPE_CHECKING:
    from .bench import Bench


class Call:
    """A call that is connected. In T2 side b is absent and what it would do is left out."""

    def __init__(self, bench: Bench, a: Side, b: Side | AbsentSide) -> None:
        self.bench = bench
        self.a = a
        self.b = b

    def turned(self) -> Call:
        """The same call with its ends exchanged: what a case has A do, B does."""
        assert isinstance(self.b, Side)
        return Call(self.bench, self.b, self.a)

    @property
    def model(self) -> str:
        """The relay model: local, end-to-end or splice."""
        return self.bench.model

    def fence(self, note: str = "fence") -> None:
        """A round trip from A to B to A on this call.

        When it is through, whatever the router had to send because of what A sent before has
        been sent before it. The octets are plain text of a few characters, so that only a router
        that cannot carry any data fails here.
        """
        there = f"fence {self.bench.number} there".encode()
        back = f"fence {self.bench.number} back".encode()
        self.a.send_message(there)
        if isinstance(self.b, AbsentSide):
            self.a.expect_message(there, note=note)
            return
        self.b.expect_message(there, note=note)
        self.b.send_message(back)
        self.a.expect_message(back, note=note)

    def fence_back(self, note: str = "fence") -> None:
        """The same from B to A to B, for stimuli that B sent."""
        if isinstance(self.b, AbsentSide):
            self.fence(note)
            return
        octets = f"fence {self.bench.number} from B".encode()
        self.b.send_message(octets)
        self.a.expect_message(octets, note=note)
        answer = f"fence {self.bench.number} from A".encode()
        self.a.send_message(answer)
        self.b.expect_message(answer, note=note)

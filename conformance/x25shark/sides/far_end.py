# SPDX-License-Identifier: GPL-2.0-or-later
"""The called end of a case: side B, or what the router itself has in its place (T2)."""

from __future__ import annotations

from .answers import Answers


class FarEnd:
    """What is called, and whether it sends back what it reads."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    @property
    def address(self) -> str:
        """ADDR-B, or the address that the router answers itself (T2)."""
        addresses = self._answers.profile.addresses
        if self._answers.two_sided:
            found = addresses.b
        else:
            found = addresses.echo or addresses.accepts or addresses.ip or addresses.a
        assert found is not None  # the profile was checked for it
        return found

    @property
    def echoes(self) -> bool:
        """Whether the called end sends back what it reads (T2, addresses.echo)."""
        if self._answers.two_sided or self._answers.dials or self.asks_ip:
            return False
        return self._answers.profile.addresses.echo is not None

    @property
    def asks_ip(self) -> bool:
        """Whether the case is about the router's own IP, whose answers the case knows."""
        return "I-IP" in self._answers.purpose.pics

    @property
    def without_echo(self) -> bool:
        """Whether the router's end is one that has no echo (T2), or the one that calls (T6)."""
        return not self._answers.two_sided and not self.asks_ip and not self.echoes

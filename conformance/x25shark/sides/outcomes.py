# SPDX-License-Identifier: GPL-2.0-or-later
"""How a case can end early: each exception is a verdict, or asks for another attempt."""

from __future__ import annotations

from ..judges.expectation import Expectation, Seen


class NotApplicable(Exception):
    """The profile does not have what the case needs; the message says what."""


class NotOnALine(NotApplicable):
    """What a case wants has no counterpart on a serial line; the message says what."""


class ExpectationFailed(Exception):
    """The router contradicted an expectation; the case ends here."""

    def __init__(self, expectation: Expectation, seen: Seen) -> None:
        super().__init__(f"expected {expectation.text}; received: {seen.saw}")
        self.expectation = expectation
        self.seen = seen


class Inconclusive(Exception):
    """The purpose cannot be judged; the message says why."""


class NoChannel(Inconclusive):
    """The router has no room for one more call beside those that are up, and may have none.

    passing: because of calls that ended a moment ago.
    """

    def __init__(self, message: str, *, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing

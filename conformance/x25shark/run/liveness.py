# SPDX-License-Identifier: GPL-2.0-or-later
"""When to stop asking a router that does not answer any more.

A case that failed without a call says little by itself: perhaps the router refuses just this one.
Several without a call in between, or a router that takes no connection, are a reason to make the
sanity call. If it fails, and whenever the router has died, it is started again where the profile
can do that; so often in a run, and no more. If that does not help the remaining cases are NOT RUN,
with the reason, and the sanity call is a FAIL of its own: a run against a dead router must not end
with exit status 0.

A router that connects calls and carries no message any more, as it did before, is asked in the same
way and started again; where that cannot be done, or does not help, the run goes on, since calls can
still be judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

CASES_IN_A_ROW = 5
MOST_RESTARTS = 20
# Those for want of data leave some for a router that dies.
MOST_FOR_DATA = 5


@dataclass(frozen=True)
class Ending:
    """How a case ended, as far as it tells whether the router is still there.

    passed: without a failed expectation. called: a call came about, at both ends, and no flood
    came within it. refused: the router took no TCP connection. carried: Data came from the router.
    """

    passed: bool
    called: bool
    refused: bool
    carried: bool = False


class Liveness:
    """Told of each case; says why the rest of the run is pointless, if it is.

    sanity: makes the sanity call, and gives what went wrong (None: nothing). restart: starts the
    router again and gives what went wrong; None where the profile has no way.
    """

    def __init__(
        self, sanity: Callable[[], str | None], restart: Callable[[], str | None] | None
    ) -> None:
        self._sanity = sanity
        self._restart = restart
        self._restarts = 0
        self._in_vain = 0
        # Whether this router carries data, as far as it has been seen, and how often it was started
        # again because it no longer did.
        self._carries = False
        self._for_data = 0
        self.notes: list[str] = []

    def after(self, case: str, ending: Ending) -> str | None:
        """Why the remaining cases cannot be run; None: go on."""
        if ending.called:
            self._in_vain = 0
        if ending.carried:
            self._carries = True
        elif ending.called and not ending.passed and self._carries:
            self._look_for_data(case)
        if ending.called or ending.passed:
            return None
        self._in_vain += 1
        if self._in_vain < CASES_IN_A_ROW and not ending.refused:
            return None
        why = f"{self._in_vain} cases failed without any call"
        if ending.refused:
            why = "the router took no TCP connection"
        self._in_vain = 0
        wrong = self._sanity()
        if wrong is None:
            return None
        gone = f"the router does not answer any more: {why}, the last {case}; then {wrong}"
        return self._start_again(case, gone)

    def _look_for_data(self, case: str) -> None:
        """A case has failed on a call that no Data came on: perhaps the router lost what it needs
        to carry them."""
        wrong = self._sanity()
        if wrong is None:
            return
        gone = f"the router carries no data any more: none came in {case}; then {wrong}"
        self._for_data += 1
        in_vain = self._start_again(case, gone)
        if in_vain is not None:
            self.notes.append(in_vain)
        self._carries = in_vain is None and self._for_data < MOST_FOR_DATA

    def died(self, case: str, why: str) -> str | None:
        """As after(), where it is known that the router died in that case, or before it."""
        self._in_vain = 0
        if self._restart is None and self._sanity() is None:
            return None
        return self._start_again(case, f"the router does not answer any more: {why}, in {case}")

    def _start_again(self, case: str, gone: str) -> str | None:
        """Start the router again; says why that does not help."""
        if self._restart is None:
            return gone
        if self._restarts == MOST_RESTARTS:
            return f"{gone}; it was started again {MOST_RESTARTS} times, and will not be once more"
        self._restarts += 1
        trouble = self._restart()
        if trouble is not None:
            return f"{gone}; it could not be started again: {trouble}"
        wrong = self._sanity()
        if wrong is not None:
            return f"{gone}; started again, {wrong}"
        self.notes.append(f"the router was started again after {case}: {gone}")
        return None

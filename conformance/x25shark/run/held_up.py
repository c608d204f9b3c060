# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases that are run once more.

Those in which this machine kept the tester away from the router.

A reaction is judged only while the tester was there. Where it was stopped, or had no processor,
for longer than a timer of the router may take to run out, what came in the case is what a right
router sends to a tester that does not answer. Such a case is run once more, unless it passed; if
the tester was away again, nothing can be said.

Those in which two connections had the same addresses and ports, one after the other: what came on
which of them nobody can tell. A system seldom gives a port again so soon.

And those in which the router refused a call because it was not done with calls of cases before,
as far as the tester can know. The second time those are long over: no verdict depends on the case
that ran before.
"""

from __future__ import annotations

import os
import queue
import time
from typing import TYPE_CHECKING

from ..cpu_time import waited
from ..verdicts import Verdict

if TYPE_CHECKING:
    from ..profile import Profile
    from .judging import CaseRecord

# Whatever the profile says: nobody's timers of the packet layer are as short.
_LEAST_SECONDS = 1.0
# T1 (X.25 2.4.8.1) runs from when the router has sent, and the answer takes its time as well.
_SHARE_OF_T1 = 0.5
# What may come to pass because of it: expectations unmet, judges that saw different packets.
_DOUBTFUL = (Verdict.FAIL, Verdict.ERROR, Verdict.INCONCLUSIVE)
# From when on the tester lacks a processor: seconds without one, and as a share of the time.
_LACKS_SECONDS = 0.5
_LACKS_SHARE = 0.4


def longest_away(profile: Profile) -> float:
    """Seconds that the tester may be away without any doubt about a case."""
    times = profile.times
    bounds = [times.soonest, max(times.reaction, _LEAST_SECONDS)]
    for line in profile.line.by_side().values():
        bounds += [_SHARE_OF_T1 * line.t1, line.t3]
    return min(bounds)


def in_words(seconds: float) -> str:
    """Why a case says nothing."""
    return (
        f"this machine kept the tester away for {seconds:.1f} s, in which timers of the router "
        "may have run out"
    )


SAME_ENDS = (
    "two connections of this case had the same addresses and ports, one after the other, and "
    "cannot be told apart"
)


class Lack:
    """Whether this machine has kept the tester waiting for a processor since it was asked last.

    Then the judges must not compute beside a case: what little there is has to do for the tester,
    or the router's timers run out.
    """

    def __init__(self) -> None:
        self._waited = (waited(os.getpid()), time.monotonic())

    def again(self) -> bool:
        before, self._waited = self._waited, (waited(os.getpid()), time.monotonic())
        without, passed = self._waited[0] - before[0], self._waited[1] - before[1]
        return without > max(_LACKS_SECONDS, _LACKS_SHARE * passed)


class OnceMore:
    """The cases that are to be run a second time. Asked and told by any thread."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[CaseRecord] = queue.Queue()

    def wants(self, record: CaseRecord, verdict: Verdict) -> bool:
        """Whether this verdict does not count, for the case will be run again."""
        doubtful = (record.held_up or record.crowded) and not record.died
        if not doubtful or record.body is None or record.second:
            return False
        if verdict not in _DOUBTFUL:
            return False
        self._waiting.put(record)
        return True

    def take(self) -> CaseRecord | None:
        """The next of them."""
        try:
            return self._waiting.get_nowait()
        except queue.Empty:
            return None

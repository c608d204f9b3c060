# SPDX-License-Identifier: GPL-2.0-or-later
"""One case from marker to marker: its bench, how it ends, and what is known of it then."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

from ..interrupts import Interrupted
from ..links.loop import Overdue
from ..sides.bench import Bench
from ..sides.capacity import MOST_ENDED, Ended
from ..sides.outcomes import ExpectationFailed, Inconclusive, NoChannel, NotApplicable
from ..sides.postamble import Patience
from ..verdicts import Verdict
from . import descriptors, held_up
from .deadline import BEHIND_ANOTHER, Bounds
from .dying import was_there, why_gone
from .explaining import Until
from .judging import CaseRecord
from .liveness import Ending
from .observations import called, carried, fault_of_ours, flood, refused
from .options import Options
from .sanity import SANITY
from .surroundings import Surroundings

Body = Callable[[Bench], None]


class CaseRunner:
    """Runs cases one after another.

    run: a number of the run, of which records of what is sent are made. unseen: deaths of the
    router that no case has seen, in words. overdue_at: when the tester was done with a case whose
    time was over (time.monotonic()).
    """

    def __init__(
        self, options: Options, surroundings: Surroundings, bounds: Bounds, run: int
    ) -> None:
        self.bounds = bounds
        self.overdue_at = -math.inf
        self.patience = Patience()
        self.calls_ended: Ended = deque(maxlen=MOST_ENDED)
        self.unseen: list[str] = []
        self._options = options
        self._profile = options.profile
        self._surroundings = surroundings
        self._loop = surroundings.loop
        self._run = run
        self._longest_away = held_up.longest_away(options.profile)
        self._latest = ""

    def perform(self, record: CaseRecord, body: Body) -> Ending | None:
        """Run a case within its markers. None if it turned out not to be applicable.

        None too where this machine had no room for its connections. Raises Interrupted.
        """
        surroundings, loop = self._surroundings, self._loop
        if time.monotonic() < self.overdue_at + 2 * self._profile.times.reaction:
            record.behind = BEHIND_ANOTHER
        bounds, purpose = self.bounds, record.purpose
        loop.begin_case(bounds.of_case(purpose), bounds.for_answers(purpose))
        surroundings.begin(record.number)
        began = time.monotonic()
        bench = self._bench(record)
        interrupted = took_none = False
        try:
            took_none = self._run_body(record, bench, body)
        except KeyboardInterrupt:
            bench.dialling.finish()
            record.failure = (Verdict.NOT_RUN, "interrupted")
            interrupted = True
        record.duration_s = time.monotonic() - began
        _note_what_it_did(record, bench)
        if not interrupted:
            self._look_for_router(record, bench)
            record.flood = flood(bench.sides, surroundings.listeners, loop)
        if record.flood:
            # Nobody judges a flood packet by packet; a few of them at once are much memory.
            record.expectations, record.judge_one = [], None
        surroundings.end(record.number)
        if surroundings.lines.dead and not interrupted:
            record.failure = (Verdict.ERROR, surroundings.lines.dead)
        if loop.shortage and not interrupted:
            record.failure = (Verdict.ERROR, loop.shortage)
        surroundings.behind()
        if record.judge_one is not None:
            record.judge_one = bench.judge_one.at_the_end()
        if loop.away >= self._longest_away:
            record.held_up = held_up.in_words(loop.away)
        elif bench.same_ends:
            record.held_up = held_up.SAME_ENDS
        if interrupted:
            raise Interrupted
        inapplicable = record.failure is not None and record.failure[0] is Verdict.NOT_APPLICABLE
        if inapplicable or loop.shortage:
            return None
        passed = record.failure is None and not record.flood
        ending = Ending(passed, called(bench) and not record.flood, took_none, carried(bench))
        bench.forget()
        return ending

    def _bench(self, record: CaseRecord) -> Bench:
        surroundings = self._surroundings
        bench = Bench(
            self._profile,
            record.purpose,
            self._loop,
            surroundings.listeners,
            self._run,
            record.number,
            self._options.seed + record.turn - 1,
            surroundings.lines.ends,
            self.calls_ended,
            self.patience,
        )
        bench.restart_router = surroundings.restart if surroundings.router else None
        bench.counters_url = surroundings.counters_url
        bench.dialling.before = descriptors.give_back
        return bench

    def _run_body(self, record: CaseRecord, bench: Bench, body: Body) -> bool:
        """Run the case and end its connections. Whether the router took no connection."""
        watched = took_none = False
        began = time.monotonic()
        self._loop.interruptible = True
        try:
            body(bench)
            watched = True
            bench.settle_races()
            bench.settle_own_accord()
        except ExpectationFailed as failed:
            record.failure = (Verdict.FAIL, str(failed))
            record.received = {
                side.direction: Until(side.arrivals.end(), side.connection.end or "")
                for side in bench.sides
            }
            took_none = refused(failed)
        except Inconclusive as why:
            record.failure = (Verdict.INCONCLUSIVE, str(why))
            if isinstance(why, NoChannel) and why.passing:
                record.crowded = str(why)
            took_none = refused(why)
        except NotApplicable as why:
            record.failure = (Verdict.NOT_APPLICABLE, str(why))
        except Overdue:
            took = time.monotonic() - began
            record.failure, record.overdue = self.bounds.overdue(took), True
        except Exception as error:
            record.failure = (Verdict.ERROR, fault_of_ours(error))
        self._loop.no_end()
        try:
            bench.finish(watched=watched)
        except Exception as error:
            record.failure = (Verdict.ERROR, fault_of_ours(error))
        finally:
            self._loop.interruptible = False
        if record.overdue:
            self.overdue_at = time.monotonic()
        return took_none

    def _look_for_router(self, record: CaseRecord, bench: Bench) -> None:
        """Note whether the router died in this case, or was not there from its beginning."""
        if record.purpose is SANITY:
            return
        passed = record.failure is None or record.failure[0] is Verdict.NOT_APPLICABLE
        surroundings = self._surroundings
        gone = why_gone(
            self._profile, self._loop, surroundings.router, surroundings.lines, passed=passed
        )
        if gone and was_there(bench):
            record.died = f"the router died in this case: {gone}"
        elif gone and not self._options.keep_going:
            record.held_up = f"the router was not there when the case began: {gone}"
            self.unseen.append(f"the router died after {self._latest}: {gone}")
        record.gone, self._latest = gone, record.purpose.id


def _note_what_it_did(record: CaseRecord, bench: Bench) -> None:
    record.expectations = bench.expectations
    record.judge_one = bench.judge_one
    record.remarks = bench.remarks
    ends = [*bench.sides, *bench.serial.unseen()]
    record.sent = [u.packet for s in ends for u in s.connection.sent if u.packet]
    record.sides = [(side.name, side.direction) for side in bench.sides]
    record.sides += [(line.name, line.direction) for line in bench.serial.unseen()]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases that have been run and wait for their verdicts.

Behind the cases the capture thread cuts the stream into slices; a process beside this one
(apart.py), or two threads of this one (pipeline.py), judge each, and nobody waits for them until
the end.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack

from ..catalogue import Purpose
from ..evidence.slicer import Slice
from ..interrupts import interrupts
from ..judges.reading import CaptureReader
from ..judges.wireshark import Opening
from ..memory import spare
from ..results import CaseResult
from ..verdicts import Verdict
from .apart import Apart, Here, Outcome
from .builtin_dissector import BuiltinDissector
from .held_up import OnceMore
from .judging import CaseRecord, Judgement, Taken, Watched, broken_off
from .options import Options, Watcher
from .pipeline import MOST_WAITING, Backlog, Pipeline
from .sanity import SANITY
from .surroundings import Surroundings
from .versions import About, about

_log = logging.getLogger(__name__)

# For the evidence of the last cases to be judged, where one of them may have to be run again.
_LAST_SECONDS = 60.0
# Between two looks whether more has been judged.
_LOOK = 0.005


class Deciding:
    """The judges and what they have not judged yet. Used as: prepare(), begin(), join().

    slices: from the capture. settled: takes each result, in any thread. watched: the purposes
    about the whole run.
    """

    def __init__(
        self,
        options: Options,
        watcher: Watcher,
        slices: Backlog,
        surroundings: Surroundings,
        settled: Callable[[CaseResult], None],
        stack: ExitStack,
    ) -> None:
        self.about = About()
        self.once_more = OnceMore()
        self.watched: list[Watched] = []
        #: What the last sanity call on the way came to.
        self.sanity: CaseResult | None = None
        self.judge: CaptureReader | None = None
        self._options = options
        self._watcher = watcher
        self._slices = slices
        self._surroundings = surroundings
        self._put = settled
        self._stack = stack
        self._number = 0
        self._turns: Counter[str] = Counter()
        self._records: dict[int, CaseRecord] = {}
        # Sanity calls made on the way, by number.
        self._probes: set[int] = set()
        self._opening: Opening | None = None
        self._apart: Apart | None = None
        self._judging: Pipeline | Apart | None = None
        # What is judged in this process although another one judges.
        here = Here(options.judge, options.profile.xot_ports)
        stack.callback(here.close)
        self._judgement = Judgement(here.opinion, options.directory)

    # the judges

    def start_apart(self) -> None:
        """Start the process that judges, before there is anything that it must not have.

        Where the system has no process for it, judging is done here.
        """
        spare()
        watches = [(watched.purpose, watched.watch) for watched in self.watched]
        options = self._options
        try:
            apart = Apart(options.judge, options.profile.xot_ports, options.directory, watches)
        except OSError as error:
            _log.warning("judging beside the cases: %s", error.strerror)
            return
        self._stack.callback(apart.close)
        self._apart = apart

    def prepare(self) -> None:
        """Have libwireshark started here, unless another process judges."""
        if self._apart is None:
            self._opening = Opening(self._options.judge, self._options.profile.xot_ports)
            self._stack.callback(self._opening.close)

    def ready(self) -> None:
        """Wait until the judges are there. Raises JudgeError."""
        if self._opening is not None:
            self.judge = self._opening.judge()
            self.about = about(self.judge)
            opinion = BuiltinDissector(self.judge, self.about.wireshark)
            self._judgement = Judgement(lambda: opinion, self._options.directory)
        elif self._apart is not None:
            self.about = self._apart.about()
            if self.about.slower:
                _log.warning("%s", self.about.slower)

    def begin(self) -> None:
        """From here on slices are judged."""
        record_of = self._records.get
        if self._apart is None:
            self._judging = Pipeline(self._slices, self._judgement, record_of, self._settle_slice)
        else:
            self._apart.begin(self._slices, record_of, self._settle_outcome, self.settle)
            self._judging = self._apart

    def computed(self) -> tuple[float, float]:
        """Seconds of processor time of judge one, where it has a process, and of judge two."""
        if self._apart is not None:
            return self._apart.judge_one, self._apart.judge_two
        return 0.0, 0.0 if self.judge is None else self.judge.computed

    # the cases

    def new_record(self, purpose: Purpose, turn: int | None = None) -> CaseRecord:
        """turn: which run of the case it is; None: the next."""
        self._number += 1
        self._turns[purpose.id] += turn is None
        record = CaseRecord(
            self._number,
            purpose,
            rerun=self._options.rerun_command(purpose),
            watched=self.watched,
            turned_away=self._surroundings.turned_away,
            turn=1 if purpose is SANITY else turn or self._turns[purpose.id],
        )
        self._records[self._number] = record
        return record

    def new_probe(self) -> CaseRecord:
        """The record of a sanity call on the way: its result is not one of the run."""
        record = self.new_record(SANITY)
        self._probes.add(record.number)
        return record

    def not_run(self, purpose: Purpose, why: tuple[Verdict, str]) -> None:
        """A purpose about the whole run that cannot be judged has its verdict at once."""
        self._number += 1
        self.settle(CaseRecord(self._number, purpose, failure=why), None)

    def forget_bodies(self) -> None:
        """What is not judged yet is not run once more."""
        for record in list(self._records.values()):
            record.body = None

    def settle(self, record: CaseRecord, found: Slice | None) -> None:
        """Judge a case here and now."""
        judgement = self._judgement
        self._settle_slice(record, found, lambda: judgement.read(record, found))

    def _settle_outcome(self, record: CaseRecord, _found: Slice, outcome: Outcome) -> None:
        """A case was judged in the other process."""
        for noted in outcome.noted:
            noted.add(record.watched, outcome.result)
        self._settled(record, outcome.result)

    def _settle_slice(
        self, record: CaseRecord, found: Slice | None, read: Callable[[], Taken]
    ) -> None:
        try:
            result = self._judgement.decide(read())
            if found is not None and self._watcher.on_judged is not None:
                self._watcher.on_judged(record, found)
        except Exception as error:  # a case may cost its own verdict, never the run
            result = broken_off(record, error)
        self._settled(record, result)

    def _settled(self, record: CaseRecord, result: CaseResult) -> None:
        """A case has its verdict."""
        self._records.pop(record.number, None)
        if record.number in self._probes:
            self.sanity = result
        elif not self.once_more.wants(record, result.verdict):
            self._put(result)

    # waiting

    def keep_up(self) -> None:
        """Judges that do not keep up with the cases would have all of it in memory."""
        self._slices.wait()

    def calm_down(self, most: int = MOST_WAITING) -> None:
        """Wait until no more octets of evidence than these are unjudged.

        After a flood, and after much: one more at once would be too much for dumpcap and for the
        memory.
        """
        self._surroundings.fence()
        self._slices.wait(most)

    def wait(self, seconds: float = _LAST_SECONDS, *, only_doubtful: bool = False) -> None:
        """Have the evidence cut and judged, until every case has its verdict or the time is over.

        only_doubtful: until each has it that may have to be run once more.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not interrupts.in_haste:
            open_still = list(self._records.values())
            if only_doubtful:
                open_still = [r for r in open_still if r.held_up or r.crowded]
            if not open_still:
                return
            self._surroundings.cut()
            self._slices.wait(0)
            time.sleep(_LOOK)

    def join(self) -> None:
        """Wait for the last verdict; no further slice comes."""
        self._slices.put(None)
        if self._judging is not None:
            self._judging.join()

    def settle_rest(self, *, interrupted: bool) -> None:
        """The verdicts of the cases that no slice came of, and of those about the whole run."""
        for record in list(self._records.values()):
            if interrupts.hurried:
                record.failure = (Verdict.NOT_RUN, "interrupted before it was judged")
            elif interrupted and record.judge_one is None:
                # Before its first packet: there is nothing that could have been captured.
                record.failure = record.failure or (Verdict.NOT_RUN, "interrupted")
            self.settle(record, None)
        for watched in self.watched:
            again = self._options.rerun_command(watched.purpose, watched.shown_in)
            self._put(Judgement.whole_run(watched, again))

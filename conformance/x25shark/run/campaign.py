# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the suite, from preflight to results.

Cases run one after another in the main thread. Behind them the capture thread cuts the stream
into slices; a process beside this one (apart.py), or two threads of this one (pipeline.py), judge
each, and nobody waits for them until the end.
"""

from __future__ import annotations

import datetime
import gc
import logging
import math
import os
import queue
import resource
import secrets
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..catalogue import Purpose, catalogue
from ..counters.locations import survey
from ..counters.reader import ReadError, Reading
from ..cpu_time import waited
from ..evidence.capture import Capture, CaptureError
from ..evidence.slicer import Slice, Slicer
from ..interrupts import Interrupted, interrupts
from ..judges.expectation import Direction
from ..judges.reading import CaptureReader, JudgeError
from ..judges.watch import Watch
from ..judges.wireshark import Opening
from ..links import own_addresses, xot
from ..links.loop import Loop, Overdue
from ..links.owners import Owners
from ..links.xot import Address, LinkError, Listener
from ..memory import give_back, spare
from ..profile import Profile, ProfileError
from ..results import CaseResult, Results, RunInfo
from ..sides.bench import PAUSE_SECONDS, START_SECONDS, Bench
from ..sides.capacity import MOST_ENDED, Ended
from ..sides.outcomes import ExpectationFailed, Inconclusive, NoChannel, NotApplicable
from ..sides.postamble import Patience
from ..stored import Texts, keep
from ..verdicts import Verdict, exit_status
from . import held_up
from .apart import COLLECT, Apart, Here, Outcome
from .builtin_dissector import BuiltinDissector
from .deadline import ANY_TIME, BEHIND_ANOTHER, Bounds, Time
from .declared import why_it_runs
from .dying import was_there, why_gone
from .explaining import Until
from .judging import SLOW_ALLOWANCE, CaseRecord, Judgement, Taken, Watched, broken_off
from .lines import Lines
from .liveness import Ending, Liveness
from .observations import called, fault_of_ours, flood, refused
from .pipeline import MOST_WAITING, Backlog, Pipeline
from .repeats import Repeats
from .rights import DIRECTLY, OWN, Rights, RightsError, obtain
from .router import Router, RouterError
from .sanity import SANITY, numbers_pass, patient_sanity_call
from .shown import shown
from .versions import About, about, versions

_log = logging.getLogger(__name__)

MOST_TURNED_AWAY = 20_000
# Octets from the router in one case, of which no two shall be in memory at once.
_LARGE = 1 << 20
# How long a router may take to end the connections of such a case, for its evidence to be whole.
_LAST_FRAMES_SECONDS = 0.25
_SWITCH_INTERVAL = 0.0005
# From when on the tester is held up: seconds without a processor, and as a share of the time.
_HELD_UP_SECONDS = 0.5
_HELD_UP_SHARE = 0.4
# For the evidence of the last cases to be judged, where one of them may have to be run again.
_LAST_SECONDS = 60.0
_FAILED = (Verdict.FAIL, Verdict.ERROR)
JUDGES = ("auto", "libwireshark", "tshark")


class CampaignError(Exception):
    """The run cannot begin; status is the exit status that says so."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Options:
    """What a run is asked to do.

    router_options go to the embedded reference router. repeat: how often each case will be run.
    stop_on_fail: after the first FAIL or ERROR run no further case, and leave the router as it
    is. keep_going: run every case, even if the router does not answer any more. inconclusive_ok:
    INCONCLUSIVE cases do not spoil the exit status. time: that the run may take, from when it
    starts; each case has a bound of its own then. judge_apart: in a process of its own; the
    purposes about the whole run are then those that are known when it starts.
    """

    router: str
    profile: Profile
    directory: Path
    judge: str = "auto"
    seed: int = 0
    slow: bool = False
    selection: str = ""
    command: str = ""
    router_options: tuple[str, ...] = ()
    repeat: int = 1
    stop_on_fail: bool = False
    keep_going: bool = False
    own_namespace: bool = False
    inconclusive_ok: bool = False
    time: Time = ANY_TIME
    judge_apart: bool = False


@dataclass
class Watcher:
    """Told of what happens. on_result is called in the main thread, in the order of verdicts.

    on_judged: gets what a case was judged by, which is given up otherwise.
    """

    on_start: Callable[[Purpose], None] = lambda _purpose: None
    on_result: Callable[[CaseResult], None] = lambda _result: None
    on_judged: Callable[[CaseRecord, Slice], None] | None = None


class Campaign:
    """Used as: start(), run_case() for each case, drain() now and then, finish()."""

    def __init__(self, options: Options, watcher: Watcher | None = None) -> None:
        self.options = options
        self.profile = options.profile
        self.watcher = watcher or Watcher()
        self.loop = Loop()
        self.results: list[CaseResult] = []
        self.notes: list[str] = []
        self.router: Router | None = None
        self.watched: list[Watched] = []
        self._listeners: dict[str, Listener] = {}
        self._run = secrets.token_bytes(16)
        # Of the markers; it never leaves this process, other than the number of the run.
        self._key = secrets.token_bytes(32)
        self._strangers = 0
        self._number = 0
        self._turns: Counter[str] = Counter()
        self._records: dict[int, CaseRecord] = {}
        self._slices = Backlog()
        self._done: queue.Queue[CaseResult] = queue.Queue()
        self._stack = ExitStack()
        self._slicer = Slicer(self._key, self._slices.put, network=options.profile.xot is not None)
        self._lines = Lines(self.profile, self.loop, self._key, self._slicer)
        self._capture: Capture | None = None
        self._judging: Pipeline | Apart | None = None
        # What is judged in this process although another one judges.
        here = Here(options.judge, options.profile.xot_ports)
        self._stack.callback(here.close)
        self._judgement = Judgement(here.opinion, options.directory)
        self._about = About()
        self.judge: CaptureReader | None = None
        self._computed_before = _computed_by_children()
        self._judge_computed = self._judge_one_computed = 0.0
        self._started = time.time()
        self._began = time.monotonic()
        self.gone: str | None = None
        # Sanity calls made on the way, by number, and what the last one came to.
        self._probes: set[int] = set()
        self._sanity: CaseResult | None = None
        # Why no case can FAIL, "" if it can; None: nobody has asked yet.
        self.model_unsaid: str | None = None
        self._stopped = False
        self._texts = Texts()
        self._repeats = Repeats(options.repeat, partial(keep, self._texts))
        self._once_more = held_up.OnceMore()
        self._longest_away = held_up.longest_away(options.profile)
        self._liveness: Liveness | None = None
        self._bounds = Bounds(options.profile, options.time)
        # When the tester was done with a case whose time was over.
        self._overdue_at = -math.inf
        self._cut_short = False
        # The case before, and deaths of the router that no case has seen.
        self._latest = ""
        self._unseen: list[str] = []
        self._turned_away: set[Direction] = set()
        self._calls_ended: Ended = deque(maxlen=MOST_ENDED)
        self._patience = Patience()
        # Seconds without a processor so far, and when that was.
        self._waited = (waited(os.getpid()), time.monotonic())

    # begin

    def start(self) -> None:
        """Rights, judge, router, listening sides, capture. Raises CampaignError."""
        try:
            interrupts.check()
            apart = None
            if self.options.judge_apart:
                spare()
                apart = self._judge_apart()
            rights = obtain(self.profile, own=self.options.own_namespace)
            if rights.how != DIRECTLY:
                self.notes.append(f"capture: {rights.how}")
            opening = None
            if apart is None:
                # libwireshark starts while the router does.
                opening = Opening(self.options.judge, self.profile.xot_ports)
                self._stack.callback(opening.close)
            interrupts.check()
            if self.profile.embedded is not None:
                # The loopback interface is there; that of another router its start may make.
                self._launch_capture(rights)
            self.router = self._stack.enter_context(
                Router(
                    self.profile,
                    self.options.directory / "router.log",
                    self.options.router_options,
                    may_stay=self.options.stop_on_fail,
                )
            )
            if self.router.found_running:
                self.notes.append(self.router.found_running)
            self._listen(others=rights.how != OWN)
            self.loop.interruptible = True
            self._reach()
            self._lines.start()
            if self._capture is None:
                self._launch_capture(rights)
            if self._capture is not None:
                self._capture.begun()
            self._lines.connect(self.router.serial)
            self.loop.interruptible = False
            interrupts.check()
            if opening is not None:
                self._judge_with(opening.judge())
            elif apart is not None:
                self._about = apart.about()
                if self._about.slower:
                    _log.warning("%s", self._about.slower)
        except CampaignError:
            self._close()
            raise
        except (CaptureError, JudgeError) as error:
            self._close()
            raise CampaignError(str(error), 3 if isinstance(error, CaptureError) else 4) from None
        except (LinkError, ProfileError, RightsError, RouterError) as error:
            self._close()
            raise CampaignError(str(error), 2) from None
        except BaseException:
            self._close()
            raise
        # Other threads compute while the cases send and wait: after each system call the case would
        # wait for the interpreter as long as Python's usual 5 ms.
        sys.setswitchinterval(_SWITCH_INTERVAL)
        gc.freeze()
        gc.set_threshold(*COLLECT)
        if not self.options.keep_going:
            can = self.router is not None and self.router.can_restart
            self._liveness = Liveness(self._sanity_call, self.restart_router if can else None)
        if apart is None:
            self._judging = Pipeline(
                self._slices, self._judgement, self._records.get, self._settle_slice
            )
        else:
            apart.begin(self._slices, self._records.get, self._settle_outcome, self._settle)
            self._judging = apart

    def _judge_apart(self) -> Apart | None:
        """Start the process that judges, before there is anything that it must not have.

        None: the system has no process for it, and judging is done here.
        """
        watches = [(watched.purpose, watched.watch) for watched in self.watched]
        ports = self.profile.xot_ports
        try:
            apart = Apart(self.options.judge, ports, self.options.directory, watches)
        except OSError as error:
            _log.warning("judging beside the cases: %s", error.strerror)
            return None
        self._stack.callback(apart.close)
        return apart

    def _judge_with(self, judge: CaptureReader) -> None:
        self._about = about(judge)
        opinion = BuiltinDissector(judge, self._about.wireshark)
        self._judgement = Judgement(lambda: opinion, self.options.directory)
        self.judge = judge

    def _listen(self, *, others: bool) -> None:
        """Open the listening sides. others: other users may connect to them."""
        found = self.profile.xot
        if found is None:
            return
        owners = Owners(found.router, os.geteuid(), ours=self.profile.embedded is not None)
        ends = {"b": found.b, "b2": found.b2}
        own_addresses.demand(
            [end[0] for end in (found.a, *ends.values()) if end is not None], found.router[0]
        )
        if self.profile.two_sided:
            ends["a"] = found.a
        for name, address in ends.items():
            if address is not None:
                self._apart(name, address)
                listener = self._listeners[name] = Listener(self.loop, address)
                self._stack.callback(listener.close)
                if others:
                    listener.stranger = partial(self._stranger, owners, listener.address)

    def _apart(self, name: str, address: Address) -> None:
        """Which side a call is for is told by where it arrives. Raises ProfileError."""
        for other, listener in self._listeners.items():
            if listener.address == address:
                raise ProfileError(
                    f"{self.profile.path}: xot.{name} is {address[0]}:{address[1]}, as xot.{other} "
                    "is: each side of the tester needs an address of its own"
                )

    def _stranger(self, owners: Owners, listener: Address, remote: Address) -> bool:
        """Whether a connection is not of the router; it is not evidence then."""
        strange = owners.stranger(listener, remote)
        if strange:
            self._strangers += 1
            self._slicer.disown(listener, remote)
        return strange

    def _reach(self) -> None:
        """One TCP connection before anything else: an unreachable router is a usage error.

        One that a command of the profile has just started may not listen yet.
        """
        ends = self.profile.xot
        if ends is None or ends.a is None:
            return
        router, own = ends.router, ends.a[0]
        try:
            connection = self.loop.persist(
                lambda: xot.connect(self.loop, router, own, 10.0),
                lambda failed: isinstance(failed, LinkError) and failed.refused,
                seconds=START_SECONDS if self.profile.control.start is not None else 0.0,
                every=PAUSE_SECONDS,
            )
        except LinkError as error:
            raise CampaignError(
                f"the router does not answer: {error}. Check xot.router and xot.a in "
                f"{self.profile.path}, and that the router is running",
                2,
            ) from None
        if self._capture is not None:
            # Its last frames shall not come when the first case is captured.
            connection.finish_sending()
            self.loop.wait(lambda: connection.end is not None, self.profile.times.reaction)
        connection.close()

    def _launch_capture(self, rights: Rights) -> None:
        """Have dumpcap started, if there is anything for it: it takes longer than a router."""
        ends = self.profile.xot
        if ends is None:
            return
        interface = self.profile.capture.interface
        if interface == "auto":
            interface = "lo" if self.profile.is_loopback else "any"
        ports = sorted({end[1] for end in (ends.router, ends.a, ends.b) if end is not None})
        hosts = sorted(self.profile.own_hosts)
        capture = Capture(self._key, self._slicer, interface, ports, rights.prefix, hosts)
        self._stack.callback(capture.abandon)
        capture.launch()
        self._capture = capture

    # cases

    def run_case(self, purpose: Purpose, body: Callable[[Bench], None]) -> None:
        """Run one case; its result comes later (drain, finish)."""
        interrupts.check()
        self._run_once_more()
        # Judges that do not keep up with the cases would have all of it in memory.
        self._slices.wait()
        self._look_at_deadline()
        if self.model_unsaid is None and self._not_to_run(purpose) is None:
            self._look_at_model()
        record = self._new_record(purpose)
        reason = self._not_to_run(purpose)
        if reason is not None:
            record.failure = reason
            self._settle(record, None)
            return
        self.watcher.on_start(purpose)
        record.body = body
        self._run_once(record, body)

    def _look_at_model(self) -> None:
        """Where the profile does not say the relay model, "local" may be wrong.

        Then what the cases expect is not what this router has to do.
        """
        self.model_unsaid = ""
        if self.profile.says_relay_model or self.profile.configuration != "T1":
            return
        record, found = self._new_record(SANITY), list[bool]()
        self._probes.add(record.number)
        self._perform(record, lambda bench: numbers_pass(bench, found))
        if any(found):
            self.model_unsaid = (
                "the profile does not say relay_model, and this router passes the numbers of both "
                'ends through: it has to say relay_model = "end-to-end" or "splice"'
            )
            self.notes.append(self.model_unsaid)

    def _look_at_deadline(self) -> None:
        """No further case when the time of the run is over."""
        if self.gone is None and (why := self._bounds.over()):
            self._cut_short = True
            self.notes.append(why)
            self.stop(why)

    def _run_once_more(self) -> None:
        """Run the cases again in which the tester was away, as far as they are judged."""
        while not interrupts.asked and (first := self._once_more.take()) is not None:
            record = self._new_record(first.purpose, turn=first.turn)
            record.second, record.body = first.held_up or first.crowded, first.body
            if first.crowded:
                self.loop.wait(lambda: False, 2 * self.profile.times.reaction)
                self._calls_ended.clear()
            record.failure = self._not_to_run(first.purpose)
            if record.failure is not None or first.body is None:
                self._settle(record, None)
                continue
            self._run_once(record, first.body)

    def _run_once(self, record: CaseRecord, body: Callable[[Bench], None]) -> None:
        purpose = record.purpose
        self.loop.allowance = SLOW_ALLOWANCE if purpose.slow else 1
        if self._held_up():
            self._calm_down(most=0)
        if (why := self._bounds.why_a_moment) and not self._patience.over:
            self.notes.append(f"from {purpose.id} on each case had only a moment: {why}")
            self._patience.over = True
        began, lag = time.monotonic(), self.loop.lag
        ending = self._perform(record, body)
        if record.flood or self.loop.received > _LARGE:
            self._have_all_captured()
            self._calm_down(most=0)
            give_back(circles=True)
        # That it uses ends again is the router's doing, and a reason to wait for it no longer.
        away = record.held_up not in ("", held_up.SAME_ENDS)
        if ending is not None and not away:
            took = time.monotonic() - began - (self.loop.lag - lag)
            in_vain = self.loop.in_parts if ending.passed else took - self.loop.in_answers
            self._bounds.took_in_vain(purpose, min(max(in_vain, 0.0), took))
        told = ending is not None and not (away or record.gone or record.overdue)
        if record.gone and self._liveness is not None and not self.options.stop_on_fail:
            self.gone = self.gone or self._liveness.died(purpose.id, record.gone)
        if ending is not None and told and self._liveness is not None and self.gone is None:
            self.gone = self._liveness.after(purpose.id, ending)
        self._shorten_log()
        self.drain()
        failed = record.failure is not None and self._as_it_counts(record.failure[0]) in _FAILED
        if (failed and told and not record.held_up) or record.flood or record.died:
            self._stop_on_fail(purpose.id)

    def _shorten_log(self) -> None:
        said = self.router.shorten_log() if self.router is not None else ""
        if said and said not in self.notes:
            self.notes.append(said)

    def _have_all_captured(self) -> None:
        """Give the judges what was captured, also where the router leaves connections open."""
        if self._capture is not None:
            self._capture.fence()
            if self._slicer.open_yet():
                self.loop.wait(lambda: False, _LAST_FRAMES_SECONDS)
                self._capture.fence()
        self._slicer.complete_ended()

    def _calm_down(self, most: int = MOST_WAITING) -> None:
        """Wait until no more octets of evidence than these are unjudged.

        After a flood, and after much: one more at once would be too much for dumpcap and for the
        memory.
        """
        if self._capture is not None:
            self._capture.fence()
        self._slices.wait(most)

    def _held_up(self) -> bool:
        """Whether this machine has kept the tester waiting for a processor since it was asked last.

        Then the judges must not compute beside a case: what little there is has to do for the
        tester, or the router's timers run out.
        """
        before, self._waited = self._waited, (waited(os.getpid()), time.monotonic())
        held_up, passed = self._waited[0] - before[0], self._waited[1] - before[1]
        return held_up > max(_HELD_UP_SECONDS, _HELD_UP_SHARE * passed)

    def _turn_away(self) -> None:
        """Reset the connections that the router opens between the cases, and remember them."""
        if len(self._turned_away) > MOST_TURNED_AWAY:
            self._turned_away.clear()
        for listener in self._listeners.values():
            for remote in listener.turn_away():
                self._turned_away.add(Direction(remote, listener.address))

    def stop(self, why: str) -> None:
        """Run no further case: they are NOT RUN for this reason."""
        self.gone = why
        self._stopped = True

    def _stop_on_fail(self, case: str) -> None:
        """With stop_on_fail: no further case, and the router stays as it is."""
        if self.options.stop_on_fail and self.gone is None:
            self.stop(f"stopped: {case} did not pass")
            if self.router is not None:
                self.notes.append(self.router.leave())

    def _new_record(self, purpose: Purpose, turn: int | None = None) -> CaseRecord:
        """turn: which run of the case it is; None: the next."""
        self._number += 1
        self._turns[purpose.id] += turn is None
        record = CaseRecord(
            self._number,
            purpose,
            rerun=self.rerun_command(purpose),
            watched=self.watched,
            turned_away=self._turned_away,
            turn=1 if purpose is SANITY else turn or self._turns[purpose.id],
        )
        self._records[self._number] = record
        return record

    def _perform(self, record: CaseRecord, body: Callable[[Bench], None]) -> Ending | None:
        """Run a case within its markers. None if it turned out not to be applicable."""
        if time.monotonic() < self._overdue_at + 2 * self.profile.times.reaction:
            record.behind = BEHIND_ANOTHER
        bounds = self._bounds
        self.loop.begin_case(bounds.of_case(record.purpose), bounds.for_answers(record.purpose))
        if self._capture is not None:
            self._capture.begin(record.number)
        self._lines.begin(record.number)
        # What comes from here on was opened after the marker.
        self._turn_away()
        for listener in self._listeners.values():
            listener.begin_case()
        began = time.monotonic()
        bench = Bench(
            self.profile,
            record.purpose,
            self.loop,
            self._listeners,
            int.from_bytes(self._run[:4], "big"),
            record.number,
            self.options.seed + record.turn - 1,
            self._lines.ends,
            self._calls_ended,
            self._patience,
        )
        bench.restart_router = self._restart if self.router else None
        bench.counters_url = self._counters_url
        interrupted = took_none = False
        try:
            took_none = self._run_body(record, bench, body)
        except KeyboardInterrupt:
            record.failure = (Verdict.NOT_RUN, "interrupted")
            interrupted = True
        record.duration_s = time.monotonic() - began
        record.expectations = bench.expectations
        record.judge_one = bench.judge_one
        record.remarks = bench.remarks
        ends = [*bench.sides, *bench.serial.unseen()]
        record.sent = [u.packet for s in ends for u in s.connection.sent if u.packet]
        record.sides = [(side.name, side.direction) for side in bench.sides]
        record.sides += [(line.name, line.direction) for line in bench.serial.unseen()]
        if not interrupted:
            self._look_for_router(record, bench)
        record.flood = "" if interrupted else flood(bench.sides, self._listeners, self.loop)
        if record.flood:
            # Nobody judges a flood packet by packet; a few of them at once are much memory.
            record.expectations, record.judge_one = [], None
        if self._capture is not None:
            self._capture.end(record.number)
        self._lines.end(record.number)
        if self._lines.dead and not interrupted:
            record.failure = (Verdict.ERROR, self._lines.dead)
        self._turn_away()
        self.loop.look()
        if record.judge_one is not None:
            record.judge_one = bench.judge_one.at_the_end()
        if self.loop.away >= self._longest_away:
            record.held_up = held_up.in_words(self.loop.away)
        elif bench.same_ends:
            record.held_up = held_up.SAME_ENDS
        if interrupted:
            raise Interrupted
        if record.failure is not None and record.failure[0] is Verdict.NOT_APPLICABLE:
            return None
        passed = record.failure is None and not record.flood
        ending = Ending(passed, called(bench) and not record.flood, took_none)
        bench.forget()
        return ending

    def _look_for_router(self, record: CaseRecord, bench: Bench) -> None:
        """Note whether the router died in this case, or was not there from its beginning."""
        if record.purpose is SANITY:
            return
        passed = record.failure is None or record.failure[0] is Verdict.NOT_APPLICABLE
        gone = why_gone(self.profile, self.loop, self.router, self._lines, passed=passed)
        if gone and was_there(bench):
            record.died = f"the router died in this case: {gone}"
        elif gone and self._liveness is not None:
            record.held_up = f"the router was not there when the case began: {gone}"
            self._unseen.append(f"the router died after {self._latest}: {gone}")
        record.gone, self._latest = gone, record.purpose.id

    def _counters_url(self) -> str | None:
        """Where the router shows its counters; that of the embedded one changes with a restart."""
        counters = self.profile.counters
        if counters is None or counters.url is not None or self.router is None:
            return counters.url if counters is not None else None
        return self.router.counters_url

    def look_at_counters(self) -> str:
        """Which of the counters that the profile names can be read now, in words."""
        counters, url = self.profile.counters, self._counters_url()
        if counters is None or url is None:
            return ""
        try:
            page = Reading(url, counters.timeout, reader=counters.reader).wait()
        except ReadError as error:
            return f"cannot be read: {error}"
        wanted, missing = survey(counters, page, self.profile.line.by_side())
        words = f"{url}: {wanted - len(missing)} of {wanted} are there"
        return words + (f"; not: {'; '.join(missing)}" if missing else "")

    def _sanity_call(self) -> str | None:
        """What goes wrong with a call as plain as can be; None: nothing."""
        record = self._new_record(SANITY)
        self._probes.add(record.number)
        self._perform(record, patient_sanity_call)
        if record.flood:
            self._calm_down()
            give_back(circles=True)
            return f"the sanity call failed: {record.flood}"
        return None if record.failure is None else f"the sanity call failed: {record.failure[1]}"

    def restart_router(self) -> str | None:
        """Start the router again; what went wrong, or nothing."""
        try:
            self._restart()
        except (CaptureError, RouterError, ProfileError) as error:
            return str(error)
        return None

    def _restart(self) -> None:
        """Start the router again, and connect its lines. Raises RouterError, CaptureError."""
        assert self.router is not None
        self.router.restart()
        self._lines.connect(self.router.serial)
        self.loop.here()

    def watch(self, purpose: Purpose, body: Callable[[Watch], None]) -> None:
        """Take the demands of a purpose about the whole run; before the first case."""
        roles = {side.upper(): line.role for side, line in self.profile.line.by_side().items()}
        model = self.profile.relay_model
        passes = model == "end-to-end" and "N-CHECK" not in self.profile.declared
        watch = Watch(purpose.clause, model, roles, passes_numbers=passes)
        body(watch)
        if self._not_to_run(purpose) is None:
            self.watched.append(Watched(purpose, watch))
        else:
            self._number += 1
            record = CaseRecord(self._number, purpose, failure=self._not_to_run(purpose))
            self._settle(record, None)

    def _run_body(self, record: CaseRecord, bench: Bench, body: Callable[[Bench], None]) -> bool:
        """Run the case and end its connections. Whether the router took no connection."""
        watched = took_none = False
        began = time.monotonic()
        self.loop.interruptible = True
        try:
            body(bench)
            watched = True
            bench.settle_races()
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
            record.failure, record.overdue = self._bounds.overdue(took), True
            self._look_at_deadline()
        except Exception as error:
            record.failure = (Verdict.ERROR, fault_of_ours(error))
        self.loop.no_end()
        try:
            bench.finish(watched=watched)
        except Exception as error:
            record.failure = (Verdict.ERROR, fault_of_ours(error))
        finally:
            self.loop.interruptible = False
        if record.overdue:
            self._overdue_at = time.monotonic()
        return took_none

    def rerun_command(self, purpose: Purpose, shown_in: str | None = None) -> str:
        """The command that runs just this case again.

        shown_in: of a purpose about the whole run, the case that shows it.
        """
        known = catalogue().purposes
        cases = [purpose, known[shown_in]] if shown_in in known else [purpose]
        slow = " --slow" if any(case.slow for case in cases) else ""
        options = "".join(f" {word}" for word in self.options.router_options)
        router = self.options.router
        seed = f" --seed {self.options.seed}" if self.options.seed else ""
        repeat = f" --repeat {self.options.repeat}" if self.options.repeat > 1 else ""
        chosen = ",".join(case.id for case in cases)
        return f"x25shark run --router {router}{options} --select {chosen}{slow}{seed}{repeat}"

    def _not_to_run(self, purpose: Purpose) -> tuple[Verdict, str] | None:
        unmet = purpose.unmet(self.profile.configurations, self.profile.declared, self.profile.has)
        if unmet is not None:
            return Verdict.NOT_APPLICABLE, unmet
        if purpose.slow and not self.options.slow:
            return Verdict.NOT_RUN, "slow; runs with --slow"
        if self.gone is not None:
            return Verdict.NOT_RUN, self.gone
        if self._capture is not None and not self._capture.alive:
            return Verdict.ERROR, f"the capture ended: {self._capture.failure or 'no reason given'}"
        if self._lines.dead:
            return Verdict.ERROR, self._lines.dead
        return None

    def change_router(self, router_options: tuple[str, ...]) -> None:
        """Start the embedded router again with other options. Raises RouterError.

        What is to be run once more runs against the router that it was run against first; what is
        not judged by then is not run again.
        """
        assert self.router is not None
        self._run_the_last_once_more()
        for record in list(self._records.values()):
            record.body = None
        self.options.router_options = router_options
        self.router.options = router_options
        self._restart()

    # verdicts

    def wait_for_verdicts(self, seconds: float = 30.0) -> None:
        """Wait for the verdicts of the cases that have been run, and report them."""
        deadline = time.monotonic() + seconds
        while self._records and time.monotonic() < deadline:
            if self._capture is not None:
                self._capture.fence()
            self._slicer.complete_ended()
            self._slices.wait(0)
            time.sleep(0.005)
        self.drain()

    def _settle(self, record: CaseRecord, found: Slice | None) -> None:
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
            if found is not None and self.watcher.on_judged is not None:
                self.watcher.on_judged(record, found)
        except Exception as error:  # a case may cost its own verdict, never the run
            result = broken_off(record, error)
        self._settled(record, result)

    def _settled(self, record: CaseRecord, result: CaseResult) -> None:
        """A case has its verdict."""
        self._records.pop(record.number, None)
        if record.number in self._probes:
            self._sanity = result
        elif not self._once_more.wants(record, result.verdict):
            self._done.put(result)

    def _as_it_counts(self, verdict: Verdict) -> Verdict:
        """Nothing fails where what it was held against is another relay model's."""
        return Verdict.INCONCLUSIVE if self.model_unsaid and verdict is Verdict.FAIL else verdict

    def drain(self) -> None:
        """Report the verdicts that are final by now."""
        while True:
            try:
                result = self._done.get_nowait()
            except queue.Empty:
                return
            if (counts := self._as_it_counts(result.verdict)) is not result.verdict:
                result.remarks.append(f"with the relay model local it would FAIL: {result.reason}")
                result.verdict, result.reason = counts, self.model_unsaid or ""
            if result.verdict in _FAILED:
                self._stop_on_fail(result.id)
            for final in self._repeats.take(result):
                self._final(final)

    def _final(self, result: CaseResult) -> None:
        if result.verdict is Verdict.FAIL and (purpose := catalogue().purposes.get(result.id)):
            why = why_it_runs(purpose, self.profile)
            result.remarks += [why] if why else []
        self.results.append(result)
        self.watcher.on_result(result)

    # end

    def finish(self, *, interrupted: bool = False) -> Results:
        """Wait for the last verdict, stop everything, and give the results.

        interrupted: no case is to be run again. The same holds if interrupts are counted, and one
        came; with the second, what is not judged by then will not be.
        """
        lost = ""
        interrupts.bring_home()
        if not interrupted:
            self._run_the_last_once_more()
        self._lines.stop()
        try:
            if self._capture is not None:
                self._capture.stop()
            self._slicer.finish()
        except CaptureError as error:
            lost = str(error)
        self._slices.put(None)
        if self._judging is not None:
            self._judging.join()
        interrupted = interrupted or interrupts.asked
        for record in list(self._records.values()):
            if interrupts.hurried:
                record.failure = (Verdict.NOT_RUN, "interrupted before it was judged")
            elif interrupted and record.judge_one is None:
                # Before its first packet: there is nothing that could have been captured.
                record.failure = record.failure or (Verdict.NOT_RUN, "interrupted")
            self._settle(record, None)
        for watched in self.watched:
            again = self.rerun_command(watched.purpose, watched.shown_in)
            self._done.put(Judgement.whole_run(watched, again))
        self._account_for_router()
        self.drain()
        for final in self._repeats.rest():
            self._final(final)
        if self._slicer.lost:
            lost = f"dumpcap lost {self._slicer.lost} packets"
        if lost:
            self._distrust(lost)
        if isinstance(self._judging, Apart):
            self._judge_one_computed = self._judging.judge_one
            self._judge_computed = self._judging.judge_two
        elif self.judge is not None:
            self._judge_computed = self.judge.computed
        self._close()
        order = {purpose: n for n, purpose in enumerate(catalogue().purposes)}
        self.results.sort(key=lambda r: order.get(r.id, len(order)))
        verdicts = [r.verdict for r in self.results]
        status = exit_status(
            verdicts, inconclusive_ok=self.options.inconclusive_ok, cut_short=self._cut_short
        )
        if interrupted or interrupts.asked:
            status = interrupts.status
        return Results(self._info(), self.results, status)

    def settle_all(self) -> None:
        """Have every case judged that was run so far, those once more in which we were away."""
        self._await_verdicts(lambda: bool(self._records))
        self._run_once_more()
        self._await_verdicts(lambda: bool(self._records))
        self.drain()

    def _run_the_last_once_more(self) -> None:
        """Have the last cases judged in which the tester was away, and run them again."""
        self._await_verdicts(
            lambda: any(r.held_up or r.crowded for r in list(self._records.values()))
        )
        self._run_once_more()

    def _await_verdicts(self, open_still: Callable[[], bool]) -> None:
        """Have the evidence cut and judged as long as the condition holds."""
        deadline = time.monotonic() + _LAST_SECONDS
        while open_still() and time.monotonic() < deadline and not interrupts.in_haste:
            if self._capture is not None:
                self._capture.fence()
            self._slicer.complete_ended()
            self._slices.wait(0)
            time.sleep(0.01)

    def _account_for_router(self) -> None:
        """A router that is gone is a failure of its own: the sanity call that showed it."""
        if self._liveness is not None:
            self.notes += self._liveness.notes
        found = [*self._unseen, *([self.gone] if self.gone is not None else [])]
        if not found or self._sanity is None or self._stopped:
            return
        if self._sanity.verdict is not Verdict.ERROR:
            self._sanity.verdict, self._sanity.reason = Verdict.FAIL, "; ".join(found)
        self.notes += found
        self._done.put(self._sanity)

    def _distrust(self, why: str) -> None:
        """A lossy capture proves nothing: every PASS becomes ERROR."""
        self.notes.append(why)
        for result in self.results:
            if result.verdict is Verdict.PASS:
                result.verdict, result.reason = Verdict.ERROR, f"no sure evidence: {why}"

    def _close(self) -> None:
        self._lines.stop()
        try:
            self._stack.close()
        except RouterError as error:
            # What was judged is none the worse for it.
            self.notes.append(f"the router was not stopped: {error}")
        self.loop.close()

    def _info(self) -> RunInfo:
        if self._strangers:
            self.notes.append(
                f"{self._strangers} connections to the tester were not the router's but another "
                "user's of this machine; they were reset"
            )
        strays = list(self._slicer.strays)
        if self._slicer.stray_count > len(strays):
            strays.append(f"and {self._slicer.stray_count - len(strays)} more frames")
        started = datetime.datetime.fromtimestamp(self._started, datetime.UTC)
        return RunInfo(
            id=self._run.hex(),
            started=started.isoformat(timespec="seconds"),
            duration_s=round(time.monotonic() - self._began, 3),
            router=self.profile.name,
            profile=self.profile.path,
            relay_model=self.profile.relay_model,
            configuration=self.profile.configuration,
            versions=versions(self._about),
            judge=self._about.name,
            seed=self.options.seed,
            selection=self.options.selection,
            command=self.options.command,
            profile_text=shown(self.profile),
            xot_ports=sorted(self.profile.xot_ports),
            strays=strays,
            notes=self.notes,
            processor=self._processor(),
        )

    def _processor(self) -> dict[str, float]:
        """Seconds of processor time, by who took them. All other processes have ended."""
        dumpcap = self._capture.computed if self._capture is not None else 0.0
        children = _computed_by_children() - self._computed_before
        one, two = self._judge_one_computed, self._judge_computed
        shares = {
            "tester": time.process_time(),
            "judge one": one,
            "judge two": two,
            "dumpcap": dumpcap,
            "others": max(children - one - two - dumpcap, 0.0),
        }
        if not self.options.judge_apart:
            del shares["judge one"]
        return {who: round(seconds, 2) for who, seconds in shares.items()}


def _computed_by_children() -> float:
    """Seconds of processor time of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

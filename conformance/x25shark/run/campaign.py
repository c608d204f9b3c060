# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the suite, from preflight to results.

Cases run one after another in the main thread (case_runner.py), within their surroundings
(surroundings.py); behind them they are judged (deciding.py), and become results (tally.py).
"""

from __future__ import annotations

import datetime
import gc
import resource
import secrets
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack

from ..catalogue import Purpose
from ..evidence.capture import CaptureError
from ..interrupts import interrupts
from ..judges.reading import JudgeError
from ..judges.watch import Watch
from ..links.loop import Loop
from ..links.xot import LinkError
from ..memory import give_back
from ..profile import ProfileError
from ..results import CaseResult, Results, RunInfo
from ..verdicts import Verdict, exit_status
from . import descriptors, held_up
from .apart import COLLECT
from .case_runner import Body, CaseRunner
from .deadline import Bounds
from .deciding import Deciding
from .judging import SLOW_ALLOWANCE, CaseRecord, Watched
from .liveness import Ending, Liveness
from .options import CampaignError, Options, Watcher
from .pipeline import Backlog
from .rights import RightsError
from .router import Router, RouterError
from .sanity import SANITY, numbers_pass, patient_sanity_call
from .shown import shown
from .surroundings import Surroundings
from .tally import Tally
from .versions import versions

# Octets from the router in one case, of which no two shall be in memory at once.
_LARGE = 1 << 20
_SWITCH_INTERVAL = 0.0005


class Campaign:
    """Used as: start(), run_case() for each case, drain() now and then, finish()."""

    def __init__(self, options: Options, watcher: Watcher | None = None) -> None:
        self.options = options
        self.profile = options.profile
        self.watcher = watcher or Watcher()
        self.loop = Loop()
        self.notes: list[str] = []
        #: Why the relay model that the profile says may be wrong.
        self.model_doubted = ""
        #: Why no further case runs; None: they do.
        self.gone: str | None = None
        self._run = secrets.token_bytes(16)
        # Of the markers; it never leaves this process, other than the number of the run.
        key = secrets.token_bytes(32)
        self._stack = ExitStack()
        slices = Backlog()
        self.surroundings = Surroundings(
            options, self.loop, key, slices.put, self._stack, self.notes
        )
        self.tally = Tally(self.profile, options.repeat, self.watcher, self._stop_on_fail)
        self._deciding = Deciding(
            options, self.watcher, slices, self.surroundings, self.tally.put, self._stack
        )
        self._computed_before = _computed_by_children()
        self._started = time.time()
        self._began = time.monotonic()
        self._stopped = self._cut_short = False
        self._liveness: Liveness | None = None
        self.runner = CaseRunner(
            options,
            self.surroundings,
            Bounds(self.profile, options.time),
            int.from_bytes(self._run[:4], "big"),
        )
        self._lack = held_up.Lack()

    @property
    def results(self) -> list[CaseResult]:
        """What is final by now."""
        return self.tally.results

    @property
    def router(self) -> Router | None:
        return self.surroundings.router

    @property
    def watched(self) -> list[Watched]:
        """The purposes about the whole run."""
        return self._deciding.watched

    @watched.setter
    def watched(self, watched: list[Watched]) -> None:
        self._deciding.watched = watched

    # begin

    def start(self) -> None:
        """Rights, judge, router, listening sides, capture. Raises CampaignError."""
        try:
            interrupts.check()
            descriptors.take()
            if self.options.judge_apart:
                self._deciding.start_apart()
            self.surroundings.obtain_rights()
            # libwireshark starts while the router does.
            self._deciding.prepare()
            interrupts.check()
            self.surroundings.open()
            interrupts.check()
            self._deciding.ready()
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
            restart = self.restart_router if self.surroundings.can_restart else None
            self._liveness = Liveness(self._sanity_call, restart)
        self._deciding.begin()

    # cases

    def run_case(self, purpose: Purpose, body: Body) -> None:
        """Run one case; its result comes later (drain, finish)."""
        interrupts.check()
        self._run_once_more()
        self._deciding.keep_up()
        self._look_at_deadline()
        if self.tally.model_unsaid is None and self._not_to_run(purpose) is None:
            self._look_at_model(doubting=purpose is SANITY)
        record = self._deciding.new_record(purpose)
        reason = self._not_to_run(purpose)
        if reason is not None:
            record.failure = reason
            self._deciding.settle(record, None)
            return
        self.watcher.on_start(purpose)
        record.body = body
        self._run_once(record, body)

    def _not_to_run(self, purpose: Purpose) -> tuple[Verdict, str] | None:
        unmet = purpose.unmet(self.profile.configurations, self.profile.declared, self.profile.has)
        if unmet is not None:
            return Verdict.NOT_APPLICABLE, unmet
        if purpose.slow and not self.options.slow:
            return Verdict.NOT_RUN, "slow; runs with --slow"
        if self.gone is not None:
            return Verdict.NOT_RUN, self.gone
        if unfit := self.surroundings.unfit():
            return Verdict.ERROR, unfit
        return None

    def _look_at_model(self, *, doubting: bool) -> None:
        """Where the profile does not say the relay model, "local" may be wrong.

        Then what the cases expect is not what this router has to do. doubting: ask also where the
        profile says "local".
        """
        self.tally.model_unsaid = ""
        said, model = self.profile.says_relay_model, self.profile.relay_model
        if (said and not (doubting and model == "local")) or self.profile.configuration != "T1":
            return
        found: list[bool] = []
        self._perform(self._deciding.new_probe(), lambda bench: numbers_pass(bench, found))
        if any(found) and said:
            self.model_doubted = (
                'the profile says relay_model = "local", but this router seems to pass the numbers '
                'of both ends through: then it is "end-to-end" or "splice"'
            )
        elif any(found):
            self.tally.model_unsaid = (
                "the profile does not say relay_model, and this router passes the numbers of both "
                'ends through: it has to say relay_model = "end-to-end" or "splice"'
            )
            self.notes.append(self.tally.model_unsaid)

    def _look_at_deadline(self) -> None:
        """No further case when the time of the run is over."""
        if self.gone is None and (why := self.runner.bounds.over()):
            self._cut_short = True
            self.notes.append(why)
            self.stop(why)

    def _run_once_more(self) -> None:
        """Run the cases again in which the tester was away, as far as they are judged."""
        while not interrupts.asked and (first := self._deciding.once_more.take()) is not None:
            record = self._deciding.new_record(first.purpose, turn=first.turn)
            record.second, record.body = first.held_up or first.crowded, first.body
            if first.crowded:
                self.loop.wait(lambda: False, 2 * self.profile.times.reaction)
                self.runner.calls_ended.clear()
            record.failure = self._not_to_run(first.purpose)
            if record.failure is not None or first.body is None:
                self._deciding.settle(record, None)
                continue
            self._run_once(record, first.body)

    def _run_once(self, record: CaseRecord, body: Body) -> None:
        purpose, patience, bounds = record.purpose, self.runner.patience, self.runner.bounds
        self.loop.allowance = SLOW_ALLOWANCE if purpose.slow else 1
        if self._lack.again():
            self._deciding.calm_down(most=0)
        if (why := bounds.why_a_moment) and not patience.over:
            self.notes.append(f"from {purpose.id} on each case had only a moment: {why}")
            patience.over = True
        began, lag = time.monotonic(), self.loop.lag
        ending = self._perform(record, body)
        if record.flood or self.loop.received > _LARGE:
            self.surroundings.cut_all()
            self._deciding.calm_down(most=0)
            give_back(circles=True)
        # That it uses ends again is the router's doing, and a reason to wait for it no longer.
        away = record.held_up not in ("", held_up.SAME_ENDS)
        if ending is not None and not away:
            took = time.monotonic() - began - (self.loop.lag - lag)
            in_vain = self.loop.in_parts if ending.passed else took - self.loop.in_answers
            bounds.took_in_vain(purpose, min(max(in_vain, 0.0), took))
        told = ending is not None and not (away or record.gone or record.overdue)
        if record.gone and self._liveness is not None and not self.options.stop_on_fail:
            self.gone = self.gone or self._liveness.died(purpose.id, record.gone)
        if ending is not None and told and self._liveness is not None and self.gone is None:
            self.gone = self._liveness.after(purpose.id, ending)
        self.surroundings.shorten_log()
        self.drain()
        failed = record.failure is not None and self.tally.fails(record.failure[0])
        if (failed and told and not record.held_up) or record.flood or record.died:
            self._stop_on_fail(purpose.id)

    def _perform(self, record: CaseRecord, body: Body) -> Ending | None:
        ending = self.runner.perform(record, body)
        if record.overdue:
            self._look_at_deadline()
        return ending

    def _sanity_call(self) -> str | None:
        """What goes wrong with a call as plain as can be; None: nothing."""
        record = self._deciding.new_probe()
        self._perform(record, patient_sanity_call)
        if record.flood:
            self._deciding.calm_down()
            give_back(circles=True)
            return f"the sanity call failed: {record.flood}"
        return None if record.failure is None else f"the sanity call failed: {record.failure[1]}"

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

    def restart_router(self) -> str | None:
        """Start the router again; what went wrong, or nothing."""
        return self.surroundings.try_restart()

    def change_router(self, router_options: tuple[str, ...]) -> None:
        """Start the embedded router again with other options. Raises RouterError.

        What is to be run once more runs against the router that it was run against first; what is
        not judged by then is not run again.
        """
        assert self.router is not None
        self._run_the_last_once_more()
        self._deciding.forget_bodies()
        self.options.router_options = router_options
        self.router.options = router_options
        self.surroundings.restart()

    def watch(self, purpose: Purpose, body: Callable[[Watch], None]) -> None:
        """Take the demands of a purpose about the whole run; before the first case."""
        lines = {side.upper(): line for side, line in self.profile.line.by_side().items()}
        model = self.profile.relay_model
        passes = model == "end-to-end" and "N-CHECK" not in self.profile.declared
        below = "N-BELOW" in self.profile.declared
        watch = Watch(
            purpose.clause,
            model,
            {side: line.role for side, line in lines.items()},
            windows={side: line.k for side, line in lines.items()},
            passes_numbers=passes,
            takes_below=below,
        )
        body(watch)
        why = self._not_to_run(purpose)
        if why is None:
            self.watched.append(Watched(purpose, watch))
        else:
            self._deciding.not_run(purpose, why)

    # verdicts

    def drain(self) -> None:
        """Report the verdicts that are final by now."""
        self.tally.drain()

    def wait_for_verdicts(self, seconds: float = 30.0) -> None:
        """Wait for the verdicts of the cases that have been run, and report them."""
        self._deciding.wait(seconds)
        self.drain()

    def settle_all(self) -> None:
        """Have every case judged that was run so far, those once more in which we were away."""
        self._deciding.wait()
        self._run_once_more()
        self._deciding.wait()
        self.drain()

    def _run_the_last_once_more(self) -> None:
        """Have the last cases judged in which the tester was away, and run them again."""
        self._deciding.wait(only_doubtful=True)
        self._run_once_more()

    # end

    def finish(self, *, interrupted: bool = False) -> Results:
        """Wait for the last verdict, stop everything, and give the results.

        interrupted: no case is to be run again. The same holds if interrupts are counted, and one
        came; with the second, what is not judged by then will not be.
        """
        interrupts.bring_home()
        if not interrupted:
            self._run_the_last_once_more()
        lost = self.surroundings.stop_capture()
        self._deciding.join()
        interrupted = interrupted or interrupts.asked
        self._deciding.settle_rest(interrupted=interrupted)
        self._account_for_router()
        self.tally.close()
        if lost := self.surroundings.lost or lost:
            self.notes.append(lost)
            self.tally.distrust(lost)
        computed = self._deciding.computed()
        self._close()
        results = self.tally.in_order()
        status = exit_status(
            [result.verdict for result in results],
            inconclusive_ok=self.options.inconclusive_ok,
            cut_short=self._cut_short,
        )
        if interrupted or interrupts.asked:
            status = interrupts.status
        return Results(self._info(*computed), results, status)

    def _account_for_router(self) -> None:
        """A router that is gone is a failure of its own: the sanity call that showed it."""
        if self._liveness is not None:
            self.notes += self._liveness.notes
        found = [*self.runner.unseen, *([self.gone] if self.gone is not None else [])]
        sanity = self._deciding.sanity
        if not found or sanity is None or self._stopped:
            return
        if sanity.verdict is not Verdict.ERROR:
            sanity.verdict, sanity.reason = Verdict.FAIL, "; ".join(found)
        self.notes += found
        self.tally.put(sanity)

    def _close(self) -> None:
        self.surroundings.lines.stop()
        try:
            self._stack.close()
        except RouterError as error:
            # What was judged is none the worse for it.
            self.notes.append(f"the router was not stopped: {error}")
        self.loop.close()

    def _info(self, judge_one: float, judge_two: float) -> RunInfo:
        """judge_one, judge_two: seconds of processor time."""
        if strangers := self.surroundings.strangers:
            self.notes.append(
                f"{strangers} connections to the tester were not the router's but another "
                "user's of this machine; they were reset"
            )
        started = datetime.datetime.fromtimestamp(self._started, datetime.UTC)
        return RunInfo(
            id=self._run.hex(),
            started=started.isoformat(timespec="seconds"),
            duration_s=round(time.monotonic() - self._began, 3),
            router=self.profile.name,
            profile=self.options.profile_name or self.profile.path,
            relay_model=self.profile.relay_model,
            configuration=self.profile.configuration,
            versions=versions(self._deciding.about),
            judge=self._deciding.about.name,
            seed=self.options.seed,
            selection=self.options.selection,
            command=self.options.command,
            profile_text=shown(self.profile),
            xot_ports=sorted(self.profile.xot_ports),
            strays=self.surroundings.strays(),
            notes=self.notes,
            processor=self._processor(judge_one, judge_two),
        )

    def _processor(self, one: float, two: float) -> dict[str, float]:
        """Seconds of processor time, by who took them. All other processes have ended."""
        capture = self.surroundings.capture
        dumpcap = capture.computed if capture is not None else 0.0
        children = _computed_by_children() - self._computed_before
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

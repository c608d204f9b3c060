# SPDX-License-Identifier: GPL-2.0-or-later
"""Several testers at once, on Dask distributed: an Engine whose sides are many.

Each worker of the cluster holds an actor (Tester), which runs the engine for its share of circuits
and rate. Call numbers (tester k of n has k, k + n, k + 2n, ...) and with them the seeds and calling
addresses never meet. Source addresses and called ones do not either where there are enough of
them; where not, the report says so. All begin at one wall-clock instant; how far apart they really
began is measured. Results are added up by the engine: counters, histogram buckets, findings. A
worker that dies costs its own share.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from ..report.text import one_line
from .bench import Gone
from .engine import Clock, Engine, Side
from .options import OptionError
from .tester import Tester, boot, ignore_interrupts, shifted
from .wording import plural

_LEAD = 0.15
"""Seconds between the decision to begin and the instant, and so many times longer than it takes to
ask all testers something."""
_LEAD_TIMES = 4
_SETUP = 0.2
"""Seconds for the circuits of a trial to come up, and for each of them one in a thousand."""
_POLL = 0.1
_SELDOM = 1.0
"""Seconds between questions while a run goes on: they take time of the testers' processors."""
_ANSWERS = 15.0
_LEAST_ANSWER = 0.05
_CLOCK_TRIES = 5
_STARTS = 60.0
_ENDS = 30.0
ALL_GONE = "all testers have gone"


class TestersGoneError(Gone):
    """No tester is left."""

    words = later = "The measurement ended"
    __test__ = False


class Cluster(Engine):
    """The engine with the calling sides on other testers, and the called sides too where some of
    them answer; the rest stays in this process."""

    def __init__(
        self, module: Any, client: Any, where: str, alone: Engine, answering: int = 0
    ) -> None:
        super().__init__(module)
        self.client = client
        self._alone = alone
        self.local = where == "local"
        self.actors = _actors(client)
        self.offsets, uncertainty = _clocks(self.actors)
        self.lost: dict[int, str] = {}
        self.answering: list[int] = []
        self._addresses: dict[tuple[int, str], tuple[list[str], str]] = {}
        self._is_control = False
        if answering >= len(self.actors):
            raise OptionError(
                f"--answering {answering}: leaves no tester of {len(self.actors)} to place calls"
            )
        self.report: dict[str, Any] = {
            "asked": len(self.actors),
            "answering": answering,
            "where": where,
            "runs": 0,
            "skew_ms": 0.0,
            "clock_uncertainty_ms": uncertainty,
            "lost": [],
            "shared": [],
        }

    @property
    def alone(self) -> Engine:
        """For control runs: testers of this machine reach its loopback, others do not."""
        if not self.local:
            return self._alone
        # All of a control run share one called address by nature: nothing for the report.
        control = copy.copy(self)
        control._is_control = True
        return control

    @property
    def testers(self) -> dict[str, Any]:
        """What load.json says of the testers; it grows as they run."""
        return self.report

    def caller(self, configuration: Mapping[str, object]) -> Side:
        """All testers that are left, each with its share. Raises TestersGoneError, ValueError."""
        if configuration.get("sample"):
            return super().caller(configuration)  # the polite caller is one by nature
        left = [
            number
            for number in range(len(self.actors))
            if number not in self.lost and number not in self.answering
        ]
        if not left:
            raise TestersGoneError(ALL_GONE)
        return Spread(self, left, configuration)

    def responder(self, configuration: Mapping[str, object]) -> Side:
        """Those testers that answer, where some do. Raises TestersGoneError, ValueError."""
        wanted = self.report["answering"]
        if not wanted:
            return super().responder(configuration)
        address = str(configuration["listen"]).partition(":")[0]
        asked = self.answering or range(len(self.actors))
        have = self.ask(list(asked), lambda actor, _: actor.has(address))
        found = [number for number, has in have.items() if has]
        if not self.answering:
            if len(found) < wanted:
                raise ValueError(
                    f"--answering {wanted}: {plural(len(found), 'tester')} with the address "
                    f"{address}, where the router sends the calls"
                )
            # The last ones: tester 1 calls, as it does where none answers.
            self.answering[:] = found = found[-wanted:]
        if not found:
            raise TestersGoneError(f"no tester is left that answers at {address}")
        return Answering(self, found, configuration)

    def sources(
        self, numbers: Sequence[int], configuration: Mapping[str, object]
    ) -> dict[int, list[str]]:
        """The addresses from which each of these testers calls (none: the kernel chooses), as far
        as they can be had no two from the same. Who does not answer is lost."""
        wanted: Any = configuration.get("sources") or []
        connect = str(configuration["connect"])
        key = ",".join([connect.partition(":")[0], *wanted])
        new = [number for number in numbers if (number, key) not in self._addresses]
        asked = self.ask(new, lambda actor, _: actor.addresses(wanted, connect))
        self._addresses |= {(number, key): found for number, found in asked.items()}
        have = {n: self._addresses[n, key] for n in numbers if n not in self.lost}
        # Where none of those that were asked for is there, the kernel's own choice counts.
        met = {number: own or [chosen] for number, (own, chosen) in have.items()}
        own, sharing = dealt(met)
        if sharing:
            addresses = sorted({address for number in sharing for address in met[number]})
            beside = sum(1 for found in met.values() if not set(addresses).isdisjoint(found))
            self.say_shared("source", len(addresses), beside, ", ".join(addresses))
        return {number: own[number] if have[number][0] else [] for number in have}

    def say_shared(self, kind: str, number: int, testers: int, which: str) -> None:
        """Testers have addresses in common although each should have its own."""
        words = f"{kind} addresses, {number} for {plural(testers, 'tester')}"
        words += f" ({one_line(which, 60)})" if which else ""
        if not self._is_control and words not in self.report["shared"]:
            self.report["shared"].append(words)

    def lose(self, number: int, why: object) -> None:
        """A tester does not answer any more."""
        if number in self.lost:
            return
        self.lost[number] = one_line(str(why) or type(why).__name__, 200)
        answering = len(self.actors) - len(self.lost)
        self.report["lost"].append(
            f"partial, {answering} of {len(self.actors)}: tester {number + 1} is gone "
            f"({self.lost[number]})"
        )

    def ask(self, numbers: Sequence[int], question: Callable[[Any, int], Any]) -> dict[int, Any]:
        """What each of these testers answers, asked all at once; who does not is lost."""
        asked, answers = {}, {}
        for number in numbers:
            if number in self.lost:
                continue
            try:
                asked[number] = question(self.actors[number], number)
            except Exception as error:
                self.lose(number, error)
                _forget_frames(error)
        # One bound for all: where the scheduler has died none of them answers.
        end = time.monotonic() + _ANSWERS
        for number, answer in asked.items():
            try:
                answers[number] = answer.result(timeout=max(end - time.monotonic(), _LEAST_ANSWER))
            except Exception as error:
                self.lose(number, error)
                _forget_frames(error)
        return answers

    def merge(self, results: list[str]) -> dict[str, Any]:
        """What all of them counted."""
        merged: dict[str, Any] = json.loads(self._module.merge(results))
        return merged


class Several:
    """A side of several testers: asked all at once, added up."""

    port = 0

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._id = cluster.report["runs"] = cluster.report["runs"] + 1
        self._numbers: list[int] = []
        self._last: dict[int, dict[str, Any]] = {}
        self._next_look = 0.0

    def _working(self) -> list[int]:
        """Those that have something new to say."""
        return self._numbers

    def snapshot(self) -> str:
        """Counters of all, added up; of a tester that is gone the last ones."""
        if time.monotonic() >= self._next_look:
            asked = self._cluster.ask(self._working(), lambda actor, _: actor.snapshot(self._id))
            self._last |= {number: json.loads(text) for number, text in asked.items()}
            self._next_look = time.monotonic() + _SELDOM / 2
        total: dict[str, Any] = {}
        for counters in self._last.values():
            for name, value in counters.items():
                total[name] = total.get(name, 0) + value
        return json.dumps(total or {"open_circuits": 0})

    def samples(self) -> str:
        """None: they are of calls that one tester makes."""
        return "[]"

    def release(self) -> None:
        """Only a called side has something to let go of."""

    def stop(self) -> None:
        """Ask all for an orderly end."""
        self._cluster.ask(self._numbers, lambda actor, _: actor.stop(self._id))

    def _results(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """What each of these testers counted, with times of this machine's clock."""
        found = self._cluster.ask(numbers, lambda actor, _: actor.result(self._id))
        by = time.monotonic_ns() - time.time_ns()
        results = {}
        for number, text in sorted(found.items()):
            results[number] = one = shifted(json.loads(text), by)
            for finding in one["findings"]:
                finding["tester"] = number + 1
        return results

    def _merged(self, results: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
        return self._cluster.merge([json.dumps(one) for one in results.values()])


class Answering(Several):
    """A called side of several testers, which share one address and port."""

    def __init__(
        self, cluster: Cluster, numbers: Sequence[int], configuration: Mapping[str, object]
    ) -> None:
        super().__init__(cluster)
        address, _, port = str(configuration["listen"]).partition(":")
        for number in numbers:
            # One after the other: where the first chooses the port, it is that of the others too.
            wanted = dict(configuration) | {"listen": f"{address}:{self.port or port}"}
            asked = cluster.ask([number], partial(_answer, self._id, wanted))
            for at, refused in asked.values():
                if refused:
                    self.stop()
                    self.result()
                    raise ValueError(refused)
                self.port = at
                self._numbers.append(number)
        if not self._numbers:
            raise TestersGoneError("no tester is left that answers")

    def release(self) -> None:
        """Let go of what all of them ignore on purpose."""
        self._cluster.ask(self._numbers, lambda actor, _: actor.release(self._id))

    def wait(self, seconds: float) -> bool:
        """A called side ends when it is told to."""
        time.sleep(seconds)
        return False

    def result(self) -> str:
        """What those that are left have answered."""
        return json.dumps(self._merged(self._results(self._numbers)))


class Spread(Several):
    """A calling side that is spread over testers."""

    def __init__(
        self, cluster: Cluster, numbers: Sequence[int], configuration: Mapping[str, object]
    ) -> None:
        super().__init__(cluster)
        parts = self._parts(numbers, configuration)
        asked = time.monotonic()
        cluster.ask(list(parts), lambda actor, _: actor.clock())
        lead = _LEAD + _LEAD_TIMES * (time.monotonic() - asked)
        at = time.time_ns() + round(lead * 1e9)
        self._start_ns = time.monotonic_ns() + at - time.time_ns()
        self._clock: Clock | None = None
        trial_after = 0
        if configuration.get("trial") is not None:
            trial_after = round((_SETUP + float(str(configuration["circuits"])) / 1000) * 1e9)
            whole = dict(configuration)
            self._clock = cluster.clock(whole | {"trial_start_ns": self._start_ns + trial_after})
            cluster.ask(
                cluster.answering, lambda actor, _: actor.keep_clock(whole, at + trial_after)
            )
        started = cluster.ask(
            list(parts),
            lambda actor, number: actor.start(self._id, parts[number], at, trial_after),
        )
        refused = [words for words in started.values() if words]
        if refused:
            raise ValueError(refused[0])
        self._numbers = list(started)
        self._done: set[int] = set()
        self._next_question = 0.0
        duration = configuration.get("duration_ms")
        seconds = float(str(duration)) / 1000 if duration is not None else 0.0
        self._due_end = self._start_ns / 1e9 + seconds
        self._stopped = False

    def _parts(
        self, numbers: Sequence[int], configuration: Mapping[str, object]
    ) -> dict[int, dict[str, object]]:
        """What each tester that is left has to do."""
        sources = self._cluster.sources(numbers, configuration)
        if not sources:
            raise TestersGoneError(ALL_GONE)
        parts = dict(zip(sources, shares(configuration, len(sources)), strict=False))
        for number, part in parts.items():
            part["sources"] = sources[number]
        start, end = str(configuration["called_start"]), str(configuration["called_end"])
        if (room := _room(start, end)) < len(parts):
            which = start if room == 1 else f"{start} to {end}"
            self._cluster.say_shared("called", room, len(parts), which)
        return parts

    def _working(self) -> list[int]:
        return [number for number in self._numbers if number not in self._done]

    def stop(self) -> None:
        """Ask all for an orderly end."""
        self._stopped = True
        super().stop()

    def _is_over(self) -> bool:
        """Whether all messages of a trial have arrived."""
        if self._clock is None:
            return False
        asked = self._cluster.ask(self._cluster.answering, lambda actor, _: actor.arrived())
        return self._clock.is_over(sum(asked.values()))

    def wait(self, seconds: float) -> bool:
        """Whether all have ended, or are gone."""
        end = time.monotonic() + seconds
        while True:
            if self._is_over():
                self.stop()
                self._clock = None
            if time.monotonic() >= self._next_question:
                self._look_for_ends()
            if all(n in self._done or n in self._cluster.lost for n in self._numbers):
                return True
            if time.monotonic() >= end:
                return False
            time.sleep(min(_POLL, max(end - time.monotonic(), 0)))

    def _look_for_ends(self) -> None:
        ended = self._cluster.ask(self._working(), lambda actor, _: actor.finished(self._id))
        self._done |= {number for number, over in ended.items() if over}
        now = time.monotonic()
        rest = 0.0 if self._stopped else self._due_end - now
        self._next_question = now + min(max(rest, _POLL), _SELDOM)

    def result(self) -> str:
        """The results of all that are left, added up; times are those of this machine's clock."""
        end = time.monotonic() + _ENDS
        while not self.wait(1.0) and time.monotonic() < end:
            pass
        results = self._results([n for n in self._numbers if n in self._done])
        began = [one["began_ns"] - self._cluster.offsets[n] for n, one in results.items()]
        if len(began) > 1:
            report = self._cluster.report
            report["skew_ms"] = max(report["skew_ms"], (max(began) - min(began)) / 1e6)
        if not results:
            # Else it would pass for a router that takes no calls.
            left = len(self._cluster.actors) > len(self._cluster.lost)
            raise TestersGoneError("the testers that called have gone" if left else ALL_GONE)
        return json.dumps(self._merged(results))


def _forget_frames(error: BaseException | None) -> None:
    """Dask keeps the error of a tester that is gone. With its frames it would keep those of all
    that called here, and with them a called side that listens."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


def _answer(run: int, wanted: dict[str, object], actor: Any, _number: int) -> Any:
    return actor.answer(run, wanted)


def shares(configuration: Mapping[str, object], testers: int) -> list[dict[str, object]]:
    """The configuration of each tester that has something to do."""
    whole: dict[str, Any] = dict(configuration)
    circuits, calls, rate = whole["circuits"], whole.get("calls"), whole.get("rate")
    most = min(testers, circuits, calls or circuits)
    ranges = _ranges(whole["called_start"], whole["called_end"], most)
    found = []
    for number in range(most):
        own = circuits // most + (number < circuits % most)
        found.append(
            whole
            | {
                "circuits": own,
                "threads": min(whole.get("threads", 1), own),
                "calls": None if calls is None else calls // most + (number < calls % most),
                "rate": None if rate is None else rate / most,
                "first_call": number + 1,
                "call_step": most,
                "phase": number / most,
                "all_circuits": circuits,
                "called_start": ranges[number][0],
                "called_end": ranges[number][1],
            }
        )
    return found


def dealt(have: Mapping[int, Sequence[str]]) -> tuple[dict[int, list[str]], list[int]]:
    """The addresses that each tester has, dealt out so that no two get the same one; and those
    testers for which none was left, which use all they have beside the others."""
    owners: dict[str, list[int]] = {}
    for number, addresses in have.items():
        for address in addresses:
            owners.setdefault(address, []).append(number)
    found: dict[int, list[str]] = {number: [] for number in have}
    # What few have is dealt first: whoever has much else can do without it.
    for address, numbers in sorted(owners.items(), key=lambda owned: len(owned[1])):
        found[min(numbers, key=lambda n: (len(found[n]), len(have[n])))].append(address)
    sharing = [number for number, own in found.items() if not own]
    return found | {number: list(have[number]) for number in sharing}, sharing


def told(report: Mapping[str, Any]) -> str:
    """The testers in one sentence."""
    gone = len(report["lost"])
    words = f"{report['asked']} testers" if not gone else report["lost"][-1]
    words += f", {report['answering']} of them answering" if report["answering"] else ""
    sure = report["clock_uncertainty_ms"]
    within = f"{report['skew_ms']:.1f} ms" + (f" (clocks: +-{sure:.1f} ms)" if sure else "")
    began = f"{words}; they began within {within} of each other."
    return " ".join([began, *(f"Not disjoint: {common}." for common in report["shared"])])


def _ranges(start: str, end: str, parts: int) -> list[tuple[str, str]]:
    """A range of addresses in so many; one that has not room enough is for all."""
    first, room = int(start), _room(start, end)
    if room < parts:
        return [(start, end)] * parts
    borders = [first + room * number // parts for number in range(parts + 1)]
    digits = len(start)
    return [(f"{low:0{digits}}", f"{high - 1:0{digits}}") for low, high in pairwise(borders)]


def _room(start: str, end: str) -> int:
    """Addresses of a range."""
    return int(end) - int(start) + 1


def _actors(client: Any) -> list[Any]:
    """One tester on each worker."""
    futures = [
        client.submit(Tester, actor=True, workers=[address], pure=False)
        for address in sorted(client.nthreads())
    ]
    return [future.result(timeout=_STARTS) for future in futures]


def _clocks(actors: Sequence[Any]) -> tuple[list[int], float]:
    """How far the clock of each tester is ahead of ours (ns), and how sure that is (ms).

    Testers on this machine have the same clock. Of others it is read over the network, several
    times: the shortest round trip says most.
    """
    offsets, uncertainty = [], 0.0
    for actor in actors:
        best: tuple[int, int] | None = None
        for _ in range(_CLOCK_TRIES):
            asked = time.time_ns()
            theirs, machine = actor.clock().result(timeout=_ANSWERS)
            answered = time.time_ns()
            if machine == boot():
                best = (0, 0)
                break
            round_trip = answered - asked
            if best is None or round_trip < best[0]:
                best = (round_trip, theirs - (asked + answered) // 2)
        assert best is not None
        offsets.append(best[1])
        uncertainty = max(uncertainty, best[0] / 2e6)
    return offsets, uncertainty


@contextlib.contextmanager
def opened(workers: str | None, engine: Engine, answering: int = 0) -> Iterator[Engine]:
    """The engine itself, or a cluster: of N processes, or of the scheduler at an address.

    answering: so many of its testers answer calls.

    Raises OptionError where Dask is missing, or no scheduler answers.
    """
    if workers is None:
        if answering:
            raise OptionError("--answering says how many testers of --workers answer")
        yield engine
        return
    number = int(workers) if workers.isdecimal() else 0
    if not 1 <= number <= 1000 and not workers.startswith(("tcp://", "tls://")):
        raise OptionError(f"--workers {workers!r}: 1 to 1000, or tcp://HOST:8786")
    try:
        import dask
        import distributed
    except ImportError as error:
        raise OptionError(
            f'--workers needs Dask ({error}): pip install -e ".[cluster]" in the source tree'
        ) from None
    library: Any = distributed  # its classes are typed in part
    settings = {
        "distributed.comm.timeouts.connect": "10s",
        "distributed.worker.daemon": True,
        "distributed.admin.event-loop-monitor-interval": "1h",
    }
    logging.disable()  # who is lost is said in one line, not by each of its connections
    with dask.config.set(settings), contextlib.ExitStack() as stack:
        try:
            address: Any = workers
            if number:
                # Encrypted and with certificates of its own: no other user of this machine gets in.
                address = stack.enter_context(
                    library.LocalCluster(
                        n_workers=number,
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        dashboard_address=None,
                        silence_logs=50,
                        security=True,
                        memory_limit=0,
                    )
                )
            # Actors look for the default client.
            client = stack.enter_context(library.Client(address, timeout=_STARTS))
        except (OSError, TimeoutError, RuntimeError) as error:
            raise OptionError(f"--workers {workers}: {one_line(error, 200)}") from None
        if not client.nthreads():
            raise OptionError(f"--workers {workers}: the scheduler has no workers")
        client.run(ignore_interrupts)
        yield Cluster(engine.module, client, "local" if number else workers, engine, answering)

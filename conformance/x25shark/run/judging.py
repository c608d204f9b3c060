# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict of a case: both judges over every expectation, and the evidence with comments."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..catalogue import Purpose
from ..evidence import pcapng
from ..evidence.in_order import InOrder, Key
from ..evidence.slicer import Slice
from ..judges.evidence import FIELDS, EvidenceJudge, filters_of
from ..judges.expectation import (
    CLOSED,
    Consumed,
    Direction,
    Expectation,
    Never,
    Next,
    NoConnection,
    Seen,
    evaluate_all,
)
from ..judges.reading import JudgeError, Reading
from ..judges.template import to_filter
from ..judges.tester import TesterJudge
from ..judges.watch import Follows, Looked, Watch, looked_at
from ..links.carrier import LineEnd
from ..links.xot import HEADER_OCTETS, MOST_UNITS, Cutter
from ..results import CaseResult, ExpectationResult, JudgeReading, PacketLine
from ..sides.bench import Bench
from ..verdicts import Verdict
from .builtin_dissector import BuiltinDissector
from .explaining import Until, explanation, nearest, sent_before
from .ladder import ladder
from .observations import fault_of_ours

# Windows keep a router from sending nearly as many packets that nobody has read.
MOST_UNREAD = 2_000
MOST_IN_A_SEGMENT = 1_000
# Purposes about the frames of a serial line.
_OF_LINK = ("HDLC-", "LAPB-")
# Slow cases carry many times as much as others.
SLOW_ALLOWANCE = 20
JUDGE_SECONDS = 30.0
# Experts that say that the capture does not hold all that was sent.
_DAMAGE = frozenset({"xots.captured.short", "xots.offset.unsure"})


@dataclass
class CaseRecord:
    """What is known of a case when its last packet was sent and its sides are closed.

    failure: the verdict the case itself came to, and why (None: it ran to its end).
    sides: for each connection, side ("A" or "B") and the direction from the router.
    held_up: in words, how long this machine kept the tester away, if that was so long that timers
    of the router may have run out, or what else lets nobody judge. crowded: in words, that a call
    was refused beside calls of the cases before. body: the case itself. second: why it is run
    again, in words.
    gone: why the router was not there at its end; died: in words, that it died in this case.
    flood: what the router sent beyond all bounds, in words. turn: which run of it this is.
    turned_away: connections of the router that the tester took in no case.
    received: where the case ended early, what each direction had brought by then.
    overdue: its time was over before it was. behind: in words, that such a case ended just before
    it, so that nobody knows for which of the two something came.
    """

    number: int
    purpose: Purpose
    expectations: list[Expectation] = field(default_factory=list)
    judge_one: TesterJudge | None = None
    sides: list[tuple[str, Direction]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    failure: tuple[Verdict, str] | None = None
    sent: list[bytes] = field(default_factory=list)
    duration_s: float = 0.0
    held_up: str = ""
    crowded: str = ""
    body: Callable[[Bench], None] | None = None
    second: str = ""
    gone: str = ""
    died: str = ""
    rerun: str = ""
    watched: list[Watched] = field(default_factory=list)
    flood: str = ""
    turn: int = 1
    turned_away: Collection[Direction] = ()
    received: dict[Direction, Until] = field(default_factory=dict)
    overdue: bool = False
    behind: str = ""


@dataclass
class Watched:
    """A purpose about the whole run, and what it came to so far.

    with_case: the packet that broke it is the one for which the case itself failed.
    """

    purpose: Purpose
    watch: Watch
    connections: int = 0
    remarks: list[str] = field(default_factory=list)
    broken: tuple[ExpectationResult, CaseResult] | None = None
    with_case: bool = False
    error: str | None = None

    @property
    def shown_in(self) -> str | None:
        """The case in which the router did not keep it."""
        return self.broken[1].id if self.broken else None


def broken_off(record: CaseRecord, why: Exception | str) -> CaseResult:
    """The result of a case that could not be judged; why: in words, or what went wrong."""
    return CaseResult(
        id=record.purpose.id,
        group=record.purpose.group,
        purpose=record.purpose.purpose,
        clause=record.purpose.clause,
        verdict=Verdict.ERROR,
        reason=why if isinstance(why, str) else fault_of_ours(why),
        rerun=record.rerun,
    )


class _ToDecide(NamedTuple):
    """What is there to decide a case with."""

    record: CaseRecord
    found: Slice
    demands: list[tuple[Watched, Expectation]]
    filters: list[str]
    reading: Reading


@dataclass
class Taken:
    """A case whose evidence has been read. rest is None if the result stands already."""

    result: CaseResult
    rest: _ToDecide | None = None


class Judgement:
    """Judges the slices of a run, writes each as evidence."""

    def __init__(self, opinion: Callable[[], BuiltinDissector], directory: Path) -> None:
        """opinion: what has captures read, asked for with each; it may start its judge then."""
        self._opinion = opinion
        self._directory = directory

    def judge(self, record: CaseRecord, found: Slice | None) -> CaseResult:
        """The result of one case."""
        return self.decide(self.read(record, found))

    def read(self, record: CaseRecord, found: Slice | None) -> Taken:
        """Have judge two read the evidence of a case, if there is any to read."""
        result = CaseResult(
            id=record.purpose.id,
            group=record.purpose.group,
            purpose=record.purpose.purpose,
            clause=record.purpose.clause,
            verdict=Verdict.PASS,
            remarks=list(record.remarks),
            duration_s=round(record.duration_s, 4),
            rerun=record.rerun,
        )
        if record.second:
            result.remarks.append(f"run a second time: {record.second}")
        if record.failure is not None:
            result.verdict, result.reason = record.failure
            if result.verdict in (Verdict.NOT_APPLICABLE, Verdict.NOT_RUN):
                return Taken(result)
        evidence = self._evidence_problem(found)
        if evidence is not None or found is None:
            # Where a serial line was not there, there is nothing to capture.
            no_line = found is not None and found.ended and result.verdict is Verdict.INCONCLUSIVE
            if result.verdict is not Verdict.ERROR and not no_line:
                result.verdict, result.reason = Verdict.ERROR, evidence or "no evidence"
            return Taken(result)
        found.put_in_order()
        ordered = InOrder(found)
        record.flood = record.flood or unread_flood(record, ordered)
        if record.flood or found.cut:
            self._too_much(result, record, found)
            return Taken(result)
        demands = self._demands(record)
        filters = filters_of([*record.expectations, *(e for _, e in demands)])
        try:
            reading, opinion = self._opinion().read(
                ordered.capture(), ordered.numbers, filters, FIELDS, JUDGE_SECONDS
            )
        except JudgeError as error:
            result.verdict = Verdict.ERROR
            result.reason = f"judge two gave no reading ({error.kind}): {error}"
            self._write(result, record, found)
            return Taken(result)
        result.remarks += opinion
        return Taken(result, _ToDecide(record, found, demands, filters, reading))

    def decide(self, taken: Taken) -> CaseResult:
        """The result, once the evidence has been read."""
        if taken.rest is not None:
            record, found, demands, filters, reading = taken.rest
            judge_two = EvidenceJudge(reading, filters, found.lines)
            self._decide(taken.result, record, found, reading, judge_two)
            if record.died:
                # Why a case came to no verdict says nothing beside the death that it led to.
                reason = "" if taken.result.verdict is Verdict.INCONCLUSIVE else taken.result.reason
                taken.result.verdict = Verdict.FAIL
                taken.result.reason = "; ".join(filter(None, (record.died, reason)))
            self._watch(taken.result, record, demands, judge_two)
            self._write(taken.result, record, found)
        return taken.result

    def _too_much(self, result: CaseResult, record: CaseRecord, found: Slice) -> None:
        """A case with more packets than anybody judges: its evidence is kept, unread."""
        result.verdict = Verdict.FAIL if record.flood else Verdict.ERROR
        result.reason = record.flood or "the case has more packets than can be judged"
        if found.cut:
            result.reason += (
                f"; the evidence was cut after {len(found.frames)} frames, {found.octets} octets"
            )
        self._write(result, record, found)

    def _demands(self, record: CaseRecord) -> list[tuple[Watched, Expectation]]:
        """What the purposes about the whole run demand of the connections of this case."""
        if record.held_up or record.behind:
            return []
        one = record.judge_one
        assert one is not None
        return [
            (watched, expectation)
            for watched in record.watched
            for direction, side in {direction: side for side, direction in record.sides}.items()
            if _concerns(watched.purpose, direction)
            for expectation in watched.watch.expectations(side, direction, one, record.sent)
        ]

    @staticmethod
    def _watch(
        result: CaseResult,
        record: CaseRecord,
        demands: Sequence[tuple[Watched, Expectation]],
        judge_two: EvidenceJudge,
    ) -> None:
        judge_one = record.judge_one
        assert judge_one is not None
        # Each conversation is looked at once by each judge; nothing comes to it any more.
        looked: dict[Direction, tuple[Looked, Looked]] = {}
        for watched, expectation in demands:
            rule = expectation if isinstance(expectation, Follows) else None
            if rule is not None:
                direction = rule.direction
                assert direction is not None
                if (both := looked.get(direction)) is None:
                    both = looked_at(judge_one, direction), looked_at(judge_two, direction)
                    looked[direction] = both
                if not rule.applies_to(both[0]):
                    continue
                one = rule.found_in(both[0])
                # Where both have the same octets, both look at the same.
                two = one if both[1] is both[0] else rule.found_in(both[1])
            else:
                one = expectation.evaluate(judge_one, set())
                two = expectation.evaluate(judge_two, set())
            watched.connections += 1
            if one.met != two.met or one.offset != two.offset:
                watched.error = watched.error or (
                    f"in case {result.id}: {_disagreement([expectation], [one], [two])}"
                )
            elif not one.met and rule is not None and rule.mild:
                remark = f"expected {expectation.text}; case {result.id}: {one.saw}"
                watched.remarks = watched.remarks or [remark]
            elif not one.met and watched.broken is None:
                frames = judge_two.frames()
                broken = _expectation_result(expectation, one, two, frames)
                watched.broken = (broken, result)
                watched.with_case = broken.frame is not None and any(
                    not e.met and (e.frame, e.k) == (broken.frame, broken.k)
                    for e in result.expectations
                )

    @staticmethod
    def whole_run(watched: Watched, rerun: str) -> CaseResult:
        """The verdict of a purpose about the whole run; its evidence is that of the case."""
        purpose = watched.purpose
        result = CaseResult(
            purpose.id, purpose.group, purpose.purpose, purpose.clause, Verdict.PASS, rerun=rerun
        )
        result.remarks = [f"{watched.connections} observations of the router's connections"]
        result.remarks += watched.remarks
        if watched.error:
            result.verdict, result.reason = Verdict.ERROR, watched.error
        elif watched.broken:
            expectation, case = watched.broken
            result.shown_in = watched.shown_in
            result.verdict = Verdict.FAIL
            result.expectations = [expectation]
            result.packets, result.evidence = case.packets, case.evidence
            saw = expectation.judge_one.saw if expectation.judge_one else ""
            at = expectation
            frame = f" (frame {at.frame}, packet {at.k})" if at.frame else ""
            result.reason = (
                f"in case {case.id}: side {expectation.side} expected {expectation.text} "
                f"({expectation.clause}); received: {saw}{frame}"
            )
            if watched.with_case:
                result.reason += f"; the same packet for which {case.id} fails: one fault, not two"
            elif case.verdict is Verdict.FAIL:
                result.reason += f"; {case.id} itself fails too, and this may follow from it"
        elif not watched.connections:
            result.verdict = Verdict.INCONCLUSIVE
            result.reason = (
                "no case of this run brought what this is about: it has none of its own and looks "
                "at what the router sends in the others, so select more of them beside it"
            )
        return result

    @staticmethod
    def _evidence_problem(found: Slice | None) -> str | None:
        if found is None or not found.begun:
            return "the marker at the begin of the case is missing in the capture: no evidence"
        if not found.ended:
            return "the marker at the end of the case is missing in the capture: no evidence"
        if not found.frames:
            return "no frame of the case was captured: no evidence"
        return None

    def _decide(
        self,
        result: CaseResult,
        record: CaseRecord,
        found: Slice,
        reading: Reading,
        judge_two: EvidenceJudge,
    ) -> None:
        assert record.judge_one is not None
        judge_two.leave_out_behind(record.judge_one.borders())
        record.judge_one.settle_by(judge_two, record.turned_away)
        one = evaluate_all(record.expectations, record.judge_one)
        consumed: Consumed = set()
        two = evaluate_all(record.expectations, judge_two, consumed)
        frames = judge_two.frames()
        deciding = {(s.view.frame, s.view.k) for s in two if s.view is not None and not s.met}
        if (first := _first_unmet(record.expectations, one)) is not None:
            behind = record.expectations[first].stimulus
            deciding |= {frames[behind]} if behind in frames else set()
        packets = ladder(record.sides, judge_two, found, deciding)
        for stimulus in {e.stimulus for e in record.expectations if e.stimulus} - frames.keys():
            frames[stimulus] = (frame_of_part(stimulus, packets, record.sides), None)
        result.expectations = [
            _expectation_result(e, a, b, frames)
            for e, a, b in zip(record.expectations, one, two, strict=True)
        ]
        result.packets = packets
        if reading.lua_errors:
            result.verdict = Verdict.ERROR
            result.reason = f"the strict dissector failed: {reading.lua_errors[0]}"
            return
        damage = reading.file_error or next(
            (e.message for e in reading.experts if e.id in _DAMAGE), None
        )
        if damage:
            result.verdict = Verdict.ERROR
            result.reason = f"the evidence is damaged: {damage}"
            return
        disagreement = _disagreement(record.expectations, one, two)
        if disagreement:
            result.verdict, result.reason = Verdict.ERROR, disagreement
            self._doubt(result, record)
            return
        if result.verdict is Verdict.ERROR:
            return
        unmet = self._verdict(result, record, one)
        if unmet is not None:
            _explain(result, record, unmet, two[unmet], judge_two, consumed)
        self._doubt(result, record)

    @staticmethod
    def _doubt(result: CaseResult, record: CaseRecord) -> None:
        """Where nothing can be said, neither the router nor a judge is to blame."""
        doubt = record.held_up
        if result.verdict is Verdict.FAIL:
            doubt = doubt or record.behind
        if result.verdict in (Verdict.FAIL, Verdict.ERROR) and doubt:
            result.verdict = Verdict.INCONCLUSIVE
            result.reason = f"{doubt}; {result.reason}"

    @staticmethod
    def _verdict(result: CaseResult, record: CaseRecord, seen: Sequence[Seen]) -> int | None:
        """Set the verdict; the number of the expectation that decided, if it was not met."""
        if not record.expectations and result.verdict is Verdict.PASS:
            result.verdict, result.reason = Verdict.ERROR, "the case expected nothing at all"
            return None
        unmet = _first_unmet(record.expectations, seen)
        if unmet is not None:
            preamble = record.expectations[unmet].preamble
            result.verdict = Verdict.INCONCLUSIVE if preamble else Verdict.FAIL
            return unmet
        if result.verdict is Verdict.FAIL:
            result.verdict = Verdict.ERROR
            result.reason = f"the tester contradicts itself: {result.reason}"
        return None

    def _write(self, result: CaseResult, record: CaseRecord, found: Slice) -> None:
        turn = f"-run{record.turn}" if record.turn > 1 else ""
        name = f"{record.purpose.id}{turn}.pcapng"
        comments: dict[int, list[str]] = {}
        for expectation in result.expectations:
            if expectation.frame is not None:
                says = "met" if expectation.met else "NOT MET"
                comments.setdefault(expectation.frame, []).append(
                    f"{says}: {record.purpose.id}: packet {expectation.k}: side "
                    f"{expectation.side} expected {expectation.text} ({expectation.clause})"
                )
            elif not expectation.met:
                saw = expectation.judge_two.saw if expectation.judge_two else "nothing"
                behind = expectation.stimulus_frame
                when = "after this packet" if behind else "by the end of this capture"
                comments.setdefault(behind or len(found.frames), []).append(
                    f"NOT MET: {record.purpose.id}: {when} side {expectation.side} expected "
                    f"{expectation.text} ({expectation.clause}); received: {saw}"
                )
        summary = (
            f"x25shark {record.purpose.id}: {result.verdict}\n{record.purpose.purpose}\n"
            f"Clause: {record.purpose.clause}\n{result.reason}"
        )
        for counter in (e.counter for e in result.expectations if e.counter is not None):
            summary += (
                f"\nCounter {counter.name} ({counter.interface}: {counter.path}): {counter.before} "
                f"before, {counter.after} after, {counter.shown} in the capture: {counter.result}"
            )
        blocks = [
            pcapng.with_comment(b, summary) if b.kind == pcapng.SECTION_HEADER else b
            for b in found.head
        ]
        for number, frame in enumerate(found.frames, 1):
            block = frame.block
            # What was not met comes first: Wireshark's column may have no room for more.
            ordered = sorted(comments.get(number, []), key=lambda c: not c.startswith("NOT MET"))
            for comment in reversed(ordered):
                block = pcapng.with_comment(block, comment)
            blocks.append(block)
        path = self._directory / "cases" / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.writelines(block.octets for block in blocks)
        except OSError as error:
            # Half a capture is worse than none.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            result.verdict = Verdict.ERROR
            why = error.strerror or error
            result.reason = f"no evidence: cases/{name} cannot be written: {why}"
            return
        result.evidence = f"cases/{name}"
        times = {n: frame.time for n, frame in enumerate(found.frames, 1)}
        first = found.frames[0].time
        for line in result.packets:
            line.time = round(times.get(line.frame, first) - first, 6)


def unread_flood(record: CaseRecord, ordered: InOrder) -> str:
    """What a router sent beyond all bounds without the tester having noticed, in words."""
    if record.judge_one is None:
        return ""
    mine = {(d.destination, d.source) for _, d in record.sides}
    most = MOST_UNITS * (SLOW_ALLOWANCE if record.purpose.slow else 1) + MOST_UNREAD
    if not _has_octets_for_a_flood(ordered, mine, most):
        return ""
    read = {d: len(record.judge_one.packets(d)) for _, d in record.sides}
    cutters: defaultdict[Direction, Cutter] = defaultdict(Cutter)
    units: Counter[Direction] = Counter()
    for way, octets in ordered.payloads():
        if way in mine:
            continue
        direction = Direction(*way)
        came = len(cutters[direction].take(octets))
        units[direction] += came
        most -= came
        words = ""
        if came > MOST_IN_A_SEGMENT:
            words = f"{came} packets in one TCP segment"
        elif units[direction] > read.get(direction, 0) + MOST_UNREAD:
            words = (
                f"more than {MOST_UNREAD} packets on one connection behind those that the tester "
                "read"
            )
        elif most < 0:
            words = "more packets on the connections of one case than anybody judges"
        if words:
            return f"the router flooded {direction.destination[0]}: {words}"
    return ""


def _has_octets_for_a_flood(ordered: InOrder, mine: Collection[Key], most: int) -> bool:
    """Whether the router sent as many octets as the headers of so many packets have.

    Nearly always it did not, and then nobody need cut them.
    """
    octets: Counter[Key] = Counter()
    for way, length in ordered.lengths():
        if way not in mine:
            octets[way] += length
    on_one = max(octets.values(), default=0)
    return (
        on_one > min(MOST_IN_A_SEGMENT, MOST_UNREAD) * HEADER_OCTETS
        or octets.total() > most * HEADER_OCTETS
    )


def _first_unmet(expectations: Sequence[Expectation], seen: Sequence[Seen]) -> int | None:
    """The number of the expectation that decides against a case.

    Harm that the router did after a preamble had failed counts more than that it failed.
    """
    unmet = [number for number, reading in enumerate(seen) if not reading.met]
    return min(unmet, key=lambda number: expectations[number].preamble, default=None)


def _explain(
    result: CaseResult,
    record: CaseRecord,
    number: int,
    seen: Seen,
    judge_two: EvidenceJudge,
    consumed: Consumed,
) -> None:
    """Write the reason of a case for this expectation, which decided and was not met."""
    expectation, shown = record.expectations[number], result.expectations[number]
    saw, frame, k = seen.saw, shown.frame, shown.k
    if (near := nearest(expectation, seen, judge_two, consumed)) is not None:
        saw, frame, k = near.text, near.frame, near.k
    preamble = "setting up for the case: " if expectation.preamble else ""
    note = f" [{expectation.note}]" if expectation.note else ""
    place = f" (frame {frame}, packet {k})" if frame else ""
    of_link = result.id.startswith(_OF_LINK)
    sent = sent_before(expectation, shown, result.packets, of_link=of_link)
    more = explanation(expectation, seen, judge_two, consumed, record.sides, record.received)
    result.reason = (
        f"{preamble}side {expectation.side} expected {expectation.text}{note} "
        f"({expectation.clause}); received: {saw}{place}{sent}"
    ) + (f"; {more}" if more else "")


def _disagreement(
    expectations: Sequence[Expectation], one: Sequence[Seen], two: Sequence[Seen]
) -> str | None:
    for expectation, a, b in zip(expectations, one, two, strict=True):
        if a.met != b.met or a.offset != b.offset or a.count != b.count:
            return (
                f"judges disagree on: side {expectation.side} expected {expectation.text}. "
                f"Judge one: {_in_words(a)}. Judge two: {_in_words(b)}"
            )
    return None


def _in_words(seen: Seen) -> str:
    at = f" at octet {seen.offset}" if seen.offset is not None else ""
    return f"{'met' if seen.met else 'not met'}, saw {seen.saw}{at}"


def frame_of_part(
    stimulus: tuple[Direction, int],
    packets: Sequence[PacketLine],
    sides: Sequence[tuple[str, Direction]],
) -> int | None:
    """Frame of a stimulus in which no packet ends: the first one behind the packet before."""
    direction, offset = stimulus
    back = Direction(direction.destination, direction.source)
    mine = {number for number, (_, from_router) in enumerate(sides, 1) if from_router == back}
    sent = [line for line in packets if line.sent and line.connection in mine]
    # A part stands without an offset of its own among packets that have one.
    end = min((line.frame for line in sent if line.k and line.offset > offset), default=None)
    begin = max((line.frame for line in sent if line.k and line.offset < offset), default=0)
    parts = [line.frame for line in sent if not line.k and line.frame > begin]
    return next((frame for frame in parts if end is None or frame < end), None)


def _expectation_result(
    expectation: Expectation,
    one: Seen,
    two: Seen,
    frames: Mapping[tuple[Direction, int], tuple[int | None, int | None]],
) -> ExpectationResult:
    def place(seen: Seen) -> tuple[int | None, int | None]:
        if seen.offset is None or expectation.direction is None:
            return None, None
        return frames.get((expectation.direction, seen.offset), (None, None))

    frame, k = place(two)
    stimulus = frames.get(expectation.stimulus, (None, None)) if expectation.stimulus else (None,)
    filters = filters_of_leading(expectation)
    joined = " || ".join(f"({f})" for f in filters) if len(filters) > 1 else "".join(filters)
    exact = joined.replace("{k}", str(k or 1))
    if two.offset is not None and expectation.direction is not None:
        matched = one.met or isinstance(expectation, Never)
        exact = _exactly(exact if matched else "", expectation.direction, two.offset, k or 1)
    first = JudgeReading(one.met, *place(one), one.offset, one.saw)
    second = JudgeReading(two.met, frame, k, two.offset, two.saw)
    return ExpectationResult(
        text=expectation.text,
        side=expectation.side,
        clause=expectation.clause,
        met=one.met and two.met,
        filter=exact,
        locator=joined.replace("#{k}", ""),
        frame=frame,
        k=k,
        stimulus_frame=stimulus[0],
        preamble=expectation.preamble,
        # One object where both say the same, which is nearly always: results are many.
        judge_one=first if first != second else second,
        judge_two=second,
        counter=expectation.counter(two),
    )


def _concerns(purpose: Purpose, direction: Direction) -> bool:
    """Whether a purpose about the whole run is about such a direction: XOT, frames, or packets."""
    if purpose.id.startswith("XOT-"):
        return direction.line is None
    return direction.framed == purpose.id.startswith(_OF_LINK)


def _exactly(condition: str, direction: Direction, offset: int, k: int) -> str:
    """The condition on just this packet: by connection, direction and octet offset."""
    if direction.line is not None:
        packet = (
            f"hdlcs.offset#{k} == {offset} && "
            f"hdlcs.direction#{k} == {int(not direction.to_router)} && "
            f'frame.interface_name == "{direction.line}"'
        )
    else:
        source, destination = direction
        packet = (
            f"x25s.offset#{k} == {offset} && ip.src == {source[0]} && "
            f"ip.dst == {destination[0]} && "
            f"tcp.srcport == {source[1]} && tcp.dstport == {destination[1]}"
        )
    return f"({condition}) && {packet}" if condition else packet


def filters_of_leading(expectation: Expectation) -> list[str]:
    """The filters of what is expected, or must not come; TCP ends as tcp.flags."""
    filters = [to_filter(t) for t in expectation.leading()]
    if isinstance(expectation, Next) and CLOSED in expectation.alternatives:
        filters.append("tcp.flags.fin#1 == 1 || tcp.flags.reset#1 == 1")
    if isinstance(expectation, NoConnection):
        listener = expectation.listener
        if isinstance(listener, LineEnd):
            filters.append(f'x25s.lcn#1 >= 1 && frame.interface_name == "{listener.line}"')
            return filters
        host, port = listener
        filters.append(
            f"tcp.flags.syn == 1 && tcp.flags.ack == 1 && ip.src == {host} && tcp.srcport == {port}"
        )
    return filters

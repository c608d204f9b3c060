# SPDX-License-Identifier: GPL-2.0-or-later
"""Judging in a process of its own: cases on their way there, and a process that dies."""

from __future__ import annotations

import errno
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scapy.packet import Packet, Raw
from scapy_x25 import CallAccepted, CallRequest, ClearRequest, Data, PacketSize, WindowSize
from x25shark.evidence.slicer import Slice
from x25shark.interrupts import interrupts
from x25shark.judges.expectation import CLOSED, Counted, Next, Quiet, evaluate_all
from x25shark.judges.frames import Damaged, frame_of
from x25shark.judges.reading import JudgeError
from x25shark.judges.template import describe_template, lacks, matches, to_filter
from x25shark.judges.values import ABSENT, between, one_of
from x25shark.judges.watch import Follows, Watch
from x25shark.profile import load_profile
from x25shark.run import apart
from x25shark.run.apart import Apart, Outcome
from x25shark.run.campaign import Campaign
from x25shark.run.judging import CaseRecord, Watched
from x25shark.run.options import Options
from x25shark.run.packed import packed, unpacked
from x25shark.run.pipeline import Backlog
from x25shark.verdicts import Verdict

from .conftest import FROM_ROUTER, Exchange, environment
from .test_evidence import ACCEPTED, CLEARED, PURPOSE, record, slice_of

TEMPLATES = [
    CallAccepted(),
    CallRequest(called_address=one_of("21", None), facilities=[PacketSize(called=7)]),
    CallRequest(facilities=[lacks(WindowSize)], user_data=ABSENT),
    ClearRequest(cause=between(1, 127), diagnostic=0),
    Data(user_data=b"\0\xff", m=1, lcn=7),
    ClearRequest(cause=0) / Raw(b"behind"),
    frame_of("giant", 2104),
]


def sent_there(made: CaseRecord, found: Slice | None = None) -> CaseRecord:
    return unpacked(packed(made, found or Slice(1)))[0]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: type(template).__name__)
def test_a_template_says_there_what_it_says_here(template: Packet) -> None:
    """Its fields are sets of values: octets, which Scapy pickles, would not do."""
    made = replace(record(Exchange([[ACCEPTED]])))
    made.expectations = [Counted("A", "X.25 5.2", FROM_ROUTER, template=template)]
    (found,) = sent_there(made).expectations
    assert isinstance(found, Counted) and found.template is not None
    assert type(found.template) is type(template)
    assert to_filter(found.template) == to_filter(template)
    assert describe_template(found.template) == describe_template(template)
    for octets in (ACCEPTED, CLEARED, b"\x10\x07\x10\0\xff"):
        assert matches(found.template, octets) == matches(template, octets)


def test_equal_templates_are_one() -> None:
    """They are written as a filter once."""
    made = record(Exchange([[ACCEPTED]]))
    one, other = (sent_there(made).expectations[0] for _ in range(2))
    assert isinstance(one, Next) and isinstance(other, Next)
    assert one.alternatives[0] is other.alternatives[0]


def test_judge_one_sees_there_what_it_sees_here() -> None:
    made = record(Exchange([[ACCEPTED], [CLEARED]]))
    made.expectations += [
        Next("A", "X.25 5.2", FROM_ROUTER, 7, alternatives=(ClearRequest(cause=1), CLOSED)),
        Quiet("A", "X.25 5.2", FROM_ROUTER),
    ]
    assert made.judge_one is not None
    here = evaluate_all(made.expectations, made.judge_one)
    away = sent_there(made)
    assert away.judge_one is not None
    assert evaluate_all(away.expectations, away.judge_one) == here
    assert away.judge_one.octets_sent(FROM_ROUTER) == made.judge_one.octets_sent(FROM_ROUTER)
    assert away.judge_one.headers(FROM_ROUTER) == made.judge_one.headers(FROM_ROUTER)


def test_what_is_damaged_stays_so() -> None:
    found = pickle.loads(pickle.dumps(Damaged(b"abc", "unaligned")))
    assert found == b"abc" and found.how == "unaligned"


class Played:
    """The rest of a run: what was settled there, and what was to be judged here."""

    def __init__(self, directory: Path, judge: str = "auto") -> None:
        self.watched = [Watched(PURPOSE, self._watch())]
        watches = [(w.purpose, w.watch) for w in self.watched]
        self.apart = Apart(judge, (), directory, watches)
        self.slices = Backlog()
        self.records: dict[int, CaseRecord] = {}
        self.outcomes: list[Outcome] = []
        self.here: list[int] = []

    @staticmethod
    def _watch() -> Watch:
        watch = Watch("X.25 5.2", "local")
        watch.always("it never clears", lambda order: next((v for s, _, v in order if not s), None))
        return watch

    def begin(self) -> None:
        self.apart.begin(self.slices, self.records.get, self._settle, self._settle_here)

    def _settle(self, made: CaseRecord, _found: Slice, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        for noted in outcome.noted:
            noted.add(made.watched, outcome.result)

    def _settle_here(self, made: CaseRecord, _found: Slice) -> None:
        self.here.append(made.number)

    def put(self, number: int, **changed: Any) -> None:
        exchange = Exchange([[ACCEPTED]])
        made = replace(record(exchange), number=number, watched=self.watched, **changed)
        found = slice_of(exchange)
        found.number, found.octets = number, 1000
        self.records[number] = made
        self.slices.put(found)

    def end(self) -> None:
        self.slices.put(None)
        self.apart.join()
        self.apart.close()


def test_verdicts_and_what_they_add_come_back(tmp_path: Path) -> None:
    played = Played(tmp_path)
    assert played.apart.about().wireshark
    played.begin()
    for number in range(1, 6):
        played.put(number)
    played.end()
    assert [outcome.number for outcome in played.outcomes] == [1, 2, 3, 4, 5]
    assert {outcome.result.verdict for outcome in played.outcomes} == {Verdict.PASS}
    assert (tmp_path / "cases" / "PLP-CALL-01.pcapng").is_file()
    (watched,) = played.watched
    assert watched.connections == 5
    assert watched.broken is not None and watched.broken[1] is played.outcomes[0].result
    assert played.apart.judge_one > 0 and played.apart.judge_two > 0
    assert not played.here
    played.slices.wait(0)


def test_what_holds_functions_is_judged_here(tmp_path: Path) -> None:
    played = Played(tmp_path)
    played.apart.about()
    played.begin()
    own = Follows("A", "X.25 5.2", FROM_ROUTER, rule=lambda _conversation: None)
    played.put(1, expectations=[own])
    played.put(2)
    played.end()
    assert played.here == [1]
    assert [outcome.number for outcome in played.outcomes] == [2]
    played.slices.wait(0)


def test_where_it_dies_one_case_is_an_error_and_the_others_are_judged_here(tmp_path: Path) -> None:
    played = Played(tmp_path)
    played.apart.about()
    os.kill(played.apart.process_id, signal.SIGKILL)
    for number in range(1, 6):
        played.put(number)
    played.begin()
    played.end()
    assert sorted([*(o.number for o in played.outcomes), *played.here]) == [1, 2, 3, 4, 5]
    assert len(played.outcomes) <= 1
    for outcome in played.outcomes:
        assert outcome.result.verdict is Verdict.ERROR
        assert outcome.result.reason == "the process that judges died with this case in hand"
    played.slices.wait(0)


class Crowd(dict[int, Any]):
    """How many there were at most."""

    most = 0

    def __setitem__(self, key: int, value: Any) -> None:
        super().__setitem__(key, value)
        self.most = max(self.most, len(self))


def test_few_octets_are_on_their_way_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is in memory twice; the others wait here."""
    monkeypatch.setattr(apart, "_ON_THEIR_WAY", 1)
    played = Played(tmp_path)
    played.apart.about()
    played.apart._waiting = crowd = Crowd()
    for number in range(1, 51):
        played.put(number)
    played.begin()
    played.end()
    assert crowd.most == 1
    assert [outcome.number for outcome in played.outcomes] == list(range(1, 51))
    played.slices.wait(0)


def test_one_that_is_stuck_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_STUCK_LOOKS", 1)
    played = Played(tmp_path)
    played.apart.about()
    os.kill(played.apart.process_id, signal.SIGSTOP)
    for number in range(1, 6):
        played.put(number)
    played.begin()
    played.end()
    assert [o.result.verdict for o in played.outcomes] == [Verdict.ERROR]
    assert sorted(played.here) == [2, 3, 4, 5]
    played.slices.wait(0)


def test_one_that_is_stuck_keeps_nobody_in_a_hurry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it takes no word any more."""
    monkeypatch.setattr(apart, "_ENDING_SECONDS", 0.2)
    played = Played(tmp_path)
    played.apart.about()
    os.kill(played.apart.process_id, signal.SIGSTOP)
    played.begin()
    for number in range(1, 2001):
        played.put(number)
    monkeypatch.setattr(interrupts, "count", 2)
    played.end()
    assert not played.outcomes and not played.here


_LEFT_ALONE = """
import os, signal, sys
from pathlib import Path
from x25shark.run.apart import Apart
apart = Apart("auto", (), Path(sys.argv[1]), [])
apart.about()
os.kill(apart.process_id, signal.SIGSTOP)
print(apart.process_id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_outlives_nobody_even_when_it_is_stopped(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LEFT_ALONE, str(tmp_path)],
        env=environment(), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    status = Path(f"/proc/{int(done.stdout)}/stat")
    deadline = time.monotonic() + 30
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] not in "ZX":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_where_it_dies_before_it_is_up_there_is_no_run(tmp_path: Path) -> None:
    played = Played(tmp_path)
    os.kill(played.apart.process_id, signal.SIGKILL)
    with pytest.raises(JudgeError, match="process does not start: it ended with signal 9"):
        played.apart.about()
    played.apart.close()


def test_where_something_unforeseen_keeps_it_from_starting_it_says_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opening(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/root/.cache")

    monkeypatch.setattr("x25shark.run.apart.Opening", opening)
    played = Played(tmp_path)
    with pytest.raises(JudgeError, match=r"does not start: .*Permission denied: '/root/.cache'"):
        played.apart.about()
    played.apart.close()


def test_without_a_process_for_it_judging_is_done_beside_the_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_more() -> int:
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    options = Options("reference", load_profile("reference"), tmp_path, judge_apart=True)
    campaign = Campaign(options)
    monkeypatch.setattr(os, "fork", no_more)
    campaign._deciding.start_apart()
    assert campaign._deciding._apart is None


def test_in_a_hurry_nothing_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(tmp_path)
    played.apart.about()
    played.begin()
    for number in range(1, 51):
        played.put(number)
    monkeypatch.setattr(interrupts, "count", 2)
    played.end()
    assert len(played.outcomes) <= 50 and not played.here


def test_without_a_judge_it_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X25SHARK_JUDGE", str(tmp_path / "none"))
    played = Played(tmp_path, "libwireshark")
    with pytest.raises(JudgeError):
        played.apart.about()
    played.apart.close()

# SPDX-License-Identifier: GPL-2.0-or-later
"""When a run gives up, and what several runs of a case come to; without any router."""

from __future__ import annotations

import pytest
from x25shark.results import CaseResult
from x25shark.run.liveness import CASES_IN_A_ROW, MOST_RESTARTS, Ending, Liveness
from x25shark.run.repeats import Repeats
from x25shark.verdicts import Verdict

NO_CALL = Ending(passed=False, called=False, refused=False)
REFUSED = Ending(passed=False, called=False, refused=True)
PASSED = Ending(passed=True, called=False, refused=False)
CALLED = Ending(passed=False, called=True, refused=False)
CARRIED = Ending(passed=True, called=True, refused=False, carried=True)


class Router:
    """Answers the sanity calls as it is told to."""

    def __init__(self, *sanity: str | None, restart: str | None = None) -> None:
        self.sanity = list(sanity)
        self.trouble = restart
        self.restarts = 0

    def call(self) -> str | None:
        return self.sanity.pop(0)

    def restart(self) -> str | None:
        self.restarts += 1
        return self.trouble


def _after(liveness: Liveness, *endings: Ending) -> list[str | None]:
    return [liveness.after(f"CASE-{n}", ending) for n, ending in enumerate(endings, 1)]


def test_a_call_in_between_counts_anew() -> None:
    router = Router()
    endings = [NO_CALL] * (CASES_IN_A_ROW - 1) + [CALLED] + [NO_CALL] * (CASES_IN_A_ROW - 1)
    assert not any(_after(Liveness(router.call, router.restart), *endings))


def test_a_pass_without_a_call_proves_no_router() -> None:
    router = Router("nothing came")
    endings = [NO_CALL, PASSED] * (CASES_IN_A_ROW - 1) + [NO_CALL]
    said = _after(Liveness(router.call, None), *endings)
    assert not any(said[:-1])
    assert said[-1] is not None
    assert "does not answer any more" in said[-1] and "nothing came" in said[-1]


def test_a_router_that_still_calls_is_not_given_up() -> None:
    router = Router(None, None)
    said = _after(Liveness(router.call, router.restart), *[NO_CALL] * 2 * CASES_IN_A_ROW)
    assert not any(said)
    assert router.sanity == [] and router.restarts == 0


def test_refused_asks_at_once_and_restarts_so_often() -> None:
    router = Router(*["refused", None] * MOST_RESTARTS, "refused")
    liveness = Liveness(router.call, router.restart)
    assert _after(liveness, *[REFUSED] * MOST_RESTARTS) == [None] * MOST_RESTARTS
    assert router.restarts == MOST_RESTARTS == len(liveness.notes)
    said = _after(liveness, REFUSED)
    assert said[0] is not None and said[0].endswith("and will not be once more")
    assert router.restarts == MOST_RESTARTS


def test_who_died_is_started_again_without_being_asked() -> None:
    router = Router(None)
    liveness = Liveness(router.call, router.restart)
    assert liveness.died("CASE-1", "its process ended with status 9") is None
    assert router.restarts == 1 and router.sanity == []
    assert "its process ended with status 9" in liveness.notes[0]


@pytest.mark.parametrize(("sanity", "back"), [(None, True), ("refused", False)])
def test_who_died_and_cannot_be_started_may_come_back_by_itself(
    sanity: str | None, back: bool
) -> None:
    said = Liveness(Router(sanity).call, None).died("CASE-1", "connection refused")
    assert (said is None) is back


def test_calls_without_data_ask_for_a_call_with_some() -> None:
    router = Router(None, "0 octets, then nothing", None)
    liveness = Liveness(router.call, router.restart)
    assert not any(_after(liveness, CALLED, PASSED))
    assert len(router.sanity) == 3
    assert not any(_after(liveness, CARRIED, PASSED, CALLED))
    assert len(router.sanity) == 2 and router.restarts == 0
    assert not any(_after(liveness, CALLED))
    assert router.sanity == [] and router.restarts == 1
    assert "carries no data any more" in liveness.notes[0]
    assert "0 octets, then nothing" in liveness.notes[0]


@pytest.mark.parametrize("can_be_started", [False, True])
def test_where_no_data_come_back_the_calls_are_judged_still(can_be_started: bool) -> None:
    router = Router("nothing came", "nothing came")
    liveness = Liveness(router.call, router.restart if can_be_started else None)
    assert not any(_after(liveness, CARRIED, *[CALLED] * 3))
    assert len(liveness.notes) == 1 and "carries no data any more" in liveness.notes[0]
    assert router.restarts == int(can_be_started)


def test_restart_that_fails() -> None:
    router = Router("refused", restart="no power")
    said = _after(Liveness(router.call, router.restart), REFUSED)
    assert said[0] is not None and said[0].endswith("could not be started again: no power")


def test_restarted_in_vain() -> None:
    router = Router("refused", "still refused")
    said = _after(Liveness(router.call, router.restart), REFUSED)
    assert said[0] is not None and said[0].endswith("started again, still refused")


def _result(verdict: Verdict, reason: str = "") -> CaseResult:
    return CaseResult("X-Y-01", "X-Y", "It works.", "1.2", verdict, reason, duration_s=0.5)


@pytest.mark.parametrize(
    ("verdicts", "worst", "often"),
    [
        ("PASS FAIL PASS", Verdict.FAIL, "FAIL in 1 of 3 runs, first in run 2: why 2"),
        ("FAIL FAIL ERROR", Verdict.ERROR, "ERROR in 1 of 3 runs, first in run 3: why 3"),
        ("INCONCLUSIVE PASS FAIL", Verdict.FAIL, "FAIL in 1 of 3 runs, first in run 3: why 3"),
        ("PASS INCONCLUSIVE INCONCLUSIVE", Verdict.INCONCLUSIVE, "INCONCLUSIVE in 2 of 3 runs"),
        ("PASS PASS PASS", Verdict.PASS, ""),
    ],
)
def test_worst_of_several_runs(verdicts: str, worst: Verdict, often: str) -> None:
    repeats = Repeats(3)
    final: list[CaseResult] = []
    for number, verdict in enumerate(verdicts.split(), 1):
        assert final == []
        reason = "" if verdict == "PASS" else f"why {number}"
        final += repeats.take(_result(Verdict(verdict), reason))
    assert [result.verdict for result in final] == [worst]
    assert final[0].reason.startswith(often)
    assert final[0].duration_s == 1.5
    assert repeats.rest() == []


def test_only_the_run_that_counts_is_kept() -> None:
    kept: list[str] = []
    repeats = Repeats(4, lambda result: kept.append(result.reason))
    runs = [(Verdict.PASS, "1"), (Verdict.PASS, "2"), (Verdict.FAIL, "3"), (Verdict.PASS, "4")]
    final = [repeats.take(_result(*run)) for run in runs]
    assert kept == ["1", "3"]
    assert [r.reason for r in final[-1]] == ["FAIL in 1 of 4 runs, first in run 3: 3"]


def test_runs_that_did_not_come_about() -> None:
    repeats = Repeats(3)
    assert repeats.take(_result(Verdict.PASS)) == []
    assert repeats.take(_result(Verdict.NOT_RUN, "interrupted")) == []
    left = repeats.rest()
    assert [result.verdict for result in left] == [Verdict.PASS]
    assert left[0].remarks == ["PASS in 1 of 2 runs"]

# SPDX-License-Identifier: GPL-2.0-or-later
"""A run ends in time whatever the router does, and its report is whole."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from x25shark.catalogue import catalogue
from x25shark.links.loop import Loop, Overdue
from x25shark.profile import Profile, load_profile
from x25shark.run import deadline
from x25shark.run.sanity import SANITY
from x25shark.suite.costs import seconds
from x25shark.verdicts import Verdict, exit_status

from .conftest import TIMEOUT, Run

PROFILE = load_profile("reference")


def test_a_run_that_is_over(begin: Callable[..., Run]) -> None:
    status, results = begin("--deadline", "0.001", "--select", "XOT-HDR,PLP-CALL").end()
    assert status == results["exit_status"] == 6
    over = [case for case in results["cases"] if "(--deadline)" in case["reason"]]
    assert len(over) > 30
    assert {case["verdict"] for case in over} == {"NOT RUN"}
    assert any("(--deadline)" in note for note in results["run"]["notes"])


def test_what_becomes_of_a_case_that_is_not_done(tmp_path: Path) -> None:
    script = Path(__file__).with_name("overdue.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        capture_output=True, text=True, check=False, timeout=TIMEOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    status, found, notes = json.loads(done.stdout)
    assert status == 1
    assert [(case, verdict) for case, verdict, _ in found] == [
        ("PLP-CALL-01", "INCONCLUSIVE"),
        ("PLP-CALL-02", "PASS"),
        ("PLP-CALL-03", "INCONCLUSIVE"),
        ("PLP-CALL-04", "INCONCLUSIVE"),
        ("PLP-CALL-05", "FAIL"),
        ("PLP-CALL-06", "NOT RUN"),
        ("PLP-CALL-07", "NOT RUN"),
    ]
    reasons = [reason for _, _, reason in found]
    assert "the case was not done after 1 s" in reasons[0]
    assert "a moment only and was not done: the router had kept 0 cases waiting" in reasons[2]
    assert reasons[3].startswith(deadline.BEHIND_ANOTHER) and "Reset Indication" in reasons[3]
    assert all("(--deadline)" in reason for reason in reasons[5:])
    assert sum("from PLP-CALL-03 on each case had only a moment" in note for note in notes) == 1


def test_what_uses_up_the_patience_of_a_run() -> None:
    known = list(catalogue().purposes.values())
    quick, slow = (next(p for p in known if p.slow is wanted) for wanted in (False, True))
    bounds = deadline.Bounds(PROFILE, deadline.Time(in_vain=100.0))
    whole = bounds.of_case(quick)
    bounds.took_in_vain(quick, 0.0)
    bounds.took_in_vain(slow, 1000.0)
    bounds.took_in_vain(quick, 99.0)
    # No case takes more than what is left of it.
    moment = bounds.of_case(quick)
    assert whole is not None and moment is not None and whole > 60 * moment
    assert moment > deadline._moment(quick, PROFILE)
    bounds.took_in_vain(quick, 1.0)
    assert bounds.why_a_moment.startswith("the router had kept 2 cases waiting, 2 min in all, for")
    assert bounds.of_case(quick) == deadline._moment(quick, PROFILE)
    assert bounds.of_case(slow) == deadline.of_case(slow, PROFILE)
    assert bounds.of_case(SANITY) == deadline.of_case(SANITY, PROFILE)
    assert not bounds.over()


def test_when_the_usual_time_is_over_each_case_has_a_moment() -> None:
    quick = catalogue().purposes["PLP-CALL-01"]
    bounds = deadline.Bounds(PROFILE, deadline.Time(usual=0.0))
    assert "the run had already taken" in bounds.why_a_moment and not bounds.over()
    assert bounds.of_case(quick) == deadline._moment(quick, PROFILE)


def test_the_time_that_a_user_gives() -> None:
    cases = ["PLP-CALL-01"]
    assert (
        deadline.Bounds(PROFILE, deadline.time_of_run(cases, PROFILE, 0.0)).of_case(SANITY) is None
    )
    usual, given = (deadline.time_of_run(cases, PROFILE, s) for s in (None, 3600.0))
    assert usual.at_most == given.usual == math.inf and given.at_most == 3600.0
    assert given.in_vain == 1800.0 > usual.in_vain


def test_a_wait_ends_once_and_only_where_it_may() -> None:
    loop = Loop()
    loop.begin_case(0.0)
    loop.poll()
    loop.interruptible = True
    with pytest.raises(Overdue):
        loop.poll()
    loop.poll()
    loop.begin_case()
    loop.poll()
    loop.begin_case(0.0)
    loop.no_end()
    loop.poll()
    loop.close()


def test_being_held_up_is_not_counted() -> None:
    loop = Loop()
    loop.interruptible = True
    loop.begin_case(0.0)
    loop.lag += 3600
    loop.poll()
    loop.begin_case(0.0)
    with pytest.raises(Overdue):
        loop.poll()
    loop.close()


def test_answers_in_time_are_not_counted() -> None:
    loop = Loop()
    loop.begin_case(0.0, for_answers=3600.0)
    loop.interruptible = True
    loop.answered = 3600.0
    loop.poll()
    loop.in_parts = 3600.0
    with pytest.raises(Overdue):
        loop.poll()
    loop.begin_case(0.0)
    loop.answered = 3600.0
    with pytest.raises(Overdue):
        loop.poll()
    loop.close()


@pytest.mark.parametrize(("patient", "comes"), [(True, True), (True, False), (False, True)])
def test_only_what_came_from_the_router_was_an_answer(patient: bool, comes: bool) -> None:
    loop = Loop()
    asked = iter([False, comes])
    loop.wait(lambda: next(asked, comes), 0.01, patient=patient)
    assert (loop.answered > 0) is (patient and comes)
    loop.close()


def test_how_long_answers_may_take() -> None:
    quick = catalogue().purposes["PLP-CALL-01"]
    any_time = deadline.Bounds(PROFILE, deadline.ANY_TIME)
    bounds = deadline.Bounds(PROFILE, deadline.Time(in_vain=100.0))
    short = deadline.Bounds(PROFILE, deadline.Time(at_most=200.0))
    whole = bounds.of_case(quick)
    assert whole is not None and bounds.for_answers(quick) > whole
    assert any_time.for_answers(quick) == 0 < short.for_answers(quick) < 200.0 - whole
    bounds.took_in_vain(quick, 100.0)
    assert bounds.why_a_moment and bounds.for_answers(quick) == 0


def test_more_cases_have_more_time() -> None:
    known = catalogue().purposes
    quick = [case for case, purpose in known.items() if not purpose.slow]
    slow = [case for case, purpose in known.items() if purpose.slow]
    whole = deadline.of_run(quick, PROFILE)
    assert whole > deadline.of_run(quick[:10], PROFILE) > 10 * sum(map(seconds, quick[:10]))
    assert deadline.of_run([*quick, *slow], PROFILE) > whole + 600 * len(slow)
    later = with_reaction(20.0)
    assert deadline.of_run(quick, later) > whole
    assert deadline.of_case(known["PLP-CALL-01"], later) > deadline.of_case(
        known["PLP-CALL-01"], PROFILE
    )


def test_a_case_outlasts_a_router_that_waits_for_the_other_side_as_long_as_its_timers_say() -> None:
    """PLP-CLR-07 waits 2.4 times T13 for the confirmation of a Clear."""
    case = catalogue().purposes["PLP-CLR-07"]
    assert deadline.of_case(case, PROFILE) > 2.4 * PROFILE.times.t13


def with_reaction(length: float) -> Profile:
    times = PROFILE.times.model_copy(update={"reaction": length})
    return PROFILE.model_copy(update={"times": times})


def test_only_a_run_that_would_be_right_otherwise_says_so() -> None:
    verdicts = [Verdict.PASS, Verdict.NOT_RUN]
    assert exit_status(verdicts, cut_short=True) == 6
    assert exit_status([*verdicts, Verdict.INCONCLUSIVE], inconclusive_ok=True, cut_short=True) == 6
    assert exit_status([Verdict.NOT_RUN], cut_short=True) == 6
    assert exit_status([*verdicts, Verdict.FAIL], cut_short=True) == 1
    assert exit_status([*verdicts, Verdict.ERROR], cut_short=True) == 4
    assert exit_status(verdicts) == 0

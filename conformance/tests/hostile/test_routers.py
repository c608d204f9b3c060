# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile and dying routers: the run ends by itself, and its report is whole.

measure.py runs the whole suite against every kind; here a part of it meets those kinds that take
different ways through the tester. Such runs mostly wait, so a few are under way at a time, and each
comes about once: processes of pytest that share the tests (pytest-xdist) share the runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import measure, router

AT_A_TIME = 4
REACTION = 0.5
SELECT = ("--select", "XOT-HDR,PLP-CALL,PLP-CLR,PLP-DATA-17")
# Of kinds that make a case long or large; make hostile has the whole suite, and all kinds.
A_FEW = ("--select", "PLP-CALL-01,PLP-DATA-17", "--deadline", "8")
# Kind of the router and options of the run, as parameter of the fixture `ended`.
Wanted = tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """A run that has ended: what it came to, its report, and all reasons in one text."""

    outcome: measure.Outcome
    report: Path

    @property
    def reasons(self) -> str:
        return "\n".join(self.outcome.reasons)


def _run(wanted: Wanted, directory: Path) -> Ended:
    kind, *options = wanted
    text = router.profile(kind, directory / "state", REACTION)
    few = () if "--select" in options else SELECT
    outcome = measure.run_suite(kind, directory, (*few, *options), text)
    return Ended(outcome, directory / "report")


def _run_once(wanted: Wanted, place: Path) -> Ended:
    """Run it, unless another process has; if one is about to, wait for it."""
    place.mkdir(parents=True, exist_ok=True)
    kept = place / "ended"
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            directory = place / "run"
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            kept.write_bytes(pickle.dumps(_run(wanted, directory)))
    ended: Ended = pickle.loads(kept.read_bytes())
    return ended


@pytest.fixture(scope="module")
def begun(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Wanted, Future[Ended]]]:
    """The runs of all tests of this module that were selected, from another one on in each process
    that takes part."""
    wanted: list[Wanted] = [
        item.callspec.params["ended"]  # type: ignore[misc]
        for item in request.session.items
        if item.path == request.path and isinstance(item, pytest.Function)
    ]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    base = tmp_path_factory.getbasetemp()
    places = (base.parent if worker else base) / "hostile-routers"
    number, all_of_them = (
        (int(worker.removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))
        if worker
        else (0, 1)
    )
    first = len(wanted) * number // all_of_them
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        order = [*range(first, len(wanted)), *range(first)]
        yield {wanted[n]: pool.submit(_run_once, wanted[n], places / str(n)) for n in order}
        pool.shutdown(cancel_futures=True)


@pytest.fixture
def ended(request: pytest.FixtureRequest, begun: dict[Wanted, Future[Ended]]) -> Ended:
    run = begun[request.param].result()
    assert run.outcome.problems == []
    assert "Traceback" not in run.outcome.output
    return run


def against(*runs: Wanted) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("ended", runs, indirect=True, ids=lambda run: run[0])


@against(("dies",))
def test_dies_again_and_again(ended: Ended) -> None:
    """Each death is a FAIL, of the case in which it came, and costs no other case its verdict."""
    assert ended.outcome.status == 1
    results = json.loads((ended.report / "results.json").read_text())
    again = [n for n in results["run"]["notes"] if "the router was started again after" in n]
    died = [c for c in results["cases"] if c["reason"].startswith("the router died ")]
    assert {c["verdict"] for c in died} == {"FAIL"}
    deaths = sum(c["reason"].count("the router died ") for c in died)
    assert 2 <= deaths <= len(again)
    not_run = [c["reason"] for c in results["cases"] if c["verdict"] == "NOT RUN"]
    assert all(reason.startswith("slow") for reason in not_run)
    assert ended.outcome.verdicts["PASS"] > 20


@against(("urgent", "--keep-going"))
def test_urgent_data(ended: Ended) -> None:
    """TCP may call any octet urgent; it is one of the stream nevertheless, for both judges."""
    assert ended.outcome.verdicts["ERROR"] == 0, ended.reasons
    assert ended.outcome.verdicts["PASS"] > 30


@against(
    ("crowd", "--keep-going"), ("giant", "--keep-going", "--select", "PLP-CLR-02,SYS-INTEG-01")
)
def test_a_router_that_stays_below_every_bound_but_that_of_a_case(ended: Ended) -> None:
    """Many packets in each of many segments, or large ones for each small call: the budget of the
    case is the router's to keep."""
    assert ended.outcome.verdicts["ERROR"] == 0, ended.reasons
    assert "the router flooded " in ended.reasons
    assert ended.outcome.peak_mb < measure.MEMORY_LIMIT_MB


@against(
    *((kind, *A_FEW) for kind in ("trickle", "late", "deaf", "header", "churn", "brim", "scan"))
)
def test_whatever_it_does_it_is_the_routers_doing(ended: Ended) -> None:
    """Late, little at a time, or just below the bounds: in time, with verdicts, and no ERROR."""
    outcome = ended.outcome
    assert outcome.verdicts["ERROR"] == 0, ended.reasons
    assert outcome.status in (0, 1, 5, 6)
    assert sum(outcome.verdicts.values()) >= 2
    assert outcome.peak_mb < measure.MEMORY_LIMIT_MB


@against(("closes", "--keep-going"))
def test_keep_going(ended: Ended) -> None:
    """Every case is run, whatever the router does."""
    outcome = ended.outcome
    assert outcome.status == 1
    assert "does not answer any more" not in ended.reasons
    assert set(outcome.verdicts) <= {"PASS", "FAIL", "INCONCLUSIVE", "NOT APPLICABLE", "NOT RUN"}
    assert all("slow" in r for r in outcome.reasons if r.startswith("slow") or "NOT RUN" in r)
    assert outcome.verdicts["FAIL"] + outcome.verdicts["INCONCLUSIVE"] > 30


@against(("strings", "--keep-going"))
def test_strings_are_inert(ended: Ended) -> None:
    """Markup and escapes in what a router sends act neither in the terminal nor in a page."""
    assert ended.outcome.status == 1
    acting = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]")
    assert not acting.search(ended.outcome.output)
    for name in ("report.html", "junit.xml"):
        text = (ended.report / name).read_text("utf-8")
        assert not acting.search(text)
        assert "<script>alert" not in text and "<img src=x" not in text
    assert (ended.report / "results.json").stat().st_size < 20 << 20


@against(("returns",))
def test_returns_by_itself(ended: Ended) -> None:
    """A router that comes back costs the cases in between, not the run."""
    assert "does not answer any more" not in ended.reasons
    assert ended.outcome.verdicts["PASS"] > 10


@against(("mortal",))
def test_cannot_be_started_again(ended: Ended) -> None:
    assert ended.outcome.status == 1
    assert ended.outcome.verdicts["PASS"] > 3
    assert re.search(
        r"could not be started again: control\.start ended with status 1", ended.reasons
    )


@against(("storm",), ("rsts",), ("zeros",), ("calls",), ("nonsense",), ("resets",), ("closes",))
def test_gives_up(ended: Ended) -> None:
    """Five cases and a sanity call tell that there is no router to test."""
    outcome = ended.outcome
    assert outcome.status == 1, ended.reasons
    assert outcome.peak_mb < measure.MEMORY_LIMIT_MB
    assert outcome.verdicts["NOT RUN"] > 30
    assert "the router does not answer any more: " in ended.reasons
    results = json.loads((ended.report / "results.json").read_text())
    sanity = [case for case in results["cases"] if case["id"] == "SANITY-CALL-01"]
    assert [case["verdict"] for case in sanity] == ["FAIL"]
    assert (ended.report / sanity[0]["evidence"]).is_file()

# SPDX-License-Identifier: GPL-2.0-or-later
"""A router with few logical channels is right; one that loses them is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from x25shark.links.loop import Loop
from x25shark.sides.capacity import LEAST_ATTEMPTS, Capacity
from x25shark.sides.outcomes import NoChannel

from .conftest import x25shark

pytestmark = pytest.mark.usefixtures("namespaces")

PROFILES = resources.files("x25shark") / "profiles"
# Many at a time, some at a time, and one after another.
SOME = "SYS-INTEG-01,SYS-INTEG-07,SYS-ROB-03,PLP-CALL-03,XOT-TCP-11"


def run(directory: Path, takes: int, says: int | None, *more: str) -> dict[str, Any]:
    """The cases of a run against a router with so many channels; says: limits.calls."""
    router = (PROFILES / "reference.router").read_text("utf-8")
    own = re.sub(r"(?m)^max_calls = \d+", f"max_calls = {takes}", router)
    (directory / "few.router").write_text(own, "utf-8")
    profile = (PROFILES / "reference.toml").read_text("utf-8")
    limit = "" if says is None else f"calls = {says}\n"
    own = re.sub(r"(?m)^calls = \d+\n", limit, profile).replace("reference.router", "few.router")
    (directory / "few.toml").write_text(own, "utf-8")
    report = directory / "report"
    done = x25shark(
        "run", "--own-namespace", "--router", str(directory / "few.toml"), "--output", str(report),
        *more,
    )  # fmt: skip
    assert done.returncode in (0, 1, 3, 5), done.stdout + done.stderr
    document = json.loads((report / "results.json").read_text())
    return {case["id"]: case for case in document["cases"]}


def refused_first(times: int) -> Callable[[], str]:
    """An attempt that is refused so often."""
    left = [NoChannel("refused", passing=True)] * times

    def attempt() -> str:
        if left:
            raise left.pop()
        return "connected"

    return attempt


def test_a_call_is_tried_again_however_long_the_machine_took() -> None:
    # Every attempt takes longer than the router has.
    starved: Any = SimpleNamespace(context=SimpleNamespace(reaction_limit=0.0, loop=Loop()))
    capacity = Capacity(starved)
    assert capacity.in_the_end(refused_first(LEAST_ATTEMPTS)) == "connected"
    with pytest.raises(NoChannel):
        capacity.in_the_end(refused_first(LEAST_ATTEMPTS + 1))


def test_what_the_profile_says_bounds_the_cases(tmp_path: Path) -> None:
    found = run(tmp_path, 3, 3, "--select", SOME)
    assert {case["verdict"] for case in found.values()} == {"PASS"}
    remark = "3 at a time instead of 50: the router takes 3 calls"
    assert remark in found["SYS-INTEG-01"]["remarks"]


def test_one_that_takes_a_single_call(tmp_path: Path) -> None:
    found = run(tmp_path, 1, 1, "--select", "SYS-INTEG-01,PLP-DATA-01,XOT-VC-01")
    assert found["PLP-DATA-01"]["verdict"] == "PASS"
    for case in ("SYS-INTEG-01", "XOT-VC-01"):
        assert found[case]["verdict"] == "NOT APPLICABLE"
        assert found[case]["reason"] == "2 calls at a time; the router takes 1 (limits.calls)"


def test_a_refused_call_shows_what_the_profile_does_not_say(tmp_path: Path) -> None:
    found = run(tmp_path, 3, None, "--select", SOME)
    assert "FAIL" not in {case["verdict"] for case in found.values()}
    assert found["SYS-INTEG-01"]["verdict"] == "PASS"
    assert any(r.startswith("3 at a time") for r in found["SYS-INTEG-01"]["remarks"])
    unclear = [case for case in found.values() if case["verdict"] == "INCONCLUSIVE"]
    assert all("limits.calls" in case["reason"] for case in unclear)


def test_fewer_than_the_profile_says_is_a_failure(tmp_path: Path) -> None:
    found = run(tmp_path, 3, 5, "--select", "SYS-INTEG-01")
    assert found["SYS-INTEG-01"]["verdict"] == "FAIL"


def test_a_channel_that_is_lost_is_a_failure(tmp_path: Path) -> None:
    found = run(tmp_path, 3, 3, "--select", "SYS-RES-02", "--fault", "BUG-SYS-08")
    assert found["SYS-RES-02"]["verdict"] == "FAIL"


def test_more_calls_than_the_tester_places_are_not_placed(tmp_path: Path) -> None:
    """A router that takes 2,000 calls is not told that it floods side B."""
    found = run(tmp_path, 2000, 2000, "--select", "SYS-RES-01")["SYS-RES-01"]
    assert (found["verdict"], found["reason"]) == (
        "NOT APPLICABLE",
        "the router takes 2000 calls at a time (limits.calls); the tester places 290",
    )

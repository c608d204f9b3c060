# SPDX-License-Identifier: GPL-2.0-or-later
"""Which counter moved when a router got bad units; the profile of a router that runs already."""

from __future__ import annotations

import subprocess
import tomllib
from typing import Any

import pytest
from x25shark.counters.names import NO_COUNTER, NOT_COUNTED, RIGHT, WRONG_COUNTER
from x25shark.counters.settings import Counters
from x25shark.load import errors
from x25shark.load.errors import LINE_KINDS, ErrorRow, as_it_runs, what_moved
from x25shark.load.management import Management
from x25shark.profile import load_profile

NAMED = Counters.model_validate(
    {"names": {"framing_errors": "bad", "data_in": "data"}, "roots": {"router": "all"}}
)


def page(**counters: int) -> dict[str, Any]:
    return {"all": dict.fromkeys(("bad", "data", "pdus", "discards"), 5) | counters, "other": 1}


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (page(bad=8), ("all.bad", 3, RIGHT)),
        (page(bad=8, discards=9), ("all.bad", 3, RIGHT)),
        (page(bad=2), ("all.bad", 0, NOT_COUNTED)),  # it began anew
        (page(discards=8), ("all.discards", 0, WRONG_COUNTER)),
        (page(data=8, discards=8), ("all.discards", 0, WRONG_COUNTER)),
        (page(data=9, pdus=9), ("all.bad", 0, NOT_COUNTED)),  # the same Data, counted twice
        (page() | {"other": 9}, ("all.bad", 0, NOT_COUNTED)),
        (page(pdus=7), ("all.bad", 0, NOT_COUNTED)),  # something else
    ],
)
def test_what_moved_is_told_apart(after: Any, expected: tuple[str, int, str]) -> None:
    assert what_moved(NAMED, page(), after) == expected


def test_a_counter_that_passes_its_top_has_moved() -> None:
    top = 2**32
    assert what_moved(NAMED, page(bad=top - 1), page(bad=1)) == ("all.bad", 2, RIGHT)
    other = what_moved(NAMED, page(discards=top - 1), page(discards=1))
    assert other == ("all.discards", 0, WRONG_COUNTER)


class LatePage(Management):
    """Shows what was counted only at the third look."""

    def __init__(self) -> None:
        super().__init__(NAMED, "http://127.0.0.1:1/")
        self.shown = self.bad = 5
        self.looks = 0

    def page(self) -> Any:
        self.looks += 1
        if self.looks > 2:
            self.shown = self.bad
        return page(bad=self.shown)


def test_the_page_may_show_an_error_a_moment_later(monkeypatch: pytest.MonkeyPatch) -> None:
    late = LatePage()

    def cases(*_: Any) -> tuple[dict[str, str], str]:
        late.bad, late.looks = late.bad + 3, 0
        return {"XOT-HDR-03": "PASS"}, ""

    monkeypatch.setattr(errors, "_run", cases)
    profile = load_profile("reference").model_copy(update={"counters": NAMED})
    rows = list(errors.errors(profile, late, {}, 60))
    assert [(row.counter, row.moved, row.result) for row in rows] == [("all.bad", 3, RIGHT)] * 3


def test_errors_for_which_there_is_no_time_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    profile, nobody = load_profile("reference"), Management(None, None)
    rows = list(errors.errors(profile, nobody, {}, 0))
    assert [row.problem for row in rows] == ["no time was left"] * 3
    assert all(row.reason == "" for row in rows)

    asked: list[str] = []

    def nothing(command: list[str], seconds: float) -> None:
        asked.append(command[command.index("--deadline") + 1])
        raise subprocess.TimeoutExpired(command, seconds)

    monkeypatch.setattr(errors, "run", nothing)
    rows = list(errors.errors(profile, nobody, {}, 40))
    assert asked == ["40"] * 3
    assert [row.problem for row in rows] == ["the cases did not end within 55 s"] * 3


def test_a_router_without_the_counter_has_none() -> None:
    unnamed = Counters.model_validate({"names": {"data_in": "data"}, "roots": {"router": "all"}})
    assert what_moved(unnamed, page(), page(discards=9))[2] == NO_COUNTER
    assert what_moved(NAMED, {}, {"all": {"bad": "x"}})[2] == NO_COUNTER


def test_only_what_is_wrong_is_a_reason() -> None:
    good = ErrorRow("unit too long", {"A": "PASS"}, "all.bad", 3, RIGHT)
    assert good.reason == ""
    assert ErrorRow("unit too long", {"A": "INCONCLUSIVE"}, problem="x").reason == ""
    assert "not discarded" in ErrorRow("unit too long", {"A": "FAIL"}).reason
    assert "wrong counter, all.x" in ErrorRow("e", {}, "all.x", 0, WRONG_COUNTER).reason
    assert "no counter moved" in ErrorRow("e", {}, "all.bad", 0, NOT_COUNTED).reason


def test_a_router_that_runs_is_not_started_again() -> None:
    profile = load_profile("reference")
    text = as_it_runs(profile, "http://127.0.0.1:8099/", {})
    found = tomllib.loads(text)
    assert "embedded" not in found
    assert found["counters"]["url"] == "http://127.0.0.1:8099/"
    assert found["xot"] == tomllib.loads(profile.text)["xot"]


def test_serial_lines_are_where_the_router_has_them() -> None:
    profile = load_profile("reference-xot-serial")
    for at, key in (("127.0.0.1:2002", "tcp"), ("/dev/pts/7", "pty")):
        found = tomllib.loads(as_it_runs(profile, None, {"s1": at, "down": "127.0.0.1:1"}))
        assert found["line"]["b"][key] == at
        assert "serial" not in found["line"]["b"]


def test_each_line_has_counters_of_its_own() -> None:
    named = Counters.model_validate(
        {"names": {"bad_fcs": "fcs", "runts": "short"}, "roots": {"a": "near", "b": "far"}}
    )
    before = {"near": {"fcs": 0, "short": 0}, "far": {"fcs": 0, "short": 0, "rejects": 0}}
    bad_fcs = LINE_KINDS[0].on("b")
    assert bad_fcs.error == "line b: bad FCS"
    for after, expected in (
        ({"fcs": 2, "short": 0}, ("far.fcs", 2, RIGHT)),
        ({"fcs": 0, "short": 0, "rejects": 2}, ("far.rejects", 0, WRONG_COUNTER)),
        ({"fcs": 0, "short": 2}, ("far.short", 0, WRONG_COUNTER)),
        ({"fcs": 0, "short": 0}, ("far.fcs", 0, NOT_COUNTED)),
    ):
        page_after = {"near": {"fcs": 9, "short": 0}, "far": after}
        assert what_moved(named, before, page_after, bad_fcs) == expected

# SPDX-License-Identifier: GPL-2.0-or-later
"""The permissions: each has a variant of the reference router and witnesses that show it."""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib import resources
from typing import Any

import pytest
from x25shark.catalogue import catalogue
from x25shark.catalogue.permission import PROFILES, Permission, alternatives, permissions
from x25shark.profile import builtin_profiles, load_profile
from x25shark.reference.variants import VARIANTS
from x25shark.selftest.sightings import MEASURES
from x25shark.selftest.variant_runs import (
    FULL,
    TEN_LINES,
    Run,
    alternative_tasks,
    covering,
    drawn,
    named_tasks,
    profile_in,
    some_of,
    together_tasks,
)
from x25shark.selftest.variants import ROUTERS, Row, arguments_of, show
from x25shark.selftest.worker import applicable
from x25shark.suite import loader


def test_each_is_a_variant_of_the_reference_router() -> None:
    assert set(permissions()) == set(VARIANTS)


@pytest.mark.parametrize("permission", permissions().values(), ids=lambda p: p.id)
def test_it_is_whole(permission: Permission) -> None:
    assert re.fullmatch(r"MAY-[A-Z0-9]+-[0-9]{2}", permission.id)
    assert permission.text.endswith(".") and permission.clause
    assert permission.where and set(permission.where) <= set(PROFILES)
    assert permission.witness_profile in builtin_profiles()
    assert permission.witnesses and set(permission.witnesses) <= set(loader.cases())
    ways = (permission.more, permission.fewer, permission.measure, permission.remark)
    assert sum(bool(text) for text in ways) == 1
    assert not permission.measure or permission.measure.removeprefix("-") in MEASURES
    assert set(permission.excludes) <= set(permissions())


@pytest.mark.parametrize("permission", permissions().values(), ids=lambda p: p.id)
def test_a_witness_applies(permission: Permission) -> None:
    profile = profile_in(permission.witness_profile, "full", [permission.id])
    purposes = [catalogue().purposes[name] for name in permission.witnesses]
    assert any(
        p.unmet(profile.configurations, profile.declared, profile.has) is None and not p.slow
        for p in purposes
    )


def rows_of(name: str) -> dict[str, Any]:
    text = (resources.files("x25shark.catalogue") / name).read_text("utf-8")
    return tomllib.loads(text)


def test_each_purpose_was_read_for_alternatives() -> None:
    read = [row["id"] for row in rows_of("purposes.toml")["purpose"] if "touched_by" in row]
    cells = list(rows_of("cell_permissions.toml")["permissions"])
    unread = [one for one in catalogue().purposes if one not in (*read, *cells)]
    assert not unread, (
        "read the clause of each for what it leaves a router, and give it touched_by: the "
        "permissions that touch it, or none (a cell of a state table: cell_permissions.toml)"
    )
    assert [*read, *cells] == list(catalogue().purposes)
    for permission in permissions().values():
        for witness in permission.witnesses:
            assert permission.id in alternatives()[witness]


def test_what_a_purpose_was_read_for_stands_once() -> None:
    cells = rows_of("cell_permissions.toml")["permissions"]
    of_cases = {row["id"]: row["touched_by"] for row in rows_of("purposes.toml")["purpose"]}
    for purpose, ids in (of_cases | cells).items():
        assert ids == sorted(set(ids)), purpose
        own = {p.id for p in permissions().values() if purpose in p.witnesses}
        assert not own & set(ids), purpose


@pytest.mark.parametrize("name", sorted({n for names in PROFILES.values() for n in names}))
def test_ten_lines_are_a_profile(name: str) -> None:
    assert not profile_in(name, TEN_LINES, []).pics


def test_every_pair_that_goes_together_is_covered() -> None:
    chosen = [p for p in permissions().values() if "reference" in p.profiles][:12]
    rows = [set(row) for row in covering(chosen)]
    for a in chosen:
        for b in chosen:
            together = any({a.id, b.id} <= row for row in rows)
            assert together == (a.goes_with(b)) or a is b
            assert a is b or any(a.id in row and b.id not in row for row in rows)


@pytest.mark.parametrize("name", ROUTERS)
def test_a_profile_can_say_what_a_permission_wants_said(name: str) -> None:
    for permission in permissions().values():
        if permission.applies(name):
            assert profile_in(name, FULL, [permission.id]).relay_model


@pytest.mark.parametrize("name", ROUTERS)
def test_a_seed_draws_permissions_that_go_together(name: str) -> None:
    variants = drawn(list(permissions().values()), name, 10, 7).variants
    assert variants == drawn(list(permissions().values()), name, 10, 7).variants
    assert len(set(variants)) == 10
    found = [permissions()[v] for v in variants]
    assert all(p.applies(name) and not p.undrawn for p in found)
    assert all(p.goes_with(q) for p in found for q in found if p is not q)


def test_what_is_drawn_is_split_among_the_jobs() -> None:
    tasks = together_tasks(("MAY-CALL-01", "MAY-FLOW-01"), "reference", (FULL, TEN_LINES), 2)
    parts = [(form, run.part) for _, form, runs in tasks for run in runs]
    assert parts == [(form, (n, 2)) for form in (FULL, TEN_LINES) for n in (0, 1)]


def test_a_row_that_failed_says_how_to_repeat_it(capsys: pytest.CaptureFixture[str]) -> None:
    row = Row(["MAY-CALL-01", "MAY-FLOW-01"], "reference-basic", TEN_LINES, whole=True)
    row.failed = {"PLP-CALL-01": "another address"}
    show([row])
    again = capsys.readouterr().out.split("again: python -m x25shark.selftest.variants ")[1]
    parsed = arguments_of(shlex.split(again.splitlines()[0]))
    assert parsed.together and parsed.permissions == row.variants
    assert parsed.profile == [row.profile] and parsed.ten_lines


def test_what_the_catalogue_names_runs_wherever_it_can_show() -> None:
    chosen = list(permissions().values())
    runs = [(p, r) for p, _, runs in alternative_tasks(chosen, (FULL,), 2) for r in runs]
    assert len(runs) == len({(profile, run.variants) for profile, run in runs})
    shown = {(profile, *run.variants) for profile, run in runs}
    assert all((p.witness_profile, p.id) in shown for p in chosen if not p.profile)
    for profile, run in runs:
        assert profile in permissions()[run.variants[0]].profiles
        assert run.named and run.cases
        assert all(run.variants[0] in alternatives()[case] for case in run.cases)


def test_a_seed_draws_some_of_them() -> None:
    chosen = list(permissions().values())
    some = some_of(chosen, 9, 7)
    assert some == some_of(chosen, 9, 7) != some_of(chosen, 9, 8)
    assert len({p.id for p in some}) == 9
    assert some_of(chosen, 10**6, 7) == chosen


def test_cases_of_ones_choice_run_with_each_permission_that_applies() -> None:
    chosen = [permissions()[name] for name in ("MAY-CALL-01", "MAY-FLOW-01", "MAY-LAPB-01")]
    tasks = named_tasks(chosen, ["PLP-CALL-01"], "reference", (FULL, TEN_LINES), 2)
    for form in (FULL, TEN_LINES):
        runs = [run for _, kind, runs in tasks if kind == form for run in runs]
        assert sorted(r.variants[0] for r in runs) == ["MAY-CALL-01", "MAY-FLOW-01"]
        assert {r.cases for r in runs} == {("PLP-CALL-01",)}


def test_what_is_too_much_for_other_cases_is_for_witnesses_alone() -> None:
    permission = permissions()["MAY-FLOW-04"]
    named = Run((permission.id,), ("PLP-MALF-02",), named=True)
    assert named.switches == Run((permission.id,)).switches != (permission.id,)
    assert Run((permission.id,), permission.witnesses).switches == (permission.id,)


def test_what_a_profile_says_of_a_router_holds_for_that_router_alone() -> None:
    chosen = list(permissions().values())
    for _, form, runs in named_tasks(chosen, ["PLP-CALL-01"], "reference", (FULL,), 2):
        says = [r for r in runs if permissions()[r.variants[0]].says]
        assert form == FULL and (not says or len(runs) == 1)


def test_a_case_of_ones_choice_says_how_to_repeat_it() -> None:
    row = Row(["MAY-CALL-01"], "reference-basic", FULL, whole=False, named=["PLP-CALL-01"], ran=1)
    assert not row.wrong, "the behaviour need not show in it"
    words = row.again.removeprefix("python -m x25shark.selftest.variants ")
    parsed = arguments_of(shlex.split(words))
    assert parsed.cases == row.named and parsed.permissions == row.variants
    assert parsed.profile == [row.profile]


def test_slow_cases_run_where_they_are_asked_for() -> None:
    profile, slow = load_profile("reference"), ["XOT-TCP-21"]
    assert not applicable(profile, slow) and applicable(profile, slow, slow=True)
    chosen = [permissions()["MAY-CALL-01"]]
    for _, form, runs in named_tasks(chosen, slow, "reference", (FULL,), 1, slow=True):
        row = Row(["MAY-CALL-01"], "reference", form, whole=False, named=slow, slow=True)
        assert [run.key("reference", form) for run in runs] == [row.key]
        assert row.wrong, "not one case has run"
        words = row.again.removeprefix("python -m x25shark.selftest.variants ")
        assert arguments_of(shlex.split(words)).slow
    with pytest.raises(SystemExit):
        arguments_of(["--slow"])

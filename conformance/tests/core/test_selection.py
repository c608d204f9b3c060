# SPDX-License-Identifier: GPL-2.0-or-later
"""Selection of cases by name and by clause, and what x25shark list says of them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from x25shark.catalogue import CONFIGURATIONS, catalogue
from x25shark.cli import main
from x25shark.profile import load_profile
from x25shark.run import listing, plan
from x25shark.suite.selection import SelectionError, select, words

KNOWN = list(catalogue().purposes)
OF_LINUX = "this router is tested in T2 (side A over XOT, the router answers the calls)"


def test_a_clause_selects_what_stands_on_it_and_below() -> None:
    chosen = select("RFC 1613 6.1", KNOWN)
    clauses = {catalogue().purposes[k].clause for k in chosen}
    assert "XOT-HDR-05" in chosen  # "RFC 1613 4.1, 6.1"
    assert all("6.1" in clause for clause in clauses)
    assert set(select("X.25 4.4.1.2", KNOWN)) < set(select("X.25 4.4", KNOWN))


def test_a_clause_is_not_the_start_of_another_number() -> None:
    tenth = set(select("X.25 4.1.10", KNOWN))
    first = {k for k in tenth if "4.1.1" not in catalogue().purposes[k].clause.split(", ")}
    assert tenth
    with pytest.raises(SelectionError, match="no case tests this clause"):
        select("X.25 4.1.1", sorted(first))


@pytest.mark.parametrize("written", ["rfc 1613 6.1", "RFC1613 6.1", " RFC 1613  6.1 "])
def test_a_standard_may_be_written_in_any_way(written: str) -> None:
    assert select(written, KNOWN) == select("RFC 1613 6.1", KNOWN)


def test_the_first_word_of_groups_selects_all_of_them() -> None:
    assert select("XOT", KNOWN) == [k for k in KNOWN if k.startswith("XOT-")]
    assert select("xot-hdr", KNOWN) == [k for k in KNOWN if k.startswith("XOT-HDR-")]
    with pytest.raises(SelectionError, match="'XO' names no case"):
        select("XO", KNOWN)


def test_clauses_and_names_stand_between_commas() -> None:
    assert words("PLP-RST XOT-HDR-0*,RFC 1613 6.1, !X.25 Annex E") == [
        *("PLP-RST", "XOT-HDR-0*", "RFC 1613 6.1", "!X.25 Annex E")
    ]
    without = select("RFC 1613, !RFC 1613 6.1", KNOWN)
    assert set(without) == set(select("RFC 1613", KNOWN)) - set(select("RFC 1613 6.1", KNOWN))
    with pytest.raises(SelectionError, match="'RFC' names no case"):
        select("PLP-RST RFC 1613 6.1", KNOWN)


def test_a_clause_may_be_as_show_prints_it() -> None:
    both = set(select("X.25 4.3.7", KNOWN)) | set(select("RFC 1613 6.3", KNOWN))
    assert set(select("X.25 4.3.7; RFC 1613 6.3", KNOWN)) == both
    assert words("X.25 4.4.3, Table C-4; on a serial line X.25 5.1, PLP-RST, 6.1") == [
        *("X.25 4.4.3", "X.25 Table C-4", "X.25 5.1", "PLP-RST", "6.1")
    ]
    clauses = {p.clause for p in catalogue().purposes.values()}
    # The others name a key of the profile, a program, or nothing.
    written = [clause for clause in clauses if clause.startswith(("X.25", "RFC", "ISO"))]
    assert len(written) > 300
    assert all(select(clause, KNOWN) for clause in written)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("6.1", "'RFC 1613 6.1'"),
        ("Table C-3", "'X.25 Table C-3'"),
        ("PLP-INT-O1", "did you mean PLP-INT-01?"),
        ("PLP-INT-1", "did you mean PLP-INT-01?"),
        ("PLP-INT-l2", "did you mean PLP-INT-12?"),
        ("BUG-INT-01", "it is a fault of the reference router: "),
        ("BUG-INT-01", "x25shark run --fault BUG-INT-01 "),
        ("MAY-CLR-01", "x25shark run --variant MAY-CLR-01 "),
    ],
)
def test_what_was_meant_is_said(written: str, meant: str) -> None:
    with pytest.raises(SelectionError) as said:
        select(written, KNOWN)
    assert meant in str(said.value)
    assert "PLP-INT-16" not in str(said.value)


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        (("run", "--fault", "BUG-XOT-O1"), "did you mean BUG-XOT-01?"),
        (("run", "--fault", "BUG-XOT-1=3"), "did you mean BUG-XOT-01?"),
        (("run", "--variant", "MAY-1"), "did you mean MAY-"),
        (("show", "BUG-INT-01"), "it is a fault of the reference router: "),
        (("show", "PLP-INT-1"), "did you mean PLP-INT-01?"),
    ],
)
def test_commands_say_what_was_meant(option: tuple[str, ...], meant: str) -> None:
    done = CliRunner().invoke(main, [*option])
    assert done.exit_code == 2
    assert meant in done.output


def test_every_configuration_has_words() -> None:
    used = {c for p in catalogue().purposes.values() for c in p.configurations}
    assert used <= set(CONFIGURATIONS)


def test_the_list_says_in_words_why_a_case_does_not_apply() -> None:
    done = CliRunner().invoke(main, ["list", "--router", "linux", "--json", "--cost"])
    found = json.loads(done.output)
    by_id = {row["id"]: row for row in found["cases"]}
    assert by_id["XOT-HDR-01"]["state"] == "not applicable"
    assert by_id["XOT-HDR-01"]["reason"] == (
        f"for configuration T1 (both sides over XOT); {OF_LINUX}"
    )
    assert by_id["LAPB-SET-01"]["reason"].endswith("T4 (a serial line); " + OF_LINUX)
    assert all(row["seconds"] >= 0 for row in found["cases"])


def test_a_terminal_is_told_why_cases_do_not_apply() -> None:
    found = listing.rows(load_profile("linux"), ["XOT-HDR-01", "PLP-RST-01", "PLP-RST-08"])
    text = listing.why_not(found, 60)
    assert max(map(len, text)) <= 60
    assert text[0].endswith("of 3 do not apply (-):")
    assert "both sides over XOT" in " ".join(" ".join(text).split())
    assert listing.why_not(found[1:2], 60) == []


def test_a_list_that_is_piped_is_not_cut() -> None:
    done = CliRunner().invoke(main, ["list", "--router", "reference-basic"])
    assert "..." not in done.output
    (line,) = (row for row in done.output.splitlines() if row.startswith("PLP-DBIT-01 "))
    assert line.endswith("[not declared: P-DBIT (delivery confirmation end to end)]")


def test_a_selection_that_is_given_twice_selects_both() -> None:
    arguments = ["list", "--json", "--select", "XOT-HDR-0*", "--select", "PLP-INT-01,!XOT-HDR-01"]
    found = json.loads(CliRunner().invoke(main, arguments).output)
    chosen = [row["id"] for row in found["cases"]]
    assert {"XOT-HDR-02", "PLP-INT-01"} < set(chosen)
    assert "XOT-HDR-01" not in chosen


def test_slow_cases_take_as_long_as_the_timers_of_the_router() -> None:
    profile = load_profile("reference")
    usual = plan.make(profile, ["XOT-TCP-01", "XOT-TCP-21"], slow=False)
    slow = plan.make(profile, ["XOT-TCP-01", "XOT-TCP-21"], slow=True, repeat=2)
    assert slow.running == ("XOT-TCP-01", "XOT-TCP-21") and usual.running == ("XOT-TCP-01",)
    assert slow.seconds >= 2 * profile.times.t21 > usual.seconds

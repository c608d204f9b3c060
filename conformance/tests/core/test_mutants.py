# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the broken routers: kept, gone on with, and made better by a second try."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import pytest
from x25shark.selftest import mutants
from x25shark.selftest.mutants import Caught

ONE, TWO = "BUG-XOT-01", "BUG-XOT-02"


def caught(fault: str, *failed: str, verdict: str = "FAIL", ran: int = 3) -> Caught:
    return Caught(fault, failed[0] if failed else "", verdict, failed=list(failed), ran=ran)


@pytest.fixture()
def hunted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The faults that were run, in place of running them."""
    names: list[str] = []

    def hunt_all(
        chosen: Sequence[tuple[str, str]], jobs: int, full: bool
    ) -> Iterator[list[Caught]]:
        for name, _ in chosen:
            names.append(name)
            yield [caught(name, "XOT-HDR-03")]

    monkeypatch.setattr(mutants, "_hunt_all", hunt_all)
    return names


def test_it_goes_on_where_it_ended(
    tmp_path: Path, hunted: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.json"
    table.write_text(json.dumps([asdict(caught(ONE, "XOT-HDR-03", "XOT-HDR-04"))]))
    assert mutants.main([ONE, TWO, "--full", "--go-on", "--json", str(table)]) == 0
    assert hunted == [TWO]
    assert [row["fault"] for row in json.loads(table.read_text())] == [ONE, TWO]
    assert "2 faults with 1 form of the profile, 2 caught, 0 not judged" in capsys.readouterr().out


@pytest.mark.parametrize(("verdict", "status"), [("INCONCLUSIVE", 1), ("NOT APPLICABLE", 0)])
def test_with_ten_lines_a_fault_may_be_unsaid_but_not_hidden(
    verdict: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = caught(ONE, "XOT-HDR-03")
    row.verdict, row.form, row.reason = verdict, "ten lines", "the profile names no such address"
    monkeypatch.setattr(mutants, "_hunt_all", lambda *_: [[row]])
    assert mutants.main([ONE, "--form", "ten lines"]) == status
    word = "MISSED" if status else f"not judged {ONE}, ten lines: {row.reason}"
    assert word in capsys.readouterr().out


def test_an_error_of_the_tester_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = caught(ONE, "XOT-HDR-03")
    row.errors = ["PLP-MOD-02: judge two gave no reading"]
    monkeypatch.setattr(mutants, "_hunt_all", lambda *_: [[row]])
    table = tmp_path / "table.json"
    for _ in range(2):
        assert mutants.main([ONE, "--form", "full", "--go-on", "--json", str(table)]) == 1
        out = capsys.readouterr().out
        assert f"ERROR with {ONE}: PLP-MOD-02: judge two gave no reading" in out
        assert out.endswith("1 passed, 1 failed\n")
    assert len(json.loads(table.read_text())) == 1


@pytest.mark.parametrize("content", ["", "{}", "[1]", '[{"fault": 1, "colour": 2}]'])
def test_what_is_no_table(
    content: str, tmp_path: Path, hunted: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.json"
    table.write_text(content)
    assert mutants.main([ONE, "--form", "full", "--go-on", "--json", str(table)]) == 2
    assert f"{table} is not the table of an earlier run" in capsys.readouterr().err
    assert table.read_text() == content


def test_going_on_needs_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        mutants.main([ONE, "--go-on"])
    assert ended.value.code == 2
    assert "--go-on needs --json FILE" in capsys.readouterr().err


def test_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> Iterator[list[Caught]]:
        yield [caught(TWO, "XOT-HDR-03")]
        raise KeyboardInterrupt

    monkeypatch.setattr(mutants, "_hunt_all", interrupted)
    table = tmp_path / "table.json"
    assert mutants.main([ONE, TWO, "--full", "--json", str(table)]) == 130
    assert f"interrupted after 1 of 2 faults; go on with --go-on --json {table}" in (
        capsys.readouterr().out
    )
    assert [row["fault"] for row in json.loads(table.read_text())] == [TWO]


def test_a_second_try_counts_where_it_caught_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tries = [caught(ONE, "XOT-HDR-04", verdict="PASS", ran=439), caught(ONE, "XOT-HDR-03", ran=1)]
    monkeypatch.setattr(mutants, "_hunt_all", lambda *_: [[tries.pop(0)]])
    assert mutants.main([ONE, "--form", "full"]) == 0
    out = capsys.readouterr()
    assert "2 of 439" in out.out and f"once more: {ONE}" in out.err


@pytest.mark.parametrize(("drawn", "runs"), [("0", 2), ("1", 3), ("9", 4)])
def test_so_many_with_ten_lines(drawn: str, runs: int, hunted: list[str]) -> None:
    assert mutants.main([ONE, TWO, "--drawn", drawn, "--seed", "7"]) == 0
    assert len(hunted) == runs and set(hunted) == {ONE, TWO}

# SPDX-License-Identifier: GPL-2.0-or-later
"""The release gate: baseline files, differences, exit statuses, summaries."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click import Command
from click.testing import CliRunner, Result
from x25shark.finished import compare_command, gate_command
from x25shark.report.baseline import (
    Baseline,
    BaselineError,
    baseline_text,
    read_baseline,
    write_baseline,
)
from x25shark.report.gate import GateResult, gate, junit, markdown
from x25shark.results import CaseResult, Results, write_results, write_whole
from x25shark.verdicts import Verdict

Cases = Callable[..., CaseResult]
Runs = Callable[[list[CaseResult]], Results]
Poison = Callable[[str], Results]
Review = Callable[[Results], Baseline]

HEAD = 'format = "x25shark-baseline"\nversion = 1\n'
ENTRY = '[[known]]\nid = "PLP-RST-02"\nverdict = "FAIL"\nwhy = "w"\nreason = "r"\n'


@pytest.fixture
def reviewed(tmp_path: Path) -> Review:
    """Maker of a baseline of a run in which a person has given each reason."""

    def make(results: Results) -> Baseline:
        path = tmp_path / "baseline.toml"
        write_baseline(results, path)
        path.write_text(path.read_text().replace('reason = ""', 'reason = "ticket 4711"'))
        return read_baseline(path)

    return make


def words(outcome: GateResult) -> list[tuple[str, str]]:
    return [(d.id, d.word) for d in outcome.differences]


def test_a_run_is_as_its_own_baseline_says(results: Results, reviewed: Review) -> None:
    outcome = gate(reviewed(results), results)
    assert outcome.differences == []
    assert outcome.exit_status == 0
    assert outcome.confirmed == ["PLP-RST-02", "PLP-RST-03", "PLP-RST-05"]
    assert "as the baseline says" in outcome.text()


def test_a_regression_is_named(results: Results, reviewed: Review, case: Cases) -> None:
    baseline = reviewed(results)
    results.cases[-1] = case(5, Verdict.FAIL, "PLP-CALL")
    outcome = gate(baseline, results)
    assert words(outcome) == [("PLP-CALL-05", "PASS->FAIL")]
    assert outcome.exit_status == 1
    assert "PASS->FAIL: PLP-CALL-05  Reset Indication" in outcome.text()


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.ERROR, Verdict.INCONCLUSIVE])
def test_a_failure_that_nobody_knows(verdict: Verdict, case: Cases, run_of: Runs) -> None:
    outcome = gate(Baseline(), run_of([case(1, verdict), case(2, Verdict.PASS)]))
    assert words(outcome) == [("PLP-RST-01", f"NEW {verdict.value}")]


def test_a_known_inconclusive_case_is_taken_and_told_of(
    case: Cases, run_of: Runs, reviewed: Review
) -> None:
    run = run_of([case(1, Verdict.INCONCLUSIVE), case(2, Verdict.PASS)])
    outcome = gate(reviewed(run), run)
    assert outcome.exit_status == 0
    reason = outcome.baseline.known["PLP-RST-01"].reason
    assert f"known INCONCLUSIVE  PLP-RST-01: {reason}" in outcome.text()


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.NOT_RUN, Verdict.ERROR])
def test_a_known_failure_that_is_gone(
    verdict: Verdict, case: Cases, run_of: Runs, reviewed: Review
) -> None:
    baseline = reviewed(run_of([case(1, Verdict.FAIL), case(2, Verdict.PASS)]))
    outcome = gate(baseline, run_of([case(1, verdict), case(2, Verdict.PASS)]))
    assert words(outcome) == [("PLP-RST-01", f"known FAIL->{verdict.value}")]


def test_a_known_failure_that_fails_differently(
    case: Cases, run_of: Runs, reviewed: Review
) -> None:
    baseline = reviewed(run_of([case(1, Verdict.FAIL), case(2, Verdict.PASS)]))
    changed = case(1, Verdict.FAIL)
    changed.expectations[0].met = False
    outcome = gate(baseline, run_of([changed, case(2, Verdict.PASS)]))
    assert words(outcome) == [("PLP-RST-01", "fails differently")]
    assert outcome.exit_status == 1


def test_what_an_entry_does_not_pin_is_not_compared(
    case: Cases, run_of: Runs, tmp_path: Path
) -> None:
    path = tmp_path / "b.toml"
    path.write_text(
        HEAD + '[[known]]\nid = "PLP-RST-01"\nverdict = "FAIL"\nreason = "r"\n'
        'expectation = "B: Reset Indication with cause 0 or 128 and diagnostic 7"\n'
    )
    changed = case(1, Verdict.FAIL)
    changed.reason = "something else"
    assert gate(read_baseline(path), run_of([changed, case(2, Verdict.PASS)])).exit_status == 0


def test_missing_cases(case: Cases, run_of: Runs, reviewed: Review) -> None:
    baseline = reviewed(run_of([case(n, v) for n, v in enumerate((Verdict.PASS, Verdict.FAIL))]))
    outcome = gate(baseline, run_of([case(9, Verdict.PASS)]))
    assert words(outcome) == [("PLP-RST-01", "missing"), ("PLP-RST-00", "missing")]


def test_a_run_that_tested_nothing_or_was_interrupted_is_no_basis(
    case: Cases, run_of: Runs
) -> None:
    assert words(gate(Baseline(), run_of([]))) == [("(run)", "nothing passed")]
    broken = run_of([case(1, Verdict.PASS)])
    broken.exit_status = 130
    assert words(gate(Baseline(), broken)) == [("(run)", "interrupted")]


def test_reasons_are_kept_only_where_the_failure_is_the_same(
    case: Cases, run_of: Runs, reviewed: Review
) -> None:
    old = reviewed(run_of([case(1, Verdict.FAIL), case(2, Verdict.FAIL)]))
    changed = case(2, Verdict.FAIL)
    changed.reason = "something else"
    text, missing = baseline_text(run_of([case(1, Verdict.FAIL), changed]), old)
    assert text.count('reason = "ticket 4711"') == 1
    assert missing == ["PLP-RST-02"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a baseline"),
        ("format = [", "not TOML"),
        (HEAD.replace("1", "2"), "not a baseline"),
        (HEAD + "spare = 1\n", "unknown key 'spare'"),
        (HEAD + "pass = 1\n", "pass has to be a list"),
        (HEAD + "known = 1\n", "known has to be a list"),
        (HEAD + "known = [1]\n", "known has to be a table"),
        (HEAD + ENTRY.replace('"r"', '" "'), "line 3: PLP-RST-02: reason is missing"),
        (HEAD + ENTRY.replace('"r"', "4"), "line 3: reason has to be a string"),
        (HEAD + "\n\n" + ENTRY.replace("id =", "name ="), "line 5: unknown key 'name'"),
        (HEAD + ENTRY.replace("FAIL", "PASS"), "verdict has to be one of ERROR, FAIL"),
        (HEAD + ENTRY.replace('why = "w"\n', ""), "expectation or why is missing"),
        (HEAD + ENTRY + "\n" + ENTRY, "line 9: PLP-RST-02 is listed twice"),
        (HEAD + 'pass = ["PLP-RST-02"]\n' + ENTRY, "listed under pass as well"),
    ],
)
def test_bad_baselines_are_refused_with_the_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_text(text)
    with pytest.raises(BaselineError, match=re.escape(message)) as caught:
        read_baseline(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_baselines_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BaselineError, match="not TOML"):
        read_baseline(path)
    with pytest.raises(BaselineError, match="No such file"):
        read_baseline(tmp_path / "none.toml")
    path.write_bytes(b"#" * 9_000_000)
    with pytest.raises(BaselineError, match="More than 8,000,000 octets"):
        read_baseline(path)


def test_a_baseline_of_hostile_text_can_be_read_again(
    poisoned: Poison, hostile: str, tmp_path: Path
) -> None:
    path = tmp_path / "b.toml"
    assert write_baseline(poisoned(hostile), path)
    assert len(read_baseline(path, unfinished=True).known) == 1


def test_markdown(results: Results, reviewed: Review, case: Cases) -> None:
    baseline = reviewed(results)
    results.cases[-1] = case(5, Verdict.FAIL, "PLP-CALL")
    text = markdown(gate(baseline, results))
    assert text.startswith("## x25shark gate: 1 difference from the baseline\n")
    assert "| PASS\\-\\>FAIL | PLP\\-CALL\\-05 |" in text
    assert "| PLP\\-RST\\-02 | ticket 4711 |" in text


def test_markdown_of_hostile_text_is_inert(
    poisoned: Poison, hostile: str, bad_characters: set[str]
) -> None:
    text = markdown(gate(Baseline(), poisoned(hostile)))
    assert not bad_characters & set(text)
    assert not re.search(r"(?<!\\)[<`\[]", text)
    assert "@team" not in text
    row = next(x for x in text.splitlines() if x.startswith("| NEW ERROR"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 4
    assert len(markdown(gate(Baseline(), poisoned("|" * 10_000_000)))) < 20_000


def test_junit_of_a_gate(results: Results, reviewed: Review, case: Cases) -> None:
    baseline = reviewed(results)
    results.cases[-1] = case(5, Verdict.FAIL, "PLP-CALL")
    root = ElementTree.fromstring(junit(gate(baseline, results)))
    (failure,) = root.iter("failure")
    assert failure.get("type") == "PASS->FAIL"
    assert "run again" in (failure.text or "")
    assert root.get("tests") == "11"
    assert root.get("failures") == "1"
    assert root[0].get("skipped") == str(len(list(root.iter("skipped")))) == "5"
    assert "known: ticket 4711" in next(root.iter("skipped")).get("message", "")


def test_junit_of_hostile_text_is_inert(
    poisoned: Poison, hostile: str, bad_characters: set[str]
) -> None:
    text = junit(gate(Baseline(), poisoned(hostile)))
    assert not bad_characters & set(text)
    ElementTree.fromstring(text.encode())


@pytest.fixture
def files(results: Results, tmp_path: Path, reviewed: Review) -> Path:
    """The directory of a run and of a reviewed baseline of it."""
    write_results(results, tmp_path / "results.json")
    reviewed(results)
    return tmp_path


def call(command: Command, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments])


def test_gate_command(files: Path, results: Results, case: Cases) -> None:
    gate_arguments = ("--baseline", files / "baseline.toml", files)
    outcome = call(gate_command, *gate_arguments)
    assert (outcome.exit_code, outcome.output.startswith("gate: as the baseline")) == (0, True)
    results.cases[-1] = case(5, Verdict.FAIL, "PLP-CALL")
    write_results(results, files / "results.json")
    outcome = call(
        gate_command, "--markdown", files / "s.md", "--junit", files / "s.xml", *gate_arguments
    )
    assert outcome.exit_code == 1
    assert "PASS->FAIL: PLP-CALL-05" in outcome.output
    assert "1 difference" in (files / "s.md").read_text()
    ElementTree.parse(files / "s.xml")


def test_what_is_no_file_is_written_to_and_stays(files: Path) -> None:
    """A pipe, and the system's name of one; a device that takes nothing is said."""
    pipe = files / "pipe"
    os.mkfifo(pipe)
    ours = os.open(pipe, os.O_RDWR)
    for name in (pipe, f"/dev/fd/{ours}"):
        outcome = call(
            gate_command, "--markdown", name, "--baseline", files / "baseline.toml", files
        )
        assert outcome.exit_code == 0, outcome.output
        assert b"As the baseline says" in os.read(ours, 65536)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    os.close(ours)
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_whole(Path("/dev/full"), "text")
    assert stat.S_ISCHR(Path("/dev/full").lstat().st_mode)


def test_gate_command_writes_a_baseline_that_needs_reasons(files: Path) -> None:
    path = files / "new.toml"
    outcome = call(gate_command, "--baseline", path, "--write", files / "results.json")
    assert outcome.exit_code == 0
    assert "3 need a reason" in outcome.output
    outcome = call(gate_command, "--baseline", path, files)
    assert outcome.exit_code == 2
    assert "reason is missing or empty" in outcome.output
    # Writing again is possible while reasons are still missing.
    assert call(gate_command, "--baseline", path, "--write", files).exit_code == 0


def test_compare_command(files: Path, results: Results, case: Cases, tmp_path: Path) -> None:
    assert call(compare_command, files, files / "results.json").exit_code == 0
    results.cases[-1] = case(5, Verdict.FAIL, "PLP-CALL")
    write_results(results, tmp_path / "new.json")
    outcome = call(compare_command, files, tmp_path / "new.json")
    assert outcome.exit_code == 1
    assert "PASS->FAIL: PLP-CALL-05" in outcome.output


@pytest.mark.parametrize(
    "damage",
    [
        ('"id":"PLP-RST-02"', '"id":5'),
        ('"purpose":"A Reset', '"purpos":"A Reset'),
        ('"verdict":"FAIL"', '"verdict":"MAYBE"'),
        ('"packets":[', '"packets":[7,'),
        ('"expectations":[', '"expectations":["x",'),
        ('"texts": ["', '"texts": [7,"'),
        ('"remarks":[]', '"remarks":[{}]'),
        ('"duration_s":41.7', '"duration_s":"long"'),
        ('"version": 3', '"version": 1'),
        ("{", "["),
    ],
)
def test_damaged_results_are_refused_in_one_line(damage: tuple[str, str], files: Path) -> None:
    path = files / "results.json"
    text = path.read_text()
    assert damage[0] in text
    path.write_text(text.replace(*damage, 1))
    outcome = call(gate_command, "--baseline", files / "baseline.toml", path)
    assert outcome.exit_code == 2
    assert outcome.output.startswith(f"x25shark: {path}: ")
    assert len(outcome.output.splitlines()) == 1


def test_absent_files_are_refused_in_one_line(files: Path) -> None:
    for arguments in (
        ("--baseline", files / "none.toml", files),
        ("--baseline", files / "baseline.toml", files / "none.json"),
        ("--baseline", files / "baseline.toml", "--markdown", "/proc/none/s.md", files),
    ):
        outcome = call(gate_command, *arguments)
        assert outcome.exit_code == 2
        assert "No such file" in outcome.output

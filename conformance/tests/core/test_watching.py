# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark run --watch, --dry-run, list --cost; without a run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from x25shark.catalogue import catalogue
from x25shark.cli import main
from x25shark.profile import load_profile
from x25shark.results import CaseResult, Results, RunInfo, write_results
from x25shark.run import plan
from x25shark.run.watching import Files, Watching, not_passed, restart
from x25shark.suite import costs
from x25shark.verdicts import Verdict

FIRST, SECOND = "PLP-RST-01", "PLP-RST-02"
RUN = RunInfo("1", "", 1.0, "r", "p", "local", "T1", {}, "j", 0, "", "")


def report(folder: Path, **verdicts: Verdict) -> None:
    """A results.json in which these cases came to these verdicts."""
    cases = [
        CaseResult(name.replace("_", "-"), "G", "p", "c", verdict)
        for name, verdict in verdicts.items()
    ]
    write_results(Results(RUN, cases, 0), folder / "results.json")


@pytest.mark.parametrize("change", ["new", "gone", "longer", "deeper"])
def test_a_change_is_seen_once(change: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.c").write_text("1")
    files = Files(tmp_path, tmp_path / "report")
    assert not files.changed()
    if change == "new":
        (tmp_path / "b.c").write_text("1")
    elif change == "gone":
        (tmp_path / "src" / "a.c").unlink()
    elif change == "longer":
        (tmp_path / "src" / "a.c").write_text("12")
    else:
        (tmp_path / "src" / "deep").mkdir()
        (tmp_path / "src" / "deep" / "x").write_text("1")
    assert files.changed()
    assert not files.changed()


def test_reports_and_hidden_files_are_no_change(tmp_path: Path) -> None:
    for name in ("report", ".git", "__pycache__"):
        (tmp_path / name).mkdir()
    files = Files(tmp_path, tmp_path / "report")
    for name in ("report", ".git", "__pycache__"):
        (tmp_path / name / "x").write_text("x")
    (tmp_path / ".hidden").write_text("x")
    assert not files.changed()


def test_what_a_build_and_a_router_write_is_no_change(tmp_path: Path) -> None:
    program = tmp_path / "router"
    (tmp_path / "a.c").write_text("1")
    files = Files(tmp_path, tmp_path / "report")
    program.touch()  # the linker has made it, and not written it yet
    assert not files.changed()
    for octets in (b"\x7fELF1", b"\x7fELF12", b""):  # the last: it is about to be written again
        program.write_bytes(octets)
        (tmp_path / "router.log").write_bytes(b"a call" + octets)
        (tmp_path / "router.pid").write_bytes(octets)
        assert not files.changed()
    program.unlink()
    assert not files.changed()
    (tmp_path / "a.c").write_text("12")
    program.write_bytes(b"\x7fELF1")
    assert files.changed()
    assert files.last_changed == str(tmp_path / "a.c")


def test_a_program_that_is_the_place_itself_is_watched(tmp_path: Path) -> None:
    program = tmp_path / "router"
    program.write_bytes(b"\x7fELF1")
    files = Files(program, tmp_path / "report")
    program.write_bytes(b"\x7fELF12")
    assert files.changed()


def test_an_empty_file_is_a_change_once_it_is_written(tmp_path: Path) -> None:
    files = Files(tmp_path, tmp_path / "report")
    (tmp_path / "a.c").touch()
    assert not files.changed()
    (tmp_path / "a.c").write_text("1")
    assert files.changed()


def test_one_file_may_be_watched(tmp_path: Path) -> None:
    file = tmp_path / "router"
    file.write_text("1")
    files = Files(file, tmp_path / "report")
    (tmp_path / "other").write_text("")
    assert not files.changed()
    file.write_text("12")
    assert files.changed()


class Enough(Exception):
    """The watching has done what was wanted of it."""


class Runs:
    """What the runs of a watching are asked for; each comes to the verdicts that are next."""

    def __init__(self, folder: Path, verdicts: list[dict[str, Verdict]]) -> None:
        self.asked: list[str] = []
        self._folder = folder
        self._verdicts = verdicts

    def begin(self, options: Sequence[str]) -> subprocess.Popen[bytes]:
        if not self._verdicts:
            raise Enough
        self.asked.append(" ".join(options))
        report(self._folder, **self._verdicts.pop(0))
        return subprocess.Popen([sys.executable, "-c", ""])


class Changes(Files):
    """A file that changes as often as it is asked between two runs."""

    def __init__(self) -> None:
        self._asked = 0
        self.place, self.last_changed = Path("src"), "src/a.c"

    def changed(self) -> bool:
        self._asked += 1
        return self._waits() and self._asked % 2 == 1

    @staticmethod
    def _waits() -> bool:
        frame: Any = sys._getframe(2)
        return str(frame.f_code.co_name) == "_await_change"


def test_what_failed_is_run_first(tmp_path: Path) -> None:
    fails, passes = Verdict.FAIL, Verdict.PASS
    runs = Runs(
        tmp_path,
        [
            {"PLP_RST_01": fails, "PLP_RST_02": passes},
            {"PLP_RST_01": passes},
            {"PLP_RST_01": passes, "PLP_RST_02": passes},
            {"PLP_RST_01": passes, "PLP_RST_02": passes},
        ],
    )
    again: list[int] = []
    said: list[str] = []
    watching = Watching(
        Changes(),
        tmp_path,
        "PLP-RST",
        ["--slow"],
        begin=runs.begin,
        again_ready=lambda: again.append(len(runs.asked)),
        say=said.append,
    )
    with pytest.raises(Enough):
        watching.run()
    whole = "--slow --select PLP-RST"
    assert runs.asked == [whole, f"--slow --select {FIRST}", whole, whole]
    assert again == [1, 3, 4]
    assert said == ["\nwatching src; Ctrl-C ends it", "changed: src/a.c"] * 3


@pytest.mark.parametrize(
    ("select", "router", "first"),
    [
        ("PLP-RST", RUN.router, f"--select {FIRST}"),
        ("PLP-RST", "another", "--select PLP-RST"),
        ("PLP-CLR", RUN.router, "--select PLP-CLR"),
    ],
)
def test_what_failed_of_another_router_or_unwanted_is_not_run_first(
    select: str, router: str, first: str, tmp_path: Path
) -> None:
    report(tmp_path, PLP_RST_01=Verdict.FAIL)
    runs = Runs(tmp_path, [{"PLP_RST_01": Verdict.PASS}])
    with pytest.raises(Enough):
        Watching(Changes(), tmp_path, select, [], router=router, begin=runs.begin).run()
    assert runs.asked[0] == first


def test_a_run_under_way_is_ended_by_a_change(tmp_path: Path) -> None:
    begun: list[subprocess.Popen[bytes]] = []
    file = tmp_path / "a.c"

    def begin(_options: Sequence[str]) -> subprocess.Popen[bytes]:
        if len(begun) == 2:
            raise Enough
        code = "import sys, time; sys.stdout.write('x'); sys.stdout.flush(); time.sleep(600)"
        begun.append(subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE))
        stdout = begun[-1].stdout
        assert stdout is not None and stdout.read(1) == b"x"
        file.write_text("1" * len(begun))
        return begun[-1]

    said: list[str] = []
    files = Files(tmp_path, tmp_path / "r")
    watching = Watching(files, tmp_path / "r", "", [], begin=begin, say=said.append)
    with pytest.raises(Enough):
        watching.run()
    assert len(begun) == 2
    assert said == [f"changed: {file}"] * 2
    assert all(process.poll() is not None for process in begun)


@pytest.mark.parametrize(("own", "told"), [("made.jar", 1), ("{}.jar", 0)])
def test_a_file_that_each_run_writes_is_told_of(own: str, told: int, tmp_path: Path) -> None:
    """Not where it is another file each time."""
    begun: list[subprocess.Popen[bytes]] = []

    def begin(_options: Sequence[str]) -> subprocess.Popen[bytes]:
        if len(begun) == 5:
            raise Enough
        (tmp_path / own.format(len(begun))).write_text("1" * len(begun) + "PK")
        begun.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))
        return begun[-1]

    said: list[str] = []
    files = Files(tmp_path, tmp_path / "r")
    with pytest.raises(Enough):
        Watching(files, tmp_path / "r", "", [], begin=begin, say=said.append).run()
    assert sum("has ended 3 runs in a row" in text for text in said) == told
    assert all(process.poll() is not None for process in begun)


def test_only_cases_that_exist_are_run_again(tmp_path: Path) -> None:
    report(
        tmp_path,
        SANITY_CALL_01=Verdict.FAIL,
        PLP_RST_01=Verdict.PASS,
        PLP_RST_02=Verdict.ERROR,
        PLP_RST_03=Verdict.NOT_RUN,
    )
    assert not_passed(tmp_path) == [SECOND]


def test_the_case_that_showed_it_is_run_with_a_purpose_about_the_whole_run(tmp_path: Path) -> None:
    whole = CaseResult("PLP-FORM-01", "G", "p", "c", Verdict.FAIL, shown_in=SECOND)
    passed = CaseResult(SECOND, "G", "p", "c", Verdict.PASS)
    lost = CaseResult("PLP-FORM-02", "G", "p", "c", Verdict.FAIL, shown_in="SANITY")
    write_results(Results(RUN, [passed, whole, lost], 0), tmp_path / "results.json")
    assert not_passed(tmp_path) == ["PLP-FORM-01", SECOND, "PLP-FORM-02"]


@pytest.mark.parametrize(("start", "restarted"), [("", True), ('start = "true"\n', False)])
def test_a_router_that_no_run_starts_is_restarted(
    start: str, restarted: bool, tmp_path: Path
) -> None:
    text = (
        'relay_model = "local"\npics = ["R-DCE"]\n'
        '[xot]\nrouter = "127.0.9.1"\na = "127.0.9.2"\nb = "127.0.9.3"\n'
        '[addresses]\na = "31"\nb = "21"\n'
        f'[control]\nrestart = "touch {tmp_path}/again"\nstop = "touch {tmp_path}/stopped"\n'
    )
    (tmp_path / "own.toml").write_text(text + start)
    restart(load_profile(str(tmp_path / "own.toml")), tmp_path / "router.log")
    assert (tmp_path / "again").exists() is restarted
    assert not (tmp_path / "stopped").exists()


def test_a_dry_run_says_what_would_run(tmp_path: Path) -> None:
    arguments = [
        "run",
        "--dry-run",
        "--select",
        f"{FIRST},HDLC-01",
        "--output",
        str(tmp_path / "r"),
    ]
    outcome = CliRunner().invoke(main, arguments)
    assert outcome.exit_code == 0
    first, second, last = outcome.output.splitlines()
    assert "HDLC-01" in first + second and "for configuration T4" in first + second
    assert last.startswith("1 of 2 cases to run, about ")
    assert not (tmp_path / "r").exists()


def test_list_tells_costs() -> None:
    outcome = CliRunner().invoke(main, ["list", "--cost", "--select", "PLP-RST-04"])
    assert f" {costs.seconds('PLP-RST-04'):.1f}s " in outcome.output


def test_costs_are_those_of_cases() -> None:
    assert set(costs._named()) <= set(catalogue().purposes)
    assert costs.seconds("no such case") == costs.USUAL


def test_costs_are_written_from_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "COSTS", tmp_path / "costs.toml")
    xot = {"PLP-RST-01": (1.0, Verdict.PASS), "HDLC-01": (0.5, Verdict.NOT_APPLICABLE)}
    line = {"PLP-RST-01": (2.0, Verdict.PASS), "HDLC-01": (3.0, Verdict.PASS)}
    reports = []
    for number, cases in enumerate((xot, line)):
        found = [CaseResult(name, "G", "p", "c", v, duration_s=s) for name, (s, v) in cases.items()]
        reports.append(str(tmp_path / f"{number}.json"))
        write_results(Results(RUN, found, 0), Path(reports[-1]))
    assert costs.main(reports) == 0
    assert costs.COSTS.read_text().splitlines()[2:] == ["HDLC-01 = 3.0", "PLP-RST-01 = 1.0"]
    assert costs.written([("A-01", 0.01), ("B-01", 2.345)]).splitlines()[-1] == "B-01 = 2.3"
    assert costs.main([str(tmp_path / "none.json")]) == 2


def test_a_plan_counts_what_applies() -> None:
    names = list(catalogue().purposes)
    made = plan.make(load_profile("reference-basic"), names, slow=False)
    assert set(made.running) | set(made.left_out) == set(names)
    slow = {name for name in names if catalogue().purposes[name].slow}
    assert slow and not slow & set(made.running)
    twice = plan.make(load_profile("reference-basic"), names, slow=False, repeat=2)
    assert twice.seconds == pytest.approx(2 * made.seconds)

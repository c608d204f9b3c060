# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that work on finished runs: `x25shark compare`, `gate` and `site`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import click

from .report.baseline import Baseline, BaselineError, read_baseline, write_baseline
from .report.compare import compare, described
from .report.gate import gate, junit, markdown
from .report.site import Given, SiteError
from .report.site import write as write_site
from .report.tell import complain, tell
from .report.text import one_line
from .results import Results, ResultsError, read_results, write_whole
from .verdicts import Verdict

_PATH = click.Path(path_type=Path)


def _refuse(message: object) -> NoReturn:
    complain(message)
    sys.exit(2)


def _results(path: Path) -> Results:
    """Results from results.json or its directory; ends the command with status 2 if it cannot."""
    file = path / "results.json" if path.is_dir() else path
    try:
        # Of a case that passed, its verdict is compared and nothing else.
        return read_results(file, lambda _id, verdict: verdict is not Verdict.PASS)
    except ResultsError as error:
        _refuse(error)


def _baseline(path: Path, *, unfinished: bool = False) -> Baseline:
    try:
        return read_baseline(path, unfinished=unfinished)
    except BaselineError as error:
        _refuse(error)


def _load_file(path: Path) -> Path | None:
    """The load.json that is meant, if it is one: the file itself, or one in a directory without
    results of the suite."""
    if path.is_dir():
        found = path / "load.json"
        return found if found.is_file() and not (path / "results.json").exists() else None
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            return path if b'"x25shark-load"' in file.read(200) else None
    except OSError:
        return None


def _compare_load(old: Path, new: Path) -> list[str]:
    from .load import compare as load
    from .load.results import ResultError, read

    try:
        return load.differences(read(old), read(new), (old, new))
    except ResultError as error:
        _refuse(error)


def _gate_load(limits: Path, result: Path) -> int:
    from .load import compare as load
    from .load.results import ResultError, read

    try:
        found = read(result)
        held = load.hold(load.read_limits(limits), found, (limits, result))
        partial = load.unfinished(found, result)
    except ResultError as error:
        _refuse(error)
    for one in held:
        tell(one.text)
    for words in partial:
        tell(f"FAIL  a whole run: {words}")
    missed = sum(1 for one in held if not one.ok)
    tell(f"{missed} of {len(held)} limits missed" if missed else f"{len(held)} limits met")
    return 1 if missed or partial else 0


def _write(path: Path | None, text: str) -> None:
    if path is not None:
        try:
            write_whole(path, text)
        except OSError as error:
            _refuse(f"{path}: {error.strerror or error}")


@click.command("compare")
@click.argument("old", type=_PATH)
@click.argument("new", type=_PATH)
def compare_command(old: Path, new: Path) -> None:
    """Say in words what changed from the run OLD to the run NEW.

    OLD and NEW are results.json files or the directories that hold them, or load.json of two runs
    of the same load command: then the figures that changed by more than their own spread are named.
    The exit status is 0 if nothing changed, 1 if something did, 2 if a file cannot be read.
    """
    loads = _load_file(old), _load_file(new)
    if loads[0] is not None and loads[1] is not None:
        lines = _compare_load(loads[0], loads[1])
        number = len(lines)
    else:
        differences = compare(_results(old), _results(new))
        lines, number = described(differences), len(differences)
    for line in lines:
        tell(line, hang=4)
    tell(f"{number} difference{'s' if number != 1 else ''}" if number else "no difference")
    sys.exit(1 if number else 0)


@click.command("gate")
@click.option("--baseline", "baseline_path", type=_PATH, help="The reviewed baseline.")
@click.option(
    "--limits",
    "limits_path",
    type=_PATH,
    help='For a load result: a file of limits, a line each: "throughput.128 >= 900".',
)
@click.option("--write", is_flag=True, help="Write the baseline from RESULTS instead of judging.")
@click.option("--markdown", "markdown_path", type=_PATH, help="Write a summary for a CI page.")
@click.option("--junit", "junit_path", type=_PATH, help="Write the outcome as JUnit XML.")
@click.argument("results_path", metavar="RESULTS", type=_PATH)
def gate_command(
    baseline_path: Path | None,
    limits_path: Path | None,
    write: bool,
    markdown_path: Path | None,
    junit_path: Path | None,
    results_path: Path,
) -> None:
    """Hold a run against a baseline of known deviations, or a load result against limits.

    RESULTS is a results.json file or the directory that holds it. The exit status is 0 if the
    run is as the baseline says, 1 if anything differs (also a known failure that is gone or
    fails differently), 2 if a file cannot be used. Of a load result: 0 if each limit is met, 1 if
    one is not or was not measured, or the run did not come to its end; 2 likewise, and where a
    limit is on what the run did not set out to measure.
    """
    if limits_path is not None:
        if baseline_path is not None or write or markdown_path or junit_path:
            _refuse("--limits goes with no other option")
        file = _load_file(results_path)
        if file is None:
            _refuse(f"{results_path}: not a load result of x25shark")
        sys.exit(_gate_load(limits_path, file))
    if baseline_path is None:
        _refuse("--baseline is missing (for a load result: --limits)")
    results = _results(results_path)
    if write:
        old = _baseline(baseline_path, unfinished=True) if baseline_path.exists() else None
        try:
            missing = write_baseline(results, baseline_path, old)
        except OSError as error:
            _refuse(f"{baseline_path}: {error.strerror or error}")
        tell(f"wrote {one_line(baseline_path)}")
        if missing:
            names = ", ".join(one_line(i, 80) for i in missing[:20])
            tell(f"{len(missing)} need a reason before the gate takes the file: {names}")
        return
    if not baseline_path.exists():
        _refuse(f"{one_line(baseline_path)}: No such file; --write makes one from this run")
    outcome = gate(_baseline(baseline_path), results)
    tell(outcome.text(), nl=False, hang=4)
    _write(markdown_path, markdown(outcome))
    _write(junit_path, junit(outcome))
    sys.exit(outcome.exit_status)


def _labelled(word: str) -> Given:
    """LABEL=RESULTS, or RESULTS with the name of the router as its label."""
    label, is_, rest = word.partition("=")
    named = bool(is_) and "/" not in label and not Path(word).exists()
    path = Path(rest if named else word)
    results = _results(path)
    folder = path if path.is_dir() else path.parent
    return Given(label if named else results.run.router, folder, results)


@click.command("site")
@click.argument("runs", metavar="[LABEL=]RESULTS...", nargs=-1, required=True)
@click.option(
    "--output",
    default="x25shark-site",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory for the page.",
)
@click.option(
    "--title", default="X.25 and XOT routers", show_default=True, help="Heading of the page."
)
def site_command(runs: tuple[str, ...], output: Path, title: str) -> None:
    """Make one page of several runs: routers and releases by groups and cases.

    RESULTS are results.json files or the directories that hold them; runs of the same LABEL (the
    router's name unless given) are its history, and the matrix shows the last of them. The
    folder holds index.html, which needs no network, index.md, and captures of what did not pass.
    """
    try:
        page = write_site([_labelled(word) for word in runs], title, output)
    except SiteError as error:
        _refuse(error)
    tell(f"wrote {one_line(page)}")


commands: list[click.Command] = [compare_command, gate_command, site_command]
"""For the x25shark command line."""

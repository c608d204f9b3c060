# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that work on finished runs: `x25shark compare` and `x25shark gate`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import click
from pydantic import TypeAdapter, ValidationError

from ..results import Results, ResultsError, read_results, write_whole
from ..verdicts import Verdict
from .baseline import Baseline, BaselineError, read_baseline, write_baseline
from .compare import compare, described
from .gate import gate, junit, markdown
from .text import one_line

_PATH = click.Path(path_type=Path)


def _refuse(message: object) -> NoReturn:
    click.echo(f"x25shark: {one_line(message, 1_000)}", err=True)
    sys.exit(2)


def _results(path: Path) -> Results:
    """Results from results.json or its directory; ends the command with status 2 if it cannot."""
    file = path / "results.json" if path.is_dir() else path
    try:
        # Of a case that passed, its verdict is compared and nothing else.
        results = read_results(file, lambda _id, verdict: verdict is not Verdict.PASS)
        # Someone may have edited the file: every field has to have the type that it promises.
        checked: Results = TypeAdapter(Results).validate_python(asdict(results), strict=False)
    except ResultsError as error:
        _refuse(error)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        _refuse(f"{file}: damaged results file: {where}: {first['msg']}")
    return checked


def _baseline(path: Path, *, unfinished: bool = False) -> Baseline:
    try:
        return read_baseline(path, unfinished=unfinished)
    except BaselineError as error:
        _refuse(error)


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

    OLD and NEW are results.json files or the directories that hold them. The exit status is 0
    if nothing changed, 1 if something did, 2 if a file cannot be read.
    """
    differences = compare(_results(old), _results(new))
    for line in described(differences):
        click.echo(line)
    number = len(differences)
    click.echo(f"{number} difference{'s' if number != 1 else ''}" if number else "no difference")
    sys.exit(1 if differences else 0)


@click.command("gate")
@click.option("--baseline", "baseline_path", type=_PATH, required=True, help="The reviewed file.")
@click.option("--write", is_flag=True, help="Write the baseline from RESULTS instead of judging.")
@click.option("--markdown", "markdown_path", type=_PATH, help="Write a summary for a CI page.")
@click.option("--junit", "junit_path", type=_PATH, help="Write the outcome as JUnit XML.")
@click.argument("results_path", metavar="RESULTS", type=_PATH)
def gate_command(
    baseline_path: Path,
    write: bool,
    markdown_path: Path | None,
    junit_path: Path | None,
    results_path: Path,
) -> None:
    """Hold the run RESULTS against a baseline of known deviations.

    RESULTS is a results.json file or the directory that holds it. The exit status is 0 if the
    run is as the baseline says, 1 if anything differs (also a known failure that is gone or
    fails differently), 2 if a file cannot be used.
    """
    results = _results(results_path)
    if write:
        old = _baseline(baseline_path, unfinished=True) if baseline_path.exists() else None
        try:
            missing = write_baseline(results, baseline_path, old)
        except OSError as error:
            _refuse(f"{baseline_path}: {error.strerror or error}")
        click.echo(f"wrote {one_line(baseline_path)}")
        if missing:
            names = ", ".join(one_line(i, 80) for i in missing[:20])
            click.echo(f"{len(missing)} need a reason before the gate takes the file: {names}")
        return
    outcome = gate(_baseline(baseline_path), results)
    click.echo(outcome.text(), nl=False)
    _write(markdown_path, markdown(outcome))
    _write(junit_path, junit(outcome))
    sys.exit(outcome.exit_status)


commands: list[click.Command] = [compare_command, gate_command]
"""For the x25shark command line."""

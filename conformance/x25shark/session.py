# SPDX-License-Identifier: GPL-2.0-or-later
"""`x25shark run`: the suite under pytest, with our own way of showing it."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .interrupts import interrupts
from .plugin import UI_PLUGIN, UserInterface
from .report.tell import print_nowhere
from .report.terminal import Progress, print_summary

if TYPE_CHECKING:
    from rich.console import Console

    from .catalogue import Purpose
    from .results import CaseResult
    from .run.plan import Plan

_UNUSED = (
    *("terminal", "cacheprovider", "logging", "faulthandler"),
    *("unraisableexception", "threadexception"),
)
# Nothing of the user's pytest: no settings, no further plugins. Assertions in cases are our own
# mistakes; to rewrite them for better words would cost more than to import the cases.
_HERMETIC = (
    *("-c", os.devnull, "--rootdir", "/", "--import-mode=importlib", "-W", "ignore"),
    *("--disable-plugin-autoload", "-p", "x25shark.plugin", "--assert=plain"),
    *(word for plugin in _UNUSED for word in ("-p", f"no:{plugin}")),
)


class SessionError(Exception):
    """The run came to no results, or to no report; status is the exit status that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Screen(UserInterface):
    """What a run looks like while it goes on."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.progress: Progress | None = None

    def on_plan(self, plan: Plan) -> None:
        costs = {case: plan.repeat * plan.seconds_of(case) for case in plan.running}
        self.progress = Progress(len(costs), self._console, costs=costs)
        self.progress.__enter__()

    def on_start(self, purpose: Purpose) -> None:
        if self.progress:
            self.progress.begin(purpose.id)

    def on_result(self, result: CaseResult) -> None:
        if self.progress:
            self.progress.end(result.id, result.verdict, result.reason)


class _Register:
    """The plugin that brings the screen in."""

    def __init__(self, screen: _Screen) -> None:
        self._screen = screen

    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(self._screen, UI_PLUGIN)


def run_suite(arguments: Sequence[str], files: Sequence[str], output: Path) -> int:
    """Run the cases of these files, show what comes, and return the exit status.

    arguments: options of plugin.py. Raises SessionError.
    """
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        # More options and plugins of the user's pytest; no process of the run needs them either.
        del os.environ[name]
    console = _console()
    screen = _Screen(console)
    with interrupts.counted():
        return _run(console, screen, [*_HERMETIC, *arguments, *files], output)


def _run(console: Console, screen: _Screen, arguments: list[str], output: Path) -> int:
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = pytest.main(arguments, plugins=[_Register(screen)])
    if screen.progress:
        screen.progress.__exit__(None, None, None)
    if screen.results is None:
        if interrupts.asked:
            raise SessionError(interrupts.status, "interrupted before the first case")
        if screen.problem is not None:
            raise SessionError(*screen.problem)
        message = said.getvalue().strip().removeprefix("ERROR: ") or "no case was selected"
        none = status == pytest.ExitCode.NO_TESTS_COLLECTED
        raise SessionError(3 if none else 2, message)
    if screen.problem is not None:
        screen.results.exit_status = screen.problem[0]
    print_summary(screen.results, output if screen.problem is None else None, console)
    if screen.problem is not None:
        raise SessionError(*screen.problem)
    return interrupts.status if interrupts.asked else screen.results.exit_status


def _console() -> Console:
    """A terminal that may go away (| head) while the run goes on."""
    from rich.console import Console as RichConsole

    class Tolerant(RichConsole):
        def on_broken_pipe(self) -> None:
            print_nowhere(sys.stdout.fileno())

    return Tolerant()


def say(line: str) -> None:
    """Print a line before the run; a terminal that went away does not end it, nor a full disk."""
    try:
        print(line, flush=True)
    except OSError:
        print_nowhere(sys.stdout.fileno())

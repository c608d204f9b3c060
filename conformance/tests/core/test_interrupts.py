# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGINT and SIGTERM: at any moment of a run, once, twice, three times."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from x25shark.interrupts import _SAME_WISH
from x25shark.results import read_results
from x25shark.selftest.moments import COMMANDS, Ended, Moments, wrong_with

from .conftest import environment


def python(*arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs Python to its end."""
    return subprocess.run(
        [sys.executable, *arguments], env=environment(), capture_output=True, text=True,
        check=False, timeout=timeout,
    )  # fmt: skip


# Waits as a run does; says how many wishes have come whenever that changes.
_WAITS = """
import time
from x25shark.interrupts import Interrupted, interrupts
with interrupts.counted():
    print("ready", flush=True)
    told = 0
    while True:
        time.sleep(0.01)
        try:
            interrupts.check()
        except Interrupted:
            interrupts.bring_home()
            print("raised", flush=True)
        if told != interrupts.count:
            told = interrupts.count
            print(told, interrupts.in_haste, flush=True)
"""
# Longer than what counts as one wish: an interval of the clock, so it is waited for.
_APART = _SAME_WISH + 0.1


def waiting() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _WAITS], env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_the_first_ends_the_second_hurries_the_third_gives_up() -> None:
    process = waiting()
    assert process.stdout is not None
    process.send_signal(signal.SIGTERM)
    assert [process.stdout.readline() for _ in range(2)] == ["raised\n", "1 False\n"]
    time.sleep(_APART)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "2 True\n"
    time.sleep(_APART)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert process.stdout.read() == ""


def test_signals_of_one_moment_are_one_wish() -> None:
    process = waiting()
    assert process.stdout is not None
    os.kill(process.pid, signal.SIGSTOP)
    for number in (signal.SIGINT, signal.SIGTERM):
        process.send_signal(number)
    os.kill(process.pid, signal.SIGCONT)
    assert [process.stdout.readline() for _ in range(2)] == ["raised\n", "1 False\n"]
    process.kill()
    assert process.wait(60) == -signal.SIGKILL
    assert process.stdout.read() == ""


@contextlib.contextmanager
def hangup(ignored: bool) -> Iterator[None]:
    """What is started within it is under nohup, or is not, whatever these tests are."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("ignored", [False, True])
def test_a_closed_terminal_ends_it_but_under_nohup(ignored: bool) -> None:
    with hangup(ignored):
        process = waiting()
    assert process.stdout is not None
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    assert [process.stdout.readline() for _ in range(2)] == ["raised\n", "1 False\n"]
    for _ in range(2):
        time.sleep(_APART)
        process.send_signal(signal.SIGINT)
    status = process.wait(60)
    assert status == 128 + (signal.SIGTERM if ignored else signal.SIGHUP)


@pytest.mark.usefixtures("namespaces")
def test_a_run_whose_terminal_is_closed_leaves_its_report(tmp_path: Path) -> None:
    ours, its = pty.openpty()
    with hangup(ignored=False):
        process = subprocess.Popen(
            ["setsid", "--ctty", sys.executable, "-m", "x25shark", "run", "--own-namespace",
             "--output", str(tmp_path / "r")],
            env=environment(), stdin=its, stdout=its, stderr=its,
        )  # fmt: skip
    os.close(its)
    # What is painted, and when, is the terminal's matter: the first case's evidence is awaited.
    os.set_blocking(ours, False)
    while not any(tmp_path.glob("r/.run-*/cases/*")):
        assert process.poll() is None
        with contextlib.suppress(BlockingIOError):
            os.read(ours, 4096)
        time.sleep(0.05)
    os.close(ours)
    assert process.wait(300) == 128 + signal.SIGHUP
    assert read_results(tmp_path / "r" / "results.json").exit_status == 128 + signal.SIGHUP


# The signal comes where Python drops what is raised.
_DROPPED = """
import os, signal
from x25shark.interrupts import Interrupted, interrupts
class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
interrupts.listen()
try:
    Dropped()
    while True:
        signal.pause()
except Interrupted:
    print("raised", interrupts.status)
"""


def test_one_that_comes_in_a_destructor_is_not_dropped() -> None:
    done = python("-c", _DROPPED)
    assert (done.stdout, done.stderr) == (f"raised {128 + signal.SIGTERM}\n", "")


@pytest.mark.parametrize("at", [1, 2, 300, 3000])
def test_from_the_first_line_on_it_says_nothing(at: int, tmp_path: Path) -> None:
    """Its modules are not loaded yet: nothing that could handle it is there."""
    ended = Moments(COMMANDS["init"], tmp_path).run(at, (signal.SIGINT,))
    assert (ended.status, ended.said) == (-signal.SIGINT, "")


# The signal comes in a library that makes another exception of what is raised.
_CHANGED = """
import os, signal, sys
from x25shark import profile
from x25shark.start import main
def load_profile(_name):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    except BaseException:
        raise ValueError("another exception")
profile.load_profile = load_profile
sys.argv = ["x25shark", "list"]
main()
"""


def test_one_that_comes_out_as_another_exception_is_not_lost() -> None:
    done = python("-c", _CHANGED)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "x25shark: interrupted\n")


# The signal comes when the command has ended, and the process has not.
_LATE = """
import os, signal, sys
from x25shark import cli
from x25shark.start import main
command = cli.main.main
def late(**options):
    try:
        command(**options)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
cli.main.main = late
sys.argv = ["x25shark", "list"]
main()
"""


def test_one_that_comes_behind_the_last_word_says_nothing() -> None:
    done = python("-c", _LATE)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")


# The signal comes as a method of the campaign begins, or when it has ended.
_AROUND = """
import os, signal, sys
from x25shark.run.campaign import Campaign
from x25shark.start import main
when, name = sys.argv[1:3]
method = getattr(Campaign, name)
def around(*args, **options):
    if when == "before":
        os.kill(os.getpid(), signal.SIGTERM)
    result = method(*args, **options)
    if when == "after":
        os.kill(os.getpid(), signal.SIGTERM)
    return result
setattr(Campaign, name, around)
sys.argv = ["x25shark", *sys.argv[3:]]
main()
"""


@pytest.mark.parametrize(
    ("command", "name"), [("walk", "settle_all"), ("walk", "finish"), ("check", "finish")]
)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.usefixtures("namespaces")
def test_while_all_is_brought_home_it_is_not_lost(command: str, name: str, when: str) -> None:
    """Nor is what comes of it, a verdict that is not awaited, another failure."""
    done = python("-c", _AROUND, when, name, *COMMANDS[command], timeout=300)
    assert done.returncode == 128 + signal.SIGTERM, done.stdout + done.stderr
    assert done.stderr == "x25shark: interrupted\n"


@pytest.mark.parametrize(("at", "reached"), [(300, True), (10**9, False)])
def test_a_moment_behind_the_end_interrupts_nothing(
    at: int, reached: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests that run beside this one have processes of their own.
    monkeypatch.setattr("x25shark.selftest.moments._processes_left", list)
    moments = Moments(COMMANDS["init"], tmp_path)
    ended = moments.run(at, (signal.SIGINT,))
    assert ended.reached is reached
    assert list(wrong_with(moments, ended, (signal.SIGINT,), Ended(0, "done", 0, 0.0))) == []
    # Another status than that of the command undisturbed stays wrong.
    failed = Ended(1, "done", 0, 0.0)
    assert bool(list(wrong_with(moments, ended, (signal.SIGINT,), failed))) is not reached


@pytest.mark.parametrize(
    ("said", "right"),
    [("1\nreport: b\n", True), ("interrupted\nreport: b\n", False), ("1\n", False), ("", False)],
)
def test_one_that_comes_when_all_is_said_changes_nothing(
    said: str, right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("x25shark.selftest.moments._processes_left", list)
    moments = Moments(COMMANDS["init"], tmp_path)
    whole = Ended(0, "3\nreport: a\n", 10, 1.0)
    found = list(wrong_with(moments, Ended(0, said, 0, 1.0), (signal.SIGINT,), whole))
    assert (found == []) is right


def test_one_that_comes_while_python_starts_is_pythons_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("x25shark.selftest.moments._processes_left", list)
    said = "Traceback (most recent call last):\n  File <frozen runpy>\nKeyboardInterrupt\n"
    whole, ended = Ended(0, "done\n", 10, 1.0), Ended(1, said, 0, 0.0)
    moments = Moments(COMMANDS["init"], tmp_path)
    assert list(wrong_with(moments, ended, (signal.SIGINT,), whole)) == []
    ended.said = ended.said.replace("KeyboardInterrupt", "x25shark.interrupts.Interrupted")
    assert list(wrong_with(moments, ended, (signal.SIGINT,), whole)) == ["status 1", "a traceback"]


# The lot falls on moments behind the end as often as is asked, then on such that come.
_DRAWN = """
import random, sys
from x25shark.selftest import moments
behind = int(sys.argv.pop(1))
class Lot(random.Random):
    def randrange(self, first, end):
        global behind
        behind -= 1
        return end * 100 if behind >= 0 else 300
moments.random.Random = Lot
moments._processes_left = list
sys.exit(moments.main())
"""


@pytest.mark.parametrize(
    ("behind", "status", "last"),
    [
        (1, 0, "1 interrupts, 1 moments not reached, 0 of all handled wrongly"),
        (9, 1, "0 interrupts, 2 moments not reached, 0 of all handled wrongly"),
    ],
)
def test_another_moment_is_drawn_for_one_that_did_not_come(
    behind: int, status: int, last: str
) -> None:
    done = python("-c", _DRAWN, str(behind), "--command", "init", "--count", "1", timeout=900)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (status, last), done.stdout
    assert "ended before its moment" in done.stdout


@pytest.mark.parametrize(
    "options",
    [("--command", "run", "--count", "8"), ("--command", "check", "--count", "4")],
    ids=["run", "check"],
)
@pytest.mark.usefixtures("namespaces")
def test_at_moments_drawn_by_lot(options: Sequence[str]) -> None:
    """Calls of functions, and moments of the clock, of which any will do."""
    done = python("-m", "x25shark.selftest.moments", *options, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr

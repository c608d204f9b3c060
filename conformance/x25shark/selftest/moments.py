# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that are interrupted at moments drawn by lot, and what they leave.

    python -m x25shark.selftest.moments [--count N] [--seed S] [--command run]

Every other moment is the n-th call of a function in the command's main thread, from its first line
to its last: so it depends on no clock. The others are moments of the clock, for a command also
waits: for the engine, a case, a hook. The command gets its signals there. After each: its status is
that of the signal, only whole sentences were printed, the results that are there can be read and
their evidence is there, no process is left, and no temporary file (after SIGKILL: none after the
next run). No two runs call the same number of functions: where a command ended before its moment
came, nothing was interrupted, which is said; it must have ended as it does undisturbed, and another
moment is drawn for it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..results import ResultsError, read_results
from ..verdicts import Verdict

_PR_SET_CHILD_SUBREAPER = 36
# For a process that lost its parent to notice; far more than any needs.
_ORPHAN_SECONDS = 30.0
# The same for a command: counted call by call on a busy machine the suite takes minutes.
_COMMAND_SECONDS = 1800.0
# A measurement of a busy machine finds something at times.
_TO_ITS_END = (0, 1)
# How Python ends where an interrupt comes while it starts itself: no line of the command has run
# yet, for from its first on an interrupt is another exception, or none.
_STARTING = "\nKeyboardInterrupt"
# What a signal sent to a process and to its group looks like, and one who is in a hurry.
SIGNALS = (
    (signal.SIGINT,),
    (signal.SIGTERM,),
    (signal.SIGINT, signal.SIGINT),
    (signal.SIGKILL,),
)
# fmt: off
COMMANDS = {
    "run": ("run", "--own-namespace", "--select", "XOT-HDR-01,PLP-CALL-0*", "--output", "REPORT"),
    "check": ("check", "--own-namespace"),
    "walk": ("walk", "--own-namespace", "--seconds", "2", "--steps", "20", "--seed", "1"),
    "init": ("init", "REPORT.toml", "--router-address", "127.0.25.1", "--no-probe", "--force",
             "--kind", "reference", "--a", "127.0.25.2", "--b", "127.0.25.3"),
    "stress": ("stress", "-N", "2", "-T", "1", "--control", "0", "--output", "REPORT"),
    "sweep": ("sweep", "-P", "128", "-W", "2,7", "-N", "1", "-T", "0.3", "--control", "0",
              "--output", "REPORT"),
    "overload": ("overload", "--rates", "50,100", "-T", "0.3", "--flood", "0.3", "--bound", "1",
                 "--skip", "clears", "--skip", "half-closed", "--output", "REPORT"),
    "bench": ("bench", "-P", "128", "--trial", "0.1", "--bound", "1", "--skip", "idle", "--skip",
              "errors", "--skip", "burst", "--output", "REPORT"),
    "matrix": ("matrix", "-N", "1,2", "-T", "0.5", "--control", "0.3", "--one-pair", "--output",
               "REPORT"),
    "ip": ("ip", "ping", "--compress", "20", "--output", "REPORT"),
}
# fmt: on
_COUNTING = """
import os, sys
place, at, numbers = sys.argv[1:4]
left, calls, begun = int(at), 0, False
def counted(frame, event, _argument):
    global calls, begun
    if event == "call" and begun:
        calls += 1
        if calls == left:
            sys.setprofile(None)
            for number in numbers.split(","):
                os.kill(os.getpid(), int(number))
    elif event == "call":
        begun = frame.f_code.co_filename.endswith("x25shark/start.py")
sys.setprofile(counted)
sys.argv = ["x25shark", *sys.argv[4:]]
try:
    from x25shark.start import main
    main()
finally:
    sys.setprofile(None)
    with open(place, "w") as file:
        file.write(str(calls))
"""


@dataclass
class Ended:
    """How a command ended. calls: how many functions were called in it; 0: it was killed.

    reached: whether the moment came at which it was to get its signals.
    """

    status: int
    said: str
    calls: int
    seconds: float
    reached: bool = True

    @property
    def last_word(self) -> str:
        """The first word of the last line."""
        return (self.said.strip().rpartition("\n")[2].split() or [""])[0]


class Moments:
    """One command in a folder of its own, again and again."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.report = folder / "report"
        self._calls = folder / "calls"
        self._temporary = folder / "tmp"
        self._temporary.mkdir()
        # A judge that has left root must get there.
        folder.chmod(0o755)
        names = {"REPORT": str(self.report), "REPORT.toml": str(folder / "own.toml")}
        self._before: set[str] = set()
        self._command = [names.get(word, word) for word in command]

    def run(self, at: int = 0, signals: Sequence[int] = (0,)) -> Ended:
        """Run it, and send these signals at that call; 0: at none."""
        self._calls.unlink(missing_ok=True)
        numbers = ",".join(str(int(number)) for number in signals)
        ended = self._run_until(
            _COMMAND_SECONDS, ("-c", _COUNTING, str(self._calls), str(at), numbers)
        )
        counted = self._calls.read_text() if self._calls.is_file() else ""
        ended.calls = int(counted or 0)
        # A command that was killed has not counted to its end: it got its signals.
        ended.reached = not counted or ended.calls >= at > 0
        return ended

    def run_for(self, seconds: float, signals: Sequence[int]) -> Ended:
        """Run it, and send these signals when so many seconds have passed."""
        return self._run_until(seconds, ("-m", "x25shark"), signals)

    def _run_until(
        self, seconds: float, python: Sequence[str], signals: Sequence[int] = (signal.SIGKILL,)
    ) -> Ended:
        """python: what Python is to run the command with. calls: 0."""
        shutil.rmtree(self.report, ignore_errors=True)
        self._before = set(os.listdir(self._temporary))
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, *python, *self._command],
            env={**os.environ, "TMPDIR": str(self._temporary)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        reached = False
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            reached = True
            for number in signals:
                process.send_signal(number)
            said, _ = process.communicate(timeout=_COMMAND_SECONDS)
        return Ended(process.returncode, said, 0, time.monotonic() - began, reached)

    def left_over(self) -> list[str]:
        """Temporary files that were not there before."""
        return sorted(set(os.listdir(self._temporary)) - self._before)

    def never_swept(self) -> list[str]:
        """Temporary files, whoever made them."""
        return os.listdir(self._temporary)


def wrong_with(
    moments: Moments, ended: Ended, signals: Sequence[int], undisturbed: Ended
) -> Iterator[str]:
    """What is wrong, in words; undisturbed: how the command ends when nothing comes in."""
    if ended.said.rstrip().endswith(_STARTING):
        return
    first = signals[0]
    # Before the first line of the command the system ends the process.
    right = {-first} if first == signal.SIGKILL else {128 + first, -first}
    if not ended.reached:
        right = {undisturbed.status}
    elif ended.last_word == undisturbed.last_word and "nterrupted" not in ended.said:
        # All was done and said: the process may have been on its way out already.
        right |= {undisturbed.status}
    if ended.status not in right:
        yield f"status {ended.status}"
    if "Traceback" in ended.said:
        yield "a traceback"
    yield from _wrong_with_report(moments.report)
    yield from (f"left a process: {name}" for name in _processes_left())
    if first != signal.SIGKILL or not ended.reached:
        yield from (f"left {name}" for name in moments.left_over())


def _wrong_with_report(report: Path) -> Iterator[str]:
    if (load := report / "load.json").is_file():
        try:
            json.loads(load.read_text("utf-8"))
        except ValueError as error:
            yield f"{load.name}: {error}"
    path = report / "results.json"
    if not path.is_file():
        return
    try:
        results = read_results(path)
    except ResultsError as error:
        yield str(error)
        return
    for case in results.cases:
        if case.verdict is Verdict.ERROR:
            yield f"{case.id}: ERROR: {case.reason}"
        if case.evidence is not None and not (report / case.evidence).is_file():
            yield f"{case.evidence} is not there"
    for name in ("report.html", "junit.xml"):
        if not (report / name).is_file():
            yield f"{name} is not there"


def _processes_left() -> list[str]:
    """Processes that a command left: they became ours. Those that are about to end may do so."""
    deadline = time.monotonic() + _ORPHAN_SECONDS
    while True:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        path = Path(f"/proc/self/task/{os.getpid()}/children")
        children = path.read_text().split()
        if not children or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return [Path(f"/proc/{child}/comm").read_text().strip() for child in children]


def main() -> int:
    """Interrupt, and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.moments")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", choices=COMMANDS, default="run")
    chosen = parser.parse_args()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # A shell's background process ignores it, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    draw = random.Random(chosen.seed)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="x25shark-moments-") as folder:
        moments = Moments(COMMANDS[chosen.command], Path(folder))
        whole = moments.run()
        print(
            f"whole: status {whole.status}, {whole.calls} calls, {whole.seconds:.1f} s", flush=True
        )
        if whole.status not in _TO_ITS_END or not whole.calls:
            print(whole.said)
            return 1
        # Undisturbed by the counting of calls as well.
        undisturbed = moments.run_for(_COMMAND_SECONDS, ()).seconds
        interrupted = missed = 0
        while interrupted < chosen.count and missed <= chosen.count:
            at, signals = draw.randrange(1, whole.calls), SIGNALS[interrupted // 2 % len(SIGNALS)]
            part = at / whole.calls
            if interrupted % 2:
                how = f"{part:6.1%} of its time"
                ended = moments.run_for(part * undisturbed, signals)
            else:
                how = f"{part:6.1%} of its calls"
                ended = moments.run(at, signals)
            wrong = list(wrong_with(moments, ended, signals, whole))
            bad += bool(wrong)
            interrupted += ended.reached
            missed += not ended.reached
            names = "+".join(signal.Signals(n).name for n in signals)
            how = f"{how:18} {names:13} status {ended.status:4}"
            said = "; ".join(wrong) or ("ok" if ended.reached else "ended before its moment")
            print(f"{how} {ended.seconds:5.1f} s  {_verdicts(moments.report)}  {said}", flush=True)
            if wrong:
                print(ended.said[-2000:])
        last = moments.run()
        if last.status not in _TO_ITS_END or moments.never_swept():
            print(f"the last run: status {last.status}, left {moments.never_swept()}")
            bad += 1
    print(f"{interrupted} interrupts, {missed} moments not reached, {bad} of all handled wrongly")
    return 1 if bad or interrupted < chosen.count else 0


def _verdicts(report: Path) -> str:
    if (report / "load.json").is_file():
        return "results of the load"
    try:
        summary = json.loads((report / "results.json").read_text())["summary"]
    except (OSError, ValueError):
        return "no report"
    return ", ".join(f"{count} {name}" for name, count in summary.items() if count)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""`x25shark run --watch`: runs again when a file changes.

First what did not pass the last time, then all that is selected. Each run is a process of its own,
so that a change of the suite counts as well; one that is under way when a file changes is ended.
What building and running the router writes in the same folder does not count as a change: each run
builds and starts it, and would be ended by that before its first case.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from ..catalogue import catalogue
from ..profile import Profile
from ..results import ResultsError, read_results
from ..suite.selection import select
from ..verdicts import Verdict
from .router import Router

_INTERVAL = 0.2
_LEFT_OUT = frozenset({"__pycache__", "node_modules", "target"})
_WRITTEN = (".log", ".pid", ".pcap", ".pcapng")
_ELF = b"\x7fELF"  # programs, objects and libraries
# Runs in a row that the same file has ended, until it is told that a run may write it itself.
_TOLD_AFTER = 3
_AGAIN = (Verdict.FAIL, Verdict.ERROR, Verdict.INCONCLUSIVE)


class Files:
    """The state of all files under some place, but not under others."""

    def __init__(self, place: Path, without: Path) -> None:
        self.place = place
        self.last_changed = ""
        self._without = without.resolve()
        self._state = self._look()
        self._built = {path for path in self._state if _is_built(path)}

    def _look(self) -> dict[str, tuple[int, int]]:
        if self.place.is_file():
            return dict(self._file(os.fspath(self.place)))
        return dict(self._under(self.place))

    def _file(self, path: str) -> Iterator[tuple[str, tuple[int, int]]]:
        try:
            status = os.stat(path)
        except OSError:
            return
        yield path, (status.st_mtime_ns, status.st_size)

    def _under(self, folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _LEFT_OUT:
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield from self._file(entry.path)
            elif Path(entry.path).resolve() != self._without:
                yield from self._under(Path(entry.path))

    def changed(self) -> bool:
        """Whether a file has come, gone or changed since it was asked last."""
        before, self._state = self._state, self._look()
        paths = {path for path, _ in before.items() ^ self._state.items()}
        if self.place.is_file():
            changes = paths
        else:
            self._built.update(path for path in paths if _is_built(path))
            changes = {path for path in paths - self._built if not path.endswith(_WRITTEN)}
            # A build may have made its file, and not have written it yet.
            changes -= {p for p in changes - before.keys() if self._state[p][1] == 0}
        if changes:
            self.last_changed = min(changes)
        return bool(changes)


def _is_built(path: str) -> bool:
    """Whether it is what a compiler or linker makes. One that cannot be read is not."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def not_passed(report: Path, router: str = "") -> list[str]:
    """The cases of the last run that did not pass. Raises ResultsError.

    With a purpose about the whole run goes the case that showed it, which may have passed. router:
    none if the run was against another one.
    """
    results = read_results(report / "results.json", lambda _id, _verdict: False)
    if router not in ("", results.run.router):
        return []
    known = catalogue().purposes  # the sanity call of a router that is gone is not a purpose
    again = [one for c in results.cases if c.verdict in _AGAIN for one in (c.id, c.shown_in) if one]
    return [one for one in dict.fromkeys(again) if one in known]


def run_once(options: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a run."""
    code = "from x25shark.start import main; main()"
    return subprocess.Popen([sys.executable, "-P", "-c", code, "run", *options])


class Watching:
    """Runs, and runs again. select: the expression of what is wanted; options: all others.

    router: its name; the report may be that of another one to begin with, or of other cases. begin
    starts a run; before each but the first, again_ready() brings the router to its start. say
    tells the user what is waited for, and what has changed.
    """

    def __init__(
        self,
        files: Files,
        report: Path,
        select: str,
        options: Sequence[str],
        *,
        router: str = "",
        begin: Callable[[Sequence[str]], subprocess.Popen[bytes]] = run_once,
        again_ready: Callable[[], None] = lambda: None,
        say: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._say = say
        self._files = files
        self._report = report
        self._select = select
        self._options = options
        self._router = router
        self._begin = begin
        self._again_ready = again_ready
        self._changed = False
        self._ended_by = ""
        self._in_a_row = 0

    def run(self) -> NoReturn:
        """Until it is interrupted."""
        wanted = select(self._select, list(catalogue().purposes))
        failed = [case for case in self._not_passed() if case in wanted]
        while True:
            failed = self._turn(failed)
            self._await_change()
            self._again_ready()

    def _not_passed(self) -> list[str]:
        try:
            return not_passed(self._report, self._router)
        except ResultsError:
            return []  # no run has come to a report

    def _turn(self, failed: list[str]) -> list[str]:
        """What failed, then everything. Returns what is to be run first in the next turn."""
        if failed and failed != self._select.split():
            if not self._to_its_end(" ".join(failed)):
                return failed
            failed = self._not_passed()
        return self._not_passed() if self._to_its_end(self._select) else failed

    def _await_change(self) -> None:
        """Wait until a file has changed, and then until no more do."""
        if not self._changed:
            self._say(f"\nwatching {self._files.place}; Ctrl-C ends it")
        while not self._changed and not self._files.changed():
            time.sleep(_INTERVAL)
        self._changed = False
        self._say(f"changed: {self._files.last_changed}")
        while self._files.changed():
            time.sleep(_INTERVAL)

    def _to_its_end(self, select: str) -> bool:
        """Run; False if a file changed before the end."""
        chosen = ["--select", select] if select else []
        process = self._begin([*self._options, *chosen])
        try:
            while process.poll() is None:
                self._changed = self._files.changed()
                if self._changed:
                    process.send_signal(signal.SIGINT)
                    process.wait()
                    self._ended()
                    return False
                time.sleep(_INTERVAL)
        except KeyboardInterrupt:
            # Where only this process was told; a second one of the same moment is the same wish.
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        self._in_a_row = 0
        return True

    def _ended(self) -> None:
        """A run was ended by a change: tell where the same file ends one after the other.

        It is not left out: somebody who saves a file again and again does that as well.
        """
        file = self._files.last_changed
        self._in_a_row = self._in_a_row + 1 if file == self._ended_by else 1
        self._ended_by = file
        if self._in_a_row == _TOLD_AFTER and self._files.place.is_dir():
            self._say(
                f"{file} has ended {_TOLD_AFTER} runs in a row. If a run writes it (the build, the "
                "router), watch a folder without it: --watch PATH"
            )


def restart(profile: Profile, log: Path) -> None:
    """Restart a router that the runs themselves neither start nor stop. Raises RouterError."""
    control = profile.control
    if profile.embedded is None and control.start is None and control.restart is not None:
        with Router(profile, log) as router:
            router.restart()
            router.leave()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of a report: one run at a time, and always one whole report in it.

A run writes into a folder of its own below (.run-...), so that neither an interrupted run nor a
full disk touches the report that is there. When all files are on the disk the report that was there
moves to earlier/TIME, and the new one takes its place. A run that was killed meanwhile leaves its
folder; the next one finishes the exchange, or removes what was not whole.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shlex
import shutil
import stat
import tempfile
import time
from pathlib import Path

from ..foreign import text_of
from ..temporary import Claim

# What belongs to a report. results.json is last to come and first to go: with it a report is whole.
NAMES = ("cases", "router.log", "junit.xml", "report.html", "results.json")
USUAL = "x25shark-report"
"""Where a report is, unless --output says otherwise."""
EARLIER = "earlier"
KEPT = 3
_UNDER_WAY = ".run-"
_WHOLE = ".whole"
_LONGEST_NOTE = 1 << 16
# A folder in earlier/, where others may have put theirs.
_OF_A_REPORT = re.compile(r"\d{8}T\d{6}Z(-\d+)?")


def in_folder(directory: Path) -> str:
    """What a command that reads the report has to be given behind the rest: " --output DIR"."""
    return "" if directory == Path(USUAL) else f" --output {shlex.quote(str(directory))}"


class FolderError(Exception):
    """No report can be written there; the message names the folder and says why."""


class ReportFolder:
    """Held by one run; the next waits for nobody, but is told. Raises FolderError.

    staging: where the files of this run go. keep: how many earlier reports stay.
    """

    def __init__(self, path: Path, keep: int = KEPT) -> None:
        self.path = path
        self._keep = keep
        self._claim: Claim | None = None
        self._made = not path.exists()
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._claim = Claim(path)
            self._look_at_earlier()
            if self._claim.certain:
                self._sweep()
            self.staging = Path(tempfile.mkdtemp(prefix=_UNDER_WAY, dir=path))
            self._mine = self.staging.lstat()
        except FolderError:
            self._release()
            raise
        except BlockingIOError:
            raise FolderError(
                f"{path}: another run is writing its report there; name another folder with "
                "--output, or wait until it has ended"
            ) from None
        except OSError as error:
            self._release()
            self._remove_what_was_made()
            raise FolderError(
                f"{path}: cannot write the report there: {error.strerror or error}"
            ) from None

    def _look_at_earlier(self) -> None:
        """Reports move there, and the oldest are removed: it has to be a folder of this one.

        Raises FolderError.
        """
        earlier = self.path / EARLIER
        if not os.path.lexists(earlier):
            return
        status = earlier.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_dev != self.path.stat().st_dev:
            raise FolderError(
                f"{earlier}: not a folder that earlier reports can be moved to (a link, a file, or "
                "another file system); move it away, or name another folder with --output"
            )

    def _release(self) -> None:
        if self._claim is not None:
            self._claim.release()

    def publish(self) -> None:
        """Put the report in its place; everything is on the disk before. Raises OSError."""
        if not self._is_mine():
            why = (
                "Not the folder any more that this run has made; what there is of the report lies "
                f"in {self.staging.name}, and the next run removes it"
            )
            raise OSError(errno.ESTALE, why, str(self.staging))
        self._note_whole()
        _exchange(self.staging, self.path)
        self._thin_out()
        self._release()

    def _is_mine(self) -> bool:
        """Whether what is called so is the folder that was made."""
        return os.path.lexists(self.staging) and os.path.samestat(self._mine, self.staging.lstat())

    def _note_whole(self) -> None:
        """From here on the exchange can be finished by anybody."""
        there = [name for name in NAMES if (self.staging / name).exists()]
        note = {"names": there, "earlier": self._free_name()}
        _flush(self.staging)
        part = self.staging / f"{_WHOLE}.part"
        part.write_text(json.dumps(note), "utf-8")
        part.replace(self.staging / _WHOLE)
        _flush(self.staging)

    def _free_name(self) -> str:
        """Of the folder for the report that is there: when it was written."""
        with contextlib.suppress(OSError):
            written = (self.path / "results.json").stat().st_mtime
            name = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(written))
            number, free = 1, name
            while (self.path / EARLIER / free).exists():
                number += 1
                free = f"{name}-{number}"
            return free
        return ""

    def _thin_out(self) -> None:
        """Remove the oldest of the earlier reports."""
        with contextlib.suppress(OSError):
            folders = [
                entry
                for entry in os.scandir(self.path / EARLIER)
                if entry.is_dir(follow_symlinks=False) and _OF_A_REPORT.fullmatch(entry.name)
            ]
            folders.sort(key=lambda entry: entry.stat().st_ctime_ns)
            for entry in folders[: max(len(folders) - self._keep, 0)]:
                shutil.rmtree(entry.path, ignore_errors=True)
            if not self._keep:
                (self.path / EARLIER).rmdir()

    def abandon(self) -> None:
        """Without a whole report: the one from before stays, but for the router's log."""
        if not self._is_mine() or (self.staging / _WHOLE).exists():
            return
        log = self.staging / "router.log"
        with contextlib.suppress(OSError):
            if log.stat().st_size:
                log.replace(self.path / log.name)
        shutil.rmtree(self.staging, ignore_errors=True)
        self._release()
        self._remove_what_was_made()

    def _remove_what_was_made(self) -> None:
        """The folder itself, where this run made it and it is as empty as it was made."""
        if self._made:
            with contextlib.suppress(OSError):
                self.path.rmdir()

    def _sweep(self) -> None:
        """What runs left that were killed: finish an exchange, remove anything else."""
        for left in sorted(self.path.glob(f"{_UNDER_WAY}*")):
            if left.is_symlink():
                continue  # no run has made it
            if (left / _WHOLE).is_file():
                _exchange(left, self.path)
            else:
                shutil.rmtree(left, ignore_errors=True)


def _exchange(staging: Path, path: Path) -> None:
    """The report that is there for the one in staging; goes on where it was cut off."""
    try:
        note = json.loads(text_of(staging / _WHOLE, _LONGEST_NOTE))
        names, earlier = [n for n in NAMES if n in note["names"]], str(note["earlier"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        shutil.rmtree(staging, ignore_errors=True)
        return
    if all((staging / name).exists() for name in names):
        _move_away(path, path / EARLIER / Path(earlier).name if earlier else None)
    for name in names:
        if (staging / name).exists():
            (staging / name).replace(path / name)
    _flush(path)
    shutil.rmtree(staging, ignore_errors=True)


def _move_away(path: Path, to: Path | None) -> None:
    """The files of the report that is there; None: it was none, its rests go."""
    if to is not None:
        to.mkdir(parents=True, exist_ok=True)
    for name in reversed(NAMES):
        old = path / name
        if not os.path.lexists(old):
            continue
        if to is not None:
            old.replace(to / name)
        elif old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        else:
            old.unlink()


def _flush(folder: Path) -> None:
    """Have everything of this file system written to the disk: one call for hundreds of files."""
    import ctypes

    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(number) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), str(folder))
    finally:
        os.close(number)

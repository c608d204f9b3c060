# SPDX-License-Identifier: GPL-2.0-or-later
"""Temporary folders of x25shark: for their owner alone, and swept where a killed process left them.

Whoever uses a folder holds a lock on it (flock(2)), which ends with the process however that ends.
A folder gets its name when it is locked: one with the name and without the lock has no owner.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "x25shark."
# Before a folder is locked: for a moment.
_UNNAMED = ".x25shark."
_MOMENT_SECONDS = 3600
_CLAIM = ".x25shark.lock"
# Less than a report or the result of a measurement has.
_LEAST_OCTETS = 32 * 1024


class TemporaryError(Exception):
    """No temporary folder can be had; the message says why."""


class TemporaryFolder:
    """A folder with an unpredictable name, mode 0700. Raises TemporaryError."""

    def __init__(self, kind: str) -> None:
        self._lock = -1
        try:
            self.path = Path(tempfile.mkdtemp(prefix=_UNNAMED))
            self._lock = _opened(self.path)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            random = self.path.name.removeprefix(_UNNAMED)
            self.path = self.path.rename(self.path.with_name(f"{_PREFIX}{kind}.{random}"))
        except OSError as error:
            # gettempdir() itself fails where none of its folders can be written.
            where = error.filename or os.environ.get("TMPDIR", "/tmp")
            why = f"no temporary folder: {where}: {error.strerror or error}"
            raise TemporaryError(why) from None
        sweep()

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1


@contextlib.contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """A TemporaryFolder that is removed at the end. Raises TemporaryError."""
    folder = TemporaryFolder(kind)
    try:
        yield folder.path
    finally:
        folder.close()


def sweep() -> None:
    """Remove the folders of this user whose process has ended."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            if entry.name.startswith((_PREFIX, _UNNAMED)):
                with contextlib.suppress(OSError):
                    _sweep(Path(entry.path))


class Claim:
    """A folder that one process at a time works in: the lock of a file there, which nobody else may
    open and so nobody else can hold. It ends with release(), or with the process.

    certain: some file systems of the network have no locks. Raises OSError, also where the disk has
    no room for what any work leaves; BlockingIOError if another process has it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _CLAIM
        self.certain = True
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._number = os.open(self._path, flags, 0o600)
            try:
                fcntl.flock(self._number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._number)
                raise
            except OSError:
                self.certain = False
            if self._is_there():
                break
            # Whoever had it has removed it between the two calls.
            os.close(self._number)
        try:
            os.posix_fallocate(self._number, 0, _LEAST_OCTETS)
            os.ftruncate(self._number, 0)
        except OSError as error:
            # Anything else is a file system that cannot say.
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                self.release()
                raise

    def _is_there(self) -> bool:
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(self._number), self._path.lstat())
        return False

    def release(self) -> None:
        """Remove the file and its lock; again is not an error."""
        if self._number < 0:
            return
        if self._is_there():
            with contextlib.suppress(OSError):
                self._path.unlink()
        os.close(self._number)
        self._number = -1


def _sweep(path: Path) -> None:
    number = _opened(path)
    try:
        status = os.fstat(number)
        if status.st_uid != os.geteuid():
            return
        if path.name.startswith(_UNNAMED) and time.time() - status.st_mtime < _MOMENT_SECONDS:
            return
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(number)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)

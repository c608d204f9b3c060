# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of a report: held by one run, exchanged whole, and whole again after kill -9."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from pathlib import Path

import pytest
from x25shark.report.folder import NAMES, FolderError, ReportFolder


def write(folder: Path, text: str) -> None:
    """A report whose files all hold this text."""
    (folder / "cases").mkdir()
    for name in NAMES:
        (folder / name / "X.pcapng" if name == "cases" else folder / name).write_text(text)


def read(folder: Path) -> set[str]:
    """What the files of a report hold; one text if it is whole."""
    files = [folder / n / "X.pcapng" if n == "cases" else folder / n for n in NAMES]
    return {file.read_text() for file in files}


def publish(path: Path, text: str, keep: int = 3) -> None:
    folder = ReportFolder(path, keep)
    write(folder.staging, text)
    folder.publish()
    folder.abandon()


def test_the_report_before_is_kept(tmp_path: Path) -> None:
    for number in range(5):
        publish(tmp_path, str(number), keep=2)
    assert read(tmp_path) == {"4"}
    kept = sorted((tmp_path / "earlier").iterdir())
    assert {text for folder in kept for text in read(folder)} == {"3", "2"}
    assert {entry.name for entry in tmp_path.iterdir()} == {*NAMES, "earlier"}
    publish(tmp_path, "5", keep=0)
    assert {entry.name for entry in tmp_path.iterdir()} == set(NAMES)


def test_a_second_run_is_told(tmp_path: Path) -> None:
    publish(tmp_path, "old")
    first = ReportFolder(tmp_path)
    with pytest.raises(FolderError, match="another run is writing its report there"):
        ReportFolder(tmp_path)
    write(first.staging, "new")
    first.publish()
    assert read(tmp_path) == {"new"}
    ReportFolder(tmp_path).abandon()


def test_a_run_without_a_report_leaves_the_one_before(tmp_path: Path) -> None:
    publish(tmp_path, "old")
    folder = ReportFolder(tmp_path)
    write(folder.staging, "new")
    folder.abandon()
    assert (tmp_path / "router.log").read_text() == "new"
    (tmp_path / "router.log").write_text("old")
    assert read(tmp_path) == {"old"}
    assert {entry.name for entry in tmp_path.iterdir()} == set(NAMES)


def test_a_run_without_a_report_leaves_no_folder_of_its_own(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for path in (empty, tmp_path / "new"):
        ReportFolder(path).abandon()
    assert list(tmp_path.iterdir()) == [empty]


def test_a_folder_that_nothing_can_be_written_to_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    for path in (empty, tmp_path / "new"):
        with pytest.raises(FolderError, match="No space left on device"):
            ReportFolder(path)
    assert list(tmp_path.iterdir()) == [empty]


def test_what_else_is_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("mine")
    publish(tmp_path, "0")
    publish(tmp_path, "1", keep=0)
    assert (tmp_path / "mine.toml").read_text() == "mine"


class KilledError(Exception):
    """Where kill -9 would strike."""


@pytest.mark.parametrize("steps", range(12))
def test_an_exchange_that_was_cut_off_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Before each rename in turn: afterwards there is one whole report, the old or the new."""
    publish(tmp_path, "old")
    folder = ReportFolder(tmp_path)
    write(folder.staging, "new")
    left, replace = [steps], Path.replace

    def counted(self: Path, target: Path) -> Path:
        if not left[0]:
            raise KilledError
        left[0] -= 1
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", counted)
    if steps < 11:
        with pytest.raises(KilledError):
            folder.publish()
    else:
        folder.publish()
    monkeypatch.undo()
    folder._release()
    ReportFolder(tmp_path).abandon()
    expected = {"old"} if steps == 0 else {"new"}
    assert read(tmp_path) == expected
    earlier = list((tmp_path / "earlier").glob("*"))
    assert [read(kept) for kept in earlier] == ([] if steps == 0 else [{"old"}])
    assert not list(tmp_path.glob(".run-*"))


def test_what_took_the_place_of_the_folder_of_a_run_is_not_moved(tmp_path: Path) -> None:
    others, path = tmp_path / "others", tmp_path / "report"
    others.mkdir()
    write(others, "precious")
    folder = ReportFolder(path)
    write(folder.staging, "new")
    folder.staging.rename(tmp_path / "away")
    folder.staging.symlink_to(others)
    with pytest.raises(OSError, match="Not the folder any more"):
        folder.publish()
    folder.abandon()
    assert read(others) == {"precious"}


def test_links_in_a_report_of_a_stranger_lead_nowhere(tmp_path: Path) -> None:
    """A folder that came from elsewhere is named with --output."""
    others, path = tmp_path / "others", tmp_path / "report"
    for name in ("a", "b", "c", "d"):
        (others / name).mkdir(parents=True)
    write(others, "precious")
    (others / ".whole").write_text('{"names": ["results.json", "cases"], "earlier": ""}')
    path.mkdir()
    (path / ".run-of-a-stranger").symlink_to(others)
    for text in ("first", "second"):
        publish(path, text, keep=1)
    assert read(path) == {"second"}
    assert read(others) == {"precious"}
    assert {"a", "b", "c", "d"} < {entry.name for entry in others.iterdir()}


@pytest.mark.parametrize("what", ["link", "file"])
def test_earlier_reports_go_into_a_folder_of_this_one(tmp_path: Path, what: str) -> None:
    """Otherwise the run is refused before it begins, and nothing is moved or removed."""
    others, path = tmp_path / "others", tmp_path / "report"
    old = others / "20200101T000000Z"
    old.mkdir(parents=True)
    publish(path, "first")
    earlier = path / "earlier"
    if what == "link":
        earlier.symlink_to(others)
    else:
        earlier.write_text("")
    with pytest.raises(FolderError, match="earlier: not a folder that earlier reports"):
        ReportFolder(path, 0)
    earlier.unlink()
    publish(path, "second", keep=0)
    assert read(path) == {"second"} and old.is_dir()


def test_nobody_else_can_hold_the_folder(tmp_path: Path) -> None:
    """What others may open they may lock, as the folder itself."""
    number = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(number, fcntl.LOCK_EX)
    folder = ReportFolder(tmp_path)
    (lock,) = (entry for entry in tmp_path.iterdir() if entry.is_file())
    assert lock.stat().st_mode & 0o777 == 0o600
    folder.abandon()
    os.close(number)
    assert list(tmp_path.iterdir()) == []

# SPDX-License-Identifier: GPL-2.0-or-later
"""What is executed out of a cache is the user's own, whosever HOME that is."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from pathlib import Path

import pytest
from x25shark import own_cache
from x25shark.judges import program
from x25shark.judges.reading import JudgeError
from x25shark.own_cache import CacheError
from x25shark.suite import index


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """HOME, and the home that the system knows for this user."""
    named, known = tmp_path / "named", tmp_path / "known"
    for home in (named, known):
        home.mkdir(mode=0o755)
    user = pwd.getpwuid(os.geteuid())
    entry = pwd.struct_passwd((*user[:5], str(known), *user[6:]))
    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: entry)
    monkeypatch.setenv("HOME", str(named))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    return named, known


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge is made quickly."""
    monkeypatch.setattr(
        program, "_make", lambda _source, to, _target: (to / program.NAME).write_text("built")
    )
    monkeypatch.setattr(program, "_need", lambda *_tools: None)
    monkeypatch.setattr(program, "_version", lambda _package: "4.0")


def of_another(place: Path) -> None:
    """Make it one that another user may have written."""
    if os.geteuid() == 0:
        os.chown(place, 1000, -1)
    else:
        place.chmod(place.stat().st_mode | stat.S_IWOTH)


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("place", [".", ".cache", ".cache/x25shark"])
def test_with_the_home_of_another_the_judge_is_built_in_ones_own(
    place: str, homes: tuple[Path, Path]
) -> None:
    named, known = homes
    first = program.build()
    assert first.is_relative_to(named) and first == program.build()
    first.write_text("planted")
    of_another(named / place)
    second = program.build()
    assert second.is_relative_to(known) and second.read_text() == "built"


@pytest.mark.usefixtures("made", "homes")
@pytest.mark.parametrize("folder", [False, True])
def test_a_judge_that_another_may_have_put_there_is_not_taken(folder: bool) -> None:
    judge = program.build()
    of_another(judge.parent if folder else judge)
    with pytest.raises(JudgeError, match=r"belongs to another user|other users may write"):
        program.build()


@pytest.mark.usefixtures("homes")
def test_an_index_of_the_suite_that_another_may_have_written_is_not_taken(tmp_path: Path) -> None:
    expected = index.modules.__wrapped__()
    (kept,) = (tmp_path / "named/.cache/x25shark").iterdir()
    kept.write_text(kept.read_text().replace("test_plp_rst", "/tmp/planted"))
    assert index.modules.__wrapped__() != expected
    of_another(kept)
    assert index.modules.__wrapped__() == expected


def test_a_folder_like_tmp_is_no_hindrance_and_one_for_everybody_is(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    tmp_path.chmod(0o1777)
    assert own_cache.own(tmp_path / "own") == tmp_path / "own"
    tmp_path.chmod(0o777)
    with pytest.raises(CacheError, match=f"other users may write {tmp_path}"):
        own_cache.own(tmp_path / "own")
    tmp_path.chmod(0o700)


def test_a_link_is_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "free").mkdir()
    (tmp_path / "free").chmod(0o777)
    (tmp_path / "free" / "judge").touch(0o755)
    (tmp_path / "judge").symlink_to("free/judge")
    with pytest.raises(CacheError, match="free"):
        own_cache.own(tmp_path / "judge")


def test_without_any_home_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_uid: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(CacheError, match="neither HOME nor XDG_CACHE_HOME is set"):
        own_cache.folder()


def test_what_is_made_is_for_the_user_alone(homes: tuple[Path, Path]) -> None:
    named, _known = homes
    before = os.umask(0o002)
    try:
        made = own_cache.folder()
    finally:
        os.umask(before)
    assert made == named / ".cache" / "x25shark"
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o700 for p in (made, made.parent))
    shutil.rmtree(named / ".cache")
